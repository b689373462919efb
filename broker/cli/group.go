package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
)

func newGroupCommand(g *globals) *cobra.Command {
	return commandGroup("group", "List, describe, reset and delete consumer groups", "  weir group describe readers\n  weir group reset readers --topic orders --from start",
		newGroupListCommand(g), newGroupDescribeCommand(g), newGroupResetCommand(g), newGroupDeleteCommand(g))
}

func newGroupListCommand(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List consumer groups",
		Example: "  weir group list\n  weir group list -o json | jq -r .group",
		Args:    args(cobra.NoArgs, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			adm, err := g.admin(cmd.Context())
			if err != nil {
				return err
			}
			defer adm.Close()
			groups, err := adm.ListGroups(cmd.Context())
			if err != nil {
				return failed("group list", err, "")
			}
			out := newTable(g.stdout, "GROUP", "STATE", "TYPE", "COORDINATOR")
			for _, l := range groups.Sorted() {
				if g.output == outputJSON {
					if err := printJSON(g.stdout, map[string]any{"group": l.Group, "state": l.State, "type": l.GroupType, "coordinator": l.Coordinator}); err != nil {
						return err
					}
					continue
				}
				out.row(l.Group, l.State, l.GroupType, fmt.Sprint(l.Coordinator))
			}
			if g.output == outputJSON {
				return nil
			}
			return out.flush()
		},
	}
}

// describedGroup is one line of the JSON output of group describe.
type describedGroup struct {
	Group       string            `json:"group"`
	State       string            `json:"state"`
	Protocol    string            `json:"protocol"`
	Coordinator int32             `json:"coordinator"`
	Lag         int64             `json:"lag"` // of all partitions
	Members     []describedMember `json:"members"`
	Offsets     []describedOffset `json:"offsets"`
}

type describedMember struct {
	Member   string `json:"member"`
	Instance string `json:"instance,omitempty"`
	Client   string `json:"client"`
	Host     string `json:"host"`
}

type describedOffset struct {
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
	Committed int64  `json:"committed"` // -1: none
	End       int64  `json:"end_offset"`
	Lag       int64  `json:"lag"` // -1: unknown
	Member    string `json:"member,omitempty"`
}

func newGroupDescribeCommand(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:     "describe GROUP...",
		Short:   "Show members, committed offsets and lag of groups",
		Example: "  weir group describe readers\n  weir group describe readers -o json | jq .lag",
		Args:    args(cobra.MinimumNArgs(1), "group names"),
		RunE: func(cmd *cobra.Command, names []string) error {
			adm, err := g.admin(cmd.Context())
			if err != nil {
				return err
			}
			defer adm.Close()
			lags, err := adm.Lag(cmd.Context(), names...)
			if err != nil {
				return failed("group describe", err, "")
			}
			var errs []error
			for _, name := range names {
				lag, ok := lags[name]
				switch {
				case !ok || lag.State == "Dead" || errors.Is(lag.DescribeErr, kerr.GroupIDNotFound):
					errs = append(errs, fmt.Errorf("group %s: does not exist; 'weir group list' shows those there are", name))
				case lag.Error() != nil:
					errs = append(errs, failed("group "+name, lag.Error(), ""))
				default:
					if err := g.printGroup(&lag); err != nil {
						return err
					}
				}
			}
			return errors.Join(errs...)
		},
	}
}

func (g *globals) printGroup(lag *kadm.DescribedGroupLag) error {
	d := describedGroup{
		Group: lag.Group, State: lag.State, Protocol: lag.Protocol, Coordinator: lag.Coordinator.NodeID, Lag: lag.Lag.Total(),
		Members: []describedMember{}, Offsets: []describedOffset{},
	}
	for i := range lag.Members {
		m := &lag.Members[i]
		member := describedMember{Member: m.MemberID, Client: m.ClientID, Host: strings.TrimPrefix(m.ClientHost, "/")}
		if m.InstanceID != nil {
			member.Instance = *m.InstanceID
		}
		d.Members = append(d.Members, member)
	}
	slices.SortFunc(d.Members, func(a, b describedMember) int { return cmp.Compare(a.Member, b.Member) })
	sorted := lag.Lag.Sorted()
	for i := range sorted {
		l := &sorted[i]
		o := describedOffset{Topic: l.Topic, Partition: l.Partition, Committed: l.Commit.At, End: l.End.Offset, Lag: l.Lag}
		if l.Member != nil {
			o.Member = l.Member.MemberID
		}
		d.Offsets = append(d.Offsets, o)
	}
	if g.output == outputJSON {
		return printJSON(g.stdout, d)
	}
	g.report("Group:        %s\nState:        %s\nProtocol:     %s\nCoordinator:  %d\nLag:          %d\n", d.Group, d.State, dash(d.Protocol), d.Coordinator, d.Lag)
	if len(d.Members) > 0 {
		members := newTable(g.stdout, "MEMBER", "INSTANCE", "CLIENT", "HOST")
		for _, m := range d.Members {
			members.row(m.Member, dash(m.Instance), dash(m.Client), m.Host)
		}
		if err := members.flush(); err != nil {
			return err
		}
	}
	if len(d.Offsets) == 0 {
		return nil
	}
	offsets := newTable(g.stdout, "TOPIC", "PARTITION", "COMMITTED", "END", "LAG", "MEMBER")
	for _, o := range d.Offsets {
		offsets.row(o.Topic, fmt.Sprint(o.Partition), number(o.Committed), number(o.End), number(o.Lag), dash(o.Member))
	}
	return offsets.flush()
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// number shows a count or an offset, where below 0 is unknown or none.
func number(n int64) string {
	if n < 0 {
		return "-"
	}
	return fmt.Sprint(n)
}

func newGroupResetCommand(g *globals) *cobra.Command {
	var o consumeOptions
	var topics []string
	var dryRun bool
	cmd := &cobra.Command{
		Use:   "reset GROUP",
		Short: "Move the committed offsets of a group without members",
		Long: `Move the committed offsets of a group, so that its consumers begin there when they start. The group must have no members.

--from is what it is for 'weir consume': start, end, an offset, -N for the last N records, a time, or a duration before now.
With --dry-run the offsets are only printed.`,
		Example: "  weir group reset readers --topic orders --from start\n" +
			"  weir group reset readers --topic orders -p 0,1 --from -1h --dry-run",
		Args: args(cobra.ExactArgs(1), "one group name"),
		RunE: func(cmd *cobra.Command, given []string) error {
			if len(topics) == 0 || o.from == "" {
				return usageError{errors.New("--topic and --from are needed: the topics to move, and where to")}
			}
			from, err := parseFrom(o.from, time.Now())
			if err != nil {
				return err
			}
			return resetGroup(cmd.Context(), g, given[0], topics, &o, from, dryRun)
		},
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&topics, "topic", nil, "topic whose offsets to move; may be repeated")
	flags.Int32SliceVarP(&o.partitions, "partition", "p", nil, "partitions to move, separated by commas; all if not given")
	flags.StringVar(&o.from, "from", "", "where to: start, end, an offset, a time or a duration (see above)")
	flags.BoolVar(&dryRun, "dry-run", false, "print the offsets, change nothing")
	return cmd
}

func resetGroup(ctx context.Context, g *globals, name string, topics []string, o *consumeOptions, from startPoint, dryRun bool) error {
	var offsets kadm.Offsets
	for _, topic := range topics {
		spans, err := planSpans(ctx, g, topic, o, from)
		if err != nil {
			return err
		}
		for p, s := range spans {
			offsets.AddOffset(topic, p, s.next, -1)
		}
	}
	if !dryRun {
		adm, err := g.admin(ctx)
		if err != nil {
			return err
		}
		defer adm.Close()
		answers, err := adm.CommitOffsets(ctx, name, offsets)
		if err == nil {
			err = answers.Error()
		}
		switch {
		case errors.Is(err, kerr.UnknownMemberID):
			return fmt.Errorf("group %s: has members, who would not notice; stop its consumers first", name)
		case err != nil:
			return failed("group "+name, err, "")
		}
	}
	out := newTable(g.stdout, "TOPIC", "PARTITION", "COMMITTED")
	for _, topic := range slices.Sorted(maps.Keys(offsets)) {
		for _, p := range slices.Sorted(maps.Keys(offsets[topic])) {
			at := offsets[topic][p].At
			if g.output == outputJSON {
				if err := printJSON(g.stdout, map[string]any{"group": name, "topic": topic, "partition": p, "committed": at, "dry_run": dryRun}); err != nil {
					return err
				}
				continue
			}
			out.row(topic, fmt.Sprint(p), fmt.Sprint(at))
		}
	}
	if g.output == outputJSON {
		return nil
	}
	return out.flush()
}

func newGroupDeleteCommand(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:     "delete GROUP...",
		Short:   "Delete groups without members, with their committed offsets",
		Example: "  weir group delete readers",
		Args:    args(cobra.MinimumNArgs(1), "group names"),
		RunE: func(cmd *cobra.Command, names []string) error {
			adm, err := g.admin(cmd.Context())
			if err != nil {
				return err
			}
			defer adm.Close()
			answers, err := adm.DeleteGroups(cmd.Context(), names...)
			if err != nil {
				return failed("group delete", err, "")
			}
			var errs []error
			for _, name := range names {
				answer := answers[name]
				switch {
				case errors.Is(answer.Err, kerr.GroupIDNotFound):
					errs = append(errs, fmt.Errorf("group %s: does not exist; 'weir group list' shows those there are", name))
				case errors.Is(answer.Err, kerr.NonEmptyGroup):
					errs = append(errs, fmt.Errorf("group %s: has members; stop its consumers first", name))
				case answer.Err != nil:
					errs = append(errs, failed("group "+name, answer.Err, ""))
				case g.output == outputJSON:
					if err := printJSON(g.stdout, map[string]any{"group": name, "deleted": true}); err != nil {
						return err
					}
				default:
					g.report("deleted group %s\n", name)
				}
			}
			return errors.Join(errs...)
		},
	}
}

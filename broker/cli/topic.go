package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
)

func newTopicCommand(g *globals) *cobra.Command {
	return commandGroup("topic", "Create, list, describe, alter and delete topics", "  weir topic create orders --partitions 6\n  weir topic describe orders",
		newTopicCreateCommand(g), newTopicListCommand(g), newTopicDescribeCommand(g), newTopicAlterCommand(g), newTopicDeleteCommand(g))
}

func newTopicCreateCommand(g *globals) *cobra.Command {
	var partitions int32
	var replicas int16
	var configs []string
	var ifNotExists bool
	cmd := &cobra.Command{
		Use:   "create NAME...",
		Short: "Create topics",
		Long:  "Create topics. Partitions and replicas that are not given are the brokers' num.partitions and default.replication.factor.",
		Example: "  weir topic create orders --partitions 6\n" +
			"  weir topic create users --config cleanup.policy=compact --config segment.ms=3600000",
		Args: args(cobra.MinimumNArgs(1), "topic names"),
		RunE: func(cmd *cobra.Command, names []string) error {
			if partitions == 0 || partitions < -1 {
				return usageError{fmt.Errorf("--partitions %d: not a number of partitions; use 1 or more", partitions)}
			}
			if replicas == 0 || replicas < -1 {
				return usageError{fmt.Errorf("--replication-factor %d: not a number of replicas; use 1 or more", replicas)}
			}
			values, err := topicConfigs(configs)
			if err != nil {
				return err
			}
			return createTopics(cmd.Context(), g, names, partitions, replicas, values, ifNotExists)
		},
	}
	flags := cmd.Flags()
	flags.Int32VarP(&partitions, "partitions", "p", -1, "number of partitions; -1 leaves it to the brokers")
	flags.Int16VarP(&replicas, "replication-factor", "r", -1, "number of replicas; -1 leaves it to the brokers")
	flags.StringArrayVarP(&configs, "config", "c", nil, "property of the topic as key=value; may be repeated")
	flags.BoolVar(&ifNotExists, "if-not-exists", false, "succeed where the topic exists already")
	_ = cmd.RegisterFlagCompletionFunc("config", completeProperties("topic"))
	return cmd
}

// topicConfigs reads --config key=value of a topic to be created.
func topicConfigs(given []string) (map[string]*string, error) {
	_, values, err := keyValues(given)
	if err != nil {
		return nil, err
	}
	configs := make(map[string]*string, len(values))
	for k, v := range values {
		configs[k] = &v
	}
	return configs, nil
}

// createdTopic is one line of the JSON output of topic create.
type createdTopic struct {
	Topic       string `json:"topic"`
	ID          string `json:"id,omitempty"`
	Partitions  int32  `json:"partitions"`
	Replication int16  `json:"replication_factor"`
	Created     bool   `json:"created"`
}

func createTopics(ctx context.Context, g *globals, names []string, partitions int32, replicas int16, configs map[string]*string, ifNotExists bool) error {
	adm, err := g.admin(ctx)
	if err != nil {
		return err
	}
	defer adm.Close()
	answers, err := adm.CreateTopics(ctx, partitions, replicas, configs, names...)
	if err != nil {
		return failed("topic create", err, "")
	}
	var errs []error
	for _, answer := range sortedByName(answers, names) {
		exists := errors.Is(answer.Err, kerr.TopicAlreadyExists)
		if answer.Err != nil && (!exists || !ifNotExists) {
			errs = append(errs, failed("topic "+answer.Topic, answer.Err, answer.ErrMessage))
			continue
		}
		if g.output == outputJSON {
			made := createdTopic{Topic: answer.Topic, Created: !exists}
			if !exists {
				made.ID, made.Partitions, made.Replication = topicID(answer.ID), answer.NumPartitions, answer.ReplicationFactor
			}
			if err := printJSON(g.stdout, made); err != nil {
				return err
			}
			continue
		}
		if exists {
			g.report("topic %s exists already\n", answer.Topic)
		} else {
			g.report("created topic %s with %s\n", answer.Topic, count(int(answer.NumPartitions), "partition"))
		}
	}
	return errors.Join(errs...)
}

// sortedByName puts answers in the order of the names asked for.
func sortedByName(answers kadm.CreateTopicResponses, names []string) []kadm.CreateTopicResponse {
	var sorted []kadm.CreateTopicResponse
	for _, name := range names {
		if answer, ok := answers[name]; ok {
			sorted = append(sorted, answer)
			delete(answers, name)
		}
	}
	return sorted
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// listedTopic is one line of the JSON output of topic list.
type listedTopic struct {
	Topic       string `json:"topic"`
	ID          string `json:"id"`
	Partitions  int    `json:"partitions"`
	Replication int    `json:"replication_factor"`
	Internal    bool   `json:"internal"`
}

func newTopicListCommand(g *globals) *cobra.Command {
	var internal bool
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List topics",
		Example: "  weir topic list\n  weir topic list -o json | jq -r .topic",
		Args:    args(cobra.NoArgs, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			adm, err := g.admin(cmd.Context())
			if err != nil {
				return err
			}
			defer adm.Close()
			list := adm.ListTopics
			if internal {
				list = adm.ListTopicsWithInternal
			}
			topics, err := list(cmd.Context())
			if err != nil {
				return failed("topic list", err, "")
			}
			out := newTable(g.stdout, "TOPIC", "PARTITIONS", "REPLICAS")
			for _, t := range topics.Sorted() {
				row := listedTopic{Topic: t.Topic, ID: topicID(t.ID), Partitions: len(t.Partitions), Replication: t.Partitions.NumReplicas(), Internal: t.IsInternal}
				if g.output == outputJSON {
					if err := printJSON(g.stdout, row); err != nil {
						return err
					}
					continue
				}
				out.row(row.Topic, fmt.Sprint(row.Partitions), fmt.Sprint(row.Replication))
			}
			if g.output == outputJSON {
				return nil
			}
			return out.flush()
		},
	}
	cmd.Flags().BoolVar(&internal, "internal", false, "list internal topics too")
	return cmd
}

// describedTopic is one line of the JSON output of topic describe.
type describedTopic struct {
	Topic      string               `json:"topic"`
	ID         string               `json:"id"`
	Internal   bool                 `json:"internal"`
	Configs    map[string]string    `json:"configs"` // only what the topic sets itself
	Partitions []describedPartition `json:"partitions"`
	// Cleaning is there for compacted topics: a row for each replica on a broker whose admin listener could be asked.
	Cleaning []describedCleaning `json:"cleaning,omitempty"`
}

type describedPartition struct {
	Partition   int32   `json:"partition"`
	Leader      int32   `json:"leader"` // -1: none
	LeaderEpoch int32   `json:"leader_epoch"`
	Replicas    []int32 `json:"replicas"`
	ISR         []int32 `json:"isr"`
	Offline     []int32 `json:"offline_replicas"`
	Start       int64   `json:"start_offset"` // -1: unknown
	End         int64   `json:"end_offset"`   // -1: unknown
	Error       string  `json:"error,omitempty"`
}

func newTopicDescribeCommand(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:               "describe NAME...",
		Short:             "Show a topic's partitions, offsets and own configuration",
		Example:           "  weir topic describe orders",
		Args:              args(cobra.MinimumNArgs(1), "topic names"),
		ValidArgsFunction: g.completeTopics(true),
		RunE: func(cmd *cobra.Command, names []string) error {
			adm, err := g.admin(cmd.Context())
			if err != nil {
				return err
			}
			defer adm.Close()
			details, err := adm.ListTopicsWithInternal(cmd.Context(), names...)
			if err != nil {
				return failed("topic describe", err, "")
			}
			var errs []error
			for i, name := range names {
				detail, ok := details[name]
				if !ok {
					detail.Err = kerr.UnknownTopicOrPartition
				}
				if detail.Err != nil {
					errs = append(errs, failed("topic "+name, detail.Err, ""))
					continue
				}
				described, err := describeTopic(cmd.Context(), adm, detail)
				if err != nil {
					errs = append(errs, err)
					continue
				}
				if i > 0 && g.output == outputTable {
					fmt.Fprintln(g.stdout)
				}
				if err := described.print(g); err != nil {
					return err
				}
			}
			return errors.Join(errs...)
		},
	}
}

func describeTopic(ctx context.Context, adm *kadm.Client, detail kadm.TopicDetail) (*describedTopic, error) {
	d := &describedTopic{Topic: detail.Topic, ID: topicID(detail.ID), Internal: detail.IsInternal, Configs: make(map[string]string)}
	configs, err := adm.DescribeTopicConfigs(ctx, detail.Topic)
	if err != nil {
		return nil, failed("topic "+detail.Topic, err, "")
	}
	compacted := false
	for _, resource := range configs {
		for _, c := range resource.Configs {
			if c.Source == sourceTopic {
				d.Configs[c.Key] = c.MaybeValue()
			}
			compacted = compacted || c.Key == "cleanup.policy" && strings.Contains(c.MaybeValue(), "compact")
		}
	}
	starts, err := adm.ListStartOffsets(ctx, detail.Topic)
	if err != nil && starts == nil {
		return nil, failed("topic "+detail.Topic, err, "")
	}
	ends, err := adm.ListEndOffsets(ctx, detail.Topic)
	if err != nil && ends == nil {
		return nil, failed("topic "+detail.Topic, err, "")
	}
	offset := func(listed kadm.ListedOffsets, partition int32) int64 {
		if o, ok := listed.Lookup(detail.Topic, partition); ok && o.Err == nil {
			return o.Offset
		}
		return -1
	}
	for _, p := range detail.Partitions.Sorted() {
		row := describedPartition{
			Partition: p.Partition, Leader: p.Leader, LeaderEpoch: p.LeaderEpoch, Replicas: append([]int32{}, p.Replicas...), ISR: append([]int32{}, p.ISR...),
			Offline: append([]int32{}, p.OfflineReplicas...),
			Start:   offset(starts, p.Partition), End: offset(ends, p.Partition),
		}
		if p.Err != nil {
			row.Error = p.Err.Error()
		}
		d.Partitions = append(d.Partitions, row)
	}
	if compacted {
		d.Cleaning = describeCleaning(ctx, adm, detail.Topic)
	}
	return d, nil
}

func (d *describedTopic) print(g *globals) error {
	if g.output == outputJSON {
		return printJSON(g.stdout, d)
	}
	fmt.Fprintf(g.stdout, "Topic:   %s\nID:      %s\n", d.Topic, d.ID)
	names := make([]string, 0, len(d.Configs))
	for name := range d.Configs {
		names = append(names, name)
	}
	slices.Sort(names)
	label := "Config:  "
	for _, name := range names {
		fmt.Fprintf(g.stdout, "%s%s=%s\n", label, name, d.Configs[name])
		label = "         "
	}
	out := newTable(g.stdout, "PARTITION", "LEADER", "EPOCH", "REPLICAS", "ISR", "START", "END", "RECORDS")
	for _, p := range d.Partitions {
		leader, records := fmt.Sprint(p.Leader), "?"
		if p.Leader < 0 {
			leader = "none"
		}
		if p.Start >= 0 && p.End >= 0 {
			records = fmt.Sprint(p.End - p.Start)
		}
		out.row(fmt.Sprint(p.Partition), leader, fmt.Sprint(p.LeaderEpoch), joined(p.Replicas), joined(p.ISR),
			unlessNegative(p.Start), unlessNegative(p.End), records)
	}
	if err := out.flush(); err != nil || len(d.Cleaning) == 0 {
		return err
	}
	fmt.Fprintln(g.stdout)
	return printCleaning(g, d.Cleaning)
}

func unlessNegative[N cmp.Ordered](n N) string {
	var zero N
	if n < zero {
		return "?"
	}
	return fmt.Sprint(n)
}

func newTopicAlterCommand(g *globals) *cobra.Command {
	var partitions int
	cmd := &cobra.Command{
		Use:               "alter NAME --partitions N",
		Short:             "Give a topic more partitions",
		Long:              "Give a topic more partitions. Records stay where they are, while new keys may go to other partitions than before. Properties are changed with 'weir config set topic'.",
		Example:           "  weir topic alter orders --partitions 12",
		Args:              args(cobra.ExactArgs(1), "one topic name"),
		ValidArgsFunction: g.completeTopics(false),
		RunE: func(cmd *cobra.Command, names []string) error {
			if partitions < 1 {
				return usageError{errors.New("--partitions: say how many there shall be, such as --partitions 12")}
			}
			adm, err := g.admin(cmd.Context())
			if err != nil {
				return err
			}
			defer adm.Close()
			answers, err := adm.UpdatePartitions(cmd.Context(), partitions, names[0])
			if err != nil {
				return failed("topic "+names[0], err, "")
			}
			for _, answer := range answers.Sorted() {
				if answer.Err != nil {
					return failed("topic "+names[0], answer.Err, answer.ErrMessage)
				}
			}
			if g.output == outputJSON {
				return printJSON(g.stdout, map[string]any{"topic": names[0], "partitions": partitions})
			}
			g.report("topic %s has %s\n", names[0], count(partitions, "partition"))
			return nil
		},
	}
	cmd.Flags().IntVarP(&partitions, "partitions", "p", 0, "number of partitions there shall be")
	return cmd
}

func newTopicDeleteCommand(g *globals) *cobra.Command {
	var ifExists bool
	cmd := &cobra.Command{
		Use:               "delete NAME...",
		Short:             "Delete topics with all their records",
		Example:           "  weir topic delete orders",
		Args:              args(cobra.MinimumNArgs(1), "topic names"),
		ValidArgsFunction: g.completeTopics(true),
		RunE: func(cmd *cobra.Command, names []string) error {
			adm, err := g.admin(cmd.Context())
			if err != nil {
				return err
			}
			defer adm.Close()
			answers, err := adm.DeleteTopics(cmd.Context(), names...)
			if err != nil {
				return failed("topic delete", err, "")
			}
			var errs []error
			for _, name := range names {
				answer := answers[name]
				missing := errors.Is(answer.Err, kerr.UnknownTopicOrPartition)
				switch {
				case answer.Err != nil && (!missing || !ifExists):
					errs = append(errs, failed("topic "+name, answer.Err, answer.ErrMessage))
				case g.output == outputJSON:
					if err := printJSON(g.stdout, map[string]any{"topic": name, "deleted": !missing}); err != nil {
						return err
					}
				case missing:
					g.report("topic %s does not exist\n", name)
				default:
					g.report("deleted topic %s\n", name)
				}
			}
			return errors.Join(errs...)
		},
	}
	cmd.Flags().BoolVar(&ifExists, "if-exists", false, "succeed where the topic does not exist")
	return cmd
}

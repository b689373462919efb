package cli

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// dialTimeout bounds one attempt to connect, requestTimeout one request to a reachable cluster.
const (
	dialTimeout    = 5 * time.Second
	requestTimeout = 30 * time.Second
)

// connect returns a client of the cluster at g.bootstrap. It fails at once, rather than retry, where nobody listens.
func (g *globals) connect(ctx context.Context, opts ...kgo.Opt) (*kgo.Client, error) {
	seeds, err := g.seeds()
	if err != nil {
		return nil, err
	}
	if err := reachable(ctx, seeds); err != nil {
		return nil, err
	}
	opts = append([]kgo.Opt{
		kgo.SeedBrokers(seeds...),
		kgo.ClientID("weir-cli"),
		kgo.DialTimeout(dialTimeout),
		kgo.RetryTimeout(requestTimeout),
	}, opts...)
	cl, err := kgo.NewClient(opts...)
	if err != nil {
		return nil, usageError{err}
	}
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	if err := cl.Ping(ctx); err != nil {
		cl.Close()
		return nil, fmt.Errorf("%s does not answer as a broker (%s); check that --bootstrap names a Kafka listener", g.bootstrap, plainText(err))
	}
	return cl, nil
}

// admin is connect for commands that only administer.
func (g *globals) admin(ctx context.Context) (*kadm.Client, error) {
	cl, err := g.connect(ctx)
	if err != nil {
		return nil, err
	}
	adm := kadm.NewClient(cl)
	adm.SetTimeoutMillis(int32(requestTimeout.Milliseconds()))
	return adm, nil
}

func (g *globals) seeds() ([]string, error) {
	var seeds []string
	for _, seed := range strings.Split(g.bootstrap, ",") {
		seed = strings.TrimSpace(seed)
		host, port, err := net.SplitHostPort(seed)
		if err != nil {
			host, port = strings.Trim(seed, "[]"), "9092"
		}
		if host == "" {
			return nil, usageError{fmt.Errorf("--bootstrap %q: no host; use host:port", g.bootstrap)}
		}
		seeds = append(seeds, net.JoinHostPort(host, port))
	}
	return seeds, nil
}

// reachable checks that some address accepts connections.
func reachable(ctx context.Context, seeds []string) error {
	dialer := net.Dialer{Timeout: dialTimeout}
	var last error
	for _, seed := range seeds {
		conn, err := dialer.DialContext(ctx, "tcp", seed)
		if err == nil {
			return conn.Close()
		}
		last = err
	}
	var op *net.OpError
	if errors.As(last, &op) {
		last = op.Err
	}
	var dns *net.DNSError
	if errors.As(last, &dns) {
		last = errors.New(dns.Err)
	}
	return fmt.Errorf("cannot connect to %s: %s; start a broker with 'weir dev', or name one with --bootstrap or WEIR_BOOTSTRAP",
		strings.Join(seeds, ","), strings.TrimPrefix(last.Error(), "connect: "))
}

// fixes are what to do about errors that a broker answers with.
var fixes = map[*kerr.Error]string{
	kerr.UnknownTopicOrPartition:    "see 'weir topic list'",
	kerr.UnknownTopicID:             "see 'weir topic list'",
	kerr.TopicAlreadyExists:         "choose another name, or pass --if-not-exists",
	kerr.InvalidTopicException:      "a name is letters, digits, '.', '_' and '-', at most 249 of them, and differs from others in more than '.' and '_'",
	kerr.InvalidPartitions:          "partitions can be added, never taken away",
	kerr.InvalidReplicationFactor:   "ask for no more replicas than there are brokers",
	kerr.InvalidConfig:              "docs/config.md has the properties and their values",
	kerr.MessageTooLarge:            "raise the topic's max.message.bytes, or send smaller records",
	kerr.RecordListTooLarge:         "lower --batch-bytes below the topic's segment.bytes",
	kerr.NotEnoughReplicas:          "wait for replicas to catch up, or lower the topic's min.insync.replicas",
	kerr.OffsetOutOfRange:           "see 'weir topic describe' for the offsets there are",
	kerr.RequestTimedOut:            "try again; the broker's log may say why it was slow",
	kerr.TopicAuthorizationFailed:   "ask for access to the topic",
	kerr.ClusterAuthorizationFailed: "ask for access to the cluster",
	kerr.UnsupportedVersion:         "the broker is too old for this command",
}

// causes replace descriptions that say less to a person than they might.
var causes = map[*kerr.Error]string{
	kerr.UnknownTopicOrPartition: "does not exist",
	kerr.UnknownTopicID:          "does not exist",
	kerr.TopicAlreadyExists:      "exists already",
	kerr.MessageTooLarge:         "a record is larger than the topic allows",
	kerr.NotEnoughReplicas:       "fewer replicas are in sync than min.insync.replicas asks for",
}

// failed makes an error of what a broker answered about place: the cause, the place and one fix. detail is the broker's own message.
func failed(place string, err error, detail string) error {
	var ke *kerr.Error
	if !errors.As(err, &ke) {
		return fmt.Errorf("%s: %s", place, plainText(err))
	}
	if cause := causes[ke]; cause != "" {
		detail = cause
	}
	if detail == "" {
		detail = strings.TrimSuffix(ke.Description, ".")
	}
	text := fmt.Sprintf("%s: %s (%s)", place, strings.TrimSuffix(detail, "."), ke.Message)
	if fix := fixes[ke]; fix != "" {
		text += "; " + fix
	}
	return errors.New(text)
}

// plainText says what a client error means to a person.
func plainText(err error) string {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "no answer in time"
	case errors.Is(err, context.Canceled):
		return "interrupted"
	}
	return err.Error()
}

// table prints aligned columns.
type table struct {
	w *tabwriter.Writer
}

func newTable(out io.Writer, header ...string) *table {
	t := &table{tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)}
	t.row(header...)
	return t
}

func (t *table) row(cells ...string) {
	fmt.Fprintln(t.w, strings.Join(cells, "\t"))
}

func (t *table) flush() error { return t.w.Flush() }

// printJSON writes v on one line, without escaping <, > and &.
func printJSON(out io.Writer, v any) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(v)
}

// report prints what is meant for people, and nothing where the output is for programs.
func (g *globals) report(format string, args ...any) {
	if g.output == outputTable {
		fmt.Fprintf(g.stdout, format, args...)
	}
}

// keyValues reads k=v arguments.
func keyValues(args []string) (names []string, values map[string]string, err error) {
	values = make(map[string]string, len(args))
	for _, arg := range args {
		k, v, ok := strings.Cut(arg, "=")
		if !ok || k == "" {
			return nil, nil, usageError{fmt.Errorf("%q is not key=value", arg)}
		}
		if _, twice := values[k]; twice {
			return nil, nil, usageError{fmt.Errorf("%s is given twice", k)}
		}
		names = append(names, k)
		values[k] = v
	}
	return names, values, nil
}

// args wraps cobra's argument checks, whose errors are mistakes of usage.
func args(check cobra.PositionalArgs, want string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, given []string) error {
		if check(cmd, given) != nil {
			return usageError{fmt.Errorf("expected %s, got %d; see '%s --help'", want, len(given), cmd.CommandPath())}
		}
		return nil
	}
}

// commandGroup makes a command that only holds others: without one of them it shows its help, with an unknown one it fails.
func commandGroup(use, short, example string, commands ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use: use, Short: short, Example: example,
		RunE: func(cmd *cobra.Command, given []string) error {
			if len(given) == 0 {
				return cmd.Help()
			}
			return usageError{fmt.Errorf("unknown command %q for %q; see '%s --help'", given[0], cmd.CommandPath(), cmd.CommandPath())}
		},
	}
	cmd.AddCommand(commands...)
	return cmd
}

// completeTopics offers topic names; many allows more than one.
func (g *globals) completeTopics(many bool) cobra.CompletionFunc {
	return func(cmd *cobra.Command, given []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(given) > 0 && !many {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return g.topicNames(cmd.Context(), given), cobra.ShellCompDirectiveNoFileComp
	}
}

// topicNames lists topics for completion, quickly or not at all.
func (g *globals) topicNames(ctx context.Context, except []string) []string {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	adm, err := g.admin(ctx)
	if err != nil {
		return nil
	}
	defer adm.Close()
	topics, err := adm.ListTopics(ctx)
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(topics.Names(), func(name string) bool { return slices.Contains(except, name) })
}

// topicID prints an id as Kafka's tools do.
func topicID(id kadm.TopicID) string { return base64.RawURLEncoding.EncodeToString(id[:]) }

// joined prints ids separated by commas.
func joined(ids []int32) string {
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = fmt.Sprint(id)
	}
	return strings.Join(texts, ",")
}

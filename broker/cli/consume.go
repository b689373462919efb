package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"time"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// consumeOptions are the flags of weir consume.
type consumeOptions struct {
	partitions []int32
	from       string
	count      int64
	exit       bool
	keys       bool
	headers    bool
	template   string
	committed  bool
}

func newConsumeCommand(g *globals) *cobra.Command {
	var o consumeOptions
	cmd := &cobra.Command{
		Use:   "consume TOPIC",
		Short: "Print the records of a topic",
		Long: `Print the records of a topic as they are and as they come, until interrupted, for -n records, or with -e until the end that the
topic has now. Order is that of the log within a partition, and arbitrary between partitions.

--from is one of:
  start               the first record there is (the default)
  end                 only new records
  N                   offset N in every partition, or -N for the last N records of every partition
  2026-01-02T15:04:05Z   the first record at or after a time (RFC 3339), or
  -1h                 a duration before now

A line is the record's value; --keys puts the key and a tab before it, --headers key=value headers and a tab; --template replaces it by a
Go template with .Topic .Partition .Offset .Timestamp .Key .Value .Headers; -o json prints objects that 'weir produce --input json' reads.`,
		Example: "  weir consume hello -n 10\n" +
			"  weir consume hello --from end\n" +
			"  weir consume hello -p 0 --from -5 -e --keys\n" +
			"  weir consume hello -e --template '{{.Partition}}:{{.Offset}} {{.Timestamp}} {{.Value}}'",
		Args:              args(cobra.ExactArgs(1), "one topic name"),
		ValidArgsFunction: g.completeTopics(false),
		RunE: func(cmd *cobra.Command, given []string) error {
			return consume(cmd.Context(), g, given[0], &o)
		},
	}
	flags := cmd.Flags()
	flags.Int32SliceVarP(&o.partitions, "partition", "p", nil, "partitions to read, separated by commas; all if not given")
	flags.StringVar(&o.from, "from", "start", "where to begin: start, end, an offset, a time or a duration (see above)")
	flags.Int64VarP(&o.count, "count", "n", 0, "stop after this many records; 0 does not stop")
	flags.BoolVarP(&o.exit, "exit", "e", false, "stop at the end that the topic has now")
	flags.BoolVar(&o.keys, "keys", false, "print keys")
	flags.BoolVar(&o.headers, "headers", false, "print headers")
	flags.StringVarP(&o.template, "template", "t", "", "Go template of a line")
	flags.BoolVar(&o.committed, "committed", false, "leave out records of open and aborted transactions")
	_ = cmd.RegisterFlagCompletionFunc("from", cobra.FixedCompletions([]string{"start", "end", "-1h", "-10"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// span is what is read of one partition: [next, end), or without end where end is negative.
type span struct{ next, end int64 }

// startPoint is a parsed --from.
type startPoint struct {
	relative int64 // >0: this many records before the end
	offset   int64 // -1: end, -2: start, else an offset
	at       time.Time
}

func parseFrom(text string, now time.Time) (startPoint, error) {
	switch text {
	case "start":
		return startPoint{offset: -2}, nil
	case "end":
		return startPoint{offset: -1}, nil
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		if n < 0 {
			return startPoint{relative: -n}, nil
		}
		return startPoint{offset: n}, nil
	}
	if at, err := time.Parse(time.RFC3339Nano, text); err == nil {
		return startPoint{at: at}, nil
	}
	if ago, ok := strings.CutPrefix(text, "-"); ok {
		if d, err := time.ParseDuration(ago); err == nil {
			return startPoint{at: now.Add(-d)}, nil
		}
	}
	return startPoint{}, usageError{fmt.Errorf("--from %s: not a place in a log; use start, end, an offset, -N, a time such as 2026-01-02T15:04:05Z, or -1h", text)}
}

// line prints one record.
type line func(w *bufio.Writer, r *kgo.Record) error

func (o *consumeOptions) line(output string) (line, error) {
	if o.template != "" {
		if output == outputJSON {
			return nil, usageError{errors.New("--template and -o json: both say how to print; use one")}
		}
		t, err := template.New("line").Option("missingkey=error").Parse(unescaped(o.template))
		if err != nil {
			return nil, templateError(err)
		}
		if err := t.Execute(io.Discard, recordView{}); err != nil {
			return nil, templateError(err)
		}
		return func(w *bufio.Writer, r *kgo.Record) error {
			if err := t.Execute(w, viewOf(r)); err != nil {
				return templateError(err)
			}
			return w.WriteByte('\n')
		}, nil
	}
	if output == outputJSON {
		return func(w *bufio.Writer, r *kgo.Record) error { return printJSON(w, toJSON(r)) }, nil
	}
	return func(w *bufio.Writer, r *kgo.Record) error {
		if o.headers {
			fmt.Fprint(w, headerText(r.Headers), "\t")
		}
		if o.keys {
			_, _ = w.Write(r.Key)
			_ = w.WriteByte('\t')
		}
		_, _ = w.Write(r.Value)
		return w.WriteByte('\n')
	}, nil
}

// templateError says what is wrong with a template, without Go's names for where.
func templateError(err error) error {
	text := strings.TrimPrefix(err.Error(), "template: line:")
	text = strings.Replace(text, " in type cli.recordView", "", 1)
	return usageError{fmt.Errorf("--template: %s; the fields are .Topic .Partition .Offset .Timestamp .Key .Value .Headers", text)}
}

// recordView is what a template sees.
type recordView struct {
	Topic      string
	Partition  int32
	Offset     int64
	Timestamp  string
	Key, Value string
	Headers    string
}

func viewOf(r *kgo.Record) recordView {
	return recordView{
		Topic: r.Topic, Partition: r.Partition, Offset: r.Offset, Timestamp: r.Timestamp.UTC().Format(time.RFC3339Nano),
		Key: string(r.Key), Value: string(r.Value), Headers: headerText(r.Headers),
	}
}

func headerText(headers []kgo.RecordHeader) string {
	var parts []string
	for _, h := range headers {
		parts = append(parts, h.Key+"="+string(h.Value))
	}
	return strings.Join(parts, ",")
}

func consume(ctx context.Context, g *globals, topic string, o *consumeOptions) error {
	printed, err := o.line(g.output)
	if err != nil {
		return err
	}
	from, err := parseFrom(o.from, time.Now())
	if err != nil {
		return err
	}
	if o.count < 0 {
		return usageError{fmt.Errorf("-n %d: not a number of records; use 1 or more, or 0 to go on", o.count)}
	}
	spans, err := planSpans(ctx, g, topic, o, from)
	if err != nil {
		return err
	}
	offsets := make(map[int32]kgo.Offset)
	for p, s := range spans {
		if s.end < 0 || s.next < s.end {
			offsets[p] = kgo.NewOffset().At(s.next)
		}
	}
	if len(offsets) == 0 {
		return nil
	}
	isolation := kgo.ReadUncommitted()
	if o.committed {
		isolation = kgo.ReadCommitted()
	}
	cl, err := g.connect(ctx, kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: offsets}), kgo.FetchIsolationLevel(isolation),
		kgo.ConsumeResetOffset(kgo.NoResetOffset()), kgo.KeepControlRecords())
	if err != nil {
		return err
	}
	defer cl.Close()
	out := bufio.NewWriterSize(g.stdout, 64<<10)
	err = (&reading{topic: topic, spans: spans, count: o.count, print: printed, exit: o.exit, open: len(offsets)}).run(ctx, cl, out)
	return errors.Join(err, out.Flush())
}

// reading is the loop of one weir consume.
type reading struct {
	topic string
	spans map[int32]span
	count int64 // 0: no limit
	print line
	exit  bool
	open  int // partitions not read to their end
	done  int64
}

// quiet is how long a read to the end goes on without a record. Records at the end may have been compacted away or belong to
// aborted transactions, and then nothing comes any more although the end was not seen.
const quiet = 5 * time.Second

func (r *reading) run(ctx context.Context, cl *kgo.Client, out *bufio.Writer) error {
	for r.open > 0 {
		fetches := r.poll(ctx, cl)
		if ctx.Err() != nil {
			return nil // interrupted, which is how this command ends
		}
		if r.exit && fetches.Empty() {
			return nil
		}
		var failure error
		fetches.EachError(func(topic string, partition int32, err error) {
			if failure == nil && !kerr.IsRetriable(err) && !errors.Is(err, context.DeadlineExceeded) {
				failure = failed(fmt.Sprintf("topic %s, partition %d", topic, partition), err, "")
			}
		})
		if failure != nil {
			return failure
		}
		for records := fetches.RecordIter(); !records.Done(); {
			finished, err := r.one(records.Next(), out)
			if err != nil || finished {
				return err
			}
		}
		if err := out.Flush(); err != nil {
			return err
		}
	}
	return nil
}

func (r *reading) poll(ctx context.Context, cl *kgo.Client) kgo.Fetches {
	if !r.exit {
		return cl.PollFetches(ctx)
	}
	ctx, cancel := context.WithTimeout(ctx, quiet)
	defer cancel()
	return cl.PollFetches(ctx)
}

// one handles a record and reports whether the reading is over.
func (r *reading) one(record *kgo.Record, out *bufio.Writer) (finished bool, err error) {
	s, ok := r.spans[record.Partition]
	if !ok || s.end >= 0 && record.Offset >= s.end {
		return false, nil
	}
	if !record.Attrs.IsControl() {
		if err := r.print(out, record); err != nil {
			return true, err
		}
		r.done++
	}
	if s.end >= 0 && record.Offset == s.end-1 {
		r.open--
	}
	return r.done == r.count && r.count > 0 || r.open == 0, nil
}

// planSpans says what to read of each partition, from the offsets that the topic has now.
func planSpans(ctx context.Context, g *globals, topic string, o *consumeOptions, from startPoint) (map[int32]span, error) {
	adm, err := g.admin(ctx)
	if err != nil {
		return nil, err
	}
	defer adm.Close()
	listed := func(list func(context.Context, ...string) (kadm.ListedOffsets, error)) (map[int32]int64, error) {
		answers, err := list(ctx, topic)
		if err == nil {
			err = answers.Error()
		}
		if err != nil {
			return nil, failed("topic "+topic, err, "")
		}
		offsets := make(map[int32]int64)
		answers.Each(func(l kadm.ListedOffset) { offsets[l.Partition] = l.Offset })
		return offsets, nil
	}
	starts, err := listed(adm.ListStartOffsets)
	if err != nil {
		return nil, err
	}
	if len(starts) == 0 {
		return nil, failed("topic "+topic, kerr.UnknownTopicOrPartition, "")
	}
	end := adm.ListEndOffsets
	if o.committed {
		end = adm.ListCommittedOffsets
	}
	ends, err := listed(end)
	if err != nil {
		return nil, err
	}
	var times map[int32]int64
	if !from.at.IsZero() {
		times, err = listed(func(ctx context.Context, topics ...string) (kadm.ListedOffsets, error) {
			return adm.ListOffsetsAfterMilli(ctx, from.at.UnixMilli(), topics...)
		})
		if err != nil {
			return nil, err
		}
	}
	spans := make(map[int32]span)
	for p, start := range starts {
		if len(o.partitions) > 0 && !slices.Contains(o.partitions, p) {
			continue
		}
		s := span{next: start, end: -1}
		switch {
		case times != nil:
			s.next = times[p]
		case from.relative > 0:
			s.next = max(start, ends[p]-from.relative)
		case from.offset == -1:
			s.next = ends[p]
		case from.offset >= 0:
			s.next = from.offset
		}
		if o.exit {
			s.end = ends[p]
		}
		if s.next < start || s.next > ends[p] {
			return nil, fmt.Errorf("topic %s, partition %d: offset %d is not in [%d, %d]; use an offset in that range, or start or end",
				topic, p, s.next, start, ends[p])
		}
		spans[p] = s
	}
	for _, p := range o.partitions {
		if _, ok := spans[p]; !ok {
			return nil, fmt.Errorf("topic %s: no partition %d; it has %s, numbered from 0", topic, p, count(len(starts), "partition"))
		}
	}
	return spans, nil
}

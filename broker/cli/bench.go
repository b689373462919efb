package cli

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// benchOptions are the flags that the three benchmarks share.
type benchOptions struct {
	topic      string
	partitions int32
	replicas   int16
	configs    []string
	keep       bool
	records    int64
	size       int
	rate       int64
	duration   time.Duration

	acks          string
	compression   string
	notIdempotent bool
	batchBytes    int32
	linger        time.Duration
}

func newBenchCommand(g *globals) *cobra.Command {
	return commandGroup("bench", "Measure throughput and latency of a cluster",
		"  weir bench produce --records 1000000 --size 1024\n  weir bench e2e --rate 1000 --duration 30s -o json",
		newBenchProduceCommand(g), newBenchConsumeCommand(g), newBenchE2ECommand(g))
}

func (o *benchOptions) topicFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&o.topic, "topic", "weir-bench", "topic to use; created where missing, and then deleted at the end")
	flags.Int32VarP(&o.partitions, "partitions", "p", 1, "partitions of a created topic")
	flags.Int16VarP(&o.replicas, "replication-factor", "r", -1, "replicas of a created topic; -1 leaves it to the brokers")
	flags.StringArrayVarP(&o.configs, "config", "c", nil, "property of a created topic as key=value; may be repeated")
	flags.BoolVar(&o.keep, "keep", false, "keep a created topic")
	flags.IntVarP(&o.size, "size", "s", 1024, "value size, in bytes")
}

func (o *benchOptions) producerFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&o.acks, "acks", "all", "all, 1 or 0")
	flags.StringVarP(&o.compression, "compression", "z", "none", "none, gzip, snappy, lz4 or zstd")
	flags.BoolVar(&o.notIdempotent, "no-idempotence", false, "do not number batches; implied by --acks 1 and 0")
	flags.Int32Var(&o.batchBytes, "batch-bytes", 1_000_000, "largest batch, in bytes")
	flags.DurationVar(&o.linger, "linger", 0, "how long to wait for a batch to fill")
}

func newBenchProduceCommand(g *globals) *cobra.Command {
	var o benchOptions
	cmd := &cobra.Command{
		Use:     "produce",
		Short:   "Write records and time their acknowledgements",
		Example: "  weir bench produce --records 500000 --size 1024 --compression zstd\n  weir bench produce --rate 1000 --records 30000",
		Args:    args(cobra.NoArgs, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.run(cmd.Context(), g, "produce", o.produce)
		},
	}
	o.topicFlags(cmd)
	o.producerFlags(cmd)
	cmd.Flags().Int64VarP(&o.records, "records", "n", 500_000, "how many records")
	cmd.Flags().Int64Var(&o.rate, "rate", 0, "records per second; 0 is as fast as possible")
	return cmd
}

func newBenchConsumeCommand(g *globals) *cobra.Command {
	var o benchOptions
	cmd := &cobra.Command{
		Use:     "consume",
		Short:   "Read records from the start of a topic",
		Long:    "Read records from the start of a topic. Where the topic is missing it is created and filled first, which is not timed.",
		Example: "  weir bench consume --topic orders --records 100000",
		Args:    args(cobra.NoArgs, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.run(cmd.Context(), g, "consume", o.consume)
		},
	}
	o.topicFlags(cmd)
	o.producerFlags(cmd)
	cmd.Flags().Int64VarP(&o.records, "records", "n", 500_000, "how many records")
	return cmd
}

func newBenchE2ECommand(g *globals) *cobra.Command {
	var o benchOptions
	cmd := &cobra.Command{
		Use:     "e2e",
		Short:   "Time records from before they are written until they are read",
		Example: "  weir bench e2e --rate 1000 --duration 30s",
		Args:    args(cobra.NoArgs, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.records = int64(o.duration.Seconds() * float64(o.rate))
			if o.rate < 1 {
				return usageError{fmt.Errorf("--rate %d: a latency needs a rate; use 1 or more records per second", o.rate)}
			}
			return o.run(cmd.Context(), g, "e2e", o.e2e)
		},
	}
	o.topicFlags(cmd)
	o.producerFlags(cmd)
	cmd.Flags().Int64Var(&o.rate, "rate", 1000, "records per second")
	cmd.Flags().DurationVar(&o.duration, "duration", 10*time.Second, "how long")
	return cmd
}

// benchReport is the result of a benchmark. Latencies are in milliseconds.
type benchReport struct {
	Test             string  `json:"test"`
	Topic            string  `json:"topic"`
	Records          int64   `json:"records"`
	Bytes            int64   `json:"bytes"` // of values
	Seconds          float64 `json:"seconds"`
	RecordsPerSecond float64 `json:"records_per_second"`
	MBPerSecond      float64 `json:"mb_per_second"` // 1e6 bytes

	Latency *latencyReport `json:"latency_ms,omitempty"`
}

type latencyReport struct {
	Mean float64 `json:"mean"`
	P50  float64 `json:"p50"`
	P90  float64 `json:"p90"`
	P99  float64 `json:"p99"`
	P999 float64 `json:"p999"`
	Max  float64 `json:"max"`
}

// latencies collects durations in microseconds, up to ten minutes.
type latencies struct {
	mu struct {
		sync.Mutex
		h *hdrhistogram.Histogram
	}
}

func newLatencies() *latencies {
	l := &latencies{}
	l.mu.h = hdrhistogram.New(1, (10 * time.Minute).Microseconds(), 3)
	return l
}

func (l *latencies) add(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = l.mu.h.RecordValue(min(max(1, d.Microseconds()), (10 * time.Minute).Microseconds()))
}

func (l *latencies) report() *latencyReport {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := func(q float64) float64 { return float64(l.mu.h.ValueAtQuantile(q)) / 1000 }
	return &latencyReport{Mean: l.mu.h.Mean() / 1000, P50: at(50), P90: at(90), P99: at(99), P999: at(99.9), Max: float64(l.mu.h.Max()) / 1000}
}

func (o *benchOptions) run(ctx context.Context, g *globals, test string, bench func(context.Context, *globals, bool) (*benchReport, error)) error {
	switch {
	case o.records < 1:
		return usageError{fmt.Errorf("--records %d: nothing to measure; use 1 or more", o.records)}
	case o.size < 8:
		return usageError{fmt.Errorf("--size %d: too small; use at least 8 bytes", o.size)}
	}
	if o.rate < 0 {
		return usageError{fmt.Errorf("--rate %d: not a rate; use 1 or more records per second, or 0 for as fast as possible", o.rate)}
	}
	if _, err := o.producerOptions(); err != nil {
		return err
	}
	configs, err := topicConfigs(o.configs)
	if err != nil {
		return err
	}
	adm, err := g.admin(ctx)
	if err != nil {
		return err
	}
	defer adm.Close()
	created, err := o.ensureTopic(ctx, adm, configs)
	if err != nil {
		return err
	}
	if created && !o.keep {
		defer func() {
			// The topic goes even where the benchmark was interrupted.
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), dialTimeout)
			defer cancel()
			_, _ = adm.DeleteTopics(ctx, o.topic)
		}()
	}
	report, err := bench(ctx, g, created)
	if err != nil {
		return err
	}
	report.Test, report.Topic = test, o.topic
	report.RecordsPerSecond = float64(report.Records) / report.Seconds
	report.MBPerSecond = float64(report.Bytes) / 1e6 / report.Seconds
	return report.print(g)
}

func (o *benchOptions) ensureTopic(ctx context.Context, adm *kadm.Client, configs map[string]*string) (created bool, err error) {
	answer, err := adm.CreateTopic(ctx, o.partitions, o.replicas, configs, o.topic)
	if errors.Is(err, kerr.TopicAlreadyExists) {
		return false, nil
	}
	if err != nil {
		return false, failed("topic "+o.topic, err, answer.ErrMessage)
	}
	return true, nil
}

func (o *benchOptions) producerOptions() ([]kgo.Opt, error) {
	opts, err := producerOptions(o.acks, o.compression, o.notIdempotent)
	if err != nil {
		return nil, err
	}
	return append(opts, kgo.ProducerBatchMaxBytes(o.batchBytes), kgo.ProducerLinger(o.linger), kgo.DefaultProduceTopic(o.topic)), nil
}

// values returns values of random letters, a few hundred so that they are not all the same to a codec.
func (o *benchOptions) values() [][]byte {
	r := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // payload, not secrets
	values := make([][]byte, 256)
	for i := range values {
		values[i] = make([]byte, o.size)
		for j := range values[i] {
			values[i][j] = 'A' + byte(r.IntN(26))
		}
	}
	return values
}

// pace waits until record n of a steady rate is due. It returns at once where the rate is 0 or the time has passed, so that a slow
// broker is caught up with.
func pace(ctx context.Context, start time.Time, n, rate int64) time.Time {
	now := time.Now()
	if rate <= 0 {
		return now
	}
	due := start.Add(time.Duration(float64(n) / float64(rate) * float64(time.Second)))
	if wait := due.Sub(now); wait > 0 {
		select {
		case <-time.After(wait):
		case <-ctx.Done():
		}
	}
	return due
}

func (o *benchOptions) produce(ctx context.Context, g *globals, _ bool) (*benchReport, error) {
	l := newLatencies()
	seconds, err := o.fill(ctx, g, l)
	if err != nil {
		return nil, err
	}
	return &benchReport{Records: o.records, Bytes: o.records * int64(o.size), Seconds: seconds, Latency: l.report()}, nil
}

// fill writes the records and returns how long that took. A record's latency counts from when it was due.
func (o *benchOptions) fill(ctx context.Context, g *globals, l *latencies) (seconds float64, err error) {
	opts, err := o.producerOptions()
	if err != nil {
		return 0, err
	}
	cl, err := g.connect(ctx, opts...)
	if err != nil {
		return 0, err
	}
	defer cl.Close()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	values := o.values()
	start := time.Now()
	for n := range o.records {
		due := pace(ctx, start, n, o.rate)
		cl.Produce(ctx, &kgo.Record{Value: values[n%int64(len(values))]}, func(_ *kgo.Record, err error) {
			if err != nil {
				cancel(err)
				return
			}
			l.add(time.Since(due))
		})
		if ctx.Err() != nil {
			break
		}
	}
	_ = cl.Flush(ctx)
	if cause := context.Cause(ctx); cause != nil {
		return 0, failed("topic "+o.topic, cause, "")
	}
	return time.Since(start).Seconds(), nil
}

func (o *benchOptions) consume(ctx context.Context, g *globals, created bool) (*benchReport, error) {
	if created {
		if _, err := o.fill(ctx, g, newLatencies()); err != nil {
			return nil, err
		}
	}
	cl, err := g.connect(ctx, kgo.ConsumeTopics(o.topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		return nil, err
	}
	defer cl.Close()
	report := &benchReport{}
	start := time.Now()
	for report.Records < o.records {
		wait, cancel := context.WithTimeout(ctx, quiet)
		fetches := cl.PollFetches(wait)
		cancel()
		if err := context.Cause(ctx); err != nil {
			return nil, failed("topic "+o.topic, err, "")
		}
		if fetches.Empty() {
			return nil, fmt.Errorf("topic %s: has %s, not %d; use --records %d", o.topic, count(int(report.Records), "record"), o.records, report.Records)
		}
		fetches.EachRecord(func(r *kgo.Record) {
			report.Records++
			report.Bytes += int64(len(r.Value))
		})
	}
	report.Seconds = time.Since(start).Seconds()
	return report, nil
}

func (r *benchReport) print(g *globals) error {
	if g.output == outputJSON {
		return printJSON(g.stdout, r)
	}
	out := newTable(g.stdout, "RECORDS", "SECONDS", "RECORDS/S", "MB/S")
	out.row(fmt.Sprint(r.Records), fmt.Sprintf("%.2f", r.Seconds), fmt.Sprintf("%.0f", r.RecordsPerSecond), fmt.Sprintf("%.1f", r.MBPerSecond))
	if err := out.flush(); err != nil || r.Latency == nil {
		return err
	}
	ms := func(f float64) string { return fmt.Sprintf("%.2f", f) }
	fmt.Fprintln(g.stdout, "\nLatency in milliseconds:")
	out = newTable(g.stdout, "MEAN", "P50", "P90", "P99", "P99.9", "MAX")
	out.row(ms(r.Latency.Mean), ms(r.Latency.P50), ms(r.Latency.P90), ms(r.Latency.P99), ms(r.Latency.P999), ms(r.Latency.Max))
	return out.flush()
}

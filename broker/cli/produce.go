package cli

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kgo"
)

// maxLine bounds one line of input, in bytes.
const maxLine = 128 << 20

// deliveryTimeout is how long a record may stay unacknowledged, as Kafka's delivery.timeout.ms.
const deliveryTimeout = 2 * time.Minute

// produceOptions are the flags of weir produce.
type produceOptions struct {
	input         string
	key           string
	keySet        bool
	keySeparator  string
	headers       []string
	partition     int32
	acks          string
	compression   string
	notIdempotent bool
	batchBytes    int32
	tombstones    bool
	create        bool
}

func newProduceCommand(g *globals) *cobra.Command {
	var o produceOptions
	cmd := &cobra.Command{
		Use:   "produce TOPIC",
		Short: "Write records from standard input",
		Long: `Write records from standard input, one a line.

With --input lines (the default) a line is a value, or a key and a value with --key-separator. With --input json a line is an
object as 'weir consume -o json' prints it:

  {"key": "k", "value": "v", "headers": [{"key": "h", "value": "x"}], "partition": 0, "timestamp": "2026-01-02T15:04:05Z"}

All but value may be left out; null is a null key or value; key_base64 and value_base64 hold bytes that are not text. The command ends
when all records are acknowledged, or with the first that is refused. -o json prints where each record went.`,
		Example: "  echo 'hello, world' | weir produce hello\n" +
			"  printf 'a=1\\nb=2\\n' | weir produce hello --key-separator =\n" +
			"  weir consume hello -o json -e | weir produce copy --input json",
		Args:              args(cobra.ExactArgs(1), "one topic name"),
		ValidArgsFunction: g.completeTopics(false),
		RunE: func(cmd *cobra.Command, given []string) error {
			o.keySet = cmd.Flags().Changed("key")
			return produce(cmd.Context(), g, given[0], &o)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.input, "input", "lines", "what a line of input is: lines or json")
	flags.StringVarP(&o.key, "key", "k", "", "key of every record")
	flags.StringVar(&o.keySeparator, "key-separator", "", `text between key and value of a line, such as : or \t`)
	flags.StringArrayVarP(&o.headers, "header", "H", nil, "header of every record as key=value; may be repeated")
	flags.Int32VarP(&o.partition, "partition", "p", -1, "partition of every record; -1 goes by key")
	flags.StringVar(&o.acks, "acks", "all", "who must have a record before it counts: all, 1 (the leader) or 0 (nobody)")
	flags.StringVarP(&o.compression, "compression", "z", "none", "none, gzip, snappy, lz4 or zstd")
	flags.BoolVar(&o.notIdempotent, "no-idempotence", false, "let a retry write a record twice; implied by --acks 1 and 0")
	flags.Int32Var(&o.batchBytes, "batch-bytes", 1_000_000, "largest batch, in bytes")
	flags.BoolVar(&o.tombstones, "tombstones", false, "write an empty value as null, which deletes the key of a compacted topic")
	flags.BoolVar(&o.create, "create", false, "create the topic if it is missing and the brokers allow it")
	for flag, choices := range map[string][]string{"input": {"lines", "json"}, "acks": {"all", "1", "0"}, "compression": codecNames} {
		_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(choices, cobra.ShellCompDirectiveNoFileComp))
	}
	return cmd
}

var codecNames = []string{"none", "gzip", "snappy", "lz4", "zstd"}

func codec(name string) (kgo.CompressionCodec, error) {
	switch name {
	case "none":
		return kgo.NoCompression(), nil
	case "gzip":
		return kgo.GzipCompression(), nil
	case "snappy":
		return kgo.SnappyCompression(), nil
	case "lz4":
		return kgo.Lz4Compression(), nil
	case "zstd":
		return kgo.ZstdCompression(), nil
	}
	return kgo.NoCompression(), usageError{fmt.Errorf("--compression %s: no such codec; use one of %s", name, strings.Join(codecNames, ", "))}
}

// producerOptions turn acks, compression and idempotence into client options.
func producerOptions(acks, compression string, notIdempotent bool) ([]kgo.Opt, error) {
	c, err := codec(compression)
	if err != nil {
		return nil, err
	}
	opts := []kgo.Opt{
		kgo.ProducerBatchCompression(c), kgo.MaxBufferedRecords(50_000), kgo.MaxBufferedBytes(128 << 20),
		kgo.RecordDeliveryTimeout(deliveryTimeout),
	}
	switch acks {
	case "all", "-1":
		opts = append(opts, kgo.RequiredAcks(kgo.AllISRAcks()))
	case "1":
		opts, notIdempotent = append(opts, kgo.RequiredAcks(kgo.LeaderAck())), true
	case "0":
		opts, notIdempotent = append(opts, kgo.RequiredAcks(kgo.NoAck())), true
	default:
		return nil, usageError{fmt.Errorf("--acks %s: not a number of acknowledgements; use all, 1 or 0", acks)}
	}
	if notIdempotent {
		opts = append(opts, kgo.DisableIdempotentWrite())
	}
	return opts, nil
}

func (o *produceOptions) clientOptions() ([]kgo.Opt, error) {
	opts, err := producerOptions(o.acks, o.compression, o.notIdempotent)
	if err != nil {
		return nil, err
	}
	if o.batchBytes < 1 {
		return nil, usageError{fmt.Errorf("--batch-bytes %d: too small; use at least 1", o.batchBytes)}
	}
	opts = append(opts, kgo.ProducerBatchMaxBytes(o.batchBytes), kgo.RecordPartitioner(chosenPartitioner{kgo.StickyKeyPartitioner(nil)}))
	// A topic that is missing is an error at once, not after retries.
	opts = append(opts, kgo.UnknownTopicRetries(0))
	if o.create {
		opts = append(opts[:len(opts)-1], kgo.AllowAutoTopicCreation(), kgo.UnknownTopicRetries(10))
	}
	return opts, nil
}

// parse returns the function that makes a record of a line.
func (o *produceOptions) parse() (func(line []byte) (*kgo.Record, error), error) {
	var headers []kgo.RecordHeader
	for _, h := range o.headers {
		k, v, ok := strings.Cut(h, "=")
		if !ok {
			return nil, usageError{fmt.Errorf("--header %q: not key=value", h)}
		}
		headers = append(headers, kgo.RecordHeader{Key: k, Value: []byte(v)})
	}
	separator := []byte(unescaped(o.keySeparator))
	if len(separator) > 0 && o.keySet {
		return nil, usageError{errors.New("--key and --key-separator: both say what the key is; use one")}
	}
	read := func(line []byte) (*kgo.Record, error) {
		r := &kgo.Record{Partition: -1, Value: bytes.Clone(line)}
		if len(separator) > 0 {
			key, value, ok := bytes.Cut(line, separator)
			if !ok {
				return nil, fmt.Errorf("has no key separator %q", separator)
			}
			r.Key, r.Value = bytes.Clone(key), bytes.Clone(value)
		}
		if r.Value == nil {
			r.Value = []byte{}
		}
		if o.tombstones && len(r.Value) == 0 {
			r.Value = nil
		}
		return r, nil
	}
	switch o.input {
	case "lines":
	case "json":
		if len(separator) > 0 {
			return nil, usageError{errors.New("--key-separator is for --input lines; JSON objects have a key field")}
		}
		read = fromJSON
	default:
		return nil, usageError{fmt.Errorf("--input %s: unknown; use lines or json", o.input)}
	}
	return func(line []byte) (*kgo.Record, error) {
		r, err := read(line)
		if err != nil {
			return nil, err
		}
		if o.keySet {
			r.Key = []byte(o.key)
		}
		if o.partition >= 0 {
			r.Partition = o.partition
		}
		r.Headers = append(r.Headers, headers...)
		return r, nil
	}, nil
}

// unescaped reads \t, \n, \0 and \\ in a flag.
func unescaped(s string) string {
	return strings.NewReplacer(`\\`, `\`, `\t`, "\t", `\n`, "\n", `\0`, "\x00").Replace(s)
}

// chosenPartitioner uses a record's own partition where it has one.
type chosenPartitioner struct{ otherwise kgo.Partitioner }

func (p chosenPartitioner) ForTopic(topic string) kgo.TopicPartitioner {
	return &chosenTopicPartitioner{p.otherwise.ForTopic(topic)}
}

type chosenTopicPartitioner struct{ kgo.TopicPartitioner }

func (p *chosenTopicPartitioner) RequiresConsistency(r *kgo.Record) bool {
	return r.Partition >= 0 || p.TopicPartitioner.RequiresConsistency(r)
}

func (p *chosenTopicPartitioner) Partition(r *kgo.Record, n int) int {
	if r.Partition >= 0 {
		return int(r.Partition)
	}
	return p.TopicPartitioner.Partition(r, n)
}

// OnNewBatch lets the sticky partitioner move on.
func (p *chosenTopicPartitioner) OnNewBatch() {
	if on, ok := p.TopicPartitioner.(kgo.TopicPartitionerOnNewBatch); ok {
		on.OnNewBatch()
	}
}

func produce(ctx context.Context, g *globals, topic string, o *produceOptions) error {
	parse, err := o.parse()
	if err != nil {
		return err
	}
	opts, err := o.clientOptions()
	if err != nil {
		return err
	}
	cl, err := g.connect(ctx, opts...)
	if err != nil {
		return err
	}
	defer cl.Close()
	// An interrupt ends the reading; what was read until then is still written. A refusal ends both.
	writing, refuse := context.WithCancelCause(context.WithoutCancel(ctx))
	defer refuse(nil)
	acks := acknowledged{g: g, stop: refuse, place: "topic " + topic}
	readErr := eachLine(ctx, writing, g.stdin, func(n int, line []byte) error {
		if o.input == "json" && len(bytes.TrimSpace(line)) == 0 {
			return nil
		}
		r, err := parse(line)
		if err != nil {
			return fmt.Errorf("standard input, line %d: %w; the lines before it are written", n, err)
		}
		r.Topic = topic
		cl.Produce(writing, r, acks.done)
		return nil
	})
	flushErr := cl.Flush(writing)
	if err := acks.err(); err != nil {
		return errors.Join(err, readErr)
	}
	if readErr == nil && flushErr != nil {
		return fmt.Errorf("topic %s: %s before all records were acknowledged", topic, plainText(flushErr))
	}
	return readErr
}

// eachLine calls fn with each line until the input ends, fn fails, or a context ends. It does not wait for input then: what
// reads it is left behind, to end with the process.
func eachLine(reading, writing context.Context, in io.Reader, fn func(n int, line []byte) error) error {
	type result struct {
		line []byte
		err  error
	}
	lines := make(chan result, 1024)
	go func() {
		r := bufio.NewReaderSize(in, 64<<10)
		for {
			line, err := readLine(r)
			select {
			case lines <- result{line, err}:
			case <-reading.Done():
				return
			case <-writing.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	for n := 1; ; n++ {
		select {
		case l := <-lines:
			switch {
			case errors.Is(l.err, io.EOF):
				return nil
			case l.err != nil:
				return fmt.Errorf("standard input, line %d: %w", n, l.err)
			}
			if err := fn(n, l.line); err != nil {
				return err
			}
		case <-reading.Done():
			return nil
		case <-writing.Done():
			return nil
		}
	}
}

// readLine returns a line without its end. The last line needs none.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		if len(line)+len(part) > maxLine {
			return nil, fmt.Errorf("is longer than %d bytes", maxLine)
		}
		line = append(line, part...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && len(line) > 0:
			return line, nil
		case err != nil:
			return nil, err
		}
		line = line[:len(line)-1]
		return bytes.TrimSuffix(line, []byte("\r")), nil
	}
}

// acknowledged hears of every record once and keeps the first refusal.
type acknowledged struct {
	g     *globals
	stop  context.CancelCauseFunc
	place string

	mu struct {
		sync.Mutex
		first error
	}
}

func (a *acknowledged) done(r *kgo.Record, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err == nil && a.g.output == outputJSON {
		err = printJSON(a.g.stdout, map[string]any{"topic": r.Topic, "partition": r.Partition, "offset": r.Offset})
	}
	if err != nil && a.mu.first == nil {
		place := a.place
		if r.Partition >= 0 {
			place = fmt.Sprintf("%s, partition %d", a.place, r.Partition)
		}
		a.mu.first = failed(place, err, "")
		switch {
		case errors.Is(err, context.Canceled):
			a.mu.first = fmt.Errorf("%s: interrupted before all records were acknowledged", a.place)
		case strings.HasPrefix(err.Error(), "invalid record partitioning choice"):
			a.mu.first = fmt.Errorf("%s: no partition %d; see 'weir topic describe %s'", a.place, r.Partition, r.Topic)
		}
		a.stop(a.mu.first)
	}
}

func (a *acknowledged) err() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.mu.first
}

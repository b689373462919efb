//go:build interop

package logs

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weir-broker/weir/interop/oracle"
	"github.com/weir-broker/weir/interop/weir"
)

const topic = "busy"

// fill writes records of mixed size with every codec, as several idempotent producers do, over many small segments.
func fill(t *testing.T, addr string) {
	t.Helper()
	ctx := context.Background()
	for i, codec := range []kgo.CompressionCodec{
		kgo.NoCompression(), kgo.GzipCompression(), kgo.SnappyCompression(), kgo.Lz4Compression(), kgo.ZstdCompression(),
	} {
		cl, err := kgo.NewClient(kgo.SeedBrokers(addr), kgo.ProducerBatchCompression(codec), kgo.DefaultProduceTopic(topic),
			kgo.ProducerLinger(time.Millisecond), kgo.ProducerBatchMaxBytes(20000))
		if err != nil {
			t.Fatal(err)
		}
		var failed error
		for n := range 15000 {
			r := kgo.KeySliceRecord(fmt.Appendf(nil, "k%d", n%50), []byte(strings.Repeat(string(rune('a'+i)), n%700)))
			r.Headers = []kgo.RecordHeader{{Key: "n", Value: fmt.Append(nil, n)}}
			cl.Produce(ctx, r, func(_ *kgo.Record, err error) {
				if err != nil && failed == nil {
					failed = err
				}
			})
		}
		if err := cl.Flush(ctx); err != nil || failed != nil {
			t.Fatal(err, failed)
		}
		cl.Close()
	}
}

func start(t *testing.T, dir string) *weir.Broker {
	t.Helper()
	return weir.Start(t, dir, "--override", "log.segment.bytes=1048576", "--override", "log.index.interval.bytes=1000")
}

func create(t *testing.T, addr string) {
	t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(addr))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	if _, err := kadm.NewClient(cl).CreateTopic(context.Background(), 1, 1, nil, topic); err != nil {
		t.Fatal(err)
	}
}

func endOffset(t *testing.T, addr string) int64 {
	t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(addr))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	ends, err := kadm.NewClient(cl).ListEndOffsets(context.Background(), topic)
	if err != nil {
		t.Fatal(err)
	}
	o, ok := ends.Lookup(topic, 0)
	if !ok || o.Err != nil {
		t.Fatal(ok, o.Err)
	}
	return o.Offset
}

// producersOf lists what the broker remembers of the partition's producers, one line each.
func producersOf(t *testing.T, addr string) []string {
	t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(addr))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	got, err := kadm.NewClient(cl).DescribeProducers(context.Background(), kadm.TopicsSet{topic: {0: {}}})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, p := range got.SortedProducers() {
		out = append(out, fmt.Sprintf("id %d epoch %d sequence %d time %d", p.ProducerID, p.ProducerEpoch, p.LastSequence, p.LastTimestamp))
	}
	slices.Sort(out)
	return out
}

func startOracle(t *testing.T) *oracle.Oracle {
	t.Helper()
	o, err := oracle.Start(oracle.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := o.Close(); err != nil {
			t.Error(err)
		}
	})
	return o
}

// TestKafkaDumpsEveryFileWithoutMismatch also flips bytes of an index, to see that the check can fail.
func TestKafkaDumpsEveryFileWithoutMismatch(t *testing.T) {
	o := startOracle(t)
	dir := filepath.Join(t.TempDir(), "data")
	b := start(t, dir)
	create(t, b.Bootstrap)
	fill(t, b.Bootstrap)
	if err := b.Stop(); err != nil {
		t.Fatal(err)
	}
	part := filepath.Join(dir, topic+"-0")
	d, err := o.DumpLogs(context.Background(), part)
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Mismatches) > 0 {
		t.Fatalf("%d mismatches: %s", len(d.Mismatches), strings.Join(d.Mismatches[:min(20, len(d.Mismatches))], "\n"))
	}
	indexes, err := filepath.Glob(filepath.Join(part, "*.index"))
	if err != nil || len(indexes) < 3 {
		t.Fatalf("%d segments, want several (%v)", len(indexes), err)
	}
	snapshots, _ := filepath.Glob(filepath.Join(part, "*.snapshot"))
	if len(snapshots) == 0 || !strings.Contains(d.Stdout, "producerId: ") {
		t.Fatal("no producer snapshot was dumped")
	}
	t.Logf("%d files, %d segments, %d lines", strings.Count(d.Stdout, "Dumping "), len(indexes), strings.Count(d.Stdout, "\n"))
	for at, name := range map[int]string{3: indexes[0], 7: indexes[1], 11: indexes[1]} {
		raw, err := os.ReadFile(name)
		if err != nil || len(raw) <= at {
			t.Fatal(err, len(raw))
		}
		raw[at] ^= 1
		if err := os.WriteFile(name, raw, 0o644); err != nil {
			t.Fatal(err)
		}
		if d, err := o.DumpFiles(context.Background(), []string{name}); err != nil || len(d.Mismatches) == 0 {
			t.Errorf("byte %d of %s flipped: nothing reported (%v)", at, name, err)
		}
		raw[at] ^= 1
		if err := os.WriteFile(name, raw, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestKafkaRecoversAKilledDirectoryAsWeDo kills the broker while it is written to, adds a torn batch in one round, and lets Kafka's
// LogLoader open a copy: same end offset and same producers as weir finds.
func TestKafkaRecoversAKilledDirectoryAsWeDo(t *testing.T) {
	o := startOracle(t)
	for _, torn := range []int{0, 40, 300} {
		t.Run(fmt.Sprintf("torn-%d", torn), func(t *testing.T) {
			base := t.TempDir()
			dir := filepath.Join(base, "data")
			b := start(t, dir)
			create(t, b.Bootstrap)
			fill(t, b.Bootstrap)
			b.Kill()
			part := filepath.Join(dir, topic+"-0")
			if torn > 0 {
				tear(t, part, torn)
			}
			theirs := filepath.Join(base, topic+"-0")
			if err := os.CopyFS(theirs, os.DirFS(part)); err != nil {
				t.Fatal(err)
			}
			r, err := o.OpenLog(context.Background(), oracle.OpenLogRequest{
				Dir: theirs, Now: time.Now().UnixMilli(), Config: map[string]string{"segment.bytes": "1048576", "index.interval.bytes": "1000"},
			})
			if err != nil || r.ErrorClass != "" {
				t.Fatal(err, r.ErrorClass, r.ErrorMessage)
			}
			again := start(t, dir)
			if got := endOffset(t, again.Bootstrap); got != r.Opened.LogEndOffset {
				t.Errorf("end offset %d, Kafka's %d", got, r.Opened.LogEndOffset)
			}
			var want []string
			for _, p := range r.Opened.Producers {
				want = append(want, fmt.Sprintf("id %d epoch %d sequence %d time %d", p.ID, p.Epoch, p.Batches[len(p.Batches)-1].LastSeq, p.LastTimestamp))
			}
			slices.Sort(want)
			if got := producersOf(t, again.Bootstrap); !slices.Equal(got, want) {
				t.Errorf("producers\n%s\nKafka's\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			t.Logf("end offset %d, %d segments, %d producers", r.Opened.LogEndOffset, len(r.Opened.Segments), len(want))
		})
	}
}

// tear appends the first n bytes of the log's first batch, with a length that promises more.
func tear(t *testing.T, part string, n int) {
	t.Helper()
	logs, err := filepath.Glob(filepath.Join(part, "*.log"))
	if err != nil || len(logs) == 0 {
		t.Fatal(err)
	}
	head, err := os.ReadFile(logs[0])
	if err != nil {
		t.Fatal(err)
	}
	head = head[:n]
	if n > 12 {
		head[8], head[9] = 0, 1
	}
	f, err := os.OpenFile(logs[len(logs)-1], os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write(head); err != nil {
		t.Fatal(err)
	}
}

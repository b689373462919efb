//go:build interop

package clean_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weir-broker/weir/interop/oracle"
	"github.com/weir-broker/weir/interop/weir"
)

// liveRecord is what a consumer sees of a record.
type liveRecord struct {
	offset     int64
	key, value string
}

// TestLiveTopicsAreCleanedAsByKafka writes the same batches to a topic of a running Kafka and of ours, WEIR_CLEAN_LIVE times (3 when
// not set), lets both clean, and has kgo read from both, and Java's consumer from ours, what is left: the same records at the same
// offsets.
func TestLiveTopicsAreCleanedAsByKafka(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	theirs, err := kafka.StartBroker(ctx, filepath.Join(t.TempDir(), "kafka"), map[string]string{"log.cleaner.backoff.ms": "100", "log.segment.delete.delay.ms": "100"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := theirs.Stop(ctx); err != nil {
			t.Error(err)
		}
	}()
	ours := weir.Start(t, filepath.Join(t.TempDir(), "weir"), "--override", "log.cleaner.backoff.ms=100", "--override", "log.segment.delete.delay.ms=100")
	runs := envInt("WEIR_CLEAN_LIVE", 3)
	t.Logf("seed %d, %d runs", seed, runs)
	removed := 0
	for i := range runs {
		name := "live-" + strconv.Itoa(i)
		for _, bootstrap := range []string{theirs.Bootstrap, ours.Bootstrap} {
			liveWrite(ctx, t, bootstrap, name, i)
		}
		var want, got []liveRecord
		deadline := time.Now().Add(40 * time.Second)
		for {
			want, got = liveRead(ctx, t, theirs.Bootstrap, name), liveRead(ctx, t, ours.Bootstrap, name)
			if slices.Equal(want, got) && len(want) < liveRecords {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("%s: %d records, of Kafka %d", name, len(got), len(want))
			}
		}
		removed += liveRecords - len(got)
		out, err := kafka.Tool(ctx, oracle.Invocation{Tool: "console-consumer", Args: []string{
			"--bootstrap-server", ours.Bootstrap, "--topic", name, "--partition", "0", "--offset", "earliest", "--max-messages", strconv.Itoa(len(got)), "--timeout-ms", "20000",
			"--formatter-property", "print.offset=true", "--formatter-property", "print.value=false",
		}})
		if err != nil || out.Code != 0 {
			t.Fatalf("console consumer: %v %d %s", err, out.Code, out.Stderr)
		}
		var offsets []string
		for _, r := range got {
			offsets = append(offsets, fmt.Sprintf("Offset:%d", r.offset))
		}
		if lines := strings.Fields(out.Stdout); !slices.Equal(lines, offsets) {
			t.Errorf("%s: Java reads %d lines, there are %d records", name, len(lines), len(offsets))
		}
	}
	t.Logf("%d of %d records were removed by both", removed, runs*liveRecords)
}

const (
	liveBatch   = 50
	liveRecords = 100 * liveBatch
)

// liveWrite creates a topic and fills it, batch by batch so that segments begin at the same offsets everywhere.
func liveWrite(ctx context.Context, t *testing.T, bootstrap, topic string, run int) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, uint64(run)))
	codec := []kgo.CompressionCodec{kgo.NoCompression(), kgo.GzipCompression(), kgo.SnappyCompression(), kgo.Lz4Compression(), kgo.ZstdCompression()}[run%5]
	client, err := kgo.NewClient(kgo.SeedBrokers(bootstrap), kgo.DefaultProduceTopic(topic), kgo.ProducerBatchCompression(codec), kgo.ProducerLinger(50*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	config := map[string]*string{
		"cleanup.policy": kadm.StringPtr("compact"), "segment.bytes": kadm.StringPtr("1048576"), "min.cleanable.dirty.ratio": kadm.StringPtr("0.001"),
	}
	if _, err := kadm.NewClient(client).CreateTopic(ctx, 1, 1, config, topic); err != nil {
		t.Fatal(err)
	}
	keys, clock := 10+r.IntN(200), time.UnixMilli(1_700_000_000_000)
	value := make([]byte, 900)
	for range liveRecords / liveBatch {
		var batch []*kgo.Record
		for range liveBatch {
			clock = clock.Add(time.Duration(r.IntN(1000)) * time.Millisecond)
			rec := &kgo.Record{Key: fmt.Appendf(nil, "key-%d", r.IntN(keys)), Timestamp: clock}
			if r.IntN(10) > 0 {
				for i := range value {
					value[i] = byte(r.Uint32()) // does not compress
				}
				rec.Value = slices.Clone(value)
			}
			batch = append(batch, rec)
		}
		if err := client.ProduceSync(ctx, batch...).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
}

// liveRead reads a topic from its start to its end.
func liveRead(ctx context.Context, t *testing.T, bootstrap, topic string) []liveRecord {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(bootstrap), kgo.ConsumeTopics(topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	var all []liveRecord
	for next := int64(0); next < liveRecords; {
		fetches := client.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			t.Fatal(err)
		}
		fetches.EachRecord(func(r *kgo.Record) {
			all = append(all, liveRecord{r.Offset, string(r.Key), string(r.Value)})
			next = r.Offset + 1
		})
	}
	return all
}

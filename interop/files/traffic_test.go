//go:build interop

package files_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

const topic = "busy"

// topicConfig makes a partition roll and index often.
var topicConfig = map[string]string{"segment.bytes": "1048576", "index.interval.bytes": "600"}

func client(t *testing.T, addr string, opts ...kgo.Opt) *kgo.Client {
	t.Helper()
	cl, err := kgo.NewClient(append(opts, kgo.SeedBrokers(addr))...)
	if err != nil {
		t.Fatal(err)
	}
	return cl
}

// withAdmin gives a client for the time of one call.
func withAdmin[T any](t *testing.T, addr string, call func(ctx context.Context, a *kadm.Client) (T, error)) T {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	cl := client(t, addr)
	defer cl.Close()
	v, err := call(ctx, kadm.NewClient(cl))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func create(t *testing.T, addr string, config map[string]string) {
	t.Helper()
	values := map[string]*string{}
	for k, v := range config {
		values[k] = kadm.StringPtr(v)
	}
	withAdmin(t, addr, func(ctx context.Context, a *kadm.Client) (kadm.CreateTopicResponse, error) {
		return a.CreateTopic(ctx, 1, 1, values, topic)
	})
}

func record(r *rand.Rand) *kgo.Record {
	fill := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = "abcdefgh"[r.IntN(8)] // compresses, but not to nothing
		}
		return b
	}
	rec := &kgo.Record{Timestamp: time.Now().Add(-time.Duration(r.IntN(20000)) * time.Millisecond)}
	if r.IntN(4) > 0 {
		rec.Key = fill(r.IntN(30))
	}
	switch k := r.IntN(50); {
	case k == 0:
		rec.Value = fill(r.IntN(60000))
	case k > 2:
		rec.Value = fill(r.IntN(900))
	}
	for range r.IntN(4) {
		h := kgo.RecordHeader{Key: string(fill(r.IntN(9)))}
		if r.IntN(3) > 0 {
			h.Value = fill(r.IntN(20))
		}
		rec.Headers = append(rec.Headers, h)
	}
	return rec
}

// produce writes n records by each of seven producers at once, with and without idempotence, with every codec; it ends early
// with ctx. It returns how many were acknowledged.
func produce(ctx context.Context, t *testing.T, addr string, s uint64, n int) int64 {
	t.Helper()
	var acked atomic.Int64
	var wg sync.WaitGroup
	codecs := []kgo.CompressionCodec{
		kgo.NoCompression(), kgo.GzipCompression(), kgo.SnappyCompression(), kgo.Lz4Compression(), kgo.ZstdCompression(),
		kgo.NoCompression(), kgo.Lz4Compression(),
	}
	for i, codec := range codecs {
		opts := []kgo.Opt{
			kgo.ProducerBatchCompression(codec), kgo.DefaultProduceTopic(topic), kgo.ProducerLinger(time.Duration(i) * time.Millisecond),
			kgo.ProducerBatchMaxBytes(int32(70000 + i*30000)), kgo.MaxBufferedRecords(200 + 100*i),
		}
		if i >= 5 {
			opts = append(opts, kgo.DisableIdempotentWrite(), kgo.RequiredAcks(kgo.LeaderAck()))
		}
		cl := client(t, addr, opts...)
		wg.Go(func() {
			defer cl.Close()
			r := rand.New(rand.NewPCG(s, uint64(i)))
			for range n {
				cl.Produce(ctx, record(r), func(_ *kgo.Record, err error) {
					if err == nil {
						acked.Add(1)
					} else if ctx.Err() == nil {
						t.Errorf("produce: %v", err)
					}
				})
			}
			_ = cl.Flush(ctx)
		})
	}
	wg.Wait()
	return acked.Load()
}

func deleteRecords(t *testing.T, addr string, to int64) {
	t.Helper()
	withAdmin(t, addr, func(ctx context.Context, a *kadm.Client) (kadm.DeleteRecordsResponses, error) {
		var o kadm.Offsets
		o.Add(kadm.Offset{Topic: topic, Partition: 0, At: to})
		res, err := a.DeleteRecords(ctx, o)
		if err == nil {
			err = res.Error()
		}
		return res, err
	})
}

// offsetsOf asks for the first and the next offset.
func offsetsOf(t *testing.T, addr string) (start, end int64) {
	t.Helper()
	for at, list := range map[*int64]func(*kadm.Client, context.Context, ...string) (kadm.ListedOffsets, error){
		&start: (*kadm.Client).ListStartOffsets, &end: (*kadm.Client).ListEndOffsets,
	} {
		got := withAdmin(t, addr, func(ctx context.Context, a *kadm.Client) (kadm.ListedOffsets, error) { return list(a, ctx, topic) })
		o, ok := got.Lookup(topic, 0)
		if !ok || o.Err != nil {
			t.Fatal(ok, o.Err)
		}
		*at = o.Offset
	}
	return start, end
}

// producersOf lists what a broker remembers of the partition's producers, one line each.
func producersOf(t *testing.T, addr string) []string {
	t.Helper()
	got := withAdmin(t, addr, func(ctx context.Context, a *kadm.Client) (kadm.DescribedProducersTopics, error) {
		return a.DescribeProducers(ctx, kadm.TopicsSet{topic: {0: {}}})
	})
	var out []string
	for _, p := range got.SortedProducers() {
		out = append(out, producerLine(p.ProducerID, p.ProducerEpoch, p.LastSequence, p.LastTimestamp))
	}
	slices.Sort(out)
	return out
}

func producerLine(id int64, epoch int16, sequence int32, timestamp int64) string {
	return fmt.Sprintf("producer %d epoch %d sequence %d time %d", id, epoch, sequence, timestamp)
}

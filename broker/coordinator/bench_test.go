package coordinator

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weir-broker/weir/broker/batch"
)

// BenchmarkOperations is one shard with many clients, each waiting for its answer, on a log that commits at once: what the
// runtime itself costs an operation with one record.
func BenchmarkOperations(b *testing.B) {
	for _, clients := range []int{1, 16, 256} {
		b.Run(map[int]string{1: "clients=1", 16: "clients=16", 256: "clients=256"}[clients], func(b *testing.B) {
			log := &sinkLog{memLog: newMemLog(1)}
			rt := New(Options{Name: "bench"}, newStore)
			rt.Elect(0, 1, log)
			for rt.Tell(0, puts("ok")) != nil {
			}
			op := puts("ok", "key", "a value of some bytes")
			b.SetParallelism(clients)
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if _, err := rt.Submit(0, op).Wait(b.Context()); err != nil {
						b.Error(err)
						return
					}
				}
			})
			b.ReportMetric(float64(b.N)/float64(max(log.batches.Load(), 1)), "ops/batch")
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "ops/s")
			if err := rt.Close(b.Context()); err != nil {
				b.Error(err)
			}
		})
	}
}

// sinkLog counts and forgets.
type sinkLog struct {
	*memLog
	end, batches atomic.Int64
}

func (l *sinkLog) Append(_ batch.LeaderEpoch, raw []byte) (batch.Offset, error) {
	h, err := batch.ParseHeader(raw)
	l.batches.Add(1)
	return batch.Offset(l.end.Add(int64(h.RecordCount)) - int64(h.RecordCount)), err
}

func (l *sinkLog) Committed(batch.LeaderEpoch, batch.Offset) (bool, error) { return true, nil }

// BenchmarkLoad reads a log of a million records of about 100 bytes, in batches of 100.
func BenchmarkLoad(b *testing.B) {
	log := newMemLog(1)
	value := make([]byte, 60)
	builder := batch.NewBuilder(batch.NoProducer())
	for range 10_000 {
		builder.Reset(batch.NoProducer())
		for i := range 100 {
			builder.Add(0, fmt.Appendf(nil, "group-%d topic-of-some-name %d", log.end/1000, i), value, nil)
		}
		raw := builder.Bytes()
		batch.SetBaseOffset(raw, log.end)
		log.batches, log.end = append(log.batches, raw), log.end+100
		b.SetBytes(int64(len(raw)) * 10_000)
	}
	for b.Loop() {
		rt := New(Options{Name: "bench"}, newStore)
		rt.Elect(0, 1, log)
		for rt.Tell(0, puts("")) != nil {
			time.Sleep(time.Millisecond)
		}
		if err := rt.Close(b.Context()); err != nil {
			b.Error(err)
		}
	}
}

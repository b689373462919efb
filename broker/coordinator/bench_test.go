package coordinator

import (
	"sync/atomic"
	"testing"

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

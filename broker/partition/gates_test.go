package partition

import (
	"testing"
	"time"

	"github.com/weir-broker/weir/broker/batch"
	"github.com/weir-broker/weir/broker/commitlog"
	"github.com/weir-broker/weir/broker/vfs"
)

// onDisk is a partition on the machine's file system: the allocations of the
// memory file system are not ours.
func onDisk(t testing.TB, overrides ...string) *Partition {
	t.Helper()
	c := newCluster(t)
	c.topic("t", 1)
	for _, o := range overrides {
		key, value, _ := cut(o)
		c.set("t", key, value)
	}
	h := hostOnDisk(t, t.TempDir())
	h.apply(c)
	t.Cleanup(h.close)
	return h.get("t", 0)
}

// hostOnDisk is a table with one log directory on the machine's file system.
func hostOnDisk(t testing.TB, path string) *host {
	t.Helper()
	dir, err := commitlog.OpenDir(vfs.OS(), path, commitlog.DirOptions{ClusterID: "test", NodeID: 1})
	if err != nil {
		t.Fatal(err)
	}
	table, err := NewTable(Options{NodeID: 1, Dirs: []*commitlog.Dir{dir}, Config: testConfig(t)})
	if err != nil {
		t.Fatal(err)
	}
	return &host{Table: table, t: t, fs: vfs.OS()}
}

const allocationsPerRequest = 5

func TestAppendDoesNotAllocatePerRecord(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	p := onDisk(t)
	w := NewWaiter()
	p.Watch(w)
	defer p.Unwatch(w)
	measure := func(raw []byte) float64 {
		seq := int32(0)
		return testing.AllocsPerRun(200, func() {
			r, err := p.Append(produce(raw))
			if err != nil {
				t.Fatal(err)
			}
			if done, err := p.AckState(r.LastOffset + 1); !done || err != nil {
				t.Fatal(done, err)
			}
			// The client's next batch: base offset 0 again.
			batch.SetBaseOffset(raw, 0)
			seq++
		})
	}
	small, large := measure(records(make([]int64, 1)...)), measure(records(make([]int64, 1000)...))
	if small > allocationsPerRequest || large > small {
		t.Errorf("%v allocations for 1 record, %v for 1000; at most %d and no more with more records", small, large, allocationsPerRequest)
	}
}

func TestFetchDoesNotAllocatePerBatch(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	p := onDisk(t)
	for range 200 {
		mustAppend(t, p, records(make([]int64, 20)...))
	}
	dst := make([]byte, 0, 1<<20)
	for _, f := range []FetchRequest{consume(0), consume(100), consume(p.LogEndOffset())} {
		n := testing.AllocsPerRun(200, func() {
			if _, err := p.Fetch(f, dst); err != nil {
				t.Fatal(err)
			}
		})
		if n > allocationsPerRequest {
			t.Errorf("fetch at %d: %v allocations", f.Offset, n)
		}
		t.Logf("fetch at %d: %v allocations", f.Offset, n)
	}
}

func BenchmarkAppend1KB(b *testing.B) {
	p := onDisk(b)
	v := make([]byte, 1024)
	builder := batch.NewBuilder(batch.NoProducer())
	for range 16 {
		builder.Add(0, nil, v, nil)
	}
	raw := builder.Bytes()
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		batch.SetBaseOffset(raw, 0)
		if _, err := p.Append(AppendRequest{Raw: raw, Acks: 1, CurrentLeaderEpoch: NoEpoch}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkFetch1MB(b *testing.B) {
	p := onDisk(b)
	v := make([]byte, 1024)
	for range 200 {
		builder := batch.NewBuilder(batch.NoProducer())
		for range 16 {
			builder.Add(0, nil, v, nil)
		}
		mustAppend(b, p, builder.Bytes())
	}
	dst := make([]byte, 0, 2<<20)
	b.SetBytes(1 << 20)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.Fetch(consume(0), dst); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkThousandPartitions measures what one Apply takes that creates a
// thousand partitions, and the start and stop of a broker that holds them.
func BenchmarkThousandPartitions(b *testing.B) {
	var created, closed, loaded time.Duration
	for b.Loop() {
		path := b.TempDir()
		c := newCluster(b)
		c.topic("many", 1000)
		h := hostOnDisk(b, path)
		begin := time.Now()
		h.apply(c)
		created += time.Since(begin)
		begin = time.Now()
		h.close()
		closed += time.Since(begin)
		h = hostOnDisk(b, path)
		begin = time.Now()
		h.apply(c)
		loaded += time.Since(begin)
		h.close()
	}
	perRound := func(d time.Duration) float64 { return float64(d.Milliseconds()) / float64(b.N) }
	b.ReportMetric(perRound(created), "ms/create")
	b.ReportMetric(perRound(closed), "ms/close")
	b.ReportMetric(perRound(loaded), "ms/load")
}

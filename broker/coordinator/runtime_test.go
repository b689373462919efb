package coordinator

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/weir-broker/weir/broker/batch"
)

// bubble runs fn with a runtime in a synctest bubble, and a log that commits at once.
func bubble(t *testing.T, opt Options, fn func(t *testing.T, rt *rig, log *memLog)) {
	synctest.Test(t, func(t *testing.T) {
		opt.Name = "test-coordinator"
		rt := New(opt, newStore)
		log := newMemLog(1)
		log.auto = true
		rt.Elect(0, 1, log)
		synctest.Wait()
		fn(t, rt, log)
		if err := rt.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func wait(t *testing.T, f *Future[string], want string) {
	t.Helper()
	got, err := f.Wait(t.Context())
	if err != nil || got != want {
		t.Errorf("answer %q, %v; want %q", got, err, want)
	}
}

func waitErr(t *testing.T, f *Future[string], want error) {
	t.Helper()
	if got, err := f.Wait(t.Context()); !errors.Is(err, want) {
		t.Errorf("answer %q, %v; want %v", got, err, want)
	}
}

func TestIDsStayWhereKafkaPutThem(t *testing.T) {
	// Utils.abs(id.hashCode()) % 50 in Java.
	for id, want := range map[string]int32{
		"": 0, "a": 97 % 50, "test-group": 1861063530 % 50, "polygenelubricants": 0, // whose hash is the smallest int
		"\u00e9": 233 % 50, "\U0001F600": (31*0xd83d + 0xde00) % 50,
	} {
		if id == "test-group" {
			var h int32
			for _, c := range []byte(id) {
				h = 31*h + int32(c)
			}
			if want = h; h < 0 {
				want = -h
			}
			want %= 50
		}
		if got := Partition(id, 50); got != want {
			t.Errorf("%q: partition %d, want %d", id, got, want)
		}
	}
}

func TestFullQueueIsRefusedAtOnce(t *testing.T) {
	bubble(t, Options{MaxQueued: 3, MaxUnanswered: 5}, func(t *testing.T, rt *rig, log *memLog) {
		hold := make(chan struct{})
		if err := rt.Tell(0, func(*store, time.Time, Token) effects { <-hold; return effects{} }); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		var taken []*Future[string]
		for range 3 {
			taken = append(taken, rt.Submit(0, get("a")))
		}
		waitErr(t, rt.Submit(0, get("a")), ErrNotAvailable)
		if err := rt.Tell(0, get("a")); !errors.Is(err, ErrNotAvailable) {
			t.Error(err)
		}
		close(hold)
		for _, f := range taken {
			wait(t, f, "")
		}
		// Requests that the machine keeps count, too.
		for range 5 {
			rt.Submit(0, await("x"))
			synctest.Wait()
		}
		waitErr(t, rt.Submit(0, get("a")), ErrNotAvailable)
		if err := rt.Tell(0, puts("", "x", "1")); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		wait(t, rt.Submit(0, get("x")), "1")
	})
}

func TestWaitEndsWithItsContextAndTheWriteDoesNot(t *testing.T) {
	bubble(t, Options{}, func(t *testing.T, rt *rig, log *memLog) {
		log.change(func() { log.auto = false })
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		f := rt.Submit(0, puts("ok", "a", "1"))
		if _, err := f.Wait(ctx); !errors.Is(err, ErrTimeout) || !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		log.commit(1)
		wait(t, f, "ok")
		wait(t, rt.Submit(0, get("a")), "1")
	})
}

func TestCloseAnswersEverybody(t *testing.T) {
	bubble(t, Options{Linger: time.Hour}, func(t *testing.T, rt *rig, log *memLog) {
		log.change(func() { log.auto = false })
		fs := []*Future[string]{rt.Submit(0, puts("ok", "a", "1")), rt.Submit(0, await("x")), rt.Submit(0, compute("c", "1", func(ctx context.Context) { <-ctx.Done() }))}
		synctest.Wait()
		fs = append(fs, rt.Submit(0, get("a")))
		if err := rt.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, f := range append(fs, rt.Submit(0, get("a"))) {
			waitErr(t, f, ErrNotCoordinator)
		}
		rt.Elect(0, 9, log)
		if got := rt.Partitions(); len(got) != 0 {
			t.Errorf("partitions %v after Close", got)
		}
	})
}

func TestCloseIsBounded(t *testing.T) {
	bubble(t, Options{}, func(t *testing.T, rt *rig, log *memLog) {
		stuck := make(chan struct{})
		rt.Submit(0, compute("c", "1", func(context.Context) { <-stuck }))
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := rt.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Close with a call that does not end: %v", err)
		}
		close(stuck)
	})
}

func TestLingerGathersOperations(t *testing.T) {
	bubble(t, Options{Linger: 10 * time.Millisecond}, func(t *testing.T, rt *rig, log *memLog) {
		start := time.Now()
		a := rt.Submit(0, puts("a", "a", "1"))
		time.Sleep(4 * time.Millisecond)
		b := rt.Submit(0, puts("b", "b", "1"))
		wait(t, b, "b")
		wait(t, a, "a")
		if took := time.Since(start); took != 10*time.Millisecond || log.appends != 1 {
			t.Errorf("%d appends after %v, want 1 after 10ms", log.appends, took)
		}
	})
}

func TestCallsOfOneKeyTakeTurnsAndWorkersAreBounded(t *testing.T) {
	bubble(t, Options{Workers: 2}, func(t *testing.T, rt *rig, log *memLog) {
		var running, most, sameKey atomic.Int32
		var fs []*Future[string]
		for i := range 30 {
			key := fmt.Sprint("k", i%5)
			fs = append(fs, rt.Submit(0, compute(key, fmt.Sprint(i), func(context.Context) {
				if n := running.Add(1); n > most.Load() {
					most.Store(n)
				}
				if key == "k0" {
					if sameKey.Add(1) > 1 {
						t.Error("two calls of one key at once")
					}
					defer sameKey.Add(-1)
				}
				time.Sleep(time.Millisecond)
				running.Add(-1)
			})))
		}
		for _, f := range fs {
			wait(t, f, "computed")
		}
		if most.Load() != 2 {
			t.Errorf("%d workers at once, want 2", most.Load())
		}
		wait(t, rt.Submit(0, get("k4")), "29") // in order
	})
}

func TestTooManyCallsAreRefusedToTheMachine(t *testing.T) {
	bubble(t, Options{Workers: 1, MaxCalls: 2}, func(t *testing.T, rt *rig, log *memLog) {
		hold := make(chan struct{})
		block := func(context.Context) { <-hold }
		a, b := rt.Submit(0, compute("a", "1", block)), rt.Submit(0, compute("b", "1", nil))
		wait(t, rt.Submit(0, compute("c", "1", nil)), "refused")
		close(hold)
		wait(t, a, "computed")
		wait(t, b, "computed")
		wait(t, rt.Submit(0, compute("d", "1", func(context.Context) { panic("a call that panics") })), "refused")
	})
}

func TestResultOfADroppedMachineIsForgotten(t *testing.T) {
	bubble(t, Options{}, func(t *testing.T, rt *rig, log *memLog) {
		hold := make(chan struct{})
		f := rt.Submit(0, compute("a", "stale", func(context.Context) { <-hold }))
		synctest.Wait()
		log.change(func() { log.fail = errors.New("append fails") })
		waitErr(t, rt.Submit(0, puts("ok", "b", "1")), ErrNotCoordinator)
		waitErr(t, f, ErrNotCoordinator)
		synctest.Wait()
		close(hold)
		synctest.Wait()
		wait(t, rt.Submit(0, get("a")), "")
	})
}

func TestPartitionHasOneShardAtATime(t *testing.T) {
	bubble(t, Options{}, func(t *testing.T, rt *rig, log *memLog) {
		// An operation of the old shard is still running, and about to append, when the partition comes back: at the same
		// epoch, so that the log would not tell the two apart.
		hold := make(chan struct{})
		f := rt.Submit(0, func(s *store, now time.Time, token Token) effects {
			<-hold
			return puts("ok", "a", "old")(s, now, token)
		})
		synctest.Wait()
		rt.Resign(0, 1)
		rt.Elect(0, 1, log)
		synctest.Wait()
		waitErr(t, rt.Submit(0, get("a")), ErrLoading)
		close(hold)
		synctest.Wait()
		want := ""
		if answer, err := f.Wait(t.Context()); err == nil && answer == "ok" || log.holds("old") {
			want = "old"
		}
		wait(t, rt.Submit(0, get("a")), want)
	})
}

func TestOneShardDoesNotWaitForAnother(t *testing.T) {
	bubble(t, Options{Loads: 1}, func(t *testing.T, rt *rig, log *memLog) {
		slow := &slowLog{memLog: newMemLog(1), hold: make(chan struct{})}
		rt.Elect(1, 1, slow)
		synctest.Wait()
		wait(t, rt.Submit(0, puts("ok", "a", "1")), "ok")
		waitErr(t, rt.Submit(1, get("a")), ErrLoading)
		waitErr(t, rt.Submit(2, get("a")), ErrNotCoordinator)
		other := newMemLog(1)
		rt.Elect(2, 1, other)
		synctest.Wait()
		waitErr(t, rt.Submit(2, get("a")), ErrLoading) // one load at a time
		close(slow.hold)
		synctest.Wait()
		wait(t, rt.Submit(1, get("a")), "")
		wait(t, rt.Submit(2, get("a")), "")
	})
}

type slowLog struct {
	*memLog
	hold chan struct{}
}

func (l *slowLog) Read(epoch batch.LeaderEpoch, from batch.Offset, maxBytes int, dst []byte) ([]byte, error) {
	<-l.hold
	return l.memLog.Read(epoch, from, maxBytes, dst)
}

func TestCleanedAndCompressedLogsAreLoaded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newMemLog(1)
		add := func(fn func(b *batch.Builder), o batch.BuilderOptions) {
			b := batch.NewBuilder(o)
			fn(b)
			raw := b.Bytes()
			h, err := batch.ParseHeader(raw)
			if err != nil {
				t.Fatal(err)
			}
			log.batches, log.end = append(log.batches, raw), h.NextOffset()
		}
		at := func(base batch.Offset, codec batch.Codec) batch.BuilderOptions {
			o := batch.NoProducer()
			o.BaseOffset, o.Compression = base, batch.CompressionOf(codec)
			return o
		}
		log.start = 12
		add(func(b *batch.Builder) { // begins below the log's start; holes inside; its end is kept
			b.AddAt(10, 0, []byte("below"), []byte("1"), nil)
			b.AddAt(13, 0, []byte("a"), []byte("1"), nil)
			b.AddAt(17, 0, []byte("b"), []byte("1"), nil)
			b.SetLastOffset(19)
		}, at(10, batch.Zstd))
		add(func(b *batch.Builder) { b.SetLastOffset(29) }, at(25, batch.None)) // emptied
		add(func(b *batch.Builder) { b.AddAt(30, 0, []byte("b"), nil, nil) }, at(30, batch.Snappy))
		log.end, log.hw = 40, 40 // the end of the log was cleaned away
		rt := New(Options{LoadBytes: 1, Compression: batch.CompressionOf(batch.LZ4)}, newStore)
		rt.Elect(0, 1, log)
		synctest.Wait()
		log.auto = true
		wait(t, rt.Submit(0, func(s *store, _ time.Time, token Token) effects {
			return effects{Replies: []Reply[string]{{token, s.text()}}}
		}), "a=1@13")
		wait(t, rt.Submit(0, puts("ok", "c", "1")), "ok")
		if h, _ := batch.ParseHeader(log.batches[3]); h.BaseOffset != 40 || h.Codec() != batch.LZ4 {
			t.Errorf("appended %+v, want lz4 at 40", h)
		}
		if err := rt.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestBrokenLogFailsItsShardOnly(t *testing.T) {
	bubble(t, Options{}, func(t *testing.T, rt *rig, log *memLog) {
		broken := newMemLog(1)
		b := batch.NewBuilder(batch.NoProducer())
		b.Add(0, []byte("a"), []byte("1"), nil)
		raw := b.Bytes()
		raw[len(raw)-2] ^= 1
		broken.batches, broken.end = [][]byte{raw}, 1
		rt.Elect(1, 1, broken)
		synctest.Wait()
		waitErr(t, rt.Submit(1, get("a")), ErrNotCoordinator)
		wait(t, rt.Submit(0, get("a")), "")
	})
}

func TestBatchBoundHolds(t *testing.T) {
	for _, n := range []int{0, 1, 57, 58, 63, 64, 100, 8000, 8191, 8192, 70_000, 2_100_000} {
		records := []Record{{Key: make([]byte, n), Value: make([]byte, n/2)}, {Key: make([]byte, n)}, {Value: make([]byte, n)}}
		b := batch.NewBuilder(batch.NoProducer())
		for i, r := range records {
			b.Add(1_700_000_000_000+int64(i)*60_000, r.Key, r.Value, nil)
		}
		got, bound := len(b.Bytes()), BatchBound(records)
		if got > bound || bound-got > 16*len(records) {
			t.Errorf("%d bytes a field: bound %d for %d bytes", n, bound, got)
		}
	}
}

func TestMetricsTellStatesAndLoads(t *testing.T) {
	reg := prometheus.NewRegistry()
	bubble(t, Options{Registerer: reg}, func(t *testing.T, rt *rig, log *memLog) {
		wait(t, rt.Submit(0, puts("ok", "a", "1")), "ok")
		rt.Submit(0, await("x"))
		synctest.Wait()
		families, err := reg.Gather()
		if err != nil {
			t.Fatal(err)
		}
		values := map[string]float64{}
		for _, f := range families {
			for _, m := range f.GetMetric() {
				name := f.GetName()
				for _, l := range m.GetLabel() {
					if l.GetName() == "state" {
						name += " " + l.GetValue()
					}
				}
				switch {
				case m.GetGauge() != nil:
					values[name] = m.GetGauge().GetValue()
				case m.GetCounter() != nil:
					values[name] = m.GetCounter().GetValue()
				case m.GetHistogram() != nil:
					values[name] = float64(m.GetHistogram().GetSampleCount())
				}
			}
		}
		for name, want := range map[string]float64{
			"kafka_server_test_coordinator_metrics_num_partitions active":   1,
			"kafka_server_test_coordinator_metrics_num_partitions loading":  0,
			"kafka_server_test_coordinator_metrics_num_partitions failed":   0,
			"kafka_server_test_coordinator_metrics_partition_load_time_max": 0,
			"weir_coordinator_waiting":                                      1,
			"weir_coordinator_records_total":                                1,
			"weir_coordinator_batch_flush_seconds":                          1,
		} {
			if got, ok := values[name]; !ok || got != want {
				t.Errorf("%s is %v (there: %v), want %v", name, got, ok, want)
			}
		}
	})
}

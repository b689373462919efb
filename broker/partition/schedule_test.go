package partition

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-broker/weir/broker/batch"
	"github.com/weir-broker/weir/broker/commitlog"
	"github.com/weir-broker/weir/broker/metadata"
	"github.com/weir-broker/weir/broker/policy"
	"github.com/weir-broker/weir/broker/vfs"
)

// scheduled runs fn in a bubble where time stands still until everybody waits.
func scheduled(t *testing.T, overrides []string, topic []string, fn func(h *host, c *cluster, p *Partition)) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t)
		c.topic("t", 1)
		for _, o := range topic {
			key, value, _ := cut(o)
			c.set("t", key, value)
		}
		h := openHost(t, vfs.NewMem(), nil, overrides...)
		h.apply(c)
		h.Start()
		fn(h, c, h.get("t", 0))
		h.close()
	})
}

func TestIndexesNobodyReadsLeaveMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		faults := vfs.NewFaults(vfs.NewMem())
		c := newCluster(t)
		c.topic("t", 1)
		c.set("t", "segment.bytes", "1048576")
		h := openHost(t, faults, nil)
		defer h.close()
		h.apply(c)
		h.Start()
		p := h.get("t", 0)
		for range 30 {
			mustAppend(t, p, values(strings.Repeat("x", 100<<10)))
		}
		opened := faults.Add(vfs.Fault{Kinds: vfs.OpOpen, Glob: "*.index"})
		look := func(offset batch.Offset) int64 {
			before := opened.Matched()
			if _, err := p.Fetch(consume(offset), nil); err != nil {
				t.Fatal(err)
			}
			return int64(opened.Matched() - before)
		}
		synctest.Wait()
		if n := look(3); n != 0 {
			t.Errorf("%d index files read while they are in memory", n)
		}
		time.Sleep(indexIdle + 2*trimInterval)
		synctest.Wait()
		if n := look(5); n == 0 {
			t.Error("an idle index is still in memory")
		}
	})
}

func TestRetentionRunsOnItsSchedule(t *testing.T) {
	scheduled(t, []string{"log.retention.check.interval.ms=60000"}, []string{"retention.ms=1000"}, func(_ *host, _ *cluster, p *Partition) {
		mustAppend(t, p, values("old"))
		time.Sleep(29 * time.Second)
		synctest.Wait()
		if start := p.LogStartOffset(); start != 0 {
			t.Errorf("log start %d before the first check", start)
		}
		// The only segment is too old: a new one is begun and it goes.
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if start, leo := p.LogStartOffset(), p.LogEndOffset(); start != 1 || leo != 1 {
			t.Errorf("log start %d, end %d", start, leo)
		}
		if _, err := p.Fetch(consume(0), nil); !errors.Is(err, ErrOffsetOutOfRange) {
			t.Error(err)
		}
		mustAppend(t, p, values("young"))
		if got := read(t, p, 1); !slices.Equal(got, []string{"1:young"}) {
			t.Errorf("%v", got)
		}
		time.Sleep(time.Minute + time.Second)
		synctest.Wait()
		if start := p.LogStartOffset(); start != 2 {
			t.Errorf("log start %d after the second check", start)
		}
	})
}

func TestFlushIntervalMakesRecordsDurable(t *testing.T) {
	scheduled(t, nil, []string{"flush.ms=500"}, func(h *host, c *cluster, p *Partition) {
		mustAppend(t, p, values("a"))
		if rp := p.log.RecoveryPoint(); rp != 0 {
			t.Fatalf("recovery point %d at once", rp)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if rp := p.log.RecoveryPoint(); rp != 1 {
			t.Errorf("recovery point %d", rp)
		}
	})
	// Without it nothing is flushed, and it can be set on a live topic.
	scheduled(t, nil, nil, func(h *host, c *cluster, p *Partition) {
		mustAppend(t, p, values("a"))
		time.Sleep(time.Hour)
		synctest.Wait()
		if rp := p.log.RecoveryPoint(); rp != 0 {
			t.Errorf("recovery point %d", rp)
		}
		c.set("t", "flush.ms", "1000")
		h.apply(c)
		time.Sleep(3 * time.Second)
		synctest.Wait()
		if rp := p.log.RecoveryPoint(); rp != 1 {
			t.Errorf("recovery point %d after flush.ms was set", rp)
		}
	})
}

func TestProducersExpireOnSchedule(t *testing.T) {
	scheduled(t, []string{"producer.id.expiration.ms=60000", "producer.id.expiration.check.interval.ms=10000"}, nil, func(_ *host, _ *cluster, p *Partition) {
		mustAppend(t, p, idempotent(5, 0, 1))
		time.Sleep(59 * time.Second)
		synctest.Wait()
		if ps, _ := p.Producers(); len(ps) != 1 {
			t.Errorf("%v", ps)
		}
		time.Sleep(12 * time.Second)
		synctest.Wait()
		if ps, _ := p.Producers(); len(ps) != 0 {
			t.Errorf("%v", ps)
		}
	})
}

func TestMarksAreWrittenDown(t *testing.T) {
	scheduled(t, []string{"replica.high.watermark.checkpoint.interval.ms=5000"}, []string{"flush.messages=1"}, func(h *host, _ *cluster, p *Partition) {
		mustAppend(t, p, values("a", "b"))
		time.Sleep(6 * time.Second)
		synctest.Wait()
		m := p.dir.dir.Marks().Get(commitlog.TopicPartition{Topic: "t", Partition: 0})
		if m.HighWatermark != 2 || m.RecoveryPoint != 2 {
			t.Errorf("%+v", m)
		}
	})
}

func TestDeletedFoldersGoAfterTheDelay(t *testing.T) {
	scheduled(t, nil, []string{"file.delete.delay.ms=2000"}, func(h *host, c *cluster, p *Partition) {
		mustAppend(t, p, values("a"))
		c.change(&metadata.RemoveTopic{ID: p.TopicID()})
		h.apply(c)
		if got := folders(t, h.fs); len(got) != 1 {
			t.Errorf("%v", got)
		}
		time.Sleep(3 * time.Second)
		synctest.Wait()
		if got := folders(t, h.fs); len(got) != 0 {
			t.Errorf("%v", got)
		}
	})
}

// A retention policy that breaks its contract, or fails, removes nothing.
func TestRetentionKeepsRecordsWhenThePolicyIsWrong(t *testing.T) {
	c := newCluster(t)
	c.topic("t", 1)
	var answer policy.RetentionVerdict
	var fail error
	h := openHost(t, vfs.NewMem(), func(o *Options) {
		o.Retention = retentionFunc(func(policy.RetentionFacts) (policy.RetentionVerdict, error) { return answer, fail })
	})
	defer h.close()
	h.apply(c)
	p := h.get("t", 0)
	mustAppend(t, p, values("a", "b"))
	removed := []policy.SegmentRemoval{{Base: 0, Reason: policy.ReasonPlugin}}
	for _, v := range []policy.RetentionVerdict{{LogStartOffset: 3, Removed: removed}, {LogStartOffset: -1, Removed: removed}} {
		answer = v
		if n, err := p.retain(t.Context(), time.Now(), policy.DiskUse{}); n != 0 || err == nil {
			t.Errorf("%+v: %d, %v", v, n, err)
		}
	}
	answer, fail = policy.RetentionVerdict{LogStartOffset: 2, Removed: removed}, errors.New("trap")
	if n, err := p.retain(t.Context(), time.Now(), policy.DiskUse{}); n != 0 || !errors.Is(err, fail) {
		t.Errorf("%d, %v", n, err)
	}
	if got := read(t, p, 0); len(got) != 2 {
		t.Errorf("%v", got)
	}
}

// Between the decision and the deed the log may grow: then the active segment
// stays.
func TestRetentionDoesNotTakeWhatWasAppendedMeanwhile(t *testing.T) {
	c := newCluster(t)
	c.topic("t", 1)
	var p *Partition
	h := openHost(t, vfs.NewMem(), func(o *Options) {
		o.Retention = retentionFunc(func(f policy.RetentionFacts) (policy.RetentionVerdict, error) {
			mustAppend(t, p, values("meanwhile"))
			return policy.RetentionVerdict{
				LogStartOffset: f.LogEndOffset, RollActive: true,
				Removed: []policy.SegmentRemoval{{Base: 0, Reason: policy.ReasonTime}},
			}, nil
		})
	})
	defer h.close()
	h.apply(c)
	p = h.get("t", 0)
	mustAppend(t, p, values("a"))
	if n, err := p.retain(t.Context(), time.Now(), policy.DiskUse{}); n != 0 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if got := read(t, p, 0); len(got) != 2 {
		t.Errorf("%v", got)
	}
}

type retentionFunc func(policy.RetentionFacts) (policy.RetentionVerdict, error)

// Snapshots of producers go with their segments.
func TestSnapshotsGoWithTheirSegments(t *testing.T) {
	_, _, p := one(t, "segment.bytes=1048576", "retention.bytes=0")
	big := make([]byte, 700<<10)
	o := batch.NoProducer()
	for i := range int32(4) {
		o.ProducerID, o.ProducerEpoch, o.BaseSequence = 1, 0, i
		b := batch.NewBuilder(o)
		b.Add(time.Now().UnixMilli(), nil, big, nil)
		mustAppend(t, p, b.Bytes())
	}
	if got := p.mu.producers.Snapshots(); !slices.Equal(got, []batch.Offset{1, 2, 3}) {
		t.Fatalf("%v", got)
	}
	if n, err := p.retain(t.Context(), time.Now(), policy.DiskUse{}); n != 4 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if got := p.mu.producers.Snapshots(); !slices.Equal(got, []batch.Offset{4}) {
		t.Errorf("%v", got)
	}
	if r := mustAppend(t, p, func() []byte {
		o.BaseSequence = 3
		b := batch.NewBuilder(o)
		b.Add(time.Now().UnixMilli(), nil, big, nil)
		return b.Bytes()
	}()); !r.Duplicate || r.BaseOffset != 3 {
		t.Errorf("%+v", r)
	}
}

func (f retentionFunc) Decide(_ context.Context, facts policy.RetentionFacts) (policy.RetentionVerdict, error) {
	return f(facts)
}

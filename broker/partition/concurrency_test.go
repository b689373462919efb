package partition

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/weir-broker/weir/broker/batch"
	"github.com/weir-broker/weir/broker/policy"
	"github.com/weir-broker/weir/broker/vfs"
)

// Producers with retries, consumers that wait, retention, settings and
// leadership changes all at once: every acknowledged record is read once, in
// order, at the offset it was acknowledged with.
func TestAppendersConsumersAndChangesAtOnce(t *testing.T) {
	h, c, p := one(t, "weir.flush.on.acks=all", "segment.bytes=1048576")
	h.Start()
	const producers, each = 4, 60
	var (
		wg     sync.WaitGroup
		mu     sync.Mutex
		acked  = map[batch.Offset]string{}
		finish = make(chan struct{})
	)
	for id := range batch.ProducerID(producers) {
		wg.Go(func() {
			for seq := range int32(each) {
				var r AppendResult
				var err error
				for range 2 { // every batch is sent twice
					r, err = p.Append(produce(idempotent(id, seq, 1)))
					if err != nil {
						t.Error(err)
						return
					}
				}
				if !r.Duplicate {
					t.Errorf("the retry of %d/%d was appended", id, seq)
				}
				if err := await(t, p, r.LastOffset+1); err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				acked[r.BaseOffset] = fmt.Sprint(id, "/", seq)
				mu.Unlock()
			}
		})
	}
	for range 2 {
		wg.Go(func() { consumeAll(t, p, producers*each) })
	}
	var changes sync.WaitGroup
	changes.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-finish:
				return
			default:
			}
			c.set("t", "max.message.bytes", fmt.Sprint(1000000+i))
			if i%3 == 0 {
				c.lead("t", 0, 1)
			}
			if err := h.Apply(c.img); err != nil {
				t.Error(err)
				return
			}
			if _, err := p.retain(t.Context(), time.Now(), policy.DiskUse{}); err != nil {
				t.Error(err)
			}
			h.LogDirs()
		}
	})
	wg.Wait()
	close(finish)
	changes.Wait()
	if len(acked) != producers*each || p.HighWatermark() != producers*each {
		t.Errorf("%d acknowledged, high watermark %d", len(acked), p.HighWatermark())
	}
}

// consumeAll reads from 0 until it has n records, waiting where there is
// nothing.
func consumeAll(t *testing.T, p *Partition, n int) {
	w := NewWaiter()
	p.Watch(w)
	defer p.Unwatch(w)
	deadline := time.NewTimer(30 * time.Second)
	defer deadline.Stop()
	next := batch.Offset(0)
	buf := make([]byte, 0, 1<<16)
	for next < batch.Offset(n) {
		r, err := p.Fetch(consume(next), buf[:0])
		if err != nil {
			t.Error(err)
			return
		}
		if len(r.Records) == 0 {
			select {
			case <-w.C():
			case <-deadline.C:
				t.Errorf("stuck at %d, high watermark %d", next, p.HighWatermark())
				return
			}
			continue
		}
		err = batch.Split(r.Records, func(h batch.Header, _ []byte) error {
			if h.BaseOffset != next {
				return fmt.Errorf("batch at %d, expected %d", h.BaseOffset, next)
			}
			next = h.NextOffset()
			return nil
		})
		if err != nil || next > r.HighWatermark && next > p.HighWatermark() {
			t.Errorf("at %d, high watermark %d: %v", next, r.HighWatermark, err)
			return
		}
	}
}

func TestCloseEndsEveryWait(t *testing.T) {
	h, _, p := one(t, "min.insync.replicas=1")
	w := NewWaiter()
	p.Watch(w)
	defer p.Unwatch(w)
	mustAppend(t, p, values("a"))
	<-w.C()
	done := make(chan error, 1)
	go func() {
		<-w.C()
		_, err := p.AckState(99)
		done <- err
	}()
	h.close()
	if err := <-done; !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	if _, err := p.Append(produce(values("b"))); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	if _, err := h.Lookup("t", 0); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
}

// bug is a producer policy that panics once.
type bug struct{ policy.Producer }

func (b *bug) Check(f *policy.ProducerFacts) policy.ProducerVerdict {
	if next := b.Producer; next != nil {
		return next.Check(f)
	}
	b.Producer = policy.StandardProducer()
	panic("BUG: test")
}

func TestPartitionOutlivesABugInOneAppend(t *testing.T) {
	c := newCluster(t)
	c.topic("t", 1)
	h := openHost(t, vfs.NewMem(), func(o *Options) { o.Producer = &bug{} })
	defer h.close()
	h.apply(c)
	p := h.get("t", 0)
	func() {
		defer func() {
			if recover() == nil {
				t.Error("no panic")
			}
		}()
		_, _ = p.Append(produce(idempotent(7, 0, 1)))
	}()
	if !p.mu.TryLock() {
		t.Fatal("the append lock is held for ever")
	}
	p.mu.Unlock()
	if r := mustAppend(t, p, idempotent(7, 0, 1)); r.BaseOffset != 0 || r.Duplicate {
		t.Errorf("%+v", r)
	}
}

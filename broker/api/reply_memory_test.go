package api

import (
	"sync"
	"testing"
	"time"
)

func TestGrantsStayWithinTheReplyMemory(t *testing.T) {
	m := replyMemory{lean: 4 << 20, full: 8 << 20}
	var wg sync.WaitGroup
	var mu sync.Mutex
	total := 0
	for range 64 { // at once, and none gives back
		wg.Go(func() {
			n := m.grant(1 << 20)
			mu.Lock()
			defer mu.Unlock()
			total += n
		})
	}
	wg.Wait()
	if int64(total) != m.used.Load() || total > 8<<20+leanRead {
		t.Errorf("granted %d, counted %d", total, m.used.Load())
	}
	for m.grant(1<<20) > 0 {
	}
	if n := m.grant(1); n != 0 {
		t.Errorf("granted %d of an exhausted memory", n)
	}
	m.settle(total, nil)
	if n := m.grant(1 << 20); n == 0 {
		t.Error("nothing granted once there is room")
	}
}

// A fetch that waits for more holds what it has read. When memory is short it answers instead.
func TestFetchDoesNotWaitForMinBytesWhenMemoryIsShort(t *testing.T) {
	r := newRig(t, Options{})
	r.addTopic("a", 1)
	r.handler.replyMemory.lean, r.handler.replyMemory.full = 64<<10, 1<<20
	c := r.dial()
	c.produce(9, -1, "a", plainBatch(string(make([]byte, 100<<10))))
	req := fetchRequest(12, "a", 0, 1<<20, 60_000)
	req.MinBytes = 10 << 20
	began := time.Now()
	if _, got := c.fetch(req); len(got.RecordBatches) < 100<<10 || time.Since(began) > 30*time.Second {
		t.Errorf("%d bytes after %v", len(got.RecordBatches), time.Since(began))
	}

	// Full: an empty answer in time, and the records once there is room.
	r.handler.replyMemory.used.Add(1 << 20)
	req.MinBytes, req.MaxWaitMillis = 1, 10
	if _, got := c.fetch(req); got.ErrorCode != 0 || len(got.RecordBatches) != 0 || got.HighWatermark != 1 {
		t.Errorf("%d bytes, error %d, high watermark %d", len(got.RecordBatches), got.ErrorCode, got.HighWatermark)
	}
	r.handler.replyMemory.used.Add(-1 << 20)
	if _, got := c.fetch(req); len(got.RecordBatches) < 100<<10 {
		t.Errorf("%d bytes", len(got.RecordBatches))
	}
	if used := r.handler.replyMemory.used.Load(); used < 0 || used > 1<<20 {
		t.Errorf("%d bytes counted with nothing to be sent", used)
	}
}

package network

import (
	"sync"
	"time"
)

// nudgeInterval is how often a waiter for bytes asks for those that sit on them to be cut off.
const nudgeInterval = time.Second

// budget is the cap on bytes of received frames that have not been served yet. It is spent before a
// buffer is taken and may be overdrawn by one frame, so that a frame larger than the cap still gets
// through once everything before it is done. Waiters are served in the order in which they came.
type budget struct {
	limit int64 // <= 0: no cap

	mu struct {
		sync.Mutex
		used    int64
		waiters []*waiter
	}
}

type waiter struct {
	bytes int64
	ready chan struct{}
}

// acquire spends n bytes, waiting while the budget is exhausted. It reports false when stop closed
// first; then nothing was spent. nudge is called now and then while it waits.
func (b *budget) acquire(n int64, stop <-chan struct{}, nudge func()) bool {
	b.mu.Lock()
	if b.limit <= 0 || (b.mu.used < b.limit && len(b.mu.waiters) == 0) {
		b.mu.used += n
		b.mu.Unlock()
		return true
	}
	w := &waiter{bytes: n, ready: make(chan struct{})}
	b.mu.waiters = append(b.mu.waiters, w)
	b.mu.Unlock()

	tick := time.NewTicker(nudgeInterval)
	defer tick.Stop()
	for waiting := true; waiting; {
		select {
		case <-w.ready:
			return true
		case <-tick.C:
			nudge()
		case <-stop:
			waiting = false
		}
	}
	b.mu.Lock()
	for i, other := range b.mu.waiters {
		if other == w {
			b.mu.waiters = append(b.mu.waiters[:i], b.mu.waiters[i+1:]...)
			b.mu.Unlock()
			return false
		}
	}
	b.mu.Unlock()
	b.release(n) // granted at the same moment
	return false
}

func (b *budget) release(n int64) {
	b.mu.Lock()
	b.mu.used -= n
	for len(b.mu.waiters) > 0 && b.mu.used < b.limit {
		w := b.mu.waiters[0]
		b.mu.waiters[0] = nil
		b.mu.waiters = b.mu.waiters[1:]
		b.mu.used += w.bytes
		close(w.ready)
	}
	b.mu.Unlock()
}

func (b *budget) inUse() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.mu.used
}

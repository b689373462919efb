package partition

import (
	"sync"
	"sync/atomic"
)

// Waiter is woken when a partition it watches moves: after an append, and when
// the high watermark, the last stable offset, the log start offset or the
// leadership changes. It may watch any number of partitions, and a wake-up
// says only that something moved: look again.
//
//	w := partition.NewWaiter()
//	p.Watch(w)            // first watch,
//	defer p.Unwatch(w)
//	look(p)               // then look: nothing is missed in between
//	<-w.C()
type Waiter struct{ c chan struct{} }

// NewWaiter returns a waiter that watches nothing.
func NewWaiter() *Waiter { return &Waiter{c: make(chan struct{}, 1)} }

// C receives at most one pending wake-up, however often it was woken.
func (w *Waiter) C() <-chan struct{} { return w.c }

// Wake wakes the waiter.
func (w *Waiter) Wake() {
	select {
	case w.c <- struct{}{}:
	default:
	}
}

// waiters is the set of those who watch one partition.
type waiters struct {
	// count mirrors len(mu.set) so that an append nobody waits for takes no
	// lock. A watcher is counted before it looks, an append moves the offsets
	// before it reads the count: one of the two sees the other.
	count atomic.Int32
	mu    struct {
		sync.Mutex
		set map[*Waiter]struct{}
	}
}

func (ws *waiters) add(w *Waiter) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if ws.mu.set == nil {
		ws.mu.set = make(map[*Waiter]struct{})
	}
	ws.mu.set[w] = struct{}{}
	ws.count.Store(int32(len(ws.mu.set)))
}

func (ws *waiters) remove(w *Waiter) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	delete(ws.mu.set, w)
	ws.count.Store(int32(len(ws.mu.set)))
}

func (ws *waiters) wake() {
	if ws.count.Load() == 0 {
		return
	}
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for w := range ws.mu.set {
		w.Wake()
	}
}

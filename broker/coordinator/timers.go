package coordinator

import (
	"container/heap"
	"time"
)

// timers are the timers of one shard, the next to go off first. A cancelled or replaced timer is not in the heap any
// more, so that it cannot go off late.
type timers[K comparable] struct {
	byKey map[K]*timer[K]
	heap  timerHeap[K]
	count uint64
}

type timer[K comparable] struct {
	key   K
	at    time.Time
	nth   uint64 // timers of one instant go off in the order they were set
	index int    // in the heap
}

func newTimers[K comparable]() *timers[K] { return &timers[K]{byKey: map[K]*timer[K]{}} }

func (t *timers[K]) set(key K, at time.Time) {
	t.count++
	if old := t.byKey[key]; old != nil {
		old.at, old.nth = at, t.count
		heap.Fix(&t.heap, old.index)
		return
	}
	e := &timer[K]{key: key, at: at, nth: t.count}
	t.byKey[key] = e
	heap.Push(&t.heap, e)
}

func (t *timers[K]) cancel(key K) {
	if e := t.byKey[key]; e != nil {
		heap.Remove(&t.heap, e.index)
		delete(t.byKey, key)
	}
}

// next is when the next timer goes off.
func (t *timers[K]) next() (time.Time, bool) {
	if len(t.heap) == 0 {
		return time.Time{}, false
	}
	return t.heap[0].at, true
}

// expire removes and returns a timer that is due at now.
func (t *timers[K]) expire(now time.Time) (key K, ok bool) {
	if len(t.heap) == 0 || t.heap[0].at.After(now) {
		return key, false
	}
	e := heap.Pop(&t.heap).(*timer[K])
	delete(t.byKey, e.key)
	return e.key, true
}

type timerHeap[K comparable] []*timer[K]

func (h timerHeap[K]) Len() int { return len(h) }

func (h timerHeap[K]) Less(i, j int) bool {
	if c := h[i].at.Compare(h[j].at); c != 0 {
		return c < 0
	}
	return h[i].nth < h[j].nth
}

func (h timerHeap[K]) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

func (h *timerHeap[K]) Push(x any) {
	e := x.(*timer[K])
	e.index = len(*h)
	*h = append(*h, e)
}

func (h *timerHeap[K]) Pop() any {
	old := *h
	e := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	return e
}

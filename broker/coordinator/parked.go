package coordinator

import "time"

// parked is an answer that waits until everything below an offset is committed.
type parked[R any] struct {
	future   *Future[R]
	response R
	below    Offset
	since    time.Time
}

// parkedQueue holds answers in the order of their offsets, which is also the order of time.
type parkedQueue[R any] struct {
	list []parked[R]
	head int
}

// keptEntries is how long a queue may be that is kept for the next time: what a burst has taken is given back.
const keptEntries = 1024

func (q *parkedQueue[R]) len() int { return len(q.list) - q.head }

func (q *parkedQueue[R]) push(p parked[R]) { q.list = append(q.list, p) }

func (q *parkedQueue[R]) first() *parked[R] {
	if q.len() == 0 {
		return nil
	}
	return &q.list[q.head]
}

func (q *parkedQueue[R]) pop() parked[R] {
	p := q.list[q.head]
	q.list[q.head] = parked[R]{}
	q.head++
	switch {
	case q.head == len(q.list):
		q.list, q.head = q.list[:0], 0
		if cap(q.list) > keptEntries {
			q.list = nil
		}
	case q.head > keptEntries && q.head > len(q.list)/2:
		n := copy(q.list, q.list[q.head:])
		clear(q.list[n:])
		q.list, q.head = q.list[:n], 0
	}
	return p
}

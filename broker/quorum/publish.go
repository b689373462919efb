package quorum

import (
	"context"
	"fmt"
	"time"

	"github.com/weir-broker/weir/broker/metadata"
)

// Subscribe calls fn with the present image and then with every newer one, in
// order; images that follow one another while fn is busy are joined into the
// last. Subscribers are called one after the other, by one goroutine. A Proposal
// is waited for until they have seen it, so fn must not propose and wait.
func (q *Quorum) Subscribe(fn func(*metadata.Image)) {
	q.mu.Lock()
	q.mu.subscribers = append(q.mu.subscribers, fn)
	q.mu.published = 0 // the new one has seen nothing yet
	q.mu.Unlock()
	wake(q.applied)
}

// publishLoop hands new images to the subscribers. Each remembers what it saw,
// so that a subscriber that came late does not repeat an image to the others.
func (q *Quorum) publishLoop() {
	defer q.loops.Done()
	var seen []metadata.Index
	for {
		select {
		case <-q.stop:
			return
		case <-q.applied:
		}
		q.mu.Lock()
		subscribers := q.mu.subscribers
		q.mu.Unlock()
		img := q.Image()
		for i, fn := range subscribers {
			if i == len(seen) {
				seen = append(seen, 0)
			} else if seen[i] >= img.Index {
				continue
			}
			fn(img)
			seen[i] = img.Index
		}
		q.published(img.Index, len(subscribers))
	}
}

func (q *Quorum) published(index metadata.Index, subscribers int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.mu.subscribers) != subscribers {
		return // one came meanwhile and has woken the loop again
	}
	q.mu.published = index
	close(q.mu.moved)
	q.mu.moved = make(chan struct{})
}

// awaitPublished waits until the subscribers have seen index.
func (q *Quorum) awaitPublished(ctx context.Context, index metadata.Index) error {
	for {
		q.mu.Lock()
		published, moved := q.mu.published, q.mu.moved
		q.mu.Unlock()
		if published >= index {
			return nil
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", ErrUnknownOutcome, ctx.Err())
		case <-q.stop:
			return ErrClosed
		}
	}
}

// saveLoop keeps metadata.db about saveDelay behind the image.
func (q *Quorum) saveLoop() {
	defer q.loops.Done()
	timer := time.NewTimer(saveDelay)
	timer.Stop()
	for {
		select {
		case <-q.stop:
			return
		case <-q.dirty:
			timer.Reset(saveDelay)
		}
		select {
		case <-q.stop:
			return
		case <-timer.C:
		}
		if err := q.store.save(q.Image()); err != nil {
			// Nothing is lost, the log has it; but it cannot be cut any more.
			q.logger.Error("metadata.db not written", "error", err)
		}
	}
}

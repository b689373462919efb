package partition

import (
	"sync"
	"time"

	"github.com/weir-broker/weir/broker/batch"
	"github.com/weir-broker/weir/broker/vfs"
)

// descriptorRetry is how long a flush waits that found no free file descriptor.
const descriptorRetry = 100 * time.Millisecond

// flusher groups the flushes that producers with acks=all wait for: while one
// fdatasync runs, all that arrive meanwhile share the next one.
type flusher struct {
	sync.Mutex
	running bool
	want    batch.Offset
}

// flushTo sees to it that everything below next becomes durable soon and that
// watchers are woken then.
func (p *Partition) flushTo(next batch.Offset) {
	p.flusher.Lock()
	defer p.flusher.Unlock()
	p.flusher.want = max(p.flusher.want, next)
	if p.flusher.running || p.log.RecoveryPoint() >= p.flusher.want {
		return
	}
	p.flusher.running = true
	p.env.background(p.flushLoop)
}

// flushLoop flushes until nobody waits for more.
func (p *Partition) flushLoop() {
	for {
		p.flusher.Lock()
		if p.log.RecoveryPoint() >= p.flusher.want {
			p.flusher.running = false
			p.flusher.Unlock()
			return
		}
		p.flusher.Unlock()
		err := p.log.Flush(p.log.LogEndOffset())
		if vfs.OutOfDescriptors(err) { // those who wait go on waiting, as long as their requests may
			_ = p.failure(err)
			p.env.later(descriptorRetry, p.flushLoop)
			return
		}
		if err != nil {
			// Those who wait learn it from the status; a new attempt begins
			// with the next append.
			_ = p.failure(err)
			p.flusher.Lock()
			p.flusher.running = false
			p.flusher.want = 0
			p.flusher.Unlock()
			p.waiters.wake()
			return
		}
		p.waiters.wake()
	}
}

// flushIfDue does what flush.messages and flush.ms ask for.
func (p *Partition) flushIfDue(now time.Time) {
	if p.log == nil || p.status.Load().err != nil || !p.log.FlushDue(now) {
		return
	}
	if err := p.log.Flush(p.log.LogEndOffset()); err != nil {
		_ = p.failure(err)
	}
}

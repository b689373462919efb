package partition

import (
	"context"
	"math"
	"time"

	"github.com/weir-broker/weir/broker/policy"
)

const (
	// trimInterval is how often indexes that nobody reads are looked for, and
	// indexIdle for how long nobody has to have read one. A gigabyte of log has
	// about 5 MB of them: after a catch-up read they would stay for ever.
	trimInterval = time.Minute
	indexIdle    = 5 * time.Minute
)

// Start begins the schedules: retention, flushing, producer expiry, marks,
// memory of indexes, cleaning. It is called once.
func (t *Table) Start() {
	c := t.brokerConfig()
	t.every(c.InitialTaskDelay, c.RetentionCheckInterval, t.retainAll)
	t.every(c.ProducerIDExpirationCheck, c.ProducerIDExpirationCheck, t.expireProducers)
	t.every(c.HighWatermarkInterval, c.HighWatermarkInterval, t.saveMarks)
	t.every(trimInterval, trimInterval, t.trimMemory)
	t.loops.wg.Go(t.flushIntervalLoop)
	t.loops.wg.Go(t.cleanLoop)
}

// every runs fn after first and then again interval after it ended, until
// Close.
func (t *Table) every(first, interval time.Duration, fn func(ctx context.Context, now time.Time)) {
	t.loops.wg.Go(func() {
		timer := time.NewTimer(first)
		defer timer.Stop()
		for {
			select {
			case <-t.loops.ctx.Done():
				return
			case <-timer.C:
				fn(t.loops.ctx, t.env.now())
				timer.Reset(interval)
			}
		}
	})
}

func (t *Table) retainAll(ctx context.Context, now time.Time) {
	disk := make(map[*hostDir]policy.DiskUse, len(t.dirs))
	for _, d := range t.dirs {
		if d.dir == nil {
			continue
		}
		if use, err := d.dir.DiskUsage(); err == nil {
			disk[d] = policy.DiskUse{TotalBytes: int64(use.Total), FreeBytes: int64(use.Free)}
		}
	}
	for _, p := range t.All() {
		if ctx.Err() != nil {
			return
		}
		if _, err := p.retain(ctx, now, disk[p.dir]); err != nil {
			t.env.log.Error("retention failed, records are kept", "topic", p.topic, "partition", p.index, "err", err)
		}
	}
}

func (t *Table) expireProducers(_ context.Context, now time.Time) {
	for _, p := range t.All() {
		if p.log == nil {
			continue
		}
		p.mu.Lock()
		n := p.mu.producers.Expire(now)
		p.mu.Unlock()
		if n > 0 {
			t.env.log.Debug("producers expired", "topic", p.topic, "partition", p.index, "count", n)
		}
	}
}

// trimMemory lets go of indexes that were not read for a while.
func (t *Table) trimMemory(ctx context.Context, _ time.Time) {
	for _, p := range t.All() {
		if ctx.Err() != nil {
			return
		}
		if p.log != nil && p.status.Load().err == nil {
			p.log.TrimMemory(indexIdle)
		}
	}
}

// saveMarks writes recovery points and high watermarks down. Losing the last
// ones costs time at the next start, nothing else.
func (t *Table) saveMarks(_ context.Context, _ time.Time) {
	for _, p := range t.All() {
		if p.log != nil && p.status.Load().err == nil {
			p.noteMarks()
		}
	}
	for _, d := range t.dirs {
		if !d.online() {
			continue
		}
		if err := d.dir.Marks().Flush(); err != nil {
			t.dirFailed(d, err)
		}
	}
}

// flushIntervalLoop flushes the logs for which flush.ms asks. Kafka looks only
// every log.flush.scheduler.interval.ms, whose default is never, so that
// flush.ms alone does nothing there; here it is looked after by itself.
func (t *Table) flushIntervalLoop() {
	for {
		var due <-chan time.Time
		interval := t.flushInterval()
		timer := time.NewTimer(interval)
		if interval < math.MaxInt64 {
			due = timer.C
		}
		select {
		case <-t.loops.ctx.Done():
			timer.Stop()
			return
		case <-t.flushKick: // settings changed
			timer.Stop()
		case <-due:
			for _, p := range t.All() {
				if t.loops.ctx.Err() != nil {
					return
				}
				p.flushIfDue(t.env.now())
			}
		}
	}
}

// flushInterval is how often flushes are looked after: the shortest flush.ms,
// within bounds.
func (t *Table) flushInterval() time.Duration {
	const shortest = 10 * time.Millisecond
	t.mu.RLock()
	defer t.mu.RUnlock()
	interval := t.mu.broker.FlushSchedulerInterval
	for _, h := range t.mu.byName {
		interval = min(interval, h.settings.log.FlushInterval)
	}
	return max(interval, shortest)
}

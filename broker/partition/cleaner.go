package partition

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weir-broker/weir/broker/commitlog"
	"github.com/weir-broker/weir/broker/config"
)

// cleaners are the goroutines that compact logs, and what they share.
type cleaners struct {
	// kick tells the loop that the configuration may have changed.
	kick chan struct{}
	// choose is held while the next log is picked.
	choose sync.Mutex
	// bytesPerSecond is log.cleaner.io.max.bytes.per.second.
	bytesPerSecond func() float64
	pace           struct {
		sync.Mutex
		free time.Time // when what was let through so far is paid for
	}
	count cleanerCounters
}

// cleanerCounters are what the metrics of cleaning are made of.
type cleanerCounters struct {
	rounds, failures, aborted atomic.Int64
	bytesRead, bytesWritten   atomic.Int64
	recordsRead, recordsKept  atomic.Int64
	started                   atomic.Int64 // ms: when a log was looked for last
	dirtiest                  atomic.Int64 // percent
	overdue                   atomic.Int64 // ms
	lastRead, lastWritten     atomic.Int64 // bytes, of the last round
	lastTook                  atomic.Int64 // ms
	lastMapUse                atomic.Int64 // percent
	dead                      atomic.Int64
}

// cleanLoop runs the cleaners, anew whenever their configuration changed.
func (t *Table) cleanLoop() {
	for {
		c := t.brokerConfig().Cleaner
		ctx, cancel := context.WithCancel(t.loops.ctx)
		var running sync.WaitGroup
		if c.Enable {
			for range c.Threads {
				running.Go(func() { t.cleanAll(ctx, c) })
			}
		}
		for same := true; same; {
			select {
			case <-t.loops.ctx.Done():
				cancel()
				running.Wait()
				return
			case <-t.cleaners.kick:
				same = t.brokerConfig().Cleaner == c
			}
		}
		cancel()
		running.Wait()
	}
}

// cleanAll compacts one log after another, the dirtiest first, until ctx is
// done.
func (t *Table) cleanAll(ctx context.Context, c config.Cleaner) {
	cleaner, err := t.newCleaner(int(max(c.Threads, 1)), c.DedupeBuffer, c.LoadFactor, int(c.IOBuffer))
	if err != nil {
		t.cleaners.count.dead.Add(1)
		defer t.cleaners.count.dead.Add(-1)
		t.env.log.Error("compacted topics are not cleaned", "err", err, "fix", "raise log.cleaner.dedupe.buffer.size, or lower log.cleaner.threads")
		<-ctx.Done()
		return
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		if t.cleanDirtiest(ctx, cleaner, c.Backoff) {
			timer.Reset(0)
			continue
		}
		cleaner.Release()
		timer.Reset(c.Backoff)
	}
}

// cleanDirtiest does a round over the log that needs it most; false when none
// does.
func (t *Table) cleanDirtiest(ctx context.Context, cleaner *commitlog.Cleaner, backoff time.Duration) bool {
	p, found := t.takeDirtiest(backoff)
	if p == nil {
		return false
	}
	defer p.cleaning.turn.Unlock()
	began := t.env.now()
	res, err := p.clean(ctx, cleaner, found, began)
	took := t.env.now().Sub(began)
	n := &t.cleaners.count
	n.bytesRead.Add(res.MapBytes + res.BytesRead)
	n.bytesWritten.Add(res.BytesWritten)
	switch {
	case err == nil:
		n.rounds.Add(1)
		n.recordsRead.Add(res.RecordsRead)
		n.recordsKept.Add(res.RecordsKept)
		n.lastRead.Store(res.BytesRead)
		n.lastWritten.Store(res.BytesWritten)
		n.lastTook.Store(took.Milliseconds())
		n.lastMapUse.Store(int64(100 * res.MapUse))
		t.env.log.Info("log cleaned", "topic", p.topic, "partition", p.index, "from", int64(found.From), "to", int64(res.To),
			"bytes", res.BytesRead, "left", res.BytesWritten, "records", res.RecordsRead, "kept", res.RecordsKept,
			"segments", res.Segments, "became", res.Written, "map", fmt.Sprintf("%.0f%%", 100*res.MapUse), "took", took)
		if res.Keyless > 0 {
			t.env.log.Warn("records without a key were removed from a compacted topic", "topic", p.topic, "partition", p.index, "records", res.Keyless)
		}
	case gone(err):
		n.aborted.Add(1)
		t.env.log.Debug("cleaning stopped", "topic", p.topic, "partition", p.index, "err", err)
	case p.cleaningState().Uncleanable:
		n.failures.Add(1)
		t.env.log.Error("partition cannot be cleaned and grows", "topic", p.topic, "partition", p.index, "err", err,
			"fix", "weir log dump shows the damaged batch; a replica made anew from a healthy one is cleaned again")
	default:
		n.failures.Add(1)
		t.env.log.Error("cleaning failed and is tried again", "topic", p.topic, "partition", p.index, "err", err)
	}
	return true
}

// takeDirtiest picks the log with the largest share of dirty bytes among those
// that are due, and takes its turn.
func (t *Table) takeDirtiest(backoff time.Duration) (*Partition, commitlog.Cleanable) {
	t.cleaners.choose.Lock()
	defer t.cleaners.choose.Unlock()
	now := t.env.now()
	n := &t.cleaners.count
	n.started.Store(now.UnixMilli())
	var best *Partition
	var most commitlog.Cleanable
	var dirtiest float64
	var overdue time.Duration
	for _, p := range t.All() {
		if p.log == nil || p.status.Load().err != nil {
			continue
		}
		conf := p.Config()
		if !conf.Compact {
			continue
		}
		st := p.cleaningState()
		if st.Uncleanable || !p.cleaning.turn.TryLock() {
			continue
		}
		truncations := p.log.Truncations()
		found, err := p.cleanable(now)
		if err == nil && found.Reset {
			// A log whose front is deleted too is expected to leave its mark behind.
			if !conf.Delete {
				t.env.log.Warn("cleaner offset lies outside the log, all of it is cleaned", "topic", p.topic, "partition", p.index,
					"offset", int64(p.cleanerOffset()), "from", int64(found.From))
			}
			p.setCleanerOffset(found.From, truncations)
		}
		if err != nil {
			p.cleaning.turn.Unlock()
			if !gone(err) {
				_ = p.failure(err)
			}
			continue
		}
		dirtiest, overdue = max(dirtiest, found.Ratio()), max(overdue, found.Overdue)
		resting := st.Err != nil && now.Sub(st.FailedAt) < backoff
		if resting || !found.Due(conf.MinDirtyRatio) || best != nil && found.Ratio() <= most.Ratio() {
			p.cleaning.turn.Unlock()
			continue
		}
		if best != nil {
			best.cleaning.turn.Unlock()
		}
		best, most = p, found
	}
	n.dirtiest.Store(int64(100 * dirtiest))
	n.overdue.Store(overdue.Milliseconds())
	return best, most
}

// throttle waits until bytes more may be read or written.
func (c *cleaners) throttle(ctx context.Context, bytes int) error {
	const slack = 100 * time.Millisecond // what may be ahead of the pace
	rate := c.bytesPerSecond()
	if rate <= 0 {
		rate = 1
	}
	cost := time.Duration(min(float64(bytes)/rate*float64(time.Second), float64(time.Hour)))
	now := time.Now()
	c.pace.Lock()
	if c.pace.free.Before(now) {
		c.pace.free = now
	}
	c.pace.free = c.pace.free.Add(cost)
	wait := c.pace.free.Sub(now) - slack
	c.pace.Unlock()
	if wait <= 0 {
		return nil
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

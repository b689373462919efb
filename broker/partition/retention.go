package partition

import (
	"context"
	"fmt"
	"time"

	"github.com/weir-broker/weir/broker/batch"
	"github.com/weir-broker/weir/broker/policy"
)

// retain asks the retention policy and removes what it says. Only the leader
// asks; another replica removes what lies below the log start offset it was
// told. It returns the number of segments removed.
func (p *Partition) retain(ctx context.Context, now time.Time, disk policy.DiskUse) (int, error) {
	st := p.status.Load()
	if p.log == nil || st.err != nil {
		return 0, nil
	}
	if !p.cleaning.turn.TryLock() {
		return 0, nil // it is being cleaned; the next check comes
	}
	defer p.cleaning.turn.Unlock()
	if !st.leading {
		return p.deleteBefore(p.log.LogStartOffset())
	}
	conf := p.Config()
	facts := policy.RetentionFacts{
		Topic: p.topic, Partition: p.index,
		// The high watermark first: segments seen later cannot lie below it
		// wrongly.
		HighWatermark:  p.hw.Load(),
		LogStartOffset: int64(p.log.LogStartOffset()),
		Segments:       p.log.Segments(),
		DeletePolicy:   conf.Delete,
		RetentionBytes: conf.RetentionBytes,
		Retention:      conf.Retention,
		Disk:           disk,
		Now:            now,
	}
	if len(facts.Segments) == 0 {
		return 0, nil
	}
	facts.LogEndOffset = facts.Segments[len(facts.Segments)-1].Last + 1
	verdict, err := p.env.retention.Decide(ctx, facts)
	if err != nil {
		return 0, fmt.Errorf("retention of %s: %w", p.name, err)
	}
	if len(verdict.Removed) == 0 {
		return 0, nil
	}
	if verdict.LogStartOffset < facts.LogStartOffset || verdict.LogStartOffset > facts.HighWatermark {
		return 0, fmt.Errorf("retention of %s: start offset %d is outside [%d, %d]", p.name, verdict.LogStartOffset, facts.LogStartOffset, facts.HighWatermark)
	}
	to := batch.Offset(verdict.LogStartOffset)
	if verdict.RollActive {
		if to, err = p.rollFor(to, batch.Offset(facts.LogEndOffset), st.epoch); err != nil {
			return 0, err
		}
	}
	for _, r := range verdict.Removed {
		p.env.log.Info("segment deleted", "topic", p.topic, "partition", p.index, "base", r.Base, "reason", r.Reason.String())
	}
	return p.deleteBefore(to)
}

// rollFor begins a new active segment so that the present one can go. If the
// log has grown or leadership moved since the decision, the active segment
// stays.
func (p *Partition) rollFor(to, decidedEnd batch.Offset, epoch batch.LeaderEpoch) (batch.Offset, error) {
	p.mu.Lock()
	active := p.log.ActiveSegmentBase()
	if p.log.LogEndOffset() != decidedEnd || p.status.Load().epoch != epoch || p.mu.closed {
		p.mu.Unlock()
		return min(to, active), nil
	}
	err := p.log.Roll()
	p.mu.Unlock()
	if err != nil {
		return 0, p.failure(err)
	}
	return to, nil
}

// deleteBefore moves the log start to at least to, durably, and then removes
// the segments wholly below it.
func (p *Partition) deleteBefore(to batch.Offset) (int, error) {
	if err := p.advanceLogStart(to); err != nil {
		return 0, err
	}
	n, err := p.log.DeleteBefore(to)
	p.dropSnapshots()
	if err != nil {
		return n, p.failure(err)
	}
	return n, nil
}

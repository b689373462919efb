package partition

import (
	"fmt"

	"github.com/weir-broker/weir/broker/batch"
	"github.com/weir-broker/weir/broker/commitlog"
)

// ListOffset looks up an offset by time.
//
// Errors: ErrNotLeader, ErrFencedLeaderEpoch, ErrUnknownLeaderEpoch,
// ErrOffsetNotAvailable, ErrStorage.
func (p *Partition) ListOffset(r ListOffsetRequest) (ListOffsetResult, error) {
	nothing := ListOffsetResult{Timestamp: -1, Offset: -1, LeaderEpoch: NoEpoch}
	st := p.status.Load()
	if err := st.check(r.CurrentLeaderEpoch, !r.AllowFollower); err != nil {
		return nothing, err
	}
	client := r.ReplicaID == Consumer
	lso, hw := p.LastStableOffset(), p.HighWatermark()
	end := hw // what the caller may see, exclusive
	switch {
	case !client:
		end = p.log.LogEndOffset()
	case r.Isolation == ReadCommitted:
		end = lso
	}
	// A new leader whose high watermark has not reached its own epoch would
	// answer with an offset that went backwards.
	behind := client && st.leading && st.epochStart > hw

	switch r.Timestamp {
	case EarliestTimestamp, EarliestLocalTimestamp:
		nothing.Offset = p.log.LogStartOffset()
		if epochs := p.log.Epochs(); len(epochs) > 0 && epochs[0].StartOffset <= nothing.Offset {
			nothing.LeaderEpoch = epochs[0].Epoch
		}
		return nothing, nil
	case LatestTieredTimestamp, EarliestPendingTimestamp:
		return nothing, nil // there is no tiered storage
	case LatestTimestamp:
		if behind {
			return nothing, p.notAvailable(st, hw)
		}
		return ListOffsetResult{Timestamp: -1, Offset: end, LeaderEpoch: st.epoch}, nil
	}

	var (
		found commitlog.TimestampOffset
		ok    bool
		err   error
	)
	if r.Timestamp == MaxTimestamp {
		found, ok, err = p.log.MaxTimestampOffset()
	} else {
		found, ok, err = p.log.OffsetForTimestamp(r.Timestamp, end)
	}
	if err != nil {
		return nothing, p.failure(err)
	}
	if !ok || found.Offset >= end {
		if behind {
			return nothing, p.notAvailable(st, hw)
		}
		return nothing, nil
	}
	return ListOffsetResult{Timestamp: found.Timestamp, Offset: found.Offset, LeaderEpoch: found.LeaderEpoch}, nil
}

func (p *Partition) notAvailable(st *status, hw batch.Offset) error {
	return fmt.Errorf("%w: the high watermark %d is below %d, where epoch %d begins", ErrOffsetNotAvailable, hw, st.epochStart, st.epoch)
}

// EndOffsetForEpoch answers OffsetForLeaderEpoch: where the largest epoch at
// or below epoch ends; -1 for both when that is not known. current is the
// leader epoch the caller believes in, NoEpoch if it does not say.
func (p *Partition) EndOffsetForEpoch(current, epoch batch.LeaderEpoch) (EpochEnd, error) {
	if err := p.status.Load().check(current, true); err != nil {
		return EpochEnd{Epoch: NoEpoch, EndOffset: -1}, err
	}
	found, end := p.log.EndOffsetForEpoch(epoch)
	return EpochEnd{Epoch: found, EndOffset: end}, nil
}

// DeleteRecords moves the log start offset to before; -1 is the high
// watermark. It returns the offset meant and the low watermark: the request is
// done when low >= target; until then look at LowWatermark.
//
// Errors: ErrNotLeader, ErrPolicyViolation, ErrOffsetOutOfRange, ErrStorage.
func (p *Partition) DeleteRecords(before batch.Offset) (target, low batch.Offset, err error) {
	if err := p.status.Load().check(NoEpoch, true); err != nil {
		return 0, 0, err
	}
	if c := p.Config(); c.Compact && !c.Delete {
		return 0, 0, ErrPolicyViolation
	}
	hw := p.HighWatermark()
	target = before
	if before == -1 {
		target = hw
	}
	if target < 0 || target > hw {
		return 0, 0, fmt.Errorf("%w: %d, the high watermark is %d", ErrOffsetOutOfRange, before, hw)
	}
	if err := p.advanceLogStart(target); err != nil {
		return 0, 0, err
	}
	p.mu.Lock()
	low = p.mu.isr.lowWatermark()
	p.mu.Unlock()
	return target, low, nil
}

// advanceLogStart hides what lies below to, durably. to is at most the high
// watermark, which never falls while this replica leads.
func (p *Partition) advanceLogStart(to batch.Offset) error {
	if to <= p.log.LogStartOffset() {
		return nil
	}
	if err := p.log.AdvanceLogStart(to); err != nil {
		return p.failure(err)
	}
	p.mu.Lock()
	start := p.log.LogStartOffset()
	p.mu.isr.logStartAdvanced(start)
	p.mu.producers.LogStartAdvanced(start)
	p.moved()
	p.mu.Unlock()
	p.waiters.wake()
	return nil
}

// LowWatermark is the smallest log start offset of the live replicas.
func (p *Partition) LowWatermark() (batch.Offset, error) {
	if err := p.status.Load().check(NoEpoch, true); err != nil {
		return 0, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.mu.isr.lowWatermark(), nil
}

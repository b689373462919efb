package partition

import (
	"fmt"

	"github.com/weir-broker/weir/broker/batch"
	"github.com/weir-broker/weir/broker/metadata"
)

// Fetch reads records from r.Offset on and appends them to dst. Nothing to
// read is no error: the answer then has no records. A follower's fetch also
// says how far the follower is, which may move the high watermark.
//
// Errors: ErrNotLeader, ErrFencedLeaderEpoch, ErrUnknownLeaderEpoch,
// ErrOffsetOutOfRange, ErrStorage.
func (p *Partition) Fetch(r FetchRequest, dst []byte) (FetchResult, error) {
	result := FetchResult{Records: dst}
	st := p.status.Load()
	if err := st.check(r.CurrentLeaderEpoch, !r.AllowFollower); err != nil {
		return result, err
	}
	follower := r.ReplicaID >= 0
	if follower {
		if err := p.knownReplica(r.ReplicaID, r.CurrentLeaderEpoch); err != nil {
			return result, err
		}
	}
	// As they are before the read: what is appended meanwhile must not make a
	// follower look behind.
	result.LastStableOffset = p.LastStableOffset()
	result.HighWatermark = p.HighWatermark()
	result.LogEndOffset = p.log.LogEndOffset()
	result.LogStartOffset = p.log.LogStartOffset()

	if r.LastFetchedEpoch != NoEpoch {
		end, err := p.endOfFetched(&r, &result)
		if err != nil {
			return result, err
		}
		if end.Epoch < r.LastFetchedEpoch || end.EndOffset < r.Offset {
			result.Diverged, result.Diverging = true, end
			return result, nil
		}
	}
	if r.Offset < result.LogStartOffset || r.Offset > result.LogEndOffset {
		return result, fmt.Errorf("%w: %d is not in [%d, %d]", ErrOffsetOutOfRange, r.Offset, result.LogStartOffset, result.LogEndOffset)
	}
	upTo := result.HighWatermark
	switch {
	case follower:
		upTo = result.LogEndOffset
	case r.Isolation == ReadCommitted:
		upTo = result.LastStableOffset
	}
	if r.Offset < upTo {
		read, err := p.log.Read(dst, r.Offset, upTo, r.MaxBytes, r.MinOneBatch)
		if err != nil {
			return result, p.failure(err)
		}
		result.Records = read.Bytes
		if !follower {
			p.count.bytesOut.Add(int64(len(read.Bytes) - len(dst)))
		}
	}
	if follower {
		return result, p.followerFetched(&r, result.LogEndOffset)
	}
	return result, nil
}

func (p *Partition) knownReplica(id metadata.BrokerID, current batch.LeaderEpoch) error {
	p.mu.Lock()
	known := p.mu.isr.follower(id) != nil
	p.mu.Unlock()
	switch {
	case known:
		return nil
	case current != NoEpoch:
		// The epoch is right, so it is we who have not heard of it yet: the
		// follower tries again.
		return fmt.Errorf("%w: broker %d is no replica here", ErrUnknownLeaderEpoch, id)
	default:
		return ErrNotLeader
	}
}

// endOfFetched is where the epoch of the caller's last record ends in our log.
func (p *Partition) endOfFetched(r *FetchRequest, at *FetchResult) (EpochEnd, error) {
	epoch, end := p.log.EndOffsetForEpoch(r.LastFetchedEpoch)
	if epoch == NoEpoch || end < 0 {
		return EpochEnd{}, fmt.Errorf("%w: leader epoch %d is not known", ErrOffsetOutOfRange, r.LastFetchedEpoch)
	}
	if r.Offset < at.LogStartOffset {
		return EpochEnd{}, fmt.Errorf("%w: %d is below the log start %d", ErrOffsetOutOfRange, r.Offset, at.LogStartOffset)
	}
	return EpochEnd{Epoch: epoch, EndOffset: end}, nil
}

func (p *Partition) followerFetched(r *FetchRequest, leaderEnd batch.Offset) error {
	p.mu.Lock()
	advanced, _, err := p.mu.isr.fetched(r.ReplicaID, r.BrokerEpoch, r.Offset, r.FollowerLogStart, leaderEnd, p.env.now())
	if advanced {
		p.moved()
	}
	p.mu.Unlock()
	if err == nil {
		p.waiters.wake()
	}
	return err
}

package partition

import (
	"fmt"

	"github.com/weir-broker/weir/broker/batch"
)

// ReadToEnd appends whole batches to dst, from the one that holds from or the next one there is, up to about maxBytes but at
// least one batch; nothing at the log's end. Unlike Fetch it reads what is above the high watermark as well: it is for
// this broker's own coordinators, which the leader's whole log is the state of. epoch is the leader epoch that the caller
// coordinates at.
//
// Errors: ErrNotLeader, ErrFencedLeaderEpoch, ErrUnknownLeaderEpoch, ErrOffsetOutOfRange, ErrStorage.
func (p *Partition) ReadToEnd(epoch batch.LeaderEpoch, from batch.Offset, maxBytes int, dst []byte) ([]byte, error) {
	if err := p.status.Load().check(epoch, true); err != nil {
		return dst, err
	}
	start, end := p.log.LogStartOffset(), p.log.LogEndOffset()
	if from < start || from > end {
		return dst, fmt.Errorf("%w: %d is not in [%d, %d]", ErrOffsetOutOfRange, from, start, end)
	}
	if from == end {
		return dst, nil
	}
	read, err := p.log.Read(dst, from, end, maxBytes, true)
	if err != nil {
		return dst, p.failure(err)
	}
	return read.Bytes, nil
}

// CheckLeader says whether this replica leads the partition at that epoch: ErrNotLeader, ErrFencedLeaderEpoch,
// ErrUnknownLeaderEpoch, ErrStorage.
func (p *Partition) CheckLeader(epoch batch.LeaderEpoch) error {
	return p.status.Load().check(epoch, true)
}

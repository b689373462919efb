package partition

import (
	"errors"

	"github.com/weir-broker/weir/broker/batch"
	"github.com/weir-broker/weir/broker/config"
	"github.com/weir-broker/weir/broker/metadata"
	"github.com/weir-broker/weir/broker/producerstate"
)

var errAPIOnly = errors.New("partition: being built")

// Partition is this broker's replica of one partition. It is safe for
// concurrent use.
type Partition struct {
	topic   string
	topicID metadata.TopicID
	index   int32
	waiters waiters
}

// Topic is the topic's name.
func (p *Partition) Topic() string { return p.topic }

// TopicID is the topic's id.
func (p *Partition) TopicID() metadata.TopicID { return p.topicID }

// Index is the partition's number in its topic.
func (p *Partition) Index() int32 { return p.index }

// Leadership says who leads, as far as this replica knows: what KIP-951 puts
// beside NOT_LEADER_OR_FOLLOWER.
func (p *Partition) Leadership() (metadata.BrokerID, batch.LeaderEpoch) {
	return metadata.NoLeader, NoEpoch
}

// Config is the topic's effective configuration. It must not be changed.
func (p *Partition) Config() *config.TopicConfig { return nil }

// Append validates one batch, assigns its offsets and writes it. When Acks is
// AcksAll, wait for AckState of LastOffset + 1.
func (p *Partition) Append(r AppendRequest) (AppendResult, error) { return AppendResult{}, errAPIOnly }

// AckState says whether everything below next is acknowledged by all in-sync
// replicas, and flushed where weir.flush.on.acks is all. On an error the wait
// is over, too.
func (p *Partition) AckState(next batch.Offset) (done bool, err error) { return false, errAPIOnly }

// Fetch reads records from r.Offset on and appends them to dst.
func (p *Partition) Fetch(r FetchRequest, dst []byte) (FetchResult, error) {
	return FetchResult{Records: dst}, errAPIOnly
}

// HighWatermark is the offset below which all in-sync replicas have
// everything, exclusive.
func (p *Partition) HighWatermark() batch.Offset { return 0 }

// LastStableOffset is the offset below which every transaction is decided,
// exclusive; never above the high watermark.
func (p *Partition) LastStableOffset() batch.Offset { return 0 }

// LogStartOffset is the first offset that may be read.
func (p *Partition) LogStartOffset() batch.Offset { return 0 }

// LogEndOffset is the offset of the next record.
func (p *Partition) LogEndOffset() batch.Offset { return 0 }

// ListOffset looks up an offset by time.
func (p *Partition) ListOffset(r ListOffsetRequest) (ListOffsetResult, error) {
	return ListOffsetResult{}, errAPIOnly
}

// EndOffsetForEpoch answers OffsetForLeaderEpoch: where the largest epoch at
// or below epoch ends.
func (p *Partition) EndOffsetForEpoch(current, epoch batch.LeaderEpoch) (EpochEnd, error) {
	return EpochEnd{}, errAPIOnly
}

// DeleteRecords moves the log start offset to before; -1 is the high
// watermark. It returns the offset meant and the low watermark: the request is
// done when low >= target, see LowWatermark.
func (p *Partition) DeleteRecords(before batch.Offset) (target, low batch.Offset, err error) {
	return 0, 0, errAPIOnly
}

// LowWatermark is the smallest log start offset of the live replicas.
func (p *Partition) LowWatermark() (batch.Offset, error) { return 0, errAPIOnly }

// Producers returns the producers active on the partition (KIP-664).
func (p *Partition) Producers() ([]producerstate.Producer, error) { return nil, errAPIOnly }

// Watch has w woken whenever the partition moves, until Unwatch.
func (p *Partition) Watch(w *Waiter) { p.waiters.add(w) }

// Unwatch undoes Watch.
func (p *Partition) Unwatch(w *Waiter) { p.waiters.remove(w) }

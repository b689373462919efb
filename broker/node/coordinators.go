package node

import (
	"errors"
	"fmt"
	"math"

	"github.com/weir-broker/weir/broker/batch"
	"github.com/weir-broker/weir/broker/coordinator"
	"github.com/weir-broker/weir/broker/metadata"
	"github.com/weir-broker/weir/broker/partition"
)

// shards is what of a coordinator.Runtime follows the leadership of its topic's partitions.
type shards interface {
	Elect(partition int32, epoch batch.LeaderEpoch, log coordinator.Log)
	Resign(partition int32, epoch batch.LeaderEpoch)
	Partitions() []int32
}

// noLaterEpoch is above the leader epoch of any shard there is.
const noLaterEpoch = batch.LeaderEpoch(math.MaxInt32)

// internalTopic has shards where this broker leads partitions of an internal topic.
type internalTopic struct {
	name   string
	shards shards
	id     metadata.TopicID // of the topic that the shards are in; a deleted one may come back under its name
}

// follow elects and resigns shards as an image says, after table has applied it.
func (t *internalTopic) follow(img *metadata.Image, table *partition.Table, self metadata.BrokerID) {
	var id metadata.TopicID
	var count int32
	if topic := img.Topic(t.name); topic != nil {
		id, count = topic.ID, topic.PartitionCount()
	}
	if t.id != id {
		t.id = id
		for _, index := range t.shards.Partitions() {
			t.shards.Resign(index, noLaterEpoch)
		}
	}
	for index := range count {
		p, err := table.LookupID(id, index)
		if err != nil {
			t.shards.Resign(index, noLaterEpoch)
			continue
		}
		if leader, epoch := p.Leadership(); leader == self {
			t.shards.Elect(index, epoch, coordinatorLog{p})
		} else {
			t.shards.Resign(index, epoch)
		}
	}
}

// coordinatorLog is a partition of an internal topic as coordinator sees it.
type coordinatorLog struct{ p *partition.Partition }

var _ coordinator.Log = coordinatorLog{}

// Append implements coordinator.Log. What the producer check says is about one producer, not about the log.
func (l coordinatorLog) Append(epoch batch.LeaderEpoch, raw []byte) (batch.Offset, error) {
	result, err := l.p.Append(partition.AppendRequest{
		Raw: raw, Acks: partition.AcksAll, Origin: batch.OriginCoordinator, CurrentLeaderEpoch: epoch,
	})
	switch {
	case errors.Is(err, partition.ErrInvalidProducerEpoch), errors.Is(err, partition.ErrInvalidTxnState), errors.Is(err, partition.ErrOutOfOrderSequence):
		return 0, fmt.Errorf("%w: %w", coordinator.ErrRefused, err)
	case err != nil:
		return 0, err
	}
	return result.BaseOffset, nil
}

// Read implements coordinator.Log.
func (l coordinatorLog) Read(epoch batch.LeaderEpoch, from batch.Offset, maxBytes int, dst []byte) ([]byte, error) {
	return l.p.ReadToEnd(epoch, from, maxBytes, dst)
}

// Committed implements coordinator.Log.
func (l coordinatorLog) Committed(epoch batch.LeaderEpoch, next batch.Offset) (bool, error) {
	if err := l.p.CheckLeader(epoch); err != nil {
		return false, err
	}
	done, err := l.p.AckState(next)
	if errors.Is(err, partition.ErrNotEnoughReplicasAfterAppend) {
		return false, nil // a producer is told at once; here there is time to see whether the replicas come back
	}
	return done, err
}

// Extent implements coordinator.Log.
func (l coordinatorLog) Extent() (start, end batch.Offset, maxBatchBytes int) {
	return l.p.LogStartOffset(), l.p.LogEndOffset(), int(l.p.Config().MaxMessageBytes)
}

// Watch implements coordinator.Log.
func (l coordinatorLog) Watch() (<-chan struct{}, func()) {
	w := partition.NewWaiter()
	l.p.Watch(w)
	return w.C(), func() { l.p.Unwatch(w) }
}

package metadata

import (
	"iter"
	"slices"
)

// partitionChunk is how many partitions share one copied unit.
const partitionChunk = 64

// Topic is one topic and its partitions, numbered from 0 without a gap. It is
// immutable.
type Topic struct {
	ID   TopicID
	Name string

	chunks [][]*Partition // each of partitionChunk, the last one shorter
	count  int32
}

// Internal reports whether the topic is one of Kafka's own, which clients may
// not create or delete by accident.
func (t *Topic) Internal() bool { return InternalTopic(t.Name) }

// InternalTopic reports whether name is one of Kafka's internal topics.
func InternalTopic(name string) bool {
	return name == "__consumer_offsets" || name == "__transaction_state" || name == "__share_group_state"
}

// PartitionCount is the number of partitions.
func (t *Topic) PartitionCount() int32 { return t.count }

// Partition returns partition index, or nil when the topic has no such one.
func (t *Topic) Partition(index int32) *Partition {
	if index < 0 || index >= t.count {
		return nil
	}
	return t.chunks[index/partitionChunk][index%partitionChunk]
}

// Partitions walks the partitions in order.
func (t *Topic) Partitions() iter.Seq2[int32, *Partition] {
	return func(yield func(int32, *Partition) bool) {
		index := int32(0)
		for _, c := range t.chunks {
			for _, p := range c {
				if !yield(index, p) {
					return
				}
				index++
			}
		}
	}
}

// ReplicationFactor is the number of replicas of partition 0, which is what
// Kafka reports for a topic.
func (t *Topic) ReplicationFactor() int16 {
	if t.count == 0 {
		return 0
	}
	return int16(len(t.chunks[0][0].Replicas))
}

// ChangedPartitions walks the partitions of t that differ from old, which may
// be nil. Chunks that both share are skipped.
func (t *Topic) ChangedPartitions(old *Topic) iter.Seq2[int32, *Partition] {
	return func(yield func(int32, *Partition) bool) {
		for c, parts := range t.chunks {
			var before []*Partition
			if old != nil && c < len(old.chunks) {
				before = old.chunks[c]
			}
			if len(before) == len(parts) && &before[0] == &parts[0] {
				continue
			}
			for i, p := range parts {
				if i < len(before) && before[i] == p {
					continue
				}
				if !yield(int32(c*partitionChunk+i), p) {
					return
				}
			}
		}
	}
}

// RecoveryState says whether a partition's leader was elected from outside its
// in-sync replicas and has not yet recovered.
type RecoveryState int8

// Recovery states (KIP-704).
const (
	Recovered  RecoveryState = 0
	Recovering RecoveryState = 1
)

// Partition is the agreed state of one partition. It is immutable: its slices
// must not be written to.
type Partition struct {
	// Replicas are the assigned brokers, the preferred leader first.
	Replicas []BrokerID
	// Directories holds the log directory of each replica, in Replicas' order.
	Directories []DirID
	// ISR are the in-sync replicas.
	ISR []BrokerID
	// ELR are replicas outside the ISR that are known to hold everything below
	// the high watermark, LastKnownELR the last members of an ELR that emptied
	// (KIP-966).
	ELR, LastKnownELR []BrokerID
	// Adding and Removing are the replicas that a reassignment adds or removes.
	Adding, Removing []BrokerID
	// Leader is NoLeader when no replica may lead.
	Leader         BrokerID
	LeaderEpoch    LeaderEpoch
	PartitionEpoch PartitionEpoch
	Recovery       RecoveryState
}

// IsReplica reports whether broker id is assigned to the partition.
func (p *Partition) IsReplica(id BrokerID) bool { return slices.Contains(p.Replicas, id) }

// InISR reports whether broker id is an in-sync replica.
func (p *Partition) InISR(id BrokerID) bool { return slices.Contains(p.ISR, id) }

// Directory returns the log directory of broker id's replica, DirMigrating when
// none is recorded.
func (p *Partition) Directory(id BrokerID) DirID {
	if i := slices.Index(p.Replicas, id); i >= 0 && i < len(p.Directories) {
		return p.Directories[i]
	}
	return DirMigrating
}

package partition

import (
	"github.com/weir-broker/weir/broker/batch"
	"github.com/weir-broker/weir/broker/metadata"
)

// AcksAll is required_acks of a produce request that waits for all in-sync
// replicas.
const AcksAll int16 = -1

// NoEpoch stands for a leader epoch that the caller does not know.
const NoEpoch = batch.LeaderEpoch(-1)

// Consumer is FetchRequest.ReplicaID of a fetch that is no follower's.
const Consumer = metadata.BrokerID(-1)

// AppendRequest is one batch for one partition.
type AppendRequest struct {
	// Raw is exactly one batch; it is patched in place.
	Raw []byte
	// Acks is required_acks: -1 all in-sync replicas, 1 the leader, 0 none.
	Acks int16
	// Origin says who appends.
	Origin batch.Origin
	// CurrentLeaderEpoch fences an appender that decided under another
	// leadership; NoEpoch from clients.
	CurrentLeaderEpoch batch.LeaderEpoch
	// FlushLater leaves a flush that flush.messages or flush.ms asks for to the
	// caller, who appends to several partitions and flushes them together.
	FlushLater bool
}

// AppendResult says where the batch is.
type AppendResult struct {
	// BaseOffset and LastOffset are those of the batch; of the first copy for
	// a duplicate. LastOffset + 1 is what AckState is asked for.
	BaseOffset, LastOffset batch.Offset
	// LogAppendTime in milliseconds; -1 on topics with CreateTime. For a
	// duplicate it is the first copy's largest timestamp, as in Kafka.
	LogAppendTime  int64
	LogStartOffset batch.Offset
	// Duplicate is set for a retry of a batch that was appended before.
	Duplicate bool
	// FlushDue: nobody may hear of the batch before Flush of LastOffset + 1.
	FlushDue bool
}

// Isolation is what a consumer may see.
type Isolation int8

// The isolation levels, with their numbers on the wire.
const (
	// ReadUncommitted reads up to the high watermark.
	ReadUncommitted Isolation = 0
	// ReadCommitted reads up to the last stable offset.
	ReadCommitted Isolation = 1
)

// FetchRequest asks for records of one partition.
type FetchRequest struct {
	Offset batch.Offset
	// MaxBytes bounds the records returned; see MinOneBatch.
	MaxBytes int
	// MinOneBatch returns the first batch even if it is larger than MaxBytes
	// (KIP-74).
	MinOneBatch bool
	Isolation   Isolation
	// CurrentLeaderEpoch is the epoch the client believes in (KIP-320);
	// NoEpoch if it does not say.
	CurrentLeaderEpoch batch.LeaderEpoch
	// LastFetchedEpoch is the epoch of the last record the caller has; with
	// it a divergence is noticed (KIP-595). NoEpoch if it does not say.
	LastFetchedEpoch batch.LeaderEpoch
	// AllowFollower lets a replica that is not the leader answer a consumer,
	// up to its own high watermark (KIP-392).
	AllowFollower bool

	// ReplicaID is the follower that fetches, Consumer otherwise. The fields
	// below are the follower's.
	ReplicaID metadata.BrokerID
	// BrokerEpoch is the follower's registration; -1 if it does not say.
	BrokerEpoch metadata.BrokerEpoch
	// FollowerLogStart is the follower's log start offset.
	FollowerLogStart batch.Offset
}

// EpochEnd is where a leader epoch ends, exclusive. Both are -1 when unknown.
type EpochEnd struct {
	Epoch     batch.LeaderEpoch
	EndOffset batch.Offset
}

// AbortedTxn names a transaction whose records in the answer were aborted.
type AbortedTxn struct {
	ProducerID  batch.ProducerID
	FirstOffset batch.Offset
}

// FetchResult is the answer to a FetchRequest. The offsets are as they were
// before the read.
type FetchResult struct {
	// Records is the dst given to Fetch with whole batches appended. The
	// first may begin below the offset asked for.
	Records          []byte
	HighWatermark    batch.Offset
	LastStableOffset batch.Offset
	LogStartOffset   batch.Offset
	LogEndOffset     batch.Offset
	// Diverged is set when the caller's log is not a prefix of ours; Diverging
	// then says up to where it may be, and there are no records.
	Diverged  bool
	Diverging EpochEnd
	// Aborted is set for ReadCommitted; nil when no transaction was aborted.
	Aborted []AbortedTxn
}

// Special timestamps of ListOffset.
const (
	LatestTimestamp          int64 = -1
	EarliestTimestamp        int64 = -2
	MaxTimestamp             int64 = -3 // KIP-734
	EarliestLocalTimestamp   int64 = -4 // KIP-405
	LatestTieredTimestamp    int64 = -5 // KIP-1005
	EarliestPendingTimestamp int64 = -6 // KIP-1023
)

// ListOffsetRequest asks for the offset of a point in time.
type ListOffsetRequest struct {
	// Timestamp in milliseconds, or one of the special ones.
	Timestamp          int64
	Isolation          Isolation
	CurrentLeaderEpoch batch.LeaderEpoch
	// ReplicaID is Consumer for clients; a replica sees up to the log end.
	ReplicaID metadata.BrokerID
	// AllowFollower lets a replica that is not the leader answer.
	AllowFollower bool
}

// ListOffsetResult is -1 in all fields when nothing matches; Timestamp is -1
// for the special timestamps but MaxTimestamp.
type ListOffsetResult struct {
	Timestamp   int64
	Offset      batch.Offset
	LeaderEpoch batch.LeaderEpoch
}

package partition

import (
	"errors"

	"github.com/weir-broker/weir/broker/commitlog"
	"github.com/weir-broker/weir/broker/producerstate"
)

// Errors of this package. Each stands for one Kafka error code; errors of
// batch.Validate pass through unchanged.
var (
	// ErrUnknownTopicOrPartition: no such partition in the cluster
	// (UNKNOWN_TOPIC_OR_PARTITION).
	ErrUnknownTopicOrPartition = errors.New("unknown topic or partition")
	// ErrUnknownTopicID: no topic has that id (UNKNOWN_TOPIC_ID).
	ErrUnknownTopicID = errors.New("unknown topic id")
	// ErrNotLeader: this broker is not the leader, or holds no replica
	// (NOT_LEADER_OR_FOLLOWER).
	ErrNotLeader = errors.New("not leader or follower")
	// ErrFencedLeaderEpoch: the caller's leader epoch is older than ours
	// (FENCED_LEADER_EPOCH).
	ErrFencedLeaderEpoch = errors.New("fenced leader epoch")
	// ErrUnknownLeaderEpoch: the caller's leader epoch is newer than ours
	// (UNKNOWN_LEADER_EPOCH).
	ErrUnknownLeaderEpoch = errors.New("unknown leader epoch")
	// ErrStorage: the log directory is offline or the log cannot be used
	// (KAFKA_STORAGE_ERROR).
	ErrStorage = commitlog.ErrStorage
	// ErrOffsetOutOfRange: outside the log, or beyond what the caller may see
	// (OFFSET_OUT_OF_RANGE).
	ErrOffsetOutOfRange = commitlog.ErrOffsetOutOfRange
	// ErrOffsetNotAvailable: the high watermark of a new leader has not yet
	// reached the start of its epoch (OFFSET_NOT_AVAILABLE).
	ErrOffsetNotAvailable = errors.New("offset not available")
	// ErrNotEnoughReplicas: fewer in-sync replicas than min.insync.replicas;
	// nothing was appended (NOT_ENOUGH_REPLICAS).
	ErrNotEnoughReplicas = errors.New("not enough in-sync replicas")
	// ErrNotEnoughReplicasAfterAppend: the in-sync replicas became too few
	// after the append (NOT_ENOUGH_REPLICAS_AFTER_APPEND).
	ErrNotEnoughReplicasAfterAppend = errors.New("not enough in-sync replicas after the append")
	// ErrBatchLargerThanSegment: the batch does not fit into a segment
	// (RECORD_LIST_TOO_LARGE).
	ErrBatchLargerThanSegment = commitlog.ErrBatchesTooLarge
	// ErrPolicyViolation: the topic's cleanup.policy does not allow deleting
	// records (POLICY_VIOLATION).
	ErrPolicyViolation = errors.New("cleanup policy does not allow it")
	// ErrStaleBrokerEpoch: a follower fetched with the epoch of an older
	// registration of its broker (NOT_LEADER_OR_FOLLOWER).
	ErrStaleBrokerEpoch = errors.New("stale broker epoch")
	// ErrClosed: the table is shutting down (NOT_LEADER_OR_FOLLOWER).
	ErrClosed = errors.New("partition table is closed")
)

// Errors of the producer check, as producerstate returns them.
var (
	// ErrOutOfOrderSequence is OUT_OF_ORDER_SEQUENCE_NUMBER.
	ErrOutOfOrderSequence = producerstate.ErrOutOfOrderSequence
	// ErrInvalidProducerEpoch is INVALID_PRODUCER_EPOCH.
	ErrInvalidProducerEpoch = producerstate.ErrInvalidProducerEpoch
	// ErrInvalidTxnState is INVALID_TXN_STATE.
	ErrInvalidTxnState = producerstate.ErrInvalidTxnState
)

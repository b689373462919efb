package api

import (
	"context"
	"errors"

	"github.com/weir-broker/weir/broker/batch"
	"github.com/weir-broker/weir/broker/config"
	"github.com/weir-broker/weir/broker/controller"
	"github.com/weir-broker/weir/broker/coordinator"
	"github.com/weir-broker/weir/broker/group"
	"github.com/weir-broker/weir/broker/partition"
)

// sentinelCodes maps the errors of the packages below to Kafka's codes. The more specific error
// comes first where one may wrap another.
var sentinelCodes = []struct {
	err  error
	code Code
}{
	// Before all others: they come with their cause, which says less to a client.
	{coordinator.ErrNotCoordinator, CodeNotCoordinator},
	{coordinator.ErrLoading, CodeCoordinatorLoadInProgress},
	{coordinator.ErrNotAvailable, CodeCoordinatorNotAvailable},
	{coordinator.ErrRecordsTooLarge, CodeMessageTooLarge},
	{coordinator.ErrTimeout, CodeRequestTimedOut},

	{batch.ErrTruncated, CodeCorruptMessage},
	{batch.ErrCorrupt, CodeCorruptMessage},
	{batch.ErrInvalidTimestamp, CodeInvalidTimestamp},
	{batch.ErrInvalidRecord, CodeInvalidRecord},
	{batch.ErrTooLarge, CodeMessageTooLarge},
	{batch.ErrUnsupportedCodec, CodeUnsupportedCompressionType},
	{batch.ErrUndecodable, CodeUnknownServerError},

	{partition.ErrUnknownTopicOrPartition, CodeUnknownTopicOrPartition},
	{partition.ErrUnknownTopicID, CodeUnknownTopicID},
	{partition.ErrNotLeader, CodeNotLeaderOrFollower},
	{partition.ErrFencedLeaderEpoch, CodeFencedLeaderEpoch},
	{partition.ErrUnknownLeaderEpoch, CodeUnknownLeaderEpoch},
	{partition.ErrStorage, CodeKafkaStorageError},
	{partition.ErrOffsetOutOfRange, CodeOffsetOutOfRange},
	{partition.ErrOffsetNotAvailable, CodeOffsetNotAvailable},
	{partition.ErrNotEnoughReplicasAfterAppend, CodeNotEnoughReplicasAfterAppend},
	{partition.ErrNotEnoughReplicas, CodeNotEnoughReplicas},
	{partition.ErrBatchLargerThanSegment, CodeRecordListTooLarge},
	{partition.ErrPolicyViolation, CodePolicyViolation},
	{partition.ErrStaleBrokerEpoch, CodeNotLeaderOrFollower},
	{partition.ErrClosed, CodeNotLeaderOrFollower},
	{partition.ErrOutOfOrderSequence, CodeOutOfOrderSequenceNumber},
	{partition.ErrInvalidProducerEpoch, CodeInvalidProducerEpoch},
	{partition.ErrInvalidTxnState, CodeInvalidTxnState},

	// What keeps a coordinator from its records; a request is never answered with it but where a log refuses one batch,
	// and then the reason, above, counts.
	{coordinator.ErrUnknownType, CodeUnknownServerError},
	{coordinator.ErrUnknownVersion, CodeUnknownServerError},
	{coordinator.ErrRefused, CodeUnknownServerError},
	{group.ErrMalformed, CodeUnknownServerError},
	{group.ErrMemberStateUnknown, CodeUnknownServerError},

	{context.DeadlineExceeded, CodeRequestTimedOut},
	{context.Canceled, CodeRequestTimedOut},
	{controller.ErrClosed, CodeNotController},
}

// kindCodes maps what the controller says is wrong with an item.
var kindCodes = map[controller.Kind]Code{
	controller.UnknownServerError:          CodeUnknownServerError,
	controller.InvalidTopic:                CodeInvalidTopicException,
	controller.TopicAlreadyExists:          CodeTopicAlreadyExists,
	controller.InvalidPartitions:           CodeInvalidPartitions,
	controller.InvalidReplicationFactor:    CodeInvalidReplicationFactor,
	controller.InvalidReplicaAssignment:    CodeInvalidReplicaAssignment,
	controller.InvalidConfig:               CodeInvalidConfig,
	controller.InvalidRequest:              CodeInvalidRequest,
	controller.UnknownTopicOrPartition:     CodeUnknownTopicOrPartition,
	controller.UnknownTopicID:              CodeUnknownTopicID,
	controller.TopicDeletionDisabled:       CodeTopicDeletionDisabled,
	controller.NotController:               CodeNotController,
	controller.PolicyViolation:             CodePolicyViolation,
	controller.UnsupportedVersion:          CodeUnsupportedVersion,
	controller.InvalidUpdateVersion:        CodeInvalidUpdateVersion,
	controller.FeatureUpdateFailed:         CodeFeatureUpdateFailed,
	controller.StaleBrokerEpoch:            CodeStaleBrokerEpoch,
	controller.DuplicateBrokerRegistration: CodeDuplicateBrokerRegistration,
	controller.BrokerIDNotRegistered:       CodeBrokerIDNotRegistered,
	controller.InconsistentClusterID:       CodeInconsistentClusterID,
	controller.InvalidRegistration:         CodeInvalidRegistration,
	controller.ReassignmentInProgress:      CodeReassignmentInProgress,
	controller.NoReassignmentInProgress:    CodeNoReassignmentInProgress,
	controller.PreferredLeaderNotAvailable: CodePreferredLeaderNotAvailable,
	controller.EligibleLeadersNotAvailable: CodeEligibleLeadersNotAvailable,
	controller.ElectionNotNeeded:           CodeElectionNotNeeded,
	controller.ThrottlingQuotaExceeded:     CodeThrottlingQuotaExceeded,
	controller.RequestTimedOut:             CodeRequestTimedOut,
	controller.GroupIDNotFound:             CodeGroupIDNotFound,
	controller.InvalidUpdateEpoch:          CodeInvalidUpdateVersion,
	controller.FencedLeaderEpoch:           CodeFencedLeaderEpoch,
	controller.IneligibleReplica:           CodeIneligibleReplica,
	controller.NotLeaderOrFollower:         CodeNotLeaderOrFollower,
}

// codeOf is Kafka's code for an error of a package below; UNKNOWN_SERVER_ERROR for any other.
func codeOf(err error) Code {
	if err == nil {
		return CodeNone
	}
	var decided *controller.Error
	if errors.As(err, &decided) {
		if decided == nil {
			return CodeNone
		}
		if code, ok := kindCodes[decided.Kind]; ok {
			return code
		}
		return CodeUnknownServerError
	}
	var value *config.Error
	if errors.As(err, &value) {
		if value.Request {
			return CodeInvalidRequest
		}
		return CodeInvalidConfig
	}
	for _, s := range sentinelCodes {
		if errors.Is(err, s.err) {
			return s.code
		}
	}
	return CodeUnknownServerError
}

// outcome is the code and message of one item of a controller's answer.
func outcome(e *controller.Error) (int16, *string) {
	if e == nil {
		return int16(CodeNone), nil
	}
	return int16(codeOf(e)), nilIfEmpty(e.Message)
}

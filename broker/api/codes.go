package api

import "strconv"

// Code is an error code of the Kafka protocol.
type Code int16

// The error codes of Kafka 4.4.
const (
	CodeNone                                   Code = 0
	CodeOffsetOutOfRange                       Code = 1
	CodeCorruptMessage                         Code = 2
	CodeUnknownTopicOrPartition                Code = 3
	CodeInvalidFetchSize                       Code = 4
	CodeLeaderNotAvailable                     Code = 5
	CodeNotLeaderOrFollower                    Code = 6
	CodeRequestTimedOut                        Code = 7
	CodeBrokerNotAvailable                     Code = 8
	CodeReplicaNotAvailable                    Code = 9
	CodeMessageTooLarge                        Code = 10
	CodeStaleControllerEpoch                   Code = 11
	CodeOffsetMetadataTooLarge                 Code = 12
	CodeNetworkException                       Code = 13
	CodeCoordinatorLoadInProgress              Code = 14
	CodeCoordinatorNotAvailable                Code = 15
	CodeNotCoordinator                         Code = 16
	CodeInvalidTopicException                  Code = 17
	CodeRecordListTooLarge                     Code = 18
	CodeNotEnoughReplicas                      Code = 19
	CodeNotEnoughReplicasAfterAppend           Code = 20
	CodeInvalidRequiredAcks                    Code = 21
	CodeIllegalGeneration                      Code = 22
	CodeInconsistentGroupProtocol              Code = 23
	CodeInvalidGroupID                         Code = 24
	CodeUnknownMemberID                        Code = 25
	CodeInvalidSessionTimeout                  Code = 26
	CodeRebalanceInProgress                    Code = 27
	CodeInvalidCommitOffsetSize                Code = 28
	CodeTopicAuthorizationFailed               Code = 29
	CodeGroupAuthorizationFailed               Code = 30
	CodeClusterAuthorizationFailed             Code = 31
	CodeInvalidTimestamp                       Code = 32
	CodeUnsupportedSASLMechanism               Code = 33
	CodeIllegalSASLState                       Code = 34
	CodeUnsupportedVersion                     Code = 35
	CodeTopicAlreadyExists                     Code = 36
	CodeInvalidPartitions                      Code = 37
	CodeInvalidReplicationFactor               Code = 38
	CodeInvalidReplicaAssignment               Code = 39
	CodeInvalidConfig                          Code = 40
	CodeNotController                          Code = 41
	CodeInvalidRequest                         Code = 42
	CodeUnsupportedForMessageFormat            Code = 43
	CodePolicyViolation                        Code = 44
	CodeOutOfOrderSequenceNumber               Code = 45
	CodeDuplicateSequenceNumber                Code = 46
	CodeInvalidProducerEpoch                   Code = 47
	CodeInvalidTxnState                        Code = 48
	CodeInvalidProducerIDMapping               Code = 49
	CodeInvalidTransactionTimeout              Code = 50
	CodeConcurrentTransactions                 Code = 51
	CodeTransactionCoordinatorFenced           Code = 52
	CodeTransactionalIDAuthorizationFailed     Code = 53
	CodeSecurityDisabled                       Code = 54
	CodeOperationNotAttempted                  Code = 55
	CodeKafkaStorageError                      Code = 56
	CodeLogDirNotFound                         Code = 57
	CodeSASLAuthenticationFailed               Code = 58
	CodeUnknownProducerID                      Code = 59
	CodeReassignmentInProgress                 Code = 60
	CodeDelegationTokenAuthDisabled            Code = 61
	CodeDelegationTokenNotFound                Code = 62
	CodeDelegationTokenOwnerMismatch           Code = 63
	CodeDelegationTokenRequestNotAllowed       Code = 64
	CodeDelegationTokenAuthorizationFailed     Code = 65
	CodeDelegationTokenExpired                 Code = 66
	CodeInvalidPrincipalType                   Code = 67
	CodeNonEmptyGroup                          Code = 68
	CodeGroupIDNotFound                        Code = 69
	CodeFetchSessionIDNotFound                 Code = 70
	CodeInvalidFetchSessionEpoch               Code = 71
	CodeListenerNotFound                       Code = 72
	CodeTopicDeletionDisabled                  Code = 73
	CodeFencedLeaderEpoch                      Code = 74
	CodeUnknownLeaderEpoch                     Code = 75
	CodeUnsupportedCompressionType             Code = 76
	CodeStaleBrokerEpoch                       Code = 77
	CodeOffsetNotAvailable                     Code = 78
	CodeMemberIDRequired                       Code = 79
	CodePreferredLeaderNotAvailable            Code = 80
	CodeGroupMaxSizeReached                    Code = 81
	CodeFencedInstanceID                       Code = 82
	CodeEligibleLeadersNotAvailable            Code = 83
	CodeElectionNotNeeded                      Code = 84
	CodeNoReassignmentInProgress               Code = 85
	CodeGroupSubscribedToTopic                 Code = 86
	CodeInvalidRecord                          Code = 87
	CodeUnstableOffsetCommit                   Code = 88
	CodeThrottlingQuotaExceeded                Code = 89
	CodeProducerFenced                         Code = 90
	CodeResourceNotFound                       Code = 91
	CodeDuplicateResource                      Code = 92
	CodeUnacceptableCredential                 Code = 93
	CodeInconsistentVoterSet                   Code = 94
	CodeInvalidUpdateVersion                   Code = 95
	CodeFeatureUpdateFailed                    Code = 96
	CodePrincipalDeserializationFailure        Code = 97
	CodeSnapshotNotFound                       Code = 98
	CodePositionOutOfRange                     Code = 99
	CodeUnknownTopicID                         Code = 100
	CodeDuplicateBrokerRegistration            Code = 101
	CodeBrokerIDNotRegistered                  Code = 102
	CodeInconsistentTopicID                    Code = 103
	CodeInconsistentClusterID                  Code = 104
	CodeTransactionalIDNotFound                Code = 105
	CodeFetchSessionTopicIDError               Code = 106
	CodeIneligibleReplica                      Code = 107
	CodeNewLeaderElected                       Code = 108
	CodeOffsetMovedToTieredStorage             Code = 109
	CodeFencedMemberEpoch                      Code = 110
	CodeUnreleasedInstanceID                   Code = 111
	CodeUnsupportedAssignor                    Code = 112
	CodeStaleMemberEpoch                       Code = 113
	CodeMismatchedEndpointType                 Code = 114
	CodeUnsupportedEndpointType                Code = 115
	CodeUnknownControllerID                    Code = 116
	CodeUnknownSubscriptionID                  Code = 117
	CodeTelemetryTooLarge                      Code = 118
	CodeInvalidRegistration                    Code = 119
	CodeTransactionAbortable                   Code = 120
	CodeInvalidRecordState                     Code = 121
	CodeShareSessionNotFound                   Code = 122
	CodeInvalidShareSessionEpoch               Code = 123
	CodeFencedStateEpoch                       Code = 124
	CodeInvalidVoterKey                        Code = 125
	CodeDuplicateVoter                         Code = 126
	CodeVoterNotFound                          Code = 127
	CodeInvalidRegularExpression               Code = 128
	CodeRebootstrapRequired                    Code = 129
	CodeStreamsInvalidTopology                 Code = 130
	CodeStreamsInvalidTopologyEpoch            Code = 131
	CodeStreamsTopologyFenced                  Code = 132
	CodeShareSessionLimitReached               Code = 133
	CodeGroupDeletionFailed                    Code = 134
	CodeStreamsTopologyDescriptionUpdateFailed Code = 135
	CodeControllerIDNotRegistered              Code = 136
	CodeUnknownServerError                     Code = -1
)

// codeNames are Kafka's names of the codes.
var codeNames = map[Code]string{
	CodeNone:                                   "NONE",
	CodeOffsetOutOfRange:                       "OFFSET_OUT_OF_RANGE",
	CodeCorruptMessage:                         "CORRUPT_MESSAGE",
	CodeUnknownTopicOrPartition:                "UNKNOWN_TOPIC_OR_PARTITION",
	CodeInvalidFetchSize:                       "INVALID_FETCH_SIZE",
	CodeLeaderNotAvailable:                     "LEADER_NOT_AVAILABLE",
	CodeNotLeaderOrFollower:                    "NOT_LEADER_OR_FOLLOWER",
	CodeRequestTimedOut:                        "REQUEST_TIMED_OUT",
	CodeBrokerNotAvailable:                     "BROKER_NOT_AVAILABLE",
	CodeReplicaNotAvailable:                    "REPLICA_NOT_AVAILABLE",
	CodeMessageTooLarge:                        "MESSAGE_TOO_LARGE",
	CodeStaleControllerEpoch:                   "STALE_CONTROLLER_EPOCH",
	CodeOffsetMetadataTooLarge:                 "OFFSET_METADATA_TOO_LARGE",
	CodeNetworkException:                       "NETWORK_EXCEPTION",
	CodeCoordinatorLoadInProgress:              "COORDINATOR_LOAD_IN_PROGRESS",
	CodeCoordinatorNotAvailable:                "COORDINATOR_NOT_AVAILABLE",
	CodeNotCoordinator:                         "NOT_COORDINATOR",
	CodeInvalidTopicException:                  "INVALID_TOPIC_EXCEPTION",
	CodeRecordListTooLarge:                     "RECORD_LIST_TOO_LARGE",
	CodeNotEnoughReplicas:                      "NOT_ENOUGH_REPLICAS",
	CodeNotEnoughReplicasAfterAppend:           "NOT_ENOUGH_REPLICAS_AFTER_APPEND",
	CodeInvalidRequiredAcks:                    "INVALID_REQUIRED_ACKS",
	CodeIllegalGeneration:                      "ILLEGAL_GENERATION",
	CodeInconsistentGroupProtocol:              "INCONSISTENT_GROUP_PROTOCOL",
	CodeInvalidGroupID:                         "INVALID_GROUP_ID",
	CodeUnknownMemberID:                        "UNKNOWN_MEMBER_ID",
	CodeInvalidSessionTimeout:                  "INVALID_SESSION_TIMEOUT",
	CodeRebalanceInProgress:                    "REBALANCE_IN_PROGRESS",
	CodeInvalidCommitOffsetSize:                "INVALID_COMMIT_OFFSET_SIZE",
	CodeTopicAuthorizationFailed:               "TOPIC_AUTHORIZATION_FAILED",
	CodeGroupAuthorizationFailed:               "GROUP_AUTHORIZATION_FAILED",
	CodeClusterAuthorizationFailed:             "CLUSTER_AUTHORIZATION_FAILED",
	CodeInvalidTimestamp:                       "INVALID_TIMESTAMP",
	CodeUnsupportedSASLMechanism:               "UNSUPPORTED_SASL_MECHANISM",
	CodeIllegalSASLState:                       "ILLEGAL_SASL_STATE",
	CodeUnsupportedVersion:                     "UNSUPPORTED_VERSION",
	CodeTopicAlreadyExists:                     "TOPIC_ALREADY_EXISTS",
	CodeInvalidPartitions:                      "INVALID_PARTITIONS",
	CodeInvalidReplicationFactor:               "INVALID_REPLICATION_FACTOR",
	CodeInvalidReplicaAssignment:               "INVALID_REPLICA_ASSIGNMENT",
	CodeInvalidConfig:                          "INVALID_CONFIG",
	CodeNotController:                          "NOT_CONTROLLER",
	CodeInvalidRequest:                         "INVALID_REQUEST",
	CodeUnsupportedForMessageFormat:            "UNSUPPORTED_FOR_MESSAGE_FORMAT",
	CodePolicyViolation:                        "POLICY_VIOLATION",
	CodeOutOfOrderSequenceNumber:               "OUT_OF_ORDER_SEQUENCE_NUMBER",
	CodeDuplicateSequenceNumber:                "DUPLICATE_SEQUENCE_NUMBER",
	CodeInvalidProducerEpoch:                   "INVALID_PRODUCER_EPOCH",
	CodeInvalidTxnState:                        "INVALID_TXN_STATE",
	CodeInvalidProducerIDMapping:               "INVALID_PRODUCER_ID_MAPPING",
	CodeInvalidTransactionTimeout:              "INVALID_TRANSACTION_TIMEOUT",
	CodeConcurrentTransactions:                 "CONCURRENT_TRANSACTIONS",
	CodeTransactionCoordinatorFenced:           "TRANSACTION_COORDINATOR_FENCED",
	CodeTransactionalIDAuthorizationFailed:     "TRANSACTIONAL_ID_AUTHORIZATION_FAILED",
	CodeSecurityDisabled:                       "SECURITY_DISABLED",
	CodeOperationNotAttempted:                  "OPERATION_NOT_ATTEMPTED",
	CodeKafkaStorageError:                      "KAFKA_STORAGE_ERROR",
	CodeLogDirNotFound:                         "LOG_DIR_NOT_FOUND",
	CodeSASLAuthenticationFailed:               "SASL_AUTHENTICATION_FAILED",
	CodeUnknownProducerID:                      "UNKNOWN_PRODUCER_ID",
	CodeReassignmentInProgress:                 "REASSIGNMENT_IN_PROGRESS",
	CodeDelegationTokenAuthDisabled:            "DELEGATION_TOKEN_AUTH_DISABLED",
	CodeDelegationTokenNotFound:                "DELEGATION_TOKEN_NOT_FOUND",
	CodeDelegationTokenOwnerMismatch:           "DELEGATION_TOKEN_OWNER_MISMATCH",
	CodeDelegationTokenRequestNotAllowed:       "DELEGATION_TOKEN_REQUEST_NOT_ALLOWED",
	CodeDelegationTokenAuthorizationFailed:     "DELEGATION_TOKEN_AUTHORIZATION_FAILED",
	CodeDelegationTokenExpired:                 "DELEGATION_TOKEN_EXPIRED",
	CodeInvalidPrincipalType:                   "INVALID_PRINCIPAL_TYPE",
	CodeNonEmptyGroup:                          "NON_EMPTY_GROUP",
	CodeGroupIDNotFound:                        "GROUP_ID_NOT_FOUND",
	CodeFetchSessionIDNotFound:                 "FETCH_SESSION_ID_NOT_FOUND",
	CodeInvalidFetchSessionEpoch:               "INVALID_FETCH_SESSION_EPOCH",
	CodeListenerNotFound:                       "LISTENER_NOT_FOUND",
	CodeTopicDeletionDisabled:                  "TOPIC_DELETION_DISABLED",
	CodeFencedLeaderEpoch:                      "FENCED_LEADER_EPOCH",
	CodeUnknownLeaderEpoch:                     "UNKNOWN_LEADER_EPOCH",
	CodeUnsupportedCompressionType:             "UNSUPPORTED_COMPRESSION_TYPE",
	CodeStaleBrokerEpoch:                       "STALE_BROKER_EPOCH",
	CodeOffsetNotAvailable:                     "OFFSET_NOT_AVAILABLE",
	CodeMemberIDRequired:                       "MEMBER_ID_REQUIRED",
	CodePreferredLeaderNotAvailable:            "PREFERRED_LEADER_NOT_AVAILABLE",
	CodeGroupMaxSizeReached:                    "GROUP_MAX_SIZE_REACHED",
	CodeFencedInstanceID:                       "FENCED_INSTANCE_ID",
	CodeEligibleLeadersNotAvailable:            "ELIGIBLE_LEADERS_NOT_AVAILABLE",
	CodeElectionNotNeeded:                      "ELECTION_NOT_NEEDED",
	CodeNoReassignmentInProgress:               "NO_REASSIGNMENT_IN_PROGRESS",
	CodeGroupSubscribedToTopic:                 "GROUP_SUBSCRIBED_TO_TOPIC",
	CodeInvalidRecord:                          "INVALID_RECORD",
	CodeUnstableOffsetCommit:                   "UNSTABLE_OFFSET_COMMIT",
	CodeThrottlingQuotaExceeded:                "THROTTLING_QUOTA_EXCEEDED",
	CodeProducerFenced:                         "PRODUCER_FENCED",
	CodeResourceNotFound:                       "RESOURCE_NOT_FOUND",
	CodeDuplicateResource:                      "DUPLICATE_RESOURCE",
	CodeUnacceptableCredential:                 "UNACCEPTABLE_CREDENTIAL",
	CodeInconsistentVoterSet:                   "INCONSISTENT_VOTER_SET",
	CodeInvalidUpdateVersion:                   "INVALID_UPDATE_VERSION",
	CodeFeatureUpdateFailed:                    "FEATURE_UPDATE_FAILED",
	CodePrincipalDeserializationFailure:        "PRINCIPAL_DESERIALIZATION_FAILURE",
	CodeSnapshotNotFound:                       "SNAPSHOT_NOT_FOUND",
	CodePositionOutOfRange:                     "POSITION_OUT_OF_RANGE",
	CodeUnknownTopicID:                         "UNKNOWN_TOPIC_ID",
	CodeDuplicateBrokerRegistration:            "DUPLICATE_BROKER_REGISTRATION",
	CodeBrokerIDNotRegistered:                  "BROKER_ID_NOT_REGISTERED",
	CodeInconsistentTopicID:                    "INCONSISTENT_TOPIC_ID",
	CodeInconsistentClusterID:                  "INCONSISTENT_CLUSTER_ID",
	CodeTransactionalIDNotFound:                "TRANSACTIONAL_ID_NOT_FOUND",
	CodeFetchSessionTopicIDError:               "FETCH_SESSION_TOPIC_ID_ERROR",
	CodeIneligibleReplica:                      "INELIGIBLE_REPLICA",
	CodeNewLeaderElected:                       "NEW_LEADER_ELECTED",
	CodeOffsetMovedToTieredStorage:             "OFFSET_MOVED_TO_TIERED_STORAGE",
	CodeFencedMemberEpoch:                      "FENCED_MEMBER_EPOCH",
	CodeUnreleasedInstanceID:                   "UNRELEASED_INSTANCE_ID",
	CodeUnsupportedAssignor:                    "UNSUPPORTED_ASSIGNOR",
	CodeStaleMemberEpoch:                       "STALE_MEMBER_EPOCH",
	CodeMismatchedEndpointType:                 "MISMATCHED_ENDPOINT_TYPE",
	CodeUnsupportedEndpointType:                "UNSUPPORTED_ENDPOINT_TYPE",
	CodeUnknownControllerID:                    "UNKNOWN_CONTROLLER_ID",
	CodeUnknownSubscriptionID:                  "UNKNOWN_SUBSCRIPTION_ID",
	CodeTelemetryTooLarge:                      "TELEMETRY_TOO_LARGE",
	CodeInvalidRegistration:                    "INVALID_REGISTRATION",
	CodeTransactionAbortable:                   "TRANSACTION_ABORTABLE",
	CodeInvalidRecordState:                     "INVALID_RECORD_STATE",
	CodeShareSessionNotFound:                   "SHARE_SESSION_NOT_FOUND",
	CodeInvalidShareSessionEpoch:               "INVALID_SHARE_SESSION_EPOCH",
	CodeFencedStateEpoch:                       "FENCED_STATE_EPOCH",
	CodeInvalidVoterKey:                        "INVALID_VOTER_KEY",
	CodeDuplicateVoter:                         "DUPLICATE_VOTER",
	CodeVoterNotFound:                          "VOTER_NOT_FOUND",
	CodeInvalidRegularExpression:               "INVALID_REGULAR_EXPRESSION",
	CodeRebootstrapRequired:                    "REBOOTSTRAP_REQUIRED",
	CodeStreamsInvalidTopology:                 "STREAMS_INVALID_TOPOLOGY",
	CodeStreamsInvalidTopologyEpoch:            "STREAMS_INVALID_TOPOLOGY_EPOCH",
	CodeStreamsTopologyFenced:                  "STREAMS_TOPOLOGY_FENCED",
	CodeShareSessionLimitReached:               "SHARE_SESSION_LIMIT_REACHED",
	CodeGroupDeletionFailed:                    "GROUP_DELETION_FAILED",
	CodeStreamsTopologyDescriptionUpdateFailed: "STREAMS_TOPOLOGY_DESCRIPTION_UPDATE_FAILED",
	CodeControllerIDNotRegistered:              "CONTROLLER_ID_NOT_REGISTERED",
	CodeUnknownServerError:                     "UNKNOWN_SERVER_ERROR",
}

// String is Kafka's name of the code.
func (c Code) String() string {
	if name, ok := codeNames[c]; ok {
		return name
	}
	return "Code(" + strconv.Itoa(int(c)) + ")"
}

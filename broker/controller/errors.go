package controller

import "fmt"

// Kind says what is wrong with an item of a request. Each corresponds to one
// error of Kafka's protocol of the same name; api maps them to codes.
type Kind int

// Kinds.
const (
	UnknownServerError Kind = iota + 1
	InvalidTopic
	TopicAlreadyExists
	InvalidPartitions
	InvalidReplicationFactor
	InvalidReplicaAssignment
	InvalidConfig
	InvalidRequest
	UnknownTopicOrPartition
	UnknownTopicID
	TopicDeletionDisabled
	NotController
	PolicyViolation
	UnsupportedVersion
	InvalidUpdateVersion
	FeatureUpdateFailed
	StaleBrokerEpoch
	DuplicateBrokerRegistration
	BrokerIDNotRegistered
	InconsistentClusterID
	InvalidRegistration
	ReassignmentInProgress
	NoReassignmentInProgress
	PreferredLeaderNotAvailable
	EligibleLeadersNotAvailable
	ElectionNotNeeded
	ThrottlingQuotaExceeded
	RequestTimedOut
	GroupIDNotFound
	InvalidUpdateEpoch // partition epoch of an AlterPartition is not the current one
	FencedLeaderEpoch
	IneligibleReplica
	NotLeaderOrFollower
)

var kindNames = map[Kind]string{
	UnknownServerError: "UNKNOWN_SERVER_ERROR", InvalidTopic: "INVALID_TOPIC_EXCEPTION",
	TopicAlreadyExists: "TOPIC_ALREADY_EXISTS", InvalidPartitions: "INVALID_PARTITIONS",
	InvalidReplicationFactor: "INVALID_REPLICATION_FACTOR", InvalidReplicaAssignment: "INVALID_REPLICA_ASSIGNMENT",
	InvalidConfig: "INVALID_CONFIG", InvalidRequest: "INVALID_REQUEST",
	UnknownTopicOrPartition: "UNKNOWN_TOPIC_OR_PARTITION", UnknownTopicID: "UNKNOWN_TOPIC_ID",
	TopicDeletionDisabled: "TOPIC_DELETION_DISABLED", NotController: "NOT_CONTROLLER",
	PolicyViolation: "POLICY_VIOLATION", UnsupportedVersion: "UNSUPPORTED_VERSION",
	InvalidUpdateVersion: "INVALID_UPDATE_VERSION", FeatureUpdateFailed: "FEATURE_UPDATE_FAILED",
	StaleBrokerEpoch: "STALE_BROKER_EPOCH", DuplicateBrokerRegistration: "DUPLICATE_BROKER_REGISTRATION",
	BrokerIDNotRegistered: "BROKER_ID_NOT_REGISTERED", InconsistentClusterID: "INCONSISTENT_CLUSTER_ID",
	InvalidRegistration: "INVALID_REGISTRATION", ReassignmentInProgress: "REASSIGNMENT_IN_PROGRESS",
	NoReassignmentInProgress:    "NO_REASSIGNMENT_IN_PROGRESS",
	PreferredLeaderNotAvailable: "PREFERRED_LEADER_NOT_AVAILABLE",
	EligibleLeadersNotAvailable: "ELIGIBLE_LEADERS_NOT_AVAILABLE", ElectionNotNeeded: "ELECTION_NOT_NEEDED",
	ThrottlingQuotaExceeded: "THROTTLING_QUOTA_EXCEEDED", RequestTimedOut: "REQUEST_TIMED_OUT",
	GroupIDNotFound: "GROUP_ID_NOT_FOUND", InvalidUpdateEpoch: "INVALID_UPDATE_VERSION",
	FencedLeaderEpoch: "FENCED_LEADER_EPOCH", IneligibleReplica: "INELIGIBLE_REPLICA",
	NotLeaderOrFollower: "NOT_LEADER_OR_FOLLOWER",
}

// String is the name of the Kafka error.
func (k Kind) String() string {
	if name, ok := kindNames[k]; ok {
		return name
	}
	return fmt.Sprintf("Kind(%d)", int(k))
}

// Error is why one item of a request was not done. Message is for the client,
// in the words that Kafka's tools print; when it is empty api answers with the
// code's default text.
type Error struct {
	Kind    Kind
	Message string
}

// Error implements error.
func (e *Error) Error() string {
	if e.Message == "" {
		return e.Kind.String()
	}
	return e.Kind.String() + ": " + e.Message
}

func errorf(k Kind, format string, args ...any) *Error {
	return &Error{Kind: k, Message: fmt.Sprintf(format, args...)}
}

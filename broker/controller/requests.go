package controller

import "github.com/weir-broker/weir/broker/metadata"

// CreateTopicsRequest asks for new topics (key 19).
type CreateTopicsRequest struct {
	Topics []CreateTopic
	// ValidateOnly checks everything and creates nothing.
	ValidateOnly bool
}

// CreateTopic is one topic of a CreateTopicsRequest.
type CreateTopic struct {
	Name string
	// Partitions and ReplicationFactor are -1 for the broker's default (KIP-464)
	// and with Assignments.
	Partitions        int32
	ReplicationFactor int16
	Assignments       []ReplicaAssignment
	Configs           []ConfigValue
	// Describable is whether the principal may see the topic's configurations
	// in the answer (KIP-525).
	Describable bool
}

// ReplicaAssignment places the replicas of one partition by hand.
type ReplicaAssignment struct {
	Index   int32
	Brokers []metadata.BrokerID
}

// ConfigValue is a configuration key and its value; nil is null on the wire.
type ConfigValue struct {
	Name  string
	Value *string
}

// CreateTopicResult answers for one topic. Results are in the request's order,
// but names that occur more than once come last, once each.
type CreateTopicResult struct {
	Name string
	// ID is set under ValidateOnly too, as in Kafka.
	ID  metadata.TopicID
	Err *Error
	// The rest is set when the topic is Describable and Err is nil.
	Partitions        int32
	ReplicationFactor int16
	Configs           []ConfigEntry
	Describable       bool
}

// ConfigEntry is one effective configuration of a new topic.
type ConfigEntry struct {
	Name      string
	Value     *string // nil when sensitive
	ReadOnly  bool
	Sensitive bool
	Source    int8 // Kafka's ConfigSource: 1 topic, 2 broker, 3 cluster default, 4 static, 5 default
}

// TopicRef names a topic by id, or by name when ID is zero.
type TopicRef struct {
	Name string
	ID   metadata.TopicID
}

// DeleteTopicResult answers for one topic, in the request's order. Name and ID
// are both filled in when the topic was found.
type DeleteTopicResult struct {
	Name string
	ID   metadata.TopicID
	Err  *Error
}

// CreatePartitionsRequest asks for more partitions (key 37).
type CreatePartitionsRequest struct {
	Topics       []CreatePartitions
	ValidateOnly bool
}

// CreatePartitions raises one topic to Count partitions in all.
type CreatePartitions struct {
	Name  string
	Count int32
	// Assignments places each new partition by hand; nil leaves it to the
	// controller.
	Assignments [][]metadata.BrokerID
}

// CreatePartitionsResult answers for one topic, in the request's order.
type CreatePartitionsResult struct {
	Name string
	Err  *Error
}

// AlterConfigsRequest replaces all dynamic configurations of resources (key 33).
type AlterConfigsRequest struct {
	Resources    []ReplaceConfigs
	ValidateOnly bool
}

// ReplaceConfigs holds the new configurations of one resource; what it does not
// name goes back to its default.
type ReplaceConfigs struct {
	Resource metadata.Resource
	Configs  []ConfigValue
}

// ConfigOp is what an IncrementalAlterConfigs does to a key (KIP-339), with
// Kafka's numbers.
type ConfigOp int8

// Operations on a configuration.
const (
	OpSet      ConfigOp = 0
	OpDelete   ConfigOp = 1
	OpAppend   ConfigOp = 2
	OpSubtract ConfigOp = 3
)

// IncrementalAlterConfigsRequest changes single configurations (key 44).
type IncrementalAlterConfigsRequest struct {
	Resources    []ChangeConfigs
	ValidateOnly bool
}

// ChangeConfigs are the changes to one resource; all of them take effect or none.
type ChangeConfigs struct {
	Resource metadata.Resource
	Changes  []ConfigChange
}

// ConfigChange is one operation on one key.
type ConfigChange struct {
	Name  string
	Op    ConfigOp
	Value *string
}

// AlterConfigsResult answers for one resource, in the request's order.
type AlterConfigsResult struct {
	Resource metadata.Resource
	Err      *Error
}

// BrokerRegistration is what a broker says when it starts (key 62).
type BrokerRegistration struct {
	ID            metadata.BrokerID
	ClusterID     string
	IncarnationID metadata.IncarnationID
	Rack          string
	Endpoints     []metadata.Endpoint
	Features      []metadata.SupportedFeature
	LogDirs       []metadata.DirID
	// Ready registers the broker unfenced at once, with leaders elected for its
	// partitions in the same step. Only a broker in the active controller's own
	// process may say so: it has the controller's image already, so that the
	// round of heartbeats that tells a caught-up broker from one that is not has
	// nothing to find out.
	Ready bool
}

// BrokerHeartbeat is a broker's report of its state (key 63).
type BrokerHeartbeat struct {
	ID    metadata.BrokerID
	Epoch metadata.BrokerEpoch
	// CaughtUp: the broker has applied the metadata up to its registration.
	CaughtUp bool
	// WantFence and WantShutDown ask for these states.
	WantFence, WantShutDown bool
	OfflineDirs             []metadata.DirID
}

// HeartbeatResult answers a BrokerHeartbeat.
type HeartbeatResult struct {
	CaughtUp, Fenced, ShouldShutDown bool
}

// AssignReplicasToDirs is a broker's report of the log directories that its
// replicas are in (key 73, KIP-858).
type AssignReplicasToDirs struct {
	ID       metadata.BrokerID
	Epoch    metadata.BrokerEpoch
	Replicas []DirAssignment
}

// DirAssignment is the directory of one replica.
type DirAssignment struct {
	TopicID metadata.TopicID
	Index   int32
	Dir     metadata.DirID
}

// ProducerIDBlock is the half-open range [First, First+Count) of producer ids.
type ProducerIDBlock struct {
	First metadata.ProducerID
	Count int32
}

// UpgradeType is how far a feature update may go (KIP-584, KIP-778), with
// Kafka's numbers.
type UpgradeType int8

// Upgrade types.
const (
	Upgrade         UpgradeType = 1
	SafeDowngrade   UpgradeType = 2
	UnsafeDowngrade UpgradeType = 3
)

// UpdateFeaturesRequest changes finalized features, all or none (key 57).
type UpdateFeaturesRequest struct {
	Updates      []FeatureUpdate
	ValidateOnly bool
}

// FeatureUpdate sets the level of one feature; level 0 turns it off.
type FeatureUpdate struct {
	Name    string
	Level   metadata.FeatureLevel
	Upgrade UpgradeType
}

// ElectionType is the kind of leader election (KIP-460), with Kafka's numbers.
type ElectionType int8

// Election types.
const (
	PreferredElection ElectionType = 0
	UncleanElection   ElectionType = 1
)

// ElectLeadersRequest asks for elections (key 43).
type ElectLeadersRequest struct {
	Type ElectionType
	// Partitions to elect for; All means every partition instead.
	Partitions []TopicPartition
	All        bool
}

// TopicPartition names a partition.
type TopicPartition struct {
	Topic string
	Index int32
}

// ElectLeaderResult answers for one partition.
type ElectLeaderResult struct {
	TopicPartition
	Err *Error
}

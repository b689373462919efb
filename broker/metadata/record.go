package metadata

// RecordType numbers the kinds of records in the metadata log. A number is
// never used twice.
type RecordType uint16

// Record types.
const (
	TypeTermStart        RecordType = 1
	TypeCluster          RecordType = 2
	TypeFeature          RecordType = 3
	TypeTopic            RecordType = 4
	TypePartition        RecordType = 5
	TypePartitionChange  RecordType = 6
	TypeRemoveTopic      RecordType = 7
	TypeConfig           RecordType = 8
	TypeRegisterBroker   RecordType = 9
	TypeBrokerChange     RecordType = 10
	TypeUnregisterBroker RecordType = 11
	TypeProducerIDs      RecordType = 12
)

// WeirFeature is the feature whose level says which records may be in the
// metadata log. A node that does not know the level stops instead of guessing.
const WeirFeature = "weir.metadata.version"

// MetadataFeature is Kafka's metadata.version.
const MetadataFeature = "metadata.version"

// MaxWeirLevel is the newest level of WeirFeature that this program knows.
const MaxWeirLevel FeatureLevel = 1

// Record is one change to the Image. Only Apply gives it effect.
type Record interface {
	// Type is the record's number in the log.
	Type() RecordType
	version() uint16
	encode(e *encoder)
}

// Entry is what the metadata log holds at one index: records that were decided
// together in one controller term and take effect together or not at all.
type Entry struct {
	Term    Term
	Records []Record
}

// Leadership says whether this node leads the metadata quorum, and in which
// term.
type Leadership struct {
	Leader bool
	Term   Term
}

// TermStart begins a controller term. As the first record of an entry it moves
// the image to that entry's term, provided that this is newer; the records after
// it are then of the new term.
type TermStart struct {
	Term   Term
	Leader BrokerID
}

// Cluster names the cluster, once.
type Cluster struct{ ClusterID string }

// Feature sets the finalized level of a feature; level 0 turns it off.
type Feature struct {
	Name  string
	Level FeatureLevel
}

// NewTopic adds a topic without partitions.
type NewTopic struct {
	ID   TopicID
	Name string
}

// NewPartition adds the next partition of a topic.
type NewPartition struct {
	TopicID   TopicID
	Index     int32
	Partition Partition
}

// PartitionChange changes one partition. A nil or absent field is left as it
// is. It applies only to the partition epoch that it was decided on and raises
// that by one; setting a Leader raises the leader epoch as well, even when it
// is the leader already.
type PartitionChange struct {
	TopicID       TopicID
	Index         int32
	ExpectedEpoch PartitionEpoch
	// Leader is the new leader (perhaps NoLeader) when SetLeader.
	SetLeader bool
	Leader    BrokerID
	// Slices: nil leaves the field, an empty slice empties it.
	ISR, Replicas, Adding, Removing, ELR, LastKnownELR []BrokerID
	Directories                                        []DirID
	// Recovery is set when SetRecovery.
	SetRecovery bool
	Recovery    RecoveryState
}

// RemoveTopic removes a topic, its partitions and its configurations.
type RemoveTopic struct{ ID TopicID }

// Config sets, or with a nil Value deletes, one dynamic configuration.
type Config struct {
	Resource Resource
	Key      string
	Value    *string
}

// RegisterBroker adds a broker or replaces its registration.
type RegisterBroker struct{ Broker Broker }

// BrokerChange changes the state of one registration. Nil fields are left.
type BrokerChange struct {
	ID                   BrokerID
	Epoch                BrokerEpoch // the registration that it was decided on
	Fenced               *bool
	InControlledShutdown *bool
	LogDirs              []DirID // nil leaves, empty empties
	CordonedDirs         []DirID
}

// UnregisterBroker removes a registration.
type UnregisterBroker struct {
	ID    BrokerID
	Epoch BrokerEpoch
}

// ProducerIDs hands the block of ids below Next to a broker.
type ProducerIDs struct {
	BrokerID    BrokerID
	BrokerEpoch BrokerEpoch
	Next        ProducerID
}

// Type returns TypeTermStart.
func (*TermStart) Type() RecordType { return TypeTermStart }

// Type returns TypeCluster.
func (*Cluster) Type() RecordType { return TypeCluster }

// Type returns TypeFeature.
func (*Feature) Type() RecordType { return TypeFeature }

// Type returns TypeTopic.
func (*NewTopic) Type() RecordType { return TypeTopic }

// Type returns TypePartition.
func (*NewPartition) Type() RecordType { return TypePartition }

// Type returns TypePartitionChange.
func (*PartitionChange) Type() RecordType { return TypePartitionChange }

// Type returns TypeRemoveTopic.
func (*RemoveTopic) Type() RecordType { return TypeRemoveTopic }

// Type returns TypeConfig.
func (*Config) Type() RecordType { return TypeConfig }

// Type returns TypeRegisterBroker.
func (*RegisterBroker) Type() RecordType { return TypeRegisterBroker }

// Type returns TypeBrokerChange.
func (*BrokerChange) Type() RecordType { return TypeBrokerChange }

// Type returns TypeUnregisterBroker.
func (*UnregisterBroker) Type() RecordType { return TypeUnregisterBroker }

// Type returns TypeProducerIDs.
func (*ProducerIDs) Type() RecordType { return TypeProducerIDs }

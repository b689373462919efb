package metadata

import (
	"encoding/base64"
)

// UUID is a 128-bit identifier as Kafka writes it on the wire and on disk.
type UUID [16]byte

// TopicID identifies one incarnation of a topic (KIP-516).
type TopicID UUID

// DirID identifies one log directory of one broker (KIP-858). Its first hundred
// values are reserved.
type DirID UUID

// IncarnationID is drawn anew each time a broker process starts; it tells a
// restart of a broker from a repeated registration.
type IncarnationID UUID

// BrokerID is a node's id, node.id in its configuration.
type BrokerID int32

// NoLeader is the leader of a partition that has none.
const NoLeader BrokerID = -1

// LeaderEpoch counts the leaders a partition has had.
type LeaderEpoch int32

// PartitionEpoch counts the changes to one partition's record; a change names
// the epoch that it was decided on.
type PartitionEpoch int32

// BrokerEpoch names one registration of a broker; later ones are larger.
type BrokerEpoch int64

// ProducerID numbers idempotent and transactional producers.
type ProducerID int64

// Term is the controller's term: the Raft term that it was elected in. Kafka
// calls it the controller epoch.
type Term uint64

// Index is a position in the metadata log.
type Index uint64

// FeatureLevel is the level of a feature of the cluster (KIP-584).
type FeatureLevel int16

// Reserved log directory ids (KIP-858).
var (
	// DirUnassigned marks a replica for which no directory is chosen yet.
	DirUnassigned = DirID{}
	// DirLost marks a replica in a directory that went offline.
	DirLost = DirID{15: 1}
	// DirMigrating marks a replica whose directory was never recorded.
	DirMigrating = DirID{15: 2}
)

// String returns Kafka's text form: URL-safe base64 without padding.
func (u UUID) String() string { return base64.RawURLEncoding.EncodeToString(u[:]) }

// IsZero reports whether u is all zeroes, Kafka's "no id".
func (u UUID) IsZero() bool { return u == UUID{} }

// String returns Kafka's text form.
func (t TopicID) String() string { return UUID(t).String() }

// IsZero reports whether t is Kafka's "no topic id".
func (t TopicID) IsZero() bool { return UUID(t).IsZero() }

// String returns Kafka's text form.
func (d DirID) String() string { return UUID(d).String() }

// Reserved reports whether d is one of the hundred ids that name no directory.
func (d DirID) Reserved() bool {
	for _, b := range d[:15] {
		if b != 0 {
			return false
		}
	}
	return d[15] < 100
}

// String returns Kafka's text form.
func (i IncarnationID) String() string { return UUID(i).String() }

package group

import (
	"errors"
	"fmt"

	"github.com/weir-broker/weir/broker/coordinator"
)

// RecordType says what a record of __consumer_offsets is about: the first two bytes of its key. The value has a version
// of its own in its first two bytes.
type RecordType int16

// The record types of a Kafka 4.4 group coordinator. Types 10 to 15 (share groups) and 17 and 19 to 23 (streams groups)
// exist there too; nothing here writes or reads them.
const (
	LegacyOffsetCommitType             RecordType = 0 // written before Kafka 0.9 only; read as OffsetCommitType
	OffsetCommitType                   RecordType = 1
	GroupMetadataType                  RecordType = 2
	ConsumerGroupMetadataType          RecordType = 3
	ConsumerGroupPartitionMetadataType RecordType = 4 // replaced by the metadata hash in Kafka 4.1 (KIP-1101)
	ConsumerGroupMemberMetadataType    RecordType = 5
	TargetAssignmentMetadataType       RecordType = 6
	TargetAssignmentMemberType         RecordType = 7
	CurrentMemberAssignmentType        RecordType = 8
	RegularExpressionType              RecordType = 16
)

// ErrMalformed is a key or value that ends early or holds an impossible length.
var ErrMalformed = errors.New("malformed record")

// Key is the key of a record. Which fields count depends on the type:
//
//	0, 1           Group, Topic, Partition
//	2, 3, 4, 6     Group
//	5, 7, 8        Group, Member
//	16             Group, Regex
type Key struct {
	Type      RecordType
	Group     string
	Topic     string
	Partition int32
	Member    string
	Regex     string
}

// AppendTo appends the key as Kafka writes it.
func (k Key) AppendTo(dst []byte) []byte {
	dst = appendInt16(dst, int16(k.Type))
	dst = appendString(dst, k.Group, false)
	switch k.Type {
	case LegacyOffsetCommitType, OffsetCommitType:
		dst = appendString(dst, k.Topic, false)
		dst = appendInt32(dst, k.Partition)
	case ConsumerGroupMemberMetadataType, TargetAssignmentMemberType, CurrentMemberAssignmentType:
		dst = appendString(dst, k.Member, false)
	case RegularExpressionType:
		dst = appendString(dst, k.Regex, false)
	}
	return dst
}

// ParseKey reads the key of a record. Bytes after it are ignored, as Kafka ignores them. Errors are
// coordinator.ErrUnknownType and ErrMalformed.
func ParseKey(b []byte) (Key, error) {
	r := reader{b: b}
	k := Key{Type: RecordType(r.int16())}
	if r.failed {
		return Key{}, fmt.Errorf("%w: key of %d bytes", ErrMalformed, len(b))
	}
	switch k.Type {
	case LegacyOffsetCommitType, OffsetCommitType:
		k.Group = r.string(false)
		k.Topic = r.string(false)
		k.Partition = r.int32()
	case GroupMetadataType, ConsumerGroupMetadataType, ConsumerGroupPartitionMetadataType, TargetAssignmentMetadataType:
		k.Group = r.string(false)
	case ConsumerGroupMemberMetadataType, TargetAssignmentMemberType, CurrentMemberAssignmentType:
		k.Group = r.string(false)
		k.Member = r.string(false)
	case RegularExpressionType:
		k.Group = r.string(false)
		k.Regex = r.string(false)
	default:
		return Key{Type: k.Type}, fmt.Errorf("%w: %d", coordinator.ErrUnknownType, k.Type)
	}
	if r.failed {
		return Key{}, fmt.Errorf("%w: key of type %d", ErrMalformed, k.Type)
	}
	return k, nil
}

// Value is the value of a record: one of the types in values.go.
type Value interface {
	// AppendTo appends the version and the fields as Kafka writes them.
	AppendTo(dst []byte) []byte
}

// ParseValue reads the value of a record of a type that ParseKey has accepted. A tombstone has no value and is not given
// to it. Errors are coordinator.ErrUnknownVersion and ErrMalformed.
func ParseValue(t RecordType, b []byte) (Value, error) {
	r := reader{b: b}
	version := r.int16()
	if r.failed {
		return nil, fmt.Errorf("%w: value of %d bytes", ErrMalformed, len(b))
	}
	highest := int16(0)
	if t == OffsetCommitType || t == GroupMetadataType {
		highest = 4
	}
	if version < 0 || version > highest {
		return nil, fmt.Errorf("%w: version %d of type %d", coordinator.ErrUnknownVersion, version, t)
	}
	v := parseValue(t, version, &r)
	if v == nil {
		return nil, fmt.Errorf("%w: %d", coordinator.ErrUnknownType, t)
	}
	if r.failed {
		return nil, fmt.Errorf("%w: value of type %d, version %d", ErrMalformed, t, version)
	}
	return v, nil
}

func parseValue(t RecordType, version int16, r *reader) Value {
	switch t {
	case LegacyOffsetCommitType, OffsetCommitType:
		return readOffsetCommitValue(r, version)
	case GroupMetadataType:
		return readGroupMetadataValue(r, version)
	case ConsumerGroupMetadataType:
		return readConsumerGroupMetadataValue(r)
	case ConsumerGroupPartitionMetadataType:
		return readPartitionMetadataValue(r)
	case ConsumerGroupMemberMetadataType:
		return readMemberMetadataValue(r)
	case TargetAssignmentMetadataType:
		return readTargetAssignmentMetadataValue(r)
	case TargetAssignmentMemberType:
		return readTargetAssignmentMemberValue(r)
	case CurrentMemberAssignmentType:
		return readCurrentMemberAssignmentValue(r)
	case RegularExpressionType:
		return readRegularExpressionValue(r)
	}
	return nil
}

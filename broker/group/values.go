package group

import "github.com/weir-broker/weir/broker/metadata"

// The values of the records of __consumer_offsets. Timestamps and timeouts are milliseconds, as in the format.

// OffsetCommitValue is a committed offset, versions 0 to 4. Kafka 4.4 writes 4, and 1 where the client gave a retention
// time of its own. Absent fields read as Kafka's defaults: LeaderEpoch -1, ExpireTimestamp -1, TopicID zero.
type OffsetCommitValue struct {
	Version         int16
	Offset          int64
	LeaderEpoch     int32 // version 3 and later
	Metadata        string
	CommitTimestamp int64
	ExpireTimestamp int64            // version 1 only
	TopicID         metadata.TopicID // version 4 and later, a tag: left out when zero
}

// AppendTo appends the version and the fields as Kafka writes them.
func (v *OffsetCommitValue) AppendTo(dst []byte) []byte {
	flexible := v.Version >= 4
	dst = appendInt16(dst, v.Version)
	dst = appendInt64(dst, v.Offset)
	if v.Version >= 3 {
		dst = appendInt32(dst, v.LeaderEpoch)
	}
	dst = appendString(dst, v.Metadata, flexible)
	dst = appendInt64(dst, v.CommitTimestamp)
	if v.Version == 1 {
		dst = appendInt64(dst, v.ExpireTimestamp)
	}
	if !flexible {
		return dst
	}
	if v.TopicID == (metadata.TopicID{}) {
		return append(dst, 0)
	}
	return appendTag(append(dst, 1), 0, v.TopicID[:])
}

func readOffsetCommitValue(r *reader, version int16) *OffsetCommitValue {
	v := &OffsetCommitValue{Version: version, LeaderEpoch: -1, ExpireTimestamp: -1}
	v.Offset = r.int64()
	if version >= 3 {
		v.LeaderEpoch = r.int32()
	}
	v.Metadata = r.string(version >= 4)
	v.CommitTimestamp = r.int64()
	if version == 1 {
		v.ExpireTimestamp = r.int64()
	}
	if version >= 4 {
		r.tags(func(tag uint32) bool {
			if tag == 0 {
				v.TopicID = r.uuid()
			}
			return tag == 0
		})
	}
	return v
}

// GroupMetadataValue is a generation of a classic group, versions 0 to 4. Kafka 4.4 writes 3.
type GroupMetadataValue struct {
	Version               int16
	ProtocolType          string
	GenerationID          int32
	Protocol              *string
	Leader                *string
	CurrentStateTimestamp int64 // version 2 and later; -1 when unknown
	Members               []GroupMetadataMember
}

// GroupMetadataMember is a member in a GroupMetadataValue.
type GroupMetadataMember struct {
	MemberID         string
	GroupInstanceID  *string // version 3 and later
	ClientID         string
	ClientHost       string
	RebalanceTimeout int32 // version 1 and later; -1 when unknown
	SessionTimeout   int32
	Subscription     []byte
	Assignment       []byte
}

// AppendTo appends the version and the fields as Kafka writes them.
func (v *GroupMetadataValue) AppendTo(dst []byte) []byte {
	flexible := v.Version >= 4
	dst = appendInt16(dst, v.Version)
	dst = appendString(dst, v.ProtocolType, flexible)
	dst = appendInt32(dst, v.GenerationID)
	dst = appendNullableString(dst, v.Protocol, flexible)
	dst = appendNullableString(dst, v.Leader, flexible)
	if v.Version >= 2 {
		dst = appendInt64(dst, v.CurrentStateTimestamp)
	}
	dst = appendCount(dst, len(v.Members), flexible)
	for i := range v.Members {
		m := &v.Members[i]
		dst = appendString(dst, m.MemberID, flexible)
		if v.Version >= 3 {
			dst = appendNullableString(dst, m.GroupInstanceID, flexible)
		}
		dst = appendString(dst, m.ClientID, flexible)
		dst = appendString(dst, m.ClientHost, flexible)
		if v.Version >= 1 {
			dst = appendInt32(dst, m.RebalanceTimeout)
		}
		dst = appendInt32(dst, m.SessionTimeout)
		dst = appendBytes(dst, m.Subscription, flexible)
		dst = appendBytes(dst, m.Assignment, flexible)
		if flexible {
			dst = append(dst, 0)
		}
	}
	if flexible {
		dst = append(dst, 0)
	}
	return dst
}

func readGroupMetadataValue(r *reader, version int16) *GroupMetadataValue {
	flexible := version >= 4
	v := &GroupMetadataValue{Version: version, CurrentStateTimestamp: -1}
	v.ProtocolType = r.string(flexible)
	v.GenerationID = r.int32()
	v.Protocol = r.nullableString(flexible)
	v.Leader = r.nullableString(flexible)
	if version >= 2 {
		v.CurrentStateTimestamp = r.int64()
	}
	itemSize := 18 // three strings, one int32, two byte fields of version 0
	if flexible {
		itemSize = 15
	}
	n := r.count(flexible, itemSize)
	v.Members = make([]GroupMetadataMember, 0, n)
	for range n {
		m := GroupMetadataMember{RebalanceTimeout: -1}
		m.MemberID = r.string(flexible)
		if version >= 3 {
			m.GroupInstanceID = r.nullableString(flexible)
		}
		m.ClientID = r.string(flexible)
		m.ClientHost = r.string(flexible)
		if version >= 1 {
			m.RebalanceTimeout = r.int32()
		}
		m.SessionTimeout = r.int32()
		m.Subscription = r.bytes(flexible)
		m.Assignment = r.bytes(flexible)
		if flexible {
			r.tags(nil)
		}
		v.Members = append(v.Members, m)
	}
	if flexible {
		r.tags(nil)
	}
	return v
}

// ConsumerGroupMetadataValue is the epoch of a consumer group (KIP-848), version 0.
type ConsumerGroupMetadataValue struct {
	Epoch        int32
	MetadataHash int64 // KIP-1101, a tag: left out when 0
}

// AppendTo appends the version and the fields as Kafka writes them.
func (v *ConsumerGroupMetadataValue) AppendTo(dst []byte) []byte {
	dst = appendInt16(dst, 0)
	dst = appendInt32(dst, v.Epoch)
	return appendInt64Tag(dst, v.MetadataHash)
}

// appendInt64Tag appends the tagged fields of a struct whose only tag is number 0, an int64 that is 0 by default.
func appendInt64Tag(dst []byte, v int64) []byte {
	if v == 0 {
		return append(dst, 0)
	}
	return appendInt64(append(dst, 1, 0, 8), v)
}

func (r *reader) int64Tag() (v int64) {
	r.tags(func(tag uint32) bool {
		if tag == 0 {
			v = r.int64()
		}
		return tag == 0
	})
	return v
}

func readConsumerGroupMetadataValue(r *reader) *ConsumerGroupMetadataValue {
	v := &ConsumerGroupMetadataValue{Epoch: r.int32()}
	v.MetadataHash = r.int64Tag()
	return v
}

// ConsumerGroupPartitionMetadataValue is the topics of a consumer group as Kafka before 4.1 kept them, version 0. Later
// ones only delete it.
type ConsumerGroupPartitionMetadataValue struct {
	Topics []SubscribedTopic
}

// SubscribedTopic is a topic in a ConsumerGroupPartitionMetadataValue.
type SubscribedTopic struct {
	TopicID       metadata.TopicID
	TopicName     string
	NumPartitions int32
	Racks         []PartitionRacks
}

// PartitionRacks are the racks of a partition's replicas in a SubscribedTopic.
type PartitionRacks struct {
	Partition int32
	Racks     []string
}

// AppendTo appends the version and the fields as Kafka writes them.
func (v *ConsumerGroupPartitionMetadataValue) AppendTo(dst []byte) []byte {
	dst = appendInt16(dst, 0)
	dst = appendCount(dst, len(v.Topics), true)
	for _, t := range v.Topics {
		dst = append(dst, t.TopicID[:]...)
		dst = appendString(dst, t.TopicName, true)
		dst = appendInt32(dst, t.NumPartitions)
		dst = appendCount(dst, len(t.Racks), true)
		for _, p := range t.Racks {
			dst = appendInt32(dst, p.Partition)
			dst = appendStrings(dst, p.Racks)
			dst = append(dst, 0)
		}
		dst = append(dst, 0)
	}
	return append(dst, 0)
}

func readPartitionMetadataValue(r *reader) *ConsumerGroupPartitionMetadataValue {
	n := r.count(true, 16+1+4+1+1)
	v := &ConsumerGroupPartitionMetadataValue{Topics: make([]SubscribedTopic, 0, n)}
	for range n {
		t := SubscribedTopic{TopicID: r.uuid(), TopicName: r.string(true), NumPartitions: r.int32()}
		racks := r.count(true, 4+1+1)
		t.Racks = make([]PartitionRacks, 0, racks)
		for range racks {
			t.Racks = append(t.Racks, PartitionRacks{Partition: r.int32(), Racks: r.strings()})
			r.tags(nil)
		}
		r.tags(nil)
		v.Topics = append(v.Topics, t)
	}
	r.tags(nil)
	return v
}

// ConsumerGroupMemberMetadataValue is what a member of a consumer group said of itself, version 0.
type ConsumerGroupMemberMetadataValue struct {
	InstanceID           *string
	RackID               *string
	ClientID             string
	ClientHost           string
	SubscribedTopicNames []string
	SubscribedTopicRegex *string
	RebalanceTimeoutMs   int32
	ServerAssignor       *string
	Classic              *ClassicMemberMetadata // a tag: set for members that speak the classic protocol
}

// ClassicMemberMetadata is the JoinGroup of a classic member of a consumer group.
type ClassicMemberMetadata struct {
	SessionTimeoutMs   int32
	SupportedProtocols []ClassicProtocol
}

// ClassicProtocol is a protocol (assignor) that a classic member supports, with its metadata (subscription).
type ClassicProtocol struct {
	Name     string
	Metadata []byte
}

// AppendTo appends the version and the fields as Kafka writes them.
func (v *ConsumerGroupMemberMetadataValue) AppendTo(dst []byte) []byte {
	dst = appendInt16(dst, 0)
	dst = appendNullableString(dst, v.InstanceID, true)
	dst = appendNullableString(dst, v.RackID, true)
	dst = appendString(dst, v.ClientID, true)
	dst = appendString(dst, v.ClientHost, true)
	dst = appendStrings(dst, v.SubscribedTopicNames)
	dst = appendNullableString(dst, v.SubscribedTopicRegex, true)
	dst = appendInt32(dst, v.RebalanceTimeoutMs)
	dst = appendNullableString(dst, v.ServerAssignor, true)
	if v.Classic == nil {
		return append(dst, 0)
	}
	field := []byte{1} // not null
	field = appendInt32(field, v.Classic.SessionTimeoutMs)
	field = appendCount(field, len(v.Classic.SupportedProtocols), true)
	for _, p := range v.Classic.SupportedProtocols {
		field = appendString(field, p.Name, true)
		field = appendBytes(field, p.Metadata, true)
		field = append(field, 0)
	}
	field = append(field, 0)
	return appendTag(append(dst, 1), 0, field)
}

func readMemberMetadataValue(r *reader) *ConsumerGroupMemberMetadataValue {
	v := &ConsumerGroupMemberMetadataValue{
		InstanceID:           r.nullableString(true),
		RackID:               r.nullableString(true),
		ClientID:             r.string(true),
		ClientHost:           r.string(true),
		SubscribedTopicNames: r.strings(),
		SubscribedTopicRegex: r.nullableString(true),
		RebalanceTimeoutMs:   r.int32(),
		ServerAssignor:       r.nullableString(true),
	}
	r.tags(func(tag uint32) bool {
		if tag == 0 {
			v.Classic = r.classicMember()
		}
		return tag == 0
	})
	return v
}

func (r *reader) classicMember() *ClassicMemberMetadata {
	if r.uvarint() == 0 { // null
		return nil
	}
	c := &ClassicMemberMetadata{SessionTimeoutMs: r.int32()}
	n := r.count(true, 3)
	c.SupportedProtocols = make([]ClassicProtocol, 0, n)
	for range n {
		c.SupportedProtocols = append(c.SupportedProtocols, ClassicProtocol{Name: r.string(true), Metadata: r.bytes(true)})
		r.tags(nil)
	}
	r.tags(nil)
	return c
}

// TargetAssignmentMetadataValue says for which group epoch the target assignment is, version 0.
type TargetAssignmentMetadataValue struct {
	AssignmentEpoch     int32
	AssignmentTimestamp int64 // KIP-1263, a tag: left out when 0
}

// AppendTo appends the version and the fields as Kafka writes them.
func (v *TargetAssignmentMetadataValue) AppendTo(dst []byte) []byte {
	dst = appendInt16(dst, 0)
	dst = appendInt32(dst, v.AssignmentEpoch)
	return appendInt64Tag(dst, v.AssignmentTimestamp)
}

func readTargetAssignmentMetadataValue(r *reader) *TargetAssignmentMetadataValue {
	v := &TargetAssignmentMetadataValue{AssignmentEpoch: r.int32()}
	v.AssignmentTimestamp = r.int64Tag()
	return v
}

// TopicPartitions are partitions of one topic in an assignment.
type TopicPartitions struct {
	TopicID    metadata.TopicID
	Partitions []int32
	// AssignmentEpochs has, for each of Partitions, the epoch at which the member got it; nil where not kept. A tag of
	// CurrentMemberAssignmentValue, left out when empty; absent in TargetAssignmentMemberValue.
	AssignmentEpochs []int32
}

// TargetAssignmentMemberValue is what a member is meant to own, version 0.
type TargetAssignmentMemberValue struct {
	Partitions []TopicPartitions
}

// AppendTo appends the version and the fields as Kafka writes them.
func (v *TargetAssignmentMemberValue) AppendTo(dst []byte) []byte {
	dst = appendInt16(dst, 0)
	dst = appendTopicPartitions(dst, v.Partitions, false)
	return append(dst, 0)
}

func readTargetAssignmentMemberValue(r *reader) *TargetAssignmentMemberValue {
	v := &TargetAssignmentMemberValue{Partitions: r.topicPartitions(false)}
	r.tags(nil)
	return v
}

// CurrentMemberAssignmentValue is what a member owns and at which epoch, version 0. State is 0 stable, 1 has partitions
// to revoke, 2 waits for partitions that others have not released.
type CurrentMemberAssignmentValue struct {
	MemberEpoch                 int32
	PreviousMemberEpoch         int32
	State                       int8
	AssignedPartitions          []TopicPartitions
	PartitionsPendingRevocation []TopicPartitions
}

// AppendTo appends the version and the fields as Kafka writes them.
func (v *CurrentMemberAssignmentValue) AppendTo(dst []byte) []byte {
	dst = appendInt16(dst, 0)
	dst = appendInt32(dst, v.MemberEpoch)
	dst = appendInt32(dst, v.PreviousMemberEpoch)
	dst = append(dst, byte(v.State))
	dst = appendTopicPartitions(dst, v.AssignedPartitions, true)
	dst = appendTopicPartitions(dst, v.PartitionsPendingRevocation, true)
	return append(dst, 0)
}

func readCurrentMemberAssignmentValue(r *reader) *CurrentMemberAssignmentValue {
	v := &CurrentMemberAssignmentValue{
		MemberEpoch:                 r.int32(),
		PreviousMemberEpoch:         r.int32(),
		State:                       r.int8(),
		AssignedPartitions:          r.topicPartitions(true),
		PartitionsPendingRevocation: r.topicPartitions(true),
	}
	r.tags(nil)
	return v
}

func appendTopicPartitions(dst []byte, list []TopicPartitions, withEpochs bool) []byte {
	dst = appendCount(dst, len(list), true)
	for _, t := range list {
		dst = append(dst, t.TopicID[:]...)
		dst = appendInt32s(dst, t.Partitions)
		if !withEpochs || len(t.AssignmentEpochs) == 0 {
			dst = append(dst, 0)
			continue
		}
		dst = appendTag(append(dst, 1), 0, appendInt32s(nil, t.AssignmentEpochs))
	}
	return dst
}

func (r *reader) topicPartitions(withEpochs bool) []TopicPartitions {
	n := r.count(true, 16+1+1)
	list := make([]TopicPartitions, 0, n)
	for range n {
		t := TopicPartitions{TopicID: r.uuid(), Partitions: r.int32s()}
		r.tags(func(tag uint32) bool {
			if withEpochs && tag == 0 {
				t.AssignmentEpochs = r.optionalInt32s()
			}
			return withEpochs && tag == 0
		})
		list = append(list, t)
	}
	return list
}

// optionalInt32s reads an array that means the same when it is null and when it is empty: nil.
func (r *reader) optionalInt32s() []int32 {
	if len(r.b) > 0 && r.b[0] <= 1 {
		r.take(1)
		return nil
	}
	return r.int32s()
}

// RegularExpressionValue is the topics that a group's regular expression matched, version 0.
type RegularExpressionValue struct {
	Topics    []string
	Version   int64 // of the metadata image that it was matched against
	Timestamp int64
}

// AppendTo appends the version and the fields as Kafka writes them.
func (v *RegularExpressionValue) AppendTo(dst []byte) []byte {
	dst = appendInt16(dst, 0)
	dst = appendStrings(dst, v.Topics)
	dst = appendInt64(dst, v.Version)
	dst = appendInt64(dst, v.Timestamp)
	return append(dst, 0)
}

func readRegularExpressionValue(r *reader) *RegularExpressionValue {
	v := &RegularExpressionValue{Topics: r.strings(), Version: r.int64(), Timestamp: r.int64()}
	r.tags(nil)
	return v
}

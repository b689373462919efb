package group

import (
	"bytes"
	"encoding/hex"
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/weir-broker/weir/broker/coordinator"
	"github.com/weir-broker/weir/broker/metadata"
)

type golden struct {
	name       string
	key, value []byte // value nil: a tombstone
}

// goldens are records as Kafka 4.4.0's GroupCoordinatorRecordSerde wrote them: name, key, value in hex.
func goldens(t testing.TB) []golden {
	t.Helper()
	text, err := os.ReadFile("testdata/records.golden")
	if err != nil {
		t.Fatal(err)
	}
	var list []golden
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) != 3 {
			t.Fatalf("golden line %q", line)
		}
		g := golden{name: f[0]}
		if g.key, err = hex.DecodeString(f[1]); err != nil {
			t.Fatal(err)
		}
		if f[2] != "null" {
			if g.value, err = hex.DecodeString(f[2]); err != nil {
				t.Fatal(err)
			}
		}
		list = append(list, g)
	}
	return list
}

func ptr[T any](v T) *T { return &v }

var (
	id1 = metadata.TopicID{0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x10}
	id2 = metadata.TopicID{0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 0x19, 0x1a, 0x1b, 0x1c, 0x1d, 0x1e, 0x1f, 0x20}
)

const (
	goldenTime   = 1700000000000
	goldenExpiry = 1700000100000
)

func goldenValues() map[string]Value {
	offset := func(version int16) *OffsetCommitValue {
		return &OffsetCommitValue{Version: version, Offset: 1234567890123, LeaderEpoch: -1, Metadata: "méta", CommitTimestamp: goldenTime, ExpireTimestamp: -1}
	}
	generation := func(version int16) *GroupMetadataValue {
		v := &GroupMetadataValue{
			Version: version, ProtocolType: "consumer", GenerationID: 12, Protocol: ptr("range"), Leader: ptr("m-1"), CurrentStateTimestamp: -1,
			Members: []GroupMetadataMember{
				{MemberID: "m-1", ClientID: "c", ClientHost: "/127.0.0.1", RebalanceTimeout: -1, SessionTimeout: 45000, Subscription: []byte{1, 2, 3}, Assignment: []byte{4, 5}},
				{MemberID: "i-2", ClientHost: "/::1", RebalanceTimeout: -1, SessionTimeout: 6000, Subscription: []byte{}, Assignment: []byte{}},
			},
		}
		if version >= 1 {
			v.Members[0].RebalanceTimeout, v.Members[1].RebalanceTimeout = 300000, 60000
		}
		if version >= 2 {
			v.CurrentStateTimestamp = goldenTime
		}
		if version >= 3 {
			v.Members[1].GroupInstanceID = ptr("i")
		}
		return v
	}
	v1, v3, v4 := offset(1), offset(3), offset(4)
	v1.ExpireTimestamp = goldenExpiry
	v3.LeaderEpoch, v4.LeaderEpoch, v4.TopicID = 7, 7, id1
	return map[string]Value{
		"offset-commit-v0":       offset(0),
		"offset-commit-v1":       v1,
		"offset-commit-v2":       offset(2),
		"offset-commit-v3":       v3,
		"offset-commit-v4":       v4,
		"offset-commit-v4-no-id": &OffsetCommitValue{Version: 4, Offset: 5, LeaderEpoch: -1, CommitTimestamp: 9, ExpireTimestamp: -1},
		"legacy-offset-v0":       &OffsetCommitValue{Offset: 8, LeaderEpoch: -1, Metadata: "m", CommitTimestamp: 9, ExpireTimestamp: -1},
		"group-metadata-v0":      generation(0),
		"group-metadata-v1":      generation(1),
		"group-metadata-v2":      generation(2),
		"group-metadata-v3":      generation(3),
		"group-metadata-v4":      generation(4),
		"group-metadata-empty":   &GroupMetadataValue{Version: 3, CurrentStateTimestamp: 5, Members: []GroupMetadataMember{}},

		"consumer-group-metadata":         &ConsumerGroupMetadataValue{Epoch: 4, MetadataHash: -5},
		"consumer-group-metadata-no-hash": &ConsumerGroupMetadataValue{Epoch: 4},
		"partition-metadata": &ConsumerGroupPartitionMetadataValue{Topics: []SubscribedTopic{{
			TopicID: id1, TopicName: "orders", NumPartitions: 2, Racks: []PartitionRacks{{Partition: 1, Racks: []string{"a", "b"}}},
		}}},
		"member-metadata": &ConsumerGroupMemberMetadataValue{
			InstanceID: ptr("i"), ClientID: "c", ClientHost: "/127.0.0.1", SubscribedTopicNames: []string{"a", "b"}, SubscribedTopicRegex: ptr("x.*"), RebalanceTimeoutMs: 300000,
		},
		"member-metadata-classic": &ConsumerGroupMemberMetadataValue{
			RackID: ptr("r1"), ClientID: "c", ClientHost: "/127.0.0.1", SubscribedTopicNames: []string{"a"}, RebalanceTimeoutMs: -1, ServerAssignor: ptr("uniform"),
			Classic: &ClassicMemberMetadata{SessionTimeoutMs: 45000, SupportedProtocols: []ClassicProtocol{{Name: "range", Metadata: []byte{0, 3, 1}}, {Name: "sticky", Metadata: []byte{}}}},
		},
		"target-metadata":         &TargetAssignmentMetadataValue{AssignmentEpoch: 9, AssignmentTimestamp: goldenTime},
		"target-metadata-no-time": &TargetAssignmentMetadataValue{AssignmentEpoch: 9},
		"target-member": &TargetAssignmentMemberValue{Partitions: []TopicPartitions{
			{TopicID: id1, Partitions: []int32{0, 1, 300}}, {TopicID: id2, Partitions: []int32{}},
		}},
		"current-member": &CurrentMemberAssignmentValue{
			MemberEpoch: 9, PreviousMemberEpoch: 8, State: 1,
			AssignedPartitions:          []TopicPartitions{{TopicID: id1, Partitions: []int32{0, 1}, AssignmentEpochs: []int32{9, 8}}},
			PartitionsPendingRevocation: []TopicPartitions{{TopicID: id2, Partitions: []int32{5}}},
		},
		"regex": &RegularExpressionValue{Topics: []string{"xa", "xb"}, Version: 77, Timestamp: goldenTime},
	}
}

func TestRecordsAreKafkasByteForByte(t *testing.T) {
	want := goldenValues()
	for _, g := range goldens(t) {
		k, err := ParseKey(g.key)
		if err != nil {
			t.Fatalf("%s: %v", g.name, err)
		}
		if got := k.AppendTo(nil); !bytes.Equal(got, g.key) {
			t.Errorf("%s: key %x, Kafka's is %x", g.name, got, g.key)
		}
		if k.Group != "g" {
			t.Errorf("%s: key %+v", g.name, k)
		}
		if g.value == nil {
			continue
		}
		v, err := ParseValue(k.Type, g.value)
		if err != nil {
			t.Fatalf("%s: %v", g.name, err)
		}
		if !reflect.DeepEqual(v, want[g.name]) {
			t.Errorf("%s: read %+v, want %+v", g.name, v, want[g.name])
		}
		if got := want[g.name].AppendTo(nil); !bytes.Equal(got, g.value) {
			t.Errorf("%s: value %x, Kafka's is %x", g.name, got, g.value)
		}
		delete(want, g.name)
	}
	for name := range want {
		t.Errorf("no golden record %s", name)
	}
}

func TestTruncatedRecordsAreErrorsNotPanics(t *testing.T) {
	for _, g := range goldens(t) {
		k, err := ParseKey(g.key)
		if err != nil {
			t.Fatal(err)
		}
		for n := range g.key {
			if _, err := ParseKey(g.key[:n]); !errors.Is(err, ErrMalformed) {
				t.Errorf("%s: key cut to %d bytes: %v", g.name, n, err)
			}
		}
		for n := range g.value {
			if _, err := ParseValue(k.Type, g.value[:n]); !errors.Is(err, ErrMalformed) {
				t.Errorf("%s: value cut to %d bytes: %v", g.name, n, err)
			}
		}
	}
}

func TestUnknownTypesAndVersionsAreTold(t *testing.T) {
	for _, typ := range []int16{-1, 9, 10, 15, 17, 18, 23, 24, 1000} {
		key := appendString(appendInt16(nil, typ), "g", false)
		if k, err := ParseKey(key); !errors.Is(err, coordinator.ErrUnknownType) || k.Type != RecordType(typ) {
			t.Errorf("type %d: %v, %v", typ, k, err)
		}
	}
	for typ, highest := range map[RecordType]int16{
		0: 0, 1: 4, 2: 4, 3: 0, 4: 0, 5: 0, 6: 0, 7: 0, 8: 0, 16: 0,
	} {
		for _, version := range []int16{-1, highest + 1} {
			if _, err := ParseValue(typ, appendInt16(nil, version)); !errors.Is(err, coordinator.ErrUnknownVersion) {
				t.Errorf("type %d version %d: %v", typ, version, err)
			}
		}
	}
}

func TestHugeCountsAreRefusedBeforeAnythingIsAllocated(t *testing.T) {
	for typ, value := range map[RecordType][]byte{
		GroupMetadataType:           append(appendString(appendInt16(nil, 0), "consumer", false), 0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff),
		TargetAssignmentMemberType:  append(appendInt16(nil, 0), 0xff, 0xff, 0xff, 0xff, 0x0f),
		CurrentMemberAssignmentType: append(appendInt16(nil, 0), 0, 0, 0, 1, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0x07),
		RegularExpressionType:       append(appendInt16(nil, 0), 0x80, 0x80, 0x80, 0x80, 0x08),
	} {
		allocs := testing.AllocsPerRun(10, func() {
			if _, err := ParseValue(typ, value); !errors.Is(err, ErrMalformed) {
				t.Errorf("type %d: %v", typ, err)
			}
		})
		if allocs > 20 {
			t.Errorf("type %d: %v allocations", typ, allocs)
		}
	}
}

func FuzzRecords(f *testing.F) {
	for _, g := range goldens(f) {
		f.Add(g.key, g.value)
	}
	f.Fuzz(func(t *testing.T, key, value []byte) {
		k, err := ParseKey(key)
		if err != nil {
			return
		}
		if again, err := ParseKey(k.AppendTo(nil)); err != nil || again != k {
			t.Fatalf("key %+v reads back as %+v, %v", k, again, err)
		}
		v, err := ParseValue(k.Type, value)
		if err != nil {
			return
		}
		again, err := ParseValue(k.Type, v.AppendTo(nil))
		if err != nil || !reflect.DeepEqual(again, v) {
			t.Fatalf("value %+v reads back as %+v, %v", v, again, err)
		}
	})
}

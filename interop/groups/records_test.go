//go:build interop

package groups_test

import (
	"bytes"
	"context"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/weir-broker/weir/broker/group"
	"github.com/weir-broker/weir/interop/oracle"
)

// TestRecordsRoundTripThroughKafkasSerde has Kafka's GroupCoordinatorRecordSerde read random records that we wrote and
// write them again: the same bytes, and we read what we meant. Then the same with damaged bytes: what Kafka can read we
// can, and the other way round.
func TestRecordsRoundTripThroughKafkasSerde(t *testing.T) {
	or, err := oracle.Start(oracle.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer or.Close()
	n := envInt("WEIR_GROUPS_RECORDS", 20000)
	r := rand.New(rand.NewPCG(*seed, 7))
	ctx := context.Background()
	broken := 0
	for i := range n {
		k, v := randomRecord(r)
		rec := oracle.GroupRecord{Key: k.AppendTo(nil)}
		if v != nil {
			rec.Value = v.AppendTo(nil)
		}
		got, err := or.GroupRecord(ctx, rec)
		if err != nil {
			t.Fatal(err)
		}
		if got.Class != "" || !bytes.Equal(got.Key, rec.Key) || !bytes.Equal(got.Value, rec.Value) {
			t.Fatalf("record %d, %+v %+v:\nours    %x %x\nKafka's %x %x %s %s", i, k, v, rec.Key, rec.Value, got.Key, got.Value, got.Class, got.Message)
		}
		if v == nil {
			continue
		}
		again, err := group.ParseValue(k.Type, rec.Value)
		if err != nil || !reflect.DeepEqual(again, v) {
			t.Fatalf("record %d: %+v reads back as %+v, %v", i, v, again, err)
		}
		// Lengths, versions and counts are most of a short record.
		damaged := oracle.GroupRecord{Key: rec.Key, Value: bytes.Clone(rec.Value)}
		for range 1 + r.IntN(2) {
			if r.IntN(3) == 0 {
				damaged.Value = damaged.Value[:r.IntN(len(damaged.Value)+1)]
			} else if len(damaged.Value) > 0 {
				damaged.Value[r.IntN(len(damaged.Value))] = byte(r.IntN(256) >> r.IntN(8))
			}
		}
		got, err = or.GroupRecord(ctx, damaged)
		if err != nil {
			t.Fatalf("record %d, type %d, damaged %x: %v", i, k.Type, damaged.Value, err)
		}
		_, err = group.ParseValue(k.Type, damaged.Value)
		if (err != nil) != (got.Class != "") {
			t.Fatalf("record %d, type %d, damaged %x: ours %v, Kafka's %q %s", i, k.Type, damaged.Value, err, got.Class, got.Message)
		}
		if err != nil {
			broken++
		}
	}
	t.Logf("%d records; of the damaged ones %d could not be read, by either", n, broken)
}

func randomString(r *rand.Rand) string {
	return []string{"", "g", "orders", "müller", "𝄞", string(bytes.Repeat([]byte("x"), 130))}[r.IntN(6)]
}

func maybe(r *rand.Rand) *string {
	if r.IntN(3) == 0 {
		return nil
	}
	s := randomString(r)
	return &s
}

func randomBytes(r *rand.Rand) []byte {
	b := make([]byte, r.IntN(5)*r.IntN(60))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

func list[T any](r *rand.Rand, one func() T) []T {
	l := make([]T, r.IntN(4))
	for i := range l {
		l[i] = one()
	}
	return l
}

func randomID(r *rand.Rand) (id [16]byte) {
	if r.IntN(4) > 0 {
		for i := range id {
			id[i] = byte(r.Uint32())
		}
	}
	return id
}

func randomRecord(r *rand.Rand) (group.Key, group.Value) {
	types := []group.RecordType{0, 1, 1, 1, 2, 2, 2, 3, 4, 5, 5, 6, 7, 8, 8, 16}
	k := group.Key{Type: types[r.IntN(len(types))], Group: randomString(r)}
	switch k.Type {
	case group.LegacyOffsetCommitType, group.OffsetCommitType:
		k.Topic, k.Partition = randomString(r), r.Int32()
	case group.ConsumerGroupMemberMetadataType, group.TargetAssignmentMemberType, group.CurrentMemberAssignmentType:
		k.Member = randomString(r)
	case group.RegularExpressionType:
		k.Regex = randomString(r)
	}
	if r.IntN(10) == 0 {
		return k, nil
	}
	str := func() string { return randomString(r) }
	ints := func() []int32 { return list(r, r.Int32) }
	partitions := func(epochs bool) []group.TopicPartitions {
		return list(r, func() group.TopicPartitions {
			tp := group.TopicPartitions{TopicID: randomID(r), Partitions: ints()}
			if epochs && r.IntN(2) == 0 {
				if tp.AssignmentEpochs = ints(); len(tp.AssignmentEpochs) == 0 {
					tp.AssignmentEpochs = nil
				}
			}
			return tp
		})
	}
	hash := int64(r.Uint64()) * int64(r.IntN(2))
	switch k.Type {
	case group.LegacyOffsetCommitType:
		return k, &group.OffsetCommitValue{Offset: int64(r.Uint64()), LeaderEpoch: -1, ExpireTimestamp: -1, Metadata: str(), CommitTimestamp: int64(r.Uint64())}
	case group.OffsetCommitType:
		v := &group.OffsetCommitValue{Version: int16(r.IntN(5)), Offset: int64(r.Uint64()), LeaderEpoch: -1, ExpireTimestamp: -1, Metadata: str(), CommitTimestamp: int64(r.Uint64())}
		if v.Version >= 3 {
			v.LeaderEpoch = r.Int32()
		}
		if v.Version == 1 {
			v.ExpireTimestamp = int64(r.Uint64())
		}
		if v.Version == 4 {
			v.TopicID = randomID(r)
		}
		return k, v
	case group.GroupMetadataType:
		return k, randomGeneration(r)
	case group.ConsumerGroupMetadataType:
		return k, &group.ConsumerGroupMetadataValue{Epoch: r.Int32(), MetadataHash: hash}
	case group.ConsumerGroupPartitionMetadataType:
		return k, &group.ConsumerGroupPartitionMetadataValue{Topics: list(r, func() group.SubscribedTopic {
			return group.SubscribedTopic{TopicID: randomID(r), TopicName: str(), NumPartitions: r.Int32(), Racks: list(r, func() group.PartitionRacks {
				return group.PartitionRacks{Partition: r.Int32(), Racks: list(r, str)}
			})}
		})}
	case group.ConsumerGroupMemberMetadataType:
		v := &group.ConsumerGroupMemberMetadataValue{
			InstanceID: maybe(r), RackID: maybe(r), ClientID: str(), ClientHost: str(), SubscribedTopicNames: list(r, str),
			SubscribedTopicRegex: maybe(r), RebalanceTimeoutMs: r.Int32(), ServerAssignor: maybe(r),
		}
		if r.IntN(2) == 0 {
			v.Classic = &group.ClassicMemberMetadata{SessionTimeoutMs: r.Int32(), SupportedProtocols: list(r, func() group.ClassicProtocol {
				return group.ClassicProtocol{Name: str(), Metadata: randomBytes(r)}
			})}
		}
		return k, v
	case group.TargetAssignmentMetadataType:
		return k, &group.TargetAssignmentMetadataValue{AssignmentEpoch: r.Int32(), AssignmentTimestamp: hash}
	case group.TargetAssignmentMemberType:
		return k, &group.TargetAssignmentMemberValue{Partitions: partitions(false)}
	case group.CurrentMemberAssignmentType:
		return k, &group.CurrentMemberAssignmentValue{
			MemberEpoch: r.Int32(), PreviousMemberEpoch: r.Int32(), State: int8(r.IntN(3)), AssignedPartitions: partitions(true), PartitionsPendingRevocation: partitions(true),
		}
	default:
		return k, &group.RegularExpressionValue{Topics: list(r, str), Version: int64(r.Uint64()), Timestamp: int64(r.Uint64())}
	}
}

func randomGeneration(r *rand.Rand) *group.GroupMetadataValue {
	v := &group.GroupMetadataValue{
		Version: int16(r.IntN(5)), ProtocolType: randomString(r), GenerationID: r.Int32(), Protocol: maybe(r), Leader: maybe(r), CurrentStateTimestamp: -1,
	}
	if v.Version >= 2 {
		v.CurrentStateTimestamp = int64(r.Uint64())
	}
	v.Members = list(r, func() group.GroupMetadataMember {
		m := group.GroupMetadataMember{
			MemberID: randomString(r), ClientID: randomString(r), ClientHost: randomString(r), RebalanceTimeout: -1, SessionTimeout: r.Int32(),
			Subscription: randomBytes(r), Assignment: randomBytes(r),
		}
		if v.Version >= 1 {
			m.RebalanceTimeout = r.Int32()
		}
		if v.Version >= 3 {
			m.GroupInstanceID = maybe(r)
		}
		return m
	})
	return v
}

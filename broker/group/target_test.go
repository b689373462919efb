package group_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/weir-broker/weir/broker/group"
	"github.com/weir-broker/weir/broker/metadata"
	"github.com/weir-broker/weir/broker/policy"
)

// targetTopic is a topic of a test's cluster; its id begins with rank.
type targetTopic struct {
	name       string
	rank       byte
	partitions int
}

func (t targetTopic) id() metadata.TopicID { return metadata.TopicID{t.rank} }

// targetImage is a cluster of three brokers in the racks r0, r1 and none.
func targetImage(t rapid.TB, topics ...targetTopic) *metadata.Image {
	records := []metadata.Record{&metadata.TermStart{Term: 1}}
	for i, rack := range []string{"r0", "r1", ""} {
		records = append(records, &metadata.RegisterBroker{Broker: metadata.Broker{ID: metadata.BrokerID(i), Rack: rack}})
	}
	for _, topic := range topics {
		records = append(records, &metadata.NewTopic{ID: topic.id(), Name: topic.name})
		for p := range topic.partitions {
			leader := metadata.BrokerID(p % 3)
			replicas := []metadata.BrokerID{leader, (leader + 1) % 3}
			records = append(records, &metadata.NewPartition{TopicID: topic.id(), Index: int32(p), Partition: metadata.Partition{
				Replicas: replicas, ISR: replicas, Leader: leader, Directories: make([]metadata.DirID, len(replicas)),
			}})
		}
	}
	img, err := metadata.Apply(metadata.NewImage(), 1, metadata.Entry{Term: 1, Records: records})
	if err != nil {
		t.Fatal(err)
	}
	return img
}

func held(topic targetTopic, partitions ...int32) group.TopicPartitions {
	return group.TopicPartitions{TopicID: topic.id(), Partitions: partitions}
}

func compute(t rapid.TB, job *group.TargetJob, a policy.Assignor) group.Target {
	facts := job.Facts()
	if err := facts.Validate(); err != nil {
		t.Fatal(err)
	}
	return job.Compute(context.Background(), a, facts)
}

// u comes before t: an id whose first bit is set is negative to Kafka.
var (
	topicT = targetTopic{"t", 0x01, 3}
	topicU = targetTopic{"u", 0x81, 2}
)

func TestTargetNamesOnlyTheMembersItChanges(t *testing.T) {
	names := []string{"t", "u"}
	job := &group.TargetJob{Group: "g", Epoch: 7, Image: targetImage(t, topicT, topicU), Members: []group.TargetMember{
		{ID: "c", Named: names},
		{ID: "a", Named: names, HasTarget: true, Target: []group.TopicPartitions{held(topicT, 2)}},
		{ID: "b", Named: names, HasTarget: true, Target: []group.TopicPartitions{held(topicT, 0, 1), held(topicU, 1)}},
	}}
	target := compute(t, job, policy.UniformAssignor())
	want := group.Target{Group: "g", Epoch: 7, Changed: []group.MemberTarget{
		{ID: "b", Partitions: []group.TopicPartitions{held(topicU, 1), held(topicT, 0)}},
		{ID: "c", Partitions: []group.TopicPartitions{held(topicU, 0), held(topicT, 1)}},
	}}
	if !reflect.DeepEqual(target, want) {
		t.Errorf("got  %+v\nwant %+v", target, want)
	}

	var keys []group.Key
	var values []group.Value
	target.Records(time.UnixMilli(42), func(id string) bool { return id != "b" }, func(k group.Key, v group.Value) {
		keys, values = append(keys, k), append(values, v)
	})
	wantKeys := []group.Key{
		{Type: group.TargetAssignmentMemberType, Group: "g", Member: "c"}, {Type: group.TargetAssignmentMetadataType, Group: "g"},
	}
	wantValues := []group.Value{
		&group.TargetAssignmentMemberValue{Partitions: want.Changed[1].Partitions},
		&group.TargetAssignmentMetadataValue{AssignmentEpoch: 7, AssignmentTimestamp: 42},
	}
	if !reflect.DeepEqual(keys, wantKeys) || !reflect.DeepEqual(values, wantValues) {
		t.Errorf("records: %+v %+v", keys, values)
	}
}

func TestTargetOfAMemberWithoutRecordIsAlwaysWritten(t *testing.T) {
	job := &group.TargetJob{Image: targetImage(t), Members: []group.TargetMember{{ID: "a"}, {ID: "b", HasTarget: true}}}
	if got := compute(t, job, policy.UniformAssignor()).Changed; len(got) != 1 || got[0].ID != "a" || len(got[0].Partitions) != 0 {
		t.Errorf("%+v", got)
	}
}

// A record can name what is gone, or what another member's record names too.
func TestTargetRecordsThatSayTooMuchAreWrittenAnew(t *testing.T) {
	gone := targetTopic{"gone", 0x02, 1}
	img := targetImage(t, topicU)
	for name, extra := range map[string][]group.TopicPartitions{
		"a deleted topic":               {held(topicU, 0), held(gone, 0)},
		"a partition that is not there": {held(topicU, 0, 5)},
		"a negative partition":          {held(topicU, 0, -1)},
		"another member's partition":    {held(topicU, 0, 1)},
	} {
		job := &group.TargetJob{Image: img, Members: []group.TargetMember{
			{ID: "a", Named: []string{"u"}, HasTarget: true, Target: []group.TopicPartitions{held(topicU, 1)}},
			{ID: "b", Named: []string{"u"}, HasTarget: true, Target: extra},
		}}
		want := []group.MemberTarget{{ID: "b", Partitions: []group.TopicPartitions{held(topicU, 0)}}}
		if got := compute(t, job, policy.UniformAssignor()).Changed; !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestSubscriptionTypeIsKafkas(t *testing.T) {
	img := targetImage(t, topicT, topicU)
	member := func(id string, named, matched []string) group.TargetMember {
		return group.TargetMember{ID: id, Named: named, Matched: matched}
	}
	for _, c := range []struct {
		name    string
		members []group.TargetMember
		want    bool
	}{
		{"nobody", nil, true},
		{"equal names", []group.TargetMember{member("a", []string{"t", "u"}, nil), member("b", []string{"u", "t"}, nil)}, true},
		{"a name twice", []group.TargetMember{member("a", []string{"t", "t"}, nil), member("b", []string{"t"}, nil)}, true},
		{"different names", []group.TargetMember{member("a", []string{"t"}, nil), member("b", []string{"t", "u"}, nil)}, false},
		{"two names each", []group.TargetMember{member("a", []string{"t"}, nil), member("b", []string{"u"}, nil)}, false},
		{"a name of nothing", []group.TargetMember{member("a", []string{"t"}, nil), member("b", []string{"t", "x"}, nil)}, false},
		{"a name of nothing, all", []group.TargetMember{member("a", []string{"x"}, nil), member("b", []string{"x"}, nil)}, true},
		{"no names", []group.TargetMember{member("a", nil, nil), member("b", []string{}, nil)}, true},
		{"by expression", []group.TargetMember{member("a", nil, []string{"t"}), member("b", nil, []string{"t"})}, false},
		{"by expression, one", []group.TargetMember{member("a", nil, []string{"t"}), member("b", []string{"t"}, nil)}, false},
		{"by both", []group.TargetMember{member("a", []string{"t"}, []string{"t"}), member("b", []string{"t"}, nil)}, true},
		{"by expression, more", []group.TargetMember{member("a", []string{"t"}, []string{"u"}), member("b", []string{"t"}, nil)}, false},
	} {
		job := &group.TargetJob{Image: img, Members: c.members}
		facts := job.Facts()
		if err := facts.Validate(); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if facts.Homogeneous != c.want {
			t.Errorf("%s: homogeneous is %v", c.name, facts.Homogeneous)
		}
	}
}

func TestFactsNameRacksAndOwners(t *testing.T) {
	job := &group.TargetJob{Image: targetImage(t, topicT, topicU), Members: []group.TargetMember{
		{ID: "a", InstanceID: "i", ClientID: "c", Rack: "q", Matched: []string{"u"}, Owned: []group.TopicPartitions{held(topicU, 1), held(topicT, 0)}},
		{ID: "b", Rack: "r1", Named: []string{"t", "nothing"}, Matched: []string{"t", "u"}},
		{ID: "c", Rack: "elsewhere"},
	}}
	job.Members[2].Rack = ""
	f := job.Facts()
	job.AddPartitionRacks(f)
	if err := f.Validate(); err != nil {
		t.Fatal(err)
	}
	want := &policy.AssignorFacts{
		Members: []policy.AssignorMember{
			{ID: "a", InstanceID: "i", ClientID: "c", Rack: 0, Subscribed: policy.Span{First: 0, End: 1}},
			{ID: "b", Rack: 2, Subscribed: policy.Span{First: 1, End: 3}},
			{ID: "c", Rack: policy.NoRack, Subscribed: policy.Span{First: 3, End: 3}},
		},
		Topics: []policy.AssignorTopic{
			{ID: topicU.id(), Name: "u", Partitions: policy.Span{First: 0, End: 2}},
			{ID: topicT.id(), Name: "t", Partitions: policy.Span{First: 2, End: 5}},
		},
		Subscriptions:  []int32{0, 0, 1},
		Racks:          []string{"q", "r0", "r1"},
		Previous:       []int32{-1, -1, -1, -1, -1},
		Owned:          []int32{-1, 0, 0, -1, -1},
		PartitionRacks: []policy.Span{{First: 0, End: 2}, {First: 2, End: 3}, {First: 3, End: 5}, {First: 5, End: 6}, {First: 6, End: 7}},
		ReplicaRacks:   []int32{1, 2, 2, 1, 2, 2, 1},
	}
	if !reflect.DeepEqual(f, want) {
		t.Errorf("got  %+v\nwant %+v", f, want)
	}
}

// broken is an assignor that answers with err, or with owners.
type broken struct {
	err    error
	owners []int32
}

func (b broken) Assign(context.Context, *policy.AssignorFacts) (policy.AssignorVerdict, error) {
	return policy.AssignorVerdict{Owners: b.owners}, b.err
}

func TestFailedAssignorKeepsTheTargetOrFallsBackToUniform(t *testing.T) {
	trap := errors.New("trap")
	job := func(target ...int32) *group.TargetJob {
		return &group.TargetJob{Image: targetImage(t, topicU), Members: []group.TargetMember{
			{ID: "a", Named: []string{"u"}, HasTarget: true, Target: []group.TopicPartitions{held(topicU, target...)}},
			{ID: "b", Named: []string{"u"}, HasTarget: true},
		}}
	}
	whole := compute(t, job(0, 1), broken{err: trap})
	if whole.Fallback != group.KeptTarget || !errors.Is(whole.Err, trap) || len(whole.Changed) != 0 {
		t.Errorf("a valid target: %+v", whole)
	}
	want := []group.MemberTarget{{ID: "b", Partitions: []group.TopicPartitions{held(topicU, 1)}}}
	part := compute(t, job(0), broken{err: trap})
	if part.Fallback != group.UniformFallback || !errors.Is(part.Err, trap) || !reflect.DeepEqual(part.Changed, want) {
		t.Errorf("a target with a hole: %+v", part)
	}
	wrong := compute(t, job(0), broken{owners: []int32{0, 2}})
	if wrong.Fallback != group.UniformFallback || !errors.Is(wrong.Err, policy.ErrAssignorVerdict) || !reflect.DeepEqual(wrong.Changed, want) {
		t.Errorf("an invalid verdict: %+v", wrong)
	}
	if good := compute(t, job(0), broken{owners: []int32{0, 1}}); good.Fallback != group.NoFallback || good.Err != nil || !reflect.DeepEqual(good.Changed, want) {
		t.Errorf("a valid verdict: %+v", good)
	}
}

// Once its target is installed, a group that stays as it is needs no records, and everyone has what the assignor said.
func TestInstalledTargetIsStable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var topics []targetTopic
		var names []string
		for i := range rapid.IntRange(1, 5).Draw(t, "topics") {
			rank := byte(rapid.IntRange(0, 50).Draw(t, "rank")*5 + i)
			topics = append(topics, targetTopic{fmt.Sprint("topic", i), rank, rapid.IntRange(1, 5).Draw(t, "partitions")})
			names = append(names, topics[i].name)
		}
		names = append(names, "nothing")
		job := &group.TargetJob{Group: "g", Image: targetImage(t, topics...)}
		subset := rapid.SliceOfDistinct(rapid.SampledFrom(names), func(s string) string { return s })
		for i := range rapid.IntRange(1, 6).Draw(t, "members") {
			m := group.TargetMember{ID: fmt.Sprint("m", i), Named: subset.Draw(t, "named"), HasTarget: rapid.Bool().Draw(t, "has")}
			if rapid.Bool().Draw(t, "expression") {
				m.Matched = subset.Draw(t, "matched")
			}
			if m.HasTarget {
				for _, topic := range topics {
					p := rapid.SliceOfNDistinct(rapid.Int32Range(0, int32(topic.partitions)), 0, 3, func(p int32) int32 { return p }).Draw(t, "target")
					m.Target = append(m.Target, held(topic, p...))
				}
			}
			job.Members = append(job.Members, m)
		}
		job.Members = rapid.Permutation(job.Members).Draw(t, "order")
		for _, a := range []policy.Assignor{policy.UniformAssignor(), policy.RangeAssignor()} {
			first := compute(t, job, a)
			if first.Err != nil {
				t.Fatal(first.Err)
			}
			after := *job
			after.Members = slices.Clone(job.Members)
			for _, c := range first.Changed {
				i := slices.IndexFunc(after.Members, func(m group.TargetMember) bool { return m.ID == c.ID })
				after.Members[i].HasTarget, after.Members[i].Target = true, c.Partitions
			}
			if again := compute(t, &after, a); len(again.Changed) != 0 || again.Err != nil {
				t.Fatalf("%T: %+v", a, again)
			}
			f := after.Facts()
			if err := policy.ValidateAssignment(f, policy.AssignorVerdict{Owners: f.Previous}); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func BenchmarkTarget1000Members10000Partitions(b *testing.B) {
	var topics []targetTopic
	var names []string
	for i := range 100 {
		topics = append(topics, targetTopic{fmt.Sprint("topic", i), byte(i), 100})
		names = append(names, topics[i].name)
	}
	img := targetImage(b, topics...)
	for _, shape := range []string{"equal", "mixed"} {
		job := &group.TargetJob{Group: "g", Image: img}
		for m := range 1000 {
			own := names
			if shape == "mixed" {
				own = names[m%50 : m%50+50]
			}
			job.Members = append(job.Members, group.TargetMember{ID: fmt.Sprint("member", m), Named: own})
		}
		for _, c := range compute(b, job, policy.UniformAssignor()).Changed {
			i := slices.IndexFunc(job.Members, func(m group.TargetMember) bool { return m.ID == c.ID })
			job.Members[i].HasTarget, job.Members[i].Target = true, c.Partitions
		}
		job.Members = append(job.Members, group.TargetMember{ID: "newcomer", Named: names})
		b.Run(shape, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				compute(b, job, policy.UniformAssignor())
			}
		})
	}
}

package policy_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/weir-broker/weir/broker/policy"
)

// testGroup is a group as a test describes it: by names, in any order. facts
// brings it into the canonical form.
type testGroup struct {
	topics  map[string]int // partitions by topic name
	members []testMember
	mixed   bool // heterogeneous although the subscriptions may be equal
}

type testMember struct {
	id, instance string
	topics       []string
	previous     map[string][]int
}

// topicID gives the topics ids in the order of their names.
func topicID(rank int) (id [16]byte) {
	binary.BigEndian.PutUint64(id[:], uint64(rank+1))
	return id
}

func (g testGroup) facts() *policy.AssignorFacts {
	f := &policy.AssignorFacts{Group: "g", Homogeneous: !g.mixed}
	names := slices.Sorted(maps.Keys(g.topics))
	index := map[string]int32{}
	for i, name := range names {
		first := int32(f.PartitionCount())
		f.Topics = append(f.Topics, policy.AssignorTopic{
			ID: topicID(i), Name: name, Partitions: policy.Span{First: first, End: first + int32(g.topics[name])},
		})
		index[name] = int32(i)
	}
	members := slices.Clone(g.members)
	slices.SortFunc(members, func(a, b testMember) int { return strings.Compare(a.id, b.id) })
	for range f.PartitionCount() {
		f.Previous = append(f.Previous, policy.NoMember)
	}
	for i, m := range members {
		var topics []int32
		for _, name := range m.topics {
			topics = append(topics, index[name])
		}
		slices.Sort(topics)
		first := int32(len(f.Subscriptions))
		f.Subscriptions = append(f.Subscriptions, topics...)
		f.Members = append(f.Members, policy.AssignorMember{
			ID: m.id, InstanceID: m.instance, Rack: policy.NoRack,
			Subscribed: policy.Span{First: first, End: int32(len(f.Subscriptions))},
		})
		if i > 0 && !slices.Equal(topics, f.Subscription(0)) {
			f.Homogeneous = false
		}
		for name, partitions := range m.previous {
			for _, p := range partitions {
				f.Previous[f.Topics[index[name]].Partitions.First+int32(p)] = int32(i)
			}
		}
	}
	return f
}

// show writes a verdict as "a: t0 t1; b: u0", members and topics in order.
func show(f *policy.AssignorFacts, v policy.AssignorVerdict) string {
	var out []string
	partitions, ranges := v.Assignments(len(f.Members))
	for m, r := range ranges {
		line := []string{f.Members[m].ID + ":"}
		for _, p := range partitions[r.First:r.End] {
			t := slices.IndexFunc(f.Topics, func(t policy.AssignorTopic) bool { return p < t.Partitions.End })
			line = append(line, f.Topics[t].Name+strconv.Itoa(int(p-f.Topics[t].Partitions.First)))
		}
		out = append(out, strings.Join(line, " "))
	}
	return strings.Join(out, "; ")
}

func assign(t *testing.T, a policy.Assignor, f *policy.AssignorFacts) policy.AssignorVerdict {
	t.Helper()
	v, err := a.Assign(context.Background(), f)
	if err != nil {
		t.Fatal(err)
	}
	if err := policy.ValidateAssignment(f, v); err != nil {
		t.Fatal(err)
	}
	return v
}

// The targets are what Kafka 4.4's assignors answer.
func TestBuiltInAssignorsGiveKafkasAnswers(t *testing.T) {
	ab := []string{"t", "u"}
	for _, c := range []struct {
		name            string
		group           testGroup
		uniform, ranged string
	}{
		{
			"equal topics are co-partitioned by range and dealt in runs by uniform",
			testGroup{topics: map[string]int{"t": 3, "u": 3}, members: []testMember{{id: "a", topics: ab}, {id: "b", topics: ab}}},
			"a: t0 t1 t2; b: u0 u1 u2",
			"a: t0 t1 u0 u1; b: t2 u2",
		},
		{
			"the last members get the larger share of a new group",
			testGroup{topics: map[string]int{"t": 5}, members: []testMember{
				{id: "a", topics: ab[:1]}, {id: "b", topics: ab[:1]}, {id: "c", topics: ab[:1]},
			}},
			"a: t0; b: t1 t2; c: t3 t4",
			"a: t0 t1; b: t2 t3; c: t4",
		},
		{
			"a new member gets what others have too much, from their last partition back",
			testGroup{topics: map[string]int{"t": 3, "u": 3}, members: []testMember{
				{id: "a", topics: ab, previous: map[string][]int{"t": {0, 1}, "u": {0}}},
				{id: "b", topics: ab, previous: map[string][]int{"t": {2}, "u": {1, 2}}},
				{id: "c", topics: ab},
			}},
			"a: t0 t1; b: t2 u1; c: u0 u2",
			"a: t0 u0; b: t1 u1; c: t2 u2",
		},
		{
			"static members are ranged by instance id, before dynamic ones",
			testGroup{topics: map[string]int{"t": 3}, members: []testMember{
				{id: "a", topics: ab[:1]}, {id: "b", instance: "z", topics: ab[:1]}, {id: "c", instance: "y", topics: ab[:1]},
			}},
			"a: t0; b: t1; c: t2",
			"a: t2; b: t1; c: t0",
		},
		{
			"more members than partitions",
			testGroup{topics: map[string]int{"t": 1}, members: []testMember{{id: "a", topics: ab[:1]}, {id: "b", topics: ab[:1]}}},
			"a:; b: t0",
			"a: t0; b:",
		},
		{
			"mixed subscriptions are levelled over all topics",
			testGroup{topics: map[string]int{"t": 3, "u": 3}, members: []testMember{
				{id: "a", topics: []string{"t"}}, {id: "b", topics: ab}, {id: "c", topics: []string{"u"}},
			}},
			"a: t0 t2; b: t1 u2; c: u0 u1",
			"a: t0 t1; b: t2 u0 u1; c: u2",
		},
		{
			"what a member unsubscribed from goes to others",
			testGroup{topics: map[string]int{"t": 2, "u": 2}, members: []testMember{
				{id: "a", topics: []string{"u"}, previous: map[string][]int{"t": {0, 1}, "u": {0}}},
				{id: "b", topics: ab, previous: map[string][]int{"u": {1}}},
			}},
			"a: u0 u1; b: t0 t1",
			"a: u0; b: t0 t1 u1",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := c.group.facts()
			if got := show(f, assign(t, policy.UniformAssignor(), f)); got != c.uniform {
				t.Errorf("uniform: %s\n   want: %s", got, c.uniform)
			}
			if got := show(f, assign(t, policy.RangeAssignor(), f)); got != c.ranged {
				t.Errorf("range: %s\n want: %s", got, c.ranged)
			}
		})
	}
}

func TestRefusedVerdicts(t *testing.T) {
	f := testGroup{topics: map[string]int{"t": 2, "u": 1, "v": 1}, members: []testMember{
		{id: "a", topics: []string{"t"}}, {id: "b", topics: []string{"t", "u"}},
	}}.facts()
	for _, c := range []struct {
		owners []int32
		ok     bool
	}{
		{[]int32{0, 1, 1, policy.NoMember}, true},
		{[]int32{0, 1, 1}, false},                   // too short
		{[]int32{0, 1, 1, -1, -1}, false},           // too long
		{[]int32{0, -1, 1, policy.NoMember}, false}, // lost
		{[]int32{0, 2, 1, policy.NoMember}, false},  // no such member
		{[]int32{0, -2, 1, policy.NoMember}, false},
		{[]int32{0, 1, 0, policy.NoMember}, false}, // a does not want u
		{[]int32{0, 1, 1, 1}, false},               // nobody wants v
	} {
		err := policy.ValidateAssignment(f, policy.AssignorVerdict{Owners: c.owners})
		if c.ok != (err == nil) || err != nil && !errors.Is(err, policy.ErrAssignorVerdict) {
			t.Errorf("%v: %v", c.owners, err)
		}
	}
}

func TestTopicIDsAreOrderedAsSignedNumbers(t *testing.T) {
	id := func(hex string) (id [16]byte) {
		if n, err := fmt.Sscanf(hex, "%16x%16x", new(uint64), new(uint64)); n != 2 || err != nil {
			t.Fatal(hex, err)
		}
		high, _ := strconv.ParseUint(hex[:16], 16, 64)
		low, _ := strconv.ParseUint(hex[16:], 16, 64)
		binary.BigEndian.PutUint64(id[:8], high)
		binary.BigEndian.PutUint64(id[8:], low)
		return id
	}
	ids := []string{
		"80000000000000000000000000000000", "ffffffffffffffff0000000000000000",
		"0000000000000000ffffffffffffffff", "00000000000000000000000000000000", "00000000000000010000000000000000",
	}
	for i := range ids {
		for j := range ids {
			got := policy.CompareTopicIDs(id(ids[i]), id(ids[j]))
			if (got < 0) != (i < j) || (got > 0) != (i > j) {
				t.Errorf("%s and %s: %d", ids[i], ids[j], got)
			}
		}
	}
}

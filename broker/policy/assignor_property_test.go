package policy_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/weir-broker/weir/broker/policy"
	"pgregory.net/rapid"
)

// drawGroup draws a small group; wants says what its members may subscribe to.
func drawGroup(t *rapid.T, mixed bool) testGroup {
	g := testGroup{topics: map[string]int{}, mixed: mixed && rapid.Bool().Draw(t, "by expression")}
	for i := range rapid.IntRange(1, 6).Draw(t, "topics") {
		g.topics[string(rune('a'+i))] = rapid.IntRange(1, 12).Draw(t, "partitions")
	}
	names := slices.Sorted(maps.Keys(g.topics))
	pick := func() (own []string) {
		for _, name := range names {
			if rapid.Bool().Draw(t, name) {
				own = append(own, name)
			}
		}
		return own
	}
	common := pick()
	for i := range rapid.IntRange(1, 9).Draw(t, "members") {
		m := testMember{id: fmt.Sprintf("m%d", i), topics: common}
		if mixed {
			m.topics = pick()
		}
		if rapid.Bool().Draw(t, "static") {
			m.instance = fmt.Sprintf("i%d", 9-i)
		}
		g.members = append(g.members, m)
	}
	// The previous target of every partition, subscribed to or not.
	for _, name := range names {
		for p := range g.topics[name] {
			if m := rapid.IntRange(-1, len(g.members)-1).Draw(t, "previous"); m >= 0 {
				if g.members[m].previous == nil {
					g.members[m].previous = map[string][]int{}
				}
				g.members[m].previous[name] = append(g.members[m].previous[name], p)
			}
		}
	}
	return g
}

func mustAssign(t *rapid.T, a policy.Assignor, f *policy.AssignorFacts) []int32 {
	v, err := a.Assign(context.Background(), f)
	if err != nil {
		t.Fatal(err)
	}
	if err := policy.ValidateAssignment(f, v); err != nil {
		t.Fatal(err)
	}
	return v.Owners
}

func loads(f *policy.AssignorFacts, owners []int32) []int {
	n := make([]int, len(f.Members))
	for _, m := range owners {
		if m != policy.NoMember {
			n[m]++
		}
	}
	return n
}

// leave takes one member out of facts whose target is owners.
func leave(f *policy.AssignorFacts, owners []int32, gone int32) *policy.AssignorFacts {
	g := *f
	g.Members = slices.Delete(slices.Clone(f.Members), int(gone), int(gone)+1)
	g.Previous = slices.Clone(owners)
	for p, m := range owners {
		switch {
		case m == gone:
			g.Previous[p] = policy.NoMember
		case m > gone:
			g.Previous[p]--
		}
	}
	return &g
}

func TestUniformBalancesEqualSubscriptions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawGroup(t, false).facts()
		n := loads(f, mustAssign(t, policy.UniformAssignor(), f))
		if slices.Max(n)-slices.Min(n) > 1 {
			t.Fatalf("loads %v", n)
		}
	})
}

// What a member has too much is all that it loses.
func TestUniformKeepsWhatFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawGroup(t, false).facts()
		owners := mustAssign(t, policy.UniformAssignor(), f)
		had, kept := make([]int, len(f.Members)), make([]int, len(f.Members))
		for p, m := range f.Previous {
			if m == policy.NoMember || owners[p] == policy.NoMember {
				continue // or nobody subscribes
			}
			had[m]++
			if owners[p] == m {
				kept[m]++
			}
		}
		for m, n := range loads(f, owners) {
			if kept[m] != min(had[m], n) {
				t.Fatalf("member %d had %d, has %d, of which it kept %d", m, had[m], n, kept[m])
			}
		}
	})
}

func TestUniformTakesNothingFromSurvivorsOfALeave(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawGroup(t, false).facts()
		if len(f.Members) < 2 {
			return
		}
		owners := mustAssign(t, policy.UniformAssignor(), f)
		after := leave(f, owners, int32(rapid.IntRange(0, len(f.Members)-1).Draw(t, "gone")))
		for p, m := range mustAssign(t, policy.UniformAssignor(), after) {
			if before := after.Previous[p]; before != policy.NoMember && before != m {
				t.Fatalf("partition %d moved from %d to %d", p, before, m)
			}
		}
	})
}

// A target is where the assignor stays until something changes.
func TestAssignorsLeaveTheirOwnTargetAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawGroup(t, rapid.Bool().Draw(t, "mixed")).facts()
		for _, a := range []policy.Assignor{policy.UniformAssignor(), policy.RangeAssignor()} {
			again := *f
			again.Previous = mustAssign(t, a, f)
			if got := mustAssign(t, a, &again); !slices.Equal(got, again.Previous) {
				t.Fatalf("%T: %v became %v", a, again.Previous, got)
			}
		}
	})
}

// No partition can be given to a member that has two fewer.
func TestUniformLevelsMixedSubscriptions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawGroup(t, true).facts()
		if f.Homogeneous {
			return
		}
		owners := mustAssign(t, policy.UniformAssignor(), f)
		n := loads(f, owners)
		for i, topic := range f.Topics {
			for m := range f.Members {
				if _, ok := slices.BinarySearch(f.Subscription(m), int32(i)); !ok {
					continue
				}
				for p := topic.Partitions.First; p < topic.Partitions.End; p++ {
					if from := owners[p]; n[from]-n[m] > 1 {
						t.Fatalf("partition %d is better off at %d (%d) than at %d (%d)", p, m, n[m], from, n[from])
					}
				}
			}
		}
	})
}

func TestRangeGivesContiguousEvenRanges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawGroup(t, rapid.Bool().Draw(t, "mixed")).facts()
		owners := mustAssign(t, policy.RangeAssignor(), f)
		shares := map[string][]int32{} // of topics with equal subscribers and sizes
		for i, topic := range f.Topics {
			own := owners[topic.Partitions.First:topic.Partitions.End]
			subscribers, length := fmt.Sprint(len(own), ": "), map[int32]int{}
			for m := range f.Members {
				if _, ok := slices.BinarySearch(f.Subscription(m), int32(i)); ok {
					subscribers += fmt.Sprint(m, " ")
					length[int32(m)] = 0
				}
			}
			for p, m := range own {
				if p > 0 && own[p-1] != m && length[m] > 0 {
					t.Fatalf("topic %d: member %d has two ranges: %v", i, m, own)
				}
				length[m]++
			}
			low, high := math.MaxInt, 0
			for _, n := range length {
				low, high = min(low, n), max(high, n)
			}
			if len(length) > 0 && high-low > 1 {
				t.Fatalf("topic %d: %v", i, own)
			}
			if before, ok := shares[subscribers]; ok && !slices.Equal(before, own) {
				t.Fatalf("topic %d is not co-partitioned: %v and %v", i, before, own)
			}
			shares[subscribers] = own
		}
	})
}

// The order in which the host met members, subscriptions and partitions does
// not show.
func TestTargetDoesNotDependOnInputOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := drawGroup(t, rapid.Bool().Draw(t, "mixed"))
		shuffled := testGroup{topics: g.topics, mixed: g.mixed, members: rapid.Permutation(g.members).Draw(t, "members")}
		for i := range shuffled.members {
			m := &shuffled.members[i]
			if len(m.topics) > 1 {
				m.topics = rapid.Permutation(m.topics).Draw(t, "subscription")
			}
		}
		for _, a := range []policy.Assignor{policy.UniformAssignor(), policy.RangeAssignor()} {
			if x, y := mustAssign(t, a, g.facts()), mustAssign(t, a, shuffled.facts()); !slices.Equal(x, y) {
				t.Fatalf("%T: %v and %v", a, x, y)
			}
		}
	})
}

func TestEmptyGroupsHaveEmptyTargets(t *testing.T) {
	for name, g := range map[string]testGroup{
		"nobody":              {topics: map[string]int{"t": 3}},
		"nothing":             {members: []testMember{{id: "a"}}},
		"nothing wanted":      {topics: map[string]int{"t": 3}, members: []testMember{{id: "a"}, {id: "b"}}},
		"nothing wanted, old": {topics: map[string]int{"t": 3}, members: []testMember{{id: "a", previous: map[string][]int{"t": {1}}}}},
		"mixed":               {topics: map[string]int{"t": 3}, members: []testMember{{id: "a"}}, mixed: true},
	} {
		t.Run(name, func(t *testing.T) {
			f := g.facts()
			for _, a := range []policy.Assignor{policy.UniformAssignor(), policy.RangeAssignor()} {
				if v := assign(t, a, f); slices.ContainsFunc(v.Owners, func(m int32) bool { return m != policy.NoMember }) {
					t.Errorf("%T: %v", a, v.Owners)
				}
			}
		})
	}
}

func TestMalformedFactsAreRefused(t *testing.T) {
	good := func() *policy.AssignorFacts {
		f := testGroup{topics: map[string]int{"t": 2, "u": 1}, members: []testMember{
			{id: "a", topics: []string{"t"}}, {id: "b", topics: []string{"t", "u"}},
		}}.facts()
		f.Racks = []string{"r1", "r2"}
		f.ReplicaRacks = []int32{0, 1, 0}
		f.PartitionRacks = []policy.Span{{First: 0, End: 2}, {First: 2, End: 3}, {First: 3, End: 3}}
		f.Lag, f.Rate, f.Owned = []int64{-1, 0, 5}, []float64{-1, 0, 0.5}, []int32{-1, 0, 1}
		return f
	}
	if err := good().Validate(); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(*policy.AssignorFacts){
		"gap in partition numbers":       func(f *policy.AssignorFacts) { f.Topics[1].Partitions.First++ },
		"negative topic":                 func(f *policy.AssignorFacts) { f.Topics[1].Partitions.End = 0 },
		"topics out of order":            func(f *policy.AssignorFacts) { f.Topics[0].ID, f.Topics[1].ID = f.Topics[1].ID, f.Topics[0].ID },
		"one topic twice":                func(f *policy.AssignorFacts) { f.Topics[0].ID = f.Topics[1].ID },
		"members out of order":           func(f *policy.AssignorFacts) { f.Members[0].ID = "c" },
		"member without id":              func(f *policy.AssignorFacts) { f.Members[0].ID = "" },
		"unknown rack":                   func(f *policy.AssignorFacts) { f.Members[0].Rack = 2 },
		"racks out of order":             func(f *policy.AssignorFacts) { f.Racks[0] = "r3" },
		"subscriptions beyond the end":   func(f *policy.AssignorFacts) { f.Members[1].Subscribed.End++ },
		"subscriptions before the begin": func(f *policy.AssignorFacts) { f.Members[0].Subscribed.First = -1 },
		"subscription twice":             func(f *policy.AssignorFacts) { f.Subscriptions[2] = f.Subscriptions[1] },
		"unknown topic":                  func(f *policy.AssignorFacts) { f.Subscriptions[2] = 2 },
		"negative subscription":          func(f *policy.AssignorFacts) { f.Subscriptions[0] = -1 },
		"not homogeneous":                func(f *policy.AssignorFacts) { f.Homogeneous = true },
		"previous too short":             func(f *policy.AssignorFacts) { f.Previous = f.Previous[1:] },
		"previous at nobody":             func(f *policy.AssignorFacts) { f.Previous[0] = 2 },
		"owned by nobody":                func(f *policy.AssignorFacts) { f.Owned[0] = -2 },
		"owned too short":                func(f *policy.AssignorFacts) { f.Owned = f.Owned[1:] },
		"negative lag":                   func(f *policy.AssignorFacts) { f.Lag[0] = -2 },
		"lag too long":                   func(f *policy.AssignorFacts) { f.Lag = append(f.Lag, 1) },
		"rate not a number":              func(f *policy.AssignorFacts) { f.Rate[0] = math.NaN() },
		"rate without end":               func(f *policy.AssignorFacts) { f.Rate[0] = math.Inf(1) },
		"replica racks beyond the end":   func(f *policy.AssignorFacts) { f.PartitionRacks[2].End++ },
		"replica racks descend":          func(f *policy.AssignorFacts) { f.ReplicaRacks[0], f.ReplicaRacks[1] = 1, 0 },
		"unknown replica rack":           func(f *policy.AssignorFacts) { f.ReplicaRacks[2] = 2 },
	} {
		f := good()
		spoil(f)
		for _, a := range []policy.Assignor{policy.UniformAssignor(), policy.RangeAssignor()} {
			if _, err := a.Assign(context.Background(), f); !errors.Is(err, policy.ErrAssignorFacts) {
				t.Errorf("%s: %T: %v", name, a, err)
			}
		}
	}
}

// FuzzAssignors has facts and a verdict made of any bytes: nothing panics, and
// a target computed from valid facts is valid, the same a second time, and
// changes no fact.
func FuzzAssignors(f *testing.F) {
	f.Add([]byte{2, 3, 1, 2, 2, 0, 1, 1, 1, 0, 0, 1, 255, 0}, []byte{0, 0, 1})
	f.Add([]byte{1, 5, 3, 0, 1, 0, 1, 0, 1, 0, 255, 255, 255, 255, 255, 1}, []byte{0, 1, 1, 2, 2})
	f.Fuzz(func(t *testing.T, in, out []byte) {
		facts := factsFrom(in)
		verdict := policy.AssignorVerdict{}
		for _, b := range out {
			verdict.Owners = append(verdict.Owners, int32(int8(b)))
		}
		valid := facts.Validate() == nil
		if valid {
			if err := policy.ValidateAssignment(facts, verdict); err == nil {
				verdict.Assignments(len(facts.Members))
			}
		}
		previous := slices.Clone(facts.Previous)
		for _, a := range []policy.Assignor{policy.UniformAssignor(), policy.RangeAssignor()} {
			v, err := a.Assign(context.Background(), facts)
			if valid != (err == nil) {
				t.Fatalf("facts valid: %v, but %v", valid, err)
			}
			if !valid {
				continue
			}
			if err := policy.ValidateAssignment(facts, v); err != nil {
				t.Fatal(err)
			}
			again, _ := a.Assign(context.Background(), facts)
			if !slices.Equal(v.Owners, again.Owners) || !slices.Equal(previous, facts.Previous) {
				t.Fatal("a second answer differs, or facts have changed")
			}
		}
	})
}

// factsFrom reads facts from any bytes, mostly well-formed ones: a zero when
// they end.
func factsFrom(in []byte) *policy.AssignorFacts {
	next := func() int32 {
		if len(in) == 0 {
			return 0
		}
		b := int8(in[0])
		in = in[1:]
		return int32(b)
	}
	f := &policy.AssignorFacts{}
	at := int32(0)
	for i := range next() % 8 {
		t := policy.AssignorTopic{Partitions: policy.Span{First: at, End: at + next()}}
		binary.BigEndian.PutUint64(t.ID[:], uint64(i))
		at = t.Partitions.End
		f.Topics = append(f.Topics, t)
	}
	for range next() {
		f.Subscriptions = append(f.Subscriptions, next())
	}
	for i := range next() % 16 {
		m := policy.AssignorMember{ID: fmt.Sprintf("%02d", i), Rack: policy.NoRack}
		m.Subscribed.First = next()
		m.Subscribed.End = m.Subscribed.First + next()
		if n := next(); n > 0 {
			m.InstanceID = fmt.Sprint(n)
		}
		f.Members = append(f.Members, m)
	}
	f.Homogeneous = next()%2 == 0
	for range max(0, min(at, 1024)) {
		f.Previous = append(f.Previous, next())
	}
	return f
}

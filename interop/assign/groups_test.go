//go:build interop

package assign_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/weir-broker/weir/broker/policy"
)

// The largest group, and how many subscriptions all members have together at most (those of equal ones counted once each).
const (
	maxMembers       = 1000
	maxPartitions    = 10000
	maxSubscriptions = 300000
)

// shape is how the subscriptions of a group's members relate.
type shape int

const (
	equal     shape = iota // all to the same topics by name: homogeneous
	equalByRE              // the same topics, but by a regular expression: heterogeneous to Kafka
	classes                // a few kinds of members
	scattered              // each member to topics of its own choice
	chained                // each to some neighbouring topics, so that loads can be passed on
	line                   // each to two neighbours: with a target pushed to one side, evening out takes more rounds than there may be
	mostly                 // nearly all to the same topics
	shapes
)

func (s shape) String() string {
	return [...]string{"equal", "equal by expression", "classes", "scattered", "chained", "in line", "mostly equal"}[s]
}

// group is a consumer group in the course of its rounds. Topics and members are known by a key that lasts.
type group struct {
	r       *rand.Rand
	shape   shape
	topics  []topic // in the order of their ids
	members []member
	nextKey int
	common  []int         // topic keys, ascending: the shape's usual subscription
	kinds   [][]int       // topic keys by class
	density float64       // of scattered subscriptions
	target  map[place]int // the last target: member keys
	racks   []string
}

type topic struct{ key, partitions int }

type member struct {
	key          int
	id, instance string
	rack         int32
	topics       []int // keys, ascending
}

type place struct{ topic, partition int }

// logUniform draws from [1, most] so that every order of magnitude is as likely.
func logUniform(r *rand.Rand, most int) int {
	return min(most, int(math.Exp(r.Float64()*math.Log(float64(most)+1))))
}

func newGroup(r *rand.Rand) *group {
	g := &group{r: r, shape: shape(r.IntN(int(shapes))), target: map[place]int{}, density: math.Pow(r.Float64(), 2)}
	if r.IntN(3) == 0 {
		g.shape = equal
	}
	for i := range r.IntN(4) {
		g.racks = append(g.racks, fmt.Sprintf("rack-%d", i))
	}
	members, partitions := logUniform(r, maxMembers), logUniform(r, maxPartitions)
	topics := logUniform(r, partitions)
	if g.shape == line {
		topics = max(1, min(members-1, partitions))
	}
	if most := maxSubscriptions / members; topics > most {
		topics = most
	}
	for i := range topics {
		n := partitions / topics
		switch {
		case g.shape == line:
		case i == 0 && r.IntN(4) == 0: // one large one
			n = max(1, partitions/2)
		case r.IntN(2) == 0: // uneven ones
			n = 1 + r.IntN(2*n)
		}
		g.topics = append(g.topics, topic{key: g.key(), partitions: n})
	}
	g.choose()
	for range members {
		g.join()
	}
	if g.shape == line {
		g.push(r.IntN(2))
	}
	return g
}

// push gives each topic wholly to its first or second subscriber in the line.
func (g *group) push(side int) {
	for i, t := range g.topics {
		for p := range t.partitions {
			g.target[place{t.key, p}] = g.members[min(i+side, len(g.members)-1)].key
		}
	}
}

func (g *group) String() string {
	return fmt.Sprintf("%s: %d members, %d topics", g.shape, len(g.members), len(g.topics))
}

func (g *group) key() int {
	g.nextKey++
	return g.nextKey
}

// subset draws topic keys, ascending, each with the given probability.
func (g *group) subset(p float64) []int {
	var keys []int
	for _, t := range g.topics {
		if g.r.Float64() < p {
			keys = append(keys, t.key)
		}
	}
	slices.Sort(keys)
	return keys
}

// choose draws what the shape's members subscribe to.
func (g *group) choose() {
	p := 1.0
	if g.r.IntN(3) == 0 {
		p = g.r.Float64()
	}
	g.common = g.subset(p)
	g.kinds = nil
	for range 1 + logUniform(g.r, 8) {
		g.kinds = append(g.kinds, g.subset(g.r.Float64()))
	}
}

func (g *group) subscription() []int {
	switch g.shape {
	case classes:
		return g.kinds[g.r.IntN(len(g.kinds))]
	case scattered:
		return g.subset(g.density)
	case chained:
		if len(g.topics) == 0 {
			return nil
		}
		first := g.r.IntN(len(g.topics))
		var keys []int
		for _, t := range g.topics[first:min(len(g.topics), first+1+g.r.IntN(3))] {
			keys = append(keys, t.key)
		}
		slices.Sort(keys)
		return keys
	case line:
		at := len(g.members) % (len(g.topics) + 1)
		var keys []int
		for _, t := range g.topics[max(0, at-1):min(at+1, len(g.topics))] {
			keys = append(keys, t.key)
		}
		slices.Sort(keys)
		return keys
	case mostly:
		if g.r.IntN(20) == 0 {
			return g.subset(g.r.Float64())
		}
	}
	return g.common
}

// letters are such that the orders of bytes and of UTF-16 code units differ.
var letters = []rune("abcXYZ019-_.é中\ue000\uffee😀𐍈")

func (g *group) name() string {
	var b strings.Builder
	for range 1 + g.r.IntN(6) {
		b.WriteRune(letters[g.r.IntN(len(letters))])
	}
	return b.String()
}

func (g *group) join() {
	m := member{key: g.key(), rack: policy.NoRack, topics: g.subscription()}
	m.id = fmt.Sprintf("%s/%d", g.name(), m.key)
	if g.r.IntN(3) == 0 {
		m.instance = fmt.Sprintf("%s/%d", g.name(), m.key)
	}
	if len(g.racks) > 0 && g.r.IntN(4) > 0 {
		m.rack = int32(g.r.IntN(len(g.racks)))
	}
	g.members = append(g.members, m)
}

// change is what happens between two assignments.
func (g *group) change() {
	for range 1 + g.r.IntN(3) {
		switch g.r.IntN(9) {
		case 0: // members leave, perhaps all but one
			keep := 1 + g.r.IntN(len(g.members))
			g.shuffle()
			g.members = g.members[:keep]
		case 1: // one leaves
			if len(g.members) > 1 {
				i := g.r.IntN(len(g.members))
				g.members = slices.Delete(g.members, i, i+1)
			}
		case 2: // some join
			for range min(logUniform(g.r, 1+len(g.members)), maxMembers-len(g.members)) {
				g.join()
			}
		case 3: // a static member comes back under a new id, with its target
			i := g.r.IntN(len(g.members))
			g.members[i].id = fmt.Sprintf("%s/%d", g.name(), g.key())
		case 4: // topics grow
			for i := range g.topics {
				if g.r.IntN(3) == 0 {
					g.topics[i].partitions += g.r.IntN(1 + g.topics[i].partitions)
				}
			}
		case 5: // a topic is deleted
			if len(g.topics) > 1 {
				g.deleteTopic(g.r.IntN(len(g.topics)))
			}
		case 6: // a topic appears somewhere among the ids
			t := topic{key: g.key(), partitions: logUniform(g.r, 100)}
			g.topics = slices.Insert(g.topics, g.r.IntN(len(g.topics)+1), t)
		case 7: // subscriptions change
			g.resubscribe()
		case 8: // the previous target is of another making
			g.disturb()
		}
	}
	g.bound()
}

func (g *group) shuffle() {
	g.r.Shuffle(len(g.members), func(i, j int) { g.members[i], g.members[j] = g.members[j], g.members[i] })
}

func (g *group) deleteTopic(i int) {
	key := g.topics[i].key
	g.topics = slices.Delete(g.topics, i, i+1)
	gone := func(k int) bool { return k == key }
	g.common = slices.DeleteFunc(slices.Clone(g.common), gone)
	for k := range g.kinds {
		g.kinds[k] = slices.DeleteFunc(slices.Clone(g.kinds[k]), gone)
	}
	for m := range g.members {
		g.members[m].topics = slices.DeleteFunc(slices.Clone(g.members[m].topics), gone)
	}
}

func (g *group) resubscribe() {
	if g.r.IntN(2) == 0 {
		g.choose()
	}
	some := g.r.Float64()
	if g.shape == equal {
		some = 1
	}
	for m := range g.members {
		if g.r.Float64() < some {
			g.members[m].topics = g.subscription()
		}
	}
}

// disturb makes the target one that no assignor would have given: partitions free, or at members that have too many or do not
// even subscribe to them.
func (g *group) disturb() {
	p := g.r.Float64()
	favourite := g.members[g.r.IntN(len(g.members))].key
	concentrate := g.r.IntN(2) == 0
	for _, t := range g.topics {
		for i := range t.partitions {
			if g.r.Float64() >= p {
				continue
			}
			at := place{t.key, i}
			switch {
			case g.r.IntN(4) == 0:
				delete(g.target, at)
			case concentrate:
				g.target[at] = favourite
			default:
				g.target[at] = g.members[g.r.IntN(len(g.members))].key
			}
		}
	}
}

// bound keeps a group that grew within the limits.
func (g *group) bound() {
	total := 0
	for i := range g.topics {
		if total += g.topics[i].partitions; total > maxPartitions {
			for len(g.topics) > max(i, 1) {
				g.deleteTopic(len(g.topics) - 1)
			}
			g.topics[0].partitions = min(g.topics[0].partitions, maxPartitions)
			return
		}
	}
}

// install makes the answer the previous target of the next round.
func (g *group) install(f *policy.AssignorFacts, owners []int32) {
	byID := map[string]int{}
	for _, m := range g.members {
		byID[m.id] = m.key
	}
	clear(g.target)
	for i, t := range g.topics {
		s := f.Topics[i].Partitions
		for p, owner := range owners[s.First:s.End] {
			if owner != policy.NoMember {
				g.target[place{t.key, p}] = byID[f.Members[owner].ID]
			}
		}
	}
}

// facts brings the group into the form the assignors get.
func (g *group) facts() *policy.AssignorFacts {
	f := &policy.AssignorFacts{Group: "g", Homogeneous: g.shape != equalByRE, Racks: g.racks}
	g.shuffle()
	members := slices.Clone(g.members)
	slices.SortFunc(members, func(a, b member) int { return strings.Compare(a.id, b.id) })
	index := map[int]int32{} // topics by key
	for i, t := range g.topics {
		index[t.key] = int32(i)
	}
	memberIndex := map[int]int32{}
	for i, m := range members {
		memberIndex[m.key] = int32(i)
		s := policy.Span{First: int32(len(f.Subscriptions))}
		for _, key := range m.topics {
			f.Subscriptions = append(f.Subscriptions, index[key])
		}
		slices.Sort(f.Subscriptions[s.First:])
		s.End = int32(len(f.Subscriptions))
		if i > 0 && slices.Equal(f.Subscriptions[s.First:], f.Subscription(i-1)) {
			f.Subscriptions, s = f.Subscriptions[:s.First], f.Members[i-1].Subscribed
		}
		f.Members = append(f.Members, policy.AssignorMember{ID: m.id, InstanceID: m.instance, Rack: m.rack, Subscribed: s})
		if !slices.Equal(f.Subscription(i), f.Subscription(0)) {
			f.Homogeneous = false
		}
	}
	ids := g.topicIDs(f)
	for i, t := range g.topics {
		s := policy.Span{First: int32(len(f.Previous))}
		for p := range t.partitions {
			owner := policy.NoMember
			if key, ok := g.target[place{t.key, p}]; ok {
				if m, ok := memberIndex[key]; ok {
					owner = m
				}
			}
			f.Previous = append(f.Previous, owner)
		}
		s.End = int32(len(f.Previous))
		f.Topics = append(f.Topics, policy.AssignorTopic{ID: ids[i], Name: fmt.Sprint("topic-", t.key), Partitions: s})
	}
	g.irrelevant(f)
	return f
}

// topicIDs draws ids that ascend in Kafka's order. Kafka's homogeneous uniform assignor walks a hash set of the subscribed
// ids, which has room for more than it holds and is ordered by the low bits of their hash: there, the hash of a subscribed id is
// its rank.
func (g *group) topicIDs(f *policy.AssignorFacts) [][16]byte {
	ids := make([][16]byte, len(g.topics))
	for i := range ids {
		high := g.r.Uint64()
		if !f.Homogeneous && g.r.IntN(4) == 0 {
			high %= 3 // so that the low half matters
		}
		binary.BigEndian.PutUint64(ids[i][:], high)
		binary.BigEndian.PutUint64(ids[i][8:], g.r.Uint64())
	}
	slices.SortFunc(ids, policy.CompareTopicIDs)
	if f.Homogeneous {
		for rank, t := range f.Subscription(0) {
			// The hash is the exclusive or of the id's four words.
			word := func(at int) uint32 { return binary.BigEndian.Uint32(ids[t][at:]) }
			binary.BigEndian.PutUint32(ids[t][12:], uint32(rank)^word(0)^word(4)^word(8))
		}
	}
	return ids
}

// irrelevant adds facts that the built-in assignors must not look at.
func (g *group) irrelevant(f *policy.AssignorFacts) {
	if len(g.racks) > 0 && g.r.IntN(2) == 0 {
		for range f.Previous {
			s := policy.Span{First: int32(len(f.ReplicaRacks))}
			for rack := range g.racks {
				if g.r.IntN(2) == 0 {
					f.ReplicaRacks = append(f.ReplicaRacks, int32(rack))
				}
			}
			s.End = int32(len(f.ReplicaRacks))
			f.PartitionRacks = append(f.PartitionRacks, s)
		}
	}
	if g.r.IntN(4) == 0 {
		for range f.Previous {
			f.Owned = append(f.Owned, int32(g.r.IntN(len(f.Members)+1))-1)
			f.Lag = append(f.Lag, g.r.Int64N(1000)-1)
			f.Rate = append(f.Rate, g.r.Float64()*100)
		}
	}
}

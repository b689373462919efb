package policy

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Assignor decides which member of a consumer group is to consume which
// partition. It is asked whenever a group needs a new target assignment
// (KIP-848), on a worker, never on the group's shard.
//
// The same facts give the same verdict, so an assignor may be asked again
// after a failure. An error means that there is no verdict: the group keeps
// its last target where that is still valid, and else takes the answer of
// UniformAssignor. The facts are the caller's and are not changed.
type Assignor interface {
	Assign(ctx context.Context, facts *AssignorFacts) (AssignorVerdict, error)
}

// Names under which the built-in assignors appear in
// group.consumer.assignors and in the requests of members.
const (
	UniformAssignorName = "uniform"
	RangeAssignorName   = "range"
)

// Values that stand for "none" or "unknown" in the facts of an assignor.
const (
	// NoMember as an owner: the partition has none.
	NoMember int32 = -1
	// NoRack: the member did not say where it is.
	NoRack int32 = -1
	// UnknownLag and UnknownRate: the host could not tell, or was not asked
	// to find out.
	UnknownLag  int64   = -1
	UnknownRate float64 = -1
)

// ErrAssignorFacts is returned when facts break a rule of AssignorFacts.
var ErrAssignorFacts = errors.New("policy: malformed facts of an assignor")

// ErrAssignorVerdict is returned when a target assignment may not be
// installed.
var ErrAssignorVerdict = errors.New("policy: invalid target assignment")

// Span is the half-open range [First, End) of a flat array.
type Span struct{ First, End int32 }

// Len returns the number of elements.
func (s Span) Len() int { return int(s.End - s.First) }

// AssignorMember is one member of the group.
type AssignorMember struct {
	// ID is the member id, never empty.
	ID string
	// InstanceID is group.instance.id of a static member (KIP-345), empty for
	// a dynamic one.
	InstanceID string
	// ClientID is the client.id of the member's connection.
	ClientID string
	// Rack is an index into AssignorFacts.Racks, or NoRack.
	Rack int32
	// Subscribed is the member's range of AssignorFacts.Subscriptions.
	// Members with equal subscriptions may share one range.
	Subscribed Span
}

// AssignorTopic is one topic that the group can consume.
type AssignorTopic struct {
	// ID is the topic id, 16 bytes as on the wire.
	ID [16]byte
	// Name is the topic's name.
	Name string
	// Partitions is the topic's range of partition numbers: partition p of
	// the topic has the number Partitions.First+p.
	Partitions Span
}

// AssignorFacts is everything an assignor may look at.
//
// Members, topics and racks are known by their index. All partitions of all
// topics are numbered through, topic by topic and without gaps, so that what
// is said of a partition is one array indexed by that number. The facts are in
// canonical order: a group in one state has one form, and whoever breaks ties
// by index breaks them by id.
type AssignorFacts struct {
	// Group is the group id.
	Group string
	// Homogeneous is Kafka's subscription type of the group: every topic name
	// that a member subscribes to is named by all members. Names of topics
	// that do not exist count, and a topic reached by a regular expression
	// makes the group heterogeneous; so members may well have equal
	// Subscriptions while this is false, but not the reverse.
	Homogeneous bool
	// Members are in ascending order of ID, bytewise. No two have one ID.
	Members []AssignorMember
	// Topics are those that at least one member subscribes to and that exist,
	// in ascending order of ID as CompareTopicIDs has it. Others may be
	// among them; nobody gets their partitions.
	Topics []AssignorTopic
	// Subscriptions holds the topic indexes of all members' subscriptions, in
	// ascending order within each member's range. Subscribed topics that do
	// not exist are left out.
	Subscriptions []int32
	// Racks are the distinct names of racks, in ascending order.
	Racks []string

	// Previous is the group's last target assignment: by partition number the
	// index of the member, or NoMember. What it said of members that left and
	// of partitions that do not exist any more is left out; that a member
	// still subscribes to what it was given is not promised.
	Previous []int32
	// Owned is who holds the partition now, which lags behind Previous while
	// the group reconciles: by partition number the index of the member, or
	// NoMember. May be empty when the host did not gather it.
	Owned []int32
	// Lag is how many records the group's committed offset is behind the high
	// watermark, by partition number, or UnknownLag. May be empty.
	Lag []int64
	// Rate is how many records a second were lately appended, by partition
	// number, or UnknownRate. May be empty.
	Rate []float64
	// PartitionRacks is by partition number the range of ReplicaRacks that
	// names the racks of the partition's replicas. May be empty.
	PartitionRacks []Span
	// ReplicaRacks holds indexes into Racks, ascending and distinct within
	// each partition's range. Partitions may share one range.
	ReplicaRacks []int32
}

// AssignorVerdict is a target assignment.
type AssignorVerdict struct {
	// Owners is by partition number the index of the member that is to
	// consume the partition. NoMember is allowed only where no member
	// subscribes to the topic. That a partition has one owner is the shape's
	// own promise: nothing can be assigned twice.
	Owners []int32
}

// PartitionCount returns how many partitions the facts number.
func (f *AssignorFacts) PartitionCount() int {
	if len(f.Topics) == 0 {
		return 0
	}
	return int(f.Topics[len(f.Topics)-1].Partitions.End)
}

// Subscription returns the topic indexes that the member subscribes to,
// ascending.
func (f *AssignorFacts) Subscription(member int) []int32 {
	s := f.Members[member].Subscribed
	return f.Subscriptions[s.First:s.End]
}

// CompareTopicIDs orders topic ids as Kafka does: as two signed 64-bit
// numbers, the first eight bytes before the last.
func CompareTopicIDs(a, b [16]byte) int {
	half := func(id *[16]byte, at int) int64 { return int64(binary.BigEndian.Uint64(id[at:])) }
	return cmp.Or(cmp.Compare(half(&a, 0), half(&b, 0)), cmp.Compare(half(&a, 8), half(&b, 8)))
}

// Validate checks the rules that the fields state. The built-in assignors
// refuse facts that break one; they do not panic on any.
func (f *AssignorFacts) Validate() error {
	if err := f.validateTopics(); err != nil {
		return err
	}
	if err := f.validateMembers(); err != nil {
		return err
	}
	return f.validatePartitions()
}

func factsError(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrAssignorFacts, fmt.Sprintf(format, args...))
}

func (f *AssignorFacts) validateTopics() error {
	next := int32(0)
	for i := range f.Topics {
		t := &f.Topics[i]
		if t.Partitions.First != next || t.Partitions.End < next {
			return factsError("topic %d has partition numbers [%d, %d), %d follows", i, t.Partitions.First, t.Partitions.End, next)
		}
		next = t.Partitions.End
		if i > 0 && CompareTopicIDs(f.Topics[i-1].ID, t.ID) >= 0 {
			return factsError("topic %d is not in ascending order of id", i)
		}
	}
	return nil
}

func (f *AssignorFacts) validateMembers() error {
	for i := 1; i < len(f.Racks); i++ {
		if f.Racks[i-1] >= f.Racks[i] {
			return factsError("rack %d is not in ascending order", i)
		}
	}
	for i := range f.Members {
		m := &f.Members[i]
		switch {
		case m.ID == "":
			return factsError("member %d has no id", i)
		case i > 0 && f.Members[i-1].ID >= m.ID:
			return factsError("member %d is not in ascending order of id", i)
		case m.Rack != NoRack && !within(m.Rack, len(f.Racks)):
			return factsError("member %d is in rack %d of %d", i, m.Rack, len(f.Racks))
		case !m.Subscribed.within(len(f.Subscriptions)):
			return factsError("member %d has subscriptions [%d, %d) of %d", i, m.Subscribed.First, m.Subscribed.End, len(f.Subscriptions))
		}
		if i > 0 && m.Subscribed == f.Members[i-1].Subscribed {
			continue
		}
		own := f.Subscription(i)
		if !ascending(own, len(f.Topics)) {
			return factsError("the subscription of member %d is not ascending within %d topics", i, len(f.Topics))
		}
		if f.Homogeneous && i > 0 && !slices.Equal(own, f.Subscription(0)) {
			return factsError("members 0 and %d of a homogeneous group differ in their subscriptions", i)
		}
	}
	return nil
}

func (f *AssignorFacts) validatePartitions() error {
	n := f.PartitionCount()
	if len(f.Previous) != n {
		return factsError("previous target has %d partitions, not %d", len(f.Previous), n)
	}
	for _, a := range []struct {
		name string
		n    int
	}{{"owned", len(f.Owned)}, {"lag", len(f.Lag)}, {"rate", len(f.Rate)}, {"racks", len(f.PartitionRacks)}} {
		if a.n != 0 && a.n != n {
			return factsError("%s has %d partitions, not %d", a.name, a.n, n)
		}
	}
	for _, owners := range [][]int32{f.Previous, f.Owned} {
		for p, m := range owners {
			if m != NoMember && !within(m, len(f.Members)) {
				return factsError("partition %d is held by member %d of %d", p, m, len(f.Members))
			}
		}
	}
	for p, lag := range f.Lag {
		if lag < UnknownLag {
			return factsError("partition %d has lag %d", p, lag)
		}
	}
	for p, rate := range f.Rate {
		if !(rate >= 0 && rate <= 1e18) && rate != UnknownRate {
			return factsError("partition %d has rate %g", p, rate)
		}
	}
	for p, s := range f.PartitionRacks {
		if !s.within(len(f.ReplicaRacks)) {
			return factsError("partition %d has racks [%d, %d) of %d", p, s.First, s.End, len(f.ReplicaRacks))
		}
		if !ascending(f.ReplicaRacks[s.First:s.End], len(f.Racks)) {
			return factsError("the racks of partition %d are not ascending within %d", p, len(f.Racks))
		}
	}
	return nil
}

func within(i int32, n int) bool { return i >= 0 && int(i) < n }

func (s Span) within(n int) bool { return s.First >= 0 && s.First <= s.End && int(s.End) <= n }

// ascending is whether the indexes ascend strictly within [0, n).
func ascending(indexes []int32, n int) bool {
	last := int32(-1)
	for _, i := range indexes {
		if i <= last {
			return false
		}
		last = i
	}
	return int(last) < n
}

// ValidateAssignment is the host's check of any assignor's answer, and of an
// old target that is to be kept: every partition of a subscribed topic has an
// owner, every owner is a member, and nobody is given a topic it did not ask
// for. The facts are taken to be valid.
func ValidateAssignment(facts *AssignorFacts, verdict AssignorVerdict) error {
	if n := facts.PartitionCount(); len(verdict.Owners) != n {
		return fmt.Errorf("%w: it has %d partitions, not %d", ErrAssignorVerdict, len(verdict.Owners), n)
	}
	var subscribed []bool
	for t := range facts.Topics {
		topic := &facts.Topics[t]
		known := NoMember
		for p := topic.Partitions.First; p < topic.Partitions.End; p++ {
			m := verdict.Owners[p]
			switch {
			case m == NoMember:
				if subscribed == nil {
					subscribed = facts.subscribedTopics()
				}
				if subscribed[t] {
					return fmt.Errorf("%w: partition %d of topic %d (%s) has no owner", ErrAssignorVerdict, p-topic.Partitions.First, t, topic.Name)
				}
			case !within(m, len(facts.Members)):
				return fmt.Errorf("%w: partition %d of topic %d (%s) goes to member %d of %d",
					ErrAssignorVerdict, p-topic.Partitions.First, t, topic.Name, m, len(facts.Members))
			case m != known:
				if !facts.subscribes(int(m), int32(t)) {
					return fmt.Errorf("%w: member %d (%s) does not subscribe to topic %d (%s)",
						ErrAssignorVerdict, m, facts.Members[m].ID, t, topic.Name)
				}
				known = m
			}
		}
	}
	return nil
}

// subscribes is whether the member subscribes to the topic.
func (f *AssignorFacts) subscribes(member int, topic int32) bool {
	s := f.Subscription(member)
	if len(s) == len(f.Topics) {
		return true
	}
	_, found := slices.BinarySearch(s, topic)
	return found
}

// subscribedTopics is by topic index whether any member subscribes to it.
func (f *AssignorFacts) subscribedTopics() []bool {
	subscribed := make([]bool, len(f.Topics))
	for i := range f.Members {
		if i > 0 && f.Members[i].Subscribed == f.Members[i-1].Subscribed {
			continue
		}
		for _, t := range f.Subscription(i) {
			subscribed[t] = true
		}
	}
	return subscribed
}

// Assignments groups a verdict by member: the partition numbers of all members
// in one slice, ascending within each member, and each member's range of it.
// The verdict is one that ValidateAssignment accepted.
func (v AssignorVerdict) Assignments(members int) (partitions []int32, ranges []Span) {
	ranges = make([]Span, members)
	for _, m := range v.Owners {
		if m != NoMember {
			ranges[m].End++
		}
	}
	partitions = make([]int32, layOut(ranges))
	for p, m := range v.Owners {
		if m != NoMember {
			partitions[ranges[m].End] = int32(p)
			ranges[m].End++
		}
	}
	return partitions, ranges
}

// layOut takes ranges whose End is a length, makes them empty ranges that can
// grow to that length in one array, and returns the array's length.
func layOut(ranges []Span) int32 {
	next := int32(0)
	for i := range ranges {
		n := ranges[i].End
		ranges[i] = Span{First: next, End: next}
		next += n
	}
	return next
}

// compareUTF16 orders strings by their UTF-16 code units, as Java does; it
// differs from the order of bytes where one has a character beyond U+FFFF and
// the other one from U+E000 on.
func compareUTF16(a, b string) int {
	for i := range min(len(a), len(b)) {
		if x, y := a[i], b[i]; x != y {
			if x >= 0xEE && y >= 0xEE && (x >= 0xF0) != (y >= 0xF0) {
				return cmp.Compare(y, x)
			}
			return cmp.Compare(x, y)
		}
	}
	return strings.Compare(a, b)
}

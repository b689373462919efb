package group

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/weir-broker/weir/broker/metadata"
	"github.com/weir-broker/weir/broker/policy"
)

// TargetJob is a consumer group (KIP-848) that needs a new target assignment. The shard fills it with copies or with
// what never changes, a worker computes the Target, and the shard gets that back as an operation of its own; meanwhile
// the group may have moved on.
type TargetJob struct {
	Group string
	// Epoch is the group epoch that the target is for.
	Epoch int32
	// Image holds the topics that members can be given.
	Image *metadata.Image
	// Members are the group's members, in any order; no two have one id.
	Members []TargetMember
}

// TargetMember is what a TargetJob knows of a member.
type TargetMember struct {
	ID         string
	InstanceID string // empty for a dynamic member
	Rack       string // empty when the member did not say
	ClientID   string
	// Named are the topics that the member subscribes to by name, Matched those that its regular expression matches;
	// in any order, existing or not.
	Named, Matched []string
	// Expression is the member's regular expression, empty for none.
	Expression string
	// HasTarget is whether there is a record of the member's target; Target is what it says.
	HasTarget bool
	Target    []TopicPartitions
	// Owned are the partitions that the member has or has still to give up.
	Owned []TopicPartitions
}

// Target is the answer to a TargetJob.
type Target struct {
	Group string
	Epoch int32
	// Changed are the members with another target than is recorded, or with none recorded, in ascending order of id.
	Changed []MemberTarget
	// Fallback says whether the assignor's own answer is used, and Err what was wrong with it if not.
	Fallback Fallback
	Err      error
}

// MemberTarget is the target of one member: topics in Kafka's order of their ids, partitions ascending.
type MemberTarget struct {
	ID         string
	Partitions []TopicPartitions
}

// Fallback says where a target comes from.
type Fallback int8

// The fallbacks, in the order in which they are tried.
const (
	NoFallback      Fallback = iota // the assignor answered
	KeptTarget                      // the group's last target, which is valid for today's members
	UniformFallback                 // policy.UniformAssignor
)

// String returns the fallback's name.
func (f Fallback) String() string { return [...]string{"none", "kept", "uniform"}[f] }

// Facts brings the job into the form in which assignors get it. Lag, rate and the racks of partitions are left out:
// the built-in assignors do not look at them, and a worker can add them.
func (j *TargetJob) Facts() *policy.AssignorFacts {
	members := slices.Clone(j.Members)
	slices.SortFunc(members, func(a, b TargetMember) int { return strings.Compare(a.ID, b.ID) })
	names := numberNames(members)
	f := &policy.AssignorFacts{Group: j.Group, Homogeneous: homogeneous(members, names), Racks: j.racks(members)}
	byName := j.addTopics(f, names.names)

	f.Members = make([]policy.AssignorMember, len(members))
	for i := range members {
		m := &members[i]
		rack, known := slices.BinarySearch(f.Racks, m.Rack)
		if !known {
			rack = int(policy.NoRack)
		}
		f.Members[i] = policy.AssignorMember{ID: m.ID, InstanceID: m.InstanceID, ClientID: m.ClientID, Rack: int32(rack)}
		if i > 0 && names.members[i] == names.members[i-1] {
			f.Members[i].Subscribed = f.Members[i-1].Subscribed
			continue
		}
		first := len(f.Subscriptions)
		for _, name := range names.all(i) {
			if t := byName[name]; t >= 0 {
				f.Subscriptions = append(f.Subscriptions, t)
			}
		}
		f.Subscriptions = sortTail(f.Subscriptions, first)
		f.Members[i].Subscribed = policy.Span{First: int32(first), End: int32(len(f.Subscriptions))}
	}

	n := f.PartitionCount()
	owners := make([]int32, 2*n)
	for p := range owners {
		owners[p] = policy.NoMember
	}
	f.Previous, f.Owned = owners[:n:n], owners[n:]
	byID := make(map[metadata.TopicID]policy.Span, len(f.Topics))
	for i := range f.Topics {
		byID[f.Topics[i].ID] = f.Topics[i].Partitions
	}
	for i := range members {
		enter(byID, f.Previous, int32(i), members[i].Target)
		enter(byID, f.Owned, int32(i), members[i].Owned)
	}
	return f
}

// enter makes the member the owner of partitions, as far as these exist and have none yet.
func enter(topics map[metadata.TopicID]policy.Span, owners []int32, member int32, list []TopicPartitions) {
	for i := range list {
		s := topics[list[i].TopicID]
		for _, p := range list[i].Partitions {
			if p >= 0 && p < s.End-s.First && owners[s.First+p] == policy.NoMember {
				owners[s.First+p] = member
			}
		}
	}
}

// sortTail sorts what follows first and takes out what is there twice.
func sortTail(list []int32, first int) []int32 {
	tail := list[first:]
	slices.Sort(tail)
	return list[:first+len(slices.Compact(tail))]
}

// subscribed has the subscriptions of members with numbers for names, so that each name is looked up once.
type subscribed struct {
	names   []string // by number, existing topics or not
	flat    []int32  // the numbers that members name and match
	members []memberNames
}

// memberNames says where in flat a member's numbers are: what it names in [first, matched), what matches its expression
// in [matched, end).
type memberNames struct{ first, matched, end int }

// numberNames numbers the names that members subscribe to. Members that follow one another with one subscription have
// one range.
func numberNames(members []TargetMember) *subscribed {
	s := &subscribed{members: make([]memberNames, len(members))}
	numbers := map[string]int32{}
	add := func(names []string) {
		for _, name := range names {
			n, known := numbers[name]
			if !known {
				n = int32(len(s.names))
				numbers[name] = n
				s.names = append(s.names, name)
			}
			s.flat = append(s.flat, n)
		}
	}
	for i := range members {
		m := &members[i]
		if i > 0 && slices.Equal(m.Named, members[i-1].Named) && slices.Equal(m.Matched, members[i-1].Matched) {
			s.members[i] = s.members[i-1]
			continue
		}
		s.members[i].first = len(s.flat)
		add(m.Named)
		s.members[i].matched = len(s.flat)
		add(m.Matched)
		s.members[i].end = len(s.flat)
	}
	return s
}

func (s *subscribed) all(member int) []int32 {
	m := s.members[member]
	return s.flat[m.first:m.end]
}

// homogeneous is Kafka's subscription type. Members that subscribe by expressions are alike if they share one and name no
// topics besides.
func homogeneous(members []TargetMember, names *subscribed) bool {
	byRegex := slices.ContainsFunc(members, func(m TargetMember) bool { return m.Expression != "" })
	if !byRegex {
		return names.homogeneous()
	}
	return !slices.ContainsFunc(members, func(m TargetMember) bool { return m.Expression != members[0].Expression || len(m.Named) > 0 })
}

// homogeneous is whether every topic that anyone subscribes to, existing or not, is named by all.
func (s *subscribed) homogeneous() bool {
	by := make([]int, len(s.names)) // the last member that named it, from 1
	for i, m := range s.members {
		if i > 0 && m == s.members[i-1] {
			continue
		}
		named := 0
		for _, name := range s.flat[m.first:m.matched] {
			if by[name] != i+1 {
				by[name] = i + 1
				named++
			}
		}
		if named < len(s.names) {
			return false
		}
	}
	return true
}

// addTopics adds the topics that exist, and returns for each name the topic's index, -1 for a topic that does not.
func (j *TargetJob) addTopics(f *policy.AssignorFacts, names []string) []int32 {
	type found struct {
		topic *metadata.Topic
		name  int
	}
	var topics []found
	byName := make([]int32, len(names))
	for i, name := range names {
		byName[i] = -1
		if t := j.Image.Topic(name); t != nil {
			topics = append(topics, found{t, i})
		}
	}
	slices.SortFunc(topics, func(a, b found) int { return policy.CompareTopicIDs(a.topic.ID, b.topic.ID) })
	f.Topics = make([]policy.AssignorTopic, len(topics))
	next := int32(0)
	for i, t := range topics {
		s := policy.Span{First: next, End: next + t.topic.PartitionCount()}
		next = s.End
		f.Topics[i] = policy.AssignorTopic{ID: t.topic.ID, Name: t.topic.Name, Partitions: s}
		byName[t.name] = int32(i)
	}
	return byName
}

// racks are the racks of members and brokers, ascending, without the empty one.
func (j *TargetJob) racks(members []TargetMember) []string {
	var racks []string
	for i := range members {
		racks = append(racks, members[i].Rack)
	}
	for _, b := range j.Image.Brokers() {
		racks = append(racks, b.Rack)
	}
	slices.Sort(racks)
	racks = slices.Compact(racks)
	if len(racks) > 0 && racks[0] == "" {
		racks = racks[1:]
	}
	return racks
}

// AddPartitionRacks adds the racks of the partitions' replicas to facts that Facts returned.
func (j *TargetJob) AddPartitionRacks(f *policy.AssignorFacts) {
	f.PartitionRacks = make([]policy.Span, 0, f.PartitionCount())
	f.ReplicaRacks = nil
	for i := range f.Topics {
		t := j.Image.TopicByID(f.Topics[i].ID)
		for p := range t.PartitionCount() {
			first := len(f.ReplicaRacks)
			for _, id := range t.Partition(p).Replicas {
				if b := j.Image.Broker(id); b != nil && b.Rack != "" {
					rack, _ := slices.BinarySearch(f.Racks, b.Rack)
					f.ReplicaRacks = append(f.ReplicaRacks, int32(rack))
				}
			}
			f.ReplicaRacks = sortTail(f.ReplicaRacks, first)
			f.PartitionRacks = append(f.PartitionRacks, policy.Span{First: int32(first), End: int32(len(f.ReplicaRacks))})
		}
	}
}

// Compute asks the assignor for the target. Its answer is checked; without one that can be used, the last target stays
// if it is valid for today's members, else the built-in uniform assignor answers.
func (j *TargetJob) Compute(ctx context.Context, assignor policy.Assignor, facts *policy.AssignorFacts) Target {
	target := Target{Group: j.Group, Epoch: j.Epoch}
	verdict, err := assignor.Assign(ctx, facts)
	if err == nil {
		err = policy.ValidateAssignment(facts, verdict)
	}
	if err != nil {
		target.Err, target.Fallback = err, KeptTarget
		verdict = policy.AssignorVerdict{Owners: facts.Previous}
		if policy.ValidateAssignment(facts, verdict) != nil {
			target.Fallback = UniformFallback
			if verdict, err = policy.UniformAssignor().Assign(ctx, facts); err != nil {
				// Facts are refused that Facts made: nothing moves, and the error says why.
				target.Err, target.Fallback = errors.Join(target.Err, err), KeptTarget
				return target
			}
		}
	}
	target.Changed = j.changes(facts, verdict)
	return target
}

// changes are the targets that differ from what is recorded.
func (j *TargetJob) changes(f *policy.AssignorFacts, verdict policy.AssignorVerdict) []MemberTarget {
	changed := make([]bool, len(f.Members))
	holds := make([]int, len(f.Members)) // partitions of the last target that exist
	for p, m := range verdict.Owners {
		before := f.Previous[p]
		if before != policy.NoMember {
			holds[before]++
		}
		if before == m {
			continue
		}
		for _, of := range []int32{before, m} {
			if of != policy.NoMember {
				changed[of] = true
			}
		}
	}
	for i := range j.Members {
		m := &j.Members[i]
		recorded := 0
		for t := range m.Target {
			recorded += len(m.Target[t].Partitions)
		}
		at, _ := slices.BinarySearchFunc(f.Members, m.ID, func(m policy.AssignorMember, id string) int { return strings.Compare(m.ID, id) })
		// A record that names more than there is has to be written anew too.
		changed[at] = changed[at] || !m.HasTarget || recorded != holds[at]
	}

	var out []MemberTarget
	partitions, ranges := verdict.Assignments(len(f.Members))
	for m, r := range ranges {
		if changed[m] {
			out = append(out, MemberTarget{ID: f.Members[m].ID, Partitions: byTopic(f, partitions[r.First:r.End])})
		}
	}
	return out
}

// byTopic splits ascending partition numbers by their topics.
func byTopic(f *policy.AssignorFacts, numbers []int32) []TopicPartitions {
	var list []TopicPartitions
	own := make([]int32, len(numbers))
	for t := 0; len(numbers) > 0; {
		at, _ := slices.BinarySearchFunc(f.Topics[t:], numbers[0], func(t policy.AssignorTopic, p int32) int {
			if p < t.Partitions.End {
				return 1
			}
			return -1
		})
		t += at
		s := f.Topics[t].Partitions
		n := 0
		for n < len(numbers) && numbers[n] < s.End {
			own[n] = numbers[n] - s.First
			n++
		}
		list = append(list, TopicPartitions{TopicID: f.Topics[t].ID, Partitions: own[:n:n]})
		numbers, own = numbers[n:], own[n:]
	}
	return list
}

// Records gives add the records that install the target at now: one for every changed member that still lives, then
// the epoch. A member that left in the meantime has no target; its partitions wait for the next one.
func (t *Target) Records(now time.Time, lives func(memberID string) bool, add func(Key, Value)) {
	for i := range t.Changed {
		if m := &t.Changed[i]; lives(m.ID) {
			add(Key{Type: TargetAssignmentMemberType, Group: t.Group, Member: m.ID}, &TargetAssignmentMemberValue{Partitions: m.Partitions})
		}
	}
	add(Key{Type: TargetAssignmentMetadataType, Group: t.Group},
		&TargetAssignmentMetadataValue{AssignmentEpoch: t.Epoch, AssignmentTimestamp: now.UnixMilli()})
}

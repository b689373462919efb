package policy

import "context"

// UniformAssignor returns Kafka's server-side assignor "uniform" (KIP-848):
// every member gets equally many partitions, give or take one, and keeps what
// it had before as far as that allows. Racks and instance ids do not matter to
// it (a static member that returns finds the previous target under its new
// member id).
//
// Where Kafka walks a hash table, and so leaves open what comes first, the
// order here is that of the facts: members by id, topics by id, partitions by
// number. With that order given, the answers are Kafka's.
//
// In a homogeneous group members are served in order. The first ones get the
// share that is larger by one, but a member that does not already fill it
// leaves it to a later one while there are enough of those. What a member had
// beyond its share goes, from its last partition back; then those who are
// short take what is free, first the partitions nobody had, then those just
// given up.
//
// A heterogeneous group is described at uniformMixed.
func UniformAssignor() Assignor { return uniformAssignor{} }

type uniformAssignor struct{}

var _ Assignor = uniformAssignor{}

func (uniformAssignor) Assign(_ context.Context, f *AssignorFacts) (AssignorVerdict, error) {
	if err := f.Validate(); err != nil {
		return AssignorVerdict{}, err
	}
	owners := make([]int32, f.PartitionCount())
	switch {
	case len(f.Members) == 0:
		for p := range owners {
			owners[p] = NoMember
		}
	case f.Homogeneous:
		assignUniform(f, owners)
	default:
		assignUniformMixed(f, owners)
	}
	return AssignorVerdict{Owners: owners}, nil
}

// assignUniform fills owners for a group whose members all subscribe to the
// same topics.
func assignUniform(f *AssignorFacts, owners []int32) {
	for p := range owners {
		owners[p] = NoMember
	}
	had, ranges, free := splitPrevious(f)
	total, members := len(had)+len(free), len(f.Members)

	larger := total % members // members that are still to get the larger share
	missing := make([]int32, members)
	for m, r := range ranges {
		share := total / members
		takesLarger := larger > 0
		if takesLarger {
			share++
		}
		own := had[r.First:r.End]
		kept := min(len(own), share)
		for _, p := range own[:kept] {
			owners[p] = int32(m)
		}
		free = append(free, own[kept:]...)
		share -= kept
		if share > 0 && takesLarger && members-m > larger {
			share--
			takesLarger = false
		}
		if takesLarger {
			larger--
		}
		missing[m] = int32(share)
	}

	for m, n := range missing {
		for _, p := range free[:n] {
			owners[p] = int32(m)
		}
		free = free[n:]
	}
}

// splitPrevious sorts the partitions of a homogeneous group's topics by
// whether they were assigned before: had holds those that were, grouped by
// member with each one's range, and free the others, both ascending. free has
// room for all.
func splitPrevious(f *AssignorFacts) (had []int32, ranges []Span, free []int32) {
	topics := f.Subscription(0)
	ranges = make([]Span, len(f.Members))
	total := 0
	for _, t := range topics {
		s := f.Topics[t].Partitions
		total += s.Len()
		for _, m := range f.Previous[s.First:s.End] {
			if m != NoMember {
				ranges[m].End++
			}
		}
	}
	had = make([]int32, layOut(ranges))
	free = make([]int32, 0, total)
	for _, t := range topics {
		s := f.Topics[t].Partitions
		for p := s.First; p < s.End; p++ {
			if m := f.Previous[p]; m != NoMember {
				had[ranges[m].End] = p
				ranges[m].End++
			} else {
				free = append(free, p)
			}
		}
	}
	return had, ranges, free
}

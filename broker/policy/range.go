package policy

import (
	"context"
	"slices"
)

// RangeAssignor returns Kafka's server-side assignor "range" (KIP-848).
//
// Each topic by itself is cut into contiguous ranges, one per subscriber, the
// first ones being longer by one where the count does not divide. Subscribers
// are lined up with static members first, by instance id, then dynamic ones by
// member id, both in Java's order of strings; so a static member keeps its
// ranges over a restart, and topics with equally many partitions and the same
// subscribers are co-partitioned. What was assigned before does not matter,
// and neither do racks.
func RangeAssignor() Assignor { return rangeAssignor{} }

type rangeAssignor struct{}

var _ Assignor = rangeAssignor{}

func (rangeAssignor) Assign(_ context.Context, f *AssignorFacts) (AssignorVerdict, error) {
	if err := f.Validate(); err != nil {
		return AssignorVerdict{}, err
	}
	owners := make([]int32, f.PartitionCount())
	for p := range owners {
		owners[p] = NoMember
	}
	order := rangeOrder(f.Members)
	if f.Homogeneous && len(order) > 0 {
		for _, t := range f.Subscription(0) {
			s := f.Topics[t].Partitions
			c := newCut(s, int32(len(order)))
			for k := 0; c.first < s.End; k++ {
				c.give(owners, order[k])
			}
		}
		return AssignorVerdict{Owners: owners}, nil
	}

	subscribers := make([]int32, len(f.Topics)) // by topic
	for m := range f.Members {
		for _, t := range f.Subscription(m) {
			subscribers[t]++
		}
	}
	cuts := make([]cut, len(f.Topics))
	for t := range cuts {
		if subscribers[t] > 0 {
			cuts[t] = newCut(f.Topics[t].Partitions, subscribers[t])
		}
	}
	for _, m := range order {
		for _, t := range f.Subscription(int(m)) {
			cuts[t].give(owners, m)
		}
	}
	return AssignorVerdict{Owners: owners}, nil
}

// cut is a topic of which some ranges were given already.
type cut struct {
	first  int32 // where the next range begins
	share  int32 // length of the ranges
	longer int32 // how many more ranges are longer by one
}

func newCut(s Span, subscribers int32) cut {
	n := s.End - s.First
	return cut{first: s.First, share: n / subscribers, longer: n % subscribers}
}

// give makes the member the owner of the next range.
func (c *cut) give(owners []int32, member int32) {
	end := c.first + c.share
	if c.longer > 0 {
		end++
		c.longer--
	}
	for p := c.first; p < end; p++ {
		owners[p] = member
	}
	c.first = end
}

// rangeOrder returns the indexes of the members in the order in which they are
// served.
func rangeOrder(members []AssignorMember) []int32 {
	order := make([]int32, len(members))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(i, j int32) int {
		a, b := &members[i], &members[j]
		switch {
		case a.InstanceID != "" && b.InstanceID != "":
			if c := compareUTF16(a.InstanceID, b.InstanceID); c != 0 {
				return c
			}
		case a.InstanceID != "":
			return -1
		case b.InstanceID != "":
			return 1
		}
		return compareUTF16(a.ID, b.ID)
	})
	return order
}

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
	subscribers := make([]int32, len(f.Topics)) // by topic
	for m := range f.Members {
		for _, t := range f.Subscription(m) {
			subscribers[t]++
		}
	}
	served := make([]int32, len(f.Topics)) // subscribers that had their range
	for _, m := range rangeOrder(f.Members) {
		for _, t := range f.Subscription(int(m)) {
			s, k := f.Topics[t].Partitions, served[t]
			served[t]++
			share, longer := int32(s.Len())/subscribers[t], int32(s.Len())%subscribers[t]
			first := s.First + k*share + min(k, longer)
			end := first + share
			if k < longer {
				end++
			}
			for p := first; p < end; p++ {
				owners[p] = m
			}
		}
	}
	return AssignorVerdict{Owners: owners}, nil
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

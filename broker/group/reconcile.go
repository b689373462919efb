package group

import (
	"cmp"
	"errors"
	"slices"

	"github.com/weir-broker/weir/broker/metadata"
	"github.com/weir-broker/weir/broker/policy"
)

// ErrMemberStateUnknown is returned for a member whose recorded state a later release wrote, until the member has given
// up all its partitions: it is to be fenced.
var ErrMemberStateUnknown = errors.New("unknown member state")

// States of a member of a consumer group, as in CurrentMemberAssignmentValue:
//
//	       target epoch is newer and                    target epoch is newer and
//	       something must go first                      something is not free yet
//	        +------------------- memberStable -------------------+
//	        v                        ^ ^                         v
//	memberUnrevoked -----------------+ +---------------- memberUnreleased
//	        |     owned no more           all were free     ^
//	        +-----------------------------------------------+
//	              owned no more, something is not free yet
const (
	memberStable     int8 = 0 // has its target
	memberUnrevoked  int8 = 1 // is to give up partitions and stays at its epoch until it has
	memberUnreleased int8 = 2 // is at its target's epoch and waits for partitions of other members
)

// Reconciliation brings a member of a consumer group closer to its target, one step a heartbeat (KIP-848): first it
// gives up what is not in the target, then it moves on to the target's epoch, with all partitions that are free.
type Reconciliation struct {
	// TargetEpoch is the epoch of the group's target assignment, Target the member's part of it.
	TargetEpoch int32
	Target      []TopicPartitions
	// Subscribes is whether the member subscribes to a topic, by name or by expression. The target can be older than
	// the subscription.
	Subscribes func(metadata.TopicID) bool
	// NoTopics is whether it names no topic and its expression matches none.
	NoTopics bool
	// SubscriptionChanged is whether it has with this very heartbeat.
	SubscriptionChanged bool
	// Held is whether a member, this one or another, has a partition or has still to give it up.
	Held func(topic metadata.TopicID, partition int32) bool
	// Owned is what the member says that it has, in any order, if OwnedKnown; it leaves that out of heartbeats in which
	// nothing has changed.
	Owned      []TopicPartitions
	OwnedKnown bool
}

// Next returns the member's next state: a new value, to be recorded, or m itself when there is nothing to do. Assignments
// in it are in Kafka's order of topic ids, with the epoch at which the member got each partition.
func (r *Reconciliation) Next(m *CurrentMemberAssignmentValue) (*CurrentMemberAssignmentValue, error) {
	step := reconcileStep{
		Reconciliation: r, m: m,
		assigned: placedIn(m.AssignedPartitions, m.MemberEpoch), pending: placedIn(m.PartitionsPendingRevocation, m.MemberEpoch),
	}
	switch m.State {
	case memberStable:
		if m.MemberEpoch != r.TargetEpoch {
			return step.advance(), nil
		}
		return step.unsubscribe(), nil
	case memberUnrevoked:
		if step.owns(step.pending) {
			return step.unsubscribe(), nil
		}
		return step.advance(), nil
	case memberUnreleased:
		return step.advance(), nil
	}
	if !r.OwnedKnown || len(r.Owned) > 0 {
		return nil, ErrMemberStateUnknown
	}
	return step.advance(), nil
}

// placed is a partition in an assignment, with the epoch at which the member got it.
type placed struct {
	topic            metadata.TopicID
	partition, epoch int32
}

func comparePlaced(a, b placed) int {
	return cmp.Or(policy.CompareTopicIDs(a.topic, b.topic), cmp.Compare(a.partition, b.partition))
}

// placedIn lists partitions in order. Epochs that are not there are epoch.
func placedIn(list []TopicPartitions, epoch int32) []placed {
	var out []placed
	for i := range list {
		t := &list[i]
		for k, p := range t.Partitions {
			of := epoch
			if k < len(t.AssignmentEpochs) {
				of = t.AssignmentEpochs[k]
			}
			out = append(out, placed{t.TopicID, p, of})
		}
	}
	if !slices.IsSortedFunc(out, comparePlaced) {
		slices.SortStableFunc(out, comparePlaced)
	}
	return out
}

// gather is the reverse of placedIn.
func gather(list []placed) []TopicPartitions {
	var out []TopicPartitions
	for _, p := range list {
		if len(out) == 0 || out[len(out)-1].TopicID != p.topic {
			out = append(out, TopicPartitions{TopicID: p.topic})
		}
		t := &out[len(out)-1]
		t.Partitions = append(t.Partitions, p.partition)
		t.AssignmentEpochs = append(t.AssignmentEpochs, p.epoch)
	}
	return out
}

func holds(list []placed, p placed) bool {
	_, found := slices.BinarySearchFunc(list, p, comparePlaced)
	return found
}

// reconcileStep is one step of a Reconciliation.
type reconcileStep struct {
	*Reconciliation
	m                 *CurrentMemberAssignmentValue
	assigned, pending []placed
}

// owns is whether the member has any of the partitions, as far as is known.
func (s *reconcileStep) owns(list []placed) bool {
	if !s.OwnedKnown {
		return true
	}
	for i := range s.Owned {
		for _, p := range s.Owned[i].Partitions {
			if holds(list, placed{topic: s.Owned[i].TopicID, partition: p}) {
				return true
			}
		}
	}
	return false
}

// advance goes towards the target. The member keeps its epoch while it has something to give up.
func (s *reconcileStep) advance() *CurrentMemberAssignmentValue {
	target := slices.DeleteFunc(placedIn(s.Target, s.TargetEpoch), func(p placed) bool { return !s.Subscribes(p.topic) })
	var kept, revoked []placed
	for _, p := range s.assigned {
		if holds(target, p) {
			kept = append(kept, p)
		} else {
			revoked = append(revoked, p)
		}
	}
	if len(revoked) > 0 && s.owns(revoked) {
		return s.next(memberUnrevoked, s.m.MemberEpoch, kept, revoked)
	}
	state := memberStable
	for _, p := range target {
		switch {
		case holds(s.assigned, p):
		case s.Held(p.topic, p.partition) && !holds(s.pending, p):
			state = memberUnreleased
		default:
			kept = append(kept, p)
		}
	}
	slices.SortFunc(kept, comparePlaced)
	return s.next(state, s.TargetEpoch, kept, nil)
}

// unsubscribe takes topics that the member does not subscribe to any more from what it has, if that has just changed:
// clients stop fetching them at once.
func (s *reconcileStep) unsubscribe() *CurrentMemberAssignmentValue {
	if !s.SubscriptionChanged {
		return s.m
	}
	var kept, gone []placed
	for _, p := range s.assigned {
		if s.Subscribes(p.topic) {
			kept = append(kept, p)
		} else {
			gone = append(gone, p)
		}
	}
	if len(gone) == 0 {
		if s.NoTopics && len(s.pending) == 0 {
			// Nothing to take away is a step, too: the epoch before is not accepted from here on.
			return s.next(s.m.State, s.m.MemberEpoch, s.assigned, nil)
		}
		return s.m
	}
	pending := slices.Concat(s.pending, gone)
	slices.SortFunc(pending, comparePlaced)
	if s.owns(pending) {
		return s.next(memberUnrevoked, s.m.MemberEpoch, kept, pending)
	}
	return s.next(s.m.State, s.m.MemberEpoch, kept, s.pending)
}

// next is the state that is made of its parts, or m if that is the same.
func (s *reconcileStep) next(state int8, epoch int32, assigned, pending []placed) *CurrentMemberAssignmentValue {
	m := s.m
	if m.State == state && m.MemberEpoch == epoch && m.PreviousMemberEpoch == m.MemberEpoch &&
		slices.Equal(assigned, s.assigned) && slices.Equal(pending, s.pending) {
		return m
	}
	return &CurrentMemberAssignmentValue{
		MemberEpoch: epoch, PreviousMemberEpoch: m.MemberEpoch, State: state,
		AssignedPartitions: gather(assigned), PartitionsPendingRevocation: gather(pending),
	}
}

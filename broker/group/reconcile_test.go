package group_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/weir-broker/weir/broker/group"
	"github.com/weir-broker/weir/broker/metadata"
)

const (
	stable     = 0
	unrevoked  = 1
	unreleased = 2
)

// at is held with the epochs at which a member got the partitions.
func at(topic targetTopic, epoch int32, partitions ...int32) group.TopicPartitions {
	tp := held(topic, partitions...)
	for range partitions {
		tp.AssignmentEpochs = append(tp.AssignmentEpochs, epoch)
	}
	return tp
}

type list = []group.TopicPartitions

func TestMemberIsReconciledAsInKafka(t *testing.T) {
	member := func(epoch, previous int32, state int8, assigned, pending list) *group.CurrentMemberAssignmentValue {
		return &group.CurrentMemberAssignmentValue{
			MemberEpoch: epoch, PreviousMemberEpoch: previous, State: state, AssignedPartitions: assigned, PartitionsPendingRevocation: pending,
		}
	}
	for _, c := range []struct {
		name   string
		member *group.CurrentMemberAssignmentValue
		r      group.Reconciliation
		free   bool                                // nobody else has what the member lacks
		not    metadata.TopicID                    // a topic it does not subscribe to
		want   *group.CurrentMemberAssignmentValue // nil: as it was
	}{
		{
			name: "stable at the target's epoch", member: member(5, 4, stable, list{at(topicT, 3, 0)}, nil),
			r: group.Reconciliation{TargetEpoch: 5, Target: list{held(topicT, 0)}},
		},
		{
			name: "a free partition is added at the new epoch", member: member(5, 5, stable, list{at(topicT, 3, 1)}, nil), free: true,
			r:    group.Reconciliation{TargetEpoch: 6, Target: list{held(topicT, 0, 1)}},
			want: member(6, 5, stable, list{{TopicID: topicT.id(), Partitions: []int32{0, 1}, AssignmentEpochs: []int32{6, 3}}}, nil),
		},
		{
			name: "a partition of another member is waited for", member: member(5, 4, stable, list{at(topicT, 3, 1)}, nil),
			r:    group.Reconciliation{TargetEpoch: 6, Target: list{held(topicT, 0, 1)}},
			want: member(6, 5, unreleased, list{at(topicT, 3, 1)}, nil),
		},
		{
			name: "the wait goes on", member: member(6, 6, unreleased, list{at(topicT, 3, 1)}, nil),
			r: group.Reconciliation{TargetEpoch: 6, Target: list{held(topicT, 0, 1)}},
		},
		{
			name: "the wait ends", member: member(6, 5, unreleased, list{at(topicT, 3, 1)}, nil), free: true,
			r:    group.Reconciliation{TargetEpoch: 6, Target: list{held(topicT, 0, 1)}},
			want: member(6, 6, stable, list{{TopicID: topicT.id(), Partitions: []int32{0, 1}, AssignmentEpochs: []int32{6, 3}}}, nil),
		},
		{
			name: "what is not in the target goes first", member: member(5, 4, stable, list{at(topicT, 3, 0, 1)}, nil), free: true,
			r:    group.Reconciliation{TargetEpoch: 6, Target: list{held(topicT, 1, 2)}},
			want: member(5, 5, unrevoked, list{at(topicT, 3, 1)}, list{at(topicT, 3, 0)}),
		},
		{
			name: "what the member says it does not have need not go", member: member(5, 4, stable, list{at(topicT, 3, 0, 1)}, nil), free: true,
			r:    group.Reconciliation{TargetEpoch: 6, Target: list{held(topicT, 1)}, OwnedKnown: true, Owned: list{held(topicT, 1)}},
			want: member(6, 5, stable, list{at(topicT, 3, 1)}, nil),
		},
		{
			name: "a member that does not say what it owns has not revoked", member: member(5, 5, unrevoked, list{at(topicT, 3, 1)}, list{at(topicT, 3, 0)}),
			r: group.Reconciliation{TargetEpoch: 6, Target: list{held(topicT, 1)}},
		},
		{
			name: "revoked, it moves on to the newest epoch", member: member(5, 5, unrevoked, list{at(topicT, 3, 1)}, list{at(topicT, 3, 0)}), free: true,
			r:    group.Reconciliation{TargetEpoch: 9, Target: list{held(topicT, 1, 2)}, OwnedKnown: true, Owned: list{held(topicT, 1)}},
			want: member(9, 5, stable, list{{TopicID: topicT.id(), Partitions: []int32{1, 2}, AssignmentEpochs: []int32{3, 9}}}, nil),
		},
		{
			name: "what it gave up and gets back is not another's", member: member(5, 5, unrevoked, list{at(topicT, 3, 1)}, list{at(topicT, 3, 0)}),
			r:    group.Reconciliation{TargetEpoch: 7, Target: list{held(topicT, 0, 1)}, OwnedKnown: true, Owned: list{held(topicT, 1)}},
			want: member(7, 5, stable, list{{TopicID: topicT.id(), Partitions: []int32{0, 1}, AssignmentEpochs: []int32{7, 3}}}, nil),
		},
		{
			name: "an unsubscribed topic goes before there is a new target", member: member(5, 4, stable, list{at(topicU, 2, 0), at(topicT, 3, 0)}, nil),
			r: group.Reconciliation{TargetEpoch: 5, Target: list{held(topicU, 0), held(topicT, 0)}, SubscriptionChanged: true}, not: topicT.id(),
			want: member(5, 5, unrevoked, list{at(topicU, 2, 0)}, list{at(topicT, 3, 0)}),
		},
		{
			name: "an unsubscribed topic joins what has still to go", member: member(5, 4, unrevoked, list{at(topicT, 3, 0)}, list{at(topicU, 2, 0)}),
			r: group.Reconciliation{TargetEpoch: 6, SubscriptionChanged: true}, not: topicT.id(),
			want: member(5, 5, unrevoked, nil, list{at(topicU, 2, 0), at(topicT, 3, 0)}),
		},
		{
			name: "a target of an unsubscribed topic is not followed", member: member(5, 4, stable, nil, nil), free: true,
			r: group.Reconciliation{TargetEpoch: 6, Target: list{held(topicT, 0)}}, not: topicT.id(),
			want: member(6, 5, stable, nil, nil),
		},
		{
			name: "epochs that an old record lacks are the member's", member: member(5, 4, stable, list{held(topicT, 0)}, nil), free: true,
			r:    group.Reconciliation{TargetEpoch: 6, Target: list{held(topicT, 0)}},
			want: member(6, 5, stable, list{at(topicT, 5, 0)}, nil),
		},
		{
			name: "a state of a later release starts over once all is given up", member: member(5, 4, 9, nil, nil), free: true,
			r:    group.Reconciliation{TargetEpoch: 6, Target: list{held(topicT, 0)}, OwnedKnown: true},
			want: member(6, 5, stable, list{at(topicT, 6, 0)}, nil),
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.r.Subscribes = func(id metadata.TopicID) bool { return id != c.not }
			c.r.Held = func(metadata.TopicID, int32) bool { return !c.free }
			want := c.want
			if want == nil {
				want = c.member
			}
			got, err := c.r.Next(c.member)
			if err != nil || !reflect.DeepEqual(got, want) || (c.want == nil) != (got == c.member) {
				t.Errorf("got  %+v, %v\nwant %+v", got, err, want)
			}
		})
	}
}

func TestUnknownMemberStateIsFencedWhileItOwnsAnything(t *testing.T) {
	m := &group.CurrentMemberAssignmentValue{MemberEpoch: 5, State: 9}
	for _, r := range []group.Reconciliation{{TargetEpoch: 6}, {TargetEpoch: 6, OwnedKnown: true, Owned: list{held(topicT, 0)}}} {
		if _, err := r.Next(m); !errors.Is(err, group.ErrMemberStateUnknown) {
			t.Errorf("%+v: %v", r, err)
		}
	}
}

// reconciled is a group of clients that do as they are told, one heartbeat at a time.
type reconciled struct {
	members []*group.CurrentMemberAssignmentValue
	owned   []list // what each client has
	target  []list
	epoch   int32
}

func (g *reconciled) held(topic metadata.TopicID, partition int32) (holders []int) {
	for i, m := range g.members {
		for _, l := range []list{m.AssignedPartitions, m.PartitionsPendingRevocation} {
			for _, tp := range l {
				if tp.TopicID == topic && slices.Contains(tp.Partitions, partition) {
					holders = append(holders, i)
				}
			}
		}
	}
	return holders
}

func (g *reconciled) heartbeat(t *rapid.T, i int, full bool) {
	r := group.Reconciliation{
		TargetEpoch: g.epoch, Target: g.target[i], Owned: g.owned[i], OwnedKnown: full,
		Subscribes: func(metadata.TopicID) bool { return true },
		Held:       func(topic metadata.TopicID, p int32) bool { return len(g.held(topic, p)) > 0 },
	}
	next, err := r.Next(g.members[i])
	if err != nil {
		t.Fatal(err)
	}
	if next.MemberEpoch < g.members[i].MemberEpoch {
		t.Fatalf("member %d went from epoch %d to %d", i, g.members[i].MemberEpoch, next.MemberEpoch)
	}
	g.members[i] = next
	g.owned[i] = next.AssignedPartitions // the client gives up the others and takes these
}

// Whatever the targets and in whatever order members send heartbeats, no partition is ever with two members, and in the
// end everyone has its target.
func TestReconciliationNeverGivesAPartitionTwice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 5).Draw(t, "members")
		g := &reconciled{owned: make([]list, n), target: make([]list, n)}
		for range n {
			g.members = append(g.members, &group.CurrentMemberAssignmentValue{})
		}
		for range rapid.IntRange(1, 6).Draw(t, "epochs") {
			g.epoch++
			parts := make([][2][]int32, n)
			for k, topic := range []targetTopic{topicU, topicT} {
				for p := range topic.partitions {
					if to := rapid.IntRange(-1, n-1).Draw(t, "to"); to >= 0 {
						parts[to][k] = append(parts[to][k], int32(p))
					}
				}
			}
			for i := range n {
				g.target[i] = nil
				for k, topic := range []targetTopic{topicU, topicT} {
					if len(parts[i][k]) > 0 {
						g.target[i] = append(g.target[i], held(topic, parts[i][k]...))
					}
				}
			}
			for range rapid.IntRange(0, 12).Draw(t, "heartbeats") {
				g.heartbeat(t, rapid.IntRange(0, n-1).Draw(t, "member"), rapid.Bool().Draw(t, "full"))
				for _, topic := range []targetTopic{topicU, topicT} {
					for p := range topic.partitions {
						if h := g.held(topic.id(), int32(p)); len(h) > 1 {
							t.Fatalf("%s-%d is with %v", topic.name, p, h)
						}
					}
				}
			}
		}
		for range 4 {
			for i := range n {
				g.heartbeat(t, i, true)
			}
		}
		for i, m := range g.members {
			got := fmt.Sprint(m.State, m.MemberEpoch, len(m.PartitionsPendingRevocation))
			var partitions list
			for _, tp := range m.AssignedPartitions {
				partitions = append(partitions, group.TopicPartitions{TopicID: tp.TopicID, Partitions: tp.Partitions})
			}
			if want := fmt.Sprint(stable, g.epoch, 0); got != want || !reflect.DeepEqual(partitions, g.target[i]) {
				t.Fatalf("member %d: %s, not %s; %v, not %v", i, got, want, partitions, g.target[i])
			}
		}
	})
}

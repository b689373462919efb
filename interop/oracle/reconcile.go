//go:build interop

package oracle

import (
	"context"
	"errors"
)

// TopicPartitions are partitions of one topic; Epochs, where there are any, are those at which a member got each.
type TopicPartitions struct {
	TopicID    [16]byte
	Partitions []int32
	Epochs     []int32
}

// MemberState is the state of a member of a consumer group, as recorded.
type MemberState struct {
	Epoch, PreviousEpoch int32
	State                int8
	Assigned, Pending    []TopicPartitions // with epochs; in answers topics and partitions ascend
}

// ReconcileRequest is one step of a member towards its target.
type ReconcileRequest struct {
	Member              MemberState
	TargetEpoch         int32
	Target              []TopicPartitions
	SubscriptionChanged bool
	Subscribed          [][16]byte
	Held                []TopicPartitions // partitions that anyone has
	Owned               []TopicPartitions // what the member says it has
	OwnedKnown          bool
}

// ErrFenced is the answer FencedMemberEpochException.
var ErrFenced = errors.New("oracle: the member is fenced")

// Reconcile asks Kafka's CurrentAssignmentBuilder for a member's next state. changed is false when it is as it was.
func (o *Oracle) Reconcile(ctx context.Context, q ReconcileRequest) (next MemberState, changed bool, err error) {
	var w writer
	list := func(l []TopicPartitions, epochs bool) {
		w.i32(int32(len(l)))
		for _, t := range l {
			w.b = append(w.b, t.TopicID[:]...)
			w.i32(int32(len(t.Partitions)))
			for i, p := range t.Partitions {
				w.i32(p)
				if epochs {
					w.i32(t.Epochs[i])
				}
			}
		}
	}
	w.i32(q.Member.Epoch)
	w.i32(q.Member.PreviousEpoch)
	w.i8(q.Member.State)
	list(q.Member.Assigned, true)
	list(q.Member.Pending, true)
	w.i32(q.TargetEpoch)
	list(q.Target, false)
	w.bool(q.SubscriptionChanged)
	w.i32(int32(len(q.Subscribed)))
	for _, id := range q.Subscribed {
		w.b = append(w.b, id[:]...)
	}
	list(q.Held, false)
	w.bool(q.OwnedKnown)
	if q.OwnedKnown {
		list(q.Owned, false)
	}
	b, err := o.call(ctx, opReconcile, w.b)
	if err != nil {
		return MemberState{}, false, err
	}
	r := reader{b: b}
	switch r.i8() {
	case 0:
		return q.Member, false, r.err
	case 2:
		return MemberState{}, false, ErrFenced
	}
	next = MemberState{Epoch: r.i32(), PreviousEpoch: r.i32(), State: r.i8()}
	for _, to := range []*[]TopicPartitions{&next.Assigned, &next.Pending} {
		for n := r.i32(); n > 0 && r.err == nil; n-- {
			var t TopicPartitions
			copy(t.TopicID[:], r.take(16))
			for k := r.i32(); k > 0 && r.err == nil; k-- {
				t.Partitions, t.Epochs = append(t.Partitions, r.i32()), append(t.Epochs, r.i32())
			}
			*to = append(*to, t)
		}
	}
	return next, true, r.err
}

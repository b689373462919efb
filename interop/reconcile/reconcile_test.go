//go:build interop

// Package reconcile_test compares the steps of consumer group members towards their targets with Kafka's own.
package reconcile_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weir-broker/weir/broker/group"
	"github.com/weir-broker/weir/broker/metadata"
	"github.com/weir-broker/weir/interop/oracle"
)

var (
	cases = flag.Int("cases", envInt("WEIR_RECONCILE_CASES", 20000), "how many random steps to take")
	seed  = flag.Uint64("seed", uint64(envInt("WEIR_RECONCILE_SEED", 0)), "seed of the steps; 0 takes one from the clock")
	only  = flag.Int("only", -1, "take just this step of the seed")
)

func envInt(name string, otherwise int) int {
	n, err := strconv.Atoi(os.Getenv(name))
	if err != nil {
		return otherwise
	}
	return n
}

// TestReconciliationIsKafkas has both sides take random members one step towards random targets: members of every state, with
// anything assigned, pending, owned and held by others, whether a group could come to that or not.
func TestReconciliationIsKafkas(t *testing.T) {
	or, err := oracle.Start(oracle.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer or.Close()
	s, steps := *seed, *cases
	if s == 0 {
		s = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d, %d steps", s, steps)
	first, last := 0, steps
	if *only >= 0 {
		first, last = *only, *only+1
	}
	var next, moved, fenced, failed atomic.Int64
	next.Store(int64(first))
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := int(next.Add(1) - 1); i < last && failed.Load() < 10; i = int(next.Add(1) - 1) {
				q := randomStep(rand.New(rand.NewPCG(s, uint64(i))))
				changed, fence, err := compareStep(t.Context(), or, q)
				if err != nil {
					failed.Add(1)
					t.Errorf("step %d (-seed %d -only %d): %v\n%+v", i, s, i, err, q)
				}
				if changed {
					moved.Add(1)
				}
				if fence {
					fenced.Add(1)
				}
			}
		})
	}
	wg.Wait()
	t.Logf("%d moved the member, %d fenced it", moved.Load(), fenced.Load())
	if n := int64(last - first); *only < 0 && (moved.Load() < n/4 || moved.Load() > n-n/10) {
		t.Errorf("%d of %d steps moved a member: the cases say too little", moved.Load(), n)
	}
}

// randomStep draws from few topics and partitions, so that sets overlap. Nothing is assigned and pending at once.
func randomStep(r *rand.Rand) oracle.ReconcileRequest {
	var topics [][16]byte
	for range 1 + r.IntN(3) {
		var id [16]byte
		for i := range id {
			id[i] = byte(r.Uint32())
		}
		topics = append(topics, id)
	}
	q := oracle.ReconcileRequest{
		Member:              oracle.MemberState{Epoch: r.Int32N(5), PreviousEpoch: r.Int32N(5), State: int8(r.IntN(4))},
		TargetEpoch:         r.Int32N(5),
		SubscriptionChanged: r.IntN(2) == 0,
		OwnedKnown:          r.IntN(2) == 0,
	}
	if q.Member.State == 3 && r.IntN(4) > 0 {
		q.Member.State = 0
	}
	like := r.IntN(3) // how alike target, assigned and owned are
	for _, id := range topics {
		var assigned, pending, target, held, owned oracle.TopicPartitions
		add := func(t *oracle.TopicPartitions, p int32, really bool) {
			if really {
				t.Partitions, t.Epochs = append(t.Partitions, p), append(t.Epochs, r.Int32N(5))
			}
		}
		for p := range int32(1 + r.IntN(5)) {
			has := r.IntN(2) == 0
			pends := !has && q.Member.State != 0 && r.IntN(3) == 0
			add(&assigned, p, has)
			add(&pending, p, pends)
			add(&target, p, has == (r.IntN(3) < 1+like))
			add(&owned, p, has == (r.IntN(3) < 1+like))
			add(&held, p, has || pends || r.IntN(3) == 0)
		}
		for _, of := range []struct {
			list *[]oracle.TopicPartitions
			t    oracle.TopicPartitions
		}{{&q.Member.Assigned, assigned}, {&q.Member.Pending, pending}, {&q.Target, target}, {&q.Held, held}, {&q.Owned, owned}} {
			if len(of.t.Partitions) > 0 {
				of.t.TopicID = id
				*of.list = append(*of.list, of.t)
			}
		}
		if r.IntN(4) > 0 {
			q.Subscribed = append(q.Subscribed, id)
		}
	}
	return q
}

func compareStep(ctx context.Context, or *oracle.Oracle, q oracle.ReconcileRequest) (changed, fenced bool, err error) {
	want, changed, err := or.Reconcile(ctx, q)
	fenced = errors.Is(err, oracle.ErrFenced)
	if err != nil && !fenced {
		return false, false, err
	}
	mine := func(list []oracle.TopicPartitions, epochs bool) (out []group.TopicPartitions) {
		for _, t := range list {
			g := group.TopicPartitions{TopicID: t.TopicID, Partitions: t.Partitions}
			if epochs {
				g.AssignmentEpochs = t.Epochs
			}
			out = append(out, g)
		}
		return out
	}
	r := group.Reconciliation{
		TargetEpoch: q.TargetEpoch, Target: mine(q.Target, false), SubscriptionChanged: q.SubscriptionChanged,
		NoTopics:   len(q.Subscribed) == 0,
		Subscribes: func(id metadata.TopicID) bool { return slices.Contains(q.Subscribed, [16]byte(id)) },
		Held: func(id metadata.TopicID, p int32) bool {
			return slices.ContainsFunc(q.Held, func(t oracle.TopicPartitions) bool { return t.TopicID == id && slices.Contains(t.Partitions, p) })
		},
		Owned: mine(q.Owned, false), OwnedKnown: q.OwnedKnown,
	}
	value := func(m oracle.MemberState) *group.CurrentMemberAssignmentValue {
		return &group.CurrentMemberAssignmentValue{
			MemberEpoch: m.Epoch, PreviousMemberEpoch: m.PreviousEpoch, State: m.State,
			AssignedPartitions: mine(m.Assigned, true), PartitionsPendingRevocation: mine(m.Pending, true),
		}
	}
	member := value(q.Member)
	got, err := r.Next(member)
	switch {
	case fenced != errors.Is(err, group.ErrMemberStateUnknown) || err != nil && !fenced:
		return changed, fenced, fmt.Errorf("fenced by Kafka: %v, by us: %w", fenced, err)
	case fenced:
		return changed, fenced, nil
	case !changed && got != member:
		return changed, fenced, fmt.Errorf("Kafka leaves the member as it is, we say %+v", got)
	case changed && (got == member || !reflect.DeepEqual(got, value(want))):
		return changed, fenced, fmt.Errorf("Kafka says %+v, we say %+v", value(want), got)
	}
	return changed, fenced, nil
}

//go:build interop

// Package assign_test compares the targets of the broker's built-in assignors with those of Kafka's own.
package assign_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weir-broker/weir/broker/policy"
	"github.com/weir-broker/weir/interop/oracle"
)

var (
	cases = flag.Int("cases", envInt("WEIR_ASSIGN_CASES", 3000), "how many random groups to assign")
	seed  = flag.Uint64("seed", uint64(envInt("WEIR_ASSIGN_SEED", 0)), "seed of the groups; 0 takes one from the clock")
	only  = flag.Int("only", -1, "assign just this group of the seed")
)

func envInt(name string, otherwise int) int {
	n, err := strconv.Atoi(os.Getenv(name))
	if err != nil {
		return otherwise
	}
	return n
}

// TestTargetsAreKafkas takes random groups through several rounds of members joining and leaving, changed subscriptions and
// changed topics, each round's previous target being an answer of the last one, and has both sides assign each round with
// either assignor: the same owner for every partition.
func TestTargetsAreKafkas(t *testing.T) {
	or, err := oracle.Start(oracle.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer or.Close()
	s := *seed
	if s == 0 {
		s = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d, %d groups", s, *cases)

	first, last := 0, *cases
	if *only >= 0 {
		first, last = *only, *only+1
	}
	var next atomic.Int64
	next.Store(int64(first))
	var mu sync.Mutex
	total := newTally()
	differences := 0
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			mine := newTally()
			for {
				i := int(next.Add(1) - 1)
				if i >= last {
					break
				}
				if err := mine.play(t.Context(), or, rand.New(rand.NewPCG(s, uint64(i)))); err != nil {
					mu.Lock()
					differences++
					if differences <= 25 {
						t.Errorf("group %d (-seed %d -only %d): %v", i, s, i, err)
					}
					mu.Unlock()
				}
			}
			mu.Lock()
			total.add(mine)
			mu.Unlock()
		})
	}
	wg.Wait()
	t.Logf("%d rounds compared, %d of them homogeneous, %d with a previous target, %d with 100 members or more, %d with 1,000 partitions or more",
		total.rounds, total.homogeneous, total.sticky, total.manyMembers, total.manyPartitions)
	t.Logf("ours took %v, Kafka and the pipe %v", total.ours.Round(time.Millisecond), total.kafka.Round(time.Millisecond))
	if differences > 0 {
		t.Errorf("%d groups of %d differ", differences, last-first)
	}
	if *only >= 0 {
		return
	}
	for name, n := range map[string]int{
		"homogeneous": total.homogeneous, "heterogeneous": total.rounds - total.homogeneous, "sticky": total.sticky,
		"of 100 members": total.manyMembers, "of 1,000 partitions": total.manyPartitions,
	} {
		if n < total.rounds/10 {
			t.Errorf("only %d of %d rounds are %s: the cases say too little", n, total.rounds, name)
		}
	}
}

type tally struct {
	rounds, homogeneous, sticky, manyMembers, manyPartitions int
	ours, kafka                                              time.Duration
	builtIn                                                  map[string]policy.Assignor
}

func newTally() *tally {
	return &tally{builtIn: map[string]policy.Assignor{
		policy.UniformAssignorName: policy.UniformAssignor(), policy.RangeAssignorName: policy.RangeAssignor(),
	}}
}

func (y *tally) add(o *tally) {
	y.rounds += o.rounds
	y.homogeneous += o.homogeneous
	y.sticky += o.sticky
	y.manyMembers += o.manyMembers
	y.manyPartitions += o.manyPartitions
	y.ours += o.ours
	y.kafka += o.kafka
}

// play assigns one random group for as many rounds as it lives.
func (y *tally) play(ctx context.Context, or *oracle.Oracle, r *rand.Rand) error {
	g := newGroup(r)
	for round := range 1 + r.IntN(4) {
		if round > 0 {
			g.change()
		}
		facts := g.facts()
		y.rounds++
		if facts.Homogeneous {
			y.homogeneous++
		}
		if len(g.target) > 0 {
			y.sticky++
		}
		if len(facts.Members) >= 100 {
			y.manyMembers++
		}
		if facts.PartitionCount() >= 1000 {
			y.manyPartitions++
		}
		var answers [][]int32
		for _, name := range []string{policy.UniformAssignorName, policy.RangeAssignorName} {
			owners, err := y.compare(ctx, or, name, facts)
			if err != nil {
				return fmt.Errorf("round %d, %s, %s: %w", round, name, g, err)
			}
			answers = append(answers, owners)
		}
		g.install(facts, answers[r.IntN(2)])
	}
	return nil
}

func (y *tally) compare(ctx context.Context, or *oracle.Oracle, name string, facts *policy.AssignorFacts) ([]int32, error) {
	start := time.Now()
	verdict, err := y.builtIn[name].Assign(ctx, facts)
	y.ours += time.Since(start)
	if err != nil {
		return nil, err
	}
	if err := policy.ValidateAssignment(facts, verdict); err != nil {
		return nil, err
	}
	start = time.Now()
	kafka, err := or.Assign(ctx, request(name, facts))
	y.kafka += time.Since(start)
	if err != nil {
		return nil, err
	}
	if kafka.Owners == nil {
		return nil, fmt.Errorf("kafka throws %s: %s", kafka.Class, kafka.Message)
	}
	if !slices.Equal(kafka.Owners, verdict.Owners) {
		different := 0
		for p, owner := range verdict.Owners {
			if owner != kafka.Owners[p] {
				different++
			}
		}
		detail := ""
		if len(verdict.Owners) <= 40 {
			detail = fmt.Sprintf("\nprevious %v\nkafka    %v\nours     %v", facts.Previous, kafka.Owners, verdict.Owners)
		}
		return nil, fmt.Errorf("%d of %d partitions have another owner%s", different, len(verdict.Owners), detail)
	}
	return verdict.Owners, nil
}

// request says the facts in the oracle's terms.
func request(name string, f *policy.AssignorFacts) oracle.AssignRequest {
	q := oracle.AssignRequest{Assignor: name, Homogeneous: f.Homogeneous, Racks: f.Racks, Previous: f.Previous}
	for _, t := range f.Topics {
		q.Topics = append(q.Topics, oracle.AssignTopic{ID: t.ID, Partitions: int32(t.Partitions.Len())})
	}
	for i, m := range f.Members {
		q.Members = append(q.Members, oracle.AssignMember{ID: m.ID, InstanceID: m.InstanceID, Rack: m.Rack, Topics: f.Subscription(i)})
	}
	for _, s := range f.PartitionRacks {
		q.PartitionRacks = append(q.PartitionRacks, f.ReplicaRacks[s.First:s.End])
	}
	return q
}

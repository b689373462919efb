package policy_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/weir-broker/weir/broker/policy"
)

// largeGroup has 1,000 members and 10,000 partitions; each member subscribes
// to each topic with the given probability.
func largeGroup(topics int, p float64) *policy.AssignorFacts {
	const members, partitions = 1000, 10000
	r := rand.New(rand.NewPCG(1, 2))
	g := testGroup{topics: map[string]int{}}
	for t := range topics {
		g.topics[fmt.Sprintf("topic-%04d", t)] = partitions / topics
	}
	for m := range members {
		member := testMember{id: fmt.Sprintf("member-%04d", m)}
		for t := range topics {
			if p == 1 || r.Float64() < p {
				member.topics = append(member.topics, fmt.Sprintf("topic-%04d", t))
			}
		}
		g.members = append(g.members, member)
	}
	f := g.facts()
	if p == 1 { // as the host would share one range
		for m := range f.Members {
			f.Members[m].Subscribed = f.Members[0].Subscribed
		}
	}
	return f
}

// without removes a tenth of the members, whose partitions become free.
func without(f *policy.AssignorFacts, target []int32) *policy.AssignorFacts {
	g := *f
	keep := make([]int32, len(f.Members))
	g.Members = nil
	for m := range f.Members {
		keep[m] = policy.NoMember
		if m%10 != 3 {
			keep[m] = int32(len(g.Members))
			g.Members = append(g.Members, f.Members[m])
		}
	}
	g.Previous = make([]int32, len(target))
	for p, m := range target {
		g.Previous[p] = policy.NoMember
		if m != policy.NoMember {
			g.Previous[p] = keep[m]
		}
	}
	return &g
}

func BenchmarkAssign1000Members10000Partitions(b *testing.B) {
	for _, shape := range []struct {
		name   string
		topics int
		p      float64
	}{
		{"homogeneous/topics=10", 10, 1},
		{"homogeneous/topics=1000", 1000, 1},
		{"mixed/topics=10", 10, 0.5},
		{"mixed/topics=100", 100, 0.5},
		{"mixed/topics=1000", 1000, 0.5},
		{"mixed/topics=1000/sparse", 1000, 0.02},
	} {
		f := largeGroup(shape.topics, shape.p)
		for _, a := range []struct {
			name string
			policy.Assignor
		}{{"uniform", policy.UniformAssignor()}, {"range", policy.RangeAssignor()}} {
			first, err := a.Assign(context.Background(), f)
			if err != nil {
				b.Fatal(err)
			}
			fewer := without(f, first.Owners)
			for _, when := range []struct {
				name  string
				facts *policy.AssignorFacts
			}{{"new", f}, {"tenth-left", fewer}} {
				b.Run(fmt.Sprintf("%s/%s/%s", shape.name, a.name, when.name), func(b *testing.B) {
					b.ReportAllocs()
					for b.Loop() {
						if _, err := a.Assign(context.Background(), when.facts); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
			if a.name == "uniform" {
				b.Run(shape.name+"/check", func(b *testing.B) {
					b.ReportAllocs()
					for b.Loop() {
						if err := policy.ValidateAssignment(f, first); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}

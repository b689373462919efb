package controller

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/weir-broker/weir/broker/metadata"
)

func TestPlacementKeepsItsRules(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		racks := rapid.IntRange(1, 4).Draw(t, "racks")
		brokers := rapid.IntRange(1, 12).Draw(t, "brokers")
		records := []metadata.Record{&metadata.TermStart{Term: 1}}
		fenced := make(map[metadata.BrokerID]bool)
		rackOf := make(map[metadata.BrokerID]string)
		for id := range metadata.BrokerID(brokers) {
			b := metadata.Broker{ID: id, Epoch: 1, Rack: fmt.Sprintf("r%d", int(id)%racks), Fenced: id > 0 && rapid.Bool().Draw(t, "fenced")}
			fenced[id], rackOf[id] = b.Fenced, b.Rack
			records = append(records, &metadata.RegisterBroker{Broker: b})
		}
		img, err := metadata.Apply(metadata.NewImage(), 1, metadata.Entry{Term: 1, Records: records})
		if err != nil {
			t.Fatal(err)
		}
		r := rules{random: rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))}
		factor := rapid.IntRange(1, brokers).Draw(t, "factor")
		count := rapid.IntRange(1, 40).Draw(t, "partitions")
		placed, refused := r.state(img).place(count, factor)
		if refused != nil || len(placed) != count {
			t.Fatal(refused, len(placed))
		}
		for _, replicas := range placed {
			seen := make(map[metadata.BrokerID]bool)
			perRack := make(map[string]int)
			for _, id := range replicas {
				if seen[id] {
					t.Fatalf("broker %d twice in %v", id, replicas)
				}
				seen[id] = true
				perRack[rackOf[id]]++
			}
			if len(replicas) != factor || fenced[replicas[0]] {
				t.Fatalf("%v: factor %d, leader fenced %v", replicas, factor, fenced[replicas[0]])
			}
		}
	})
}

func TestPlacementSpreadsLeadersAndRacks(t *testing.T) {
	records := []metadata.Record{&metadata.TermStart{Term: 1}}
	for id := range metadata.BrokerID(6) {
		records = append(records, &metadata.RegisterBroker{Broker: metadata.Broker{ID: id, Epoch: 1, Rack: fmt.Sprintf("r%d", id%3)}})
	}
	img, err := metadata.Apply(metadata.NewImage(), 1, metadata.Entry{Term: 1, Records: records})
	if err != nil {
		t.Fatal(err)
	}
	r := rules{random: rand.New(rand.NewPCG(3, 4))}
	placed, refused := r.state(img).place(60, 3)
	if refused != nil {
		t.Fatal(refused)
	}
	leaders := make(map[metadata.BrokerID]int)
	for _, replicas := range placed {
		leaders[replicas[0]]++
		racks := map[metadata.BrokerID]bool{replicas[0] % 3: true, replicas[1] % 3: true, replicas[2] % 3: true}
		if len(racks) != 3 {
			t.Errorf("%v are in %d racks", replicas, len(racks))
		}
	}
	for id, n := range leaders {
		if n < 8 || n > 12 {
			t.Errorf("broker %d leads %d of 60", id, n)
		}
	}
}

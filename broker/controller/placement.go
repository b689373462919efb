package controller

import (
	"slices"
	"strings"

	"github.com/weir-broker/weir/broker/metadata"
)

// place chooses the replicas of count partitions by Kafka's striped rule: racks
// in the order of their names from a random one, within each the brokers from a
// random one; every partition starts one rack further, and a rack starts one
// broker further each time; unfenced brokers first. A leader is always unfenced.
func (s state) place(count, factor int) ([][]metadata.BrokerID, *Error) {
	racks := newRackList(s.image, s.random)
	switch {
	case factor <= 0:
		return nil, errorf(InvalidReplicationFactor, "Invalid replication factor %d: the replication factor must be positive.", factor)
	case racks.unfenced == 0:
		return nil, errorf(InvalidReplicationFactor, "All brokers are currently fenced, or have all their log directories cordoned.")
	case factor > racks.total:
		return nil, errorf(InvalidReplicationFactor, "The target replication factor of %d cannot be reached because only "+
			"%d broker(s) are registered or some brokers have all their log directories cordoned.", factor, racks.total)
	}
	placed := make([][]metadata.BrokerID, count)
	for i := range placed {
		placed[i] = racks.next(factor)
	}
	return placed, nil
}

// ring hands out brokers from a start that moves on with each round.
type ring struct {
	brokers []metadata.BrokerID
	taken   int // in this round
	start   int
	round   int
}

func (r *ring) init(random Random) {
	if len(r.brokers) > 0 {
		slices.Sort(r.brokers)
		r.start = random.IntN(len(r.brokers))
	}
}

// next returns the next broker of a round, or false when each was handed out.
func (r *ring) next(round int) (metadata.BrokerID, bool) {
	if len(r.brokers) == 0 {
		return 0, false
	}
	if r.round != round {
		r.round, r.taken = round, 0
		r.start = (r.start + 1) % len(r.brokers)
	}
	if r.taken >= len(r.brokers) {
		return 0, false
	}
	id := r.brokers[(r.start+r.taken)%len(r.brokers)]
	r.taken++
	return id, true
}

// rack holds the brokers of one rack; those without a rack share one.
type rack struct {
	name             string
	unfenced, fenced ring
}

func (r *rack) next(round int) (metadata.BrokerID, bool) {
	if id, ok := r.unfenced.next(round); ok {
		return id, true
	}
	return r.fenced.next(round)
}

type rackList struct {
	racks           []*rack
	random          Random
	total, unfenced int
	round, offset   int
}

func newRackList(img *metadata.Image, random Random) *rackList {
	l := &rackList{random: random}
	byName := make(map[string]*rack)
	for id, b := range img.Brokers() {
		if !usable(b) {
			continue
		}
		r := byName[b.Rack]
		if r == nil {
			r = &rack{name: b.Rack}
			byName[b.Rack] = r
			l.racks = append(l.racks, r)
		}
		if b.Fenced {
			r.fenced.brokers = append(r.fenced.brokers, id)
		} else {
			r.unfenced.brokers = append(r.unfenced.brokers, id)
			l.unfenced++
		}
		l.total++
	}
	slices.SortFunc(l.racks, func(a, b *rack) int { return strings.Compare(a.name, b.name) })
	for _, r := range l.racks {
		r.fenced.init(random)
		r.unfenced.init(random)
	}
	if len(l.racks) > 0 {
		l.offset = random.IntN(len(l.racks))
	}
	return l
}

// next places one partition. There are at least factor brokers and one of them
// is unfenced.
func (l *rackList) next(factor int) []metadata.BrokerID {
	// After as many placements as there are unfenced brokers the pattern would
	// repeat. With one broker there is nothing to vary.
	if l.round == l.unfenced && l.unfenced > 1 {
		l.shuffle()
		l.round = 0
	}
	if l.offset == len(l.racks) {
		l.offset = 0
	}
	replicas := make([]metadata.BrokerID, 0, factor)
	first := l.offset
	for {
		if id, ok := l.racks[first].unfenced.next(l.round); ok {
			replicas = append(replicas, id)
			break
		}
		first = (first + 1) % len(l.racks)
	}
	at := l.offset
	for len(replicas) < factor {
		// The leader's rack has had its turn, once.
		if at == first {
			first = -1
		} else if id, ok := l.racks[at].next(l.round); ok {
			replicas = append(replicas, id)
		}
		at = (at + 1) % len(l.racks)
	}
	l.round++
	l.offset++
	return replicas
}

func (l *rackList) shuffle() {
	l.random.Shuffle(len(l.racks), func(i, j int) { l.racks[i], l.racks[j] = l.racks[j], l.racks[i] })
	for _, r := range l.racks {
		for _, ring := range []*ring{&r.fenced, &r.unfenced} {
			l.random.Shuffle(len(ring.brokers), func(i, j int) {
				ring.brokers[i], ring.brokers[j] = ring.brokers[j], ring.brokers[i]
			})
		}
	}
}

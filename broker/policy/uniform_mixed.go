package policy

import (
	"cmp"
	"math"
	"slices"
)

// balanceRounds bounds how often all topics are gone through to even out the
// load. One round does it unless subscriptions overlap without being equal.
const balanceRounds = 16

// uniformMixed assigns a heterogeneous group.
//
//  1. A member keeps what it had of the topics it subscribes to.
//  2. Topics with many partitions per subscriber come first (then those with
//     few subscribers, then by id); each one's free partitions go, in
//     ascending order, to whichever subscriber has least.
//  3. Topics in the same order: partitions move from the subscriber with most
//     to the one with least, until these differ by one at most. This is
//     repeated until a whole round moves nothing.
//
// Load is the number of a member's partitions over all its topics. Kafka's
// answer depends on who comes next among members of equal load, and that on
// the two ranges that its balancer moves towards each other; see levels.
type uniformMixed struct {
	facts  *AssignorFacts
	owners []int32
	load   []int32 // by member

	// subscribers holds the members that subscribe, ascending, by topic:
	// those of topic t are at [first[t], first[t+1]).
	subscribers []int32
	first       []int32

	levels levels

	// Of the topic being evened out: its partitions grouped by owner, and
	// each subscriber's range that has not been given away yet.
	held   []int32
	ranges []Span // by member
}

func assignUniformMixed(f *AssignorFacts, owners []int32) {
	members := len(f.Members)
	u := &uniformMixed{
		facts:  f,
		owners: owners,
		load:   make([]int32, members),
		first:  make([]int32, len(f.Topics)+1),
	}
	u.collectSubscribers()
	u.levels = levels{load: u.load, sorted: make([]int32, 0, members)}
	u.keepPrevious()
	order := u.topicOrder()
	u.assignFree(order)
	u.even(order)
}

func (u *uniformMixed) collectSubscribers() {
	f := u.facts
	total := int32(0)
	for m := range f.Members {
		for _, t := range f.Subscription(m) {
			u.first[t+1]++
			total++
		}
	}
	for t := range f.Topics {
		u.first[t+1] += u.first[t]
	}
	u.subscribers = make([]int32, total)
	at := slices.Clone(u.first)
	for m := range f.Members {
		for _, t := range f.Subscription(m) {
			u.subscribers[at[t]] = int32(m)
			at[t]++
		}
	}
}

func (u *uniformMixed) subscribersOf(topic int32) []int32 {
	return u.subscribers[u.first[topic]:u.first[topic+1]]
}

// keepPrevious is step 1.
func (u *uniformMixed) keepPrevious() {
	for t := range u.facts.Topics {
		s := u.facts.Topics[t].Partitions
		known, subscribes := NoMember, false
		for p := s.First; p < s.End; p++ {
			m := u.facts.Previous[p]
			if m != NoMember && m != known {
				known, subscribes = m, u.facts.subscribes(int(m), int32(t))
			}
			if m == NoMember || !subscribes {
				u.owners[p] = NoMember
				continue
			}
			u.owners[p] = m
			u.load[m]++
		}
	}
}

// topicOrder returns the subscribed topics in the order of step 2.
func (u *uniformMixed) topicOrder() []int32 {
	order := make([]int32, 0, len(u.facts.Topics))
	perSubscriber := make([]float64, len(u.facts.Topics))
	for t := range u.facts.Topics {
		if n := len(u.subscribersOf(int32(t))); n > 0 {
			order = append(order, int32(t))
			perSubscriber[t] = float64(u.facts.Topics[t].Partitions.Len()) / float64(n)
		}
	}
	slices.SortFunc(order, func(a, b int32) int {
		return cmp.Or(
			cmp.Compare(perSubscriber[b], perSubscriber[a]),
			cmp.Compare(len(u.subscribersOf(a)), len(u.subscribersOf(b))),
			cmp.Compare(a, b))
	})
	return order
}

// assignFree is step 2.
func (u *uniformMixed) assignFree(order []int32) {
	for _, t := range order {
		s := u.facts.Topics[t].Partitions
		free := 0
		for _, owner := range u.owners[s.First:s.End] {
			if owner == NoMember {
				free++
			}
		}
		if free == 0 {
			continue
		}
		u.levels.startLeast(u.subscribersOf(t), free)
		for p := s.First; p < s.End; p++ {
			if u.owners[p] == NoMember {
				m := u.levels.least()
				u.owners[p] = m
				u.load[m]++
			}
		}
	}
}

// even is step 3. A topic with one subscriber has nothing to even out.
func (u *uniformMixed) even(order []int32) {
	order = slices.DeleteFunc(order, func(t int32) bool { return len(u.subscribersOf(t)) < 2 })
	if u.allEven() {
		return
	}
	u.ranges = make([]Span, len(u.facts.Members))
	// A topic's turn comes with nothing moved since its last one when stop is
	// that topic; the first topic counts as having moved.
	stop := NoMember
	for range balanceRounds {
		for _, t := range order {
			if t == stop {
				return
			}
			if u.evenTopic(t) || stop == NoMember {
				stop = t
			}
		}
	}
}

// allEven is whether no two members who subscribe to anything differ by more
// than one, so that no topic needs a look.
func (u *uniformMixed) allEven() bool {
	low, high := int32(math.MaxInt32), int32(0)
	for m, n := range u.load {
		if u.facts.Members[m].Subscribed.Len() > 0 {
			low, high = min(low, n), max(high, n)
		}
	}
	return high-low <= 1
}

// evenTopic moves partitions of the topic from subscribers with most to those
// with least and reports whether any moved.
func (u *uniformMixed) evenTopic(t int32) (moved bool) {
	subscribers := u.subscribersOf(t)
	if low, high := u.levels.bounds(subscribers); high-low <= 1 {
		return false
	}
	u.levels.start(subscribers)
	u.groupByOwner(t, subscribers)
	for !u.levels.even() {
		from := u.levels.most()
		for from != NoMember && u.ranges[from].Len() == 0 {
			u.levels.exclude()
			from = u.levels.most()
		}
		if from == NoMember {
			return moved
		}
		r := &u.ranges[from]
		r.End--
		p := u.held[r.End]
		to := u.levels.least()
		if u.levels.even() {
			return moved
		}
		u.owners[p] = to
		u.load[from]--
		u.load[to]++
		moved = true
	}
	return moved
}

// groupByOwner fills held and ranges; the partitions of each owner ascend.
func (u *uniformMixed) groupByOwner(t int32, subscribers []int32) {
	for _, m := range subscribers {
		u.ranges[m] = Span{}
	}
	s := u.facts.Topics[t].Partitions
	for _, m := range u.owners[s.First:s.End] {
		u.ranges[m].End++
	}
	next := int32(0)
	for _, m := range subscribers { // only theirs were set
		n := u.ranges[m].End
		u.ranges[m] = Span{First: next, End: next}
		next += n
	}
	u.held = slices.Grow(u.held[:0], s.Len())[:s.Len()]
	for p := s.First; p < s.End; p++ {
		r := &u.ranges[u.owners[p]]
		u.held[r.End] = p
		r.End++
	}
}

// levels picks whom to give a partition next and whom to take one from, among
// members lined up by load:
//
//	load                        ##
//	                  [####]##      ## here have nothing to give
//	                ##[####]##
//	     [####]##  ##[####]##
//	     [####]################
//	     low range    high range
//
// Everyone in the low range has equal load; once each has been given one, the
// level rises and the range takes in those who now are level with it. The
// high range does the same downwards. The line is not sorted again while
// partitions move: that is what makes a step cheap, and the ranges' state is
// part of Kafka's answer.
type levels struct {
	load   []int32 // by member, updated by the caller
	sorted []int32 // the members in line
	counts []int32 // scratch

	lowEnd   int   // the low range is [0, lowEnd)
	lowNext  int   // position of the next to be given one
	lowLevel int32 // load in the low range when its round began

	highStart, highEnd int   // the high range, half-open
	highNext           int   // position of the next to give one
	highLevel          int32 // load in the high range when its round began
}

// bounds returns the smallest and largest load among members, which are not
// empty.
func (l *levels) bounds(members []int32) (low, high int32) {
	low = l.load[members[0]]
	high = low
	for _, m := range members[1:] {
		n := l.load[m]
		low, high = min(low, n), max(high, n)
	}
	return low, high
}

// startLeast is start for a caller that asks only for least, no more than count
// times: members of the lowest load are all it takes when there are enough.
func (l *levels) startLeast(members []int32, count int) {
	low, _ := l.bounds(members)
	l.sorted = l.sorted[:0]
	for _, m := range members {
		if l.load[m] == low {
			l.sorted = append(l.sorted, m)
			if len(l.sorted) == count {
				l.lowEnd, l.lowNext, l.lowLevel = 0, 0, low-1
				return
			}
		}
	}
	l.start(members)
}

// start lines up members, which are ascending and not empty, by load and then
// by index.
func (l *levels) start(members []int32) {
	low, high := l.bounds(members)
	l.sorted = l.sorted[:len(members)]
	if spread := int(high - low); spread <= 2*len(members)+64 {
		l.sortByCounting(members, low, spread)
	} else {
		copy(l.sorted, members)
		slices.SortStableFunc(l.sorted, func(a, b int32) int { return cmp.Compare(l.load[a], l.load[b]) })
	}
	n := len(members)
	l.lowEnd, l.lowNext, l.lowLevel = 0, 0, low-1
	l.highStart, l.highEnd, l.highNext, l.highLevel = n, n, n-1, high+1
}

func (l *levels) sortByCounting(members []int32, low int32, spread int) {
	l.counts = slices.Grow(l.counts[:0], spread+2)[:spread+2]
	clear(l.counts)
	for _, m := range members {
		l.counts[l.load[m]-low+1]++
	}
	for i := range spread {
		l.counts[i+1] += l.counts[i]
	}
	for _, m := range members {
		at := &l.counts[l.load[m]-low]
		l.sorted[*at] = m
		*at++
	}
}

// least returns the member to give the next partition to.
func (l *levels) least() int32 {
	if l.lowNext >= l.lowEnd {
		l.lowLevel++
		for l.lowEnd < len(l.sorted) && l.load[l.sorted[l.lowEnd]] == l.lowLevel {
			l.lowEnd++
		}
		l.lowNext = 0
	}
	m := l.sorted[l.lowNext]
	l.lowNext++
	return m
}

// most returns the member to take the next partition from, or NoMember.
func (l *levels) most() int32 {
	if l.highNext < l.highStart {
		if l.highEnd <= l.highStart && l.highStart > 0 {
			// All of the range were excluded: go on at whatever level comes.
			l.highLevel = l.load[l.sorted[l.highStart-1]]
		} else {
			l.highLevel--
		}
		for l.highStart > 0 && l.load[l.sorted[l.highStart-1]] == l.highLevel {
			l.highStart--
		}
		l.highNext = l.highEnd - 1
	}
	if l.highNext < 0 {
		return NoMember
	}
	m := l.sorted[l.highNext]
	l.highNext--
	return m
}

// exclude takes the member that most returned out of the high range.
func (l *levels) exclude() {
	i, last := l.highNext+1, l.highEnd-1
	l.sorted[i], l.sorted[last] = l.sorted[last], l.sorted[i]
	l.highEnd--
}

// even is whether moving a partition would gain nothing.
func (l *levels) even() bool { return l.highLevel-l.lowLevel <= 1 }

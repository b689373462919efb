package partition

import (
	"fmt"
	"slices"
	"time"

	"github.com/weir-broker/weir/broker/batch"
	"github.com/weir-broker/weir/broker/metadata"
)

// isrState is the part of a partition that replication is about: who leads,
// how far each replica is, which are in sync, and how far the high watermark
// may go (KIP-497, KIP-841, KIP-966). It is pure: time and events come in,
// what to do comes out; the partition calls it under its append lock.
//
//	                     ┌── refused ──┐
//	committed ISR ── expand ─▶ pending: counts the new one already
//	     ▲         └─ shrink ─▶ pending: still counts the old ones
//	     └───── accepted, or newer metadata ─────┘
//
// One change is in flight at a time. While it is, the maximal ISR is the
// larger of the two sets, so that the high watermark is right whichever of
// them the controller settles on.
type isrState struct {
	local metadata.BrokerID
	// lag is replica.lag.time.max.ms, minISR min.insync.replicas.
	lag    time.Duration
	minISR int

	leading        bool
	leader         metadata.BrokerID
	leaderEpoch    batch.LeaderEpoch
	partitionEpoch metadata.PartitionEpoch
	// epochStart is the log end offset at which the leader's epoch began.
	epochStart batch.Offset
	replicas   []metadata.BrokerID
	committed  []metadata.BrokerID
	pending    *isrChange
	followers  []follower // the other replicas, while leading

	logStart, logEnd, highWatermark batch.Offset

	brokers brokerFacts
}

// follower is what the leader knows of another replica.
type follower struct {
	id     metadata.BrokerID
	logEnd batch.Offset // -1 until it has fetched
	// logStart is the follower's own log start offset.
	logStart batch.Offset
	// brokerEpoch is the one it fetched with; epochUnknown until then, -1 if
	// it does not say.
	brokerEpoch metadata.BrokerEpoch
	// lastFetch is when it fetched last and leaderEndThen our log end offset
	// at that time: reaching that one with a later fetch shows that it was
	// caught up then.
	lastFetch     time.Time
	leaderEndThen batch.Offset
	// caughtUp is the last time it was known to have all there was.
	caughtUp time.Time
}

const epochUnknown metadata.BrokerEpoch = -2

// brokerFacts is what the metadata says of the brokers that may be replicas.
type brokerFacts map[metadata.BrokerID]brokerFact

type brokerFact struct {
	epoch        metadata.BrokerEpoch
	fenced       bool
	shuttingDown bool
}

// isrChange is a proposal for the controller.
type isrChange struct {
	added   metadata.BrokerID // the one that joins, or NoLeader for a shrink
	members []metadata.BrokerID
	// epochs are the broker epochs the leader knows of members, -1 unknown.
	epochs         []metadata.BrokerEpoch
	leaderEpoch    batch.LeaderEpoch
	partitionEpoch metadata.PartitionEpoch
}

func newISRState(local metadata.BrokerID, lag time.Duration) isrState {
	return isrState{
		local: local, lag: lag, minISR: 1,
		leader: metadata.NoLeader, leaderEpoch: NoEpoch, partitionEpoch: -1,
	}
}

// registration is what the metadata says of the partition.
type registration struct {
	leader         metadata.BrokerID
	leaderEpoch    batch.LeaderEpoch
	partitionEpoch metadata.PartitionEpoch
	replicas, isr  []metadata.BrokerID
}

// apply follows the metadata. newEpoch reports that this replica leads in a
// new leader epoch, which begins at the log end: the caller notes that in the
// log. An older registration than the one known is ignored.
func (s *isrState) apply(r registration, now time.Time) (newEpoch bool) {
	if r.partitionEpoch < s.partitionEpoch {
		return false
	}
	wasLeading := s.leading
	newEpoch = r.leaderEpoch > s.leaderEpoch
	s.partitionEpoch = r.partitionEpoch
	s.leaderEpoch = max(s.leaderEpoch, r.leaderEpoch)
	s.leader = r.leader
	s.leading = r.leader == s.local
	s.replicas, s.committed, s.pending = r.replicas, r.isr, nil
	if !s.leading {
		s.followers = nil
		return false
	}
	s.followers = slices.DeleteFunc(s.followers, func(f follower) bool { return !slices.Contains(r.replicas, f.id) })
	for _, id := range r.replicas {
		if id != s.local && s.follower(id) == nil {
			s.followers = append(s.followers, newFollower(id))
		}
	}
	if newEpoch {
		s.epochStart = s.logEnd
		for i := range s.followers {
			s.followers[i].reset(now, s.logEnd, !wasLeading, slices.Contains(r.isr, s.followers[i].id))
		}
	}
	s.advance(now)
	return newEpoch
}

func newFollower(id metadata.BrokerID) follower {
	return follower{id: id, logEnd: -1, logStart: -1, leaderEndThen: -1, brokerEpoch: epochUnknown}
}

// reset begins a leader epoch. Members of the ISR get the benefit of the doubt
// for one lag time.
func (f *follower) reset(now time.Time, leaderEnd batch.Offset, forget, inSync bool) {
	if forget {
		*f = newFollower(f.id)
	} else {
		f.leaderEndThen = leaderEnd
		f.lastFetch = time.Time{}
	}
	f.caughtUp = time.Time{}
	if inSync {
		f.caughtUp = now
		if !forget {
			f.lastFetch = now
		}
	}
}

func (s *isrState) follower(id metadata.BrokerID) *follower {
	for i := range s.followers {
		if s.followers[i].id == id {
			return &s.followers[i]
		}
	}
	return nil
}

// appended takes over the new log end offset and reports whether the high
// watermark moved.
func (s *isrState) appended(logEnd batch.Offset, now time.Time) bool {
	s.logEnd = logEnd
	return s.advance(now)
}

// logStartAdvanced takes over the new log start offset.
func (s *isrState) logStartAdvanced(start batch.Offset) {
	s.logStart = max(s.logStart, start)
	s.highWatermark = max(s.highWatermark, s.logStart)
}

// fetched takes over what a follower's fetch says: that it has everything
// below offset. leaderEnd is our log end offset before the read. It reports
// whether the high watermark moved, and the proposal to make if the follower
// may now join the ISR.
func (s *isrState) fetched(id metadata.BrokerID, epoch metadata.BrokerEpoch, offset, logStart, leaderEnd batch.Offset, now time.Time) (advanced bool, propose *isrChange, err error) {
	f := s.follower(id)
	if f == nil {
		return false, nil, fmt.Errorf("%w: broker %d is no replica", ErrUnknownLeaderEpoch, id)
	}
	if b, ok := s.brokers[id]; ok && !b.fenced && epoch != -1 && b.epoch > epoch {
		return false, nil, fmt.Errorf("%w: broker %d fetched with epoch %d, registered as %d", ErrStaleBrokerEpoch, id, epoch, b.epoch)
	}
	switch {
	case offset >= leaderEnd:
		f.caughtUp = later(f.caughtUp, now)
	case offset >= f.leaderEndThen:
		f.caughtUp = later(f.caughtUp, f.lastFetch)
	}
	moved := f.logEnd != offset
	f.logEnd = offset
	f.logStart = logStart
	f.leaderEndThen = max(f.leaderEndThen, leaderEnd)
	f.lastFetch = now
	f.brokerEpoch = epoch
	if s.mayJoin(f) {
		propose = s.propose(id, append(slices.Clone(s.committed), id))
	}
	if moved {
		advanced = s.advance(now)
	}
	return advanced, propose, nil
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// mayJoin: everything below the high watermark and the start of this leader's
// epoch, so that nothing committed can be missing, and a broker in good
// standing.
func (s *isrState) mayJoin(f *follower) bool {
	return s.leading && s.pending == nil && !slices.Contains(s.committed, f.id) && s.eligible(f) &&
		f.logEnd >= s.highWatermark && f.logEnd >= s.epochStart
}

func (s *isrState) eligible(f *follower) bool {
	b, ok := s.brokers[f.id]
	return ok && !b.fenced && !b.shuttingDown && f.brokerEpoch != epochUnknown && (f.brokerEpoch == -1 || f.brokerEpoch == b.epoch)
}

// inSync is whether the follower has everything, or had so less than the lag
// time ago.
func (s *isrState) inSync(f *follower, now time.Time) bool {
	return f.logEnd == s.logEnd || now.Sub(f.caughtUp) <= s.lag
}

// tick returns the proposal that removes members which fell behind.
func (s *isrState) tick(now time.Time) *isrChange {
	if !s.leading || s.pending != nil {
		return nil
	}
	stay := slices.DeleteFunc(slices.Clone(s.committed), func(id metadata.BrokerID) bool {
		if id == s.local {
			return false
		}
		f := s.follower(id)
		return f == nil || !s.inSync(f, now)
	})
	if len(stay) == len(s.committed) {
		return nil
	}
	return s.propose(metadata.NoLeader, stay)
}

func (s *isrState) propose(added metadata.BrokerID, members []metadata.BrokerID) *isrChange {
	c := &isrChange{added: added, members: members, leaderEpoch: s.leaderEpoch, partitionEpoch: s.partitionEpoch}
	for _, id := range members {
		epoch := metadata.BrokerEpoch(-1)
		if f := s.follower(id); f != nil && f.brokerEpoch != epochUnknown {
			epoch = f.brokerEpoch
		} else if b, ok := s.brokers[id]; ok && id == s.local {
			epoch = b.epoch
		}
		c.epochs = append(c.epochs, epoch)
	}
	s.pending = c
	return c
}

// accepted takes over the controller's answer to a proposal and reports
// whether the high watermark moved.
func (s *isrState) accepted(leaderEpoch batch.LeaderEpoch, partitionEpoch metadata.PartitionEpoch, isr []metadata.BrokerID, now time.Time) bool {
	if !s.leading || leaderEpoch != s.leaderEpoch || partitionEpoch < s.partitionEpoch {
		return false
	}
	s.committed, s.partitionEpoch, s.pending = isr, partitionEpoch, nil
	return s.advance(now)
}

// refused goes back to the committed ISR. Only for answers which say that the
// change was not made and that the partition epoch was right; after any other
// failure the proposal stays pending until newer metadata comes.
func (s *isrState) refused() { s.pending = nil }

// inMaximalISR is whether the high watermark waits for the replica.
func (s *isrState) inMaximalISR(id metadata.BrokerID) bool {
	return slices.Contains(s.committed, id) || s.pending != nil && s.pending.added == id
}

func (s *isrState) maximalISRSize() int {
	if s.pending != nil && s.pending.added != metadata.NoLeader {
		return len(s.committed) + 1
	}
	return len(s.committed)
}

// effectiveMinISR never asks for more replicas than there are.
func (s *isrState) effectiveMinISR() int { return min(s.minISR, len(s.followers)+1) }

func (s *isrState) underMinISR() bool { return s.leading && len(s.committed) < s.effectiveMinISR() }

// advance moves the high watermark to the smallest log end offset of the
// maximal ISR and of those that are about to join it: waiting for them keeps a
// follower that is a little behind from chasing the leader for ever. It stays
// where it is while the ISR is too small.
func (s *isrState) advance(now time.Time) bool {
	if !s.leading || s.underMinISR() {
		return false
	}
	hw := s.logEnd
	for i := range s.followers {
		f := &s.followers[i]
		if f.logEnd < hw && (s.inMaximalISR(f.id) || s.inSync(f, now) && s.eligible(f)) {
			hw = f.logEnd
		}
	}
	if hw <= s.highWatermark {
		return false
	}
	s.highWatermark = hw
	return true
}

// ackState answers a produce request that waits for all in-sync replicas to
// have everything below next.
func (s *isrState) ackState(next batch.Offset) (done bool, err error) {
	switch {
	case !s.leading:
		return false, ErrNotLeader
	case s.highWatermark < next:
		return false, nil
	case s.maximalISRSize() < s.effectiveMinISR():
		return true, ErrNotEnoughReplicasAfterAppend
	}
	return true, nil
}

// lowWatermark is the smallest log start offset of the replicas whose broker
// is alive.
func (s *isrState) lowWatermark() batch.Offset {
	low := s.logStart
	for i := range s.followers {
		if b, ok := s.brokers[s.followers[i].id]; ok && !b.fenced {
			low = min(low, s.followers[i].logStart)
		}
	}
	return low
}

package group

import (
	"bytes"
	"slices"
	"time"
	"unicode/utf16"
)

// consumerProtocolType is the protocol type of consumers, whose subscriptions the coordinator can read.
const consumerProtocolType = "consumer"

// classicState is the state of a classic group; the diagram is in the package comment.
type classicState int8

const (
	empty classicState = iota
	preparingRebalance
	completingRebalance
	stable
)

// String returns Kafka's name of the state.
func (s classicState) String() string {
	return [...]string{"Empty", "PreparingRebalance", "CompletingRebalance", "Stable"}[s]
}

// classicPredecessors are the states from which each state may be entered.
var classicPredecessors = map[classicState][]classicState{
	empty:               {preparingRebalance},
	preparingRebalance:  {stable, completingRebalance, empty},
	completingRebalance: {preparingRebalance},
	stable:              {completingRebalance},
}

// waiting is a request that is answered by a later operation.
type waiting struct {
	token   Token
	version int16
}

// classicMember is a member of a classic group.
type classicMember struct {
	id               string
	instanceID       *string // static members, KIP-345
	clientID         string
	clientHost       string
	rebalanceTimeout time.Duration
	sessionTimeout   time.Duration
	protocols        []ClassicProtocol // in the member's order of preference
	assignment       []byte

	join *waiting // its JoinGroup waits for the other members
	sync *waiting // its SyncGroup waits for the leader's
	// isNew: it has never been told its id by a finished JoinGroup, so it cannot send heartbeats; a waiting JoinGroup does
	// not keep it alive, and its retries do not pile up as dead members.
	isNew bool
}

// metadata returns what the member sent under a protocol, and whether it supports it.
func (m *classicMember) metadata(protocol string) ([]byte, bool) {
	for _, p := range m.protocols {
		if p.Name == protocol {
			return p.Metadata, true
		}
	}
	return nil, false
}

// matches reports whether the member would join with the same protocols in the same order.
func (m *classicMember) matches(protocols []ClassicProtocol) bool {
	return slices.EqualFunc(m.protocols, protocols, func(a, b ClassicProtocol) bool {
		return a.Name == b.Name && bytes.Equal(a.Metadata, b.Metadata)
	})
}

// aliveWithoutHeartbeat reports whether a request of the member is waiting here, which counts as a heartbeat.
func (m *classicMember) aliveWithoutHeartbeat() bool {
	return !m.isNew && (m.join != nil || m.sync != nil)
}

// classicGroup is one classic group: the generation that the log knows of, and the rebalance in progress.
type classicGroup struct {
	id         string
	state      classicState
	previous   classicState
	stateSince time.Time // zero: unknown, in a record before version 2

	protocolType string // empty: never had a member
	protocol     string // empty: none chosen
	generation   int32
	leader       string // empty: none
	members      []*classicMember
	byID         map[string]*classicMember
	static       map[string]*classicMember // by instance id

	pendingJoin  map[string]struct{} // ids given out with MEMBER_ID_REQUIRED that have not joined yet
	pendingSync  map[string]struct{} // members of this generation that have not sent SyncGroup yet
	waitingJoins int                 // members whose join is set
	supported    map[string]int      // protocol -> how many members support it

	// subscribed are the topics of a consumer group's members; nil when they cannot be read.
	subscribed map[string]struct{}

	// The first rebalance out of Empty is delayed, and again while new members keep coming.
	memberAdded    bool
	delay          time.Duration
	delayRemaining time.Duration
}

func newClassicGroup(id string, now time.Time) *classicGroup {
	return &classicGroup{id: id, state: empty, stateSince: now, byID: map[string]*classicMember{}, supported: map[string]int{}}
}

// transition is the only place where the state changes.
func (g *classicGroup) transition(to classicState, now time.Time) {
	if !slices.Contains(classicPredecessors[to], g.state) {
		panic("BUG: classic group goes from " + g.state.String() + " to " + to.String())
	}
	g.previous, g.state, g.stateSince = g.state, to, now
}

func (g *classicGroup) canRebalance() bool {
	return slices.Contains(classicPredecessors[preparingRebalance], g.state)
}

// allJoined reports whether a join phase has nobody left to wait for.
func (g *classicGroup) allJoined() bool {
	return len(g.members) == g.waitingJoins && len(g.pendingJoin) == 0
}

// supports reports whether a member with these protocols can be in the group: a protocol that all have in common must be
// left.
func (g *classicGroup) supports(protocolType string, protocols []ClassicProtocol) bool {
	if g.state == empty {
		return protocolType != "" && len(protocols) > 0
	}
	return g.protocolType == protocolType && slices.ContainsFunc(protocols, func(p ClassicProtocol) bool {
		return g.supported[p.Name] == len(g.members)
	})
}

func (g *classicGroup) countProtocols(m *classicMember, by int) {
	for _, p := range m.protocols {
		if g.supported[p.Name] += by; g.supported[p.Name] == 0 {
			delete(g.supported, p.Name)
		}
	}
}

// add takes a member in. The first one to come is the leader until it leaves.
func (g *classicGroup) add(m *classicMember, protocolType string) {
	if len(g.members) == 0 {
		g.protocolType = protocolType
	}
	if g.leader == "" {
		g.leader = m.id
	}
	g.members = append(g.members, m)
	g.byID[m.id] = m
	if m.instanceID != nil {
		if g.static == nil {
			g.static = map[string]*classicMember{}
		}
		g.static[*m.instanceID] = m
	}
	g.countProtocols(m, +1)
	if m.join != nil {
		g.waitingJoins++
	}
	delete(g.pendingJoin, m.id)
}

// remove drops a member or a pending id. The caller has answered what waits of it.
func (g *classicGroup) remove(id string) {
	if m := g.byID[id]; m != nil {
		g.removeAll([]*classicMember{m})
	}
	delete(g.pendingJoin, id)
	delete(g.pendingSync, id)
}

// removeAll drops members in one pass. If the leader is among them, the first of those left leads.
func (g *classicGroup) removeAll(gone []*classicMember) {
	for _, m := range gone {
		delete(g.byID, m.id)
		delete(g.pendingSync, m.id)
		g.countProtocols(m, -1)
		if m.join != nil {
			g.waitingJoins--
		}
		if m.instanceID != nil {
			delete(g.static, *m.instanceID)
		}
	}
	g.members = slices.DeleteFunc(g.members, func(m *classicMember) bool { return g.byID[m.id] != m })
	if g.byID[g.leader] == nil {
		g.leader = ""
		if len(g.members) > 0 {
			g.leader = g.members[0].id
		}
	}
}

// replaceStatic gives a static member a new id: the same instance has started again. The caller has answered what waits
// under the old id.
func (g *classicGroup) replaceStatic(m *classicMember, id string) {
	delete(g.byID, m.id)
	g.byID[id] = m
	if g.leader == m.id {
		g.leader = id
	}
	m.id = id
}

// update takes over what a member joins with again.
func (g *classicGroup) update(m *classicMember, protocols []ClassicProtocol, rebalanceTimeout, sessionTimeout time.Duration) {
	g.countProtocols(m, -1)
	m.protocols = protocols
	g.countProtocols(m, +1)
	m.rebalanceTimeout, m.sessionTimeout = rebalanceTimeout, sessionTimeout
}

func (g *classicGroup) setJoin(m *classicMember, w *waiting) {
	if (m.join == nil) != (w == nil) {
		if w != nil {
			g.waitingJoins++
		} else {
			g.waitingJoins--
		}
	}
	m.join = w
}

// validate checks that a request comes from a member: static members are named by instance, and only the newest id of an
// instance counts.
func (g *classicGroup) validate(memberID string, instanceID *string) Code {
	if instanceID != nil {
		m := g.static[*instanceID]
		if m == nil {
			return unknownMemberID
		}
		if m.id != memberID {
			return fencedInstanceID
		}
	}
	if g.byID[memberID] == nil {
		return unknownMemberID
	}
	return none
}

// rebalanceTimeout is the longest of the members'.
func (g *classicGroup) rebalanceTimeout() (longest time.Duration) {
	for _, m := range g.members {
		longest = max(longest, m.rebalanceTimeout)
	}
	return longest
}

// electJoinedLeader keeps the leader if it has joined this rebalance, else makes the first member that has the leader.
// False when nobody has.
func (g *classicGroup) electJoinedLeader() bool {
	if g.leader == "" {
		return false
	}
	if g.byID[g.leader].join != nil {
		return true
	}
	for _, m := range g.members {
		if m.join != nil {
			g.leader = m.id
			return true
		}
	}
	return false
}

// selectProtocol chooses among the protocols that all members support: each member votes for the first of its own list,
// most votes win. Ties are decided as on a Kafka broker, where the first in a Java hash table wins: clients that move here
// keep their protocol.
func (g *classicGroup) selectProtocol() string {
	votes := map[string]int{}
	for _, m := range g.members {
		for _, p := range m.protocols {
			if g.supported[p.Name] == len(g.members) {
				votes[p.Name]++
				break
			}
		}
	}
	capacity := uint32(16)
	for len(votes) > int(capacity)*3/4 {
		capacity *= 2
	}
	best, bestPlace := "", uint32(0)
	for _, name := range sortedKeys(votes) {
		place := javaHash(name) & (capacity - 1)
		if best == "" || votes[name] > votes[best] || votes[name] == votes[best] && place < bestPlace {
			best, bestPlace = name, place
		}
	}
	return best
}

// javaHash is the hash that Java's hash tables place a string by.
func javaHash(s string) (h uint32) {
	for _, unit := range utf16.Encode([]rune(s)) {
		h = 31*h + uint32(unit)
	}
	return h ^ h>>16
}

// nextGeneration ends the join phase with the members that are left.
func (g *classicGroup) nextGeneration(now time.Time) {
	g.generation++
	g.pendingSync = nil
	if len(g.members) == 0 {
		g.protocol = ""
		g.subscribed = g.computeSubscribed()
		g.transition(empty, now)
		return
	}
	g.protocol = g.selectProtocol()
	g.subscribed = g.computeSubscribed()
	g.transition(completingRebalance, now)
}

// computeSubscribed reads the members' subscriptions; nil if one cannot be read or they are not consumers.
func (g *classicGroup) computeSubscribed() map[string]struct{} {
	if g.protocolType != consumerProtocolType {
		return nil
	}
	topics := map[string]struct{}{}
	if len(g.members) == 0 {
		return topics
	}
	for _, m := range g.members {
		subscription, ok := m.metadata(g.protocol)
		if !ok {
			return nil
		}
		// Every version of the consumer protocol's subscription begins with a version and the topics.
		r := reader{b: subscription}
		version := r.int16()
		for range r.count(false, 2) {
			topics[r.string(false)] = struct{}{}
		}
		if r.failed || version < 0 {
			return nil
		}
	}
	return topics
}

// isSubscribed reports whether a member may be using the topic; unreadable subscriptions may name any.
func (g *classicGroup) isSubscribed(topic string) bool {
	if g.subscribed == nil {
		return g.protocolType == consumerProtocolType
	}
	_, ok := g.subscribed[topic]
	return ok
}

// metadataValue is the group as a record, with each member's assignment.
func (g *classicGroup) metadataValue(assignment func(m *classicMember) []byte) *GroupMetadataValue {
	v := &GroupMetadataValue{
		Version: 3, ProtocolType: g.protocolType, GenerationID: g.generation, CurrentStateTimestamp: -1,
		Protocol: nonEmpty(g.protocol), Leader: nonEmpty(g.leader),
		Members: make([]GroupMetadataMember, 0, len(g.members)),
	}
	if !g.stateSince.IsZero() {
		v.CurrentStateTimestamp = g.stateSince.UnixMilli()
	}
	for _, m := range g.members {
		subscription, _ := m.metadata(g.protocol)
		v.Members = append(v.Members, GroupMetadataMember{
			MemberID: m.id, GroupInstanceID: m.instanceID, ClientID: m.clientID, ClientHost: m.clientHost,
			RebalanceTimeout: int32(m.rebalanceTimeout.Milliseconds()), SessionTimeout: int32(m.sessionTimeout.Milliseconds()),
			Subscription: subscription, Assignment: assignment(m),
		})
	}
	return v
}

// loadClassicGroup is the group as a record left it: Stable with members, else Empty. Of the members' protocols only the
// chosen one was kept.
func loadClassicGroup(id string, v *GroupMetadataValue) *classicGroup {
	g := newClassicGroup(id, time.Time{})
	if v.CurrentStateTimestamp >= 0 {
		g.stateSince = time.UnixMilli(v.CurrentStateTimestamp)
	}
	g.protocolType, g.generation = v.ProtocolType, v.GenerationID
	if v.Protocol != nil {
		g.protocol = *v.Protocol
	}
	if v.Leader != nil {
		g.leader = *v.Leader
	}
	for i := range v.Members {
		r := &v.Members[i]
		if r.RebalanceTimeout == -1 {
			r.RebalanceTimeout = r.SessionTimeout
		}
		if g.byID[r.MemberID] != nil {
			g.remove(r.MemberID)
		}
		g.add(&classicMember{
			id: r.MemberID, instanceID: r.GroupInstanceID, clientID: r.ClientID, clientHost: r.ClientHost,
			rebalanceTimeout: milliseconds(r.RebalanceTimeout), sessionTimeout: milliseconds(r.SessionTimeout),
			protocols: []ClassicProtocol{{Name: g.protocol, Metadata: r.Subscription}}, assignment: r.Assignment,
		}, v.ProtocolType)
	}
	if len(g.members) > 0 {
		g.state, g.previous = stable, completingRebalance
	}
	if g.byID[g.leader] == nil {
		g.leader = ""
		if len(g.members) > 0 {
			g.leader = g.members[0].id
		}
	}
	g.subscribed = g.computeSubscribed()
	return g
}

func milliseconds(ms int32) time.Duration { return time.Duration(ms) * time.Millisecond }

func nonEmpty(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

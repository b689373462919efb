package group

import (
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// answerJoin answers the member's waiting JoinGroup, if there is one, in the version it was asked in.
func (t *turn) answerJoin(g *classicGroup, m *classicMember, resp *kmsg.JoinGroupResponse) {
	if m.join == nil {
		return
	}
	resp.Version = m.join.version
	t.reply(m.join.token, resp)
	g.setJoin(m, nil)
}

// answerSync answers the member's waiting SyncGroup, if there is one, in the version it was asked in.
func (t *turn) answerSync(m *classicMember, resp *kmsg.SyncGroupResponse) bool {
	if m.sync == nil {
		return false
	}
	resp.Version = m.sync.version
	t.reply(m.sync.token, resp)
	m.sync = nil
	return true
}

// startSession gives the member a whole session timeout from now.
func (t *turn) startSession(g *classicGroup, m *classicMember) {
	t.set(HeartbeatTimer, g.id, m.id, m.sessionTimeout)
}

// dropMembers removes members. What waits of them is told UNKNOWN_MEMBER_ID, so that a client that is alive joins anew.
func (t *turn) dropMembers(g *classicGroup, members ...*classicMember) {
	for _, m := range members {
		t.answerJoin(g, m, joinError(0, "", unknownMemberID))
		t.answerSync(m, &kmsg.SyncGroupResponse{ErrorCode: unknownMemberID})
		t.cancel(HeartbeatTimer, g.id, m.id)
	}
	g.removeAll(members)
}

// rebalanceOrComplete starts a rebalance, or, in the middle of one, ends its join phase if that is now possible.
func (t *turn) rebalanceOrComplete(g *classicGroup, reason string) {
	if g.canRebalance() {
		t.prepareRebalance(g, reason)
	} else {
		t.maybeCompleteJoin(g)
	}
}

// prepareRebalance asks all members to join again.
func (t *turn) prepareRebalance(g *classicGroup, reason string) {
	if g.state == completingRebalance {
		t.failSyncs(g, rebalanceInProgress)
	}
	g.pendingSync = nil
	t.cancel(SyncTimer, g.id, "")

	initial := g.state == empty
	if initial {
		// More members are likely to come: a first generation of one member would be thrown away at once.
		g.delay = t.opt.InitialRebalanceDelay
		g.delayRemaining = max(g.rebalanceTimeout()-g.delay, 0)
		t.set(JoinTimer, g.id, "", g.delay)
	}
	t.transition(g, preparingRebalance, reason)
	switch {
	case initial:
	case g.allJoined():
		t.completeJoin(g)
	default:
		t.set(JoinTimer, g.id, "", g.rebalanceTimeout())
	}
}

// maybeCompleteJoin ends the join phase if everyone is there. The first rebalance out of Empty waits for its delay.
func (t *turn) maybeCompleteJoin(g *classicGroup) {
	if g.state == preparingRebalance && g.previous != empty && g.allJoined() {
		t.completeJoin(g)
	}
}

// expireJoin handles the end of the initial delay, or of the time that members have to join again.
func (t *turn) expireJoin(g *classicGroup) {
	if g.state != preparingRebalance {
		return
	}
	if g.previous == empty && g.memberAdded && g.delayRemaining > 0 {
		g.memberAdded = false
		next := min(t.opt.InitialRebalanceDelay, g.delayRemaining)
		g.delayRemaining = max(g.delayRemaining-g.delay, 0)
		g.delay = next
		t.set(JoinTimer, g.id, "", next)
		return
	}
	t.completeJoin(g)
}

// completeJoin ends the join phase: dynamic members that have not joined are out, static ones stay until their session
// ends. With nobody there at all it waits once more.
func (t *turn) completeJoin(g *classicGroup) {
	t.cancel(JoinTimer, g.id, "")
	var missing []*classicMember
	for _, m := range g.members {
		if m.join == nil && m.instanceID == nil {
			missing = append(missing, m)
		}
	}
	t.dropMembers(g, missing...)
	if !g.electJoinedLeader() && len(g.members) > 0 {
		t.set(JoinTimer, g.id, "", g.rebalanceTimeout())
		return
	}
	g.nextGeneration(t.now)
	if g.state == empty {
		t.note(g, "no members left")
		t.append(Key{Type: GroupMetadataType, Group: g.id}, g.metadataValue(nil))
		return
	}
	t.note(g, "join phase complete")
	g.pendingSync = make(map[string]struct{}, len(g.members))
	for _, m := range g.members {
		t.answerJoin(g, m, g.joined(m, 0))
		t.startSession(g, m)
		m.isNew = false
		g.pendingSync[m.id] = struct{}{}
	}
	t.set(SyncTimer, g.id, "", g.rebalanceTimeout())
}

// expireSync handles the end of the time that members have to send SyncGroup.
func (t *turn) expireSync(g *classicGroup) {
	if g.state != completingRebalance && g.state != stable || len(g.pendingSync) == 0 {
		return
	}
	var silent []*classicMember
	for _, id := range sortedKeys(g.pendingSync) {
		if m := g.byID[id]; m != nil {
			silent = append(silent, m)
		}
	}
	t.dropMembers(g, silent...)
	t.prepareRebalance(g, "members sent no SyncGroup in time")
}

// expireHeartbeat handles the end of a session.
func (t *turn) expireHeartbeat(g *classicGroup, memberID string) {
	if _, pending := g.pendingJoin[memberID]; pending {
		g.remove(memberID)
		if g.state == preparingRebalance && g.allJoined() {
			t.completeJoin(g)
		}
		return
	}
	m := g.byID[memberID]
	if m == nil || m.aliveWithoutHeartbeat() {
		return // its answer starts a new session
	}
	t.dropMembers(g, m)
	switch {
	case g.state == stable || g.state == completingRebalance:
		t.prepareRebalance(g, "session of "+memberID+" expired")
	case g.state == preparingRebalance && g.allJoined():
		t.completeJoin(g)
	}
}

// failSyncs tells every waiting SyncGroup of a generation that came to nothing.
func (t *turn) failSyncs(g *classicGroup, code Code) {
	for _, m := range g.members {
		m.assignment = nil
		if t.answerSync(m, &kmsg.SyncGroupResponse{ErrorCode: code}) {
			t.startSession(g, m)
		}
	}
}

// Heartbeat keeps a member's session alive and tells it of a rebalance.
func (s *Shard) Heartbeat(now time.Time, token Token, req *kmsg.HeartbeatRequest) Effects {
	t := s.turn(now)
	t.reply(token, &kmsg.HeartbeatResponse{Version: req.Version, ErrorCode: t.heartbeat(req)})
	return t.Effects
}

func (t *turn) heartbeat(req *kmsg.HeartbeatRequest) Code {
	if req.Group == "" {
		return invalidGroupID
	}
	g := t.groups[req.Group]
	if g == nil {
		return unknownMemberID
	}
	if code := g.validate(req.MemberID, req.InstanceID); code != none {
		return code
	}
	if req.Generation != g.generation {
		return illegalGeneration
	}
	t.startSession(g, g.byID[req.MemberID])
	if g.state == preparingRebalance {
		return rebalanceInProgress
	}
	return none
}

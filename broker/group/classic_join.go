package group

import (
	"bytes"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// joinRequest is a JoinGroup on its way, with what its version leaves out filled in.
type joinRequest struct {
	*kmsg.JoinGroupRequest
	client           Client
	token            Token
	protocols        []ClassicProtocol
	sessionTimeout   time.Duration
	rebalanceTimeout time.Duration
}

func newJoinRequest(c Client, token Token, req *kmsg.JoinGroupRequest) *joinRequest {
	r := &joinRequest{JoinGroupRequest: req, client: c, token: token}
	r.sessionTimeout, r.rebalanceTimeout = milliseconds(req.SessionTimeoutMillis), milliseconds(req.RebalanceTimeoutMillis)
	if req.Version < 1 {
		r.rebalanceTimeout = r.sessionTimeout // version 0 has no such field; -1 would end each rebalance at once
	}
	seen := map[string]struct{}{}
	for _, p := range req.Protocols {
		if _, twice := seen[p.Name]; !twice {
			seen[p.Name] = struct{}{}
			r.protocols = append(r.protocols, ClassicProtocol{Name: p.Name, Metadata: bytes.Clone(p.Metadata)})
		}
	}
	return r
}

func (r *joinRequest) waiting() *waiting { return &waiting{token: r.token, version: r.Version} }

func (r *joinRequest) reason(what string) string {
	if r.Reason != nil && *r.Reason != "" {
		return what + "; client reason: " + *r.Reason
	}
	return what
}

func joinError(version int16, memberID string, code Code) *kmsg.JoinGroupResponse {
	return &kmsg.JoinGroupResponse{Version: version, ErrorCode: code, Generation: -1, MemberID: memberID}
}

func (t *turn) refuseJoin(r *joinRequest, memberID string, code Code) {
	t.reply(r.token, joinError(r.Version, memberID, code))
}

// joined is the answer of a finished join phase; only the leader is told who the members are.
func (g *classicGroup) joined(m *classicMember, version int16) *kmsg.JoinGroupResponse {
	resp := &kmsg.JoinGroupResponse{
		Version: version, MemberID: m.id, Generation: g.generation,
		Protocol: nonEmpty(g.protocol), ProtocolType: nonEmpty(g.protocolType), LeaderID: g.leader,
	}
	if m.id == g.leader {
		resp.Members = g.joinedMembers()
	}
	return resp
}

func (g *classicGroup) joinedMembers() []kmsg.JoinGroupResponseMember {
	list := make([]kmsg.JoinGroupResponseMember, 0, len(g.members))
	for _, m := range g.members {
		subscription, _ := m.metadata(g.protocol)
		list = append(list, kmsg.JoinGroupResponseMember{MemberID: m.id, InstanceID: m.instanceID, ProtocolMetadata: subscription})
	}
	return list
}

// JoinGroup answers at once, or lets the request wait until its rebalance's join phase ends.
func (s *Shard) JoinGroup(now time.Time, c Client, token Token, req *kmsg.JoinGroupRequest) Effects {
	t := s.turn(now)
	r := newJoinRequest(c, token, req)
	g, consumer := s.groups[req.Group], s.consumers[req.Group]
	switch {
	case req.Group == "":
		t.refuseJoin(r, req.MemberID, invalidGroupID)
	case r.sessionTimeout < s.opt.MinSessionTimeout || r.sessionTimeout > s.opt.MaxSessionTimeout:
		t.refuseJoin(r, req.MemberID, invalidSessionTimeout)
	case consumer != nil && len(consumer.members) > 0:
		t.refuseJoin(r, req.MemberID, inconsistentGroupProtocol)
	case g == nil && req.MemberID != "":
		t.refuseJoin(r, req.MemberID, unknownMemberID)
	case g == nil:
		if consumer != nil {
			t.deleteConsumerGroup(consumer)
		}
		g = newClassicGroup(req.Group, now)
		s.groups[req.Group] = g
		// The group exists from here on, also for who loads this partition: so that its offsets belong to it.
		t.append(Key{Type: GroupMetadataType, Group: g.id}, &GroupMetadataValue{Version: 3, CurrentStateTimestamp: now.UnixMilli()})
		t.join(g, r)
	default:
		t.join(g, r)
	}
	return t.Effects
}

func (t *turn) join(g *classicGroup, r *joinRequest) {
	switch {
	case !t.accepts(g, r.MemberID):
		if m := g.byID[r.MemberID]; m != nil {
			t.dropMembers(g, m)
			t.maybeCompleteJoin(g)
		}
		t.refuseJoin(r, "", groupMaxSizeReached)
	case !g.supports(r.ProtocolType, r.protocols):
		t.refuseJoin(r, r.MemberID, inconsistentGroupProtocol)
	case r.MemberID == "":
		t.joinNew(g, r)
	default:
		t.joinExisting(g, r)
	}
}

// accepts applies group.max.size. During a rebalance it counts who waits in it, since members may already be too many
// when the limit was lowered: so the last to rejoin are refused. Later it counts members.
func (t *turn) accepts(g *classicGroup, memberID string) bool {
	m := g.byID[memberID]
	switch g.state {
	case preparingRebalance:
		return m != nil && m.join != nil || g.waitingJoins < t.opt.MaxSize
	case completingRebalance, stable:
		return m != nil || len(g.members) < t.opt.MaxSize
	default:
		return true
	}
}

// joinNew handles a member without an id.
func (t *turn) joinNew(g *classicGroup, r *joinRequest) {
	if r.InstanceID != nil {
		id := *r.InstanceID + "-" + r.client.UUID
		if old := g.static[*r.InstanceID]; old != nil {
			t.replaceStatic(g, old, id, r)
			return
		}
		t.addMember(g, id, r)
		return
	}
	id := r.client.ID + "-" + r.client.UUID
	if r.Version < 4 {
		t.addMember(g, id, r)
		return
	}
	// KIP-394: the id is told before there is a member, so that retries do not leave dead members behind.
	if g.pendingJoin == nil {
		g.pendingJoin = map[string]struct{}{}
	}
	g.pendingJoin[id] = struct{}{}
	t.set(HeartbeatTimer, g.id, id, r.sessionTimeout)
	t.refuseJoin(r, id, memberIDRequired)
}

// joinExisting handles a member that says its id.
func (t *turn) joinExisting(g *classicGroup, r *joinRequest) {
	if _, pending := g.pendingJoin[r.MemberID]; pending && r.InstanceID == nil {
		t.addMember(g, r.MemberID, r)
		return
	}
	if code := g.validate(r.MemberID, r.InstanceID); code != none {
		t.refuseJoin(r, r.MemberID, code)
		return
	}
	m := g.byID[r.MemberID]
	changed := !m.matches(r.protocols)
	switch {
	case g.state == preparingRebalance:
		t.updateMember(g, m, r, "member joins again during a rebalance")
	case g.state == completingRebalance && changed, g.state == stable && changed:
		t.updateMember(g, m, r, "member joins with changed metadata")
	case g.state == stable && m.id == g.leader:
		// The leader may know of a change that its metadata does not show, as of new partitions.
		t.updateMember(g, m, r, "leader joins again")
	default:
		// It did not get the answer of this generation's join.
		t.reply(r.token, g.joined(m, r.Version))
	}
}

func (t *turn) addMember(g *classicGroup, id string, r *joinRequest) {
	m := &classicMember{
		id: id, instanceID: r.InstanceID, clientID: r.client.ID, clientHost: r.client.Host,
		rebalanceTimeout: r.rebalanceTimeout, sessionTimeout: r.sessionTimeout, protocols: r.protocols,
		join: r.waiting(), isNew: true,
	}
	if g.state == preparingRebalance && g.previous == empty {
		g.memberAdded = true
	}
	g.add(m, r.ProtocolType)
	t.set(HeartbeatTimer, g.id, id, newMemberJoinTimeout)
	t.rebalanceOrComplete(g, r.reason("new member "+id))
}

func (t *turn) updateMember(g *classicGroup, m *classicMember, r *joinRequest, why string) {
	t.answerJoin(g, m, joinError(0, m.id, rebalanceInProgress)) // an earlier request of its own: given up by the client
	g.update(m, r.protocols, r.rebalanceTimeout, r.sessionTimeout)
	g.setJoin(m, r.waiting())
	t.rebalanceOrComplete(g, r.reason(why+": "+m.id))
}

// replaceStatic lets a static member that has lost its id, as after a restart, take its own place. In a stable group that
// goes without a rebalance, unless the group would choose another protocol now.
func (t *turn) replaceStatic(g *classicGroup, m *classicMember, id string, r *joinRequest) {
	oldID, oldLeader := m.id, g.leader
	t.answerJoin(g, m, joinError(0, oldID, fencedInstanceID))
	t.answerSync(m, &kmsg.SyncGroupResponse{ErrorCode: fencedInstanceID})
	t.cancel(HeartbeatTimer, g.id, oldID)
	g.replaceStatic(m, id)
	t.startSession(g, m)
	m.isNew = false
	g.update(m, r.protocols, r.rebalanceTimeout, r.sessionTimeout)

	why := r.reason("static member " + *m.instanceID + " has a new id")
	switch g.state {
	case stable:
		if g.selectProtocol() == g.protocol && t.appendGeneration(g) {
			resp := g.joined(m, r.Version)
			resp.SkipAssignment = r.Version >= 9 && m.id == g.leader // KIP-814
			if r.Version < 9 {
				// It must not compute an assignment nobody asked for, so it must not take itself for the leader.
				resp.LeaderID, resp.Members = oldLeader, nil
			}
			t.reply(r.token, resp)
			return
		}
		g.setJoin(m, r.waiting())
		t.rebalanceOrComplete(g, why)
	case completingRebalance:
		// The leader may have been told the old id and would assign to it.
		g.setJoin(m, r.waiting())
		t.prepareRebalance(g, why)
	default:
		g.setJoin(m, r.waiting())
		t.maybeCompleteJoin(g)
	}
}

// appendGeneration appends the group with its members' present assignments; false, and nothing, if that is too large.
func (t *turn) appendGeneration(g *classicGroup) bool {
	t.append(Key{Type: GroupMetadataType, Group: g.id}, g.metadataValue(func(m *classicMember) []byte { return m.assignment }))
	if t.tooLarge() {
		t.unappend()
		return false
	}
	return true
}

package group

import (
	"bytes"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// SyncGroup takes the leader's assignment, or waits for it. The group is stable once the assignment is in the log.
func (s *Shard) SyncGroup(now time.Time, token Token, req *kmsg.SyncGroupRequest) Effects {
	t := s.turn(now)
	if code := t.validateSync(req); code != none {
		t.reply(token, &kmsg.SyncGroupResponse{Version: req.Version, ErrorCode: code})
		return t.Effects
	}
	g := s.groups[req.Group]
	m := g.byID[req.MemberID]
	delete(g.pendingSync, m.id)
	if len(g.pendingSync) == 0 {
		t.cancel(SyncTimer, g.id, "")
	}
	if g.state == stable {
		resp := g.synced(m.assignment)
		resp.Version = req.Version
		t.reply(token, resp)
		return t.Effects
	}
	t.answerSync(m, &kmsg.SyncGroupResponse{ErrorCode: rebalanceInProgress}) // an earlier request of its own
	m.sync = &waiting{token: token, version: req.Version}
	if m.id == g.leader {
		t.assign(g, req)
	}
	return t.Effects
}

func (t *turn) validateSync(req *kmsg.SyncGroupRequest) Code {
	if req.Version >= 5 && (req.ProtocolType == nil || req.Protocol == nil) {
		return inconsistentGroupProtocol
	}
	if req.Group == "" {
		return invalidGroupID
	}
	g := t.groups[req.Group]
	if g == nil || g.state == empty {
		return unknownMemberID
	}
	if code := g.validate(req.MemberID, req.InstanceID); code != none {
		return code
	}
	switch {
	case req.Generation != g.generation:
		return illegalGeneration
	case req.ProtocolType != nil && *req.ProtocolType != g.protocolType, req.Protocol != nil && *req.Protocol != g.protocol:
		return inconsistentGroupProtocol
	case g.state == preparingRebalance:
		return rebalanceInProgress
	}
	return none
}

func (g *classicGroup) synced(assignment []byte) *kmsg.SyncGroupResponse {
	return &kmsg.SyncGroupResponse{ProtocolType: nonEmpty(g.protocolType), Protocol: nonEmpty(g.protocol), MemberAssignment: assignment}
}

// assign writes the generation with the leader's assignment; members that it left out get an empty one. The answers leave
// when the record is committed.
func (t *turn) assign(g *classicGroup, req *kmsg.SyncGroupRequest) {
	assignments := make(map[string][]byte, len(req.GroupAssignment))
	for _, a := range req.GroupAssignment {
		assignments[a.MemberID] = bytes.Clone(a.MemberAssignment) // answers outlive the leader's request
	}
	t.append(Key{Type: GroupMetadataType, Group: g.id}, g.metadataValue(func(m *classicMember) []byte { return assignments[m.id] }))
	if t.tooLarge() {
		t.unappend()
		t.failSyncs(g, unknownServerError)
		t.prepareRebalance(g, "the assignment is too large for a record")
		return
	}
	for _, m := range g.members {
		if t.answerSync(m, g.synced(assignments[m.id])) {
			t.startSession(g, m)
		}
	}
	g.stateSince = t.now
	t.event(g, stable, "assignment of leader "+g.leader)
}

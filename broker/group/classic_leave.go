package group

import (
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// LeaveGroup removes members, by id or, as an operator does, by instance id alone (KIP-345). Before version 3 a request
// names one member and its error is that of the response.
func (s *Shard) LeaveGroup(now time.Time, token Token, req *kmsg.LeaveGroupRequest) Effects {
	t := s.turn(now)
	members := req.Members
	if req.Version < 3 {
		members = []kmsg.LeaveGroupRequestMember{{MemberID: req.MemberID}}
	}
	resp := &kmsg.LeaveGroupResponse{Version: req.Version}
	t.reply(token, resp)
	if req.Group == "" {
		resp.ErrorCode = invalidGroupID
		return t.Effects
	}
	if g := s.consumers[req.Group]; g != nil {
		resp.Members = t.leaveConsumerGroup(g, members)
		if req.Version < 3 {
			resp.ErrorCode = resp.Members[0].ErrorCode
		}
		return t.Effects
	}
	g := s.groups[req.Group]
	left := false
	for _, m := range members {
		code := unknownMemberID
		if g != nil {
			code = t.leave(g, m)
		}
		left = left || code == none
		resp.Members = append(resp.Members, kmsg.LeaveGroupResponseMember{MemberID: m.MemberID, InstanceID: m.InstanceID, ErrorCode: code})
	}
	if req.Version < 3 {
		resp.ErrorCode = resp.Members[0].ErrorCode
	}
	if left {
		if g.state == stable || g.state == completingRebalance {
			t.prepareRebalance(g, "members left")
		} else {
			t.maybeCompleteJoin(g)
		}
	}
	return t.Effects
}

func (t *turn) leave(g *classicGroup, who kmsg.LeaveGroupRequestMember) Code {
	if who.MemberID == "" {
		if who.InstanceID == nil || g.static[*who.InstanceID] == nil {
			return unknownMemberID
		}
		t.dropMembers(g, g.static[*who.InstanceID])
		return none
	}
	if _, pending := g.pendingJoin[who.MemberID]; pending {
		g.remove(who.MemberID)
		t.cancel(HeartbeatTimer, g.id, who.MemberID)
		return none
	}
	if code := g.validate(who.MemberID, who.InstanceID); code != none {
		return code
	}
	t.dropMembers(g, g.byID[who.MemberID])
	return none
}

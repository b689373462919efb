package api

import (
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weir-broker/weir/broker/coordinator"
	"github.com/weir-broker/weir/broker/group"
)

// JoinGroup (11), versions 0-9.
//
// KIP-62 (v1: rebalance timeout), KIP-134 (initial delay), KIP-345 (v5: static members), KIP-394 (v4: a member id before
// there is a member), KIP-559 (v7: protocol type and name), KIP-800 (v8: reason), KIP-814 (v9: a leader that need not
// assign). Answered when the join phase of the rebalance is over. A member id is the client id or the instance id, a dash
// and a random UUID.
//
// No deviations.
func (h *Handler) joinGroup(r *request, req *kmsg.JoinGroupRequest) (kmsg.Response, *groupCall) {
	failed := func(code Code) kmsg.Response {
		resp := kmsg.NewPtrJoinGroupResponse()
		resp.ErrorCode, resp.Generation = int16(code), -1
		return resp
	}
	cfg := h.config.Load()
	session := time.Duration(req.SessionTimeoutMillis) * time.Millisecond
	refused := CodeNone
	switch {
	case req.Group == "":
		refused = CodeInvalidGroupID
	case session < cfg.GroupMinSessionTimeout || session > cfg.GroupMaxSessionTimeout:
		refused = CodeInvalidSessionTimeout
	}
	if refused != CodeNone {
		resp := failed(refused).(*kmsg.JoinGroupResponse)
		resp.MemberID = req.MemberID
		return resp, nil
	}
	client := r.client()
	return r.ask(req.Group, func(s *group.Shard, now time.Time, token coordinator.Token) group.Effects {
		return s.JoinGroup(now, client, token, req)
	}, failed)
}

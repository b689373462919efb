package api

import (
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weir-broker/weir/broker/coordinator"
	"github.com/weir-broker/weir/broker/group"
)

// SyncGroup (14), versions 0-5.
//
// KIP-345 (v3: static members), KIP-559 (v5: protocol type and name). Answered when the leader's assignment is committed.
//
// No deviations.
func (h *Handler) syncGroup(r *request, req *kmsg.SyncGroupRequest) (kmsg.Response, *groupCall) {
	failed := func(code Code) kmsg.Response {
		resp := kmsg.NewPtrSyncGroupResponse()
		resp.ErrorCode = int16(code)
		return resp
	}
	switch {
	case r.version >= 5 && (req.ProtocolType == nil || req.Protocol == nil):
		return failed(CodeInconsistentGroupProtocol), nil
	case req.Group == "":
		return failed(CodeInvalidGroupID), nil
	}
	return r.ask(req.Group, func(s *group.Shard, now time.Time, token coordinator.Token) group.Effects {
		return s.SyncGroup(now, token, req)
	}, failed)
}

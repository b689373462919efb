package api

import (
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weir-broker/weir/broker/coordinator"
	"github.com/weir-broker/weir/broker/group"
)

// LeaveGroup (13), versions 0-5.
//
// KIP-345 (v3: several members, by member id or instance id), KIP-800 (v5: reasons).
//
// No deviations.
func (h *Handler) leaveGroup(r *request, req *kmsg.LeaveGroupRequest) (kmsg.Response, *groupCall) {
	failed := func(code Code) kmsg.Response {
		resp := kmsg.NewPtrLeaveGroupResponse()
		resp.ErrorCode = int16(code)
		return resp
	}
	if req.Group == "" {
		return failed(CodeInvalidGroupID), nil
	}
	return r.ask(req.Group, func(s *group.Shard, now time.Time, token coordinator.Token) group.Effects {
		return s.LeaveGroup(now, token, req)
	}, failed)
}

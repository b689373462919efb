package api

import (
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weir-broker/weir/broker/coordinator"
	"github.com/weir-broker/weir/broker/group"
)

// Heartbeat (12), versions 0-4.
//
// KIP-345 (v3: static members). While the coordinator is being loaded every heartbeat is good, since nobody can say
// otherwise; sessions begin anew after that.
//
// No deviations.
func (h *Handler) heartbeat(r *request, req *kmsg.HeartbeatRequest) (kmsg.Response, *groupCall) {
	failed := func(code Code) kmsg.Response {
		resp := kmsg.NewPtrHeartbeatResponse()
		if code != CodeCoordinatorLoadInProgress {
			resp.ErrorCode = int16(code)
		}
		return resp
	}
	if req.Group == "" {
		return failed(CodeInvalidGroupID), nil
	}
	return r.ask(req.Group, func(s *group.Shard, now time.Time, token coordinator.Token) group.Effects {
		return s.Heartbeat(now, token, req)
	}, failed)
}

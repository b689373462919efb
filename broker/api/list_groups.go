package api

import (
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weir-broker/weir/broker/coordinator"
	"github.com/weir-broker/weir/broker/group"
)

// ListGroups (16), versions 0-5.
//
// KIP-518 (v4: states), KIP-848 (v5: types). Lists the groups that this broker coordinates; a coordinator that is being
// loaded fails the request, since the list would not be whole.
//
// No deviations.
func (h *Handler) listGroups(r *request, req *kmsg.ListGroupsRequest) (kmsg.Response, *groupCall) {
	c := r.newGroupCall()
	for _, partition := range h.groups.Partitions() {
		c.submit(partition, func(s *group.Shard, now time.Time, token coordinator.Token) group.Effects {
			return s.ListGroups(now, token, req)
		})
	}
	c.finish = func(answers []groupAnswer) kmsg.Response {
		resp := kmsg.NewPtrListGroupsResponse()
		resp.Groups = []kmsg.ListGroupsResponseGroup{}
		for _, answer := range answers {
			switch answer.code {
			case CodeNone:
				resp.Groups = append(resp.Groups, answer.response.(*kmsg.ListGroupsResponse).Groups...)
			case CodeNotCoordinator: // moved away meanwhile
			default:
				failed := kmsg.NewPtrListGroupsResponse()
				failed.ErrorCode = int16(answer.code)
				return failed
			}
		}
		return resp
	}
	return nil, c
}

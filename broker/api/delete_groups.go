package api

import (
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weir-broker/weir/broker/coordinator"
	"github.com/weir-broker/weir/broker/group"
)

// DeleteGroups (42), versions 0-3.
//
// KIP-229, KIP-1331 (v3: messages). Groups without members are deleted with their offsets; a group named twice is
// answered once.
//
// No deviations; groups come in the order asked for.
func (h *Handler) deleteGroups(r *request, req *kmsg.DeleteGroupsRequest) (kmsg.Response, *groupCall) {
	var groups []string
	seen := map[string]struct{}{}
	for _, id := range req.Groups {
		if _, twice := seen[id]; !twice {
			seen[id] = struct{}{}
			groups = append(groups, id)
		}
	}
	c := r.newGroupCall()
	partitions, positions := r.byCoordinator(len(groups), func(i int) string { return groups[i] })
	for i, partition := range partitions {
		part := &kmsg.DeleteGroupsRequest{Version: r.version}
		for _, at := range positions[i] {
			part.Groups = append(part.Groups, groups[at])
		}
		c.submit(partition, func(s *group.Shard, now time.Time, token coordinator.Token) group.Effects {
			return s.DeleteGroups(now, token, part)
		})
	}
	c.finish = func(answers []groupAnswer) kmsg.Response {
		resp := kmsg.NewPtrDeleteGroupsResponse()
		resp.Groups = make([]kmsg.DeleteGroupsResponseGroup, len(groups))
		for i, answer := range answers {
			part, _ := answer.response.(*kmsg.DeleteGroupsResponse)
			for j, at := range positions[i] {
				if answer.code != CodeNone {
					resp.Groups[at] = kmsg.DeleteGroupsResponseGroup{Group: groups[at], ErrorCode: int16(answer.code)}
				} else {
					resp.Groups[at] = part.Groups[j]
				}
			}
		}
		return resp
	}
	return nil, c
}

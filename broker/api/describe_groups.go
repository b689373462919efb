package api

import (
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weir-broker/weir/broker/coordinator"
	"github.com/weir-broker/weir/broker/group"
)

// groupOperations are the operations that there are on a group (KIP-430).
const groupOperations = 1<<opRead | 1<<opDescribe | 1<<opDelete | 1<<opDescribeConfigs | 1<<opAlterConfigs

// DescribeGroups (15), versions 0-6.
//
// KIP-430 (v3: authorized operations), KIP-345 (v4: instance ids), KIP-1043 (v6: an error and a message for a group that
// does not exist; before, its state is Dead).
//
// No deviations; groups come in the order asked for.
func (h *Handler) describeGroups(r *request, req *kmsg.DescribeGroupsRequest) (kmsg.Response, *groupCall) {
	c := r.newGroupCall()
	partitions, positions := r.byCoordinator(len(req.Groups), func(i int) string { return req.Groups[i] })
	for i, partition := range partitions {
		part := &kmsg.DescribeGroupsRequest{Version: r.version}
		for _, at := range positions[i] {
			part.Groups = append(part.Groups, req.Groups[at])
		}
		c.submit(partition, func(s *group.Shard, now time.Time, token coordinator.Token) group.Effects {
			return s.DescribeGroups(now, token, part)
		})
	}
	withOperations := r.version >= 3 && req.IncludeAuthorizedOperations
	c.finish = func(answers []groupAnswer) kmsg.Response {
		resp := kmsg.NewPtrDescribeGroupsResponse()
		resp.Groups = make([]kmsg.DescribeGroupsResponseGroup, len(req.Groups))
		for i, answer := range answers {
			part, _ := answer.response.(*kmsg.DescribeGroupsResponse)
			for j, at := range positions[i] {
				if answer.code != CodeNone {
					resp.Groups[at] = kmsg.NewDescribeGroupsResponseGroup()
					resp.Groups[at].Group, resp.Groups[at].ErrorCode = req.Groups[at], int16(answer.code)
					continue
				}
				resp.Groups[at] = part.Groups[j]
				if withOperations && resp.Groups[at].ErrorCode == 0 {
					resp.Groups[at].AuthorizedOperations = groupOperations
				}
			}
		}
		return resp
	}
	return nil, c
}

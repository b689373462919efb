package api

import (
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weir-broker/weir/broker/coordinator"
	"github.com/weir-broker/weir/broker/group"
)

// OffsetDelete (47), version 0.
//
// KIP-496. Deletes offsets of topics that no member of the group subscribes to.
//
// No deviations.
func (h *Handler) offsetDelete(r *request, req *kmsg.OffsetDeleteRequest) (kmsg.Response, *groupCall) {
	failed := func(code Code) kmsg.Response {
		resp := kmsg.NewPtrOffsetDeleteResponse()
		resp.ErrorCode, resp.Topics = int16(code), []kmsg.OffsetDeleteResponseTopic{}
		return resp
	}
	if req.Group == "" {
		return failed(CodeInvalidGroupID), nil
	}
	var refused []kmsg.OffsetDeleteResponseTopic
	position := map[string]int{} // in refused
	refuse := func(topic string, partition int32) {
		at, ok := position[topic]
		if !ok {
			at = len(refused)
			position[topic] = at
			refused = append(refused, kmsg.OffsetDeleteResponseTopic{Topic: topic})
		}
		refused[at].Partitions = append(refused[at].Partitions, kmsg.OffsetDeleteResponseTopicPartition{Partition: partition, ErrorCode: int16(CodeUnknownTopicOrPartition)})
	}
	ask := &kmsg.OffsetDeleteRequest{Group: req.Group}
	for i := range req.Topics {
		t := &req.Topics[i]
		there := kmsg.OffsetDeleteRequestTopic{Topic: t.Topic}
		for _, p := range t.Partitions {
			if r.image.Partition(t.Topic, p.Partition) != nil {
				there.Partitions = append(there.Partitions, p)
			} else {
				refuse(t.Topic, p.Partition)
			}
		}
		if len(there.Partitions) > 0 {
			ask.Topics = append(ask.Topics, there)
		}
	}
	c := r.newGroupCall()
	c.submit(r.groupPartition(req.Group), func(s *group.Shard, now time.Time, token coordinator.Token) group.Effects {
		return s.OffsetDelete(now, token, ask)
	})
	c.finish = func(answers []groupAnswer) kmsg.Response {
		if answers[0].code != CodeNone {
			return failed(answers[0].code)
		}
		resp := answers[0].response.(*kmsg.OffsetDeleteResponse)
		if resp.ErrorCode != 0 || len(refused) == 0 {
			return resp
		}
		for _, t := range resp.Topics {
			if at, ok := position[t.Topic]; ok {
				refused[at].Partitions = append(refused[at].Partitions, t.Partitions...)
			} else {
				refused = append(refused, t)
			}
		}
		resp.Topics = refused
		return resp
	}
	return nil, c
}

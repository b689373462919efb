package api

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weir-broker/weir/broker/controller"
	"github.com/weir-broker/weir/broker/metadata"
)

// CreatePartitions (37), versions 0-3.
//
// KIP-195, KIP-599 (v3: quota error). The count is the total the topic shall have.
//
// No deviations.
func (h *Handler) createPartitions(r *request, req *kmsg.CreatePartitionsRequest) kmsg.Response {
	ask := controller.CreatePartitionsRequest{ValidateOnly: req.ValidateOnly}
	counts := map[string]int32{}
	for i := range req.Topics {
		t := &req.Topics[i]
		topic := controller.CreatePartitions{Name: t.Topic, Count: t.Count}
		if t.Assignment != nil {
			topic.Assignments = make([][]metadata.BrokerID, 0, len(t.Assignment))
			for j := range t.Assignment {
				topic.Assignments = append(topic.Assignments, toBrokerIDs(t.Assignment[j].Replicas))
			}
		}
		counts[t.Topic] = t.Count
		ask.Topics = append(ask.Topics, topic)
	}
	resp := kmsg.NewPtrCreatePartitionsResponse()
	resp.Topics = make([]kmsg.CreatePartitionsResponseTopic, 0, len(req.Topics))
	ctx, cancel := r.context(req.TimeoutMillis)
	defer cancel()
	results, err := h.controller.CreatePartitions(ctx, ask)
	if err != nil {
		for i := range req.Topics {
			out := kmsg.NewCreatePartitionsResponseTopic()
			out.Topic = req.Topics[i].Topic
			out.ErrorCode, out.ErrorMessage = refusal(err)
			resp.Topics = append(resp.Topics, out)
		}
		return resp
	}
	for i := range results {
		out := kmsg.NewCreatePartitionsResponseTopic()
		out.Topic = results[i].Name
		out.ErrorCode, out.ErrorMessage = outcome(results[i].Err)
		resp.Topics = append(resp.Topics, out)
		if results[i].Err != nil {
			delete(counts, results[i].Name)
		}
	}
	if !req.ValidateOnly {
		h.awaitImage(ctx, func(img *metadata.Image) bool {
			for name, count := range counts {
				if t := img.Topic(name); t != nil && t.PartitionCount() < count {
					return false
				}
			}
			return true
		})
	}
	return resp
}

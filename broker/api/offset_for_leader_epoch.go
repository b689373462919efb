package api

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weir-broker/weir/broker/batch"
)

// OffsetForLeaderEpoch (23), versions 2-4.
//
// KIP-101, KIP-320 (v2: the epoch the client believes in). Consumers ask it after a leader change to
// find out whether what they read was truncated.
//
// No deviations.
func (h *Handler) offsetForLeaderEpoch(r *request, req *kmsg.OffsetForLeaderEpochRequest) kmsg.Response {
	resp := kmsg.NewPtrOffsetForLeaderEpochResponse()
	resp.Topics = make([]kmsg.OffsetForLeaderEpochResponseTopic, 0, len(req.Topics))
	for i := range req.Topics {
		t := &req.Topics[i]
		out := kmsg.OffsetForLeaderEpochResponseTopic{Topic: t.Topic, Partitions: make([]kmsg.OffsetForLeaderEpochResponseTopicPartition, 0, len(t.Partitions))}
		for j := range t.Partitions {
			p := &t.Partitions[j]
			answer := kmsg.NewOffsetForLeaderEpochResponseTopicPartition()
			answer.Partition, answer.LeaderEpoch, answer.EndOffset = p.Partition, -1, -1
			if r.image.Partition(t.Topic, p.Partition) == nil {
				answer.ErrorCode = int16(CodeUnknownTopicOrPartition)
			} else if rep, err := h.replicas.Lookup(t.Topic, p.Partition); err != nil {
				answer.ErrorCode = int16(codeOf(err))
			} else if end, err := rep.EndOffsetForEpoch(batch.LeaderEpoch(p.CurrentLeaderEpoch), batch.LeaderEpoch(p.LeaderEpoch)); err != nil {
				answer.ErrorCode = int16(codeOf(err))
			} else {
				answer.LeaderEpoch, answer.EndOffset = int32(end.Epoch), int64(end.EndOffset)
			}
			out.Partitions = append(out.Partitions, answer)
		}
		resp.Topics = append(resp.Topics, out)
	}
	return resp
}

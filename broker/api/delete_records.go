package api

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weir-broker/weir/broker/batch"
	"github.com/weir-broker/weir/broker/metadata"
	"github.com/weir-broker/weir/broker/partition"
)

// DeleteRecords (21), versions 0-2.
//
// KIP-107. Moves the log start offset; -1 means the high watermark. Answered when every live replica
// has moved, or the timeout passed.
//
// No deviations.
func (h *Handler) deleteRecords(r *request, req *kmsg.DeleteRecordsRequest) kmsg.Response {
	resp := kmsg.NewPtrDeleteRecordsResponse()
	resp.Topics = make([]kmsg.DeleteRecordsResponseTopic, 0, len(req.Topics))
	ctx, cancel := r.context(req.TimeoutMillis)
	defer cancel()
	var moving []movingStart
	for i := range req.Topics {
		t := &req.Topics[i]
		out := kmsg.DeleteRecordsResponseTopic{Topic: t.Topic, Partitions: make([]kmsg.DeleteRecordsResponseTopicPartition, len(t.Partitions))}
		for j := range t.Partitions {
			answer := &out.Partitions[j]
			answer.Partition, answer.LowWatermark = t.Partitions[j].Partition, -1
			rep, code := r.leader(t.Topic, t.Partitions[j].Partition)
			if code == CodeNone && metadata.InternalTopic(t.Topic) {
				code = CodeInvalidTopicException
			}
			if code != CodeNone {
				answer.ErrorCode = int16(code)
				continue
			}
			target, low, err := rep.DeleteRecords(batch.Offset(t.Partitions[j].Offset))
			if err != nil {
				answer.ErrorCode = int16(codeOf(err))
				continue
			}
			answer.LowWatermark = int64(low)
			if low < target {
				moving = append(moving, movingStart{replica: rep, target: target, answer: answer})
			}
		}
		resp.Topics = append(resp.Topics, out)
	}
	awaitStarts(ctx, moving)
	return resp
}

// leader returns the replica of a partition that the cluster knows.
func (r *request) leader(topic string, index int32) (replica, Code) {
	if r.image.Partition(topic, index) == nil {
		return nil, CodeUnknownTopicOrPartition
	}
	rep, err := r.handler.replicas.Lookup(topic, index)
	return rep, codeOf(err)
}

// movingStart is a partition whose followers have not yet deleted what was asked.
type movingStart struct {
	replica replica
	target  batch.Offset
	answer  *kmsg.DeleteRecordsResponseTopicPartition
}

// awaitStarts waits until the low watermarks have reached their targets.
func awaitStarts(ctx context.Context, moving []movingStart) {
	if len(moving) == 0 {
		return
	}
	w := partition.NewWaiter()
	for i := range moving {
		moving[i].replica.Watch(w)
		defer moving[i].replica.Unwatch(w)
	}
	for {
		waiting := false
		for i := range moving {
			m := &moving[i]
			low, err := m.replica.LowWatermark()
			m.answer.LowWatermark, m.answer.ErrorCode = int64(low), int16(codeOf(err))
			waiting = waiting || err == nil && low < m.target
		}
		if !waiting {
			return
		}
		select {
		case <-w.C():
		case <-ctx.Done():
			for i := range moving {
				if m := &moving[i]; m.answer.ErrorCode == 0 && batch.Offset(m.answer.LowWatermark) < m.target {
					m.answer.ErrorCode = int16(CodeRequestTimedOut)
				}
			}
			return
		}
	}
}

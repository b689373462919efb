package api

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weir-broker/weir/broker/batch"
	"github.com/weir-broker/weir/broker/metadata"
	"github.com/weir-broker/weir/broker/partition"
)

// debugReplicaID is a replica id in requests of tools: it may ask any replica and sees the log end.
const debugReplicaID = -2

// ListOffsets (2), versions 1-11.
//
// KIP-79 (v1: one offset), KIP-98 (v2: isolation), KIP-320 (v4: epochs), KIP-734 (v7: largest timestamp),
// KIP-405 (v8: earliest local), KIP-1005 (v9: latest tiered), KIP-1075 (v10: timeout), KIP-1023 (v11: earliest
// pending upload). Without tiered storage the earliest local offset is the earliest, and the tiered and
// pending ones are -1.
//
// No deviations.
func (h *Handler) listOffsets(r *request, req *kmsg.ListOffsetsRequest) kmsg.Response {
	resp := kmsg.NewPtrListOffsetsResponse()
	resp.Topics = make([]kmsg.ListOffsetsResponseTopic, 0, len(req.Topics))
	asked := countPartitions(len(req.Topics), func(i int, count func(string, int32)) {
		for j := range req.Topics[i].Partitions {
			count(req.Topics[i].Topic, req.Topics[i].Partitions[j].Partition)
		}
	})
	for i := range req.Topics {
		t := &req.Topics[i]
		out := kmsg.ListOffsetsResponseTopic{Topic: t.Topic, Partitions: make([]kmsg.ListOffsetsResponseTopicPartition, 0, len(t.Partitions))}
		for j := range t.Partitions {
			p := &t.Partitions[j]
			n := asked[topicPartition{t.Topic, p.Partition}]
			if n == answeredTwice {
				continue
			}
			answer := kmsg.NewListOffsetsResponseTopicPartition()
			answer.Partition, answer.Timestamp, answer.Offset, answer.LeaderEpoch = p.Partition, -1, -1, -1
			if n > 1 {
				answer.ErrorCode = int16(CodeInvalidRequest)
				asked[topicPartition{t.Topic, p.Partition}] = answeredTwice
			} else if result, code := h.listOffset(r, req, t.Topic, p); code != CodeNone {
				answer.ErrorCode = int16(code)
			} else {
				answer.Timestamp, answer.Offset, answer.LeaderEpoch = result.Timestamp, int64(result.Offset), int32(result.LeaderEpoch)
			}
			out.Partitions = append(out.Partitions, answer)
		}
		if len(out.Partitions) > 0 {
			resp.Topics = append(resp.Topics, out)
		}
	}
	return resp
}

// answeredTwice marks a partition that was named more than once: it is answered once, with an error.
const answeredTwice = -1

// topicPartition names a partition in a request.
type topicPartition struct {
	topic string
	index int32
}

// countPartitions counts how often a request names each partition.
func countPartitions(topics int, each func(i int, count func(topic string, index int32))) map[topicPartition]int {
	n := make(map[topicPartition]int)
	for i := range topics {
		each(i, func(topic string, index int32) { n[topicPartition{topic, index}]++ })
	}
	return n
}

// timestampSince is the version from which on a special timestamp is understood.
var timestampSince = map[int64]int16{
	partition.LatestTimestamp:          0,
	partition.EarliestTimestamp:        0,
	partition.MaxTimestamp:             7,
	partition.EarliestLocalTimestamp:   8,
	partition.LatestTieredTimestamp:    9,
	partition.EarliestPendingTimestamp: 11,
}

func (h *Handler) listOffset(r *request, req *kmsg.ListOffsetsRequest, topic string, p *kmsg.ListOffsetsRequestTopicPartition) (partition.ListOffsetResult, Code) {
	if since, special := timestampSince[p.Timestamp]; p.Timestamp < 0 && (!special || r.version < since) {
		return partition.ListOffsetResult{}, CodeUnsupportedVersion
	}
	if r.image.Partition(topic, p.Partition) == nil {
		return partition.ListOffsetResult{}, CodeUnknownTopicOrPartition
	}
	rep, err := h.replicas.Lookup(topic, p.Partition)
	if err != nil {
		return partition.ListOffsetResult{}, codeOf(err)
	}
	ask := partition.ListOffsetRequest{
		Timestamp: p.Timestamp, Isolation: partition.Isolation(req.IsolationLevel), CurrentLeaderEpoch: partition.NoEpoch,
		ReplicaID: metadata.BrokerID(req.ReplicaID), AllowFollower: req.ReplicaID == debugReplicaID,
	}
	if r.version >= 4 {
		ask.CurrentLeaderEpoch = batch.LeaderEpoch(p.CurrentLeaderEpoch)
	}
	result, err := rep.ListOffset(ask)
	return result, codeOf(err)
}

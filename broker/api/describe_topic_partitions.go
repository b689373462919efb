package api

import (
	"cmp"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weir-broker/weir/broker/metadata"
)

// DescribeTopicPartitions (75), version 0.
//
// KIP-966. Topics in the order of their names, at most max.request.partition.size.limit partitions an answer; the
// cursor says where to go on.
//
// No deviations.
func (h *Handler) describeTopicPartitions(r *request, req *kmsg.DescribeTopicPartitionsRequest) kmsg.Response {
	resp := kmsg.NewPtrDescribeTopicPartitionsResponse()
	resp.Topics = []kmsg.DescribeTopicPartitionsResponseTopic{}
	from, start := "", int32(0)
	if req.Cursor != nil {
		from, start = req.Cursor.Topic, req.Cursor.Partition
	}
	named := len(req.Topics) > 0
	var names []string
	for i := range req.Topics {
		if req.Topics[i].Topic >= from {
			names = append(names, req.Topics[i].Topic)
		}
	}
	if start < 0 || named && req.Cursor != nil && !slices.Contains(names, from) {
		return describeTopicPartitionsInvalid(req)
	}
	slices.Sort(names)
	names = slices.Compact(names)

	left := max(min(h.config.Load().MaxRequestPartitions, req.ResponsePartitionLimit), 1)
	describe := func(name string, t *metadata.Topic) bool {
		if left <= 0 {
			resp.NextCursor = &kmsg.DescribeTopicPartitionsResponseNextCursor{Topic: name}
			return false
		}
		first := int32(0)
		if req.Cursor != nil && name == from {
			first = start
		}
		out := r.describedTopic(name, t)
		if t != nil {
			end := min(t.PartitionCount(), first+left)
			for i := first; i < end; i++ {
				out.Partitions = append(out.Partitions, r.describedPartition(i, t.Partition(i)))
			}
			left -= int32(len(out.Partitions))
			if end < t.PartitionCount() {
				resp.NextCursor = &kmsg.DescribeTopicPartitionsResponseNextCursor{Topic: name, Partition: end}
			}
		}
		resp.Topics = append(resp.Topics, out)
		return resp.NextCursor == nil
	}
	if !named {
		for name, t := range r.image.TopicsFrom(from) {
			if !describe(name, t) {
				break
			}
		}
		return resp
	}
	for _, name := range names {
		if !describe(name, r.image.Topic(name)) {
			break
		}
	}
	return resp
}

func (r *request) describedTopic(name string, t *metadata.Topic) kmsg.DescribeTopicPartitionsResponseTopic {
	out := kmsg.NewDescribeTopicPartitionsResponseTopic()
	out.Topic, out.IsInternal = &name, metadata.InternalTopic(name)
	out.Partitions = []kmsg.DescribeTopicPartitionsResponseTopicPartition{}
	out.AuthorizedOperations = topicOperations
	switch {
	case t != nil:
		out.TopicID = t.ID
	case validTopicName(name):
		out.ErrorCode = int16(CodeUnknownTopicOrPartition)
	default:
		out.ErrorCode = int16(CodeInvalidTopicException)
	}
	return out
}

func (r *request) describedPartition(index int32, p *metadata.Partition) kmsg.DescribeTopicPartitionsResponseTopicPartition {
	out := kmsg.NewDescribeTopicPartitionsResponseTopicPartition()
	out.Partition, out.LeaderID, out.LeaderEpoch = index, int32(metadata.NoLeader), int32(p.LeaderEpoch)
	if _, ok := r.node(p.Leader); ok {
		out.LeaderID = int32(p.Leader)
	}
	out.Replicas, out.ISR, out.OfflineReplicas = brokerIDs(p.Replicas), brokerIDs(p.ISR), r.offlineReplicas(p)
	out.EligibleLeaderReplicas, out.LastKnownELR = brokerIDs(p.ELR), brokerIDs(p.LastKnownELR)
	return out
}

func describeTopicPartitionsInvalid(req *kmsg.DescribeTopicPartitionsRequest) kmsg.Response {
	resp := kmsg.NewPtrDescribeTopicPartitionsResponse()
	resp.Topics = []kmsg.DescribeTopicPartitionsResponseTopic{}
	for i := range req.Topics {
		out := kmsg.NewDescribeTopicPartitionsResponseTopic()
		out.Topic, out.ErrorCode = &req.Topics[i].Topic, int16(CodeInvalidRequest)
		out.Partitions = []kmsg.DescribeTopicPartitionsResponseTopicPartition{}
		resp.Topics = append(resp.Topics, out)
	}
	slices.SortFunc(resp.Topics, func(a, b kmsg.DescribeTopicPartitionsResponseTopic) int { return cmp.Compare(*a.Topic, *b.Topic) })
	return resp
}

package api

import "github.com/twmb/franz-go/pkg/kmsg"

// DescribeProducers (61), version 0.
//
// KIP-664. What the leader remembers of the producers of a partition.
//
// Deviations: a partition can be named again and again; past maxDescribedProducers in an answer partitions are
// INVALID_REQUEST.
func (h *Handler) describeProducers(r *request, req *kmsg.DescribeProducersRequest) kmsg.Response {
	resp := kmsg.NewPtrDescribeProducersResponse()
	resp.Topics = make([]kmsg.DescribeProducersResponseTopic, 0, len(req.Topics))
	left := maxDescribedProducers
	for i := range req.Topics {
		t := &req.Topics[i]
		out := kmsg.DescribeProducersResponseTopic{Topic: t.Topic}
		for _, index := range t.Partitions {
			p := kmsg.NewDescribeProducersResponseTopicPartition()
			p.Partition, p.ActiveProducers = index, []kmsg.DescribeProducersResponseTopicPartitionActiveProducer{}
			switch {
			case left <= 0:
				p.ErrorCode = int16(CodeInvalidRequest)
			case !validTopicName(t.Topic):
				p.ErrorCode = int16(CodeInvalidTopicException)
			case r.image.Partition(t.Topic, index) == nil:
				p.ErrorCode = int16(CodeUnknownTopicOrPartition)
			default:
				producers, err := h.replicas.Producers(t.Topic, index)
				p.ErrorCode = int16(codeOf(err))
				if err == nil {
					p.ActiveProducers = producers
					left -= len(producers)
				}
			}
			out.Partitions = append(out.Partitions, p)
		}
		resp.Topics = append(resp.Topics, out)
	}
	return resp
}

// maxDescribedProducers bounds an answer.
const maxDescribedProducers = 500_000

// Producers describes the producers of a hosted partition.
func (h hosted) Producers(topic string, index int32) ([]kmsg.DescribeProducersResponseTopicPartitionActiveProducer, error) {
	p, err := h.Table.Lookup(topic, index)
	if err != nil {
		return nil, err
	}
	producers, err := p.Producers()
	if err != nil {
		return nil, err
	}
	out := make([]kmsg.DescribeProducersResponseTopicPartitionActiveProducer, 0, len(producers))
	for i := range producers {
		v := &producers[i]
		out = append(out, kmsg.DescribeProducersResponseTopicPartitionActiveProducer{
			ProducerID: int64(v.ID), ProducerEpoch: int32(v.Epoch), LastSequence: v.LastSequence, LastTimestamp: v.LastTimestamp,
			CoordinatorEpoch: v.CoordinatorEpoch, CurrentTxnStartOffset: int64(v.TxnFirstOffset),
		})
	}
	return out, nil
}

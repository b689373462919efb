package api

import (
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weir-broker/weir/broker/coordinator"
	"github.com/weir-broker/weir/broker/group"
)

// OffsetCommit (8), versions 2-10.
//
// KIP-211 (v5: no retention time any more), KIP-320 (v6: leader epochs), KIP-345 (v7: static members), KIP-848 (v9: error
// codes of the consumer protocol), KIP-516 (v10: topic ids). Topics and partitions must exist. Answered when the offsets
// are committed to all in-sync replicas of their partition of __consumer_offsets.
//
// No deviations.
func (h *Handler) offsetCommit(r *request, req *kmsg.OffsetCommitRequest) (kmsg.Response, *groupCall) {
	answer := committed{byID: r.version >= 10}
	valid := make([]kmsg.OffsetCommitRequestTopic, 0, len(req.Topics))
	for i := range req.Topics {
		t := &req.Topics[i]
		if answer.byID {
			if known := r.image.TopicByID(t.TopicID); known != nil {
				t.Topic = known.Name
			} else {
				answer.refuse(t, CodeUnknownTopicID)
				continue
			}
		}
		known := r.image.Topic(t.Topic)
		if known == nil {
			t.TopicID = [16]byte{}
			answer.refuse(t, CodeUnknownTopicOrPartition)
			continue
		}
		t.TopicID = known.ID
		there := kmsg.OffsetCommitRequestTopic{Topic: t.Topic, TopicID: t.TopicID, Partitions: t.Partitions[:0]}
		for _, p := range t.Partitions {
			if known.Partition(p.Partition) != nil {
				there.Partitions = append(there.Partitions, p)
			} else {
				answer.topic(t.Topic, t.TopicID).add(p.Partition, CodeUnknownTopicOrPartition)
			}
		}
		if len(there.Partitions) > 0 {
			valid = append(valid, there)
		}
	}
	if len(valid) == 0 {
		return answer.response(nil), nil
	}
	ask := *req
	ask.Topics = valid
	c := r.newGroupCall()
	c.submit(r.groupPartition(req.Group), func(s *group.Shard, now time.Time, token coordinator.Token) group.Effects {
		return s.OffsetCommit(now, token, &ask)
	})
	c.finish = func(answers []groupAnswer) kmsg.Response {
		if code := answers[0].code; code != CodeNone {
			for i := range valid {
				answer.refuse(&valid[i], code)
			}
			return answer.response(nil)
		}
		return answer.response(answers[0].response.(*kmsg.OffsetCommitResponse))
	}
	return nil, c
}

// committed collects the answer to an OffsetCommit; a topic is in it once.
type committed struct {
	byID   bool
	topics []*committedTopic
	named  map[string]*committedTopic
	withID map[[16]byte]*committedTopic
}

type committedTopic kmsg.OffsetCommitResponseTopic

func (t *committedTopic) add(partition int32, code Code) {
	t.Partitions = append(t.Partitions, kmsg.OffsetCommitResponseTopicPartition{Partition: partition, ErrorCode: int16(code)})
}

// topic is the entry of a topic, a new one if need be.
func (c *committed) topic(name string, id [16]byte) *committedTopic {
	if c.named == nil {
		c.named, c.withID = map[string]*committedTopic{}, map[[16]byte]*committedTopic{}
	}
	t := c.named[name]
	if c.byID {
		t = c.withID[id]
	}
	if t == nil {
		t = &committedTopic{Topic: name, TopicID: id}
		c.named[name], c.withID[id] = t, t
		c.topics = append(c.topics, t)
	}
	return t
}

func (c *committed) refuse(t *kmsg.OffsetCommitRequestTopic, code Code) {
	out := c.topic(t.Topic, t.TopicID)
	for i := range t.Partitions {
		out.add(t.Partitions[i].Partition, code)
	}
}

// response adds the coordinator's answer to what was collected.
func (c *committed) response(more *kmsg.OffsetCommitResponse) *kmsg.OffsetCommitResponse {
	if len(c.topics) == 0 && more != nil {
		return more
	}
	if more != nil {
		for i := range more.Topics {
			out := c.topic(more.Topics[i].Topic, more.Topics[i].TopicID)
			out.Partitions = append(out.Partitions, more.Topics[i].Partitions...)
		}
	}
	resp := kmsg.NewPtrOffsetCommitResponse()
	resp.Topics = make([]kmsg.OffsetCommitResponseTopic, 0, len(c.topics))
	for _, t := range c.topics {
		resp.Topics = append(resp.Topics, kmsg.OffsetCommitResponseTopic(*t))
	}
	return resp
}

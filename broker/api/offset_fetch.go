package api

import (
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weir-broker/weir/broker/coordinator"
	"github.com/weir-broker/weir/broker/group"
	"github.com/weir-broker/weir/broker/metadata"
)

// OffsetFetch (9), versions 1-10.
//
// KIP-88 (v2: all offsets of a group, an error of the group), KIP-320 (v5: leader epochs), KIP-447 (v7: stable offsets
// only), KIP-709 (v8: several groups), KIP-848 (v9: member ids and epochs), KIP-516 (v10: topic ids). A group that does
// not exist has no offsets.
//
// No deviations; groups come in the order asked for.
func (h *Handler) offsetFetch(r *request, req *kmsg.OffsetFetchRequest) (kmsg.Response, *groupCall) {
	groups := req.Groups
	if r.version < 8 {
		groups = []kmsg.OffsetFetchRequestGroup{singleGroup(req)}
	}
	refused := make([][]kmsg.OffsetFetchResponseGroupTopic, len(groups))
	if r.version >= 10 {
		for i := range groups {
			refused[i] = r.resolveTopics(&groups[i])
		}
	}
	c := r.newGroupCall()
	partitions, positions := r.byCoordinator(len(groups), func(i int) string { return groups[i].Group })
	for i, partition := range partitions {
		part := &kmsg.OffsetFetchRequest{Version: max(r.version, 8), RequireStable: req.RequireStable}
		for _, at := range positions[i] {
			part.Groups = append(part.Groups, groups[at])
		}
		c.submit(partition, func(s *group.Shard, now time.Time, token coordinator.Token) group.Effects {
			return s.OffsetFetch(now, token, part)
		})
	}
	c.finish = func(answers []groupAnswer) kmsg.Response {
		resp := kmsg.NewPtrOffsetFetchResponse()
		resp.Groups = make([]kmsg.OffsetFetchResponseGroup, len(groups))
		for i, answer := range answers {
			part, _ := answer.response.(*kmsg.OffsetFetchResponse)
			for j, at := range positions[i] {
				if answer.code != CodeNone {
					resp.Groups[at] = failedOffsets(&groups[at], c.version, answer.code)
					continue
				}
				resp.Groups[at] = part.Groups[j]
				if g := &resp.Groups[at]; c.version >= 10 && groups[at].Topics == nil {
					c.identifyTopics(g)
				} else {
					g.Topics = append(g.Topics, refused[at]...)
				}
			}
		}
		if c.version < 8 {
			return singleAnswer(&resp.Groups[0])
		}
		return resp
	}
	return nil, c
}

// resolveTopics puts names where a request has ids, and takes out the topics that are not known, with their answers.
func (r *request) resolveTopics(g *kmsg.OffsetFetchRequestGroup) (refused []kmsg.OffsetFetchResponseGroupTopic) {
	if g.Topics == nil {
		return nil // all
	}
	known := make([]kmsg.OffsetFetchRequestGroupTopic, 0, len(g.Topics))
	for _, t := range g.Topics {
		if topic := r.image.TopicByID(t.TopicID); topic != nil {
			t.Topic = topic.Name
			known = append(known, t)
			continue
		}
		out := kmsg.OffsetFetchResponseGroupTopic{TopicID: t.TopicID}
		for _, p := range t.Partitions {
			out.Partitions = append(out.Partitions, noOffset(p, CodeUnknownTopicID))
		}
		refused = append(refused, out)
	}
	g.Topics = known
	return refused
}

// identifyTopics puts ids to names. A topic that is gone has none and cannot be told.
func (r *request) identifyTopics(g *kmsg.OffsetFetchResponseGroup) {
	img := r.handler.image.Load()
	there := g.Topics[:0]
	for _, t := range g.Topics {
		if topic := img.Topic(t.Topic); topic != nil && t.TopicID == (metadata.TopicID{}) {
			t.TopicID = topic.ID
		}
		if t.TopicID != (metadata.TopicID{}) {
			there = append(there, t)
		}
	}
	g.Topics = there
}

func noOffset(partition int32, code Code) kmsg.OffsetFetchResponseGroupTopicPartition {
	return kmsg.OffsetFetchResponseGroupTopicPartition{Partition: partition, Offset: -1, LeaderEpoch: -1, Metadata: stringPtr(""), ErrorCode: int16(code)}
}

// failedOffsets answers for a group whose coordinator did not. Version 1 has errors of partitions only.
func failedOffsets(g *kmsg.OffsetFetchRequestGroup, version int16, code Code) kmsg.OffsetFetchResponseGroup {
	out := kmsg.OffsetFetchResponseGroup{Group: g.Group}
	if version >= 2 {
		out.ErrorCode = int16(code)
		return out
	}
	for _, t := range g.Topics {
		topic := kmsg.OffsetFetchResponseGroupTopic{Topic: t.Topic}
		for _, p := range t.Partitions {
			topic.Partitions = append(topic.Partitions, noOffset(p, code))
		}
		out.Topics = append(out.Topics, topic)
	}
	return out
}

// singleGroup is the one group of a request before version 8.
func singleGroup(req *kmsg.OffsetFetchRequest) kmsg.OffsetFetchRequestGroup {
	g := kmsg.NewOffsetFetchRequestGroup()
	g.Group = req.Group
	if req.Topics == nil {
		return g
	}
	g.Topics = make([]kmsg.OffsetFetchRequestGroupTopic, 0, len(req.Topics))
	for _, t := range req.Topics {
		g.Topics = append(g.Topics, kmsg.OffsetFetchRequestGroupTopic{Topic: t.Topic, Partitions: t.Partitions})
	}
	return g
}

// singleAnswer is the answer about the one group of a request before version 8.
func singleAnswer(g *kmsg.OffsetFetchResponseGroup) *kmsg.OffsetFetchResponse {
	resp := kmsg.NewPtrOffsetFetchResponse()
	resp.ErrorCode = g.ErrorCode
	resp.Topics = make([]kmsg.OffsetFetchResponseTopic, 0, len(g.Topics))
	for _, t := range g.Topics {
		topic := kmsg.OffsetFetchResponseTopic{Topic: t.Topic}
		for _, p := range t.Partitions {
			topic.Partitions = append(topic.Partitions, kmsg.OffsetFetchResponseTopicPartition{
				Partition: p.Partition, Offset: p.Offset, LeaderEpoch: p.LeaderEpoch, Metadata: p.Metadata, ErrorCode: p.ErrorCode,
			})
		}
		resp.Topics = append(resp.Topics, topic)
	}
	return resp
}

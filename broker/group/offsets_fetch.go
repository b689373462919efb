package group

import (
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weir-broker/weir/broker/metadata"
)

// OffsetFetch answers with the offsets of the groups of the request that live on this Shard. A group that is not there
// has no offsets, which is no error. The caller has resolved topic ids to names. Requests before version 8 are given as
// one group, and their answer is taken from it.
//
// It reads what was replayed, which may not be committed yet; its answer waits for that as every reply does.
func (s *Shard) OffsetFetch(now time.Time, token Token, req *kmsg.OffsetFetchRequest) Effects {
	t := s.turn(now)
	resp := &kmsg.OffsetFetchResponse{Version: req.Version}
	for i := range req.Groups {
		resp.Groups = append(resp.Groups, s.fetchOffsets(&req.Groups[i], req.RequireStable))
	}
	if req.Version < 8 {
		g := kmsg.OffsetFetchRequestGroup{Group: req.Group}
		if req.Topics != nil {
			g.Topics = []kmsg.OffsetFetchRequestGroupTopic{}
		}
		for _, topic := range req.Topics {
			g.Topics = append(g.Topics, kmsg.OffsetFetchRequestGroupTopic{Topic: topic.Topic, Partitions: topic.Partitions})
		}
		g.MemberEpoch = -1
		flatten(resp, s.fetchOffsets(&g, req.RequireStable))
	}
	t.reply(token, resp)
	return t.Effects
}

// flatten puts a group's offsets where answers before version 8 have them.
func flatten(resp *kmsg.OffsetFetchResponse, g kmsg.OffsetFetchResponseGroup) {
	resp.ErrorCode = g.ErrorCode
	for _, topic := range g.Topics {
		out := kmsg.OffsetFetchResponseTopic{Topic: topic.Topic}
		for _, p := range topic.Partitions {
			out.Partitions = append(out.Partitions, kmsg.OffsetFetchResponseTopicPartition{
				Partition: p.Partition, Offset: p.Offset, LeaderEpoch: p.LeaderEpoch, Metadata: p.Metadata, ErrorCode: p.ErrorCode,
			})
		}
		resp.Topics = append(resp.Topics, out)
	}
}

func (s *Shard) fetchOffsets(req *kmsg.OffsetFetchRequestGroup, requireStable bool) kmsg.OffsetFetchResponseGroup {
	resp := kmsg.OffsetFetchResponseGroup{Group: req.Group}
	if g := s.consumers[req.Group]; g != nil {
		if resp.ErrorCode = g.validateConsumerFetch(req.MemberID, req.MemberEpoch); resp.ErrorCode != none {
			return resp
		}
	} else if s.groups[req.Group] == nil && req.Topics == nil {
		return resp
	}
	if req.Topics == nil { // all there are
		topics := s.offsets.committed[req.Group]
		for _, topic := range sortedKeys(topics) {
			out := kmsg.OffsetFetchResponseGroupTopic{Topic: topic}
			for _, partition := range sortedKeys(topics[topic]) {
				out.Partitions = append(out.Partitions, s.fetchOffset(req.Group, topic, metadata.TopicID{}, partition, requireStable))
			}
			resp.Topics = append(resp.Topics, out)
		}
		return resp
	}
	for _, topic := range req.Topics {
		out := kmsg.OffsetFetchResponseGroupTopic{Topic: topic.Topic, TopicID: topic.TopicID}
		out.Partitions = make([]kmsg.OffsetFetchResponseGroupTopicPartition, 0, len(topic.Partitions))
		for _, partition := range topic.Partitions {
			out.Partitions = append(out.Partitions, s.fetchOffset(req.Group, topic.Topic, topic.TopicID, partition, requireStable))
		}
		resp.Topics = append(resp.Topics, out)
	}
	return resp
}

// fetchOffset answers for one partition. An offset of another topic of the same name, deleted since, is none.
func (s *Shard) fetchOffset(group, topic string, id metadata.TopicID, partition int32, requireStable bool) kmsg.OffsetFetchResponseGroupTopicPartition {
	out := kmsg.OffsetFetchResponseGroupTopicPartition{Partition: partition, Offset: -1, LeaderEpoch: -1, Metadata: new(string)}
	if requireStable && s.offsets.unstable(offsetID{group, topic, partition}) {
		out.ErrorCode = unstableOffsetCommit
		return out
	}
	o, ok := s.offsets.get(offsetID{group, topic, partition})
	unknown := metadata.TopicID{}
	if !ok || o.topicID != id && o.topicID != unknown && id != unknown {
		return out
	}
	out.Offset, out.LeaderEpoch, out.Metadata = o.offset, o.leaderEpoch, &o.metadata
	return out
}

package group

import (
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// ConsumerGroupDescribe describes consumer groups of this Shard (KIP-848), versions 0 and 1. It tells what was replayed;
// its answer waits for that to be committed.
func (s *Shard) ConsumerGroupDescribe(now time.Time, token Token, req *kmsg.ConsumerGroupDescribeRequest) Effects {
	t := s.turn(now)
	resp := &kmsg.ConsumerGroupDescribeResponse{Version: req.Version}
	for _, id := range req.Groups {
		resp.Groups = append(resp.Groups, t.describeConsumer(id))
	}
	t.reply(token, resp)
	return t.Effects
}

func (t *turn) describeConsumer(id string) kmsg.ConsumerGroupDescribeResponseGroup {
	d := kmsg.NewConsumerGroupDescribeResponseGroup()
	d.Group = id
	g, refused := t.consumerGroup(id, false)
	if refused != nil {
		d.ErrorCode, d.ErrorMessage = refused.code, &refused.message
		return d
	}
	d.State, d.Epoch, d.AssignmentEpoch = g.state().String(), g.epoch, g.assignmentEpoch
	d.AssignorName = t.effectiveAssignor(g, nil, nil)
	for _, member := range sortedKeys(g.members) {
		m := g.members[member]
		out := kmsg.NewConsumerGroupDescribeResponseGroupMember()
		out.MemberID, out.InstanceID, out.RackID = m.id, m.metadata.InstanceID, m.metadata.RackID
		out.MemberEpoch, out.ClientID, out.ClientHost = m.epoch(), m.metadata.ClientID, m.metadata.ClientHost
		out.SubscribedTopics, out.SubscribedTopicRegex = m.names(), m.metadata.SubscribedTopicRegex
		// What is to be given up is the member's until it has been.
		out.Assignment = t.described(m.current.AssignedPartitions, m.current.PartitionsPendingRevocation)
		out.TargetAssignment = t.described(g.target[member])
		out.MemberType = 1
		if m.metadata.Classic != nil {
			out.MemberType = 0
		}
		d.Members = append(d.Members, out)
	}
	return d
}

// described is an assignment with the names of its topics; without those that are gone.
func (t *turn) described(lists ...[]TopicPartitions) (a kmsg.Assignment) {
	for _, list := range lists {
		for _, p := range list {
			topic := t.image.TopicByID(p.TopicID)
			if topic == nil {
				continue
			}
			at := slices.IndexFunc(a.TopicPartitions, func(of kmsg.AssignmentTopicPartition) bool { return of.TopicID == p.TopicID })
			if at < 0 {
				at = len(a.TopicPartitions)
				a.TopicPartitions = append(a.TopicPartitions, kmsg.AssignmentTopicPartition{TopicID: p.TopicID, Topic: topic.Name})
			}
			to := &a.TopicPartitions[at]
			to.Partitions = append(slices.Clip(to.Partitions), p.Partitions...)
		}
	}
	return a
}

// deleteConsumerGroup writes the tombstones of a consumer group without members.
func (t *turn) deleteConsumerGroup(g *consumerGroup) {
	t.append(Key{Type: TargetAssignmentMetadataType, Group: g.id}, nil)
	for _, regex := range sortedKeys(g.resolved) {
		t.append(Key{Type: RegularExpressionType, Group: g.id, Regex: regex}, nil)
	}
	t.append(Key{Type: ConsumerGroupPartitionMetadataType, Group: g.id}, nil)
	t.append(Key{Type: ConsumerGroupMetadataType, Group: g.id}, nil)
}

package group

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weir-broker/weir/broker/metadata"
)

// committedPartition is a partition whose offset is to be committed.
type committedPartition struct {
	topic     string
	id        metadata.TopicID
	partition int32
}

// validateConsumerCommit checks that a committer may commit for a consumer group. Its epoch may be an older one, as long
// as it has had all the partitions since then (KIP-1251): members learn of new epochs late.
func (t *turn) validateConsumerCommit(g *consumerGroup, c committer) Code {
	switch {
	case c.generation < 0 && len(g.members) == 0:
		return none
	case c.transactional && c.generation == -1 && c.memberID == "" && c.instanceID == nil:
		return none // producers before KIP-447 do not say who they are
	}
	m := g.members[c.memberID]
	switch {
	case m == nil:
		return unknownMemberID
	case !c.transactional && c.version < 9 && m.metadata.Classic == nil:
		return unsupportedVersion // it has no code for a stale epoch
	case c.generation == m.epoch():
		return none
	case c.generation > m.epoch():
		return t.stale(c, m)
	}
	had := append(placedIn(m.current.AssignedPartitions, 0), placedIn(m.current.PartitionsPendingRevocation, 0)...)
	for _, p := range c.partitions() {
		if p.id == (metadata.TopicID{}) {
			if topic := t.image.Topic(p.topic); topic != nil {
				p.id = topic.ID
			}
		}
		since := int32(-1)
		for _, h := range had {
			if h.topic == p.id && h.partition == p.partition {
				since = h.epoch
				break
			}
		}
		if since < 0 || c.generation < since {
			return t.stale(c, m)
		}
	}
	return none
}

// stale is the code for another epoch than the member's, as the request's version knows it.
func (t *turn) stale(c committer, m *consumerMember) Code {
	if m.metadata.Classic != nil || c.transactional && !c.hasNotFound {
		return illegalGeneration
	}
	return staleMemberEpoch
}

func (t *turn) offsetCommitPartitions(req *kmsg.OffsetCommitRequest) (list []committedPartition) {
	for i := range req.Topics {
		for j := range req.Topics[i].Partitions {
			if p := &req.Topics[i].Partitions[j]; !t.metadataTooLarge(p.Metadata) {
				list = append(list, committedPartition{req.Topics[i].Topic, req.Topics[i].TopicID, p.Partition})
			}
		}
	}
	return list
}

func (t *turn) txnOffsetCommitPartitions(req *kmsg.TxnOffsetCommitRequest) (list []committedPartition) {
	for i := range req.Topics {
		for j := range req.Topics[i].Partitions {
			if p := &req.Topics[i].Partitions[j]; !t.metadataTooLarge(p.Metadata) {
				list = append(list, committedPartition{req.Topics[i].Topic, req.Topics[i].TopicID, p.Partition})
			}
		}
	}
	return list
}

// validateConsumerFetch checks that who says it is a member of a consumer group is one, at its present epoch.
func (g *consumerGroup) validateConsumerFetch(memberID *string, epoch int32) Code {
	if memberID == nil && epoch < 0 {
		return none
	}
	m := g.members[orEmpty(memberID)]
	switch {
	case m == nil:
		return unknownMemberID
	case m.epoch() == epoch:
		return none
	case m.metadata.Classic != nil:
		return illegalGeneration
	}
	return staleMemberEpoch
}

// expireConsumerOffsets removes offsets past their retention of topics that no member subscribes to; it reports whether
// no offset of the group will be left.
func (t *turn) expireConsumerOffsets(g *consumerGroup) bool {
	all := true
	topics := t.offsets.committed[g.id]
	for _, topic := range sortedKeys(topics) {
		if g.isSubscribed(topic) {
			all = false
			continue
		}
		for _, partition := range sortedKeys(topics[topic]) {
			if len(t.Records) >= expiryRecordsPerTurn {
				return false
			}
			o := topics[topic][partition]
			if id := (offsetID{g.id, topic, partition}); t.expired(o, o.commitTimestamp) && !t.offsets.unstable(id) {
				t.append(id.key(), nil)
			} else {
				all = false
			}
		}
	}
	return all && !t.offsets.inTransaction(g.id)
}

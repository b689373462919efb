package group

import (
	"time"
	"unicode/utf8"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weir-broker/weir/broker/coordinator"
	"github.com/weir-broker/weir/broker/metadata"
)

// committer is who commits offsets: a member, or nobody in particular with generation -1.
type committer struct {
	group         string
	memberID      string
	instanceID    *string
	generation    int32
	transactional bool
	hasNotFound   bool // the request's version knows GROUP_ID_NOT_FOUND
	version       int16
	partitions    func() []committedPartition // without those that are refused anyway
}

// validateCommit checks that the committer may commit for the group. Simple consumers and operators may while the group
// has no members; the group need not exist.
func (t *turn) validateCommit(c committer) Code {
	if g := t.consumers[c.group]; g != nil {
		return t.validateConsumerCommit(g, c)
	}
	g := t.groups[c.group]
	if g == nil {
		switch {
		case c.generation < 0:
			return none
		case c.hasNotFound:
			return groupIDNotFound
		default:
			return illegalGeneration
		}
	}
	if c.generation < 0 && g.state == empty {
		return none
	}
	switch {
	case c.generation >= 0 || c.memberID != "" || c.instanceID != nil:
		if code := g.validate(c.memberID, c.instanceID); code != none {
			return code
		}
		if c.generation != g.generation {
			return illegalGeneration
		}
	case !c.transactional && g.state != empty:
		return unknownMemberID
	}
	if !c.transactional && g.state == completingRebalance {
		return rebalanceInProgress
	}
	return none
}

// OffsetCommit commits offsets. Topics carry the name in every version; the id, where it is known, is kept too (the
// caller has resolved one to the other).
func (s *Shard) OffsetCommit(now time.Time, token Token, req *kmsg.OffsetCommitRequest) Effects {
	t := s.turn(now)
	code := t.validateCommit(committer{
		group: req.Group, memberID: req.MemberID, instanceID: req.InstanceID, generation: req.Generation, hasNotFound: req.Version >= 9,
		version: req.Version, partitions: func() []committedPartition { return t.offsetCommitPartitions(req) },
	})
	resp := t.commit(req, code)
	if code == none {
		if t.tooLarge() {
			t.unappend()
			resp = t.commit(req, unknownServerError)
		} else if g := s.groups[req.Group]; g != nil && (g.state == stable || g.state == preparingRebalance) {
			if m := g.byID[req.MemberID]; m != nil {
				t.startSession(g, m) // a commit is a heartbeat
			}
		}
	}
	t.reply(token, resp)
	return t.Effects
}

func (t *turn) commit(req *kmsg.OffsetCommitRequest, code Code) *kmsg.OffsetCommitResponse {
	resp := &kmsg.OffsetCommitResponse{Version: req.Version, Topics: make([]kmsg.OffsetCommitResponseTopic, 0, len(req.Topics))}
	nowMs := t.now.UnixMilli()
	for i := range req.Topics {
		topic := &req.Topics[i]
		out := kmsg.OffsetCommitResponseTopic{Topic: topic.Topic, TopicID: topic.TopicID}
		out.Partitions = make([]kmsg.OffsetCommitResponseTopicPartition, 0, len(topic.Partitions))
		for j := range topic.Partitions {
			p := &topic.Partitions[j]
			result := code
			if result == none && t.metadataTooLarge(p.Metadata) {
				result = offsetMetadataTooLarge
			}
			out.Partitions = append(out.Partitions, kmsg.OffsetCommitResponseTopicPartition{Partition: p.Partition, ErrorCode: result})
			if result != none {
				continue
			}
			v := offsetValue(p.Offset, p.LeaderEpoch, p.Metadata, nowMs, topic.TopicID)
			if req.RetentionTimeMillis != -1 {
				v.Version, v.ExpireTimestamp = 1, nowMs+req.RetentionTimeMillis
			}
			t.append(offsetID{req.Group, topic.Topic, p.Partition}.key(), v)
		}
		resp.Topics = append(resp.Topics, out)
	}
	return resp
}

// TxnOffsetCommit commits offsets within a transaction. The caller has checked the producer.
func (s *Shard) TxnOffsetCommit(now time.Time, token Token, req *kmsg.TxnOffsetCommitRequest) Effects {
	t := s.turn(now)
	code := invalidGroupID
	if req.Group != "" {
		code = t.validateCommit(committer{
			group: req.Group, memberID: req.MemberID, instanceID: req.InstanceID, generation: req.Generation,
			transactional: true, hasNotFound: req.Version >= 6, version: req.Version, partitions: func() []committedPartition { return t.txnOffsetCommitPartitions(req) },
		})
	}
	resp := t.commitTxn(req, code)
	if code == none && t.tooLarge() {
		t.unappend()
		resp = t.commitTxn(req, unknownServerError)
	}
	if len(t.Records) > 0 {
		t.Transaction = &coordinator.Producer{ID: coordinator.ProducerID(req.ProducerID), Epoch: coordinator.ProducerEpoch(req.ProducerEpoch)}
	}
	t.reply(token, resp)
	return t.Effects
}

func (t *turn) commitTxn(req *kmsg.TxnOffsetCommitRequest, code Code) *kmsg.TxnOffsetCommitResponse {
	resp := &kmsg.TxnOffsetCommitResponse{Version: req.Version, Topics: make([]kmsg.TxnOffsetCommitResponseTopic, 0, len(req.Topics))}
	for i := range req.Topics {
		topic := &req.Topics[i]
		out := kmsg.TxnOffsetCommitResponseTopic{Topic: topic.Topic, TopicID: topic.TopicID}
		for j := range topic.Partitions {
			p := &topic.Partitions[j]
			result := code
			if result == none && t.metadataTooLarge(p.Metadata) {
				result = offsetMetadataTooLarge
			}
			out.Partitions = append(out.Partitions, kmsg.TxnOffsetCommitResponseTopicPartition{Partition: p.Partition, ErrorCode: result})
			if result == none {
				v := offsetValue(p.Offset, p.LeaderEpoch, p.Metadata, t.now.UnixMilli(), topic.TopicID)
				t.append(offsetID{req.Group, topic.Topic, p.Partition}.key(), v)
			}
		}
		resp.Topics = append(resp.Topics, out)
	}
	return resp
}

func offsetValue(offset int64, leaderEpoch int32, text *string, nowMs int64, id metadata.TopicID) *OffsetCommitValue {
	v := &OffsetCommitValue{Version: 4, Offset: offset, LeaderEpoch: max(leaderEpoch, -1), CommitTimestamp: nowMs, ExpireTimestamp: -1, TopicID: id}
	if text != nil {
		v.Metadata = *text
	}
	return v
}

// metadataTooLarge compares with offset.metadata.max.bytes, which, despite its name, Kafka compares with the length of a
// Java string: UTF-16 units.
func (t *turn) metadataTooLarge(text *string) bool {
	if text == nil || len(*text) <= t.opt.OffsetMetadataMaxSize {
		return false
	}
	units := utf8.RuneCountInString(*text)
	for _, r := range *text {
		if r >= 0x10000 {
			units++
		}
	}
	return units > t.opt.OffsetMetadataMaxSize
}

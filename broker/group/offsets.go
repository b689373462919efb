package group

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/weir-broker/weir/broker/coordinator"
	"github.com/weir-broker/weir/broker/metadata"
)

// committedOffset is an offset that a group has committed for a partition. Times are milliseconds since the epoch, as in
// its record: there may be millions of these.
type committedOffset struct {
	offset          int64
	recordOffset    coordinator.Offset // of its record in __consumer_offsets
	commitTimestamp int64
	expireTimestamp int64 // -1: by offsets.retention.minutes
	metadata        string
	topicID         metadata.TopicID // zero: unknown, committed before Kafka 4.1 kept it
	leaderEpoch     int32            // -1: unknown
}

// partitionOffsets are offsets by topic and partition.
type partitionOffsets map[string]map[int32]committedOffset

// offsetID names an offset within a Shard.
type offsetID struct {
	group, topic string
	partition    int32
}

// offsetStore is the offsets of a Shard: those in force by group, and those of open transactions by producer, which come
// into force when their transaction commits.
type offsetStore struct {
	committed map[string]partitionOffsets
	pending   map[coordinator.ProducerID]map[offsetID]committedOffset
	open      map[offsetID]int // how many open transactions have the offset pending
	openIn    map[string]int   // the same, summed up by group
}

func newOffsetStore() offsetStore {
	return offsetStore{
		committed: map[string]partitionOffsets{}, pending: map[coordinator.ProducerID]map[offsetID]committedOffset{},
		open: map[offsetID]int{}, openIn: map[string]int{},
	}
}

func (s *offsetStore) get(id offsetID) (committedOffset, bool) {
	o, ok := s.committed[id.group][id.topic][id.partition]
	return o, ok
}

func (s *offsetStore) put(id offsetID, o committedOffset) {
	topics := s.committed[id.group]
	if topics == nil {
		topics = partitionOffsets{}
		s.committed[id.group] = topics
	}
	if topics[id.topic] == nil {
		topics[id.topic] = map[int32]committedOffset{}
	}
	topics[id.topic][id.partition] = o
}

func (s *offsetStore) remove(id offsetID) {
	topics := s.committed[id.group]
	delete(topics[id.topic], id.partition)
	if len(topics[id.topic]) == 0 {
		delete(topics, id.topic)
	}
	if len(topics) == 0 {
		delete(s.committed, id.group)
	}
}

func (s *offsetStore) putPending(producerID coordinator.ProducerID, id offsetID, o committedOffset) {
	if s.pending[producerID] == nil {
		s.pending[producerID] = map[offsetID]committedOffset{}
	}
	if _, again := s.pending[producerID][id]; !again {
		s.open[id]++
		s.openIn[id.group]++
	}
	s.pending[producerID][id] = o
}

func (s *offsetStore) removePending(producerID coordinator.ProducerID, id offsetID) {
	if _, ok := s.pending[producerID][id]; !ok {
		return
	}
	if delete(s.pending[producerID], id); len(s.pending[producerID]) == 0 {
		delete(s.pending, producerID)
	}
	if s.open[id]--; s.open[id] == 0 {
		delete(s.open, id)
	}
	if s.openIn[id.group]--; s.openIn[id.group] == 0 {
		delete(s.openIn, id.group)
	}
}

// unstable reports whether an open transaction has an offset for the partition.
func (s *offsetStore) unstable(id offsetID) bool { return s.open[id] > 0 }

// inTransaction reports whether an open transaction has any offset of the group.
func (s *offsetStore) inTransaction(group string) bool { return s.openIn[group] > 0 }

// of are the offsets of a group, in force or pending, in order.
func (s *offsetStore) of(group string) []offsetID {
	ids := map[offsetID]struct{}{}
	for topic, partitions := range s.committed[group] {
		for partition := range partitions {
			ids[offsetID{group, topic, partition}] = struct{}{}
		}
	}
	if s.inTransaction(group) {
		for id := range s.open {
			if id.group == group {
				ids[id] = struct{}{}
			}
		}
	}
	return slices.SortedFunc(maps.Keys(ids), compareOffsetIDs)
}

func compareOffsetIDs(a, b offsetID) int {
	return cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(a.topic, b.topic), cmp.Compare(a.partition, b.partition))
}

func (id offsetID) key() Key {
	return Key{Type: OffsetCommitType, Group: id.group, Topic: id.topic, Partition: id.partition}
}

// replayOffset takes an offset, or the tombstone of one (v nil), from the log. A group that nobody has joined comes into
// being by its first offset.
func (s *Shard) replayOffset(recordOffset coordinator.Offset, producerID coordinator.ProducerID, k Key, v *OffsetCommitValue) {
	id := offsetID{k.Group, k.Topic, k.Partition}
	if v == nil {
		s.offsets.remove(id)
		if s.offsets.unstable(id) {
			for producer := range s.offsets.pending {
				s.offsets.removePending(producer, id)
			}
		}
		return
	}
	if s.groups[k.Group] == nil && s.consumers[k.Group] == nil {
		s.groups[k.Group] = newClassicGroup(k.Group, time.Time{})
	}
	o := committedOffset{
		offset: v.Offset, leaderEpoch: v.LeaderEpoch, metadata: v.Metadata, topicID: v.TopicID,
		commitTimestamp: v.CommitTimestamp, expireTimestamp: v.ExpireTimestamp, recordOffset: recordOffset,
	}
	if producerID == coordinator.NoProducerID {
		s.offsets.put(id, o)
	} else {
		s.offsets.putPending(producerID, id, o)
	}
}

// ReplayEndTransaction applies a transaction marker of the log to the offsets that the producer left pending. An offset
// committed without a transaction after the pending one stays: the newer record counts.
func (s *Shard) ReplayEndTransaction(_ coordinator.Offset, producer coordinator.Producer, commit bool) error {
	for id, o := range s.offsets.pending[producer.ID] {
		s.offsets.removePending(producer.ID, id)
		if now, ok := s.offsets.get(id); commit && (!ok || o.recordOffset > now.recordOffset) {
			s.offsets.put(id, o)
		}
	}
	return nil
}

// expired reports whether an offset has outlived its retention. base is when the retention began for offsets that have no
// expiry of their own (KIP-211).
func (t *turn) expired(o committedOffset, base int64) bool {
	now := t.now.UnixMilli()
	if o.expireTimestamp != -1 {
		return now >= o.expireTimestamp
	}
	return now-base >= t.opt.OffsetsRetention.Milliseconds()
}

// expiryRecordsPerTurn bounds how long one round of expiry keeps the Shard from requests; the rest follows at once.
const expiryRecordsPerTurn = 1000

// expireOffsets removes offsets past their retention, then groups that have nothing left.
//
//	never joined            since the commit
//	Empty                   since it became empty
//	Stable, of consumers    since the commit, for topics that no member subscribes to
//	consumer group          since the commit, for topics that no member subscribes to
//	else                    never: members may still be using them
//
// Offsets that an open transaction is about to replace stay.
func (t *turn) expireOffsets() {
	t.Divisible = true
	for _, id := range sortedKeys(t.groups) {
		g := t.groups[id]
		if t.expireOffsetsOf(g) && g.state == empty && len(g.pendingJoin) == 0 {
			t.deleteGroup(g)
		}
		if len(t.Records) >= expiryRecordsPerTurn {
			t.set(OffsetsExpiryTimer, "", "", 0)
			return
		}
	}
	for _, id := range sortedKeys(t.consumers) {
		g := t.consumers[id]
		if t.expireConsumerOffsets(g) && len(g.members) == 0 {
			t.deleteConsumerGroup(g)
		}
		if len(t.Records) >= expiryRecordsPerTurn {
			t.set(OffsetsExpiryTimer, "", "", 0)
			return
		}
	}
	t.set(OffsetsExpiryTimer, "", "", t.opt.OffsetsRetentionCheckEvery)
}

// expireOffsetsOf reports whether no offset of the group will be left.
func (t *turn) expireOffsetsOf(g *classicGroup) bool {
	if g.protocolType != "" && g.state != empty && (g.state != stable || g.subscribed == nil) {
		return len(t.offsets.committed[g.id]) == 0 && !t.offsets.inTransaction(g.id)
	}
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
			base := o.commitTimestamp
			if g.protocolType != "" && g.state == empty && !g.stateSince.IsZero() {
				base = g.stateSince.UnixMilli()
			}
			if id := (offsetID{g.id, topic, partition}); t.expired(o, base) && !t.offsets.unstable(id) {
				t.append(id.key(), nil)
			} else {
				all = false
			}
		}
	}
	return all && !t.offsets.inTransaction(g.id)
}

// DeletedTopic is a topic that is gone from the cluster.
type DeletedTopic struct {
	ID   metadata.TopicID
	Name string
}

// TopicsDeleted removes the offsets of deleted topics, unless they are of another topic of that name.
func (s *Shard) TopicsDeleted(now time.Time, topics []DeletedTopic) Effects {
	t := s.turn(now)
	t.Divisible = true
	gone := func(topic string, id metadata.TopicID) bool {
		return slices.ContainsFunc(topics, func(d DeletedTopic) bool {
			return d.Name == topic && (d.ID == id || id == metadata.TopicID{})
		})
	}
	ids := map[offsetID]struct{}{}
	for group, offsets := range s.offsets.committed {
		for _, d := range topics {
			for partition, o := range offsets[d.Name] {
				if gone(d.Name, o.topicID) {
					ids[offsetID{group, d.Name, partition}] = struct{}{}
				}
			}
		}
	}
	for _, pending := range s.offsets.pending {
		for id, o := range pending {
			if gone(id.topic, o.topicID) {
				ids[id] = struct{}{}
			}
		}
	}
	for _, id := range slices.SortedFunc(maps.Keys(ids), compareOffsetIDs) {
		t.append(id.key(), nil)
	}
	return t.Effects
}

// sortedKeys makes what an operation writes and answers the same in every run.
func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

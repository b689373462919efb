package group

import (
	"encoding/binary"
	"slices"
	"strconv"
	"time"
	"unicode/utf16"

	"github.com/weir-broker/weir/broker/metadata"
)

// Publish tells the Shard of a new image of the cluster: which topics there are, and what groups are configured to. It
// must come after every change that Options.Image does not have. Groups notice changed topics at their next heartbeat.
func (s *Shard) Publish(now time.Time, img *metadata.Image) Effects {
	t := s.turn(now)
	for c := range metadata.ChangedTopics(s.image, img) {
		topic := c.New
		switch {
		case topic == nil:
			topic = c.Old
		case c.Old == nil && s.newTopicsIndex >= 0:
			s.newTopicsIndex = int64(img.Index)
		}
		delete(s.topicHashes, topic.Name)
		for group := range s.byTopic[topic.Name] {
			s.consumers[group].refreshAt = time.Time{}
		}
	}
	s.image = img
	if s.newTopicsIndex < 0 {
		// The first image: what groups are configured to was not known when sessions began.
		s.newTopicsIndex = int64(img.Index)
		t.startConsumers()
	}
	return t.Effects
}

// configured is a duration that the group's own configuration may set within bounds.
func (s *Shard) configured(group, key string, of Bounded) time.Duration {
	text, ok := s.image.Configs(metadata.Resource{Type: metadata.GroupResource, Name: group}).Get(key)
	if !ok {
		return of.Default
	}
	ms, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return of.Default // the controller accepts no such value
	}
	return min(max(time.Duration(ms)*time.Millisecond, of.Min), of.Max)
}

func (s *Shard) consumerSessionTimeout(group string) time.Duration {
	return s.configured(group, "consumer.session.timeout.ms", s.opt.Consumer.SessionTimeout)
}

func (s *Shard) consumerHeartbeatInterval(group string) time.Duration {
	return s.configured(group, "consumer.heartbeat.interval.ms", s.opt.Consumer.HeartbeatInterval)
}

func (s *Shard) assignmentInterval(group string) time.Duration {
	return s.configured(group, "consumer.assignment.interval.ms", s.opt.Consumer.AssignmentInterval)
}

// hashOf is the hash of what a group's assignment depends on in the cluster (KIP-1101): its topics that exist, their ids,
// sizes and racks. 0 without any.
func (s *Shard) hashOf(topics map[string]subscribers) int64 {
	var list []uint64
	for _, name := range sortedKeys(topics) {
		topic := s.image.Topic(name)
		if topic == nil {
			continue
		}
		h, known := s.topicHashes[name]
		if !known {
			h = hashTopic(s.image, topic)
			s.topicHashes[name] = h
		}
		list = append(list, h)
	}
	if len(list) == 0 {
		return 0
	}
	b := make([]byte, 0, 8*len(list))
	for _, h := range list {
		b = appendHashed64(b, h)
	}
	return int64(hash64(b))
}

// hashTopic is the hash of one topic.
func hashTopic(img *metadata.Image, topic *metadata.Topic) uint64 {
	const version = 0
	b := []byte{version}
	b = appendHashed64(b, binary.BigEndian.Uint64(topic.ID[:8]))
	b = appendHashed64(b, binary.BigEndian.Uint64(topic.ID[8:]))
	b = appendHashedString(b, topic.Name)
	b = appendHashed32(b, uint32(topic.PartitionCount()))
	for index, p := range topic.Partitions() {
		b = appendHashed32(b, uint32(index))
		var racks []string
		for _, id := range p.Replicas {
			if broker := img.Broker(id); broker != nil && broker.Rack != "" {
				racks = append(racks, broker.Rack)
			}
		}
		slices.Sort(racks)
		for _, rack := range racks {
			b = appendHashed32(b, uint32(len(utf16.Encode([]rune(rack)))))
			b = appendHashedString(b, rack)
		}
	}
	return hash64(b)
}

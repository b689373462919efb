package api

import "github.com/weir-broker/weir/broker/metadata"

// leaderHints collects the leaders that an answer names beside NOT_LEADER_OR_FOLLOWER and
// FENCED_LEADER_EPOCH, so that the client need not ask for metadata first (KIP-951).
type leaderHints struct {
	*request
	nodes []node
}

// leader returns who leads a partition according to the newest image; false when the topic is gone.
func (l *leaderHints) leader(name []byte, id metadata.TopicID, index int32) (metadata.BrokerID, metadata.LeaderEpoch, bool) {
	l.image = l.handler.image.Load()
	img := l.image
	t := img.TopicByID(id)
	if t == nil {
		t = img.Topic(alias(name))
	}
	if t == nil {
		return 0, 0, false
	}
	p := t.Partition(index)
	if p == nil {
		return 0, 0, false
	}
	if n, ok := l.node(p.Leader); ok {
		known := false
		for i := range l.nodes {
			known = known || l.nodes[i].id == n.id
		}
		if !known {
			l.nodes = append(l.nodes, n)
		}
	}
	return p.Leader, p.LeaderEpoch, true
}

// appendLeaderTag appends a LeaderIdAndEpoch as the value of a tag.
func appendLeaderTag(b []byte, tag int, leader metadata.BrokerID, epoch metadata.LeaderEpoch) []byte {
	b = append(b, byte(tag), 9) // two int32 and an empty tag section
	b = appendInt32(b, int32(leader))
	b = appendInt32(b, int32(epoch))
	return append(b, 0)
}

// appendEndpoints appends the tag section that ends a response: the addresses of the leaders named.
func (l *leaderHints) appendEndpoints(b []byte) []byte {
	if len(l.nodes) == 0 {
		return append(b, 0)
	}
	value := appendArrayLen(nil, len(l.nodes), true)
	for _, n := range l.nodes {
		value = appendInt32(value, int32(n.id))
		value = appendString(value, n.host, true)
		value = appendInt32(value, n.port)
		value = appendNullableString(value, n.rack, true)
		value = append(value, 0)
	}
	b = append(b, 1, 0)
	b = appendUvarint(b, len(value))
	return append(b, value...)
}

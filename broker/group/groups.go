package group

import (
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// classicType is the name of the type of classic groups in ListGroups (KIP-848).
const classicType = "classic"

// ListGroups answers with the groups of this Shard that pass the filters (KIP-518 states, KIP-848 types); both ignore
// case, and a type that does not exist matches nothing.
func (s *Shard) ListGroups(now time.Time, token Token, req *kmsg.ListGroupsRequest) Effects {
	t := s.turn(now)
	resp := &kmsg.ListGroupsResponse{Version: req.Version}
	passes := func(filter []string, name string) bool {
		return len(filter) == 0 || slices.ContainsFunc(filter, func(f string) bool { return strings.EqualFold(strings.TrimSpace(f), name) })
	}
	for _, id := range sortedKeys(s.consumers) {
		state := s.consumers[id].state().String()
		if passes(req.StatesFilter, state) && passes(req.TypesFilter, consumerType) {
			resp.Groups = append(resp.Groups, kmsg.ListGroupsResponseGroup{
				Group: id, ProtocolType: consumerProtocolType, GroupState: state, GroupType: consumerType,
			})
		}
	}
	for _, id := range sortedKeys(s.groups) {
		g := s.groups[id]
		if passes(req.StatesFilter, g.state.String()) && passes(req.TypesFilter, classicType) {
			resp.Groups = append(resp.Groups, kmsg.ListGroupsResponseGroup{
				Group: id, ProtocolType: g.protocolType, GroupState: g.state.String(), GroupType: classicType,
			})
		}
	}
	t.reply(token, resp)
	return t.Effects
}

// DescribeGroups describes groups of this Shard. A group that is not there is Dead, from version 6 on with an error.
// Members' metadata is told in Stable only: before that no protocol is agreed on.
func (s *Shard) DescribeGroups(now time.Time, token Token, req *kmsg.DescribeGroupsRequest) Effects {
	t := s.turn(now)
	resp := &kmsg.DescribeGroupsResponse{Version: req.Version}
	for _, id := range req.Groups {
		d := kmsg.NewDescribeGroupsResponseGroup()
		d.Group = id
		g := s.groups[id]
		if g == nil {
			d.State = "Dead"
			if req.Version >= 6 {
				message := "Group " + id + " not found."
				if s.consumers[id] != nil {
					message = "Group " + id + " is not a classic group."
				}
				d.ErrorCode, d.ErrorMessage = groupIDNotFound, &message
			}
			resp.Groups = append(resp.Groups, d)
			continue
		}
		d.State, d.ProtocolType = g.state.String(), g.protocolType
		if g.state == stable {
			d.Protocol = g.protocol
		}
		for _, m := range g.members {
			out := kmsg.DescribeGroupsResponseGroupMember{
				MemberID: m.id, InstanceID: m.instanceID, ClientID: m.clientID, ClientHost: m.clientHost, MemberAssignment: m.assignment,
			}
			if g.state == stable {
				out.ProtocolMetadata, _ = m.metadata(g.protocol)
			}
			d.Members = append(d.Members, out)
		}
		resp.Groups = append(resp.Groups, d)
	}
	t.reply(token, resp)
	return t.Effects
}

// DeleteGroups removes groups without members, with their offsets.
func (s *Shard) DeleteGroups(now time.Time, token Token, req *kmsg.DeleteGroupsRequest) Effects {
	t := s.turn(now)
	t.Divisible = true
	resp := &kmsg.DeleteGroupsResponse{Version: req.Version}
	done := map[string]struct{}{}
	for _, id := range req.Groups {
		if _, twice := done[id]; twice {
			continue
		}
		done[id] = struct{}{}
		g := s.groups[id]
		consumer := s.consumers[id]
		code := none
		switch {
		case consumer != nil && len(consumer.members) > 0:
			code = nonEmptyGroup
		case consumer != nil:
			for _, o := range s.offsets.of(id) {
				t.append(o.key(), nil)
			}
			t.deleteConsumerGroup(consumer)
		case g == nil:
			code = groupIDNotFound
		case g.state != empty:
			code = nonEmptyGroup
		default:
			for _, o := range s.offsets.of(id) {
				t.append(o.key(), nil)
			}
			t.deleteGroup(g)
		}
		resp.Groups = append(resp.Groups, kmsg.DeleteGroupsResponseGroup{Group: id, ErrorCode: code})
	}
	t.reply(token, resp)
	return t.Effects
}

// deleteGroup writes the tombstone of an empty group.
func (t *turn) deleteGroup(g *classicGroup) {
	t.append(Key{Type: GroupMetadataType, Group: g.id}, nil)
	for _, id := range sortedKeys(g.pendingJoin) {
		t.cancel(HeartbeatTimer, g.id, id)
	}
}

// OffsetDelete removes offsets of topics that no member subscribes to (KIP-496). Groups with members must be of
// consumers, since others' subscriptions cannot be read.
func (s *Shard) OffsetDelete(now time.Time, token Token, req *kmsg.OffsetDeleteRequest) Effects {
	t := s.turn(now)
	resp := &kmsg.OffsetDeleteResponse{Version: req.Version}
	t.reply(token, resp)
	g, consumer := s.groups[req.Group], s.consumers[req.Group]
	isSubscribed := func(topic string) bool { return g.isSubscribed(topic) }
	switch {
	case req.Group == "":
		resp.ErrorCode = invalidGroupID
		return t.Effects
	case consumer != nil:
		isSubscribed = consumer.isSubscribed
	case g == nil:
		resp.ErrorCode = groupIDNotFound
		return t.Effects
	case g.state != empty && g.protocolType != consumerProtocolType:
		resp.ErrorCode = nonEmptyGroup
		return t.Effects
	}
	for _, topic := range req.Topics {
		out := kmsg.OffsetDeleteResponseTopic{Topic: topic.Topic}
		for _, p := range topic.Partitions {
			result := kmsg.OffsetDeleteResponseTopicPartition{Partition: p.Partition}
			id := offsetID{req.Group, topic.Topic, p.Partition}
			_, committed := s.offsets.get(id)
			switch {
			case isSubscribed(topic.Topic):
				result.ErrorCode = groupSubscribedToTopic
			case committed || s.offsets.unstable(id):
				t.append(id.key(), nil)
			}
			out.Partitions = append(out.Partitions, result)
		}
		resp.Topics = append(resp.Topics, out)
	}
	return t.Effects
}

package group

import (
	"log/slog"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weir-broker/weir/broker/coordinator"
)

// leaveConsumer handles a member that leaves: for good, or, if it is static, until it is back under its instance id.
func (t *turn) leaveConsumer(h *heartbeat) *refusal {
	g, refused := t.consumerGroup(h.Group, false)
	if refused != nil {
		return refused
	}
	m := g.members[h.memberID]
	if h.InstanceID != nil {
		m = g.staticMember(*h.InstanceID)
		if refused := h.validateInstance(m); refused != nil {
			return refused
		}
	}
	if m == nil {
		return unknownMember(g, h.memberID)
	}
	if h.InstanceID != nil && h.MemberEpoch == staticLeaveEpoch {
		v := *m.current
		v.MemberEpoch, v.PartitionsPendingRevocation, v.AssignedPartitions = staticLeaveEpoch, nil, nil
		for _, topic := range m.current.AssignedPartitions {
			topic.AssignmentEpochs = make([]int32, len(topic.Partitions)) // the next member has them from its epoch 0 on
			v.AssignedPartitions = append(v.AssignedPartitions, topic)
		}
		t.append(Key{Type: CurrentMemberAssignmentType, Group: g.id, Member: m.id}, &v)
	} else {
		t.fence(g, "left", m)
	}
	t.answerHeartbeat(h, kmsg.ConsumerGroupHeartbeatResponse{MemberID: &m.id, MemberEpoch: h.MemberEpoch})
	return nil
}

// removeMember writes the tombstones of a member.
func (t *turn) removeMember(g *consumerGroup, id string) {
	t.append(Key{Type: CurrentMemberAssignmentType, Group: g.id, Member: id}, nil)
	t.append(Key{Type: TargetAssignmentMemberType, Group: g.id, Member: id}, nil)
	t.append(Key{Type: ConsumerGroupMemberMetadataType, Group: g.id, Member: id}, nil)
}

// fence removes members for good. The group's epoch goes up: what they had is to be given to others.
func (t *turn) fence(g *consumerGroup, reason string, members ...*consumerMember) {
	if len(members) == 0 {
		return
	}
	topics := map[string]subscribers{}
	for name, n := range g.topics {
		topics[name] = n
	}
	expressions := map[string]int{}
	for _, m := range members {
		t.removeMember(g, m.id)
		countNames(topics, m, nil)
		countOne(expressions, "", m.regex())
	}
	for _, regex := range sortedKeys(expressions) {
		if g.expression[regex] != expressions[regex] {
			continue
		}
		t.append(Key{Type: RegularExpressionType, Group: g.id, Regex: regex}, nil)
		if v := g.resolved[regex]; v != nil {
			countMatches(topics, v.Topics, -1)
		}
	}
	epoch := g.epoch + 1
	t.bump(g, epoch, t.hashOf(topics), "members "+reason)
	if len(members) == len(g.members) {
		// Nobody is there to compute a target for; the next to join has not to wait for the interval.
		t.append(Key{Type: TargetAssignmentMetadataType, Group: g.id}, &TargetAssignmentMetadataValue{AssignmentEpoch: epoch})
	}
	for _, m := range members {
		t.cancel(ConsumerSessionTimer, g.id, m.id)
		t.cancel(ConsumerRebalanceTimer, g.id, m.id)
		t.Events = append(t.Events, coordinator.Event{Message: "consumer group member gone", Attrs: []slog.Attr{
			slog.String("group", g.id), slog.String("member", m.id), slog.String("reason", reason),
		}})
	}
}

// expireConsumer handles a timer of a consumer group.
func (t *turn) expireConsumer(key TimerKey) {
	switch key.Kind {
	case AwaitTargetTimer:
		t.resume(key.Group, key.Member)
		return
	case ComputeTargetTimer:
		t.computeTarget(key.Group)
		return
	}
	g := t.consumers[key.Group]
	if g == nil || g.members[key.Member] == nil {
		return
	}
	m := g.members[key.Member]
	if key.Kind == ConsumerSessionTimer {
		t.fence(g, "session expired", m)
		return
	}
	// A static member that has left while it had partitions to give up has given them up.
	if m.current.State == memberUnrevoked && m.epoch() >= joinEpoch {
		t.fence(g, "partitions not given up in time", m)
	}
}

// startConsumers starts the timers of all members anew.
func (t *turn) startConsumers() {
	for _, id := range sortedKeys(t.consumers) {
		g := t.consumers[id]
		for _, member := range sortedKeys(g.members) {
			m := g.members[member]
			t.set(ConsumerSessionTimer, id, member, t.consumerSessionTimeout(id))
			if m.current.State == memberUnrevoked {
				t.set(ConsumerRebalanceTimer, id, member, milliseconds(m.metadata.RebalanceTimeoutMs))
			}
		}
	}
}

// leaveConsumerGroup is LeaveGroup for members of a consumer group: an operator removes them by instance id.
func (t *turn) leaveConsumerGroup(g *consumerGroup, who []kmsg.LeaveGroupRequestMember) (responses []kmsg.LeaveGroupResponseMember) {
	var gone []*consumerMember
	seen := map[string]bool{}
	for _, w := range who {
		m, code := g.members[w.MemberID], none
		if w.InstanceID != nil {
			m = g.staticMember(*w.InstanceID)
			if m != nil && w.MemberID != "" && w.MemberID != m.id {
				code = fencedInstanceID
			}
		}
		if m == nil {
			code = unknownMemberID
		}
		if code == none && !seen[m.id] {
			seen[m.id] = true
			gone = append(gone, m)
		}
		responses = append(responses, kmsg.LeaveGroupResponseMember{MemberID: w.MemberID, InstanceID: w.InstanceID, ErrorCode: code})
	}
	t.fence(g, "removed", gone...)
	return responses
}

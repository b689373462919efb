package group

import (
	"context"
	"log/slog"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weir-broker/weir/broker/coordinator"
)

// kmsgResponse is what operations answer with.
type kmsgResponse = kmsg.Response

// needsTarget reports whether the group, at that epoch, is to be given a new target now. Targets follow one another no
// faster than consumer.assignment.interval.ms (KIP-1263), but for the first one.
func (t *turn) needsTarget(g *consumerGroup, epoch int32) bool {
	if g.assignmentEpoch >= epoch {
		return false
	}
	interval := t.assignmentInterval(g.id)
	return g.assignmentTimestamp == 0 || interval == 0 || t.now.UnixMilli() >= g.assignmentTimestamp+interval.Milliseconds()
}

// await lets a heartbeat wait for the group's target. The computation begins once the records of this operation are
// replayed. If the member has asked before, both requests get the newer one's answer.
func (t *turn) await(g *consumerGroup, h *heartbeat) {
	waiting := t.awaiting[g.id]
	if waiting == nil {
		waiting = map[string]*heartbeat{}
		t.awaiting[g.id] = waiting
	}
	if before := waiting[h.memberID]; before != nil {
		h.asked = append(before.asked, h.asked...)
		h.member = before.member
		h.subscriptionChanged = h.subscriptionChanged || before.subscriptionChanged
	}
	waiting[h.memberID] = h
	t.set(AwaitTargetTimer, g.id, h.memberID, awaitTargetFor)
	if c := t.computing[g.id]; c == nil || c.group != g {
		t.set(ComputeTargetTimer, g.id, "", 0)
	}
}

// resumeAll answers the heartbeats that wait for the group's target, each in an operation of its own: what one member is
// given the next must not get.
func (t *turn) resumeAll(group string) {
	for _, member := range sortedKeys(t.awaiting[group]) {
		t.set(AwaitTargetTimer, group, member, 0)
	}
}

// resume answers a heartbeat that has waited for the target, with or without it.
func (t *turn) resume(group, member string) {
	h := t.awaiting[group][member]
	if h == nil {
		return
	}
	if delete(t.awaiting[group], member); len(t.awaiting[group]) == 0 {
		delete(t.awaiting, group)
	}
	g := t.consumers[group]
	if g == nil {
		t.refuseHeartbeat(h, refusef(groupIDNotFound, "Group %s not found.", group))
		return
	}
	m := g.members[member]
	if m == nil {
		t.refuseHeartbeat(h, unknownMember(g, member))
		return
	}
	h.updated = m
	if refused := t.reconcile(g, h, g.assignmentEpoch, g.target[member]); refused != nil {
		t.refuseHeartbeat(h, refused)
	}
}

// computation is a target on its way: the job, and the group it is for, which may be gone and made anew under its name
// when the answer comes.
type computation struct {
	*TargetJob
	group *consumerGroup
}

// computeTarget gives a worker the group as it is now.
func (t *turn) computeTarget(id string) {
	g := t.consumers[id]
	if c := t.computing[id]; g == nil || c != nil && c.group == g {
		return
	}
	assignor, known := t.opt.Consumer.assignor(t.effectiveAssignor(g, nil, nil))
	if g.assignmentEpoch >= g.epoch || !known {
		t.resumeAll(id)
		return
	}
	c := &computation{TargetJob: t.job(g), group: g}
	t.computing[id] = c
	t.Calls = append(t.Calls, coordinator.Call[*Shard, TimerKey, kmsgResponse]{
		Key: "target " + id,
		Run: func(ctx context.Context) coordinator.Operation[*Shard, TimerKey, kmsgResponse] {
			target := c.Compute(ctx, assignor.Assignor, c.Facts())
			return func(s *Shard, now time.Time, _ Token) Effects { return s.targetComputed(now, c, target) }
		},
		Refused: func(s *Shard, now time.Time, _ Token) Effects {
			t := s.turn(now)
			if s.computing[id] == c {
				delete(s.computing, id)
				t.resumeAll(id)
			}
			return t.Effects
		},
	})
}

func (t *turn) job(g *consumerGroup) *TargetJob {
	j := &TargetJob{Group: g.id, Epoch: g.epoch, Image: t.image, Members: make([]TargetMember, 0, len(g.members))}
	for _, id := range sortedKeys(g.members) {
		m := g.members[id]
		target, hasTarget := g.target[id]
		one := TargetMember{
			ID: id, InstanceID: m.instanceID(), Rack: orEmpty(m.metadata.RackID), ClientID: m.metadata.ClientID,
			Named: m.names(), Matched: g.matched(m), Expression: m.regex(), HasTarget: hasTarget, Target: target,
			Owned: append(append([]TopicPartitions(nil), m.current.AssignedPartitions...), m.current.PartitionsPendingRevocation...),
		}
		j.Members = append(j.Members, one)
	}
	return j
}

// targetComputed installs a target, unless the group has one that is as new. A static member that another has replaced
// meanwhile leaves its part to that one; the part of a member that has left waits for the next target.
func (s *Shard) targetComputed(now time.Time, c *computation, target Target) Effects {
	t := s.turn(now)
	if s.computing[c.Group] != c {
		return t.Effects
	}
	delete(s.computing, c.Group)
	g := s.consumers[c.Group]
	if g == nil || g != c.group || target.Epoch <= g.assignmentEpoch {
		t.resumeAll(c.Group)
		return t.Effects
	}
	for i := range target.Changed {
		id := target.Changed[i].ID
		if g.members[id] != nil {
			continue
		}
		for k := range c.Members {
			if m := &c.Members[k]; m.ID == id && m.InstanceID != "" && g.static[m.InstanceID] != "" {
				target.Changed[i].ID = g.static[m.InstanceID]
			}
		}
	}
	// A part of a target is a target of the epoch before: what is missing will be computed again.
	t.Divisible = true
	target.Records(now, func(id string) bool { return g.members[id] != nil }, t.append)
	attrs := []slog.Attr{slog.String("group", g.id), slog.Int("epoch", int(target.Epoch)), slog.Int("changed", len(target.Changed))}
	if target.Err != nil {
		attrs = append(attrs, slog.String("fallback", target.Fallback.String()), slog.Any("error", target.Err))
	}
	t.Events = append(t.Events, coordinator.Event{Message: "consumer group target", Attrs: attrs})
	if g.epoch > target.Epoch && t.assignmentInterval(g.id) == 0 {
		// The group has moved on, and may have the next target at once: who waits for that one waits on.
		t.set(ComputeTargetTimer, g.id, "", 0)
		for _, member := range sortedKeys(t.awaiting[g.id]) {
			if t.awaiting[g.id][member].epoch <= target.Epoch {
				t.set(AwaitTargetTimer, g.id, member, 0)
			}
		}
		return t.Effects
	}
	t.resumeAll(g.id)
	return t.Effects
}

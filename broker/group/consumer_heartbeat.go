package group

import (
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weir-broker/weir/broker/coordinator"
	"github.com/weir-broker/weir/broker/metadata"
)

// errNotConsumerGroup is a record of the consumer protocol about a classic group.
var errNotConsumerGroup = errors.New("record of a consumer group under the name of a classic group")

// awaitTargetFor bounds how long a heartbeat waits for the target assignment that it has made necessary. Later it is
// answered with what there is, and the target comes with the next one.
const awaitTargetFor = 100 * time.Millisecond

// refreshEvery is how often a group looks for changed topics that nobody told it of.
const refreshEvery = (1<<31 - 1) * time.Millisecond

// refusal is an error as a response has it.
type refusal struct {
	code    Code
	message string
}

func refusef(code Code, format string, args ...any) *refusal {
	return &refusal{code, fmt.Sprintf(format, args...)}
}

// heartbeat is a ConsumerGroupHeartbeat on its way.
type heartbeat struct {
	*kmsg.ConsumerGroupHeartbeatRequest
	client Client
	asked  []waiting // one, or more while it waits: the member has asked again
	// memberID is the request's, or one made for it.
	memberID string

	// member is the member before the request, updated after it.
	member, updated *consumerMember
	// subscriptionChanged: the member names other topics or has another expression than before.
	subscriptionChanged bool
	// epoch is that of the group after the request.
	epoch int32
	owned []TopicPartitions
}

// ConsumerGroupHeartbeat is all that a member of a consumer group says (KIP-848), versions 0 and 1: it joins, tells what
// it subscribes to and what it owns, is told what to own, and leaves. The answer may wait for the target assignment.
//
// In one operation the member is recorded, the group's epoch goes up if its assignment has to change, and, unless a target
// must be computed first, the member takes its next step towards the target.
func (s *Shard) ConsumerGroupHeartbeat(now time.Time, c Client, token Token, req *kmsg.ConsumerGroupHeartbeatRequest) Effects {
	t := s.turn(now)
	h := &heartbeat{ConsumerGroupHeartbeatRequest: req, client: c, asked: []waiting{{token, req.Version}}, memberID: req.MemberID}
	refused := t.validateHeartbeat(req)
	switch {
	case refused != nil:
	case req.MemberEpoch < joinEpoch:
		refused = t.leaveConsumer(h)
	default:
		refused = t.consumerHeartbeat(h)
	}
	if refused != nil {
		// What was done before the error was found is not done.
		t.Effects = Effects{}
		t.recordsSize = 0
		t.refuseHeartbeat(h, refused)
	}
	return t.Effects
}

func (t *turn) refuseHeartbeat(h *heartbeat, r *refusal) {
	t.answerHeartbeat(h, kmsg.ConsumerGroupHeartbeatResponse{ErrorCode: r.code, ErrorMessage: &r.message})
}

func (t *turn) answerHeartbeat(h *heartbeat, resp kmsg.ConsumerGroupHeartbeatResponse) {
	for _, w := range h.asked {
		one := resp
		one.Version = w.version
		t.reply(w.token, &one)
	}
}

func isEmptyString(s *string) bool { return s != nil && strings.TrimSpace(*s) == "" }

func (t *turn) validateHeartbeat(req *kmsg.ConsumerGroupHeartbeatRequest) *refusal {
	invalid := func(what string) *refusal { return &refusal{invalidRequest, what} }
	needsID := req.Version >= 1 || req.MemberEpoch > 0 || req.MemberEpoch == leaveEpoch
	switch {
	case needsID && strings.TrimSpace(req.MemberID) == "":
		return invalid("MemberId must not be empty.")
	case strings.TrimSpace(req.Group) == "":
		return invalid("GroupId must not be empty.")
	case isEmptyString(req.InstanceID):
		return invalid("InstanceId must not be empty.")
	case isEmptyString(req.RackID):
		return invalid("RackId must not be empty.")
	case req.MemberEpoch < staticLeaveEpoch:
		return invalid("MemberEpoch must not be below -2.")
	case req.MemberEpoch == staticLeaveEpoch && req.InstanceID == nil:
		return invalid("InstanceId must not be null: only a static member can leave for a while.")
	}
	if req.MemberEpoch == joinEpoch {
		switch {
		case req.RebalanceTimeoutMillis == -1:
			return invalid("RebalanceTimeoutMs must be given to join.")
		case req.Topics == nil || len(req.Topics) > 0:
			return invalid("TopicPartitions must be there and empty to join.")
		case req.SubscribedTopicNames == nil && req.SubscribedTopicRegex == nil:
			return invalid("SubscribedTopicNames or SubscribedTopicRegex must be given to join.")
		}
	}
	if req.ServerAssignor != nil {
		if _, known := t.opt.Consumer.assignor(*req.ServerAssignor); !known {
			var names []string
			for _, a := range t.opt.Consumer.Assignors {
				names = append(names, a.Name)
			}
			return refusef(unsupportedAssignor, "There is no assignor %s. The assignors are %s.", *req.ServerAssignor, strings.Join(names, ", "))
		}
	}
	return nil
}

// consumerGroup is the group of a request, made if create; the group is in the Shard only once a record about it is
// replayed. A classic group without members gives way.
func (t *turn) consumerGroup(id string, create bool) (*consumerGroup, *refusal) {
	if g := t.consumers[id]; g != nil {
		return g, nil
	}
	classic := t.groups[id]
	switch {
	case classic == nil && create:
		return newConsumerGroup(id), nil
	case classic == nil:
		return nil, refusef(groupIDNotFound, "Group %s not found.", id)
	case create && classic.state == empty:
		t.deleteGroup(classic)
		return newConsumerGroup(id), nil
	}
	return nil, refusef(groupIDNotFound, "Group %s is not a consumer group.", id)
}

func (t *turn) consumerHeartbeat(h *heartbeat) *refusal {
	joins := h.MemberEpoch == joinEpoch
	g, refused := t.consumerGroup(h.Group, joins)
	if refused != nil {
		return refused
	}
	if h.InstanceID == nil || g.static[*h.InstanceID] == "" {
		if len(g.members) >= t.opt.Consumer.MaxSize && g.members[h.memberID] == nil {
			return refusef(groupMaxSizeReached, "The group has %d members, and may not have more.", len(g.members))
		}
	}
	if h.memberID == "" {
		h.memberID = h.client.UUID
	}
	for _, topic := range h.Topics {
		h.owned = append(h.owned, TopicPartitions{TopicID: topic.TopicID, Partitions: topic.Partitions})
	}
	if h.InstanceID == nil {
		refused = t.dynamicMember(g, h)
	} else {
		refused = t.staticMember(g, h)
	}
	if refused != nil {
		return refused
	}
	return t.update(g, h)
}

func (t *turn) dynamicMember(g *consumerGroup, h *heartbeat) *refusal {
	h.member = g.members[h.memberID]
	if h.member == nil {
		if h.MemberEpoch != joinEpoch {
			return unknownMember(g, h.memberID)
		}
		h.member = newConsumerMember(h.memberID)
		return nil
	}
	return h.validateEpoch(h.member)
}

func unknownMember(g *consumerGroup, id string) *refusal {
	return refusef(unknownMemberID, "Member %s is not a member of group %s.", id, g.id)
}

// staticMember finds the member by its instance id. One that joins takes the place of the last, if that has left.
func (t *turn) staticMember(g *consumerGroup, h *heartbeat) *refusal {
	old := g.staticMember(*h.InstanceID)
	if h.MemberEpoch != joinEpoch {
		if refused := h.validateInstance(old); refused != nil {
			return refused
		}
		h.member = old
		return h.validateEpoch(old)
	}
	if old == nil {
		h.member = memberOrNew(g, h.memberID)
		return nil
	}
	if old.epoch() != staticLeaveEpoch {
		return refusef(unreleasedInstanceID, "Instance id %s is in use by member %s.", *h.InstanceID, old.id)
	}
	current := *old.current
	current.MemberEpoch, current.PreviousMemberEpoch = joinEpoch, joinEpoch
	h.member = &consumerMember{id: h.memberID, metadata: old.metadata, current: &current}
	t.removeMember(g, old.id)
	t.append(Key{Type: ConsumerGroupMemberMetadataType, Group: g.id, Member: h.memberID}, h.member.metadata)
	t.append(Key{Type: TargetAssignmentMemberType, Group: g.id, Member: h.memberID}, &TargetAssignmentMemberValue{Partitions: g.target[old.id]})
	t.append(Key{Type: CurrentMemberAssignmentType, Group: g.id, Member: h.memberID}, h.member.current)
	if old.id != h.memberID {
		t.cancel(ConsumerSessionTimer, g.id, old.id)
		t.cancel(ConsumerRebalanceTimer, g.id, old.id)
	}
	return nil
}

// validateInstance checks that a request of a static member comes from the member that has its instance id.
func (h *heartbeat) validateInstance(m *consumerMember) *refusal {
	switch {
	case m == nil:
		return refusef(unknownMemberID, "Instance id %s is unknown.", *h.InstanceID)
	case m.id != h.memberID:
		return refusef(fencedInstanceID, "Instance id %s belongs to member %s now.", *h.InstanceID, m.id)
	}
	return nil
}

// validateEpoch accepts the member's epoch, and the one before it from a member that has not got the last answer: that
// one cannot own more than it was given before.
func (h *heartbeat) validateEpoch(m *consumerMember) *refusal {
	switch {
	case h.MemberEpoch == joinEpoch || h.MemberEpoch == m.epoch():
		return nil
	case h.MemberEpoch == m.current.PreviousMemberEpoch && h.MemberEpoch < m.epoch() && h.ownsOnly(m.current.AssignedPartitions):
		return nil
	}
	return refusef(fencedMemberEpoch, "The member is at epoch %d, not at %d. It must give up its partitions and join again.", m.epoch(), h.MemberEpoch)
}

func (h *heartbeat) ownsOnly(assigned []TopicPartitions) bool {
	if h.Topics == nil {
		return false
	}
	list := placedIn(assigned, 0)
	for i := range h.owned {
		for _, p := range h.owned[i].Partitions {
			if !holds(list, placed{topic: h.owned[i].TopicID, partition: p}) {
				return false
			}
		}
	}
	return true
}

// updatedMetadata is what the member has said of itself with this request in mind.
func (h *heartbeat) updatedMetadata() *ConsumerGroupMemberMetadataValue {
	v := *h.member.metadata
	v.ClientID, v.ClientHost, v.Classic = h.client.ID, h.client.Host, nil
	replace := func(field **string, by *string) {
		if by != nil {
			*field = by
		}
	}
	replace(&v.InstanceID, h.InstanceID)
	replace(&v.RackID, h.RackID)
	replace(&v.ServerAssignor, h.ServerAssignor)
	replace(&v.SubscribedTopicRegex, h.SubscribedTopicRegex)
	if h.RebalanceTimeoutMillis != -1 {
		v.RebalanceTimeoutMs = h.RebalanceTimeoutMillis
	}
	if h.SubscribedTopicNames != nil {
		v.SubscribedTopicNames = slices.Clone(h.SubscribedTopicNames)
		slices.Sort(v.SubscribedTopicNames)
		v.SubscribedTopicNames = slices.Compact(v.SubscribedTopicNames)
	}
	return &v
}

func sameMetadata(a, b *ConsumerGroupMemberMetadataValue) bool {
	same := func(a, b *string) bool { return (a == nil) == (b == nil) && orEmpty(a) == orEmpty(b) }
	return same(a.InstanceID, b.InstanceID) && same(a.RackID, b.RackID) && a.ClientID == b.ClientID && a.ClientHost == b.ClientHost &&
		slices.Equal(a.SubscribedTopicNames, b.SubscribedTopicNames) && same(a.SubscribedTopicRegex, b.SubscribedTopicRegex) &&
		a.RebalanceTimeoutMs == b.RebalanceTimeoutMs && same(a.ServerAssignor, b.ServerAssignor) && (a.Classic == nil) == (b.Classic == nil)
}

// update records what is new about the member, moves the group's epoch if its assignment has to change, and answers or
// lets the request wait for a target.
func (t *turn) update(g *consumerGroup, h *heartbeat) *refusal {
	h.updated = &consumerMember{id: h.memberID, metadata: h.updatedMetadata(), current: h.member.current}
	namesChanged := !slices.Equal(h.member.names(), h.updated.names())
	if !sameMetadata(h.member.metadata, h.updated.metadata) {
		t.append(Key{Type: ConsumerGroupMemberMetadataType, Group: g.id, Member: h.memberID}, h.updated.metadata)
	}
	regex, refused := t.updateRegex(g, h)
	if refused != nil {
		return refused
	}
	h.subscriptionChanged = namesChanged || regex != regexUnchanged
	bump := namesChanged || regex == regexResolved ||
		t.effectiveAssignor(g, nil, nil) != t.effectiveAssignor(g, h.member, h.updated)
	h.epoch = g.epoch
	if bump || !t.now.Before(g.refreshAt) {
		h.epoch = t.refresh(g, h, bump)
	}
	t.set(ConsumerSessionTimer, g.id, h.memberID, t.consumerSessionTimeout(g.id))
	if t.needsTarget(g, h.epoch) {
		t.await(g, h)
		return nil
	}
	return t.reconcile(g, h, g.assignmentEpoch, g.targetOf(h.updated))
}

// targetOf is the member's target; one that takes the place of a static member has that one's.
func (g *consumerGroup) targetOf(m *consumerMember) []TopicPartitions {
	if m.metadata.InstanceID != nil {
		return g.target[g.static[m.instanceID()]]
	}
	return g.target[m.id]
}

// effectiveAssignor is the name of the group's assignor, were m in the place of old.
func (t *turn) effectiveAssignor(g *consumerGroup, old, m *consumerMember) string {
	if name := g.preferredAssignor(t.opt.Consumer.Assignors, old, m); name != "" {
		return name
	}
	return t.defaultAssignor()
}

func (s *Shard) defaultAssignor() string {
	if len(s.opt.Consumer.Assignors) == 0 {
		return ""
	}
	return s.opt.Consumer.Assignors[0].Name
}

// refresh looks at the group's topics: the epoch goes up if they have changed, or if bump says that something else has.
func (t *turn) refresh(g *consumerGroup, h *heartbeat, bump bool) (epoch int32) {
	topics := map[string]subscribers{}
	for name, n := range g.topics {
		topics[name] = n
	}
	countNames(topics, h.member, h.updated)
	if was := h.member.regex(); was != "" && was != h.updated.regex() && g.expression[was] == 1 {
		if old := g.resolved[was]; old != nil {
			countMatches(topics, old.Topics, -1)
		}
	}
	hash := t.hashOf(topics)
	epoch = g.epoch
	if bump || hash != g.metadataHash {
		epoch++
		t.bump(g, epoch, hash, "heartbeat of "+h.memberID)
	}
	g.refreshAt = t.now.Add(refreshEvery)
	if g.oldMetadata {
		t.append(Key{Type: ConsumerGroupPartitionMetadataType, Group: g.id}, nil)
	}
	return epoch
}

func (t *turn) bump(g *consumerGroup, epoch int32, hash int64, reason string) {
	t.append(Key{Type: ConsumerGroupMetadataType, Group: g.id}, &ConsumerGroupMetadataValue{Epoch: epoch, MetadataHash: hash})
	t.Events = append(t.Events, coordinator.Event{Message: "consumer group epoch", Attrs: []slog.Attr{
		slog.String("group", g.id), slog.Int("epoch", int(epoch)), slog.Int("members", len(g.members)), slog.String("reason", reason),
	}})
}

// reconcile takes the member one step towards its target and answers.
func (t *turn) reconcile(g *consumerGroup, h *heartbeat, epoch int32, target []TopicPartitions) *refusal {
	r := Reconciliation{
		TargetEpoch: epoch, Target: target, SubscriptionChanged: h.subscriptionChanged, Held: g.held,
		Owned: h.owned, OwnedKnown: h.Topics != nil,
		Subscribes: func(id metadata.TopicID) bool { return t.subscribes(g, h.updated, id) },
		NoTopics:   len(h.updated.names()) == 0 && len(g.matched(h.updated)) == 0,
	}
	before := h.updated.current
	next, err := r.Next(before)
	if err != nil {
		return refusef(fencedMemberEpoch, "The member's state was recorded by a later release. It must give up its partitions and join again.")
	}
	if next != before {
		h.updated = &consumerMember{id: h.memberID, metadata: h.updated.metadata, current: next}
		t.append(Key{Type: CurrentMemberAssignmentType, Group: g.id, Member: h.memberID}, next)
		if next.State == memberUnrevoked {
			t.set(ConsumerRebalanceTimer, g.id, h.memberID, milliseconds(h.updated.metadata.RebalanceTimeoutMs))
		} else {
			t.cancel(ConsumerRebalanceTimer, g.id, h.memberID)
		}
	}
	resp := h.answer(h.updated)
	resp.HeartbeatIntervalMillis = int32(t.consumerHeartbeatInterval(g.id).Milliseconds())
	t.answerHeartbeat(h, resp)
	return nil
}

// matched are the topics that the member's expression matches, as far as is known.
func (g *consumerGroup) matched(m *consumerMember) []string {
	if v := g.resolved[m.regex()]; v != nil {
		return v.Topics
	}
	return nil
}

// subscribes reports whether the member names the topic or its expression matches it.
func (t *turn) subscribes(g *consumerGroup, m *consumerMember, id metadata.TopicID) bool {
	topic := t.image.TopicByID(id)
	if topic == nil {
		return false
	}
	if _, named := slices.BinarySearch(m.names(), topic.Name); named {
		return true
	}
	_, matched := slices.BinarySearch(g.matched(m), topic.Name)
	return matched
}

// answer tells the member its epoch, and its partitions if they are new to it: they have changed, it joins, or it has
// told everything it has, as clients do after an error.
func (h *heartbeat) answer(m *consumerMember) kmsg.ConsumerGroupHeartbeatResponse {
	resp := kmsg.ConsumerGroupHeartbeatResponse{MemberID: &m.id, MemberEpoch: m.epoch()}
	full := h.RebalanceTimeoutMillis != -1 && (h.SubscribedTopicNames != nil || h.SubscribedTopicRegex != nil) && h.Topics != nil
	if h.MemberEpoch != joinEpoch && !full && sameAssignment(h.member.current, m.current) {
		return resp
	}
	resp.Assignment = &kmsg.ConsumerGroupHeartbeatResponseAssignment{}
	for _, topic := range m.current.AssignedPartitions {
		resp.Assignment.Topics = append(resp.Assignment.Topics, kmsg.ConsumerGroupHeartbeatResponseAssignmentTopic{
			TopicID: topic.TopicID, Partitions: topic.Partitions,
		})
	}
	return resp
}

func sameAssignment(a, b *CurrentMemberAssignmentValue) bool {
	return a == b || slices.Equal(placedIn(a.AssignedPartitions, 0), placedIn(b.AssignedPartitions, 0))
}

// compileRegex compiles an expression that has to match a topic's whole name.
func compileRegex(regex string) (*regexp.Regexp, error) {
	if _, err := regexp.Compile(regex); err != nil {
		return nil, err
	}
	return regexp.Compile(`\A(?:` + regex + `)\z`)
}

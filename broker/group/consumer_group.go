package group

import (
	"slices"
	"strings"
	"time"

	"github.com/weir-broker/weir/broker/metadata"
	"github.com/weir-broker/weir/broker/policy"
)

// consumerType is the name of the type of consumer groups in ListGroups (KIP-848).
const consumerType = "consumer"

// Epochs of a member with a meaning of their own, in requests and in records (KIP-848).
const (
	joinEpoch        int32 = 0  // wants to join, or to start anew
	leaveEpoch       int32 = -1 // leaves
	staticLeaveEpoch int32 = -2 // leaves and will be back under its instance id
)

// initialEpoch is the epoch of a group and of its target before anybody has joined.
const initialEpoch int32 = 1

// NamedAssignor is an assignor that members can ask for by name.
type NamedAssignor struct {
	Name string
	policy.Assignor
}

// ConsumerOptions are the values that consumer groups use. Names of Kafka's properties in brackets; the group's own
// configuration has its own, of the same name without "group.", within the limits.
type ConsumerOptions struct {
	SessionTimeout     Bounded // [group.consumer.session.timeout.ms]
	HeartbeatInterval  Bounded // [group.consumer.heartbeat.interval.ms]
	AssignmentInterval Bounded // [group.consumer.assignment.interval.ms]
	MaxSize            int     // members of a consumer group [group.consumer.max.size]
	// RegexRefreshInterval is after what time expressions are matched anew although no topic is new
	// [group.consumer.regex.refresh.interval.ms].
	RegexRefreshInterval time.Duration
	// Assignors are those to choose from, the default first [group.consumer.assignors].
	Assignors []NamedAssignor
}

// Bounded is a duration that groups can configure for themselves: the default, and the limits of what they can choose.
type Bounded struct{ Default, Min, Max time.Duration }

func (o *ConsumerOptions) assignor(name string) (NamedAssignor, bool) {
	i := slices.IndexFunc(o.Assignors, func(a NamedAssignor) bool { return a.Name == name })
	if i < 0 {
		return NamedAssignor{}, false
	}
	return o.Assignors[i], true
}

// consumerState is the state of a consumer group: it follows from its epochs and those of its members.
type consumerState int8

const (
	consumerEmpty consumerState = iota
	consumerAssigning
	consumerReconciling
	consumerStable
)

// String returns Kafka's name of the state.
func (s consumerState) String() string {
	return [...]string{"Empty", "Assigning", "Reconciling", "Stable"}[s]
}

// consumerMember is a member of a consumer group. It never changes; a record makes a new one.
type consumerMember struct {
	id       string
	metadata *ConsumerGroupMemberMetadataValue
	current  *CurrentMemberAssignmentValue
}

func newConsumerMember(id string) *consumerMember {
	return &consumerMember{
		id:       id,
		metadata: &ConsumerGroupMemberMetadataValue{RebalanceTimeoutMs: -1, SubscribedTopicRegex: new(string)},
		current:  &CurrentMemberAssignmentValue{PreviousMemberEpoch: -1},
	}
}

func (m *consumerMember) epoch() int32 { return m.current.MemberEpoch }

func (m *consumerMember) instanceID() string { return orEmpty(m.metadata.InstanceID) }

// regex is the expression that the member subscribes by, empty for none.
func (m *consumerMember) regex() string {
	if m == nil {
		return ""
	}
	return orEmpty(m.metadata.SubscribedTopicRegex)
}

func (m *consumerMember) names() []string {
	if m == nil {
		return nil
	}
	return m.metadata.SubscribedTopicNames
}

func (m *consumerMember) assignor() string {
	if m == nil {
		return ""
	}
	return orEmpty(m.metadata.ServerAssignor)
}

func (m *consumerMember) reconciledTo(epoch int32) bool {
	return m.current.State == memberStable && m.current.MemberEpoch == epoch
}

func orEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// subscribers says how a group subscribes to a topic: how many members name it, and how many of the expressions match it.
type subscribers struct{ byName, byRegex int }

// heldPartition names a partition that a member has or has still to give up.
type heldPartition struct {
	topic     metadata.TopicID
	partition int32
}

// holder is the member that has a partition, since its record of that epoch.
type holder struct {
	member string
	epoch  int32
}

// consumerGroup is one consumer group (KIP-848), hard state but for refreshAt. What follows from its members is kept up to
// date as records are replayed.
type consumerGroup struct {
	id                  string
	epoch               int32
	metadataHash        int64
	assignmentEpoch     int32
	assignmentTimestamp int64 // milliseconds; 0: unknown or none
	members             map[string]*consumerMember
	target              map[string][]TopicPartitions       // by member
	resolved            map[string]*RegularExpressionValue // by expression
	// oldMetadata: there is a record of the kind that Kafka wrote before 4.1; it is to be deleted.
	oldMetadata bool

	static     map[string]string // instance id -> member
	topics     map[string]subscribers
	assignors  map[string]int // how many members ask for each
	expression map[string]int // how many members subscribe by each
	holders    map[heldPartition]holder

	// refreshAt is when to look again whether topics have changed; zero: at the next heartbeat.
	refreshAt time.Time
}

func newConsumerGroup(id string) *consumerGroup {
	return &consumerGroup{
		id: id, epoch: initialEpoch, assignmentEpoch: initialEpoch,
		members: map[string]*consumerMember{}, target: map[string][]TopicPartitions{}, resolved: map[string]*RegularExpressionValue{},
		static: map[string]string{}, topics: map[string]subscribers{}, assignors: map[string]int{}, expression: map[string]int{},
		holders: map[heldPartition]holder{},
	}
}

func (g *consumerGroup) state() consumerState {
	switch {
	case len(g.members) == 0:
		return consumerEmpty
	case g.epoch > g.assignmentEpoch:
		return consumerAssigning
	}
	for _, m := range g.members {
		if !m.reconciledTo(g.assignmentEpoch) {
			return consumerReconciling
		}
	}
	return consumerStable
}

// staticMember is the member with that instance id, or nil.
func (g *consumerGroup) staticMember(instanceID string) *consumerMember {
	return g.members[g.static[instanceID]]
}

func (g *consumerGroup) held(topic metadata.TopicID, partition int32) bool {
	_, held := g.holders[heldPartition{topic, partition}]
	return held
}

// isSubscribed reports whether a member names the topic or an expression matches it.
func (g *consumerGroup) isSubscribed(topic string) bool {
	_, ok := g.topics[topic]
	return ok
}

// put makes m the member of its id; nil removes it.
func (g *consumerGroup) put(id string, m *consumerMember) {
	old := g.members[id]
	g.release(old)
	countNames(g.topics, old, m)
	countOne(g.assignors, old.assignor(), m.assignor())
	countOne(g.expression, old.regex(), m.regex())
	if old != nil && old.metadata.InstanceID != nil && g.static[old.instanceID()] == id {
		delete(g.static, old.instanceID())
	}
	if m == nil {
		delete(g.members, id)
		return
	}
	g.members[id] = m
	if m.metadata.InstanceID != nil {
		g.static[m.instanceID()] = id
	}
	for _, list := range [][]TopicPartitions{m.current.AssignedPartitions, m.current.PartitionsPendingRevocation} {
		for i := range list {
			for _, p := range list[i].Partitions {
				g.holders[heldPartition{list[i].TopicID, p}] = holder{id, m.epoch()}
			}
		}
	}
}

// release frees what the member holds.
func (g *consumerGroup) release(m *consumerMember) {
	if m == nil {
		return
	}
	for _, list := range [][]TopicPartitions{m.current.AssignedPartitions, m.current.PartitionsPendingRevocation} {
		for i := range list {
			for _, p := range list[i].Partitions {
				at := heldPartition{list[i].TopicID, p}
				if g.holders[at] == (holder{m.id, m.epoch()}) {
					delete(g.holders, at)
				}
			}
		}
	}
}

// resolve takes what an expression matches; nil forgets it.
func (g *consumerGroup) resolve(regex string, v *RegularExpressionValue) {
	if old := g.resolved[regex]; old != nil {
		countMatches(g.topics, old.Topics, -1)
	}
	if v == nil {
		delete(g.resolved, regex)
		return
	}
	g.resolved[regex] = v
	countMatches(g.topics, v.Topics, +1)
}

func countNames(topics map[string]subscribers, old, m *consumerMember) {
	for _, name := range old.names() {
		addSubscribers(topics, name, -1, 0)
	}
	for _, name := range m.names() {
		addSubscribers(topics, name, +1, 0)
	}
}

func countMatches(topics map[string]subscribers, names []string, by int) {
	for _, name := range names {
		addSubscribers(topics, name, 0, by)
	}
}

func addSubscribers(topics map[string]subscribers, name string, byName, byRegex int) {
	s := topics[name]
	s.byName += byName
	s.byRegex += byRegex
	if s == (subscribers{}) {
		delete(topics, name)
		return
	}
	topics[name] = s
}

func countOne(counts map[string]int, old, now string) {
	if old == now {
		return
	}
	if old != "" {
		if counts[old]--; counts[old] == 0 {
			delete(counts, old)
		}
	}
	if now != "" {
		counts[now]++
	}
}

// preferredAssignor is the one of names that most members ask for, were m in the place of old; of several the first. It is
// empty when nobody asks for any of them.
func (g *consumerGroup) preferredAssignor(names []NamedAssignor, old, m *consumerMember) string {
	was, is := old.assignor(), m.assignor()
	best, most := "", 0
	for _, a := range names {
		count := g.assignors[a.Name]
		if was != is && a.Name == was {
			count--
		}
		if was != is && a.Name == is {
			count++
		}
		if count > most {
			best, most = a.Name, count
		}
	}
	return best
}

// consumerGroupOf is the group that a record with a value is about: made by its first record. Offsets of nobody in
// particular may have been there before.
func (s *Shard) consumerGroupOf(id string) (*consumerGroup, error) {
	g := s.consumers[id]
	if g != nil {
		return g, nil
	}
	if classic := s.groups[id]; classic != nil {
		if classic.protocolType != "" || len(classic.members) > 0 {
			return nil, errNotConsumerGroup
		}
		delete(s.groups, id)
	}
	g = newConsumerGroup(id)
	s.consumers[id] = g
	return g, nil
}

// replayConsumer takes a record of the consumer protocol. A tombstone of what is not there is nothing new: compaction may
// leave it alone.
func (s *Shard) replayConsumer(k Key, v Value) error {
	if v == nil {
		if g := s.consumers[k.Group]; g != nil {
			s.replayConsumerTombstone(g, k)
		}
		return nil
	}
	g, err := s.consumerGroupOf(k.Group)
	if err != nil {
		return err
	}
	switch v := v.(type) {
	case *ConsumerGroupMetadataValue:
		g.epoch, g.metadataHash = v.Epoch, v.MetadataHash
	case *ConsumerGroupPartitionMetadataValue:
		g.oldMetadata = true
	case *ConsumerGroupMemberMetadataValue:
		slices.Sort(v.SubscribedTopicNames)
		v.SubscribedTopicNames = slices.Compact(v.SubscribedTopicNames)
		s.putMember(g, k.Member, &consumerMember{id: k.Member, metadata: v, current: memberOrNew(g, k.Member).current})
	case *TargetAssignmentMetadataValue:
		g.assignmentEpoch, g.assignmentTimestamp = v.AssignmentEpoch, v.AssignmentTimestamp
	case *TargetAssignmentMemberValue:
		g.target[k.Member] = v.Partitions
	case *CurrentMemberAssignmentValue:
		fillEpochs(v)
		s.putMember(g, k.Member, &consumerMember{id: k.Member, metadata: memberOrNew(g, k.Member).metadata, current: v})
	case *RegularExpressionValue:
		slices.Sort(v.Topics)
		s.changeTopics(g, func() { g.resolve(k.Regex, v) })
	}
	return nil
}

func (s *Shard) replayConsumerTombstone(g *consumerGroup, k Key) {
	switch k.Type {
	case ConsumerGroupMetadataType:
		for topic := range g.topics {
			s.unsubscribe(g.id, topic)
		}
		delete(s.consumers, g.id)
	case ConsumerGroupPartitionMetadataType:
		g.oldMetadata = false
	case ConsumerGroupMemberMetadataType:
		s.putMember(g, k.Member, nil)
	case TargetAssignmentMetadataType:
		g.assignmentEpoch, g.assignmentTimestamp = -1, 0
	case TargetAssignmentMemberType:
		delete(g.target, k.Member)
	case CurrentMemberAssignmentType:
		if m := g.members[k.Member]; m != nil {
			g.put(k.Member, &consumerMember{id: m.id, metadata: m.metadata, current: &CurrentMemberAssignmentValue{
				MemberEpoch: leaveEpoch, PreviousMemberEpoch: leaveEpoch, State: m.current.State,
			}})
		}
	case RegularExpressionType:
		s.changeTopics(g, func() { g.resolve(k.Regex, nil) })
	}
}

func memberOrNew(g *consumerGroup, id string) *consumerMember {
	if m := g.members[id]; m != nil {
		return m
	}
	return newConsumerMember(id)
}

// fillEpochs writes out the epochs at which the member got its partitions. Kafka before 4.3 kept none: then it is the
// member's own, and for a static member that has left, any will do.
func fillEpochs(v *CurrentMemberAssignmentValue) {
	for _, list := range [][]TopicPartitions{v.AssignedPartitions, v.PartitionsPendingRevocation} {
		for i := range list {
			if len(list[i].AssignmentEpochs) == len(list[i].Partitions) {
				continue
			}
			list[i].AssignmentEpochs = make([]int32, len(list[i].Partitions))
			for k := range list[i].AssignmentEpochs {
				list[i].AssignmentEpochs[k] = max(v.MemberEpoch, 0)
			}
		}
	}
}

func (s *Shard) putMember(g *consumerGroup, id string, m *consumerMember) {
	if old := g.members[id]; old != nil && m != nil && slices.Equal(old.names(), m.names()) {
		g.put(id, m)
		return
	}
	s.changeTopics(g, func() { g.put(id, m) })
}

// changeTopics keeps the index of groups by topic right over a change of a group's topics.
func (s *Shard) changeTopics(g *consumerGroup, change func()) {
	before := sortedKeys(g.topics)
	change()
	for _, topic := range before {
		if !g.isSubscribed(topic) {
			s.unsubscribe(g.id, topic)
		}
	}
	for topic := range g.topics {
		if _, was := slices.BinarySearchFunc(before, topic, strings.Compare); was {
			continue
		}
		if s.byTopic[topic] == nil {
			s.byTopic[topic] = map[string]struct{}{}
		}
		s.byTopic[topic][g.id] = struct{}{}
	}
}

func (s *Shard) unsubscribe(group, topic string) {
	if delete(s.byTopic[topic], group); len(s.byTopic[topic]) == 0 {
		delete(s.byTopic, topic)
		delete(s.topicHashes, topic)
	}
}

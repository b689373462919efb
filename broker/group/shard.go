package group

import (
	"log/slog"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weir-broker/weir/broker/coordinator"
	"github.com/weir-broker/weir/broker/metadata"
)

// Options are the values that a Shard uses. Names of Kafka's properties in brackets.
type Options struct {
	InitialRebalanceDelay time.Duration // [group.initial.rebalance.delay.ms]
	MinSessionTimeout     time.Duration // [group.min.session.timeout.ms]
	MaxSessionTimeout     time.Duration // [group.max.session.timeout.ms]
	MaxSize               int           // members of a classic group [group.max.size]

	OffsetMetadataMaxSize      int           // characters [offset.metadata.max.bytes]
	OffsetsRetention           time.Duration // [offsets.retention.minutes]
	OffsetsRetentionCheckEvery time.Duration // [offsets.retention.check.interval.ms]

	// MaxRecordsSize is how many bytes of keys and values one operation may append; 0: no limit. With the overhead of a
	// batch it must be within max.message.bytes of the topic, else the append fails and the Shard with it.
	MaxRecordsSize int

	Consumer ConsumerOptions // of consumer groups (KIP-848)
	// Image is the newest image of the cluster when the Shard is made; nil: no topics. Newer ones come by Publish.
	Image *metadata.Image
}

// newMemberJoinTimeout bounds how long a JoinGroup of a member that does not know its id yet may wait. Such a member
// cannot send heartbeats, and each retry of its client would add a member.
const newMemberJoinTimeout = 5 * time.Minute

// What coordinator and a Shard say to each other.
type (
	// Token names a request that waits for its answer. It is answered exactly once, by the operation it came with or by a
	// later one.
	Token = coordinator.Token
	// Record is a record of __consumer_offsets.
	Record = coordinator.Record
	// Effects is what an operation wants done.
	Effects = coordinator.Effects[*Shard, TimerKey, kmsg.Response]
	// Reply is the answer to a request.
	Reply = coordinator.Reply[kmsg.Response]
	// Operation is what is put to a Shard.
	Operation = coordinator.Operation[*Shard, TimerKey, kmsg.Response]
	// Future is the answer to an Operation.
	Future = coordinator.Future[kmsg.Response]
	// Runtime runs the Shards of a broker.
	Runtime = coordinator.Runtime[*Shard, TimerKey, kmsg.Response]
	// Timer is a change of a timer.
	Timer = coordinator.Timer[TimerKey]
)

var _ coordinator.Machine[*Shard, TimerKey, kmsg.Response] = (*Shard)(nil)

// Client is who sent a request.
type Client struct {
	ID   string // client.id
	Host string // as Kafka writes it: "/" and the address
	// UUID is a fresh random UUID in text form. It becomes part of a member id if the request makes one.
	UUID string
	// Describes reports whether the client may see a topic; nil: every topic. It is called on workers.
	Describes func(topic string) bool
}

// TimerKind says what a timer of a group is for.
type TimerKind int8

// The timers.
const (
	JoinTimer          TimerKind = iota // ends the join phase of a rebalance
	SyncTimer                           // ends the wait for SyncGroup of a generation's members
	HeartbeatTimer                      // ends the session of a member, or the life of a pending member id
	OffsetsExpiryTimer                  // one per Shard: look for expired offsets

	ConsumerSessionTimer   // ends the session of a member of a consumer group
	ConsumerRebalanceTimer // ends the time that it has to give up partitions
	AwaitTargetTimer       // ends the wait of its heartbeat for the group's target
	ComputeTargetTimer     // one per group: have a target computed
)

// String returns the timer's name.
func (k TimerKind) String() string {
	return [...]string{"join", "sync", "heartbeat", "offsets-expiry", "session", "rebalance", "await-target", "compute-target"}[k]
}

// TimerKey names a timer. Setting a timer replaces the one of the same key.
type TimerKey struct {
	Kind   TimerKind
	Group  string
	Member string
}

// Shard is the group coordinator of one partition of __consumer_offsets. It is used by one goroutine at a time. Strings
// of requests are kept, byte slices are copied. Responses may share byte slices with the Shard: read them only.
type Shard struct {
	opt     Options
	groups  map[string]*classicGroup
	offsets offsetStore
	loaded  bool
	scratch []byte // of the record that is being encoded

	consumers map[string]*consumerGroup      // none of these is in groups
	byTopic   map[string]map[string]struct{} // consumer groups that subscribe to a topic

	// Soft state of consumer groups.
	image          *metadata.Image
	newTopicsIndex int64                            // of the newest image in which a topic was new; -1: no image yet
	topicHashes    map[string]uint64                // of topics in image, as they are needed
	awaiting       map[string]map[string]*heartbeat // by group and member
	computing      map[string]*computation          // targets on their way, by group
	resolving      map[string]bool                  // groups whose expressions are being matched
}

// New returns an empty Shard, to be filled by Replay and opened by Loaded.
func New(opt Options) *Shard {
	newTopics := int64(-1)
	if opt.Image == nil {
		opt.Image = metadata.NewImage()
	} else {
		newTopics = int64(opt.Image.Index)
	}
	return &Shard{
		opt: opt, groups: map[string]*classicGroup{}, offsets: newOffsetStore(),
		consumers: map[string]*consumerGroup{}, byTopic: map[string]map[string]struct{}{},
		image: opt.Image, newTopicsIndex: newTopics, topicHashes: map[string]uint64{},
		awaiting: map[string]map[string]*heartbeat{}, computing: map[string]*computation{}, resolving: map[string]bool{},
	}
}

// turn is one operation on its way.
type turn struct {
	*Shard
	now time.Time
	Effects
	recordsSize int
}

func (s *Shard) turn(now time.Time) *turn { return &turn{Shard: s, now: now} }

func (t *turn) reply(token Token, r kmsg.Response) {
	t.Replies = append(t.Replies, Reply{Token: token, Response: r})
}

func (t *turn) append(k Key, v Value) {
	b := k.AppendTo(t.scratch[:0])
	keySize := len(b)
	if v != nil {
		b = v.AppendTo(b)
	}
	t.scratch = b
	b = append(make([]byte, 0, len(b)), b...)
	r := Record{Key: b[:keySize:keySize]}
	if v != nil {
		r.Value = b[keySize:]
	}
	t.recordsSize += len(b)
	t.Records = append(t.Records, r)
}

// tooLarge reports whether the records of the operation do not fit into one append.
func (t *turn) tooLarge() bool {
	return t.opt.MaxRecordsSize > 0 && t.recordsSize > t.opt.MaxRecordsSize
}

// unappend forgets the records of the operation.
func (t *turn) unappend() { t.Records, t.recordsSize = nil, 0 }

func (t *turn) set(kind TimerKind, group, member string, after time.Duration) {
	t.Timers = append(t.Timers, Timer{Key: TimerKey{Kind: kind, Group: group, Member: member}, After: after})
}

func (t *turn) cancel(kind TimerKind, group, member string) { t.set(kind, group, member, -1) }

func (t *turn) transition(g *classicGroup, to classicState, reason string) {
	g.transition(to, t.now)
	t.note(g, reason)
}

func (t *turn) note(g *classicGroup, reason string) {
	t.event(g, g.state, reason)
}

// event notes that a group is in a state now.
func (t *turn) event(g *classicGroup, state classicState, reason string) {
	t.Events = append(t.Events, coordinator.Event{Message: "group " + state.String(), Attrs: []slog.Attr{
		slog.String("group", g.id), slog.Int("generation", int(g.generation)), slog.Int("members", len(g.members)), slog.String("reason", reason),
	}})
}

// Replay applies a record to the hard state. A record of an unknown type is coordinator.ErrUnknownType and leaves the
// Shard as it is. After any other error the Shard is useless.
func (s *Shard) Replay(offset coordinator.Offset, producer coordinator.Producer, r Record) error {
	k, err := ParseKey(r.Key)
	if err != nil {
		return err
	}
	var v Value
	if r.Value != nil {
		if v, err = ParseValue(k.Type, r.Value); err != nil {
			return err
		}
	}
	switch k.Type {
	case LegacyOffsetCommitType, OffsetCommitType:
		o, _ := v.(*OffsetCommitValue)
		s.replayOffset(offset, producer.ID, k, o)
	case GroupMetadataType:
		g, _ := v.(*GroupMetadataValue)
		s.replayGroup(k.Group, g)
	default:
		return s.replayConsumer(k, v)
	}
	return nil
}

// replayGroup takes a generation of a classic group from the log. While loading, the newest record is the group. On the
// live path the group is the one that the record was made from; what the record adds is that the leader's assignment is
// now a fact.
func (s *Shard) replayGroup(id string, v *GroupMetadataValue) {
	g := s.groups[id]
	switch {
	case v == nil:
		delete(s.groups, id)
	case !s.loaded || g == nil:
		s.groups[id] = loadClassicGroup(id, v)
	case g.state == completingRebalance && g.generation == v.GenerationID && len(v.Members) > 0:
		for i := range v.Members {
			if m := g.byID[v.Members[i].MemberID]; m != nil {
				m.assignment = v.Members[i].Assignment
			}
		}
		g.previous, g.state = g.state, stable
	}
}

// Loaded opens the Shard after the last record was replayed: sessions of all members start anew, as nobody knows when
// they were last heard of.
func (s *Shard) Loaded(now time.Time) Effects {
	s.loaded = true
	t := s.turn(now)
	for _, id := range sortedKeys(s.groups) {
		g := s.groups[id]
		for _, m := range g.members {
			t.startSession(g, m)
		}
		if len(g.members) > s.opt.MaxSize {
			// The limit is lower than it was: a rebalance lets members commit before the last to rejoin are refused.
			t.prepareRebalance(g, "loaded with more members than group.max.size")
		}
	}
	t.startConsumers()
	t.set(OffsetsExpiryTimer, "", "", s.opt.OffsetsRetentionCheckEvery)
	return t.Effects
}

// Expire handles a timer that went off.
func (s *Shard) Expire(now time.Time, key TimerKey) Effects {
	t := s.turn(now)
	switch key.Kind {
	case OffsetsExpiryTimer:
		t.expireOffsets()
		return t.Effects
	case ConsumerSessionTimer, ConsumerRebalanceTimer, AwaitTargetTimer, ComputeTargetTimer:
		t.expireConsumer(key)
		return t.Effects
	}
	g := s.groups[key.Group]
	if g == nil {
		return t.Effects
	}
	switch key.Kind {
	case JoinTimer:
		t.expireJoin(g)
	case SyncTimer:
		t.expireSync(g)
	case HeartbeatTimer:
		t.expireHeartbeat(g, key.Member)
	}
	return t.Effects
}

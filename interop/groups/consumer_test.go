//go:build interop

package groups_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weir-broker/weir/broker/coordinator"
	"github.com/weir-broker/weir/broker/group"
	"github.com/weir-broker/weir/broker/metadata"
	"github.com/weir-broker/weir/broker/policy"
	"github.com/weir-broker/weir/interop/oracle"
)

// TestConsumerGroupsAnswerAsKafkas plays random members of consumer groups (KIP-848) on our shard and the same requests at
// the same times on Kafka's: same answers, same records in the same order, bytes included. Member ids, topic ids and
// expressions are such that Java's hash tables have them in our order.
func TestConsumerGroupsAnswerAsKafkas(t *testing.T) {
	or, err := oracle.Start(oracle.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer or.Close()
	s := *seed
	if s == 0 {
		s = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d, %d runs", s, *cases)
	first, last := 0, *cases
	if *only >= 0 {
		first, last = *only, *only+1
	}
	tally := map[string]int{}
	for i := first; i < last; i++ {
		p := newConsumers(t, s, uint64(i))
		p.playConsumers(150)
		results, err := or.Groups(context.Background(), startMs, p.props, p.steps)
		if err != nil {
			t.Fatalf("run %d: %v", i, err)
		}
		p.compareConsumers(i, results, tally)
		if t.Failed() {
			return
		}
	}
	t.Logf("%v", tally)
}

// consumers is a player whose members speak the consumer protocol.
type consumers struct {
	player
	image  *metadata.Image
	topics map[string][2]int // name -> partitions, id
	calls  []coordinator.Call[*group.Shard, group.TimerKey, kmsg.Response]
	known  map[string]*memberView
	nextID int
	away   []string // static members that have left for a while, as they are in records
	wish   string   // the assignor that members ask for
}

// memberView is what a client knows of itself.
type memberView struct {
	epoch int32
	owned []kmsg.ConsumerGroupHeartbeatRequestTopic
}

func newConsumers(t *testing.T, seed, run uint64) *consumers {
	p := &consumers{player: player{
		t: t, r: rand.New(rand.NewPCG(seed, run)), now: time.UnixMilli(startMs), reqs: map[int32]kmsg.Request{},
		gens: map[string]int32{}, leaders: map[string]string{}, members: map[string][]string{},
	}, topics: map[string][2]int{}, known: map[string]*memberView{}, nextID: 2}
	p.wish = p.pick("uniform", "range")
	interval := []int{0, 1000}[p.r.IntN(2)]
	size := []int{1000, 1000, 3}[p.r.IntN(3)]
	p.opt = group.Options{
		MinSessionTimeout: time.Second, MaxSessionTimeout: time.Hour, MaxSize: 1000,
		OffsetMetadataMaxSize: 20, OffsetsRetention: 40 * time.Minute, OffsetsRetentionCheckEvery: 30 * time.Minute,
		Consumer: group.ConsumerOptions{
			SessionTimeout:     group.Bounded{Default: 45 * time.Second, Min: 45 * time.Second, Max: time.Minute},
			HeartbeatInterval:  group.Bounded{Default: 5 * time.Second, Min: 5 * time.Second, Max: 15 * time.Second},
			AssignmentInterval: group.Bounded{Default: time.Duration(interval) * time.Millisecond, Max: 15 * time.Second},
			MaxSize:            size, RegexRefreshInterval: 10 * time.Minute,
			Assignors: []group.NamedAssignor{{Name: "uniform", Assignor: policy.UniformAssignor()}, {Name: "range", Assignor: policy.RangeAssignor()}},
		},
	}
	p.props = map[string]string{
		"group.consumer.assignment.interval.ms": fmt.Sprint(interval), "group.consumer.max.size": fmt.Sprint(size),
		"offset.metadata.max.bytes": "20", "offsets.retention.minutes": "40", "offsets.retention.check.interval.ms": "1800000",
		"group.consumer.migration.policy": "disabled",
	}
	p.image = metadata.NewImage()
	p.reload()
	return p
}

func (p *consumers) reload() {
	p.opt.Image = p.image
	p.calls = nil
	p.shard, p.timers, p.waiting = group.New(p.opt), map[group.TimerKey]timer{}, map[int32]bool{}
	for i := range p.log {
		p.replay(i)
	}
	var lost outcome
	p.do(p.shard.Loaded(p.now), &lost)
}

func (p *consumers) do(e group.Effects, o *outcome) {
	p.perform(e, o)
	p.calls = append(p.calls, e.Calls...)
}

// settle does what Kafka does within the request: targets are computed at once, and expressions matched after the answer.
func (p *consumers) settle(o *outcome) {
	for {
		due, ok := group.TimerKey{}, false
		for k, tm := range p.timers {
			if (k.Kind == group.ComputeTargetTimer || k.Kind == group.AwaitTargetTimer) && !tm.at.After(p.now) && (!ok || tm.order < p.timers[due].order) {
				due, ok = k, true
			}
		}
		if ok {
			delete(p.timers, due)
			p.do(p.shard.Expire(p.now, due), o)
			continue
		}
		i := slices.IndexFunc(p.calls, func(c coordinator.Call[*group.Shard, group.TimerKey, kmsg.Response]) bool {
			return strings.HasPrefix(c.Key, "target")
		})
		if len(p.calls) == 0 {
			return
		}
		i = max(i, 0)
		c := p.calls[i]
		p.calls = slices.Delete(p.calls, i, i+1)
		p.do(c.Run(context.Background())(p.shard, p.now, 0), o)
	}
}

func (p *consumers) pass(ms int, o *outcome) {
	to := p.now.Add(time.Duration(ms) * time.Millisecond)
	for {
		var due group.TimerKey
		best := timer{at: to.Add(1)}
		for k, tm := range p.timers {
			if tm.at.Before(best.at) || tm.at.Equal(best.at) && tm.order < best.order {
				due, best = k, tm
			}
		}
		if best.at.After(to) {
			break
		}
		delete(p.timers, due)
		p.now = best.at
		p.do(p.shard.Expire(p.now, due), o)
		p.settle(o)
	}
	p.now = to
}

func newOutcome() outcome { return outcome{answers: map[int32]string{}, codes: map[int32]int16{}} }

func (p *consumers) ask(ms int, req kmsg.Request, op func(coordinator.Token) group.Effects) {
	o := newOutcome()
	p.pass(ms, &o)
	step := int32(len(p.steps))
	s := oracle.GroupStep{AdvanceMs: int32(ms), Key: oracle.GroupNothing, ClientID: "c"}
	text := ""
	if req != nil {
		s.Key, s.Version, s.Request = req.Key(), req.GetVersion(), req.AppendTo(nil)
		p.reqs[step], p.waiting[step] = req, true
		text = fmt.Sprintf("%T %s", req, compact(p.t, req))
	}
	p.steps = append(p.steps, s)
	if req != nil {
		p.do(op(coordinator.Token(step+1)), &o)
		p.settle(&o)
	}
	p.ours = append(p.ours, o)
	p.texts = append(p.texts, fmt.Sprintf("%6dms step %d: %s\n        %v\n        %v", p.now.UnixMilli()-startMs, step, text, o.records, o.answers))
}

func (p *consumers) happens(s oracle.GroupStep, run func()) {
	o := newOutcome()
	p.pass(0, &o)
	p.steps = append(p.steps, s)
	run()
	p.ours = append(p.ours, o)
	p.texts = append(p.texts, fmt.Sprintf("event %d %s %s", s.Key, s.ClientID, s.Request))
}

// changeTopics: topics come, go, grow, and are made anew.
func (p *consumers) changeTopics() {
	for range 1 + p.r.IntN(2) {
		name := p.pick("t", "u", "v", "w")
		was, exists := p.topics[name]
		switch {
		case !exists:
			p.topics[name] = [2]int{1 + p.r.IntN(4), p.nextID}
			p.nextID++
		case p.r.IntN(2) == 0:
			p.topics[name] = [2]int{was[0] + 1, was[1]}
		default:
			delete(p.topics, name)
		}
	}
	if p.nextID > 15 { // the order of a hash table with 16 places
		p.nextID = 2
		p.topics = map[string][2]int{}
	}
	var records []metadata.Record
	if p.image.Index == 0 {
		records = append(records, &metadata.TermStart{Term: 1})
		for i, rack := range []string{"r0", "r1", ""} {
			records = append(records, &metadata.RegisterBroker{Broker: metadata.Broker{ID: metadata.BrokerID(i), Rack: rack}})
		}
	}
	var list []string
	for _, name := range []string{"t", "u", "v", "w"} {
		topic, exists := p.topics[name]
		id := metadata.TopicID{15: byte(topic[1])}
		old := p.image.Topic(name)
		if old != nil && (!exists || old.ID != id) {
			records = append(records, &metadata.RemoveTopic{ID: old.ID})
			old = nil
		}
		if !exists {
			continue
		}
		list = append(list, fmt.Sprintf("%s=%d/%d", name, topic[0], topic[1]))
		first := 0
		if old == nil {
			records = append(records, &metadata.NewTopic{ID: id, Name: name})
		} else {
			first = int(old.PartitionCount())
		}
		for n := first; n < topic[0]; n++ {
			replicas := []metadata.BrokerID{metadata.BrokerID(n % 3)}
			records = append(records, &metadata.NewPartition{TopicID: id, Index: int32(n), Partition: metadata.Partition{
				Replicas: replicas, ISR: replicas, Leader: replicas[0], Directories: make([]metadata.DirID, 1),
			}})
		}
	}
	p.publish(records, oracle.GroupStep{Key: oracle.GroupTopics, Version: int16(p.image.Index + 1), Request: []byte(strings.Join(list, ","))})
}

func (p *consumers) publish(records []metadata.Record, s oracle.GroupStep) {
	img, err := metadata.Apply(p.image, p.image.Index+1, metadata.Entry{Term: 1, Records: records})
	if err != nil {
		p.t.Fatal(err)
	}
	p.happens(s, func() {
		p.image = img
		var none outcome
		p.do(p.shard.Publish(p.now, img), &none)
	})
}

func (p *consumers) beat(ms int) {
	g := p.pick("g", "g", "g", "h")
	id := p.pick("a", "b", "c", "d", "d", "e", "e", "f")
	m := p.known[g+id]
	if m == nil {
		m = &memberView{}
		p.known[g+id] = m
	}
	req := kmsg.NewPtrConsumerGroupHeartbeatRequest()
	req.Version, req.Group, req.MemberID, req.MemberEpoch = 1, g, id, m.epoch
	switch p.r.IntN(20) {
	case 0:
		req.MemberEpoch = 0
	case 1:
		req.MemberEpoch += int32(p.r.IntN(3)) - 1
		req.MemberEpoch = max(req.MemberEpoch, 0)
	case 2:
		req.MemberEpoch = -1
	case 3:
		req.MemberEpoch = -2
	}
	// d and e are one instance; nobody changes its instance.
	if instance := map[string]string{"d": "i", "e": "i", "f": "j"}[id]; instance != "" || req.MemberEpoch > 0 && p.r.IntN(60) == 0 {
		if instance == "" || req.MemberEpoch > 0 && p.r.IntN(40) == 0 {
			instance = p.pick("i", "j")
		}
		req.InstanceID = &instance
	} else if req.MemberEpoch == -2 {
		req.MemberEpoch = -1
	}
	joins := req.MemberEpoch == 0
	if joins || p.r.IntN(8) == 0 {
		req.RebalanceTimeoutMillis = int32(1000 * (5 + p.r.IntN(3)))
	}
	if joins && p.r.IntN(4) > 0 || p.r.IntN(12) == 0 {
		req.SubscribedTopicNames = []string{}
		for _, name := range []string{"t", "u", "v"} {
			if p.r.IntN(2) == 0 {
				req.SubscribedTopicNames = append(req.SubscribedTopicNames, name)
			}
		}
	}
	if joins && req.SubscribedTopicNames == nil || p.r.IntN(20) == 0 {
		regex := p.pick("", "t|u", "[uvw]", ".", "[")
		req.SubscribedTopicRegex = &regex
	}
	if p.r.IntN(15) == 0 {
		name := p.wish // with two wishes in a group, Kafka decides ties by the history of a hash table
		req.ServerAssignor = &name
	}
	if p.r.IntN(15) == 0 {
		rack := p.pick("r0", "r1", "r2")
		req.RackID = &rack
	}
	switch {
	case joins:
		req.Topics = []kmsg.ConsumerGroupHeartbeatRequestTopic{}
	case p.r.IntN(2) == 0:
		req.Topics = append([]kmsg.ConsumerGroupHeartbeatRequestTopic{}, m.owned...)
	case p.r.IntN(20) == 0:
		req.Topics = []kmsg.ConsumerGroupHeartbeatRequestTopic{{TopicID: [16]byte{15: 2}, Partitions: []int32{0, 1}}}
	}
	c := group.Client{ID: "c", Host: "localhost/127.0.0.1"}
	p.ask(ms, req, func(tk coordinator.Token) group.Effects { return p.shard.ConsumerGroupHeartbeat(p.now, c, tk, req) })
	if text := p.ours[len(p.ours)-1].answers[int32(len(p.steps)-1)]; text == "" {
		p.t.Fatalf("not answered: %s", compact(p.t, req))
	}
	resp := p.last
	if resp.ErrorCode == 0 && resp.MemberEpoch == -2 {
		p.away = append(p.away, fmt.Sprintf(`"Group":%q,"Topic":"","Partition":0,"Member":%q`, g, id))
	}
	if p.r.IntN(15) == 0 {
		return // the answer is lost
	}
	switch resp.ErrorCode {
	case 0:
		m.epoch = max(resp.MemberEpoch, 0)
		if resp.Assignment != nil {
			m.owned = nil
			for _, topic := range resp.Assignment.Topics {
				m.owned = append(m.owned, kmsg.ConsumerGroupHeartbeatRequestTopic{TopicID: topic.TopicID, Partitions: topic.Partitions})
			}
		}
	case 25, 69, 82, 110:
		*m = memberView{}
	}
}

func (p *consumers) commitOffset(ms int) {
	g, id := p.pick("g", "g", "h"), p.pick("a", "b", "c", "d", "")
	epoch := int32(-1)
	if m := p.known[g+id]; m != nil {
		epoch = m.epoch + int32(p.r.IntN(5))/2 - 1
	}
	topic := p.pick("t", "u", "v")
	at, exists := p.topics[topic]
	if !exists {
		return
	}
	tid := [16]byte{15: byte(at[1])}
	if p.r.IntN(4) == 0 {
		req := kmsg.NewPtrTxnOffsetCommitRequest()
		req.Version, req.Group, req.ProducerID, req.TransactionalID = int16(3+p.r.IntN(3)), g, int64(1+p.r.IntN(2)), "x"
		req.MemberID, req.Generation = id, epoch
		part := kmsg.NewTxnOffsetCommitRequestTopicPartition()
		part.Partition, part.Offset = int32(p.r.IntN(2)), int64(len(p.steps))
		req.Topics = []kmsg.TxnOffsetCommitRequestTopic{{Topic: topic, TopicID: tid, Partitions: []kmsg.TxnOffsetCommitRequestTopicPartition{part}}}
		p.ask(ms, req, func(tk coordinator.Token) group.Effects { return p.shard.TxnOffsetCommit(p.now, tk, req) })
		return
	}
	req := kmsg.NewPtrOffsetCommitRequest()
	req.Version, req.Group, req.MemberID, req.Generation = int16(8+p.r.IntN(3)), g, id, epoch
	part := kmsg.NewOffsetCommitRequestTopicPartition()
	part.Partition, part.Offset = int32(p.r.IntN(2)), int64(len(p.steps))
	req.Topics = []kmsg.OffsetCommitRequestTopic{{Topic: topic, TopicID: tid, Partitions: []kmsg.OffsetCommitRequestTopicPartition{part}}}
	p.ask(ms, req, func(tk coordinator.Token) group.Effects { return p.shard.OffsetCommit(p.now, tk, req) })
}

func (p *consumers) other(ms int) {
	g := p.pick("g", "g", "h")
	switch p.r.IntN(8) {
	case 0:
		req := &kmsg.DeleteGroupsRequest{Version: 2, Groups: []string{g}}
		p.ask(ms, req, func(tk coordinator.Token) group.Effects { return p.shard.DeleteGroups(p.now, tk, req) })
	case 1:
		req := &kmsg.ListGroupsRequest{Version: 5}
		if p.r.IntN(2) == 0 {
			req.StatesFilter = []string{p.pick("Stable", "assigning", "RECONCILING", "Empty")}
		}
		if p.r.IntN(2) == 0 {
			req.TypesFilter = []string{p.pick("classic", "Consumer")}
		}
		p.ask(ms, req, func(tk coordinator.Token) group.Effects { return p.shard.ListGroups(p.now, tk, req) })
	case 2, 3:
		req := &kmsg.ConsumerGroupDescribeRequest{Version: 1, Groups: []string{"g", "h"}}
		p.ask(ms, req, func(tk coordinator.Token) group.Effects { return p.shard.ConsumerGroupDescribe(p.now, tk, req) })
	case 4:
		req := &kmsg.OffsetDeleteRequest{Group: g, Topics: []kmsg.OffsetDeleteRequestTopic{{Topic: p.pick("t", "u"), Partitions: []kmsg.OffsetDeleteRequestTopicPartition{{Partition: int32(p.r.IntN(2))}}}}}
		p.ask(ms, req, func(tk coordinator.Token) group.Effects { return p.shard.OffsetDelete(p.now, tk, req) })
	case 5:
		req := &kmsg.LeaveGroupRequest{Version: 5, Group: g}
		for range 1 + p.r.IntN(2) {
			who := kmsg.LeaveGroupRequestMember{MemberID: p.pick("a", "b", "d", "x")}
			if p.r.IntN(2) == 0 {
				i := p.pick("i", "j")
				who.InstanceID = &i
				if p.r.IntN(2) == 0 {
					who.MemberID = ""
				}
			}
			req.Members = append(req.Members, who)
		}
		p.ask(ms, req, func(tk coordinator.Token) group.Effects { return p.shard.LeaveGroup(p.now, tk, req) })
	case 6:
		req := &kmsg.OffsetFetchRequest{Version: 9, RequireStable: true, Groups: []kmsg.OffsetFetchRequestGroup{{Group: g, MemberEpoch: -1}}}
		if p.r.IntN(2) == 0 {
			id := p.pick("a", "b")
			req.Groups[0].MemberID = &id
			if m := p.known[g+id]; m != nil {
				req.Groups[0].MemberEpoch = m.epoch - int32(p.r.IntN(2))
			}
		}
		p.ask(ms, req, func(tk coordinator.Token) group.Effects { return p.shard.OffsetFetch(p.now, tk, req) })
	default:
		req := &kmsg.DescribeGroupsRequest{Version: 6, Groups: []string{"x"}}
		p.ask(ms, req, func(tk coordinator.Token) group.Effects { return p.shard.DescribeGroups(p.now, tk, req) })
	}
}

func (p *consumers) configure() {
	text := ""
	config := map[string]string{}
	for key, values := range map[string][]int{
		"consumer.session.timeout.ms": {45000, 50000, 100000}, "consumer.heartbeat.interval.ms": {1000, 6000, 20000}, "consumer.assignment.interval.ms": {0, 500, 3000},
	} {
		if p.r.IntN(2) == 0 {
			config[key] = strconv.Itoa(values[p.r.IntN(len(values))])
			text += key + "=" + config[key] + "\n"
		}
	}
	records := []metadata.Record{}
	for _, key := range []string{"consumer.session.timeout.ms", "consumer.heartbeat.interval.ms", "consumer.assignment.interval.ms"} {
		record := &metadata.Config{Resource: metadata.Resource{Type: metadata.GroupResource, Name: "g"}, Key: key}
		if value, ok := config[key]; ok {
			record.Value = &value
		}
		records = append(records, record)
	}
	img, err := metadata.Apply(p.image, p.image.Index, metadata.Entry{Term: p.image.Term, Records: records})
	if err != nil {
		p.t.Fatal(err)
	}
	img.Index = p.image.Index
	p.happens(oracle.GroupStep{Key: oracle.GroupConfig, ClientID: "g", Request: []byte(text)}, func() {
		p.image = img
		var none outcome
		p.do(p.shard.Publish(p.now, img), &none)
	})
}

func (p *consumers) playConsumers(steps int) {
	p.changeTopics()
	for range steps {
		ms := 0
		switch p.r.IntN(6) {
		case 0:
			ms = p.r.IntN(4000)
		case 1:
			ms = p.r.IntN(300)
		}
		switch n := p.r.IntN(100); {
		case n < 70:
			p.beat(ms)
		case n < 77:
			p.commitOffset(ms)
		case n < 83:
			p.changeTopics()
		case n < 93:
			p.other(ms)
		case n < 95:
			p.configure()
		case n < 97:
			p.happens(oracle.GroupStep{Key: oracle.GroupCrash}, p.reload)
		case n < 98:
			producer := int16(1 + p.r.IntN(2))
			p.happens(oracle.GroupStep{Key: oracle.GroupCommitTxn, Version: producer}, func() {
				p.log = append(p.log, logged{producer: coordinator.Producer{ID: coordinator.ProducerID(producer)}, commit: true})
				p.replay(len(p.log) - 1)
			})
		default:
			p.ask(p.r.IntN(20000), nil, nil)
		}
	}
	p.ask(10*60*1000, nil, nil)
	for range 3 {
		p.ask(40*60*1000, nil, nil)
	}
}

// staleType reports whether a target was computed in a step for an epoch of an earlier one. Kafka then takes whether members
// subscribe alike from what it has noted of the group: before this step's member, and perhaps before an expression's topics
// were known or forgotten. Its target may be of the other kind, down to giving a member what it does not subscribe to.
func staleType(records []string) bool {
	at := slices.IndexFunc(records, func(r string) bool {
		return strings.HasPrefix(r, `{"Type":6,`) && !strings.Contains(r, `"AssignmentTimestamp":0`)
	})
	if at < 0 || strings.HasSuffix(records[at], "tombstone") {
		return false
	}
	for at--; at >= 0 && strings.HasPrefix(records[at], `{"Type":7,`); at-- {
	}
	fenced := at > 0 && strings.HasSuffix(records[at-1], "tombstone") // the epoch is that of a member's end before
	return at < 0 || !strings.HasPrefix(records[at], `{"Type":3,`) || fenced
}

// withoutTargets leaves out what members are to have and have.
func withoutTargets(records []string) []string {
	return slices.DeleteFunc(slices.Clone(records), func(r string) bool {
		return strings.HasPrefix(r, `{"Type":7,`) || strings.HasPrefix(r, `{"Type":8,`)
	})
}

// sortRuns puts the records of one group behind those of the other, and sorts records of expressions, and of offsets, that
// follow one another: Kafka has groups, expressions and offsets in the order of hash tables. A target that is written twice
// alike counts once: Kafka repeats that of a static member that is back under the member id it had.
func sortRuns(records []string) []string {
	seen := map[string]bool{}
	records = slices.DeleteFunc(records, func(r string) bool {
		twice := seen[r] && strings.HasPrefix(r, `{"Type":7,`)
		seen[r] = true
		return twice
	})
	of := func(r string) string { _, rest, _ := strings.Cut(r, `"Group":`); return rest[:3] }
	slices.SortStableFunc(records, func(a, b string) int { return strings.Compare(of(a), of(b)) })
	kind := func(r string) string {
		if strings.HasPrefix(r, `{"Type":16,`) || strings.HasPrefix(r, `{"Type":1,`) {
			return r[:10]
		}
		return ""
	}
	for i := 0; i < len(records); {
		end := i + 1
		for end < len(records) && kind(records[i]) != "" && kind(records[end]) == kind(records[i]) {
			end++
		}
		slices.Sort(records[i:end])
		i = end
	}
	return records
}

// whoWent are the members that the records remove. After a load the sessions of all members end at one time, in the order in
// which Kafka walked its hash tables.
func whoWent(records []string) (gone []string) {
	for _, r := range records {
		if strings.HasPrefix(r, `{"Type":5,`) && strings.HasSuffix(r, "tombstone") {
			gone = append(gone, r)
		}
	}
	slices.Sort(gone)
	return gone
}

func (p *consumers) compareConsumers(run int, results []oracle.GroupStepResult, tally map[string]int) {
	crashed := false
	for i, res := range results {
		want := newOutcome()
		for _, r := range res.Records {
			want.records = append(want.records, recordText(p.t, r.Key, r.Value))
		}
		for _, a := range res.Answers {
			want.answers[a.Step], want.codes[a.Step] = answerText(p.t, p.reqs[a.Step], a.Body)
			tally[fmt.Sprintf("%T %d", p.reqs[a.Step], want.codes[a.Step])]++
		}
		got := p.ours[i]
		got.records, want.records = sortRuns(got.records), sortRuns(want.records)
		if p.steps[i].Key == int16(kmsg.LeaveGroup) { // members leave in the order of a hash table
			slices.Sort(got.records)
			slices.Sort(want.records)
		}
		crashed = crashed || p.steps[i].Key == oracle.GroupCrash
		if a, b := fmt.Sprintln(got.records, got.answers), fmt.Sprintln(want.records, want.answers); a != b {
			if crashed && slices.Equal(whoWent(got.records), whoWent(want.records)) && len(whoWent(got.records)) > 1 {
				tally["ended where sessions end in the order of a hash table"]++
				return
			}
			if early := slices.DeleteFunc(whoWent(want.records), func(r string) bool { return slices.Contains(got.records, r) }); crashed && len(early) > 0 &&
				!slices.ContainsFunc(early, func(r string) bool {
					return !slices.ContainsFunc(p.away, func(of string) bool { return strings.Contains(r, of) })
				}) {
				tally["ended where Kafka removes a static member that is away"]++
				return
			}
			if staleType(want.records) && slices.Equal(withoutTargets(got.records), withoutTargets(want.records)) {
				tally["ended where Kafka takes how members subscribe from before"]++
				return
			}
			p.differ(run, i, "\nours   %s\nKafka's %s", strings.Join(strings.Split(a, "} {"), "}\n        {"), b)
			return
		}
		tally["steps"]++
		tally["records"] += len(got.records)
	}
	tally["whole runs"]++
}

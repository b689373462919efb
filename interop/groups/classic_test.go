//go:build interop

// Package groups_test holds the broker's group shard beside Kafka's own.
package groups_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weir-broker/weir/broker/coordinator"
	"github.com/weir-broker/weir/broker/group"
	"github.com/weir-broker/weir/interop/oracle"
)

var (
	cases = flag.Int("cases", envInt("WEIR_GROUPS_CASES", 500), "how many random runs of classic groups")
	seed  = flag.Uint64("seed", uint64(envInt("WEIR_GROUPS_SEED", 0)), "seed of the runs; 0 takes one from the clock")
	only  = flag.Int("only", -1, "play just this run of the seed")
)

func envInt(name string, otherwise int) int {
	n, err := strconv.Atoi(os.Getenv(name))
	if err != nil {
		return otherwise
	}
	return n
}

const startMs = 1_700_000_000_000

// outcome is what one step of one side came to, in a form that leaves out what has no order.
type outcome struct {
	records []string
	answers map[int32]string
	codes   map[int32]int16
}

// TestClassicGroupsAnswerAsKafkas plays random clients of classic groups on our shard and the same requests at the same
// times on Kafka's: same answers, same records.
func TestClassicGroupsAnswerAsKafkas(t *testing.T) {
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
		p := newPlayer(t, s, uint64(i))
		p.play(120)
		results, err := or.Groups(context.Background(), startMs, p.props, p.steps)
		if err != nil {
			t.Fatalf("run %d: %v", i, err)
		}
		p.compare(i, results, tally)
		if t.Failed() {
			return
		}
	}
	t.Logf("%v", tally)
}

// player drives our shard and notes what it did.
type player struct {
	t       *testing.T
	r       *rand.Rand
	shard   *group.Shard
	opt     group.Options
	props   map[string]string
	now     time.Time
	timers  map[group.TimerKey]timer
	order   int
	log     []logged
	steps   []oracle.GroupStep
	ours    []outcome
	texts   []string
	reqs    map[int32]kmsg.Request
	waiting map[int32]bool
	ids     []string
	gens    map[string]int32
	leaders map[string]string // newest leader told, by group
	members map[string][]string
	last    *kmsg.ConsumerGroupHeartbeatResponse
}

// logged is a record or, without a key, the marker that ends a transaction.
type logged struct {
	coordinator.Record
	producer coordinator.Producer
	commit   bool
}

type timer struct {
	at    time.Time
	order int
}

func newPlayer(t *testing.T, seed, run uint64) *player {
	p := &player{
		t: t, r: rand.New(rand.NewPCG(seed, run)), now: time.UnixMilli(startMs), reqs: map[int32]kmsg.Request{},
		gens: map[string]int32{}, leaders: map[string]string{}, members: map[string][]string{},
	}
	delay := []int{0, 1000, 3000}[p.r.IntN(3)]
	size := []int{1000, 1000, 1000, 3}[p.r.IntN(4)]
	p.opt = group.Options{
		InitialRebalanceDelay: time.Duration(delay) * time.Millisecond, MinSessionTimeout: time.Second, MaxSessionTimeout: time.Hour, MaxSize: size,
		OffsetMetadataMaxSize: 20, OffsetsRetention: 40 * time.Minute, OffsetsRetentionCheckEvery: 30 * time.Minute,
	}
	p.props = map[string]string{
		"group.initial.rebalance.delay.ms": fmt.Sprint(delay), "group.max.size": fmt.Sprint(size), "group.min.session.timeout.ms": "1000",
		"offset.metadata.max.bytes": "20", "offsets.retention.minutes": "40", "offsets.retention.check.interval.ms": "1800000",
		"group.coordinator.rebalance.protocols": "classic,consumer",
	}
	p.load()
	return p
}

func (p *player) load() {
	p.shard, p.timers, p.waiting = group.New(p.opt), map[group.TimerKey]timer{}, map[int32]bool{}
	for i := range p.log {
		p.replay(i)
	}
	var lost outcome
	p.perform(p.shard.Loaded(p.now), &lost)
}

func (p *player) replay(i int) {
	l, at := p.log[i], coordinator.Offset(i)
	var err error
	if l.Key == nil {
		err = p.shard.ReplayEndTransaction(at, l.producer, l.commit)
	} else {
		err = p.shard.Replay(at, l.producer, l.Record)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *player) perform(e group.Effects, o *outcome) {
	producer := coordinator.NoProducer()
	if e.Transaction != nil {
		producer = *e.Transaction
	}
	for _, r := range e.Records {
		p.log = append(p.log, logged{Record: r, producer: producer})
		o.records = append(o.records, recordText(p.t, r.Key, r.Value))
		p.replay(len(p.log) - 1)
	}
	for _, tm := range e.Timers {
		if delete(p.timers, tm.Key); tm.After >= 0 {
			p.order++
			p.timers[tm.Key] = timer{p.now.Add(tm.After), p.order}
		}
	}
	for _, r := range e.Replies {
		step := int32(r.Token) - 1
		delete(p.waiting, step)
		o.answers[step], o.codes[step] = answerText(p.t, p.reqs[step], r.Response.AppendTo(nil))
		p.learn(p.reqs[step], r.Response)
	}
}

func (p *player) learn(req kmsg.Request, resp kmsg.Response) {
	if h, ok := resp.(*kmsg.ConsumerGroupHeartbeatResponse); ok {
		p.last = h
	}
	j, ok := resp.(*kmsg.JoinGroupResponse)
	if !ok {
		return
	}
	if (j.ErrorCode == 0 || j.ErrorCode == 79) && !slices.Contains(p.ids, j.MemberID) {
		p.ids = append(p.ids, j.MemberID)
	}
	if g := req.(*kmsg.JoinGroupRequest).Group; j.ErrorCode == 0 {
		p.gens[g], p.leaders[g] = j.Generation, j.LeaderID
		if len(j.Members) > 0 {
			p.members[g] = nil
			for _, m := range j.Members {
				p.members[g] = append(p.members[g], m.MemberID)
			}
		}
	}
}

func (p *player) advance(ms int, o *outcome) {
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
		p.perform(p.shard.Expire(p.now, due), o)
	}
	p.now = to
}

func (p *player) step(ms int, clientID string, req kmsg.Request, op func(coordinator.Token) group.Effects) {
	o := outcome{answers: map[int32]string{}, codes: map[int32]int16{}}
	p.advance(ms, &o)
	step := int32(len(p.steps))
	s := oracle.GroupStep{AdvanceMs: int32(ms), Key: oracle.GroupNothing, ClientID: clientID}
	text := ""
	if req != nil {
		s.Key, s.Version, s.Request = req.Key(), req.GetVersion(), req.AppendTo(nil)
		p.reqs[step], p.waiting[step] = req, true
		b, _ := json.Marshal(req)
		text = fmt.Sprintf("%T %s", req, b)
		p.steps = append(p.steps, s)
		p.perform(op(coordinator.Token(step+1)), &o)
	} else {
		p.steps = append(p.steps, s)
	}
	p.ours = append(p.ours, o)
	p.texts = append(p.texts, fmt.Sprintf("%6dms step %d: %s", p.now.UnixMilli()-startMs, step, text))
}

func (p *player) crash() {
	o := outcome{answers: map[int32]string{}, codes: map[int32]int16{}}
	p.advance(0, &o)
	p.steps = append(p.steps, oracle.GroupStep{Key: oracle.GroupCrash})
	p.load()
	p.ours = append(p.ours, o)
	p.texts = append(p.texts, "crash")
}

// event is a step without a request.
func (p *player) event(s oracle.GroupStep, run func(o *outcome)) {
	o := outcome{answers: map[int32]string{}, codes: map[int32]int16{}}
	p.advance(0, &o)
	p.steps = append(p.steps, s)
	run(&o)
	p.ours = append(p.ours, o)
	p.texts = append(p.texts, fmt.Sprintf("event %+v", s))
}

func (p *player) endTxn() {
	producer, key := int16(1+p.r.IntN(2)), oracle.GroupCommitTxn
	if p.r.IntN(2) == 0 {
		key = oracle.GroupAbortTxn
	}
	p.event(oracle.GroupStep{Key: key, Version: producer}, func(*outcome) {
		p.log = append(p.log, logged{producer: coordinator.Producer{ID: coordinator.ProducerID(producer)}, commit: key == oracle.GroupCommitTxn})
		p.replay(len(p.log) - 1)
	})
}

func (p *player) topicDeleted() {
	topic := p.pick("t", "u")
	p.event(oracle.GroupStep{Key: oracle.GroupTopicDeleted, ClientID: topic}, func(o *outcome) {
		p.perform(p.shard.TopicsDeleted(p.now, []group.DeletedTopic{{ID: [16]byte{7: 1, 15: 2}, Name: topic}}), o)
	})
}

func (p *player) txnCommit(ms int, g string) {
	req := kmsg.NewPtrTxnOffsetCommitRequest()
	req.Version, req.Group, req.ProducerID = int16(3+p.r.IntN(3)), g, int64(1+p.r.IntN(2))
	req.TransactionalID = "x"
	if p.r.IntN(2) == 0 {
		req.MemberID, req.Generation = p.member(g), p.generation(g)
		req.InstanceID = p.instance(req.MemberID)
	}
	part := kmsg.NewTxnOffsetCommitRequestTopicPartition()
	part.Partition, part.Offset = int32(p.r.IntN(3)), int64(len(p.steps))
	req.Topics = []kmsg.TxnOffsetCommitRequestTopic{{Topic: p.pick("t", "u"), Partitions: []kmsg.TxnOffsetCommitRequestTopicPartition{part}}}
	p.step(ms, "c", req, func(tk coordinator.Token) group.Effects { return p.shard.TxnOffsetCommit(p.now, tk, req) })
}

func (p *player) pick(list ...string) string { return list[p.r.IntN(len(list))] }

func (p *player) member(g string) string {
	if p.r.IntN(30) == 0 {
		return "nobody"
	}
	if known := p.members[g]; len(known) > 0 && p.r.IntN(3) > 0 {
		return known[p.r.IntN(len(known))]
	}
	if len(p.ids) == 0 {
		return "nobody"
	}
	return p.ids[max(0, len(p.ids)-1-p.r.IntN(5))]
}

func (p *player) instance(member string) *string {
	for _, i := range []string{"i", "j"} {
		if strings.HasPrefix(member, i+"-") && p.r.IntN(20) > 0 || p.r.IntN(40) == 0 {
			return &i
		}
	}
	return nil
}

func (p *player) generation(g string) int32 {
	if p.r.IntN(10) == 0 {
		return int32(p.r.IntN(4)) - 1
	}
	return p.gens[g]
}

func (p *player) play(steps int) {
	for range steps {
		g := p.pick("g", "g", "h")
		ms := 0
		switch p.r.IntN(6) {
		case 0:
			ms = p.r.IntN(4000)
		case 1:
			ms = p.r.IntN(300)
		}
		switch n := p.r.IntN(100); {
		case n < 32:
			p.join(ms, g)
		case n < 58:
			p.sync(ms, g)
		case n < 68:
			m := p.member(g)
			req := &kmsg.HeartbeatRequest{Version: 4, Group: g, MemberID: m, InstanceID: p.instance(m), Generation: p.generation(g)}
			p.step(ms, "c", req, func(tk coordinator.Token) group.Effects { return p.shard.Heartbeat(p.now, tk, req) })
		case n < 74:
			p.leave(ms, g)
		case n < 82:
			p.commit(ms, g)
		case n < 85:
			req := &kmsg.OffsetFetchRequest{Version: 9, RequireStable: true, Groups: []kmsg.OffsetFetchRequestGroup{{Group: g, MemberEpoch: -1}}}
			if p.r.IntN(2) == 0 {
				req.Groups[0].Topics = []kmsg.OffsetFetchRequestGroupTopic{{Topic: p.pick("t", "u"), Partitions: []int32{0, 1, 2}}}
			}
			p.step(ms, "c", req, func(tk coordinator.Token) group.Effects { return p.shard.OffsetFetch(p.now, tk, req) })
		case n < 88:
			req := &kmsg.DescribeGroupsRequest{Version: int16(5 + p.r.IntN(2)), Groups: []string{g, "none"}}
			p.step(ms, "c", req, func(tk coordinator.Token) group.Effects { return p.shard.DescribeGroups(p.now, tk, req) })
		case n < 90:
			req := &kmsg.ListGroupsRequest{Version: 5}
			if p.r.IntN(2) == 0 {
				req.StatesFilter = []string{p.pick("Stable", "empty", "PREPARINGREBALANCE", "CompletingRebalance", "dead")}
			}
			if p.r.IntN(2) == 0 {
				req.TypesFilter = []string{p.pick("classic", "Consumer")}
			}
			p.step(ms, "c", req, func(tk coordinator.Token) group.Effects { return p.shard.ListGroups(p.now, tk, req) })
		case n < 92:
			req := &kmsg.OffsetDeleteRequest{Group: g, Topics: []kmsg.OffsetDeleteRequestTopic{{Topic: p.pick("t", "u"), Partitions: []kmsg.OffsetDeleteRequestTopicPartition{{Partition: int32(p.r.IntN(3))}}}}}
			p.step(ms, "c", req, func(tk coordinator.Token) group.Effects { return p.shard.OffsetDelete(p.now, tk, req) })
		case n < 93:
			req := &kmsg.DeleteGroupsRequest{Version: 2, Groups: []string{g, "none"}}
			p.step(ms, "c", req, func(tk coordinator.Token) group.Effects { return p.shard.DeleteGroups(p.now, tk, req) })
		case n < 95:
			p.crash()
		case n < 97:
			p.txnCommit(ms, g)
		case n < 98:
			p.endTxn()
			if p.r.IntN(8) == 0 {
				p.topicDeleted()
			}
		default:
			p.step(p.r.IntN(30000), "c", nil, nil)
		}
	}
	p.step(10*60*1000, "c", nil, nil)
	for range 3 {
		p.step(40*60*1000, "c", nil, nil)
	}
}

func (p *player) join(ms int, g string) {
	step := len(p.steps)
	req := &kmsg.JoinGroupRequest{
		Version: int16(p.r.IntN(10)), Group: g, ProtocolType: "consumer",
		SessionTimeoutMillis: 6000 + int32(p.r.IntN(20000)), RebalanceTimeoutMillis: 5000 + int32(p.r.IntN(20000)),
	}
	if p.r.IntN(2) == 0 {
		req.MemberID = p.member(g)
		if !strings.HasPrefix(req.MemberID, "c-") { // with the id of a pending member Kafka's shard throws
			req.InstanceID = p.instance(req.MemberID)
		}
	} else if p.r.IntN(3) == 0 {
		i := p.pick("i", "j")
		req.InstanceID = &i
	}
	if req.Version < 5 {
		req.InstanceID = nil
	}
	if p.r.IntN(30) == 0 {
		req.ProtocolType = "connect"
	}
	names := [][]string{{"range"}, {"range"}, {"range", "sticky"}, {"sticky", "range"}, {"roundrobin"}}[p.r.IntN(5)]
	for _, name := range names {
		subscription := []byte{0, 3, 0, 0, 0, 1, 0, 1, p.pick("t", "t", "t", "t", "u")[0], 255, 255, 255, 255}
		if p.r.IntN(40) == 0 {
			subscription = []byte{9}
		}
		req.Protocols = append(req.Protocols, kmsg.JoinGroupRequestProtocol{Name: name, Metadata: subscription})
	}
	c := group.Client{ID: "c", Host: "localhost/127.0.0.1", UUID: fmt.Sprintf("00000000-0000-0000-0000-%012d", step)}
	p.step(ms, "c", req, func(tk coordinator.Token) group.Effects { return p.shard.JoinGroup(p.now, c, tk, req) })
}

func (p *player) sync(ms int, g string) {
	req := &kmsg.SyncGroupRequest{Version: int16(p.r.IntN(5)), Group: g, MemberID: p.member(g), Generation: p.generation(g)}
	if p.leaders[g] != "" && p.r.IntN(2) == 0 {
		req.MemberID = p.leaders[g]
		for _, m := range p.members[g] {
			req.GroupAssignment = append(req.GroupAssignment, kmsg.SyncGroupRequestGroupAssignment{MemberID: m, MemberAssignment: fmt.Append(nil, len(p.steps), m)})
		}
	}
	req.InstanceID = p.instance(req.MemberID)
	if req.Version < 3 {
		req.InstanceID = nil
	}
	p.step(ms, "c", req, func(tk coordinator.Token) group.Effects { return p.shard.SyncGroup(p.now, tk, req) })
}

func (p *player) leave(ms int, g string) {
	req := &kmsg.LeaveGroupRequest{Version: int16(p.r.IntN(6)), Group: g, MemberID: p.member(g)}
	if req.Version >= 3 {
		req.MemberID = ""
		for range 1 + p.r.IntN(2) {
			m := kmsg.LeaveGroupRequestMember{MemberID: p.member(g)}
			m.InstanceID = p.instance(m.MemberID)
			if p.r.IntN(4) == 0 {
				i := p.pick("i", "j")
				m = kmsg.LeaveGroupRequestMember{InstanceID: &i}
			}
			req.Members = append(req.Members, m)
		}
	}
	p.step(ms, "c", req, func(tk coordinator.Token) group.Effects { return p.shard.LeaveGroup(p.now, tk, req) })
}

func (p *player) commit(ms int, g string) {
	req := kmsg.NewPtrOffsetCommitRequest()
	req.Version, req.Group = int16(2+p.r.IntN(8)), g
	if p.r.IntN(3) > 0 {
		req.MemberID, req.Generation = p.member(g), p.generation(g)
		req.InstanceID = p.instance(req.MemberID)
	}
	if req.Version < 7 {
		req.InstanceID = nil
	}
	if req.Version < 5 && p.r.IntN(4) == 0 {
		req.RetentionTimeMillis = int64(p.r.IntN(3_600_000))
	}
	text := p.pick("", "m", strings.Repeat("x", 21))
	// A commit with no offset to keep makes a group in Kafka and none here: there is always one.
	for i, m := range []string{"", text} {
		part := kmsg.NewOffsetCommitRequestTopicPartition()
		part.Partition, part.Offset, part.Metadata = int32(i), int64(len(p.steps)), &m
		if req.Version >= 6 {
			part.LeaderEpoch = int32(p.r.IntN(3)) - 1
		}
		req.Topics = append(req.Topics, kmsg.OffsetCommitRequestTopic{Topic: p.pick("t", "u"), Partitions: []kmsg.OffsetCommitRequestTopicPartition{part}})
	}
	p.step(ms, "c", req, func(tk coordinator.Token) group.Effects { return p.shard.OffsetCommit(p.now, tk, req) })
}

// compare holds Kafka's results against ours. A run ends early where Kafka's choice depends on a hash table of random
// member ids (a new leader among several members): the leader differs, and nothing that does not follow from it.
func (p *player) compare(run int, results []oracle.GroupStepResult, tally map[string]int) {
	abandoned := map[int32]bool{}
	refused := false
	for i, res := range results {
		want := outcome{answers: map[int32]string{}, codes: map[int32]int16{}}
		for _, r := range res.Records {
			want.records = append(want.records, recordText(p.t, r.Key, r.Value))
		}
		for _, a := range res.Answers {
			if abandoned[a.Step] {
				p.differ(run, i, "Kafka answers step %d, which we gave up", a.Step)
				return
			}
			want.answers[a.Step], want.codes[a.Step] = answerText(p.t, p.reqs[a.Step], a.Body)
		}
		got := p.ours[i]
		// Requests that a client has given up, by asking again or leaving, are never answered by Kafka.
		for step, code := range got.codes {
			if _, ok := want.codes[step]; !ok && (code == 27 || code == 25) {
				abandoned[step] = true
				delete(got.answers, step)
				tally["given up"]++
			}
		}
		for step, code := range got.codes {
			// Refusing a member that was in the group may leave nobody to wait for: ours goes on, Kafka's waits for its timeout.
			if j, ok := p.reqs[step].(*kmsg.JoinGroupRequest); ok && code == 81 && j.MemberID != "" {
				refused = true
			}
		}
		slices.Sort(want.records)
		slices.Sort(got.records)
		// A deleted topic's offset that is committed and pending too gets two tombstones of Kafka, one of us.
		want.records, got.records = slices.Compact(want.records), slices.Compact(got.records)
		a, b := fmt.Sprintln(got.records, got.answers), fmt.Sprintln(want.records, want.answers)
		if a != b {
			switch {
			case refused:
				tally["ended after a refused member"]++
			case anotherLeader(got, want):
				tally["ended at a choice"]++
			default:
				p.differ(run, i, "\nours   %s\nKafka's %s", a, b)
			}
			return
		}
		tally["steps"]++
		tally["answers"] += len(got.answers)
		tally["records"] += len(got.records)
	}
	tally["whole runs"]++
}

// anotherLeader reports whether an answer on both sides differs in the leader, and in nothing that does not follow from it.
// The rest of the step may follow from it too.
func anotherLeader(got, want outcome) bool {
	for step, a := range got.answers {
		if b := want.answers[step]; choice(a) != choice(b) && withoutChoice(a) == withoutChoice(b) {
			return true
		}
	}
	return false
}

func (p *player) differ(run, step int, format string, args ...any) {
	for _, text := range p.texts[max(0, step-25) : step+1] {
		p.t.Log(text)
	}
	p.t.Errorf("run %d step %d: "+format, append([]any{run, step}, args...)...)
}

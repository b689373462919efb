package group

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weir-broker/weir/broker/coordinator"
)

// world drives a Shard with random requests, as clients that may be wrong, slow or dead, and holds it to what every
// client relies on.
type world struct {
	t      *testing.T
	r      *rand.Rand
	shard  *Shard
	opt    Options
	now    time.Time
	timers map[TimerKey]time.Time
	log    []Record
	token  Token
	asked  map[Token]kmsg.Request
	uuid   int
	ids    []string
	// generations[group] is the newest generation that anyone was told.
	generations map[string]int32
	// assigned is what members were told they own, by group and generation: nobody may be told two things.
	assigned map[string]string
	trace    []string
}

func newWorld(t *testing.T, seed uint64) *world {
	w := &world{t: t, r: rand.New(rand.NewPCG(seed, 0)), opt: testOptions(), now: time.UnixMilli(1_700_000_000_000)}
	w.opt.MaxSize = 4
	w.opt.OffsetsRetention = time.Hour
	if seed%3 == 0 {
		w.opt.MaxRecordsSize = 300
	}
	w.generations, w.assigned = map[string]int32{}, map[string]string{}
	w.load()
	return w
}

func (w *world) failf(format string, args ...any) {
	w.t.Helper()
	for _, line := range w.trace[max(0, len(w.trace)-40):] {
		w.t.Log(line)
	}
	w.t.Fatalf(format, args...)
}

func (w *world) load() {
	w.shard, w.timers, w.asked = New(w.opt), map[TimerKey]time.Time{}, map[Token]kmsg.Request{}
	for i, r := range w.log {
		if err := w.shard.Replay(coordinator.Offset(i), noProducer, r); err != nil {
			w.failf("replay: %v", err)
		}
	}
	w.perform(w.shard.Loaded(w.now))
}

func (w *world) perform(e Effects) {
	for _, r := range e.Records {
		w.log = append(w.log, r)
		w.trace = append(w.trace, "append "+recordText(r.Key, r.Value))
		if err := w.shard.Replay(coordinator.Offset(len(w.log)-1), noProducer, r); err != nil {
			w.failf("replay: %v", err)
		}
		if k := must(ParseKey(r.Key)); k.Type == GroupMetadataType && r.Value == nil {
			// The next group of this name counts from 0 again.
			w.generations[k.Group] = 0
			w.assigned = map[string]string{}
		}
	}
	for _, tm := range e.Timers {
		if delete(w.timers, tm.Key); tm.After >= 0 {
			w.timers[tm.Key] = w.now.Add(tm.After)
		}
	}
	for _, r := range e.Replies {
		req, ok := w.asked[r.Token]
		if !ok {
			w.failf("token %d answered twice", r.Token)
		}
		delete(w.asked, r.Token)
		w.trace = append(w.trace, fmt.Sprintf("%d <- %s", r.Token, responseText(r.Response)))
		w.check(req, r.Response)
	}
	w.checkGroups()
}

func (w *world) check(req kmsg.Request, resp kmsg.Response) {
	if req.GetVersion() != resp.GetVersion() {
		w.failf("%T version %d is answered in version %d", req, req.GetVersion(), resp.GetVersion())
	}
	switch resp := resp.(type) {
	case *kmsg.JoinGroupResponse:
		group := req.(*kmsg.JoinGroupRequest).Group
		if resp.ErrorCode == memberIDRequired || resp.ErrorCode == none {
			if !slices.Contains(w.ids, resp.MemberID) {
				w.ids = append(w.ids, resp.MemberID)
			}
		}
		if resp.ErrorCode != none {
			return
		}
		if resp.Generation < w.generations[group] {
			w.failf("generation of %s goes back from %d to %d", group, w.generations[group], resp.Generation)
		}
		w.generations[group] = resp.Generation
		if len(resp.Members) > 0 && resp.LeaderID != resp.MemberID {
			w.failf("follower %s is told the members", resp.MemberID)
		}
	case *kmsg.SyncGroupResponse:
		sync := req.(*kmsg.SyncGroupRequest)
		if resp.ErrorCode != none {
			return
		}
		key := fmt.Sprintf("%s %d %s", sync.Group, sync.Generation, sync.MemberID)
		if before, ok := w.assigned[key]; ok && before != string(resp.MemberAssignment) {
			w.failf("%s was told %q and then %q", key, before, resp.MemberAssignment)
		}
		w.assigned[key] = string(resp.MemberAssignment)
	}
}

// checkGroups holds the bookkeeping of every group against its members.
func (w *world) checkGroups() {
	for _, g := range w.shard.groups {
		waits, supported, static := 0, map[string]int{}, 0
		for _, m := range g.members {
			if g.byID[m.id] != m {
				w.failf("%s: member %s is not found by its id", g.id, m.id)
			}
			if m.join != nil {
				waits++
			}
			if m.instanceID != nil {
				static++
				if g.static[*m.instanceID] != m {
					w.failf("%s: instance %s leads elsewhere", g.id, *m.instanceID)
				}
			}
			for _, p := range m.protocols {
				supported[p.Name]++
			}
			if _, ok := w.timers[TimerKey{HeartbeatTimer, g.id, m.id}]; !ok && !m.aliveWithoutHeartbeat() {
				w.failf("%s: nothing ends the session of %s", g.id, m.id)
			}
			if m.join != nil && g.state != preparingRebalance || m.sync != nil && g.state != completingRebalance {
				w.failf("%s: a request of %s waits in %s", g.id, m.id, g.state)
			}
		}
		if waits != g.waitingJoins || len(g.byID) != len(g.members) || len(g.static) != static || !maps.Equal(supported, g.supported) {
			w.failf("%s: counts are wrong: %+v", g.id, g)
		}
		if (len(g.members) == 0) != (g.leader == "") || g.leader != "" && g.byID[g.leader] == nil {
			w.failf("%s: leader %q of %d members", g.id, g.leader, len(g.members))
		}
		if g.state == preparingRebalance {
			if _, ok := w.timers[TimerKey{JoinTimer, g.id, ""}]; !ok {
				w.failf("%s: nothing ends the join phase", g.id)
			}
		}
		if len(g.pendingSync) > 0 {
			if _, ok := w.timers[TimerKey{SyncTimer, g.id, ""}]; !ok {
				w.failf("%s: nothing ends the wait for %v", g.id, g.pendingSync)
			}
		}
		if g.state == empty && len(g.members) > 0 {
			w.failf("%s is empty with members", g.id)
		}
	}
}

func (w *world) pick(list ...string) string { return list[w.r.IntN(len(list))] }

func (w *world) ask(req kmsg.Request, op func(Token) Effects) {
	w.token++
	w.asked[w.token] = req
	w.trace = append(w.trace, fmt.Sprintf("%v %d %T %+v", w.now.UnixMilli(), w.token, req, req))
	w.perform(op(w.token))
}

// member picks an id that was given out, mostly a recent one.
func (w *world) member() string {
	if len(w.ids) == 0 || w.r.IntN(20) == 0 {
		return "nobody"
	}
	return w.ids[max(0, len(w.ids)-1-w.r.IntN(6))]
}

func (w *world) instance() *string {
	if w.r.IntN(3) > 0 {
		return nil
	}
	return ptr(w.pick("i", "j"))
}

func (w *world) generation(group string) int32 {
	if w.r.IntN(8) == 0 {
		return int32(w.r.IntN(5)) - 1
	}
	return w.generations[group]
}

func (w *world) step() {
	group := w.pick("g", "h")
	switch w.r.IntN(12) {
	case 0, 1, 2:
		w.join(group)
	case 3, 4, 5:
		w.sync(group)
	case 6:
		req := &kmsg.HeartbeatRequest{Version: 4, Group: group, MemberID: w.member(), InstanceID: w.instance(), Generation: w.generation(group)}
		w.ask(req, func(tk Token) Effects { return w.shard.Heartbeat(w.now, tk, req) })
	case 7:
		req := &kmsg.LeaveGroupRequest{Version: 5, Group: group}
		for range w.r.IntN(2) {
			req.Members = append(req.Members, kmsg.LeaveGroupRequestMember{MemberID: w.pick("", w.member()), InstanceID: w.instance()})
		}
		w.ask(req, func(tk Token) Effects { return w.shard.LeaveGroup(w.now, tk, req) })
	case 8:
		req := &kmsg.OffsetCommitRequest{Version: 9, Group: group, MemberID: w.pick("", w.member()), InstanceID: w.instance(), Generation: w.generation(group), RetentionTimeMillis: -1}
		req.Topics = []kmsg.OffsetCommitRequestTopic{{Topic: w.pick("t", "u"), Partitions: []kmsg.OffsetCommitRequestTopicPartition{{Partition: int32(w.r.IntN(3)), Offset: int64(w.token)}}}}
		w.ask(req, func(tk Token) Effects { return w.shard.OffsetCommit(w.now, tk, req) })
	case 9:
		switch w.r.IntN(20) {
		case 0:
			w.trace = append(w.trace, "crash")
			w.crash()
		case 1:
			req := &kmsg.DeleteGroupsRequest{Version: 2, Groups: []string{group}}
			w.ask(req, func(tk Token) Effects { return w.shard.DeleteGroups(w.now, tk, req) })
		case 2:
			w.tick(2 * time.Hour)
		default:
			w.tick(time.Duration(w.r.IntN(70)) * time.Second)
		}
	default:
		w.tick(time.Duration(w.r.IntN(4000)) * time.Millisecond)
	}
}

func (w *world) join(group string) {
	w.uuid++
	req := &kmsg.JoinGroupRequest{
		Version: int16(w.r.IntN(10)), Group: group, MemberID: w.pick("", "", w.member()), InstanceID: w.instance(), ProtocolType: "consumer",
		SessionTimeoutMillis: 6000 + int32(w.r.IntN(3))*10000, RebalanceTimeoutMillis: 5000 + int32(w.r.IntN(3))*20000,
	}
	if req.Version < 5 {
		req.InstanceID = nil
	}
	for _, name := range []string{"range", "sticky", "roundrobin"} {
		if w.r.IntN(3) > 0 || name == "range" && w.r.IntN(10) > 0 {
			req.Protocols = append(req.Protocols, kmsg.JoinGroupRequestProtocol{Name: name, Metadata: []byte{0, 3, 0, 0, 0, byte(w.r.IntN(8) / 7), 0, 1, 't'}})
		}
	}
	w.r.Shuffle(len(req.Protocols), func(i, j int) { req.Protocols[i], req.Protocols[j] = req.Protocols[j], req.Protocols[i] })
	c := Client{ID: "c", Host: "/127.0.0.1", UUID: fmt.Sprint(w.uuid)}
	w.ask(req, func(tk Token) Effects { return w.shard.JoinGroup(w.now, c, tk, req) })
}

func (w *world) sync(group string) {
	req := &kmsg.SyncGroupRequest{Version: 4, Group: group, MemberID: w.member(), InstanceID: w.instance(), Generation: w.generation(group)}
	if g := w.shard.groups[group]; g != nil && w.r.IntN(3) == 0 {
		// As the leader, with an assignment for all.
		req.MemberID = g.leader
		if m := g.byID[g.leader]; m != nil {
			req.InstanceID = m.instanceID
		}
		for _, m := range g.members {
			req.GroupAssignment = append(req.GroupAssignment, kmsg.SyncGroupRequestGroupAssignment{MemberID: m.id, MemberAssignment: fmt.Append(nil, "own ", w.token)})
		}
	}
	w.ask(req, func(tk Token) Effects { return w.shard.SyncGroup(w.now, tk, req) })
}

func (w *world) tick(d time.Duration) {
	to := w.now.Add(d)
	for {
		var next TimerKey
		at := to.Add(1)
		for _, k := range slices.SortedFunc(maps.Keys(w.timers), func(a, b TimerKey) int { return slices.Compare([]byte(fmt.Sprint(a)), []byte(fmt.Sprint(b))) }) {
			if w.timers[k].Before(at) {
				next, at = k, w.timers[k]
			}
		}
		if at.After(to) {
			break
		}
		w.now = at
		delete(w.timers, next)
		w.trace = append(w.trace, fmt.Sprintf("%v timer %v", w.now.UnixMilli(), next))
		w.perform(w.shard.Expire(w.now, next))
	}
	w.now = to
}

// crash loads the log. What was committed is there again: offsets as they are, and every generation that was stable, with
// the assignments that its members were told.
func (w *world) crash() {
	before := w.shard
	w.load()
	if !maps.EqualFunc(before.offsets.committed, w.shard.offsets.committed, func(a, b partitionOffsets) bool {
		return maps.EqualFunc(a, b, maps.Equal)
	}) {
		w.failf("offsets before %v, after %v", before.offsets.committed, w.shard.offsets.committed)
	}
	for id, g := range before.groups {
		now := w.shard.groups[id]
		if now == nil {
			w.failf("group %s is lost", id)
		}
		if g.state != stable {
			continue
		}
		if len(now.members) <= w.opt.MaxSize && (now.state != stable || now.generation != g.generation || now.leader != g.leader || now.protocol != g.protocol) {
			w.failf("group %s was %+v, is %+v", id, g, now)
		}
		for _, m := range g.members {
			same := now.byID[m.id]
			if same == nil || string(same.assignment) != string(m.assignment) {
				w.failf("%s: member %s was %+v, is %+v", id, m.id, m, same)
			}
		}
		if !maps.Equal(now.subscribed, g.subscribed) {
			w.failf("group %s: subscribed to %v, was %v", id, now.subscribed, g.subscribed)
		}
	}
	for group := range w.generations {
		// A generation that was joined and never synced may be counted again.
		w.generations[group] = 0
		if g := w.shard.groups[group]; g != nil {
			w.generations[group] = g.generation
		}
		for key := range w.assigned {
			delete(w.assigned, key)
		}
	}
}

func TestRandomClientsAreAnsweredOnceAndNeverTold2Things(t *testing.T) {
	seeds := uint64(150)
	if testing.Short() {
		seeds = 30
	}
	for seed := range seeds {
		w := newWorld(t, seed)
		for range 600 {
			w.step()
		}
		// Left alone, every request is answered and every group ends empty.
		w.tick(time.Hour)
		if len(w.asked) > 0 {
			w.failf("seed %d: requests wait for ever: %v", seed, w.asked)
		}
		for id, g := range w.shard.groups {
			if g.state != empty {
				w.failf("seed %d: group %s is %s without anybody", seed, id, g.state)
			}
		}
	}
}

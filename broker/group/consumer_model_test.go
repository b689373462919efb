package group

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weir-broker/weir/broker/coordinator"
	"github.com/weir-broker/weir/broker/metadata"
)

// consumerClient is a consumer as clients are written: it reports what it owns when that has changed, gives up partitions
// in its own time, starts anew when it is fenced, and repeats everything it knows after an answer that it did not get.
type consumerClient struct {
	id, instance string
	alive        bool
	epoch        int32
	owned        map[heldPartition]bool
	revoking     map[heldPartition]bool // owned, to be given up
	adding       map[heldPartition]bool // to be owned once nothing is to be given up
	topics       []string
	regex        *string
	assignor     *string
	report, full bool
	waits        Token
	// zombie: the coordinator has removed it, and it does not know yet.
	zombie bool
}

type consumerWorld struct {
	t       *testing.T
	r       *rand.Rand
	opt     Options
	shard   *Shard
	image   *metadata.Image
	now     time.Time
	timers  map[TimerKey]time.Time
	calls   []coordinator.Call[*Shard, TimerKey, kmsg.Response]
	log     []Record
	token   Token
	asked   map[Token]*consumerClient
	lost    map[Token]bool
	clients []*consumerClient
	ids     int
	epochs  [2]int32
	calm    bool // nothing fails any more
	trace   []string
}

func (w *consumerWorld) failf(format string, args ...any) {
	w.t.Helper()
	for _, line := range w.trace[max(0, len(w.trace)-60):] {
		w.t.Log(line)
	}
	w.t.Fatalf(format, args...)
}

func (w *consumerWorld) tracef(format string, args ...any) {
	w.trace = append(w.trace, fmt.Sprintf(format, args...))
}

func (w *consumerWorld) load() {
	w.opt.Image = w.image
	w.shard, w.timers, w.calls = New(w.opt), map[TimerKey]time.Time{}, nil
	for _, c := range w.asked {
		c.waits, c.full = 0, true // told that the coordinator is not available
	}
	w.asked, w.lost = map[Token]*consumerClient{}, map[Token]bool{}
	for i, r := range w.log {
		if err := w.shard.Replay(coordinator.Offset(i), noProducer, r); err != nil {
			w.failf("replay: %v", err)
		}
	}
	w.perform(w.shard.Loaded(w.now))
}

func (w *consumerWorld) perform(e Effects) {
	for _, r := range e.Records {
		w.log = append(w.log, r)
		w.tracef("append %s", recordText(r.Key, r.Value))
		if err := w.shard.Replay(coordinator.Offset(len(w.log)-1), noProducer, r); err != nil {
			w.failf("replay: %v", err)
		}
		if k := must(ParseKey(r.Key)); k.Type == ConsumerGroupMemberMetadataType && r.Value == nil {
			for _, c := range w.clients {
				if c.id == k.Member {
					c.zombie = true
				}
			}
		} else if k.Type == ConsumerGroupMetadataType && r.Value == nil {
			w.epochs = [2]int32{}
		}
	}
	for _, tm := range e.Timers {
		if delete(w.timers, tm.Key); tm.After >= 0 {
			w.timers[tm.Key] = w.now.Add(tm.After)
		}
	}
	w.calls = append(w.calls, e.Calls...)
	for _, r := range e.Replies {
		c, ok := w.asked[r.Token]
		if !ok {
			w.failf("token %d is answered twice", r.Token)
		}
		delete(w.asked, r.Token)
		resp := r.Response.(*kmsg.ConsumerGroupHeartbeatResponse)
		w.tracef("%s <- %s", c.id, heartbeatText(resp))
		if c.waits != r.Token {
			continue // from before it was started again
		}
		c.waits = 0
		if w.lost[r.Token] {
			c.full = true
			continue
		}
		w.hear(c, resp)
	}
	w.check()
}

// hear is what a client makes of an answer.
func (w *consumerWorld) hear(c *consumerClient, resp *kmsg.ConsumerGroupHeartbeatResponse) {
	switch resp.ErrorCode {
	case none:
	case unknownMemberID, fencedMemberEpoch, groupIDNotFound:
		c.forget()
		return
	case fencedInstanceID:
		c.alive = false
		return
	case unreleasedInstanceID, groupMaxSizeReached:
		return
	default:
		w.failf("%s is told %s", c.id, heartbeatText(resp))
	}
	c.epoch, c.zombie = resp.MemberEpoch, false
	if resp.Assignment == nil {
		return
	}
	given := map[heldPartition]bool{}
	for _, t := range resp.Assignment.Topics {
		for _, p := range t.Partitions {
			given[heldPartition{t.TopicID, p}] = true
		}
	}
	c.revoking, c.adding = map[heldPartition]bool{}, map[heldPartition]bool{}
	for p := range c.owned {
		if !given[p] {
			c.revoking[p] = true
		}
	}
	for p := range given {
		if !c.owned[p] {
			c.adding[p] = true
		}
	}
	w.finish(c, len(c.revoking) == 0)
}

// finish lets a client give up what it has to, and take what it is given.
func (w *consumerWorld) finish(c *consumerClient, now bool) {
	if !now {
		return
	}
	for p := range c.revoking {
		delete(c.owned, p)
	}
	maps.Copy(c.owned, c.adding)
	c.report = c.report || len(c.revoking)+len(c.adding) > 0
	c.revoking, c.adding = nil, nil
}

func (c *consumerClient) forget() {
	c.epoch, c.zombie = 0, false
	c.owned, c.revoking, c.adding = map[heldPartition]bool{}, nil, nil
}

func (w *consumerWorld) beat(c *consumerClient, epoch int32) {
	req := kmsg.NewPtrConsumerGroupHeartbeatRequest()
	req.Version, req.Group, req.MemberID, req.MemberEpoch = 1, "g", c.id, epoch
	if c.instance != "" {
		req.InstanceID = &c.instance
	}
	if epoch == 0 || c.full {
		req.RebalanceTimeoutMillis = 20_000
		req.SubscribedTopicNames, req.SubscribedTopicRegex, req.ServerAssignor = append([]string{}, c.topics...), c.regex, c.assignor
	}
	if epoch == 0 || c.full || c.report {
		req.Topics = []kmsg.ConsumerGroupHeartbeatRequestTopic{}
		for p := range c.owned {
			req.Topics = append(req.Topics, kmsg.ConsumerGroupHeartbeatRequestTopic{TopicID: p.topic, Partitions: []int32{p.partition}})
		}
	}
	c.full, c.report = false, false
	w.token++
	c.waits = w.token
	w.asked[w.token] = c
	w.lost[w.token] = !w.calm && w.r.IntN(12) == 0
	w.tracef("%v %s epoch=%d owned=%d/%v lost=%v", w.now.Sub(time.UnixMilli(0)), c.id, epoch, len(req.Topics), req.Topics != nil, w.lost[w.token])
	w.perform(w.shard.ConsumerGroupHeartbeat(w.now, Client{ID: "c", Host: "/h"}, w.token, req))
}

// check holds what must be true at every moment.
func (w *consumerWorld) check() {
	owner := map[heldPartition]string{}
	for _, c := range w.clients {
		if !c.alive || c.zombie {
			continue
		}
		for p := range c.owned {
			if other, twice := owner[p]; twice {
				w.failf("%v is owned by %s and by %s", p, other, c.id)
			}
			owner[p] = c.id
		}
	}
	g := w.shard.consumers["g"]
	if g == nil {
		return
	}
	if g.epoch < w.epochs[0] || g.assignmentEpoch < w.epochs[1] || g.assignmentEpoch > g.epoch {
		w.failf("epochs go from %v to %d, %d", w.epochs, g.epoch, g.assignmentEpoch)
	}
	w.epochs = [2]int32{g.epoch, g.assignmentEpoch}
	held := map[heldPartition]string{}
	for id, m := range g.members {
		if m.epoch() > g.assignmentEpoch {
			w.failf("%s is at epoch %d, the target at %d", id, m.epoch(), g.assignmentEpoch)
		}
		for _, p := range append(placedIn(m.current.AssignedPartitions, 0), placedIn(m.current.PartitionsPendingRevocation, 0)...) {
			at := heldPartition{p.topic, p.partition}
			if other, twice := held[at]; twice {
				w.failf("%v is held by %s and by %s", at, other, id)
			}
			held[at] = id
			if p.epoch > max(m.epoch(), 0) {
				w.failf("%s has %v since epoch %d and is at %d", id, at, p.epoch, m.epoch())
			}
		}
		if _, ok := w.timers[TimerKey{ConsumerSessionTimer, "g", id}]; !ok {
			w.failf("nothing ends the session of %s", id)
		}
	}
	if len(held) != len(g.holders) {
		w.failf("%d partitions are held, %d are known to be", len(held), len(g.holders))
	}
	for member := range w.shard.awaiting["g"] {
		if _, ok := w.timers[TimerKey{AwaitTargetTimer, "g", member}]; !ok {
			w.failf("nothing ends the wait of %s", member)
		}
	}
}

// checkReload compares the Shard with one that is loaded from the log.
func (w *consumerWorld) checkReload() {
	fresh := New(w.opt)
	for i, r := range w.log {
		if err := fresh.Replay(coordinator.Offset(i), noProducer, r); err != nil {
			w.failf("replay: %v", err)
		}
	}
	if !reflect.DeepEqual(sortedKeys(fresh.consumers), sortedKeys(w.shard.consumers)) || !reflect.DeepEqual(fresh.byTopic, w.shard.byTopic) {
		w.failf("loaded: groups %v topics %v, live: %v %v", sortedKeys(fresh.consumers), fresh.byTopic, sortedKeys(w.shard.consumers), w.shard.byTopic)
	}
	for id, g := range fresh.consumers {
		live := *w.shard.consumers[id]
		live.refreshAt = time.Time{}
		if !reflect.DeepEqual(*g, live) {
			w.failf("loaded: %+v\nlive: %+v", *g, live)
		}
	}
}

func (w *consumerWorld) tick(d time.Duration) {
	to := w.now.Add(d)
	for {
		var next TimerKey
		found := false
		for k, at := range w.timers {
			if at.After(to) {
				continue
			}
			if c := at.Compare(w.timers[next]); !found || c < 0 || c == 0 && fmt.Sprint(k) < fmt.Sprint(next) {
				next, found = k, true
			}
		}
		if !found {
			break
		}
		if at := w.timers[next]; at.After(w.now) {
			w.now = at
		}
		delete(w.timers, next)
		w.perform(w.shard.Expire(w.now, next))
	}
	w.now = to
}

func (w *consumerWorld) runCall() {
	if len(w.calls) == 0 {
		return
	}
	c := w.calls[0]
	w.calls = w.calls[1:]
	if !w.calm && w.r.IntN(10) == 0 {
		w.perform(c.Refused(w.shard, w.now, 0))
		return
	}
	w.perform(c.Run(context.Background())(w.shard, w.now, 0))
}

func (w *consumerWorld) randomTopics() {
	names := []string{"t", "u", "v", "w"}
	var topics []string
	for i, name := range names {
		if w.r.IntN(5) > 0 {
			id := i + 1
			if w.r.IntN(6) == 0 {
				id += 100 // deleted and made anew
			}
			topics = append(topics, fmt.Sprintf("%s=%d/%d", name, 1+w.r.IntN(5), id))
		}
	}
	w.image = testTopics(w.image.Index+1, topics, nil)
	w.tracef("topics %v", topics)
	w.perform(w.shard.Publish(w.now, w.image))
}

func (w *consumerWorld) randomSubscription(c *consumerClient) {
	c.topics = []string{}
	for _, name := range []string{"t", "u", "v"} {
		if w.r.IntN(2) == 0 {
			c.topics = append(c.topics, name)
		}
	}
	regexes := []string{"", "", "t|v", "[uw]", ".*"}
	c.regex = ptr(regexes[w.r.IntN(len(regexes))])
	c.assignor = nil
	if w.r.IntN(3) == 0 {
		c.assignor = ptr([]string{"uniform", "range"}[w.r.IntN(2)])
	}
	c.full = true
}

func (w *consumerWorld) start(instance string) {
	w.ids++
	c := &consumerClient{id: fmt.Sprintf("m%d", w.ids), instance: instance, alive: true}
	c.forget()
	w.randomSubscription(c)
	w.clients = append(w.clients, c)
}

func (w *consumerWorld) step() {
	alive := slices.DeleteFunc(slices.Clone(w.clients), func(c *consumerClient) bool { return !c.alive })
	if len(alive) == 0 || len(alive) < 5 && w.r.IntN(15) == 0 {
		instance := ""
		if w.r.IntN(3) == 0 {
			instance = []string{"i", "j"}[w.r.IntN(2)]
			if slices.ContainsFunc(alive, func(c *consumerClient) bool { return c.instance == instance }) {
				instance = ""
			}
		}
		w.start(instance)
		return
	}
	c := alive[w.r.IntN(len(alive))]
	switch n := w.r.IntN(100); {
	case n < 50:
		if c.waits == 0 {
			w.beat(c, c.epoch)
		}
	case n < 62:
		w.finish(c, len(c.revoking) > 0 && c.waits == 0)
	case n < 74:
		w.runCall()
	case n < 84:
		w.tick(time.Duration(w.r.IntN(3000)) * time.Millisecond)
	case n < 86:
		w.tick(time.Duration(w.r.IntN(30)) * time.Second)
	case n < 89:
		w.randomTopics()
	case n < 92:
		w.randomSubscription(c)
	case n < 94: // it leaves
		if c.waits == 0 && c.epoch > 0 {
			c.owned, c.revoking, c.adding = nil, nil, nil
			epoch := leaveEpoch
			if c.instance != "" && w.r.IntN(3) > 0 {
				epoch = staticLeaveEpoch
			}
			w.beat(c, epoch)
			c.alive = false
		}
	case n < 96: // it dies
		c.alive = false
	case n < 98: // it gives up waiting and asks again
		if c.waits != 0 {
			c.full = true
			w.beat(c, c.epoch)
		}
	default:
		w.tracef("crash")
		w.load()
	}
}

// settle lets the clients that are alive work undisturbed for a while; then all must be as it should.
func (w *consumerWorld) settle() {
	w.calm = true
	for range 60 {
		for _, c := range w.clients {
			if !c.alive {
				continue
			}
			w.finish(c, true)
			if c.waits == 0 {
				w.beat(c, c.epoch)
			}
			for len(w.calls) > 0 {
				w.runCall()
				w.tick(0)
			}
		}
		w.tick(3 * time.Second)
	}
	w.checkReload()
	if len(w.asked) > 0 {
		w.failf("%d requests were never answered", len(w.asked))
	}
	g := w.shard.consumers["g"]
	if g == nil {
		return
	}
	if s := g.state(); s != consumerStable && s != consumerEmpty {
		w.failf("the group is %v", s)
	}
	owner := map[heldPartition]*consumerClient{}
	for _, c := range w.clients {
		if !c.alive {
			continue
		}
		m := g.members[c.id]
		if m == nil {
			if c.instance != "" {
				continue // another one has its instance id
			}
			w.failf("%s is alive and no member", c.id)
		}
		if held := placedIn(m.current.AssignedPartitions, 0); len(held) != len(c.owned) {
			w.failf("%s owns %v, the coordinator says %v", c.id, c.owned, held)
		}
		for p := range c.owned {
			owner[p] = c
		}
	}
	for name, topic := range w.image.Topics() {
		wanted := slices.ContainsFunc(w.clients, func(c *consumerClient) bool {
			return c.alive && g.members[c.id] != nil && w.wants(c, name)
		})
		for p := range topic.PartitionCount() {
			c := owner[heldPartition{topic.ID, p}]
			if (c != nil) != wanted || c != nil && !w.wants(c, name) {
				w.failf("%s/%d: wanted %v, owner %v", name, p, wanted, c)
			}
		}
	}
}

func (w *consumerWorld) wants(c *consumerClient, topic string) bool {
	if slices.Contains(c.topics, topic) {
		return true
	}
	re, _ := compileRegex(*c.regex)
	return *c.regex != "" && re.MatchString(topic)
}

// TestConsumersNeverShareAPartitionAndSettle lets random clients, faults and changes loose on a consumer group: at no time
// do two members own a partition, epochs never go back, the log gives the same group, and undisturbed the group settles
// with every partition at one who wants it.
func TestConsumersNeverShareAPartitionAndSettle(t *testing.T) {
	seeds := uint64(150)
	if testing.Short() {
		seeds = 30
	}
	for seed := range seeds {
		w := &consumerWorld{t: t, r: rand.New(rand.NewPCG(seed, 1)), opt: testOptions(), now: time.UnixMilli(1_700_000_000_000), image: metadata.NewImage()}
		if seed%2 == 0 {
			w.opt.Consumer.AssignmentInterval.Default = time.Second
		}
		w.opt.Consumer.MaxSize = 6
		w.load()
		w.randomTopics()
		for range 400 {
			w.step()
		}
		w.checkReload()
		w.settle()
		w.randomTopics() // and nothing else: members notice it themselves
		w.settle()
		if t.Failed() {
			t.Fatalf("seed %d\n%s", seed, strings.Join(w.trace, "\n"))
		}
	}
}

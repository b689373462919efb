package group

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weir-broker/weir/broker/coordinator"
	"github.com/weir-broker/weir/broker/metadata"
)

// TestScripts runs testdata/*.txt. A script drives one Shard as coordinator would: it appends and replays records, keeps
// timers, and holds it to answering every request once. Times are since the script's start. Arguments are key=value;
// member ids made by the Shard end in "-1", "-2", ...
//
//	shard [delay=3s] [max-size=N] [retention=1h] [check=10m] [max-records=BYTES]   a new, empty Shard
//	join|sync|heartbeat|leave|commit|txn-commit|fetch|delete-offsets|list|describe|delete ...
//	tick 3s          time passes; timers go off
//	timers           what is set
//	end-txn producer=N [abort]
//	topic-deleted t [id=N]
//	beat member=a epoch=N [topics=t,u] [regex=...] [owned=t/0,t/1] ...   a member of a consumer group: consumer_script_test.go
//	topics t=3 u=2/9  the topics there are now: name=partitions[/id]
//	config key=value  the group's configuration is this now
//	hold-calls, run-calls, refuse-calls   calls do not run at once; run; find no worker
//	crash            the Shard is dropped with what waits, and loaded from the log
//	log              every record in the log
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		if !strings.HasSuffix(path, ".txt") {
			return
		}
		s := newScript(t)
		datadriven.RunTest(t, path, s.run)
	})
}

type logged struct {
	producer coordinator.Producer
	Record
	marker string
}

type script struct {
	t       *testing.T
	opt     Options
	shard   *Shard
	start   time.Time
	now     time.Time
	timers  map[TimerKey]time.Time
	log     []logged
	token   Token
	waiting map[Token]string
	uuids   int
	out     strings.Builder

	image   *metadata.Image
	calls   []coordinator.Call[*Shard, TimerKey, kmsg.Response]
	holding bool // calls wait for "run-calls"
}

func newScript(t *testing.T) *script {
	s := &script{t: t, start: time.UnixMilli(1_700_000_000_000)}
	s.opt = testOptions()
	s.reset()
	return s
}

func testOptions() Options {
	return Options{
		InitialRebalanceDelay: 3 * time.Second, MinSessionTimeout: 6 * time.Second, MaxSessionTimeout: 30 * time.Minute, MaxSize: 1 << 30,
		OffsetMetadataMaxSize: 16, OffsetsRetention: 7 * 24 * time.Hour, OffsetsRetentionCheckEvery: 10 * time.Minute, MaxRecordsSize: 1 << 20,
		Consumer: testConsumerOptions(),
	}
}

func (s *script) reset() {
	s.now, s.log, s.token, s.uuids = s.start, nil, 0, 0
	s.image, s.holding = metadata.NewImage(), false
	s.load()
}

func (s *script) load() {
	s.opt.Image = s.image
	s.shard, s.timers, s.waiting = New(s.opt), map[TimerKey]time.Time{}, map[Token]string{}
	for i, r := range s.log {
		if r.marker != "" {
			s.endTransaction(i, r)
		} else if err := s.shard.Replay(coordinator.Offset(i), r.producer, r.Record); err != nil {
			s.t.Fatal(err)
		}
	}
	s.calls = nil
	s.perform(s.shard.Loaded(s.now))
}

func (s *script) endTransaction(at int, r logged) {
	if err := s.shard.ReplayEndTransaction(coordinator.Offset(at), r.producer, r.marker == "commit"); err != nil {
		s.t.Fatal(err)
	}
}

// perform does what an operation asked for and prints it.
func (s *script) perform(e Effects) {
	producer := coordinator.NoProducer()
	if e.Transaction != nil {
		producer = *e.Transaction
	}
	for _, ev := range e.Events {
		s.printf("%s:", ev.Message)
		for _, a := range ev.Attrs {
			s.printf(" %s", a)
		}
		s.printf("\n")
	}
	for _, r := range e.Records {
		s.printf("append %s\n", recordText(r.Key, r.Value))
		s.log = append(s.log, logged{producer: producer, Record: r})
		if err := s.shard.Replay(coordinator.Offset(len(s.log)-1), producer, r); err != nil {
			s.t.Fatalf("replay: %v", err)
		}
	}
	for _, tm := range e.Timers {
		if tm.After < 0 {
			delete(s.timers, tm.Key)
		} else {
			s.timers[tm.Key] = s.now.Add(tm.After)
		}
	}
	s.calls = append(s.calls, e.Calls...)
	for _, r := range e.Replies {
		name, ok := s.waiting[r.Token]
		if !ok {
			s.t.Fatalf("token %d is answered twice or was never asked: %s", r.Token, responseText(r.Response))
		}
		delete(s.waiting, r.Token)
		r.Response.AppendTo(nil)
		s.printf("%s <- %s\n", name, responseText(r.Response))
	}
}

func (s *script) printf(format string, args ...any) { fmt.Fprintf(&s.out, format, args...) }

// ask gives a request a token and performs what comes of it.
func (s *script) ask(name string, op func(Token) Effects) {
	s.token++
	s.waiting[s.token] = name
	token := s.token
	s.perform(op(token))
	s.settle()
	if _, still := s.waiting[token]; still {
		s.printf("%s waits\n", name)
	}
}

// args are the arguments of a command.
type args struct {
	*datadriven.TestData
}

func (a args) str(key, def string) string {
	for _, arg := range a.CmdArgs {
		if arg.Key == key && len(arg.Vals) > 0 {
			return strings.Join(arg.Vals, ",")
		}
	}
	return def
}

func (a args) opt(key string) *string {
	for _, arg := range a.CmdArgs {
		if arg.Key == key {
			return ptr(a.str(key, ""))
		}
	}
	return nil
}

func (a args) num(key string, def int64) int64 {
	v, err := strconv.ParseInt(a.str(key, strconv.FormatInt(def, 10)), 10, 64)
	if err != nil {
		a.Fatalf(nil, "%s: %v", key, err)
	}
	return v
}

func (a args) dur(key string, def time.Duration) time.Duration {
	v, err := time.ParseDuration(a.str(key, def.String()))
	if err != nil {
		panic(err)
	}
	return v
}

func (a args) has(key string) bool {
	return slices.ContainsFunc(a.CmdArgs, func(arg datadriven.CmdArg) bool { return arg.Key == key })
}

// rest are the arguments without a value.
func (a args) rest() (list []string) {
	for _, arg := range a.CmdArgs {
		if len(arg.Vals) == 0 {
			list = append(list, arg.Key)
		}
	}
	return list
}

func (s *script) run(_ *testing.T, d *datadriven.TestData) string {
	s.out.Reset()
	a := args{d}
	g := a.str("group", "g")
	switch d.Cmd {
	case "shard":
		s.opt = testOptions()
		s.opt.InitialRebalanceDelay = a.dur("delay", s.opt.InitialRebalanceDelay)
		s.opt.MaxSize = int(a.num("max-size", int64(s.opt.MaxSize)))
		s.opt.OffsetsRetention = a.dur("retention", s.opt.OffsetsRetention)
		s.opt.OffsetsRetentionCheckEvery = a.dur("check", s.opt.OffsetsRetentionCheckEvery)
		s.opt.MaxRecordsSize = int(a.num("max-records", int64(s.opt.MaxRecordsSize)))
		s.opt.Consumer.MaxSize = int(a.num("consumer-max-size", int64(s.opt.Consumer.MaxSize)))
		s.opt.Consumer.AssignmentInterval.Default = a.dur("interval", s.opt.Consumer.AssignmentInterval.Default)
		if !a.has("keep-log") {
			s.reset()
		} else {
			s.load()
		}
	case "tick":
		s.tick(s.now.Add(must(time.ParseDuration(a.rest()[0]))))
	case "timers":
		for _, k := range s.timersInOrder() {
			s.printf("%v %s %s %s\n", s.timers[k].Sub(s.start), k.Kind, k.Group, k.Member)
		}
	case "crash":
		for _, token := range slices.Sorted(maps.Keys(s.waiting)) {
			s.printf("%s is lost\n", s.waiting[token])
		}
		s.load()
	case "log":
		for i, r := range s.log {
			if r.marker != "" {
				s.printf("%d producer=%d %s\n", i, r.producer.ID, r.marker)
			} else {
				s.printf("%d %s\n", i, recordText(r.Key, r.Value))
			}
		}
	case "end-txn":
		m := logged{producer: coordinator.Producer{ID: coordinator.ProducerID(a.num("producer", 0))}, marker: "commit"}
		if a.has("abort") {
			m.marker = "abort"
		}
		s.log = append(s.log, m)
		s.endTransaction(len(s.log)-1, m)
	case "topics", "config", "hold-calls", "run-calls", "refuse-calls":
		s.world(a, g)
	case "topic-deleted":
		s.perform(s.shard.TopicsDeleted(s.now, []DeletedTopic{{ID: topicID(a.num("id", 0)), Name: a.rest()[0]}}))
	default:
		s.request(a, g)
	}
	if s.out.Len() == 0 {
		return "ok"
	}
	return s.out.String()
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func (s *script) timersInOrder() []TimerKey {
	return slices.SortedFunc(maps.Keys(s.timers), func(a, b TimerKey) int {
		if c := s.timers[a].Compare(s.timers[b]); c != 0 {
			return c
		}
		return strings.Compare(fmt.Sprint(a), fmt.Sprint(b))
	})
}

func (s *script) tick(to time.Time) {
	for {
		keys := s.timersInOrder()
		if len(keys) == 0 || s.timers[keys[0]].After(to) {
			break
		}
		s.now = s.timers[keys[0]]
		delete(s.timers, keys[0])
		before := s.out.Len()
		s.perform(s.shard.Expire(s.now, keys[0]))
		s.settle()
		if printed := s.out.String(); len(printed) > before {
			s.out.Reset()
			s.printf("%s%v: %s timer of %s %s\n%s", printed[:before], s.now.Sub(s.start), keys[0].Kind, keys[0].Group, keys[0].Member, printed[before:])
		}
	}
	s.now = to
}

func (s *script) request(a args, g string) {
	name := a.str("as", a.Cmd+" "+a.str("member", ""))
	name = strings.TrimSpace(name)
	switch a.Cmd {
	case "join":
		s.join(a, g)
	case "sync":
		version := int16(a.num("version", 5))
		req := &kmsg.SyncGroupRequest{Version: version, Group: g, MemberID: a.str("member", ""), InstanceID: a.opt("instance"), Generation: int32(a.num("gen", 1))}
		if version >= 5 {
			req.ProtocolType, req.Protocol = ptr(a.str("type", "consumer")), ptr(a.str("protocol", "range"))
			if a.has("no-protocol") {
				req.ProtocolType, req.Protocol = nil, nil
			}
		}
		for _, one := range split(a.str("assign", "")) {
			id, text, _ := strings.Cut(one, ":")
			req.GroupAssignment = append(req.GroupAssignment, kmsg.SyncGroupRequestGroupAssignment{MemberID: id, MemberAssignment: []byte(text)})
		}
		s.ask(name, func(tk Token) Effects { return s.shard.SyncGroup(s.now, tk, req) })
	case "heartbeat":
		req := &kmsg.HeartbeatRequest{Version: 4, Group: g, MemberID: a.str("member", ""), InstanceID: a.opt("instance"), Generation: int32(a.num("gen", 1))}
		s.ask(name, func(tk Token) Effects { return s.shard.Heartbeat(s.now, tk, req) })
	case "leave":
		req := &kmsg.LeaveGroupRequest{Version: int16(a.num("version", 5)), Group: g, MemberID: a.str("member", "")}
		if req.Version >= 3 {
			for _, one := range split(a.str("member", "")) {
				id, instance, static := strings.Cut(one, "/")
				m := kmsg.LeaveGroupRequestMember{MemberID: id}
				if static {
					m.InstanceID = &instance
				}
				req.Members = append(req.Members, m)
			}
		}
		s.ask(name, func(tk Token) Effects { return s.shard.LeaveGroup(s.now, tk, req) })
	case "list":
		req := &kmsg.ListGroupsRequest{Version: 5, StatesFilter: split(a.str("states", "")), TypesFilter: split(a.str("types", ""))}
		s.ask(name, func(tk Token) Effects { return s.shard.ListGroups(s.now, tk, req) })
	case "describe":
		req := &kmsg.DescribeGroupsRequest{Version: int16(a.num("version", 6)), Groups: split(g)}
		s.ask(name, func(tk Token) Effects { return s.shard.DescribeGroups(s.now, tk, req) })
	case "delete":
		req := &kmsg.DeleteGroupsRequest{Version: 2, Groups: split(g)}
		s.ask(name, func(tk Token) Effects { return s.shard.DeleteGroups(s.now, tk, req) })
	case "beat":
		s.beat(a, g)
	case "describe-consumer":
		req := &kmsg.ConsumerGroupDescribeRequest{Version: 1, Groups: split(g)}
		s.ask(name, func(tk Token) Effects { return s.shard.ConsumerGroupDescribe(s.now, tk, req) })
	default:
		s.offsetRequest(a, g, name)
	}
}

func (s *script) join(a args, g string) {
	version := int16(a.num("version", 9))
	if !a.has("member") {
		s.uuids++
	}
	c := Client{ID: a.str("client", "c"), Host: "/127.0.0.1", UUID: strconv.Itoa(s.uuids)}
	req := &kmsg.JoinGroupRequest{
		Version: version, Group: g, MemberID: a.str("member", ""), InstanceID: a.opt("instance"), ProtocolType: a.str("type", "consumer"),
		SessionTimeoutMillis: int32(a.dur("session", 10*time.Second).Milliseconds()), RebalanceTimeoutMillis: int32(a.dur("rebalance", time.Minute).Milliseconds()),
		Reason: a.opt("reason"),
	}
	if version < 1 {
		req.RebalanceTimeoutMillis = -1
	}
	for _, p := range split(a.str("protocols", "range:t")) {
		name, topics, _ := strings.Cut(p, ":")
		metadata := []byte(topics)
		if req.ProtocolType == "consumer" && topics != "?" {
			metadata = appendInt16(nil, 3)
			list := strings.Split(topics, "+")
			metadata = appendInt32(metadata, int32(len(list)))
			for _, topic := range list {
				metadata = appendString(metadata, topic, false)
			}
		}
		req.Protocols = append(req.Protocols, kmsg.JoinGroupRequestProtocol{Name: name, Metadata: metadata})
	}
	name := a.str("as", strings.TrimSpace("join "+req.MemberID))
	s.ask(name, func(tk Token) Effects { return s.shard.JoinGroup(s.now, c, tk, req) })
}

// offsetRequest: partitions are written t/0=5 or t/0=5/EPOCH; a topic's id is given as id=N for all of them.
func (s *script) offsetRequest(a args, g, name string) {
	type part struct {
		topic     string
		partition int32
		offset    int64
		epoch     int32
	}
	var parts []part
	for _, line := range strings.Fields(strings.ReplaceAll(a.str("offsets", ""), ",", " ")) {
		where, what, _ := strings.Cut(line, "=")
		topic, partition, _ := strings.Cut(where, "/")
		offset, epoch, _ := strings.Cut(what, "/")
		p := part{topic: topic, epoch: -1}
		p.partition = int32(must(strconv.Atoi(partition)))
		if offset != "" {
			p.offset = int64(must(strconv.Atoi(offset)))
		}
		if epoch != "" {
			p.epoch = int32(must(strconv.Atoi(epoch)))
		}
		parts = append(parts, p)
	}
	id := topicID(a.num("id", 0))
	switch a.Cmd {
	case "commit":
		req := &kmsg.OffsetCommitRequest{
			Version: int16(a.num("version", 9)), Group: g, MemberID: a.str("member", ""), InstanceID: a.opt("instance"), Generation: int32(a.num("gen", -1)),
			RetentionTimeMillis: -1,
		}
		if a.has("retention") {
			req.RetentionTimeMillis = a.dur("retention", 0).Milliseconds()
		}
		for _, p := range parts {
			req.Topics = append(req.Topics, kmsg.OffsetCommitRequestTopic{Topic: p.topic, TopicID: id, Partitions: []kmsg.OffsetCommitRequestTopicPartition{
				{Partition: p.partition, Offset: p.offset, LeaderEpoch: p.epoch, Metadata: a.opt("metadata")},
			}})
		}
		s.ask(name, func(tk Token) Effects { return s.shard.OffsetCommit(s.now, tk, req) })
	case "txn-commit":
		req := &kmsg.TxnOffsetCommitRequest{
			Version: int16(a.num("version", 5)), Group: g, MemberID: a.str("member", ""), InstanceID: a.opt("instance"), Generation: int32(a.num("gen", -1)),
			ProducerID: a.num("producer", 1),
		}
		for _, p := range parts {
			req.Topics = append(req.Topics, kmsg.TxnOffsetCommitRequestTopic{Topic: p.topic, TopicID: id, Partitions: []kmsg.TxnOffsetCommitRequestTopicPartition{
				{Partition: p.partition, Offset: p.offset, LeaderEpoch: p.epoch, Metadata: a.opt("metadata")},
			}})
		}
		s.ask(name, func(tk Token) Effects { return s.shard.TxnOffsetCommit(s.now, tk, req) })
	case "fetch":
		req := &kmsg.OffsetFetchRequest{Version: int16(a.num("version", 9)), RequireStable: a.has("stable")}
		one := kmsg.OffsetFetchRequestGroup{Group: g, MemberID: a.opt("member"), MemberEpoch: int32(a.num("gen", -1))}
		if len(parts) > 0 {
			one.Topics = []kmsg.OffsetFetchRequestGroupTopic{}
		}
		for _, p := range parts {
			one.Topics = append(one.Topics, kmsg.OffsetFetchRequestGroupTopic{Topic: p.topic, TopicID: id, Partitions: []int32{p.partition}})
			req.Topics = append(req.Topics, kmsg.OffsetFetchRequestTopic{Topic: p.topic, Partitions: []int32{p.partition}})
		}
		if req.Version >= 8 {
			req.Groups = append(req.Groups, one)
		} else {
			req.Group = g
		}
		s.ask(name, func(tk Token) Effects { return s.shard.OffsetFetch(s.now, tk, req) })
	case "delete-offsets":
		req := &kmsg.OffsetDeleteRequest{Group: g}
		for _, p := range parts {
			req.Topics = append(req.Topics, kmsg.OffsetDeleteRequestTopic{Topic: p.topic, Partitions: []kmsg.OffsetDeleteRequestTopicPartition{{Partition: p.partition}}})
		}
		s.ask(name, func(tk Token) Effects { return s.shard.OffsetDelete(s.now, tk, req) })
	default:
		s.t.Fatalf("no command %s", a.Cmd)
	}
}

func topicID(n int64) (id [16]byte) {
	id[15] = byte(n)
	return id
}

func split(list string) []string {
	if list == "" {
		return nil
	}
	return strings.Split(list, ",")
}

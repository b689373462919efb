package partition

import (
	"errors"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/weir-broker/weir/broker/batch"
	"github.com/weir-broker/weir/broker/metadata"
	"github.com/weir-broker/weir/broker/vfs"
)

func TestAppendedRecordsGetOffsetsAndAreReadBack(t *testing.T) {
	_, _, p := one(t)
	if r := mustAppend(t, p, values("m0", "m1")); r.BaseOffset != 0 || r.LastOffset != 1 || r.LogAppendTime != -1 || r.Duplicate {
		t.Errorf("%+v", r)
	}
	if r := mustAppend(t, p, values("m2", "m3")); r.BaseOffset != 2 || r.LastOffset != 3 {
		t.Errorf("%+v", r)
	}
	if hw, leo, lso := p.HighWatermark(), p.LogEndOffset(), p.LastStableOffset(); hw != 4 || leo != 4 || lso != 4 {
		t.Errorf("hw %d, leo %d, lso %d", hw, leo, lso)
	}
	if done, err := p.AckState(4); !done || err != nil {
		t.Errorf("%t, %v", done, err)
	}
	// An offset inside a batch brings the whole batch.
	for from, want := range map[batch.Offset][]string{
		0: {"0:m0", "1:m1", "2:m2", "3:m3"}, 1: {"1:m1", "2:m2", "3:m3"}, 3: {"3:m3"}, 4: nil,
	} {
		if got := read(t, p, from); !slices.Equal(got, want) {
			t.Errorf("from %d: %v", from, got)
		}
	}
	r, err := p.Fetch(consume(3), nil)
	if err != nil || len(decode(t, r.Records, 0)) != 2 {
		t.Errorf("fetch at 3 does not hold the batch that holds it: %v, %v", decode(t, r.Records, 0), err)
	}
}

func TestFirstBatchIsReturnedHoweverLarge(t *testing.T) {
	_, _, p := one(t)
	mustAppend(t, p, values("a long value that is more than sixteen bytes"))
	f := consume(0)
	f.MaxBytes = 16
	if r, err := p.Fetch(f, nil); err != nil || len(r.Records) == 0 {
		t.Errorf("%d bytes, %v", len(r.Records), err)
	}
	f.MinOneBatch = false
	if r, err := p.Fetch(f, nil); err != nil || len(r.Records) != 0 {
		t.Errorf("%d bytes, %v", len(r.Records), err)
	}
}

func TestFetchAppendsToTheBufferGiven(t *testing.T) {
	_, _, p := one(t)
	mustAppend(t, p, values("x"))
	r, err := p.Fetch(consume(0), []byte("before"))
	if err != nil || string(r.Records[:6]) != "before" || len(r.Records) == 6 {
		t.Errorf("%q, %v", r.Records, err)
	}
}

func TestRequestsAreRefusedWithKafkasReason(t *testing.T) {
	h, c, p := one(t)
	mustAppend(t, p, values("a", "b"))
	epoch := func(e batch.LeaderEpoch) func() error {
		return func() error {
			f := consume(0)
			f.CurrentLeaderEpoch = e
			_, err := p.Fetch(f, nil)
			return err
		}
	}
	check := func(name string, call func() error, want error) {
		t.Helper()
		if err := call(); !errors.Is(err, want) || want == nil && err != nil {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
	}
	at := func(o batch.Offset) func() error {
		return func() error { _, err := p.Fetch(consume(o), nil); return err }
	}
	check("fetch in range", at(2), nil)
	check("fetch above the end", at(3), ErrOffsetOutOfRange)
	check("fetch below the start", at(-1), ErrOffsetOutOfRange)
	check("right epoch", epoch(0), nil)
	check("newer epoch", epoch(1), ErrUnknownLeaderEpoch)

	c.lead("t", 0, 1) // the same leader in a new epoch
	h.apply(c)
	check("older epoch", epoch(0), ErrFencedLeaderEpoch)
	if _, err := p.EndOffsetForEpoch(0, 0); !errors.Is(err, ErrFencedLeaderEpoch) {
		t.Error(err)
	}

	c.lead("t", 0, 2)
	h.apply(c)
	check("fetch from a former leader", at(0), ErrNotLeader)
	follower := consume(0)
	follower.AllowFollower = true
	if r, err := p.Fetch(follower, nil); err != nil || len(decode(t, r.Records, 0)) != 2 {
		t.Errorf("%v", err)
	}
	if _, err := p.Append(produce(values("c"))); !errors.Is(err, ErrNotLeader) {
		t.Error(err)
	}
	if _, err := p.AckState(1); !errors.Is(err, ErrNotLeader) {
		t.Error(err)
	}
	if _, _, err := p.DeleteRecords(1); !errors.Is(err, ErrNotLeader) {
		t.Error(err)
	}
	if leader, e := p.Leadership(); leader != 2 || e != 2 {
		t.Errorf("leader %d epoch %d", leader, e)
	}
	for name, want := range map[string]error{"t": ErrUnknownTopicOrPartition, "other": ErrUnknownTopicOrPartition} {
		if _, err := h.Lookup(name, 9); !errors.Is(err, want) {
			t.Errorf("%s-9: %v", name, err)
		}
	}
	if _, err := h.LookupID(metadata.TopicID{5: 5}, 0); !errors.Is(err, ErrUnknownTopicID) {
		t.Error(err)
	}
	c.topic("elsewhere", 1, 2, 3)
	h.apply(c)
	if _, err := h.Lookup("elsewhere", 0); !errors.Is(err, ErrNotLeader) {
		t.Error(err)
	}
}

func TestInvalidBatchesLeaveNoTrace(t *testing.T) {
	_, _, p := one(t, "max.message.bytes=200", "cleanup.policy=compact")
	broken := values("x")
	broken[len(broken)-1] ^= 1
	nullKey := values("no key")
	for name, raw := range map[string][]byte{"crc": broken, "null key": nullKey, "too large": records(make([]int64, 50)...), "short": {1, 2, 3}} {
		if _, err := p.Append(produce(raw)); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	var bad *batch.RecordErrors
	if _, err := p.Append(produce(values("no key"))); !errors.As(err, &bad) || !errors.Is(err, batch.ErrInvalidRecord) {
		t.Errorf("%v", err)
	}
	if leo := p.LogEndOffset(); leo != 0 {
		t.Errorf("log end %d", leo)
	}
}

func TestIdempotentRetriesAreAnsweredWithTheFirstOffsets(t *testing.T) {
	c := newCluster(t)
	c.topic("t", 1)
	fs := vfs.NewMem()
	h := openHost(t, fs, nil)
	h.apply(c)
	p := h.get("t", 0)
	for i := range int32(3) {
		mustAppend(t, p, idempotent(7, i*2, 2))
		mustAppend(t, p, values("between"))
	}
	for i := range int32(3) {
		r := mustAppend(t, p, idempotent(7, i*2, 2))
		if want := batch.Offset(i * 3); !r.Duplicate || r.BaseOffset != want || r.LastOffset != want+1 {
			t.Errorf("retry %d: %+v", i, r)
		}
	}
	if _, err := p.Append(produce(idempotent(7, 8, 1))); !errors.Is(err, ErrOutOfOrderSequence) {
		t.Error(err)
	}
	h.close()

	// After a clean restart, and after a kill, the last batch is still known.
	for _, kill := range []bool{false, true} {
		if kill {
			fs = fs.CrashClone(vfs.CrashOptions{UnsyncedKept: 1})
		}
		h = openHost(t, fs, nil)
		h.apply(c)
		p = h.get("t", 0)
		if leo := p.LogEndOffset(); leo != 9 {
			t.Fatalf("kill %t: log end %d", kill, leo)
		}
		if r := mustAppend(t, p, idempotent(7, 4, 2)); !r.Duplicate || r.BaseOffset != 6 {
			t.Errorf("kill %t: %+v", kill, r)
		}
		ps, err := p.Producers()
		if err != nil || len(ps) != 1 || ps[0].ID != 7 || ps[0].LastSequence != 5 {
			t.Errorf("kill %t: %+v, %v", kill, ps, err)
		}
		h.close()
	}
}

func TestListOffsetsAnswersAsKafka(t *testing.T) {
	_, _, p := one(t)
	ask := func(ts int64) ListOffsetResult {
		t.Helper()
		r, err := p.ListOffset(ListOffsetRequest{Timestamp: ts, CurrentLeaderEpoch: NoEpoch, ReplicaID: Consumer})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if r := ask(MaxTimestamp); r != (ListOffsetResult{-1, -1, -1}) {
		t.Errorf("max timestamp of an empty log: %+v", r)
	}
	if r := ask(LatestTimestamp); r != (ListOffsetResult{-1, 0, 0}) {
		t.Errorf("latest of an empty log: %+v", r)
	}
	mustAppend(t, p, records(2, 4, 6, 8))
	for ts, want := range map[int64]ListOffsetResult{
		3: {4, 1, 0}, 5: {6, 2, 0}, 7: {8, 3, 0}, 8: {8, 3, 0}, 0: {2, 0, 0},
		9:                        {-1, -1, -1}, // no match: -1 for both
		LatestTimestamp:          {-1, 4, 0},
		EarliestTimestamp:        {-1, 0, 0},
		EarliestLocalTimestamp:   {-1, 0, 0},
		MaxTimestamp:             {8, 3, 0},
		LatestTieredTimestamp:    {-1, -1, -1},
		EarliestPendingTimestamp: {-1, -1, -1},
	} {
		if got := ask(ts); got != want {
			t.Errorf("timestamp %d: %+v, want %+v", ts, got, want)
		}
	}
}

func TestDeleteRecordsMovesTheLogStart(t *testing.T) {
	h, c, p := one(t)
	mustAppend(t, p, values("a", "b", "c"))
	if _, _, err := p.DeleteRecords(4); !errors.Is(err, ErrOffsetOutOfRange) {
		t.Error(err)
	}
	if _, _, err := p.DeleteRecords(-2); !errors.Is(err, ErrOffsetOutOfRange) {
		t.Error(err)
	}
	if target, low, err := p.DeleteRecords(2); target != 2 || low != 2 || err != nil {
		t.Errorf("%d, %d, %v", target, low, err)
	}
	if target, low, err := p.DeleteRecords(1); target != 1 || low != 2 || err != nil {
		t.Errorf("an earlier offset is done already: %d, %d, %v", target, low, err)
	}
	if _, err := p.Fetch(consume(1), nil); !errors.Is(err, ErrOffsetOutOfRange) {
		t.Error(err)
	}
	if got := read(t, p, 2); !slices.Equal(got, []string{"2:c"}) {
		t.Error(got)
	}
	if target, low, err := p.DeleteRecords(-1); target != 3 || low != 3 || err != nil {
		t.Errorf("%d, %d, %v", target, low, err)
	}
	c.set("t", "cleanup.policy", "compact")
	h.apply(c)
	if _, _, err := p.DeleteRecords(3); !errors.Is(err, ErrPolicyViolation) {
		t.Error(err)
	}
}

// Three replicas: acknowledgement waits for the followers, min.insync.replicas
// refuses appends, and a waiter hears of every step.
func TestAcksAllWaitsForTheFollowers(t *testing.T) {
	c := newCluster(t)
	c.topic("t", 1, 1, 2, 3)
	c.set("t", "min.insync.replicas", "2")
	h := openHost(t, vfs.NewMem(), nil)
	defer h.close()
	h.apply(c)
	p := h.get("t", 0)
	r := mustAppend(t, p, values("a", "b"))
	next := r.LastOffset + 1
	if done, err := p.AckState(next); done || err != nil {
		t.Fatalf("acknowledged by the leader alone: %t, %v", done, err)
	}
	if got := read(t, p, 0); got != nil {
		t.Errorf("a consumer sees %v above the high watermark", got)
	}
	fetch := func(id metadata.BrokerID, from batch.Offset) FetchResult {
		t.Helper()
		f := FetchRequest{Offset: from, MaxBytes: 1 << 20, CurrentLeaderEpoch: 0, LastFetchedEpoch: NoEpoch, ReplicaID: id, BrokerEpoch: metadata.BrokerEpoch(10 * id)}
		if from > 0 {
			f.LastFetchedEpoch = 0
		}
		r, err := p.Fetch(f, nil)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if r := fetch(2, 0); len(decode(t, r.Records, 0)) != 2 {
		t.Error("a follower does not see above the high watermark")
	}
	w := NewWaiter()
	p.Watch(w)
	defer p.Unwatch(w)
	fetch(2, next)
	fetch(3, 0)
	if done, _ := p.AckState(next); done {
		t.Error("acknowledged without broker 3")
	}
	fetch(3, next)
	select {
	case <-w.C():
	default:
		t.Error("the waiter was not woken")
	}
	if done, err := p.AckState(next); !done || err != nil {
		t.Errorf("%t, %v", done, err)
	}

	// The controller takes both out: nothing more with acks=all, acks=1 stays.
	tp := c.img.Topic("t")
	c.change(&metadata.PartitionChange{TopicID: tp.ID, ExpectedEpoch: tp.Partition(0).PartitionEpoch, ISR: []metadata.BrokerID{1}})
	h.apply(c)
	if _, err := p.Append(produce(values("c"))); !errors.Is(err, ErrNotEnoughReplicas) {
		t.Error(err)
	}
	one := produce(values("c"))
	one.Acks = 1
	if _, err := p.Append(one); err != nil {
		t.Error(err)
	}
	if hw := p.HighWatermark(); hw != 2 {
		t.Errorf("high watermark %d moved below min.insync.replicas", hw)
	}
	if done, err := p.AckState(2); !done || !errors.Is(err, ErrNotEnoughReplicasAfterAppend) {
		t.Errorf("%t, %v", done, err)
	}
	// A replica that is none, and one whose log went another way.
	stranger := FetchRequest{ReplicaID: 9, CurrentLeaderEpoch: 0, LastFetchedEpoch: NoEpoch}
	if _, err := p.Fetch(stranger, nil); !errors.Is(err, ErrUnknownLeaderEpoch) {
		t.Error(err)
	}
	c.lead("t", 0, 1)
	h.apply(c)
	far := FetchRequest{Offset: 9, ReplicaID: 2, BrokerEpoch: 20, CurrentLeaderEpoch: 1, LastFetchedEpoch: 0}
	if r, err := p.Fetch(far, nil); err != nil || !r.Diverged || r.Diverging != (EpochEnd{Epoch: 0, EndOffset: 3}) {
		t.Errorf("%+v, %v", r, err)
	}
	far.LastFetchedEpoch = 7
	if _, err := p.Fetch(far, nil); !errors.Is(err, ErrOffsetOutOfRange) {
		t.Error(err)
	}
}

func TestEpochEndsAreThoseOfTheLeaders(t *testing.T) {
	h, c, p := one(t)
	mustAppend(t, p, values("a", "b"))
	c.lead("t", 0, 1)
	h.apply(c)
	mustAppend(t, p, values("c"))
	for epoch, want := range map[batch.LeaderEpoch]EpochEnd{0: {0, 2}, 1: {1, 3}, 5: {-1, -1}} {
		if got, err := p.EndOffsetForEpoch(1, epoch); err != nil || got != want {
			t.Errorf("epoch %d: %+v, %v", epoch, got, err)
		}
	}
}

func TestFlushOnAcksAcknowledgesOnlyWhatIsDurable(t *testing.T) {
	c := newCluster(t)
	c.topic("t", 1)
	c.set("t", "weir.flush.on.acks", "all")
	mem := vfs.NewMem()
	h := openHost(t, mem, nil)
	h.apply(c)
	p := h.get("t", 0)
	var want []string
	for i := range 5 {
		r := mustAppend(t, p, values("v"))
		if err := await(t, p, r.LastOffset+1); err != nil {
			t.Fatal(err)
		}
		want = append(want, string(rune('0'+i))+":v")
	}
	// Power is lost: nothing that was not synced survives.
	clone := mem.CrashClone(vfs.CrashOptions{})
	h.close()
	h = openHost(t, clone, nil)
	defer h.close()
	h.apply(c)
	if got := read(t, h.get("t", 0), 0); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestFlushMessagesIsDurableWhenAppendReturns(t *testing.T) {
	_, _, p := one(t, "flush.messages=2")
	mustAppend(t, p, values("a"))
	if rp := p.log.RecoveryPoint(); rp != 0 {
		t.Errorf("recovery point %d after one message", rp)
	}
	mustAppend(t, p, values("b"))
	if rp := p.log.RecoveryPoint(); rp != 2 {
		t.Errorf("recovery point %d", rp)
	}
}

func TestLogAppendTimeIsReported(t *testing.T) {
	_, _, p := one(t, "message.timestamp.type=LogAppendTime")
	before := time.Now().UnixMilli()
	if r := mustAppend(t, p, records(5)); r.LogAppendTime < before {
		t.Errorf("%+v", r)
	}
}

// A log that Kafka wrote transactions into: the last stable offset stays below
// the open one, across a restart.
func TestOpenTransactionHoldsTheLastStableOffset(t *testing.T) {
	c := newCluster(t)
	c.topic("t", 1)
	fs := vfs.NewMem()
	h := openHost(t, fs, nil)
	h.apply(c)
	p := h.get("t", 0)
	mustAppend(t, p, values("a"))
	o := batch.NoProducer()
	o.BaseOffset, o.LeaderEpoch = 1, 0
	o.ProducerID, o.ProducerEpoch, o.BaseSequence, o.Transactional = 3, 0, 0, true
	b := batch.NewBuilder(o)
	b.Add(time.Now().UnixMilli(), nil, []byte("t"), nil)
	raw := b.Bytes()
	// As a replica takes it over: the log is written without a check.
	header, err := batch.ParseHeader(raw)
	if err != nil {
		t.Fatal(err)
	}
	p.mu.Lock()
	if err := p.log.Append(raw, []batch.Header{header}); err != nil {
		t.Fatal(err)
	}
	p.mu.isr.appended(2, time.Now())
	p.moved()
	p.mu.Unlock()
	mustAppend(t, p, values("z"))
	check := func() {
		t.Helper()
		if hw, lso := p.HighWatermark(), p.LastStableOffset(); hw != 3 || lso != 1 {
			t.Errorf("hw %d, lso %d", hw, lso)
		}
		f := consume(0)
		f.Isolation = ReadCommitted
		if r, err := p.Fetch(f, nil); err != nil || !reflect.DeepEqual(decode(t, r.Records, 0), []string{"0:a"}) {
			t.Errorf("%v, %v", decode(t, r.Records, 0), err)
		}
		if r, err := p.ListOffset(ListOffsetRequest{Timestamp: LatestTimestamp, Isolation: ReadCommitted, CurrentLeaderEpoch: NoEpoch, ReplicaID: Consumer}); err != nil || r.Offset != 1 {
			t.Errorf("%+v, %v", r, err)
		}
	}
	check()
	h.close()
	h = openHost(t, fs, nil)
	defer h.close()
	h.apply(c)
	p = h.get("t", 0)
	check()
}

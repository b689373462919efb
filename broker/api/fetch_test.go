package api

import (
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weir-broker/weir/broker/batch"
	"github.com/weir-broker/weir/broker/metadata"
)

func fetchRequest(version int16, topic string, offset int64, partitionMax int32, maxWaitMillis int32) *kmsg.FetchRequest {
	req := kmsg.NewPtrFetchRequest()
	req.SetVersion(version)
	req.ReplicaID, req.MaxWaitMillis, req.MinBytes, req.MaxBytes = -1, maxWaitMillis, 1, 50<<20
	req.SessionEpoch = -1
	p := kmsg.NewFetchRequestTopicPartition()
	p.FetchOffset, p.PartitionMaxBytes = offset, partitionMax
	req.Topics = []kmsg.FetchRequestTopic{{Topic: topic, TopicID: topicID(topic), Partitions: []kmsg.FetchRequestTopicPartition{p}}}
	return req
}

func (c *client) fetch(req *kmsg.FetchRequest) (*kmsg.FetchResponse, kmsg.FetchResponseTopicPartition) {
	c.t.Helper()
	resp := c.request(req).(*kmsg.FetchResponse)
	if len(resp.Topics) == 0 {
		return resp, kmsg.FetchResponseTopicPartition{}
	}
	return resp, resp.Topics[0].Partitions[0]
}

// offsetsIn returns the base offsets of the batches.
func offsetsIn(t *testing.T, raw []byte) (bases []int64) {
	t.Helper()
	if err := batch.Split(raw, func(h batch.Header, _ []byte) error {
		bases = append(bases, int64(h.BaseOffset))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return bases
}

func TestFetchAtEveryVersion(t *testing.T) {
	r := newRig(t, Options{})
	r.addTopic("a", 1)
	c := r.dial()
	c.produce(9, -1, "a", plainBatch("m0", "m1"))
	c.produce(9, -1, "a", plainBatch("m2", "m3"))
	versions(t, 1, func(t *testing.T, v int16) {
		for isolation := range int8(2) {
			req := fetchRequest(v, "a", 0, 1<<20, 0)
			req.IsolationLevel = isolation
			_, got := c.fetch(req)
			if got.ErrorCode != 0 || got.HighWatermark != 4 || got.LastStableOffset != 4 {
				t.Fatalf("%+v", got)
			}
			if (got.AbortedTransactions == nil) != (isolation == 0) {
				t.Errorf("isolation %d: aborted transactions %v", isolation, got.AbortedTransactions)
			}
			if bases := offsetsIn(t, got.RecordBatches); len(bases) != 2 || bases[1] != 2 {
				t.Errorf("batches at %v", bases)
			}
		}
	})
}

// Case 3 for Fetch: errors are encoded in the request's version.
func TestFetchErrorsAtEveryVersion(t *testing.T) {
	r := newRig(t, Options{})
	r.addTopic("a", 1)
	r.publish(&metadata.NewTopic{ID: topicID("led"), Name: "led"}, &metadata.NewPartition{TopicID: topicID("led"), Partition: metadata.Partition{
		Replicas: []metadata.BrokerID{2}, Directories: []metadata.DirID{metadata.DirUnassigned}, ISR: []metadata.BrokerID{2}, Leader: 2, LeaderEpoch: 7,
	}}, &metadata.RegisterBroker{Broker: metadata.Broker{ID: 2, Epoch: 2, Endpoints: []metadata.Endpoint{{Name: "PLAINTEXT", Host: "other.example", Port: 9094}}}})
	c := r.dial()
	versions(t, 1, func(t *testing.T, v int16) {
		unknown := CodeUnknownTopicOrPartition
		if v >= 13 {
			unknown = CodeUnknownTopicID
		}
		for name, tc := range map[string]struct {
			topic  string
			offset int64
			epoch  int32
			want   Code
		}{
			"unknown topic":  {"gone", 0, -1, unknown},
			"out of range":   {"a", 99, -1, CodeOffsetOutOfRange},
			"other's leader": {"led", 0, -1, CodeNotLeaderOrFollower},
			"newer epoch":    {"a", 0, 50, CodeUnknownLeaderEpoch},
		} {
			if tc.epoch >= 0 && v < 9 {
				continue
			}
			req := fetchRequest(v, tc.topic, tc.offset, 1<<20, 100)
			req.Topics[0].Partitions[0].CurrentLeaderEpoch = tc.epoch
			resp, got := c.fetch(req)
			if Code(got.ErrorCode) != tc.want || got.HighWatermark != -1 || len(got.RecordBatches) != 0 {
				t.Errorf("%s: %v %+v, want %v", name, Code(got.ErrorCode), got, tc.want)
			}
			if v >= 11 && got.PreferredReadReplica != -1 {
				t.Errorf("%s: preferred replica %d", name, got.PreferredReadReplica)
			}
			if tc.topic == "led" && v >= 16 && (got.CurrentLeader.LeaderID != 2 || got.CurrentLeader.LeaderEpoch != 7 || len(resp.Brokers) != 1) {
				t.Errorf("no hint to the leader: %+v %+v", got.CurrentLeader, resp.Brokers)
			}
		}
	})
}

// Case 4: a fetch with nothing to return is answered when its time is up, with the high watermark.
func TestFetchAtTheEndIsAnsweredInTime(t *testing.T) {
	r := newRig(t, Options{})
	r.addTopic("a", 1)
	c := r.dial()
	c.produce(9, -1, "a", plainBatch("x"))
	start := time.Now()
	_, got := c.fetch(fetchRequest(12, "a", 1, 1<<20, 300))
	if d := time.Since(start); d < 290*time.Millisecond || d > 2*time.Second {
		t.Errorf("answered after %v", d)
	}
	if got.ErrorCode != 0 || got.HighWatermark != 1 || len(got.RecordBatches) != 0 {
		t.Errorf("%+v", got)
	}
}

func TestParkedFetchIsAnsweredByAnAppend(t *testing.T) {
	r := newRig(t, Options{})
	r.addTopic("a", 1)
	consumer, producer := r.dial(), r.dial()
	req := fetchRequest(12, "a", 0, 1<<20, 10_000)
	consumer.write(consumer.frame(req))
	producer.produce(9, -1, "a", plainBatch("x"))
	resp := consumer.response(req, 1).(*kmsg.FetchResponse)
	if got := resp.Topics[0].Partitions[0]; len(offsetsIn(t, got.RecordBatches)) != 1 || got.HighWatermark != 1 {
		t.Errorf("%+v", got)
	}
}

func TestParkedFetchGathersMinBytesWithoutReadingTwice(t *testing.T) {
	r := newRig(t, Options{})
	r.addTopic("a", 2)
	consumer, producer := r.dial(), r.dial()
	one := plainBatch("some value")
	req := fetchRequest(12, "a", 0, 1<<20, 10_000)
	second := req.Topics[0].Partitions[0]
	second.Partition = 1
	req.Topics[0].Partitions = append(req.Topics[0].Partitions, second)
	req.MinBytes = int32(4 * len(one))
	consumer.write(consumer.frame(req))
	for i := range 4 {
		producer.request(produceRequest(9, -1, "a", int32(i%2), plainBatch("some value")))
	}
	resp := consumer.response(req, 1).(*kmsg.FetchResponse)
	for _, p := range resp.Topics[0].Partitions {
		if bases := offsetsIn(t, p.RecordBatches); len(bases) != 2 || bases[0] != 0 || bases[1] != 1 {
			t.Errorf("partition %d: batches at %v", p.Partition, bases)
		}
	}
}

// Case 5: an offset inside a batch gives that batch.
func TestFetchInsideABatchGivesTheBatch(t *testing.T) {
	r := newRig(t, Options{})
	r.addTopic("a", 1)
	c := r.dial()
	c.produce(9, -1, "a", plainBatch("m0", "m1"))
	c.produce(9, -1, "a", plainBatch("m2", "m3"))
	for offset, first := range map[int64]int64{1: 0, 3: 2} {
		_, got := c.fetch(fetchRequest(12, "a", offset, 1<<20, 100))
		if bases := offsetsIn(t, got.RecordBatches); len(bases) == 0 || bases[0] != first {
			t.Errorf("fetch at %d: batches at %v, want the one at %d", offset, bases, first)
		}
	}
}

// Case 6: at least the first batch of the first partition that has any, whatever the limits.
func TestFetchAlwaysMakesProgress(t *testing.T) {
	r := newRig(t, Options{Config: testConfig(t, "message.max.bytes=4000000")})
	r.addTopic("a", 2)
	c := r.dial()
	for index := range int32(2) {
		c.request(produceRequest(9, -1, "a", index, plainBatch(string(make([]byte, 2<<20)))))
	}
	for _, v := range []int16{4, 12, 17} {
		req := fetchRequest(v, "a", 0, 1024, 100)
		second := req.Topics[0].Partitions[0]
		second.Partition = 1
		req.Topics[0].Partitions = append(req.Topics[0].Partitions, second)
		req.MaxBytes = 1024
		resp, first := c.fetch(req)
		if len(first.RecordBatches) < 2<<20 {
			t.Errorf("v%d: first partition gave %d bytes", v, len(first.RecordBatches))
		}
		if other := resp.Topics[0].Partitions[1]; len(other.RecordBatches) != 0 || other.HighWatermark != 1 {
			t.Errorf("v%d: second partition gave %d bytes", v, len(other.RecordBatches))
		}
	}
}

func TestFetchSessionTellsOnlyWhatChanged(t *testing.T) {
	for _, v := range []int16{7, 12, 13, 18} {
		r := newRig(t, Options{})
		r.addTopic("a", 2)
		c := r.dial()
		req := fetchRequest(v, "a", 0, 1<<20, 0)
		second := req.Topics[0].Partitions[0]
		second.Partition = 1
		req.Topics[0].Partitions = append(req.Topics[0].Partitions, second)
		req.SessionEpoch = 0
		resp, _ := c.fetch(req)
		id := resp.SessionID
		if id == 0 || len(resp.Topics) != 1 || len(resp.Topics[0].Partitions) != 2 {
			t.Fatalf("v%d: full fetch: %+v", v, resp)
		}
		next := fetchRequest(v, "a", 0, 1<<20, 0)
		next.Topics, next.SessionID, next.SessionEpoch = nil, id, 1
		if resp, _ := c.fetch(next); resp.ErrorCode != 0 || resp.SessionID != id || len(resp.Topics) != 0 {
			t.Errorf("v%d: nothing changed: %+v", v, resp)
		}
		c.request(produceRequest(9, -1, "a", 1, plainBatch("x")))
		next.SessionEpoch = 2
		if resp, p := c.fetch(next); len(resp.Topics) != 1 || p.Partition != 1 || p.HighWatermark != 1 || len(p.RecordBatches) == 0 {
			t.Errorf("v%d: one partition changed: %+v", v, resp)
		}
		if resp, _ := c.fetch(next); Code(resp.ErrorCode) != CodeInvalidFetchSessionEpoch {
			t.Errorf("v%d: an epoch again: %v", v, Code(resp.ErrorCode))
		}
		next.SessionEpoch = 3
		next.ForgottenTopics = []kmsg.FetchRequestForgottenTopic{{Topic: "a", TopicID: topicID("a"), Partitions: []int32{1}}}
		if resp, _ := c.fetch(next); resp.ErrorCode != 0 || len(resp.Topics) != 0 {
			t.Errorf("v%d: after forgetting: %+v", v, resp)
		}
		if v >= 13 {
			wrong := fetchRequest(12, "a", 0, 1<<20, 0)
			wrong.Topics, wrong.SessionID, wrong.SessionEpoch = nil, id, 4
			if resp, _ := c.fetch(wrong); Code(resp.ErrorCode) != CodeFetchSessionTopicIDError {
				t.Errorf("v%d: names in a session of ids: %v", v, Code(resp.ErrorCode))
			}
		}
		final := fetchRequest(v, "a", 0, 1<<20, 0)
		final.Topics, final.SessionID, final.SessionEpoch = nil, id, -1
		c.fetch(final)
		next.SessionEpoch = 4
		if resp, _ := c.fetch(next); Code(resp.ErrorCode) != CodeFetchSessionIDNotFound {
			t.Errorf("v%d: after closing: %v", v, Code(resp.ErrorCode))
		}
	}
}

func TestFetchSessionRemembersATopicThatComesLater(t *testing.T) {
	r := newRig(t, Options{})
	c := r.dial()
	req := fetchRequest(13, "late", 0, 1<<20, 0)
	req.SessionEpoch = 0
	resp, p := c.fetch(req)
	if Code(p.ErrorCode) != CodeUnknownTopicID || resp.SessionID == 0 {
		t.Fatalf("%+v", resp)
	}
	r.addTopic("late", 1)
	next := fetchRequest(13, "late", 0, 1<<20, 0)
	next.Topics, next.SessionID, next.SessionEpoch = nil, resp.SessionID, 1
	if _, p := c.fetch(next); p.ErrorCode != 0 || p.HighWatermark != 0 {
		t.Errorf("%+v", p)
	}
}

func TestPartitionsOfAllSessionsAreBounded(t *testing.T) {
	r := newRig(t, Options{})
	r.addTopic("a", 1)
	r.handler.sessions.most = 100
	c := r.dial()
	ask := func(id, epoch int32, first, n int32) *kmsg.FetchResponse {
		req := fetchRequest(12, "nosuch", 0, 1000, 0)
		req.SessionID, req.SessionEpoch = id, epoch
		req.Topics[0].Partitions = nil
		for i := range n {
			p := kmsg.NewFetchRequestTopicPartition()
			p.Partition = first + i
			req.Topics[0].Partitions = append(req.Topics[0].Partitions, p)
		}
		return c.request(req).(*kmsg.FetchResponse)
	}
	if resp := ask(0, 0, 0, 101); resp.SessionID != 0 || resp.ErrorCode != 0 || len(resp.Topics[0].Partitions) != 101 {
		t.Errorf("a session over the bound: id %d, error %d", resp.SessionID, resp.ErrorCode)
	}
	resp := ask(0, 0, 0, 60)
	id := resp.SessionID
	if id == 0 {
		t.Fatal("no session though it fits")
	}
	if resp := ask(id, 1, 60, 40); resp.ErrorCode != 0 {
		t.Fatalf("growing to the bound: error %d", resp.ErrorCode)
	}
	if resp := ask(id, 2, 100, 1); resp.ErrorCode != int16(CodeFetchSessionIDNotFound) {
		t.Errorf("growing over the bound: error %d", resp.ErrorCode)
	}
	if sessions, partitions := r.handler.sessions.count(); sessions != 0 || partitions != 0 || r.handler.sessions.mu.size != 0 {
		t.Errorf("%d sessions, %d partitions, size %d after the session went", sessions, partitions, r.handler.sessions.mu.size)
	}
	if resp := ask(0, 0, 0, 100); resp.SessionID == 0 {
		t.Error("no session though there is room again")
	}
}

func TestSessionCacheKeepsWhatIsWorthMore(t *testing.T) {
	now := time.Unix(1000, 0)
	c := newFetchSessions(2)
	session := func(size int, follower bool) *fetchSession { return &fetchSession{size: size, follower: follower} }
	small, big := session(1, false), session(10, false)
	if !c.open(small, now) || !c.open(big, now) {
		t.Fatal("no room in an empty cache")
	}
	if c.open(session(5, false), now) {
		t.Error("a session that was just created was evicted")
	}
	if !c.open(session(1, true), now) || c.get(small.id) != nil {
		t.Error("a follower did not displace the smallest consumer")
	}
	later := now.Add(evictAfter + time.Second)
	c.touch(big, 10, later)
	if !c.open(session(1, false), later) || c.get(big.id) == nil {
		t.Error("the idle session was not the one to go")
	}
	if newFetchSessions(0).open(session(1, false), now) {
		t.Error("a cache of no slots took a session")
	}
}

func listOffsetsRequest(version int16, topic string, timestamp int64) *kmsg.ListOffsetsRequest {
	req := kmsg.NewPtrListOffsetsRequest()
	req.SetVersion(version)
	req.ReplicaID = -1
	p := kmsg.NewListOffsetsRequestTopicPartition()
	p.Timestamp = timestamp
	req.Topics = []kmsg.ListOffsetsRequestTopic{{Topic: topic, Partitions: []kmsg.ListOffsetsRequestTopicPartition{p}}}
	return req
}

func (c *client) listOffset(version int16, topic string, timestamp int64) kmsg.ListOffsetsResponseTopicPartition {
	c.t.Helper()
	return c.request(listOffsetsRequest(version, topic, timestamp)).(*kmsg.ListOffsetsResponse).Topics[0].Partitions[0]
}

// Cases 8 and 9: the first record at or after a time, located inside its batch; -1 and -1 when none is.
func TestListOffsetsByTime(t *testing.T) {
	r := newRig(t, Options{})
	for _, topic := range []string{"single", "one", "packed"} {
		r.addTopic(topic, 1)
	}
	c := r.dial()
	for _, ts := range []int64{2, 4, 6, 8} {
		b := batch.NewBuilder(batch.NoProducer())
		b.Add(ts, nil, []byte("v"), nil)
		c.produce(9, -1, "single", b.Bytes())
	}
	for topic, codec := range map[string]batch.Codec{"one": batch.None, "packed": batch.LZ4} {
		o := batch.NoProducer()
		o.Compression = batch.CompressionOf(codec)
		b := batch.NewBuilder(o)
		for _, ts := range []int64{2, 4, 6, 8} {
			b.Add(ts, nil, []byte("v"), nil)
		}
		if got := c.produce(9, -1, topic, b.Bytes()); got.ErrorCode != 0 {
			t.Fatalf("%s: %v", topic, Code(got.ErrorCode))
		}
	}
	versions(t, 2, func(t *testing.T, v int16) {
		for _, topic := range []string{"single", "one", "packed"} {
			for ask, want := range map[int64][2]int64{3: {1, 4}, 5: {2, 6}, 7: {3, 8}, 8: {3, 8}, 9: {-1, -1}, 1 << 50: {-1, -1}} {
				got := c.listOffset(v, topic, ask)
				if got.ErrorCode != 0 || got.Offset != want[0] || got.Timestamp != want[1] {
					t.Errorf("%s at %d: %+v, want %v", topic, ask, got, want)
				}
			}
		}
	})
}

func TestListOffsetsOfSpecialTimes(t *testing.T) {
	r := newRig(t, Options{})
	r.addTopic("a", 1)
	c := r.dial()
	c.produce(9, -1, "a", plainBatch("x", "y", "z"))
	versions(t, 2, func(t *testing.T, v int16) {
		for ask, want := range map[int64]struct {
			since  int16
			offset int64
		}{-1: {0, 3}, -2: {0, 0}, -3: {7, 2}, -4: {8, 0}, -5: {9, -1}, -6: {11, -1}, -7: {99, 0}} {
			got := c.listOffset(v, "a", ask)
			if v < want.since {
				if Code(got.ErrorCode) != CodeUnsupportedVersion {
					t.Errorf("%d: %v", ask, Code(got.ErrorCode))
				}
				continue
			}
			if got.ErrorCode != 0 || got.Offset != want.offset {
				t.Errorf("%d: %+v, want offset %d", ask, got, want.offset)
			}
		}
		if got := c.listOffset(v, "gone", -1); Code(got.ErrorCode) != CodeUnknownTopicOrPartition || got.Offset != -1 || got.Timestamp != -1 {
			t.Errorf("unknown topic: %+v", got)
		}
		twice := listOffsetsRequest(v, "a", -1)
		twice.Topics = append(twice.Topics, twice.Topics[0])
		if got := c.request(twice).(*kmsg.ListOffsetsResponse); len(got.Topics) != 1 || Code(got.Topics[0].Partitions[0].ErrorCode) != CodeInvalidRequest {
			t.Errorf("a partition named twice: %+v", got)
		}
	})
}

func TestOffsetForLeaderEpochAtEveryVersion(t *testing.T) {
	r := newRig(t, Options{})
	r.addTopic("a", 1)
	c := r.dial()
	c.produce(9, -1, "a", plainBatch("x", "y"))
	versions(t, 23, func(t *testing.T, v int16) {
		for topic, want := range map[string]Code{"a": CodeNone, "gone": CodeUnknownTopicOrPartition} {
			req := kmsg.NewPtrOffsetForLeaderEpochRequest()
			req.SetVersion(v)
			p := kmsg.NewOffsetForLeaderEpochRequestTopicPartition()
			p.CurrentLeaderEpoch = -1
			p.LeaderEpoch = int32(r.image().Partition("a", 0).LeaderEpoch)
			req.Topics = []kmsg.OffsetForLeaderEpochRequestTopic{{Topic: topic, Partitions: []kmsg.OffsetForLeaderEpochRequestTopicPartition{p}}}
			got := c.request(req).(*kmsg.OffsetForLeaderEpochResponse).Topics[0].Partitions[0]
			if Code(got.ErrorCode) != want || (want == CodeNone && got.EndOffset != 2) {
				t.Errorf("%s: %+v", topic, got)
			}
		}
	})
}

package api

import (
	"bytes"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weir-broker/weir/broker/batch"
	"github.com/weir-broker/weir/broker/metadata"
	"github.com/weir-broker/weir/broker/vfs"
)

// plainBatch is a batch without a producer, timestamps 1000, 1001, ….
func plainBatch(values ...string) []byte {
	b := batch.NewBuilder(batch.NoProducer())
	for i, v := range values {
		b.Add(int64(1000+i), []byte("k"), []byte(v), nil)
	}
	return bytes.Clone(b.Bytes())
}

func sequencedBatch(producer int64, epoch int16, sequence int32, values ...string) []byte {
	o := batch.NoProducer()
	o.ProducerID, o.ProducerEpoch, o.BaseSequence = batch.ProducerID(producer), batch.ProducerEpoch(epoch), sequence
	b := batch.NewBuilder(o)
	for i, v := range values {
		b.Add(int64(1000+i), []byte("k"), []byte(v), nil)
	}
	return bytes.Clone(b.Bytes())
}

func produceRequest(version, acks int16, topic string, index int32, records []byte) *kmsg.ProduceRequest {
	req := kmsg.NewPtrProduceRequest()
	req.SetVersion(version)
	req.Acks, req.TimeoutMillis = acks, 5000
	req.Topics = []kmsg.ProduceRequestTopic{{Topic: topic, TopicID: topicID(topic), Partitions: []kmsg.ProduceRequestTopicPartition{{Partition: index, Records: records}}}}
	return req
}

// produce sends one batch and returns the answer for its partition.
func (c *client) produce(version, acks int16, topic string, records []byte) kmsg.ProduceResponseTopicPartition {
	c.t.Helper()
	resp := c.request(produceRequest(version, acks, topic, 0, records)).(*kmsg.ProduceResponse)
	return resp.Topics[0].Partitions[0]
}

func TestProduceAtEveryVersion(t *testing.T) {
	r := newRig(t, Options{})
	r.addTopic("a", 2)
	c := r.dial()
	want := int64(0)
	versions(t, 0, func(t *testing.T, v int16) {
		for _, acks := range []int16{1, -1} {
			got := c.produce(v, acks, "a", plainBatch("x", "y"))
			if got.ErrorCode != 0 || got.BaseOffset != want || got.LogAppendTime != -1 || (v >= 5 && got.LogStartOffset != 0) {
				t.Fatalf("acks %d: %+v, want base offset %d", acks, got, want)
			}
			want += 2
		}
	})
}

// Case 3 for Produce: errors are encoded in the request's version.
func TestProduceErrorsAtEveryVersion(t *testing.T) {
	r := newRig(t, Options{Config: testConfig(t, "message.max.bytes=1000")})
	r.addTopic("a", 1)
	r.publish(&metadata.NewTopic{ID: topicID("led"), Name: "led"}, &metadata.NewPartition{TopicID: topicID("led"), Partition: metadata.Partition{
		Replicas: []metadata.BrokerID{2}, Directories: []metadata.DirID{metadata.DirUnassigned}, ISR: []metadata.BrokerID{2}, Leader: 2, LeaderEpoch: 7,
	}}, &metadata.RegisterBroker{Broker: metadata.Broker{ID: 2, Epoch: 2, Endpoints: []metadata.Endpoint{{Name: "PLAINTEXT", Host: "other.example", Port: 9094}}}})
	c := r.dial()
	broken := plainBatch("x")
	broken[len(broken)-1] ^= 1
	versions(t, 0, func(t *testing.T, v int16) {
		unknown := CodeUnknownTopicOrPartition
		if v >= 13 {
			unknown = CodeUnknownTopicID
		}
		for name, tc := range map[string]struct {
			topic   string
			acks    int16
			records []byte
			want    Code
		}{
			"unknown topic":  {"gone", 1, plainBatch("x"), unknown},
			"invalid acks":   {"a", 2, plainBatch("x"), CodeInvalidRequiredAcks},
			"no records":     {"a", 1, nil, CodeInvalidRecord},
			"two batches":    {"a", 1, append(plainBatch("x"), plainBatch("y")...), CodeInvalidRecord},
			"crc":            {"a", 1, broken, CodeCorruptMessage},
			"too large":      {"a", -1, plainBatch(strings.Repeat("x", 2000)), CodeMessageTooLarge},
			"other's leader": {"led", -1, plainBatch("x"), CodeNotLeaderOrFollower},
		} {
			req := produceRequest(v, tc.acks, tc.topic, 0, tc.records)
			resp := c.request(req).(*kmsg.ProduceResponse)
			got := resp.Topics[0].Partitions[0]
			if Code(got.ErrorCode) != tc.want || got.BaseOffset != -1 || got.LogAppendTime != -1 {
				t.Errorf("%s: %v %+v, want %v", name, Code(got.ErrorCode), got, tc.want)
			}
			if tc.topic == "led" && v >= 10 {
				if got.CurrentLeader.LeaderID != 2 || got.CurrentLeader.LeaderEpoch != 7 || len(resp.Brokers) != 1 || resp.Brokers[0].Host != "other.example" {
					t.Errorf("no hint to the leader: %+v, %+v", got.CurrentLeader, resp.Brokers)
				}
			}
		}
	})
}

// Case 13: a retry of an acknowledged batch gets its first offset, five batches back.
func TestProduceRetryGetsTheOriginalOffset(t *testing.T) {
	r := newRig(t, Options{})
	r.addTopic("a", 1)
	c := r.dial()
	for i := range int32(5) {
		if got := c.produce(9, -1, "a", sequencedBatch(1, 0, i*2, "x", "y")); got.ErrorCode != 0 || got.BaseOffset != int64(i*2) {
			t.Fatalf("batch %d: %+v", i, got)
		}
	}
	for _, i := range []int32{0, 1, 2, 3, 4, 4, 3, 2, 1, 0} {
		if got := c.produce(9, -1, "a", sequencedBatch(1, 0, i*2, "x", "y")); got.ErrorCode != 0 || got.BaseOffset != int64(i*2) {
			t.Errorf("retry of batch %d: %v at %d", i, Code(got.ErrorCode), got.BaseOffset)
		}
	}
	if got := c.produce(9, -1, "a", sequencedBatch(1, 0, 12, "gap")); Code(got.ErrorCode) != CodeOutOfOrderSequenceNumber {
		t.Errorf("a gap: %v", Code(got.ErrorCode))
	}
	if got := c.produce(9, -1, "a", sequencedBatch(1, 0, 10, "z")); got.ErrorCode != 0 || got.BaseOffset != 10 {
		t.Errorf("the next batch: %+v", got)
	}
}

// Case 14: after sequence 2147483647 comes 0, inside a batch too.
func TestFlushMessagesIsDurableInAllPartitionsWhenAnswered(t *testing.T) {
	r := newRig(t, Options{})
	r.addTopic("a", 3)
	one := "1"
	r.publish(&metadata.Config{Resource: metadata.Resource{Type: metadata.TopicResource, Name: "a"}, Key: "flush.messages", Value: &one})
	c := r.dial()
	var mu sync.Mutex
	synced := map[string]bool{}
	r.fs.OnOp(func(op vfs.Op) {
		mu.Lock()
		defer mu.Unlock()
		if op.Kind == vfs.OpSyncData {
			synced[filepath.Base(filepath.Dir(op.Name))] = true
		}
	})
	for _, acks := range []int16{1, -1} {
		mu.Lock()
		clear(synced)
		mu.Unlock()
		req := produceRequest(9, acks, "a", 0, plainBatch("x"))
		for i := range int32(2) {
			req.Topics[0].Partitions = append(req.Topics[0].Partitions, kmsg.ProduceRequestTopicPartition{Partition: i + 1, Records: plainBatch("x", "y")})
		}
		for _, p := range c.request(req).(*kmsg.ProduceResponse).Topics[0].Partitions {
			if p.ErrorCode != 0 {
				t.Fatalf("acks %d: %+v", acks, p)
			}
		}
		mu.Lock()
		if !synced["a-0"] || !synced["a-1"] || !synced["a-2"] {
			t.Errorf("acks %d: synced before the answer: %v", acks, synced)
		}
		mu.Unlock()
	}
}

func TestProduceSequenceWraps(t *testing.T) {
	r := newRig(t, Options{})
	r.addTopic("a", 1)
	c := r.dial()
	if got := c.produce(9, -1, "a", sequencedBatch(1, 0, 2147483646, "a", "b", "c")); got.ErrorCode != 0 {
		t.Fatalf("%v", Code(got.ErrorCode))
	}
	if got := c.produce(9, -1, "a", sequencedBatch(1, 0, 1, "d")); got.ErrorCode != 0 || got.BaseOffset != 3 {
		t.Errorf("after the wrap: %v at %d", Code(got.ErrorCode), got.BaseOffset)
	}
}

// Case 23: null keys on a compacted topic are refused, record by record.
func TestProduceWithoutKeysToACompactedTopic(t *testing.T) {
	r := newRig(t, Options{})
	r.addTopic("a", 1)
	compact := "compact"
	r.publish(&metadata.Config{Resource: metadata.Resource{Type: metadata.TopicResource, Name: "a"}, Key: "cleanup.policy", Value: &compact})
	b := batch.NewBuilder(batch.NoProducer())
	for range 10 {
		b.Add(1000, nil, []byte("v"), nil)
	}
	records := bytes.Clone(b.Bytes())
	c := r.dial()
	versions(t, 0, func(t *testing.T, v int16) {
		got := c.produce(v, -1, "a", bytes.Clone(records))
		if Code(got.ErrorCode) != CodeInvalidRecord {
			t.Fatalf("%v", Code(got.ErrorCode))
		}
		if v >= 8 && (len(got.ErrorRecords) != 10 || got.ErrorRecords[9].RelativeOffset != 9 || got.ErrorMessage == nil) {
			t.Errorf("record errors: %+v", got)
		}
	})
}

// Case 24: acks=0 sends nothing at all, and errors close the connection.
func TestProduceWithoutAcksIsNeverAnswered(t *testing.T) {
	r := newRig(t, Options{})
	r.addTopic("a", 1)
	c := r.dial()
	for range 10 {
		c.write(c.frame(produceRequest(9, 0, "a", 0, plainBatch("x"))))
	}
	resp := c.request(metadataRequest(12, "a")).(*kmsg.MetadataResponse)
	if len(resp.Topics) != 1 {
		t.Errorf("%+v", resp)
	}
	if got := c.produce(9, 1, "a", plainBatch("y")); got.BaseOffset != 10 {
		t.Errorf("next offset %d, want 10", got.BaseOffset)
	}
	c.write(c.frame(produceRequest(9, 0, "gone", 0, plainBatch("x"))))
	c.expectClosed()
}

// Case 24: answers come in the order of the requests, whatever each has to wait for.
func TestPipelinedRequestsAreAnsweredInOrder(t *testing.T) {
	r := newRig(t, Options{Config: testConfig(t, "auto.create.topics.enable=false")})
	r.addTopic("a", 1)
	c := r.dial()
	var sent []kmsg.Request
	var frames []byte
	for i := range 100 {
		var req kmsg.Request
		switch i % 4 {
		case 0:
			req = produceRequest(int16(3+i%10), -1, "a", 0, plainBatch("x"))
		case 1:
			req = metadataRequest(int16(i%13), "a")
		case 2:
			req = fetchRequest(12, "a", 0, 1<<20, 20) // parked when at the end
			req.(*kmsg.FetchRequest).Topics[0].Partitions[0].FetchOffset = int64(i / 4)
		case 3:
			req = produceRequest(9, 0, "a", 0, plainBatch("unanswered"))
		}
		sent = append(sent, req)
		frames = append(frames, c.frame(req)...)
	}
	c.write(frames)
	for i, req := range sent {
		if i%4 != 3 {
			c.response(req, int32(i+1))
		}
	}
}

func TestTransactionalProduceIsRefusedForGood(t *testing.T) {
	r := newRig(t, Options{})
	r.addTopic("a", 1)
	c := r.dial()
	o := batch.NoProducer()
	o.ProducerID, o.ProducerEpoch, o.BaseSequence, o.Transactional = 1, 0, 0, true
	b := batch.NewBuilder(o)
	b.Add(1000, []byte("k"), []byte("v"), nil)
	if got := c.produce(12, -1, "a", b.Bytes()); Code(got.ErrorCode) != CodeTransactionalIDAuthorizationFailed {
		t.Errorf("%v", Code(got.ErrorCode))
	}
}

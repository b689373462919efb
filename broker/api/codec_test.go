package api

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weir-broker/weir/broker/metadata"
)

// TestProduceDecodesAsKmsgDoes compares the hand-written decoder with kmsg for every version.
func TestProduceDecodesAsKmsgDoes(t *testing.T) {
	versions(t, 0, func(t *testing.T, v int16) {
		req := kmsg.NewPtrProduceRequest()
		req.SetVersion(v)
		req.TransactionID = kmsg.StringPtr("tx")
		req.Acks, req.TimeoutMillis = -1, 1234
		for i := range 3 {
			topic := kmsg.ProduceRequestTopic{Topic: fmt.Sprint("t", i), TopicID: topicID(fmt.Sprint("t", i))}
			for j := range i { // the first topic has no partitions
				topic.Partitions = append(topic.Partitions, kmsg.ProduceRequestTopicPartition{Partition: int32(j), Records: bytes.Repeat([]byte{byte(i), byte(j)}, 100*i*j)})
			}
			req.Topics = append(req.Topics, topic)
		}
		req.Topics[2].Partitions[1].Records = nil
		p := &produceCall{}
		if err := p.decode(req.AppendTo(nil), v); err != nil {
			t.Fatal(err)
		}
		if p.acks != -1 || p.timeoutMillis != 1234 || len(p.topics) != 3 {
			t.Fatalf("%+v", p)
		}
		for i, want := range req.Topics {
			got := p.topics[i]
			if v <= 12 && string(got.name) != want.Topic || v >= 13 && got.id != metadata.TopicID(want.TopicID) || got.end-got.first != len(want.Partitions) {
				t.Errorf("topic %d: %+v", i, got)
			}
			for j, part := range want.Partitions {
				g := p.partitions[got.first+j]
				if g.index != part.Partition || !bytes.Equal(g.records, part.Records) || (g.records == nil) != (part.Records == nil) {
					t.Errorf("topic %d partition %d: %+v", i, j, g)
				}
			}
		}
		body := req.AppendTo(nil)
		for n := range body {
			if err := (&produceCall{}).decode(body[:n], v); err == nil {
				t.Fatalf("cut to %d of %d bytes it still decodes", n, len(body))
			}
		}
	})
}

// TestFetchDecodesAsKmsgDoes compares the hand-written decoder with kmsg for every version.
func TestFetchDecodesAsKmsgDoes(t *testing.T) {
	versions(t, 1, func(t *testing.T, v int16) {
		req := kmsg.NewPtrFetchRequest()
		req.SetVersion(v)
		req.ReplicaID, req.MaxWaitMillis, req.MinBytes, req.MaxBytes, req.IsolationLevel = 5, 6, 7, 8, 1
		req.ReplicaState.ID, req.ReplicaState.Epoch = 5, 99
		req.SessionID, req.SessionEpoch, req.Rack = 10, 11, "rack"
		for i := range 2 {
			topic := kmsg.FetchRequestTopic{Topic: fmt.Sprint("t", i), TopicID: topicID(fmt.Sprint("t", i))}
			for j := range i + 1 {
				p := kmsg.NewFetchRequestTopicPartition()
				p.Partition, p.CurrentLeaderEpoch, p.FetchOffset, p.LastFetchedEpoch, p.LogStartOffset, p.PartitionMaxBytes = int32(j), 1, 2, 3, 4, 5
				topic.Partitions = append(topic.Partitions, p)
			}
			req.Topics = append(req.Topics, topic)
		}
		req.ForgottenTopics = []kmsg.FetchRequestForgottenTopic{{Topic: "f", TopicID: topicID("f"), Partitions: []int32{3, 4}}}
		decode := func(body []byte) (*fetchCall, error) {
			f := &fetchCall{request: request{header: header{key: 1, version: v}, endpoint: newTable().endpoint(1), image: metadata.NewImage()}}
			return f, f.decode(body)
		}
		body := req.AppendTo(nil)
		f, err := decode(body)
		if err != nil {
			t.Fatal(err)
		}
		if f.replicaID != 5 || f.maxWaitMillis != 6 || f.minBytes != 7 || f.maxBytes != 8 || f.isolation != 1 || len(f.partitions) != 3 {
			t.Errorf("%+v", f)
		}
		if v >= 15 && f.replicaEpoch != 99 {
			t.Errorf("replica epoch %d", f.replicaEpoch)
		}
		if v >= 7 && (f.sessionID != 10 || f.sessionEpoch != 11 || len(f.forgotten) != 2 || f.forgotten[1].index != 4) {
			t.Errorf("session %d epoch %d, forgotten %+v", f.sessionID, f.sessionEpoch, f.forgotten)
		}
		p := f.partitions[2]
		if p.key.index != 1 || p.want.offset != 2 || p.want.maxBytes != 5 || (v >= 9) != (p.want.leaderEpoch == 1) || (v >= 12) != (p.want.lastFetchedEpoch == 3) || (v >= 5) != (p.want.followerLogStart == 4) {
			t.Errorf("partition: %+v", p)
		}
		if v <= 12 && p.key.name != "t1" || v >= 13 && p.key.id != topicID("t1") {
			t.Errorf("topic: %+v", p.key)
		}
		for n := range body {
			if _, err := decode(body[:n]); err == nil {
				t.Fatalf("cut to %d of %d bytes it still decodes", n, len(body))
			}
		}
	})
}

func benchFeeder(b *testing.B) (*rig, *feeder) {
	b.Helper()
	r := newRig(b, Options{})
	r.addTopic("a", 1)
	return r, newFeeder(b, r)
}

// BenchmarkProduce measures one Produce of 16 KiB from frame to answer, on a file system in memory.
func BenchmarkProduce(b *testing.B) {
	_, f := benchFeeder(b)
	values := make([]string, 16)
	for i := range values {
		values[i] = string(make([]byte, 1000))
	}
	frame := kmsg.NewRequestFormatter().AppendRequest(nil, produceRequest(12, 1, "a", 0, plainBatch(values...)), 1)[4:]
	b.SetBytes(int64(len(frame)))
	b.ReportAllocs()
	for b.Loop() {
		f.feed(frame)
	}
}

// BenchmarkFetch measures one Fetch of about 64 KiB from frame to answer.
func BenchmarkFetch(b *testing.B) {
	_, f := benchFeeder(b)
	format := kmsg.NewRequestFormatter()
	produce := format.AppendRequest(nil, produceRequest(12, 1, "a", 0, plainBatch(string(make([]byte, 16<<10)))), 1)[4:]
	for range 8 {
		f.feed(produce)
	}
	frame := format.AppendRequest(nil, fetchRequest(12, "a", 0, 64<<10, 0), 1)[4:]
	b.SetBytes(int64(f.feed(frame)))
	b.ReportAllocs()
	for b.Loop() {
		f.feed(frame)
	}
}

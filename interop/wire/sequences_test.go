//go:build interop

package wire

import (
	"fmt"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weir-broker/weir/interop/compare"
)

// fetchStep is one fetch of a session: the epoch to send, fetch offsets by partition of topic w, partitions to forget.
type fetchStep struct {
	name   string
	epoch  int32
	id     int32 // 0: the session's
	offset map[int32]int64
	forget []int32
	write  int32 // partition to produce to first, -1 none
}

// TestFetchSessionsAlike plays whole sessions (KIP-227): which partitions each answer holds is what is compared.
func TestFetchSessionsAlike(t *testing.T) {
	o := startOracle(t)
	kafka, ours := startKafka(t, o), startWeir(t)
	steps := []fetchStep{
		{name: "open", epoch: 0, offset: map[int32]int64{0: 0, 1: 0}, write: -1},
		{name: "nothing-new", epoch: 1, write: -1},
		{name: "new-data", epoch: 2, write: 0},
		{name: "same-again", epoch: 3, write: -1},
		{name: "moved", epoch: 4, offset: map[int32]int64{0: 2}, write: -1},
		{name: "forget", epoch: 5, forget: []int32{0}, write: 0},
		{name: "other-partition", epoch: 6, write: 1},
		{name: "out-of-range", epoch: 7, offset: map[int32]int64{1: 99}, write: -1},
		{name: "still-out-of-range", epoch: 8, write: -1},
		{name: "old-epoch", epoch: 3, write: -1},
		{name: "close-and-fetch", epoch: -1, offset: map[int32]int64{0: 0}, write: -1},
		{name: "after-close", epoch: 9, write: -1},
		{name: "unknown", epoch: 1, id: 424242, write: -1},
	}
	for v := int16(7); v <= 18; v++ {
		sessions := [2]int32{}
		for _, s := range steps {
			var got [2][]string
			for i, b := range []*broker{kafka, ours} {
				if s.write >= 0 {
					b.produceTo(t, s.write)
				}
				r := b.fetchOf(s, v)
				if r.SessionID = s.id; s.id == 0 {
					r.SessionID = sessions[i]
				}
				resp, err := b.connect(t).ask(r)
				if err != nil {
					t.Fatalf("v%d %s: %s: %v", v, s.name, b.addr, err)
				}
				f := resp.(*kmsg.FetchResponse)
				if s.name == "open" {
					sessions[i] = f.SessionID
				}
				got[i] = lines(resp)
			}
			if d := compare.Diff(got[0], got[1]); len(d) > 0 {
				t.Errorf("v%d %s:\n%s", v, s.name, d)
			}
		}
		// The next version starts from empty partitions again.
		for _, b := range []*broker{kafka, ours} {
			b.recreate(t, "w", 2)
		}
	}
}

func (b *broker) fetchOf(s fetchStep, v int16) *kmsg.FetchRequest {
	r := kmsg.NewPtrFetchRequest()
	r.SetVersion(v)
	r.ReplicaID, r.MaxWaitMillis, r.MaxBytes, r.SessionEpoch = -1, 50, 1<<20, s.epoch
	for _, p := range []int32{0, 1} {
		offset, ok := s.offset[p]
		if !ok {
			continue
		}
		if len(r.Topics) == 0 {
			t := kmsg.NewFetchRequestTopic()
			t.Topic, t.TopicID = "w", b.ids["w"]
			r.Topics = append(r.Topics, t)
		}
		x := kmsg.NewFetchRequestTopicPartition()
		x.Partition, x.FetchOffset, x.PartitionMaxBytes = p, offset, 1<<20
		x.CurrentLeaderEpoch, x.LastFetchedEpoch, x.LogStartOffset = -1, -1, -1
		r.Topics[0].Partitions = append(r.Topics[0].Partitions, x)
	}
	if len(s.forget) > 0 {
		f := kmsg.NewFetchRequestForgottenTopic()
		f.Topic, f.TopicID, f.Partitions = "w", b.ids["w"], s.forget
		r.ForgottenTopics = append(r.ForgottenTopics, f)
	}
	return r
}

func (b *broker) produceTo(t *testing.T, partition int32) {
	t.Helper()
	p := kmsg.NewPtrProduceRequest()
	p.Acks, p.TimeoutMillis = 1, 5000
	x := kmsg.NewProduceRequestTopic()
	x.Topic = "w"
	y := kmsg.NewProduceRequestTopicPartition()
	y.Partition, y.Records = partition, newBatch("one", "two").bytes()
	x.Partitions = append(x.Partitions, y)
	p.Topics = append(p.Topics, x)
	if code := b.must(t, p, 9).(*kmsg.ProduceResponse).Topics[0].Partitions[0].ErrorCode; code != 0 {
		t.Fatalf("%s: produce: code %d", b.addr, code)
	}
}

func (b *broker) recreate(t *testing.T, topic string, partitions int32) {
	t.Helper()
	d := kmsg.NewPtrDeleteTopicsRequest()
	d.TimeoutMillis, d.TopicNames = 5000, []string{topic}
	b.must(t, d, 5)
	r := kmsg.NewPtrCreateTopicsRequest()
	r.TimeoutMillis = 5000
	c := kmsg.NewCreateTopicsRequestTopic()
	c.Topic, c.NumPartitions, c.ReplicationFactor = topic, partitions, 1
	r.Topics = append(r.Topics, c)
	got := b.must(t, r, 7).(*kmsg.CreateTopicsResponse).Topics[0]
	if got.ErrorCode != 0 {
		t.Fatalf("%s: create: code %d", b.addr, got.ErrorCode)
	}
	b.ids[topic] = got.TopicID
	b.awaitLeaders(t)
}

// TestIdempotentRetriesAlike plays what a producer with five requests in flight may send after a lost answer.
func TestIdempotentRetriesAlike(t *testing.T) {
	o := startOracle(t)
	kafka, ours := startKafka(t, o), startWeir(t)
	type send struct {
		epoch int16
		seq   int32
		n     int
	}
	var steps []send
	for seq := int32(0); seq < 12; seq += 2 {
		steps = append(steps, send{0, seq, 2})
	}
	steps = append(steps, send{0, 10, 2}, send{0, 8, 2}, send{0, 2, 2}, send{0, 0, 2}, // the last five are known, the first is not
		send{0, 11, 2}, send{0, 12, 1}, send{0, 12, 1}, send{0, 20, 1}, // overlap, next, again, gap
		send{1, 5, 1}, send{1, 0, 3}, send{0, 13, 1}, send{1, 0, 3}, send{1, 3, 1}, // new epoch at 5 and at 0, old epoch
		send{2, 0, 1}, send{2, 2147483646, 3})
	for v := int16(3); v <= 13; v++ {
		for i, s := range steps {
			var got [2][]string
			for j, b := range []*broker{kafka, ours} {
				r := kmsg.NewPtrProduceRequest()
				r.SetVersion(v)
				r.Acks, r.TimeoutMillis = -1, 5000
				x := kmsg.NewProduceRequestTopic()
				x.Topic, x.TopicID = "wp", b.ids["wp"]
				y := kmsg.NewProduceRequestTopicPartition()
				batch := newBatch(make([]string, s.n)...)
				batch.ProducerID, batch.ProducerEpoch, batch.FirstSequence = 5000+int64(v), s.epoch, s.seq
				y.Records = batch.bytes()
				x.Partitions = append(x.Partitions, y)
				r.Topics = append(r.Topics, x)
				got[j] = b.play(t, r)
			}
			if d := compare.Diff(got[0], got[1]); len(d) > 0 {
				t.Errorf("v%d step %d %s:\n%s", v, i, fmt.Sprint(s), d)
			}
		}
	}
}

package group_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weir-broker/weir/broker/batch"
	"github.com/weir-broker/weir/broker/coordinator"
	"github.com/weir-broker/weir/broker/group"
	"github.com/weir-broker/weir/broker/policy"
)

// keptLog is a log in memory that commits what is appended at once.
type keptLog struct {
	mu      sync.Mutex
	batches [][]byte
	end     batch.Offset
}

func (l *keptLog) Append(_ batch.LeaderEpoch, raw []byte) (batch.Offset, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	raw = slices.Clone(raw)
	base := l.end
	batch.SetBaseOffset(raw, base)
	h, err := batch.ParseHeader(raw)
	if err != nil {
		return 0, err
	}
	l.batches, l.end = append(l.batches, raw), h.NextOffset()
	return base, nil
}

func (l *keptLog) Read(_ batch.LeaderEpoch, from batch.Offset, _ int, dst []byte) ([]byte, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, raw := range l.batches {
		if h, err := batch.ParseHeader(raw); err != nil || h.LastOffset() >= from {
			return append(dst, raw...), err
		}
	}
	return dst, nil
}

func (l *keptLog) Committed(batch.LeaderEpoch, batch.Offset) (bool, error) { return true, nil }

func (l *keptLog) Extent() (start, end batch.Offset, maxBatchBytes int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return 0, l.end, 1 << 20
}

func (l *keptLog) Watch() (<-chan struct{}, func()) { return make(chan struct{}), func() {} }

// TestConsumersSettleOnCoordinator lets members join at once, on the runtime that serves them: with targets computed by
// its workers, timers that go off at once, and one load from the log on the way.
func TestConsumersSettleOnCoordinator(t *testing.T) {
	const members, partitions = 6, 12
	opt := group.Options{OffsetsRetention: time.Hour, OffsetsRetentionCheckEvery: time.Hour, Consumer: group.ConsumerOptions{
		SessionTimeout: group.Bounded{Default: time.Minute}, HeartbeatInterval: group.Bounded{Default: time.Second}, MaxSize: 100,
		Assignors: []group.NamedAssignor{{Name: policy.UniformAssignorName, Assignor: policy.UniformAssignor()}},
	}}
	rt := coordinator.New(coordinator.Options{Name: "group-coordinator"}, func(int32) *group.Shard { return group.New(opt) })
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	defer rt.Close(ctx)
	img := targetImage(t, targetTopic{"t", 1, partitions})
	rt.Publish(func(s *group.Shard, now time.Time, _ group.Token) group.Effects { return s.Publish(now, img) })
	log := &keptLog{}
	rt.Elect(0, 1, log)

	var wg sync.WaitGroup
	var owned [members]atomic.Int32
	settled := func() bool {
		for i := range owned {
			if owned[i].Load() != partitions/members {
				return false
			}
		}
		return true
	}
	reload := make(chan struct{})
	for i := range members {
		wg.Go(func() {
			id, epoch, beats := fmt.Sprintf("m%d", i), int32(0), 0
			has := []kmsg.ConsumerGroupHeartbeatRequestTopic{}
			for ctx.Err() == nil && !settled() {
				req := kmsg.NewPtrConsumerGroupHeartbeatRequest()
				req.Version, req.Group, req.MemberID, req.MemberEpoch, req.Topics = 1, "g", id, epoch, has
				if epoch == 0 {
					req.RebalanceTimeoutMillis, req.SubscribedTopicNames = 60_000, []string{"t"}
					req.Topics = []kmsg.ConsumerGroupHeartbeatRequestTopic{}
				}
				r, err := rt.Submit(0, func(s *group.Shard, now time.Time, token group.Token) group.Effects {
					return s.ConsumerGroupHeartbeat(now, group.Client{}, token, req)
				}).Wait(ctx)
				if err != nil {
					continue // it is loading, or was dropped: ask again
				}
				resp := r.(*kmsg.ConsumerGroupHeartbeatResponse)
				if resp.ErrorCode != 0 {
					t.Errorf("%s: code %d %s", id, resp.ErrorCode, *resp.ErrorMessage)
					return
				}
				epoch = resp.MemberEpoch
				if resp.Assignment != nil {
					has = []kmsg.ConsumerGroupHeartbeatRequestTopic{}
					for _, topic := range resp.Assignment.Topics {
						has = append(has, kmsg.ConsumerGroupHeartbeatRequestTopic{TopicID: topic.TopicID, Partitions: topic.Partitions})
					}
					owned[i].Store(int32(len(slices.Concat(partitionsOf(has)...))))
				}
				if beats++; i == 0 && beats == 3 {
					close(reload)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() {
		wg.Wait()
		close(done)
	}()
	select {
	case <-reload:
		rt.Elect(0, 2, log)
	case <-done:
	}
	<-done
	for i := range owned {
		if n := owned[i].Load(); n != partitions/members {
			t.Errorf("m%d has %d partitions", i, n)
		}
	}
}

func partitionsOf(topics []kmsg.ConsumerGroupHeartbeatRequestTopic) (lists [][]int32) {
	for _, topic := range topics {
		lists = append(lists, topic.Partitions)
	}
	return lists
}

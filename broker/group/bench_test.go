package group

import (
	"fmt"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weir-broker/weir/broker/coordinator"
)

// stableGroup is a Shard with a stable group of n members.
func stableGroup(b *testing.B, n int) (*Shard, time.Time) {
	b.Helper()
	opt := testOptions()
	opt.MaxRecordsSize = 0
	s, now := New(opt), time.UnixMilli(1_700_000_000_000)
	apply := func(e Effects) {
		for _, r := range e.Records {
			if err := s.Replay(0, coordinator.NoProducer(), r); err != nil {
				b.Fatal(err)
			}
		}
	}
	apply(s.Loaded(now))
	for i := range n {
		apply(s.JoinGroup(now, Client{ID: "c", UUID: fmt.Sprint(i)}, 1, &kmsg.JoinGroupRequest{
			Version: 3, Group: "g", SessionTimeoutMillis: 10000, ProtocolType: "consumer", Protocols: []kmsg.JoinGroupRequestProtocol{{Name: "range", Metadata: make([]byte, 50)}},
		}))
	}
	apply(s.Expire(now, TimerKey{Kind: JoinTimer, Group: "g"}))
	apply(s.Expire(now, TimerKey{Kind: JoinTimer, Group: "g"}))
	apply(s.SyncGroup(now, 1, &kmsg.SyncGroupRequest{Version: 3, Group: "g", MemberID: "c-0", Generation: 1}))
	if g := s.groups["g"]; g.state != stable || len(g.members) != n {
		b.Fatalf("%+v", g)
	}
	return s, now
}

func BenchmarkHeartbeat(b *testing.B) {
	s, now := stableGroup(b, 100)
	req := &kmsg.HeartbeatRequest{Version: 4, Group: "g", MemberID: "c-7", Generation: 1}
	b.ReportAllocs()
	for b.Loop() {
		s.Heartbeat(now, 1, req)
	}
}

func BenchmarkOffsetCommit(b *testing.B) {
	for _, partitions := range []int{1, 10} {
		b.Run(fmt.Sprint(partitions, " partitions"), func(b *testing.B) {
			s, now := stableGroup(b, 100)
			req := &kmsg.OffsetCommitRequest{Version: 9, Group: "g", MemberID: "c-7", Generation: 1, RetentionTimeMillis: -1, Topics: []kmsg.OffsetCommitRequestTopic{{Topic: "orders"}}}
			for i := range partitions {
				req.Topics[0].Partitions = append(req.Topics[0].Partitions, kmsg.OffsetCommitRequestTopicPartition{Partition: int32(i), Offset: 5, LeaderEpoch: -1})
			}
			b.ReportAllocs()
			for b.Loop() {
				e := s.OffsetCommit(now, 1, req)
				for _, r := range e.Records {
					if err := s.Replay(0, coordinator.NoProducer(), r); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

func BenchmarkRebalance(b *testing.B) {
	for _, members := range []int{100, 10000} {
		b.Run(fmt.Sprint(members, " members"), func(b *testing.B) {
			for b.Loop() {
				stableGroup(b, members)
			}
		})
	}
}

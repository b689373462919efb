package api

import (
	"context"
	"runtime"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weir-broker/weir/broker/batch"
	"github.com/weir-broker/weir/broker/config"
	"github.com/weir-broker/weir/broker/coordinator"
	"github.com/weir-broker/weir/broker/group"
	"github.com/weir-broker/weir/broker/metadata"
	"github.com/weir-broker/weir/broker/partition"
)

// rigGroups are the group coordinators of a rig, on the partitions of its table.
type rigGroups struct{ *group.Runtime }

func newRigGroups(cfg *config.Broker) rigGroups {
	return rigGroups{coordinator.New(coordinator.Options{Name: "group-coordinator"}, func(int32) *group.Shard {
		return group.New(group.Options{
			InitialRebalanceDelay: cfg.GroupInitialRebalanceDelay,
			MinSessionTimeout:     cfg.GroupMinSessionTimeout, MaxSessionTimeout: cfg.GroupMaxSessionTimeout, MaxSize: int(cfg.GroupMaxSize),
			OffsetMetadataMaxSize: int(cfg.OffsetMetadataMaxBytes), MaxRecordsSize: 1 << 20,
			OffsetsRetention: cfg.OffsetsRetention, OffsetsRetentionCheckEvery: cfg.OffsetsRetentionCheck,
		})
	})}
}

func (g rigGroups) follow(img *metadata.Image, table *partition.Table) {
	t := img.Topic(offsetsTopic)
	if t == nil {
		return
	}
	for index := range t.PartitionCount() {
		if p, err := table.Lookup(offsetsTopic, index); err == nil {
			_, epoch := p.Leadership()
			g.Elect(index, epoch, rigLog{p})
		}
	}
}

// rigLog is a partition as a coordinator sees it.
type rigLog struct{ *partition.Partition }

func (l rigLog) Append(epoch batch.LeaderEpoch, raw []byte) (batch.Offset, error) {
	result, err := l.Partition.Append(partition.AppendRequest{Raw: raw, Acks: partition.AcksAll, Origin: batch.OriginCoordinator, CurrentLeaderEpoch: epoch})
	return result.BaseOffset, err
}

func (l rigLog) Read(epoch batch.LeaderEpoch, from batch.Offset, maxBytes int, dst []byte) ([]byte, error) {
	return l.ReadToEnd(epoch, from, maxBytes, dst)
}

func (l rigLog) Committed(_ batch.LeaderEpoch, next batch.Offset) (bool, error) {
	return l.AckState(next)
}

func (l rigLog) Extent() (start, end batch.Offset, maxBatchBytes int) {
	return l.LogStartOffset(), l.LogEndOffset(), 1 << 20
}

func (l rigLog) Watch() (<-chan struct{}, func()) {
	w := partition.NewWaiter()
	l.Partition.Watch(w)
	return w.C(), func() { l.Unwatch(w) }
}

// awaitGroups waits until all coordinators are loaded.
func (r *rig) awaitGroups() {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	for _, index := range r.handler.groups.Partitions() {
		for {
			f := r.handler.groups.Submit(index, func(_ *group.Shard, _ time.Time, token coordinator.Token) group.Effects {
				return group.Effects{Replies: []group.Reply{{Token: token}}}
			})
			if _, err := f.Wait(ctx); err == nil {
				break
			} else if ctx.Err() != nil {
				r.t.Fatal(err)
			}
			runtime.Gosched()
		}
	}
}

// sampleGroupRequest fills in a request of the groups' APIs. Each version joins a group of its own.
func sampleGroupRequest(req kmsg.Request, version int16) {
	id := "g" + itoa(int(version))
	switch q := req.(type) {
	case *kmsg.FindCoordinatorRequest:
		q.CoordinatorKey, q.CoordinatorKeys = id, []string{id}
	case *kmsg.OffsetCommitRequest:
		p := kmsg.NewOffsetCommitRequestTopicPartition()
		p.Offset = 5
		q.Group = "offsets"
		q.Topics = []kmsg.OffsetCommitRequestTopic{{Topic: "a", TopicID: topicID("a"), Partitions: []kmsg.OffsetCommitRequestTopicPartition{p}}}
	case *kmsg.OffsetFetchRequest:
		q.Group = "offsets"
		q.Topics = []kmsg.OffsetFetchRequestTopic{{Topic: "a", Partitions: []int32{0}}}
		g := kmsg.NewOffsetFetchRequestGroup()
		g.Group, g.Topics = "offsets", []kmsg.OffsetFetchRequestGroupTopic{{Topic: "a", TopicID: topicID("a"), Partitions: []int32{0}}}
		q.Groups = []kmsg.OffsetFetchRequestGroup{g}
	case *kmsg.JoinGroupRequest:
		q.Group, q.ProtocolType, q.SessionTimeoutMillis, q.RebalanceTimeoutMillis = id, "consumer", 10_000, 10_000
		q.Protocols = []kmsg.JoinGroupRequestProtocol{{Name: "range", Metadata: []byte{0, 0, 0, 0, 0, 0}}}
	case *kmsg.SyncGroupRequest:
		q.Group, q.MemberID, q.ProtocolType, q.Protocol = id, "nobody", kmsg.StringPtr("consumer"), kmsg.StringPtr("range")
		q.GroupAssignment = []kmsg.SyncGroupRequestGroupAssignment{{MemberID: "nobody", MemberAssignment: []byte("all")}}
	case *kmsg.HeartbeatRequest:
		q.Group, q.MemberID = id, "nobody"
	case *kmsg.LeaveGroupRequest:
		q.Group, q.MemberID = id, "nobody"
		q.Members = []kmsg.LeaveGroupRequestMember{{MemberID: "nobody"}}
	case *kmsg.DescribeGroupsRequest:
		q.Groups, q.IncludeAuthorizedOperations = []string{id, "none"}, true
	case *kmsg.ListGroupsRequest:
		q.StatesFilter, q.TypesFilter = []string{"Stable", "Empty"}, []string{"classic"}
	case *kmsg.DeleteGroupsRequest:
		q.Groups = []string{"none", "none"}
	case *kmsg.OffsetDeleteRequest:
		q.Group = "offsets"
		q.Topics = []kmsg.OffsetDeleteRequestTopic{{Topic: "a", Partitions: []kmsg.OffsetDeleteRequestTopicPartition{{}}}}
	}
}

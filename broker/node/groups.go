package node

import (
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/weir-broker/weir/broker/batch"
	"github.com/weir-broker/weir/broker/config"
	"github.com/weir-broker/weir/broker/coordinator"
	"github.com/weir-broker/weir/broker/group"
	"github.com/weir-broker/weir/broker/metadata"
	"github.com/weir-broker/weir/broker/partition"
	"github.com/weir-broker/weir/broker/policy"
)

// groups are the group coordinators on this broker: a shard for each partition of __consumer_offsets that it leads.
type groups struct {
	*group.Runtime
	topic *internalTopic
	table *partition.Table
	self  metadata.BrokerID
	log   *slog.Logger
	image *metadata.Image // the last one applied; nil before the first
}

// recordOverhead is at least what a batch adds to the key and the value of a single record.
const recordOverhead = batch.HeaderLen + 64

func newGroups(cfg *config.Broker, table *partition.Table, registerer prometheus.Registerer, log *slog.Logger) *groups {
	const name = "__consumer_offsets"
	shard := func(index int32) *group.Shard {
		opt := groupOptions(cfg)
		if p, err := table.Lookup(name, index); err == nil {
			opt.MaxRecordsSize = max(1, int(p.Config().MaxMessageBytes)-recordOverhead)
		}
		return group.New(opt)
	}
	g := &groups{table: table, self: metadata.BrokerID(cfg.NodeID), log: log}
	g.Runtime = coordinator.New(coordinator.Options{
		Name: "group-coordinator", Logger: log, Registerer: registerer,
		Compression:   batch.CompressionOf(batch.Codec(cfg.OffsetsTopicCompression)),
		Linger:        max(0, cfg.GroupCoordinatorLinger),
		CommitTimeout: cfg.OffsetsCommitTimeout, LoadBytes: int(cfg.OffsetsLoadBufferBytes),
	}, shard)
	g.topic = &internalTopic{name: name, shards: g.Runtime}
	return g
}

func groupOptions(cfg *config.Broker) group.Options {
	return group.Options{
		InitialRebalanceDelay: cfg.GroupInitialRebalanceDelay,
		MinSessionTimeout:     cfg.GroupMinSessionTimeout, MaxSessionTimeout: cfg.GroupMaxSessionTimeout, MaxSize: int(cfg.GroupMaxSize),
		OffsetMetadataMaxSize: int(cfg.OffsetMetadataMaxBytes),
		OffsetsRetention:      cfg.OffsetsRetention, OffsetsRetentionCheckEvery: cfg.OffsetsRetentionCheck,
		Consumer: group.ConsumerOptions{
			SessionTimeout: group.Bounded(cfg.GroupConsumerSession), HeartbeatInterval: group.Bounded(cfg.GroupConsumerHeartbeat),
			AssignmentInterval: group.Bounded(cfg.GroupConsumerAssignment), MaxSize: int(cfg.GroupConsumerMaxSize),
			RegexRefreshInterval: cfg.GroupConsumerRegexRefresh,
			Assignors: []group.NamedAssignor{
				{Name: policy.UniformAssignorName, Assignor: policy.UniformAssignor()}, {Name: policy.RangeAssignorName, Assignor: policy.RangeAssignor()},
			},
		},
	}
}

// apply makes the coordinators follow an image that the table has applied: shards come and go with the leadership of
// their partitions, know the topics there are, and forget the offsets of topics that were deleted.
func (g *groups) apply(img *metadata.Image) {
	g.topic.follow(img, g.table, g.self)
	g.Publish(func(s *group.Shard, now time.Time, _ coordinator.Token) group.Effects { return s.Publish(now, img) })
	before := g.image
	g.image = img
	if before == nil {
		return
	}
	var deleted []group.DeletedTopic
	for change := range metadata.ChangedTopics(before, img) {
		if change.New != nil {
			break // deletions come first
		}
		deleted = append(deleted, group.DeletedTopic{ID: change.Old.ID, Name: change.Old.Name})
	}
	if len(deleted) == 0 {
		return
	}
	for _, index := range g.Partitions() {
		err := g.Tell(index, func(s *group.Shard, now time.Time, _ coordinator.Token) group.Effects {
			return s.TopicsDeleted(now, deleted)
		})
		if err != nil {
			// As on Kafka: they go with their retention.
			g.log.Warn("offsets of deleted topics are kept", "partition", index, "topics", len(deleted), "error", err)
		}
	}
}

package api

import (
	"log/slog"
	"strconv"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weir-broker/weir/broker/config"
	"github.com/weir-broker/weir/broker/controller"
	"github.com/weir-broker/weir/broker/metadata"
)

// autoCreate creates the topics of a Metadata request that do not exist.
func (h *Handler) autoCreate(r *request, topics []kmsg.MetadataRequestTopic) {
	var names []string
	seen := map[string]bool{}
	for i := range topics {
		name := topics[i].Topic
		if name == nil || topics[i].TopicID != [16]byte{} || seen[*name] || r.image.Topic(*name) != nil || !validTopicName(*name) {
			continue
		}
		seen[*name] = true
		names = append(names, *name)
	}
	h.createTopicsAskedFor(r, names)
}

// createTopicsAskedFor creates topics that somebody wants to use, with the broker's defaults, and moves the request on to
// the image that has them. It waits, so that the answer to the request has them.
func (h *Handler) createTopicsAskedFor(r *request, names []string) {
	if len(names) == 0 || h.controller == nil {
		return
	}
	var create controller.CreateTopicsRequest
	for _, name := range names {
		topic := controller.CreateTopic{Name: name, Partitions: -1, ReplicationFactor: -1}
		if name == offsetsTopic {
			topic = newOffsetsTopic(h.config.Load(), r.image)
		}
		create.Topics = append(create.Topics, topic)
	}
	ctx, cancel := r.context(int32(h.config.Load().RequestTimeout.Milliseconds()))
	defer cancel()
	results, err := h.controller.CreateTopics(ctx, create)
	if err != nil {
		r.log(slog.LevelWarn, "automatic topic creation failed", slog.Any("error", err))
		return
	}
	var created []string
	for i := range results {
		switch {
		case results[i].Err == nil || results[i].Err.Kind == controller.TopicAlreadyExists:
			created = append(created, results[i].Name)
		default:
			r.log(slog.LevelWarn, "automatic topic creation failed", slog.String("topic", results[i].Name), slog.Any("error", results[i].Err))
		}
	}
	h.awaitTopics(ctx, created)
	r.image = h.image.Load()
}

// newOffsetsTopic is __consumer_offsets as the broker creates it. A node that is the whole cluster cannot have more than
// one replica, whatever offsets.topic.replication.factor says. Any other cluster gets what is configured or, while too few
// brokers are alive, no topic yet: a replica too few would not be noticed until it is needed.
func newOffsetsTopic(cfg *config.Broker, img *metadata.Image) controller.CreateTopic {
	value := func(name, v string) controller.ConfigValue { return controller.ConfigValue{Name: name, Value: &v} }
	replicas := cfg.OffsetsTopicReplication
	if img.BrokerCount() == 1 && cfg.ControllerRole && len(cfg.QuorumVoters) <= 1 {
		replicas = 1
	}
	return controller.CreateTopic{
		Name: offsetsTopic, Partitions: cfg.OffsetsTopicPartitions, ReplicationFactor: replicas,
		Configs: []controller.ConfigValue{
			value("cleanup.policy", "compact"), value("compression.type", "producer"),
			value("segment.bytes", strconv.Itoa(int(cfg.OffsetsTopicSegmentBytes))),
		},
	}
}

package api

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weir-broker/weir/broker/controller"
	"github.com/weir-broker/weir/broker/metadata"
)

// CreateTopics (19), versions 2-7.
//
// KIP-4, KIP-464 (v4: -1 for the broker's defaults), KIP-525 (v5: the new topic's configuration in the
// answer), KIP-599 (v6: quota error), KIP-516 (v7: topic ids). Answered once this broker can serve
// the topics.
//
// No deviations.
func (h *Handler) createTopics(r *request, req *kmsg.CreateTopicsRequest) kmsg.Response {
	ask := controller.CreateTopicsRequest{ValidateOnly: req.ValidateOnly}
	for i := range req.Topics {
		t := &req.Topics[i]
		topic := controller.CreateTopic{Name: t.Topic, Partitions: t.NumPartitions, ReplicationFactor: t.ReplicationFactor, Describable: true}
		for j := range t.ReplicaAssignment {
			topic.Assignments = append(topic.Assignments, controller.ReplicaAssignment{Index: t.ReplicaAssignment[j].Partition, Brokers: toBrokerIDs(t.ReplicaAssignment[j].Replicas)})
		}
		for j := range t.Configs {
			topic.Configs = append(topic.Configs, controller.ConfigValue{Name: t.Configs[j].Name, Value: t.Configs[j].Value})
		}
		ask.Topics = append(ask.Topics, topic)
	}
	resp := kmsg.NewPtrCreateTopicsResponse()
	resp.Topics = make([]kmsg.CreateTopicsResponseTopic, 0, len(req.Topics))
	ctx, cancel := r.context(req.TimeoutMillis)
	defer cancel()
	results, err := h.controller.CreateTopics(ctx, ask)
	if err != nil {
		for i := range req.Topics {
			t := newCreateTopicsResponseTopic(req.Topics[i].Topic)
			t.ErrorCode, t.ErrorMessage = refusal(err)
			resp.Topics = append(resp.Topics, t)
		}
		return resp
	}
	var created []string
	for i := range results {
		t := newCreateTopicsResponseTopic(results[i].Name)
		t.TopicID = results[i].ID
		t.ErrorCode, t.ErrorMessage = outcome(results[i].Err)
		if results[i].Err == nil {
			created = append(created, results[i].Name)
			if results[i].Describable {
				t.NumPartitions, t.ReplicationFactor = results[i].Partitions, results[i].ReplicationFactor
				t.Configs = createdConfigs(results[i].Configs)
			}
		}
		resp.Topics = append(resp.Topics, t)
	}
	if !req.ValidateOnly {
		h.awaitTopics(ctx, created)
	}
	return resp
}

func newCreateTopicsResponseTopic(name string) kmsg.CreateTopicsResponseTopic {
	t := kmsg.NewCreateTopicsResponseTopic()
	t.Topic = name
	t.NumPartitions, t.ReplicationFactor = -1, -1
	t.Configs = []kmsg.CreateTopicsResponseTopicConfig{}
	return t
}

func createdConfigs(entries []controller.ConfigEntry) []kmsg.CreateTopicsResponseTopicConfig {
	out := make([]kmsg.CreateTopicsResponseTopicConfig, 0, len(entries))
	for i := range entries {
		e := &entries[i]
		out = append(out, kmsg.CreateTopicsResponseTopicConfig{Name: e.Name, Value: e.Value, ReadOnly: e.ReadOnly, Source: e.Source, IsSensitive: e.Sensitive})
	}
	return out
}

// refusal is the code and message for every item of a request that the controller did not take.
func refusal(err error) (int16, *string) { return int16(codeOf(err)), nilIfEmpty(err.Error()) }

func toBrokerIDs(ids []int32) []metadata.BrokerID {
	out := make([]metadata.BrokerID, len(ids))
	for i, id := range ids {
		out[i] = metadata.BrokerID(id)
	}
	return out
}

package api

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weir-broker/weir/broker/metadata"
)

// Metadata (3), versions 0-13.
//
// KIP-4, KIP-112 (offline replicas), KIP-430 (authorized operations), KIP-516 (topic ids), KIP-1102
// (v13). v0 asks for all topics with an empty list, later versions with null.
//
// Deviations: a topic that is created because it was asked for (auto.create.topics.enable) is in the
// very answer; Kafka answers UNKNOWN_TOPIC_OR_PARTITION first and the client asks again. Topics come
// in the order asked for.
func (h *Handler) metadata(r *request, req *kmsg.MetadataRequest) kmsg.Response {
	all := req.Topics == nil || (r.version == 0 && len(req.Topics) == 0)
	if !validMetadataTopics(r, req) {
		// As Kafka's generic error answer: the error of each topic asked for.
		return h.metadataInvalid(req)
	}
	mayCreate := req.AllowAutoTopicCreation || r.version < 4
	if !all && mayCreate && h.config.Load().AutoCreateTopics {
		h.autoCreate(r, req.Topics)
	}

	resp := kmsg.NewPtrMetadataResponse()
	resp.ClusterID = nilIfEmpty(r.image.ClusterID)
	resp.ControllerID = r.controllerID()
	resp.Brokers = []kmsg.MetadataResponseBroker{}
	for _, n := range r.aliveNodes() {
		resp.Brokers = append(resp.Brokers, kmsg.MetadataResponseBroker{NodeID: int32(n.id), Host: n.host, Port: n.port, Rack: nilIfEmpty(n.rack)})
	}
	resp.AuthorizedOperations = operationsNotAsked
	if req.IncludeClusterAuthorizedOperations {
		resp.AuthorizedOperations = clusterOperations
	}
	resp.Topics = []kmsg.MetadataResponseTopic{}
	if all {
		for _, t := range r.image.Topics() {
			resp.Topics = append(resp.Topics, r.metadataTopic(t, req.IncludeTopicAuthorizedOperations))
		}
		return resp
	}
	h.metadataNamed(r, req, resp)
	return resp
}

// metadataNamed answers for the topics asked for, each once. A request with ids ignores names.
func (h *Handler) metadataNamed(r *request, req *kmsg.MetadataRequest, resp *kmsg.MetadataResponse) {
	byID := false
	for i := range req.Topics {
		byID = byID || req.Topics[i].TopicID != [16]byte{}
	}
	seenIDs, seenNames := map[[16]byte]bool{}, map[string]bool{}
	for i := range req.Topics {
		asked := &req.Topics[i]
		var t *metadata.Topic
		if byID {
			if asked.TopicID == [16]byte{} || seenIDs[asked.TopicID] {
				continue
			}
			seenIDs[asked.TopicID] = true
			t = r.image.TopicByID(metadata.TopicID(asked.TopicID))
		} else {
			if seenNames[*asked.Topic] {
				continue
			}
			seenNames[*asked.Topic] = true
			t = r.image.Topic(*asked.Topic)
		}
		if t != nil {
			resp.Topics = append(resp.Topics, r.metadataTopic(t, req.IncludeTopicAuthorizedOperations))
			continue
		}
		missing := kmsg.NewMetadataResponseTopic()
		missing.Partitions = []kmsg.MetadataResponseTopicPartition{}
		missing.AuthorizedOperations = operationsNotAsked
		switch {
		case byID:
			missing.ErrorCode, missing.TopicID = int16(CodeUnknownTopicID), asked.TopicID
			if r.version < 12 {
				missing.Topic = stringPtr("")
			}
		case !validTopicName(*asked.Topic):
			missing.ErrorCode, missing.Topic = int16(CodeInvalidTopicException), asked.Topic
		default:
			missing.ErrorCode, missing.Topic = int16(CodeUnknownTopicOrPartition), asked.Topic
			missing.IsInternal = metadata.InternalTopic(*asked.Topic)
			if req.IncludeTopicAuthorizedOperations {
				missing.AuthorizedOperations = topicOperations
			}
		}
		resp.Topics = append(resp.Topics, missing)
	}
}

// validMetadataTopics checks what the schema cannot: null names and ids need version 12.
func validMetadataTopics(r *request, req *kmsg.MetadataRequest) bool {
	for i := range req.Topics {
		t := &req.Topics[i]
		if r.version < 12 && (t.Topic == nil || t.TopicID != [16]byte{}) {
			return false
		}
		if t.Topic == nil && t.TopicID == [16]byte{} {
			return false
		}
	}
	return true
}

func (h *Handler) metadataInvalid(req *kmsg.MetadataRequest) kmsg.Response {
	resp := kmsg.NewPtrMetadataResponse()
	resp.ControllerID = -1
	resp.Brokers = []kmsg.MetadataResponseBroker{}
	resp.Topics = []kmsg.MetadataResponseTopic{}
	resp.AuthorizedOperations = operationsNotAsked
	for i := range req.Topics {
		t := kmsg.NewMetadataResponseTopic()
		t.ErrorCode, t.TopicID, t.Topic = int16(CodeInvalidRequest), req.Topics[i].TopicID, req.Topics[i].Topic
		if t.Topic == nil {
			t.Topic = stringPtr("")
		}
		t.Partitions = []kmsg.MetadataResponseTopicPartition{}
		t.AuthorizedOperations = operationsNotAsked
		resp.Topics = append(resp.Topics, t)
	}
	return resp
}

func (r *request) metadataTopic(t *metadata.Topic, operations bool) kmsg.MetadataResponseTopic {
	out := kmsg.NewMetadataResponseTopic()
	out.Topic, out.TopicID, out.IsInternal = &t.Name, t.ID, t.Internal()
	out.AuthorizedOperations = operationsNotAsked
	if operations {
		out.AuthorizedOperations = topicOperations
	}
	out.Partitions = make([]kmsg.MetadataResponseTopicPartition, 0, t.PartitionCount())
	for index, p := range t.Partitions() {
		out.Partitions = append(out.Partitions, r.metadataPartition(index, p))
	}
	return out
}

func (r *request) metadataPartition(index int32, p *metadata.Partition) kmsg.MetadataResponseTopicPartition {
	out := kmsg.NewMetadataResponseTopicPartition()
	out.Partition, out.LeaderEpoch = index, int32(p.LeaderEpoch)
	out.Replicas, out.ISR = brokerIDs(p.Replicas), brokerIDs(p.ISR)
	out.OfflineReplicas = r.offlineReplicas(p)
	if r.version == 0 { // names only the replicas that are there
		out.Replicas, out.ISR = r.aliveOnly(out.Replicas), r.aliveOnly(out.ISR)
	}
	if _, ok := r.node(p.Leader); ok {
		out.Leader = int32(p.Leader)
		if len(out.Replicas) < len(p.Replicas) || len(out.ISR) < len(p.ISR) {
			out.ErrorCode = int16(CodeReplicaNotAvailable)
		}
		return out
	}
	out.Leader = int32(metadata.NoLeader)
	out.ErrorCode = int16(CodeLeaderNotAvailable)
	if b := r.image.Broker(p.Leader); b != nil && !b.Fenced && r.version >= 6 {
		out.ErrorCode = int16(CodeListenerNotFound)
	}
	return out
}

func (r *request) aliveOnly(ids []int32) []int32 {
	alive := ids[:0]
	for _, id := range ids {
		if r.replicaAlive(metadata.BrokerID(id)) {
			alive = append(alive, id)
		}
	}
	return alive
}

package api

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weir-broker/weir/broker/metadata"
)

const (
	quorumTopic = "__cluster_metadata"
)

// DescribeQuorum (55), versions 0-2.
//
// KIP-595, KIP-836 (v1: fetch times), KIP-853 (v2: directory ids, voters' listeners). Offsets are indexes of the
// metadata log.
//
// Deviations: weir's quorum is not KRaft; the one voter is this node, and it is caught up by definition.
func (h *Handler) describeQuorum(r *request, req *kmsg.DescribeQuorumRequest) kmsg.Response {
	resp := kmsg.NewPtrDescribeQuorumResponse()
	resp.Topics = make([]kmsg.DescribeQuorumResponseTopic, 0, len(req.Topics))
	described := false // the nodes come with the quorum itself, not with errors
	for i := range req.Topics {
		out := kmsg.NewDescribeQuorumResponseTopic()
		out.Topic = req.Topics[i].Topic
		for j := range req.Topics[i].Partitions {
			p := h.quorumPartition(r, out.Topic, req.Topics[i].Partitions[j].Partition)
			described = described || p.ErrorCode == int16(CodeNone)
			out.Partitions = append(out.Partitions, p)
		}
		resp.Topics = append(resp.Topics, out)
	}
	resp.ErrorMessage, resp.Nodes = stringPtr(""), []kmsg.DescribeQuorumResponseNode{}
	if described {
		resp.Nodes = append(resp.Nodes, h.quorumNode())
	}
	return resp
}

func (h *Handler) quorumPartition(r *request, topic string, index int32) kmsg.DescribeQuorumResponseTopicPartition {
	out := kmsg.NewDescribeQuorumResponseTopicPartition()
	out.Partition = index
	out.CurrentVoters, out.Observers = []kmsg.DescribeQuorumResponseTopicPartitionReplicaState{}, []kmsg.DescribeQuorumResponseTopicPartitionReplicaState{}
	if topic != quorumTopic || index != 0 {
		out.ErrorCode = int16(CodeUnknownTopicOrPartition)
		return out
	}
	now := h.now().UnixMilli()
	voter := kmsg.NewDescribeQuorumResponseTopicPartitionReplicaState()
	voter.ReplicaID, voter.LogEndOffset = h.nodeID(), int64(r.image.Index)+1
	voter.LastFetchTimestamp, voter.LastCaughtUpTimestamp = now, now
	if b := r.image.Broker(metadata.BrokerID(h.nodeID())); b != nil && len(b.LogDirs) > 0 {
		voter.ReplicaDirectoryID = b.LogDirs[0]
	}
	out.ErrorMessage = stringPtr("")
	out.LeaderID, out.LeaderEpoch = h.nodeID(), int32(r.image.Term)
	out.HighWatermark = int64(r.image.Index) + 1
	out.CurrentVoters = append(out.CurrentVoters, voter)
	return out
}

func (h *Handler) quorumNode() kmsg.DescribeQuorumResponseNode {
	cfg := h.config.Load()
	out := kmsg.NewDescribeQuorumResponseNode()
	out.NodeID = cfg.NodeID
	out.Listeners = []kmsg.DescribeQuorumResponseNodeListener{}
	for _, l := range cfg.ControllerListeners {
		out.Listeners = append(out.Listeners, kmsg.DescribeQuorumResponseNodeListener{Name: l.Name, Host: l.Host, Port: uint16(l.Port)})
	}
	return out
}

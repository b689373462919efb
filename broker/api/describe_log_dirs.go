package api

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weir-broker/weir/broker/metadata"
)

// DescribeLogDirs (35), versions 1-5.
//
// KIP-113, KIP-827 (v4: total and usable bytes), KIP-1066 (v5: cordoned directories).
//
// No deviations.
func (h *Handler) describeLogDirs(r *request, req *kmsg.DescribeLogDirsRequest) kmsg.Response {
	resp := kmsg.NewPtrDescribeLogDirsResponse()
	resp.Dirs = []kmsg.DescribeLogDirsResponseDir{}
	var asked map[topicPartition]bool // nil: all
	if req.Topics != nil {
		asked = make(map[topicPartition]bool)
		for i := range req.Topics {
			for _, index := range req.Topics[i].Partitions {
				asked[topicPartition{req.Topics[i].Topic, index}] = true
			}
		}
	}
	self := r.image.Broker(metadata.BrokerID(h.nodeID()))
	for _, dir := range h.replicas.LogDirs() {
		out := kmsg.NewDescribeLogDirsResponseDir()
		out.Dir, out.Topics = dir.Path, []kmsg.DescribeLogDirsResponseDirTopic{}
		out.TotalBytes, out.UsableBytes = -1, -1
		if dir.Err != nil {
			out.ErrorCode = int16(CodeKafkaStorageError)
			resp.Dirs = append(resp.Dirs, out)
			continue
		}
		out.TotalBytes, out.UsableBytes = dir.TotalBytes, dir.UsableBytes
		if self != nil {
			for _, id := range self.CordonedDirs {
				out.IsCordoned = out.IsCordoned || id == dir.ID
			}
		}
		at := map[string]int{}
		for _, rep := range dir.Replicas {
			if asked != nil && !asked[topicPartition{rep.Topic, rep.Partition}] {
				continue
			}
			i, ok := at[rep.Topic]
			if !ok {
				i = len(out.Topics)
				at[rep.Topic] = i
				out.Topics = append(out.Topics, kmsg.DescribeLogDirsResponseDirTopic{Topic: rep.Topic})
			}
			out.Topics[i].Partitions = append(out.Topics[i].Partitions, kmsg.DescribeLogDirsResponseDirTopicPartition{Partition: rep.Partition, Size: rep.Size, OffsetLag: rep.OffsetLag})
		}
		resp.Dirs = append(resp.Dirs, out)
	}
	return resp
}

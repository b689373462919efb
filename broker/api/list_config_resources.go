package api

import (
	"slices"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weir-broker/weir/broker/metadata"
)

// ListConfigResources (74), versions 0-1.
//
// KIP-714 (v0: client metrics subscriptions), KIP-1142 (v1: any type).
//
// No deviations.
func (h *Handler) listConfigResources(r *request, req *kmsg.ListConfigResourcesRequest) kmsg.Response {
	resp := kmsg.NewPtrListConfigResourcesResponse()
	resp.ConfigResources = []kmsg.ListConfigResourcesResponseConfigResource{}
	types := req.ResourceTypes
	supported := []int8{int8(metadata.ClientMetricsResource)}
	if r.version >= 1 {
		supported = []int8{int8(metadata.GroupResource), int8(metadata.ClientMetricsResource), int8(metadata.BrokerLoggerResource), int8(metadata.BrokerResource), int8(metadata.TopicResource)}
	}
	if len(types) == 0 {
		types = supported
	}
	for _, t := range types {
		if !slices.Contains(supported, t) {
			resp.ErrorCode = int16(CodeUnsupportedVersion)
			return resp
		}
	}
	add := func(t metadata.ResourceType, name string) {
		resp.ConfigResources = append(resp.ConfigResources, kmsg.ListConfigResourcesResponseConfigResource{Name: strings.Clone(name), Type: int8(t)})
	}
	for _, t := range supported { // Kafka's order, each type once
		if !slices.Contains(types, t) {
			continue
		}
		switch kind := metadata.ResourceType(t); kind {
		case metadata.GroupResource, metadata.ClientMetricsResource:
			for res := range r.image.Resources() {
				if res.Type == kind {
					add(kind, res.Name)
				}
			}
		case metadata.BrokerResource, metadata.BrokerLoggerResource:
			for id := range r.image.Brokers() {
				add(kind, strconv.Itoa(int(id)))
			}
		case metadata.TopicResource:
			for name := range r.image.Topics() {
				add(kind, name)
			}
		}
	}
	return resp
}

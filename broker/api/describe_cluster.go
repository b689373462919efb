package api

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"
)

const brokerEndpoint int8 = 1 // EndpointType of KIP-919

// DescribeCluster (60), versions 0-2.
//
// KIP-700, KIP-919 (v1: endpoint type; a broker listener describes brokers only), KIP-1073 (v2: fenced
// brokers). The controller named is a broker that takes its requests.
//
// No deviations.
func (h *Handler) describeCluster(r *request, req *kmsg.DescribeClusterRequest) kmsg.Response {
	resp := kmsg.NewPtrDescribeClusterResponse()
	resp.ControllerID = -1
	resp.ClusterAuthorizedOperations = operationsNotAsked
	resp.EndpointType = brokerEndpoint
	resp.Brokers = []kmsg.DescribeClusterResponseBroker{}
	if r.version >= 1 && req.EndpointType != brokerEndpoint {
		if req.EndpointType == 2 {
			resp.ErrorCode = int16(CodeMismatchedEndpointType)
			resp.ErrorMessage = stringPtr("The request was sent to an endpoint of type BROKER, but we wanted an endpoint of type CONTROLLER")
		} else {
			resp.ErrorCode = int16(CodeUnsupportedEndpointType)
			resp.ErrorMessage = stringPtr(fmt.Sprintf("Unsupported endpoint type %d", req.EndpointType))
		}
		return resp
	}
	resp.ClusterID = r.image.ClusterID
	resp.ControllerID = r.controllerID()
	if req.IncludeClusterAuthorizedOperations {
		resp.ClusterAuthorizedOperations = clusterOperations
	}
	for _, b := range r.image.Brokers() {
		if b.Fenced && !req.IncludeFencedBrokers {
			continue
		}
		if n, ok := r.address(b); ok {
			resp.Brokers = append(resp.Brokers, kmsg.DescribeClusterResponseBroker{NodeID: int32(n.id), Host: n.host, Port: n.port, Rack: nilIfEmpty(n.rack), IsFenced: b.Fenced})
		}
	}
	return resp
}

package api

import (
	"log/slog"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weir-broker/weir/broker/metadata"
)

// The kinds of keys in FindCoordinator.
const (
	groupCoordinator       int8 = 0
	transactionCoordinator int8 = 1
	shareCoordinator       int8 = 2
)

// FindCoordinator (10), versions 0-6.
//
// KIP-98 (v1: kinds of keys), KIP-699 (v4: several keys), KIP-890 (v5), KIP-932 (v6: share coordinators). The coordinator
// of a group is the leader of the partition of __consumer_offsets that keeps it; the topic is created by the first
// request for one.
//
// Deviations: the topic that was created for the request is in the very answer; Kafka answers COORDINATOR_NOT_AVAILABLE
// first and the client asks again. Until there are transactions and share groups, those who look for their coordinators
// get an error that they take as final: TRANSACTIONAL_ID_AUTHORIZATION_FAILED and INVALID_REQUEST.
func (h *Handler) findCoordinator(r *request, req *kmsg.FindCoordinatorRequest) kmsg.Response {
	resp := kmsg.NewPtrFindCoordinatorResponse()
	if r.version < 4 {
		found := h.coordinatorOf(r, req.CoordinatorType, req.CoordinatorKey)
		resp.NodeID, resp.Host, resp.Port, resp.ErrorCode, resp.ErrorMessage = found.NodeID, found.Host, found.Port, found.ErrorCode, found.ErrorMessage
		if resp.ErrorCode == 0 {
			resp.ErrorMessage = stringPtr(CodeNone.String()) // as Kafka, in these versions only
		}
		return resp
	}
	resp.Coordinators = make([]kmsg.FindCoordinatorResponseCoordinator, 0, len(req.CoordinatorKeys))
	for _, key := range req.CoordinatorKeys {
		resp.Coordinators = append(resp.Coordinators, h.coordinatorOf(r, req.CoordinatorType, key))
	}
	return resp
}

func (h *Handler) coordinatorOf(r *request, kind int8, key string) kmsg.FindCoordinatorResponseCoordinator {
	none := func(code Code, message string) kmsg.FindCoordinatorResponseCoordinator {
		return kmsg.FindCoordinatorResponseCoordinator{Key: key, NodeID: -1, Port: -1, ErrorCode: int16(code), ErrorMessage: &message}
	}
	switch {
	case kind == transactionCoordinator:
		r.log(slog.LevelWarn, "transactions are not supported: a client that looks for their coordinator was refused", slog.String("transactional_id", key))
		return none(CodeTransactionalIDAuthorizationFailed, "this broker does not support transactions")
	case kind == shareCoordinator:
		return none(CodeInvalidRequest, "this broker does not support share groups")
	case kind != groupCoordinator:
		return none(CodeInvalidRequest, "there is no such kind of coordinator")
	}
	if r.image.Topic(offsetsTopic) == nil {
		h.createTopicsAskedFor(r, []string{offsetsTopic})
	}
	p := r.image.Partition(offsetsTopic, r.groupPartition(key))
	if p == nil {
		return none(CodeCoordinatorNotAvailable, "the topic that keeps groups, "+offsetsTopic+", could not be created: the broker's log says why")
	}
	if p.Leader != metadata.NoLeader {
		if n, ok := r.node(p.Leader); ok {
			return kmsg.FindCoordinatorResponseCoordinator{Key: key, NodeID: int32(n.id), Host: n.host, Port: n.port, ErrorMessage: stringPtr("")}
		}
	}
	return none(CodeCoordinatorNotAvailable, "the partition that keeps this group has no leader")
}

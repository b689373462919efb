package api

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weir-broker/weir/broker/controller"
	"github.com/weir-broker/weir/broker/metadata"
)

// DeleteTopics (20), versions 1-6.
//
// KIP-4, KIP-322 (v3: TOPIC_DELETION_DISABLED), KIP-599 (v5: messages, quota error), KIP-516 (v6: by id).
//
// Deviations: the answer keeps the order of the request; Kafka shuffles it.
func (h *Handler) deleteTopics(r *request, req *kmsg.DeleteTopicsRequest) kmsg.Response {
	resp := kmsg.NewPtrDeleteTopicsResponse()
	resp.Topics = []kmsg.DeleteTopicsResponseTopic{}
	var refs []controller.TopicRef
	named := func(name string) {
		if name == "" { // to the controller it would be a reference by neither name nor id
			out := kmsg.NewDeleteTopicsResponseTopic()
			out.Topic, out.ErrorCode = &name, int16(CodeUnknownTopicOrPartition)
			resp.Topics = append(resp.Topics, out)
			return
		}
		refs = append(refs, controller.TopicRef{Name: name})
	}
	for _, name := range req.TopicNames {
		named(name)
	}
	for i := range req.Topics {
		t := &req.Topics[i]
		switch {
		case t.Topic == nil:
			refs = append(refs, controller.TopicRef{ID: t.TopicID})
		case t.TopicID != [16]byte{}:
			out := kmsg.NewDeleteTopicsResponseTopic()
			out.Topic, out.TopicID, out.ErrorCode = t.Topic, t.TopicID, int16(CodeInvalidRequest)
			out.ErrorMessage = stringPtr("You may not specify both topic name and topic id.")
			resp.Topics = append(resp.Topics, out)
		default:
			named(*t.Topic)
		}
	}
	if len(refs) == 0 {
		return resp
	}
	if !h.config.Load().DeleteTopicEnable {
		return h.deletionDisabled(r, refs, resp)
	}
	ctx, cancel := r.context(req.TimeoutMillis)
	defer cancel()
	results, err := h.controller.DeleteTopics(ctx, refs)
	if err != nil {
		for i := range refs {
			out := deletedTopic(refs[i].Name, refs[i].ID)
			out.ErrorCode, out.ErrorMessage = refusal(err)
			resp.Topics = append(resp.Topics, out)
		}
		return resp
	}
	var deleted []metadata.TopicID
	for i := range results {
		out := deletedTopic(results[i].Name, results[i].ID)
		out.ErrorCode, out.ErrorMessage = outcome(results[i].Err)
		resp.Topics = append(resp.Topics, out)
		if results[i].Err == nil {
			deleted = append(deleted, results[i].ID)
		}
	}
	h.awaitDeleted(ctx, deleted)
	return resp
}

func deletedTopic(name string, id metadata.TopicID) kmsg.DeleteTopicsResponseTopic {
	out := kmsg.NewDeleteTopicsResponseTopic()
	out.Topic, out.TopicID = nilIfEmpty(name), id
	return out
}

func (h *Handler) deletionDisabled(r *request, refs []controller.TopicRef, resp *kmsg.DeleteTopicsResponse) kmsg.Response {
	code, message := CodeTopicDeletionDisabled, "Topic deletion is disabled."
	if r.version < 3 {
		code, message = CodeInvalidRequest, "This version does not support topic deletion."
	}
	for i := range refs {
		out := deletedTopic(refs[i].Name, refs[i].ID)
		out.ErrorCode, out.ErrorMessage = int16(code), &message
		resp.Topics = append(resp.Topics, out)
	}
	return resp
}

func (h *Handler) awaitDeleted(ctx context.Context, ids []metadata.TopicID) {
	h.awaitImage(ctx, func(img *metadata.Image) bool {
		for _, id := range ids {
			if img.TopicByID(id) != nil {
				return false
			}
		}
		return true
	})
}

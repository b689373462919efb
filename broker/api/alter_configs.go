package api

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weir-broker/weir/broker/controller"
	"github.com/weir-broker/weir/broker/metadata"
)

// AlterConfigs (33), versions 0-2.
//
// KIP-133. What a resource's list does not name goes back to its default. Old clients only: Kafka's own
// admin client sends IncrementalAlterConfigs.
//
// Deviations: there are no broker loggers.
func (h *Handler) alterConfigs(r *request, req *kmsg.AlterConfigsRequest) kmsg.Response {
	resp := kmsg.NewPtrAlterConfigsResponse()
	ask := controller.AlterConfigsRequest{ValidateOnly: req.ValidateOnly}
	check := resourceCheck{handler: h}
	for i := range req.Resources {
		in := &req.Resources[i]
		check.add(int8(in.ResourceType), in.ResourceName)
		set := controller.ReplaceConfigs{Resource: metadata.Resource{Type: metadata.ResourceType(in.ResourceType), Name: in.ResourceName}}
		for j := range in.Configs {
			set.Configs = append(set.Configs, controller.ConfigValue{Name: in.Configs[j].Name, Value: in.Configs[j].Value})
		}
		ask.Resources = append(ask.Resources, set)
	}
	ask.Resources = keepAllowed(ask.Resources, &check)
	outcomes := check.alter(r, len(ask.Resources), func(ctx context.Context) ([]controller.AlterConfigsResult, error) {
		return h.controller.AlterConfigs(ctx, ask)
	})
	for _, o := range outcomes {
		out := kmsg.NewAlterConfigsResponseResource()
		out.ErrorCode, out.ErrorMessage, out.ResourceType, out.ResourceName = o.code, o.message, kmsg.ConfigResourceType(o.kind), o.name
		resp.Resources = append(resp.Resources, out)
	}
	return resp
}

// IncrementalAlterConfigs (44), versions 0-1.
//
// KIP-339, KIP-412 (broker loggers).
//
// Deviations: there are no broker loggers; changing one is INVALID_REQUEST.
func (h *Handler) incrementalAlterConfigs(r *request, req *kmsg.IncrementalAlterConfigsRequest) kmsg.Response {
	resp := kmsg.NewPtrIncrementalAlterConfigsResponse()
	ask := controller.IncrementalAlterConfigsRequest{ValidateOnly: req.ValidateOnly}
	check := resourceCheck{handler: h}
	for i := range req.Resources {
		in := &req.Resources[i]
		check.add(int8(in.ResourceType), in.ResourceName)
		change := controller.ChangeConfigs{Resource: metadata.Resource{Type: metadata.ResourceType(in.ResourceType), Name: in.ResourceName}}
		for j := range in.Configs {
			c := &in.Configs[j]
			change.Changes = append(change.Changes, controller.ConfigChange{Name: c.Name, Op: controller.ConfigOp(c.Op), Value: c.Value})
		}
		ask.Resources = append(ask.Resources, change)
	}
	ask.Resources = keepAllowed(ask.Resources, &check)
	outcomes := check.alter(r, len(ask.Resources), func(ctx context.Context) ([]controller.AlterConfigsResult, error) {
		return h.controller.IncrementalAlterConfigs(ctx, ask)
	})
	for _, o := range outcomes {
		out := kmsg.NewIncrementalAlterConfigsResponseResource()
		out.ErrorCode, out.ErrorMessage, out.ResourceType, out.ResourceName = o.code, o.message, kmsg.ConfigResourceType(o.kind), o.name
		resp.Resources = append(resp.Resources, out)
	}
	return resp
}

// resourceCheck holds what this broker says about the resources of a request before the controller
// is asked about the others.
type resourceCheck struct {
	handler *Handler
	all     []resourceOutcome
	first   map[metadata.Resource]int // where each was named first
}

type resourceOutcome struct {
	kind    int8
	name    string
	refused bool
	code    int16
	message *string
}

func (c *resourceCheck) refuse(i int, message string) {
	c.all[i].refused, c.all[i].code, c.all[i].message = true, int16(CodeInvalidRequest), &message
}

func (c *resourceCheck) add(kind int8, name string) {
	i := len(c.all)
	c.all = append(c.all, resourceOutcome{kind: kind, name: name})
	key := metadata.Resource{Type: metadata.ResourceType(kind), Name: name}
	if j, ok := c.first[key]; ok {
		c.refuse(i, "Each resource must appear at most once.")
		c.refuse(j, "Each resource must appear at most once.")
		return
	}
	if c.first == nil {
		c.first = make(map[metadata.Resource]int)
	}
	c.first[key] = i
	if metadata.ResourceType(kind) == metadata.BrokerResource && name != "" {
		if message := c.handler.notThisBroker(name, ""); message != "" {
			c.refuse(i, message)
		}
	}
}

// keepAllowed returns the resources that were not refused, in order.
func keepAllowed[T any](resources []T, c *resourceCheck) []T {
	var kept []T
	for i := range resources {
		if !c.all[i].refused {
			kept = append(kept, resources[i])
		}
	}
	return kept
}

// alter asks the controller about the resources that were not refused, if there are any, and returns what to answer for all. These
// requests carry no timeout of their own.
func (c *resourceCheck) alter(r *request, allowed int, ask func(context.Context) ([]controller.AlterConfigsResult, error)) []resourceOutcome {
	if allowed == 0 {
		return c.outcomes(nil, nil)
	}
	ctx, cancel := r.context(int32(c.handler.config.Load().RequestTimeout.Milliseconds()))
	defer cancel()
	return c.outcomes(ask(ctx))
}

// outcomes merges the controller's results, which are in order, into the request's order.
func (c *resourceCheck) outcomes(results []controller.AlterConfigsResult, err error) []resourceOutcome {
	next := 0
	for i := range c.all {
		o := &c.all[i]
		switch {
		case o.refused:
		case err != nil:
			o.code, o.message = refusal(err)
		case next < len(results):
			o.code, o.message = outcome(results[next].Err)
			next++
		default:
			o.code = int16(CodeUnknownServerError)
		}
	}
	return c.all
}

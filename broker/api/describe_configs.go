package api

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weir-broker/weir/broker/config"
	"github.com/weir-broker/weir/broker/metadata"
)

// DescribeConfigs (32), versions 1-4.
//
// KIP-133, KIP-226 (v1: sources and synonyms), KIP-569 (v3: types and documentation), KIP-714 (client
// metrics), KIP-848 (groups). Null or empty names ask for all. A broker describes itself and, under the
// empty name, the cluster's defaults.
//
// Deviations: there are no broker loggers; the resource is empty. A resource can be named again and again, which would
// make an answer a thousand times the size of the request: past maxDescribedBytes resources are INVALID_REQUEST.
func (h *Handler) describeConfigs(r *request, req *kmsg.DescribeConfigsRequest) kmsg.Response {
	resp := kmsg.NewPtrDescribeConfigsResponse()
	resp.Resources = make([]kmsg.DescribeConfigsResponseResource, 0, len(req.Resources))
	left := maxDescribedBytes
	for i := range req.Resources {
		ask := &req.Resources[i]
		out := kmsg.NewDescribeConfigsResponseResource()
		out.ResourceType, out.ResourceName = ask.ResourceType, ask.ResourceName
		out.Configs = []kmsg.DescribeConfigsResponseResourceConfig{}
		if left <= 0 {
			out.ErrorCode, out.ErrorMessage = int16(CodeInvalidRequest), stringPtr(tooMuchDescribed)
			resp.Resources = append(resp.Resources, out)
			continue
		}
		entries, code, message := h.describe(r, ask)
		out.ErrorCode, out.ErrorMessage = int16(code), stringPtr(message) // empty, not null, when all is well
		for j := range entries {
			out.Configs = append(out.Configs, describedConfig(&entries[j], req))
			left -= describedSize(&entries[j], req)
		}
		resp.Resources = append(resp.Resources, out)
	}
	return resp
}

// maxDescribedBytes bounds an answer, roughly as it is in memory: some 2,000 topics with everything about them, or
// 5,000 without documentation.
const maxDescribedBytes = 64 << 20

const tooMuchDescribed = "The answer to this request would be too large. Describe fewer resources at a time."

func describedSize(e *config.Entry, req *kmsg.DescribeConfigsRequest) int {
	const entry, synonym = 160, 64
	n := entry + len(e.Name)
	if e.Value != nil {
		n += len(*e.Value)
	}
	if req.IncludeSynonyms {
		n += len(e.Synonyms) * synonym
	}
	if req.IncludeDocumentation {
		n += len(e.Doc)
	}
	return n
}

func (h *Handler) describe(r *request, ask *kmsg.DescribeConfigsRequestResource) ([]config.Entry, Code, string) {
	name, keys, cfg := ask.ResourceName, ask.ConfigNames, h.config.Load()
	overrides := func(t metadata.ResourceType) map[string]string {
		return r.image.Configs(metadata.Resource{Type: t, Name: name}).Map()
	}
	switch kind := metadata.ResourceType(ask.ResourceType); kind {
	case metadata.TopicResource:
		switch {
		case !validTopicName(name):
			return nil, CodeInvalidTopicException, "The topic name '" + name + "' is invalid."
		case r.image.Topic(name) == nil:
			return nil, CodeUnknownTopicOrPartition, ""
		}
		return cfg.DescribeTopic(overrides(kind), keys), CodeNone, ""
	case metadata.BrokerResource:
		if name == "" {
			return cfg.DescribeClusterDefault(keys), CodeNone, ""
		}
		if message := h.notThisBroker(name, "or empty string, "); message != "" {
			return nil, CodeInvalidRequest, message
		}
		return cfg.DescribeBroker(keys), CodeNone, ""
	case metadata.BrokerLoggerResource:
		if name == "" {
			return nil, CodeInvalidRequest, "Broker id must not be empty"
		}
		if message := h.notThisBroker(name, ""); message != "" {
			return nil, CodeInvalidRequest, message
		}
		return nil, CodeNone, ""
	case metadata.ClientMetricsResource:
		if name == "" {
			return nil, CodeInvalidRequest, "Client metrics subscription name must not be empty"
		}
		return clientMetricsEntries(overrides(kind), keys), CodeNone, ""
	case metadata.GroupResource:
		if name == "" {
			return nil, CodeInvalidRequest, "Group name must not be empty"
		}
		return cfg.DescribeGroup(overrides(kind), keys), CodeNone, ""
	default:
		return nil, CodeInvalidRequest, fmt.Sprintf("Unsupported resource type: %d", ask.ResourceType)
	}
}

// notThisBroker says why name is not this broker's id, "" when it is.
func (h *Handler) notThisBroker(name, orEmpty string) string {
	id, err := strconv.ParseInt(name, 10, 32)
	if err != nil {
		return "Broker id must be an integer, but it is: " + name
	}
	if int32(id) != h.nodeID() {
		return fmt.Sprintf("Unexpected broker id, expected %d %sbut received %s", h.nodeID(), orEmpty, name)
	}
	return ""
}

func describedConfig(e *config.Entry, req *kmsg.DescribeConfigsRequest) kmsg.DescribeConfigsResponseResourceConfig {
	out := kmsg.NewDescribeConfigsResponseResourceConfig()
	out.Name, out.Value = e.Name, e.Value
	out.ReadOnly, out.IsSensitive = e.ReadOnly, e.Sensitive
	out.IsDefault = e.Source == config.SourceDefault
	out.Source, out.ConfigType = kmsg.ConfigSource(e.Source), kmsg.ConfigType(e.Type)
	out.ConfigSynonyms = []kmsg.DescribeConfigsResponseResourceConfigConfigSynonym{}
	if req.IncludeSynonyms {
		for _, s := range e.Synonyms {
			out.ConfigSynonyms = append(out.ConfigSynonyms, kmsg.DescribeConfigsResponseResourceConfigConfigSynonym{Name: s.Name, Value: s.Value, Source: kmsg.ConfigSource(s.Source)})
		}
	}
	if req.IncludeDocumentation {
		out.Documentation = &e.Doc
	}
	return out
}

// sourceClientMetrics is the DescribeConfigs source of a client metrics subscription (KIP-714).
const sourceClientMetrics config.Source = 7

// clientMetricsEntries describes a subscription. Nothing is collected yet, but what the tools store
// they can read back.
func clientMetricsEntries(overrides map[string]string, keys []string) []config.Entry {
	var out []config.Entry
	for _, p := range []config.Entry{
		{Name: "interval.ms", Type: config.Int, Value: stringPtr("300000"), Doc: "Milliseconds between two pushes of a client's metrics."},
		{Name: "match", Type: config.List, Value: stringPtr(""), Doc: "Which clients the subscription is for, as key=pattern; empty for all."},
		{Name: "metrics", Type: config.List, Value: stringPtr(""), Doc: "Prefixes of the metrics to push; empty for none."},
	} {
		if len(keys) > 0 && !slices.Contains(keys, p.Name) {
			continue
		}
		p.Source = config.SourceDefault
		if v, ok := overrides[p.Name]; ok {
			p.Value, p.Source = &v, sourceClientMetrics
			p.Synonyms = []config.Synonym{{Name: p.Name, Value: &v, Source: sourceClientMetrics}}
		}
		out = append(out, p)
	}
	return out
}

package api

import (
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weir-broker/weir/broker/metadata"
)

func TestCreateTopicsAtEveryVersion(t *testing.T) {
	r := newRig(t, Options{})
	c := r.dial()
	versions(t, 19, func(t *testing.T, v int16) {
		name := "created-" + itoa(int(v))
		req := kmsg.NewPtrCreateTopicsRequest()
		req.SetVersion(v)
		req.TimeoutMillis = 5000
		topic := kmsg.NewCreateTopicsRequestTopic()
		topic.Topic, topic.NumPartitions, topic.ReplicationFactor = name, 3, 1
		topic.Configs = []kmsg.CreateTopicsRequestTopicConfig{{Name: "retention.ms", Value: kmsg.StringPtr("1000")}}
		bad := topic
		bad.Topic = "bad name"
		req.Topics = []kmsg.CreateTopicsRequestTopic{topic, bad}

		req.ValidateOnly = true
		if resp := c.request(req).(*kmsg.CreateTopicsResponse); resp.Topics[0].ErrorCode != 0 || r.image().Topic(name) != nil {
			t.Fatalf("validate only: %+v", resp)
		}
		req.ValidateOnly = false
		resp := c.request(req).(*kmsg.CreateTopicsResponse)
		got := resp.Topics[0]
		if got.ErrorCode != 0 || Code(resp.Topics[1].ErrorCode) != CodeInvalidTopicException {
			t.Fatalf("%+v", resp)
		}
		if v >= 5 && (got.NumPartitions != 3 || got.ReplicationFactor != 1 || len(got.Configs) == 0) {
			t.Errorf("what was created: %+v", got)
		}
		if v >= 7 && got.TopicID != [16]byte(r.image().Topic(name).ID) {
			t.Errorf("topic id %x", got.TopicID)
		}
		// It can be used at once.
		if p := c.produce(9, -1, name, plainBatch("x")); p.ErrorCode != 0 {
			t.Errorf("produce: %v", Code(p.ErrorCode))
		}
		req.Topics = req.Topics[:1]
		if resp := c.request(req).(*kmsg.CreateTopicsResponse); Code(resp.Topics[0].ErrorCode) != CodeTopicAlreadyExists || resp.Topics[0].ErrorMessage == nil {
			t.Errorf("again: %+v", resp)
		}
	})
}

func TestMetadataCreatesTopicsAskedFor(t *testing.T) {
	r := newRig(t, Options{})
	c := r.dial()
	resp := c.request(metadataRequest(1, "auto")).(*kmsg.MetadataResponse)
	if len(resp.Topics) != 1 || resp.Topics[0].ErrorCode != 0 || len(resp.Topics[0].Partitions) != 1 || resp.Topics[0].Partitions[0].Leader != 1 {
		t.Errorf("v1: %+v", resp.Topics)
	}
	no := metadataRequest(12, "unasked")
	if resp := c.request(no).(*kmsg.MetadataResponse); Code(resp.Topics[0].ErrorCode) != CodeUnknownTopicOrPartition || r.image().Topic("unasked") != nil {
		t.Errorf("not allowed: %+v", resp.Topics)
	}
	no.AllowAutoTopicCreation = true
	if resp := c.request(no).(*kmsg.MetadataResponse); resp.Topics[0].ErrorCode != 0 {
		t.Errorf("allowed: %+v", resp.Topics)
	}
}

func TestDeleteTopicsAtEveryVersion(t *testing.T) {
	r := newRig(t, Options{})
	c := r.dial()
	versions(t, 20, func(t *testing.T, v int16) {
		r.addTopic("by-name", 1)
		req := kmsg.NewPtrDeleteTopicsRequest()
		req.SetVersion(v)
		req.TimeoutMillis = 5000
		req.TopicNames = []string{"by-name", "gone"}
		req.Topics = []kmsg.DeleteTopicsRequestTopic{{Topic: kmsg.StringPtr("by-name")}, {Topic: kmsg.StringPtr("gone")}}
		resp := c.request(req).(*kmsg.DeleteTopicsResponse)
		for _, topic := range resp.Topics {
			want := CodeNone
			if *topic.Topic == "gone" {
				want = CodeUnknownTopicOrPartition
			}
			if Code(topic.ErrorCode) != want {
				t.Errorf("%s: %v", *topic.Topic, Code(topic.ErrorCode))
			}
		}
		if r.image().Topic("by-name") != nil {
			t.Error("still there")
		}
		if v < 6 {
			return
		}
		r.addTopic("by-id", 1)
		id := topicID("by-id")
		req.Topics = []kmsg.DeleteTopicsRequestTopic{{TopicID: id}, {TopicID: topicID("none")}}
		resp = c.request(req).(*kmsg.DeleteTopicsResponse)
		for _, topic := range resp.Topics {
			want := CodeNone
			if topic.TopicID != id {
				want = CodeUnknownTopicID
			}
			if Code(topic.ErrorCode) != want {
				t.Errorf("%x: %v", topic.TopicID, Code(topic.ErrorCode))
			}
		}
	})
}

func TestCreatePartitionsAtEveryVersion(t *testing.T) {
	r := newRig(t, Options{})
	r.addTopic("a", 1)
	c := r.dial()
	versions(t, 37, func(t *testing.T, v int16) {
		req := kmsg.NewPtrCreatePartitionsRequest()
		req.SetVersion(v)
		req.TimeoutMillis = 5000
		topic := kmsg.NewCreatePartitionsRequestTopic()
		topic.Topic, topic.Count = "a", int32(v)+2
		req.Topics = []kmsg.CreatePartitionsRequestTopic{topic}
		if resp := c.request(req).(*kmsg.CreatePartitionsResponse); resp.Topics[0].ErrorCode != 0 || r.image().Topic("a").PartitionCount() != int32(v)+2 {
			t.Fatalf("%+v", resp)
		}
		if resp := c.request(req).(*kmsg.CreatePartitionsResponse); Code(resp.Topics[0].ErrorCode) != CodeInvalidPartitions {
			t.Errorf("no more: %+v", resp)
		}
	})
}

func TestDeleteRecordsAtEveryVersion(t *testing.T) {
	r := newRig(t, Options{})
	r.addTopic("a", 1)
	c := r.dial()
	for range 6 {
		c.produce(9, -1, "a", plainBatch("x", "y"))
	}
	versions(t, 21, func(t *testing.T, v int16) {
		ask := func(topic string, offset int64) kmsg.DeleteRecordsResponseTopicPartition {
			req := kmsg.NewPtrDeleteRecordsRequest()
			req.SetVersion(v)
			req.TimeoutMillis = 5000
			req.Topics = []kmsg.DeleteRecordsRequestTopic{{Topic: topic, Partitions: []kmsg.DeleteRecordsRequestTopicPartition{{Offset: offset}}}}
			return c.request(req).(*kmsg.DeleteRecordsResponse).Topics[0].Partitions[0]
		}
		before := int64(v)*3 + 1
		if got := ask("a", before); got.ErrorCode != 0 || got.LowWatermark != before {
			t.Errorf("%+v, want low watermark %d", got, before)
		}
		if got := c.listOffset(5, "a", -2); got.Offset != before {
			t.Errorf("earliest is %d", got.Offset)
		}
		if got := ask("a", 1000); Code(got.ErrorCode) != CodeOffsetOutOfRange || got.LowWatermark != -1 {
			t.Errorf("beyond the end: %+v", got)
		}
		if got := ask("gone", 0); Code(got.ErrorCode) != CodeUnknownTopicOrPartition {
			t.Errorf("unknown topic: %+v", got)
		}
	})
}

func TestInitProducerIDNeverRepeatsAndRefusesTransactions(t *testing.T) {
	r := newRig(t, Options{})
	c := r.dial()
	seen := map[int64]bool{}
	versions(t, 22, func(t *testing.T, v int16) {
		req := kmsg.NewPtrInitProducerIDRequest()
		req.SetVersion(v)
		req.ProducerID, req.ProducerEpoch = -1, -1
		for range 300 { // more than a block of 1000 in all
			got := c.request(req).(*kmsg.InitProducerIDResponse)
			if got.ErrorCode != 0 || got.ProducerEpoch != 0 || seen[got.ProducerID] {
				t.Fatalf("%+v", got)
			}
			seen[got.ProducerID] = true
		}
		req.TransactionalID = kmsg.StringPtr("tx")
		if got := c.request(req).(*kmsg.InitProducerIDResponse); Code(got.ErrorCode) != CodeTransactionalIDAuthorizationFailed || got.ProducerID != -1 {
			t.Errorf("transactional: %+v", got)
		}
	})
}

func describeConfigsRequest(version int16, kind kmsg.ConfigResourceType, name string, keys ...string) *kmsg.DescribeConfigsRequest {
	req := kmsg.NewPtrDescribeConfigsRequest()
	req.SetVersion(version)
	req.IncludeSynonyms, req.IncludeDocumentation = true, true
	req.Resources = []kmsg.DescribeConfigsRequestResource{{ResourceType: kind, ResourceName: name, ConfigNames: keys}}
	return req
}

// Case 21: all keys with defaults, sources and synonyms; types and documentation from version 3 on.
func TestDescribeConfigsTellsEverything(t *testing.T) {
	r := newRig(t, Options{Config: testConfig(t, "log.retention.ms=172800000")})
	r.addTopic("a", 1)
	value := "12345"
	r.publish(&metadata.Config{Resource: metadata.Resource{Type: metadata.TopicResource, Name: "a"}, Key: "flush.ms", Value: &value})
	c := r.dial()
	versions(t, 32, func(t *testing.T, v int16) {
		resp := c.request(describeConfigsRequest(v, kmsg.ConfigResourceTypeTopic, "a")).(*kmsg.DescribeConfigsResponse)
		byName := map[string]kmsg.DescribeConfigsResponseResourceConfig{}
		for _, e := range resp.Resources[0].Configs {
			byName[e.Name] = e
			if v >= 3 && (e.ConfigType == 0 || e.Documentation == nil || *e.Documentation == "") {
				t.Errorf("%s has type %v, documentation %v", e.Name, e.ConfigType, e.Documentation)
			}
		}
		if len(byName) < 30 {
			t.Errorf("%d keys", len(byName))
		}
		if e := byName["flush.ms"]; *e.Value != value || e.Source != kmsg.ConfigSourceDynamicTopicConfig || len(e.ConfigSynonyms) < 1 {
			t.Errorf("flush.ms: %+v", e)
		}
		if e := byName["retention.ms"]; *e.Value != "172800000" || e.Source != kmsg.ConfigSourceStaticBrokerConfig {
			t.Errorf("retention.ms: %+v", e)
		}
		if e := byName["cleanup.policy"]; *e.Value != "delete" || e.Source != kmsg.ConfigSourceDefaultConfig {
			t.Errorf("cleanup.policy: %+v", e)
		}
		some := c.request(describeConfigsRequest(v, kmsg.ConfigResourceTypeTopic, "a", "flush.ms", "no.such.key")).(*kmsg.DescribeConfigsResponse)
		if got := some.Resources[0].Configs; len(got) != 1 || got[0].Name != "flush.ms" {
			t.Errorf("by name: %+v", got)
		}
		for name, want := range map[string]Code{"gone": CodeUnknownTopicOrPartition, "bad name": CodeInvalidTopicException} {
			if got := c.request(describeConfigsRequest(v, kmsg.ConfigResourceTypeTopic, name)).(*kmsg.DescribeConfigsResponse); Code(got.Resources[0].ErrorCode) != want {
				t.Errorf("%q: %v", name, Code(got.Resources[0].ErrorCode))
			}
		}
		broker := c.request(describeConfigsRequest(v, kmsg.ConfigResourceTypeBroker, "1")).(*kmsg.DescribeConfigsResponse)
		if len(broker.Resources[0].Configs) < 100 {
			t.Errorf("broker: %d keys", len(broker.Resources[0].Configs))
		}
		other := c.request(describeConfigsRequest(v, kmsg.ConfigResourceTypeBroker, "2")).(*kmsg.DescribeConfigsResponse)
		if Code(other.Resources[0].ErrorCode) != CodeInvalidRequest || other.Resources[0].ErrorMessage == nil {
			t.Errorf("another broker: %+v", other.Resources[0])
		}
		for kind, name := range map[kmsg.ConfigResourceType]string{kmsg.ConfigResourceTypeGroupConfig: "g", kmsg.ConfigResourceTypeClientMetrics: "m", kmsg.ConfigResourceTypeBrokerLogger: "1"} {
			if got := c.request(describeConfigsRequest(v, kind, name)).(*kmsg.DescribeConfigsResponse); got.Resources[0].ErrorCode != 0 {
				t.Errorf("%v: %+v", kind, got.Resources[0])
			}
		}
	})
}

// dynamic returns the keys set on a topic.
func (r *rig) dynamic(topic string) map[string]string {
	return r.image().Configs(metadata.Resource{Type: metadata.TopicResource, Name: topic}).Map()
}

// Case 22: AlterConfigs replaces, IncrementalAlterConfigs changes single keys and list members.
func TestAlterConfigsReplacesAndIncrementalChanges(t *testing.T) {
	r := newRig(t, Options{})
	r.addTopic("a", 1)
	c := r.dial()
	replace := func(v int16, pairs ...string) kmsg.AlterConfigsResponseResource {
		req := kmsg.NewPtrAlterConfigsRequest()
		req.SetVersion(v)
		res := kmsg.AlterConfigsRequestResource{ResourceType: kmsg.ConfigResourceTypeTopic, ResourceName: "a"}
		for i := 0; i < len(pairs); i += 2 {
			res.Configs = append(res.Configs, kmsg.AlterConfigsRequestResourceConfig{Name: pairs[i], Value: &pairs[i+1]})
		}
		req.Resources = []kmsg.AlterConfigsRequestResource{res}
		return c.request(req).(*kmsg.AlterConfigsResponse).Resources[0]
	}
	change := func(v int16, op kmsg.IncrementalAlterConfigOp, key string, value *string) kmsg.IncrementalAlterConfigsResponseResource {
		req := kmsg.NewPtrIncrementalAlterConfigsRequest()
		req.SetVersion(v)
		req.Resources = []kmsg.IncrementalAlterConfigsRequestResource{{ResourceType: kmsg.ConfigResourceTypeTopic, ResourceName: "a", Configs: []kmsg.IncrementalAlterConfigsRequestResourceConfig{{Name: key, Op: op, Value: value}}}}
		return c.request(req).(*kmsg.IncrementalAlterConfigsResponse).Resources[0]
	}
	versions(t, 33, func(t *testing.T, v int16) {
		if got := replace(v, "retention.ms", "1000", "flush.ms", "2000"); got.ErrorCode != 0 {
			t.Fatalf("%+v", got)
		}
		if got := replace(v, "retention.ms", "3000"); got.ErrorCode != 0 {
			t.Fatalf("%+v", got)
		}
		if d := r.dynamic("a"); len(d) != 1 || d["retention.ms"] != "3000" {
			t.Errorf("after replacing: %v", d)
		}
		if got := replace(v, "retention.ms", "soon"); Code(got.ErrorCode) != CodeInvalidConfig || got.ErrorMessage == nil {
			t.Errorf("a bad value: %+v", got)
		}
	})
	versions(t, 44, func(t *testing.T, v int16) {
		compact, one := "compact", "1"
		for _, step := range []struct {
			op    kmsg.IncrementalAlterConfigOp
			key   string
			value *string
			want  Code
			set   string
		}{
			{kmsg.IncrementalAlterConfigOpAppend, "cleanup.policy", &compact, CodeNone, "delete,compact"},
			{kmsg.IncrementalAlterConfigOpSubtract, "cleanup.policy", &compact, CodeNone, "delete"},
			{kmsg.IncrementalAlterConfigOpAppend, "flush.ms", &one, CodeInvalidConfig, ""},
			{kmsg.IncrementalAlterConfigOpSet, "flush.ms", &one, CodeNone, "1"},
			{kmsg.IncrementalAlterConfigOpDelete, "flush.ms", nil, CodeNone, ""},
			{kmsg.IncrementalAlterConfigOpSet, "flush.ms", nil, CodeInvalidRequest, ""},
		} {
			if got := change(v, step.op, step.key, step.value); Code(got.ErrorCode) != step.want {
				t.Errorf("op %v of %s: %v %v, want %v", step.op, step.key, Code(got.ErrorCode), got.ErrorMessage, step.want)
			}
			if got := r.dynamic("a")[step.key]; got != step.set {
				t.Errorf("op %v of %s leaves %q, want %q", step.op, step.key, got, step.set)
			}
		}
	})
}

func TestAlterConfigsRefusesAResourceNamedTwiceAndOtherBrokers(t *testing.T) {
	r := newRig(t, Options{})
	r.addTopic("a", 1)
	c := r.dial()
	req := kmsg.NewPtrIncrementalAlterConfigsRequest()
	req.SetVersion(1)
	value := "1"
	set := []kmsg.IncrementalAlterConfigsRequestResourceConfig{{Name: "flush.ms", Value: &value}}
	req.Resources = []kmsg.IncrementalAlterConfigsRequestResource{
		{ResourceType: kmsg.ConfigResourceTypeTopic, ResourceName: "twice", Configs: set},
		{ResourceType: kmsg.ConfigResourceTypeTopic, ResourceName: "a", Configs: set},
		{ResourceType: kmsg.ConfigResourceTypeTopic, ResourceName: "twice", Configs: set},
		{ResourceType: kmsg.ConfigResourceTypeBroker, ResourceName: "7", Configs: set},
	}
	resp := c.request(req).(*kmsg.IncrementalAlterConfigsResponse)
	for i, want := range []Code{CodeInvalidRequest, CodeNone, CodeInvalidRequest, CodeInvalidRequest} {
		if got := Code(resp.Resources[i].ErrorCode); got != want || resp.Resources[i].ResourceName != req.Resources[i].ResourceName {
			t.Errorf("resource %d: %v, want %v", i, got, want)
		}
	}
}

func TestDynamicBrokerValueTakesEffect(t *testing.T) {
	r := newRig(t, Options{})
	r.addTopic("a", 1)
	c := r.dial()
	value := "500"
	req := kmsg.NewPtrIncrementalAlterConfigsRequest()
	req.SetVersion(1)
	req.Resources = []kmsg.IncrementalAlterConfigsRequestResource{{ResourceType: kmsg.ConfigResourceTypeBroker, ResourceName: "", Configs: []kmsg.IncrementalAlterConfigsRequestResourceConfig{{Name: "message.max.bytes", Value: &value}}}}
	if got := c.request(req).(*kmsg.IncrementalAlterConfigsResponse); got.Resources[0].ErrorCode != 0 {
		t.Fatalf("%+v", got)
	}
	if got := c.produce(9, -1, "a", plainBatch(strings.Repeat("x", 1000))); Code(got.ErrorCode) != CodeMessageTooLarge {
		t.Errorf("%v", Code(got.ErrorCode))
	}
	got := c.request(describeConfigsRequest(4, kmsg.ConfigResourceTypeBroker, "", "message.max.bytes")).(*kmsg.DescribeConfigsResponse)
	if len(got.Resources[0].Configs) != 1 || *got.Resources[0].Configs[0].Value != "500" {
		t.Errorf("%+v", got.Resources[0])
	}
}

func TestDescribeTopicPartitionsPages(t *testing.T) {
	r := newRig(t, Options{})
	r.addTopic("a", 3)
	r.addTopic("b", 3)
	c := r.dial()
	for _, names := range [][]string{nil, {"b", "a"}} {
		req := kmsg.NewPtrDescribeTopicPartitionsRequest()
		req.ResponsePartitionLimit = 2
		for _, name := range names {
			req.Topics = append(req.Topics, kmsg.DescribeTopicPartitionsRequestTopic{Topic: name})
		}
		var seen []string
		for range 10 {
			resp := c.request(req).(*kmsg.DescribeTopicPartitionsResponse)
			for _, topic := range resp.Topics {
				for _, p := range topic.Partitions {
					seen = append(seen, *topic.Topic+itoa(int(p.Partition)))
				}
			}
			if resp.NextCursor == nil {
				break
			}
			req.Cursor = &kmsg.DescribeTopicPartitionsRequestCursor{Topic: resp.NextCursor.Topic, Partition: resp.NextCursor.Partition}
		}
		if got := strings.Join(seen, " "); got != "a0 a1 a2 b0 b1 b2" {
			t.Errorf("topics %v: %s", names, got)
		}
	}
	req := kmsg.NewPtrDescribeTopicPartitionsRequest()
	req.ResponsePartitionLimit = 2000
	req.Topics = []kmsg.DescribeTopicPartitionsRequestTopic{{Topic: "gone"}}
	if resp := c.request(req).(*kmsg.DescribeTopicPartitionsResponse); Code(resp.Topics[0].ErrorCode) != CodeUnknownTopicOrPartition {
		t.Errorf("%+v", resp)
	}
	req.Cursor = &kmsg.DescribeTopicPartitionsRequestCursor{Topic: "other"}
	if resp := c.request(req).(*kmsg.DescribeTopicPartitionsResponse); Code(resp.Topics[0].ErrorCode) != CodeInvalidRequest {
		t.Errorf("a cursor that is not asked for: %+v", resp)
	}
}

func TestDescribeLogDirsQuorumProducersAndFeatures(t *testing.T) {
	r := newRig(t, Options{})
	r.addTopic("a", 2)
	c := r.dial()
	c.produce(9, -1, "a", sequencedBatch(42, 3, 0, "x", "y"))
	versions(t, 35, func(t *testing.T, v int16) {
		req := kmsg.NewPtrDescribeLogDirsRequest()
		req.SetVersion(v)
		resp := c.request(req).(*kmsg.DescribeLogDirsResponse)
		if len(resp.Dirs) != 1 || len(resp.Dirs[0].Topics) != 1 || len(resp.Dirs[0].Topics[0].Partitions) != 2 || resp.Dirs[0].Topics[0].Partitions[0].Size == 0 {
			t.Errorf("%+v", resp)
		}
		req.Topics = []kmsg.DescribeLogDirsRequestTopic{{Topic: "a", Partitions: []int32{1}}}
		if resp := c.request(req).(*kmsg.DescribeLogDirsResponse); len(resp.Dirs[0].Topics[0].Partitions) != 1 {
			t.Errorf("by partition: %+v", resp)
		}
	})
	versions(t, 55, func(t *testing.T, v int16) {
		req := kmsg.NewPtrDescribeQuorumRequest()
		req.SetVersion(v)
		req.Topics = []kmsg.DescribeQuorumRequestTopic{{Topic: quorumTopic, Partitions: []kmsg.DescribeQuorumRequestTopicPartition{{}, {Partition: 1}}}}
		parts := c.request(req).(*kmsg.DescribeQuorumResponse).Topics[0].Partitions
		if parts[0].LeaderID != 1 || len(parts[0].CurrentVoters) != 1 || parts[0].CurrentVoters[0].LogEndOffset != parts[0].HighWatermark || Code(parts[1].ErrorCode) != CodeUnknownTopicOrPartition {
			t.Errorf("%+v", parts)
		}
	})
	producers := kmsg.NewPtrDescribeProducersRequest()
	producers.Topics = []kmsg.DescribeProducersRequestTopic{{Topic: "a", Partitions: []int32{0, 9}}}
	got := c.request(producers).(*kmsg.DescribeProducersResponse).Topics[0].Partitions
	if len(got[0].ActiveProducers) != 1 || got[0].ActiveProducers[0].ProducerID != 42 || got[0].ActiveProducers[0].LastSequence != 1 || Code(got[1].ErrorCode) != CodeUnknownTopicOrPartition {
		t.Errorf("%+v", got)
	}
	versions(t, 57, func(t *testing.T, v int16) {
		req := kmsg.NewPtrUpdateFeaturesRequest()
		req.SetVersion(v)
		req.TimeoutMillis, req.ValidateOnly = 5000, v >= 1
		req.FeatureUpdates = []kmsg.UpdateFeaturesRequestFeatureUpdate{{Feature: "metadata.version", MaxVersionLevel: 30, UpgradeType: 1}}
		if resp := c.request(req).(*kmsg.UpdateFeaturesResponse); resp.ErrorCode != 0 {
			t.Errorf("%+v", resp)
		}
		req.FeatureUpdates[0].Feature = "no.such.feature"
		resp := c.request(req).(*kmsg.UpdateFeaturesResponse)
		if resp.ErrorCode == 0 || resp.ErrorMessage == nil {
			t.Errorf("unknown feature: %+v", resp)
		}
	})
	versions(t, 74, func(t *testing.T, v int16) {
		req := kmsg.NewPtrListConfigResourcesRequest()
		req.SetVersion(v)
		resp := c.request(req).(*kmsg.ListConfigResourcesResponse)
		if want := map[int16]int{0: 0, 1: 3}[v]; resp.ErrorCode != 0 || len(resp.ConfigResources) != want {
			t.Errorf("%+v", resp)
		}
		if v >= 1 {
			req.ResourceTypes = []int8{99}
			if resp := c.request(req).(*kmsg.ListConfigResourcesResponse); Code(resp.ErrorCode) != CodeUnsupportedVersion {
				t.Errorf("unknown type: %+v", resp)
			}
		}
	})
}

// A resource that is named again and again must not make an answer without bound, nor a search that grows with the
// square of their number.
func TestRepeatedResourcesCostBoundedMemoryAndTime(t *testing.T) {
	r := newRig(t, Options{})
	r.addTopic("a", 1)
	c := r.dial()
	describe := kmsg.NewPtrDescribeConfigsRequest()
	describe.SetVersion(4)
	describe.IncludeDocumentation, describe.IncludeSynonyms = true, true
	const n = 100_000
	alter := kmsg.NewPtrIncrementalAlterConfigsRequest()
	alter.SetVersion(1)
	for i := range n {
		describe.Resources = append(describe.Resources, kmsg.DescribeConfigsRequestResource{ResourceType: kmsg.ConfigResourceTypeBroker, ResourceName: "1"})
		alter.Resources = append(alter.Resources, kmsg.IncrementalAlterConfigsRequestResource{ResourceType: kmsg.ConfigResourceTypeBroker, ResourceName: itoa(i + 2)})
	}
	resp := c.request(describe).(*kmsg.DescribeConfigsResponse)
	described := 0
	for i := range resp.Resources {
		switch got := &resp.Resources[i]; {
		case got.ErrorCode == 0 && len(got.Configs) > 0:
			described++
		case got.ErrorCode != int16(CodeInvalidRequest) || *got.ErrorMessage != tooMuchDescribed:
			t.Fatalf("resource %d: error %d", i, got.ErrorCode)
		}
	}
	if len(resp.Resources) != n || described == 0 || described > 2000 {
		t.Errorf("%d resources in the answer, %d described", len(resp.Resources), described)
	}
	if got := c.request(alter).(*kmsg.IncrementalAlterConfigsResponse); len(got.Resources) != n {
		t.Errorf("%d resources", len(got.Resources))
	}
}

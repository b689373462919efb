package api

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func metadataRequest(version int16, topics ...string) *kmsg.MetadataRequest {
	req := kmsg.NewPtrMetadataRequest()
	req.SetVersion(version)
	req.Topics = []kmsg.MetadataRequestTopic{}
	for _, name := range topics {
		req.Topics = append(req.Topics, kmsg.MetadataRequestTopic{Topic: kmsg.StringPtr(name)})
	}
	return req
}

func TestMetadataNamesBrokersAndTopicsAtEveryVersion(t *testing.T) {
	r := newRig(t, Options{Config: testConfig(t, "auto.create.topics.enable=false", "advertised.listeners=PLAINTEXT://broker.example:9092")})
	r.addTopic("a", 2)
	c := r.dial()
	versions(t, 3, func(t *testing.T, v int16) {
		resp := c.request(metadataRequest(v, "a", "missing", "bad name", "a")).(*kmsg.MetadataResponse)
		if len(resp.Brokers) != 1 || resp.Brokers[0].Host != "broker.example" || resp.Brokers[0].Port != 9092 {
			t.Errorf("brokers: %+v", resp.Brokers)
		}
		if v >= 1 && resp.ControllerID != 1 {
			t.Errorf("controller: %d", resp.ControllerID)
		}
		if len(resp.Topics) != 3 {
			t.Fatalf("topics: %+v", resp.Topics)
		}
		a := resp.Topics[0]
		if a.ErrorCode != 0 || len(a.Partitions) != 2 || a.Partitions[1].Leader != 1 || a.Partitions[1].ErrorCode != 0 {
			t.Errorf("topic a: %+v", a)
		}
		if v >= 10 && a.TopicID != topicID("a") {
			t.Errorf("topic id %x", a.TopicID)
		}
		if v >= 8 && a.AuthorizedOperations != operationsNotAsked {
			t.Errorf("operations %d", a.AuthorizedOperations)
		}
		if got := Code(resp.Topics[1].ErrorCode); got != CodeUnknownTopicOrPartition {
			t.Errorf("missing: %v", got)
		}
		if got := Code(resp.Topics[2].ErrorCode); got != CodeInvalidTopicException {
			t.Errorf("bad name: %v", got)
		}
	})
}

func TestMetadataTellsAllTopicsFromNone(t *testing.T) {
	r := newRig(t, Options{})
	r.addTopic("a", 1)
	c := r.dial()
	versions(t, 3, func(t *testing.T, v int16) {
		empty := metadataRequest(v)
		want := 0
		if v == 0 {
			want = 1 // an empty list asks for all
		}
		if got := c.request(empty).(*kmsg.MetadataResponse); len(got.Topics) != want {
			t.Errorf("empty list: %d topics, want %d", len(got.Topics), want)
		}
		if v == 0 {
			return
		}
		all := metadataRequest(v)
		all.Topics = nil
		if got := c.request(all).(*kmsg.MetadataResponse); len(got.Topics) != 1 {
			t.Errorf("null list: %d topics", len(got.Topics))
		}
	})
}

func TestMetadataByTopicID(t *testing.T) {
	r := newRig(t, Options{})
	r.addTopic("a", 1)
	c := r.dial()
	for _, v := range []int16{10, 11, 12, 13} {
		req := metadataRequest(v)
		req.Topics = []kmsg.MetadataRequestTopic{{TopicID: topicID("a")}, {TopicID: topicID("gone")}}
		resp := c.request(req).(*kmsg.MetadataResponse)
		if v < 12 {
			if Code(resp.Topics[0].ErrorCode) != CodeInvalidRequest {
				t.Errorf("v%d: %+v", v, resp.Topics)
			}
			continue
		}
		if len(resp.Topics) != 2 || *resp.Topics[0].Topic != "a" || Code(resp.Topics[1].ErrorCode) != CodeUnknownTopicID || resp.Topics[1].Topic != nil {
			t.Errorf("v%d: %+v", v, resp.Topics)
		}
	}
}

func TestUnsetAdvertisedListenersAnswersWithTheAddressTheClientCameInOn(t *testing.T) {
	r := newRig(t, Options{})
	c := r.dial()
	resp := c.request(metadataRequest(12)).(*kmsg.MetadataResponse)
	if got := resp.Brokers[0]; got.Host+":"+itoa(int(got.Port)) != r.addr {
		t.Errorf("advertised %s:%d, came in on %s", got.Host, got.Port, r.addr)
	}
}

func TestDescribeClusterAtEveryVersion(t *testing.T) {
	r := newRig(t, Options{})
	c := r.dial()
	versions(t, 60, func(t *testing.T, v int16) {
		req := kmsg.NewPtrDescribeClusterRequest()
		req.SetVersion(v)
		req.EndpointType = 1
		req.IncludeClusterAuthorizedOperations = true
		resp := c.request(req).(*kmsg.DescribeClusterResponse)
		if resp.ErrorCode != 0 || resp.ClusterID != testCluster || resp.ControllerID != 1 || len(resp.Brokers) != 1 || resp.ClusterAuthorizedOperations != clusterOperations {
			t.Errorf("%+v", resp)
		}
		if v == 0 {
			return
		}
		for kind, want := range map[int8]Code{2: CodeMismatchedEndpointType, 3: CodeUnsupportedEndpointType} {
			req.EndpointType = kind
			if got := c.request(req).(*kmsg.DescribeClusterResponse); Code(got.ErrorCode) != want {
				t.Errorf("endpoint type %d: %v", kind, Code(got.ErrorCode))
			}
		}
	})
}

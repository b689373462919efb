package api

import (
	"context"
	"errors"
	"fmt"
	"net"
	"regexp"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weir-broker/weir/broker/config"
	"github.com/weir-broker/weir/broker/coordinator"
	"github.com/weir-broker/weir/broker/metadata"
	"github.com/weir-broker/weir/broker/partition"
)

func newGroupRig(t *testing.T) *rig {
	t.Helper()
	r := newRig(t, Options{Config: testConfig(t, "group.initial.rebalance.delay.ms=0")})
	r.addTopic("a", 2)
	r.addTopic(offsetsTopic, 3)
	r.awaitGroups()
	return r
}

func at[R kmsg.Request](version int16, req R) R {
	req.SetVersion(version)
	return req
}

func joinOf(group, member string) *kmsg.JoinGroupRequest {
	req := kmsg.NewPtrJoinGroupRequest()
	req.Group, req.MemberID, req.ProtocolType = group, member, "consumer"
	req.SessionTimeoutMillis, req.RebalanceTimeoutMillis = 10_000, 10_000
	req.Protocols = []kmsg.JoinGroupRequestProtocol{{Name: "range", Metadata: []byte{0, 0, 0, 0, 0, 0}}}
	return req
}

// TestMemberIDIsClientIDAndUUID: the id of a new member tells operators which client it is.
func TestMemberIDIsClientIDAndUUID(t *testing.T) {
	c := newGroupRig(t).dial()
	first := c.request(at(9, joinOf("g", ""))).(*kmsg.JoinGroupResponse)
	if Code(first.ErrorCode) != CodeMemberIDRequired || !regexp.MustCompile(`^test-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(first.MemberID) {
		t.Errorf("code %v, member id %q", Code(first.ErrorCode), first.MemberID)
	}
}

// TestGroupLifeThroughTheAPI joins, assigns, commits, fetches, describes, leaves and deletes.
func TestGroupLifeThroughTheAPI(t *testing.T) {
	c := newGroupRig(t).dial()
	join := joinOf("g", "")
	join.MemberID = c.request(at(9, join)).(*kmsg.JoinGroupResponse).MemberID
	joined := c.request(at(9, join)).(*kmsg.JoinGroupResponse)
	if joined.ErrorCode != 0 || joined.LeaderID != join.MemberID || joined.Generation != 1 || len(joined.Members) != 1 {
		t.Fatalf("%+v", joined)
	}
	sync := kmsg.NewPtrSyncGroupRequest()
	sync.Group, sync.MemberID, sync.Generation, sync.ProtocolType, sync.Protocol = "g", join.MemberID, 1, kmsg.StringPtr("consumer"), kmsg.StringPtr("range")
	sync.GroupAssignment = []kmsg.SyncGroupRequestGroupAssignment{{MemberID: join.MemberID, MemberAssignment: []byte("everything")}}
	if resp := c.request(at(5, sync)).(*kmsg.SyncGroupResponse); resp.ErrorCode != 0 || string(resp.MemberAssignment) != "everything" {
		t.Fatalf("%+v", resp)
	}
	commit := kmsg.NewPtrOffsetCommitRequest()
	commit.Group, commit.MemberID, commit.Generation = "g", join.MemberID, 1
	p := kmsg.NewOffsetCommitRequestTopicPartition()
	p.Offset, p.Metadata = 7, kmsg.StringPtr("note")
	commit.Topics = []kmsg.OffsetCommitRequestTopic{{TopicID: topicID("a"), Partitions: []kmsg.OffsetCommitRequestTopicPartition{p}}}
	if resp := c.request(at(10, commit)).(*kmsg.OffsetCommitResponse); resp.Topics[0].Partitions[0].ErrorCode != 0 || resp.Topics[0].TopicID != topicID("a") {
		t.Fatalf("%+v", resp)
	}
	versions(t, 9, func(t *testing.T, v int16) {
		fetch := kmsg.NewPtrOffsetFetchRequest()
		fetch.Group, fetch.Topics = "g", []kmsg.OffsetFetchRequestTopic{{Topic: "a", Partitions: []int32{0, 1}}}
		g := kmsg.NewOffsetFetchRequestGroup()
		g.Group, g.Topics = "g", []kmsg.OffsetFetchRequestGroupTopic{{Topic: "a", TopicID: topicID("a"), Partitions: []int32{0, 1}}}
		all := kmsg.NewOffsetFetchRequestGroup()
		all.Group = "g"
		fetch.Groups = []kmsg.OffsetFetchRequestGroup{g, all}
		resp := c.request(at(v, fetch)).(*kmsg.OffsetFetchResponse)
		var got []string
		for _, topic := range resp.Topics {
			for _, p := range topic.Partitions {
				got = append(got, fmt.Sprint(p.Partition, p.Offset, *p.Metadata))
			}
		}
		for _, g := range resp.Groups {
			for _, topic := range g.Topics {
				if v >= 10 && topic.TopicID != topicID("a") {
					t.Errorf("topic id %v", topic.TopicID)
				}
				for _, p := range topic.Partitions {
					got = append(got, fmt.Sprint(p.Partition, p.Offset, *p.Metadata))
				}
			}
		}
		want := "0 7note 1 -1"
		if v >= 8 {
			want += " 0 7note"
		}
		if text := strings.Join(got, " "); text != want {
			t.Errorf("offsets %q, want %q", text, want)
		}
	})
	describe := kmsg.NewPtrDescribeGroupsRequest()
	describe.Groups, describe.IncludeAuthorizedOperations = []string{"none", "g"}, true
	described := c.request(at(6, describe)).(*kmsg.DescribeGroupsResponse)
	if g := described.Groups[1]; g.State != "Stable" || g.Members[0].ClientHost != "/127.0.0.1" || g.Members[0].ClientID != "test" || g.AuthorizedOperations != groupOperations {
		t.Errorf("%+v", g)
	}
	if Code(described.Groups[0].ErrorCode) != CodeGroupIDNotFound {
		t.Errorf("%+v", described.Groups[0])
	}
	remove := kmsg.NewPtrDeleteGroupsRequest()
	remove.Groups = []string{"g", "none", "g"}
	if resp := c.request(at(2, remove)).(*kmsg.DeleteGroupsResponse); len(resp.Groups) != 2 || Code(resp.Groups[0].ErrorCode) != CodeNonEmptyGroup || Code(resp.Groups[1].ErrorCode) != CodeGroupIDNotFound {
		t.Errorf("%+v", resp)
	}
	leave := kmsg.NewPtrLeaveGroupRequest()
	leave.Group, leave.Members = "g", []kmsg.LeaveGroupRequestMember{{MemberID: join.MemberID}}
	if resp := c.request(at(5, leave)).(*kmsg.LeaveGroupResponse); resp.ErrorCode != 0 || resp.Members[0].ErrorCode != 0 {
		t.Errorf("%+v", resp)
	}
	remove.Groups = []string{"g"}
	if resp := c.request(at(2, remove)).(*kmsg.DeleteGroupsResponse); resp.Groups[0].ErrorCode != 0 {
		t.Errorf("%+v", resp)
	}
	if resp := c.request(at(5, kmsg.NewPtrListGroupsRequest())).(*kmsg.ListGroupsResponse); resp.ErrorCode != 0 || len(resp.Groups) != 0 {
		t.Errorf("%+v", resp)
	}
}

// TestOffsetsOfUnknownPartitionsAreRefused: the partitions that exist are committed all the same.
func TestOffsetsOfUnknownPartitionsAreRefused(t *testing.T) {
	c := newGroupRig(t).dial()
	versions(t, 8, func(t *testing.T, v int16) {
		part := func(n int32) kmsg.OffsetCommitRequestTopicPartition {
			p := kmsg.NewOffsetCommitRequestTopicPartition()
			p.Partition, p.Offset = n, 1
			return p
		}
		req := kmsg.NewPtrOffsetCommitRequest()
		req.Group = "g"
		req.Topics = []kmsg.OffsetCommitRequestTopic{
			{Topic: "gone", TopicID: topicID("gone"), Partitions: []kmsg.OffsetCommitRequestTopicPartition{part(0)}},
			{Topic: "a", TopicID: topicID("a"), Partitions: []kmsg.OffsetCommitRequestTopicPartition{part(0), part(9), part(1)}},
		}
		got := map[string]Code{}
		for _, topic := range c.request(at(v, req)).(*kmsg.OffsetCommitResponse).Topics {
			name := topic.Topic
			if v >= 10 {
				name = strings.TrimRight(string(topic.TopicID[:]), "\x00")
			}
			for _, p := range topic.Partitions {
				got[fmt.Sprint(name, p.Partition)] = Code(p.ErrorCode)
			}
		}
		gone := CodeUnknownTopicOrPartition
		if v >= 10 {
			gone = CodeUnknownTopicID
		}
		want := map[string]Code{"gone0": gone, "a0": CodeNone, "a9": CodeUnknownTopicOrPartition, "a1": CodeNone}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%v, want %v", got, want)
		}
	})
}

// TestFirstLookForACoordinatorMakesItsTopic on every version, each with a broker of its own.
func TestFirstLookForACoordinatorMakesItsTopic(t *testing.T) {
	versions(t, 10, func(t *testing.T, v int16) {
		r := newRig(t, Options{Config: testConfig(t, "offsets.topic.num.partitions=2", "auto.create.topics.enable=false", "offsets.topic.segment.bytes=1048576")})
		req := kmsg.NewPtrFindCoordinatorRequest()
		req.CoordinatorKey, req.CoordinatorKeys = "g", []string{"g"}
		resp := r.dial().request(at(v, req)).(*kmsg.FindCoordinatorResponse)
		node, code := resp.NodeID, resp.ErrorCode
		if v >= 4 {
			node, code = resp.Coordinators[0].NodeID, resp.Coordinators[0].ErrorCode
		}
		if node != 1 || code != 0 {
			t.Errorf("node %d, %v", node, Code(code))
		}
		topic := r.image().Topic(offsetsTopic)
		if topic.PartitionCount() != 2 || len(topic.Partition(0).Replicas) != 1 || !topic.Internal() {
			t.Errorf("%+v", topic)
		}
		configs := r.image().Configs(metadata.Resource{Type: metadata.TopicResource, Name: offsetsTopic}).Map()
		if fmt.Sprint(configs) != "map[cleanup.policy:compact compression.type:producer segment.bytes:1048576]" {
			t.Errorf("%v", configs)
		}
	})
}

// TestOffsetsTopicOfAClusterHasAllReplicas: only a node that is the whole cluster gets by with one.
func TestOffsetsTopicOfAClusterHasAllReplicas(t *testing.T) {
	cluster := func(brokers ...metadata.BrokerID) *metadata.Image {
		img := metadata.NewImage()
		for _, id := range brokers {
			next, err := metadata.Apply(img, img.Index+1, metadata.Entry{Records: []metadata.Record{&metadata.RegisterBroker{Broker: metadata.Broker{ID: id, Epoch: 1}}}})
			if err != nil {
				t.Fatal(err)
			}
			img = next
		}
		return img
	}
	lone := testConfig(t)
	voters := &config.Broker{OffsetsTopicReplication: 3, ControllerRole: true, QuorumVoters: make([]config.Voter, 3)}
	brokerOnly := &config.Broker{OffsetsTopicReplication: 3}
	for name, tc := range map[string]struct {
		cfg  *config.Broker
		img  *metadata.Image
		want int16
	}{
		"a lone node":                 {lone, cluster(1), 1},
		"two brokers":                 {lone, cluster(1, 2), 3},
		"the first of three to start": {voters, cluster(1), 3},
		"a broker beside controllers": {brokerOnly, cluster(1), 3},
	} {
		if got := newOffsetsTopic(tc.cfg, tc.img).ReplicationFactor; got != tc.want {
			t.Errorf("%s: %d replicas, want %d", name, got, tc.want)
		}
	}
}

// TestCoordinatorsOfOtherKindsAreRefusedForGood: a client that wants transactions or share groups must not try for ever.
func TestCoordinatorsOfOtherKindsAreRefusedForGood(t *testing.T) {
	c := newGroupRig(t).dial()
	versions(t, 10, func(t *testing.T, v int16) {
		for kind, want := range map[int8]Code{1: CodeTransactionalIDAuthorizationFailed, 2: CodeInvalidRequest} {
			if v == 0 {
				continue // has no kinds
			}
			req := kmsg.NewPtrFindCoordinatorRequest()
			req.CoordinatorType, req.CoordinatorKey, req.CoordinatorKeys = kind, "t", []string{"t"}
			resp := c.request(at(v, req)).(*kmsg.FindCoordinatorResponse)
			code, message := Code(resp.ErrorCode), resp.ErrorMessage
			if v >= 4 {
				code, message = Code(resp.Coordinators[0].ErrorCode), resp.Coordinators[0].ErrorMessage
			}
			if code != want || message == nil || *message == "" {
				t.Errorf("kind %d: %v, message %v", kind, code, message)
			}
		}
	})
}

func TestGroupCodesAreThoseClientsOfGroupsKnow(t *testing.T) {
	for _, tc := range []struct {
		err  error
		want Code
	}{
		{nil, CodeNone},
		{coordinator.ErrNotCoordinator, CodeNotCoordinator},
		{fmt.Errorf("%w: %w", coordinator.ErrNotCoordinator, partition.ErrNotEnoughReplicas), CodeNotCoordinator},
		{coordinator.ErrLoading, CodeCoordinatorLoadInProgress},
		{coordinator.ErrNotAvailable, CodeCoordinatorNotAvailable},
		{fmt.Errorf("%w: %w", coordinator.ErrTimeout, context.DeadlineExceeded), CodeCoordinatorNotAvailable},
		{coordinator.ErrRecordsTooLarge, CodeUnknownServerError},
		{fmt.Errorf("%w: %w", coordinator.ErrRefused, partition.ErrInvalidProducerEpoch), CodeInvalidProducerEpoch},
		{partition.ErrNotLeader, CodeNotCoordinator},
		{errors.New("what is this"), CodeUnknownServerError},
	} {
		if got := groupCode(tc.err); got != tc.want {
			t.Errorf("%v: %v, want %v", tc.err, got, tc.want)
		}
	}
}

func TestHostsAreWrittenAsJavaDoes(t *testing.T) {
	for addr, want := range map[string]string{
		"127.0.0.1:9": "/127.0.0.1", "[::1]:9": "/0:0:0:0:0:0:0:1", "[::ffff:10.0.0.1]:9": "/10.0.0.1", "[2001:db8::a:0]:9": "/2001:db8:0:0:0:0:a:0",
	} {
		tcp, err := net.ResolveTCPAddr("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		if got := javaHost(tcp); got != want {
			t.Errorf("%s: %s, want %s", addr, got, want)
		}
	}
}

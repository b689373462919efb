//go:build interop

package wire

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// awaitGroups has the coordinators' topic made and waits until the coordinators of all its partitions are loaded.
func (b *broker) awaitGroups(t *testing.T) {
	t.Helper()
	find := kmsg.NewPtrFindCoordinatorRequest()
	find.CoordinatorKey = "any"
	list := kmsg.NewPtrListGroupsRequest()
	for end := time.Now().Add(3 * time.Minute); ; time.Sleep(100 * time.Millisecond) {
		found := b.must(t, find, 3).(*kmsg.FindCoordinatorResponse)
		listed := b.must(t, list, 4).(*kmsg.ListGroupsResponse)
		if found.ErrorCode == 0 && listed.ErrorCode == 0 && b.coordinates(t) {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%s: no coordinator: codes %d and %d", b.addr, found.ErrorCode, listed.ErrorCode)
		}
	}
}

// coordinates reports whether groups of many partitions have a coordinator that answers.
func (b *broker) coordinates(t *testing.T) bool {
	t.Helper()
	r := kmsg.NewPtrOffsetFetchRequest()
	for i := range 500 {
		g := kmsg.NewOffsetFetchRequestGroup()
		g.Group = fmt.Sprint("probe", i)
		r.Groups = append(r.Groups, g)
	}
	for _, g := range b.must(t, r, 8).(*kmsg.OffsetFetchResponse).Groups {
		if g.ErrorCode != 0 {
			return false
		}
	}
	return true
}

func findCoordinator() []testCase {
	build := func(kind int8, keys ...string) func(env) kmsg.Request {
		return func(env) kmsg.Request {
			r := kmsg.NewPtrFindCoordinatorRequest()
			r.CoordinatorType, r.CoordinatorKey, r.CoordinatorKeys = kind, keys[0], keys
			return r
		}
	}
	return []testCase{
		{"group", 0, build(0, "g")},
		{"empty", 0, build(0, "")},
		{"many", 4, build(0, "g", "h", "g")},
		{"kind", 1, build(7, "g")},
	}
}

type commitPart struct {
	topic     string
	partition int32
	metadata  string
}

func offsetCommit() []testCase {
	build := func(change func(e env, r *kmsg.OffsetCommitRequest), parts ...commitPart) func(env) kmsg.Request {
		return func(e env) kmsg.Request {
			r := kmsg.NewPtrOffsetCommitRequest()
			r.Group = e.topic("offsets")
			r.RetentionTimeMillis = -1
			for _, part := range parts {
				x := kmsg.NewOffsetCommitRequestTopic()
				x.Topic, x.TopicID = part.topic, e.ids[part.topic]
				if e.ids[part.topic] == ([16]byte{}) {
					x.TopicID = unknownID
				}
				p := kmsg.NewOffsetCommitRequestTopicPartition()
				p.Partition, p.Offset, p.LeaderEpoch, p.Metadata = part.partition, 42, 7, kmsg.StringPtr(part.metadata)
				x.Partitions = append(x.Partitions, p)
				r.Topics = append(r.Topics, x)
			}
			change(e, r)
			return r
		}
	}
	plain := func(env, *kmsg.OffsetCommitRequest) {}
	return []testCase{
		{"simple", 0, build(plain, commitPart{"w", 0, "text"}, commitPart{"wf", 0, ""})},
		{"mixed", 0, build(plain, commitPart{"none", 0, ""}, commitPart{"w", 1, ""}, commitPart{"w", 9, ""})},
		{"unknown", 0, build(plain, commitPart{"none", 0, ""})},
		{"nothing", 0, build(plain)},
		{"long-text", 0, build(plain, commitPart{"w", 0, strings.Repeat("x", 5000)}, commitPart{"w", 1, "y"})},
		{"empty-group", 0, build(func(_ env, r *kmsg.OffsetCommitRequest) { r.Group = "" }, commitPart{"w", 0, ""})},
		{"nobody", 0, build(func(_ env, r *kmsg.OffsetCommitRequest) { r.MemberID, r.Generation = "nobody", 3 }, commitPart{"w", 0, ""})},
		{"no-group", 0, build(func(_ env, r *kmsg.OffsetCommitRequest) { r.Group, r.Generation = "none", 3 }, commitPart{"w", 0, ""})},
	}
}

func offsetFetch() []testCase {
	build := func(groups []string, topics ...string) func(env) kmsg.Request {
		return func(e env) kmsg.Request {
			r := kmsg.NewPtrOffsetFetchRequest()
			for i, id := range groups {
				if id == "offsets" {
					id = e.topic(id)
				}
				g := kmsg.NewOffsetFetchRequestGroup()
				g.Group = id
				for _, topic := range topics {
					x := kmsg.NewOffsetFetchRequestGroupTopic()
					x.Topic, x.TopicID, x.Partitions = topic, e.ids[topic], []int32{0, 1, 9}
					if e.ids[topic] == ([16]byte{}) {
						x.TopicID = unknownID
					}
					g.Topics = append(g.Topics, x)
					if i == 0 {
						r.Topics = append(r.Topics, kmsg.OffsetFetchRequestTopic{Topic: topic, Partitions: x.Partitions})
					}
				}
				r.Groups = append(r.Groups, g)
			}
			r.Group = r.Groups[0].Group
			return r
		}
	}
	stable := func(inner func(env) kmsg.Request) func(env) kmsg.Request {
		return func(e env) kmsg.Request {
			r := inner(e).(*kmsg.OffsetFetchRequest)
			r.RequireStable = true
			return r
		}
	}
	return []testCase{
		{"named", 0, build([]string{"offsets"}, "w", "none")},
		{"all", 2, build([]string{"offsets"})},
		{"stable", 7, stable(build([]string{"offsets"}, "w"))},
		{"no-group", 0, build([]string{"none"}, "w")},
		{"no-group-all", 2, build([]string{"none"})},
		{"empty-group", 0, build([]string{""}, "wa")},
		{"many", 8, build([]string{"none", "offsets", "none"}, "w", "wf")},
	}
}

func joinGroup() []testCase {
	build := func(change func(r *kmsg.JoinGroupRequest)) func(env) kmsg.Request {
		return func(e env) kmsg.Request {
			r := kmsg.NewPtrJoinGroupRequest()
			r.Group, r.ProtocolType = e.topic("join"), "consumer"
			r.SessionTimeoutMillis, r.RebalanceTimeoutMillis = 10_000, 10_000
			p := kmsg.NewJoinGroupRequestProtocol()
			p.Name, p.Metadata = "range", []byte{0, 0, 0, 0, 0, 0}
			r.Protocols = append(r.Protocols, p)
			change(r)
			return r
		}
	}
	return []testCase{
		{"stranger", 0, build(func(r *kmsg.JoinGroupRequest) { r.MemberID = "nobody" })},
		{"short-session", 0, build(func(r *kmsg.JoinGroupRequest) { r.SessionTimeoutMillis = 1 })},
		{"long-session", 0, build(func(r *kmsg.JoinGroupRequest) { r.SessionTimeoutMillis, r.MemberID = 1<<31-1, "m" })},
		{"empty-group", 0, build(func(r *kmsg.JoinGroupRequest) { r.Group = "" })},
		{"first", 4, build(func(*kmsg.JoinGroupRequest) {})},
		{"no-protocols", 4, build(func(r *kmsg.JoinGroupRequest) { r.Protocols = nil })},
		{"no-type", 4, build(func(r *kmsg.JoinGroupRequest) { r.ProtocolType = "" })},
	}
}

func members() []testCase {
	sync := func(change func(r *kmsg.SyncGroupRequest)) func(env) kmsg.Request {
		return func(env) kmsg.Request {
			r := kmsg.NewPtrSyncGroupRequest()
			r.Group, r.MemberID, r.ProtocolType, r.Protocol = "none", "nobody", kmsg.StringPtr("consumer"), kmsg.StringPtr("range")
			change(r)
			return r
		}
	}
	beat := func(group string) func(env) kmsg.Request {
		return func(e env) kmsg.Request {
			r := kmsg.NewPtrHeartbeatRequest()
			r.Group, r.MemberID = group, "nobody"
			return r
		}
	}
	leave := func(group string) func(env) kmsg.Request {
		return func(e env) kmsg.Request {
			r := kmsg.NewPtrLeaveGroupRequest()
			r.Group, r.MemberID = group, "nobody"
			for _, instance := range []*string{nil, kmsg.StringPtr("i")} {
				m := kmsg.NewLeaveGroupRequestMember()
				m.MemberID, m.InstanceID = "nobody", instance
				r.Members = append(r.Members, m)
			}
			return r
		}
	}
	return []testCase{
		{"stranger", 0, sync(func(*kmsg.SyncGroupRequest) {})},
		{"no-protocol", 5, sync(func(r *kmsg.SyncGroupRequest) { r.Protocol = nil })},
		{"empty-group", 0, sync(func(r *kmsg.SyncGroupRequest) { r.Group = "" })},
		{"stranger", 0, beat("none")},
		{"empty-group", 0, beat("")},
		{"stranger", 0, leave("none")},
		{"empty-group", 0, leave("")},
	}
}

func groups() []testCase {
	return []testCase{
		{"some", 0, func(e env) kmsg.Request {
			r := kmsg.NewPtrDescribeGroupsRequest()
			r.Groups, r.IncludeAuthorizedOperations = []string{e.topic("offsets")}, true
			return r
		}},
		{"none", 0, func(env) kmsg.Request {
			r := kmsg.NewPtrDescribeGroupsRequest()
			r.Groups, r.IncludeAuthorizedOperations = []string{"none"}, true
			return r
		}},
		{"plain", 0, func(env) kmsg.Request { return kmsg.NewPtrListGroupsRequest() }},
		{"states", 4, func(env) kmsg.Request {
			r := kmsg.NewPtrListGroupsRequest()
			r.StatesFilter = []string{"empty", "Stable"}
			return r
		}},
		{"types", 5, func(env) kmsg.Request {
			r := kmsg.NewPtrListGroupsRequest()
			r.TypesFilter = []string{"consumer"}
			return r
		}},
		{"some", 0, func(env) kmsg.Request {
			r := kmsg.NewPtrOffsetDeleteRequest()
			r.Group = "offsets-v9"
			for _, topic := range []string{"none", "w"} {
				x := kmsg.NewOffsetDeleteRequestTopic()
				x.Topic, x.Partitions = topic, []kmsg.OffsetDeleteRequestTopicPartition{{Partition: 0}, {Partition: 9}}
				r.Topics = append(r.Topics, x)
			}
			return r
		}},
		{"no-group", 0, func(env) kmsg.Request {
			r := kmsg.NewPtrOffsetDeleteRequest()
			r.Group = "none"
			return r
		}},
		{"empty-group", 0, func(env) kmsg.Request { return kmsg.NewPtrOffsetDeleteRequest() }},
		{"none", 0, func(env) kmsg.Request {
			r := kmsg.NewPtrDeleteGroupsRequest()
			r.Groups = []string{"none", "none"}
			return r
		}},
		{"some", 0, func(e env) kmsg.Request {
			r := kmsg.NewPtrDeleteGroupsRequest()
			r.Groups = []string{fmt.Sprintf("offsets-v%d", e.version+2)}
			return r
		}},
	}
}

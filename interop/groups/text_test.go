//go:build interop

package groups_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weir-broker/weir/broker/group"
)

func compact(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// recordText is a record with its members in order.
func recordText(t *testing.T, key, value []byte) string {
	t.Helper()
	k, err := group.ParseKey(key)
	if err != nil {
		t.Fatal(err)
	}
	if value == nil {
		return compact(t, k) + " tombstone"
	}
	v, err := group.ParseValue(k.Type, value)
	if err != nil {
		t.Fatal(err)
	}
	switch v := v.(type) {
	case *group.GroupMetadataValue:
		slices.SortFunc(v.Members, func(a, b group.GroupMetadataMember) int { return strings.Compare(a.MemberID, b.MemberID) })
	case *group.TargetAssignmentMemberValue:
		sortTopics(v.Partitions)
	case *group.CurrentMemberAssignmentValue:
		sortTopics(v.AssignedPartitions)
		sortTopics(v.PartitionsPendingRevocation)
	}
	return compact(t, k) + compact(t, v)
}

// sortTopics sorts by id, and each topic's partitions together with their epochs.
func sortTopics(list []group.TopicPartitions) {
	slices.SortFunc(list, func(a, b group.TopicPartitions) int { return bytes.Compare(a.TopicID[:], b.TopicID[:]) })
	for i := range list {
		epochs := map[int32]int32{}
		for k, p := range list[i].Partitions {
			if k < len(list[i].AssignmentEpochs) {
				epochs[p] = list[i].AssignmentEpochs[k]
			}
		}
		slices.Sort(list[i].Partitions)
		for k := range list[i].AssignmentEpochs {
			list[i].AssignmentEpochs[k] = epochs[list[i].Partitions[k]]
		}
	}
}

func sortDescribed(a *kmsg.Assignment) {
	slices.SortFunc(a.TopicPartitions, func(a, b kmsg.AssignmentTopicPartition) int { return bytes.Compare(a.TopicID[:], b.TopicID[:]) })
	for i := range a.TopicPartitions {
		slices.Sort(a.TopicPartitions[i].Partitions)
	}
}

// answerText is an answer, read back from its bytes, with what has no order sorted; and its code.
func answerText(t *testing.T, req kmsg.Request, body []byte) (string, int16) {
	t.Helper()
	resp := req.ResponseKind()
	resp.SetVersion(req.GetVersion())
	if err := resp.ReadFrom(body); err != nil {
		t.Fatalf("%T version %d: %v", resp, req.GetVersion(), err)
	}
	code := int16(0)
	switch r := resp.(type) {
	case *kmsg.JoinGroupResponse:
		code = r.ErrorCode
		slices.SortFunc(r.Members, func(a, b kmsg.JoinGroupResponseMember) int { return strings.Compare(a.MemberID, b.MemberID) })
	case *kmsg.ConsumerGroupHeartbeatResponse:
		code, r.ErrorMessage = r.ErrorCode, nil // its text is each side's own
		if code != 0 {
			r.MemberID, r.MemberEpoch, r.HeartbeatIntervalMillis = nil, 0, 0
		}
		if r.Assignment != nil {
			slices.SortFunc(r.Assignment.Topics, func(a, b kmsg.ConsumerGroupHeartbeatResponseAssignmentTopic) int {
				return bytes.Compare(a.TopicID[:], b.TopicID[:])
			})
			for i := range r.Assignment.Topics {
				slices.Sort(r.Assignment.Topics[i].Partitions)
			}
		}
	case *kmsg.ConsumerGroupDescribeResponse:
		for i := range r.Groups {
			r.Groups[i].ErrorMessage = nil
			for k := range r.Groups[i].Members {
				m := &r.Groups[i].Members[k]
				sortDescribed(&m.Assignment)
				sortDescribed(&m.TargetAssignment)
				slices.Sort(m.SubscribedTopics)
			}
			slices.SortFunc(r.Groups[i].Members, func(a, b kmsg.ConsumerGroupDescribeResponseGroupMember) int {
				return strings.Compare(a.MemberID, b.MemberID)
			})
		}
	case *kmsg.SyncGroupResponse:
		code = r.ErrorCode
	case *kmsg.DescribeGroupsResponse:
		for i := range r.Groups {
			slices.SortFunc(r.Groups[i].Members, func(a, b kmsg.DescribeGroupsResponseGroupMember) int { return strings.Compare(a.MemberID, b.MemberID) })
		}
	case *kmsg.ListGroupsResponse:
		slices.SortFunc(r.Groups, func(a, b kmsg.ListGroupsResponseGroup) int { return strings.Compare(a.Group, b.Group) })
	case *kmsg.OffsetCommitResponse:
		for i := range r.Topics {
			for _, p := range r.Topics[i].Partitions {
				code = p.ErrorCode
			}
		}
	case *kmsg.OffsetFetchResponse:
		for i := range r.Groups {
			topics := r.Groups[i].Topics
			slices.SortFunc(topics, func(a, b kmsg.OffsetFetchResponseGroupTopic) int { return strings.Compare(a.Topic, b.Topic) })
			for j := range topics {
				slices.SortFunc(topics[j].Partitions, func(a, b kmsg.OffsetFetchResponseGroupTopicPartition) int { return int(a.Partition - b.Partition) })
			}
		}
	}
	return fmt.Sprintf("%T%s", resp, compact(t, resp)), code
}

var choices = []*regexp.Regexp{
	regexp.MustCompile(`"(LeaderID|Leader)":"[^"]*"`),
	regexp.MustCompile(`"Members":(null|\[[^\]]*\])`),
	regexp.MustCompile(`"SkipAssignment":(true|false)`),
}

// withoutChoice leaves out who leads, and what only leaders are told.
func withoutChoice(text string) string {
	for _, r := range choices {
		text = r.ReplaceAllString(text, "")
	}
	return text
}

var choiceMade = regexp.MustCompile(`"(LeaderID|Leader)":"[^"]*"`)

// choice is who leads.
func choice(text string) string { return fmt.Sprint(choiceMade.FindAllString(text, -1)) }

package group

import (
	"fmt"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weir-broker/weir/broker/metadata"
)

// codeNames are Kafka's names of the codes.
var codeNames = map[Code]string{
	none: "NONE", offsetMetadataTooLarge: "OFFSET_METADATA_TOO_LARGE", illegalGeneration: "ILLEGAL_GENERATION",
	inconsistentGroupProtocol: "INCONSISTENT_GROUP_PROTOCOL", invalidGroupID: "INVALID_GROUP_ID", unknownMemberID: "UNKNOWN_MEMBER_ID",
	invalidSessionTimeout: "INVALID_SESSION_TIMEOUT", rebalanceInProgress: "REBALANCE_IN_PROGRESS", unknownServerError: "UNKNOWN_SERVER_ERROR",
	nonEmptyGroup: "NON_EMPTY_GROUP", groupIDNotFound: "GROUP_ID_NOT_FOUND", memberIDRequired: "MEMBER_ID_REQUIRED",
	groupMaxSizeReached: "GROUP_MAX_SIZE_REACHED", fencedInstanceID: "FENCED_INSTANCE_ID", groupSubscribedToTopic: "GROUP_SUBSCRIBED_TO_TOPIC",
	unstableOffsetCommit: "UNSTABLE_OFFSET_COMMIT", unsupportedVersion: "UNSUPPORTED_VERSION", invalidRequest: "INVALID_REQUEST",
	fencedMemberEpoch: "FENCED_MEMBER_EPOCH", unreleasedInstanceID: "UNRELEASED_INSTANCE_ID", unsupportedAssignor: "UNSUPPORTED_ASSIGNOR",
	staleMemberEpoch: "STALE_MEMBER_EPOCH", invalidRegularExpression: "INVALID_REGULAR_EXPRESSION",
}

func orNull(s *string) string {
	if s == nil {
		return "null"
	}
	return *s
}

func recordText(key, value []byte) string {
	k := must(ParseKey(key))
	if k.Type > GroupMetadataType {
		return consumerRecordText(k, value)
	}
	text := k.Group
	if k.Type == OffsetCommitType {
		text = fmt.Sprintf("%s %s/%d", k.Group, k.Topic, k.Partition)
	}
	if value == nil {
		return text + " gone"
	}
	switch v := must(ParseValue(k.Type, value)).(type) {
	case *OffsetCommitValue:
		text += fmt.Sprintf(" v%d offset=%d epoch=%d metadata=%q", v.Version, v.Offset, v.LeaderEpoch, v.Metadata)
		if v.ExpireTimestamp != -1 {
			text += fmt.Sprintf(" expires=%dms", v.ExpireTimestamp-v.CommitTimestamp)
		}
		if v.TopicID != (metadata.TopicID{}) {
			text += fmt.Sprintf(" id=%d", v.TopicID[15])
		}
	case *GroupMetadataValue:
		text += fmt.Sprintf(" v%d type=%q generation=%d protocol=%s leader=%s members=[", v.Version, v.ProtocolType, v.GenerationID, orNull(v.Protocol), orNull(v.Leader))
		var members []string
		for _, m := range v.Members {
			one := m.MemberID + ":" + string(m.Assignment)
			if m.GroupInstanceID != nil {
				one += "/" + *m.GroupInstanceID
			}
			members = append(members, one)
		}
		text += strings.Join(members, " ") + "]"
	}
	return text
}

func responseText(r kmsg.Response) string {
	switch r := r.(type) {
	case *kmsg.JoinGroupResponse:
		text := codeNames[r.ErrorCode] + " member=" + r.MemberID
		if r.ErrorCode == none {
			text += fmt.Sprintf(" generation=%d protocol=%s leader=%s", r.Generation, orNull(r.Protocol), r.LeaderID)
			if r.SkipAssignment {
				text += " skip-assignment"
			}
			if len(r.Members) > 0 {
				var members []string
				for _, m := range r.Members {
					members = append(members, m.MemberID)
				}
				text += " members=[" + strings.Join(members, " ") + "]"
			}
		}
		return text
	case *kmsg.SyncGroupResponse:
		if r.ErrorCode != none {
			return codeNames[r.ErrorCode]
		}
		return fmt.Sprintf("NONE protocol=%s assignment=%q", orNull(r.Protocol), r.MemberAssignment)
	case *kmsg.HeartbeatResponse:
		return codeNames[r.ErrorCode]
	case *kmsg.LeaveGroupResponse:
		text := codeNames[r.ErrorCode]
		for _, m := range r.Members {
			text += fmt.Sprintf(" %s:%s", m.MemberID, codeNames[m.ErrorCode])
		}
		return text
	case *kmsg.OffsetCommitResponse:
		var text []string
		for _, t := range r.Topics {
			for _, p := range t.Partitions {
				text = append(text, fmt.Sprintf("%s/%d:%s", t.Topic, p.Partition, codeNames[p.ErrorCode]))
			}
		}
		return strings.Join(text, " ")
	case *kmsg.TxnOffsetCommitResponse:
		var text []string
		for _, t := range r.Topics {
			for _, p := range t.Partitions {
				text = append(text, fmt.Sprintf("%s/%d:%s", t.Topic, p.Partition, codeNames[p.ErrorCode]))
			}
		}
		return strings.Join(text, " ")
	case *kmsg.OffsetFetchResponse:
		return fetchText(r)
	case *kmsg.ConsumerGroupHeartbeatResponse:
		return heartbeatText(r)
	case *kmsg.ConsumerGroupDescribeResponse:
		return describeConsumerText(r)
	default:
		return adminText(r)
	}
}

func fetchText(r *kmsg.OffsetFetchResponse) string {
	text := []string{codeNames[r.ErrorCode]}
	show := func(topic string, partition int32, offset int64, epoch int32, metadata *string, code Code) {
		one := fmt.Sprintf("%s/%d=%d epoch=%d metadata=%q", topic, partition, offset, epoch, orNull(metadata))
		if code != none {
			one += " " + codeNames[code]
		}
		text = append(text, one)
	}
	for _, t := range r.Topics {
		for _, p := range t.Partitions {
			show(t.Topic, p.Partition, p.Offset, p.LeaderEpoch, p.Metadata, p.ErrorCode)
		}
	}
	for _, g := range r.Groups {
		text = append(text, "group "+g.Group+" "+codeNames[g.ErrorCode])
		for _, t := range g.Topics {
			for _, p := range t.Partitions {
				show(t.Topic, p.Partition, p.Offset, p.LeaderEpoch, p.Metadata, p.ErrorCode)
			}
		}
	}
	return strings.Join(text, "\n  ")
}

func adminText(r kmsg.Response) string {
	text := []string{}
	switch r := r.(type) {
	case *kmsg.OffsetDeleteResponse:
		text = append(text, codeNames[r.ErrorCode])
		for _, t := range r.Topics {
			for _, p := range t.Partitions {
				text = append(text, fmt.Sprintf("%s/%d:%s", t.Topic, p.Partition, codeNames[p.ErrorCode]))
			}
		}
		return strings.Join(text, " ")
	case *kmsg.ListGroupsResponse:
		text = append(text, codeNames[r.ErrorCode])
		for _, g := range r.Groups {
			text = append(text, fmt.Sprintf("%s type=%q %s %s", g.Group, g.ProtocolType, g.GroupState, g.GroupType))
		}
	case *kmsg.DescribeGroupsResponse:
		for _, g := range r.Groups {
			one := fmt.Sprintf("%s %s %s type=%q protocol=%q", g.Group, codeNames[g.ErrorCode], g.State, g.ProtocolType, g.Protocol)
			if g.ErrorMessage != nil {
				one += " " + *g.ErrorMessage
			}
			text = append(text, one)
			for _, m := range g.Members {
				text = append(text, fmt.Sprintf("  %s instance=%s client=%s host=%s metadata=%q assignment=%q",
					m.MemberID, orNull(m.InstanceID), m.ClientID, m.ClientHost, m.ProtocolMetadata, m.MemberAssignment))
			}
		}
	case *kmsg.DeleteGroupsResponse:
		for _, g := range r.Groups {
			text = append(text, g.Group+":"+codeNames[g.ErrorCode])
		}
		return strings.Join(text, " ")
	}
	return strings.Join(text, "\n  ")
}

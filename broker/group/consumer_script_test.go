package group

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weir-broker/weir/broker/metadata"
	"github.com/weir-broker/weir/broker/policy"
)

func testConsumerOptions() ConsumerOptions {
	return ConsumerOptions{
		SessionTimeout: Bounded{45 * time.Second, 45 * time.Second, time.Minute}, HeartbeatInterval: Bounded{5 * time.Second, 5 * time.Second, 15 * time.Second},
		AssignmentInterval: Bounded{0, 0, 15 * time.Second}, MaxSize: 1 << 30, RegexRefreshInterval: 10 * time.Minute,
		Assignors: []NamedAssignor{{policy.UniformAssignorName, policy.UniformAssignor()}, {policy.RangeAssignorName, policy.RangeAssignor()}},
	}
}

// settle does what coordinator does between two requests: it runs timers that are due at once, and calls.
func (s *script) settle() {
	for {
		if len(s.calls) > 0 && !s.holding {
			c := s.calls[0]
			s.calls = s.calls[1:]
			s.perform(c.Run(context.Background())(s.shard, s.now, 0))
			continue
		}
		keys := s.timersInOrder()
		i := 0
		for i < len(keys) && (keys[i].Kind != ComputeTargetTimer && keys[i].Kind != AwaitTargetTimer || s.timers[keys[i]].After(s.now)) {
			i++
		}
		if i == len(keys) {
			return
		}
		delete(s.timers, keys[i])
		s.perform(s.shard.Expire(s.now, keys[i]))
	}
}

// testTopicID is the id of a topic in scripts: a letter's place in the alphabet unless it is given.
func testTopicID(name, id string) metadata.TopicID {
	n := int64(name[0] - 'a' + 1)
	if id != "" {
		n = int64(must(strconv.Atoi(id)))
	}
	return topicID(n)
}

// testTopics are the topics name=partitions[/id]; three brokers in the racks r0, r1 and none.
func testTopics(index metadata.Index, topics []string, config map[string]string) *metadata.Image {
	records := []metadata.Record{&metadata.TermStart{Term: 1}}
	for i, rack := range []string{"r0", "r1", ""} {
		records = append(records, &metadata.RegisterBroker{Broker: metadata.Broker{ID: metadata.BrokerID(i), Rack: rack}})
	}
	for _, topic := range topics {
		name, what, _ := strings.Cut(topic, "=")
		count, id, _ := strings.Cut(what, "/")
		records = append(records, &metadata.NewTopic{ID: testTopicID(name, id), Name: name})
		for p := range must(strconv.Atoi(count)) {
			replicas := []metadata.BrokerID{metadata.BrokerID(p % 3)}
			records = append(records, &metadata.NewPartition{TopicID: testTopicID(name, id), Index: int32(p), Partition: metadata.Partition{
				Replicas: replicas, ISR: replicas, Leader: replicas[0], Directories: make([]metadata.DirID, 1),
			}})
		}
	}
	for _, key := range sortedKeys(config) {
		value := config[key]
		records = append(records, &metadata.Config{Resource: metadata.Resource{Type: metadata.GroupResource, Name: "g"}, Key: key, Value: &value})
	}
	return must(metadata.Apply(metadata.NewImage(), index, metadata.Entry{Term: 1, Records: records}))
}

func (s *script) world(a args, g string) {
	switch a.Cmd {
	case "topics":
		var topics []string
		for _, arg := range a.CmdArgs {
			topics = append(topics, arg.Key+"="+strings.Join(arg.Vals, ","))
		}
		s.image = testTopics(s.image.Index+1, topics, s.image.Configs(metadata.Resource{Type: metadata.GroupResource, Name: "g"}).Map())
		s.perform(s.shard.Publish(s.now, s.image))
	case "config":
		config := map[string]string{}
		for _, arg := range a.CmdArgs {
			config[arg.Key] = strings.Join(arg.Vals, ",")
		}
		var topics []string
		for name, topic := range s.image.Topics() {
			topics = append(topics, fmt.Sprintf("%s=%d/%d", name, topic.PartitionCount(), topic.ID[15]))
		}
		s.image = testTopics(s.image.Index+1, topics, config)
		s.perform(s.shard.Publish(s.now, s.image))
	case "hold-calls":
		s.holding = true
	case "run-calls":
		s.holding = false
		s.settle()
	case "refuse-calls":
		for _, c := range s.calls {
			s.perform(c.Refused(s.shard, s.now, 0))
		}
		s.calls = nil
		s.settle()
	}
}

// beat is a ConsumerGroupHeartbeat. Who joins subscribes to t and has five minutes to give up partitions, unless said
// otherwise.
func (s *script) beat(a args, g string) {
	req := kmsg.NewPtrConsumerGroupHeartbeatRequest()
	req.Version, req.Group, req.MemberID, req.MemberEpoch = int16(a.num("version", 1)), g, a.str("member", ""), int32(a.num("epoch", 0))
	req.InstanceID, req.RackID, req.ServerAssignor, req.SubscribedTopicRegex = a.opt("instance"), a.opt("rack"), a.opt("assignor"), a.opt("regex")
	if req.MemberEpoch == 0 && !a.has("bare") {
		req.RebalanceTimeoutMillis = int32((5 * time.Minute).Milliseconds())
		req.Topics = []kmsg.ConsumerGroupHeartbeatRequestTopic{}
		if !a.has("regex") {
			req.SubscribedTopicNames = []string{"t"}
		}
	}
	if a.has("timeout") {
		req.RebalanceTimeoutMillis = int32(a.dur("timeout", 0).Milliseconds())
	}
	if a.has("topics") {
		req.SubscribedTopicNames = append([]string{}, split(a.str("topics", ""))...)
	}
	if a.has("owned") {
		req.Topics = []kmsg.ConsumerGroupHeartbeatRequestTopic{}
		for _, one := range split(a.str("owned", "")) {
			name, partition, _ := strings.Cut(one, "/")
			req.Topics = append(req.Topics, kmsg.ConsumerGroupHeartbeatRequestTopic{
				TopicID: testTopicID(name, ""), Partitions: []int32{int32(must(strconv.Atoi(partition)))},
			})
		}
	}
	if req.MemberID == "" {
		s.uuids++
	}
	c := Client{ID: a.str("client", "c"), Host: "/127.0.0.1", UUID: "uuid-" + strconv.Itoa(s.uuids)}
	if a.has("hidden") {
		c.Describes = func(topic string) bool { return topic != a.str("hidden", "") }
	}
	s.ask(a.str("as", strings.TrimSpace("beat "+req.MemberID)), func(tk Token) Effects { return s.shard.ConsumerGroupHeartbeat(s.now, c, tk, req) })
}

func topicText(id metadata.TopicID) string {
	if id[15] > 26 {
		return "#" + strconv.Itoa(int(id[15]))
	}
	return string(rune('a' + id[15] - 1))
}

func partitionsText(list []TopicPartitions) string {
	var out []string
	for _, t := range list {
		for i, p := range t.Partitions {
			one := fmt.Sprintf("%s/%d", topicText(t.TopicID), p)
			if i < len(t.AssignmentEpochs) {
				one += fmt.Sprintf("@%d", t.AssignmentEpochs[i])
			}
			out = append(out, one)
		}
	}
	return "[" + strings.Join(out, " ") + "]"
}

func consumerRecordText(k Key, value []byte) string {
	kinds := map[RecordType]string{
		ConsumerGroupMetadataType: "epoch", ConsumerGroupPartitionMetadataType: "partition-metadata", ConsumerGroupMemberMetadataType: "member",
		TargetAssignmentMetadataType: "target-epoch", TargetAssignmentMemberType: "target", CurrentMemberAssignmentType: "current", RegularExpressionType: "regex",
	}
	text := strings.Join(strings.Fields(kinds[k.Type]+" "+k.Group+" "+k.Member+k.Regex), " ")
	if value == nil {
		return text + " gone"
	}
	switch v := must(ParseValue(k.Type, value)).(type) {
	case *ConsumerGroupMetadataValue:
		text += fmt.Sprintf(" %d hash=%s", v.Epoch, strconv.FormatUint(uint64(v.MetadataHash), 16))
	case *ConsumerGroupMemberMetadataValue:
		text += fmt.Sprintf(" topics=%v regex=%s timeout=%v", v.SubscribedTopicNames, orNull(v.SubscribedTopicRegex), milliseconds(v.RebalanceTimeoutMs))
		for name, p := range map[string]*string{" instance=": v.InstanceID} {
			if p != nil {
				text += name + *p
			}
		}
		if v.RackID != nil {
			text += " rack=" + *v.RackID
		}
		if v.ServerAssignor != nil {
			text += " assignor=" + *v.ServerAssignor
		}
	case *TargetAssignmentMetadataValue:
		text += fmt.Sprintf(" %d", v.AssignmentEpoch)
		if v.AssignmentTimestamp == 0 {
			text += " no-time"
		}
	case *TargetAssignmentMemberValue:
		text += " " + partitionsText(v.Partitions)
	case *CurrentMemberAssignmentValue:
		text += fmt.Sprintf(" epoch=%d previous=%d %s %s", v.MemberEpoch, v.PreviousMemberEpoch,
			[]string{"stable", "unrevoked", "unreleased"}[v.State], partitionsText(v.AssignedPartitions))
		if len(v.PartitionsPendingRevocation) > 0 {
			text += " revoking " + partitionsText(v.PartitionsPendingRevocation)
		}
	case *RegularExpressionValue:
		text += fmt.Sprintf(" %v version=%d", v.Topics, v.Version)
	}
	return text
}

func heartbeatText(r *kmsg.ConsumerGroupHeartbeatResponse) string {
	if r.ErrorCode != none {
		return codeNames[r.ErrorCode] + " " + orNull(r.ErrorMessage)
	}
	text := fmt.Sprintf("NONE member=%s epoch=%d", orNull(r.MemberID), r.MemberEpoch)
	if r.MemberEpoch >= 0 {
		text += fmt.Sprintf(" every=%v", milliseconds(r.HeartbeatIntervalMillis))
	}
	if r.Assignment != nil {
		var list []TopicPartitions
		for _, t := range r.Assignment.Topics {
			list = append(list, TopicPartitions{TopicID: t.TopicID, Partitions: t.Partitions})
		}
		text += " assignment=" + partitionsText(list)
	}
	return text
}

func describeConsumerText(r *kmsg.ConsumerGroupDescribeResponse) string {
	var text []string
	for _, g := range r.Groups {
		if g.ErrorCode != none {
			text = append(text, g.Group+" "+codeNames[g.ErrorCode]+" "+orNull(g.ErrorMessage))
			continue
		}
		text = append(text, fmt.Sprintf("%s %s epoch=%d assignment-epoch=%d assignor=%s", g.Group, g.State, g.Epoch, g.AssignmentEpoch, g.AssignorName))
		describe := func(a kmsg.Assignment) string {
			var out []string
			for _, t := range a.TopicPartitions {
				out = append(out, fmt.Sprintf("%s%v", t.Topic, t.Partitions))
			}
			return "[" + strings.Join(out, " ") + "]"
		}
		for _, m := range g.Members {
			text = append(text, fmt.Sprintf("  %s epoch=%d instance=%s rack=%s client=%s host=%s topics=%v regex=%q assignment=%s target=%s type=%d", m.MemberID, m.MemberEpoch,
				orNull(m.InstanceID), orNull(m.RackID), m.ClientID, m.ClientHost, m.SubscribedTopics, orNull(m.SubscribedTopicRegex),
				describe(m.Assignment), describe(m.TargetAssignment), m.MemberType))
		}
	}
	return strings.Join(text, "\n  ")
}

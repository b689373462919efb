//go:build interop

package wire

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// env is what a case must know of the broker it is built for.
type env struct {
	version int16
	ids     map[string][16]byte // topic ids by name
}

// topic is a name that no other version of the same case uses.
func (e env) topic(prefix string) string { return fmt.Sprintf("%s-v%d", prefix, e.version) }

// testCase builds one request; it is played at every version between its bounds, in order, on both brokers.
type testCase struct {
	name  string
	min   int16 // lowest version, 0 for Kafka's lowest
	build func(e env) kmsg.Request
}

var unknownID = [16]byte{9, 9, 9}

func cases() []testCase {
	var all []testCase
	for _, part := range [][]testCase{
		apiVersions(), metadata(), cluster(), produce(), fetch(), listOffsets(), epochs(), createTopics(), createPartitions(),
		describeConfigs(), alterConfigs(), incrementalAlterConfigs(), logDirs(), producers(), initProducerID(), quorum(), features(),
		listConfigResources(), topicPartitions(), deleteRecords(), deleteTopics(),
		findCoordinator(), offsetCommit(), offsetFetch(), joinGroup(), members(), groups(),
	} {
		all = append(all, part...)
	}
	return all
}

func apiVersions() []testCase {
	build := func(change func(r *kmsg.ApiVersionsRequest)) func(env) kmsg.Request {
		return func(env) kmsg.Request {
			r := kmsg.NewPtrApiVersionsRequest()
			r.ClientSoftwareName, r.ClientSoftwareVersion = "wire", "1.0"
			r.NodeID = -1
			change(r)
			return r
		}
	}
	return []testCase{
		{"plain", 0, build(func(*kmsg.ApiVersionsRequest) {})},
		{"bad-name", 3, build(func(r *kmsg.ApiVersionsRequest) { r.ClientSoftwareName = "two words" })},
		{"empty-name", 3, build(func(r *kmsg.ApiVersionsRequest) { r.ClientSoftwareName = "" })},
		{"other-cluster", 5, build(func(r *kmsg.ApiVersionsRequest) { r.ClusterID, r.NodeID = kmsg.StringPtr("another"), 1 })},
		{"other-node", 5, build(func(r *kmsg.ApiVersionsRequest) { r.NodeID = 77 })},
	}
}

func metadata() []testCase {
	build := func(change func(r *kmsg.MetadataRequest, e env)) func(env) kmsg.Request {
		return func(e env) kmsg.Request {
			r := kmsg.NewPtrMetadataRequest()
			change(r, e)
			return r
		}
	}
	named := func(name string) kmsg.MetadataRequestTopic {
		t := kmsg.NewMetadataRequestTopic()
		t.Topic = kmsg.StringPtr(name)
		return t
	}
	byID := func(id [16]byte) kmsg.MetadataRequestTopic {
		t := kmsg.NewMetadataRequestTopic()
		t.TopicID = id
		return t
	}
	return []testCase{
		{"all", 1, build(func(r *kmsg.MetadataRequest, _ env) { r.Topics = nil })},
		{"none", 1, build(func(r *kmsg.MetadataRequest, _ env) { r.Topics = []kmsg.MetadataRequestTopic{} })},
		{"one", 0, build(func(r *kmsg.MetadataRequest, _ env) { r.Topics = []kmsg.MetadataRequestTopic{named("w")} })},
		{"unknown", 4, build(func(r *kmsg.MetadataRequest, _ env) {
			r.Topics = []kmsg.MetadataRequestTopic{named("w"), named("nothing")}
		})},
		{"bad-name", 4, build(func(r *kmsg.MetadataRequest, _ env) { r.Topics = []kmsg.MetadataRequestTopic{named("a/b")} })},
		{"bad-name-create", 4, build(func(r *kmsg.MetadataRequest, _ env) {
			r.AllowAutoTopicCreation = true
			r.Topics = []kmsg.MetadataRequestTopic{named("a/b")}
		})},
		{"empty-name", 4, build(func(r *kmsg.MetadataRequest, _ env) { r.Topics = []kmsg.MetadataRequestTopic{named("")} })},
		{"twice", 4, build(func(r *kmsg.MetadataRequest, _ env) { r.Topics = []kmsg.MetadataRequestTopic{named("w"), named("w")} })},
		{"operations", 8, build(func(r *kmsg.MetadataRequest, _ env) {
			r.IncludeClusterAuthorizedOperations, r.IncludeTopicAuthorizedOperations = true, true
			r.Topics = []kmsg.MetadataRequestTopic{named("w")}
		})},
		{"by-id", 12, build(func(r *kmsg.MetadataRequest, e env) { r.Topics = []kmsg.MetadataRequestTopic{byID(e.ids["w"])} })},
		{"unknown-id", 12, build(func(r *kmsg.MetadataRequest, _ env) { r.Topics = []kmsg.MetadataRequestTopic{byID(unknownID)} })},
		{"create", 4, build(func(r *kmsg.MetadataRequest, e env) {
			r.AllowAutoTopicCreation = true
			r.Topics = []kmsg.MetadataRequestTopic{named(e.topic("auto"))}
		})},
	}
}

func cluster() []testCase {
	build := func(change func(r *kmsg.DescribeClusterRequest)) func(env) kmsg.Request {
		return func(env) kmsg.Request {
			r := kmsg.NewPtrDescribeClusterRequest()
			change(r)
			return r
		}
	}
	return []testCase{
		{"plain", 0, build(func(*kmsg.DescribeClusterRequest) {})},
		{"operations", 0, build(func(r *kmsg.DescribeClusterRequest) { r.IncludeClusterAuthorizedOperations = true })},
		{"controllers", 1, build(func(r *kmsg.DescribeClusterRequest) { r.EndpointType = 2 })},
		{"bad-endpoint", 1, build(func(r *kmsg.DescribeClusterRequest) { r.EndpointType = 9 })},
		{"fenced", 2, build(func(r *kmsg.DescribeClusterRequest) { r.IncludeFencedBrokers = true })},
	}
}

func produce() []testCase {
	build := func(topic string, change func(r *kmsg.ProduceRequest, p *kmsg.ProduceRequestTopicPartition)) func(env) kmsg.Request {
		return func(e env) kmsg.Request {
			r := kmsg.NewPtrProduceRequest()
			r.Acks, r.TimeoutMillis = 1, 5000
			t := kmsg.NewProduceRequestTopic()
			t.Topic, t.TopicID = topic, e.ids[topic]
			if topic == "nothing" {
				t.TopicID = unknownID
			}
			p := kmsg.NewProduceRequestTopicPartition()
			p.Records = newBatch("x", "yy").bytes()
			change(r, &p)
			t.Partitions = append(t.Partitions, p)
			r.Topics = append(r.Topics, t)
			return r
		}
	}
	records := func(raw []byte) func(*kmsg.ProduceRequest, *kmsg.ProduceRequestTopicPartition) {
		return func(_ *kmsg.ProduceRequest, p *kmsg.ProduceRequestTopicPartition) { p.Records = raw }
	}
	with := func(change func(b *batchOf)) func(*kmsg.ProduceRequest, *kmsg.ProduceRequestTopicPartition) {
		b := newBatch("x", "yy")
		change(b)
		return records(b.bytes())
	}
	none := func(*kmsg.ProduceRequest, *kmsg.ProduceRequestTopicPartition) {}
	idempotent := func(seq int32) func(*kmsg.ProduceRequest, *kmsg.ProduceRequestTopicPartition) {
		return with(func(b *batchOf) { b.ProducerID, b.ProducerEpoch, b.FirstSequence = 700, 0, seq })
	}
	return []testCase{
		{"acks-1", 0, build("w", none)},
		{"acks-all", 0, build("w", func(r *kmsg.ProduceRequest, _ *kmsg.ProduceRequestTopicPartition) { r.Acks = -1 })},
		{"acks-2", 0, build("w", func(r *kmsg.ProduceRequest, _ *kmsg.ProduceRequestTopicPartition) { r.Acks = 2 })},
		{"unknown-topic", 0, build("nothing", none)},
		{"unknown-partition", 0, build("w", func(_ *kmsg.ProduceRequest, p *kmsg.ProduceRequestTopicPartition) { p.Partition = 99 })},
		{"negative-partition", 0, build("w", func(_ *kmsg.ProduceRequest, p *kmsg.ProduceRequestTopicPartition) { p.Partition = -1 })},
		// No case with null records: Kafka 4.4.0 never answers it.
		{"empty-records", 0, build("w", records([]byte{}))},
		{"short-records", 0, build("w", records(make([]byte, 10)))},
		{"two-batches", 0, build("w", records(append(newBatch("a").bytes(), newBatch("b").bytes()...)))},
		{"trailing-bytes", 0, build("w", records(append(newBatch("a").bytes(), 1, 2, 3)))},
		{"bad-crc", 0, build("w", with(func(b *batchOf) { b.spoil = func(raw []byte) { raw[17]++ } }))},
		{"magic-1", 0, build("w", with(func(b *batchOf) { b.spoil = func(raw []byte) { raw[16] = 1 } }))},
		{"magic-3", 0, build("w", with(func(b *batchOf) { b.spoil = func(raw []byte) { raw[16] = 3 } }))},
		{"long-length", 0, build("w", with(func(b *batchOf) { b.spoil = func(raw []byte) { raw[11]++ } }))},
		{"short-length", 0, build("w", with(func(b *batchOf) { b.spoil = func(raw []byte) { raw[11]-- } }))},
		{"negative-length", 0, build("w", with(func(b *batchOf) { b.spoil = func(raw []byte) { raw[8] = 0xff } }))},
		{"base-offset", 0, build("w", with(func(b *batchOf) { b.FirstOffset = 5 }))},
		{"control", 0, build("w", with(func(b *batchOf) { b.Attributes |= 1 << 5 }))},
		{"log-append-time", 0, build("w", with(func(b *batchOf) { b.Attributes |= 1 << 3 }))},
		{"bad-codec", 0, build("w", with(func(b *batchOf) { b.Attributes |= 7 }))},
		{"zstd", 0, build("w", with(func(b *batchOf) { b.zstd = true }))},
		{"future", 0, build("w", with(func(b *batchOf) { b.FirstTimestamp, b.MaxTimestamp = 1<<50, 1<<50 }))},
		{"transactional", 0, build("w", with(func(b *batchOf) {
			b.Attributes |= 1 << 4
			b.ProducerID, b.ProducerEpoch, b.FirstSequence = 800, 0, 0
		}))},
		{"no-sequence", 0, build("w", with(func(b *batchOf) { b.ProducerID, b.ProducerEpoch = 700, 0 }))},
		{"sequence-0", 0, build("w", idempotent(0))},
		{"sequence-gap", 0, build("w", idempotent(40))},
		{"null-key-compacted", 0, build("wc", with(func(b *batchOf) { b.key = nil }))},
		{"too-large", 0, build("ws", records(newBatch(string(make([]byte, 5000))).bytes()))},
		{"acks-all-too-few", 0, build("wm", func(r *kmsg.ProduceRequest, _ *kmsg.ProduceRequestTopicPartition) { r.Acks = -1 })},
	}
}

func fetch() []testCase {
	build := func(topic string, change func(r *kmsg.FetchRequest, p *kmsg.FetchRequestTopicPartition)) func(env) kmsg.Request {
		return func(e env) kmsg.Request {
			r := kmsg.NewPtrFetchRequest()
			r.ReplicaID, r.MaxWaitMillis, r.MinBytes, r.MaxBytes, r.SessionEpoch = -1, 10, 0, 1<<20, -1
			t := kmsg.NewFetchRequestTopic()
			t.Topic, t.TopicID = topic, e.ids[topic]
			if topic == "nothing" {
				t.TopicID = unknownID
			}
			p := kmsg.NewFetchRequestTopicPartition()
			p.CurrentLeaderEpoch, p.PartitionMaxBytes, p.LastFetchedEpoch, p.LogStartOffset = -1, 1<<20, -1, -1
			change(r, &p)
			t.Partitions = append(t.Partitions, p)
			r.Topics = append(r.Topics, t)
			return r
		}
	}
	at := func(offset int64) func(*kmsg.FetchRequest, *kmsg.FetchRequestTopicPartition) {
		return func(_ *kmsg.FetchRequest, p *kmsg.FetchRequestTopicPartition) { p.FetchOffset = offset }
	}
	return []testCase{
		{"start", 0, build("wf", at(0))},
		{"inside-batch", 0, build("wf", at(1))},
		{"second-batch", 0, build("wf", at(2))},
		{"end", 0, build("wf", at(4))},
		{"beyond", 0, build("wf", at(5))},
		{"negative", 0, build("wf", at(-1))},
		{"unknown-topic", 0, build("nothing", at(0))},
		{"unknown-partition", 0, build("wf", func(_ *kmsg.FetchRequest, p *kmsg.FetchRequestTopicPartition) { p.Partition = 9 })},
		{"small-partition-max", 0, build("wf", func(_ *kmsg.FetchRequest, p *kmsg.FetchRequestTopicPartition) { p.PartitionMaxBytes = 1 })},
		{"small-max", 0, build("wf", func(r *kmsg.FetchRequest, _ *kmsg.FetchRequestTopicPartition) { r.MaxBytes = 1 })},
		{"zero-max", 0, build("wf", func(r *kmsg.FetchRequest, _ *kmsg.FetchRequestTopicPartition) { r.MaxBytes = 0 })},
		{"committed", 0, build("wf", func(r *kmsg.FetchRequest, _ *kmsg.FetchRequestTopicPartition) { r.IsolationLevel = 1 })},
		{"epoch-current", 9, build("wf", func(_ *kmsg.FetchRequest, p *kmsg.FetchRequestTopicPartition) { p.CurrentLeaderEpoch = 0 })},
		{"epoch-ahead", 9, build("wf", func(_ *kmsg.FetchRequest, p *kmsg.FetchRequestTopicPartition) { p.CurrentLeaderEpoch = 9 })},
		{"fetched-epoch-ahead", 12, build("wf", func(_ *kmsg.FetchRequest, p *kmsg.FetchRequestTopicPartition) {
			p.FetchOffset, p.LastFetchedEpoch = 2, 7
		})},
		{"fetched-epoch", 12, build("wf", func(_ *kmsg.FetchRequest, p *kmsg.FetchRequestTopicPartition) {
			p.FetchOffset, p.LastFetchedEpoch = 2, 0
		})},
		{"new-session", 7, build("wf", func(r *kmsg.FetchRequest, _ *kmsg.FetchRequestTopicPartition) { r.SessionEpoch = 0 })},
		{"unknown-session", 7, build("wf", func(r *kmsg.FetchRequest, _ *kmsg.FetchRequestTopicPartition) { r.SessionID, r.SessionEpoch = 1234, 5 })},
		{"sessionless-epoch", 7, build("wf", func(r *kmsg.FetchRequest, _ *kmsg.FetchRequestTopicPartition) { r.SessionEpoch = 3 })},
		{"long-poll-answered-by-data", 0, build("wf", func(r *kmsg.FetchRequest, _ *kmsg.FetchRequestTopicPartition) { r.MaxWaitMillis, r.MinBytes = 10000, 1 })},
		{"min-bytes-timeout", 0, build("wf", func(r *kmsg.FetchRequest, _ *kmsg.FetchRequestTopicPartition) {
			r.MaxWaitMillis, r.MinBytes = 50, 1<<20
		})},
		{"no-topics", 0, func(env) kmsg.Request {
			r := kmsg.NewPtrFetchRequest()
			r.ReplicaID, r.MaxWaitMillis, r.MaxBytes, r.SessionEpoch = -1, 10, 1<<20, -1
			return r
		}},
	}
}

func listOffsets() []testCase {
	build := func(topic string, change func(r *kmsg.ListOffsetsRequest, p *kmsg.ListOffsetsRequestTopicPartition)) func(env) kmsg.Request {
		return func(env) kmsg.Request {
			r := kmsg.NewPtrListOffsetsRequest()
			r.ReplicaID = -1
			t := kmsg.NewListOffsetsRequestTopic()
			t.Topic = topic
			p := kmsg.NewListOffsetsRequestTopicPartition()
			p.CurrentLeaderEpoch = -1
			change(r, &p)
			t.Partitions = append(t.Partitions, p)
			r.Topics = append(r.Topics, t)
			return r
		}
	}
	ts := func(t int64) func(env) kmsg.Request {
		return build("wf", func(_ *kmsg.ListOffsetsRequest, p *kmsg.ListOffsetsRequestTopicPartition) { p.Timestamp = t })
	}
	return []testCase{
		{"latest", 0, ts(-1)},
		{"earliest", 0, ts(-2)},
		{"max-timestamp", 0, ts(-3)},
		{"earliest-local", 0, ts(-4)},
		{"latest-tiered", 0, ts(-5)},
		{"earliest-pending", 0, ts(-6)},
		{"unknown-special", 0, ts(-7)},
		{"zero", 0, ts(0)},
		{"exact", 0, ts(t0)},
		{"between", 0, ts(t0 + 1)},
		{"future", 0, ts(1 << 60)},
		{"committed", 2, build("wf", func(r *kmsg.ListOffsetsRequest, p *kmsg.ListOffsetsRequestTopicPartition) {
			r.IsolationLevel, p.Timestamp = 1, -1
		})},
		{"epoch-current", 4, build("wf", func(_ *kmsg.ListOffsetsRequest, p *kmsg.ListOffsetsRequestTopicPartition) {
			p.CurrentLeaderEpoch, p.Timestamp = 0, -1
		})},
		{"epoch-ahead", 4, build("wf", func(_ *kmsg.ListOffsetsRequest, p *kmsg.ListOffsetsRequestTopicPartition) {
			p.CurrentLeaderEpoch, p.Timestamp = 5, -1
		})},
		{"unknown-topic", 0, build("nothing", func(_ *kmsg.ListOffsetsRequest, p *kmsg.ListOffsetsRequestTopicPartition) { p.Timestamp = -1 })},
		{"unknown-partition", 0, build("wf", func(_ *kmsg.ListOffsetsRequest, p *kmsg.ListOffsetsRequestTopicPartition) {
			p.Partition, p.Timestamp = 8, -1
		})},
		{"twice", 0, func(env) kmsg.Request {
			r := kmsg.NewPtrListOffsetsRequest()
			r.ReplicaID = -1
			t := kmsg.NewListOffsetsRequestTopic()
			t.Topic = "wf"
			p := kmsg.NewListOffsetsRequestTopicPartition()
			p.CurrentLeaderEpoch, p.Timestamp = -1, -1
			t.Partitions = append(t.Partitions, p, p)
			r.Topics = append(r.Topics, t)
			return r
		}},
	}
}

func epochs() []testCase {
	build := func(topic string, partition, current, epoch int32) func(env) kmsg.Request {
		return func(env) kmsg.Request {
			r := kmsg.NewPtrOffsetForLeaderEpochRequest()
			r.ReplicaID = -1
			t := kmsg.NewOffsetForLeaderEpochRequestTopic()
			t.Topic = topic
			p := kmsg.NewOffsetForLeaderEpochRequestTopicPartition()
			p.Partition, p.CurrentLeaderEpoch, p.LeaderEpoch = partition, current, epoch
			t.Partitions = append(t.Partitions, p)
			r.Topics = append(r.Topics, t)
			return r
		}
	}
	return []testCase{
		{"current", 0, build("wf", 0, -1, 0)},
		{"ahead", 0, build("wf", 0, -1, 3)},
		{"none", 0, build("wf", 0, -1, -1)},
		{"fence-ahead", 0, build("wf", 0, 4, 0)},
		{"unknown-topic", 0, build("nothing", 0, -1, 0)},
		{"unknown-partition", 0, build("wf", 7, -1, 0)},
		{"empty-log", 0, build("wp", 0, -1, 0)},
	}
}

func createTopics() []testCase {
	build := func(change func(r *kmsg.CreateTopicsRequest, t *kmsg.CreateTopicsRequestTopic, e env)) func(env) kmsg.Request {
		return func(e env) kmsg.Request {
			r := kmsg.NewPtrCreateTopicsRequest()
			r.TimeoutMillis = 5000
			t := kmsg.NewCreateTopicsRequestTopic()
			t.Topic, t.NumPartitions, t.ReplicationFactor = e.topic("made"), 2, 1
			change(r, &t, e)
			r.Topics = append(r.Topics, t)
			return r
		}
	}
	config := func(name string, value *string) func(env) kmsg.Request {
		return build(func(_ *kmsg.CreateTopicsRequest, t *kmsg.CreateTopicsRequestTopic, _ env) {
			t.Topic = "never"
			c := kmsg.NewCreateTopicsRequestTopicConfig()
			c.Name, c.Value = name, value
			t.Configs = append(t.Configs, c)
		})
	}
	assign := func(name string, lists ...[]int32) func(env) kmsg.Request {
		return build(func(_ *kmsg.CreateTopicsRequest, t *kmsg.CreateTopicsRequestTopic, e env) {
			t.Topic, t.NumPartitions, t.ReplicationFactor = e.topic(name), -1, -1
			for i, l := range lists {
				a := kmsg.NewCreateTopicsRequestTopicReplicaAssignment()
				a.Partition, a.Replicas = int32(i), l
				t.ReplicaAssignment = append(t.ReplicaAssignment, a)
			}
		})
	}
	bad := func(change func(t *kmsg.CreateTopicsRequestTopic)) func(env) kmsg.Request {
		return build(func(_ *kmsg.CreateTopicsRequest, t *kmsg.CreateTopicsRequestTopic, _ env) {
			t.Topic = "never"
			change(t)
		})
	}
	return []testCase{
		{"validate-only", 0, build(func(r *kmsg.CreateTopicsRequest, t *kmsg.CreateTopicsRequestTopic, _ env) {
			r.ValidateOnly, t.Topic = true, "never"
		})},
		{"plain", 0, build(func(*kmsg.CreateTopicsRequest, *kmsg.CreateTopicsRequestTopic, env) {})},
		{"exists", 0, build(func(*kmsg.CreateTopicsRequest, *kmsg.CreateTopicsRequestTopic, env) {})},
		{"defaults", 0, build(func(_ *kmsg.CreateTopicsRequest, t *kmsg.CreateTopicsRequestTopic, e env) {
			t.Topic, t.NumPartitions, t.ReplicationFactor = e.topic("defaulted"), -1, -1
		})},
		{"with-config", 0, build(func(_ *kmsg.CreateTopicsRequest, t *kmsg.CreateTopicsRequestTopic, e env) {
			t.Topic = e.topic("configured")
			c := kmsg.NewCreateTopicsRequestTopicConfig()
			c.Name, c.Value = "retention.ms", kmsg.StringPtr("1234567")
			t.Configs = append(t.Configs, c)
		})},
		{"bad-name", 0, bad(func(t *kmsg.CreateTopicsRequestTopic) { t.Topic = "no good" })},
		{"empty-name", 0, bad(func(t *kmsg.CreateTopicsRequestTopic) { t.Topic = "" })},
		{"internal-name", 0, build(func(r *kmsg.CreateTopicsRequest, t *kmsg.CreateTopicsRequestTopic, _ env) {
			r.ValidateOnly, t.Topic = true, "__cluster_metadata"
		})},
		{"zero-partitions", 0, bad(func(t *kmsg.CreateTopicsRequestTopic) { t.NumPartitions = 0 })},
		{"negative-partitions", 0, bad(func(t *kmsg.CreateTopicsRequestTopic) { t.NumPartitions = -2 })},
		{"zero-replicas", 0, bad(func(t *kmsg.CreateTopicsRequestTopic) { t.ReplicationFactor = 0 })},
		{"too-many-replicas", 0, bad(func(t *kmsg.CreateTopicsRequestTopic) { t.ReplicationFactor = 2 })},
		{"negative-replicas", 0, bad(func(t *kmsg.CreateTopicsRequestTopic) { t.ReplicationFactor = -5 })},
		{"config-unknown", 0, config("no.such", kmsg.StringPtr("1"))},
		{"config-bad", 0, config("retention.ms", kmsg.StringPtr("x"))},
		{"config-null", 0, config("retention.ms", nil)},
		{"assignment", 0, assign("assigned", []int32{1}, []int32{1})},
		{"assignment-unknown-broker", 0, assign("never", []int32{5})},
		{"assignment-empty", 0, assign("never", []int32{})},
		{"assignment-twice", 0, assign("never", []int32{1, 1})},
		{"assignment-and-count", 0, bad(func(t *kmsg.CreateTopicsRequestTopic) {
			a := kmsg.NewCreateTopicsRequestTopicReplicaAssignment()
			a.Replicas = []int32{1}
			t.ReplicaAssignment = append(t.ReplicaAssignment, a)
		})},
		{"assignment-gap", 0, bad(func(t *kmsg.CreateTopicsRequestTopic) {
			t.NumPartitions, t.ReplicationFactor = -1, -1
			a := kmsg.NewCreateTopicsRequestTopicReplicaAssignment()
			a.Partition, a.Replicas = 1, []int32{1}
			t.ReplicaAssignment = append(t.ReplicaAssignment, a)
		})},
		{"twice", 0, func(e env) kmsg.Request {
			r := kmsg.NewPtrCreateTopicsRequest()
			r.TimeoutMillis = 5000
			t := kmsg.NewCreateTopicsRequestTopic()
			t.Topic, t.NumPartitions, t.ReplicationFactor = "never", 1, 1
			r.Topics = append(r.Topics, t, t)
			return r
		}},
	}
}

func createPartitions() []testCase {
	build := func(name string, count int32, change func(r *kmsg.CreatePartitionsRequest, t *kmsg.CreatePartitionsRequestTopic)) func(env) kmsg.Request {
		return func(e env) kmsg.Request {
			r := kmsg.NewPtrCreatePartitionsRequest()
			r.TimeoutMillis = 5000
			t := kmsg.NewCreatePartitionsRequestTopic()
			t.Topic, t.Count = name, count
			change(r, &t)
			r.Topics = append(r.Topics, t)
			return r
		}
	}
	none := func(*kmsg.CreatePartitionsRequest, *kmsg.CreatePartitionsRequestTopic) {}
	assign := func(brokers ...int32) func(*kmsg.CreatePartitionsRequest, *kmsg.CreatePartitionsRequestTopic) {
		return func(_ *kmsg.CreatePartitionsRequest, t *kmsg.CreatePartitionsRequestTopic) {
			for _, b := range brokers {
				a := kmsg.NewCreatePartitionsRequestTopicAssignment()
				a.Replicas = []int32{b}
				t.Assignment = append(t.Assignment, a)
			}
		}
	}
	return []testCase{
		{"validate-only", 0, build("wp", 50, func(r *kmsg.CreatePartitionsRequest, _ *kmsg.CreatePartitionsRequestTopic) { r.ValidateOnly = true })},
		{"same", 0, build("w", 2, none)},
		{"fewer", 0, build("w", 1, none)},
		{"zero", 0, build("w", 0, none)},
		{"negative", 0, build("w", -1, none)},
		{"unknown", 0, build("nothing", 5, none)},
		{"grow", 0, func(e env) kmsg.Request { return build("wp", 2+int32(e.version), none)(e) }},
		{"assignment-unknown-broker", 0, build("w", 3, assign(8))},
		{"assignment-too-many", 0, build("w", 3, assign(1, 1))},
		{"twice", 0, func(env) kmsg.Request {
			r := kmsg.NewPtrCreatePartitionsRequest()
			r.TimeoutMillis = 5000
			t := kmsg.NewCreatePartitionsRequestTopic()
			t.Topic, t.Count = "w", 3
			r.Topics = append(r.Topics, t, t)
			return r
		}},
	}
}

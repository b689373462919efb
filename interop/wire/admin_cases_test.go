//go:build interop

package wire

import "github.com/twmb/franz-go/pkg/kmsg"

func describeConfigs() []testCase {
	build := func(kind kmsg.ConfigResourceType, name string, keys []string, change func(r *kmsg.DescribeConfigsRequest)) func(env) kmsg.Request {
		return func(env) kmsg.Request {
			r := kmsg.NewPtrDescribeConfigsRequest()
			x := kmsg.NewDescribeConfigsRequestResource()
			x.ResourceType, x.ResourceName, x.ConfigNames = kind, name, keys
			change(r)
			r.Resources = append(r.Resources, x)
			return r
		}
	}
	none := func(*kmsg.DescribeConfigsRequest) {}
	synonyms := func(r *kmsg.DescribeConfigsRequest) { r.IncludeSynonyms = true }
	return []testCase{
		{"topic", 0, build(2, "wc", nil, none)},
		{"topic-synonyms", 0, build(2, "wc", nil, synonyms)},
		{"topic-keys", 0, build(2, "wc", []string{"cleanup.policy", "retention.ms", "no.such"}, synonyms)},
		{"topic-no-keys", 0, build(2, "wc", []string{}, synonyms)},
		{"topic-unknown", 0, build(2, "nothing", nil, none)},
		{"topic-bad-name", 0, build(2, "a/b", nil, none)},
		{"topic-empty-name", 0, build(2, "", nil, none)},
		{"broker", 0, build(4, "1", nil, synonyms)},
		{"broker-keys", 0, build(4, "1", []string{"log.retention.ms", "log.dirs", "no.such"}, synonyms)},
		{"broker-default", 0, build(4, "", nil, synonyms)},
		{"broker-unknown", 0, build(4, "9", nil, none)},
		{"broker-not-a-number", 0, build(4, "x", nil, none)},
		{"kind-unknown", 0, build(0, "x", nil, none)},
		{"kind-any", 0, build(1, "x", nil, none)},
		{"kind-99", 0, build(99, "x", nil, none)},
	}
}

func alterConfigs() []testCase {
	build := func(kind kmsg.ConfigResourceType, name string, only bool, pairs ...*string) func(env) kmsg.Request {
		return func(env) kmsg.Request {
			r := kmsg.NewPtrAlterConfigsRequest()
			r.ValidateOnly = only
			x := kmsg.NewAlterConfigsRequestResource()
			x.ResourceType, x.ResourceName = kind, name
			for i := 0; i < len(pairs); i += 2 {
				c := kmsg.NewAlterConfigsRequestResourceConfig()
				c.Name, c.Value = *pairs[i], pairs[i+1]
				x.Configs = append(x.Configs, c)
			}
			r.Resources = append(r.Resources, x)
			return r
		}
	}
	s := kmsg.StringPtr
	return []testCase{
		{"set", 0, build(2, "wa", false, s("retention.ms"), s("777"), s("flush.ms"), s("5"))},
		{"replace", 0, build(2, "wa", false, s("retention.ms"), s("888"))},
		{"clear", 0, build(2, "wa", false)},
		{"validate-only", 0, build(2, "wa", true, s("retention.ms"), s("999"))},
		{"null", 0, build(2, "wa", false, s("retention.ms"), nil)},
		{"bad-value", 0, build(2, "wa", false, s("retention.ms"), s("x"))},
		{"unknown-key", 0, build(2, "wa", false, s("no.such"), s("x"))},
		{"key-twice", 0, build(2, "wa", false, s("retention.ms"), s("1"), s("retention.ms"), s("2"))},
		{"unknown-topic", 0, build(2, "nothing", false, s("retention.ms"), s("1"))},
		{"broker-read-only", 0, build(4, "1", false, s("log.dirs"), s("/x"))},
		{"broker-unknown", 0, build(4, "9", false, s("log.cleaner.threads"), s("1"))},
		{"kind-unknown", 0, build(0, "x", false)},
	}
}

func incrementalAlterConfigs() []testCase {
	type op struct {
		name string
		op   kmsg.IncrementalAlterConfigOp
		v    *string
	}
	build := func(kind kmsg.ConfigResourceType, name string, only bool, ops ...op) func(env) kmsg.Request {
		return func(env) kmsg.Request {
			r := kmsg.NewPtrIncrementalAlterConfigsRequest()
			r.ValidateOnly = only
			x := kmsg.NewIncrementalAlterConfigsRequestResource()
			x.ResourceType, x.ResourceName = kind, name
			for _, o := range ops {
				c := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
				c.Name, c.Op, c.Value = o.name, o.op, o.v
				x.Configs = append(x.Configs, c)
			}
			r.Resources = append(r.Resources, x)
			return r
		}
	}
	s := kmsg.StringPtr
	return []testCase{
		{"set", 0, build(2, "wa", false, op{"retention.ms", 0, s("4321")})},
		{"append", 0, build(2, "wa", false, op{"cleanup.policy", 2, s("compact")})},
		{"append-again", 0, build(2, "wa", false, op{"cleanup.policy", 2, s("compact")})},
		{"subtract", 0, build(2, "wa", false, op{"cleanup.policy", 3, s("compact")})},
		{"subtract-absent", 0, build(2, "wa", false, op{"cleanup.policy", 3, s("compact")})},
		{"subtract-all", 0, build(2, "wa", false, op{"cleanup.policy", 3, s("delete")})},
		{"delete-list", 0, build(2, "wa", false, op{"cleanup.policy", 1, nil})},
		{"append-not-a-list", 0, build(2, "wa", false, op{"retention.ms", 2, s("1")})},
		{"append-unknown", 0, build(2, "wa", false, op{"no.such", 2, s("1")})},
		{"append-bad-value", 0, build(2, "wa", false, op{"cleanup.policy", 2, s("shred")})},
		{"bad-op", 0, build(2, "wa", false, op{"retention.ms", 7, s("1")})},
		{"null", 0, build(2, "wa", false, op{"retention.ms", 0, nil})},
		{"key-twice", 0, build(2, "wa", false, op{"retention.ms", 0, s("1")}, op{"retention.ms", 0, s("2")})},
		{"validate-only", 0, build(2, "wa", true, op{"retention.ms", 0, s("55")})},
		{"validate-only-bad", 0, build(2, "wa", true, op{"retention.ms", 0, s("x")})},
		{"delete", 0, build(2, "wa", false, op{"retention.ms", 1, nil})},
		{"delete-unknown", 0, build(2, "wa", false, op{"no.such", 1, nil})},
		{"unknown-topic", 0, build(2, "nothing", false, op{"retention.ms", 0, s("1")})},
		{"bad-topic", 0, build(2, "a/b", false, op{"retention.ms", 0, s("1")})},
		{"no-ops", 0, build(2, "wa", false)},
		{"broker", 0, build(4, "1", false, op{"log.cleaner.threads", 0, s("2")})},
		{"broker-delete", 0, build(4, "1", false, op{"log.cleaner.threads", 1, nil})},
		{"broker-default", 0, build(4, "", false, op{"log.retention.bytes", 0, s("123456789")})},
		{"broker-default-delete", 0, build(4, "", false, op{"log.retention.bytes", 1, nil})},
		{"broker-default-per-broker", 0, build(4, "", false, op{"listeners", 0, s("PLAINTEXT://:1")})},
		{"broker-read-only", 0, build(4, "1", false, op{"log.dirs", 0, s("/x")})},
		{"broker-bad-value", 0, build(4, "1", false, op{"log.cleaner.threads", 0, s("x")})},
		{"broker-unknown-key", 0, build(4, "1", true, op{"no.such", 0, s("x")})},
		{"broker-unknown", 0, build(4, "9", false, op{"log.cleaner.threads", 0, s("2")})},
		{"broker-not-a-number", 0, build(4, "x", false, op{"log.cleaner.threads", 0, s("2")})},
		{"kind-unknown", 0, build(0, "x", false, op{"a", 0, s("b")})},
		{"resource-twice", 0, func(e env) kmsg.Request {
			r := build(2, "wa", false, op{"retention.ms", 0, s("1")})(e).(*kmsg.IncrementalAlterConfigsRequest)
			r.Resources = append(r.Resources, r.Resources[0])
			return r
		}},
	}
}

func logDirs() []testCase {
	build := func(topics ...string) func(env) kmsg.Request {
		return func(env) kmsg.Request {
			r := kmsg.NewPtrDescribeLogDirsRequest()
			for _, name := range topics {
				t := kmsg.NewDescribeLogDirsRequestTopic()
				t.Topic, t.Partitions = name, []int32{0}
				r.Topics = append(r.Topics, t)
			}
			return r
		}
	}
	return []testCase{
		{"one", 0, build("wf")},
		{"unknown", 0, build("nothing")},
	}
}

func producers() []testCase {
	build := func(topic string, partition int32) func(env) kmsg.Request {
		return func(env) kmsg.Request {
			r := kmsg.NewPtrDescribeProducersRequest()
			t := kmsg.NewDescribeProducersRequestTopic()
			t.Topic, t.Partitions = topic, []int32{partition}
			r.Topics = append(r.Topics, t)
			return r
		}
	}
	return []testCase{
		{"some", 0, build("w", 0)},
		{"empty", 0, build("wf", 0)},
		{"unknown-topic", 0, build("nothing", 0)},
		{"unknown-partition", 0, build("wf", 9)},
		{"bad-name", 0, build("a/b", 0)},
	}
}

func initProducerID() []testCase {
	build := func(change func(r *kmsg.InitProducerIDRequest)) func(env) kmsg.Request {
		return func(env) kmsg.Request {
			r := kmsg.NewPtrInitProducerIDRequest()
			r.TransactionTimeoutMillis = 60000
			change(r)
			return r
		}
	}
	return []testCase{
		{"plain", 0, build(func(*kmsg.InitProducerIDRequest) {})},
		{"known-id", 3, build(func(r *kmsg.InitProducerIDRequest) { r.ProducerID, r.ProducerEpoch = 5, 1 })},
		{"id-without-epoch", 3, build(func(r *kmsg.InitProducerIDRequest) { r.ProducerID, r.ProducerEpoch = 5, -1 })},
		{"empty-transactional-id", 0, build(func(r *kmsg.InitProducerIDRequest) { r.TransactionalID = kmsg.StringPtr("") })},
	}
}

func quorum() []testCase {
	build := func(topic string, partition int32) func(env) kmsg.Request {
		return func(env) kmsg.Request {
			r := kmsg.NewPtrDescribeQuorumRequest()
			t := kmsg.NewDescribeQuorumRequestTopic()
			t.Topic = topic
			p := kmsg.NewDescribeQuorumRequestTopicPartition()
			p.Partition = partition
			t.Partitions = append(t.Partitions, p)
			r.Topics = append(r.Topics, t)
			return r
		}
	}
	return []testCase{
		{"plain", 0, build("__cluster_metadata", 0)},
		{"other-topic", 0, build("w", 0)},
		{"other-partition", 0, build("__cluster_metadata", 3)},
		{"no-topics", 0, func(env) kmsg.Request { return kmsg.NewPtrDescribeQuorumRequest() }},
	}
}

func features() []testCase {
	build := func(feature string, level int16, kind int8) func(env) kmsg.Request {
		return func(env) kmsg.Request {
			r := kmsg.NewPtrUpdateFeaturesRequest()
			r.TimeoutMillis, r.ValidateOnly = 5000, true
			f := kmsg.NewUpdateFeaturesRequestFeatureUpdate()
			f.Feature, f.MaxVersionLevel, f.UpgradeType = feature, level, kind
			f.AllowDowngrade = kind > 1
			r.FeatureUpdates = append(r.FeatureUpdates, f)
			return r
		}
	}
	return []testCase{
		{"unknown", 0, build("no.such", 1, 1)},
		{"empty-name", 0, build("", 1, 1)},
		{"too-high", 0, build("metadata.version", 900, 1)},
		{"same", 1, build("metadata.version", 33, 1)},
		{"no-features", 0, func(env) kmsg.Request { return kmsg.NewPtrUpdateFeaturesRequest() }},
	}
}

func listConfigResources() []testCase {
	build := func(kinds ...int8) func(env) kmsg.Request {
		return func(env) kmsg.Request {
			r := kmsg.NewPtrListConfigResourcesRequest()
			r.ResourceTypes = kinds
			return r
		}
	}
	return []testCase{
		{"all", 0, build()},
		{"brokers", 1, build(4)},
		{"topics", 1, build(2)},
		{"groups", 1, build(32)},
		{"unknown", 1, build(99)},
	}
}

func topicPartitions() []testCase {
	build := func(limit int32, cursor *kmsg.DescribeTopicPartitionsRequestCursor, topics ...string) func(env) kmsg.Request {
		return func(env) kmsg.Request {
			r := kmsg.NewPtrDescribeTopicPartitionsRequest()
			r.ResponsePartitionLimit, r.Cursor = limit, cursor
			for _, name := range topics {
				t := kmsg.NewDescribeTopicPartitionsRequestTopic()
				t.Topic = name
				r.Topics = append(r.Topics, t)
			}
			return r
		}
	}
	at := func(topic string, partition int32) *kmsg.DescribeTopicPartitionsRequestCursor {
		c := kmsg.NewDescribeTopicPartitionsRequestCursor()
		c.Topic, c.Partition = topic, partition
		return &c
	}
	return []testCase{
		{"one", 0, build(2000, nil, "w")},
		{"unknown", 0, build(2000, nil, "nothing", "w")},
		{"bad-name", 0, build(2000, nil, "a/b")},
		{"limit", 0, build(1, nil, "w", "wf")},
		{"cursor", 0, build(2000, at("w", 1), "w", "wf")},
		{"cursor-beyond", 0, build(2000, at("x", 0), "w", "wf")},
		{"zero-limit", 0, build(0, nil, "w")},
		{"cursor-negative", 0, build(2000, at("w", -1), "w")},
	}
}

func deleteRecords() []testCase {
	build := func(topic string, partition int32, offset int64) func(env) kmsg.Request {
		return func(env) kmsg.Request {
			r := kmsg.NewPtrDeleteRecordsRequest()
			r.TimeoutMillis = 5000
			t := kmsg.NewDeleteRecordsRequestTopic()
			t.Topic = topic
			p := kmsg.NewDeleteRecordsRequestTopicPartition()
			p.Partition, p.Offset = partition, offset
			t.Partitions = append(t.Partitions, p)
			r.Topics = append(r.Topics, t)
			return r
		}
	}
	return []testCase{
		{"some", 0, build("wf", 0, 2)},
		{"below-start", 0, build("wf", 0, 1)},
		{"beyond", 0, build("wf", 0, 50)},
		{"negative", 0, build("wf", 0, -2)},
		{"unknown-topic", 0, build("nothing", 0, 1)},
		{"unknown-partition", 0, build("wf", 6, 1)},
		{"compacted", 0, build("wc", 0, 0)},
		{"all", 0, build("w", 0, -1)},
	}
}

func deleteTopics() []testCase {
	build := func(names ...string) func(env) kmsg.Request {
		return func(e env) kmsg.Request {
			r := kmsg.NewPtrDeleteTopicsRequest()
			r.TimeoutMillis, r.TopicNames = 5000, names
			for _, n := range names {
				t := kmsg.NewDeleteTopicsRequestTopic()
				t.Topic = kmsg.StringPtr(n)
				r.Topics = append(r.Topics, t)
			}
			return r
		}
	}
	byID := func(change func(t *kmsg.DeleteTopicsRequestTopic, e env)) func(env) kmsg.Request {
		return func(e env) kmsg.Request {
			r := kmsg.NewPtrDeleteTopicsRequest()
			r.TimeoutMillis = 5000
			t := kmsg.NewDeleteTopicsRequestTopic()
			change(&t, e)
			r.Topics = append(r.Topics, t)
			return r
		}
	}
	return []testCase{
		{"known", 0, func(e env) kmsg.Request { return build(e.topic("gone"))(e) }},
		{"again", 0, func(e env) kmsg.Request { return build(e.topic("gone"))(e) }},
		{"unknown", 0, build("nothing")},
		{"twice", 0, build("nothing", "nothing")},
		{"empty-name", 0, build("")},
		{"unknown-id", 6, byID(func(t *kmsg.DeleteTopicsRequestTopic, _ env) { t.TopicID = unknownID })},
		{"name-and-id", 6, byID(func(t *kmsg.DeleteTopicsRequestTopic, e env) { t.Topic, t.TopicID = kmsg.StringPtr("w"), e.ids["w"] })},
		{"neither", 6, byID(func(*kmsg.DeleteTopicsRequestTopic, env) {})},
		{"by-id", 6, byID(func(t *kmsg.DeleteTopicsRequestTopic, e env) { t.TopicID = e.ids["wd"] })},
	}
}

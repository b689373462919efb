package config

// logProperties are the broker properties of partitions on disk, by name.
var logProperties = []Property{
	{
		Name: "alter.config.policy.class.name", Type: Class, Null: true, Inert: true,
		Doc: "",
	},
	{
		Name: "auto.create.topics.enable", Type: Boolean, Default: "true", Importance: High,
		Doc: "",
	},
	{
		Name: "compression.gzip.level", Type: Int, Default: "-1", Rule: betweenOr(1, 9, -1), Importance: Medium, Update: ClusterWide,
		Doc: "",
	},
	{
		Name: "compression.lz4.level", Type: Int, Default: "9", Rule: between(1, 17), Importance: Medium, Update: ClusterWide,
		Doc: "",
	},
	{
		Name: "compression.type", Type: String, Default: "producer", Rule: oneOf("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer"), Importance: High, Update: ClusterWide,
		Doc: "",
	},
	{
		Name: "compression.zstd.level", Type: Int, Default: "3", Rule: between(-131072, 22), Importance: Medium, Update: ClusterWide,
		Doc: "",
	},
	{
		Name: "cordoned.log.dirs", Type: List, Rule: listOf(), Importance: Medium, Update: PerBroker, Inert: true,
		Doc: "",
	},
	{
		Name: "create.topic.policy.class.name", Type: Class, Null: true, Inert: true,
		Doc: "",
	},
	{
		Name: "default.replication.factor", Type: Int, Default: "1", Importance: Medium,
		Doc: "",
	},
	{
		Name: "delete.topic.enable", Type: Boolean, Default: "true", Importance: High,
		Doc: "",
	},
	{
		Name: "log.cleaner.backoff.ms", Type: Long, Default: "15000", Rule: atLeast(0), Importance: Medium, Update: ClusterWide, Inert: true,
		Doc: "",
	},
	{
		Name: "log.cleaner.dedupe.buffer.size", Type: Long, Default: "134217728", Importance: Medium, Update: ClusterWide, Inert: true,
		Doc: "",
	},
	{
		Name: "log.cleaner.delete.retention.ms", Type: Long, Default: "86400000", Rule: atLeast(0), Importance: Medium, Update: ClusterWide,
		Doc: "",
	},
	{
		Name: "log.cleaner.enable", Type: Boolean, Default: "true", Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "log.cleaner.io.buffer.load.factor", Type: Double, Default: "0.9", Importance: Medium, Update: ClusterWide, Inert: true,
		Doc: "",
	},
	{
		Name: "log.cleaner.io.buffer.size", Type: Int, Default: "524288", Rule: atLeast(0), Importance: Medium, Update: ClusterWide, Inert: true,
		Doc: "",
	},
	{
		Name: "log.cleaner.io.max.bytes.per.second", Type: Double, Default: "1.7976931348623157E308", Importance: Medium, Update: ClusterWide, Inert: true,
		Doc: "",
	},
	{
		Name: "log.cleaner.max.compaction.lag.ms", Type: Long, Default: "9223372036854775807", Rule: atLeast(1), Importance: Medium, Update: ClusterWide,
		Doc: "",
	},
	{
		Name: "log.cleaner.min.cleanable.ratio", Type: Double, Default: "0.5", Rule: between(0, 1), Importance: Medium, Update: ClusterWide,
		Doc: "",
	},
	{
		Name: "log.cleaner.min.compaction.lag.ms", Type: Long, Default: "0", Rule: atLeast(0), Importance: Medium, Update: ClusterWide,
		Doc: "",
	},
	{
		Name: "log.cleaner.threads", Type: Int, Default: "1", Rule: atLeast(0), Importance: Medium, Update: ClusterWide, Inert: true,
		Doc: "",
	},
	{
		Name: "log.cleanup.policy", Type: List, Default: "delete", Rule: listOf("compact", "delete"), Importance: Medium, Update: ClusterWide,
		Doc: "",
	},
	{
		Name: "log.dir", Type: List, Default: "/tmp/kafka-logs", Rule: nonEmptyListOf(), Importance: High,
		Doc: "",
	},
	{
		Name: "log.dir.failure.timeout.ms", Type: Long, Default: "30000", Rule: atLeast(1), Inert: true,
		Doc: "",
	},
	{
		Name: "log.dirs", Type: List, Null: true, Rule: nonEmptyListOf(), Importance: High,
		Doc: "",
	},
	{
		Name: "log.flush.interval.messages", Type: Long, Default: "9223372036854775807", Rule: atLeast(1), Importance: High, Update: ClusterWide,
		Doc: "",
	},
	{
		Name: "log.flush.interval.ms", Type: Long, Null: true, Importance: High, Update: ClusterWide,
		Doc: "",
	},
	{
		Name: "log.flush.offset.checkpoint.interval.ms", Type: Int, Default: "60000", Rule: atLeast(0), Importance: High,
		Doc: "",
	},
	{
		Name: "log.flush.scheduler.interval.ms", Type: Long, Default: "9223372036854775807", Importance: High,
		Doc: "",
	},
	{
		Name: "log.flush.start.offset.checkpoint.interval.ms", Type: Int, Default: "60000", Rule: atLeast(0), Importance: High,
		Doc: "",
	},
	{
		Name: "log.index.interval.bytes", Type: Int, Default: "4096", Rule: atLeast(0), Importance: Medium, Update: ClusterWide,
		Doc: "",
	},
	{
		Name: "log.index.size.max.bytes", Type: Int, Default: "10485760", Rule: atLeast(4), Importance: Medium, Update: ClusterWide,
		Doc: "",
	},
	{
		Name: "log.initial.task.delay.ms", Type: Long, Default: "30000", Rule: atLeast(0), Internal: true,
		Doc: "",
	},
	{
		Name: "log.message.timestamp.after.max.ms", Type: Long, Default: "3600000", Rule: atLeast(0), Importance: Medium, Update: ClusterWide,
		Doc: "",
	},
	{
		Name: "log.message.timestamp.before.max.ms", Type: Long, Default: "9223372036854775807", Rule: atLeast(0), Importance: Medium, Update: ClusterWide,
		Doc: "",
	},
	{
		Name: "log.message.timestamp.type", Type: String, Default: "CreateTime", Rule: oneOf("CreateTime", "LogAppendTime"), Importance: Medium, Update: ClusterWide,
		Doc: "",
	},
	{
		Name: "log.preallocate", Type: Boolean, Default: "false", Importance: Medium, Update: ClusterWide,
		Doc: "",
	},
	{
		Name: "log.retention.bytes", Type: Long, Default: "-1", Importance: High, Update: ClusterWide,
		Doc: "",
	},
	{
		Name: "log.retention.check.interval.ms", Type: Long, Default: "300000", Rule: atLeast(1), Importance: Medium,
		Doc: "",
	},
	{
		Name: "log.retention.hours", Type: Int, Default: "168", Importance: High,
		Doc: "",
	},
	{
		Name: "log.retention.minutes", Type: Int, Null: true, Importance: High,
		Doc: "",
	},
	{
		Name: "log.retention.ms", Type: Long, Null: true, Importance: High, Update: ClusterWide,
		Doc: "",
	},
	{
		Name: "log.roll.hours", Type: Int, Default: "168", Rule: atLeast(1), Importance: High,
		Doc: "",
	},
	{
		Name: "log.roll.jitter.hours", Type: Int, Default: "0", Rule: atLeast(0), Importance: High,
		Doc: "",
	},
	{
		Name: "log.roll.jitter.ms", Type: Long, Null: true, Importance: High, Update: ClusterWide,
		Doc: "",
	},
	{
		Name: "log.roll.ms", Type: Long, Null: true, Importance: High, Update: ClusterWide,
		Doc: "",
	},
	{
		Name: "log.segment.bytes", Type: Int, Default: "1073741824", Rule: atLeast(1048576), Importance: High, Update: ClusterWide,
		Doc: "",
	},
	{
		Name: "log.segment.delete.delay.ms", Type: Long, Default: "60000", Rule: atLeast(0), Importance: High, Update: ClusterWide,
		Doc: "",
	},
	{
		Name: "max.decompressed.message.bytes", Type: Int, Default: "2147483639", Rule: between(1, 2147483639), Importance: Medium, Update: ClusterWide,
		Doc: "",
	},
	{
		Name: "message.max.bytes", Type: Int, Default: "1048588", Rule: atLeast(0), Importance: High, Update: ClusterWide,
		Doc: "",
	},
	{
		Name: "min.insync.replicas", Type: Int, Default: "1", Rule: atLeast(1), Importance: High, Update: ClusterWide,
		Doc: "",
	},
	{
		Name: "num.partitions", Type: Int, Default: "1", Rule: atLeast(1), Importance: Medium,
		Doc: "",
	},
	{
		Name: "num.recovery.threads.per.data.dir", Type: Int, Default: "2", Rule: atLeast(1), Importance: High, Update: ClusterWide,
		Doc: "",
	},
	{
		Name: "num.replica.alter.log.dirs.threads", Type: Int, Null: true, Importance: High, Inert: true,
		Doc: "",
	},
	{
		Name: "producer.id.expiration.check.interval.ms", Type: Int, Default: "600000", Rule: atLeast(1), Internal: true,
		Doc: "",
	},
	{
		Name: "producer.id.expiration.ms", Type: Int, Default: "86400000", Rule: atLeast(1), Update: ClusterWide,
		Doc: "",
	},
	{
		Name: "unclean.leader.election.enable", Type: Boolean, Default: "false", Importance: High, Update: ClusterWide,
		Doc: "",
	},
	{
		Name: "unclean.leader.election.interval.ms", Type: Long, Default: "300000", Rule: atLeast(1), Importance: Medium, Internal: true, Inert: true,
		Doc: "",
	},
}

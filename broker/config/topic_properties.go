package config

// TopicProperties are the properties of a topic, by name. Their defaults apply where no broker synonym is set.
var TopicProperties = []Property{
	{
		Name: "cleanup.policy", Type: List, Default: "delete", Rule: listOf("compact", "delete"), Importance: Medium, Synonym: "log.cleanup.policy",
		Doc: "",
	},
	{
		Name: "compression.gzip.level", Type: Int, Default: "-1", Rule: betweenOr(1, 9, -1), Importance: Medium, Synonym: "compression.gzip.level",
		Doc: "",
	},
	{
		Name: "compression.lz4.level", Type: Int, Default: "9", Rule: between(1, 17), Importance: Medium, Synonym: "compression.lz4.level",
		Doc: "",
	},
	{
		Name: "compression.type", Type: String, Default: "producer", Rule: oneOf("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer"), Importance: Medium, Synonym: "compression.type",
		Doc: "",
	},
	{
		Name: "compression.zstd.level", Type: Int, Default: "3", Rule: between(-131072, 22), Importance: Medium, Synonym: "compression.zstd.level",
		Doc: "",
	},
	{
		Name: "delete.retention.ms", Type: Long, Default: "86400000", Rule: atLeast(0), Importance: Medium, Synonym: "log.cleaner.delete.retention.ms",
		Doc: "",
	},
	{
		Name: "errors.deadletterqueue.group.enable", Type: Boolean, Default: "false", Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "file.delete.delay.ms", Type: Long, Default: "60000", Rule: atLeast(0), Importance: Medium, Synonym: "log.segment.delete.delay.ms",
		Doc: "",
	},
	{
		Name: "flush.messages", Type: Long, Default: "9223372036854775807", Rule: atLeast(1), Importance: Medium, Synonym: "log.flush.interval.messages",
		Doc: "",
	},
	{
		Name: "flush.ms", Type: Long, Default: "9223372036854775807", Rule: atLeast(0), Importance: Medium, Synonym: "log.flush.interval.ms",
		Doc: "",
	},
	{
		Name: "follower.replication.throttled.replicas", Type: List, Rule: throttledReplicas(), Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "index.interval.bytes", Type: Int, Default: "4096", Rule: atLeast(0), Importance: Medium, Synonym: "log.index.interval.bytes",
		Doc: "",
	},
	{
		Name: "internal.segment.bytes", Type: Int, Null: true, Importance: Medium, Internal: true,
		Doc: "",
	},
	{
		Name: "leader.replication.throttled.replicas", Type: List, Rule: throttledReplicas(), Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "local.retention.bytes", Type: Long, Default: "-2", Rule: atLeast(-2), Importance: Medium, Synonym: "log.local.retention.bytes", Inert: true,
		Doc: "",
	},
	{
		Name: "local.retention.ms", Type: Long, Default: "-2", Rule: atLeast(-2), Importance: Medium, Synonym: "log.local.retention.ms", Inert: true,
		Doc: "",
	},
	{
		Name: "max.compaction.lag.ms", Type: Long, Default: "9223372036854775807", Rule: atLeast(1), Importance: Medium, Synonym: "log.cleaner.max.compaction.lag.ms",
		Doc: "",
	},
	{
		Name: "max.decompressed.message.bytes", Type: Int, Default: "2147483639", Rule: between(1, 2147483639), Importance: Medium,
		Doc: "",
	},
	{
		Name: "max.message.bytes", Type: Int, Default: "1048588", Rule: atLeast(0), Importance: Medium, Synonym: "message.max.bytes",
		Doc: "",
	},
	{
		Name: "message.timestamp.after.max.ms", Type: Long, Default: "3600000", Rule: atLeast(0), Importance: Medium, Synonym: "log.message.timestamp.after.max.ms",
		Doc: "",
	},
	{
		Name: "message.timestamp.before.max.ms", Type: Long, Default: "9223372036854775807", Rule: atLeast(0), Importance: Medium, Synonym: "log.message.timestamp.before.max.ms",
		Doc: "",
	},
	{
		Name: "message.timestamp.type", Type: String, Default: "CreateTime", Rule: oneOf("CreateTime", "LogAppendTime"), Importance: Medium, Synonym: "log.message.timestamp.type",
		Doc: "",
	},
	{
		Name: "min.cleanable.dirty.ratio", Type: Double, Default: "0.5", Rule: between(0, 1), Importance: Medium, Synonym: "log.cleaner.min.cleanable.ratio",
		Doc: "",
	},
	{
		Name: "min.compaction.lag.ms", Type: Long, Default: "0", Rule: atLeast(0), Importance: Medium, Synonym: "log.cleaner.min.compaction.lag.ms",
		Doc: "",
	},
	{
		Name: "min.insync.replicas", Type: Int, Default: "1", Rule: atLeast(1), Importance: Medium, Synonym: "min.insync.replicas",
		Doc: "",
	},
	{
		Name: "preallocate", Type: Boolean, Default: "false", Importance: Medium, Synonym: "log.preallocate",
		Doc: "",
	},
	{
		Name: "remote.copy.lag.bytes", Type: Long, Default: "-1", Rule: atLeast(-1), Importance: Medium, Synonym: "log.remote.copy.lag.bytes", Inert: true,
		Doc: "",
	},
	{
		Name: "remote.copy.lag.ms", Type: Long, Default: "0", Rule: atLeast(-1), Importance: Medium, Synonym: "log.remote.copy.lag.ms", Inert: true,
		Doc: "",
	},
	{
		Name: "remote.log.copy.disable", Type: Boolean, Default: "false", Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "remote.log.delete.on.disable", Type: Boolean, Default: "false", Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "remote.storage.enable", Type: Boolean, Default: "false", Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "retention.bytes", Type: Long, Default: "-1", Importance: Medium, Synonym: "log.retention.bytes",
		Doc: "",
	},
	{
		Name: "retention.ms", Type: Long, Default: "604800000", Rule: atLeast(-1), Importance: Medium, Synonym: "log.retention.ms",
		Doc: "",
	},
	{
		Name: "segment.bytes", Type: Int, Default: "1073741824", Rule: atLeast(1048576), Importance: Medium, Synonym: "log.segment.bytes",
		Doc: "",
	},
	{
		Name: "segment.index.bytes", Type: Int, Default: "10485760", Rule: atLeast(4), Importance: Medium, Synonym: "log.index.size.max.bytes",
		Doc: "",
	},
	{
		Name: "segment.jitter.ms", Type: Long, Default: "0", Rule: atLeast(0), Importance: Medium, Synonym: "log.roll.jitter.ms",
		Doc: "",
	},
	{
		Name: "segment.ms", Type: Long, Default: "604800000", Rule: atLeast(1), Importance: Medium, Synonym: "log.roll.ms",
		Doc: "",
	},
	{
		Name: "unclean.leader.election.enable", Type: Boolean, Default: "false", Importance: Medium, Synonym: "unclean.leader.election.enable",
		Doc: "",
	},
	{
		Name: "weir.flush.on.acks", Type: String, Default: "none", Rule: oneOf("none", "all"), Importance: Medium, Synonym: "weir.flush.on.acks",
		Doc: "",
	},
	{
		Name: "weir.produce.validation", Type: String, Default: "full", Rule: oneOf("full", "header"), Importance: Medium, Synonym: "weir.produce.validation",
		Doc: "",
	},
}

package config

// logProperties are the broker properties of partitions on disk, by name.
var logProperties = []Property{
	{
		Name: "alter.config.policy.class.name", Type: Class, Null: true, Inert: true,
		Doc: "Class that may refuse a change of configuration.",
	},
	{
		Name: "auto.create.topics.enable", Type: Boolean, Default: "true", Importance: High,
		Doc: "Create a topic when a client asks for one that does not exist and allows it.",
	},
	{
		Name: "compression.gzip.level", Type: Int, Default: "-1", Rule: betweenOr(1, 9, -1), Importance: Medium, Update: ClusterWide,
		Doc: "Default of compression.gzip.level for topics.",
	},
	{
		Name: "compression.lz4.level", Type: Int, Default: "9", Rule: between(1, 17), Importance: Medium, Update: ClusterWide,
		Doc: "Default of compression.lz4.level for topics.",
	},
	{
		Name: "compression.type", Type: String, Default: "producer", Rule: oneOf("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer"), Importance: High, Update: ClusterWide,
		Doc: "Default of compression.type for topics.",
	},
	{
		Name: "compression.zstd.level", Type: Int, Default: "3", Rule: between(-131072, 22), Importance: Medium, Update: ClusterWide,
		Doc: "Default of compression.zstd.level for topics.",
	},
	{
		Name: "cordoned.log.dirs", Type: List, Rule: listOf(), Importance: Medium, Update: PerBroker, Inert: true,
		Doc: "Log directories that receive no new partitions; * is all of them.",
	},
	{
		Name: "create.topic.policy.class.name", Type: Class, Null: true, Inert: true,
		Doc: "Class that may refuse the creation of a topic.",
	},
	{
		Name: "default.replication.factor", Type: Int, Default: "1", Importance: Medium,
		Doc: "Replicas of a partition whose creator does not say.",
	},
	{
		Name: "delete.topic.enable", Type: Boolean, Default: "true", Importance: High,
		Doc: "Allow topics to be deleted.",
	},
	{
		Name: "log.cleaner.backoff.ms", Type: Long, Default: "15000", Rule: atLeast(0), Importance: Medium, Update: ClusterWide,
		Doc: "Pause of the cleaner when there is nothing to compact, in milliseconds.",
	},
	{
		Name: "log.cleaner.dedupe.buffer.size", Type: Long, Default: "134217728", Importance: Medium, Update: ClusterWide,
		Doc: "Memory for the table of keys, over all cleaner threads, in bytes.",
	},
	{
		Name: "log.cleaner.delete.retention.ms", Type: Long, Default: "86400000", Rule: atLeast(0), Importance: Medium, Update: ClusterWide,
		Doc: "Default of delete.retention.ms for topics.",
	},
	{
		Name: "log.cleaner.enable", Type: Boolean, Default: "true", Importance: Medium,
		Doc: "Run the log cleaner, which compacted topics need.",
	},
	{
		Name: "log.cleaner.io.buffer.load.factor", Type: Double, Default: "0.9", Importance: Medium, Update: ClusterWide,
		Doc: "How full the table of keys may get, as a fraction.",
	},
	{
		Name: "log.cleaner.io.buffer.size", Type: Int, Default: "524288", Rule: atLeast(0), Importance: Medium, Update: ClusterWide,
		Doc: "Memory for the cleaner's reads and writes, over all threads, in bytes.",
	},
	{
		Name: "log.cleaner.io.max.bytes.per.second", Type: Double, Default: "1.7976931348623157E308", Importance: Medium, Update: ClusterWide,
		Doc: "Most bytes that the cleaner reads and writes per second.",
	},
	{
		Name: "log.cleaner.max.compaction.lag.ms", Type: Long, Default: "9223372036854775807", Rule: atLeast(1), Importance: Medium, Update: ClusterWide,
		Doc: "Default of max.compaction.lag.ms for topics.",
	},
	{
		Name: "log.cleaner.min.cleanable.ratio", Type: Double, Default: "0.5", Rule: between(0, 1), Importance: Medium, Update: ClusterWide,
		Doc: "Default of min.cleanable.dirty.ratio for topics.",
	},
	{
		Name: "log.cleaner.min.compaction.lag.ms", Type: Long, Default: "0", Rule: atLeast(0), Importance: Medium, Update: ClusterWide,
		Doc: "Default of min.compaction.lag.ms for topics.",
	},
	{
		Name: "log.cleaner.threads", Type: Int, Default: "1", Rule: atLeast(0), Importance: Medium, Update: ClusterWide,
		Doc: "Partitions compacted at once.",
	},
	{
		Name: "log.cleanup.policy", Type: List, Default: "delete", Rule: listOf("compact", "delete"), Importance: Medium, Update: ClusterWide,
		Doc: "Default of cleanup.policy for topics.",
	},
	{
		Name: "log.dir", Type: List, Default: "/tmp/kafka-logs", Rule: nonEmptyListOf(), Importance: High,
		Doc: "Directory that holds partitions, where log.dirs is not set.",
	},
	{
		Name: "log.dir.failure.timeout.ms", Type: Long, Default: "30000", Rule: atLeast(1), Inert: true,
		Doc: "A broker that cannot tell the controller of a failed directory for this long stops, in milliseconds.",
	},
	{
		Name: "log.dirs", Type: List, Null: true, Rule: nonEmptyListOf(), Importance: High,
		Doc: "Directories that hold partitions, separated by commas. A new partition goes to the one with fewest. A directory that fails goes offline alone. Unset, log.dir is used.",
	},
	{
		Name: "log.flush.interval.messages", Type: Long, Default: "9223372036854775807", Rule: atLeast(1), Importance: High, Update: ClusterWide,
		Doc: "Default of flush.messages for topics.",
	},
	{
		Name: "log.flush.interval.ms", Type: Long, Null: true, Importance: High, Update: ClusterWide,
		Doc: "Default of flush.ms for topics. Unset, it is log.flush.scheduler.interval.ms.",
	},
	{
		Name: "log.flush.offset.checkpoint.interval.ms", Type: Int, Default: "60000", Rule: atLeast(0), Importance: High, Inert: true,
		Doc: "How often recovery points are saved, in milliseconds. A saved one bounds how much is read again after a crash.",
	},
	{
		Name: "log.flush.scheduler.interval.ms", Type: Long, Default: "9223372036854775807", Importance: High,
		Doc: "How often partitions are checked for whether log.flush.interval.ms has passed, in milliseconds.",
	},
	{
		Name: "log.flush.start.offset.checkpoint.interval.ms", Type: Int, Default: "60000", Rule: atLeast(0), Importance: High, Inert: true,
		Doc: "How often log start offsets are saved, in milliseconds.",
	},
	{
		Name: "log.index.interval.bytes", Type: Int, Default: "4096", Rule: atLeast(0), Importance: Medium, Update: ClusterWide,
		Doc: "Default of index.interval.bytes for topics.",
	},
	{
		Name: "log.index.size.max.bytes", Type: Int, Default: "10485760", Rule: atLeast(4), Importance: Medium, Update: ClusterWide,
		Doc: "Default of segment.index.bytes for topics.",
	},
	{
		Name: "log.initial.task.delay.ms", Type: Long, Default: "30000", Rule: atLeast(0), Internal: true,
		Doc: "Pause after the start before retention and flushing begin, in milliseconds. For tests.",
	},
	{
		Name: "log.message.timestamp.after.max.ms", Type: Long, Default: "3600000", Rule: atLeast(0), Importance: Medium, Update: ClusterWide,
		Doc: "Default of message.timestamp.after.max.ms for topics.",
	},
	{
		Name: "log.message.timestamp.before.max.ms", Type: Long, Default: "9223372036854775807", Rule: atLeast(0), Importance: Medium, Update: ClusterWide,
		Doc: "Default of message.timestamp.before.max.ms for topics.",
	},
	{
		Name: "log.message.timestamp.type", Type: String, Default: "CreateTime", Rule: oneOf("CreateTime", "LogAppendTime"), Importance: Medium, Update: ClusterWide,
		Doc: "Default of message.timestamp.type for topics.",
	},
	{
		Name: "log.preallocate", Type: Boolean, Default: "false", Importance: Medium, Update: ClusterWide,
		Doc: "Default of preallocate for topics.",
	},
	{
		Name: "log.retention.bytes", Type: Long, Default: "-1", Importance: High, Update: ClusterWide,
		Doc: "Default of retention.bytes for topics.",
	},
	{
		Name: "log.retention.check.interval.ms", Type: Long, Default: "300000", Rule: atLeast(1), Importance: Medium,
		Doc: "How often each partition is checked for segments to delete, in milliseconds.",
	},
	{
		Name: "log.retention.hours", Type: Int, Default: "168", Importance: High,
		Doc: "Default of retention.ms for topics, in hours.",
	},
	{
		Name: "log.retention.minutes", Type: Int, Null: true, Importance: High,
		Doc: "Default of retention.ms for topics, in minutes, before log.retention.hours.",
	},
	{
		Name: "log.retention.ms", Type: Long, Null: true, Importance: High, Update: ClusterWide,
		Doc: "Default of retention.ms for topics, before log.retention.minutes and log.retention.hours; -1 keeps records for ever.",
	},
	{
		Name: "log.roll.hours", Type: Int, Default: "168", Rule: atLeast(1), Importance: High,
		Doc: "Default of segment.ms for topics, in hours.",
	},
	{
		Name: "log.roll.jitter.hours", Type: Int, Default: "0", Rule: atLeast(0), Importance: High,
		Doc: "Default of segment.jitter.ms for topics, in hours.",
	},
	{
		Name: "log.roll.jitter.ms", Type: Long, Null: true, Importance: High, Update: ClusterWide,
		Doc: "Default of segment.jitter.ms for topics, before log.roll.jitter.hours.",
	},
	{
		Name: "log.roll.ms", Type: Long, Null: true, Importance: High, Update: ClusterWide,
		Doc: "Default of segment.ms for topics, before log.roll.hours.",
	},
	{
		Name: "log.segment.bytes", Type: Int, Default: "1073741824", Rule: atLeast(1048576), Importance: High, Update: ClusterWide,
		Doc: "Default of segment.bytes for topics.",
	},
	{
		Name: "log.segment.delete.delay.ms", Type: Long, Default: "60000", Rule: atLeast(0), Importance: High, Update: ClusterWide,
		Doc: "Default of file.delete.delay.ms for topics.",
	},
	{
		Name: "max.decompressed.message.bytes", Type: Int, Default: "2147483639", Rule: between(1, 2147483639), Importance: Medium, Update: ClusterWide,
		Doc: "Default of max.decompressed.message.bytes for topics.",
	},
	{
		Name: "message.max.bytes", Type: Int, Default: "1048588", Rule: atLeast(0), Importance: High, Update: ClusterWide,
		Doc: "Default of max.message.bytes for topics.",
	},
	{
		Name: "min.insync.replicas", Type: Int, Default: "1", Rule: atLeast(1), Importance: High, Update: ClusterWide,
		Doc: "Default of min.insync.replicas for topics.",
	},
	{
		Name: "num.partitions", Type: Int, Default: "1", Rule: atLeast(1), Importance: Medium,
		Doc: "Partitions of a topic whose creator does not say.",
	},
	{
		Name: "num.recovery.threads.per.data.dir", Type: Int, Default: "2", Rule: atLeast(1), Importance: High, Update: ClusterWide,
		Doc: "Partitions recovered at once per log directory at start, and flushed at once at stop.",
	},
	{
		Name: "num.replica.alter.log.dirs.threads", Type: Int, Null: true, Importance: High, Inert: true,
		Doc: "Threads that move replicas between log directories. Unset, one per directory.",
	},
	{
		Name: "producer.id.expiration.check.interval.ms", Type: Int, Default: "600000", Rule: atLeast(1), Internal: true,
		Doc: "How often partitions look for producers to forget, in milliseconds.",
	},
	{
		Name: "producer.id.expiration.ms", Type: Int, Default: "86400000", Rule: atLeast(1), Update: ClusterWide,
		Doc: "A partition forgets an idempotent producer that has not written for this long, in milliseconds. Its open transaction keeps it.",
	},
	{
		Name: "unclean.leader.election.enable", Type: Boolean, Default: "false", Importance: High, Update: ClusterWide, Inert: true,
		Doc: "Default of unclean.leader.election.enable for topics.",
	},
	{
		Name: "unclean.leader.election.interval.ms", Type: Long, Default: "300000", Rule: atLeast(1), Importance: Medium, Internal: true, Inert: true,
		Doc: "How often the controller looks for partitions without a leader that an unclean election could help, in milliseconds.",
	},
}

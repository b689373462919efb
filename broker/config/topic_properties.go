package config

// TopicProperties are the properties of a topic, by name. Their defaults apply where no broker synonym is set.
var TopicProperties = []Property{
	{
		Name: "cleanup.policy", Type: List, Default: "delete", Rule: listOf("compact", "delete"), Importance: Medium, Synonym: "log.cleanup.policy",
		Doc: "What happens to old records: delete removes segments by age and size, compact keeps the last record of every key; both may be given, and neither keeps everything. Keys are required in a compacted topic.",
	},
	{
		Name: "compression.gzip.level", Type: Int, Default: "-1", Rule: betweenOr(1, 9, -1), Importance: Medium, Synonym: "compression.gzip.level",
		Doc: "Level where compression.type is gzip: 1 is fastest, 9 smallest, -1 the library's choice.",
	},
	{
		Name: "compression.lz4.level", Type: Int, Default: "9", Rule: between(1, 17), Importance: Medium, Synonym: "compression.lz4.level",
		Doc: "Level where compression.type is lz4: 1 is fastest, 17 smallest.",
	},
	{
		Name: "compression.type", Type: String, Default: "producer", Rule: oneOf("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer"), Importance: Medium, Synonym: "compression.type",
		Doc: "How batches are stored: producer keeps them as they were sent, uncompressed and the codecs recompress what differs.",
	},
	{
		Name: "compression.zstd.level", Type: Int, Default: "3", Rule: between(-131072, 22), Importance: Medium, Synonym: "compression.zstd.level",
		Doc: "Level where compression.type is zstd: higher is smaller, negative is fastest.",
	},
	{
		Name: "delete.retention.ms", Type: Long, Default: "86400000", Rule: atLeast(0), Importance: Medium, Synonym: "log.cleaner.delete.retention.ms",
		Doc: "How long a compacted topic keeps the deletion mark (a null value) of a key, in milliseconds. A consumer that reads from the start must finish within it to see every deletion.",
	},
	{
		Name: "errors.deadletterqueue.group.enable", Type: Boolean, Default: "false", Importance: Medium, Inert: true,
		Doc: "Whether the topic may be the dead-letter queue of a share group.",
	},
	{
		Name: "file.delete.delay.ms", Type: Long, Default: "60000", Rule: atLeast(0), Importance: Medium, Synonym: "log.segment.delete.delay.ms",
		Doc: "Time between taking a segment out of the log and deleting its files, in milliseconds.",
	},
	{
		Name: "flush.messages", Type: Long, Default: "9223372036854775807", Rule: atLeast(1), Importance: Medium, Synonym: "log.flush.interval.messages",
		Doc: "Records after which the log is forced to disk. Replication is the usual protection; see weir.flush.on.acks for power cuts.",
	},
	{
		Name: "flush.ms", Type: Long, Default: "9223372036854775807", Rule: atLeast(0), Importance: Medium, Synonym: "log.flush.interval.ms",
		Doc: "Time after which appended records are forced to disk, in milliseconds.",
	},
	{
		Name: "follower.replication.throttled.replicas", Type: List, Rule: throttledReplicas(), Importance: Medium, Inert: true,
		Doc: "Replicas whose fetching is throttled, as partition:broker pairs separated by commas, or * for all.",
	},
	{
		Name: "index.interval.bytes", Type: Int, Default: "4096", Rule: atLeast(0), Importance: Medium, Synonym: "log.index.interval.bytes",
		Doc: "Bytes of log between two index entries. Fewer bytes find an offset faster and make larger indexes.",
	},
	{
		Name: "internal.segment.bytes", Type: Int, Null: true, Importance: Medium, Internal: true,
		Doc: "Size at which a segment is closed, in place of segment.bytes and without its lower bound. For tests.",
	},
	{
		Name: "leader.replication.throttled.replicas", Type: List, Rule: throttledReplicas(), Importance: Medium, Inert: true,
		Doc: "Replicas whose serving to followers is throttled, as partition:broker pairs separated by commas, or * for all.",
	},
	{
		Name: "local.retention.bytes", Type: Long, Default: "-2", Rule: atLeast(-2), Importance: Medium, Synonym: "log.local.retention.bytes", Inert: true,
		Doc: "Bytes of a tiered partition kept on local disk; -2 is retention.bytes.",
	},
	{
		Name: "local.retention.ms", Type: Long, Default: "-2", Rule: atLeast(-2), Importance: Medium, Synonym: "log.local.retention.ms", Inert: true,
		Doc: "How long a tiered segment is kept on local disk, in milliseconds; -2 is retention.ms.",
	},
	{
		Name: "max.compaction.lag.ms", Type: Long, Default: "9223372036854775807", Rule: atLeast(1), Importance: Medium, Synonym: "log.cleaner.max.compaction.lag.ms",
		Doc: "Longest time a record may stay uncompacted, in milliseconds. The active segment is rolled to keep to it.",
	},
	{
		Name: "max.decompressed.message.bytes", Type: Int, Default: "2147483639", Rule: between(1, 2147483639), Importance: Medium, Synonym: "max.decompressed.message.bytes",
		Doc: "Largest single record once decompressed, in bytes, wherever the broker decompresses batches. Lowering it below what is stored stops compaction and lookups by time of those partitions.",
	},
	{
		Name: "max.message.bytes", Type: Int, Default: "1048588", Rule: atLeast(0), Importance: Medium, Synonym: "message.max.bytes",
		Doc: "Largest batch a producer may append, in bytes, as it is stored (that is, compressed).",
	},
	{
		Name: "message.timestamp.after.max.ms", Type: Long, Default: "3600000", Rule: atLeast(0), Importance: Medium, Synonym: "log.message.timestamp.after.max.ms",
		Doc: "How far a record's timestamp may lie ahead of the broker's clock, in milliseconds. Not used with LogAppendTime.",
	},
	{
		Name: "message.timestamp.before.max.ms", Type: Long, Default: "9223372036854775807", Rule: atLeast(0), Importance: Medium, Synonym: "log.message.timestamp.before.max.ms",
		Doc: "How far a record's timestamp may lie behind the broker's clock, in milliseconds. Not used with LogAppendTime.",
	},
	{
		Name: "message.timestamp.type", Type: String, Default: "CreateTime", Rule: oneOf("CreateTime", "LogAppendTime"), Importance: Medium, Synonym: "log.message.timestamp.type",
		Doc: "Which time a record carries: CreateTime is the producer's, LogAppendTime the broker's.",
	},
	{
		Name: "min.cleanable.dirty.ratio", Type: Double, Default: "0.5", Rule: between(0, 1), Importance: Medium, Synonym: "log.cleaner.min.cleanable.ratio",
		Doc: "Share of a log that must be uncompacted before the cleaner works on it, from 0 to 1.",
	},
	{
		Name: "min.compaction.lag.ms", Type: Long, Default: "0", Rule: atLeast(0), Importance: Medium, Synonym: "log.cleaner.min.compaction.lag.ms",
		Doc: "Shortest time a record stays uncompacted, in milliseconds.",
	},
	{
		Name: "min.insync.replicas", Type: Int, Default: "1", Rule: atLeast(1), Importance: Medium, Synonym: "min.insync.replicas",
		Doc: "In-sync replicas, the leader among them, that an append with acks=all needs. With fewer it is refused.",
	},
	{
		Name: "preallocate", Type: Boolean, Default: "false", Importance: Medium, Synonym: "log.preallocate",
		Doc: "Reserve the disk space of a segment when it is begun.",
	},
	{
		Name: "remote.copy.lag.bytes", Type: Long, Default: "-1", Rule: atLeast(-1), Importance: Medium, Synonym: "log.remote.copy.lag.bytes", Inert: true,
		Doc: "Bytes of closed segments that stay local before they are copied to tiered storage.",
	},
	{
		Name: "remote.copy.lag.ms", Type: Long, Default: "0", Rule: atLeast(-1), Importance: Medium, Synonym: "log.remote.copy.lag.ms", Inert: true,
		Doc: "Age of a closed segment before it is copied to tiered storage, in milliseconds.",
	},
	{
		Name: "remote.log.copy.disable", Type: Boolean, Default: "false", Importance: Medium, Inert: true,
		Doc: "Copy no further segments to tiered storage.",
	},
	{
		Name: "remote.log.delete.on.disable", Type: Boolean, Default: "false", Importance: Medium, Inert: true,
		Doc: "Delete the tiered segments when tiered storage is turned off for the topic.",
	},
	{
		Name: "remote.storage.enable", Type: Boolean, Default: "false", Importance: Medium, Inert: true,
		Doc: "Keep old segments in tiered storage. weir has none, so true is refused.",
	},
	{
		Name: "retention.bytes", Type: Long, Default: "-1", Importance: Medium, Synonym: "log.retention.bytes",
		Doc: "Size of a partition above which its oldest segments are deleted, in bytes; -1 is unlimited. Used with cleanup.policy delete.",
	},
	{
		Name: "retention.ms", Type: Long, Default: "604800000", Rule: atLeast(-1), Importance: Medium, Synonym: "log.retention.ms",
		Doc: "Age of a segment's newest record beyond which the segment is deleted, in milliseconds; -1 keeps it. Used with cleanup.policy delete.",
	},
	{
		Name: "segment.bytes", Type: Int, Default: "1073741824", Rule: atLeast(1048576), Importance: Medium, Synonym: "log.segment.bytes",
		Doc: "Size at which a segment is closed and the next one begun, in bytes. Retention and compaction work on closed segments.",
	},
	{
		Name: "segment.index.bytes", Type: Int, Default: "10485760", Rule: atLeast(4), Importance: Medium, Synonym: "log.index.size.max.bytes",
		Doc: "Largest index of a segment, in bytes. A full index closes the segment.",
	},
	{
		Name: "segment.jitter.ms", Type: Long, Default: "0", Rule: atLeast(0), Importance: Medium, Synonym: "log.roll.jitter.ms",
		Doc: "Random time taken off segment.ms for each segment, so that they do not all roll at once, in milliseconds.",
	},
	{
		Name: "segment.ms", Type: Long, Default: "604800000", Rule: atLeast(1), Importance: Medium, Synonym: "log.roll.ms",
		Doc: "Age at which a segment is closed and the next one begun though it is not full, in milliseconds.",
	},
	{
		Name: "unclean.leader.election.enable", Type: Boolean, Default: "false", Importance: Medium, Synonym: "unclean.leader.election.enable", Inert: true,
		Doc: "Let a replica that is not in sync lead when none other is left. Records that it lacks are lost.",
	},
	{
		Name: "weir.flush.on.acks", Type: String, Default: "none", Rule: oneOf("none", "all"), Importance: Medium, Synonym: "weir.flush.on.acks",
		Doc: "When a produce request with acks=all is answered: none answers once the in-sync replicas have the records, all only once they are on disk (one fdatasync shared by all who wait), so that a power cut loses nothing acknowledged.",
	},
	{
		Name: "weir.produce.validation", Type: String, Default: "full", Rule: oneOf("full", "header"), Importance: Medium, Synonym: "weir.produce.validation",
		Doc: "How produced batches are checked: full reads every record, decompressing where needed, as Kafka does; header checks the batch header and checksum only, for producers that are trusted.",
	},
}

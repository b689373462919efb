package config

// remoteProperties are the broker properties of tiered storage, quotas and metrics, by name.
var remoteProperties = []Property{
	{
		Name: "alter.log.dirs.replication.quota.window.num", Type: Int, Default: "11", Rule: atLeast(1), Inert: true,
		Doc: "Samples over which quotas on moves between directories are measured.",
	},
	{
		Name: "alter.log.dirs.replication.quota.window.size.seconds", Type: Int, Default: "1", Rule: atLeast(1), Inert: true,
		Doc: "Length of a sample for quotas on moves between directories, in seconds.",
	},
	{
		Name: "client.quota.callback.class", Type: Class, Null: true, Inert: true,
		Doc: "Class that decides client quotas.",
	},
	{
		Name: "controller.quota.window.num", Type: Int, Default: "11", Rule: atLeast(1), Inert: true,
		Doc: "Samples over which quotas on controller changes are measured.",
	},
	{
		Name: "controller.quota.window.size.seconds", Type: Int, Default: "1", Rule: atLeast(1), Inert: true,
		Doc: "Length of a sample for quotas on controller changes, in seconds.",
	},
	{
		Name: "follower.fetch.last.tiered.offset.enable", Type: Boolean, Default: "false", Importance: Medium, Update: ClusterWide, Inert: true,
		Doc: "Let an empty follower start at the end of what is in tiered storage.",
	},
	{
		Name: "kafka.metrics.polling.interval.secs", Type: Int, Default: "10", Rule: atLeast(1), Inert: true,
		Doc: "How often those classes are given them, in seconds.",
	},
	{
		Name: "kafka.metrics.reporters", Type: List, Rule: listOf(), Inert: true,
		Doc: "Classes that are given the older kind of metrics.",
	},
	{
		Name: "log.local.retention.bytes", Type: Long, Default: "-2", Rule: atLeast(-2), Importance: Medium, Update: ClusterWide, Inert: true,
		Doc: "Default of local.retention.bytes for topics.",
	},
	{
		Name: "log.local.retention.ms", Type: Long, Default: "-2", Rule: atLeast(-2), Importance: Medium, Update: ClusterWide, Inert: true,
		Doc: "Default of local.retention.ms for topics.",
	},
	{
		Name: "log.remote.copy.lag.bytes", Type: Long, Default: "-1", Rule: atLeast(-1), Importance: Medium, Update: ClusterWide, Inert: true,
		Doc: "Default of remote.copy.lag.bytes for topics.",
	},
	{
		Name: "log.remote.copy.lag.ms", Type: Long, Default: "0", Rule: atLeast(-1), Importance: Medium, Update: ClusterWide, Inert: true,
		Doc: "Default of remote.copy.lag.ms for topics.",
	},
	{
		Name: "metric.reporters", Type: List, Default: "org.apache.kafka.common.metrics.JmxReporter", Rule: listOf(), Update: ClusterWide, Inert: true,
		Doc: "Classes that are given the metrics.",
	},
	{
		Name: "metrics.num.samples", Type: Int, Default: "2", Rule: atLeast(1), Inert: true,
		Doc: "Samples over which a metric is computed.",
	},
	{
		Name: "metrics.recording.level", Type: String, Default: "INFO", Inert: true,
		Doc: "Most detailed level of metrics that is recorded: INFO, DEBUG or TRACE.",
	},
	{
		Name: "metrics.sample.window.ms", Type: Long, Default: "30000", Rule: atLeast(1), Inert: true,
		Doc: "Length of a sample of a metric, in milliseconds.",
	},
	{
		Name: "quota.window.num", Type: Int, Default: "11", Rule: atLeast(1), Inert: true,
		Doc: "Samples over which client quotas are measured.",
	},
	{
		Name: "quota.window.size.seconds", Type: Int, Default: "1", Rule: atLeast(1), Inert: true,
		Doc: "Length of a sample for client quotas, in seconds.",
	},
	{
		Name: "remote.fetch.max.wait.ms", Type: Int, Default: "500", Rule: atLeast(1), Importance: Medium, Update: ClusterWide, Inert: true,
		Doc: "Longest time a fetch waits for tiered storage, in milliseconds.",
	},
	{
		Name: "remote.list.offsets.request.timeout.ms", Type: Long, Default: "30000", Rule: atLeast(1), Importance: Medium, Update: ClusterWide, Inert: true,
		Doc: "Longest time a lookup of offsets waits for tiered storage, in milliseconds.",
	},
	{
		Name: "remote.log.index.file.cache.total.size.bytes", Type: Long, Default: "1073741824", Rule: atLeast(1), Update: ClusterWide, Inert: true,
		Doc: "Disk space for cached indexes of tiered segments, in bytes.",
	},
	{
		Name: "remote.log.index.file.cache.ttl.ms", Type: Long, Default: "900000", Rule: atLeast(-1), Internal: true, Inert: true,
		Doc: "How long an unused index of a tiered segment stays cached, in milliseconds.",
	},
	{
		Name: "remote.log.manager.copier.thread.pool.size", Type: Int, Default: "10", Rule: atLeast(1), Importance: Medium, Update: ClusterWide, Inert: true,
		Doc: "Threads that copy segments to tiered storage.",
	},
	{
		Name: "remote.log.manager.copy.max.bytes.per.second", Type: Long, Default: "9223372036854775807", Rule: atLeast(1), Importance: Medium, Update: ClusterWide, Inert: true,
		Doc: "Most bytes per second copied to tiered storage.",
	},
	{
		Name: "remote.log.manager.copy.quota.window.num", Type: Int, Default: "11", Rule: atLeast(1), Importance: Medium, Inert: true,
		Doc: "Samples over which the rate of bytes copied to tiered storage is measured.",
	},
	{
		Name: "remote.log.manager.copy.quota.window.size.seconds", Type: Int, Default: "1", Rule: atLeast(1), Importance: Medium, Inert: true,
		Doc: "Length of such a sample, in seconds.",
	},
	{
		Name: "remote.log.manager.expiration.thread.pool.size", Type: Int, Default: "10", Rule: atLeast(1), Importance: Medium, Update: ClusterWide, Inert: true,
		Doc: "Threads that delete expired tiered segments.",
	},
	{
		Name: "remote.log.manager.fetch.max.bytes.per.second", Type: Long, Default: "9223372036854775807", Rule: atLeast(1), Importance: Medium, Update: ClusterWide, Inert: true,
		Doc: "Most bytes per second read from tiered storage.",
	},
	{
		Name: "remote.log.manager.fetch.quota.window.num", Type: Int, Default: "11", Rule: atLeast(1), Importance: Medium, Inert: true,
		Doc: "Samples over which the rate of bytes read from tiered storage is measured.",
	},
	{
		Name: "remote.log.manager.fetch.quota.window.size.seconds", Type: Int, Default: "1", Rule: atLeast(1), Importance: Medium, Inert: true,
		Doc: "Length of such a sample, in seconds.",
	},
	{
		Name: "remote.log.manager.follower.thread.pool.size", Type: Int, Default: "2", Rule: atLeast(1), Importance: Medium, Update: ClusterWide, Inert: true,
		Doc: "Threads that follow what leaders have tiered.",
	},
	{
		Name: "remote.log.manager.task.interval.ms", Type: Long, Default: "30000", Rule: atLeast(1), Inert: true,
		Doc: "How often a partition is looked at for segments to tier or expire, in milliseconds.",
	},
	{
		Name: "remote.log.manager.task.retry.backoff.max.ms", Type: Long, Default: "30000", Rule: atLeast(1), Internal: true, Inert: true,
		Doc: "Longest pause after repeated failures of a tiering task, in milliseconds.",
	},
	{
		Name: "remote.log.manager.task.retry.backoff.ms", Type: Long, Default: "500", Rule: atLeast(1), Internal: true, Inert: true,
		Doc: "First pause after a failed tiering task, in milliseconds.",
	},
	{
		Name: "remote.log.manager.task.retry.jitter", Type: Double, Default: "0.2", Rule: between(0, 0.5), Internal: true, Inert: true,
		Doc: "Random share added to or taken off these pauses.",
	},
	{
		Name: "remote.log.manager.thread.pool.size", Type: Int, Default: "2", Rule: atLeast(1), Importance: Medium, Inert: true,
		Doc: "Threads that schedule tiering.",
	},
	{
		Name: "remote.log.metadata.custom.metadata.max.bytes", Type: Int, Default: "128", Rule: atLeast(0), Inert: true,
		Doc: "Most bytes of its own that a storage plug-in may attach to a tiered segment.",
	},
	{
		Name: "remote.log.metadata.manager.class.name", Type: String, Default: "org.apache.kafka.server.log.remote.metadata.storage.TopicBasedRemoteLogMetadataManager", Rule: nonEmpty(), Importance: Medium, Inert: true,
		Doc: "Class that keeps the list of tiered segments.",
	},
	{
		Name: "remote.log.metadata.manager.class.path", Type: String, Null: true, Importance: Medium, Inert: true,
		Doc: "Where that class is loaded from.",
	},
	{
		Name: "remote.log.metadata.manager.impl.prefix", Type: String, Default: "rlmm.config.", Rule: nonEmpty(), Importance: Medium, Inert: true,
		Doc: "Prefix of the properties that are handed to that class.",
	},
	{
		Name: "remote.log.metadata.manager.listener.name", Type: String, Null: true, Rule: nonEmpty(), Importance: Medium, Inert: true,
		Doc: "Listener on which that class reaches the brokers.",
	},
	{
		Name: "remote.log.reader.max.pending.tasks", Type: Int, Default: "100", Rule: atLeast(1), Importance: Medium, Inert: true,
		Doc: "Reads of tiered storage that may wait.",
	},
	{
		Name: "remote.log.reader.threads", Type: Int, Default: "10", Rule: atLeast(1), Importance: Medium, Update: ClusterWide, Inert: true,
		Doc: "Threads that read tiered storage.",
	},
	{
		Name: "remote.log.storage.manager.class.name", Type: String, Null: true, Rule: nonEmpty(), Importance: Medium, Inert: true,
		Doc: "Class that stores tiered segments.",
	},
	{
		Name: "remote.log.storage.manager.class.path", Type: String, Null: true, Importance: Medium, Inert: true,
		Doc: "Where that class is loaded from.",
	},
	{
		Name: "remote.log.storage.manager.impl.prefix", Type: String, Default: "rsm.config.", Rule: nonEmpty(), Importance: Medium, Inert: true,
		Doc: "Prefix of the properties that are handed to that class.",
	},
	{
		Name: "remote.log.storage.system.enable", Type: Boolean, Default: "false", Importance: Medium, Inert: true,
		Doc: "Offer tiered storage.",
	},
	{
		Name: "replication.quota.window.num", Type: Int, Default: "11", Rule: atLeast(1), Inert: true,
		Doc: "Samples over which replication quotas are measured.",
	},
	{
		Name: "replication.quota.window.size.seconds", Type: Int, Default: "1", Rule: atLeast(1), Inert: true,
		Doc: "Length of a sample for replication quotas, in seconds.",
	},
	{
		Name: "telemetry.max.bytes", Type: Int, Default: "1048576", Rule: atLeast(1), Inert: true,
		Doc: "Largest push of client metrics (KIP-714), in bytes.",
	},
}

// dynamicProperties are broker properties that have no static form: they exist only once set on a running broker.
var dynamicProperties = []Property{
	{
		Name: "follower.replication.throttled.rate", Type: Long, Default: "9223372036854775807", Rule: atLeast(0), Importance: Medium, Update: ClusterWide, Inert: true,
		Doc: "Most bytes per second that this broker fetches for throttled replicas.",
	},
	{
		Name: "leader.replication.throttled.rate", Type: Long, Default: "9223372036854775807", Rule: atLeast(0), Importance: Medium, Update: ClusterWide, Inert: true,
		Doc: "Most bytes per second that this broker serves for throttled replicas.",
	},
	{
		Name: "replica.alter.log.dirs.io.max.bytes.per.second", Type: Long, Default: "9223372036854775807", Rule: atLeast(0), Importance: Medium, Update: ClusterWide, Inert: true,
		Doc: "Most bytes per second that moves between log directories read and write.",
	},
}

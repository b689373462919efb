package config

// remoteProperties are the broker properties of tiered storage, quotas and metrics, by name.
var remoteProperties = []Property{
	{
		Name: "alter.log.dirs.replication.quota.window.num", Type: Int, Default: "11", Rule: atLeast(1), Inert: true,
		Doc: "",
	},
	{
		Name: "alter.log.dirs.replication.quota.window.size.seconds", Type: Int, Default: "1", Rule: atLeast(1), Inert: true,
		Doc: "",
	},
	{
		Name: "client.quota.callback.class", Type: Class, Null: true, Inert: true,
		Doc: "",
	},
	{
		Name: "controller.quota.window.num", Type: Int, Default: "11", Rule: atLeast(1), Inert: true,
		Doc: "",
	},
	{
		Name: "controller.quota.window.size.seconds", Type: Int, Default: "1", Rule: atLeast(1), Inert: true,
		Doc: "",
	},
	{
		Name: "follower.fetch.last.tiered.offset.enable", Type: Boolean, Default: "false", Importance: Medium, Update: ClusterWide, Inert: true,
		Doc: "",
	},
	{
		Name: "kafka.metrics.polling.interval.secs", Type: Int, Default: "10", Rule: atLeast(1), Inert: true,
		Doc: "",
	},
	{
		Name: "kafka.metrics.reporters", Type: List, Rule: listOf(), Inert: true,
		Doc: "",
	},
	{
		Name: "log.local.retention.bytes", Type: Long, Default: "-2", Rule: atLeast(-2), Importance: Medium, Update: ClusterWide, Inert: true,
		Doc: "",
	},
	{
		Name: "log.local.retention.ms", Type: Long, Default: "-2", Rule: atLeast(-2), Importance: Medium, Update: ClusterWide, Inert: true,
		Doc: "",
	},
	{
		Name: "log.remote.copy.lag.bytes", Type: Long, Default: "-1", Rule: atLeast(-1), Importance: Medium, Update: ClusterWide, Inert: true,
		Doc: "",
	},
	{
		Name: "log.remote.copy.lag.ms", Type: Long, Default: "0", Rule: atLeast(-1), Importance: Medium, Update: ClusterWide, Inert: true,
		Doc: "",
	},
	{
		Name: "metric.reporters", Type: List, Default: "org.apache.kafka.common.metrics.JmxReporter", Rule: listOf(), Update: ClusterWide, Inert: true,
		Doc: "",
	},
	{
		Name: "metrics.num.samples", Type: Int, Default: "2", Rule: atLeast(1), Inert: true,
		Doc: "",
	},
	{
		Name: "metrics.recording.level", Type: String, Default: "INFO", Inert: true,
		Doc: "",
	},
	{
		Name: "metrics.sample.window.ms", Type: Long, Default: "30000", Rule: atLeast(1), Inert: true,
		Doc: "",
	},
	{
		Name: "quota.window.num", Type: Int, Default: "11", Rule: atLeast(1), Inert: true,
		Doc: "",
	},
	{
		Name: "quota.window.size.seconds", Type: Int, Default: "1", Rule: atLeast(1), Inert: true,
		Doc: "",
	},
	{
		Name: "remote.fetch.max.wait.ms", Type: Int, Default: "500", Rule: atLeast(1), Importance: Medium, Update: ClusterWide, Inert: true,
		Doc: "",
	},
	{
		Name: "remote.list.offsets.request.timeout.ms", Type: Long, Default: "30000", Rule: atLeast(1), Importance: Medium, Update: ClusterWide, Inert: true,
		Doc: "",
	},
	{
		Name: "remote.log.index.file.cache.total.size.bytes", Type: Long, Default: "1073741824", Rule: atLeast(1), Update: ClusterWide, Inert: true,
		Doc: "",
	},
	{
		Name: "remote.log.index.file.cache.ttl.ms", Type: Long, Default: "900000", Rule: atLeast(-1), Internal: true, Inert: true,
		Doc: "",
	},
	{
		Name: "remote.log.manager.copier.thread.pool.size", Type: Int, Default: "10", Rule: atLeast(1), Importance: Medium, Update: ClusterWide, Inert: true,
		Doc: "",
	},
	{
		Name: "remote.log.manager.copy.max.bytes.per.second", Type: Long, Default: "9223372036854775807", Rule: atLeast(1), Importance: Medium, Update: ClusterWide, Inert: true,
		Doc: "",
	},
	{
		Name: "remote.log.manager.copy.quota.window.num", Type: Int, Default: "11", Rule: atLeast(1), Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "remote.log.manager.copy.quota.window.size.seconds", Type: Int, Default: "1", Rule: atLeast(1), Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "remote.log.manager.expiration.thread.pool.size", Type: Int, Default: "10", Rule: atLeast(1), Importance: Medium, Update: ClusterWide, Inert: true,
		Doc: "",
	},
	{
		Name: "remote.log.manager.fetch.max.bytes.per.second", Type: Long, Default: "9223372036854775807", Rule: atLeast(1), Importance: Medium, Update: ClusterWide, Inert: true,
		Doc: "",
	},
	{
		Name: "remote.log.manager.fetch.quota.window.num", Type: Int, Default: "11", Rule: atLeast(1), Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "remote.log.manager.fetch.quota.window.size.seconds", Type: Int, Default: "1", Rule: atLeast(1), Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "remote.log.manager.follower.thread.pool.size", Type: Int, Default: "2", Rule: atLeast(1), Importance: Medium, Update: ClusterWide, Inert: true,
		Doc: "",
	},
	{
		Name: "remote.log.manager.task.interval.ms", Type: Long, Default: "30000", Rule: atLeast(1), Inert: true,
		Doc: "",
	},
	{
		Name: "remote.log.manager.task.retry.backoff.max.ms", Type: Long, Default: "30000", Rule: atLeast(1), Internal: true, Inert: true,
		Doc: "",
	},
	{
		Name: "remote.log.manager.task.retry.backoff.ms", Type: Long, Default: "500", Rule: atLeast(1), Internal: true, Inert: true,
		Doc: "",
	},
	{
		Name: "remote.log.manager.task.retry.jitter", Type: Double, Default: "0.2", Rule: between(0, 0.5), Internal: true, Inert: true,
		Doc: "",
	},
	{
		Name: "remote.log.manager.thread.pool.size", Type: Int, Default: "2", Rule: atLeast(1), Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "remote.log.metadata.custom.metadata.max.bytes", Type: Int, Default: "128", Rule: atLeast(0), Inert: true,
		Doc: "",
	},
	{
		Name: "remote.log.metadata.manager.class.name", Type: String, Default: "org.apache.kafka.server.log.remote.metadata.storage.TopicBasedRemoteLogMetadataManager", Rule: nonEmpty(), Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "remote.log.metadata.manager.class.path", Type: String, Null: true, Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "remote.log.metadata.manager.impl.prefix", Type: String, Default: "rlmm.config.", Rule: nonEmpty(), Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "remote.log.metadata.manager.listener.name", Type: String, Null: true, Rule: nonEmpty(), Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "remote.log.reader.max.pending.tasks", Type: Int, Default: "100", Rule: atLeast(1), Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "remote.log.reader.threads", Type: Int, Default: "10", Rule: atLeast(1), Importance: Medium, Update: ClusterWide, Inert: true,
		Doc: "",
	},
	{
		Name: "remote.log.storage.manager.class.name", Type: String, Null: true, Rule: nonEmpty(), Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "remote.log.storage.manager.class.path", Type: String, Null: true, Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "remote.log.storage.manager.impl.prefix", Type: String, Default: "rsm.config.", Rule: nonEmpty(), Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "remote.log.storage.system.enable", Type: Boolean, Default: "false", Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "replication.quota.window.num", Type: Int, Default: "11", Rule: atLeast(1), Inert: true,
		Doc: "",
	},
	{
		Name: "replication.quota.window.size.seconds", Type: Int, Default: "1", Rule: atLeast(1), Inert: true,
		Doc: "",
	},
	{
		Name: "telemetry.max.bytes", Type: Int, Default: "1048576", Rule: atLeast(1), Inert: true,
		Doc: "",
	},
}

// dynamicProperties are broker properties that have no static form: they exist only once set on a running broker.
var dynamicProperties = []Property{
	{
		Name: "follower.replication.throttled.rate", Type: Long, Default: "9223372036854775807", Rule: atLeast(0), Importance: Medium, Update: ClusterWide, Inert: true,
		Doc: "",
	},
	{
		Name: "leader.replication.throttled.rate", Type: Long, Default: "9223372036854775807", Rule: atLeast(0), Importance: Medium, Update: ClusterWide, Inert: true,
		Doc: "",
	},
	{
		Name: "replica.alter.log.dirs.io.max.bytes.per.second", Type: Long, Default: "9223372036854775807", Rule: atLeast(0), Importance: Medium, Update: ClusterWide, Inert: true,
		Doc: "",
	},
}

package config

// clusterProperties are the broker properties of identity, metadata quorum and replication, by name.
var clusterProperties = []Property{
	{
		Name: "auto.leader.rebalance.enable", Type: Boolean, Default: "true", Importance: High, Inert: true,
		Doc: "",
	},
	{
		Name: "broker.heartbeat.interval.ms", Type: Int, Default: "2000", Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "broker.id", Type: Int, Default: "-1", Importance: High,
		Doc: "",
	},
	{
		Name: "broker.rack", Type: String, Null: true, Importance: Medium,
		Doc: "",
	},
	{
		Name: "broker.session.timeout.ms", Type: Int, Default: "9000", Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "config.providers", Type: List, Rule: listOf(), Update: ClusterWide,
		Doc: "",
	},
	{
		Name: "controlled.shutdown.enable", Type: Boolean, Default: "true", Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "controller.listener.names", Type: List, Null: true, Rule: listOf(), Importance: High,
		Doc: "",
	},
	{
		Name: "controller.performance.always.log.threshold.ms", Type: Long, Default: "2000", Rule: atLeast(0), Importance: Medium, Internal: true, Inert: true,
		Doc: "",
	},
	{
		Name: "controller.performance.sample.period.ms", Type: Long, Default: "60000", Rule: atLeast(100), Importance: Medium, Internal: true, Inert: true,
		Doc: "",
	},
	{
		Name: "controller.quorum.append.linger.ms", Type: Int, Default: "25", Rule: atLeast(0), Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "controller.quorum.auto.join.enable", Type: Boolean, Default: "false", Inert: true,
		Doc: "",
	},
	{
		Name: "controller.quorum.bootstrap.servers", Type: List, Importance: High,
		Doc: "",
	},
	{
		Name: "controller.quorum.election.backoff.max.ms", Type: Int, Default: "1000", Rule: atLeast(0), Importance: High, Inert: true,
		Doc: "",
	},
	{
		Name: "controller.quorum.election.timeout.ms", Type: Int, Default: "1000", Rule: atLeast(0), Importance: High, Inert: true,
		Doc: "",
	},
	{
		Name: "controller.quorum.fetch.max.bytes", Type: Int, Default: "1048576", Rule: atLeast(1), Inert: true,
		Doc: "",
	},
	{
		Name: "controller.quorum.fetch.snapshot.max.bytes", Type: Int, Default: "1048576", Rule: atLeast(1), Inert: true,
		Doc: "",
	},
	{
		Name: "controller.quorum.fetch.timeout.ms", Type: Int, Default: "2000", Rule: atLeast(0), Importance: High, Inert: true,
		Doc: "",
	},
	{
		Name: "controller.quorum.request.timeout.ms", Type: Int, Default: "2000", Rule: atLeast(0), Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "controller.quorum.retry.backoff.ms", Type: Int, Default: "20", Rule: atLeast(0), Inert: true,
		Doc: "",
	},
	{
		Name: "controller.quorum.voters", Type: List, Importance: High,
		Doc: "",
	},
	{
		Name: "controller.socket.timeout.ms", Type: Int, Default: "30000", Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "initial.broker.registration.timeout.ms", Type: Int, Default: "60000", Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "internal.metadata.delete.delay.millis", Type: Long, Default: "60000", Internal: true, Inert: true,
		Doc: "",
	},
	{
		Name: "internal.metadata.log.segment.bytes", Type: Int, Null: true, Internal: true, Inert: true,
		Doc: "",
	},
	{
		Name: "internal.metadata.max.batch.size.in.bytes", Type: Int, Default: "8388608", Internal: true, Inert: true,
		Doc: "",
	},
	{
		Name: "leader.imbalance.check.interval.seconds", Type: Long, Default: "300", Rule: atLeast(1), Importance: High, Inert: true,
		Doc: "",
	},
	{
		Name: "metadata.log.dir", Type: String, Null: true, Importance: High,
		Doc: "",
	},
	{
		Name: "metadata.log.max.record.bytes.between.snapshots", Type: Long, Default: "20971520", Rule: atLeast(1), Importance: High, Inert: true,
		Doc: "",
	},
	{
		Name: "metadata.log.max.snapshot.interval.ms", Type: Long, Default: "3600000", Rule: atLeast(0), Importance: High, Inert: true,
		Doc: "",
	},
	{
		Name: "metadata.log.segment.bytes", Type: Int, Default: "1073741824", Rule: atLeast(8388608), Importance: High, Inert: true,
		Doc: "",
	},
	{
		Name: "metadata.log.segment.ms", Type: Long, Default: "604800000", Importance: High, Inert: true,
		Doc: "",
	},
	{
		Name: "metadata.max.idle.interval.ms", Type: Int, Default: "500", Rule: atLeast(0), Inert: true,
		Doc: "",
	},
	{
		Name: "metadata.max.retention.bytes", Type: Long, Default: "104857600", Importance: High, Inert: true,
		Doc: "",
	},
	{
		Name: "metadata.max.retention.ms", Type: Long, Default: "604800000", Importance: High, Inert: true,
		Doc: "",
	},
	{
		Name: "node.id", Type: Int, Null: true, Rule: atLeast(0), Importance: High,
		Doc: "",
	},
	{
		Name: "num.replica.fetchers", Type: Int, Default: "1", Rule: atLeast(1), Importance: High, Update: ClusterWide, Inert: true,
		Doc: "",
	},
	{
		Name: "process.roles", Type: List, Null: true, Rule: nonEmptyListOf("broker", "controller"), Importance: High,
		Doc: "",
	},
	{
		Name: "replica.fetch.backoff.ms", Type: Int, Default: "1000", Rule: atLeast(0), Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "replica.fetch.max.bytes", Type: Int, Default: "1048576", Rule: atLeast(0), Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "replica.fetch.min.bytes", Type: Int, Default: "1", Importance: High, Inert: true,
		Doc: "",
	},
	{
		Name: "replica.fetch.response.max.bytes", Type: Int, Default: "10485760", Rule: atLeast(0), Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "replica.fetch.wait.max.ms", Type: Int, Default: "500", Importance: High, Inert: true,
		Doc: "",
	},
	{
		Name: "replica.high.watermark.checkpoint.interval.ms", Type: Long, Default: "5000", Importance: High,
		Doc: "",
	},
	{
		Name: "replica.lag.time.max.ms", Type: Long, Default: "30000", Importance: High,
		Doc: "",
	},
	{
		Name: "replica.selector.class", Type: String, Null: true, Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "replica.socket.receive.buffer.bytes", Type: Int, Default: "65536", Importance: High, Inert: true,
		Doc: "",
	},
	{
		Name: "replica.socket.timeout.ms", Type: Int, Default: "30000", Importance: High, Inert: true,
		Doc: "",
	},
	{
		Name: "server.max.startup.time.ms", Type: Long, Default: "9223372036854775807", Rule: atLeast(0), Importance: Medium, Internal: true, Inert: true,
		Doc: "",
	},
	{
		Name: "unstable.feature.versions.enable", Type: Boolean, Default: "false", Importance: High, Internal: true, Inert: true,
		Doc: "",
	},
}

package config

// networkProperties are the broker properties of listeners, connections, threads and request limits, by name.
var networkProperties = []Property{
	{
		Name: "advertised.listeners", Type: List, Null: true, Rule: nonEmptyListOf(), Importance: High,
		Doc: "",
	},
	{
		Name: "background.threads", Type: Int, Default: "10", Rule: atLeast(1), Importance: High, Update: ClusterWide, Inert: true,
		Doc: "",
	},
	{
		Name: "connections.max.idle.ms", Type: Long, Default: "600000", Importance: Medium,
		Doc: "",
	},
	{
		Name: "delete.records.purgatory.purge.interval.requests", Type: Int, Default: "1", Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "early.start.listeners", Type: List, Null: true, Rule: listOf(), Importance: High, Inert: true,
		Doc: "",
	},
	{
		Name: "fetch.max.bytes", Type: Int, Default: "57671680", Rule: atLeast(1024), Importance: Medium,
		Doc: "",
	},
	{
		Name: "fetch.purgatory.purge.interval.requests", Type: Int, Default: "1000", Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "inter.broker.listener.name", Type: String, Null: true, Importance: Medium,
		Doc: "",
	},
	{
		Name: "listener.security.protocol.map", Type: String, Default: "SASL_SSL:SASL_SSL,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT",
		Doc: "",
	},
	{
		Name: "listeners", Type: List, Default: "PLAINTEXT://:9092", Rule: nonEmptyListOf(), Importance: High,
		Doc: "",
	},
	{
		Name: "max.connection.creation.rate", Type: Int, Default: "2147483647", Rule: atLeast(0), Importance: Medium, Update: ClusterWide,
		Doc: "",
	},
	{
		Name: "max.connections", Type: Int, Default: "2147483647", Rule: atLeast(0), Importance: Medium, Update: ClusterWide,
		Doc: "",
	},
	{
		Name: "max.connections.per.ip", Type: Int, Default: "2147483647", Rule: atLeast(0), Importance: Medium, Update: ClusterWide,
		Doc: "",
	},
	{
		Name: "max.connections.per.ip.overrides", Type: String, Importance: Medium, Update: ClusterWide,
		Doc: "",
	},
	{
		Name: "max.incremental.fetch.session.cache.slots", Type: Int, Default: "1000", Rule: atLeast(0), Importance: Medium,
		Doc: "",
	},
	{
		Name: "max.request.partition.size.limit", Type: Int, Default: "2000", Rule: atLeast(1), Importance: Medium,
		Doc: "",
	},
	{
		Name: "num.io.threads", Type: Int, Default: "8", Rule: atLeast(1), Importance: High, Update: ClusterWide, Inert: true,
		Doc: "",
	},
	{
		Name: "num.network.threads", Type: Int, Default: "3", Rule: atLeast(1), Importance: High, Update: ClusterWide, Inert: true,
		Doc: "",
	},
	{
		Name: "producer.purgatory.purge.interval.requests", Type: Int, Default: "1000", Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "queued.max.request.bytes", Type: Long, Default: "-1", Importance: Medium,
		Doc: "",
	},
	{
		Name: "queued.max.requests", Type: Int, Default: "500", Rule: atLeast(1), Importance: High,
		Doc: "",
	},
	{
		Name: "request.timeout.ms", Type: Int, Default: "30000", Importance: High,
		Doc: "",
	},
	{
		Name: "socket.connection.setup.timeout.max.ms", Type: Long, Default: "30000", Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "socket.connection.setup.timeout.ms", Type: Long, Default: "10000", Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "socket.listen.backlog.size", Type: Int, Default: "50", Rule: atLeast(1), Importance: Medium,
		Doc: "",
	},
	{
		Name: "socket.receive.buffer.bytes", Type: Int, Default: "102400", Importance: High,
		Doc: "",
	},
	{
		Name: "socket.request.max.bytes", Type: Int, Default: "104857600", Rule: atLeast(1), Importance: High,
		Doc: "",
	},
	{
		Name: "socket.send.buffer.bytes", Type: Int, Default: "102400", Importance: High,
		Doc: "",
	},
	{
		Name: "unstable.api.versions.enable", Type: Boolean, Default: "false", Importance: High, Internal: true, Inert: true,
		Doc: "",
	},
}

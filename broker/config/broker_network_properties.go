package config

// networkProperties are the broker properties of listeners, connections, threads and request limits, by name.
var networkProperties = []Property{
	{
		Name: "advertised.listeners", Type: List, Null: true, Rule: nonEmptyListOf(), Importance: High,
		Doc: "Addresses given to clients, as NAME://host:port. Unset, each client is given the address at which it reached the broker.",
	},
	{
		Name: "background.threads", Type: Int, Default: "10", Rule: atLeast(1), Importance: High, Update: ClusterWide, Inert: true,
		Doc: "Threads for background work.",
	},
	{
		Name: "connections.max.idle.ms", Type: Long, Default: "600000", Importance: Medium,
		Doc: "A connection without a request for this long is closed, in milliseconds; negative keeps it.",
	},
	{
		Name: "delete.records.purgatory.purge.interval.requests", Type: Int, Default: "1", Importance: Medium, Inert: true,
		Doc: "Completed record deletions after which the list of waiting ones is tidied.",
	},
	{
		Name: "early.start.listeners", Type: List, Null: true, Rule: listOf(), Importance: High, Inert: true,
		Doc: "Listeners opened before the authorizer is ready.",
	},
	{
		Name: "fetch.max.bytes", Type: Int, Default: "57671680", Rule: atLeast(1024), Importance: Medium,
		Doc: "Most bytes in the answer to one fetch. The first batch is returned even where it alone is larger.",
	},
	{
		Name: "fetch.purgatory.purge.interval.requests", Type: Int, Default: "1000", Importance: Medium, Inert: true,
		Doc: "Completed fetches after which the list of waiting ones is tidied.",
	},
	{
		Name: "inter.broker.listener.name", Type: String, Null: true, Importance: Medium,
		Doc: "Listener on which brokers reach each other. Unset, it is the one that security.inter.broker.protocol names.",
	},
	{
		Name: "listener.security.protocol.map", Type: String, Default: "SASL_SSL:SASL_SSL,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT",
		Doc: "Security protocol of each listener name, as NAME:PROTOCOL separated by commas.",
	},
	{
		Name: "listeners", Type: List, Default: "PLAINTEXT://:9092", Rule: nonEmptyListOf(), Importance: High,
		Doc: "Where to listen, as NAME://host:port separated by commas. An empty host is every interface, an IPv6 address goes in brackets, port 0 lets the system choose. Listeners in controller.listener.names are not for clients.",
	},
	{
		Name: "max.connection.creation.rate", Type: Int, Default: "2147483647", Rule: atLeast(0), Importance: Medium, Update: ClusterWide, Inert: true,
		Doc: "Most connections accepted per second.",
	},
	{
		Name: "max.connections", Type: Int, Default: "2147483647", Rule: atLeast(0), Importance: Medium, Update: ClusterWide,
		Doc: "Most client connections at once. Beyond that, new ones wait until others close.",
	},
	{
		Name: "max.connections.per.ip", Type: Int, Default: "2147483647", Rule: atLeast(0), Importance: Medium, Update: ClusterWide,
		Doc: "Most connections at once from one address. Further ones are closed.",
	},
	{
		Name: "max.connections.per.ip.overrides", Type: String, Importance: Medium, Update: ClusterWide,
		Doc: "Other limits for some addresses in place of max.connections.per.ip, as host:count separated by commas.",
	},
	{
		Name: "max.incremental.fetch.session.cache.slots", Type: Int, Default: "1000", Rule: atLeast(0), Importance: Medium,
		Doc: "Fetch sessions (KIP-227) kept at once. A client without one sends its whole partition list each time.",
	},
	{
		Name: "max.request.partition.size.limit", Type: Int, Default: "2000", Rule: atLeast(1), Importance: Medium,
		Doc: "Most partitions in one answer to DescribeTopicPartitions.",
	},
	{
		Name: "num.io.threads", Type: Int, Default: "8", Rule: atLeast(1), Importance: High, Update: ClusterWide, Inert: true,
		Doc: "Threads that carry out requests.",
	},
	{
		Name: "num.network.threads", Type: Int, Default: "3", Rule: atLeast(1), Importance: High, Update: ClusterWide, Inert: true,
		Doc: "Threads that read requests and write responses.",
	},
	{
		Name: "producer.purgatory.purge.interval.requests", Type: Int, Default: "1000", Importance: Medium, Inert: true,
		Doc: "Completed produces after which the list of waiting ones is tidied.",
	},
	{
		Name: "queued.max.request.bytes", Type: Long, Default: "-1", Importance: Medium,
		Doc: "Most bytes of requests in memory at once; -1 sets no limit but the broker's own memory budget.",
	},
	{
		Name: "queued.max.requests", Type: Int, Default: "500", Rule: atLeast(1), Importance: High, Inert: true,
		Doc: "Most requests being worked on at once. Beyond that, connections are not read.",
	},
	{
		Name: "request.timeout.ms", Type: Int, Default: "30000", Importance: High,
		Doc: "How long a request to another node may take, in milliseconds.",
	},
	{
		Name: "socket.connection.setup.timeout.max.ms", Type: Long, Default: "30000", Importance: Medium, Inert: true,
		Doc: "Limit for opening a connection after repeated failures, in milliseconds.",
	},
	{
		Name: "socket.connection.setup.timeout.ms", Type: Long, Default: "10000", Importance: Medium, Inert: true,
		Doc: "First limit for opening a connection to another node, in milliseconds.",
	},
	{
		Name: "socket.listen.backlog.size", Type: Int, Default: "50", Rule: atLeast(1), Importance: Medium, Inert: true,
		Doc: "Connections that may wait to be accepted. The system may hold it to less.",
	},
	{
		Name: "socket.receive.buffer.bytes", Type: Int, Default: "-1", Importance: High,
		Doc: "Receive buffer of client connections (SO_RCVBUF), in bytes; -1 leaves it to the system, which sizes it by the connection. Kafka's default is 102400.",
	},
	{
		Name: "socket.request.max.bytes", Type: Int, Default: "104857600", Rule: atLeast(1), Importance: High,
		Doc: "Largest request, in bytes. A connection that announces a larger one is closed before anything is allocated for it.",
	},
	{
		Name: "socket.send.buffer.bytes", Type: Int, Default: "-1", Importance: High,
		Doc: "Send buffer of client connections (SO_SNDBUF), in bytes; -1 leaves it to the system, which sizes it by the connection. Kafka's default is 102400.",
	},
	{
		Name: "unstable.api.versions.enable", Type: Boolean, Default: "false", Importance: High, Internal: true, Inert: true,
		Doc: "Advertise request versions that are still being developed.",
	},
}

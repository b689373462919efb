package config

// clusterProperties are the broker properties of identity, metadata quorum and replication, by name.
var clusterProperties = []Property{
	{
		Name: "auto.leader.rebalance.enable", Type: Boolean, Default: "true", Importance: High, Inert: true,
		Doc: "Give leadership back to each partition's first replica from time to time.",
	},
	{
		Name: "broker.heartbeat.interval.ms", Type: Int, Default: "2000", Importance: Medium, Inert: true,
		Doc: "Time between a broker's heartbeats to the controller, in milliseconds. Keep it at or below half of broker.session.timeout.ms.",
	},
	{
		Name: "broker.id", Type: Int, Default: "-1", Importance: High,
		Doc: "Deprecated name of node.id. Where both are set they must be equal.",
	},
	{
		Name: "broker.rack", Type: String, Null: true, Importance: Medium,
		Doc: "Failure domain of this broker, any text. Replicas of a partition are spread over racks, and a consumer can read from its own.",
	},
	{
		Name: "broker.session.timeout.ms", Type: Int, Default: "9000", Importance: Medium, Inert: true,
		Doc: "How long a broker may go without a heartbeat before the controller fences it, in milliseconds.",
	},
	{
		Name: "config.providers", Type: List, Rule: listOf(), Update: ClusterWide,
		Doc: "Names of providers that replace ${provider:path:key} references in values. weir has none and does not start where one is named; use WEIR_* environment variables.",
	},
	{
		Name: "controlled.shutdown.enable", Type: Boolean, Default: "true", Importance: Medium, Inert: true,
		Doc: "Move leadership away before a broker stops, so that its partitions are not without a leader meanwhile.",
	},
	{
		Name: "controller.listener.names", Type: List, Null: true, Rule: listOf(), Importance: High,
		Doc: "Names of the listeners on which controllers talk to each other and to brokers. They are not offered to clients. A lone node needs none and opens none.",
	},
	{
		Name: "controller.performance.always.log.threshold.ms", Type: Long, Default: "2000", Rule: atLeast(0), Importance: Medium, Internal: true, Inert: true,
		Doc: "A controller event that takes longer than this is logged, in milliseconds.",
	},
	{
		Name: "controller.performance.sample.period.ms", Type: Long, Default: "60000", Rule: atLeast(100), Importance: Medium, Internal: true, Inert: true,
		Doc: "Time between log lines about the controller's speed, in milliseconds.",
	},
	{
		Name: "controller.quorum.append.linger.ms", Type: Int, Default: "25", Rule: atLeast(0), Importance: Medium, Inert: true,
		Doc: "How long the metadata leader collects changes before it writes them, in milliseconds.",
	},
	{
		Name: "controller.quorum.auto.join.enable", Type: Boolean, Default: "false", Inert: true,
		Doc: "Whether a controller that is not yet a voter adds itself to the voters.",
	},
	{
		Name: "controller.quorum.bootstrap.servers", Type: List, Importance: High,
		Doc: "Addresses ({host}:{port}, separated by commas) where a starting node looks for the controllers.",
	},
	{
		Name: "controller.quorum.election.backoff.max.ms", Type: Int, Default: "1000", Rule: atLeast(0), Importance: High, Inert: true,
		Doc: "Longest pause between elections that end without a winner, in milliseconds.",
	},
	{
		Name: "controller.quorum.election.timeout.ms", Type: Int, Default: "1000", Rule: atLeast(0), Importance: High, Inert: true,
		Doc: "How long a voter waits without reaching the leader before it calls an election, in milliseconds.",
	},
	{
		Name: "controller.quorum.fetch.max.bytes", Type: Int, Default: "1048576", Rule: atLeast(1), Inert: true,
		Doc: "Most bytes in one fetch of the metadata log. The first batch is returned even where it alone is larger.",
	},
	{
		Name: "controller.quorum.fetch.snapshot.max.bytes", Type: Int, Default: "1048576", Rule: atLeast(1), Inert: true,
		Doc: "Most bytes in one fetch of a metadata snapshot.",
	},
	{
		Name: "controller.quorum.fetch.timeout.ms", Type: Int, Default: "2000", Rule: atLeast(0), Importance: High, Inert: true,
		Doc: "How long a follower may fail to fetch from the leader, or a leader may go unfetched by a majority, before leadership is given up, in milliseconds.",
	},
	{
		Name: "controller.quorum.request.timeout.ms", Type: Int, Default: "2000", Rule: atLeast(0), Importance: Medium, Inert: true,
		Doc: "How long one request between controllers may take, in milliseconds.",
	},
	{
		Name: "controller.quorum.retry.backoff.ms", Type: Int, Default: "20", Rule: atLeast(0), Inert: true,
		Doc: "First pause before a failed request between controllers is tried again, in milliseconds.",
	},
	{
		Name: "controller.quorum.voters", Type: List, Importance: High,
		Doc: "Fixed set of controllers as {id}@{host}:{port}, separated by commas. Prefer controller.quorum.bootstrap.servers.",
	},
	{
		Name: "controller.socket.timeout.ms", Type: Int, Default: "30000", Importance: Medium, Inert: true,
		Doc: "How long a controller waits for a broker's answer, in milliseconds.",
	},
	{
		Name: "initial.broker.registration.timeout.ms", Type: Int, Default: "60000", Importance: Medium, Inert: true,
		Doc: "How long a starting broker tries to register with the controller before it gives up, in milliseconds.",
	},
	{
		Name: "internal.metadata.delete.delay.millis", Type: Long, Default: "60000", Internal: true, Inert: true,
		Doc: "Time between dropping a metadata file and deleting it, in milliseconds. For tests.",
	},
	{
		Name: "internal.metadata.log.segment.bytes", Type: Int, Null: true, Internal: true, Inert: true,
		Doc: "Size of a metadata log file, in bytes. For tests.",
	},
	{
		Name: "internal.metadata.max.batch.size.in.bytes", Type: Int, Default: "8388608", Internal: true, Inert: true,
		Doc: "Largest batch in the metadata log, in bytes. For tests.",
	},
	{
		Name: "leader.imbalance.check.interval.seconds", Type: Long, Default: "300", Rule: atLeast(1), Importance: High, Inert: true,
		Doc: "Time between checks whether leadership is unevenly spread, in seconds.",
	},
	{
		Name: "metadata.log.dir", Type: String, Null: true, Importance: High,
		Doc: "Directory of the cluster metadata. Unset, it is the first of log.dirs.",
	},
	{
		Name: "metadata.log.max.record.bytes.between.snapshots", Type: Long, Default: "20971520", Rule: atLeast(1), Importance: High, Inert: true,
		Doc: "A metadata snapshot is written once this many bytes were appended since the last one.",
	},
	{
		Name: "metadata.log.max.snapshot.interval.ms", Type: Long, Default: "3600000", Rule: atLeast(0), Importance: High, Inert: true,
		Doc: "A metadata snapshot is written at the latest this long after the last one if there were changes, in milliseconds; 0 turns this off.",
	},
	{
		Name: "metadata.log.segment.bytes", Type: Int, Default: "1073741824", Rule: atLeast(8388608), Importance: High, Inert: true,
		Doc: "Size at which a file of the metadata log is closed and the next one begun, in bytes.",
	},
	{
		Name: "metadata.log.segment.ms", Type: Long, Default: "604800000", Importance: High, Inert: true,
		Doc: "Age at which a file of the metadata log is closed and the next one begun, in milliseconds.",
	},
	{
		Name: "metadata.max.idle.interval.ms", Type: Int, Default: "500", Rule: atLeast(0), Inert: true,
		Doc: "The controller appends an empty record when nothing else was appended for this long, in milliseconds; 0 turns this off.",
	},
	{
		Name: "metadata.max.retention.bytes", Type: Long, Default: "104857600", Importance: High, Inert: true,
		Doc: "Size of metadata log and snapshots above which old ones are deleted, in bytes.",
	},
	{
		Name: "metadata.max.retention.ms", Type: Long, Default: "604800000", Importance: High, Inert: true,
		Doc: "Age beyond which metadata log files and snapshots are deleted, in milliseconds.",
	},
	{
		Name: "node.id", Type: Int, Null: true, Rule: atLeast(0), Importance: High,
		Doc: "Identity of this node in the cluster: unique, and kept for as long as its directories are. Required.",
	},
	{
		Name: "num.replica.fetchers", Type: Int, Default: "1", Rule: atLeast(1), Importance: High, Update: ClusterWide, Inert: true,
		Doc: "Connections on which a follower fetches from each leader.",
	},
	{
		Name: "process.roles", Type: List, Null: true, Rule: nonEmptyListOf("broker", "controller"), Importance: High,
		Doc: "What this process is: broker serves clients, controller keeps the cluster's metadata. Required; a single node is both.",
	},
	{
		Name: "replica.fetch.backoff.ms", Type: Int, Default: "1000", Rule: atLeast(0), Importance: Medium, Inert: true,
		Doc: "Pause after a failed fetch of a partition, in milliseconds.",
	},
	{
		Name: "replica.fetch.max.bytes", Type: Int, Default: "1048576", Rule: atLeast(0), Importance: Medium, Inert: true,
		Doc: "Bytes a follower asks for per partition. The first batch is returned even where it alone is larger.",
	},
	{
		Name: "replica.fetch.min.bytes", Type: Int, Default: "1", Importance: High, Inert: true,
		Doc: "A fetch by a follower is held until this many bytes are there, at most for replica.fetch.wait.max.ms.",
	},
	{
		Name: "replica.fetch.response.max.bytes", Type: Int, Default: "10485760", Rule: atLeast(0), Importance: Medium, Inert: true,
		Doc: "Bytes a follower asks for over all partitions in one fetch.",
	},
	{
		Name: "replica.fetch.wait.max.ms", Type: Int, Default: "500", Importance: High, Inert: true,
		Doc: "Longest time a follower's fetch is held while there is too little to return, in milliseconds. At most replica.lag.time.max.ms.",
	},
	{
		Name: "replica.high.watermark.checkpoint.interval.ms", Type: Long, Default: "5000", Importance: High,
		Doc: "How often high watermarks, recovery points and log start offsets are saved, in milliseconds. Losing saved ones costs time at the next start, never records.",
	},
	{
		Name: "replica.lag.time.max.ms", Type: Long, Default: "30000", Importance: High,
		Doc: "A follower that has not caught up with the leader's log end for this long leaves the in-sync replicas, in milliseconds.",
	},
	{
		Name: "replica.selector.class", Type: String, Null: true, Importance: Medium, Inert: true,
		Doc: "Class that chooses the replica a consumer reads from.",
	},
	{
		Name: "replica.socket.receive.buffer.bytes", Type: Int, Default: "65536", Importance: High, Inert: true,
		Doc: "Receive buffer of a follower's connection to a leader, in bytes; -1 leaves the system's.",
	},
	{
		Name: "replica.socket.timeout.ms", Type: Int, Default: "30000", Importance: High, Inert: true,
		Doc: "How long a follower waits for a leader's answer, in milliseconds. At least replica.fetch.wait.max.ms.",
	},
	{
		Name: "server.max.startup.time.ms", Type: Long, Default: "9223372036854775807", Rule: atLeast(0), Importance: Medium, Internal: true, Inert: true,
		Doc: "Longest time the process may take to start, in milliseconds. For tests.",
	},
	{
		Name: "unstable.feature.versions.enable", Type: Boolean, Default: "false", Importance: High, Internal: true, Inert: true,
		Doc: "Accept feature levels that are still being developed.",
	},
}

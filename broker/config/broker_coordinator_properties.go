package config

// coordinatorProperties are the broker properties of group, share and transaction coordinators, by name.
var coordinatorProperties = []Property{
	{
		Name: "add.partitions.to.txn.retry.backoff.max.ms", Type: Int, Default: "100", Rule: atLeast(0), Importance: High, Inert: true,
		Doc: "How long the broker keeps trying to add a partition to a transaction, in milliseconds.",
	},
	{
		Name: "add.partitions.to.txn.retry.backoff.ms", Type: Int, Default: "20", Rule: atLeast(1), Importance: High, Inert: true,
		Doc: "First pause before the broker tries again to add a partition to a transaction, in milliseconds.",
	},
	{
		Name: "errors.deadletterqueue.auto.create.topics.enable", Type: Boolean, Default: "false", Importance: Medium, Update: ClusterWide, Inert: true,
		Doc: "Create the dead-letter topic of a share group where it is missing (KIP-1191).",
	},
	{
		Name: "errors.deadletterqueue.topic.name.prefix", Type: String, Default: "dlq.", Importance: Medium, Update: ClusterWide, Inert: true,
		Doc: "What the names of dead-letter topics must start with. Empty allows any.",
	},
	{
		Name: "group.consumer.assignment.interval.ms", Type: Int, Default: "1000", Rule: atLeast(0), Importance: Medium, Update: ClusterWide, Inert: true,
		Doc: "Least time between two assignments of consumer groups, in milliseconds.",
	},
	{
		Name: "group.consumer.assignor.offload.enable", Type: Boolean, Default: "true", Importance: Medium, Update: ClusterWide, Internal: true, Inert: true,
		Doc: "Compute assignments of consumer groups outside the coordinator's own thread.",
	},
	{
		Name: "group.consumer.assignors", Type: List, Default: "uniform,range", Rule: listOf(), Importance: Medium, Inert: true,
		Doc: "Assignors of consumer groups; the first is used where members name none.",
	},
	{
		Name: "group.consumer.heartbeat.interval.ms", Type: Int, Default: "5000", Rule: atLeast(1), Importance: Medium, Inert: true,
		Doc: "Time between heartbeats that members of consumer groups are told to keep, in milliseconds.",
	},
	{
		Name: "group.consumer.max.assignment.interval.ms", Type: Int, Default: "15000", Rule: atLeast(0), Importance: Medium, Inert: true,
		Doc: "Longest assignment interval that a configuration of consumer groups may set, in milliseconds.",
	},
	{
		Name: "group.consumer.max.heartbeat.interval.ms", Type: Int, Default: "15000", Rule: atLeast(1), Importance: Medium, Inert: true,
		Doc: "Longest heartbeat interval that a configuration of consumer groups may set, in milliseconds.",
	},
	{
		Name: "group.consumer.max.session.timeout.ms", Type: Int, Default: "60000", Rule: atLeast(1), Importance: Medium, Inert: true,
		Doc: "Longest session timeout that a configuration of consumer groups may set, in milliseconds.",
	},
	{
		Name: "group.consumer.max.size", Type: Int, Default: "2147483647", Rule: atLeast(1), Importance: Medium, Inert: true,
		Doc: "Most members of one group, for consumer groups.",
	},
	{
		Name: "group.consumer.migration.policy", Type: String, Default: "bidirectional", Rule: oneOfAnyCase("DISABLED", "DOWNGRADE", "UPGRADE", "BIDIRECTIONAL"), Importance: Medium, Inert: true,
		Doc: "Whether a group with members may change between the classic and the consumer protocol, and which way.",
	},
	{
		Name: "group.consumer.min.assignment.interval.ms", Type: Int, Default: "0", Rule: atLeast(0), Importance: Medium, Inert: true,
		Doc: "Shortest assignment interval that a configuration of consumer groups may set, in milliseconds.",
	},
	{
		Name: "group.consumer.min.heartbeat.interval.ms", Type: Int, Default: "5000", Rule: atLeast(1), Importance: Medium, Inert: true,
		Doc: "Shortest heartbeat interval that a configuration of consumer groups may set, in milliseconds.",
	},
	{
		Name: "group.consumer.min.session.timeout.ms", Type: Int, Default: "45000", Rule: atLeast(1), Importance: Medium, Inert: true,
		Doc: "Shortest session timeout that a configuration of consumer groups may set, in milliseconds.",
	},
	{
		Name: "group.consumer.regex.refresh.interval.ms", Type: Int, Default: "600000", Rule: atLeast(10000), Importance: Medium, Internal: true, Inert: true,
		Doc: "How often subscriptions by regular expression are matched against the topics again, in milliseconds.",
	},
	{
		Name: "group.consumer.session.timeout.ms", Type: Int, Default: "45000", Rule: atLeast(1), Importance: Medium, Inert: true,
		Doc: "How long a member of consumer groups may go without a heartbeat before it is removed, in milliseconds.",
	},
	{
		Name: "group.coordinator.append.linger.ms", Type: Int, Default: "-1", Rule: atLeast(-1), Importance: Medium,
		Doc: "How long the coordinator collects writes before it appends them, in milliseconds; -1 adapts to the load.",
	},
	{
		Name: "group.coordinator.background.threads", Type: Int, Default: "2", Rule: atLeast(1), Importance: High, Inert: true,
		Doc: "Threads for the coordinator's slower work.",
	},
	{
		Name: "group.coordinator.cached.buffer.max.bytes", Type: Int, Default: "1048588", Rule: atLeast(524288), Importance: Medium, Update: ClusterWide, Inert: true,
		Doc: "Largest write buffer that the coordinator keeps for reuse, in bytes.",
	},
	{
		Name: "group.coordinator.rebalance.protocols", Type: List, Default: "classic,consumer,streams", Rule: nonEmptyListOf("consumer", "classic", "share", "streams"), Importance: Medium, Inert: true,
		Doc: "Kinds of groups that may be formed. Feature levels decide this from Kafka 5.0 on.",
	},
	{
		Name: "group.coordinator.threads", Type: Int, Default: "4", Rule: atLeast(1), Importance: High, Inert: true,
		Doc: "Shards of the group coordinator that work at once.",
	},
	{
		Name: "group.initial.rebalance.delay.ms", Type: Int, Default: "3000", Importance: Medium,
		Doc: "How long a new classic group waits for more members before its first rebalance, in milliseconds.",
	},
	{
		Name: "group.max.session.timeout.ms", Type: Int, Default: "1800000", Importance: Medium,
		Doc: "Longest session timeout that a member of a classic group may ask for, in milliseconds.",
	},
	{
		Name: "group.max.size", Type: Int, Default: "2147483647", Rule: atLeast(1), Importance: Medium,
		Doc: "Most members of one classic group.",
	},
	{
		Name: "group.min.session.timeout.ms", Type: Int, Default: "6000", Importance: Medium,
		Doc: "Shortest session timeout that a member of a classic group may ask for, in milliseconds.",
	},
	{
		Name: "group.share.assignment.interval.ms", Type: Int, Default: "1000", Rule: atLeast(0), Importance: Medium, Update: ClusterWide, Inert: true,
		Doc: "Least time between two assignments of share groups, in milliseconds.",
	},
	{
		Name: "group.share.assignor.offload.enable", Type: Boolean, Default: "true", Importance: Medium, Update: ClusterWide, Internal: true, Inert: true,
		Doc: "Compute assignments of share groups outside the coordinator's own thread.",
	},
	{
		Name: "group.share.assignors", Type: List, Default: "simple", Rule: listOf(), Importance: Medium, Inert: true,
		Doc: "Assignors of share groups; the first is used.",
	},
	{
		Name: "group.share.delivery.count.limit", Type: Int, Default: "5", Rule: between(2, 10), Importance: Medium, Inert: true,
		Doc: "How often a record is delivered to a share group before it is given up.",
	},
	{
		Name: "group.share.dlq.manager.class.name", Type: String, Default: "org.apache.kafka.server.share.dlq.DefaultShareGroupDLQManager", Importance: Medium, Internal: true, Inert: true,
		Doc: "Class that writes to the dead-letter queues of share groups.",
	},
	{
		Name: "group.share.heartbeat.interval.ms", Type: Int, Default: "5000", Rule: atLeast(1), Importance: Medium, Inert: true,
		Doc: "Time between heartbeats that members of share groups are told to keep, in milliseconds.",
	},
	{
		Name: "group.share.initialize.retry.interval.ms", Type: Int, Default: "30000", Rule: atLeast(1), Internal: true, Inert: true,
		Doc: "Pause before the state of a share partition is initialized again after a failure, in milliseconds.",
	},
	{
		Name: "group.share.max.assignment.interval.ms", Type: Int, Default: "15000", Rule: atLeast(0), Importance: Medium, Inert: true,
		Doc: "Longest assignment interval that a configuration of share groups may set, in milliseconds.",
	},
	{
		Name: "group.share.max.delivery.count.limit", Type: Int, Default: "10", Rule: between(5, 25), Importance: Medium, Inert: true,
		Doc: "Highest delivery limit that a configuration of share groups may set.",
	},
	{
		Name: "group.share.max.heartbeat.interval.ms", Type: Int, Default: "15000", Rule: atLeast(1), Importance: Medium, Inert: true,
		Doc: "Longest heartbeat interval that a configuration of share groups may set, in milliseconds.",
	},
	{
		Name: "group.share.max.partition.max.record.locks", Type: Int, Default: "4000", Rule: between(2000, 10000), Importance: Medium, Inert: true,
		Doc: "Highest limit of reserved records that a configuration of share groups may set.",
	},
	{
		Name: "group.share.max.record.lock.duration.ms", Type: Int, Default: "60000", Rule: between(30000, 3600000), Importance: Medium, Inert: true,
		Doc: "Longest reservation that a configuration of share groups may set, in milliseconds.",
	},
	{
		Name: "group.share.max.session.timeout.ms", Type: Int, Default: "60000", Rule: atLeast(1), Importance: Medium, Inert: true,
		Doc: "Longest session timeout that a configuration of share groups may set, in milliseconds.",
	},
	{
		Name: "group.share.max.share.sessions", Type: Int, Default: "2000", Rule: atLeast(1), Importance: Medium, Inert: true,
		Doc: "Most share sessions that a broker keeps.",
	},
	{
		Name: "group.share.max.size", Type: Int, Default: "200", Rule: between(1, 1000), Importance: Medium, Inert: true,
		Doc: "Most members of one group, for share groups.",
	},
	{
		Name: "group.share.min.assignment.interval.ms", Type: Int, Default: "0", Rule: atLeast(0), Importance: Medium, Inert: true,
		Doc: "Shortest assignment interval that a configuration of share groups may set, in milliseconds.",
	},
	{
		Name: "group.share.min.delivery.count.limit", Type: Int, Default: "2", Rule: between(2, 5), Importance: Medium, Inert: true,
		Doc: "Lowest delivery limit that a configuration of share groups may set.",
	},
	{
		Name: "group.share.min.heartbeat.interval.ms", Type: Int, Default: "5000", Rule: atLeast(1), Importance: Medium, Inert: true,
		Doc: "Shortest heartbeat interval that a configuration of share groups may set, in milliseconds.",
	},
	{
		Name: "group.share.min.partition.max.record.locks", Type: Int, Default: "100", Rule: between(100, 2000), Importance: Medium, Inert: true,
		Doc: "Lowest limit of reserved records that a configuration of share groups may set.",
	},
	{
		Name: "group.share.min.record.lock.duration.ms", Type: Int, Default: "15000", Rule: between(1000, 30000), Importance: Medium, Inert: true,
		Doc: "Shortest reservation that a configuration of share groups may set, in milliseconds.",
	},
	{
		Name: "group.share.min.session.timeout.ms", Type: Int, Default: "45000", Rule: atLeast(1), Importance: Medium, Inert: true,
		Doc: "Shortest session timeout that a configuration of share groups may set, in milliseconds.",
	},
	{
		Name: "group.share.partition.max.record.locks", Type: Int, Default: "2000", Rule: between(100, 10000), Importance: Medium, Inert: true,
		Doc: "Most records reserved at once in one partition of a share group.",
	},
	{
		Name: "group.share.persister.class.name", Type: String, Default: "org.apache.kafka.server.share.persister.DefaultStatePersister", Importance: Medium, Internal: true, Inert: true,
		Doc: "Class that keeps the state of share groups.",
	},
	{
		Name: "group.share.record.lock.duration.ms", Type: Int, Default: "30000", Rule: between(1000, 3600000), Importance: Medium, Inert: true,
		Doc: "How long a record delivered to a share group is reserved for its consumer, in milliseconds.",
	},
	{
		Name: "group.share.session.timeout.ms", Type: Int, Default: "45000", Rule: atLeast(1), Importance: Medium, Inert: true,
		Doc: "How long a member of share groups may go without a heartbeat before it is removed, in milliseconds.",
	},
	{
		Name: "group.streams.acceptable.recovery.lag", Type: Long, Default: "10000", Rule: atLeast(0), Importance: Medium, Internal: true, Inert: true,
		Doc: "Records that a task's state may lag behind and still count as caught up.",
	},
	{
		Name: "group.streams.assignment.interval.ms", Type: Int, Default: "1000", Rule: atLeast(0), Importance: Medium, Update: ClusterWide, Inert: true,
		Doc: "Least time between two assignments of streams groups, in milliseconds.",
	},
	{
		Name: "group.streams.assignor.offload.enable", Type: Boolean, Default: "true", Importance: Medium, Update: ClusterWide, Internal: true, Inert: true,
		Doc: "Compute assignments of streams groups outside the coordinator's own thread.",
	},
	{
		Name: "group.streams.assignors", Type: List, Default: "sticky", Rule: listOf(), Importance: Medium, Inert: true,
		Doc: "Task assignors of streams groups; the first is used where a group names none.",
	},
	{
		Name: "group.streams.heartbeat.interval.ms", Type: Int, Default: "5000", Rule: atLeast(1), Importance: Medium, Inert: true,
		Doc: "Time between heartbeats that members of streams groups are told to keep, in milliseconds.",
	},
	{
		Name: "group.streams.initial.rebalance.delay.ms", Type: Int, Default: "3000", Rule: atLeast(0), Importance: Medium, Inert: true,
		Doc: "How long a new streams group waits for more members before its first assignment, in milliseconds.",
	},
	{
		Name: "group.streams.max.assignment.interval.ms", Type: Int, Default: "15000", Rule: atLeast(0), Importance: Medium, Inert: true,
		Doc: "Longest assignment interval that a configuration of streams groups may set, in milliseconds.",
	},
	{
		Name: "group.streams.max.heartbeat.interval.ms", Type: Int, Default: "15000", Rule: atLeast(1), Importance: Medium, Inert: true,
		Doc: "Longest heartbeat interval that a configuration of streams groups may set, in milliseconds.",
	},
	{
		Name: "group.streams.max.session.timeout.ms", Type: Int, Default: "60000", Rule: atLeast(1), Importance: Medium, Inert: true,
		Doc: "Longest session timeout that a configuration of streams groups may set, in milliseconds.",
	},
	{
		Name: "group.streams.max.size", Type: Int, Default: "2147483647", Rule: atLeast(1), Importance: Medium, Inert: true,
		Doc: "Most members of one group, for streams groups.",
	},
	{
		Name: "group.streams.max.standby.replicas", Type: Int, Default: "2", Rule: atLeast(0), Importance: Medium, Inert: true,
		Doc: "Most standby copies that a configuration of streams groups may set.",
	},
	{
		Name: "group.streams.max.warmup.replicas", Type: Int, Default: "20", Rule: atLeast(0), Importance: Medium, Internal: true, Inert: true,
		Doc: "Most such copies that a configuration of streams groups may set.",
	},
	{
		Name: "group.streams.min.assignment.interval.ms", Type: Int, Default: "0", Rule: atLeast(0), Importance: Medium, Inert: true,
		Doc: "Shortest assignment interval that a configuration of streams groups may set, in milliseconds.",
	},
	{
		Name: "group.streams.min.heartbeat.interval.ms", Type: Int, Default: "5000", Rule: atLeast(1), Importance: Medium, Inert: true,
		Doc: "Shortest heartbeat interval that a configuration of streams groups may set, in milliseconds.",
	},
	{
		Name: "group.streams.min.session.timeout.ms", Type: Int, Default: "45000", Rule: atLeast(1), Importance: Medium, Inert: true,
		Doc: "Shortest session timeout that a configuration of streams groups may set, in milliseconds.",
	},
	{
		Name: "group.streams.min.task.offset.interval.ms", Type: Int, Default: "15000", Rule: atLeast(1), Importance: Medium, Internal: true, Inert: true,
		Doc: "Shortest such interval that a configuration of streams groups may set, in milliseconds.",
	},
	{
		Name: "group.streams.num.standby.replicas", Type: Int, Default: "0", Rule: atLeast(0), Importance: Medium, Inert: true,
		Doc: "Standby copies of each task's state.",
	},
	{
		Name: "group.streams.num.warmup.replicas", Type: Int, Default: "2", Rule: atLeast(0), Importance: Medium, Internal: true, Inert: true,
		Doc: "Copies of state that are built up at once before their tasks move.",
	},
	{
		Name: "group.streams.rack.aware.assignment.tags", Type: List, Rule: listOf(), Inert: true,
		Doc: "Client tags over which standby copies are spread.",
	},
	{
		Name: "group.streams.session.timeout.ms", Type: Int, Default: "45000", Rule: atLeast(1), Importance: Medium, Inert: true,
		Doc: "How long a member of streams groups may go without a heartbeat before it is removed, in milliseconds.",
	},
	{
		Name: "group.streams.task.offset.interval.ms", Type: Int, Default: "60000", Rule: atLeast(1), Importance: Medium, Internal: true, Inert: true,
		Doc: "How often members report how far their tasks' state has come, in milliseconds.",
	},
	{
		Name: "group.streams.topology.description.plugin.class", Type: Class, Null: true, Importance: Medium, Inert: true,
		Doc: "Class that keeps descriptions of topologies.",
	},
	{
		Name: "offset.metadata.max.bytes", Type: Int, Default: "4096", Importance: High,
		Doc: "Most bytes of text that a consumer may attach to a committed offset.",
	},
	{
		Name: "offsets.commit.timeout.ms", Type: Int, Default: "5000", Rule: atLeast(1), Importance: High,
		Doc: "How long a commit of offsets waits for its replicas, in milliseconds.",
	},
	{
		Name: "offsets.load.buffer.size", Type: Int, Default: "5242880", Rule: atLeast(1), Importance: High,
		Doc: "Bytes read at once when a coordinator loads its groups.",
	},
	{
		Name: "offsets.retention.check.interval.ms", Type: Long, Default: "600000", Rule: atLeast(1), Importance: High,
		Doc: "How often groups are checked for offsets to forget, in milliseconds.",
	},
	{
		Name: "offsets.retention.minutes", Type: Int, Default: "10080", Rule: atLeast(1), Importance: High,
		Doc: "How long the offsets of a group without members are kept, in minutes.",
	},
	{
		Name: "offsets.topic.compression.codec", Type: Int, Default: "0", Importance: High,
		Doc: "Codec of the offsets topic: 0 none, 1 gzip, 2 snappy, 3 lz4, 4 zstd.",
	},
	{
		Name: "offsets.topic.num.partitions", Type: Int, Default: "50", Rule: atLeast(1), Importance: High,
		Doc: "Partitions of the offsets topic. It must not change once the topic exists.",
	},
	{
		Name: "offsets.topic.replication.factor", Type: Short, Default: "3", Rule: atLeast(1), Importance: High,
		Doc: "Replicas of the offsets topic.",
	},
	{
		Name: "offsets.topic.segment.bytes", Type: Int, Default: "104857600", Rule: atLeast(1), Importance: High,
		Doc: "Segment size of the offsets topic, in bytes. Small segments load faster.",
	},
	{
		Name: "share.coordinator.append.linger.ms", Type: Int, Default: "-1", Rule: atLeast(-1), Importance: Medium, Inert: true,
		Doc: "How long the share coordinator collects writes before it appends them, in milliseconds; -1 adapts to the load.",
	},
	{
		Name: "share.coordinator.cached.buffer.max.bytes", Type: Int, Default: "1048588", Rule: atLeast(524288), Importance: Medium, Update: ClusterWide, Inert: true,
		Doc: "Largest write buffer that the share coordinator keeps for reuse, in bytes.",
	},
	{
		Name: "share.coordinator.cold.partition.snapshot.interval.ms", Type: Int, Default: "300000", Rule: atLeast(1), Internal: true, Inert: true,
		Doc: "How often the state of idle share partitions is written whole, in milliseconds.",
	},
	{
		Name: "share.coordinator.load.buffer.size", Type: Int, Default: "5242880", Rule: atLeast(1), Importance: High, Inert: true,
		Doc: "Bytes read at once when a share coordinator loads its state.",
	},
	{
		Name: "share.coordinator.snapshot.update.records.per.snapshot", Type: Int, Default: "500", Rule: between(0, 500), Importance: Medium, Inert: true,
		Doc: "Changes of a share partition's state between two times it is written whole.",
	},
	{
		Name: "share.coordinator.state.topic.compression.codec", Type: Int, Default: "0", Importance: High, Inert: true,
		Doc: "Codec of the share state topic, as a number.",
	},
	{
		Name: "share.coordinator.state.topic.min.isr", Type: Short, Default: "2", Rule: atLeast(1), Importance: High, Inert: true,
		Doc: "min.insync.replicas of the share state topic.",
	},
	{
		Name: "share.coordinator.state.topic.num.partitions", Type: Int, Default: "50", Rule: atLeast(1), Importance: High, Inert: true,
		Doc: "Partitions of the share state topic. It must not change once the topic exists.",
	},
	{
		Name: "share.coordinator.state.topic.prune.interval.ms", Type: Int, Default: "300000", Rule: atLeast(1), Internal: true, Inert: true,
		Doc: "How often old records of the share state topic are deleted, in milliseconds.",
	},
	{
		Name: "share.coordinator.state.topic.replication.factor", Type: Short, Default: "3", Rule: atLeast(1), Importance: High, Inert: true,
		Doc: "Replicas of the share state topic.",
	},
	{
		Name: "share.coordinator.state.topic.segment.bytes", Type: Int, Default: "104857600", Rule: atLeast(1), Importance: High, Inert: true,
		Doc: "Segment size of the share state topic, in bytes.",
	},
	{
		Name: "share.coordinator.threads", Type: Int, Default: "1", Rule: atLeast(1), Importance: Medium, Inert: true,
		Doc: "Shards of the share coordinator that work at once.",
	},
	{
		Name: "share.coordinator.write.timeout.ms", Type: Int, Default: "5000", Rule: atLeast(1), Importance: High, Inert: true,
		Doc: "How long a write of share state waits for its replicas, in milliseconds.",
	},
	{
		Name: "share.fetch.purgatory.purge.interval.requests", Type: Int, Default: "1000", Importance: Medium, Inert: true,
		Doc: "Completed share fetches after which the list of waiting ones is tidied.",
	},
	{
		Name: "transaction.abort.timed.out.transaction.cleanup.interval.ms", Type: Int, Default: "10000", Rule: atLeast(1), Inert: true,
		Doc: "How often transactions past their timeout are looked for and aborted, in milliseconds.",
	},
	{
		Name: "transaction.max.timeout.ms", Type: Int, Default: "900000", Rule: atLeast(1), Importance: High, Inert: true,
		Doc: "Longest timeout that a transaction may ask for, in milliseconds.",
	},
	{
		Name: "transaction.partition.verification.enable", Type: Boolean, Default: "true", Update: ClusterWide, Inert: true,
		Doc: "Check with the coordinator that a transaction is open before its first record enters a partition.",
	},
	{
		Name: "transaction.remove.expired.transaction.cleanup.interval.ms", Type: Int, Default: "3600000", Rule: atLeast(1), Inert: true,
		Doc: "How often transactional ids to forget are looked for, in milliseconds.",
	},
	{
		Name: "transaction.state.log.load.buffer.size", Type: Int, Default: "5242880", Rule: atLeast(1), Importance: High, Inert: true,
		Doc: "Bytes read at once when a transaction coordinator loads its state.",
	},
	{
		Name: "transaction.state.log.min.isr", Type: Int, Default: "2", Rule: atLeast(1), Importance: High, Inert: true,
		Doc: "min.insync.replicas of the transaction topic.",
	},
	{
		Name: "transaction.state.log.num.partitions", Type: Int, Default: "50", Rule: atLeast(1), Importance: High, Inert: true,
		Doc: "Partitions of the transaction topic. It must not change once the topic exists.",
	},
	{
		Name: "transaction.state.log.replication.factor", Type: Short, Default: "3", Rule: atLeast(1), Importance: High, Inert: true,
		Doc: "Replicas of the transaction topic.",
	},
	{
		Name: "transaction.state.log.segment.bytes", Type: Int, Default: "104857600", Rule: atLeast(1), Importance: High, Inert: true,
		Doc: "Segment size of the transaction topic, in bytes. Small segments load faster.",
	},
	{
		Name: "transaction.two.phase.commit.enable", Type: Boolean, Default: "false", Inert: true,
		Doc: "Allow transactions without a timeout, for two-phase commit with another system (KIP-939).",
	},
	{
		Name: "transactional.id.expiration.ms", Type: Int, Default: "604800000", Rule: atLeast(1), Importance: High, Inert: true,
		Doc: "How long an unused transactional id is remembered, in milliseconds.",
	},
}

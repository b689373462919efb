package config

// coordinatorProperties are the broker properties of group, share and transaction coordinators, by name.
var coordinatorProperties = []Property{
	{
		Name: "add.partitions.to.txn.retry.backoff.max.ms", Type: Int, Default: "100", Rule: atLeast(0), Importance: High, Inert: true,
		Doc: "",
	},
	{
		Name: "add.partitions.to.txn.retry.backoff.ms", Type: Int, Default: "20", Rule: atLeast(1), Importance: High, Inert: true,
		Doc: "",
	},
	{
		Name: "errors.deadletterqueue.auto.create.topics.enable", Type: Boolean, Default: "false", Importance: Medium, Update: ClusterWide, Inert: true,
		Doc: "",
	},
	{
		Name: "errors.deadletterqueue.topic.name.prefix", Type: String, Default: "dlq.", Importance: Medium, Update: ClusterWide, Inert: true,
		Doc: "",
	},
	{
		Name: "group.consumer.assignment.interval.ms", Type: Int, Default: "1000", Rule: atLeast(0), Importance: Medium, Update: ClusterWide, Inert: true,
		Doc: "",
	},
	{
		Name: "group.consumer.assignor.offload.enable", Type: Boolean, Default: "true", Importance: Medium, Update: ClusterWide, Internal: true, Inert: true,
		Doc: "",
	},
	{
		Name: "group.consumer.assignors", Type: List, Default: "uniform,range", Rule: listOf(), Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "group.consumer.heartbeat.interval.ms", Type: Int, Default: "5000", Rule: atLeast(1), Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "group.consumer.max.assignment.interval.ms", Type: Int, Default: "15000", Rule: atLeast(0), Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "group.consumer.max.heartbeat.interval.ms", Type: Int, Default: "15000", Rule: atLeast(1), Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "group.consumer.max.session.timeout.ms", Type: Int, Default: "60000", Rule: atLeast(1), Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "group.consumer.max.size", Type: Int, Default: "2147483647", Rule: atLeast(1), Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "group.consumer.migration.policy", Type: String, Default: "bidirectional", Rule: oneOfAnyCase("DISABLED", "DOWNGRADE", "UPGRADE", "BIDIRECTIONAL"), Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "group.consumer.min.assignment.interval.ms", Type: Int, Default: "0", Rule: atLeast(0), Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "group.consumer.min.heartbeat.interval.ms", Type: Int, Default: "5000", Rule: atLeast(1), Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "group.consumer.min.session.timeout.ms", Type: Int, Default: "45000", Rule: atLeast(1), Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "group.consumer.regex.refresh.interval.ms", Type: Int, Default: "600000", Rule: atLeast(10000), Importance: Medium, Internal: true, Inert: true,
		Doc: "",
	},
	{
		Name: "group.consumer.session.timeout.ms", Type: Int, Default: "45000", Rule: atLeast(1), Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "group.coordinator.append.linger.ms", Type: Int, Default: "-1", Rule: atLeast(-1), Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "group.coordinator.background.threads", Type: Int, Default: "2", Rule: atLeast(1), Importance: High, Inert: true,
		Doc: "",
	},
	{
		Name: "group.coordinator.cached.buffer.max.bytes", Type: Int, Default: "1048588", Rule: atLeast(524288), Importance: Medium, Update: ClusterWide, Inert: true,
		Doc: "",
	},
	{
		Name: "group.coordinator.rebalance.protocols", Type: List, Default: "classic,consumer,streams", Rule: nonEmptyListOf("classic", "consumer", "share", "streams"), Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "group.coordinator.threads", Type: Int, Default: "4", Rule: atLeast(1), Importance: High, Inert: true,
		Doc: "",
	},
	{
		Name: "group.initial.rebalance.delay.ms", Type: Int, Default: "3000", Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "group.max.session.timeout.ms", Type: Int, Default: "1800000", Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "group.max.size", Type: Int, Default: "2147483647", Rule: atLeast(1), Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "group.min.session.timeout.ms", Type: Int, Default: "6000", Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "group.share.assignment.interval.ms", Type: Int, Default: "1000", Rule: atLeast(0), Importance: Medium, Update: ClusterWide, Inert: true,
		Doc: "",
	},
	{
		Name: "group.share.assignor.offload.enable", Type: Boolean, Default: "true", Importance: Medium, Update: ClusterWide, Internal: true, Inert: true,
		Doc: "",
	},
	{
		Name: "group.share.assignors", Type: List, Default: "simple", Rule: listOf(), Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "group.share.delivery.count.limit", Type: Int, Default: "5", Rule: between(2, 10), Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "group.share.dlq.manager.class.name", Type: String, Default: "org.apache.kafka.server.share.dlq.DefaultShareGroupDLQManager", Importance: Medium, Internal: true, Inert: true,
		Doc: "",
	},
	{
		Name: "group.share.heartbeat.interval.ms", Type: Int, Default: "5000", Rule: atLeast(1), Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "group.share.initialize.retry.interval.ms", Type: Int, Default: "30000", Rule: atLeast(1), Internal: true, Inert: true,
		Doc: "",
	},
	{
		Name: "group.share.max.assignment.interval.ms", Type: Int, Default: "15000", Rule: atLeast(0), Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "group.share.max.delivery.count.limit", Type: Int, Default: "10", Rule: between(5, 25), Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "group.share.max.heartbeat.interval.ms", Type: Int, Default: "15000", Rule: atLeast(1), Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "group.share.max.partition.max.record.locks", Type: Int, Default: "4000", Rule: between(2000, 10000), Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "group.share.max.record.lock.duration.ms", Type: Int, Default: "60000", Rule: between(30000, 3600000), Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "group.share.max.session.timeout.ms", Type: Int, Default: "60000", Rule: atLeast(1), Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "group.share.max.share.sessions", Type: Int, Default: "2000", Rule: atLeast(1), Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "group.share.max.size", Type: Int, Default: "200", Rule: between(1, 1000), Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "group.share.min.assignment.interval.ms", Type: Int, Default: "0", Rule: atLeast(0), Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "group.share.min.delivery.count.limit", Type: Int, Default: "2", Rule: between(2, 5), Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "group.share.min.heartbeat.interval.ms", Type: Int, Default: "5000", Rule: atLeast(1), Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "group.share.min.partition.max.record.locks", Type: Int, Default: "100", Rule: between(100, 2000), Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "group.share.min.record.lock.duration.ms", Type: Int, Default: "15000", Rule: between(1000, 30000), Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "group.share.min.session.timeout.ms", Type: Int, Default: "45000", Rule: atLeast(1), Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "group.share.partition.max.record.locks", Type: Int, Default: "2000", Rule: between(100, 10000), Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "group.share.persister.class.name", Type: String, Default: "org.apache.kafka.server.share.persister.DefaultStatePersister", Importance: Medium, Internal: true, Inert: true,
		Doc: "",
	},
	{
		Name: "group.share.record.lock.duration.ms", Type: Int, Default: "30000", Rule: between(1000, 3600000), Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "group.share.session.timeout.ms", Type: Int, Default: "45000", Rule: atLeast(1), Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "group.streams.acceptable.recovery.lag", Type: Long, Default: "10000", Rule: atLeast(0), Importance: Medium, Internal: true, Inert: true,
		Doc: "",
	},
	{
		Name: "group.streams.assignment.interval.ms", Type: Int, Default: "1000", Rule: atLeast(0), Importance: Medium, Update: ClusterWide, Inert: true,
		Doc: "",
	},
	{
		Name: "group.streams.assignor.offload.enable", Type: Boolean, Default: "true", Importance: Medium, Update: ClusterWide, Internal: true, Inert: true,
		Doc: "",
	},
	{
		Name: "group.streams.assignors", Type: List, Default: "sticky", Rule: listOf(), Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "group.streams.heartbeat.interval.ms", Type: Int, Default: "5000", Rule: atLeast(1), Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "group.streams.initial.rebalance.delay.ms", Type: Int, Default: "3000", Rule: atLeast(0), Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "group.streams.max.assignment.interval.ms", Type: Int, Default: "15000", Rule: atLeast(0), Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "group.streams.max.heartbeat.interval.ms", Type: Int, Default: "15000", Rule: atLeast(1), Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "group.streams.max.session.timeout.ms", Type: Int, Default: "60000", Rule: atLeast(1), Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "group.streams.max.size", Type: Int, Default: "2147483647", Rule: atLeast(1), Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "group.streams.max.standby.replicas", Type: Int, Default: "2", Rule: atLeast(0), Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "group.streams.max.warmup.replicas", Type: Int, Default: "20", Rule: atLeast(0), Importance: Medium, Internal: true, Inert: true,
		Doc: "",
	},
	{
		Name: "group.streams.min.assignment.interval.ms", Type: Int, Default: "0", Rule: atLeast(0), Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "group.streams.min.heartbeat.interval.ms", Type: Int, Default: "5000", Rule: atLeast(1), Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "group.streams.min.session.timeout.ms", Type: Int, Default: "45000", Rule: atLeast(1), Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "group.streams.min.task.offset.interval.ms", Type: Int, Default: "15000", Rule: atLeast(1), Importance: Medium, Internal: true, Inert: true,
		Doc: "",
	},
	{
		Name: "group.streams.num.standby.replicas", Type: Int, Default: "0", Rule: atLeast(0), Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "group.streams.num.warmup.replicas", Type: Int, Default: "2", Rule: atLeast(0), Importance: Medium, Internal: true, Inert: true,
		Doc: "",
	},
	{
		Name: "group.streams.rack.aware.assignment.tags", Type: List, Rule: listOf(), Inert: true,
		Doc: "",
	},
	{
		Name: "group.streams.session.timeout.ms", Type: Int, Default: "45000", Rule: atLeast(1), Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "group.streams.task.offset.interval.ms", Type: Int, Default: "60000", Rule: atLeast(1), Importance: Medium, Internal: true, Inert: true,
		Doc: "",
	},
	{
		Name: "group.streams.topology.description.plugin.class", Type: Class, Null: true, Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "offset.metadata.max.bytes", Type: Int, Default: "4096", Importance: High, Inert: true,
		Doc: "",
	},
	{
		Name: "offsets.commit.timeout.ms", Type: Int, Default: "5000", Rule: atLeast(1), Importance: High, Inert: true,
		Doc: "",
	},
	{
		Name: "offsets.load.buffer.size", Type: Int, Default: "5242880", Rule: atLeast(1), Importance: High, Inert: true,
		Doc: "",
	},
	{
		Name: "offsets.retention.check.interval.ms", Type: Long, Default: "600000", Rule: atLeast(1), Importance: High, Inert: true,
		Doc: "",
	},
	{
		Name: "offsets.retention.minutes", Type: Int, Default: "10080", Rule: atLeast(1), Importance: High, Inert: true,
		Doc: "",
	},
	{
		Name: "offsets.topic.compression.codec", Type: Int, Default: "0", Importance: High, Inert: true,
		Doc: "",
	},
	{
		Name: "offsets.topic.num.partitions", Type: Int, Default: "50", Rule: atLeast(1), Importance: High, Inert: true,
		Doc: "",
	},
	{
		Name: "offsets.topic.replication.factor", Type: Short, Default: "3", Rule: atLeast(1), Importance: High, Inert: true,
		Doc: "",
	},
	{
		Name: "offsets.topic.segment.bytes", Type: Int, Default: "104857600", Rule: atLeast(1), Importance: High, Inert: true,
		Doc: "",
	},
	{
		Name: "share.coordinator.append.linger.ms", Type: Int, Default: "-1", Rule: atLeast(-1), Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "share.coordinator.cached.buffer.max.bytes", Type: Int, Default: "1048588", Rule: atLeast(524288), Importance: Medium, Update: ClusterWide, Inert: true,
		Doc: "",
	},
	{
		Name: "share.coordinator.cold.partition.snapshot.interval.ms", Type: Int, Default: "300000", Rule: atLeast(1), Internal: true, Inert: true,
		Doc: "",
	},
	{
		Name: "share.coordinator.load.buffer.size", Type: Int, Default: "5242880", Rule: atLeast(1), Importance: High, Inert: true,
		Doc: "",
	},
	{
		Name: "share.coordinator.snapshot.update.records.per.snapshot", Type: Int, Default: "500", Rule: between(0, 500), Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "share.coordinator.state.topic.compression.codec", Type: Int, Default: "0", Importance: High, Inert: true,
		Doc: "",
	},
	{
		Name: "share.coordinator.state.topic.min.isr", Type: Short, Default: "2", Rule: atLeast(1), Importance: High, Inert: true,
		Doc: "",
	},
	{
		Name: "share.coordinator.state.topic.num.partitions", Type: Int, Default: "50", Rule: atLeast(1), Importance: High, Inert: true,
		Doc: "",
	},
	{
		Name: "share.coordinator.state.topic.prune.interval.ms", Type: Int, Default: "300000", Rule: atLeast(1), Internal: true, Inert: true,
		Doc: "",
	},
	{
		Name: "share.coordinator.state.topic.replication.factor", Type: Short, Default: "3", Rule: atLeast(1), Importance: High, Inert: true,
		Doc: "",
	},
	{
		Name: "share.coordinator.state.topic.segment.bytes", Type: Int, Default: "104857600", Rule: atLeast(1), Importance: High, Inert: true,
		Doc: "",
	},
	{
		Name: "share.coordinator.threads", Type: Int, Default: "1", Rule: atLeast(1), Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "share.coordinator.write.timeout.ms", Type: Int, Default: "5000", Rule: atLeast(1), Importance: High, Inert: true,
		Doc: "",
	},
	{
		Name: "share.fetch.purgatory.purge.interval.requests", Type: Int, Default: "1000", Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "transaction.abort.timed.out.transaction.cleanup.interval.ms", Type: Int, Default: "10000", Rule: atLeast(1), Inert: true,
		Doc: "",
	},
	{
		Name: "transaction.max.timeout.ms", Type: Int, Default: "900000", Rule: atLeast(1), Importance: High, Inert: true,
		Doc: "",
	},
	{
		Name: "transaction.partition.verification.enable", Type: Boolean, Default: "true", Update: ClusterWide, Inert: true,
		Doc: "",
	},
	{
		Name: "transaction.remove.expired.transaction.cleanup.interval.ms", Type: Int, Default: "3600000", Rule: atLeast(1), Inert: true,
		Doc: "",
	},
	{
		Name: "transaction.state.log.load.buffer.size", Type: Int, Default: "5242880", Rule: atLeast(1), Importance: High, Inert: true,
		Doc: "",
	},
	{
		Name: "transaction.state.log.min.isr", Type: Int, Default: "2", Rule: atLeast(1), Importance: High, Inert: true,
		Doc: "",
	},
	{
		Name: "transaction.state.log.num.partitions", Type: Int, Default: "50", Rule: atLeast(1), Importance: High, Inert: true,
		Doc: "",
	},
	{
		Name: "transaction.state.log.replication.factor", Type: Short, Default: "3", Rule: atLeast(1), Importance: High, Inert: true,
		Doc: "",
	},
	{
		Name: "transaction.state.log.segment.bytes", Type: Int, Default: "104857600", Rule: atLeast(1), Importance: High, Inert: true,
		Doc: "",
	},
	{
		Name: "transaction.two.phase.commit.enable", Type: Boolean, Default: "false", Inert: true,
		Doc: "",
	},
	{
		Name: "transactional.id.expiration.ms", Type: Int, Default: "604800000", Rule: atLeast(1), Importance: High, Inert: true,
		Doc: "",
	},
}

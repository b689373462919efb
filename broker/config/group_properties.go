package config

// GroupProperties are the properties of a group, by name.
var GroupProperties = []Property{
	{
		Name: "consumer.assignment.interval.ms", Type: Int, Default: "1000", Rule: atLeast(0), Importance: Medium, Synonym: "group.consumer.assignment.interval.ms", Inert: true,
		Doc: "Least time between two assignments of this consumer group, in milliseconds.",
	},
	{
		Name: "consumer.assignor.offload.enable", Type: Boolean, Default: "true", Importance: Medium, Internal: true, Synonym: "group.consumer.assignor.offload.enable", Inert: true,
		Doc: "Compute assignments of this consumer group outside the coordinator's own thread.",
	},
	{
		Name: "consumer.heartbeat.interval.ms", Type: Int, Default: "5000", Rule: atLeast(1), Importance: Medium, Synonym: "group.consumer.heartbeat.interval.ms", Inert: true,
		Doc: "Time between heartbeats that members of this consumer group are told to keep, in milliseconds.",
	},
	{
		Name: "consumer.session.timeout.ms", Type: Int, Default: "45000", Rule: atLeast(1), Importance: Medium, Synonym: "group.consumer.session.timeout.ms", Inert: true,
		Doc: "How long a member of this consumer group may go without a heartbeat before it is removed, in milliseconds.",
	},
	{
		Name: "errors.deadletterqueue.copy.record.enable", Type: Boolean, Default: "false", Importance: Medium, Inert: true,
		Doc: "Copy undeliverable records whole to the dead-letter topic rather than only naming them.",
	},
	{
		Name: "errors.deadletterqueue.topic.name", Type: String, Importance: Medium, Inert: true,
		Doc: "Topic to which this share group's undeliverable records go; empty drops them.",
	},
	{
		Name: "share.assignment.interval.ms", Type: Int, Default: "1000", Rule: atLeast(0), Importance: Medium, Synonym: "group.share.assignment.interval.ms", Inert: true,
		Doc: "Least time between two assignments of this share group, in milliseconds.",
	},
	{
		Name: "share.assignor.offload.enable", Type: Boolean, Default: "true", Importance: Medium, Internal: true, Synonym: "group.share.assignor.offload.enable", Inert: true,
		Doc: "Compute assignments of this share group outside the coordinator's own thread.",
	},
	{
		Name: "share.auto.offset.reset", Type: String, Default: "latest", Rule: offsetReset(), Importance: Medium, Inert: true,
		Doc: "Where this share group starts in a partition it has not read: earliest, latest, or a duration back from now.",
	},
	{
		Name: "share.delivery.count.limit", Type: Int, Default: "5", Rule: atLeast(2), Importance: Medium, Synonym: "group.share.delivery.count.limit", Inert: true,
		Doc: "How often a record is delivered to this share group before it is given up.",
	},
	{
		Name: "share.heartbeat.interval.ms", Type: Int, Default: "5000", Rule: atLeast(1), Importance: Medium, Synonym: "group.share.heartbeat.interval.ms", Inert: true,
		Doc: "Time between heartbeats that members of this share group are told to keep, in milliseconds.",
	},
	{
		Name: "share.isolation.level", Type: String, Default: "read_uncommitted", Rule: oneOf("read_committed", "read_uncommitted"), Importance: Medium, Inert: true,
		Doc: "Whether this share group is given records of open and aborted transactions (read_uncommitted) or not (read_committed).",
	},
	{
		Name: "share.partition.max.record.locks", Type: Int, Default: "2000", Rule: atLeast(100), Importance: Medium, Synonym: "group.share.partition.max.record.locks", Inert: true,
		Doc: "Most records reserved at once in one partition for this share group.",
	},
	{
		Name: "share.record.lock.duration.ms", Type: Int, Default: "30000", Rule: atLeast(1000), Importance: Medium, Synonym: "group.share.record.lock.duration.ms", Inert: true,
		Doc: "How long a record delivered to this share group is reserved for its consumer, in milliseconds.",
	},
	{
		Name: "share.renew.acknowledge.enable", Type: Boolean, Default: "true", Importance: Medium, Inert: true,
		Doc: "Whether consumers of this share group may prolong their reservation of a record (KIP-1222).",
	},
	{
		Name: "share.session.timeout.ms", Type: Int, Default: "45000", Rule: atLeast(1), Importance: Medium, Synonym: "group.share.session.timeout.ms", Inert: true,
		Doc: "How long a member of this share group may go without a heartbeat before it is removed, in milliseconds.",
	},
	{
		Name: "streams.acceptable.recovery.lag", Type: Long, Default: "10000", Rule: atLeast(0), Importance: Medium, Internal: true, Synonym: "group.streams.acceptable.recovery.lag", Inert: true,
		Doc: "Records that a task's state may lag behind in this streams group and still count as caught up.",
	},
	{
		Name: "streams.assignment.interval.ms", Type: Int, Default: "1000", Rule: atLeast(0), Importance: Medium, Synonym: "group.streams.assignment.interval.ms", Inert: true,
		Doc: "Least time between two assignments of this streams group, in milliseconds.",
	},
	{
		Name: "streams.assignor.name", Type: String, Null: true, Importance: Medium, Synonym: "group.streams.assignors", Inert: true,
		Doc: "Task assignor of this streams group.",
	},
	{
		Name: "streams.assignor.offload.enable", Type: Boolean, Default: "true", Importance: Medium, Internal: true, Synonym: "group.streams.assignor.offload.enable", Inert: true,
		Doc: "Compute assignments of this streams group outside the coordinator's own thread.",
	},
	{
		Name: "streams.heartbeat.interval.ms", Type: Int, Default: "5000", Rule: atLeast(1), Importance: Medium, Synonym: "group.streams.heartbeat.interval.ms", Inert: true,
		Doc: "Time between heartbeats that members of this streams group are told to keep, in milliseconds.",
	},
	{
		Name: "streams.initial.rebalance.delay.ms", Type: Int, Default: "3000", Rule: atLeast(0), Importance: Medium, Synonym: "group.streams.initial.rebalance.delay.ms", Inert: true,
		Doc: "How long this streams group waits for more members before its first assignment, in milliseconds.",
	},
	{
		Name: "streams.num.standby.replicas", Type: Int, Default: "0", Rule: atLeast(0), Importance: Medium, Synonym: "group.streams.num.standby.replicas", Inert: true,
		Doc: "Standby copies of each task's state in this streams group.",
	},
	{
		Name: "streams.num.warmup.replicas", Type: Int, Default: "2", Rule: atLeast(0), Importance: Medium, Internal: true, Synonym: "group.streams.num.warmup.replicas", Inert: true,
		Doc: "Copies of state that this streams group builds up at once before their tasks move.",
	},
	{
		Name: "streams.rack.aware.assignment.tags", Type: List, Rule: listOf(), Synonym: "group.streams.rack.aware.assignment.tags", Inert: true,
		Doc: "Client tags over which this streams group spreads standby copies.",
	},
	{
		Name: "streams.session.timeout.ms", Type: Int, Default: "45000", Rule: atLeast(1), Importance: Medium, Synonym: "group.streams.session.timeout.ms", Inert: true,
		Doc: "How long a member of this streams group may go without a heartbeat before it is removed, in milliseconds.",
	},
	{
		Name: "streams.task.offset.interval.ms", Type: Int, Default: "60000", Rule: atLeast(1), Importance: Medium, Internal: true, Synonym: "group.streams.task.offset.interval.ms", Inert: true,
		Doc: "How often members of this streams group report how far their tasks' state has come, in milliseconds.",
	},
}

package config

// GroupProperties are the properties of a group, by name.
var GroupProperties = []Property{
	{
		Name: "consumer.assignment.interval.ms", Type: Int, Default: "1000", Rule: atLeast(0), Importance: Medium, Synonym: "group.consumer.assignment.interval.ms", Inert: true,
		Doc: "",
	},
	{
		Name: "consumer.assignor.offload.enable", Type: Boolean, Default: "true", Importance: Medium, Internal: true, Synonym: "group.consumer.assignor.offload.enable", Inert: true,
		Doc: "",
	},
	{
		Name: "consumer.heartbeat.interval.ms", Type: Int, Default: "5000", Rule: atLeast(1), Importance: Medium, Synonym: "group.consumer.heartbeat.interval.ms", Inert: true,
		Doc: "",
	},
	{
		Name: "consumer.session.timeout.ms", Type: Int, Default: "45000", Rule: atLeast(1), Importance: Medium, Synonym: "group.consumer.session.timeout.ms", Inert: true,
		Doc: "",
	},
	{
		Name: "errors.deadletterqueue.copy.record.enable", Type: Boolean, Default: "false", Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "errors.deadletterqueue.topic.name", Type: String, Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "share.assignment.interval.ms", Type: Int, Default: "1000", Rule: atLeast(0), Importance: Medium, Synonym: "group.share.assignment.interval.ms", Inert: true,
		Doc: "",
	},
	{
		Name: "share.assignor.offload.enable", Type: Boolean, Default: "true", Importance: Medium, Internal: true, Synonym: "group.share.assignor.offload.enable", Inert: true,
		Doc: "",
	},
	{
		Name: "share.auto.offset.reset", Type: String, Default: "latest", Rule: offsetReset(), Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "share.delivery.count.limit", Type: Int, Default: "5", Rule: atLeast(2), Importance: Medium, Synonym: "group.share.delivery.count.limit", Inert: true,
		Doc: "",
	},
	{
		Name: "share.heartbeat.interval.ms", Type: Int, Default: "5000", Rule: atLeast(1), Importance: Medium, Synonym: "group.share.heartbeat.interval.ms", Inert: true,
		Doc: "",
	},
	{
		Name: "share.isolation.level", Type: String, Default: "read_uncommitted", Rule: oneOf("read_committed", "read_uncommitted"), Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "share.partition.max.record.locks", Type: Int, Default: "2000", Rule: atLeast(100), Importance: Medium, Synonym: "group.share.partition.max.record.locks", Inert: true,
		Doc: "",
	},
	{
		Name: "share.record.lock.duration.ms", Type: Int, Default: "30000", Rule: atLeast(1000), Importance: Medium, Synonym: "group.share.record.lock.duration.ms", Inert: true,
		Doc: "",
	},
	{
		Name: "share.renew.acknowledge.enable", Type: Boolean, Default: "true", Importance: Medium, Inert: true,
		Doc: "",
	},
	{
		Name: "share.session.timeout.ms", Type: Int, Default: "45000", Rule: atLeast(1), Importance: Medium, Synonym: "group.share.session.timeout.ms", Inert: true,
		Doc: "",
	},
	{
		Name: "streams.acceptable.recovery.lag", Type: Long, Default: "10000", Rule: atLeast(0), Importance: Medium, Internal: true, Synonym: "group.streams.acceptable.recovery.lag", Inert: true,
		Doc: "",
	},
	{
		Name: "streams.assignment.interval.ms", Type: Int, Default: "1000", Rule: atLeast(0), Importance: Medium, Synonym: "group.streams.assignment.interval.ms", Inert: true,
		Doc: "",
	},
	{
		Name: "streams.assignor.name", Type: String, Null: true, Importance: Medium, Synonym: "group.streams.assignors", Inert: true,
		Doc: "",
	},
	{
		Name: "streams.assignor.offload.enable", Type: Boolean, Default: "true", Importance: Medium, Internal: true, Synonym: "group.streams.assignor.offload.enable", Inert: true,
		Doc: "",
	},
	{
		Name: "streams.heartbeat.interval.ms", Type: Int, Default: "5000", Rule: atLeast(1), Importance: Medium, Synonym: "group.streams.heartbeat.interval.ms", Inert: true,
		Doc: "",
	},
	{
		Name: "streams.initial.rebalance.delay.ms", Type: Int, Default: "3000", Rule: atLeast(0), Importance: Medium, Synonym: "group.streams.initial.rebalance.delay.ms", Inert: true,
		Doc: "",
	},
	{
		Name: "streams.num.standby.replicas", Type: Int, Default: "0", Rule: atLeast(0), Importance: Medium, Synonym: "group.streams.num.standby.replicas", Inert: true,
		Doc: "",
	},
	{
		Name: "streams.num.warmup.replicas", Type: Int, Default: "2", Rule: atLeast(0), Importance: Medium, Internal: true, Synonym: "group.streams.num.warmup.replicas", Inert: true,
		Doc: "",
	},
	{
		Name: "streams.rack.aware.assignment.tags", Type: List, Rule: listOf(), Synonym: "group.streams.rack.aware.assignment.tags", Inert: true,
		Doc: "",
	},
	{
		Name: "streams.session.timeout.ms", Type: Int, Default: "45000", Rule: atLeast(1), Importance: Medium, Synonym: "group.streams.session.timeout.ms", Inert: true,
		Doc: "",
	},
	{
		Name: "streams.task.offset.interval.ms", Type: Int, Default: "60000", Rule: atLeast(1), Importance: Medium, Internal: true, Synonym: "group.streams.task.offset.interval.ms", Inert: true,
		Doc: "",
	},
}

package config

// weirProperties are the broker properties that Kafka does not have.
var weirProperties = []Property{
	{
		Name: "weir.admin.address", Type: String, Default: "127.0.0.1:9644", Importance: Medium,
		Doc: "",
	},
	{
		Name: "weir.flush.on.acks", Type: String, Default: "none", Rule: oneOf("none", "all"), Importance: Medium, Update: ClusterWide,
		Doc: "",
	},
	{
		Name: "weir.produce.validation", Type: String, Default: "full", Rule: oneOf("full", "header"), Importance: Medium, Update: ClusterWide,
		Doc: "",
	},
}

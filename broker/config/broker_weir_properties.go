package config

// weirProperties are the broker properties that Kafka does not have.
var weirProperties = []Property{
	{
		Name: "weir.admin.address", Type: String, Default: "127.0.0.1:9644", Importance: Medium,
		Doc: "host:port of the HTTP endpoint with metrics and health. Empty serves none.",
	},
	{
		Name: "weir.flush.on.acks", Type: String, Default: "none", Rule: oneOf("none", "all"), Importance: Medium, Update: ClusterWide,
		Doc: "When a produce request with acks=all is answered: none answers once the in-sync replicas have the records, all only once they are on disk (one fdatasync shared by all who wait), so that a power cut loses nothing acknowledged.",
	},
	{
		Name: "weir.produce.validation", Type: String, Default: "full", Rule: oneOf("full", "header"), Importance: Medium, Update: ClusterWide,
		Doc: "How produced batches are checked: full reads every record, decompressing where needed, as Kafka does; header checks the batch header and checksum only, for producers that are trusted.",
	},
}

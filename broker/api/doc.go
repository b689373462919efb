// Package api answers Kafka requests: it decodes a frame, asks the packages that own the state, and
// encodes the answer in the request's version.
//
// It owns the table of APIs and versions (versions.go), the request header, the map from internal
// errors to Kafka's codes (errors.go), one file per API, and the fetch sessions of KIP-227. It owns
// no other state: partitions belong to partition, decisions to controller, the cluster's metadata
// arrives as an Image (Handler.Publish), connections and buffers belong to network, which calls
// Handler.Serve. node builds the Handler.
//
//	network ─▶ Serve ─▶ header ─▶ table ─▶ decode ─▶ partition / controller / Image ─▶ encode ─▶ Done
//	                      │                                  └─ must wait ─▶ Pending ─▶ encode
//	                      └─ unknown key or version ─▶ connection closed, as Kafka does (ApiVersions: answered in v0)
//
// Requests of a connection are served one after the other on its goroutine. Appends happen there, in
// request order; only the waiting of Produce with acks=all and of Fetch is parked. Controller
// mutations block their own connection, as in Kafka, so that a request sent after one sees its effect.
//
// Produce and Fetch are decoded and encoded by hand into reused memory. Everything else goes
// through kmsg. Lengths are checked against the frame before anything is allocated.
package api

// Package node builds a broker from its configuration and runs it: it starts everything in order, gives each new
// metadata image to its followers in a fixed order, and stops everything in reverse.
//
// It is the only package that knows all concrete types; it holds no behaviour of a broker itself. cli calls it.
//
//	start                                          stop, in reverse
//	  listeners bound (a port in use fails first)    network: no new requests, those in flight are answered
//	  admin HTTP                                     controller, quorum: metadata stands still
//	  log directories: lock, identity                partitions: flush, snapshots, marks, clean-shutdown marks
//	  partitions: an empty table                     admin HTTP
//	  quorum, controller: metadata is there
//	  first publish: logs are recovered; registration
//	  network: requests are served
package node

// Package quorum replicates the cluster's metadata: it is the only user of Raft,
// and of bbolt for metadata.
//
// It owns the metadata directory, the log of entries in it, and the newest
// applied metadata.Image. It does not decide what goes into the log (controller
// does) nor what an entry means (metadata does).
//
//	<dir>/raft.db        the log and Raft's own state (raft-boltdb)
//	<dir>/snapshots/     Raft's snapshots: an Image each, after which the log is cut
//	<dir>/metadata.db    the applied Image in parts, with its index, in one transaction
//
// An entry is durable once raft.db has it. metadata.db follows about a second
// later in one transaction per burst, so that it costs no proposal a sync; after
// a crash the log brings the Image up to date. Entries at or below the Image's
// own index are skipped, so being applied twice does no harm. A snapshot, after
// which the log is cut, waits for metadata.db to have caught up.
//
// Raft counts an entry as applied when it hands it to us, which is before we have
// applied it: whoever needs to read his own writes waits for the Image's index,
// as Propose does.
//
// Goroutines: Raft's own, of which one calls the state machine; watchLeadership,
// which reads Raft's notifications; publish, which calls the subscribers; save,
// which writes metadata.db. All end with Close.
package quorum

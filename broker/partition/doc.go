// Package partition is one replica of one partition, and the table of the
// replicas this broker hosts.
//
// A Partition puts together what its parts do not know of each other: the log
// on disk (commitlog), the producers (producerstate), who leads and which
// replicas are in sync (isr.go, a pure state machine), and who waits for it to
// move (waiters.go). Appends, truncation and leadership changes are serialised
// by one mutex per partition, held for one write; readers take atomics and the
// log's immutable segment list and never wait for a writer.
//
//	Append ─ leader? epoch? min ISR? ─ batch.Validate ─ producer check ─ log ─ HW ─ wake
//	Fetch  ─ leader? epoch? ─ diverging? ─ read up to HW / LSO / log end
//	                                └ from a follower: its log end offset ─ HW ─ wake
//
// The Table follows the cluster's metadata (Apply): it creates, adopts,
// renames and removes folders, spreads new partitions over the log
// directories, hands on leadership and configuration, and runs the schedules
// of retention, flushing, producer expiry and marks. A log directory that
// fails takes its own partitions out of service and no others.
//
// It owns the replicas' state in memory. It does not own segments and indexes
// (commitlog), the decision which broker leads (controller), or requests and
// their waiting (api). broker/api calls Partition, broker/node owns the Table.
//
// # Goroutines
//
// Table.Start runs one loop for retention, one for flushing, one for producer
// expiry, one for marks, one for the memory of indexes, and log.cleaner.threads
// that clean under one that watches their configuration; loading and recovery
// use a bounded pool per log directory during Apply. A replica's cleaning.turn
// is held over a whole round; retention passes a replica by while it is. A partition with weir.flush.on.acks=all has at most
// one flusher, which ends when nobody waits for it.
package partition

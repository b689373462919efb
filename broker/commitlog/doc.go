// Package commitlog keeps partitions on disk, in the files of Kafka 4.4.
//
// It owns: the segments of one partition (Log), their offset and time indexes, the leader epoch checkpoint, the topic
// id, recovery after a crash, truncation, the mechanisms of retention and of compaction (Cleaner), lookups by offset and by time, flushing; and the
// log directory around them (Dir). It does not own: the content of a batch beyond its header, producer state (told of
// batches through Hook), high watermarks, the decision what retention removes, or when something is flushed. Its caller
// is broker/partition.
//
// # Files of a partition
//
//	<base>.log        batches, one after another; base is the offset of the first, 20 digits
//	<base>.index      8-byte entries: int32 last offset of a batch - base, int32 its position in .log
//	<base>.timeindex  12-byte entries: int64 largest timestamp so far, int32 last offset of the first batch with it - base
//	leader-epoch-checkpoint, partition.metadata
//	*.deleted         removed, files going after Config.FileDeleteDelay
//	*.cleaned, *.swap a cleaner's work in progress (KIP-58 and later): finished or undone by Open
//
// An index entry is made per batch, once more than Config.IndexIntervalBytes lie between it and the last entry. Entries
// live in memory and reach the file at flush, roll and close.
//
// # Who may do what
//
// There is one writer: the caller orders Append, Roll, Truncate and TruncateFully. Readers (Read, Batches, the lookups)
// take no lock: they see atomics and an immutable list of segments. Flush, DeleteBefore, AdvanceLogStart and Cleaner.Clean may
// run beside the writer; Clean reads and writes without a lock and takes them to swap a segment in. Inside the package the locks nest in this order:
//
//	Log.maintain  one of truncation, deletion, swap of a cleaned segment, start offset, close at a time
//	Log.write     appends, rolls, swaps of the segment list
//	Log.flush     the turn to flush, or to change what a flush relies on; waited for, not held as a mutex
//	index.file    writes to the two index files of one segment
//
// # What a crash leaves
//
// The recovery point is the offset below which log, indexes, directory entries and leader epochs are durable. Open after
// an unclean stop reads every batch from the segment that holds it, cuts the log at the first batch that is not whole,
// valid and in order, and builds indexes and leader epochs again on the way. So that this never leaves a hole: a lower
// recovery point is made durable before a truncation touches files; segments behind a cut go from the last to the first,
// each durably, before the cut; and the cut is durable before anything is appended.
//
// A cleaned segment takes the place of its sources in steps that are durable one by one (swapIn); only what lies below a
// recovery point that is on the disk is cleaned, so that a hole is never taken for a lost tail.
package commitlog

package coordinator

import "github.com/weir-broker/weir/broker/batch"

// Log is the partition of the internal topic that a shard lives in. Every error means that the machine is out of step
// with the log: it is dropped and loaded again.
type Log interface {
	// Append appends one batch with acks=all and returns its base offset. It is refused when the partition is not led
	// here at that epoch or when too few replicas are in sync.
	Append(epoch batch.LeaderEpoch, raw []byte) (batch.Offset, error)
	// Read appends whole batches from the one that holds offset from to dst: about maxBytes, at least one batch, nothing
	// at the log's end. Records above the high watermark are included. It fails when the partition is not led here at
	// that epoch.
	Read(epoch batch.LeaderEpoch, from batch.Offset, maxBytes int, dst []byte) ([]byte, error)
	// Committed reports whether everything below next is committed: replicated to all in-sync replicas, and flushed
	// where that is asked for. It fails when the partition is not led here at that epoch.
	Committed(epoch batch.LeaderEpoch, next batch.Offset) (bool, error)
	// Extent returns the offset of the first record, the offset after the last, and how many bytes a batch may have.
	Extent() (start, end batch.Offset, maxBatchBytes int)
	// Watch returns a channel that is written to, without blocking, whenever Committed may have changed, and a function
	// that ends it. Several changes may be one message.
	Watch() (changed <-chan struct{}, stop func())
}

// Package producerstate keeps what a partition knows of the producers that
// write to it: epoch, last sequence, last five batches and open transaction
// of each. It answers whether a batch is new, a retry or out of order, and
// where the last stable offset lies.
//
// The state is a fixed function of the log: Check asks the producer policy and
// changes nothing, Apply takes over what was appended, and a replica that
// replays the log arrives at the same state without asking anybody. Snapshots
// (Kafka's .snapshot files) only save replay time; a missing or damaged one
// costs reading more of the log.
//
//	batch ──Check──▶ accept / duplicate(offsets) / error      append lock held
//	  │ appended
//	  └───Apply──▶ epoch, sequence, last 5 batches, timestamp
//	                transactional data: ongoing[first offset]
//	                marker: ongoing ─▶ unreplicated ─(marker < HW)─▶ decided
//
// broker/partition is the only caller. It serialises all calls under the
// partition's append lock: a State has no lock of its own.
//
// # Snapshot file
//
// Named by the offset it describes, exclusive: everything below that offset is
// in it. Big endian.
//
//	0  int16  version = 1
//	2  uint32 CRC-32C of everything from byte 6
//	6  int32  number of entries
//	10 entries of 46 bytes:
//	   int64 producer id · int16 epoch · int32 last sequence · int64 last offset
//	   int32 last offset - base offset of the last batch · int64 timestamp ms
//	   int32 coordinator epoch · int64 first offset of the open transaction, -1
package producerstate

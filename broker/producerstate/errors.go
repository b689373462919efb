package producerstate

import "errors"

// Errors of Check, one per Kafka error code.
var (
	// ErrOutOfOrderSequence: the batch does not follow the producer's last
	// one (OUT_OF_ORDER_SEQUENCE_NUMBER).
	ErrOutOfOrderSequence = errors.New("out of order sequence number")
	// ErrInvalidProducerEpoch: a newer incarnation of the producer has
	// written already (INVALID_PRODUCER_EPOCH).
	ErrInvalidProducerEpoch = errors.New("invalid producer epoch")
	// ErrInvalidTxnState: the batch does not belong to a transaction that is
	// open on this partition, or leaves out the one that is
	// (INVALID_TXN_STATE).
	ErrInvalidTxnState = errors.New("invalid transaction state")
)

// ErrCorruptSnapshot is wrapped by errors about snapshot files whose bytes
// cannot be used. Load falls back to an older one.
var ErrCorruptSnapshot = errors.New("corrupt producer snapshot")

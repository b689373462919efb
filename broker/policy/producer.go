package policy

// Producer decides whether a batch that carries a producer id may be appended.
// It is asked under the partition's append lock, so it neither blocks nor
// allocates. The facts are the caller's and may be reused after the call.
type Producer interface {
	Check(facts *ProducerFacts) ProducerVerdict
}

// ProducerBatches is how many of a producer's last batches are remembered per
// partition; it bounds how far back a retried batch is recognised.
const ProducerBatches = 5

// Values that stand for "none" in producer facts, as in record batches.
const (
	NoProducerEpoch int16 = -1
	NoSequence      int32 = -1
	NoOffset        int64 = -1
)

// Origin says who appends.
type Origin uint8

// The origins. Replicated batches are never checked.
const (
	// OriginClient is a Produce request.
	OriginClient Origin = iota
	// OriginCoordinator is a group or transaction coordinator writing to its
	// own internal topic, or a transaction marker.
	OriginCoordinator
)

// ProducerBatch is one batch a producer has appended.
type ProducerBatch struct {
	FirstSequence, LastSequence int32
	// BaseOffset and LastOffset are inclusive.
	BaseOffset, LastOffset int64
	// Timestamp is the batch's largest timestamp in milliseconds.
	Timestamp int64
}

// ProducerFacts is what is known of a producer on a partition, and the batch
// it sends.
type ProducerFacts struct {
	ProducerID int64

	// Known is false when the partition holds no state for ProducerID; then
	// Epoch is NoProducerEpoch.
	Known bool
	// Epoch is the producer's last epoch on this partition.
	Epoch int16
	// Batches holds the last batches of Epoch, oldest first; Count of them.
	Batches [ProducerBatches]ProducerBatch
	Count   int
	// TxnFirstOffset is where the producer's open transaction begins, or
	// NoOffset.
	TxnFirstOffset int64

	// Verified is set when the transaction coordinator confirmed, for this
	// very request, that the partition belongs to the open transaction
	// (KIP-890).
	Verified bool
	// Verification holds what was noted when that verification began.
	Verification ProducerVerification

	// The batch.
	Origin        Origin
	BatchEpoch    int16
	FirstSequence int32
	LastSequence  int32
	Transactional bool
}

// ProducerVerification is the state of a transaction verification (KIP-890).
type ProducerVerification struct {
	// Present is whether a verification is under way.
	Present bool
	// EpochBump is whether the client speaks transactions v2, where every
	// transaction has its own epoch and begins at sequence 0.
	EpochBump bool
	// LowestSequence is the lowest sequence seen since it began.
	LowestSequence int32
}

// ProducerOutcome is what a producer policy decided.
type ProducerOutcome uint8

// The outcomes.
const (
	// ProducerAccept: append the batch.
	ProducerAccept ProducerOutcome = iota
	// ProducerDuplicate: do not append; answer with the offsets of the batch
	// at ProducerVerdict.Batch.
	ProducerDuplicate
	// ProducerOutOfOrderSequence is Kafka's OUT_OF_ORDER_SEQUENCE_NUMBER.
	ProducerOutOfOrderSequence
	// ProducerInvalidEpoch is Kafka's INVALID_PRODUCER_EPOCH.
	ProducerInvalidEpoch
	// ProducerInvalidTxnState is Kafka's INVALID_TXN_STATE.
	ProducerInvalidTxnState
)

// ProducerVerdict is the answer of a producer policy.
type ProducerVerdict struct {
	Outcome ProducerOutcome
	// Batch indexes ProducerFacts.Batches for ProducerDuplicate.
	Batch int
}

// StandardProducer returns Kafka's rule for idempotent and transactional
// producers (KIP-98, KIP-360, KIP-890).
func StandardProducer() Producer { return standardProducer{} }

type standardProducer struct{}

var _ Producer = standardProducer{}

func (standardProducer) Check(f *ProducerFacts) ProducerVerdict {
	if f.Origin == OriginClient && f.BatchEpoch == f.Epoch {
		for i := range f.Count {
			if b := &f.Batches[i]; b.FirstSequence == f.FirstSequence && b.LastSequence == f.LastSequence {
				return ProducerVerdict{Outcome: ProducerDuplicate, Batch: i}
			}
		}
	}
	if f.Transactional && (f.TxnFirstOffset == NoOffset || f.Epoch != f.BatchEpoch) {
		// The epoch is looked at first: a fenced producer can recover from
		// INVALID_PRODUCER_EPOCH, not from INVALID_TXN_STATE.
		if f.BatchEpoch < f.Epoch {
			return ProducerVerdict{Outcome: ProducerInvalidEpoch}
		}
		if !f.Verified {
			return ProducerVerdict{Outcome: ProducerInvalidTxnState}
		}
	}
	if f.BatchEpoch < f.Epoch {
		return ProducerVerdict{Outcome: ProducerInvalidEpoch}
	}
	if f.Origin == OriginClient && !sequenceFits(f) {
		return ProducerVerdict{Outcome: ProducerOutOfOrderSequence}
	}
	if f.TxnFirstOffset != NoOffset && !f.Transactional {
		return ProducerVerdict{Outcome: ProducerInvalidTxnState}
	}
	return ProducerVerdict{Outcome: ProducerAccept}
}

// sequenceFits is whether the batch's first sequence may follow what is known.
func sequenceFits(f *ProducerFacts) bool {
	if v := &f.Verification; v.Present {
		if v.EpochBump && f.FirstSequence != 0 && f.Count == 0 {
			return false
		}
		if f.FirstSequence > v.LowestSequence {
			return false
		}
	}
	switch {
	case f.Epoch == NoProducerEpoch:
		// Nothing is known, perhaps because the state expired or its records
		// were deleted: any sequence may begin (KIP-360).
		return true
	case f.BatchEpoch != f.Epoch:
		return f.FirstSequence == 0
	}
	last := NoSequence
	if f.Count > 0 {
		last = f.Batches[f.Count-1].LastSequence
	}
	if last == 1<<31-1 {
		return f.FirstSequence == 0
	}
	return f.FirstSequence == last+1
}

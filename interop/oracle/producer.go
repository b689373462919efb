//go:build interop

package oracle

import (
	"context"
	"time"
)

// ProducerStep is one step of a sequence; make it with AppendStep, ExpireStep, RestartStep or LogStartStep.
type ProducerStep struct {
	kind   int8
	origin Origin
	raw    []byte
	a, b   int64
}

// AppendStep appends one batch. Only its header is looked at, except in a control batch, so 61 bytes with BatchLength 49 will do
// for data. The base offset is assigned by the oracle as a leader does: the next offset after the last accepted batch.
func AppendStep(origin Origin, raw []byte) ProducerStep {
	return ProducerStep{kind: 1, origin: origin, raw: raw}
}

// ExpireStep removes producers that have been idle for the expiration time at now (ms).
func ExpireStep(now int64) ProducerStep { return ProducerStep{kind: 2, a: now} }

// RestartStep takes a snapshot and loads it into a new state, as at now (ms).
func RestartStep(logStart, now int64) ProducerStep { return ProducerStep{kind: 3, a: logStart, b: now} }

// LogStartStep moves the log start offset.
func LogStartStep(to int64) ProducerStep { return ProducerStep{kind: 4, a: to} }

// Verdict of a producer check.
type Verdict int8

// The verdicts.
const (
	Accepted Verdict = iota
	Duplicate
	Rejected
)

// StepResult is the answer to one step; steps other than appends are always Accepted with offsets -1.
type StepResult struct {
	Verdict                 Verdict
	FirstOffset, LastOffset int64 // of the batch, or of the first copy when Duplicate
	Timestamp               int64 // of the first copy when Duplicate
	Class                   string
	Code                    int16
	Message                 string
}

// ProducerEntry is what the state holds of one producer.
type ProducerEntry struct {
	ProducerID       int64
	Epoch            int16
	CoordinatorEpoch int32
	LastTimestamp    int64
	TxnFirstOffset   int64 // -1 none
	Batches          []ProducerBatch
}

// ProducerBatch is one of the up to five batches remembered, oldest first.
type ProducerBatch struct {
	FirstSeq, LastSeq       int32
	FirstOffset, LastOffset int64
	Timestamp               int64
}

// ProducerResult is the answer to a sequence.
type ProducerResult struct {
	Steps      []StepResult
	NextOffset int64
	Snapshot   []byte          // the snapshot file Kafka would write now; its entries come in the order of a hash map
	Entries    []ProducerEntry // by producer id
}

// Producer plays the steps on a fresh ProducerStateManager, as UnifiedLog drives it. transactionVersion (0, 1 or 2) is that of
// the markers among them.
func (o *Oracle) Producer(ctx context.Context, expiration time.Duration, nextOffset int64, transactionVersion int16, steps []ProducerStep) (ProducerResult, error) {
	var w writer
	w.i64(expiration.Milliseconds())
	w.i64(nextOffset)
	w.i16(transactionVersion)
	w.i32(int32(len(steps)))
	for _, s := range steps {
		w.i8(s.kind)
		switch s.kind {
		case 1:
			w.i8(int8(s.origin))
			w.bytes(s.raw)
		case 3:
			w.i64(s.a)
			w.i64(s.b)
		default:
			w.i64(s.a)
		}
	}
	b, err := o.call(ctx, opProducer, w.b)
	if err != nil {
		return ProducerResult{}, err
	}
	r := reader{b: b}
	var res ProducerResult
	for range steps {
		s := StepResult{Verdict: Verdict(r.i8()), FirstOffset: -1, LastOffset: -1, Timestamp: -1}
		switch s.Verdict {
		case Rejected:
			s.Class, s.Code, s.Message = r.str(), r.i16(), r.str()
		case Duplicate:
			s.FirstOffset, s.LastOffset, s.Timestamp = r.i64(), r.i64(), r.i64()
		default:
			s.FirstOffset, s.LastOffset = r.i64(), r.i64()
		}
		res.Steps = append(res.Steps, s)
	}
	res.NextOffset = r.i64()
	res.Snapshot = r.bytes()
	for n := r.i32(); n > 0 && r.err == nil; n-- {
		e := ProducerEntry{
			ProducerID: r.i64(), Epoch: r.i16(), CoordinatorEpoch: r.i32(), LastTimestamp: r.i64(), TxnFirstOffset: r.i64(),
		}
		for m := r.i32(); m > 0 && r.err == nil; m-- {
			e.Batches = append(e.Batches, ProducerBatch{
				FirstSeq: r.i32(), LastSeq: r.i32(), FirstOffset: r.i64(), LastOffset: r.i64(), Timestamp: r.i64(),
			})
		}
		res.Entries = append(res.Entries, e)
	}
	return res, r.err
}

package coordinator

import (
	"errors"
	"fmt"
	"math/bits"
	"time"

	"github.com/weir-broker/weir/broker/batch"
)

// openBatch is the batch being filled; it is empty while size is 0.
type openBatch struct {
	builder *batch.Builder
	size    int // an upper bound, in bytes
	since   time.Time
}

// recordBound is an upper bound of what a record takes in a batch: key and value with their lengths, its own length, and
// attributes, timestamp, offset and header count.
func recordBound(r Record) int {
	fields := len(r.Key) + len(r.Value) + varintLen(len(r.Key)) + varintLen(len(r.Value)) + 1 + 5 + 4 + 1
	return fields + varintLen(fields)
}

// varintLen is the length of a zigzag varint.
func varintLen(n int) int { return (bits.Len64(uint64(n)<<1|1) + 6) / 7 }

// BatchBound is an upper bound, in bytes, of an uncompressed batch that holds the records: what is compared with the
// topic's max.message.bytes.
func BatchBound(records []Record) int {
	size := batch.HeaderLen
	for _, r := range records {
		size += recordBound(r)
	}
	return size
}

// add replays records at the offsets they are about to have and puts them into the open batch, all into one unless they
// are divisible.
func (r *running[M, K, R]) add(now time.Time, records []Record, divisible bool) error {
	_, _, limit := r.log.Extent()
	bound := BatchBound(records)
	if bound > limit {
		if !divisible {
			return fmt.Errorf("%w: %d records, %d bytes of at most %d", ErrRecordsTooLarge, len(records), bound, limit)
		}
		for i := range records {
			if one := BatchBound(records[i : i+1]); one > limit {
				return fmt.Errorf("%w: a record, %d bytes of at most %d", ErrRecordsTooLarge, one, limit)
			}
		}
	}
	if !divisible && r.filling.size > 0 && r.filling.size+bound-batch.HeaderLen > limit {
		if err := r.flush(); err != nil {
			return err
		}
	}
	for _, rec := range records {
		size := recordBound(rec)
		if r.filling.size > 0 && r.filling.size+size > limit {
			if err := r.flush(); err != nil {
				return err
			}
		}
		if err := r.replay(NoProducer(), rec); err != nil {
			return err
		}
		if r.filling.size == 0 {
			r.fill(now, NoProducer())
		}
		r.filling.size += size
		r.filling.builder.Add(now.UnixMilli(), rec.Key, rec.Value, nil)
	}
	return nil
}

// fill opens an empty batch.
func (r *running[M, K, R]) fill(now time.Time, p Producer) {
	o := batch.NoProducer()
	o.Compression, o.LeaderEpoch = r.rt.opt.Compression, r.epoch
	o.ProducerID, o.ProducerEpoch, o.Transactional = p.ID, p.Epoch, p.Transactional()
	r.filling.builder.Reset(o)
	r.filling.size, r.filling.since = batch.HeaderLen, now
}

// replay applies one record of the machine's own at the next offset.
func (r *running[M, K, R]) replay(p Producer, rec Record) error {
	if err := r.machine.Replay(r.next, p, rec); err != nil && !errors.Is(err, ErrUnknownType) {
		return fmt.Errorf("replay at offset %d: %w", r.next, err)
	}
	r.next++
	return nil
}

// flush appends the open batch, if there is one, and does what waited for that.
func (r *running[M, K, R]) flush() error {
	if r.filling.size == 0 {
		return nil
	}
	r.filling.size = 0
	if err := r.append(r.filling.builder.Bytes(), r.filling.builder.Count()); errors.Is(err, ErrRefused) {
		return errors.New(err.Error()) // the records are replayed: this is the end of the machine, not of one request
	} else if err != nil {
		return err
	}
	r.appended = r.next
	for i := range r.afterAppend {
		r.begin(r.afterAppend[i])
	}
	clear(r.afterAppend)
	r.afterAppend = r.afterAppend[:0]
	return nil
}

// append appends a batch at the offset that its records were, or will be, replayed at.
func (r *running[M, K, R]) append(raw []byte, records int) error {
	began := time.Now()
	base, err := r.log.Append(r.epoch, raw)
	if err != nil {
		return fmt.Errorf("append at offset %d: %w", r.appended, err)
	}
	r.rt.metrics.flushTime.Observe(time.Since(began).Seconds())
	if base != r.appended {
		return fmt.Errorf("a batch meant for offset %d was appended at %d", r.appended, base)
	}
	r.rt.metrics.batches.Inc()
	r.rt.metrics.records.Add(float64(records))
	r.proven = true
	return nil
}

// appendTransaction appends records as a batch of a transaction. It is appended first and then replayed: the log may
// refuse it, because the producer was fenced, and that is no fault of anybody else.
func (r *running[M, K, R]) appendTransaction(now time.Time, records []Record, p Producer) error {
	if err := r.flush(); err != nil {
		return err
	}
	_, _, limit := r.log.Extent()
	if bound := BatchBound(records); bound > limit {
		return fmt.Errorf("%w: %d records, %d bytes of at most %d", ErrRecordsTooLarge, len(records), bound, limit)
	}
	r.fill(now, p)
	r.filling.size = 0
	for _, rec := range records {
		r.filling.builder.Add(now.UnixMilli(), rec.Key, rec.Value, nil)
	}
	if err := r.append(r.filling.builder.Bytes(), len(records)); err != nil {
		return err
	}
	for _, rec := range records {
		if err := r.replay(p, rec); err != nil {
			return err
		}
	}
	r.appended = r.next
	return nil
}

// endTransaction appends a transaction marker and replays it.
func (r *running[M, K, R]) endTransaction(now time.Time, token Token, end TransactionEnd) error {
	if err := r.flush(); err != nil {
		return err
	}
	marker := batch.EndTxnMarker{Type: batch.ControlAbort, CoordinatorEpoch: end.CoordinatorEpoch}
	if end.Commit {
		marker.Type = batch.ControlCommit
	}
	raw := batch.NewEndTxnMarker(0, now.UnixMilli(), end.Producer.ID, end.Producer.Epoch, r.epoch, marker)
	if err := r.append(raw, 1); errors.Is(err, ErrRefused) {
		r.refuse(token, nil, err)
		return nil
	} else if err != nil {
		return err
	}
	if err := r.machine.ReplayEndTransaction(r.next, end.Producer, end.Commit); err != nil {
		return fmt.Errorf("replay of a transaction marker at offset %d: %w", r.next, err)
	}
	r.next++
	r.appended = r.next
	r.park(now, token, *new(R))
	return nil
}

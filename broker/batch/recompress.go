package batch

import (
	"fmt"
	"math"
	"sync"
)

var builders = sync.Pool{New: func() any { return new(Builder) }}

// recompress validates raw and writes its records anew in the topic's codec, record by record: neither the records
// nor more than the largest batch allowed are ever in memory.
func recompress(raw []byte, h *Header, o *ValidateOptions) (ValidateResult, error) {
	if h.RecordCount == 0 {
		return ValidateResult{}, undecodable("a batch without records cannot be rebuilt")
	}
	bound := o.RecordBound
	if bound == 0 {
		bound = DefaultRecordBound
	}
	it, err := iterate(raw, h, Limits{
		Decompressed: bound, Record: max(DefaultRecordLimit, 2*o.MaxBatchSize), claim: int32(min(o.MaxRecordSize, math.MaxInt32)),
	})
	if err != nil {
		return ValidateResult{}, err
	}
	defer it.Close()

	b := builders.Get().(*Builder)
	defer func() {
		if cap(b.records) > maxPooledScratch {
			b.records = nil
		}
		builders.Put(b)
	}()
	b.Reset(BuilderOptions{
		Compression: o.TargetCodec.Compression, BaseOffset: o.NextOffset, LeaderEpoch: o.LeaderEpoch,
		ProducerID: h.ProducerID, ProducerEpoch: h.ProducerEpoch, BaseSequence: h.BaseSequence,
		Transactional: h.IsTransactional(), LogAppendTime: o.TimestampType == LogAppendTime, AppendTime: o.Now,
	})
	out := output{limit: o.MaxBatchSize, size: HeaderLen}
	out.b = make([]byte, HeaderLen, recompressedCap(raw, o))
	p, err := newPacker(o.TargetCodec.Compression, &out)
	if err != nil {
		return ValidateResult{}, err
	}
	c := newChecker(h, o)
	refused, err := c.copyRecords(it, b, p, &out)
	if ferr := p.finish(); err == nil && ferr != nil {
		err = fmt.Errorf("compress: %w", ferr)
	}
	if err == nil {
		err = it.Err()
	}
	if err == nil {
		err = c.failure()
	}
	if err == nil {
		err = refused
	}
	if err == nil {
		err = checkProducerFields(h)
	}
	if err == nil && out.overflowed() {
		err = tooLarge(out.size, o.MaxBatchSize)
	}
	if err != nil {
		return ValidateResult{}, err
	}
	nh := b.Header()
	res := result(seal(out.b, &nh), &nh, o)
	res.Recompressed = true
	return res, nil
}

// recompressedCap is a first guess at the size of the new batch.
func recompressedCap(raw []byte, o *ValidateOptions) int {
	n := len(raw) + len(raw)/8
	if o.MaxBatchSize > 0 {
		n = min(n, o.MaxBatchSize)
	}
	return max(n, HeaderLen)
}

// copyRecords checks every record and writes it, at the next offset, to p. refused is what the new batch cannot
// hold; faults of the records themselves come first.
func (c *checker) copyRecords(it *Iterator, b *Builder, p packer, out *output) (refused, err error) {
	for index := int32(0); it.Next(); index++ {
		r := it.Record()
		ts := it.Timestamp()
		c.record(index, r.TimestampDelta, r.OffsetDelta, r.Key != nil)
		if ts < 0 && ts != NoTimestamp && refused == nil {
			refused = undecodable("record %d has timestamp %d", index, ts)
		}
		if c.errs != nil || refused != nil || out.overflowed() {
			continue
		}
		b.AddRecord(c.o.NextOffset+Offset(index), ts, r)
		if _, err := p.Write(b.records); err != nil {
			return refused, fmt.Errorf("compress: %w", err)
		}
		b.records = b.records[:0]
	}
	return refused, nil
}

// checkProducerFields applies what Kafka's builder asks of the producer fields of a batch it writes itself.
func checkProducerFields(h *Header) error {
	switch {
	case h.IsTransactional() && h.ProducerID == NoProducerID:
		return undecodable("transactional batch without producer id")
	case h.ProducerID == NoProducerID:
		return nil
	case h.ProducerEpoch == NoProducerEpoch:
		return undecodable("producer %d without epoch", h.ProducerID)
	case h.BaseSequence < 0:
		return undecodable("base sequence %d of producer %d", h.BaseSequence, h.ProducerID)
	}
	return nil
}

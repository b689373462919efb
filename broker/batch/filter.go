package batch

import "fmt"

// AppendFiltered appends to dst the batch raw without the records that keep refuses, which is asked with the position
// of each, from 0; at least one has to stay. What makes the batch the one it was stays: first and last offset, producer,
// sequence, leader epoch, codec. horizon is the delete horizon of the new batch in milliseconds, NoTimestamp for none
// (KIP-534). Records are copied one by one: a batch however large is never in memory unpacked.
func AppendFiltered(dst, raw []byte, horizon int64, limits Limits, keep func(index int) bool) ([]byte, error) {
	it, err := Records(raw, limits)
	if err != nil {
		return dst, err
	}
	defer it.Close()
	h := it.Header()
	b := builders.Get().(*Builder)
	defer func() {
		if cap(b.records) > maxPooledScratch {
			b.records = nil
		}
		builders.Put(b)
	}()
	o := sameBatch(h)
	o.Compression = CompressionOf(h.Codec())
	b.Reset(o)
	if horizon != NoTimestamp {
		b.SetDeleteHorizon(horizon)
	}
	start := len(dst)
	out := output{b: append(dst, make([]byte, HeaderLen)...)}
	p, err := newPacker(o.Compression, &out)
	if err != nil {
		return dst, err
	}
	for i := 0; it.Next(); i++ {
		if !keep(i) {
			continue
		}
		b.AddRecord(it.Offset(), it.Timestamp(), it.Record())
		if _, err = p.Write(b.records); err != nil {
			break
		}
		b.records = b.records[:0]
	}
	if ferr := p.finish(); err == nil && ferr != nil {
		err = ferr
	}
	switch {
	case err != nil:
		return dst, fmt.Errorf("compress: %w", err)
	case it.Err() != nil:
		return dst, it.Err()
	case b.count == 0:
		return dst, invalidRecord("no record of the batch at offset %d is kept", h.BaseOffset)
	}
	b.SetLastOffset(h.LastOffset())
	nh := b.Header()
	seal(out.b[start:], &nh)
	return out.b, nil
}

// AppendEmptied appends to dst what is left of a batch that lost all its records but has to stay, because it ends a
// producer's sequence or the log: a header with the old offsets, producer and largest timestamp.
func AppendEmptied(dst []byte, h *Header) []byte {
	b := NewBuilder(sameBatch(h))
	b.SetLastOffset(h.LastOffset())
	b.SetMaxTimestamp(h.MaxTimestamp)
	return append(dst, b.Bytes()...)
}

// sameBatch are the options for a batch that takes the place of h, not compressed.
func sameBatch(h *Header) BuilderOptions {
	return BuilderOptions{
		BaseOffset: h.BaseOffset, LeaderEpoch: h.LeaderEpoch,
		ProducerID: h.ProducerID, ProducerEpoch: h.ProducerEpoch, BaseSequence: h.BaseSequence,
		Transactional: h.IsTransactional(), Control: h.IsControl(),
		LogAppendTime: h.LogAppendTime(), AppendTime: h.MaxTimestamp,
	}
}

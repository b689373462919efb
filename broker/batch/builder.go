package batch

import (
	"encoding/binary"
	"fmt"
)

// BuilderOptions are the header fields of a batch to build. A field's zero value is meant: a builder without a
// producer or leader epoch starts from NoProducer.
type BuilderOptions struct {
	Compression   Compression
	BaseOffset    Offset
	LeaderEpoch   LeaderEpoch
	ProducerID    ProducerID
	ProducerEpoch ProducerEpoch
	BaseSequence  int32
	Transactional bool
	Control       bool
	// LogAppendTime stamps the batch with AppendTime (ms) instead of the records' own timestamps.
	LogAppendTime bool
	AppendTime    int64
}

// NoProducer are the options of a plain batch: no producer, no leader epoch, not compressed, base offset 0.
func NoProducer() BuilderOptions {
	return BuilderOptions{
		LeaderEpoch: NoLeaderEpoch, ProducerID: NoProducerID, ProducerEpoch: NoProducerEpoch, BaseSequence: NoSequence,
	}
}

// Builder makes one batch from records.
type Builder struct {
	o       BuilderOptions
	records []byte // encoded, not compressed
	count   int32
	last    Offset
	base    int64 // base timestamp, or the delete horizon
	max     int64
	horizon bool
}

// NewBuilder makes an empty builder.
func NewBuilder(o BuilderOptions) *Builder {
	b := &Builder{}
	b.Reset(o)
	return b
}

// Reset empties the builder for another batch and keeps its buffers. A batch it has returned stays the caller's.
func (b *Builder) Reset(o BuilderOptions) {
	*b = Builder{o: o, records: b.records[:0], last: o.BaseOffset - 1, max: NoTimestamp}
}

// SetDeleteHorizon marks the batch with the time in milliseconds from which its tombstones may go (KIP-534). It must
// come before the first record.
func (b *Builder) SetDeleteHorizon(ms int64) { b.base, b.horizon = ms, true }

// Add appends a record at the next offset. ts is in milliseconds, NoTimestamp for none; a nil key or value is null.
func (b *Builder) Add(ts int64, key, value []byte, hs []RecordHeader) {
	b.AddAt(b.last+1, ts, key, value, hs)
}

// AddAt appends a record at an offset of its own, above the last one: compacted batches have holes.
func (b *Builder) AddAt(o Offset, ts int64, key, value []byte, hs []RecordHeader) {
	b.begin(o, ts)
	size := 0
	for i := range hs {
		size += varintLen(int64(len(hs[i].Key))) + len(hs[i].Key) + bytesLen(hs[i].Value)
	}
	b.prefix(o, ts, key, value, len(hs), size)
	for i := range hs {
		b.records = appendVarint(b.records, int64(len(hs[i].Key)))
		b.records = append(b.records, hs[i].Key...)
		b.records = appendBytes(b.records, hs[i].Value)
	}
}

// AddRecord appends a copy of a record of another batch at an offset of its own, above the last one. Compaction and
// recompression use it.
func (b *Builder) AddRecord(o Offset, ts int64, r *Record) {
	b.begin(o, ts)
	size := 0
	for k, v := range r.Headers() {
		size += varintLen(int64(len(k))) + len(k) + bytesLen(v)
	}
	b.prefix(o, ts, r.Key, r.Value, int(r.HeaderCount), size)
	for k, v := range r.Headers() {
		b.records = appendBytes(b.records, k)
		b.records = appendBytes(b.records, v)
	}
}

func (b *Builder) begin(o Offset, ts int64) {
	if b.count == 0 && !b.horizon {
		b.base = ts
	}
	b.count++
	b.last = o
	b.max = max(b.max, ts)
}

// prefix encodes all of a record but its headers, which take headerSize bytes.
func (b *Builder) prefix(o Offset, ts int64, key, value []byte, headers, headerSize int) {
	delta, offset := ts-b.base, int64(int32(o-b.o.BaseOffset))
	size := 1 + varintLen(delta) + varintLen(offset) + bytesLen(key) + bytesLen(value) + varintLen(int64(headers)) + headerSize
	b.records = appendVarint(b.records, int64(size))
	b.records = append(b.records, 0)
	b.records = appendVarint(b.records, delta)
	b.records = appendVarint(b.records, offset)
	b.records = appendBytes(b.records, key)
	b.records = appendBytes(b.records, value)
	b.records = appendVarint(b.records, int64(headers))
}

// bytesLen is the number of bytes appendBytes writes.
func bytesLen(v []byte) int {
	if v == nil {
		return 1
	}
	return varintLen(int64(len(v))) + len(v)
}

// appendBytes encodes a nullable field: its length, -1 if null, and its bytes.
func appendBytes(dst, v []byte) []byte {
	if v == nil {
		return append(dst, 1)
	}
	dst = appendVarint(dst, int64(len(v)))
	return append(dst, v...)
}

// SetLastOffset makes the batch end at o although its last record may lie before: compaction keeps a batch's end.
func (b *Builder) SetLastOffset(o Offset) { b.last = o }

// SetMaxTimestamp overrides the newest timestamp (ms) of the header, which otherwise is that of the records: a batch
// that compaction has emptied keeps what it had.
func (b *Builder) SetMaxTimestamp(ms int64) { b.max = ms }

// Count is the number of records added.
func (b *Builder) Count() int { return int(b.count) }

// Header is the header the batch would have now, but for length and CRC.
func (b *Builder) Header() Header {
	h := Header{
		BaseOffset: b.o.BaseOffset, LeaderEpoch: b.o.LeaderEpoch, Magic: magicV2,
		Attributes:      int16(b.o.Compression.Codec) & attrCodecMask,
		LastOffsetDelta: int32(b.last - b.o.BaseOffset),
		BaseTimestamp:   b.base, MaxTimestamp: b.max,
		ProducerID: b.o.ProducerID, ProducerEpoch: b.o.ProducerEpoch, BaseSequence: b.o.BaseSequence,
		RecordCount: b.count,
	}
	if b.count == 0 {
		h.Attributes = 0
		if !b.horizon {
			h.BaseTimestamp = NoTimestamp
		}
	}
	if b.o.LogAppendTime {
		h.Attributes |= attrLogAppendTime
		h.MaxTimestamp = b.o.AppendTime
	}
	if b.o.Transactional {
		h.Attributes |= attrTransactional
	}
	if b.o.Control {
		h.Attributes |= attrControl
	}
	if b.horizon {
		h.Attributes |= attrDeleteHorizon
	}
	return h
}

// Bytes finishes the batch and returns it, CRC set, in a slice of its own. A builder without records gives an empty
// batch: a header, not compressed. It panics if the codec or level does not exist: those come from checked
// configuration, not from input.
func (b *Builder) Bytes() []byte {
	out := output{b: make([]byte, HeaderLen, HeaderLen+len(b.records)+64)}
	if b.count > 0 {
		p, err := newPacker(b.o.Compression, &out)
		if err == nil {
			_, err = p.Write(b.records)
		}
		if err == nil {
			err = p.finish()
		}
		if err != nil {
			panic(fmt.Sprintf("batch: build with %v level %d: %v", b.o.Compression.Codec, b.o.Compression.Level, err))
		}
	}
	h := b.Header()
	return seal(out.b, &h)
}

// seal writes h into the first HeaderLen bytes of raw, with its length and CRC.
func seal(raw []byte, h *Header) []byte {
	h.BatchLength = int32(len(raw) - LogOverhead)
	AppendHeader(raw[:0], h)
	h.CRC = checksum(raw)
	binary.BigEndian.PutUint32(raw[offCRC:], h.CRC)
	return raw
}

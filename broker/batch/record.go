package batch

import "iter"

// Limits bound what reading a batch may cost.
type Limits struct {
	// Decompressed is the most bytes of records after decompression; 0 is DefaultRecordBound.
	Decompressed int64
}

// Record is one record of a batch. Its slices alias the batch or the iterator's scratch: they are valid until the
// next call of Next or Close.
type Record struct {
	Attributes     int8
	TimestampDelta int64
	OffsetDelta    int32
	Key            []byte // nil is null
	Value          []byte // nil is null: a tombstone on a compacted topic
	HeaderCount    int32
	Size           int // bytes of the record before compression, its length prefix included

	headers []byte // the encoded headers, already checked
}

// RecordHeader is a header to write. Key is never null; a nil Value is null.
type RecordHeader struct {
	Key   string
	Value []byte
}

// Headers iterates over the record's headers: key and value, nil being null. The slices live as long as the record's.
func (r *Record) Headers() iter.Seq2[[]byte, []byte] {
	return func(yield func(key, value []byte) bool) {
		b := r.headers
		for range r.HeaderCount {
			var key, value []byte
			key, b, _ = takeBytes(b)
			value, b, _ = takeBytes(b)
			if !yield(key, value) {
				return
			}
		}
	}
}

// Iterator walks the records of one batch. Use: it, err := Records(...); for it.Next() { it.Record() }; it.Err();
// it.Close().
type Iterator struct {
	h    Header
	rec  Record
	err  error
	left int32
}

// Records begins a walk over the records of raw, exactly one batch. It does not verify the CRC. An uncompressed
// batch is walked in place without allocation; a compressed one through a pooled decoder whose output limits bound.
func Records(raw []byte, limits Limits) (*Iterator, error) { return nil, ErrUndecodable }

// Next moves to the next record and reports whether there is one. At the end, or on an error, Err tells which.
func (it *Iterator) Next() bool { return false }

// Record is the record Next moved to.
func (it *Iterator) Record() *Record { return &it.rec }

// Offset is the current record's offset.
func (it *Iterator) Offset() Offset { return it.h.BaseOffset + Offset(it.rec.OffsetDelta) }

// Timestamp is the current record's timestamp in milliseconds: the batch's if the broker stamped it.
func (it *Iterator) Timestamp() int64 {
	if it.h.LogAppendTime() {
		return it.h.MaxTimestamp
	}
	return it.h.BaseTimestamp + it.rec.TimestampDelta
}

// Header is the header of the batch walked.
func (it *Iterator) Header() *Header { return &it.h }

// Err is what ended the walk early: ErrInvalidRecord, ErrUndecodable or ErrTooLarge; nil after a whole walk.
func (it *Iterator) Err() error { return it.err }

// Close gives the scratch back. The iterator must not be used afterwards.
func (it *Iterator) Close() {}

package batch

import (
	"errors"
	"io"
	"iter"
	"math"
	"sync"
)

// Limits bound what reading a batch may cost.
type Limits struct {
	// Decompressed is the most bytes of records after decompression; 0 is DefaultRecordBound.
	Decompressed int64
	// Record is the most bytes of one record of a compressed batch: it is held in memory. 0 is DefaultRecordLimit.
	// A larger one gives ErrTooLarge.
	Record int

	claim int32 // the most bytes such a record may claim without being invalid; 0 is no bound
}

// DefaultRecordLimit is the largest record of a compressed batch that is held in memory, when Limits leaves it 0.
const DefaultRecordLimit = 32 << 20

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

// RecordHeader is a header to write. A nil Value is null; a key never is.
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

// decode reads the fields of a record from b, which is exactly the record without its length prefix. It reports
// false if b is not a whole and proper record.
func (r *Record) decode(b []byte) bool {
	if len(b) == 0 {
		return false
	}
	r.Attributes = int8(b[0])
	var i int
	if r.TimestampDelta, i = varint64(b, 1); i < 0 {
		return false
	}
	if r.OffsetDelta, i = varint32(b, i); i < 0 {
		return false
	}
	b = b[i:]
	var ok bool
	if r.Key, b, ok = takeBytes(b); !ok {
		return false
	}
	if r.Value, b, ok = takeBytes(b); !ok {
		return false
	}
	if r.HeaderCount, i = varint32(b, 0); i < 0 || r.HeaderCount < 0 {
		return false
	}
	r.headers = b[i:]
	return headersFill(r.headers, r.HeaderCount)
}

// headersFill reports whether b is exactly n encoded headers.
func headersFill(b []byte, n int32) bool {
	for range n {
		size, i := varint32(b, 0)
		if i < 0 || size < 0 || int(size) > len(b)-i {
			return false
		}
		b = b[i+int(size):]
		size, i = varint32(b, 0)
		if i < 0 {
			return false
		}
		size = max(size, 0)
		if int(size) > len(b)-i {
			return false
		}
		b = b[i+int(size):]
	}
	return len(b) == 0
}

// Iterator walks the records of one batch. Use: it, err := Records(...); for it.Next() { it.Record() }; it.Err();
// it.Close().
type Iterator struct {
	h         Header
	rec       Record
	err       error
	left      int32
	maxRecord int
	maxClaim  int32
	packed    bool
	b         []byte // the rest of an uncompressed batch
	p         payload
}

var iterators = sync.Pool{New: func() any { return new(Iterator) }}

// Records begins a walk over the records of raw, exactly one batch. It does not verify the CRC. An uncompressed
// batch is walked in place without allocation; a compressed one through a pooled decoder whose output limits bound.
//
// A walk is strict: each record must fill its length, and the batch's count must be met exactly by what is there.
// Faults give ErrInvalidRecord, ErrUndecodable or ErrTooLarge.
func Records(raw []byte, limits Limits) (*Iterator, error) {
	h, err := ParseHeader(raw)
	if err != nil {
		return nil, err
	}
	if h.Size() != len(raw) {
		return nil, ErrTruncated
	}
	return iterate(raw, &h, limits)
}

func iterate(raw []byte, h *Header, limits Limits) (*Iterator, error) {
	if !h.Codec().Valid() {
		return nil, undecodable("unknown compression type %d", int8(h.Codec()))
	}
	it := iterators.Get().(*Iterator)
	it.h, it.rec, it.err, it.left = *h, Record{}, nil, h.RecordCount
	it.packed = h.Codec() != None
	it.b = raw[HeaderLen:]
	it.maxRecord = limits.Record
	if it.maxRecord == 0 {
		it.maxRecord = DefaultRecordLimit
	}
	it.maxClaim = limits.claim
	if it.maxClaim == 0 {
		it.maxClaim = math.MaxInt32
	}
	if it.packed {
		bound := limits.Decompressed
		if bound == 0 {
			bound = DefaultRecordBound
		}
		if err := it.p.open(h.Codec(), it.b, bound); err != nil {
			it.Close()
			return nil, err
		}
	}
	if h.RecordCount < 0 {
		it.Close()
		return nil, invalidRecord("record count is %d", h.RecordCount)
	}
	return it, nil
}

// Next moves to the next record and reports whether there is one. At the end, or on an error, Err tells which.
func (it *Iterator) Next() bool {
	if it.left == 0 || it.err != nil {
		return false
	}
	it.left--
	var body []byte
	if it.packed {
		body, it.err = it.unpack()
	} else {
		body, it.err = it.cut()
	}
	if it.err != nil {
		return false
	}
	if !it.rec.decode(body) {
		it.err = invalidRecord("record %d is malformed", it.h.RecordCount-it.left-1)
		return false
	}
	it.rec.Size = varintLen(int64(len(body))) + len(body)
	if it.left == 0 {
		if it.packed {
			it.err = it.p.atEnd()
		} else if len(it.b) > 0 {
			it.err = invalidRecord("%d bytes follow the last record", len(it.b))
		}
	}
	return it.err == nil
}

// cut takes the next record off an uncompressed batch.
func (it *Iterator) cut() ([]byte, error) {
	n, i := varint32(it.b, 0)
	switch {
	case i == overlong:
		return nil, undecodable("record length is no varint")
	case i < 0 || int(n) > len(it.b)-i:
		return nil, invalidRecord("records end before the last one does")
	case n < 0:
		return nil, invalidRecord("record length is %d", n)
	}
	body := it.b[i : i+int(n)]
	it.b = it.b[i+int(n):]
	return body, nil
}

// unpack takes the next record off a compressed batch.
func (it *Iterator) unpack() ([]byte, error) {
	n, err := it.p.varint32()
	if err != nil {
		return nil, outside(err)
	}
	if err := checkRecordSize(n, it.maxClaim); err != nil {
		return nil, err
	}
	body, err := it.p.take(int(n), it.maxRecord)
	if err != nil {
		return nil, outside(err)
	}
	return body, nil
}

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

// Close gives the scratch back. The iterator and its records must not be used afterwards.
func (it *Iterator) Close() {
	it.p.close()
	it.b, it.rec = nil, Record{}
	iterators.Put(it)
}

// Unpack returns the records of raw, exactly one batch, without compression: the bytes after the header. It is for
// tools and tests that want the whole; the limits bound what is allocated.
func Unpack(raw []byte, limits Limits) ([]byte, error) {
	h, err := ParseHeader(raw)
	if err != nil {
		return nil, err
	}
	if h.Size() != len(raw) {
		return nil, ErrTruncated
	}
	if h.Codec() == None {
		return raw[HeaderLen:], nil
	}
	bound := limits.Decompressed
	if bound == 0 {
		bound = DefaultRecordBound
	}
	var p payload
	if err := p.open(h.Codec(), raw[HeaderLen:], bound); err != nil {
		return nil, err
	}
	defer p.close()
	var out []byte
	for {
		if err := p.fill(); err != nil {
			if errors.Is(err, io.EOF) {
				return out, nil
			}
			return nil, outside(err)
		}
		out = append(out, p.win[p.pos:]...)
		p.pos = len(p.win)
	}
}

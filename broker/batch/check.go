package batch

import (
	"fmt"
	"math"
	"sync"
)

// checker holds the rules for single records and what the records amount to.
type checker struct {
	o            *ValidateOptions
	createTime   bool // the topic keeps the producer's timestamps
	stamped      bool // the batch claims LogAppendTime: all records have its maxTimestamp
	base         int64
	stamp        int64
	baseOffset   int64
	maxTimestamp int64
	scattered    bool // some record's offset is not its index
	errs         *RecordErrors
}

func newChecker(h *Header, o *ValidateOptions) checker {
	return checker{
		o: o, createTime: o.TimestampType == CreateTime, stamped: h.LogAppendTime(),
		base: h.BaseTimestamp, stamp: h.MaxTimestamp, baseOffset: int64(h.BaseOffset), maxTimestamp: NoTimestamp,
	}
}

// record applies the rules to one record.
func (c *checker) record(index int32, delta int64, offsetDelta int32, hasKey bool) {
	ts := c.base + delta
	if c.stamped {
		ts = c.stamp
	}
	if ts > c.maxTimestamp {
		c.maxTimestamp = ts
	}
	if c.baseOffset+int64(offsetDelta) != int64(index) {
		c.scattered = true
	}
	if c.o.Compacted && !hasKey {
		c.fail(index, ErrInvalidRecord, "a compacted topic needs a key")
		return
	}
	if c.createTime && ts != NoTimestamp {
		// Both differences wrap where Kafka's do.
		if age := c.o.Now - ts; age > c.o.BeforeMax || -age > c.o.AfterMax {
			c.lateOrEarly(index, ts)
		}
	} else if c.stamped {
		c.fail(index, ErrInvalidTimestamp, "producers may not set the timestamp type LogAppendTime")
	}
}

func (c *checker) lateOrEarly(index int32, ts int64) {
	message := ""
	if c.room() {
		message = fmt.Sprintf("timestamp %d is not within [%d, %d]", ts, c.o.Now-c.o.BeforeMax, c.o.Now+c.o.AfterMax)
	}
	c.fail(index, ErrInvalidTimestamp, message)
}

func (c *checker) room() bool { return c.errs == nil || len(c.errs.Errors) < MaxRecordErrors }

func (c *checker) fail(index int32, kind error, message string) {
	if c.errs == nil {
		c.errs = &RecordErrors{Kind: kind}
	}
	if kind == ErrInvalidTimestamp {
		c.errs.Kind = kind
	}
	c.errs.Total++
	if c.room() {
		c.errs.Errors = append(c.errs.Errors, RecordError{Index: index, Message: message})
	}
}

// failure is the verdict over the single records.
func (c *checker) failure() error {
	if c.errs == nil {
		return nil
	}
	return c.errs
}

// walk checks the n > 0 records of an uncompressed batch. A record must fill its length exactly.
func (c *checker) walk(b []byte, n int32) error {
	i := 0
	for index := int32(0); index < n; index++ {
		size, next := varint32(b, i)
		if next < 0 {
			if next == overlong {
				return undecodable("length of record %d is no varint", index)
			}
			return invalidRecord("records end before record %d of %d", index, n)
		}
		if size < 1 || int(size) > len(b)-next {
			return invalidRecord("record %d claims %d bytes, have %d", index, size, len(b)-next)
		}
		i = next + int(size)
		f, end := scan(b[next:i:i], 0)
		if end != int(size) {
			return invalidRecord("record %d is malformed", index)
		}
		c.record(index, f.timestampDelta, f.offsetDelta, f.hasKey)
	}
	if i != len(b) {
		return invalidRecord("%d bytes follow the last record", len(b)-i)
	}
	return nil
}

// fields are what the rules need of a record.
type fields struct {
	timestampDelta int64
	offsetDelta    int32
	hasKey         bool
}

// scan reads a record's fields from b at i, behind its length, and returns the position after it; negative if b ends
// first or a field is malformed.
func scan(b []byte, i int) (f fields, end int) {
	i++ // attributes: none are in use
	if f.timestampDelta, i = varint64(b, i); i < 0 {
		return f, i
	}
	if f.offsetDelta, i = varint32(b, i); i < 0 {
		return f, i
	}
	size, i := varint32(b, i)
	if i < 0 {
		return f, i
	}
	if size >= 0 {
		f.hasKey = true
		if int(size) > len(b)-i {
			return f, endOfBytes
		}
		i += int(size)
	}
	if size, i = varint32(b, i); i < 0 {
		return f, i
	}
	if size > 0 {
		if int(size) > len(b)-i {
			return f, endOfBytes
		}
		i += int(size)
	}
	headers, i := varint32(b, i)
	if i < 0 || headers == 0 {
		return f, i
	}
	return f, scanHeaders(b, i, headers)
}

// badField is a position that stands for a field that no more input would mend.
const badField = -3

func scanHeaders(b []byte, i int, n int32) int {
	if n < 0 {
		return badField
	}
	for range n {
		size, next := varint32(b, i)
		if next < 0 {
			return next
		}
		if size < 0 {
			return badField
		}
		if int(size) > len(b)-next {
			return endOfBytes
		}
		if size, i = varint32(b, next+int(size)); i < 0 {
			return i
		}
		if size > 0 {
			if int(size) > len(b)-i {
				return endOfBytes
			}
			i += int(size)
		}
	}
	return i
}

var payloads = sync.Pool{New: func() any { return new(payload) }}

// walkPacked checks the n > 0 records of a compressed batch, streaming. As in Kafka a record need not fill its
// length, it need only not claim too much: where the batch is stored as it came, the fields alone count.
func (c *checker) walkPacked(codec Codec, packed []byte, n int32) error {
	bound := c.o.RecordBound
	if bound == 0 {
		bound = DefaultRecordBound
	}
	p := payloads.Get().(*payload)
	defer payloads.Put(p)
	if err := p.open(codec, packed, bound); err != nil {
		return err
	}
	defer p.close()
	p.maxRecord = math.MaxInt32
	if c.o.MaxRecordSize > 0 {
		p.maxRecord = int32(min(c.o.MaxRecordSize, math.MaxInt32))
	}
	for index := int32(0); index < n; index++ {
		f, ok := p.scanFast()
		if !ok {
			var err error
			if f, err = p.scanSlow(); err != nil {
				return err
			}
		}
		c.record(index, f.timestampDelta, f.offsetDelta, f.hasKey)
	}
	return p.atEnd()
}

// scanFast reads the next record if the current piece holds all of it.
func (p *payload) scanFast() (fields, bool) {
	size, i := varint32(p.win, p.pos)
	if i < 0 || size < 0 || size > p.maxRecord {
		return fields{}, false
	}
	f, end := scan(p.win, i)
	if end < 0 {
		return f, false
	}
	p.pos = end
	return f, true
}

// scanSlow reads the next record field by field, across pieces.
func (p *payload) scanSlow() (f fields, err error) {
	size, err := p.varint32()
	if err != nil {
		return f, outside(err)
	}
	if err := checkRecordSize(size, p.maxRecord); err != nil {
		return f, err
	}
	if _, err := p.readByte(); err != nil {
		return f, inside(err)
	}
	if f.timestampDelta, err = p.varint64(); err != nil {
		return f, inside(err)
	}
	if f.offsetDelta, err = p.varint32(); err != nil {
		return f, inside(err)
	}
	key, err := p.skipBytes()
	if err != nil {
		return f, inside(err)
	}
	f.hasKey = key >= 0
	if _, err := p.skipBytes(); err != nil {
		return f, inside(err)
	}
	headers, err := p.varint32()
	if err != nil {
		return f, inside(err)
	}
	if headers < 0 {
		return f, invalidRecord("header count is %d", headers)
	}
	for range headers {
		name, err := p.varint32()
		if err != nil {
			return f, inside(err)
		}
		if name < 0 {
			return f, invalidRecord("header key length is %d", name)
		}
		if err := p.skip(name); err != nil {
			return f, inside(err)
		}
		if _, err := p.skipBytes(); err != nil {
			return f, inside(err)
		}
	}
	return f, nil
}

// checkRecordSize applies the rules for the length a record of a compressed batch claims.
func checkRecordSize(size, most int32) error {
	if size < 0 {
		return invalidRecord("record length is %d", size)
	}
	if size > most {
		return invalidRecord("record of %d bytes, the most is %d", size, most)
	}
	return nil
}

// skipBytes reads a length and drops that many bytes; a negative length is null.
func (p *payload) skipBytes() (int32, error) {
	n, err := p.varint32()
	if err != nil {
		return 0, err
	}
	return n, p.skip(n)
}

package batch

import (
	"errors"
	"fmt"
	"io"
)

// stream unpacks a batch's compressed records piece by piece, in memory that does not depend on how much comes out.
// The pieces end where Kafka's readers would look at more input, so that of a broken stream and a broken record the
// same one is met first.
type stream interface {
	// next returns the next piece, valid until the call after. At the end io.EOF; else ErrUndecodable or
	// errLZ4Underflow. A piece may come together with an error, which then counts after the piece.
	next() ([]byte, error)
	// release gives pooled parts back; the stream must not be used afterwards.
	release()
}

// errLZ4Underflow: an LZ4 frame ends inside a checksum. Kafka's reader lets this escape as a buffer underflow, which
// inside a record counts as a bad record and elsewhere as a broken stream.
var errLZ4Underflow = errors.New("lz4 frame ends inside a checksum")

// maxPooledScratch is the largest scratch buffer kept for reuse, in bytes: the largest block of LZ4. Some clients write
// a batch as one such block, and a buffer made anew for each has to be cleared and its pages mapped, which costs more
// than the unpacking.
const maxPooledScratch = 4 << 20

func openStream(c Codec, packed []byte) (stream, error) {
	switch c {
	case Gzip:
		return openGzip(packed)
	case Snappy:
		return openSnappy(packed)
	case LZ4:
		return openLZ4(packed)
	case Zstd:
		return openZstd(packed)
	}
	return nil, undecodable("unknown compression type %d", int8(c))
}

// payload reads a stream byte by byte or field by field, and stops it at a bound.
type payload struct {
	s     stream
	win   []byte // the current piece
	pos   int    // read so far of win
	left  int64  // bytes the bound still allows
	bound int64
	err   error // what follows win
	spill []byte

	maxRecord int32 // the most bytes a record may claim
}

func (p *payload) open(c Codec, packed []byte, bound int64) error {
	s, err := openStream(c, packed)
	if err != nil {
		return err
	}
	*p = payload{s: s, left: bound, bound: bound, spill: p.spill[:0]}
	return nil
}

func (p *payload) close() {
	if p.s != nil {
		p.s.release()
		p.s = nil
	}
	p.win = nil
	if cap(p.spill) > maxPooledScratch {
		p.spill = nil
	}
}

// fill moves to the next piece when win is used up. It returns io.EOF at the end.
func (p *payload) fill() error {
	for p.pos >= len(p.win) {
		if p.err != nil {
			return p.err
		}
		p.win, p.err = p.s.next()
		p.pos = 0
		p.left -= int64(len(p.win))
		if p.left < 0 {
			p.win = nil
			p.err = fmt.Errorf("%w: records unpack to more than %d bytes", ErrTooLarge, p.bound)
		}
	}
	return nil
}

func (p *payload) readByte() (byte, error) {
	if p.pos >= len(p.win) {
		if err := p.fill(); err != nil {
			return 0, err
		}
	}
	c := p.win[p.pos]
	p.pos++
	return c, nil
}

// errOverlong: a varint does not end where it must.
var errOverlong = errors.New("varint is too long")

func (p *payload) varint32() (int32, error) {
	var v uint32
	for shift := uint(0); shift < 35; shift += 7 {
		c, err := p.readByte()
		if err != nil {
			return 0, err
		}
		v |= uint32(c&0x7f) << shift
		if c < 0x80 {
			return int32(v>>1) ^ -int32(v&1), nil
		}
	}
	return 0, errOverlong
}

func (p *payload) varint64() (int64, error) {
	var v uint64
	for shift := uint(0); shift < 70; shift += 7 {
		c, err := p.readByte()
		if err != nil {
			return 0, err
		}
		v |= uint64(c&0x7f) << shift
		if c < 0x80 {
			return int64(v>>1) ^ -int64(v&1), nil
		}
	}
	return 0, errOverlong
}

// skip drops n bytes; none if n is negative.
func (p *payload) skip(n int32) error {
	for n > 0 {
		if err := p.fill(); err != nil {
			return err
		}
		step := min(int(n), len(p.win)-p.pos)
		p.pos += step
		n -= int32(step)
	}
	return nil
}

// take returns the next n bytes in one piece, valid until the next call. n is at most max; memory is only spent on
// bytes that are really there.
func (p *payload) take(n, max int) ([]byte, error) {
	if n <= len(p.win)-p.pos {
		b := p.win[p.pos : p.pos+n : p.pos+n]
		p.pos += n
		return b, nil
	}
	p.spill = p.spill[:0]
	for len(p.spill) < n {
		if err := p.fill(); err != nil {
			return nil, err
		}
		step := min(n-len(p.spill), len(p.win)-p.pos)
		if len(p.spill)+step > max {
			return nil, fmt.Errorf("%w: a record unpacks to more than %d bytes", ErrTooLarge, max)
		}
		p.spill = append(p.spill, p.win[p.pos:p.pos+step]...)
		p.pos += step
	}
	return p.spill, nil
}

// atEnd checks that nothing follows the last record.
func (p *payload) atEnd() error {
	switch err := p.fill(); {
	case err == nil:
		return invalidRecord("records go on after the last one")
	case errors.Is(err, io.EOF):
		return nil
	default:
		return outside(err)
	}
}

// inside maps an error met inside a record to what it means for the batch.
func inside(err error) error {
	if errors.Is(err, ErrUndecodable) || errors.Is(err, ErrTooLarge) {
		return err
	}
	if errors.Is(err, io.EOF) {
		return invalidRecord("records end before the last one does")
	}
	return invalidRecord("%v", err)
}

// outside maps an error met between records, or before a whole record was read.
func outside(err error) error {
	if errors.Is(err, errLZ4Underflow) {
		return undecodable("%v", err)
	}
	return inside(err)
}

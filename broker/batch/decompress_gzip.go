package batch

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"sync"

	"github.com/klauspost/compress/flate"
)

// gzipPiece is how much Kafka unpacks at once: a fault inside loses what was unpacked before it since the last piece.
// gzipInput is how much input it takes at once; whether it looks for another member depends on it.
const (
	gzipPiece = 16 << 10
	gzipInput = 8 << 10
	// gzipTrailer and gzipMinMember: a member is 18 bytes at least, of which 8 are its trailer.
	gzipTrailer   = 8
	gzipMinMember = 18
)

type gzipStream struct {
	in     bytes.Reader
	z      io.ReadCloser // a flate decoder
	packed []byte
	body   int // where the current member's deflate data begins
	sum    uint32
	size   uint32
	buf    [gzipPiece]byte
	err    error
}

var gzipStreams = sync.Pool{New: func() any { return new(gzipStream) }}

func openGzip(packed []byte) (stream, error) {
	s := gzipStreams.Get().(*gzipStream)
	s.packed, s.err = packed, nil
	if err := s.member(0); err != nil {
		s.release()
		return nil, err
	}
	return s, nil
}

// member starts the member whose header is at i.
func (s *gzipStream) member(i int) error {
	n, err := gzipHeader(s.packed[i:])
	if err != nil {
		return err
	}
	s.body, s.sum, s.size = i+n, 0, 0
	s.in.Reset(s.packed[s.body:])
	if s.z == nil {
		s.z = flate.NewReader(&s.in)
		return nil
	}
	return s.z.(flate.Resetter).Reset(&s.in, nil)
}

// gzipHeader returns the length of the header (RFC 1952) b begins with. Reserved flags mean nothing, as in Java.
func gzipHeader(b []byte) (int, error) {
	const (
		fixed    = 10
		hasCRC   = 0x02
		hasExtra = 0x04
		hasName  = 0x08
		hasNote  = 0x10
	)
	short := func() (int, error) { return 0, undecodable("gzip: header is cut short") }
	if len(b) < fixed {
		return short()
	}
	if b[0] != 0x1f || b[1] != 0x8b || b[2] != 8 {
		return 0, undecodable("gzip: header %x", b[:3])
	}
	flags, i := b[3], fixed
	if flags&hasExtra != 0 {
		if len(b)-i < 2 {
			return short()
		}
		i += 2 + int(binary.LittleEndian.Uint16(b[i:]))
		if i > len(b) {
			return short()
		}
	}
	for _, text := range []byte{hasName, hasNote} {
		if flags&text == 0 {
			continue
		}
		end := bytes.IndexByte(b[i:], 0)
		if end < 0 {
			return short()
		}
		i += end + 1
	}
	if flags&hasCRC != 0 {
		if len(b)-i < 2 {
			return short()
		}
		if uint16(crc32.ChecksumIEEE(b[:i])) != binary.LittleEndian.Uint16(b[i:]) {
			return 0, undecodable("gzip: header checksum mismatch")
		}
		i += 2
	}
	return i, nil
}

func (s *gzipStream) next() ([]byte, error) {
	for {
		if s.err != nil {
			return nil, s.err
		}
		n := 0
		for n < len(s.buf) && s.err == nil {
			var r int
			r, s.err = s.z.Read(s.buf[n:])
			n += r
		}
		switch {
		case s.err == nil:
			s.add(s.buf[:n])
		case s.err == io.EOF: // as io.Reader promises, not wrapped
			s.add(s.buf[:n])
			s.err = s.trailer()
		default:
			var corrupt flate.CorruptInputError
			if errors.As(s.err, &corrupt) {
				n = 0
			}
			s.err = undecodable("gzip: %v", s.err)
		}
		if n > 0 {
			return s.buf[:n], nil
		}
	}
}

func (s *gzipStream) add(b []byte) {
	s.sum = crc32.Update(s.sum, crc32.IEEETable, b)
	s.size += uint32(len(b))
}

// trailer checks a member's end and goes on with what follows it.
func (s *gzipStream) trailer() error {
	end := len(s.packed) - s.in.Len()
	if s.in.Len() < gzipTrailer {
		return undecodable("gzip: trailer is cut short")
	}
	t := s.packed[end:]
	if binary.LittleEndian.Uint32(t) != s.sum || binary.LittleEndian.Uint32(t[4:]) != s.size {
		return undecodable("gzip: checksum or size mismatch")
	}
	return s.another(end)
}

// another begins the member after the deflate data that ends at end, if there is one. What follows the last member
// and is no member is ignored. Whether Java looks at all depends on what it has read so far.
func (s *gzipStream) another(end int) error {
	rest := len(s.packed) - end - gzipTrailer
	taken := s.body + (end-s.body+gzipInput-1)/gzipInput*gzipInput
	if rest <= gzipMinMember && taken >= len(s.packed) || s.member(end+gzipTrailer) != nil {
		return io.EOF
	}
	return nil
}

func (s *gzipStream) release() {
	s.packed = nil
	s.in.Reset(nil)
	gzipStreams.Put(s)
}

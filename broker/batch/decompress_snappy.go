package batch

import (
	"bytes"
	"encoding/binary"
	"io"
	"sync"

	"github.com/klauspost/compress/snappy"
)

// The framing of Java's SnappyOutputStream (xerial): a 16 byte header, then blocks of a big endian int32 length and a
// raw snappy block. Other clients send one raw block without any framing.
const (
	xerialMagic     = "\x82SNAPPY\x00"
	xerialHeaderLen = 16
	xerialVersion   = 1
	xerialBlock     = 32 << 10 // the block size Java writes
	// snappyPiece: Kafka reads this much at once, across blocks, so a fault in a block also loses the end of the
	// block before it.
	snappyPiece = 2 << 10
	// snappyMaxRatio: a snappy element of 3 bytes makes 64 at most.
	snappyMaxRatio = 22
)

type snappyStream struct {
	packed  []byte
	buf     [2][]byte
	cur     int
	held    []byte // the end of the last block, handed out with the next one
	given   int64
	done    bool
	skipped bool // what looked like another stream's header was none
	lastErr error
}

var snappyStreams = sync.Pool{New: func() any { return new(snappyStream) }}

func openSnappy(packed []byte) (stream, error) {
	s := snappyStreams.Get().(*snappyStream)
	s.held, s.given, s.done, s.skipped, s.lastErr = nil, 0, false, false, nil
	if len(packed) == 0 {
		s.release()
		return nil, undecodable("snappy: no data")
	}
	if hasXerialHeader(packed) {
		s.packed = packed[xerialHeaderLen:]
		return s, nil
	}
	s.done = true
	var err error
	if s.held, err = s.block(packed, 0); err != nil {
		s.release()
		return nil, err
	}
	return s, nil
}

// hasXerialHeader reports whether b begins with the header of the framing, whatever version it states.
func hasXerialHeader(b []byte) bool {
	return len(b) >= xerialHeaderLen && bytes.HasPrefix(b, []byte(xerialMagic))
}

// block unpacks one raw block behind the first keep bytes of the buffer not in use, and returns keep and all.
func (s *snappyStream) block(src []byte, keep int) ([]byte, error) {
	n, w := binary.Uvarint(src)
	if w <= 0 || n > uint64(len(src))*snappyMaxRatio {
		return nil, undecodable("snappy: block of %d bytes claims to hold %d", len(src), n)
	}
	next := 1 - s.cur
	if cap(s.buf[next]) < keep+int(n) {
		grown := make([]byte, keep, max(keep+int(n), snappyPiece+xerialBlock))
		s.buf[next] = grown
	}
	buf := s.buf[next][:keep+int(n)]
	copy(buf, s.held)
	// Not the faster Decode: it takes a copy of offset 0 for "the last offset again", which no other reader knows.
	if _, err := snappy.DecodeStrict(buf[keep:len(buf):len(buf)], src); err != nil {
		return nil, undecodable("snappy: %v", err)
	}
	s.cur = next
	return buf, nil
}

func (s *snappyStream) next() ([]byte, error) {
	for {
		if s.lastErr != nil {
			return nil, s.lastErr
		}
		if s.done {
			s.lastErr = io.EOF
			if len(s.held) > 0 {
				return s.held, nil
			}
			continue
		}
		src, err := s.nextBlock()
		if err != nil {
			s.lastErr = err
			continue
		}
		if src == nil && s.skipped {
			// Kafka's reader ends a read at such a header, and goes on behind it with the next.
			s.skipped = false
			if len(s.held) == 0 {
				s.lastErr = io.EOF
				continue
			}
			b := s.held
			s.held, s.given = nil, 0
			return b, nil
		}
		if src == nil {
			s.done = true
			continue
		}
		buf, err := s.block(src, len(s.held))
		if err != nil {
			s.lastErr = err
			continue
		}
		end := s.given + int64(len(buf))
		ready := int(end&^(snappyPiece-1) - s.given)
		s.held = buf[ready:]
		s.given += int64(ready)
		if ready > 0 {
			return buf[:ready], nil
		}
	}
}

// nextBlock cuts the next block off; nil at the end, or with skipped set. Less than a length at the end is ignored.
func (s *snappyStream) nextBlock() ([]byte, error) {
	for len(s.packed) >= 4 {
		n := int32(binary.BigEndian.Uint32(s.packed))
		if bytes.HasPrefix(s.packed, []byte(xerialMagic[:4])) {
			// Streams may follow one another; only from the second on the version counts.
			if len(s.packed) < xerialHeaderLen {
				return nil, undecodable("snappy: framing header is cut short")
			}
			if !hasXerialHeader(s.packed) {
				s.packed = s.packed[xerialHeaderLen:]
				s.skipped = true
				return nil, nil
			}
			if v := int32(binary.BigEndian.Uint32(s.packed[len(xerialMagic):])); v < xerialVersion {
				return nil, undecodable("snappy: framing version %d", v)
			}
			s.packed = s.packed[xerialHeaderLen:]
			continue
		}
		if n < 0 || int(n) > len(s.packed)-4 {
			return nil, undecodable("snappy: block of %d bytes, have %d", n, len(s.packed)-4)
		}
		src := s.packed[4 : 4+n]
		s.packed = s.packed[4+n:]
		return src, nil
	}
	return nil, nil
}

func (s *snappyStream) release() {
	s.packed, s.held = nil, nil
	for i := range s.buf {
		if cap(s.buf[i]) > maxPooledScratch {
			s.buf[i] = nil
		}
	}
	snappyStreams.Put(s)
}

// appendXerialHeader begins a stream in Java's framing.
func appendXerialHeader(dst []byte) []byte {
	dst = append(dst, xerialMagic...)
	dst = binary.BigEndian.AppendUint32(dst, xerialVersion)
	return binary.BigEndian.AppendUint32(dst, xerialVersion)
}

// appendSnappyBlock packs one block and puts its length before it.
func appendSnappyBlock(dst, block []byte) []byte {
	at := len(dst)
	need := at + 4 + snappy.MaxEncodedLen(len(block))
	if cap(dst) < need {
		dst = append(make([]byte, 0, max(need, 2*cap(dst))), dst...)
	}
	packed := snappy.Encode(dst[at+4:need:need], block)
	dst = dst[:at+4+len(packed)]
	binary.BigEndian.PutUint32(dst[at:], uint32(len(packed)))
	return dst
}

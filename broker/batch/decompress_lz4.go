package batch

import (
	"encoding/binary"
	"io"
	"math/bits"
	"sync"

	"github.com/pierrec/lz4/v4"
)

// The LZ4 frame format as Kafka reads it: independent blocks only, header checksum verified, block checksums verified
// when there are any, the content size and the content checksum skipped.
const (
	lz4Magic           = 0x184D2204
	lz4Uncompressed    = 1 << 31
	lz4FlagReserved    = 0x03
	lz4FlagContentSum  = 0x04
	lz4FlagContentSize = 0x08
	lz4FlagBlockSum    = 0x10
	lz4FlagIndependent = 0x20
	lz4Version         = 1
	lz4Block           = 64 << 10 // the block size Java writes
	lz4UsualRatio      = 8        // blocks that unpack to more take a second try
)

type lz4Stream struct {
	packed   []byte
	flags    byte
	maxBlock int
	buf      []byte
	done     bool
}

var lz4Streams = sync.Pool{New: func() any { return new(lz4Stream) }}

func openLZ4(packed []byte) (stream, error) {
	if len(packed) < 7 {
		return nil, undecodable("lz4: frame header is cut short")
	}
	if m := binary.LittleEndian.Uint32(packed); m != lz4Magic {
		return nil, undecodable("lz4: magic %#x", m)
	}
	flags, bd := packed[4], packed[5]
	if flags>>6 != lz4Version || flags&lz4FlagReserved != 0 || flags&lz4FlagIndependent == 0 {
		return nil, undecodable("lz4: frame flags %#x are not supported", flags)
	}
	if bd&0x8f != 0 || bd>>4 < 4 {
		return nil, undecodable("lz4: block descriptor %#x", bd)
	}
	end := 6
	if flags&lz4FlagContentSize != 0 {
		end += 8
	}
	if len(packed) <= end {
		return nil, undecodable("lz4: frame header is cut short")
	}
	if sum := byte(xxh32(packed[4:end]) >> 8); sum != packed[end] {
		return nil, undecodable("lz4: frame header checksum is %#x, want %#x", packed[end], sum)
	}
	s := lz4Streams.Get().(*lz4Stream)
	s.packed, s.flags, s.maxBlock, s.done = packed[end+1:], flags, 1<<(2*(bd>>4)+8), false
	return s, nil
}

func (s *lz4Stream) next() ([]byte, error) {
	if !s.done {
		b, err := s.block()
		if err != nil {
			s.done = true
			return nil, err
		}
		if len(b) > 0 {
			return b, nil
		}
		s.done = true // Kafka's reader takes a block of nothing for the end
	}
	return nil, io.EOF
}

func (s *lz4Stream) block() ([]byte, error) {
	if len(s.packed) < 4 {
		return nil, undecodable("lz4: frame is cut short")
	}
	word := binary.LittleEndian.Uint32(s.packed)
	s.packed = s.packed[4:]
	n := int(word &^ lz4Uncompressed)
	if n == 0 {
		s.done = true
		if s.flags&lz4FlagContentSum != 0 && len(s.packed) < 4 {
			return nil, errLZ4Underflow
		}
		return nil, nil
	}
	if n > s.maxBlock {
		return nil, undecodable("lz4: block of %d bytes, the most is %d", n, s.maxBlock)
	}
	if n > len(s.packed) {
		return nil, undecodable("lz4: block of %d bytes, have %d", n, len(s.packed))
	}
	src := s.packed[:n]
	s.packed = s.packed[n:]
	out := src
	if word&lz4Uncompressed == 0 {
		var ok bool
		if out, ok = s.unpack(src); !ok {
			return nil, undecodable("lz4: malformed block of %d bytes", n)
		}
	}
	if s.flags&lz4FlagBlockSum != 0 {
		if len(s.packed) < 4 {
			return nil, errLZ4Underflow
		}
		if binary.LittleEndian.Uint32(s.packed) != xxh32(src) {
			return nil, undecodable("lz4: block checksum mismatch")
		}
		s.packed = s.packed[4:]
	}
	return out, nil
}

// unpack unpacks a compressed block. Memory goes by what the block holds, not by what the frame header claims it may.
func (s *lz4Stream) unpack(src []byte) ([]byte, bool) {
	if room := min(s.maxBlock, max(lz4Block, lz4UsualRatio*len(src))); cap(s.buf) < room {
		s.buf = make([]byte, 1<<bits.Len(uint(room-1))) // few sizes, so that it is soon large enough for all
	}
	n, err := lz4.UncompressBlock(src, s.buf[:min(cap(s.buf), s.maxBlock)])
	if err == nil && lz4EndsInLiterals(src, s.buf[:n]) {
		return s.buf[:n], true
	}
	n = lz4BlockSize(src, s.maxBlock)
	if n < 0 {
		return nil, false
	}
	if cap(s.buf) < n {
		s.buf = make([]byte, n)
	}
	out := s.buf[:n]
	if m, err := lz4.UncompressBlock(src, out); err != nil || m != n {
		lz4Unpack(out, src)
	}
	return out, true
}

func (s *lz4Stream) release() {
	s.packed = nil
	if cap(s.buf) > maxPooledScratch {
		s.buf = nil
	}
	lz4Streams.Put(s)
}

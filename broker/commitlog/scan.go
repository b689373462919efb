package commitlog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"sync"

	"github.com/weir-broker/weir/broker/batch"
	"github.com/weir-broker/weir/broker/vfs"
)

const (
	// headerChunk is read at a time where only headers matter, scanChunk where every byte does.
	headerChunk = 8 << 10
	scanChunk   = 256 << 10
)

// errInvalidBatch says that the bytes at a position are not a whole, valid batch in order.
var errInvalidBatch = errors.New("invalid batch")

const (
	crcAt      = 17
	crcCovered = 21
	magicAt    = 16
)

// scanner walks the batches of a log file between two positions. It trusts nothing it reads.
type scanner struct {
	f        vfs.File
	pos, end int64
	chunk    int
	buf      []byte // file content from bufAt
	bufAt    int64
	space    []byte
	pooled   *[]byte
}

// scanBuffers keeps the chunks of scanners.
var scanBuffers = sync.Pool{New: func() any { b := make([]byte, scanChunk); return &b }}

func newScanner(f vfs.File, pos, end int64, chunk int) *scanner {
	p := scanBuffers.Get().(*[]byte)
	return &scanner{f: f, pos: pos, end: end, chunk: chunk, space: *p, pooled: p}
}

func (s *scanner) close() {
	if s.pooled != nil {
		scanBuffers.Put(s.pooled)
		s.pooled, s.space, s.buf = nil, nil, nil
	}
}

// bytes returns n bytes of the file at at, which the caller knows to lie before end. They are valid until the next call.
func (s *scanner) bytes(at int64, n int) ([]byte, error) {
	if at >= s.bufAt && at+int64(n) <= s.bufAt+int64(len(s.buf)) {
		return s.buf[at-s.bufAt:][:n], nil
	}
	want := int(min(int64(max(n, s.chunk)), s.end-at))
	if want > len(s.space) {
		s.space = make([]byte, want) // a batch larger than a chunk; the file has that many bytes
	}
	s.buf = s.buf[:0]
	got, err := s.f.ReadAt(s.space[:want], at)
	if got < want {
		if err == nil || errors.Is(err, io.EOF) {
			err = fmt.Errorf("%w: file ends at %d", errInvalidBatch, at+int64(got))
		}
		return nil, err
	}
	s.buf, s.bufAt = s.space[:want], at
	return s.buf[:n], nil
}

// next parses the header at pos. io.EOF: the walk ended exactly at end. errInvalidBatch: something else is there.
func (s *scanner) next() (batch.Header, error) {
	left := s.end - s.pos
	if left == 0 {
		return batch.Header{}, io.EOF
	}
	if left < batch.HeaderLen {
		return batch.Header{}, fmt.Errorf("%w: %d bytes at position %d are less than a header", errInvalidBatch, left, s.pos)
	}
	raw, err := s.bytes(s.pos, batch.HeaderLen)
	if err != nil {
		return batch.Header{}, err
	}
	h, err := batch.ParseHeader(raw)
	if err != nil {
		if magic := raw[magicAt]; magic < 2 && s.oldFormat(raw, left) {
			return batch.Header{}, fmt.Errorf("position %d: %w", s.pos, ErrOldFormat)
		}
		return batch.Header{}, fmt.Errorf("%w at position %d: %w", errInvalidBatch, s.pos, err)
	}
	if int64(h.Size()) > left {
		return batch.Header{}, fmt.Errorf("%w: position %d needs %d bytes, %d are left", errInvalidBatch, s.pos, h.Size(), left)
	}
	return h, nil
}

// oldFormat is whether an intact message of magic 0 or 1 lies at pos: offset, size, CRC-32 of the rest, magic.
func (s *scanner) oldFormat(raw []byte, left int64) bool {
	const overhead, minMessage = 12, 14
	size := int64(int32(binary.BigEndian.Uint32(raw[8:])))
	if size < minMessage || overhead+size > left {
		return false
	}
	want := binary.BigEndian.Uint32(raw[overhead:])
	sum, err := s.checksum(crc32.IEEETable, s.pos+overhead+4, s.pos+overhead+size)
	return err == nil && sum == want
}

// body returns the whole batch whose header next returned.
func (s *scanner) body(h *batch.Header) ([]byte, error) { return s.bytes(s.pos, h.Size()) }

// skip moves on to the batch after h.
func (s *scanner) skip(h *batch.Header) { s.pos += int64(h.Size()) }

// intact checks the CRC of the batch whose header next returned, a chunk at a time.
func (s *scanner) intact(h *batch.Header) error {
	sum, err := s.checksum(castagnoli, s.pos+crcCovered, s.pos+int64(h.Size()))
	if err != nil {
		return err
	}
	if sum != h.CRC {
		return fmt.Errorf("%w: CRC of the batch at position %d does not match", errInvalidBatch, s.pos)
	}
	return nil
}

func (s *scanner) checksum(t *crc32.Table, from, to int64) (uint32, error) {
	var sum uint32
	for from < to {
		n := int(min(to-from, int64(s.chunk)))
		if held := s.bufAt + int64(len(s.buf)) - from; from >= s.bufAt && held > 0 {
			n = int(min(to-from, held)) // use up what was read already
		}
		raw, err := s.bytes(from, n)
		if err != nil {
			return 0, err
		}
		sum = crc32.Update(sum, t, raw)
		from += int64(n)
	}
	return sum, nil
}

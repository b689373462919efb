package batch

import (
	"bytes"
	"errors"
	"io"
	"sync"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
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
	z      gzip.Reader
	packed []byte
	body   int // where the current member's deflate data begins
	buf    [gzipPiece]byte
	n      int
	err    error
}

var gzipStreams = sync.Pool{New: func() any { return new(gzipStream) }}

func openGzip(packed []byte) (stream, error) {
	s := gzipStreams.Get().(*gzipStream)
	s.packed, s.err = packed, nil
	s.in.Reset(packed)
	if err := s.member(); err != nil {
		s.release()
		return nil, undecodable("gzip: %v", err)
	}
	return s, nil
}

// member starts the member at the reader's position.
func (s *gzipStream) member() error {
	if err := s.z.Reset(&s.in); err != nil {
		return err
	}
	s.z.Multistream(false)
	s.body = len(s.packed) - s.in.Len()
	return nil
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
		case errors.Is(s.err, io.EOF):
			s.err = s.another()
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

// another begins the next member if there is one. What follows the last member and is no member is ignored.
func (s *gzipStream) another() error {
	rest := s.in.Len()
	end := len(s.packed) - rest - gzipTrailer // of the deflate data
	taken := s.body + (end-s.body+gzipInput-1)/gzipInput*gzipInput
	if rest <= gzipMinMember && taken >= len(s.packed) {
		return io.EOF
	}
	if s.member() != nil {
		return io.EOF
	}
	return nil
}

func (s *gzipStream) release() {
	s.packed = nil
	s.in.Reset(nil)
	gzipStreams.Put(s)
}

package batch

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/zstd"
)

const (
	// zstdPiece is how much Kafka unpacks at once: a fault inside loses what was unpacked before it since then.
	zstdPiece = 16 << 10
	// zstdMaxWindow is the largest window a reader must accept: the reference decoder's default.
	zstdMaxWindow = 1 << 27
	// zstdStreamWindow is the largest window a stream is given memory for at once. A frame that asks for more is
	// unpacked as a whole into a buffer that grows with what really comes out, to zstdWholeFrame at most.
	zstdStreamWindow = 8 << 20
	zstdWholeFrame   = 16 << 20
	// zstdSmallFrame: frames that cannot unpack to more than this are unpacked in one call, which is faster.
	zstdSmallFrame = 512 << 10

	zstdMaxBlock = 128 << 10

	zstdMagic       = "\x28\xb5\x2f\xfd"
	zstdSkippable   = "\x50\x2a\x4d\x18" // the low four bits are free
	zstdHasChecksum = 0x04
)

type zstdStream struct {
	dec    *zstd.Decoder // for streaming, made when first needed
	small  *zstd.Decoder // for frames in one call: a decoder that streams would make that call wait for ever
	in     bytes.Reader
	packed []byte // what no frame has been cut from yet
	frames int    // finished
	open   bool   // dec is inside a frame
	whole  bool   // the frame's end is there
	noSum  bool   // only its checksum is not
	tail   []byte // of the frame, if not: handed out behind what could be unpacked
	lag    error  // follows the piece handed out
	all    []byte
	buf    [zstdPiece]byte
}

// The decoders of capped stop at the capacity of the buffer given; the streams' own do not.
var (
	zstdStreams = sync.Pool{New: func() any { return &zstdStream{small: newZstdDecoder(false)} }}
	zstdCapped  = sync.Pool{New: func() any { return newZstdDecoder(true) }}
)

func newZstdDecoder(capped bool) *zstd.Decoder {
	// Concurrency 1 starts no goroutine, so that a decoder the pool drops needs no Close. The options are constants
	// the decoder accepts.
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(zstdMaxWindow), zstd.WithDecoderMaxMemory(zstdMaxWindow), zstd.WithDecodeAllCapLimit(capped))
	if err != nil {
		panic(err)
	}
	return dec
}

func openZstd(packed []byte) (stream, error) {
	s := zstdStreams.Get().(*zstdStream)
	s.packed, s.frames, s.open, s.lag = packed, 0, false, nil
	return s, nil
}

// zstdFrame is what the headers of a frame and its blocks say.
type zstdFrame struct {
	end    int    // length of the frame, or what there is of it
	whole  bool   // the frame is all there
	window int64  // memory its matches reach back
	most   int64  // bound on its output; the content size if that is given
	skip   bool   // holds no data
	tail   []byte // what is there of a stored block that is cut short
	noSum  bool   // all is there but the checksum
}

// zstdMagicPrefix reports whether the first bytes, however few, are those of a frame or of a skippable frame.
func zstdMagicPrefix(b []byte) bool {
	n := min(len(b), len(zstdMagic))
	if string(b[:n]) == zstdMagic[:n] {
		return true
	}
	return b[0]&0xf0 == zstdSkippable[0] && string(b[1:n]) == zstdSkippable[1:n]
}

// parseZstdFrame walks the frame at the start of b without unpacking anything.
func parseZstdFrame(b []byte) (zstdFrame, error) {
	if !zstdMagicPrefix(b) {
		return zstdFrame{}, undecodable("zstd: bytes that are no frame")
	}
	var h zstd.Header
	if err := h.Decode(b); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return zstdFrame{end: len(b)}, nil
		}
		return zstdFrame{}, undecodable("zstd: %v", err)
	}
	if h.Skippable {
		end := int64(h.HeaderSize) + int64(h.SkippableSize)
		if end > int64(len(b)) {
			return zstdFrame{end: len(b), skip: true}, nil
		}
		return zstdFrame{end: int(end), whole: true, skip: true}, nil
	}
	f := zstdFrame{window: int64(min(h.WindowSize, zstdMaxWindow+1))}
	if h.SingleSegment {
		f.window = int64(min(h.FrameContentSize, zstdMaxWindow+1))
	}
	if f.window > zstdMaxWindow {
		return zstdFrame{}, undecodable("zstd: window above %d bytes", zstdMaxWindow)
	}
	i := h.HeaderSize
	for last := false; !last; {
		if len(b)-i < 3 {
			f.end = len(b)
			return f, nil
		}
		word := int(b[i]) | int(b[i+1])<<8 | int(b[i+2])<<16
		i += 3
		size := word >> 3
		switch word >> 1 & 3 {
		case 1: // one byte, repeated
			f.most += int64(size)
			size = 1
		case 2:
			f.most += zstdMaxBlock
		default:
			f.most += int64(size)
		}
		if len(b)-i < size {
			f.end = len(b)
			if word>>1&3 == 0 && size <= int(min(f.window, zstdMaxBlock)) {
				f.tail = b[i:]
			}
			return f, nil
		}
		i += size
		last = word&1 != 0
	}
	if h.HasCheckSum {
		i += 4
	}
	if h.HasFCS {
		if h.FrameContentSize > uint64(f.most) {
			return zstdFrame{}, undecodable("zstd: frame claims %d bytes, its blocks hold %d at most", h.FrameContentSize, f.most)
		}
		f.most = int64(h.FrameContentSize)
	}
	f.whole = i <= len(b)
	f.noSum = !f.whole
	f.end = min(i, len(b))
	return f, nil
}

func (s *zstdStream) next() ([]byte, error) {
	for {
		if s.lag != nil {
			return nil, s.lag
		}
		if s.open {
			if b := s.piece(); len(b) > 0 {
				return b, nil
			}
			continue
		}
		if len(s.packed) == 0 {
			return nil, io.EOF
		}
		b, err := s.frame()
		if err != nil {
			s.lag = err
			continue
		}
		if len(b) > 0 {
			return b, nil
		}
	}
}

// frame begins the next frame. It returns the frame's content if that was unpacked in one go.
func (s *zstdStream) frame() ([]byte, error) {
	f, err := parseZstdFrame(s.packed)
	if err != nil {
		return nil, err
	}
	src := s.packed[:f.end]
	s.packed = s.packed[f.end:]
	switch {
	case f.skip && f.whole:
		s.frames++
		return nil, nil
	case f.skip:
		return nil, s.cutShort()
	case f.whole && f.most <= zstdSmallFrame && f.window <= zstdStreamWindow:
		out, err := s.small.DecodeAll(src, s.all[:0])
		if cap(out) <= maxPooledScratch {
			s.all = out[:0]
		}
		if err == nil {
			s.frames++
			return out, nil
		}
		// Unpack it again piece by piece, to hand out what lies before the fault.
	case f.window > zstdStreamWindow:
		return s.wholeFrame(src, f)
	}
	if f.noSum {
		// Unpack the blocks as a frame that has no checksum.
		src = bytes.Clone(src)
		src[len(zstdMagic)] &^= zstdHasChecksum
	}
	if s.dec == nil {
		s.dec = newZstdDecoder(false)
	}
	s.in.Reset(src)
	if err := s.dec.Reset(&s.in); err != nil {
		return nil, undecodable("zstd: %v", err)
	}
	s.open, s.whole, s.noSum, s.tail = true, f.whole || f.noSum, f.noSum, f.tail
	return nil, nil
}

// wholeFrame unpacks a frame whose window is too large to be given memory on its word.
func (s *zstdStream) wholeFrame(src []byte, f zstdFrame) ([]byte, error) {
	if !f.whole {
		return nil, s.cutShort()
	}
	dec := zstdCapped.Get().(*zstd.Decoder)
	defer zstdCapped.Put(dec)
	// The buffer grows only when the frame has filled the one before.
	for room := min(f.most, zstdWholeFrame/16); ; room = min(f.most, zstdWholeFrame) {
		out, err := dec.DecodeAll(src, make([]byte, 0, room))
		switch {
		case err == nil:
			s.frames++
			return out, nil
		case !errors.Is(err, zstd.ErrDecoderSizeExceeded) || room >= f.most:
			return nil, undecodable("zstd: %v", err)
		case room >= zstdWholeFrame:
			return nil, fmt.Errorf("%w: a zstd frame with a window of %d bytes unpacks to more than %d", ErrTooLarge, f.window, zstdWholeFrame)
		}
	}
}

// piece unpacks the next part of the frame.
func (s *zstdStream) piece() []byte {
	n := 0
	var err error
	for n < len(s.buf) && err == nil {
		var r int
		r, err = s.dec.Read(s.buf[n:])
		n += r
	}
	switch {
	case err == nil:
		return s.buf[:n]
	case s.noSum && (errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)):
		s.open = false
		s.lag = s.cutShort()
	case errors.Is(err, io.EOF) && s.whole:
		s.open = false
		s.frames++
	case !s.whole && (errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF)):
		s.open = false
		s.lag = s.cutShort()
		if len(s.tail) > 0 {
			// A stored block is read as it comes, so what there is of it counts.
			return append(s.buf[:n:n], s.tail...)
		}
	default:
		s.lag = undecodable("zstd: %v", err)
		return nil
	}
	return s.buf[:n]
}

// cutShort is what a frame without an end means. Kafka's reader takes the end of its input for a proper end once one
// frame has been finished.
func (s *zstdStream) cutShort() error {
	if s.frames > 0 {
		return io.EOF
	}
	return undecodable("zstd: frame is cut short")
}

func (s *zstdStream) release() {
	s.packed = nil
	s.in.Reset(nil)
	zstdStreams.Put(s)
}

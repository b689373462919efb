package batch

import (
	"encoding/binary"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// packer compresses a batch's records as they are written, in the framing the Java client writes.
type packer interface {
	io.Writer
	// finish ends the stream and gives pooled parts back.
	finish() error
}

// output collects bytes. Once more than limit bytes have come it keeps none of them, only their number, so that a
// batch that turns out too large costs no more memory than the largest one allowed.
type output struct {
	b     []byte
	limit int // 0 is none
	size  int
}

func (o *output) Write(p []byte) (int, error) {
	o.size += len(p)
	if o.limit == 0 || o.size <= o.limit {
		o.b = append(o.b, p...)
	}
	return len(p), nil
}

func (o *output) overflowed() bool { return o.limit != 0 && o.size > o.limit }

// newPacker writes what it is given, compressed, to out.
func newPacker(c Compression, out io.Writer) (packer, error) {
	switch c.Codec {
	case None:
		return plainPacker{out}, nil
	case Gzip:
		return newGzipPacker(c.Level, out)
	case Snappy:
		p := snappyPackers.Get().(*snappyPacker)
		p.blocks.reset(out, xerialBlock)
		p.started = false
		return p, nil
	case LZ4:
		return newLZ4Packer(c.Level, out)
	case Zstd:
		return newZstdPacker(c.Level, out)
	}
	return nil, fmt.Errorf("%w: %v", ErrUnsupportedCodec, c.Codec)
}

type plainPacker struct{ io.Writer }

func (plainPacker) finish() error { return nil }

// Encoders are kept per level, since making one costs more than packing an ordinary batch.

type gzipPacker struct {
	*gzip.Writer
	level int
}

var gzipPackers [gzip.BestCompression + 2]sync.Pool // level -1 to 9

func newGzipPacker(level int, out io.Writer) (packer, error) {
	if level < gzip.DefaultCompression || level == gzip.NoCompression || level > gzip.BestCompression {
		return nil, fmt.Errorf("%w: gzip level %d", ErrUnsupportedCodec, level)
	}
	if p, ok := gzipPackers[level+1].Get().(*gzipPacker); ok {
		p.Reset(out)
		return p, nil
	}
	w, err := gzip.NewWriterLevel(out, level)
	if err != nil {
		return nil, fmt.Errorf("%w: gzip level %d: %v", ErrUnsupportedCodec, level, err)
	}
	return &gzipPacker{w, level}, nil
}

func (p *gzipPacker) finish() error {
	err := p.Close()
	p.Reset(io.Discard)
	gzipPackers[p.level+1].Put(p)
	return err
}

type zstdPacker struct {
	*zstd.Encoder
	level zstd.EncoderLevel
}

var zstdPackers [zstd.SpeedBestCompression + 1]sync.Pool

// zstdPackWindow is the window of batches the broker packs itself, in bytes: a reader must hold it in memory.
const zstdPackWindow = 1 << 20

func newZstdPacker(level int, out io.Writer) (packer, error) {
	l := zstd.EncoderLevelFromZstd(level)
	if p, ok := zstdPackers[l].Get().(*zstdPacker); ok {
		p.Reset(out)
		return p, nil
	}
	w, err := zstd.NewWriter(out, zstd.WithEncoderLevel(l), zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false),
		zstd.WithLowerEncoderMem(true), zstd.WithWindowSize(zstdPackWindow))
	if err != nil {
		return nil, fmt.Errorf("%w: zstd level %d: %v", ErrUnsupportedCodec, level, err)
	}
	return &zstdPacker{w, l}, nil
}

func (p *zstdPacker) finish() error {
	err := p.Close()
	p.Reset(nil)
	zstdPackers[p.level].Put(p)
	return err
}

// blocks collects writes into blocks of a fixed size.
type blocks struct {
	out    io.Writer
	buf    []byte
	packed []byte
}

func (b *blocks) reset(out io.Writer, size int) {
	b.out = out
	if cap(b.buf) < size {
		b.buf = make([]byte, 0, size)
	}
	b.buf = b.buf[:0]
}

// write fills blocks and calls full for each.
func (b *blocks) write(p []byte, full func() error) (int, error) {
	n := len(p)
	for len(p) > 0 {
		step := min(len(p), cap(b.buf)-len(b.buf))
		b.buf = append(b.buf, p[:step]...)
		p = p[step:]
		if len(b.buf) == cap(b.buf) {
			if err := full(); err != nil {
				return 0, err
			}
		}
	}
	return n, nil
}

type snappyPacker struct {
	blocks
	started bool
}

var snappyPackers = sync.Pool{New: func() any { return new(snappyPacker) }}

func (p *snappyPacker) Write(b []byte) (int, error) { return p.write(b, p.flush) }

func (p *snappyPacker) flush() error {
	p.packed = p.packed[:0]
	if !p.started {
		p.started = true
		p.packed = appendXerialHeader(p.packed)
	}
	if len(p.buf) > 0 {
		p.packed = appendSnappyBlock(p.packed, p.buf)
		p.buf = p.buf[:0]
	}
	_, err := p.out.Write(p.packed)
	return err
}

func (p *snappyPacker) finish() error {
	var err error
	if len(p.buf) > 0 || !p.started {
		err = p.flush()
	}
	p.out = nil
	snappyPackers.Put(p)
	return err
}

type lz4Packer struct {
	blocks
	fast  lz4.Compressor
	hc    lz4.CompressorHC
	level int
	begun bool
}

var lz4Packers = sync.Pool{New: func() any { return new(lz4Packer) }}

// maxLZ4HC is the deepest search of our LZ4 encoder; Kafka's levels above it use it too.
const maxLZ4HC = 9

func newLZ4Packer(level int, out io.Writer) (packer, error) {
	if level < 1 || level > 17 {
		return nil, fmt.Errorf("%w: lz4 level %d", ErrUnsupportedCodec, level)
	}
	p := lz4Packers.Get().(*lz4Packer)
	p.reset(out, lz4Block)
	p.level, p.begun = level, false
	p.hc.Level = lz4.CompressionLevel(1 << (8 + min(level, maxLZ4HC)))
	return p, nil
}

func (p *lz4Packer) Write(b []byte) (int, error) { return p.write(b, p.flush) }

func (p *lz4Packer) flush() error {
	p.packed = p.packed[:0]
	if !p.begun {
		p.begun = true
		p.packed = appendLZ4Header(p.packed)
	}
	if len(p.buf) > 0 {
		at := len(p.packed)
		need := at + 4 + lz4.CompressBlockBound(len(p.buf))
		if cap(p.packed) < need {
			p.packed = append(make([]byte, 0, need), p.packed...)
		}
		n, err := p.compress(p.buf, p.packed[at+4:need])
		if err != nil || n == 0 || n >= len(p.buf) {
			p.packed = binary.LittleEndian.AppendUint32(p.packed, uint32(len(p.buf))|lz4Uncompressed)
			p.packed = append(p.packed, p.buf...)
		} else {
			p.packed = p.packed[:at+4+n]
			binary.LittleEndian.PutUint32(p.packed[at:], uint32(n))
		}
		p.buf = p.buf[:0]
	}
	_, err := p.out.Write(p.packed)
	return err
}

// compress packs one block. Kafka's default level, 9, means the fast algorithm, every other the thorough one.
func (p *lz4Packer) compress(src, dst []byte) (int, error) {
	if p.level == LZ4.DefaultLevel() {
		return p.fast.CompressBlock(src, dst)
	}
	return p.hc.CompressBlock(src, dst)
}

func (p *lz4Packer) finish() error {
	var err error
	if len(p.buf) > 0 || !p.begun {
		err = p.flush()
	}
	if err == nil {
		_, err = p.out.Write([]byte{0, 0, 0, 0})
	}
	p.out = nil
	lz4Packers.Put(p)
	return err
}

// appendLZ4Header begins a frame of independent 64 KiB blocks without checksums.
func appendLZ4Header(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, lz4Magic)
	desc := [2]byte{lz4Version<<6 | lz4FlagIndependent, 4 << 4}
	dst = append(dst, desc[0], desc[1])
	return append(dst, byte(xxh32(desc[:])>>8))
}

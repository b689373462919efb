package batch

import (
	"bytes"
	"encoding/binary"
	"errors"
	"runtime"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// allocated runs fn and says how many bytes it allocated.
func allocated(fn func()) uint64 {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	fn()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// zstdBomb is a frame whose blocks each repeat one byte for 128 KiB, in 4 bytes.
func zstdBomb(blocks int, windowDescriptor byte) []byte {
	b := []byte{0x28, 0xb5, 0x2f, 0xfd, 0x00, windowDescriptor}
	for i := range blocks {
		word := uint32(zstdMaxBlock)<<3 | 1<<1
		if i == blocks-1 {
			word |= 1
		}
		b = append(b, byte(word), byte(word>>8), byte(word>>16), 0)
	}
	return b
}

// A batch of about 1 KB may claim or unpack to what it likes: it costs no more memory than the bound.
func TestHostileBatchesCostBoundedMemory(t *testing.T) {
	snappyClaim := append(binary.AppendUvarint(nil, 1<<32-1), make([]byte, 1000)...)
	lz4Claim := []byte("\x04\x22\x4d\x18\x60\x70")
	lz4Claim = append(lz4Claim, byte(xxh32(lz4Claim[4:])>>8))
	lz4Block4M := append(bytes.Clone(lz4Claim), 0x05, 0, 0, 0, 0x50, 'a', 'b', 'c', 'd') // a block cut short
	single := []byte{0x28, 0xb5, 0x2f, 0xfd, 0xe0, 0xff, 0xff, 0xff, 0x07, 0, 0, 0, 0, 0x01, 0, 0}
	zeros := func(c Codec, n int) []byte {
		o := NoProducer()
		o.Compression = CompressionOf(c)
		b := NewBuilder(o)
		b.Add(testNow, nil, make([]byte, n), nil)
		return b.Bytes()
	}
	for _, c := range []struct {
		name string
		raw  []byte
		most uint64 // bytes
	}{
		{"zstd bomb of 32 MiB", withPayload(Zstd, zstdBomb(250, 0x00), 1), 1 << 20},
		{"zstd bomb, window 8 MiB", withPayload(Zstd, zstdBomb(250, 13<<3), 1), zstdStreamWindow + 1<<20},
		{"zstd bomb, window 128 MiB", withPayload(Zstd, zstdBomb(1000, 17<<3), 1), 3 * zstdWholeFrame},
		{"zstd window beyond any reader", withPayload(Zstd, zstdBomb(10, 30<<3), 1), 1 << 20},
		{"zstd claims 128 MiB of content", withPayload(Zstd, single, 1), 1 << 20},
		{"snappy claims 4 GiB", withPayload(Snappy, snappyClaim, 1), 1 << 20},
		{"lz4 claims blocks of 4 MiB", withPayload(LZ4, lz4Block4M, 1), 1 << 20},
		{"gzip of zeros", zeros(Gzip, 1<<20), 1 << 20},
		{"record count of 2^31-1", withPayload(None, make([]byte, 1000), 1<<31-1), 1 << 20},
		{"record of 1 GiB", withRecords(LZ4, []byte("\x80\x80\x80\x80\x08\x00\x00\x00\x01\x80\x80\x80\x80\x08"), 1), 1 << 20},
		{"header count of 2^31-1", withRecords(Zstd, []byte("\x20\x00\x00\x00\x01\x01\xfe\xff\xff\xff\x0f\x00\x00\x00"), 1), 1 << 20},
		{"bad records by the million", withRecords(Zstd, bytes.Repeat([]byte("\x0c\x00\x00\x00\x01\x01\x00"), 1<<20), 1<<20), 4 << 20},
	} {
		for _, target := range []TargetCodec{{}, ForceCodec(LZ4), ForceCodec(None)} {
			o := benchOptions()
			o.MaxBatchSize, o.Compacted, o.TargetCodec = 1<<20, true, target
			o.RecordBound = 64 << 20
			most := c.most
			if target.Force {
				most += DefaultRecordLimit / 4 // an encoder, the new batch, one record
			}
			var err error
			warm := benchOptions()
			if _, werr := Validate(sample(Codec(c.raw[offAttributes+1]&7), 20, 100), warm); werr != nil {
				t.Fatal(werr)
			}
			got := allocated(func() { _, err = Validate(bytes.Clone(c.raw), o) })
			if err == nil {
				t.Errorf("%s: accepted", c.name)
			}
			if got > most && !(target.Force && errors.Is(err, ErrTooLarge)) {
				t.Errorf("%s to %v: allocated %d bytes, the most is %d (%v)", c.name, target, got, most, err)
			}
			if got > 4*DefaultRecordLimit {
				t.Errorf("%s to %v: allocated %d bytes", c.name, target, got)
			}
		}
	}
}

func TestBombEndsAtTheBound(t *testing.T) {
	o := benchOptions()
	o.RecordBound = 16 << 20
	if _, err := Validate(withPayload(Zstd, zstdBomb(1000, 0x40), 1), o); err == nil {
		t.Error("accepted")
	}
	// A single sound record that is larger than the bound.
	bo := NoProducer()
	for _, c := range codecs[1:] {
		bo.Compression = CompressionOf(c)
		b := NewBuilder(bo)
		b.Add(testNow, nil, make([]byte, 17<<20), nil)
		raw := b.Bytes()
		if _, err := Validate(bytes.Clone(raw), o); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%v: %v", c, err)
		}
		unbound := o
		unbound.RecordBound = 0
		if _, err := Validate(raw, unbound); err != nil {
			t.Errorf("%v without the bound: %v", c, err)
		}
	}
}

// A frame may ask for a large window and be small: clients at high levels write such.
func TestLargeZstdWindowsAreReadWithoutTheirMemory(t *testing.T) {
	var records []byte
	for range 50 {
		records = append(records, "\x12\x00\x00\x00\x02k\x04vv\x00"...)
	}
	w, err := zstd.NewWriter(nil, zstd.WithWindowSize(64<<20), zstd.WithSingleSegment(false), zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	var out bytes.Buffer
	w.Reset(&out)
	for i := 0; i < len(records); i += 100 {
		if _, err := w.Write(records[i:min(i+100, len(records))]); err != nil {
			t.Fatal(err)
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := parseZstdFrame(out.Bytes())
	if err != nil || f.window != 64<<20 {
		t.Fatalf("window %d, %v", f.window, err)
	}
	raw := withPayload(Zstd, out.Bytes(), 50)
	var got []byte
	n := allocated(func() { got, err = Unpack(raw, Limits{}) })
	if err != nil || !bytes.Equal(got, records) {
		t.Errorf("%v", err)
	}
	if n > 4<<20 {
		t.Errorf("allocated %d bytes", n)
	}
}

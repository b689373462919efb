package batch

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/klauspost/compress/snappy"
	"github.com/pierrec/lz4/v4"
)

func unpackAll(c Codec, packed []byte) ([]byte, error) {
	return Unpack(withPayload(c, packed, 1), Limits{})
}

// What other clients than Java's write.
func TestSnappyIsReadWithAndWithoutFraming(t *testing.T) {
	want := bytes.Repeat([]byte("weir "), 20000)
	framed := func(block int) []byte {
		b := appendXerialHeader(nil)
		for rest := want; len(rest) > 0; {
			n := min(block, len(rest))
			b = appendSnappyBlock(b, rest[:n])
			rest = rest[n:]
		}
		return b
	}
	for name, packed := range map[string][]byte{
		"raw": snappy.Encode(nil, want), "32 KiB": framed(32 << 10), "1000": framed(1000), "7": framed(7), "one": framed(1 << 20),
		"bytes behind": append(framed(4096), 1, 2, 3),
	} {
		got, err := unpackAll(Snappy, packed)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
	}
	two := append(framed(5000), framed(3000)...)
	if got, err := unpackAll(Snappy, two); err != nil || !bytes.Equal(got, append(bytes.Clone(want), want...)) {
		t.Errorf("two streams: %d bytes, %v", len(got), err)
	}
	if _, err := unpackAll(Snappy, framed(5000)[:300]); !errors.Is(err, ErrUndecodable) {
		t.Errorf("cut short: %v", err)
	}
}

// The fast decoder must agree with the strict one about every block.
func TestSnappyAgreesWithTheStandard(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	refused := 0
	for i := range 20000 {
		plain := make([]byte, 1+r.IntN(300))
		for i := range plain {
			plain[i] = "ab"[r.IntN(2)]
		}
		packed := snappy.Encode(nil, plain)
		for range i % 4 {
			packed[r.IntN(len(packed))] = byte(r.Uint32())
		}
		if i%5 == 0 {
			packed = append([]byte{byte(4 + r.IntN(8)), 0, 'x'}, 1|byte(r.IntN(8))<<2, byte(r.IntN(2)))
		}
		want, werr := snappy.DecodeStrict(nil, packed)
		got, err := unpackAll(Snappy, packed)
		if (err == nil) != (werr == nil) && len(want) <= len(packed)*snappyMaxRatio {
			t.Fatalf("%x: %v, the strict decoder says %v", packed, err, werr)
		}
		if err == nil && !bytes.Equal(got, want) {
			t.Fatalf("%x: %q, want %q", packed, got, want)
		}
		if err != nil {
			refused++
		}
	}
	if refused < 1000 {
		t.Errorf("only %d blocks were broken", refused)
	}
}

func TestLZ4FramesOfOtherWritersAreRead(t *testing.T) {
	want := bytes.Repeat([]byte("0123456789abcdef-weir"), 20000)
	for _, size := range []lz4.BlockSize{lz4.Block64Kb, lz4.Block256Kb, lz4.Block1Mb, lz4.Block4Mb} {
		for _, sums := range []bool{false, true} {
			var out bytes.Buffer
			w := lz4.NewWriter(&out)
			if err := w.Apply(lz4.BlockSizeOption(size), lz4.ChecksumOption(sums), lz4.BlockChecksumOption(sums), lz4.SizeOption(uint64(len(want)))); err != nil {
				t.Fatal(err)
			}
			if _, err := w.Write(want); err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			got, err := unpackAll(LZ4, out.Bytes())
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%v %v: %d bytes, %v", size, sums, len(got), err)
			}
			if sums {
				bad := out.Bytes()
				bad[40] ^= 1
				if _, err := unpackAll(LZ4, bad); !errors.Is(err, ErrUndecodable) {
					t.Errorf("%v: a flipped bit: %v", size, err)
				}
			}
		}
	}
}

func TestLZ4RefusesWhatKafkaDoes(t *testing.T) {
	header := func(flags, bd byte) []byte {
		b := []byte{0x04, 0x22, 0x4d, 0x18, flags, bd}
		return append(append(b, byte(xxh32(b[4:])>>8)), 0, 0, 0, 0)
	}
	for name, packed := range map[string][]byte{
		"dependent blocks":  header(0x40, 0x40),
		"version 0":         header(0x20, 0x40),
		"reserved flags":    header(0x61, 0x40),
		"block size 3":      header(0x60, 0x30),
		"reserved bits":     header(0x60, 0x41),
		"header checksum":   append(header(0x60, 0x40)[:6], 0, 0, 0, 0, 0),
		"legacy magic":      []byte("\x02\x21\x4c\x18\x60\x40\x82\x00\x00\x00\x00"),
		"no end mark":       header(0x60, 0x40)[:7],
		"no content sum":    header(0x64, 0x40),
		"block of 64 KiB+1": append(header(0x60, 0x40)[:7], 1, 0, 1, 0x80),
	} {
		if _, err := unpackAll(LZ4, packed); !errors.Is(err, ErrUndecodable) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := unpackAll(LZ4, header(0x60, 0x40)); err != nil {
		t.Errorf("an empty frame: %v", err)
	}
}

// The reference decoder's rules about a block's end.
func TestLZ4BlocksFollowTheReferencesRules(t *testing.T) {
	for _, c := range []struct {
		name, block string
		want        string
		ok          bool
	}{
		{"literals only", "50" + "6162636465", "abcde", true},
		{"literals with a match length that never comes", "34" + "036c9e", "\x03\x6c\x9e", true},
		{"literals missing", "50" + "61", "", false},
		{"match, then five literals", "1f" + "61" + "0100" + "00" + "50" + "6263646566", "aaaaaaaaaaaaaaaaaaaabcdef", true},
		{"match, then four literals", "10" + "61" + "0100" + "40" + "62636465", "", false},
		{"ends in a match", "1f" + "61" + "0100" + "00", "", false},
		{"match before the start", "10" + "61" + "0200" + "50" + "6263646566", "", false},
		{"match of offset 0", "10" + "61" + "0000" + "50" + "6263646566", "a\x00\x00\x00\x00bcdef", true},
		{"empty", "00", "", true},
	} {
		src, err := hex.DecodeString(c.block)
		if err != nil {
			t.Fatal(err)
		}
		n := lz4BlockSize(src, lz4Block)
		if (n >= 0) != c.ok {
			t.Errorf("%s: size %d", c.name, n)
			continue
		}
		if n > 0 {
			dst := make([]byte, n)
			lz4Unpack(dst, src)
			if string(dst) != c.want {
				t.Errorf("%s: %q, want %q", c.name, dst, c.want)
			}
		}
	}
	// Both decoders agree about what an encoder writes, up to the very size of the buffer.
	r := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		plain := make([]byte, 1+r.IntN(5000))
		for i := range plain {
			plain[i] = "ab"[r.IntN(2)]
		}
		var comp lz4.Compressor
		block := make([]byte, lz4.CompressBlockBound(len(plain)))
		n, err := comp.CompressBlock(plain, block)
		if err != nil || n == 0 {
			continue
		}
		if got := lz4BlockSize(block[:n], len(plain)); got != len(plain) {
			t.Fatalf("size %d, want %d", got, len(plain))
		}
		dst := make([]byte, len(plain))
		lz4Unpack(dst, block[:n])
		if !bytes.Equal(dst, plain) {
			t.Fatal("the slow decoder differs")
		}
	}
}

func TestXXH32MatchesItsTestVectors(t *testing.T) {
	for in, want := range map[string]uint32{"": 0x02cc5d05, "a": 0x550d7456, "abc": 0x32d153ff, "Nobody inspects the spammish repetition": 0xe2293b2f} {
		if got := xxh32([]byte(in)); got != want {
			t.Errorf("%q: %#x, want %#x", in, got, want)
		}
	}
}

func TestGzipMembersAndHeadersAreRead(t *testing.T) {
	member := func(flags byte, extra string, body string) []byte {
		out := output{}
		p, err := newPacker(CompressionOf(Gzip), &out)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Write([]byte(body)); err != nil {
			t.Fatal(err)
		}
		if err := p.finish(); err != nil {
			t.Fatal(err)
		}
		b := bytes.Clone(out.b)
		b[3] = flags
		return append(append(bytes.Clone(b[:10]), extra...), b[10:]...)
	}
	plain := member(0, "", "hello ")
	for name, c := range map[string]struct {
		packed []byte
		want   string
	}{
		"one":            {plain, "hello "},
		"name and note":  {member(0x18, "name\x00note\x00", "x"), "x"},
		"extra":          {member(0x04, "\x02\x00ab", "x"), "x"},
		"reserved flags": {member(0xe0, "", "x"), "x"},
		"two":            {append(bytes.Clone(plain), member(0, "", "world")...), "hello world"},
		"garbage behind": {append(bytes.Clone(plain), "no member at all, but long enough to be one"...), "hello "},
	} {
		if got, err := unpackAll(Gzip, c.packed); err != nil || string(got) != c.want {
			t.Errorf("%s: %q %v", name, got, err)
		}
	}
	sum := bytes.Clone(plain)
	sum[len(sum)-5] ^= 1
	for name, packed := range map[string][]byte{"checksum": sum, "cut short": plain[:len(plain)-9], "no trailer": plain[:len(plain)-1], "deflate64": append([]byte("\x1f\x8b\x09"), plain[3:]...)} {
		if _, err := unpackAll(Gzip, packed); !errors.Is(err, ErrUndecodable) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Differences from Kafka that a comparison with it once found.
func TestStreamsBehaveWhereKafkaSurprised(t *testing.T) {
	one := []byte("\x10\x00\x00\x00\x02k\x02v\x00") // one record of 8 bytes
	// A frame whose one stored block is cut short: what is there of it is read.
	stored := func(frame string, claim int, b []byte) []byte {
		word := uint32(claim)<<3 | 1
		out := append([]byte(frame), byte(word), byte(word>>8), byte(word>>16))
		return append(out, b...)
	}
	const plain, summed = "\x28\xb5\x2f\xfd\x00\x00", "\x28\xb5\x2f\xfd\x04\x00"
	skip := []byte("\x51\x2a\x4d\x18\x02\x00\x00\x00ab")
	snappyHeader := func(version uint32) []byte {
		h := []byte(xerialMagic)
		return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(h, version), 1)
	}
	for _, c := range []struct {
		name    string
		codec   Codec
		payload []byte
		n       int32
		want    error // nil: accepted
	}{
		{"zstd without data", Zstd, nil, 1, ErrInvalidRecord},
		{"zstd, then two bytes that start no frame", Zstd, append(stored(plain, len(one), one), "hc"...), 1, ErrUndecodable},
		{"zstd, then two bytes that start one", Zstd, append(stored(plain, len(one), one), "\x28\xb5"...), 1, nil},
		{"zstd, skippable frames around", Zstd, append(append(bytes.Clone(skip), stored(plain, len(one), one)...), skip...), 1, nil},
		{"zstd, stored block cut short behind the records", Zstd, stored(plain, 50, one), 1, ErrUndecodable},
		{"zstd, stored block cut short within them", Zstd, stored(plain, 50, append(bytes.Clone(one), one...)), 1, ErrInvalidRecord},
		{"zstd, checksum cut short", Zstd, append(stored(summed, len(one), one), 1, 2), 1, ErrUndecodable},
		{"zstd, checksum cut short, a frame before", Zstd, append(append(bytes.Clone(skip), stored(summed, len(one), one)...), 1, 2), 1, nil},
		{"snappy of a strange version", Snappy, appendSnappyBlock(snappyHeader(0x80000001), one), 1, nil},
		{"snappy, second stream of a strange version", Snappy, append(appendSnappyBlock(snappyHeader(1), one), snappyHeader(0)...), 1, ErrUndecodable},
		{"snappy, a header that is none in between", Snappy, appendSnappyBlock(append(appendSnappyBlock(snappyHeader(1), one), "\x82SNAxxxxxxxxxxxx"...), []byte("\x10\x00\x00\x02\x02k\x02v\x00")), 2, nil},
		{"lz4, a block of nothing", LZ4, []byte("\x04\x22\x4d\x18\x60\x40\x82\x01\x00\x00\x00\x00\xff\xff\xff\x7f"), 1, ErrInvalidRecord},
	} {
		_, err := Validate(withPayload(c.codec, c.payload, c.n), benchOptions())
		if !errors.Is(err, c.want) || c.want == nil && err != nil {
			t.Errorf("%s: got %v, want %v", c.name, err, c.want)
		}
	}
	// A compressed record may claim a length that its fields do not fill, if it is stored as it came.
	lie := []byte("\x40\x00\x00\x00\x02k\x02v\x00")
	o := benchOptions()
	if _, err := Validate(withRecords(LZ4, lie, 1), o); err != nil {
		t.Errorf("lying length: %v", err)
	}
	o.TargetCodec = ForceCodec(Gzip)
	if _, err := Validate(withRecords(LZ4, lie, 1), o); !errors.Is(err, ErrInvalidRecord) {
		t.Errorf("lying length, rebuilt: %v", err)
	}
}

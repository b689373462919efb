//go:build interop

package validate_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"math/rand/v2"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"github.com/weir-broker/weir/broker/batch"
)

// testCase is one partition's records of a produce request and the rules it meets.
type testCase struct {
	version int16
	raw     []byte
	o       batch.ValidateOptions
	made    []string // what was done to it
}

const now = 1_700_000_000_000

// The quirks after which two sound decoders may differ about what is wrong first.
const (
	flippedBits = "flipped bits in the packed records"
	cutShort    = "packed records cut short"
)

// maker builds a case and notes what it did.
type maker struct {
	*rand.Rand
	c testCase
}

// odds reports true about once in n times, and notes the quirk if it does.
func (m *maker) odds(n int, quirk string) bool {
	if m.IntN(n) != 0 {
		return false
	}
	m.note("%s", quirk)
	return true
}

func (m *maker) note(format string, args ...any) {
	m.c.made = append(m.c.made, fmt.Sprintf(format, args...))
}

// newCase makes a case. About half of them are sound; the rest have one fault or a few.
func newCase(r *rand.Rand) testCase {
	m := &maker{Rand: r}
	m.options()
	sound := m.IntN(2) == 0
	h := m.header(sound)
	records, n := m.records(&h, sound)
	if h.RecordCount == math.MinInt32 {
		h.RecordCount = int32(n)
		h.LastOffsetDelta = int32(n) - 1
	}
	codec := h.Codec()
	payload := records
	if codec.Valid() && codec != batch.None {
		payload = m.pack(codec, records, sound)
		if !sound && m.odds(6, flippedBits) {
			for range 1 + m.IntN(3) {
				if len(payload) > 0 {
					payload[m.IntN(len(payload))] ^= 1 << m.IntN(8)
				}
			}
		}
		if !sound && m.odds(12, cutShort) {
			payload = payload[:m.IntN(len(payload)+1)]
		}
	}
	m.c.raw = m.frame(h, payload, sound)
	return m.c
}

func (m *maker) options() {
	o := batch.ValidateOptions{
		NextOffset: batch.Offset(m.IntN(1000)), LeaderEpoch: batch.LeaderEpoch(m.IntN(5)), Now: now, BeforeMax: math.MaxInt64,
		AfterMax: 3600000, MaxBatchSize: 1048588, TopicPartition: "t-0", RecordBound: 1 << 30,
	}
	if m.IntN(4) == 0 {
		o.TimestampType = batch.LogAppendTime
	}
	if m.IntN(4) == 0 {
		o.BeforeMax = int64(m.IntN(100000))
	}
	if m.IntN(4) == 0 {
		o.AfterMax = int64(m.IntN(100000))
	}
	if m.IntN(16) == 0 {
		o.MaxBatchSize = 60 + m.IntN(400)
	}
	if m.IntN(16) == 0 {
		o.MaxRecordSize = 1 + m.IntN(200)
	}
	o.Compacted = m.IntN(4) == 0
	if m.IntN(3) == 0 {
		o.TargetCodec = batch.ForceCodec(batch.Codec(m.IntN(5)))
		if m.IntN(2) == 0 {
			switch o.TargetCodec.Compression.Codec {
			case batch.Gzip:
				o.TargetCodec.Compression.Level = 1 + m.IntN(9)
			case batch.LZ4:
				o.TargetCodec.Compression.Level = 1 + m.IntN(17)
			case batch.Zstd:
				o.TargetCodec.Compression.Level = m.IntN(12) - 2
			}
		}
	}
	if o.TargetCodec.Force && o.TargetCodec.Compression.Codec != batch.None {
		// Ours and Kafka's encoders do not pack to the same size.
		o.MaxBatchSize = 1 << 30
	}
	m.c.o = o
	m.c.version = 12
	if m.IntN(20) == 0 {
		m.c.version = int16(3 + m.IntN(10))
	}
}

func (m *maker) header(sound bool) batch.Header {
	h := batch.Header{
		LeaderEpoch: -1, Magic: 2, Attributes: int16(m.IntN(5)), BaseTimestamp: now + int64(m.IntN(2000)) - 1000,
		ProducerID: -1, ProducerEpoch: -1, BaseSequence: -1, RecordCount: math.MinInt32,
	}
	if m.IntN(3) == 0 {
		h.ProducerID, h.ProducerEpoch, h.BaseSequence = batch.ProducerID(m.IntN(100)), batch.ProducerEpoch(m.IntN(3)), int32(m.IntN(10))
		if m.IntN(8) == 0 {
			h.BaseSequence = math.MaxInt32 - int32(m.IntN(3))
		}
		if m.IntN(3) == 0 {
			h.Attributes |= 0x10
		}
	}
	if m.IntN(10) == 0 {
		h.BaseTimestamp = -1
	}
	if sound {
		return h
	}
	if m.odds(25, "base offset") {
		h.BaseOffset = batch.Offset(m.IntN(5) - 2)
	}
	if m.odds(25, "any attributes") {
		h.Attributes = int16(m.Uint32())
	}
	if m.odds(15, "bit 3") {
		h.Attributes |= 0x08
	}
	if m.odds(25, "control bit") {
		h.Attributes |= 0x20
	}
	if m.odds(25, "horizon bit") {
		h.Attributes |= 0x40
	}
	if m.odds(20, "high attribute bits") {
		h.Attributes |= int16(m.Uint32()) &^ 0x7f
	}
	if m.odds(20, "transactional bit") {
		h.Attributes |= 0x10
	}
	if m.odds(15, "producer fields") {
		h.ProducerID = batch.ProducerID(m.IntN(4) - 2)
		h.ProducerEpoch = batch.ProducerEpoch(m.IntN(4) - 2)
		h.BaseSequence = int32(m.IntN(4) - 2)
	}
	if m.odds(12, "base timestamp") {
		h.BaseTimestamp = m.timestamp()
	}
	if m.odds(40, "magic") {
		h.Magic = int8(m.IntN(6) - 2)
	}
	return h
}

// timestamp is often an extreme one.
func (m *maker) timestamp() int64 {
	switch m.IntN(8) {
	case 0:
		return int64(m.Uint64())
	case 1:
		return math.MinInt64 + int64(m.IntN(3))
	case 2:
		return math.MaxInt64 - int64(m.IntN(3))
	case 3:
		return -1
	case 4:
		return -int64(m.IntN(100))
	case 5:
		return now - m.c.o.BeforeMax + int64(m.IntN(3)) - 1
	case 6:
		return now + m.c.o.AfterMax + int64(m.IntN(3)) - 1
	}
	return now + int64(m.IntN(1000000)) - 500000
}

func varint(dst []byte, v int64) []byte {
	return binary.AppendUvarint(dst, uint64(v)<<1^uint64(v>>63))
}

// length encodes a length or count, at times not in the shortest form, or not as itself.
func (m *maker) length(dst []byte, v int64, sound bool) []byte {
	if sound {
		return varint(dst, v)
	}
	switch {
	case m.odds(400, "wrong length"):
		v += int64(m.IntN(5) - 2)
	case m.odds(1500, "any length"):
		v = int64(int32(m.Uint32()))
	case m.odds(1000, "padded varint"):
		dst = varint(dst, v)
		for range 1 + m.IntN(10) {
			dst[len(dst)-1] |= 0x80
			dst = append(dst, 0)
		}
		return dst
	case m.odds(2000, "endless varint"):
		return append(dst, bytes.Repeat([]byte{0xff}, 1+m.IntN(11))...)
	}
	return varint(dst, v)
}

func (m *maker) bytes(most int) []byte {
	b := make([]byte, m.IntN(most+1))
	for i := range b {
		b[i] = "abcdefgh"[m.IntN(8)]
	}
	return b
}

func (m *maker) field(dst, b []byte, sound bool) []byte {
	if b == nil {
		n := int64(-1)
		if !sound && m.odds(30, "null below -1") {
			n = -2 - int64(m.IntN(100))
		}
		return m.length(dst, n, sound)
	}
	return append(m.length(dst, int64(len(b)), sound), b...)
}

// records encodes records, sets the header's timestamps and, when wrong ones are wanted, its counts.
func (m *maker) records(h *batch.Header, sound bool) ([]byte, int) {
	n := 1 + m.IntN(12)
	valueSize := 40
	switch m.IntN(40) {
	case 0:
		n = 1 + m.IntN(1000)
	case 1:
		valueSize = 20000
	case 2:
		n, valueSize = 1+m.IntN(100), 3000
	}
	nullKeys := 1 << 30
	if !m.c.o.Compacted || m.odds(3, "null keys") {
		nullKeys = 4
	}
	outOfRange := 0
	if m.odds(6, "odd timestamps") {
		outOfRange = 1 + m.IntN(5)
	}
	scatter := !sound && m.odds(15, "offset deltas")
	h.MaxTimestamp = -1
	var out []byte
	for i := range n {
		ts := h.BaseTimestamp + int64(m.IntN(1000))
		if h.BaseTimestamp == -1 {
			ts = -1
		}
		if outOfRange > 0 && m.IntN(outOfRange) == 0 {
			ts = m.timestamp()
		}
		if i == 0 && m.IntN(2) == 0 {
			ts = h.BaseTimestamp
		}
		h.MaxTimestamp = max(h.MaxTimestamp, ts)
		delta := int64(i)
		if scatter && m.IntN(3) == 0 {
			delta = int64(m.IntN(n+2)) - 1
		}
		out = m.record(out, ts-h.BaseTimestamp, delta, nullKeys, valueSize, sound)
	}
	if sound {
		if m.IntN(8) == 0 {
			h.MaxTimestamp = m.timestamp()
		}
		return out, n
	}
	if m.odds(30, "record count") {
		h.RecordCount = int32(n + m.IntN(4) - 1)
		h.LastOffsetDelta = h.RecordCount - 1
	}
	if m.odds(40, "any count") {
		h.RecordCount = []int32{0, -1, math.MaxInt32, math.MinInt32 + 1, int32(m.Uint32())}[m.IntN(5)]
		h.LastOffsetDelta = h.RecordCount - 1
		if m.IntN(2) == 0 {
			h.LastOffsetDelta = int32(m.Uint32())
		}
	}
	if m.odds(15, "records cut short") {
		out = out[:m.IntN(len(out)+1)]
	}
	if m.odds(20, "bytes after the records") {
		out = append(out, m.bytes(12)...)
	}
	if m.odds(20, "flipped byte in the records") && len(out) > 0 {
		out[m.IntN(len(out))] = byte(m.Uint32())
	}
	if m.odds(15, "max timestamp") {
		h.MaxTimestamp = m.timestamp()
	}
	return out, n
}

func (m *maker) record(dst []byte, tsDelta, offsetDelta int64, nullKeys, valueSize int, sound bool) []byte {
	var b []byte
	b = append(b, 0)
	if !sound && m.odds(100, "record attributes") {
		b[0] = byte(m.Uint32())
	}
	b = varint(b, tsDelta)
	b = m.length(b, offsetDelta, sound)
	key := m.bytes(10)
	if m.IntN(nullKeys) == 0 {
		key = nil
	}
	value := m.bytes(valueSize)
	if m.IntN(10) == 0 {
		value = nil
	}
	b = m.field(b, key, sound)
	b = m.field(b, value, sound)
	headers := 0
	if m.IntN(5) == 0 {
		headers = m.IntN(4)
	}
	b = m.length(b, int64(headers), sound)
	for range headers {
		name := m.bytes(6)
		if !sound && m.odds(100, "null header key") {
			name = nil
		}
		b = m.field(b, name, sound)
		hv := m.bytes(8)
		if m.IntN(4) == 0 {
			hv = nil
		}
		b = m.field(b, hv, sound)
	}
	if !sound && m.odds(150, "spare bytes in a record") {
		b = append(b, m.bytes(4)...)
	}
	return append(m.length(dst, int64(len(b)), sound), b...)
}

// frame makes the batch's bytes, CRC right unless not, and what may surround it.
func (m *maker) frame(h batch.Header, payload []byte, sound bool) []byte {
	h.BatchLength = int32(batch.HeaderLen - batch.LogOverhead + len(payload))
	if !sound && m.odds(60, "batch length") {
		h.BatchLength = []int32{int32(m.IntN(70)), h.BatchLength + int32(m.IntN(5)) - 2, -1, math.MaxInt32, int32(m.Uint32())}[m.IntN(5)]
	}
	raw := append(batch.AppendHeader(nil, &h), payload...)
	size := min(max(int(h.BatchLength)+12, 0), len(raw))
	if size > 21 {
		binary.BigEndian.PutUint32(raw[17:], crc32.Checksum(raw[21:size], crc32.MakeTable(crc32.Castagnoli)))
	}
	if sound {
		return raw
	}
	if m.odds(40, "CRC") {
		raw[17+m.IntN(4)] ^= 1 << m.IntN(8)
	}
	if m.odds(40, "cut short") {
		raw = raw[:m.IntN(len(raw)+1)]
	}
	if m.odds(40, "bytes after the batch") {
		raw = append(raw, m.bytes(40)...)
	}
	if m.odds(60, "zeros after the batch") {
		raw = append(raw, make([]byte, m.IntN(40))...)
	}
	if m.odds(60, "two batches") {
		raw = append(raw, raw...)
	}
	return raw
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// pack compresses records as one of the many ways clients do, or no client does.
func (m *maker) pack(c batch.Codec, b []byte, sound bool) []byte {
	switch c {
	case batch.Gzip:
		return m.packGzip(b, sound)
	case batch.Snappy:
		return m.packSnappy(b, sound)
	case batch.LZ4:
		return m.packLZ4(b, sound)
	}
	return m.packZstd(b, sound)
}

func (m *maker) packGzip(b []byte, sound bool) []byte {
	one := func(b []byte) []byte {
		var out bytes.Buffer
		w, err := gzip.NewWriterLevel(&out, m.IntN(10))
		must(err)
		if m.IntN(5) == 0 {
			w.Name, w.Comment, w.Extra = "name", "comment", []byte("extra")
		}
		for len(b) > 0 {
			n := 1 + m.IntN(len(b))
			_, err := w.Write(b[:n])
			must(err)
			if m.IntN(4) == 0 {
				must(w.Flush())
			}
			b = b[n:]
		}
		must(w.Close())
		return out.Bytes()
	}
	if m.odds(8, "two gzip members") {
		cut := m.IntN(len(b) + 1)
		b = append(one(b[:cut]), one(b[cut:])...)
	} else {
		b = one(b)
	}
	if !sound && m.odds(15, "bytes after gzip") {
		b = append(b, m.bytes(40)...)
	}
	return b
}

func (m *maker) packSnappy(b []byte, sound bool) []byte {
	if m.odds(3, "raw snappy") {
		return snappy.Encode(nil, b)
	}
	header := func() []byte {
		h := []byte("\x82SNAPPY\x00\x00\x00\x00\x01\x00\x00\x00\x01")
		if !sound && m.odds(20, "snappy header") {
			h[m.IntN(len(h))] ^= 1 << m.IntN(8)
		}
		return h
	}
	out := header()
	block := 32 << 10
	if m.IntN(2) == 0 {
		block = 1 + m.IntN(200)
	}
	for len(b) > 0 {
		n := min(block, len(b))
		p := snappy.Encode(nil, b[:n])
		b = b[n:]
		out = binary.BigEndian.AppendUint32(out, uint32(len(p)))
		out = append(out, p...)
		if m.odds(40, "snappy streams in a row") {
			out = append(out, header()...)
		}
	}
	if !sound && m.odds(15, "bytes after snappy") {
		out = append(out, m.bytes(12)...)
	}
	return out
}

func (m *maker) packLZ4(b []byte, sound bool) []byte {
	var out bytes.Buffer
	w := lz4.NewWriter(&out)
	sizes := []lz4.BlockSize{lz4.Block64Kb, lz4.Block256Kb, lz4.Block1Mb, lz4.Block4Mb}
	opts := []lz4.Option{
		lz4.BlockSizeOption(sizes[m.IntN(4)]), lz4.ChecksumOption(m.IntN(2) == 0), lz4.BlockChecksumOption(m.IntN(3) == 0),
		lz4.ConcurrencyOption(1),
	}
	if m.IntN(3) == 0 {
		opts = append(opts, lz4.SizeOption(uint64(len(b))))
	}
	if m.IntN(4) == 0 {
		opts = append(opts, lz4.CompressionLevelOption(lz4.Level5))
	}
	must(w.Apply(opts...))
	_, err := w.Write(b)
	must(err)
	must(w.Close())
	p := out.Bytes()
	if !sound && m.odds(15, "bytes after lz4") {
		p = append(p, m.bytes(12)...)
	}
	if !sound && m.odds(30, "lz4 header") {
		p[m.IntN(min(len(p), 8))] ^= 1 << m.IntN(8)
	}
	return p
}

func (m *maker) packZstd(b []byte, sound bool) []byte {
	one := func(b []byte) []byte {
		opts := []zstd.EOption{
			zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(m.IntN(2) == 0), zstd.WithEncoderLevel(zstd.EncoderLevel(1 + m.IntN(3))),
			zstd.WithZeroFrames(true), zstd.WithSingleSegment(m.IntN(3) == 0), zstd.WithWindowSize(1 << (10 + m.IntN(10))),
		}
		w, err := zstd.NewWriter(nil, opts...)
		must(err)
		defer w.Close()
		if m.IntN(2) == 0 {
			return w.EncodeAll(b, nil)
		}
		var out bytes.Buffer
		w.Reset(&out)
		for len(b) > 0 {
			n := 1 + m.IntN(len(b))
			_, err := w.Write(b[:n])
			must(err)
			if m.IntN(4) == 0 {
				must(w.Flush())
			}
			b = b[n:]
		}
		must(w.Close())
		return out.Bytes()
	}
	skippable := func() []byte {
		p := m.bytes(20)
		h := binary.LittleEndian.AppendUint32(nil, 0x184D2A50+uint32(m.IntN(16)))
		return append(binary.LittleEndian.AppendUint32(h, uint32(len(p))), p...)
	}
	var out []byte
	if m.odds(30, "skippable zstd frame") {
		out = append(out, skippable()...)
	}
	if m.odds(8, "two zstd frames") {
		cut := m.IntN(len(b) + 1)
		out = append(append(out, one(b[:cut])...), one(b[cut:])...)
	} else {
		out = append(out, one(b)...)
	}
	if m.odds(30, "skippable zstd frame after") {
		out = append(out, skippable()...)
	}
	if !sound && m.odds(15, "bytes after zstd") {
		out = append(out, m.bytes(12)...)
	}
	return out
}

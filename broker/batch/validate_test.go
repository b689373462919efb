package batch

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"testing"
)

const testNow = 1_700_000_001_000

// build makes a batch of records with the given timestamps, keys "k".
func build(c Codec, ts ...int64) []byte {
	o := NoProducer()
	o.Compression = CompressionOf(c)
	b := NewBuilder(o)
	for _, t := range ts {
		b.Add(t, []byte("k"), []byte("v"), nil)
	}
	return b.Bytes()
}

// edited changes raw and makes its CRC right again.
func edited(raw []byte, fn func(b []byte)) []byte {
	b := bytes.Clone(raw)
	fn(b)
	binary.BigEndian.PutUint32(b[offCRC:], checksum(b))
	return b
}

// withRecords makes a batch whose payload is exactly records, compressed by c, claiming n records.
func withRecords(c Codec, records []byte, n int32) []byte {
	out := output{b: make([]byte, HeaderLen)}
	p, err := newPacker(CompressionOf(c), &out)
	if err != nil {
		panic(err)
	}
	if _, err := p.Write(records); err != nil {
		panic(err)
	}
	if err := p.finish(); err != nil {
		panic(err)
	}
	return withPayload(c, out.b[HeaderLen:], n)
}

// withPayload makes a batch whose bytes behind the header are payload.
func withPayload(c Codec, payload []byte, n int32) []byte {
	h := Header{
		LeaderEpoch: -1, Magic: 2, Attributes: int16(c), LastOffsetDelta: n - 1, BaseTimestamp: testNow, MaxTimestamp: testNow,
		ProducerID: -1, ProducerEpoch: -1, BaseSequence: -1, RecordCount: n,
	}
	return seal(append(make([]byte, HeaderLen), payload...), &h)
}

func TestValidateRefuses(t *testing.T) {
	sound := build(None, testNow, testNow)
	put16 := func(at int, v uint16) func([]byte) { return func(b []byte) { binary.BigEndian.PutUint16(b[at:], v) } }
	put32 := func(at int, v int32) func([]byte) {
		return func(b []byte) { binary.BigEndian.PutUint32(b[at:], uint32(v)) }
	}
	put64 := func(at int, v int64) func([]byte) {
		return func(b []byte) { binary.BigEndian.PutUint64(b[at:], uint64(v)) }
	}
	flip := bytes.Clone(sound)
	flip[len(flip)-1] ^= 1
	short := func(n int) []byte { // a batch that says it is only n bytes long
		b := bytes.Clone(sound[:n])
		binary.BigEndian.PutUint32(b[offBatchLength:], uint32(n-LogOverhead))
		return b
	}
	for _, c := range []struct {
		name string
		raw  []byte
		want error
	}{
		{"nothing", nil, ErrInvalidRecord},
		{"half a batch", sound[:len(sound)-1], ErrInvalidRecord},
		{"length below any batch", edited(sound, put32(offBatchLength, 13)), ErrCorrupt},
		{"magic 0", edited(sound, func(b []byte) { b[offMagic] = 0 }), ErrInvalidRecord},
		{"magic 3", edited(sound, func(b []byte) { b[offMagic] = 3 }), ErrCorrupt},
		{"two batches", append(bytes.Clone(sound), sound...), ErrInvalidRecord},
		{"garbage that starts like a batch", append(bytes.Clone(sound), make([]byte, 12)...), ErrCorrupt},
		{"batch of 26 bytes", short(26), ErrUndecodable},
		{"batch of 40 bytes", short(40), ErrCorrupt},
		{"base offset", edited(sound, put64(offBaseOffset, 1)), ErrInvalidRecord},
		{"CRC", flip, ErrCorrupt},
		{"codec 5", edited(sound, put16(offAttributes, 5)), ErrUndecodable},
		{"negative last offset delta", edited(sound, put32(offLastOffsetDelta, -1)), ErrInvalidRecord},
		{"no records", edited(sound, put32(offRecordCount, 0)), ErrInvalidRecord},
		{"delta and count differ", edited(sound, put32(offRecordCount, 1)), ErrInvalidRecord},
		{"control batch", edited(sound, put16(offAttributes, attrControl)), ErrInvalidRecord},
		{"producer without sequence", edited(sound, put64(offProducerID, 1)), ErrInvalidRecord},
		{"one record too few", withRecords(None, sound[HeaderLen:], 3), ErrInvalidRecord},
		{"one record too many", withRecords(None, sound[HeaderLen:], 1), ErrInvalidRecord},
		{"one record too few, packed", withRecords(LZ4, sound[HeaderLen:], 3), ErrInvalidRecord},
		{"one record too many, packed", withRecords(LZ4, sound[HeaderLen:], 1), ErrInvalidRecord},
		{"record longer than the batch", withRecords(None, []byte("\x7e\x00\x00\x00\x01\x01\x00"), 1), ErrInvalidRecord},
		{"record shorter than its fields", withRecords(None, []byte("\x0a\x00\x00\x00\x01\x01\x00"), 1), ErrInvalidRecord},
		{"negative record length", withRecords(None, []byte("\x01\x00\x00\x00\x01\x01\x00"), 1), ErrInvalidRecord},
		{"negative record length, packed", withRecords(Gzip, []byte("\x01\x00\x00\x00\x01\x01\x00"), 1), ErrInvalidRecord},
		{"endless record length", withRecords(None, bytes.Repeat([]byte{0xff}, 9), 1), ErrUndecodable},
		{"endless record length, packed", withRecords(Zstd, bytes.Repeat([]byte{0xff}, 9), 1), ErrInvalidRecord},
		{"negative header count", withRecords(None, []byte("\x0c\x00\x00\x00\x01\x01\x01"), 1), ErrInvalidRecord},
		{"null header key", withRecords(None, []byte("\x10\x00\x00\x00\x01\x01\x02\x01\x01"), 1), ErrInvalidRecord},
		{"headers that are not there", withRecords(Snappy, []byte("\x10\x00\x00\x00\x01\x01\xfe\xff\xff\xff\x0f"), 1), ErrInvalidRecord},
		{"no gzip", withPayload(Gzip, []byte("hello, world"), 1), ErrUndecodable},
		{"no snappy", withPayload(Snappy, []byte("\xff\xff\xff\xff\x0fhello"), 1), ErrUndecodable},
		{"no lz4", withPayload(LZ4, []byte("hello, world"), 1), ErrUndecodable},
		{"no zstd", withPayload(Zstd, []byte("hello, world"), 1), ErrUndecodable},
		{"empty gzip", withPayload(Gzip, nil, 1), ErrUndecodable},
		{"empty snappy", withPayload(Snappy, nil, 1), ErrUndecodable},
		{"empty lz4", withPayload(LZ4, nil, 1), ErrUndecodable},
		{"empty zstd", withPayload(Zstd, nil, 1), ErrInvalidRecord},
	} {
		before := bytes.Clone(c.raw)
		_, err := Validate(c.raw, benchOptions())
		if !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, err, c.want)
		}
		if !bytes.Equal(before, c.raw) {
			t.Errorf("%s: changed although refused", c.name)
		}
		o := benchOptions()
		o.HeaderOnly, o.Compacted = true, true
		if _, err := Validate(c.raw, o); !errors.Is(err, c.want) {
			t.Errorf("%s, header only on a compacted topic: got %v, want %v", c.name, err, c.want)
		}
	}
}

// Of several faults the one Kafka meets first is reported.
func TestValidateReportsTheFirstFault(t *testing.T) {
	bad := build(None, testNow)
	bad[offCRC] ^= 1
	SetBaseOffset(bad, 5)
	o := benchOptions()
	o.MaxBatchSize = 10
	steps := []struct {
		want error
		mend func()
	}{
		{ErrInvalidRecord, func() { SetBaseOffset(bad, 0) }},
		{ErrTooLarge, func() { o.MaxBatchSize = 0 }},
		{ErrCorrupt, func() { bad[offCRC] ^= 1 }},
		{nil, func() {}},
	}
	for i, s := range steps {
		if _, err := Validate(bad, o); !errors.Is(err, s.want) {
			t.Errorf("step %d: got %v, want %v", i, err, s.want)
		}
		s.mend()
	}
}

func TestValidateStampsOffsetsAndEpochInPlace(t *testing.T) {
	for _, c := range codecs {
		raw := build(c, testNow, testNow+5, testNow+2)
		crc := binary.BigEndian.Uint32(raw[offCRC:])
		o := benchOptions()
		res, err := Validate(raw, o)
		if err != nil {
			t.Fatalf("%v: %v", c, err)
		}
		h, err := ParseHeader(res.Raw)
		if err != nil || h != res.Header || &res.Raw[0] != &raw[0] || res.Recompressed {
			t.Errorf("%v: not in place: %+v %v", c, res, err)
		}
		if h.BaseOffset != o.NextOffset || h.LastOffset() != o.NextOffset+2 || h.LeaderEpoch != o.LeaderEpoch || h.CRC != crc || !VerifyCRC(res.Raw) {
			t.Errorf("%v: header %+v", c, h)
		}
		if res.MaxTimestamp != testNow+5 || res.ShallowOffsetOfMaxTimestamp != h.LastOffset() || res.LogAppendTime != NoTimestamp {
			t.Errorf("%v: result %+v", c, res)
		}
	}
}

func TestValidateMendsMaxTimestampAndAttributes(t *testing.T) {
	raw := edited(build(LZ4, testNow, testNow+7), func(b []byte) {
		binary.BigEndian.PutUint64(b[offMaxTimestamp:], 1)
		b[offAttributes] = 0x7f // bits that are not in use
	})
	res, err := Validate(raw, benchOptions())
	if err != nil || res.Header.MaxTimestamp != testNow+7 || res.Header.Attributes != int16(LZ4) || !VerifyCRC(res.Raw) {
		t.Errorf("%+v %v", res.Header, err)
	}
}

func TestLogAppendTimeStampsTheBatch(t *testing.T) {
	for _, header := range []bool{false, true} {
		o := benchOptions()
		o.TimestampType, o.Now, o.HeaderOnly = LogAppendTime, testNow+99, header
		res, err := Validate(build(Zstd, 1, 2), o)
		h := res.Header
		if err != nil || !h.LogAppendTime() || h.MaxTimestamp != o.Now || h.BaseTimestamp != 1 || res.LogAppendTime != o.Now ||
			res.MaxTimestamp != o.Now || !VerifyCRC(res.Raw) {
			t.Errorf("%+v %v", res, err)
		}
		// A producer may not claim it.
		_, err = Validate(edited(build(Zstd, 1, 2), func(b []byte) { b[offAttributes+1] |= attrLogAppendTime }), o)
		var refused *RecordErrors
		if !errors.As(err, &refused) || refused.Kind != ErrInvalidTimestamp || refused.Total != 2 {
			t.Errorf("claimed: %v", err)
		}
	}
}

func TestTimestampsMustLieInTheTopicsRange(t *testing.T) {
	o := benchOptions()
	o.BeforeMax, o.AfterMax = 100, 50
	for _, c := range []struct {
		ts   int64
		want bool
	}{
		{testNow, true},
		{testNow - 100, true},
		{testNow - 101, false},
		{testNow + 50, true},
		{testNow + 51, false},
		{NoTimestamp, true},
		{-2, false},
		{0, false},
		{math.MaxInt64, false},
	} {
		for _, codec := range codecs {
			_, err := Validate(build(codec, testNow, c.ts), o)
			var refused *RecordErrors
			if (err == nil) != c.want || err != nil && (!errors.As(err, &refused) || !errors.Is(err, ErrInvalidTimestamp) || refused.Errors[0].Index != 1) {
				t.Errorf("%v %v: %v", codec, c.ts, err)
			}
		}
	}
	// With the default range a timestamp below zero is accepted where the batch is kept, and cannot be rebuilt.
	o = benchOptions()
	if res, err := Validate(build(None, -5), o); err != nil || res.MaxTimestamp != NoTimestamp || res.ShallowOffsetOfMaxTimestamp != -1 {
		t.Errorf("%+v %v", res, err)
	}
	o.TargetCodec = ForceCodec(Gzip)
	if _, err := Validate(build(None, -5), o); !errors.Is(err, ErrUndecodable) {
		t.Errorf("rebuilt: %v", err)
	}
}

// Broker case 23, first half: a batch of null keys for a compacted topic names every record.
func TestCompactedTopicNamesEveryRecordWithoutKey(t *testing.T) {
	for _, codec := range codecs {
		for _, header := range []bool{false, true} {
			o := NoProducer()
			o.Compression = CompressionOf(codec)
			b := NewBuilder(o)
			for i := range 10 {
				var key []byte
				if i == 4 {
					key = []byte{} // empty is not null
				}
				b.Add(testNow, key, []byte("v"), nil)
			}
			vo := benchOptions()
			vo.Compacted, vo.HeaderOnly = true, header
			_, err := Validate(b.Bytes(), vo)
			var refused *RecordErrors
			if !errors.As(err, &refused) || refused.Kind != ErrInvalidRecord || refused.Total != 9 || len(refused.Errors) != 9 {
				t.Fatalf("%v: %v", codec, err)
			}
			for i, e := range refused.Errors {
				if want := int32(i + i/4 - i/8); e.Index != want || e.Message == "" {
					t.Errorf("%v: error %d is %+v, want index %d", codec, i, e, want)
				}
			}
		}
	}
}

// Broker case 23, second half: 10 MiB for max.message.bytes of 50 KiB.
func TestOversizeBatchIsRefusedBeforeAndAfterRecompression(t *testing.T) {
	big := NewBuilder(NoProducer())
	big.Add(testNow, nil, make([]byte, 10<<20), nil)
	o := benchOptions()
	o.MaxBatchSize = 50 << 10
	if _, err := Validate(big.Bytes(), o); !errors.Is(err, ErrTooLarge) {
		t.Errorf("before: %v", err)
	}
	bo := NoProducer()
	bo.Compression = CompressionOf(Zstd)
	big.Reset(bo)
	big.Add(testNow, nil, make([]byte, 10<<20), nil)
	raw := big.Bytes()
	if _, err := Validate(bytes.Clone(raw), o); err != nil {
		t.Errorf("kept: %v", err)
	}
	o.TargetCodec = ForceCodec(None)
	if _, err := Validate(raw, o); !errors.Is(err, ErrTooLarge) {
		t.Errorf("after: %v", err)
	}
}

// Broker case 14: sequences wrap to 0, within a batch as well.
func TestSequenceWrapsWithinABatch(t *testing.T) {
	o := NoProducer()
	o.ProducerID, o.ProducerEpoch, o.BaseSequence = 1, 0, math.MaxInt32-1
	b := NewBuilder(o)
	for range 3 {
		b.Add(testNow, nil, nil, nil)
	}
	res, err := Validate(b.Bytes(), benchOptions())
	if err != nil || res.Header.LastSequence() != 0 {
		t.Errorf("last sequence %d, %v", res.Header.LastSequence(), err)
	}
}

func TestRecompressionNumbersRecordsAndKeepsThem(t *testing.T) {
	for _, from := range codecs {
		for _, to := range codecs {
			if from == to {
				continue
			}
			o := benchOptions()
			o.TargetCodec = ForceCodec(to)
			bo := NoProducer()
			bo.Compression, bo.ProducerID, bo.ProducerEpoch, bo.BaseSequence, bo.Transactional = CompressionOf(from), 7, 1, 3, true
			b := NewBuilder(bo)
			for i := range 300 {
				b.AddAt(Offset(i), testNow+int64(i%7), []byte{byte(i)}, bytes.Repeat([]byte{byte(i)}, i), []RecordHeader{{Key: "h"}})
			}
			// Deltas that are not 0, 1, 2, … are made so.
			raw := b.Bytes()
			res, err := Validate(raw, o)
			h := res.Header
			if err != nil || !res.Recompressed || h.Codec() != to || !VerifyCRC(res.Raw) || h.BaseOffset != o.NextOffset || h.LastOffset() != o.NextOffset+299 ||
				h.ProducerID != 7 || h.BaseSequence != 3 || !h.IsTransactional() || h.MaxTimestamp != testNow+6 || h.LeaderEpoch != o.LeaderEpoch {
				t.Fatalf("%v to %v: %+v %v", from, to, h, err)
			}
			want, err := Unpack(raw, Limits{})
			if err != nil {
				t.Fatal(err)
			}
			got, err := Unpack(res.Raw, Limits{})
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%v to %v: records differ, %v", from, to, err)
			}
		}
	}
}

func TestPackedBatchMustNumberItsRecordsFromZero(t *testing.T) {
	o := NoProducer()
	for _, c := range codecs {
		o.Compression = CompressionOf(c)
		b := NewBuilder(o)
		b.AddAt(1, testNow, nil, nil, nil)
		b.AddAt(2, testNow, nil, nil, nil)
		b.SetLastOffset(1)
		_, err := Validate(b.Bytes(), benchOptions())
		if want := c != None; want != errors.Is(err, ErrUndecodable) {
			t.Errorf("%v: %v", c, err)
		}
	}
}

func TestHeaderModeTrustsPayloadsButNotHeaders(t *testing.T) {
	o := benchOptions()
	o.HeaderOnly = true
	garbage := withPayload(LZ4, []byte("not lz4 at all"), 2)
	res, err := Validate(bytes.Clone(garbage), o)
	if err != nil || res.Header.BaseOffset != o.NextOffset || res.MaxTimestamp != testNow {
		t.Errorf("%+v %v", res, err)
	}
	late := edited(garbage, func(b []byte) { binary.BigEndian.PutUint64(b[offMaxTimestamp:], uint64(testNow+o.AfterMax+1)) })
	if _, err := Validate(late, o); err == nil {
		t.Error("a header that claims the future is not looked into")
	}
	o.BeforeMax = 1000
	if _, err := Validate(bytes.Clone(garbage), o); err == nil {
		t.Error("a lower bound on timestamps needs the records")
	}
}

func TestCoordinatorWritesControlBatches(t *testing.T) {
	o := benchOptions()
	o.Origin = OriginCoordinator
	o.TargetCodec = ForceCodec(Zstd) // control batches stay as they are
	raw := NewEndTxnMarker(0, testNow, 1, 0, -1, EndTxnMarker{Type: ControlCommit, CoordinatorEpoch: 4})
	res, err := Validate(raw, o)
	if err != nil || !res.Header.IsControl() || res.Header.Codec() != None || res.Header.BaseOffset != o.NextOffset {
		t.Fatalf("%+v %v", res, err)
	}
	if m, err := ParseControl(res.Raw); err != nil || m.CoordinatorEpoch != 4 {
		t.Errorf("%+v %v", m, err)
	}
}

func TestCheckProducedKeepsZstdFromOldVersions(t *testing.T) {
	raw := build(Zstd, testNow)
	if err := CheckProduced(raw, 6); !errors.Is(err, ErrUnsupportedCodec) {
		t.Errorf("version 6: %v", err)
	}
	if err := CheckProduced(raw, 7); err != nil {
		t.Errorf("version 7: %v", err)
	}
	if err := CheckProduced(append(bytes.Clone(raw), 1, 2, 3), 9); err != nil {
		t.Errorf("bytes too few for a batch: %v", err)
	}
	if err := CheckProduced(append(bytes.Clone(raw), raw...), 9); !errors.Is(err, ErrInvalidRecord) {
		t.Errorf("two batches: %v", err)
	}
}

func TestMaxRecordSizeBoundsRecordsOfPackedBatches(t *testing.T) {
	for _, codec := range codecs {
		for _, target := range []TargetCodec{{}, ForceCodec(Gzip), ForceCodec(LZ4)} {
			o := benchOptions()
			o.TargetCodec = target
			o.MaxRecordSize = 8 // the records below have 8 bytes
			if _, err := Validate(build(codec, testNow), o); err != nil {
				t.Errorf("%v %v: %v", codec, target, err)
			}
			o.MaxRecordSize = 7
			if _, err := Validate(build(codec, testNow), o); (err != nil) != (codec != None) || err != nil && !errors.Is(err, ErrInvalidRecord) {
				t.Errorf("%v %v: %v", codec, target, err)
			}
		}
	}
}

func TestAcceptedBatchCostsOneAllocation(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector drops pooled codecs at random")
	}
	for _, c := range codecs {
		raw := sample(c, 200, 100)
		o := benchOptions()
		n := testing.AllocsPerRun(50, func() {
			SetBaseOffset(raw, 0)
			if _, err := Validate(raw, o); err != nil {
				t.Fatal(err)
			}
		})
		if n > 1 {
			t.Errorf("%v: %v allocations", c, n)
		}
	}
}

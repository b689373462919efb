package batch

import (
	"bytes"
	"errors"
	"testing"
)

func seeds(f *testing.F) {
	for _, c := range codecs {
		f.Add(sample(c, 3, 40))
		f.Add(build(c, testNow, -1))
	}
	f.Add(NewEndTxnMarker(1, 2, 3, 4, 5, EndTxnMarker{Type: ControlAbort, CoordinatorEpoch: 6}))
	f.Add(withPayload(Zstd, zstdBomb(20, 0x40), 2))
	f.Add(withPayload(Snappy, []byte("\x0a\x24hello worl"), 1))
}

// fuzzLimits keep single inputs cheap.
var fuzzLimits = Limits{Decompressed: 1 << 20, Record: 1 << 18}

func FuzzHeaderAndSplit(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, raw []byte) {
		if h, err := ParseHeader(raw); err == nil && !bytes.Equal(AppendHeader(nil, &h), raw[:HeaderLen]) {
			t.Fatal("a header changes in a round trip")
		}
		total := 0
		err := Split(raw, func(h Header, b []byte) error {
			total += len(b)
			if h.Size() != len(b) {
				t.Fatal("size")
			}
			_, _ = ParseControl(b)
			return nil
		})
		if err == nil && total != len(raw) {
			t.Fatal("bytes are missing")
		}
		_ = CheckProduced(raw, 3)
	})
}

func FuzzRecords(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, raw []byte) {
		it, err := Records(raw, fuzzLimits)
		if err != nil {
			return
		}
		defer it.Close()
		// What can be read can be written, and reads the same.
		o := NoProducer()
		b := NewBuilder(o)
		n := int32(0)
		for ; it.Next(); n++ {
			b.AddRecord(Offset(n), it.Timestamp(), it.Record())
		}
		if it.Err() != nil || n == 0 {
			return
		}
		if n != it.Header().RecordCount {
			t.Fatalf("%d records of %d", n, it.Header().RecordCount)
		}
		again, err := Records(b.Bytes(), fuzzLimits)
		if err != nil {
			t.Fatal(err)
		}
		defer again.Close()
		for again.Next() {
			n--
		}
		if again.Err() != nil || n != 0 {
			t.Fatal(again.Err())
		}
	})
}

// FuzzValidate gives raw a right CRC, so that the fuzzer gets behind it.
func FuzzValidate(f *testing.F) {
	for _, c := range codecs {
		f.Add(sample(c, 3, 40), uint16(0))
		f.Add(sample(c, 3, 40), uint16(0x1ff))
	}
	f.Fuzz(func(t *testing.T, raw []byte, how uint16) {
		raw = bytes.Clone(raw)
		if size, err := nextBatch(raw); err == nil && size >= HeaderLen {
			setCRC(raw[:size])
		}
		o := benchOptions()
		o.Compacted, o.HeaderOnly = how&1 != 0, how&2 != 0
		if how&4 != 0 {
			o.TimestampType = LogAppendTime
		}
		if how&8 != 0 {
			o.Origin = OriginCoordinator
		}
		if how&16 != 0 {
			o.TargetCodec = ForceCodec(Codec(how >> 5 % 5))
		}
		o.RecordBound, o.MaxBatchSize = fuzzLimits.Decompressed, 1<<20
		before := bytes.Clone(raw)
		res, err := Validate(raw, o)
		if err != nil {
			if !bytes.Equal(raw, before) {
				t.Fatal("changed although refused")
			}
			for _, known := range []error{ErrCorrupt, ErrInvalidRecord, ErrInvalidTimestamp, ErrTooLarge, ErrUndecodable} {
				if errors.Is(err, known) {
					return
				}
			}
			t.Fatalf("unknown error %v", err)
		}
		h, err := ParseHeader(res.Raw)
		if err != nil || h != res.Header || h.Size() != len(res.Raw) || !VerifyCRC(res.Raw) {
			t.Fatalf("%+v %v", h, err)
		}
		if o.Origin == OriginClient && (h.BaseOffset != o.NextOffset || int64(h.LastOffsetDelta)+1 != int64(h.RecordCount)) {
			t.Fatalf("%+v", h)
		}
		if res.Recompressed {
			if _, err := Unpack(res.Raw, Limits{}); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func FuzzDecompress(f *testing.F) {
	for _, c := range codecs[1:] {
		f.Add(int8(c), sample(c, 3, 40)[HeaderLen:])
	}
	f.Add(int8(Zstd), zstdBomb(20, 0x40))
	f.Add(int8(Snappy), []byte("\x0a\x24hello worl"))
	f.Fuzz(func(t *testing.T, c int8, packed []byte) {
		var p payload
		if err := p.open(Codec(c), packed, fuzzLimits.Decompressed); err != nil {
			return
		}
		defer p.close()
		total := 0
		for p.fill() == nil {
			total += len(p.win)
			p.pos = len(p.win)
		}
		if total > int(fuzzLimits.Decompressed) {
			t.Fatalf("%d bytes", total)
		}
	})
}

func setCRC(raw []byte) {
	crc := checksum(raw)
	raw[offCRC], raw[offCRC+1], raw[offCRC+2], raw[offCRC+3] = byte(crc>>24), byte(crc>>16), byte(crc>>8), byte(crc)
}

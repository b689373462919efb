package batch

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"
)

var codecs = []Codec{None, Gzip, Snappy, LZ4, Zstd}

type wantRecord struct {
	ts         int64
	key, value []byte
	headers    []RecordHeader
}

func drawRecords(t *rapid.T) []wantRecord {
	nullable := rapid.Custom(func(t *rapid.T) []byte {
		if rapid.IntRange(0, 4).Draw(t, "null") == 0 {
			return nil
		}
		return bytes.Repeat(rapid.SliceOfN(rapid.Byte(), 0, 30).Draw(t, "bytes"), rapid.IntRange(1, 40).Draw(t, "times"))
	})
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) wantRecord {
		w := wantRecord{ts: rapid.Int64Range(-1, 1<<50).Draw(t, "ts"), key: nullable.Draw(t, "key"), value: nullable.Draw(t, "value")}
		for range rapid.IntRange(0, 3).Draw(t, "headers") {
			w.headers = append(w.headers, RecordHeader{Key: rapid.String().Draw(t, "name"), Value: nullable.Draw(t, "header")})
		}
		return w
	}), 1, 60).Draw(t, "records")
}

// same compares a field, null apart from empty.
func same(a, b []byte) bool { return (a == nil) == (b == nil) && bytes.Equal(a, b) }

func TestRecordsRoundTripThroughEveryCodec(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := drawRecords(t)
		for _, c := range codecs {
			o := NoProducer()
			o.Compression, o.BaseOffset = CompressionOf(c), 100
			b := NewBuilder(o)
			for _, w := range want {
				b.Add(w.ts, w.key, w.value, w.headers)
			}
			raw := b.Bytes()
			if !VerifyCRC(raw) {
				t.Fatalf("%v: CRC", c)
			}
			it, err := Records(raw, Limits{})
			if err != nil {
				t.Fatal(err)
			}
			i := 0
			for ; it.Next(); i++ {
				r, w := it.Record(), want[i]
				if it.Offset() != Offset(100+i) || it.Timestamp() != w.ts || !same(r.Key, w.key) || !same(r.Value, w.value) || int(r.HeaderCount) != len(w.headers) {
					t.Fatalf("%v: record %d is %+v, want %+v", c, i, r, w)
				}
				j := 0
				for k, v := range r.Headers() {
					if string(k) != w.headers[j].Key || !same(v, w.headers[j].Value) {
						t.Fatalf("%v: record %d header %d", c, i, j)
					}
					j++
				}
			}
			if it.Err() != nil || i != len(want) {
				t.Fatalf("%v: %d records, %v", c, i, it.Err())
			}
			it.Close()
		}
	})
}

func TestEveryLevelCanBeReadBack(t *testing.T) {
	plain := sample(None, 200, 900)
	for _, c := range []struct {
		codec    Codec
		min, max int
	}{{Gzip, -1, 9}, {LZ4, 1, 17}, {Zstd, -5, 22}} {
		for level := c.min; level <= c.max; level++ {
			if c.codec == Gzip && level == 0 {
				continue // no level of Kafka's
			}
			o := benchOptions()
			o.TargetCodec = TargetCodec{Force: true, Compression: Compression{Codec: c.codec, Level: level}}
			res, err := Validate(bytes.Clone(plain), o)
			if err != nil {
				t.Fatalf("%v level %d: %v", c.codec, level, err)
			}
			got, err := Unpack(res.Raw, Limits{})
			if err != nil || !bytes.Equal(got, plain[HeaderLen:]) {
				t.Errorf("%v level %d: %v", c.codec, level, err)
			}
			if len(res.Raw) > len(plain)*3/4 {
				t.Errorf("%v level %d: %d bytes of %d", c.codec, level, len(res.Raw), len(plain))
			}
		}
	}
}

func TestBuilderKeepsHolesAndHorizon(t *testing.T) {
	o := NoProducer()
	o.BaseOffset = 10
	b := NewBuilder(o)
	b.SetDeleteHorizon(5000)
	b.AddAt(12, 1000, []byte("a"), nil, nil)
	b.AddAt(15, 900, []byte("b"), []byte("v"), nil)
	b.SetLastOffset(19)
	raw := b.Bytes()
	h, err := ParseHeader(raw)
	if err != nil || h.LastOffset() != 19 || h.RecordCount != 2 || h.MaxTimestamp != 1000 {
		t.Fatalf("%+v %v", h, err)
	}
	if ms, ok := h.DeleteHorizon(); !ok || ms != 5000 {
		t.Errorf("horizon %d %v", ms, ok)
	}
	it, err := Records(raw, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	defer it.Close()
	var got []string
	for it.Next() {
		got = append(got, fmt.Sprint(it.Offset(), it.Timestamp()))
	}
	if fmt.Sprint(got) != "[12 1000 15 900]" {
		t.Error(got)
	}

	b.Reset(o)
	b.SetLastOffset(19)
	b.SetMaxTimestamp(77)
	h, err = ParseHeader(b.Bytes())
	if err != nil || h.RecordCount != 0 || h.BaseTimestamp != NoTimestamp || h.MaxTimestamp != 77 || h.LastOffset() != 19 || h.Size() != HeaderLen {
		t.Errorf("empty batch %+v %v", h, err)
	}
}

func TestUncompressedWalkAllocatesNothing(t *testing.T) {
	raw := sample(None, 100, 100)
	n := testing.AllocsPerRun(100, func() {
		it, err := Records(raw, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		for it.Next() {
			for range it.Record().Headers() {
			}
		}
		it.Close()
	})
	if n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestIteratorNeverHoldsMoreThanItsLimit(t *testing.T) {
	o := NoProducer()
	o.Compression = CompressionOf(Zstd)
	b := NewBuilder(o)
	b.Add(0, nil, make([]byte, 4<<20), nil)
	raw := b.Bytes()
	for name, l := range map[string]Limits{"all": {Decompressed: 1 << 20}, "one record": {Record: 1 << 20}} {
		it, err := Records(raw, l)
		if err != nil {
			t.Fatal(err)
		}
		if it.Next() || !errors.Is(it.Err(), ErrTooLarge) {
			t.Errorf("%s: %v", name, it.Err())
		}
		it.Close()
	}
}

func TestVarintsEndWhereTheyMust(t *testing.T) {
	for _, c := range []struct {
		b    string
		end  int
		want int32
	}{
		{"", endOfBytes, 0},
		{"\x00", 1, 0},
		{"\x01", 1, -1},
		{"\xff\xff\xff\xff\x0f", 5, math.MinInt32},
		{"\xfe\xff\xff\xff\x7f", 5, math.MaxInt32}, // bits above the 32nd are dropped
		{"\x80\x80\x80\x80\x80\x00", overlong, 0},
		{"\x80\x80\x80\x80", endOfBytes, 0},
	} {
		got, end := varint32([]byte(c.b), 0)
		if end != c.end || end > 0 && got != c.want {
			t.Errorf("%x: %d, %d; want %d, %d", c.b, got, end, c.want, c.end)
		}
	}
	if _, end := varint64(bytes.Repeat([]byte{0x80}, 11), 0); end != overlong {
		t.Errorf("11 bytes: %d", end)
	}
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.Int64().Draw(t, "v")
		b := appendVarint(nil, v)
		got, end := varint64(b, 0)
		if got != v || end != len(b) || varintLen(v) != len(b) {
			t.Fatalf("%d: %x gives %d, %d; length %d", v, b, got, end, varintLen(v))
		}
	})
}

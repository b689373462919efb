package batch

import (
	"bytes"
	"encoding/hex"
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"
)

// golden is a batch as the Java client writes it: two records, the second with null key and one header, producer 7
// epoch 1 from sequence 5, timestamps 1000 and 1010.
const golden = "" +
	"0000000000000000" + "0000004b" + "ffffffff" + "02" + "%CRC%" + "0000" + "00000001" + "00000000000003e8" + "00000000000003f2" +
	"0000000000000007" + "0001" + "00000005" + "00000002" +
	"12" + "00" + "00" + "00" + "02" + "6b" + "04" + "7631" + "00" +
	"16" + "00" + "14" + "02" + "01" + "04" + "7632" + "02" + "02" + "68" + "01"

func TestBuilderWritesTheBytesOfTheFormat(t *testing.T) {
	o := NoProducer()
	o.ProducerID, o.ProducerEpoch, o.BaseSequence = 7, 1, 5
	b := NewBuilder(o)
	b.Add(1000, []byte("k"), []byte("v1"), nil)
	b.Add(1010, nil, []byte("v2"), []RecordHeader{{Key: "h"}})
	got := hex.EncodeToString(b.Bytes())
	want := golden[:len("000000000000000000000000ffffffff02")]
	if got[:16] != want[:16] || got[24:34] != want[24:34] {
		t.Errorf("front of header %s", got[:34])
	}
	const from = 42 // behind the CRC
	if rest := golden[34+len("%CRC%"):]; got[from:] != rest {
		t.Errorf("got  %s\nwant %s", got[from:], rest)
	}
}

func TestHeaderSurvivesEncoding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := Header{
			BaseOffset: Offset(rapid.Int64().Draw(t, "base")), BatchLength: rapid.Int32Range(49, math.MaxInt32-12).Draw(t, "length"),
			LeaderEpoch: LeaderEpoch(rapid.Int32().Draw(t, "epoch")), Magic: 2, CRC: rapid.Uint32().Draw(t, "crc"),
			Attributes: rapid.Int16().Draw(t, "attributes"), LastOffsetDelta: rapid.Int32().Draw(t, "delta"),
			BaseTimestamp: rapid.Int64().Draw(t, "ts"), MaxTimestamp: rapid.Int64().Draw(t, "max"),
			ProducerID: ProducerID(rapid.Int64().Draw(t, "pid")), ProducerEpoch: ProducerEpoch(rapid.Int16().Draw(t, "pe")),
			BaseSequence: rapid.Int32().Draw(t, "seq"), RecordCount: rapid.Int32().Draw(t, "n"),
		}
		got, err := ParseHeader(AppendHeader(nil, &h))
		if err != nil || got != h {
			t.Fatalf("got %+v %v, want %+v", got, err, h)
		}
	})
}

func TestParseHeaderRefuses(t *testing.T) {
	sound := sample(None, 1, 10)
	edit := func(fn func([]byte)) []byte {
		b := bytes.Clone(sound)
		fn(b)
		return b
	}
	for _, c := range []struct {
		name string
		raw  []byte
		want error
	}{
		{"nothing", nil, ErrTruncated},
		{"half a header", sound[:60], ErrTruncated},
		{"magic 1", edit(func(b []byte) { b[16] = 1 }), ErrCorrupt},
		{"magic 3", edit(func(b []byte) { b[16] = 3 }), ErrCorrupt},
		{"length below a header", edit(func(b []byte) { copy(b[8:], "\x00\x00\x00\x30") }), ErrCorrupt},
		{"negative length", edit(func(b []byte) { copy(b[8:], "\xff\xff\xff\xff") }), ErrCorrupt},
		{"length that overflows", edit(func(b []byte) { copy(b[8:], "\x7f\xff\xff\xff") }), ErrCorrupt},
	} {
		if _, err := ParseHeader(c.raw); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, err, c.want)
		}
	}
}

func TestPatchesLeaveTheCRCRight(t *testing.T) {
	raw := sample(None, 3, 10)
	SetBaseOffset(raw, 1<<40)
	SetLeaderEpoch(raw, 9)
	h, err := ParseHeader(raw)
	if err != nil || h.BaseOffset != 1<<40 || h.LeaderEpoch != 9 || !VerifyCRC(raw) {
		t.Errorf("%+v %v", h, err)
	}
	raw[len(raw)-1] ^= 1
	if VerifyCRC(raw) {
		t.Error("a flipped bit went unnoticed")
	}
}

func TestSplitGivesWholeBatchesAndNamesATornEnd(t *testing.T) {
	one, two := sample(None, 1, 10), sample(LZ4, 2, 20)
	SetBaseOffset(two, 1)
	all := append(bytes.Clone(one), two...)
	var seen []Offset
	err := Split(all, func(h Header, raw []byte) error {
		seen = append(seen, h.BaseOffset)
		if h.Size() != len(raw) || cap(raw) != len(raw) {
			t.Errorf("batch at %d: %d bytes, capacity %d", h.BaseOffset, len(raw), cap(raw))
		}
		return nil
	})
	if err != nil || len(seen) != 2 || seen[1] != 1 {
		t.Errorf("%v %v", seen, err)
	}
	for cut := 1; cut < len(two); cut++ {
		n := 0
		err := Split(all[:len(all)-cut], func(Header, []byte) error { n++; return nil })
		if !errors.Is(err, ErrTruncated) || n != 1 {
			t.Fatalf("cut by %d: %d batches, %v", cut, n, err)
		}
	}
}

func TestSequencesWrapToZero(t *testing.T) {
	h := Header{BaseSequence: math.MaxInt32 - 1, LastOffsetDelta: 2}
	if got := h.LastSequence(); got != 0 {
		t.Errorf("last sequence %d, want 0", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		s, n := rapid.Int32Range(0, math.MaxInt32).Draw(t, "s"), rapid.Int32Range(0, math.MaxInt32).Draw(t, "n")
		up := IncrementSequence(s, n)
		if want := int32((int64(s) + int64(n)) % (1 << 31)); up != want || DecrementSequence(up, n) != s {
			t.Fatalf("%d+%d = %d, want %d; back %d", s, n, up, want, DecrementSequence(up, n))
		}
	})
}

func TestEndTxnMarkerRoundTrips(t *testing.T) {
	for _, m := range []EndTxnMarker{{ControlCommit, 3}, {ControlAbort, math.MaxInt32}} {
		raw := NewEndTxnMarker(42, 1000, 7, 2, 5, m)
		got, err := ParseControl(raw)
		if err != nil || got != m {
			t.Errorf("got %+v %v, want %+v", got, err, m)
		}
		h, err := ParseHeader(raw)
		if err != nil || !h.IsControl() || !h.IsTransactional() || h.Codec() != None || h.BaseSequence != NoSequence ||
			h.ProducerID != 7 || h.ProducerEpoch != 2 || h.LeaderEpoch != 5 || h.BaseOffset != 42 || h.RecordCount != 1 || !VerifyCRC(raw) {
			t.Errorf("%+v %v", h, err)
		}
		// Key: version 0 and the type; value: version 0 and the coordinator's epoch.
		it, err := Records(raw, Limits{})
		if err != nil || !it.Next() || len(it.Record().Key) != 4 || len(it.Record().Value) != 6 {
			t.Fatal(err)
		}
		it.Close()
	}
}

func TestParseControlRefusesWhatIsNone(t *testing.T) {
	control := func(key, value []byte) []byte {
		o := NoProducer()
		o.Control = true
		b := NewBuilder(o)
		b.Add(0, key, value, nil)
		return b.Bytes()
	}
	for name, raw := range map[string][]byte{
		"data batch":       sample(None, 1, 10),
		"short key":        control([]byte{0, 0, 1}, nil),
		"null key":         control(nil, nil),
		"negative version": control([]byte{0xff, 0xff, 0, 1}, []byte{0, 0, 0, 0, 0, 1}),
		"short value":      control([]byte{0, 0, 0, 1}, []byte{0, 0}),
		"cut short":        control([]byte{0, 0, 0, 1}, []byte{0, 0})[:65],
	} {
		if _, err := ParseControl(raw); err == nil {
			t.Errorf("%s is taken for a control batch", name)
		}
	}
	if m, err := ParseControl(control([]byte{0, 0, 0, 99}, nil)); err != nil || m.Type != ControlUnknown {
		t.Errorf("unknown type: %+v %v", m, err)
	}
}

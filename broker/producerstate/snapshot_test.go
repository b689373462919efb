package producerstate

import (
	"bytes"
	"encoding/hex"
	"errors"
	"reflect"
	"testing"

	"github.com/weir-broker/weir/broker/batch"
)

// The layout, written out: any change of it would make older files and Kafka's
// unreadable.
func TestSnapshotBytesAreKafkas(t *testing.T) {
	entries := []SnapshotEntry{
		{ProducerID: 1000, ProducerEpoch: 3, LastSequence: 41, LastOffset: 57, OffsetDelta: 9, Timestamp: 1700000000123, CoordinatorEpoch: -1, TxnFirstOffset: -1},
		{ProducerID: 1001, ProducerEpoch: 0, LastSequence: -1, LastOffset: -1, OffsetDelta: 0, Timestamp: -1, CoordinatorEpoch: 7, TxnFirstOffset: 12},
	}
	const body = "00000002" +
		"00000000000003e8" + "0003" + "00000029" + "0000000000000039" + "00000009" + "0000018bcfe5687b" + "ffffffff" + "ffffffffffffffff" +
		"00000000000003e9" + "0000" + "ffffffff" + "ffffffffffffffff" + "00000000" + "ffffffffffffffff" + "00000007" + "000000000000000c"
	raw := EncodeSnapshot(entries)
	if got := hex.EncodeToString(raw[6:]); got != body {
		t.Errorf("body\n%s\nwant\n%s", got, body)
	}
	if got := hex.EncodeToString(raw[:2]); got != "0001" {
		t.Errorf("version %s", got)
	}
	back, err := DecodeSnapshot(raw)
	if err != nil || !reflect.DeepEqual(back, entries) {
		t.Errorf("%+v, %v", back, err)
	}
}

func TestDamagedSnapshotsAreRefused(t *testing.T) {
	good := EncodeSnapshot([]SnapshotEntry{{ProducerID: 1, LastOffset: 5}})
	for n := range good {
		if _, err := DecodeSnapshot(good[:n]); !errors.Is(err, ErrCorruptSnapshot) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
	for i := range good {
		bad := bytes.Clone(good)
		bad[i] ^= 0x10
		if _, err := DecodeSnapshot(bad); !errors.Is(err, ErrCorruptSnapshot) {
			t.Errorf("byte %d flipped: %v", i, err)
		}
	}
}

func TestSnapshotNames(t *testing.T) {
	if got := FileName(42); got != "00000000000000000042.snapshot" {
		t.Error(got)
	}
	for name, want := range map[string]bool{
		"00000000000000000042.snapshot": true, "42.snapshot": false, "00000000000000000042.snapshot.deleted": false,
		"0000000000000000004x.snapshot": false, "99999999999999999999.snapshot": false, "-0000000000000000042.snapshot": false,
	} {
		if _, ok := ParseFileName(name); ok != want {
			t.Errorf("%s: %t", name, ok)
		}
	}
}

func FuzzDecodeSnapshot(f *testing.F) {
	f.Add(EncodeSnapshot(nil))
	f.Add(EncodeSnapshot([]SnapshotEntry{{ProducerID: 1, ProducerEpoch: 2, LastSequence: 1<<31 - 1, LastOffset: 9, OffsetDelta: -5, TxnFirstOffset: 3}}))
	f.Add([]byte{0, 1, 0, 0, 0, 0, 0x7f, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, raw []byte) {
		// Most inputs fail the checksum: mend it, so that what lies behind it
		// is reached as well.
		if len(raw) >= snapshotHeaderLen {
			mended := bytes.Clone(raw)
			copy(mended[2:6], EncodeSnapshot(nil)[2:6])
			sum := checksum(mended)
			copy(mended[2:6], []byte{byte(sum >> 24), byte(sum >> 16), byte(sum >> 8), byte(sum)})
			decodeAndUse(t, mended)
		}
		decodeAndUse(t, raw)
	})
}

func decodeAndUse(t *testing.T, raw []byte) {
	entries, err := DecodeSnapshot(raw)
	if err != nil {
		if !errors.Is(err, ErrCorruptSnapshot) {
			t.Fatal(err)
		}
		return
	}
	s := &State{producers: make(map[batch.ProducerID]*producer)}
	for i := range entries {
		s.restore(&entries[i])
	}
	s.entries()
	s.Producers()
}

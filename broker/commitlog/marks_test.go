package commitlog

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"go.etcd.io/bbolt"

	"github.com/weir-broker/weir/broker/batch"
	"github.com/weir-broker/weir/broker/vfs"
)

func offset(n int64) batch.Offset { return batch.Offset(n) }

// removeCheckpoints leaves only local.db, which is all there is after an unclean stop.
func removeCheckpoints(t *testing.T, fsys vfs.FS, path string) {
	t.Helper()
	for _, c := range checkpoints() {
		if err := fsys.Remove(filepath.Join(path, c.name)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestMarksSurviveCleanClose(t *testing.T) {
	bothFS(t, func(t *testing.T, fsys vfs.FS, path string) {
		a, b := TopicPartition{"orders", 0}, TopicPartition{"orders", 1}
		d := mustOpenDir(t, fsys, path)
		if d.Marks().Get(a) != noMark {
			t.Error("a mark from nothing")
		}
		d.Marks().SetRecoveryPoint(a, 10)
		d.Marks().SetHighWatermark(a, 20)
		d.Marks().SetCleanerOffset(a, 1)
		if err := d.Marks().SetLogStartOffset(b, 5); err != nil {
			t.Fatal(err)
		}
		if err := d.Close(true); err != nil {
			t.Fatal(err)
		}
		if err := d.Marks().SetLogStartOffset(b, 6); !errors.Is(err, ErrClosed) {
			t.Errorf("after close: %v", err)
		}
		d = mustOpenDir(t, fsys, path)
		defer func() { _ = d.Close(false) }()
		if got, want := d.Marks().Get(a), (Mark{10, 20, Unknown, 1}); got != want {
			t.Errorf("have %+v, want %+v", got, want)
		}
		if err := d.Marks().Remove(a, TopicPartition{"never", 3}); err != nil {
			t.Fatal(err)
		}
		if err := d.Close(false); err != nil { // removal is durable by itself
			t.Fatal(err)
		}
		d = mustOpenDir(t, fsys, path)
		if d.Marks().Get(a) != noMark || d.Marks().Get(b).LogStartOffset != 5 || len(d.Marks().All()) != 1 {
			t.Errorf("have %v", d.Marks().All())
		}
	})
}

// TestDamagedMarksAreBegunAnew damages the file in many ways: the directory opens with a warning and works.
func TestDamagedMarksAreBegunAnew(t *testing.T) {
	bothFS(t, func(t *testing.T, fsys vfs.FS, path string) {
		if err := mustOpenDir(t, fsys, path).Close(true); err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(path, "local.db")
		fill := func() []byte {
			d := mustOpenDir(t, fsys, path)
			for i := range int32(200) {
				d.Marks().SetHighWatermark(TopicPartition{"orders", i}, 9)
			}
			if err := d.Close(true); err != nil {
				t.Fatal(err)
			}
			return []byte(read(t, fsys, name))
		}
		good := fill()
		rng := rand.New(rand.NewPCG(1, 1))
		bad := map[string][]byte{
			"empty": {}, "short": good[:100], "half": good[:len(good)/2], "zeros": make([]byte, len(good)),
			"text": []byte(strings.Repeat("not a database\n", 1000)), "cut": good[:len(good)-markSize],
		}
		for i := range 60 { // a page, a few bytes, or a tail gone wrong
			b := bytes.Clone(good)
			switch i % 3 {
			case 0:
				at := rng.IntN(len(b))
				clear(b[at:min(len(b), at+4096)])
			case 1:
				for range 20 {
					b[rng.IntN(len(b))] ^= byte(1 + rng.IntN(255))
				}
			default:
				b = b[:rng.IntN(len(b))]
			}
			bad[fmt.Sprintf("random %d", i)] = b
		}
		for what, b := range bad {
			mustWrite(t, fsys, name, string(b))
			removeCheckpoints(t, fsys, path)
			var warnings bytes.Buffer
			o := dirOwner
			o.Logger = slog.New(slog.NewTextHandler(&warnings, &slog.HandlerOptions{Level: slog.LevelWarn}))
			d, err := OpenDir(fsys, path, o)
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			// None and no warning: the damage hit the newest of bbolt's two roots, and the one before it had none.
			got := d.Marks().All()
			older := strings.HasPrefix(what, "random") || what == "empty"
			if len(got) != 200 && (len(got) > 0 || !older) && !strings.Contains(warnings.String(), "marks are") {
				t.Errorf("%s: %d marks and no warning", what, len(got))
			}
			for tp, m := range d.Marks().All() {
				if m != (Mark{Unknown, 9, Unknown, Unknown}) || tp.Topic != "orders" {
					t.Errorf("%s: wrong mark %s %+v", what, tp, m)
				}
			}
			for i := range int32(300) {
				d.Marks().SetRecoveryPoint(TopicPartition{"orders", i}, 3)
			}
			if err := d.Close(true); err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			d = mustOpenDir(t, fsys, path)
			for i := range int32(300) {
				if d.Marks().Get(TopicPartition{"orders", i}).RecoveryPoint != 3 {
					t.Fatalf("%s: mark %d lost after it was mended", what, i)
				}
			}
			if err := d.Close(true); err != nil {
				t.Fatalf("%s: %v", what, err)
			}
		}
		if err := fsys.Remove(name); err != nil {
			t.Fatal(err)
		}
		fill()
	})
}

func TestMarksDamagedWhileOpenAreWrittenAnewFromMemory(t *testing.T) {
	path := t.TempDir()
	d := mustOpenDir(t, vfs.OS(), path)
	for i := range int32(300) {
		d.Marks().SetHighWatermark(TopicPartition{"orders", i}, 9)
	}
	if err := d.Marks().Flush(); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(path, "local.db")
	st, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt(bytes.Repeat([]byte{0xff}, int(st.Size())), 0); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if err := d.Marks().SetLogStartOffset(TopicPartition{"orders", 5}, 4); err != nil {
		t.Fatal(err)
	}
	if err := d.Close(true); err != nil {
		t.Fatal(err)
	}
	d = mustOpenDir(t, vfs.OS(), path)
	defer d.Close(false)
	if m := d.Marks().Get(TopicPartition{"orders", 5}); m.LogStartOffset != 4 || m.HighWatermark != 9 || len(d.Marks().All()) != 300 {
		t.Errorf("have %+v and %d marks", m, len(d.Marks().All()))
	}
}

func TestMarksOfAnotherVersionAreNotRead(t *testing.T) {
	path := t.TempDir()
	d := mustOpenDir(t, vfs.OS(), path)
	d.Marks().SetHighWatermark(TopicPartition{"orders", 0}, 9)
	if err := d.Close(true); err != nil {
		t.Fatal(err)
	}
	db, err := bbolt.Open(filepath.Join(path, "local.db"), 0o644, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		return tx.Bucket(metaBucket).Put(versionKey, binary.BigEndian.AppendUint32(nil, marksVersion+1))
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	removeCheckpoints(t, vfs.OS(), path)
	d = mustOpenDir(t, vfs.OS(), path)
	defer d.Close(false)
	if len(d.Marks().All()) != 0 {
		t.Error("read a layout it does not know")
	}
}

// TestMarksLayoutV1 holds the bytes of version 1.
func TestMarksLayoutV1(t *testing.T) {
	tp, mark := TopicPartition{"orders", 258}, Mark{1, 2, 3, Unknown}
	key := appendMarkKey(nil, tp)
	value := appendMarkValue(nil, key, mark)
	if got := hex.EncodeToString(key); got != "6f7264657273"+"00"+"00000102" {
		t.Errorf("key %s", got)
	}
	if got := hex.EncodeToString(value); got != "0000000000000001"+"0000000000000002"+"0000000000000003"+"ffffffffffffffff"+"4fa984fd" {
		t.Errorf("value %s", got)
	}
	if p, m, err := parseMark(key, value); err != nil || p != tp || m != mark {
		t.Errorf("%v, %v, %v", p, m, err)
	}
	fsys := vfs.NewMem()
	d := mustOpenDir(t, fsys, "/log")
	d.Marks().SetHighWatermark(tp, 2)
	d.Marks().SetCleanerOffset(TopicPartition{"a", 0}, 1)
	if err := d.Close(true); err != nil {
		t.Fatal(err)
	}
	want := "776569726d61726b" + "00000001" + "c839ea53" + "00000002" +
		"0006" + "610000000000" + "ffffffffffffffff" + "ffffffffffffffff" + "ffffffffffffffff" + "0000000000000001" + "95038a4f" +
		"000b" + "6f72646572730000000102" + "ffffffffffffffff" + "0000000000000002" + "ffffffffffffffff" + "ffffffffffffffff" + "6c7a9d3d"
	if got := hex.EncodeToString([]byte(read(t, fsys, "/log/local.db"))); got != want {
		t.Errorf("file\nhave %s\nwant %s", got, want)
	}
	for _, bad := range []string{"", "00", "00000000", "6100000000", "61017fffffff", "6100ffffffff"} {
		b, _ := hex.DecodeString(bad)
		if _, err := parseMarkKey(b); !errors.Is(err, errMarksFormat) {
			t.Errorf("key %q: %v", bad, err)
		}
	}
}

func TestAcknowledgedLogStartOffsetSurvivesPowerCut(t *testing.T) {
	fsys := vfs.NewMem()
	d := mustOpenDir(t, fsys, "/log")
	tp := TopicPartition{"orders", 0}
	d.Marks().SetHighWatermark(tp, 3)
	if err := d.Marks().SetLogStartOffset(tp, 7); err != nil {
		t.Fatal(err)
	}
	d.Marks().SetHighWatermark(tp, 9) // not flushed
	c := mustOpenDir(t, fsys.CrashClone(vfs.CrashOptions{}), "/log")
	if m := c.Marks().Get(tp); m.LogStartOffset != 7 || m.HighWatermark != 3 {
		t.Errorf("have %+v", m)
	}
}

func TestFailedMarkIsReportedAndTriedAgain(t *testing.T) {
	mem := vfs.NewMem()
	s := vfs.NewFaults(mem)
	d := mustOpenDir(t, s, "/log")
	tp := TopicPartition{"orders", 0}
	s.Add(vfs.Fault{Kinds: vfs.OpsWrite | vfs.OpsSync, Err: syscall.ENOSPC})
	if err := d.Marks().SetLogStartOffset(tp, 7); !errors.Is(err, ErrStorage) || !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("have %v", err)
	}
	s.Clear()
	if err := d.Marks().Flush(); err != nil {
		t.Fatal(err)
	}
	if m := mustOpenDir(t, mem.CrashClone(vfs.CrashOptions{}), "/log").Marks().Get(tp); m.LogStartOffset != 7 {
		t.Errorf("have %+v", m)
	}
}

func TestConcurrentMarksShareWritesAndLoseNone(t *testing.T) {
	bothFS(t, func(t *testing.T, fsys vfs.FS, path string) {
		d := mustOpenDir(t, fsys, path)
		var wg sync.WaitGroup
		for g := range int32(8) {
			wg.Go(func() {
				for i := range int64(20) {
					tp := TopicPartition{"orders", g}
					d.Marks().SetHighWatermark(tp, offset(i+1))
					if err := d.Marks().SetLogStartOffset(tp, offset(i)); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		if err := d.Close(false); err != nil {
			t.Fatal(err)
		}
		d = mustOpenDir(t, fsys, path)
		defer d.Close(false)
		for g := range int32(8) {
			if m := d.Marks().Get(TopicPartition{"orders", g}); m.LogStartOffset != 19 || m.HighWatermark != 20 {
				t.Errorf("partition %d: %+v", g, m)
			}
		}
	})
}

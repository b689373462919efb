package commitlog

import (
	"bytes"
	"errors"
	"testing"

	"github.com/weir-broker/weir/broker/batch"
	"github.com/weir-broker/weir/broker/vfs"
)

// FuzzOpen opens a directory with arbitrary bytes in the files of a segment. Whatever they hold: no panic, a log whose
// files check out, which can be read, appended to and opened again.
func FuzzOpen(f *testing.F) {
	g := memFixture(f, smallConfig())
	for range 6 {
		g.add(2, 120)
	}
	if err := g.log.Close(true); err != nil {
		f.Fatal(err)
	}
	read := func(ext string) []byte {
		raw, err := vfs.ReadFile(g.fs, segmentPath(testDir, 0, ext), 1<<20)
		if err != nil {
			f.Fatal(err)
		}
		return raw
	}
	log, index, times := read(extLog), read(extIndex), read(extTimeIndex)
	epochs, _ := vfs.ReadFile(g.fs, testDir+"/"+epochFile, 1<<20)
	f.Add(log, index, times, epochs, true)
	f.Add(log[:len(log)-5], index, times, epochs, false)
	f.Add(log, index[:7], times[:5], []byte("0\n1\n"), true)
	f.Add(append(bytes.Clone(log), make([]byte, 80)...), make([]byte, 32), make([]byte, 24), []byte{}, true)
	f.Fuzz(func(t *testing.T, log, index, times, epochs []byte, clean bool) {
		mem := vfs.NewMem()
		if err := mem.MkdirAll(testDir, 0o755); err != nil {
			t.Fatal(err)
		}
		for name, content := range map[string][]byte{
			segmentPath(testDir, 0, extLog): log, segmentPath(testDir, 0, extIndex): index,
			segmentPath(testDir, 0, extTimeIndex): times, testDir + "/" + epochFile: epochs,
		} {
			w, err := mem.Create(name)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := w.WriteAt(content, 0); err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
		}
		g := newFixture(t, mem, smallConfig())
		l, _, err := Open(g.options(clean))
		if errors.Is(err, ErrOldFormat) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		g.log = l
		if !clean {
			verify(t, mem, testDir)
		}
		for o := l.LogStartOffset(); o < l.LogEndOffset(); {
			res, err := l.Read(nil, o, l.LogEndOffset(), 200, true)
			if err != nil && !errors.Is(err, batch.ErrCorrupt) {
				t.Fatal(err)
			}
			if err != nil || res.NextOffset <= o {
				break
			}
			o = res.NextOffset
		}
		_, _, _ = l.OffsetForTimestamp(testEpochTime.UnixMilli(), l.LogEndOffset()) // records may be anything
		if l.LogEndOffset() > 1<<62 {
			return
		}
		raw := build(l.LogEndOffset(), 1, 100, 0, 0, batch.None)
		if err := l.Append(raw, headers(t, raw)); err != nil && !errors.Is(err, ErrInvalidAppend) {
			t.Fatal(err)
		}
		end := l.LogEndOffset()
		if err := l.Close(true); err != nil {
			t.Fatal(err)
		}
		g.open(true)
		if g.log.LogEndOffset() != end {
			t.Fatalf("ended at %d, opened to %d", end, g.log.LogEndOffset())
		}
	})
}

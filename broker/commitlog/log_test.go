package commitlog

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/weir-broker/weir/broker/batch"
	"github.com/weir-broker/weir/broker/vfs"
)

const testDir = "/data/t-0"

var testEpochTime = time.UnixMilli(1_700_000_000_000)

// marks are the durable marks of one partition, as the log directory keeps them.
type testMarks struct{ recovery, start batch.Offset }

func smallConfig() Config {
	c := DefaultConfig()
	c.SegmentBytes, c.SegmentIndexBytes, c.IndexIntervalBytes = 2000, 8*40, 200
	return c
}

type fixture struct {
	t     testing.TB
	fs    vfs.FS
	cfg   Config
	now   time.Time
	marks testMarks
	log   *Log
	found Recovery
}

func newFixture(t testing.TB, fsys vfs.FS, cfg Config) *fixture {
	return &fixture{t: t, fs: fsys, cfg: cfg, now: testEpochTime, marks: testMarks{Unknown, Unknown}}
}

func (f *fixture) options(clean bool) Options {
	return Options{
		FS: f.fs, Dir: testDir, Config: f.cfg, Now: func() time.Time { return f.now },
		RecoveryPoint: f.marks.recovery, LogStartOffset: f.marks.start, CleanShutdown: clean,
		SaveLogStart:      func(o batch.Offset) error { f.marks.start = o; return nil },
		SaveRecoveryPoint: func(o batch.Offset) error { f.marks.recovery = o; return nil },
	}
}

func (f *fixture) open(clean bool) *Log {
	f.t.Helper()
	l, found, err := Open(f.options(clean))
	if err != nil {
		f.t.Fatalf("open: %v", err)
	}
	f.log, f.found = l, found
	return l
}

func memFixture(t testing.TB, cfg Config) *fixture {
	f := newFixture(t, vfs.NewMem(), cfg)
	f.open(false)
	return f
}

// build makes a batch of n records at base with about size bytes, timestamps counting up from ts.
func build(base batch.Offset, n, size int, ts int64, epoch batch.LeaderEpoch, codec batch.Codec) []byte {
	o := batch.NoProducer()
	o.BaseOffset, o.LeaderEpoch, o.Compression = base, epoch, batch.CompressionOf(codec)
	b := batch.NewBuilder(o)
	value := make([]byte, max(0, (size-batch.HeaderLen)/n-10))
	for i := range n {
		for j := range value {
			value[j] = byte(int(base) + i*7 + j)
		}
		b.Add(ts+int64(i), nil, value, nil)
	}
	return b.Bytes()
}

func headers(t testing.TB, raw []byte) []batch.Header {
	t.Helper()
	var hs []batch.Header
	if err := batch.Split(raw, func(h batch.Header, _ []byte) error { hs = append(hs, h); return nil }); err != nil {
		t.Fatal(err)
	}
	return hs
}

// add appends a batch of n records at the log end.
func (f *fixture) add(n, size int) []byte {
	f.t.Helper()
	end := f.log.LogEndOffset()
	raw := build(end, n, size, testEpochTime.UnixMilli()+int64(end)*10, 0, batch.None)
	f.append(raw)
	return raw
}

func (f *fixture) append(raw []byte) {
	f.t.Helper()
	if err := f.log.Append(raw, headers(f.t, raw)); err != nil {
		f.t.Fatalf("append: %v", err)
	}
}

// readAll reads the log from its start to its end.
func readAll(t testing.TB, l *Log) []byte {
	t.Helper()
	var all []byte
	for o := l.LogStartOffset(); o < l.LogEndOffset(); {
		res, err := l.Read(nil, o, l.LogEndOffset(), 300, true)
		if err != nil {
			t.Fatalf("read at %d: %v", o, err)
		}
		if res.NextOffset <= o {
			// Where offsets may be missing, an empty active segment can begin behind the last record.
			if l.config.Load().Compacted && l.active().size.Load() == 0 {
				return all
			}
			var segs []string
			for _, s := range l.list() {
				segs = append(segs, fmt.Sprintf("%d: %d bytes to %d", s.base, s.size.Load(), s.next.Load()))
			}
			t.Fatalf("read at %d of %d got no further: %v", o, l.LogEndOffset(), segs)
		}
		all = append(all, res.Bytes...)
		o = res.NextOffset
	}
	return all
}

func TestReadsWhatWasAppendedAcrossRolls(t *testing.T) {
	f := memFixture(t, smallConfig())
	var want []byte
	for i := range 100 {
		want = append(want, f.add(1+i%5, 80+i*3)...)
	}
	if n := len(f.log.list()); n < 5 {
		t.Fatalf("only %d segments", n)
	}
	if got := readAll(t, f.log); !bytes.Equal(got, want) {
		t.Fatalf("read %d bytes, want %d", len(got), len(want))
	}
	var walked []byte
	if err := f.log.Batches(0, f.log.LogEndOffset(), func(_ batch.Header, raw []byte) error {
		walked = append(walked, raw...)
		return nil
	}); err != nil || !bytes.Equal(walked, want) {
		t.Fatalf("Batches: %v, %d bytes", err, len(walked))
	}
	for _, clean := range []bool{true, false} {
		if err := f.log.Close(clean); err != nil {
			t.Fatal(err)
		}
		f.open(clean)
		if f.found.Clean != clean {
			t.Errorf("clean %v: recovery %+v", clean, f.found)
		}
		if got := readAll(t, f.log); !bytes.Equal(got, want) {
			t.Fatalf("after reopening (clean %v) read %d bytes, want %d", clean, len(got), len(want))
		}
		verify(t, f.fs, testDir)
	}
}

func TestReadFromEveryOffsetWithEveryBound(t *testing.T) {
	f := memFixture(t, smallConfig())
	var hs []batch.Header
	for i := range 40 {
		hs = append(hs, headers(t, f.add(1+i%4, 90+i*5))...)
	}
	end := f.log.LogEndOffset()
	for from := batch.Offset(0); from <= end; from++ {
		for _, upTo := range []batch.Offset{from, from + 1, from + 3, end - 1, end, end + 10} {
			for _, maxBytes := range []int{0, 61, 150, 400, 5000} {
				for _, minOne := range []bool{false, true} {
					checkRead(t, f.log, hs, from, upTo, maxBytes, minOne)
				}
			}
		}
	}
}

// checkRead compares one Read with what the headers say it has to be.
func checkRead(t *testing.T, l *Log, hs []batch.Header, from, upTo batch.Offset, maxBytes int, minOne bool) {
	t.Helper()
	what := fmt.Sprintf("read %d..%d, %d bytes, one %v", from, upTo, maxBytes, minOne)
	dst := make([]byte, 3, 7)
	res, err := l.Read(dst, from, upTo, maxBytes, minOne)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	got := headers(t, res.Bytes[3:])
	i := slices.IndexFunc(hs, func(h batch.Header) bool { return h.LastOffset() >= from })
	if i < 0 || hs[i].LastOffset() >= upTo {
		if len(got) > 0 || res.NextOffset != from || res.FirstTooLarge {
			t.Fatalf("%s: got %+v, want nothing", what, res)
		}
		return
	}
	if hs[i].Size() > maxBytes && !minOne {
		if len(got) > 0 || !res.FirstTooLarge {
			t.Fatalf("%s: got %d batches, want the first too large", what, len(got))
		}
		return
	}
	if len(got) == 0 {
		t.Fatalf("%s: nothing", what)
	}
	total := 0
	for k, h := range got {
		if h != hs[i+k] {
			t.Fatalf("%s: batch %d is %+v, want %+v", what, k, h, hs[i+k])
		}
		total += h.Size()
	}
	if last := got[len(got)-1]; last.LastOffset() >= upTo || res.NextOffset != last.NextOffset() || (len(got) > 1 && total > maxBytes) {
		t.Fatalf("%s: %d bytes to %d, next %d", what, total, last.LastOffset(), res.NextOffset)
	}
}

func TestOffsetsOutsideTheLogAreRefused(t *testing.T) {
	f := memFixture(t, smallConfig())
	for range 20 {
		f.add(2, 300)
	}
	if err := f.log.AdvanceLogStart(5); err != nil {
		t.Fatal(err)
	}
	for _, o := range []batch.Offset{-1, 4, 41} {
		if _, err := f.log.Read(nil, o, 40, 100, true); !errors.Is(err, ErrOffsetOutOfRange) {
			t.Errorf("read at %d: %v", o, err)
		}
	}
	if err := f.log.AdvanceLogStart(41); !errors.Is(err, ErrOffsetOutOfRange) {
		t.Errorf("start beyond the end: %v", err)
	}
	raw := build(39, 1, 100, 0, 0, batch.None)
	if err := f.log.Append(raw, headers(t, raw)); !errors.Is(err, ErrInvalidAppend) {
		t.Errorf("append below the end: %v", err)
	}
	raw = build(40, 1, 3000, 0, 0, batch.None)
	if err := f.log.Append(raw, headers(t, raw)); !errors.Is(err, ErrBatchesTooLarge) {
		t.Errorf("append above segment.bytes: %v", err)
	}
}

func TestOffsetForTimestampFindsTheFirstRecord(t *testing.T) {
	for _, codec := range []batch.Codec{batch.None, batch.Zstd} {
		f := memFixture(t, smallConfig())
		type rec struct {
			ts  int64
			off batch.Offset
		}
		var recs []rec
		rng := rand.New(rand.NewPCG(1, 2))
		ts := int64(1000)
		for range 60 {
			n := 1 + rng.IntN(6)
			base := f.log.LogEndOffset()
			o := batch.NoProducer()
			o.BaseOffset, o.Compression, o.LeaderEpoch = base, batch.CompressionOf(codec), 3
			b := batch.NewBuilder(o)
			for i := range n {
				ts += rng.Int64N(40) - 12 // out of order too
				b.Add(ts, nil, bytes.Repeat([]byte{byte(rng.Int())}, 40), nil)
				recs = append(recs, rec{ts, base + batch.Offset(i)})
			}
			f.append(b.Bytes())
		}
		check := func(start, upTo batch.Offset) {
			t.Helper()
			for target := int64(900); target < ts+100; target += 3 {
				i := slices.IndexFunc(recs, func(r rec) bool { return r.ts >= target && r.off >= start && r.off < upTo })
				got, ok, err := f.log.OffsetForTimestamp(target, upTo)
				if err != nil {
					t.Fatal(err)
				}
				if ok != (i >= 0) || ok && (got.Timestamp != recs[i].ts || got.Offset != recs[i].off || got.LeaderEpoch != 3) {
					t.Fatalf("%v, timestamp %d in [%d, %d): got %+v %v, want index %d", codec, target, start, upTo, got, ok, i)
				}
			}
		}
		end := f.log.LogEndOffset()
		check(0, end)
		check(0, end/2)
		newest := slices.MaxFunc(recs, func(a, b rec) int { return int(a.ts - b.ts) })
		if got, ok, err := f.log.MaxTimestampOffset(); err != nil || !ok || got.Timestamp != newest.ts {
			t.Fatalf("max timestamp: %+v %v %v, want %+v", got, ok, err, newest)
		}
		if err := f.log.AdvanceLogStart(end / 3); err != nil {
			t.Fatal(err)
		}
		check(end/3, end)
	}
}

func TestDeleteBeforeRemovesWholeSegmentsAndMovesTheStartFirst(t *testing.T) {
	f := memFixture(t, smallConfig())
	for range 60 {
		f.add(2, 300)
	}
	rows := f.log.Segments()
	n, err := f.log.DeleteBefore(batch.Offset(rows[3].Base + 1))
	if err != nil || n != 3 {
		t.Fatalf("%d removed, %v", n, err)
	}
	if got := f.log.LogStartOffset(); int64(got) != rows[3].Base || f.marks.start != got {
		t.Errorf("log starts at %d, mark %d, want %d", got, f.marks.start, rows[3].Base)
	}
	verify(t, f.fs, testDir)
	end := f.log.LogEndOffset()
	if n, err = f.log.DeleteBefore(end + 5); err != nil || n != len(rows)-3 {
		t.Fatalf("%d removed, %v", n, err)
	}
	if f.log.LogStartOffset() != end || f.log.ActiveSegmentBase() != end || f.log.Size() != 0 {
		t.Errorf("start %d, active %d, size %d; want all gone and a new segment at %d", f.log.LogStartOffset(), f.log.ActiveSegmentBase(), f.log.Size(), end)
	}
	f.add(1, 100)
	f.open(false)
	if f.log.LogEndOffset() != end+1 || f.log.LogStartOffset() != end {
		t.Errorf("reopened: [%d, %d)", f.log.LogStartOffset(), f.log.LogEndOffset())
	}
}

func TestTruncateCutsToEveryOffset(t *testing.T) {
	for to := batch.Offset(0); to <= 62; to++ {
		f := memFixture(t, smallConfig())
		var raws [][]byte
		for i := range 31 {
			end := f.log.LogEndOffset()
			raw := build(end, 2, 200, 5000-int64(end)*10, batch.LeaderEpoch(i/5), batch.None)
			f.append(raw)
			raws = append(raws, raw)
		}
		if err := f.log.Flush(62); err != nil {
			t.Fatal(err)
		}
		f.marks.recovery = f.log.RecoveryPoint()
		if err := f.log.Truncate(to); err != nil {
			t.Fatal(err)
		}
		keep := int(to / 2)
		want := bytes.Join(raws[:keep], nil)
		if f.log.LogEndOffset() != batch.Offset(keep*2) || f.marks.recovery > batch.Offset(keep*2) || f.log.RecoveryPoint() > batch.Offset(keep*2) {
			t.Fatalf("to %d: end %d, recovery point %d, mark %d", to, f.log.LogEndOffset(), f.log.RecoveryPoint(), f.marks.recovery)
		}
		if got := readAll(t, f.log); !bytes.Equal(got, want) {
			t.Fatalf("to %d: %d bytes, want %d", to, len(got), len(want))
		}
		want = append(want, f.add(3, 150)...)
		if e, ok := f.log.LatestEpoch(); keep > 0 && (!ok || e != 0) {
			t.Fatalf("to %d: epoch %d %v", to, e, ok)
		}
		verify(t, f.fs, testDir)
		f.open(false)
		if got := readAll(t, f.log); !bytes.Equal(got, want) {
			t.Fatalf("to %d, reopened: %d bytes, want %d (%+v)", to, len(got), len(want), f.found)
		}
	}
}

func TestTruncateFullyBeginsAgain(t *testing.T) {
	for _, to := range []batch.Offset{0, 10, 500} {
		f := memFixture(t, smallConfig())
		for range 30 {
			f.add(2, 300)
		}
		if err := f.log.TruncateFully(to); err != nil {
			t.Fatal(err)
		}
		want := f.add(2, 100)
		f.open(false)
		if f.log.LogStartOffset() != to || f.log.LogEndOffset() != to+2 || !bytes.Equal(readAll(t, f.log), want) {
			t.Errorf("to %d: [%d, %d)", to, f.log.LogStartOffset(), f.log.LogEndOffset())
		}
		verify(t, f.fs, testDir)
	}
}

func TestRecoveryTruncatesTornTailAtEveryByte(t *testing.T) {
	mem := vfs.NewMem()
	f := newFixture(t, mem, smallConfig())
	f.open(false)
	var want []byte
	for range 12 {
		want = append(want, f.add(2, 150)...)
	}
	s := f.log.active()
	whole := s.size.Load()
	last := f.add(3, 120)
	name := segmentPath(testDir, s.base, extLog)
	if f.log.active() != s {
		t.Fatal("rolled")
	}
	for cut := 1; cut < len(last); cut++ {
		g := newFixture(t, mem.Clone(), f.cfg)
		truncateFile(t, g.fs, name, whole+int64(cut))
		g.open(false)
		if g.log.LogEndOffset() != 24 || g.found.TruncatedBytes != int64(cut) || !bytes.Equal(readAll(t, g.log), want) {
			t.Fatalf("cut %d: end %d, %+v", cut, g.log.LogEndOffset(), g.found)
		}
		g.add(1, 90)
		verify(t, g.fs, testDir)
	}
}

func TestRecoveryCutsAtEveryFlippedByte(t *testing.T) {
	mem := vfs.NewMem()
	f := newFixture(t, mem, smallConfig())
	f.open(false)
	var want []byte
	for range 3 {
		want = append(want, f.add(2, 150)...)
	}
	keep := len(want)
	mid := f.add(2, 130)
	f.add(1, 100)
	name := segmentPath(testDir, 0, extLog)
	for at := range mid {
		if at >= 12 && at < 16 {
			continue // the leader epoch: no checksum covers it
		}
		g := newFixture(t, mem.Clone(), f.cfg)
		flip(t, g.fs, name, int64(keep+at))
		g.open(false)
		if g.log.LogEndOffset() < 6 || (at >= 8 && g.log.LogEndOffset() != 6) {
			t.Fatalf("byte %d: end %d, %+v", at, g.log.LogEndOffset(), g.found)
		}
		verify(t, g.fs, testDir)
	}
}

func TestRecoveryNeverLeavesAHoleBetweenSegments(t *testing.T) {
	mem := vfs.NewMem()
	f := newFixture(t, mem, smallConfig())
	f.open(false)
	var raws [][]byte
	for len(f.log.list()) < 3 {
		raws = append(raws, f.add(2, 300))
	}
	f.marks.recovery = 0
	list := f.log.list()
	// The last batch of the first segment is lost to its last byte; the second one reached the disk.
	lost := len(raws) - 1
	for batch.Offset(lost*2) >= list[1].base {
		lost--
	}
	truncateFile(t, mem, segmentPath(testDir, 0, extLog), list[0].size.Load()-int64(len(raws[lost])))
	f.open(false)
	if f.log.LogEndOffset() != batch.Offset(lost*2) || f.found.SegmentsDeleted != 2 {
		t.Fatalf("end %d, want %d; %+v", f.log.LogEndOffset(), lost*2, f.found)
	}
	verify(t, f.fs, testDir)
}

func TestLostMarksCostNoData(t *testing.T) {
	f := memFixture(t, smallConfig())
	var want []byte
	for range 60 {
		want = append(want, f.add(2, 200)...)
	}
	for _, clean := range []bool{true, false} {
		if err := f.log.Close(true); err != nil {
			t.Fatal(err)
		}
		f.marks = testMarks{Unknown, Unknown}
		f.open(clean)
		if got := readAll(t, f.log); !bytes.Equal(got, want) {
			t.Fatalf("clean %v: %d bytes, want %d", clean, len(got), len(want))
		}
	}
}

func TestIndexesAreMended(t *testing.T) {
	mem := vfs.NewMem()
	f := newFixture(t, mem, smallConfig())
	f.open(false)
	var want []byte
	for range 80 {
		want = append(want, f.add(2, 150)...)
	}
	if err := f.log.Close(true); err != nil {
		t.Fatal(err)
	}
	bases := []batch.Offset{f.log.list()[1].base, f.log.active().base}
	for _, base := range bases {
		for _, ext := range []string{extIndex, extTimeIndex} {
			name := segmentPath(testDir, base, ext)
			st, err := mem.Stat(name)
			if err != nil {
				t.Fatal(err)
			}
			damages := map[string]func(vfs.FS){
				"missing": func(fsys vfs.FS) { _ = fsys.Remove(name) },
				"empty":   func(fsys vfs.FS) { truncateFile(t, fsys, name, 0) },
				"torn":    func(fsys vfs.FS) { truncateFile(t, fsys, name, max(0, st.Size()-3)) },
				"short":   func(fsys vfs.FS) { truncateFile(t, fsys, name, st.Size()/24*12) },
			}
			for at := range st.Size() {
				damages[fmt.Sprint("flipped ", at)] = func(fsys vfs.FS) { flip(t, fsys, name, at) }
			}
			for what, damage := range damages {
				for _, clean := range []bool{true, false} {
					g := newFixture(t, mem.Clone(), f.cfg)
					g.marks.recovery = f.log.LogEndOffset()
					damage(g.fs)
					g.open(clean)
					if got := readAll(t, g.log); !bytes.Equal(got, want) {
						t.Fatalf("%s %s, clean %v: read %d bytes, want %d", name, what, clean, len(got), len(want))
					}
					for o := batch.Offset(0); o < g.log.LogEndOffset(); o += 7 {
						if _, err := g.log.Read(nil, o, 1000, 100, true); err != nil {
							t.Fatalf("%s %s, clean %v: read at %d: %v", name, what, clean, o, err)
						}
					}
				}
			}
		}
	}
}

func truncateFile(t testing.TB, fsys vfs.FS, name string, size int64) {
	t.Helper()
	f, err := fsys.OpenReadWrite(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(size); err != nil {
		t.Fatal(err)
	}
}

func flip(t testing.TB, fsys vfs.FS, name string, at int64) {
	t.Helper()
	f, err := fsys.OpenReadWrite(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var b [1]byte
	if _, err := f.ReadAt(b[:], at); err != nil {
		t.Fatal(err)
	}
	b[0] ^= 0x40
	if _, err := f.WriteAt(b[:], at); err != nil {
		t.Fatal(err)
	}
}

// verify checks every file of a partition directory the way Kafka's DumpLogSegments does: whole, valid batches in order,
// index entries that name the last offset of the batch at their position, time entries that name the batch that first
// had that largest timestamp, the leader epochs of the batches.
func verify(t testing.TB, fsys vfs.FS, dir string) {
	t.Helper()
	if err := verifyDir(fsys, dir); err != nil {
		t.Fatal(err)
	}
}

func verifyDir(fsys vfs.FS, dir string) error {
	names, err := fsys.List(dir)
	if err != nil {
		return err
	}
	newest := ""
	for _, name := range names {
		if _, ext, suffix, ok := parseSegmentName(name); ok && suffix == "" && ext == extLog {
			newest = max(newest, name)
		}
	}
	next := batch.Offset(-1)
	for _, name := range names {
		base, ext, suffix, ok := parseSegmentName(name)
		if !ok || suffix != "" || ext != extLog {
			continue
		}
		if base < next {
			return fmt.Errorf("%s: the segment before ends at %d", name, next)
		}
		if next, err = verifySegment(fsys, dir, base, name == newest); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// verifySegment holds the indexes of a segment against its log. The newest segment may have none yet.
func verifySegment(fsys vfs.FS, dir string, base batch.Offset, newest bool) (batch.Offset, error) {
	const limit = 1 << 30
	raw, err := vfs.ReadFile(fsys, segmentPath(dir, base, extLog), limit)
	if err != nil {
		return 0, err
	}
	lastAt, maxOf := map[int]batch.Offset{}, map[batch.Offset]int64{}
	next, pos, largest := base, 0, int64(-1)
	err = batch.Split(raw, func(h batch.Header, b []byte) error {
		if h.BaseOffset < next || !batch.VerifyCRC(b) {
			return fmt.Errorf("batch at %d: offset %d after %d, or CRC", pos, h.BaseOffset, next)
		}
		lastAt[pos] = h.LastOffset()
		if h.MaxTimestamp > largest {
			largest = h.MaxTimestamp
			maxOf[h.LastOffset()] = largest
		}
		next = h.NextOffset()
		pos += len(b)
		return nil
	})
	if err != nil {
		return 0, err
	}
	idx, err := vfs.ReadFile(fsys, segmentPath(dir, base, extIndex), limit)
	if err != nil && !(newest && errors.Is(err, fs.ErrNotExist)) {
		return 0, err
	}
	prev := batch.Offset(-1)
	for ; len(idx) >= 8; idx = idx[8:] {
		o, p := base+batch.Offset(binary.BigEndian.Uint32(idx)), int(binary.BigEndian.Uint32(idx[4:]))
		if o <= prev || lastAt[p] != o || p >= len(raw) {
			return 0, fmt.Errorf("index entry %d at %d: batch ends at %d", o, p, lastAt[p])
		}
		prev = o
	}
	times, err := vfs.ReadFile(fsys, segmentPath(dir, base, extTimeIndex), limit)
	if err != nil && !(newest && errors.Is(err, fs.ErrNotExist)) {
		return 0, err
	}
	prevTime := int64(-1)
	for ; len(times) >= 12; times = times[12:] {
		ts, o := int64(binary.BigEndian.Uint64(times)), base+batch.Offset(binary.BigEndian.Uint32(times[8:]))
		if got, ok := maxOf[o]; ts <= prevTime || !ok || got != ts {
			return 0, fmt.Errorf("time entry %d at offset %d: batch has %d (%v)", ts, o, got, ok)
		}
		prevTime = ts
	}
	if len(idx)+len(times) > 0 {
		return 0, fmt.Errorf("index files end in %d and %d odd bytes", len(idx), len(times))
	}
	return next, nil
}

// Damage below the recovery point is served around, as in Kafka, but it is counted and said.
func TestMissingRecordsOfSealedSegmentsAreReported(t *testing.T) {
	for name, lose := range map[string]func(t *testing.T, fs vfs.FS, file string){
		"emptied": func(t *testing.T, fs vfs.FS, file string) { truncateFile(t, fs, file, 0) },
		"removed": func(t *testing.T, fs vfs.FS, file string) {
			if err := fs.Remove(file); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			mem := vfs.NewMem()
			f := newFixture(t, mem, smallConfig())
			f.open(false)
			for len(f.log.list()) < 4 {
				f.add(2, 300)
			}
			list := f.log.list()
			missing := int64(list[2].base - list[1].base)
			end := f.log.LogEndOffset()
			if err := f.log.Close(true); err != nil {
				t.Fatal(err)
			}
			lose(t, mem, segmentPath(testDir, list[1].base, extLog))
			f.open(true)
			if f.found.Missing != missing {
				t.Errorf("%d offsets reported missing, want %d", f.found.Missing, missing)
			}
			if f.log.LogEndOffset() != end {
				t.Errorf("end %d, want %d: what is there must stay", f.log.LogEndOffset(), end)
			}
			if err := f.log.Close(true); err != nil {
				t.Fatal(err)
			}
			f.cfg.Compacted = true
			if f.open(true); f.found.Missing != 0 {
				t.Errorf("%d offsets reported missing of a compacted log", f.found.Missing)
			}
		})
	}
}

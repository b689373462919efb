package commitlog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/weir-broker/weir/broker/batch"
	"github.com/weir-broker/weir/broker/policy"
	"github.com/weir-broker/weir/broker/vfs"
)

// keyed is one record of a compacted log.
type keyed struct {
	offset batch.Offset
	ts     int64
	key    string // empty is null
	value  string // empty is null
}

func buildKeyed(codec batch.Codec, records ...keyed) []byte {
	o := batch.NoProducer()
	o.BaseOffset, o.Compression, o.LeaderEpoch = records[0].offset, batch.CompressionOf(codec), 0
	b := batch.NewBuilder(o)
	for _, r := range records {
		b.AddAt(r.offset, r.ts, nullable(r.key), nullable(r.value), nil)
	}
	return b.Bytes()
}

func nullable(s string) []byte {
	if s == "" {
		return nil
	}
	return []byte(s)
}

// records reads all records of a log.
func records(t testing.TB, l *Log) []keyed {
	t.Helper()
	var all []keyed
	next := batch.Offset(-1)
	err := batch.Split(readAll(t, l), func(h batch.Header, raw []byte) error {
		if h.BaseOffset < next {
			return fmt.Errorf("batch at %d after %d", h.BaseOffset, next)
		}
		next = h.NextOffset()
		it, err := batch.Records(raw, batch.Limits{})
		if err != nil {
			return err
		}
		defer it.Close()
		for it.Next() {
			all = append(all, keyed{it.Offset(), it.Timestamp(), string(it.Record().Key), string(it.Record().Value)})
		}
		return it.Err()
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// compacted is a log of random keyed records, and what was written.
type compacted struct {
	*fixture
	rng     *rand.Rand
	keys    int
	written []keyed
}

func newCompacted(t testing.TB, seed uint64) *compacted {
	cfg := smallConfig()
	cfg.Compacted = true
	mem := vfs.NewMem()
	if err := errors.Join(mem.MkdirAll("/data", 0o755), vfs.SyncDir(mem, "/")); err != nil {
		t.Fatal(err)
	}
	c := &compacted{fixture: newFixture(t, mem, cfg), rng: rand.New(rand.NewPCG(seed, 9))}
	c.keys = 2 + c.rng.IntN(20)
	c.open(false)
	return c
}

// grow appends n batches.
func (c *compacted) grow(n int) {
	c.t.Helper()
	for range n {
		end := c.log.LogEndOffset()
		var rs []keyed
		for range 1 + c.rng.IntN(6) {
			r := keyed{offset: end, ts: testEpochTime.UnixMilli() + int64(end), key: fmt.Sprint("k", c.rng.IntN(c.keys))}
			if c.rng.IntN(5) > 0 {
				r.value = fmt.Sprintf("%d-%0*d", end, 1+c.rng.IntN(60), c.rng.IntN(1000))
			}
			rs = append(rs, r)
			end++
		}
		c.append(buildKeyed(batch.Codec(c.rng.IntN(5)), rs...))
		c.written = append(c.written, rs...)
	}
}

func (c *compacted) roll() {
	c.t.Helper()
	if err := c.log.Roll(); err != nil {
		c.t.Fatal(err)
	}
}

func testCleaner(t testing.TB, keys int) *Cleaner {
	t.Helper()
	c, err := NewCleaner(CleanerOptions{MapBytes: int64(keys+1) * offsetSlotLen * 10 / 9, MapLoad: 0.9, BufferBytes: 2 * leastBuffer})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (c *compacted) job(from batch.Offset) CleanJob {
	c.t.Helper()
	found, err := c.log.Cleanable(CleanQuery{Checkpoint: from, LastStable: c.log.LogEndOffset(), Now: c.now, MaxLag: 1 << 62})
	if err != nil {
		c.t.Fatal(err)
	}
	return CleanJob{From: found.From, To: found.To, HighWatermark: c.log.LogEndOffset(), Now: c.now, DeleteRetention: time.Hour}
}

// survivors are the records that a round over [from, to) has to leave: those that have no newer record of the key in it.
// Tombstones stay too: none is past its time.
func survivors(all []keyed, from, to batch.Offset) []keyed {
	newest := map[string]batch.Offset{}
	for _, r := range all {
		if r.offset >= from && r.offset < to && r.key != "" {
			newest[r.key] = r.offset
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(r keyed) bool {
		return r.offset < to && (r.key == "" || newest[r.key] > r.offset)
	})
}

func TestCleaningLeavesTheNewestRecordOfEachKey(t *testing.T) {
	for seed := range uint64(40) {
		c := newCompacted(t, seed)
		from := Unknown
		cleaner := testCleaner(t, 3+c.rng.IntN(40))
		for round := range 4 {
			c.grow(10 + c.rng.IntN(60))
			c.roll()
			job := c.job(from)
			before := records(t, c.log)
			res, err := cleaner.Clean(context.Background(), c.log, job)
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			want := survivors(before, job.From, res.To)
			if got := records(t, c.log); !slices.Equal(got, want) {
				t.Fatalf("seed %d round %d, cleaned %+v: %d records, want %d", seed, round, res, len(got), len(want))
			}
			if res.To <= job.From && job.To > job.From {
				t.Fatalf("seed %d: no progress: %+v", seed, res)
			}
			from = res.To
			if c.rng.IntN(2) == 0 {
				clean := c.rng.IntN(2) == 0
				if err := c.log.Close(clean); err != nil {
					t.Fatal(err)
				}
				if c.rng.IntN(2) == 0 {
					c.cfg.Compacted = !c.cfg.Compacted
				}
				c.open(clean)
				if got := records(t, c.log); !slices.Equal(got, want) {
					t.Fatalf("seed %d: opened again, %d records, want %d", seed, len(got), len(want))
				}
			}
			verify(t, c.fs, testDir)
		}
	}
}

// After every file operation of a round a crash is tried: what is opened then holds every record that the round leaves,
// nothing that was not written, and each in its place.
func TestCrashWhileCleaningLosesNothingAndServesNoMixture(t *testing.T) {
	crashes, merged, seeds := 0, 0, uint64(4)
	if n, err := strconv.ParseUint(os.Getenv("WEIR_CRASH_SEEDS"), 10, 64); err == nil {
		seeds = n
	}
	for seed := range seeds {
		c := newCompacted(t, seed)
		mem := c.fs.(*vfs.Mem)
		cleaner := testCleaner(t, 2+c.rng.IntN(30))
		from := Unknown
		for range 3 {
			c.grow(15 + c.rng.IntN(40))
			c.roll()
			if err := c.log.Flush(c.log.LogEndOffset()); err != nil {
				t.Fatal(err)
			}
			before, end := records(t, c.log), c.log.LogEndOffset()
			job := c.job(from)
			grouping := c.cfg
			grouping.SegmentBytes = 6000 // several old segments go into one
			c.log.SetConfig(grouping)
			type clone struct {
				op    string
				fs    *vfs.Mem
				marks testMarks
			}
			var clones []clone
			mem.OnOp(func(op vfs.Op) {
				kepts := []float64{0, 0.3, 0.5, 0.7, 0.9, 1}
				if op.Kind&(vfs.OpRename|vfs.OpRemove|vfs.OpSyncDir) == 0 {
					kepts = []float64{[]float64{0, 0.5, 1}[c.rng.IntN(3)]}
				}
				for _, kept := range kepts {
					clones = append(clones, clone{fmt.Sprintf("%v, kept %v", op, kept), mem.CrashClone(vfs.CrashOptions{UnsyncedKept: kept, Rand: c.rng}), c.marks})
				}
			})
			res, err := cleaner.Clean(context.Background(), c.log, job)
			mem.OnOp(nil)
			c.log.SetConfig(c.cfg)
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			merged += res.Segments - res.Written
			must := survivors(before, job.From, res.To)
			for i, cl := range clones {
				crashes++
				c.crashed(fmt.Sprintf("seed %d, %s", seed, cl.op), cl.fs, cl.marks, before, must, end, i%4 == 0)
			}
			from = res.To
		}
	}
	t.Logf("%d crashes, %d segments merged into others", crashes, merged)
}

func (c *compacted) crashed(what string, fs *vfs.Mem, marks testMarks, before, must []keyed, end batch.Offset, again bool) {
	c.t.Helper()
	o := c.options(false)
	o.FS, o.RecoveryPoint, o.LogStartOffset = fs, marks.recovery, marks.start
	o.Config.Compacted = c.rng.IntN(3) > 0 // compaction may have been switched off meanwhile
	if again {
		// A crash while the first recovery was at it.
		n := c.rng.IntN(12)
		var second *vfs.Mem
		fs.OnOp(func(vfs.Op) {
			if n--; n == 0 {
				second = fs.CrashClone(vfs.CrashOptions{UnsyncedKept: c.rng.Float64(), Rand: c.rng})
			}
		})
		l, _, err := Open(o)
		if err != nil {
			c.t.Fatalf("%s: %v", what, err)
		}
		fs.OnOp(nil)
		_ = l.Close(false)
		if second != nil {
			o.FS, fs = second, second
		}
	}
	l, found, err := Open(o)
	if err != nil {
		c.t.Fatalf("%s: %v", what, err)
	}
	defer l.Close(false)
	if err := verifyDir(fs, testDir); err != nil {
		c.t.Fatalf("%s: %v", what, err)
	}
	if l.LogEndOffset() != end {
		c.t.Fatalf("%s: ends at %d, not %d (%+v)", what, l.LogEndOffset(), end, found)
	}
	written := map[batch.Offset]keyed{}
	for _, r := range before {
		written[r.offset] = r
	}
	got := map[batch.Offset]bool{}
	for _, r := range records(c.t, l) {
		if written[r.offset] != r {
			c.t.Fatalf("%s: record %+v was not there", what, r)
		}
		got[r.offset] = true
	}
	for _, r := range must {
		if !got[r.offset] {
			c.t.Fatalf("%s: record %+v is lost", what, r)
		}
	}
	names, err := fs.List(testDir)
	if err != nil {
		c.t.Fatal(err)
	}
	for _, name := range names {
		if _, _, suffix, ok := parseSegmentName(name); ok && suffix != "" && suffix != suffixDeleted {
			c.t.Fatalf("%s: %s is left", what, name)
		}
	}
}

// Every failing disk operation while cleaning leaves the log as it was or the next start mends it.
func TestFailedDiskWhileCleaningLosesNothing(t *testing.T) {
	for _, cause := range []error{syscall.EIO, syscall.ENOSPC} {
		failed := 0
		for nth := int64(1); ; nth++ {
			c := newCompacted(t, 5)
			c.grow(60)
			c.roll()
			before, job := records(t, c.log), c.job(Unknown)
			if err := c.log.Close(true); err != nil {
				t.Fatal(err)
			}
			under := c.fs
			faults := vfs.NewFaults(under)
			c.fs = faults
			c.open(true)
			rule := faults.Add(vfs.Fault{Kinds: vfs.OpsChange, Nth: nth, Times: 1, Err: cause})
			_, err := testCleaner(t, 100).Clean(context.Background(), c.log, job)
			rule.Remove()
			if err == nil && rule.Failed() == 0 {
				break
			}
			if err != nil {
				failed++
			}
			if err != nil && !errors.Is(err, ErrStorage) && cause != syscall.ENOSPC {
				t.Fatalf("operation %d: %v", nth, err)
			}
			if c.log.failure() == nil && err != nil && !slices.Equal(records(t, c.log), before) {
				// A group was done before: what it leaves is there.
				checkSurvivors(t, records(t, c.log), before, job, nth)
			}
			_ = c.log.Close(false)
			c.fs = under
			c.open(false)
			checkSurvivors(t, records(t, c.log), before, job, nth)
			if _, err := testCleaner(t, 100).Clean(context.Background(), c.log, c.job(Unknown)); err != nil {
				t.Fatalf("operation %d: cleaning again: %v", nth, err)
			}
			if got := records(t, c.log); !slices.Equal(got, survivors(before, job.From, job.To)) {
				t.Fatalf("operation %d: cleaned again, %d records", nth, len(got))
			}
		}
		if failed == 0 {
			t.Error("nothing failed")
		}
		t.Logf("%v: %d failures", cause, failed)
	}
}

func checkSurvivors(t *testing.T, got, before []keyed, job CleanJob, nth int64) {
	t.Helper()
	have := map[keyed]bool{}
	for _, r := range got {
		have[r] = true
	}
	for _, r := range survivors(before, job.From, job.To) {
		if !have[r] {
			t.Fatalf("operation %d: %+v is lost", nth, r)
		}
	}
}

func TestReadersGoOnWhileSegmentsAreSwapped(t *testing.T) {
	c := newCompacted(t, 3)
	c.cfg.FileDeleteDelay = 0
	c.grow(80)
	c.roll()
	newest := map[string]keyed{}
	for _, r := range c.written {
		newest[r.key] = r
	}
	stop := make(chan struct{})
	var readers sync.WaitGroup
	for i := range 3 {
		readers.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(i), 1))
			for {
				select {
				case <-stop:
					return
				default:
				}
				if rng.IntN(5) == 0 {
					c.log.TrimMemory(-time.Hour)
				}
				seen := map[string]bool{}
				for _, r := range records(t, c.log) {
					if newest[r.key] == r {
						seen[r.key] = true
					}
				}
				if len(seen) != len(newest) {
					t.Errorf("%d of %d keys", len(seen), len(newest))
					return
				}
				if _, _, err := c.log.OffsetForTimestamp(testEpochTime.UnixMilli()+rng.Int64N(200), c.log.LogEndOffset()); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	cleaner := testCleaner(t, 200)
	for range 60 {
		job := c.job(0) // over and over
		if _, err := cleaner.Clean(context.Background(), c.log, job); err != nil {
			t.Fatal(err)
		}
		runtime.Gosched()
	}
	close(stop)
	readers.Wait()
}

func TestCleaningStopsWhenTheLogIsTruncatedOrDeleted(t *testing.T) {
	for name, disturb := range map[string]func(l *Log) error{
		"truncated": func(l *Log) error { return l.Truncate(l.LogEndOffset() - 20) },
		"deleted":   func(l *Log) error { _, err := l.DeleteBefore(l.list()[2].base); return err },
		"closed":    func(l *Log) error { return l.Close(true) },
	} {
		t.Run(name, func(t *testing.T) {
			c := newCompacted(t, 4)
			c.grow(80)
			c.roll()
			job := c.job(Unknown)
			calls := 0
			cleaner, err := NewCleaner(CleanerOptions{MapBytes: 10000, MapLoad: 0.9, Throttle: func(context.Context, int) error {
				if calls++; calls == 5 {
					return disturb(c.log)
				}
				return nil
			}})
			if err != nil {
				t.Fatal(err)
			}
			_, err = cleaner.Clean(context.Background(), c.log, job)
			if !errors.Is(err, ErrCleaningAborted) && !errors.Is(err, ErrClosed) {
				t.Fatalf("got %v", err)
			}
			names, err := c.fs.List(testDir)
			if err != nil {
				t.Fatal(err)
			}
			for _, n := range names {
				if bytes.HasSuffix([]byte(n), []byte(suffixCleaned)) || bytes.HasSuffix([]byte(n), []byte(suffixSwap)) {
					t.Errorf("%s is left", n)
				}
			}
		})
	}
}

// readSegmentStart returns the first batch of a segment.
func readSegmentStart(t *testing.T, s *segment) []byte {
	t.Helper()
	raw := make([]byte, s.size.Load())
	if err := readFull(s, raw, 0); err != nil {
		t.Fatal(err)
	}
	h, err := batch.ParseHeader(raw)
	if err != nil {
		t.Fatal(err)
	}
	return raw[:h.Size()]
}

func TestDamagedSegmentIsNotCleaned(t *testing.T) {
	for at := int64(8); at < 400; at += 3 {
		if at >= 12 && at < 16 {
			continue // the leader epoch, which the checksum leaves out
		}
		c := newCompacted(t, 6)
		c.grow(60)
		c.roll()
		job := c.job(Unknown)
		damaged := c.log.list()[1]
		name := segmentPath(testDir, damaged.base, extLog)
		if at >= int64(headers(t, readSegmentStart(t, damaged))[0].Size()) {
			break
		}
		flip(t, c.fs, name, at)
		before, err := vfs.ReadFile(c.fs, name, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := testCleaner(t, 100).Clean(context.Background(), c.log, job); !errors.Is(err, batch.ErrCorrupt) {
			t.Fatalf("byte %d: %v", at, err)
		}
		after, err := vfs.ReadFile(c.fs, name, 1<<20)
		if err != nil || !bytes.Equal(before, after) {
			t.Fatalf("byte %d: the segment changed (%v)", at, err)
		}
	}
}

// failingPolicy answers with an error.
type failingPolicy struct{}

func (failingPolicy) Needs() policy.CompactionNeeds { return policy.CompactionNeeds{} }
func (failingPolicy) Decide(context.Context, policy.CompactionFacts, []policy.CompactionRow, []policy.CompactionVerdict) error {
	return errors.New("trap")
}

func TestFailedPolicyKeepsEverything(t *testing.T) {
	c := newCompacted(t, 7)
	c.grow(60)
	c.roll()
	before := readAll(t, c.log)
	cleaner, err := NewCleaner(CleanerOptions{MapBytes: 10000, MapLoad: 0.9, Policy: failingPolicy{}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cleaner.Clean(context.Background(), c.log, c.job(Unknown)); err == nil {
		t.Fatal("no error")
	}
	if !bytes.Equal(readAll(t, c.log), before) {
		t.Fatal("the log changed")
	}
}

// keysPolicy keeps records by key and header.
type keysPolicy struct{ seen []policy.CompactionRow }

func (*keysPolicy) Needs() policy.CompactionNeeds {
	return policy.CompactionNeeds{Keys: true, Headers: []string{"ttl"}}
}

func (p *keysPolicy) Decide(_ context.Context, _ policy.CompactionFacts, rows []policy.CompactionRow, verdicts []policy.CompactionVerdict) error {
	for i, r := range rows {
		if string(r.Key) == "k1" {
			verdicts[i].Action = policy.CompactionDrop
		}
		r.Key = bytes.Clone(r.Key)
		p.seen = append(p.seen, r)
	}
	return nil
}

func TestPolicySeesKeysAndDecides(t *testing.T) {
	c := newCompacted(t, 8)
	c.grow(50)
	c.roll()
	p := &keysPolicy{}
	cleaner, err := NewCleaner(CleanerOptions{MapBytes: 100000, MapLoad: 0.9, Policy: p})
	if err != nil {
		t.Fatal(err)
	}
	job := c.job(Unknown)
	if _, err := cleaner.Clean(context.Background(), c.log, job); err != nil {
		t.Fatal(err)
	}
	for i, r := range p.seen {
		w := c.written[i]
		if batch.Offset(r.Offset) != w.offset || string(r.Key) != w.key || r.Tombstone() != (w.value == "") {
			t.Fatalf("row %d is %+v, record %+v", i, r, w)
		}
	}
	for _, r := range records(t, c.log) {
		if r.key == "k1" && r.offset < job.To {
			t.Fatalf("%+v is still there", r)
		}
	}
}

func TestOffsetMapKnowsTheNewestOffsetOfEachKey(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		slots := rapid.IntRange(2, 200).Draw(t, "slots")
		m := &offsetMap{key: [2]uint64{1, 2}}
		_, limit := offsetMapLimits(int64(slots)*offsetSlotLen, rapid.Float64Range(0.5, 1).Draw(t, "load"))
		m.reset(slots, limit, rapid.Int64Range(0, 400).Draw(t, "want"))
		want := map[string]batch.Offset{}
		for o := range rapid.IntRange(0, 400).Draw(t, "puts") {
			key := fmt.Sprint(rapid.IntRange(0, 150).Draw(t, "key"))
			if m.full() {
				break
			}
			m.put([]byte(key), batch.Offset(o))
			want[key] = batch.Offset(o)
		}
		if m.entries != len(want) {
			t.Fatalf("%d entries, want %d", m.entries, len(want))
		}
		for k := range 160 {
			key := fmt.Sprint(k)
			o, ok := want[key]
			if !ok {
				o = -1
			}
			if got := m.get([]byte(key)); got != o {
				t.Fatalf("key %s at %d, want %d", key, got, o)
			}
		}
	})
}

func TestSipHashVectors(t *testing.T) {
	key := [2]uint64{0x0706050403020100, 0x0f0e0d0c0b0a0908}
	var in []byte
	for i, want := range []string{"a3817f04ba25a8e66df67214c7550293", "da87c1d86b99af44347659119b22fc45", "8177228da4a45dc7fca38bdef60affe4"} {
		h := sipHash128(key, in)
		got := fmt.Sprintf("%016x%016x", swap(h.a), swap(h.b))
		if got != want {
			t.Errorf("%d bytes: %s, want %s", i, got, want)
		}
		in = append(in, byte(i))
	}
}

func swap(v uint64) (r uint64) {
	for range 8 {
		r, v = r<<8|v&0xff, v>>8
	}
	return r
}

// The table of keys and the buffers are all that grows with a log.
func TestCleanerStaysWithinItsMemory(t *testing.T) {
	const mapBytes = 1 << 20
	c := newCompacted(t, 9)
	c.cfg.SegmentBytes, c.cfg.SegmentIndexBytes = 1<<20, 10<<20
	c.log.SetConfig(c.cfg)
	for range 60 {
		var rs []keyed
		end := c.log.LogEndOffset()
		for i := range 2000 {
			rs = append(rs, keyed{end + batch.Offset(i), 1, fmt.Sprintf("key-%d", int(end)+i), "v"})
		}
		c.append(buildKeyed(batch.LZ4, rs...))
	}
	c.roll()
	cleaner, err := NewCleaner(CleanerOptions{MapBytes: mapBytes, MapLoad: 0.9, BufferBytes: 64 << 10})
	if err != nil {
		t.Fatal(err)
	}
	from, rounds := Unknown, 0
	for {
		job := c.job(from)
		if job.From >= job.To {
			break
		}
		res, err := cleaner.Clean(context.Background(), c.log, job)
		if err != nil {
			t.Fatal(err)
		}
		from = res.To
		rounds++
		if n := cap(cleaner.m.slots) * offsetSlotLen; n > mapBytes {
			t.Fatalf("table of %d bytes", n)
		}
	}
	if want := 120000 / (mapBytes / offsetSlotLen * 9 / 10); rounds < want {
		t.Errorf("%d rounds, want at least %d", rounds, want)
	}
	if held := cap(cleaner.in) + cap(cleaner.out) + cap(cleaner.ask.rows)*128 + cap(cleaner.keep); held > 4<<20 {
		t.Errorf("holds %d bytes besides", held)
	}
	cleaner.Release()
	if cap(cleaner.m.slots)+cap(cleaner.in) > 0 {
		t.Error("keeps memory")
	}
}

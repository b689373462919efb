package commitlog

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/weir-broker/weir/broker/batch"
	"github.com/weir-broker/weir/broker/vfs"
)

// crashModel runs random operations on a log over a Mem, and after every single file operation opens a clone of what a
// crash would leave, which has to be a log the model allows.
type crashModel struct {
	t     *testing.T
	seed  uint64
	rng   *rand.Rand
	mem   *vfs.Mem
	f     *fixture
	queue []func() // what Options.Later was given

	// allowed are the logs that may be found now: one, or two while an operation replaces one by the other.
	allowed []modelLog
	acked   batch.Offset // end of what Append returned for
	op      string
	clones  int
	busy    bool
}

// modelLog is a log that may be found, or a prefix of it that reaches durable.
type modelLog struct {
	start   batch.Offset
	batches [][]byte
	durable batch.Offset
	// least is where the log ends at least: where offsets are missing, the base of an empty segment.
	least batch.Offset
}

func (m *modelLog) end() batch.Offset {
	if n := len(m.batches); n > 0 {
		h, _ := batch.ParseHeader(m.batches[n-1])
		return max(h.NextOffset(), m.least)
	}
	return max(m.start, m.least)
}

func (m *modelLog) before(to batch.Offset) [][]byte {
	n := 0
	for n < len(m.batches) {
		if h, _ := batch.ParseHeader(m.batches[n]); h.LastOffset() >= to {
			break
		}
		n++
	}
	return m.batches[:n:n]
}

func (c *crashModel) fatalf(format string, args ...any) {
	c.t.Helper()
	c.t.Fatalf("seed %d, %s: %s", c.seed, c.op, fmt.Sprintf(format, args...))
}

func (c *crashModel) options(fsys vfs.FS, clean bool) Options {
	o := c.f.options(clean)
	o.FS = fsys
	o.Later = func(_ time.Duration, work func()) { c.queue = append(c.queue, work) }
	return o
}

func (c *crashModel) reopen(clean bool) {
	if err := c.f.log.Close(clean); err != nil {
		c.fatalf("close: %v", err)
	}
	c.queue = nil
	c.open(clean)
}

func (c *crashModel) open(clean bool) {
	l, found, err := Open(c.options(c.mem, clean))
	if err != nil {
		c.fatalf("open: %v", err)
	}
	if clean && !found.Clean {
		c.fatalf("clean stop was not recognised: %+v", found)
	}
	c.f.log = l
	cur := &c.allowed[0]
	if l.LogEndOffset() != cur.end() || l.LogStartOffset() != cur.start {
		c.fatalf("opened [%d, %d), want [%d, %d)", l.LogStartOffset(), l.LogEndOffset(), cur.start, cur.end())
	}
}

// crashed is called after every file operation.
func (c *crashModel) crashed(op vfs.Op) {
	if c.busy {
		return
	}
	c.busy = true
	defer func() { c.busy = false }()
	c.clones++
	kept := []float64{0, 0.5, 1}[c.rng.IntN(3)]
	clone := c.mem.CrashClone(vfs.CrashOptions{UnsyncedKept: kept, Rand: c.rng})
	what := fmt.Sprintf("crash after %v, kept %v, marks %+v", op, kept, c.f.marks)
	o := c.options(clone, false)
	o.Later = nil
	marks := c.f.marks
	o.SaveLogStart = func(to batch.Offset) error { marks.start = to; return nil }
	o.SaveRecoveryPoint = func(to batch.Offset) error { marks.recovery = to; return nil }
	l, found, err := Open(o)
	if err != nil {
		c.fatalf("%s: open: %v", what, err)
	}
	if err := verifyDir(clone, testDir); err != nil {
		c.fatalf("%s: %v (%+v)", what, err, found)
	}
	got := readAll(c.t, l)
	reasons := ""
	ok := false
	for i := range c.allowed {
		reason := c.matches(&c.allowed[i], l, got, kept == 1)
		ok = ok || reason == ""
		reasons += fmt.Sprintf("\n  log %d: %s", i, reason)
	}
	if !ok {
		c.fatalf("%s: recovered [%d, %d) %+v%s\n%s", what, l.LogStartOffset(), l.LogEndOffset(), found, reasons, c.describe())
	}
	if c.rng.IntN(4) == 0 {
		c.goOn(l, o, clone, marks, got, what)
	}
}

// matches reports why the recovered log is not one the model allows.
func (c *crashModel) matches(m *modelLog, l *Log, got []byte, killed bool) string {
	start, end := l.LogStartOffset(), l.LogEndOffset()
	if start > m.start && start > end {
		return "starts behind its end"
	}
	if start > m.start {
		return fmt.Sprintf("starts at %d, not %d", start, m.start)
	}
	least := min(m.durable, m.end())
	if killed {
		least = min(c.acked, m.end())
	}
	if end < least {
		return fmt.Sprintf("ends at %d, before %d", end, least)
	}
	if end > m.end() {
		return fmt.Sprintf("ends at %d, behind %d", end, m.end())
	}
	var want []byte
	for _, raw := range m.batches {
		if h, _ := batch.ParseHeader(raw); h.LastOffset() >= start && h.LastOffset() < end {
			want = append(want, raw...)
		}
	}
	if !bytes.Equal(got, want) {
		return fmt.Sprintf("holds %d bytes, want %d", len(got), len(want))
	}
	return ""
}

// goOn uses a recovered log, stops it cleanly and opens it again.
func (c *crashModel) goOn(l *Log, o Options, clone *vfs.Mem, marks testMarks, got []byte, what string) {
	end := l.LogEndOffset()
	raw := build(end, 2, 120, 0, 0, batch.None)
	if err := l.Append(raw, headers(c.t, raw)); err != nil {
		c.fatalf("%s: append: %v", what, err)
	}
	if err := l.Close(true); err != nil {
		c.fatalf("%s: close: %v", what, err)
	}
	o.RecoveryPoint, o.LogStartOffset, o.CleanShutdown = marks.recovery, marks.start, true
	l, found, err := Open(o)
	if err != nil || !found.Clean {
		c.fatalf("%s: open again: %v %+v", what, err, found)
	}
	if again := readAll(c.t, l); !bytes.Equal(again, append(got, raw...)) {
		c.fatalf("%s: reads %d bytes after a clean stop, want %d", what, len(again), len(got)+len(raw))
	}
	if err := verifyDir(clone, testDir); err != nil {
		c.fatalf("%s: after a clean stop: %v", what, err)
	}
}

// step runs one operation.
func (c *crashModel) step() {
	cur := c.allowed[0]
	l := c.f.log
	switch r := c.rng.IntN(100); {
	case r < 55:
		c.append(cur)
	case r < 67:
		upTo := cur.start + batch.Offset(c.rng.Int64N(int64(cur.end()-cur.start)+1))
		c.op = fmt.Sprintf("flush to %d", upTo)
		if err := l.Flush(upTo); err != nil {
			c.fatalf("%v", err)
		}
	case r < 73:
		c.op = "roll"
		if err := l.Roll(); err != nil {
			c.fatalf("%v", err)
		}
	case r < 80:
		c.truncate(cur)
	case r < 86:
		off := cur.start + batch.Offset(c.rng.Int64N(int64(cur.end()-cur.start)+2))
		c.op = fmt.Sprintf("delete before %d", off)
		if c.rng.IntN(2) == 0 {
			off = cur.start + (off-cur.start)/4
		}
		c.allowed[0].start = min(off, cur.end()) // the start may go up to there
		if _, err := l.DeleteBefore(off); err != nil {
			c.fatalf("%v", err)
		}
		c.allowed[0].start = l.LogStartOffset()
	case r < 90:
		to := cur.start + batch.Offset(c.rng.Int64N(int64(cur.end()-cur.start)+1))
		c.op = fmt.Sprintf("advance start to %d", to)
		c.allowed[0].start = to
		if err := l.AdvanceLogStart(to); err != nil {
			c.fatalf("%v", err)
		}
	case r < 92:
		c.op = "checkpoint marks"
		c.f.marks.recovery = l.RecoveryPoint()
	case r < 96:
		c.op = "later"
		for _, work := range c.queue {
			work()
		}
		c.queue = nil
	default:
		clean := c.rng.IntN(2) == 0
		c.op = fmt.Sprintf("reopen, clean %v", clean)
		c.reopen(clean)
		if clean {
			c.allowed[0].durable = c.f.log.LogEndOffset()
		}
	}
	c.allowed[0].durable = max(c.allowed[0].durable, c.f.log.RecoveryPoint())
	if got := readAll(c.t, c.f.log); !bytes.Equal(got, bytes.Join(c.visible(), nil)) {
		c.fatalf("reads %d bytes, want %d", len(got), len(bytes.Join(c.visible(), nil)))
	}
	if c.f.log.LogEndOffset() != c.allowed[0].end() || c.f.log.LogStartOffset() != c.allowed[0].start {
		c.fatalf("log is [%d, %d), want [%d, %d)", c.f.log.LogStartOffset(), c.f.log.LogEndOffset(), c.allowed[0].start, c.allowed[0].end())
	}
}

func (c *crashModel) visible() [][]byte {
	m := &c.allowed[0]
	for i, raw := range m.batches {
		if h, _ := batch.ParseHeader(raw); h.LastOffset() >= m.start {
			return m.batches[i:]
		}
	}
	return nil
}

func (c *crashModel) append(cur modelLog) {
	base := cur.end()
	if c.f.cfg.Compacted && c.rng.IntN(4) == 0 {
		base += batch.Offset(c.rng.IntN(9)) // as a follower of a cleaned log gets it
	}
	var raw []byte
	var raws [][]byte
	for range 1 + c.rng.IntN(3) {
		n := 1 + c.rng.IntN(4)
		one := build(base, n, 70+c.rng.IntN(400), c.rng.Int64N(1e6), batch.LeaderEpoch(c.rng.IntN(2)+len(cur.batches)/20), batch.None)
		raws = append(raws, one)
		raw = append(raw, one...)
		base += batch.Offset(n)
	}
	c.op = fmt.Sprintf("append %d bytes at %d", len(raw), cur.end())
	c.allowed[0].batches = append(cur.batches[:len(cur.batches):len(cur.batches)], raws...)
	if err := c.f.log.Append(raw, headers(c.t, raw)); err != nil {
		c.fatalf("%v", err)
	}
	c.acked = c.f.log.LogEndOffset()
}

func (c *crashModel) truncate(cur modelLog) {
	if c.rng.IntN(5) == 0 {
		to := batch.Offset(c.rng.Int64N(int64(cur.end()) + 30))
		c.op = fmt.Sprintf("truncate fully to %d", to)
		c.acked = to
		old := cur
		old.start, old.durable = max(cur.start, to), 0
		c.allowed = []modelLog{{start: to, durable: to}, old, {start: max(cur.start, to), durable: 0}}
		// Crashed half way, the log may also be the front of the old one.
		c.allowed[1].batches = cur.batches
		if err := c.f.log.TruncateFully(to); err != nil {
			c.fatalf("%v", err)
		}
		c.allowed = c.allowed[:1]
		return
	}
	to := cur.start + batch.Offset(c.rng.Int64N(int64(cur.end()-cur.start)+1))
	c.op = fmt.Sprintf("truncate to %d", to)
	c.allowed[0].durable = min(cur.durable, to)
	short := modelLog{start: cur.start, batches: cur.before(to), durable: min(cur.durable, to)}
	if len(short.batches) == 0 {
		// Nothing is left: the log ends where its first segment begins, which may be before the start it had.
		short.start, short.durable = 0, 0
	}
	c.acked = min(c.acked, short.end())
	short.durable = min(short.durable, short.end())
	c.allowed[0].durable = min(c.allowed[0].durable, short.end())
	c.allowed = append(c.allowed, short)
	if len(short.batches) == 0 {
		c.allowed[1].start, c.allowed[1].least = cur.start, cur.start
	}
	if err := c.f.log.Truncate(to); err != nil {
		c.fatalf("%v", err)
	}
	if len(short.batches) == 0 {
		short.start = c.f.log.LogStartOffset()
	}
	short.start = min(short.start, c.f.log.LogStartOffset())
	if c.f.cfg.Compacted || len(short.batches) == 0 {
		short.least = c.f.log.LogEndOffset()
	}
	c.allowed = []modelLog{short}
	c.acked = short.end()
}

func TestCrashModelNeverLosesInventsOrReordersRecords(t *testing.T) {
	seeds, clones := uint64(24), 0
	if n, err := strconv.ParseUint(os.Getenv("WEIR_CRASH_SEEDS"), 10, 64); err == nil {
		seeds = n
	}
	first := uint64(0)
	if n, err := strconv.ParseUint(os.Getenv("WEIR_CRASH_SEED"), 10, 64); err == nil {
		first, seeds = n, 1
	}
	for seed := first; seed < first+seeds; seed++ {
		clones += runCrashModel(t, seed)
	}
	t.Logf("%d crashes", clones)
}

func runCrashModel(t *testing.T, seed uint64) int {
	cfg := smallConfig()
	rng := rand.New(rand.NewPCG(seed, 77))
	cfg.Compacted = seed%3 == 2
	cfg.Preallocate = seed%4 == 3
	c := &crashModel{t: t, seed: seed, rng: rng, mem: vfs.NewMem(), allowed: []modelLog{{}}, op: "open"}
	if err := c.mem.MkdirAll("/data", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := vfs.SyncDir(c.mem, "/"); err != nil {
		t.Fatal(err)
	}
	c.f = newFixture(t, c.mem, cfg)
	c.mem.OnOp(c.crashed)
	c.open(false)
	for range 60 {
		c.step()
	}
	return c.clones
}

// describe says what the model allows and what the live log is.
func (c *crashModel) describe() string {
	var b bytes.Buffer
	for i, m := range c.allowed {
		fmt.Fprintf(&b, "log %d: start %d, durable %d, at least to %d:", i, m.start, m.durable, m.least)
		for _, raw := range m.batches[max(0, len(m.batches)-8):] {
			h, _ := batch.ParseHeader(raw)
			fmt.Fprintf(&b, " %d-%d", h.BaseOffset, h.LastOffset())
		}
		fmt.Fprintln(&b)
	}
	for _, s := range c.f.log.list() {
		fmt.Fprintf(&b, "segment %d: %d bytes to %d\n", s.base, s.size.Load(), s.next.Load())
	}
	return b.String()
}

// A flushed log may end in offsets without records, as after a cleaning. That it goes on behind them is said by nothing but
// the name of the next segment.
func TestFlushedGapSurvivesAPowerLoss(t *testing.T) {
	mem := vfs.NewMem()
	if err := mem.MkdirAll("/data", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := vfs.SyncDir(mem, "/"); err != nil {
		t.Fatal(err)
	}
	cfg := smallConfig()
	cfg.Compacted = true
	f := newFixture(t, mem, cfg)
	f.open(false)
	f.add(20, 1500)
	if err := f.log.Flush(20); err != nil {
		t.Fatal(err)
	}
	f.append(build(33, 4, 1500, testEpochTime.UnixMilli(), 0, batch.None))
	if err := f.log.Flush(33); err != nil {
		t.Fatal(err)
	}
	if got := f.log.RecoveryPoint(); got != 33 {
		t.Fatalf("recovery point %d", got)
	}
	f.fs = mem.CrashClone(vfs.CrashOptions{})
	f.open(false)
	if start, end := f.log.LogStartOffset(), f.log.LogEndOffset(); start != 0 || end != 33 {
		t.Errorf("after the crash the log is [%d, %d), want [0, 33)", start, end)
	}
}

//go:build interop

package clean_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weir-broker/weir/broker/batch"
	"github.com/weir-broker/weir/broker/commitlog"
	"github.com/weir-broker/weir/broker/producerstate"
	"github.com/weir-broker/weir/broker/vfs"
	"github.com/weir-broker/weir/interop/oracle"
)

var (
	kafka *oracle.Oracle
	// cases is how many random logs there are: 300 is what CI runs.
	cases = envInt("WEIR_CLEAN_CASES", 300)
	seed  = uint64(envInt("WEIR_CLEAN_SEED", int(time.Now().UnixNano())))
	only  = envInt("WEIR_CLEAN_CASE", -1)
	first = envInt("WEIR_CLEAN_FIRST", 0) // to go on with a campaign
)

func envInt(name string, otherwise int) int {
	n, err := strconv.Atoi(os.Getenv(name))
	if err != nil {
		return otherwise
	}
	return n
}

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "weir-clean")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	kafka, err = oracle.Start(oracle.Options{Dir: dir, LogLevel: "error"})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := m.Run()
	if err := kafka.Close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// tally counts what the logs of a run had in them, so that a generator that makes nothing interesting is noticed.
type tally struct {
	rounds, due, resets, partial, emptied, horizons, aborted, dumped, recordsIn, recordsOut, merged, unopened, stale atomic.Int64
}

// TestKafkaCleansRandomLogsAsWeDo takes each log through up to three rounds of growth and cleaning.
func TestKafkaCleansRandomLogsAsWeDo(t *testing.T) {
	t.Logf("seed %d, logs %d to %d", seed, first, cases)
	root := t.TempDir()
	if st, err := os.Stat("/dev/shm"); err == nil && st.IsDir() {
		shm, err := os.MkdirTemp("/dev/shm", "weir-clean")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.RemoveAll(shm) })
		root = shm
	}
	var count tally
	next := make(chan int)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := range next {
				dir := filepath.Join(root, strconv.Itoa(i))
				if err := oneLog(i, dir, &count); err != nil {
					t.Errorf("WEIR_CLEAN_SEED=%d WEIR_CLEAN_CASE=%d: %v", seed, i, err)
				}
				if err := os.RemoveAll(dir); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for i := range cases {
		if only >= 0 && i != only || i < first {
			continue
		}
		if t.Failed() {
			break
		}
		next <- i
	}
	close(next)
	wg.Wait()
	t.Logf("rounds %d, cleaned %d (to a full table %d), checkpoints reset %d, records %d to %d, segments merged away %d, emptied batches %d, delete horizons %d, aborted transactions kept %d, dumped by Kafka %d, given up as Kafka has no room in an index %d, left out as Kafka may take records for aborted %d",
		count.rounds.Load(), count.due.Load(), count.partial.Load(), count.resets.Load(), count.recordsIn.Load(), count.recordsOut.Load(),
		count.merged.Load(), count.emptied.Load(), count.horizons.Load(), count.aborted.Load(), count.dumped.Load(), count.unopened.Load(), count.stale.Load())
	if only < 0 && cases-first >= 300 && (count.due.Load() < int64(cases-first)/2 || count.emptied.Load() == 0 || count.horizons.Load() == 0 || count.aborted.Load() == 0 || count.partial.Load() == 0) {
		t.Error("the logs were too dull")
	}
}

// indexFull is whether Kafka failed because an index holds no more entries: it bounds those of a cleaned segment too, which may
// need more than its sources had, and cannot clean the partition from then on. We do.
func indexFull(message string) bool { return strings.Contains(message, "index (size = ") }

// question is what both cleaners are given beside the files.
type question struct {
	hw, logStart, checkpoint int64
	now                      int64
	deleteRetention, minLag  int64
	maxLag                   int64
	ratio, load              float64
	mapBytes, ioBytes        int
}

func oneLog(i int, dir string, count *tally) error {
	r := rand.New(rand.NewPCG(seed, uint64(i)))
	src := filepath.Join(dir, "src", "t-0")
	if err := os.MkdirAll(src, 0o755); err != nil {
		return err
	}
	g := newRandomLog(r, src)
	q := question{checkpoint: -1, mapBytes: 24 * (2 + r.IntN(100)), load: 0.9, ioBytes: 400 + r.IntN(20000)}
	if r.IntN(2) == 0 {
		q.mapBytes = 24 * 1000
	}
	for round := range 1 + r.IntN(3) {
		if err := g.grow(10 + r.IntN(80)); err != nil {
			return fmt.Errorf("grow: %w", err)
		}
		// Kafka's recovery makes the snapshots and transaction indexes.
		opened, err := kafka.OpenLog(context.Background(), oracle.OpenLogRequest{Dir: src, Config: g.kafkaConfig(&q), Now: g.clock, ProducerExpiration: 1<<31 - 1, Close: true})
		if err == nil && indexFull(opened.ErrorMessage) {
			// It indexes a segment anew more densely than a leader did, and then finds the index too small.
			count.unopened.Add(1)
			return nil
		}
		if err != nil || opened.ErrorClass != "" {
			return fmt.Errorf("Kafka does not open the log: %v %s %s", err, opened.ErrorClass, opened.ErrorMessage)
		}
		// It leaves the newest index preallocated, which no clean stop of a running broker does.
		if err := g.grow(0); err != nil {
			return err
		}
		if err := g.age(vfs.OS()); err != nil {
			return err
		}
		end := opened.Opened.LogEndOffset
		q.logStart = opened.Opened.LogStartOffset
		if r.IntN(6) == 0 {
			q.logStart += r.Int64N(end - q.logStart + 1)
		}
		q.hw = end
		if r.IntN(4) == 0 {
			q.hw = q.logStart + r.Int64N(end-q.logStart+1)
		}
		if r.IntN(15) == 0 {
			q.checkpoint = r.Int64N(end + 20)
		}
		q.now = g.clock + r.Int64N(2_000_000)
		q.deleteRetention = r.Int64N(1_500_000)
		q.minLag, q.maxLag = 0, 1<<62
		if r.IntN(4) == 0 {
			q.minLag = r.Int64N(1_000_000)
		}
		if r.IntN(4) == 0 {
			q.maxLag = q.minLag + 1 + r.Int64N(1_000_000)
		}
		q.ratio = 0
		if r.IntN(4) == 0 {
			q.ratio = r.Float64()
		}
		got, err := compareRound(dir, src, g, &q, count, i%50 == 0)
		if indexFull(got.ErrorMessage) {
			count.unopened.Add(1)
			return nil
		}
		if err != nil {
			return fmt.Errorf("round %d, %+v: %w", round, q, err)
		}
		if got.Due {
			q.checkpoint = got.End
		} else if got.Reset {
			q.checkpoint = got.From
		}
		g.clock = q.now
		if err := os.RemoveAll(src); err != nil {
			return err
		}
		if err := os.Rename(filepath.Join(dir, "kafka", "t-0"), src); err != nil {
			return err
		}
	}
	return nil
}

func (g *randomLog) kafkaConfig(q *question) map[string]string {
	return map[string]string{
		"cleanup.policy": "compact", "internal.segment.bytes": strconv.Itoa(g.conf.SegmentBytes), "segment.index.bytes": strconv.Itoa(g.conf.SegmentIndexBytes),
		"index.interval.bytes": strconv.Itoa(g.conf.IndexIntervalBytes), "delete.retention.ms": strconv.FormatInt(q.deleteRetention, 10),
		"min.compaction.lag.ms": strconv.FormatInt(q.minLag, 10), "max.compaction.lag.ms": strconv.FormatInt(max(q.maxLag, 1), 10),
		"min.cleanable.dirty.ratio": strconv.FormatFloat(q.ratio, 'g', -1, 64),
	}
}

// compareRound lets both clean a copy of src and compares the results.
func compareRound(dir, src string, g *randomLog, q *question, count *tally, dump bool) (oracle.CleanResult, error) {
	theirs, ours := filepath.Join(dir, "kafka", "t-0"), filepath.Join(dir, "weir", "t-0")
	for _, to := range []string{theirs, ours} {
		if err := copyDir(src, to); err != nil {
			return oracle.CleanResult{}, err
		}
	}
	want, err := kafka.Clean(context.Background(), oracle.CleanRequest{
		Dir: theirs, Config: g.kafkaConfig(q), LogStartOffset: q.logStart, RecoveryPoint: 1 << 62, HighWatermark: q.hw, Checkpoint: q.checkpoint,
		Now: q.now, MapBytes: q.mapBytes, LoadFactor: q.load, IOBufferBytes: q.ioBytes,
	})
	if err != nil {
		return want, err
	}
	if want.ErrorClass != "" {
		return want, fmt.Errorf("Kafka: %s: %s", want.ErrorClass, want.ErrorMessage)
	}
	if stale, err := takenForAborted(src, want.From); err != nil || want.Due && stale {
		count.stale.Add(1)
		return want, errors.Join(err, os.RemoveAll(ours))
	}
	if err := cleanOurs(ours, g, q, &want); err != nil {
		return want, err
	}
	count.rounds.Add(1)
	if want.Reset {
		count.resets.Add(1)
	}
	if want.Due {
		count.due.Add(1)
		count.recordsIn.Add(want.MessagesRead)
		count.recordsOut.Add(want.MessagesWritten)
		if want.End < want.To {
			count.partial.Add(1)
		}
	}
	if err := sameDirs(src, theirs, ours, count); err != nil {
		return want, err
	}
	if dump {
		count.dumped.Add(1)
		d, err := kafka.DumpLogs(context.Background(), ours)
		if err != nil {
			return want, err
		}
		for _, m := range d.Mismatches {
			if !expected(m) {
				return want, fmt.Errorf("DumpLogSegments: %v", d.Mismatches)
			}
		}
	}
	return want, os.RemoveAll(ours)
}

// takenForAborted is whether Kafka, when it fills the table of keys from the middle of a segment, takes records of a producer for
// aborted although they come after the marker: it looks up the transactions that were aborted anywhere in the segment, and drops
// one only when it meets the marker, which lies before the place where it begins to read. Such keys then miss in its table, so
// that it leaves older records of theirs. Ours does not.
func takenForAborted(dir string, from int64) (bool, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.txnindex"))
	if err != nil {
		return false, err
	}
	logs, err := filepath.Glob(filepath.Join(dir, "*.log"))
	if err != nil {
		return false, err
	}
	base := int64(-1)
	for _, name := range logs {
		if n, err := strconv.ParseInt(strings.TrimSuffix(filepath.Base(name), ".log"), 10, 64); err == nil && n <= from {
			base = n
		}
	}
	if base < 0 || base == from {
		return false, nil
	}
	for _, name := range names {
		txns, err := commitlog.ReadTxnIndex(vfs.OS(), name)
		if err != nil {
			return false, err
		}
		for _, t := range txns {
			if int64(t.LastOffset) >= base && int64(t.LastOffset) < from {
				return true, nil
			}
		}
	}
	return false, nil
}

// expected is what DumpLogSegments says of any cleaned log, Kafka's too: of the holes, and of a time index entry for a batch
// that was emptied, whose records have no timestamp.
func expected(mismatch string) bool {
	for _, part := range []string{"Non-consecutive offsets in", " is followed by ", "Found timestamp mismatch in", "log timestamp: -1"} {
		if strings.Contains(mismatch, part) {
			return true
		}
	}
	return false
}

// cleanOurs opens the log as a partition does, cleans it and closes it.
func cleanOurs(dir string, g *randomLog, q *question, want *oracle.CleanResult) error {
	conf := g.conf
	now := time.UnixMilli(q.now)
	l, _, err := commitlog.Open(commitlog.Options{
		FS: vfs.OS(), Dir: dir, Config: conf, Now: func() time.Time { return now },
		RecoveryPoint: commitlog.Unknown, LogStartOffset: batch.Offset(q.logStart), CleanShutdown: true, Logger: slog.Default(),
	})
	if err != nil {
		return err
	}
	defer func() { _ = l.Close(false) }()
	producers, err := producerstate.Open(producerstate.Options{FS: vfs.OS(), Dir: dir, Expiration: (1<<31 - 1) * time.Millisecond})
	if err != nil {
		return err
	}
	segments := l.Segments()
	bases := make([]batch.Offset, len(segments))
	for i := range segments {
		bases[i] = batch.Offset(segments[i].Base)
	}
	if err := producers.Load(producerstate.Log{Start: l.LogStartOffset(), End: l.LogEndOffset(), Segments: bases, Batches: l.Batches}, now); err != nil {
		return err
	}
	hw := batch.Offset(q.hw)
	producers.HighWatermarkAdvanced(hw)
	lso := hw
	if first, ok := producers.FirstUnstableOffset(); ok {
		lso = min(lso, max(first, l.LogStartOffset()))
	}
	if int64(lso) == q.logStart && want.LastStableOffset > q.logStart {
		// A transaction that began below the log start holds the offset there. Kafka looks for the batch at the log start, and
		// where a hole reaches to the end of the segment it finds the next one.
		lso = batch.Offset(want.LastStableOffset)
	}
	c, err := l.Cleanable(commitlog.CleanQuery{
		Checkpoint: batch.Offset(q.checkpoint), LastStable: lso, Now: now,
		MinLag: time.Duration(q.minLag) * time.Millisecond, MaxLag: time.Duration(min(q.maxLag, int64(1<<62/1_000_000))) * time.Millisecond,
	})
	if err != nil {
		return err
	}
	// A log that Kafka just opened does not yet hold the offset against the log start.
	if int64(lso) != want.LastStableOffset && int64(lso) != q.logStart || int64(c.From) != want.From || int64(c.To) != want.To || c.Reset != want.Reset ||
		c.CleanBytes != want.CleanBytes || c.DirtyBytes != want.DirtyBytes || c.Overdue.Milliseconds() != want.OverdueMS || c.Due(q.ratio) != want.Due {
		return fmt.Errorf("to clean: lso %d %+v due %v, Kafka %+v", lso, c, c.Due(q.ratio), *want)
	}
	if !want.Due {
		return l.Close(true)
	}
	cleaner, err := commitlog.NewCleaner(commitlog.CleanerOptions{MapBytes: int64(q.mapBytes), MapLoad: q.load, BufferBytes: q.ioBytes * 2})
	if err != nil {
		return err
	}
	last := map[batch.ProducerID]commitlog.LastRecord{}
	for _, p := range producers.Producers() {
		last[p.ID] = commitlog.LastRecord{LastOffset: p.LastOffset, Epoch: p.Epoch}
	}
	res, err := cleaner.Clean(context.Background(), l, commitlog.CleanJob{
		Topic: "t", From: c.From, To: c.To, HighWatermark: hw, Now: now, DeleteRetention: time.Duration(q.deleteRetention) * time.Millisecond,
		Producers: func() map[batch.ProducerID]commitlog.LastRecord { return last },
	})
	if err != nil {
		return err
	}
	if int64(res.To) != want.End || res.RecordsKept != want.MessagesWritten || res.MapUse != want.MapUse {
		return fmt.Errorf("cleaned: %+v, Kafka %+v", res, *want)
	}
	return l.Close(true)
}

func copyDir(from, to string) error {
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	names, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	for _, n := range names {
		raw, err := os.ReadFile(filepath.Join(from, n.Name()))
		if err != nil {
			return err
		}
		st, err := n.Info()
		if err != nil {
			return err
		}
		name := filepath.Join(to, n.Name())
		if err := os.WriteFile(name, raw, 0o644); err != nil {
			return err
		}
		if err := os.Chtimes(name, st.ModTime(), st.ModTime()); err != nil {
			return err
		}
	}
	return nil
}

// sameDirs compares the segments of two directories, made from src.
func sameDirs(src, theirs, ours string, count *tally) error {
	before, err := filepath.Glob(filepath.Join(src, "*.log"))
	if err != nil {
		return err
	}
	var names [2][]string
	for i, dir := range []string{theirs, ours} {
		all, err := filepath.Glob(filepath.Join(dir, "*.log"))
		if err != nil {
			return err
		}
		for _, name := range all {
			names[i] = append(names[i], strings.TrimSuffix(filepath.Base(name), ".log"))
		}
		left, err := filepath.Glob(filepath.Join(dir, "*.[cs][lw][ea]*"))
		if err != nil || len(left) > 0 {
			return fmt.Errorf("left over: %v %v", left, err)
		}
	}
	if a, b := strings.Join(names[0], " "), strings.Join(names[1], " "); a != b {
		return fmt.Errorf("segments of Kafka: %s\nours: %s", a, b)
	}
	count.merged.Add(int64(len(before) - len(names[0])))
	for i, base := range names[0] {
		if err := sameSegment(filepath.Join(theirs, base), filepath.Join(ours, base), i+1 == len(names[0]), count); err != nil {
			return fmt.Errorf("segment %s: %w", base, err)
		}
	}
	return nil
}

func sameSegment(theirs, ours string, active bool, count *tally) error {
	type found struct {
		h   batch.Header
		raw []byte
	}
	var batches [2][]found
	var raws [2][]byte
	for i, name := range []string{theirs + ".log", ours + ".log"} {
		raw, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		raws[i] = raw
		err = batch.Split(raw, func(h batch.Header, raw []byte) error {
			if !batch.VerifyCRC(raw) {
				return fmt.Errorf("CRC of the batch at %d", h.BaseOffset)
			}
			batches[i] = append(batches[i], found{h, raw})
			return nil
		})
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	for i := range max(len(batches[0]), len(batches[1])) {
		if i >= len(batches[0]) || i >= len(batches[1]) {
			return fmt.Errorf("%d batches, Kafka has %d", len(batches[1]), len(batches[0]))
		}
		k, w := batches[0][i], batches[1][i]
		if k.h.RecordCount == 0 {
			count.emptied.Add(1)
		}
		if _, ok := k.h.DeleteHorizon(); ok {
			count.horizons.Add(1)
		}
		kh, wh := k.h, w.h
		if kh.Codec() != batch.None {
			kh.BatchLength, kh.CRC, wh.BatchLength, wh.CRC = 0, 0, 0, 0
		}
		if kh != wh {
			return fmt.Errorf("batch %d is\n%+v, of Kafka\n%+v", i, wh, kh)
		}
		kr, err1 := batch.Unpack(k.raw, batch.Limits{})
		wr, err2 := batch.Unpack(w.raw, batch.Limits{})
		if err := errors.Join(err1, err2); err != nil {
			return err
		}
		if !bytes.Equal(kr, wr) {
			return fmt.Errorf("records of the batch at %d differ", kh.BaseOffset)
		}
	}
	kt, err1 := readIfAny(theirs + ".txnindex")
	wt, err2 := readIfAny(ours + ".txnindex")
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	count.aborted.Add(int64(len(kt) / 34))
	if !bytes.Equal(kt, wt) {
		return fmt.Errorf("transaction index %x, of Kafka %x", wt, kt)
	}
	if active {
		return nil
	}
	ks, err1 := os.Stat(theirs + ".log")
	ws, err2 := os.Stat(ours + ".log")
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	if ks.ModTime().UnixMilli() != ws.ModTime().UnixMilli() {
		return fmt.Errorf("modified at %v, of Kafka at %v", ws.ModTime(), ks.ModTime())
	}
	if !bytes.Equal(raws[0], raws[1]) {
		return nil // packed differently: the positions in the indexes differ too
	}
	for _, ext := range []string{".index", ".timeindex"} {
		ki, err1 := readIfAny(theirs + ext)
		wi, err2 := readIfAny(ours + ext)
		if err := errors.Join(err1, err2); err != nil {
			return err
		}
		if !bytes.Equal(ki, wi) {
			return fmt.Errorf("%s: %x, of Kafka %x", ext, wi, ki)
		}
	}
	return nil
}

func readIfAny(name string) ([]byte, error) {
	raw, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return raw, err
}

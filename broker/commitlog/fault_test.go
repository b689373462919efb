package commitlog

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"syscall"
	"testing"

	"github.com/weir-broker/weir/broker/batch"
	"github.com/weir-broker/weir/broker/vfs"
)

// faultRun is one workload on a disk that fails once or from some operation on, and what may be found afterwards.
type faultRun struct {
	*fixture
	mem     *vfs.Mem
	faults  *vfs.Faults
	rng     *rand.Rand
	kept    [][]byte     // acknowledged batches
	start   batch.Offset // acknowledged
	flushed batch.Offset // acknowledged by Flush
	// maybe are batches that may be found behind kept: an append that failed, or what a failed truncation was to remove.
	maybe [][]byte
	// startMaybe is how far a failed deletion may have moved the start.
	startMaybe batch.Offset
	done       string // operations so far
}

// opens are the operations that take a file descriptor.
const opens = vfs.OpCreate | vfs.OpOpen | vfs.OpOpenReadWrite | vfs.OpOpenDir

// TestDiskFaultLosesNothingAcknowledged fails every single operation of a workload in several ways. Errors say that it
// was the disk; a log that goes on serves exactly what was acknowledged; and so does the log that is opened afterwards,
// whether the process died or the power failed.
func TestDiskFaultLosesNothingAcknowledged(t *testing.T) {
	faults := map[string]vfs.Fault{
		"full disk once":             {Kinds: vfs.OpsWrite, Err: syscall.ENOSPC, Times: 1, Short: 70},
		"full disk":                  {Kinds: vfs.OpsWrite, Err: syscall.ENOSPC, Short: 130},
		"any operation once":         {Kinds: vfs.OpsAll, Times: 1},
		"any operation, done though": {Kinds: vfs.OpsChange, Times: 1, After: true},
		"sync that forgets":          {Kinds: vfs.OpsSync, Times: 1, Forget: true},
		"all from here on":           {Kinds: vfs.OpsAll},
		"no descriptor once":         {Kinds: opens, Err: syscall.EMFILE, Times: 1},
		"no descriptor for a while":  {Kinds: opens, Err: syscall.ENFILE, Times: 4},
	}
	seeds := uint64(2)
	if os.Getenv("WEIR_LONG") != "" {
		seeds = 30
	}
	hits := 0
	for name, fault := range faults {
		for seed := range seeds {
			for nth := int64(1); ; nth++ {
				fault.Nth = nth
				hit, err := runFaulted(t, fault, seed)
				if err != nil {
					t.Fatalf("%s, operation %d, seed %d: %v", name, nth, seed, err)
				}
				if !hit {
					break
				}
				hits++
				if os.Getenv("WEIR_LONG") == "" {
					nth += int64(hits % 3) // a part of the operations is enough for every day
				}
			}
		}
	}
	t.Logf("%d faults", hits)
	if hits < 300 {
		t.Errorf("only %d faults", hits)
	}
}

func runFaulted(t *testing.T, fault vfs.Fault, seed uint64) (bool, error) {
	r := &faultRun{mem: vfs.NewMem(), rng: rand.New(rand.NewPCG(seed, 11))}
	r.faults = vfs.NewFaults(r.mem)
	r.fixture = newFixture(t, r.faults, smallConfig())
	if err := errors.Join(r.mem.MkdirAll("/data", 0o755), vfs.SyncDir(r.mem, "/")); err != nil {
		t.Fatal(err)
	}
	r.open(false)
	rule := r.faults.Add(fault)
	var failure error
	for range 40 {
		if err := r.step(); err != nil {
			if !errors.Is(err, ErrStorage) {
				return false, fmt.Errorf("%s: an error that is not about the disk: %w", r.done, err)
			}
			failure = err
			if r.log.failure() != nil {
				break // finished: the directory would be offline
			}
			if fault.Times == 0 && r.rng.IntN(4) == 0 {
				break
			}
			r.maybe = nil // a log that goes on has undone what failed
			if err := r.serves(); err != nil && rule.Failed() < 2 && fault.Times == 1 {
				return false, fmt.Errorf("%s, then went on after %q: %w", r.done, failure, err)
			}
		}
	}
	if rule.Failed() == 0 {
		return false, nil
	}
	if r.log.failure() == nil && fault.Times == 1 {
		if err := r.serves(); err != nil {
			return true, fmt.Errorf("%s, after %v: %w", r.done, failure, err)
		}
	}
	for _, c := range []struct {
		what string
		kept float64
	}{{"killed", 1}, {"power cut", 0}, {"power cut, parts written", 0.5}} {
		clone := r.mem.CrashClone(vfs.CrashOptions{UnsyncedKept: c.kept, Rand: r.rng})
		if err := r.recovers(clone, c.kept == 1 && !fault.Forget); err != nil {
			return true, fmt.Errorf("%s, after %v, %s: %w", r.done, failure, c.what, err)
		}
	}
	return true, nil
}

func (r *faultRun) step() error {
	end := r.log.LogEndOffset()
	switch n := r.rng.IntN(20); {
	case n < 13:
		raw := build(end, 1+r.rng.IntN(5), 100+r.rng.IntN(700), r.now.UnixMilli(), batch.LeaderEpoch(len(r.kept)/10), batch.None)
		r.note("append %d", end)
		if err := r.log.Append(bytes.Clone(raw), headers(r.t, raw)); err != nil {
			r.maybe = [][]byte{raw}
			return err
		}
		r.kept, r.maybe = append(r.kept, raw), nil
	case n < 15:
		r.note("flush %d", end)
		if err := r.log.Flush(end); err != nil {
			return err
		}
		r.flushed = end
	case n < 16:
		r.note("roll %d", end)
		return r.log.Roll()
	case n < 18 && end > r.start:
		to := r.start + batch.Offset(r.rng.Int64N(int64(end-r.start)))
		r.note("truncate %d", to)
		keep := 0
		for keep < len(r.kept) && headers(r.t, r.kept[keep])[0].LastOffset() < to {
			keep++
		}
		r.kept, r.maybe = r.kept[:keep:keep], r.kept[keep:]
		r.flushed = min(r.flushed, to)
		if keep > 0 {
			r.flushed = min(r.flushed, headers(r.t, r.kept[keep-1])[0].NextOffset())
		} else {
			r.flushed = 0
		}
		if err := r.log.Truncate(to); err != nil {
			if r.log.LogEndOffset() == end { // refused before it began
				r.kept, r.maybe = append(r.kept, r.maybe...), nil
			}
			return err
		}
		r.maybe = nil
	case n < 19 && end > r.start:
		to := r.start + batch.Offset(r.rng.Int64N(int64(end-r.start)))
		r.note("delete before %d", to)
		r.startMaybe = max(r.startMaybe, to)
		if _, err := r.log.DeleteBefore(to); err != nil {
			return err
		}
		r.start = r.log.LogStartOffset()
		r.forget()
	case r.rng.IntN(3) == 0:
		r.note("trim")
		r.log.TrimMemory(0)
	case r.rng.IntN(2) == 0 && end > r.start:
		to := r.start + batch.Offset(r.rng.Int64N(int64(end-r.start)))
		r.note("start at %d", to)
		r.startMaybe = max(r.startMaybe, to)
		if err := r.log.AdvanceLogStart(to); err != nil {
			return err
		}
		r.start = to
		r.forget()
	default:
		to := end + batch.Offset(r.rng.IntN(5))
		r.note("begin anew at %d", to)
		before, flushed := r.kept, r.flushed
		r.kept, r.maybe, r.flushed, r.startMaybe = nil, r.kept, 0, to
		if err := r.log.TruncateFully(to); err != nil {
			if r.log.failure() == nil { // refused before it began
				r.kept, r.maybe, r.flushed = before, nil, flushed
			}
			return err
		}
		r.start, r.maybe = to, nil
	}
	return nil
}

func (r *faultRun) note(format string, args ...any) { r.done += fmt.Sprintf(format, args...) + "; " }

// forget drops the batches below the start.
func (r *faultRun) forget() {
	for len(r.kept) > 0 && headers(r.t, r.kept[0])[0].LastOffset() < r.start {
		r.kept = r.kept[1:]
	}
}

// serves checks that an open log holds exactly what was acknowledged.
func (r *faultRun) serves() error {
	got, err := contents(r.log)
	if err != nil {
		return fmt.Errorf("reading: %w", err)
	}
	r.start = r.log.LogStartOffset()
	r.forget()
	if want := bytes.Join(r.kept, nil); !bytes.Equal(got, want) {
		return fmt.Errorf("serves %d bytes, %d were acknowledged", len(got), len(want))
	}
	return nil
}

// recovers opens a clone and compares it with what may be there. whole is whether nothing written may be missing.
func (r *faultRun) recovers(clone *vfs.Mem, whole bool) error {
	f := &fixture{t: r.t, fs: clone, cfg: r.cfg, now: r.now, marks: r.marks}
	l, _, err := Open(f.options(false))
	if err != nil {
		return fmt.Errorf("open: %w", err)
	}
	defer l.Close(false)
	got, err := contents(l)
	if err != nil {
		return fmt.Errorf("reading: %w", err)
	}
	start, end := l.LogStartOffset(), l.LogEndOffset()
	if start > max(r.start, r.startMaybe) {
		return fmt.Errorf("starts at %d, acknowledged %d", start, r.start)
	}
	if end < r.flushed {
		return fmt.Errorf("ends at %d, flushed up to %d", end, r.flushed)
	}
	kept, least := r.kept, 0
	for len(kept) > 0 && headers(r.t, kept[0])[0].LastOffset() < start {
		kept = kept[1:]
	}
	all := bytes.Join(append(kept[:len(kept):len(kept)], r.maybe...), nil)
	if whole {
		least = len(bytes.Join(kept, nil))
	}
	if !bytes.HasPrefix(all, got) {
		return fmt.Errorf("holds %d bytes up to %d that are no prefix of what was written", len(got), end)
	}
	if len(got) < least {
		return fmt.Errorf("holds %d bytes of %d acknowledged", len(got), least)
	}
	raw := build(end, 2, 200, 1, 99, batch.None)
	if err := l.Append(raw, headers(r.t, raw)); err != nil {
		return fmt.Errorf("append after recovery: %w", err)
	}
	if err := l.Flush(l.LogEndOffset()); err != nil {
		return fmt.Errorf("flush after recovery: %w", err)
	}
	return verifyDir(clone, testDir)
}

func contents(l *Log) ([]byte, error) {
	var out []byte
	err := l.Batches(l.LogStartOffset(), l.LogEndOffset(), func(_ batch.Header, raw []byte) error {
		out = append(out, raw...)
		return nil
	})
	return out, err
}

// A lack of file descriptors fails what was asked for and nothing later: neither the log nor its directory is the worse for it.
func TestLackOfDescriptorsFailsOneRequest(t *testing.T) {
	for name, prepare := range map[string]func(f *fixture){
		"first roll":    func(*fixture) {},
		"after a flush": func(f *fixture) { check(f.t, f.log.Flush(f.log.LogEndOffset())) },
		"after a roll":  func(f *fixture) { check(f.t, f.log.Roll()); f.add(2, 150) },
		"after both": func(f *fixture) {
			check(f.t, f.log.Roll())
			f.add(2, 150)
			check(f.t, f.log.Flush(f.log.LogEndOffset()))
		},
		"preallocated":    func(f *fixture) { f.cfg.Preallocate = true; f.log.SetConfig(f.cfg) },
		"after a reading": func(f *fixture) { readAll(f.t, f.log) },
	} {
		t.Run(name, func(t *testing.T) {
			for nth := int64(1); ; nth++ {
				mem := vfs.NewMem()
				check(t, errors.Join(mem.MkdirAll("/data", 0o755), vfs.SyncDir(mem, "/")))
				faults := vfs.NewFaults(mem)
				f := newFixture(t, faults, smallConfig())
				f.open(false)
				f.add(2, 150)
				prepare(f)
				want := readAll(t, f.log)
				rule := faults.Add(vfs.Fault{Kinds: opens, Nth: nth, Times: 2, Err: syscall.EMFILE})
				failed := false
				for _, err := range []error{f.log.Roll(), f.log.Flush(f.log.LogEndOffset()), f.log.Flush(f.log.LogEndOffset()), f.log.Roll()} {
					if err == nil {
						continue
					}
					failed = true
					if !vfs.OutOfDescriptors(err) || !errors.Is(err, ErrStorage) {
						t.Fatalf("open %d: %v", nth, err)
					}
				}
				if rule.Failed() == 0 {
					if nth < 2 {
						t.Error("no file is opened")
					}
					return
				}
				rule.Remove()
				if failed && f.log.failure() != nil {
					t.Fatalf("open %d: the log is finished: %v", nth, f.log.failure())
				}
				for range 3 {
					want = append(want, f.add(2, 150)...)
					check(t, f.log.Flush(f.log.LogEndOffset()))
				}
				if !bytes.Equal(readAll(t, f.log), want) {
					t.Fatalf("open %d: end %d", nth, f.log.LogEndOffset())
				}
				for how, left := range map[string]*vfs.Mem{"kill": mem.Clone(), "power": mem.CrashClone(vfs.CrashOptions{})} {
					g := newFixture(t, left, f.cfg)
					g.marks = f.marks
					g.open(false)
					if !bytes.Equal(readAll(t, g.log), want) {
						t.Fatalf("open %d: after a %s to %d, %+v", nth, how, g.log.LogEndOffset(), g.found)
					}
				}
			}
		})
	}
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

package producerstate

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/weir-broker/weir/broker/batch"
	"github.com/weir-broker/weir/broker/policy"
	"github.com/weir-broker/weir/broker/vfs"
)

// TestState runs the scripts in testdata/state against a log in memory.
//
//	send id=N epoch=N seq=N n=N [txn] [coordinator]   a client's batch
//	replicate ...                                     the same, appended unchecked
//	marker id=N epoch=N (commit|abort) coord=N
//	hw to=N · start at=N · roll · snapshot · reopen · truncate to=N
//	corrupt at=N       flips a byte of that snapshot
//	expire after=D     time passes, then producers expire
//	state · snapshots
func TestState(t *testing.T) {
	datadriven.Walk(t, "testdata/state", func(t *testing.T, path string) {
		l := newFakeLog(t)
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			var id, epoch, seq, at, coord int64
			n := int64(1)
			scan := func(key string, into *int64) {
				if d.HasArg(key) {
					d.ScanArgs(t, key, into)
				}
			}
			scan("id", &id)
			scan("epoch", &epoch)
			scan("seq", &seq)
			scan("n", &n)
			scan("at", &at)
			scan("to", &at)
			scan("coord", &coord)
			switch d.Cmd {
			case "send", "replicate":
				b := l.data(batch.ProducerID(id), batch.ProducerEpoch(epoch), int32(seq), int(n), d.HasArg("txn"))
				if d.Cmd == "replicate" {
					l.append(b)
					return fmt.Sprintf("at %d\n", b.h.BaseOffset)
				}
				origin := policy.OriginClient
				if d.HasArg("coordinator") {
					origin = policy.OriginCoordinator
				}
				v, err := l.send(b, origin)
				switch {
				case err != nil:
					return err.Error() + "\n"
				case v.Duplicate:
					return fmt.Sprintf("duplicate of %d-%d\n", v.BaseOffset, v.LastOffset)
				}
				return fmt.Sprintf("appended %d-%d\n", b.h.BaseOffset, b.h.LastOffset())
			case "marker":
				kind := batch.ControlAbort
				if d.HasArg("commit") {
					kind = batch.ControlCommit
				}
				done, ok := l.append(l.marker(batch.ProducerID(id), batch.ProducerEpoch(epoch), kind, int32(coord)))
				if !ok {
					return "no transaction\n"
				}
				return fmt.Sprintf("transaction %d-%d aborted=%t, stable up to %d\n", done.FirstOffset, done.LastOffset, done.Aborted, done.LastStableOffset)
			case "hw":
				l.hw = batch.Offset(at)
				l.state.HighWatermarkAdvanced(l.hw)
			case "start":
				l.start = batch.Offset(at)
				l.state.LogStartAdvanced(l.start)
			case "roll":
				l.roll()
			case "snapshot":
				if err := l.state.Snapshot(true); err != nil {
					t.Fatal(err)
				}
			case "reopen":
				l.open()
				return fmt.Sprintf("replayed %d batches\n", l.replayed)
			case "truncate":
				l.truncate(batch.Offset(at))
				return fmt.Sprintf("replayed %d batches\n", l.replayed)
			case "corrupt":
				corrupt(t, l.fs, filepath.Join(testDir, FileName(batch.Offset(at))))
			case "expire":
				var text string
				d.ScanArgs(t, "after", &text)
				by, err := time.ParseDuration(text)
				if err != nil {
					t.Fatal(err)
				}
				l.now = l.now.Add(by)
				return fmt.Sprintf("%d expired\n", l.state.Expire(l.now))
			case "snapshots":
				return fmt.Sprintln(l.state.Snapshots())
			case "state":
				return describe(l.state)
			default:
				d.Fatalf(t, "unknown command %s", d.Cmd)
			}
			return ""
		})
	})
}

func describe(s *State) string {
	var out strings.Builder
	for _, p := range s.Producers() {
		fmt.Fprintf(&out, "producer %d epoch %d last-seq %d last-offset %d", p.ID, p.Epoch, p.LastSequence, p.LastOffset)
		if p.CoordinatorEpoch >= 0 {
			fmt.Fprintf(&out, " coordinator %d", p.CoordinatorEpoch)
		}
		if p.TxnFirstOffset >= 0 {
			fmt.Fprintf(&out, " txn from %d", p.TxnFirstOffset)
		}
		out.WriteString("\n")
	}
	if o, ok := s.FirstUnstableOffset(); ok {
		fmt.Fprintf(&out, "unstable from %d\n", o)
	}
	fmt.Fprintf(&out, "end %d\n", s.End())
	return out.String()
}

func corrupt(t *testing.T, fs vfs.FS, name string) {
	t.Helper()
	raw, err := vfs.ReadFile(fs, name, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	raw[len(raw)-1] ^= 0xff
	f, err := fs.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt(raw, 0); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestStateIsTheSameHoweverItWasRebuilt walks a log at random: appends of many
// producers with retries, markers, rolls, truncation, restarts, lost and
// damaged snapshots. At every step the state must equal the one a full replay
// gives, and retries of any of the last five batches must be answered with the
// offsets of the first copy.
func TestStateIsTheSameHoweverItWasRebuilt(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			l := newFakeLog(t)
			last := map[batch.ProducerID][]stored{} // as the client remembers
			for range 300 {
				id := batch.ProducerID(r.IntN(6))
				mine := last[id]
				switch k := r.IntN(20); {
				case k < 10:
					b := nextBatch(l, id, mine, r)
					if v, err := l.send(b, policy.OriginClient); err != nil || v.Duplicate {
						t.Fatalf("next batch of %d: %+v, %v", id, v, err)
					}
					last[id] = append(mine, b)
				case k < 13 && len(mine) > 0:
					b := mine[len(mine)-1] // at least that one survives a restart
					v, err := l.send(b, policy.OriginClient)
					if err != nil || !v.Duplicate || v.BaseOffset != b.h.BaseOffset || v.LastOffset != b.h.LastOffset() {
						t.Fatalf("retry of %d-%d: %+v, %v", b.h.BaseOffset, b.h.LastOffset(), v, err)
					}
				case k < 14 && len(mine) > 0:
					b := l.data(id, mine[len(mine)-1].h.ProducerEpoch, batch.IncrementSequence(mine[len(mine)-1].h.LastSequence(), 2), 1, false)
					if _, err := l.send(b, policy.OriginClient); !errors.Is(err, ErrOutOfOrderSequence) {
						t.Fatalf("gap: %v", err)
					}
				case k < 15:
					l.append(l.data(id+100, 0, 0, 1+r.IntN(3), true))
				case k < 16:
					l.append(l.marker(id+100, 0, batch.ControlType(r.IntN(2)), int32(r.IntN(3))))
				case k < 17:
					l.roll()
				case k < 18:
					l.hw = l.end()
					l.state.HighWatermarkAdvanced(l.hw)
				case k < 19 && len(l.batches) > 3:
					cut := l.batches[len(l.batches)-1-r.IntN(3)].h.BaseOffset
					l.truncate(cut)
					for id, bs := range last {
						for n := len(bs); n > 0 && bs[n-1].h.BaseOffset >= cut; n-- {
							bs = bs[:n-1]
						}
						last[id] = bs
					}
				default:
					for _, o := range l.state.Snapshots() {
						if r.IntN(3) == 0 {
							corrupt(t, l.fs, filepath.Join(testDir, FileName(o)))
						}
					}
					l.open()
				}
				sameAsReplay(t, l)
			}
		})
	}
}

func nextBatch(l *fakeLog, id batch.ProducerID, mine []stored, r *rand.Rand) stored {
	n := 1 + r.IntN(4)
	if len(mine) == 0 {
		// Near the wrap, so that it is crossed.
		return l.data(id, 0, 1<<31-1-int32(r.IntN(20)), n, false)
	}
	h := &mine[len(mine)-1].h
	if r.IntN(10) == 0 {
		return l.data(id, h.ProducerEpoch+1, 0, n, false)
	}
	return l.data(id, h.ProducerEpoch, batch.IncrementSequence(h.LastSequence(), 1), n, false)
}

// sameAsReplay compares with a state that never saw a snapshot.
func sameAsReplay(t *testing.T, l *fakeLog) {
	t.Helper()
	fs := vfs.NewMem()
	if err := fs.MkdirAll(testDir, 0o755); err != nil {
		t.Fatal(err)
	}
	s, err := Open(Options{FS: fs, Dir: testDir, Expiration: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Load(l.log(), l.now); err != nil {
		t.Fatal(err)
	}
	// What was replicated in an earlier life is forgotten with the snapshot, so
	// only transactions without a marker are compared.
	s.HighWatermarkAdvanced(l.end())
	want := describe(s)
	have, _, _ := strings.Cut(describe(l.state), "unstable")
	want, _, _ = strings.Cut(want, "unstable")
	have, _, _ = strings.Cut(have, "end")
	want, _, _ = strings.Cut(want, "end")
	if have != want {
		t.Fatalf("state:\n%s\nreplay of the whole log:\n%s", have, want)
	}
	if a, b := len(l.state.ongoing), len(s.ongoing); a != b {
		t.Fatalf("%d open transactions, replay has %d", a, b)
	}
}

func TestRetriesOfTheLastFiveBatchesGetTheirOwnOffsets(t *testing.T) {
	l := newFakeLog(t)
	var sent []stored
	for i := range int32(7) {
		b := l.data(9, 0, i*10, 10, false)
		if _, err := l.send(b, policy.OriginClient); err != nil {
			t.Fatal(err)
		}
		sent = append(sent, b)
	}
	for i := len(sent) - 1; i >= 0; i-- {
		v, err := l.state.Check(&sent[i].h, policy.OriginClient)
		if i < 2 {
			if !errors.Is(err, ErrOutOfOrderSequence) {
				t.Errorf("batch %d, forgotten: %+v, %v", i, v, err)
			}
			continue
		}
		if err != nil || !v.Duplicate || v.BaseOffset != sent[i].h.BaseOffset || v.LastOffset != sent[i].h.LastOffset() {
			t.Errorf("batch %d: %+v, %v", i, v, err)
		}
	}
}

func TestAPolicyOutsideItsContractIsIgnored(t *testing.T) {
	l := newFakeLog(t)
	for _, v := range []policy.ProducerVerdict{{Outcome: 99}, {Outcome: policy.ProducerDuplicate, Batch: 3}, {Outcome: policy.ProducerDuplicate, Batch: -1}} {
		l.state.policy = fixedPolicy(v)
		b := l.data(1, 0, 0, 1, false)
		if got, err := l.state.Check(&b.h, policy.OriginClient); err != nil || got.Duplicate {
			t.Errorf("%+v: %+v, %v", v, got, err)
		}
	}
}

type fixedPolicy policy.ProducerVerdict

func (f fixedPolicy) Check(*policy.ProducerFacts) policy.ProducerVerdict {
	return policy.ProducerVerdict(f)
}

func TestCheckAndApplyDoNotAllocate(t *testing.T) {
	l := newFakeLog(t)
	b := l.data(1, 0, 0, 1, false)
	l.append(b)
	h := b.h
	n := testing.AllocsPerRun(1000, func() {
		h.BaseSequence = batch.IncrementSequence(h.BaseSequence, 1)
		h.BaseOffset++
		if _, err := l.state.Check(&h, policy.OriginClient); err != nil {
			t.Fatal(err)
		}
		l.state.Apply(&h, b.raw)
		l.state.HighWatermarkAdvanced(h.NextOffset())
	})
	if n != 0 {
		t.Errorf("%v allocations per batch", n)
	}
}

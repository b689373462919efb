//go:build interop

// Package idempotence_test compares the broker's producer state with Kafka's own ProducerStateManager.
package idempotence_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weir-broker/weir/broker/batch"
	"github.com/weir-broker/weir/broker/policy"
	"github.com/weir-broker/weir/broker/producerstate"
	"github.com/weir-broker/weir/broker/vfs"
	"github.com/weir-broker/weir/interop/oracle"
)

var (
	sequences = flag.Int("sequences", envInt("WEIR_IDEMPOTENCE_SEQUENCES", 5000), "how many random sequences to play")
	seed      = flag.Uint64("seed", uint64(envInt("WEIR_IDEMPOTENCE_SEED", 0)), "seed of the sequences; 0 takes one from the clock")
)

func envInt(name string, otherwise int) int {
	n, err := strconv.Atoi(os.Getenv(name))
	if err != nil {
		return otherwise
	}
	return n
}

const expiration = 10 * time.Second

// TestProducerStateAgreesWithKafka plays random sequences of batches, retries, transactions, markers, expiries and restarts
// on both sides: the same verdict and offsets or error code at every step, the same state at the end, and the same bytes of
// the snapshot file, once its entries are put in order.
func TestProducerStateAgreesWithKafka(t *testing.T) {
	or, err := oracle.Start(oracle.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer or.Close()
	s := *seed
	if s == 0 {
		s = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d, %d sequences", s, *sequences)
	var (
		wg   sync.WaitGroup
		next = make(chan int)
		mu   sync.Mutex
		met  = map[string]int{}

		steps int
	)
	for range 4 {
		wg.Go(func() {
			for i := range next {
				seen, err := play(or, rand.New(rand.NewPCG(s, uint64(i))))
				mu.Lock()
				for _, k := range seen {
					if verdict, _, ok := strings.Cut(k, " at "); ok {
						k = verdict
					}
					met[k]++
				}
				delete(met, "")
				steps += len(seen)
				mu.Unlock()
				if err != nil {
					t.Errorf("sequence %d of seed %d: %v", i, s, err)
				}
			}
		})
	}
	for i := range *sequences {
		if t.Failed() {
			break
		}
		next <- i
	}
	close(next)
	wg.Wait()
	t.Logf("%d sequences, %d steps, verdicts: %v", *sequences, steps, met)
	for _, k := range []string{"accepted", "duplicate", "code 45", "code 47", "code 48"} {
		if met[k] == 0 && !t.Failed() {
			t.Errorf("no sequence met %q: the sequences are too tame", k)
		}
	}
}

// player has a producer state of ours and the steps for Kafka's.
type player struct {
	r     *rand.Rand
	fs    *vfs.Mem
	state *producerstate.State
	next  batch.Offset
	start batch.Offset
	now   int64
	sent  map[batch.ProducerID][]batch.Header
	steps []oracle.ProducerStep
	ours  []string
}

const dir = "/t-0"

func play(or *oracle.Oracle, r *rand.Rand) ([]string, error) {
	p := &player{r: r, fs: vfs.NewMem(), next: batch.Offset(r.IntN(3) * 50), now: 1_000_000, sent: map[batch.ProducerID][]batch.Header{}}
	first := p.next
	if err := p.fs.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	if err := p.open(); err != nil {
		return nil, err
	}
	if err := p.state.TruncateFully(first); err != nil {
		return nil, err
	}
	for range 5 + r.IntN(30) {
		if err := p.step(); err != nil {
			return nil, err
		}
	}
	// Something must follow the last snapshot, or none is written at the end.
	if err := p.send(batch.NoProducer(), 1, oracle.OriginClient); err != nil {
		return nil, err
	}
	theirs, err := or.Producer(context.Background(), expiration, int64(first), 0, p.steps)
	if err != nil {
		return nil, err
	}
	for i, s := range theirs.Steps {
		if want := kafkas(s); p.ours[i] != want && p.ours[i] != "" {
			return p.ours, fmt.Errorf("step %d: ours %q, Kafka's %q %s\nbefore: %v", i, p.ours[i], want, s.Message, p.ours[:i])
		}
	}
	return p.ours, p.compare(theirs)
}

func kafkas(s oracle.StepResult) string {
	switch s.Verdict {
	case oracle.Rejected:
		return fmt.Sprintf("code %d", s.Code)
	case oracle.Duplicate:
		return fmt.Sprintf("duplicate at %d-%d time %d", s.FirstOffset, s.LastOffset, s.Timestamp)
	}
	return accepted(s.FirstOffset, s.LastOffset)
}

func accepted(first, last int64) string { return fmt.Sprintf("accepted at %d-%d", first, last) }

func (p *player) open() (err error) {
	p.state, err = producerstate.Open(producerstate.Options{FS: p.fs, Dir: dir, Expiration: expiration})
	return err
}

func (p *player) step() error {
	r := p.r
	p.now += r.Int64N(1500)
	id := batch.ProducerID(r.IntN(4))
	switch k := r.IntN(30); {
	case k < 18:
		return p.data(id, oracle.OriginClient, false)
	case k < 20:
		return p.data(id, oracle.OriginCoordinator, false)
	case k < 23:
		return p.data(id+10, oracle.OriginReplication, true)
	case k < 24:
		return p.data(id+10, oracle.OriginClient, false)
	case k < 26:
		return p.marker(id + 10)
	case k < 27:
		p.state.Expire(time.UnixMilli(p.now))
		p.note(oracle.ExpireStep(p.now), "")
	case k < 28:
		p.start += batch.Offset(r.IntN(int(p.next-p.start) + 1))
		p.state.LogStartAdvanced(p.start)
		p.note(oracle.LogStartStep(int64(p.start)), "")
	default:
		if err := p.state.Snapshot(true); err != nil {
			return err
		}
		if err := p.open(); err != nil {
			return err
		}
		// Kafka's side is not given a log to replay either.
		noLog := func(_, _ batch.Offset, _ func(batch.Header, []byte) error) error { return nil }
		if err := p.state.Load(producerstate.Log{Start: p.start, End: p.next, Batches: noLog}, time.UnixMilli(p.now)); err != nil {
			return err
		}
		p.note(oracle.RestartStep(int64(p.start), p.now), "")
	}
	return nil
}

func (p *player) note(s oracle.ProducerStep, ours string) {
	p.steps = append(p.steps, s)
	p.ours = append(p.ours, ours)
}

// data sends the batch that follows, a retry, or one that fits less well.
func (p *player) data(id batch.ProducerID, origin oracle.Origin, txn bool) error {
	r := p.r
	o := batch.NoProducer()
	o.ProducerID, o.ProducerEpoch, o.Transactional = id, 0, txn
	o.BaseSequence = [...]int32{0, 0, 7, 1 << 30, 1<<31 - 1, 1<<31 - 2, 1<<31 - 3}[r.IntN(7)]
	n := 1 + r.IntN(4)
	if sent := p.sent[id]; len(sent) > 0 {
		last := &sent[len(sent)-1]
		o.ProducerEpoch, o.BaseSequence = last.ProducerEpoch, batch.IncrementSequence(last.LastSequence(), 1)
		switch r.IntN(10) {
		case 0, 1, 2:
			old := &sent[max(0, len(sent)-1-r.IntN(7))]
			o.ProducerEpoch, o.BaseSequence, n = old.ProducerEpoch, old.BaseSequence, int(old.LastOffsetDelta)+1
			if r.IntN(6) == 0 {
				n++
			}
		case 3:
			o.ProducerEpoch += batch.ProducerEpoch(1 + r.IntN(8)/7)
			o.BaseSequence = int32(r.IntN(3) / 2)
		case 4:
			o.ProducerEpoch = max(0, o.ProducerEpoch-1-batch.ProducerEpoch(r.IntN(8)/7))
		case 5:
			o.BaseSequence = batch.IncrementSequence(o.BaseSequence, int32(r.IntN(3)))
		case 6:
			o.BaseSequence = r.Int32()
		}
	}
	return p.send(o, n, origin)
}

// send gives one batch to both sides.
func (p *player) send(o batch.BuilderOptions, n int, origin oracle.Origin) error {
	id := o.ProducerID
	b := batch.NewBuilder(o)
	for i := range n {
		b.Add(p.now+int64(i), nil, nil, nil)
	}
	raw := b.Bytes()
	step := oracle.AppendStep(origin, append([]byte(nil), raw...))
	batch.SetBaseOffset(raw, p.next)
	h, err := batch.ParseHeader(raw)
	if err != nil {
		return err
	}
	ok, outcome := true, accepted(int64(h.BaseOffset), int64(h.LastOffset()))
	if origin != oracle.OriginReplication {
		from := policy.OriginClient
		if origin == oracle.OriginCoordinator {
			from = policy.OriginCoordinator
		}
		v, err := p.state.Check(&h, from)
		ok = err == nil && !v.Duplicate
		switch {
		case errors.Is(err, producerstate.ErrOutOfOrderSequence):
			outcome = "code 45"
		case errors.Is(err, producerstate.ErrInvalidProducerEpoch):
			outcome = "code 47"
		case errors.Is(err, producerstate.ErrInvalidTxnState):
			outcome = "code 48"
		case err != nil:
			return err
		case v.Duplicate:
			outcome = fmt.Sprintf("duplicate at %d-%d time %d", v.BaseOffset, v.LastOffset, v.Timestamp)
		}
	}
	if ok {
		p.state.Apply(&h, raw)
		p.next = h.NextOffset()
		p.sent[id] = append(p.sent[id], h)
	}
	p.note(step, outcome)
	return nil
}

func (p *player) marker(id batch.ProducerID) error {
	epoch := batch.ProducerEpoch(p.r.IntN(2))
	if sent := p.sent[id]; len(sent) > 0 {
		epoch = sent[len(sent)-1].ProducerEpoch + batch.ProducerEpoch(p.r.IntN(2))
	}
	m := batch.EndTxnMarker{Type: batch.ControlType(p.r.IntN(2)), CoordinatorEpoch: int32(p.r.IntN(4))}
	raw := batch.NewEndTxnMarker(0, p.now, id, epoch, 0, m)
	step := oracle.AppendStep(oracle.OriginReplication, append([]byte(nil), raw...))
	batch.SetBaseOffset(raw, p.next)
	h, err := batch.ParseHeader(raw)
	if err != nil {
		return err
	}
	p.state.Apply(&h, raw)
	p.next = h.NextOffset()
	p.note(step, accepted(int64(h.BaseOffset), int64(h.LastOffset())))
	return nil
}

// compare holds the states at the end against each other: every producer, each of its remembered batches, the snapshot.
func (p *player) compare(theirs oracle.ProducerResult) error {
	if int64(p.next) != theirs.NextOffset {
		return fmt.Errorf("log end %d, Kafka's %d", p.next, theirs.NextOffset)
	}
	ours := p.state.Producers()
	if len(ours) != len(theirs.Entries) {
		return fmt.Errorf("%d producers, Kafka has %d", len(ours), len(theirs.Entries))
	}
	for i, o := range ours {
		k := theirs.Entries[i]
		if int64(o.ID) != k.ProducerID || int16(o.Epoch) != k.Epoch || o.CoordinatorEpoch != k.CoordinatorEpoch ||
			o.LastTimestamp != k.LastTimestamp || int64(o.TxnFirstOffset) != k.TxnFirstOffset {
			return fmt.Errorf("producer %+v, Kafka's %+v", o, k)
		}
		for j, b := range k.Batches {
			if slices.ContainsFunc(k.Batches[:j], func(c oracle.ProducerBatch) bool { return c.FirstSeq == b.FirstSeq && c.LastSeq == b.LastSeq }) {
				continue // a coordinator repeated it: the first one answers, there as here
			}
			h := batch.Header{
				ProducerID: o.ID, ProducerEpoch: o.Epoch, BaseSequence: b.FirstSeq,
				LastOffsetDelta: int32(b.LastOffset - b.FirstOffset), RecordCount: int32(b.LastOffset - b.FirstOffset + 1),
			}
			v, err := p.state.Check(&h, policy.OriginClient)
			if err != nil || !v.Duplicate || int64(v.BaseOffset) != b.FirstOffset || int64(v.LastOffset) != b.LastOffset || v.Timestamp != b.Timestamp {
				return fmt.Errorf("batch %+v of producer %d: %+v, %v", b, o.ID, v, err)
			}
		}
	}
	return p.compareSnapshot(theirs.Snapshot)
}

func (p *player) compareSnapshot(raw []byte) error {
	// The oracle writes over the file of the sequence before, which may have been longer.
	if whole := 10 + 46*int(binary.BigEndian.Uint32(raw[6:])); len(raw) > whole {
		raw = raw[:whole]
	}
	theirs, err := producerstate.DecodeSnapshot(raw)
	if err != nil {
		return fmt.Errorf("Kafka's snapshot: %w", err)
	}
	slices.SortFunc(theirs, func(a, b producerstate.SnapshotEntry) int { return cmp.Compare(a.ProducerID, b.ProducerID) })
	if err := p.state.Snapshot(true); err != nil {
		return err
	}
	ours, err := vfs.ReadFile(p.fs, filepath.Join(dir, producerstate.FileName(p.next)), 1<<20)
	if err != nil {
		return err
	}
	if want := producerstate.EncodeSnapshot(theirs); !bytes.Equal(ours, want) {
		entries, err := producerstate.DecodeSnapshot(ours)
		return fmt.Errorf("snapshot %+v (%v), Kafka's %+v", entries, err, theirs)
	}
	return nil
}

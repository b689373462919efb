package producerstate

import (
	"testing"
	"time"

	"github.com/weir-broker/weir/broker/batch"
	"github.com/weir-broker/weir/broker/policy"
	"github.com/weir-broker/weir/broker/vfs"
)

const testDir = "/log/t-0"

// fakeLog is a log in memory with its producer state beside it.
type fakeLog struct {
	t        *testing.T
	fs       *vfs.Mem
	state    *State
	batches  []stored
	bases    []batch.Offset
	start    batch.Offset
	hw       batch.Offset
	now      time.Time
	replayed int // batches that Load read
}

type stored struct {
	h   batch.Header
	raw []byte
}

func newFakeLog(t *testing.T) *fakeLog {
	l := &fakeLog{t: t, fs: vfs.NewMem(), bases: []batch.Offset{0}, now: time.UnixMilli(1_000_000)}
	if err := l.fs.MkdirAll(testDir, 0o755); err != nil {
		t.Fatal(err)
	}
	l.open()
	return l
}

func (l *fakeLog) open() {
	l.t.Helper()
	s, err := Open(Options{FS: l.fs, Dir: testDir, Expiration: 10 * time.Second})
	if err != nil {
		l.t.Fatal(err)
	}
	l.state = s
	l.load()
}

func (l *fakeLog) load() {
	l.t.Helper()
	l.replayed = 0
	if err := l.state.Load(l.log(), l.now); err != nil {
		l.t.Fatal(err)
	}
}

func (l *fakeLog) log() Log {
	return Log{Start: l.start, End: l.end(), Segments: l.bases, Batches: func(from, to batch.Offset, fn func(batch.Header, []byte) error) error {
		for _, b := range l.batches {
			if b.h.LastOffset() < from || b.h.BaseOffset >= to {
				continue
			}
			l.replayed++
			if err := fn(b.h, b.raw); err != nil {
				return err
			}
		}
		return nil
	}}
}

func (l *fakeLog) end() batch.Offset {
	if n := len(l.batches); n > 0 {
		return l.batches[n-1].h.NextOffset()
	}
	return l.start
}

// data builds a batch of n records at the log end.
func (l *fakeLog) data(id batch.ProducerID, epoch batch.ProducerEpoch, sequence int32, n int, txn bool) stored {
	o := batch.NoProducer()
	o.BaseOffset = l.end()
	o.ProducerID, o.ProducerEpoch, o.BaseSequence, o.Transactional = id, epoch, sequence, txn
	b := batch.NewBuilder(o)
	for range n {
		b.Add(l.now.UnixMilli(), nil, []byte("v"), nil)
	}
	return parsed(l.t, b.Bytes())
}

func (l *fakeLog) marker(id batch.ProducerID, epoch batch.ProducerEpoch, kind batch.ControlType, coordinator int32) stored {
	raw := batch.NewEndTxnMarker(l.end(), l.now.UnixMilli(), id, epoch, 0, batch.EndTxnMarker{Type: kind, CoordinatorEpoch: coordinator})
	return parsed(l.t, raw)
}

func parsed(t *testing.T, raw []byte) stored {
	t.Helper()
	h, err := batch.ParseHeader(raw)
	if err != nil {
		t.Fatal(err)
	}
	return stored{h: h, raw: raw}
}

func (l *fakeLog) append(b stored) (CompletedTxn, bool) {
	l.batches = append(l.batches, b)
	return l.state.Apply(&b.h, b.raw)
}

// send does what a partition does with a client's batch.
func (l *fakeLog) send(b stored, origin policy.Origin) (Verdict, error) {
	v, err := l.state.Check(&b.h, origin)
	if err == nil && !v.Duplicate {
		l.append(b)
	}
	return v, err
}

func (l *fakeLog) roll() {
	l.t.Helper()
	l.bases = append(l.bases, l.end())
	if err := l.state.Roll(l.end()); err != nil {
		l.t.Fatal(err)
	}
}

func (l *fakeLog) truncate(to batch.Offset) {
	l.t.Helper()
	for n := len(l.batches); n > 0 && l.batches[n-1].h.LastOffset() >= to; n-- {
		l.batches = l.batches[:n-1]
	}
	for n := len(l.bases); n > 1 && l.bases[n-1] > l.end(); n-- {
		if err := l.state.RemoveSnapshot(l.bases[n-1]); err != nil {
			l.t.Fatal(err)
		}
		l.bases = l.bases[:n-1]
	}
	l.hw = min(l.hw, l.end())
	l.load()
}

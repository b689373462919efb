package coordinator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/weir-broker/weir/broker/batch"
)

var errNotLeader = errors.New("not the leader")

// memLog is a Log in memory whose high watermark and faults are the test's.
type memLog struct {
	mu       sync.Mutex
	batches  [][]byte
	epoch    batch.LeaderEpoch
	start    Offset
	end, hw  Offset
	max      int
	auto     bool  // what is appended is committed at once
	fail     error // the next append fails with it
	shift    Offset
	readErr  error
	watchers map[chan struct{}]bool
	appends  int
}

func newMemLog(epoch batch.LeaderEpoch) *memLog {
	return &memLog{epoch: epoch, max: 1 << 20, watchers: map[chan struct{}]bool{}}
}

func (l *memLog) lead(epoch batch.LeaderEpoch) error {
	if epoch != l.epoch {
		return fmt.Errorf("%w at epoch %d", errNotLeader, epoch)
	}
	return nil
}

func (l *memLog) Append(epoch batch.LeaderEpoch, raw []byte) (batch.Offset, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.lead(epoch); err != nil {
		return 0, err
	}
	if err := l.fail; err != nil {
		l.fail = nil
		return 0, err
	}
	if len(raw) > l.max {
		return 0, fmt.Errorf("batch of %d bytes", len(raw))
	}
	base := l.end + l.shift
	l.shift = 0
	raw = slices.Clone(raw)
	batch.SetBaseOffset(raw, base)
	h, err := batch.ParseHeader(raw)
	if err != nil {
		return 0, err
	}
	l.batches = append(l.batches, raw)
	l.end = h.NextOffset()
	l.appends++
	if l.auto {
		l.hw = l.end
	}
	l.wake()
	return base, nil
}

func (l *memLog) wake() {
	for w := range l.watchers {
		select {
		case w <- struct{}{}:
		default:
		}
	}
}

func (l *memLog) Read(epoch batch.LeaderEpoch, from batch.Offset, maxBytes int, dst []byte) ([]byte, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.lead(epoch); err != nil {
		return dst, err
	}
	if l.readErr != nil {
		return dst, l.readErr
	}
	for _, raw := range l.batches {
		h, _ := batch.ParseHeader(raw)
		if h.LastOffset() < from {
			continue
		}
		if len(dst) > 0 && len(dst)+len(raw) > maxBytes {
			break
		}
		dst = append(dst, raw...)
	}
	return dst, nil
}

func (l *memLog) Committed(epoch batch.LeaderEpoch, next batch.Offset) (bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.hw >= next, l.lead(epoch)
}

func (l *memLog) Extent() (start, end batch.Offset, maxBatchBytes int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.start, l.end, l.max
}

func (l *memLog) Watch() (<-chan struct{}, func()) {
	c := make(chan struct{}, 1)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.watchers[c] = true
	return c, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.watchers, c)
	}
}

// change changes the log as its owner would, and wakes who watches.
func (l *memLog) change(fn func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fn()
	l.wake()
}

// commit moves the high watermark to the last end of a batch that is at or below an offset.
func (l *memLog) commit(to Offset) {
	l.change(func() {
		for _, raw := range l.batches {
			if h, _ := batch.ParseHeader(raw); h.NextOffset() <= to {
				l.hw = max(l.hw, h.NextOffset())
			}
		}
	})
}

// truncate cuts batches from offset to on.
func (l *memLog) truncate(to Offset) {
	l.change(func() {
		n := len(l.batches)
		for n > 0 {
			h, _ := batch.ParseHeader(l.batches[n-1])
			if h.BaseOffset < to {
				break
			}
			l.end, n = h.BaseOffset, n-1
		}
		l.batches = l.batches[:n]
	})
}

func (l *memLog) epochNow() batch.LeaderEpoch {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.epoch
}

// holds reports whether a record with the value is below the high watermark.
func (l *memLog) holds(value string) bool { return l.committedValues()[value] }

// committedValues are the values of the records below the high watermark.
func (l *memLog) committedValues() map[string]bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	values := map[string]bool{}
	for _, raw := range l.batches {
		h, _ := batch.ParseHeader(raw)
		if h.NextOffset() > l.hw || h.IsControl() {
			continue
		}
		it, err := batch.Records(raw, batch.Limits{})
		if err != nil {
			panic(err)
		}
		for it.Next() {
			values[string(it.Record().Value)] = true
		}
		it.Close()
	}
	return values
}

// text is the log, a line per batch.
func (l *memLog) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out strings.Builder
	for _, raw := range l.batches {
		h, _ := batch.ParseHeader(raw)
		fmt.Fprintf(&out, "%d..%d epoch=%d", h.BaseOffset, h.LastOffset(), h.LeaderEpoch)
		if h.IsTransactional() {
			fmt.Fprintf(&out, " producer=%d/%d", h.ProducerID, h.ProducerEpoch)
		}
		if h.IsControl() {
			m, _ := batch.ParseControl(raw)
			fmt.Fprintf(&out, " marker=%d\n", m.Type)
			continue
		}
		it, _ := batch.Records(raw, batch.Limits{})
		for it.Next() {
			r := it.Record()
			if r.Value == nil {
				fmt.Fprintf(&out, " %s=-", r.Key)
			} else {
				fmt.Fprintf(&out, " %s=%s", r.Key, r.Value)
			}
		}
		it.Close()
		out.WriteByte('\n')
	}
	fmt.Fprintf(&out, "start=%d hw=%d end=%d\n", l.start, l.hw, l.end)
	return out.String()
}

// store is the Machine of the tests: keys and values, and soft state that waits for keys.
type store struct {
	values  map[string]string
	offsets map[string]Offset
	pending map[Producer][]Record
	waiting map[string][]Token // soft
	image   string             // soft: the newest published
}

type (
	effects   = Effects[*store, string, string]
	operation = Operation[*store, string, string]
	call      = Call[*store, string, string]
	rig       = Runtime[*store, string, string]
)

func newStore(int32) *store {
	return &store{values: map[string]string{}, offsets: map[string]Offset{}, pending: map[Producer][]Record{}, waiting: map[string][]Token{}}
}

// Replay takes a record; keys that begin with "?" are of an unknown type, values "!" of an unknown version.
func (s *store) Replay(offset Offset, p Producer, r Record) error {
	key := string(r.Key)
	switch {
	case strings.HasPrefix(key, "?"):
		return fmt.Errorf("%w: %s", ErrUnknownType, key)
	case string(r.Value) == "!":
		return fmt.Errorf("%w: %s", ErrUnknownVersion, key)
	case string(r.Value) == "panic":
		panic("a record that panics")
	case p.Transactional():
		s.pending[p] = append(s.pending[p], Record{Key: slices.Clone(r.Key), Value: slices.Clone(r.Value)})
		return nil
	}
	s.apply(offset, key, r.Value)
	return nil
}

func (s *store) apply(offset Offset, key string, value []byte) {
	if value == nil {
		delete(s.values, key)
		delete(s.offsets, key)
		return
	}
	s.values[key], s.offsets[key] = string(value), offset
}

func (s *store) ReplayEndTransaction(offset Offset, p Producer, commit bool) error {
	for _, r := range s.pending[p] {
		if commit {
			s.apply(offset, string(r.Key), r.Value)
		}
	}
	delete(s.pending, p)
	return nil
}

func (s *store) Loaded(time.Time) effects {
	return effects{Timers: []Timer[string]{{Key: "loaded", After: time.Hour}}}
}

func (s *store) Expire(_ time.Time, key string) effects {
	if key == "loaded" {
		return effects{}
	}
	return effects{Records: []Record{{[]byte(key), []byte("expired")}}, Events: []Event{{Message: "expired", Attrs: []slog.Attr{slog.String("key", key)}}}}
}

func (s *store) text() string {
	var out strings.Builder
	for _, k := range slices.Sorted(maps.Keys(s.values)) {
		fmt.Fprintf(&out, "%s=%s@%d ", k, s.values[k], s.offsets[k])
	}
	for _, p := range slices.SortedFunc(maps.Keys(s.pending), func(a, b Producer) int { return cmp.Compare(a.ID, b.ID) }) {
		fmt.Fprintf(&out, "producer %d has %d pending ", p.ID, len(s.pending[p]))
	}
	return strings.TrimSpace(out.String())
}

// puts writes keys and values in turn; "-" is a tombstone. Who waits for a key is answered, too.
func puts(answer string, kv ...string) operation {
	return func(s *store, _ time.Time, token Token) effects {
		e := effects{Replies: []Reply[string]{{token, answer}}}
		for i := 0; i < len(kv); i += 2 {
			r := Record{Key: []byte(kv[i])}
			if kv[i+1] != "-" {
				r.Value = []byte(kv[i+1])
			}
			e.Records = append(e.Records, r)
			for _, t := range s.waiting[kv[i]] {
				e.Replies = append(e.Replies, Reply[string]{t, kv[i] + " is now " + kv[i+1]})
			}
			delete(s.waiting, kv[i])
		}
		return e
	}
}

func get(key string) operation {
	return func(s *store, _ time.Time, token Token) effects {
		return effects{Replies: []Reply[string]{{token, s.values[key]}}}
	}
}

func await(key string) operation {
	return func(s *store, _ time.Time, token Token) effects {
		s.waiting[key] = append(s.waiting[key], token)
		return effects{}
	}
}

func setTimer(key string, after time.Duration) operation {
	return func(_ *store, _ time.Time, token Token) effects {
		return effects{Timers: []Timer[string]{{key, after}}, Replies: []Reply[string]{{token, "set"}}}
	}
}

// compute answers when a worker's result has been put.
func compute(key, value string, run func(ctx context.Context)) operation {
	return func(_ *store, _ time.Time, token Token) effects {
		done := func(answer, value string) operation {
			return func(_ *store, _ time.Time, _ Token) effects {
				return effects{Records: []Record{{[]byte(key), []byte(value)}}, Replies: []Reply[string]{{token, answer}}}
			}
		}
		return effects{Calls: []call{{
			Key: key,
			Run: func(ctx context.Context) operation {
				if run != nil {
					run(ctx)
				}
				return done("computed", value)
			},
			Refused: func(*store, time.Time, Token) effects {
				return effects{Replies: []Reply[string]{{token, "refused"}}}
			},
		}}}
	}
}

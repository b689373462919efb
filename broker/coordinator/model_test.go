package coordinator

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-broker/weir/broker/batch"
)

// TestNothingIsToldThatIsNotCommitted runs a shard under random operations and faults: appends that fail or land
// elsewhere, elections, logs cut to the high watermark, crashes. One thing happens at a time, and after each:
//
//   - an answer that came out tells only of records below the high watermark;
//   - a record whose request was answered stays in the log for good;
//
// now and then, what a live machine holds is what another machine reads from the log; at the end nobody is left waiting.
func TestNothingIsToldThatIsNotCommitted(t *testing.T) {
	seeds := uint64(150)
	if testing.Short() {
		seeds = 30
	}
	told, compared := 0, 0
	for seed := range seeds {
		synctest.Test(t, func(t *testing.T) {
			m := newModel(t, seed)
			for range 400 {
				m.step()
				m.check()
			}
			m.finish()
			told, compared = told+m.told, compared+m.compared
		})
	}
	if told < int(seeds)*20 || compared < int(seeds) {
		t.Errorf("only %d answers and %d comparisons came out of %d seeds", told, compared, seeds)
	}
}

type model struct {
	t        *testing.T
	seed     uint64
	rnd      *rand.Rand
	log      *memLog
	rt       *rig
	epoch    batch.LeaderEpoch
	asked    []question
	acked    []string // values that were answered for
	told     int
	count    int
	compared int
}

type question struct {
	f     *Future[string]
	value string // what a put wrote, "" for a get
}

func newModel(t *testing.T, seed uint64) *model {
	m := &model{t: t, seed: seed, rnd: rand.New(rand.NewPCG(seed, 1)), log: newMemLog(0)}
	m.log.max = 400
	m.boot()
	t.Cleanup(func() { _ = m.rt.Close(context.Background()) })
	return m
}

func (m *model) boot() {
	opt := Options{Name: "model", MaxQueued: 50, LoadBytes: 1 + m.rnd.IntN(600)}
	if m.rnd.IntN(3) == 0 {
		opt.Linger = 5 * time.Millisecond
	}
	m.rt = New(opt, newStore)
	m.elect()
}

func (m *model) elect() {
	m.epoch++
	m.log.change(func() { m.log.epoch = m.epoch })
	m.rt.Elect(0, m.epoch, m.log)
}

// lose resigns; another leader did not have what was not committed.
func (m *model) lose() {
	m.rt.Resign(0, m.epoch)
	synctest.Wait()
	m.log.truncate(m.log.hw)
	m.elect()
}

func (m *model) ask(op operation, value string) {
	m.asked = append(m.asked, question{m.rt.Submit(0, op), value})
}

func (m *model) key() string { return string(rune('a' + m.rnd.IntN(6))) }

func (m *model) put() {
	m.count++
	value := fmt.Sprintf("v%d", m.count)
	kv := []string{m.key(), value}
	for m.rnd.IntN(3) == 0 {
		kv = append(kv, m.key(), fmt.Sprintf("%s-%d", value, len(kv)))
	}
	if m.rnd.IntN(10) == 0 {
		kv = append(kv, m.key(), "-")
	}
	op := puts("put", kv...)
	switch m.rnd.IntN(8) {
	case 0:
		p := Producer{ID: ProducerID(m.rnd.IntN(2)), Epoch: 1}
		m.ask(func(s *store, now time.Time, token Token) effects {
			e := op(s, now, token)
			e.Transaction = &p
			return e
		}, value)
	case 1:
		m.asked = append(m.asked, question{m.rt.EndTransaction(0, TransactionEnd{
			Producer: Producer{ID: ProducerID(m.rnd.IntN(2)), Epoch: 1}, Commit: m.rnd.IntN(2) == 0,
		}), ""})
	case 2:
		m.ask(compute(m.key(), value, nil), value)
	default:
		m.ask(op, value)
	}
}

func (m *model) step() {
	switch n := m.rnd.IntN(100); {
	case n < 40:
		for range 1 + m.rnd.IntN(4) {
			m.put()
		}
	case n < 55:
		m.ask(get(m.key()), "")
	case n < 60:
		m.ask(await(m.key()), "")
	case n < 65:
		m.ask(setTimer(m.key(), time.Duration(m.rnd.IntN(100)-10)*time.Millisecond), "")
	case n < 85:
		m.log.commit(m.log.hw + Offset(m.rnd.Int64N(int64(m.log.end-m.log.hw)+1)))
	case n < 90:
		time.Sleep(time.Duration(m.rnd.IntN(6000)) * time.Millisecond)
	case n < 92:
		m.log.change(func() { m.log.fail = errors.New("append fails") })
	case n < 93:
		m.log.change(func() { m.log.fail = ErrRefused })
	case n < 94:
		m.log.change(func() { m.log.shift = 3 })
	case n < 96:
		m.elect()
	case n < 98:
		m.lose()
	case n < 99:
		m.compare()
	default:
		m.close()
		m.boot()
	}
	synctest.Wait()
}

// check looks at the answers that the step brought out.
func (m *model) check() {
	left := m.asked[:0]
	for _, q := range m.asked {
		select {
		case <-q.f.Done():
		default:
			left = append(left, q)
			continue
		}
		r, err := q.f.Wait(m.t.Context())
		if err != nil {
			m.allowed(err)
			continue
		}
		m.told++
		for _, v := range []string{q.value, told(r)} {
			if v == "" {
				continue
			}
			if !m.log.holds(v) {
				m.t.Fatalf("seed %d: %q was told and is not committed\n%s", m.seed, v, m.log.text())
			}
			m.acked = append(m.acked, v)
		}
	}
	m.asked = left
}

// told is the value that an answer speaks of.
func told(r string) string {
	switch {
	case strings.HasPrefix(r, "v"):
		return r
	case strings.Contains(r, " is now v"):
		return strings.Fields(r)[3]
	}
	return ""
}

func (m *model) allowed(err error) {
	for _, is := range []error{ErrNotCoordinator, ErrLoading, ErrNotAvailable, ErrTimeout, ErrRefused, ErrRecordsTooLarge} {
		if errors.Is(err, is) {
			return
		}
	}
	m.t.Fatalf("seed %d: %v", m.seed, err)
}

// compare reads the log into another machine. It waits for a moment without an open batch: timers go off on their own.
func (m *model) compare() {
	for range 100 {
		live, ok := m.text(m.rt)
		if !ok {
			return // the shard is loading
		}
		time.Sleep(10 * time.Millisecond)
		synctest.Wait()
		other := New(Options{Name: "other", LoadBytes: 1 + m.rnd.IntN(1000)}, newStore)
		m.t.Cleanup(func() { _ = other.Close(context.Background()) })
		other.Elect(0, m.epoch, m.log)
		synctest.Wait()
		read, ok := m.text(other)
		if !ok {
			m.t.Fatalf("seed %d: not loaded", m.seed)
		}
		if again, _ := m.text(m.rt); again != live {
			continue
		}
		if read != live {
			m.t.Fatalf("seed %d: read from the log: %s\nlive: %s\n%s", m.seed, read, live, m.log.text())
		}
		m.compared++
		return
	}
	m.t.Fatalf("seed %d: the shard does not rest", m.seed)
}

func (m *model) text(rt *rig) (string, bool) {
	got := make(chan string, 1)
	if err := rt.Tell(0, func(s *store, _ time.Time, _ Token) effects { got <- s.text(); return effects{} }); err != nil {
		return "", false
	}
	synctest.Wait()
	select {
	case s := <-got:
		return s, true
	default:
		return "", false
	}
}

func (m *model) close() {
	if err := m.rt.Close(m.t.Context()); err != nil {
		m.t.Fatal(err)
	}
	synctest.Wait()
	m.check()
	if len(m.asked) > 0 {
		m.t.Fatalf("seed %d: %d requests were left without an answer", m.seed, len(m.asked))
	}
}

func (m *model) finish() {
	m.compare()
	m.close()
	for _, v := range m.acked {
		if !m.log.holds(v) {
			m.t.Fatalf("seed %d: %q was told and is gone\n%s", m.seed, v, m.log.text())
		}
	}
}

package coordinator

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/weir-broker/weir/broker/batch"
)

// TestScripts runs testdata/*.txt against one shard and a log in memory, with synctest's clock. After each command the
// answers that came out are printed, and what the shard logged.
//
//	elect N | resign N               leadership at an epoch; elect makes the log's epoch N, too
//	depose N                         the log's epoch moves, the shard is not told
//	put NAME k v ...                 a request that writes; "-" is a tombstone
//	divisible NAME k v ...           the same, where records may go into several batches
//	txn NAME producer=N k v ...      the same in a transaction
//	end-txn NAME producer=N [abort]
//	get NAME k | await NAME k | timer NAME k 3s | compute NAME k v
//	commit-to N | auto-commit        the high watermark
//	fail-append | refuse-append | shift-append    the next append
//	fail-read | heal-read
//	truncate N                       the log loses what is from N on
//	max-bytes N                      of a batch
//	inject k v                       a record that somebody else put into the log
//	tick 3s | publish X | image | state | log
//	crash                            the process ends and starts again
//	batched                          commands, a line each, that are queued before the shard looks
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		synctest.Test(t, func(t *testing.T) {
			s := &script{t: t, start: time.Now(), log: newMemLog(0)}
			s.boot()
			defer s.close()
			datadriven.RunTest(t, path, s.run)
		})
	})
}

type script struct {
	t     *testing.T
	start time.Time
	log   *memLog
	rt    *rig
	asked []asked
	lines *lines
	hold  chan struct{}
}

type asked struct {
	name string
	f    *Future[string]
}

func (s *script) boot() {
	s.lines = &lines{}
	s.rt = New(Options{Name: "test-coordinator", Logger: slog.New(plainHandler{s.lines}), Workers: 1}, newStore)
}

func (s *script) close() {
	if err := s.rt.Close(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
}

func (s *script) run(t *testing.T, d *datadriven.TestData) string {
	var words []string
	for _, a := range d.CmdArgs {
		words = append(words, a.String())
	}
	if d.Cmd == "batched" {
		s.rt.mu.RLock()
		shard := s.rt.shards[0]
		s.rt.mu.RUnlock()
		shard.mu.Lock()
		state := shard.mu.state
		shard.mu.Unlock()
		if state != stateActive {
			t.Fatalf("%s: shard is %s", d.Pos, stateNames[state])
		}
		// The shard's goroutine is held in an operation while the others queue up.
		s.hold = make(chan struct{})
		hold := s.hold
		if err := s.rt.Tell(0, func(*store, time.Time, Token) effects { <-hold; return effects{} }); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		for line := range strings.Lines(d.Input) {
			f := strings.Fields(line)
			s.command(d, f[0], f[1:])
		}
		close(hold)
	} else {
		s.command(d, d.Cmd, words)
	}
	synctest.Wait()
	out := s.lines.take()
	left := s.asked[:0]
	for _, a := range s.asked {
		select {
		case <-a.f.Done():
			r, err := a.f.Wait(t.Context())
			if err != nil {
				r = "error: " + err.Error()
			}
			out += a.name + " <- " + r + "\n"
		default:
			left = append(left, a)
		}
	}
	s.asked = left
	return out
}

func (s *script) command(d *datadriven.TestData, cmd string, w []string) {
	number := func(i int) int64 {
		n, err := strconv.ParseInt(w[i], 10, 64)
		if err != nil {
			s.t.Fatalf("%s: %v", d.Pos, err)
		}
		return n
	}
	ask := func(op operation) {
		s.asked = append(s.asked, asked{w[0], s.rt.Submit(0, op)})
	}
	print := func(format string, args ...any) { fmt.Fprintf(s.lines, format+"\n", args...) }
	switch cmd {
	case "elect":
		s.log.change(func() { s.log.epoch = batch.LeaderEpoch(number(0)) })
		s.rt.Elect(0, batch.LeaderEpoch(number(0)), s.log)
	case "resign":
		s.rt.Resign(0, batch.LeaderEpoch(number(0)))
	case "depose":
		s.log.change(func() { s.log.epoch = batch.LeaderEpoch(number(0)) })
	case "put":
		ask(puts("ok", w[1:]...))
	case "divisible":
		op := puts("ok", w[1:]...)
		ask(func(m *store, now time.Time, token Token) effects {
			e := op(m, now, token)
			e.Divisible = true
			return e
		})
	case "txn":
		p := s.producer(w[1])
		op := puts("ok", w[2:]...)
		ask(func(m *store, now time.Time, token Token) effects {
			e := op(m, now, token)
			e.Transaction = &p
			return e
		})
	case "end-txn":
		end := TransactionEnd{Producer: s.producer(w[1]), Commit: len(w) < 3}
		s.asked = append(s.asked, asked{w[0], s.rt.EndTransaction(0, end)})
	case "get":
		ask(get(w[1]))
	case "await":
		ask(await(w[1]))
	case "timer":
		after, err := time.ParseDuration(w[2])
		if err != nil {
			s.t.Fatal(err)
		}
		ask(setTimer(w[1], after))
	case "compute":
		ask(compute(w[1], w[2], nil))
	case "panic":
		ask(func(*store, time.Time, Token) effects { panic("an operation that panics") })
	case "commit-to":
		s.log.commit(Offset(number(0)))
	case "auto-commit":
		s.log.change(func() { s.log.auto, s.log.hw = true, s.log.end })
	case "fail-append":
		s.log.change(func() { s.log.fail = errors.New("too few replicas are in sync") })
	case "refuse-append":
		s.log.change(func() { s.log.fail = fmt.Errorf("%w: producer is fenced", ErrRefused) })
	case "shift-append":
		s.log.change(func() { s.log.shift = 1 })
	case "fail-read":
		s.log.change(func() { s.log.readErr = errors.New("disk fails") })
	case "heal-read":
		s.log.change(func() { s.log.readErr = nil })
	case "truncate":
		s.log.truncate(Offset(number(0)))
	case "max-bytes":
		s.log.change(func() { s.log.max = int(number(0)) })
	case "inject":
		b := batch.NewBuilder(batch.NoProducer())
		b.Add(0, []byte(w[0]), []byte(w[1]), nil)
		s.log.mu.Lock()
		epoch := s.log.epoch
		s.log.mu.Unlock()
		if _, err := s.log.Append(epoch, b.Bytes()); err != nil {
			s.t.Fatal(err)
		}
	case "tick":
		after, err := time.ParseDuration(w[0])
		if err != nil {
			s.t.Fatal(err)
		}
		time.Sleep(after)
	case "publish":
		s.rt.Publish(func(m *store, _ time.Time, _ Token) effects { m.image = w[0]; return effects{} })
	case "image", "state":
		if err := s.rt.Tell(0, func(m *store, _ time.Time, _ Token) effects {
			if cmd == "image" {
				print("%s", m.image)
			} else {
				print("%s", m.text())
			}
			return effects{}
		}); err != nil {
			print("error: %v", err)
		}
	case "log":
		fmt.Fprint(s.lines, s.log.text())
	case "crash":
		// What is on the disk stays, the high watermark has to be found again.
		s.log.change(func() { s.log.auto, s.log.hw = false, 0 })
		s.close()
		s.asked = nil
		s.boot()
	default:
		s.t.Fatalf("%s: unknown command %s", d.Pos, cmd)
	}
}

func (s *script) producer(arg string) Producer {
	id, err := strconv.ParseInt(strings.TrimPrefix(arg, "producer="), 10, 64)
	if err != nil {
		s.t.Fatal(err)
	}
	return Producer{ID: ProducerID(id), Epoch: 7}
}

// lines is what a command brought out.
type lines struct {
	mu  sync.Mutex
	out strings.Builder
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.out.Write(b)
}

func (l *lines) take() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.out.Reset()
	return l.out.String()
}

// plainHandler writes log lines that a script can compare: no times, no numbers that vary.
type plainHandler struct{ out *lines }

func (h plainHandler) Enabled(_ context.Context, l slog.Level) bool { return true }

func (h plainHandler) Handle(_ context.Context, r slog.Record) error {
	var line strings.Builder
	fmt.Fprintf(&line, "[%s] %s", strings.ToLower(r.Level.String()), r.Message)
	r.Attrs(func(a slog.Attr) bool {
		switch a.Key {
		case "took", "bytes", "stack", "pause":
		default:
			fmt.Fprintf(&line, " %s=%v", a.Key, a.Value)
		}
		return true
	})
	fmt.Fprintln(h.out, line.String())
	return nil
}

func (h plainHandler) WithAttrs([]slog.Attr) slog.Handler { return h }
func (h plainHandler) WithGroup(string) slog.Handler      { return h }

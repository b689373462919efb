package coordinator

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weir-broker/weir/broker/batch"
)

// state is where a shard stands in its life; doc.go draws it.
type state int8

const (
	stateLoading state = iota
	stateActive
	stateFailed
	stateClosed
)

// stateNames as Kafka's metrics have them.
var stateNames = [...]string{stateLoading: "loading", stateActive: "active", stateFailed: "failed", stateClosed: "closed"}

// Between attempts to load or to serve that came to nothing.
const (
	firstPause = 20 * time.Millisecond
	lastPause  = 2 * time.Second
)

// task is an entry of a shard's queue: an operation or a transaction marker, and who waits for it, if anybody.
type task[M any, K comparable, R any] struct {
	op     Operation[M, K, R]
	end    *TransactionEnd
	future *Future[R]
	queued time.Time
}

// shard is one partition of the internal topic at one leader epoch. Machines come and go below it, see running.
type shard[M Machine[M, K, R], K comparable, R any] struct {
	rt        *Runtime[M, K, R]
	partition int32
	epoch     batch.LeaderEpoch
	log       Log
	logger    *slog.Logger

	cancel     context.CancelFunc
	after      <-chan struct{} // closed when the partition's shard before this one is gone; nil if there was none
	done       chan struct{}   // closed when this one is
	wake       chan struct{}   // there is something in the queue
	unanswered atomic.Int64

	mu struct {
		sync.Mutex
		state state
		tasks []task[M, K, R]
	}
	spare []task[M, K, R] // the other buffer for tasks
}

func newShard[M Machine[M, K, R], K comparable, R any](rt *Runtime[M, K, R], partition int32, epoch batch.LeaderEpoch, log Log) *shard[M, K, R] {
	return &shard[M, K, R]{
		rt: rt, partition: partition, epoch: epoch, log: log,
		logger: rt.opt.Logger.With("coordinator", rt.opt.Name, "partition", partition, "leader_epoch", epoch),
		done:   make(chan struct{}), wake: make(chan struct{}, 1),
	}
}

// nudge makes the shard's goroutine look.
func (s *shard[M, K, R]) nudge() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// add puts a task into the queue, or says why not.
func (s *shard[M, K, R]) add(t task[M, K, R]) error {
	t.queued = time.Now()
	s.mu.Lock()
	err := s.accepts(t)
	if err == nil {
		s.mu.tasks = append(s.mu.tasks, t)
		if t.future != nil {
			s.unanswered.Add(1)
		}
	}
	s.mu.Unlock()
	if err == nil {
		s.nudge()
	}
	return err
}

func (s *shard[M, K, R]) accepts(t task[M, K, R]) error {
	switch s.mu.state {
	case stateLoading:
		return ErrLoading
	case stateFailed, stateClosed:
		return ErrNotCoordinator
	}
	if len(s.mu.tasks) >= s.rt.opt.MaxQueued || t.future != nil && s.unanswered.Load() >= int64(s.rt.opt.MaxUnanswered) {
		s.rt.metrics.refused.Inc()
		return ErrNotAvailable
	}
	return nil
}

// deliver puts the operation that a call came back with into the queue of the machine that made the call, whose calls
// end with ctx. The number of calls is bounded, so the queue's limit does not count.
func (s *shard[M, K, R]) deliver(ctx context.Context, op Operation[M, K, R]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ctx.Err() == nil {
		s.mu.tasks = append(s.mu.tasks, task[M, K, R]{op: op, queued: time.Now()})
		s.nudge()
	}
}

// take empties the queue. The slice is the caller's until the next take.
func (s *shard[M, K, R]) take() []task[M, K, R] {
	s.mu.Lock()
	defer s.mu.Unlock()
	tasks := s.mu.tasks
	if cap(s.spare) > keptEntries && len(tasks) < keptEntries {
		s.spare = nil
	}
	s.mu.tasks, s.spare = s.spare[:0], tasks
	return tasks
}

// enter changes the state and answers the queue, unless the shard serves from now on. A closed shard stays closed.
func (s *shard[M, K, R]) enter(next state) {
	s.mu.Lock()
	if s.mu.state != stateClosed {
		s.mu.state = next
	}
	var left []task[M, K, R]
	if s.mu.state != stateActive {
		left, s.mu.tasks = s.mu.tasks, nil
	}
	s.mu.Unlock()
	for i := range left {
		s.answer(left[i].future, *new(R), ErrNotCoordinator)
	}
}

// close ends the shard. Its goroutine answers whoever waits.
func (s *shard[M, K, R]) close() {
	s.mu.Lock()
	s.mu.state = stateClosed
	s.mu.Unlock()
	s.cancel()
}

// answer completes a future; nil is nobody.
func (s *shard[M, K, R]) answer(f *Future[R], response R, err error) {
	if f != nil {
		s.unanswered.Add(-1)
		f.complete(response, err)
	}
}

// run is the shard's goroutine: load, serve, and again when the machine fell out of step.
func (s *shard[M, K, R]) run(ctx context.Context) {
	defer close(s.done)
	defer s.enter(stateClosed)
	if s.after != nil {
		<-s.after
	}
	pause := time.Duration(0)
	for ctx.Err() == nil {
		s.enter(stateLoading)
		r, err := s.load(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case errors.Is(err, errUnreadable):
			// The next attempt would read the same. A new leader epoch may bring another log or another program.
			s.logger.Error("shard cannot be loaded", "error", err)
			s.enter(stateFailed)
			<-ctx.Done()
			return
		case err != nil:
			s.logger.Warn("shard was not loaded, trying again", "error", err, "pause", pause)
		default:
			err = s.serve(ctx, r)
			s.drop(ctx, r, err)
			if r.proven {
				pause = 0
			}
		}
		if pause > 0 {
			select {
			case <-ctx.Done():
			case <-time.After(pause):
			}
		}
		pause = min(max(2*pause, firstPause), lastPause)
	}
}

// drop throws the machine away and answers whoever waits for it.
func (s *shard[M, K, R]) drop(ctx context.Context, r *running[M, K, R], err error) {
	r.stopCalls() // before the queue is emptied: no result comes in after that
	if ctx.Err() == nil {
		s.rt.metrics.drops.Inc()
		s.logger.Warn("shard is out of step with its log and is loaded again", "error", err)
		err = fmt.Errorf("%w: %w", ErrNotCoordinator, err)
		s.enter(stateLoading)
	} else {
		err = ErrNotCoordinator
		s.enter(stateClosed)
	}
	r.end(err)
}

// serve runs operations until the machine cannot go on; nil when ctx has ended.
func (s *shard[M, K, R]) serve(ctx context.Context, r *running[M, K, R]) (err error) {
	defer func() {
		if p := recover(); p != nil {
			s.logger.Error("panic in a shard", "panic", p, "stack", string(debug.Stack()))
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	changed, stop := s.log.Watch()
	defer stop()
	alarm := time.NewTimer(time.Hour)
	defer alarm.Stop()
	if err := r.open(); err != nil {
		return err
	}
	s.enter(stateActive)
	moved := true // the log may have
	for {
		if err := r.turn(s.take(), moved); err != nil || ctx.Err() != nil {
			return err
		}
		at, ok := r.nextAlarm()
		if ok {
			alarm.Reset(at.Sub(s.rt.opt.Now()))
		}
		moved = false
		select {
		case <-ctx.Done():
			return nil
		case <-s.wake:
		case <-changed:
			moved = true
		case <-alarm.C:
		}
	}
}

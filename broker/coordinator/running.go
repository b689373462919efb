package coordinator

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"runtime/debug"
	"slices"
	"time"

	"github.com/weir-broker/weir/broker/batch"
)

// running is a loaded machine and what hangs on it. All of it is dropped together. Only the shard's goroutine uses it.
type running[M Machine[M, K, R], K comparable, R any] struct {
	*shard[M, K, R]
	machine M
	timers  *timers[K]
	seen    *Operation[M, K, R] // the newest published operation that the machine had

	// calls ends when the machine is dropped.
	calls     context.Context
	stopCalls context.CancelFunc

	lastToken Token
	waiting   map[Token]*Future[R] // put to the machine and not answered by it
	parked    parkedQueue[R]       // answered by it, not committed
	round     []task[M, K, R]      // taken from the queue and not put to the machine

	// next is the offset of the next record to replay. appended is where the log ends: below next while a batch is open.
	// Everything below committed is known to be committed.
	next, appended, committed Offset
	filling                   openBatch
	afterAppend               []Effects[M, K, R] // whose events and calls wait for the open batch
	proven                    bool               // an append has succeeded
}

func newRunning[M Machine[M, K, R], K comparable, R any](s *shard[M, K, R], m M, end Offset) *running[M, K, R] {
	r := &running[M, K, R]{
		shard: s, machine: m, timers: newTimers[K](), waiting: map[Token]*Future[R]{}, next: end, appended: end,
		filling: openBatch{builder: batch.NewBuilder(batch.NoProducer())},
	}
	r.calls, r.stopCalls = context.WithCancel(context.Background())
	return r
}

// open lets the machine begin.
func (r *running[M, K, R]) open() error {
	now := r.rt.opt.Now()
	return r.perform(now, 0, r.machine.Loaded(now))
}

// turn puts what was queued to the machine, then timers that are due; it appends, and gives out what is committed. When
// the log has moved it is looked at in any case: it may be led elsewhere.
func (r *running[M, K, R]) turn(tasks []task[M, K, R], moved bool) error {
	r.round = tasks
	if err := r.published(); err != nil {
		return err
	}
	for len(r.round) > 0 {
		t := r.round[0]
		r.round[0] = task[M, K, R]{}
		r.round = r.round[1:]
		if err := r.put(t); err != nil {
			return err
		}
	}
	if err := r.expire(); err != nil {
		return err
	}
	if r.filling.size > 0 && r.rt.opt.Now().Sub(r.filling.since) >= r.rt.opt.Linger {
		if err := r.flush(); err != nil {
			return err
		}
	}
	if moved || r.committed < r.appended {
		if err := r.look(r.appended); err != nil {
			return err
		}
	}
	return r.release()
}

// published puts the newest published operation to the machine, once.
func (r *running[M, K, R]) published() error {
	op := r.rt.published.Load()
	if op == nil || op == r.seen {
		return nil
	}
	r.seen = op
	return r.put(task[M, K, R]{op: *op, queued: time.Now()})
}

// put runs one task.
func (r *running[M, K, R]) put(t task[M, K, R]) error {
	began := time.Now()
	r.rt.metrics.queueTime.Observe(began.Sub(t.queued).Seconds())
	var token Token
	if t.future != nil {
		r.lastToken++
		token = r.lastToken
		r.waiting[token] = t.future
	}
	now := r.rt.opt.Now()
	var err error
	if t.end != nil {
		err = r.endTransaction(now, token, *t.end)
	} else {
		err = r.perform(now, token, t.op(r.machine, now, token))
	}
	r.rt.metrics.processingTime.Observe(time.Since(began).Seconds())
	return err
}

// expire runs the operations of timers that are due.
func (r *running[M, K, R]) expire() error {
	now := r.rt.opt.Now()
	for {
		key, ok := r.timers.expire(now)
		if !ok {
			return nil
		}
		if err := r.perform(now, 0, r.machine.Expire(now, key)); err != nil {
			return err
		}
	}
}

// perform does what an operation wants. Errors are the end of the machine; what only the request has done wrong is
// answered.
func (r *running[M, K, R]) perform(now time.Time, token Token, e Effects[M, K, R]) error {
	if len(e.Records) > 0 {
		var err error
		if e.Transaction != nil {
			err = r.appendTransaction(now, e.Records, *e.Transaction)
		} else {
			err = r.add(now, e.Records, e.Divisible)
		}
		switch {
		case errors.Is(err, ErrRecordsTooLarge) || errors.Is(err, ErrRefused):
			r.refuse(token, e.Replies, err)
			return nil
		case err != nil:
			return err
		}
	}
	for _, t := range e.Timers {
		if t.After < 0 {
			r.timers.cancel(t.Key)
		} else {
			r.timers.set(t.Key, now.Add(t.After))
		}
	}
	if len(e.Events)+len(e.Calls) > 0 {
		if r.filling.size > 0 {
			r.afterAppend = append(r.afterAppend, Effects[M, K, R]{Events: e.Events, Calls: e.Calls})
		} else {
			r.begin(e)
		}
	}
	for i := range e.Replies {
		r.park(now, e.Replies[i].Token, e.Replies[i].Response)
	}
	return nil
}

// park keeps an answer until everything replayed so far is committed.
func (r *running[M, K, R]) park(now time.Time, token Token, response R) {
	f := r.waiting[token]
	if f == nil {
		if token != 0 {
			r.logger.Error("a request is answered that nobody waits for", "token", uint64(token))
		}
		return
	}
	delete(r.waiting, token)
	r.parked.push(parked[R]{future: f, response: response, below: r.next, since: now})
}

// refuse answers the request of an operation whose records are not appended, and whoever it would have answered.
func (r *running[M, K, R]) refuse(token Token, replies []Reply[R], err error) {
	fail := func(t Token) {
		if f := r.waiting[t]; f != nil {
			delete(r.waiting, t)
			r.answer(f, *new(R), err)
		}
	}
	for i := range replies {
		fail(replies[i].Token)
	}
	fail(token)
}

// begin logs events and hands calls to the workers.
func (r *running[M, K, R]) begin(e Effects[M, K, R]) {
	for i := range e.Events {
		r.logger.LogAttrs(r.calls, slog.LevelInfo, e.Events[i].Message, e.Events[i].Attrs...)
	}
	for _, c := range e.Calls {
		taken := r.rt.pool.add(lane{owner: r.shard, key: c.Key}, job{ctx: r.calls, run: func(ctx context.Context) {
			if op := r.call(ctx, c); op != nil {
				r.deliver(ctx, op)
			}
		}})
		if !taken {
			r.rt.metrics.refused.Inc()
			if c.Refused != nil {
				r.deliver(r.calls, c.Refused)
			}
		}
	}
}

// call runs a call on a worker.
func (r *running[M, K, R]) call(ctx context.Context, c Call[M, K, R]) (op Operation[M, K, R]) {
	defer func() {
		if p := recover(); p != nil {
			r.logger.Error("panic in a call", "key", c.Key, "panic", p, "stack", string(debug.Stack()))
			op = c.Refused
		}
	}()
	return c.Run(ctx)
}

// release gives out the answers whose records are committed, and gives up those that waited too long.
func (r *running[M, K, R]) release() error {
	now := r.rt.opt.Now()
	for p := r.parked.first(); p != nil; p = r.parked.first() {
		if p.below > r.committed && p.below < r.appended {
			if err := r.look(p.below); err != nil {
				return err
			}
		}
		var err error
		if p.below > r.committed {
			if now.Sub(p.since) < r.rt.opt.CommitTimeout {
				return nil
			}
			r.rt.metrics.timeouts.Inc()
			err = ErrTimeout
		}
		done := r.parked.pop()
		r.rt.metrics.commitTime.Observe(now.Sub(done.since).Seconds())
		if err != nil {
			done.response = *new(R)
		}
		r.answer(done.future, done.response, err)
	}
	return nil
}

// look asks the log whether everything below next is committed.
func (r *running[M, K, R]) look(next Offset) error {
	ok, err := r.log.Committed(r.epoch, next)
	if err != nil {
		return fmt.Errorf("commit of offset %d: %w", next, err)
	}
	if ok {
		r.committed = next
	}
	return nil
}

// nextAlarm is when something is due without anybody asking.
func (r *running[M, K, R]) nextAlarm() (at time.Time, ok bool) {
	at, ok = r.timers.next()
	sooner := func(t time.Time) {
		if !ok || t.Before(at) {
			at, ok = t, true
		}
	}
	if r.filling.size > 0 {
		sooner(r.filling.since.Add(r.rt.opt.Linger))
	}
	if p := r.parked.first(); p != nil {
		sooner(p.since.Add(r.rt.opt.CommitTimeout))
	}
	return at, ok
}

// end answers everybody with err: the machine is dropped.
func (r *running[M, K, R]) end(err error) {
	for r.parked.len() > 0 {
		r.answer(r.parked.pop().future, *new(R), err)
	}
	for _, token := range slices.Sorted(maps.Keys(r.waiting)) {
		r.answer(r.waiting[token], *new(R), err)
	}
	clear(r.waiting)
	for i := range r.round {
		r.answer(r.round[i].future, *new(R), err)
	}
	r.round = nil
}

package coordinator

import (
	"context"
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/weir-broker/weir/broker/batch"
)

// Options are the values that a Runtime uses. Names of Kafka's properties in brackets, those of the group coordinator.
type Options struct {
	// Name is what is coordinated, as Kafka names it in metrics: group-coordinator.
	Name   string
	Logger *slog.Logger // nil: none
	// Registerer takes the metrics; nil: none.
	Registerer prometheus.Registerer
	// Now is the clock; nil: time.Now. It must go as fast as package time, which does the waiting.
	Now func() time.Time

	Compression batch.Compression // [offsets.topic.compression.codec]
	// Linger is how long a batch may wait for more operations; 0 appends what has queued up as soon as the queue is empty
	// [group.coordinator.append.linger.ms, where that is -1].
	Linger time.Duration
	// CommitTimeout is how long an answer waits for its records to be committed [offsets.commit.timeout.ms]; 0: 5 s.
	CommitTimeout time.Duration
	// LoadBytes is how much is read at once at loading [offsets.load.buffer.size]; 0: 5 MiB.
	LoadBytes int
	// Loads is how many shards are loaded at once; 0: as many as there are cores.
	Loads int
	// MaxQueued bounds the operations in a shard's queue; 0: 10,000.
	MaxQueued int
	// MaxUnanswered bounds the requests of a shard that were not answered yet, queued, kept by the machine or waiting
	// for commit; 0: 200,000.
	MaxUnanswered int
	// Workers is how many calls run at once; 0: half the cores, at least 1.
	Workers int
	// MaxCalls bounds calls that run or wait, of all shards; 0: 10,000.
	MaxCalls int
}

func (o Options) withDefaults() Options {
	def := func(v *int, otherwise int) {
		if *v <= 0 {
			*v = otherwise
		}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.CommitTimeout <= 0 {
		o.CommitTimeout = 5 * time.Second
	}
	cores := runtime.GOMAXPROCS(0)
	def(&o.LoadBytes, 5<<20)
	def(&o.Loads, cores)
	def(&o.MaxQueued, 10_000)
	def(&o.MaxUnanswered, 200_000)
	def(&o.Workers, max(1, cores/2))
	def(&o.MaxCalls, 10_000)
	return o
}

// Runtime runs the shards of one internal topic on this broker. Its methods may be called by any goroutine and do not
// wait, but for Close.
type Runtime[M Machine[M, K, R], K comparable, R any] struct {
	opt     Options
	machine func(partition int32) M
	metrics *metrics
	pool    *pool
	loads   chan struct{} // holds a token per load that runs
	wg      sync.WaitGroup
	// published is put to each shard when it changes, and to each machine as its first operation.
	published atomic.Pointer[Operation[M, K, R]]

	mu     sync.RWMutex
	shards map[int32]*shard[M, K, R]
	ending map[int32]<-chan struct{} // closed when the goroutine of a partition's last shard is gone
	closed bool
}

// New returns a Runtime without shards. machine makes an empty machine for a partition; it is called at each load, on the
// shard's goroutine.
func New[M Machine[M, K, R], K comparable, R any](opt Options, machine func(partition int32) M) *Runtime[M, K, R] {
	opt = opt.withDefaults()
	rt := &Runtime[M, K, R]{
		opt: opt, machine: machine, metrics: newMetrics(opt.Name, opt.Registerer),
		loads: make(chan struct{}, opt.Loads), shards: map[int32]*shard[M, K, R]{},
		ending: map[int32]<-chan struct{}{},
	}
	rt.pool = newPool(opt.Workers, opt.MaxCalls, &rt.wg)
	if opt.Registerer != nil {
		opt.Registerer.MustRegister(newGauges(opt.Name, rt.read))
	}
	return rt
}

// Elect makes this broker the coordinator of a partition: the shard is loaded from log and then serves. A shard of an
// older epoch is dropped first; an epoch that is not newer changes nothing.
func (rt *Runtime[M, K, R]) Elect(partition int32, epoch batch.LeaderEpoch, log Log) {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	if rt.closed {
		return
	}
	old := rt.shards[partition]
	if old != nil && old.epoch >= epoch {
		return
	}
	s := newShard(rt, partition, epoch, log)
	if old != nil {
		old.close()
	}
	s.after = rt.ending[partition]
	rt.shards[partition], rt.ending[partition] = s, s.done
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	rt.wg.Go(func() { s.run(ctx) })
}

// Resign ends the shard of a partition that this broker does not lead at epoch; a shard of a newer epoch stays. Whoever
// waits is answered with ErrNotCoordinator.
func (rt *Runtime[M, K, R]) Resign(partition int32, epoch batch.LeaderEpoch) {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	if s := rt.shards[partition]; s != nil && s.epoch <= epoch {
		s.close()
		delete(rt.shards, partition)
	}
}

// Submit puts an operation to the shard of a partition.
func (rt *Runtime[M, K, R]) Submit(partition int32, op Operation[M, K, R]) *Future[R] {
	return rt.submit(partition, task[M, K, R]{op: op, future: newFuture[R]()})
}

// Tell puts an operation to the shard of a partition that nobody waits for: its token is 0. An error says that the shard
// did not take it.
func (rt *Runtime[M, K, R]) Tell(partition int32, op Operation[M, K, R]) error {
	s, err := rt.shard(partition)
	if err != nil {
		return err
	}
	return s.add(task[M, K, R]{op: op})
}

// Publish puts an operation that nobody waits for to all shards, now, and again to each that is loaded later, as its
// first operation. The next Publish takes its place: a shard may skip some, never the newest. It is for the cluster's
// Image.
func (rt *Runtime[M, K, R]) Publish(op Operation[M, K, R]) {
	rt.published.Store(&op)
	rt.mu.RLock()
	defer rt.mu.RUnlock()
	for _, s := range rt.shards {
		s.nudge()
	}
}

// TransactionEnd is a marker to append: the end of a transaction in the partition of a shard (KIP-98).
type TransactionEnd struct {
	Producer         Producer
	Commit           bool
	CoordinatorEpoch int32
}

// EndTransaction appends a transaction marker to the partition of a shard and has the machine replay it. The response is
// R's zero value.
func (rt *Runtime[M, K, R]) EndTransaction(partition int32, end TransactionEnd) *Future[R] {
	return rt.submit(partition, task[M, K, R]{end: &end, future: newFuture[R]()})
}

func (rt *Runtime[M, K, R]) submit(partition int32, t task[M, K, R]) *Future[R] {
	s, err := rt.shard(partition)
	if err == nil {
		err = s.add(t)
	}
	if err != nil {
		return failedFuture[R](err)
	}
	return t.future
}

func (rt *Runtime[M, K, R]) shard(partition int32) (*shard[M, K, R], error) {
	rt.mu.RLock()
	defer rt.mu.RUnlock()
	if s := rt.shards[partition]; s != nil {
		return s, nil
	}
	return nil, ErrNotCoordinator
}

// Partitions returns the partitions that this broker coordinates, loading ones included, in no order.
func (rt *Runtime[M, K, R]) Partitions() []int32 {
	rt.mu.RLock()
	defer rt.mu.RUnlock()
	list := make([]int32, 0, len(rt.shards))
	for p := range rt.shards {
		list = append(list, p)
	}
	return list
}

// Close ends all shards, answers whoever waits with ErrNotCoordinator, and waits until the last goroutine is gone or ctx
// ends. Calls are told by their contexts.
func (rt *Runtime[M, K, R]) Close(ctx context.Context) error {
	rt.mu.Lock()
	rt.closed = true
	for p, s := range rt.shards {
		s.close()
		delete(rt.shards, p)
	}
	rt.mu.Unlock()
	gone := make(chan struct{})
	go func() {
		rt.wg.Wait()
		close(gone)
	}()
	select {
	case <-gone:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (rt *Runtime[M, K, R]) read() reading {
	var r reading
	r.calls = rt.pool.size()
	r.loadMax, r.loadMean = rt.metrics.loads.read(rt.opt.Now())
	rt.mu.RLock()
	defer rt.mu.RUnlock()
	for _, s := range rt.shards {
		s.mu.Lock()
		r.byState[s.mu.state]++
		r.queued += len(s.mu.tasks)
		s.mu.Unlock()
		r.waiting += int(s.unanswered.Load())
	}
	return r
}

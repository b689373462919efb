package partition

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/weir-broker/weir/broker/batch"
	"github.com/weir-broker/weir/broker/commitlog"
	"github.com/weir-broker/weir/broker/config"
	"github.com/weir-broker/weir/broker/metadata"
	"github.com/weir-broker/weir/broker/policy"
)

// Options configures a Table.
type Options struct {
	NodeID metadata.BrokerID
	// Dirs are the log directories; the table takes them over and closes them.
	// One that is offline already is kept so.
	Dirs []*commitlog.Dir
	// FailedDirs are directories of log.dirs that could not be opened, with the
	// reason. Partitions that may lie there answer ErrStorage instead of being
	// created anew.
	FailedDirs map[string]error
	// Config is the broker's static configuration; dynamic values come with
	// the images given to Apply.
	Config *config.Broker
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Logger may be nil.
	Logger *slog.Logger
	// Retention and Producer decide; nil means Kafka's rules.
	Retention policy.Retention
	Producer  policy.Producer
	// Compaction decides on records of compacted topics; nil means Kafka's rule.
	Compaction policy.Compaction
	// Registerer takes the metrics; nil keeps none.
	Registerer prometheus.Registerer
	// DirFailed is told when a log directory goes offline; it must not block.
	DirFailed func(path string, err error)
}

// Table is the set of replicas this broker hosts. It is safe for concurrent
// use.
type Table struct {
	options Options
	env     *environment
	dirs    []*hostDir
	work    *background
	loops   struct {
		ctx    context.Context
		cancel context.CancelFunc
		wg     sync.WaitGroup
	}
	// flushKick tells the flush loop that flush.ms may have changed.
	flushKick chan struct{}
	cleaners  cleaners

	// applying serialises Apply and Close. It is taken before mu.
	applying struct {
		sync.Mutex
		image   *metadata.Image
		brokers brokerFacts
		closed  bool
	}
	mu struct {
		sync.RWMutex
		image  *metadata.Image
		broker *config.Broker // with the dynamic values of image
		byName map[string]*hosted
		byID   map[metadata.TopicID]*hosted
	}
}

// hosted is a topic of which this broker has replicas.
type hosted struct {
	name  string
	id    metadata.TopicID
	count *topicCounters
	// settings is what new partitions get.
	settings *settings
	// unusable is set while the topic's configuration in the image cannot be
	// used, so that settings are older or less.
	unusable bool
	// partitions by number; nil where the replica is elsewhere. The slice is
	// replaced, not changed.
	partitions []*Partition
}

func (h *hosted) partition(index int32) *Partition {
	if h == nil || index < 0 || int(index) >= len(h.partitions) {
		return nil
	}
	return h.partitions[index]
}

// NewTable returns a table without partitions. Apply fills it.
func NewTable(o Options) (*Table, error) {
	if len(o.Dirs) == 0 {
		return nil, errors.New("partition: no log directory")
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Retention == nil {
		o.Retention = policy.StandardRetention()
	}
	if o.Producer == nil {
		o.Producer = policy.StandardProducer()
	}
	t := &Table{options: o, work: newBackground(), flushKick: make(chan struct{}, 1)}
	t.cleaners.kick = make(chan struct{}, 1)
	t.cleaners.bytesPerSecond = func() float64 { return t.brokerConfig().CleanerBytesPerSecond }
	t.loops.ctx, t.loops.cancel = context.WithCancel(context.Background())
	t.env = &environment{
		node: o.NodeID, now: o.Now, log: o.Logger, producer: o.Producer, retention: o.Retention,
		later: t.work.later, background: t.work.start, dirFailed: t.dirFailed,
	}
	t.mu.broker = o.Config
	t.mu.byName = make(map[string]*hosted)
	t.mu.byID = make(map[metadata.TopicID]*hosted)
	for _, dir := range o.Dirs {
		t.dirs = append(t.dirs, &hostDir{dir: dir, fs: dir.FS(), path: dir.Path()})
	}
	for _, path := range slices.Sorted(maps.Keys(o.FailedDirs)) {
		t.dirs = append(t.dirs, &hostDir{path: path, failed: fmt.Errorf("%w: %w", ErrStorage, o.FailedDirs[path])})
	}
	for _, d := range t.dirs {
		if d.dir != nil {
			d.dir.OnFail(func(err error) { t.dirOffline(d, err) })
		}
	}
	if o.Registerer != nil {
		if err := o.Registerer.Register(newCollector(t)); err != nil {
			return nil, fmt.Errorf("partition: metrics: %w", err)
		}
	}
	return t, nil
}

// Lookup finds the replica of a partition by the topic's name. Errors:
// ErrUnknownTopicOrPartition, ErrNotLeader (known, but no replica here),
// ErrStorage.
func (t *Table) Lookup(topic string, index int32) (*Partition, error) {
	t.mu.RLock()
	p := t.mu.byName[topic].partition(index)
	img := t.mu.image
	t.mu.RUnlock()
	if p != nil {
		return served(p)
	}
	if img != nil && img.Partition(topic, index) != nil {
		return nil, ErrNotLeader
	}
	return nil, ErrUnknownTopicOrPartition
}

// LookupID is Lookup by topic id; ErrUnknownTopicID when no topic has it.
func (t *Table) LookupID(id metadata.TopicID, index int32) (*Partition, error) {
	t.mu.RLock()
	p := t.mu.byID[id].partition(index)
	img := t.mu.image
	t.mu.RUnlock()
	if p != nil {
		return served(p)
	}
	if img != nil {
		if topic := img.TopicByID(id); topic != nil {
			if topic.Partition(index) != nil {
				return nil, ErrNotLeader
			}
			return nil, ErrUnknownTopicOrPartition
		}
	}
	return nil, ErrUnknownTopicID
}

func served(p *Partition) (*Partition, error) {
	if err := p.status.Load().err; err != nil {
		return nil, err
	}
	return p, nil
}

// All returns the hosted partitions, by topic and index. Some may be offline.
func (t *Table) All() []*Partition {
	t.mu.RLock()
	var out []*Partition
	for _, h := range t.mu.byName {
		for _, p := range h.partitions {
			if p != nil {
				out = append(out, p)
			}
		}
	}
	t.mu.RUnlock()
	slices.SortFunc(out, func(a, b *Partition) int {
		return cmp.Or(cmp.Compare(a.topic, b.topic), cmp.Compare(a.index, b.index))
	})
	return out
}

// Cleaning says how the compaction of a topic's replicas on this broker goes,
// by partition; of all topics when the name is empty.
func (t *Table) Cleaning(topic string) []CleaningState {
	var out []CleaningState
	for _, p := range t.All() {
		if topic != "" && p.topic != topic {
			continue
		}
		if st, ok := p.Cleaning(); ok {
			out = append(out, st)
		}
	}
	return out
}

func (t *Table) brokerConfig() *config.Broker {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.mu.broker
}

// Close stops the schedules and closes all logs and directories: producer
// snapshots, flush, marks, the clean-shutdown mark. A directory one of whose
// logs does not close cleanly, or was never opened, is recovered at the next
// start. It returns all errors joined.
func (t *Table) Close() error {
	t.applying.Lock()
	defer t.applying.Unlock()
	if t.applying.closed {
		return nil
	}
	t.applying.closed = true
	t.loops.cancel()
	t.loops.wg.Wait()

	all := t.All()
	for _, p := range all {
		p.withdraw(ErrClosed) // nobody waits for a log that is going away
	}
	t.work.close()

	var (
		mu   sync.Mutex
		errs []error
		bad  = make(map[*hostDir]bool)
	)
	t.perDir(all, func(p *Partition) {
		clean := p.dir.online()
		err := p.close(clean)
		if err == nil && clean && p.log != nil {
			p.setMarks()
			return
		}
		mu.Lock()
		defer mu.Unlock()
		bad[p.dir] = bad[p.dir] || err != nil
		if clean {
			errs = append(errs, err)
		}
	})
	for _, d := range t.dirs {
		if d.dir != nil {
			errs = append(errs, d.dir.Close(!bad[d] && d.closedCleanly()))
		}
	}
	return errors.Join(errs...)
}

// perDir calls fn for each partition that is in a directory,
// num.recovery.threads.per.data.dir at a time for each directory.
func (t *Table) perDir(all []*Partition, fn func(*Partition)) {
	queues := make(map[*hostDir]chan *Partition)
	var wg sync.WaitGroup
	threads := max(1, int(t.brokerConfig().RecoveryThreadsPerDir))
	for _, p := range all {
		if p.dir == nil {
			continue
		}
		q, ok := queues[p.dir]
		if !ok {
			q = make(chan *Partition, len(all))
			queues[p.dir] = q
		}
		q <- p
	}
	for _, q := range queues {
		close(q)
		for range min(threads, len(q)) {
			wg.Go(func() {
				for p := range q {
					fn(p)
				}
			})
		}
	}
	wg.Wait()
}

// noteMarks hands the partition's offsets to the directory's marks, unless the
// replica is going away: its marks are removed then and must not come back, as
// another topic of the name would inherit them.
func (p *Partition) noteMarks() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.mu.closed {
		p.setMarks()
	}
}

// setMarks reaches the memory of the marks only; their next flush writes them
// to the disk.
func (p *Partition) setMarks() {
	tp := commitlog.TopicPartition{Topic: p.topic, Partition: p.index}
	marks := p.dir.dir.Marks()
	marks.SetRecoveryPoint(tp, p.log.RecoveryPoint())
	marks.SetHighWatermark(tp, batch.Offset(p.hw.Load()))
}

// background runs work that outlives the call that asked for it, until close.
type background struct {
	mu struct {
		sync.Mutex
		closed bool
		timers map[*time.Timer]struct{}
	}
	wg sync.WaitGroup
}

func newBackground() *background {
	b := &background{}
	b.mu.timers = make(map[*time.Timer]struct{})
	return b
}

// start runs work now.
func (b *background) start(work func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.mu.closed {
		b.wg.Go(work)
	}
}

// later runs work after delay. What has not begun when close is called is
// dropped: removed files are found again at the next start.
func (b *background) later(delay time.Duration, work func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.mu.closed {
		return
	}
	var timer *time.Timer
	timer = time.AfterFunc(delay, func() {
		b.mu.Lock()
		delete(b.mu.timers, timer)
		if b.mu.closed {
			b.mu.Unlock()
			return
		}
		b.wg.Add(1)
		b.mu.Unlock()
		defer b.wg.Done()
		work()
	})
	b.mu.timers[timer] = struct{}{}
}

// close drops what has not begun and waits for the rest.
func (b *background) close() {
	b.mu.Lock()
	b.mu.closed = true
	for timer := range b.mu.timers {
		timer.Stop()
	}
	clear(b.mu.timers)
	b.mu.Unlock()
	b.wg.Wait()
}

package partition

import (
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weir-broker/weir/broker/batch"
	"github.com/weir-broker/weir/broker/commitlog"
	"github.com/weir-broker/weir/broker/config"
	"github.com/weir-broker/weir/broker/metadata"
	"github.com/weir-broker/weir/broker/policy"
	"github.com/weir-broker/weir/broker/producerstate"
	"github.com/weir-broker/weir/broker/vfs"
)

// Partition is this broker's replica of one partition. It is safe for
// concurrent use.
type Partition struct {
	topic   string
	topicID metadata.TopicID
	index   int32
	name    string // topic-index, also the folder's name
	env     *environment
	count   *topicCounters
	dir     *hostDir

	// log and state are nil when the replica could not be opened; then status
	// says why for good.
	log *commitlog.Log

	// What readers look at without a lock. The high watermark is stored before
	// the last stable offset and read after it, so that a reader never sees the
	// one below the other.
	status   atomic.Pointer[status]
	settings atomic.Pointer[settings]
	hw, lso  atomic.Int64
	waiters  waiters
	flusher  flusher
	cleaning cleaning

	// mu is the append lock. It is held over one write to the log, and once in
	// the life of a replica over the syncs of its topic id (identify).
	mu struct {
		sync.Mutex
		isr       isrState
		producers *producerstate.State
		header    [1]batch.Header // reused by Append
		// identified is set once the folder's topic id is durable; nothing is
		// written to the log before.
		identified bool
		closed     bool
	}
	// removed collects the segments that left the log, for their snapshots.
	removed struct {
		sync.Mutex
		bases []batch.Offset
	}
}

// environment is what the partitions of a table share.
type environment struct {
	node      metadata.BrokerID
	now       func() time.Time
	log       *slog.Logger
	producer  policy.Producer
	retention policy.Retention
	// later runs work in the background after a delay, unless the table is
	// closed before.
	later func(delay time.Duration, work func())
	// background runs work now and is waited for by Close.
	background func(work func())
	// dirFailed takes a log directory out of service.
	dirFailed func(d *hostDir, err error)
	// shortages counts what failed for want of file descriptors; shortageLogged
	// is when that was last logged, in Unix nanoseconds.
	shortages, shortageLogged atomic.Int64
}

// shortageLogInterval keeps a broker that has no file descriptors from filling
// the disk with what it says about it.
const shortageLogInterval = 10 * time.Second

// shortOfDescriptors notes that p could not do something for want of file
// descriptors.
func (e *environment) shortOfDescriptors(p *Partition, err error) {
	total := e.shortages.Add(1)
	now, last := e.now().UnixNano(), e.shortageLogged.Load()
	if now-last < int64(shortageLogInterval) || !e.shortageLogged.CompareAndSwap(last, now) {
		return
	}
	e.log.Error("out of file descriptors: requests fail until some are free; raise the limit of open files (LimitNOFILE, ulimit -n) and restart",
		"topic", p.topic, "partition", p.index, "total", total, "err", err)
}

// status is what a reader needs to know of leadership. It is immutable.
type status struct {
	leader     metadata.BrokerID
	leading    bool
	epoch      batch.LeaderEpoch
	epochStart batch.Offset
	// err is why the replica does not serve at all: ErrStorage, or
	// ErrUnknownTopicOrPartition once it is deleted.
	err error
}

// check is whether a request may be served.
func (st *status) check(current batch.LeaderEpoch, needLeader bool) error {
	switch {
	case st.err != nil:
		return st.err
	case current != NoEpoch && current < st.epoch:
		return fmt.Errorf("%w: %d, it is %d", ErrFencedLeaderEpoch, current, st.epoch)
	case current != NoEpoch && current > st.epoch:
		return fmt.Errorf("%w: %d, it is %d", ErrUnknownLeaderEpoch, current, st.epoch)
	case needLeader && !st.leading:
		return ErrNotLeader
	}
	return nil
}

// openRequest is what open needs to know of one replica.
type openRequest struct {
	topic      string
	id         metadata.TopicID
	index      int32
	dir        *hostDir
	settings   *settings
	count      *topicCounters
	clean      bool // the directory was closed properly
	identified bool // the folder was there, with its topic id
	fresh      bool // the folder was made for this replica
}

func folderName(topic string, index int32) string {
	return topic + "-" + strconv.Itoa(int(index))
}

func newPartition(env *environment, r *openRequest) *Partition {
	p := &Partition{
		topic: r.topic, topicID: r.id, index: r.index,
		name: folderName(r.topic, r.index),
		env:  env, count: r.count, dir: r.dir,
	}
	p.settings.Store(r.settings)
	p.status.Store(&status{leader: metadata.NoLeader, epoch: NoEpoch})
	p.mu.isr = newISRState(env.node, r.settings.lag)
	p.mu.isr.minISR = int(r.settings.topic.MinInsyncReplicas)
	return p
}

// open loads the replica's log and producer state and recovers them.
func (p *Partition) open(r *openRequest) error {
	path := filepath.Join(r.dir.path, p.name)
	marks := r.dir.marks(p.topic, p.index)
	log, recovery, err := commitlog.Open(commitlog.Options{
		FS:                r.dir.fs,
		Dir:               path,
		New:               r.fresh,
		Config:            r.settings.log,
		Hook:              logHook{p},
		Now:               p.env.now,
		RecoveryPoint:     marks.recoveryPoint,
		LogStartOffset:    marks.logStart,
		CleanShutdown:     r.clean,
		SaveLogStart:      func(o batch.Offset) error { return r.dir.saveLogStart(p.topic, p.index, o) },
		SaveRecoveryPoint: func(o batch.Offset) error { return r.dir.saveRecoveryPoint(p.topic, p.index, o) },
		Later:             p.env.later,
		Logger:            p.env.log.With("topic", p.topic, "partition", p.index),
	})
	if err != nil {
		return fmt.Errorf("open %s: %w", path, err)
	}
	if recovery.Reason != "" {
		p.env.log.Warn("log was cut", "topic", p.topic, "partition", p.index, "reason", recovery.Reason,
			"bytes", recovery.TruncatedBytes, "segments", recovery.SegmentsDeleted, "end", int64(log.LogEndOffset()))
	}
	producers, err := producerstate.Open(producerstate.Options{
		FS: r.dir.fs, Dir: path, New: r.fresh, Expiration: r.settings.producers, Policy: p.env.producer,
		Logger: p.env.log.With("topic", p.topic, "partition", p.index),
	})
	if err == nil {
		err = producers.Load(producerLog(log), p.env.now())
	}
	if err != nil {
		return errors.Join(storageError(fmt.Errorf("producers of %s: %w", path, err)), log.Close(false))
	}
	p.log = log
	p.mu.producers = producers
	start, end := log.LogStartOffset(), log.LogEndOffset()
	p.mu.identified = r.identified && end > 0
	s := &p.mu.isr
	s.logStart, s.logEnd = start, end
	s.highWatermark = min(max(marks.highWatermark, start), end)
	p.moved()
	return nil
}

// producerLog shows a log to producerstate.
func producerLog(log *commitlog.Log) producerstate.Log {
	segments := log.Segments()
	bases := make([]batch.Offset, len(segments))
	for i := range segments {
		bases[i] = batch.Offset(segments[i].Base)
	}
	return producerstate.Log{
		Start: log.LogStartOffset(), End: log.LogEndOffset(),
		Segments: bases, Batches: log.Batches,
	}
}

// moved publishes the offsets after the ISR state or the producers changed.
// The append lock is held, or nobody else knows the partition yet.
func (p *Partition) moved() {
	hw := p.mu.isr.highWatermark
	p.mu.producers.HighWatermarkAdvanced(hw)
	lso := hw
	if first, ok := p.mu.producers.FirstUnstableOffset(); ok {
		lso = min(lso, max(first, p.mu.isr.logStart))
	}
	p.hw.Store(int64(hw))
	p.lso.Store(int64(lso))
}

// logHook connects the producers with their log. BatchAppended, Rolled and
// Truncated come from calls made under the append lock, SegmentRemoved from
// any.
type logHook struct{ p *Partition }

var _ commitlog.Hook = logHook{}

func (h logHook) BatchAppended(header batch.Header, raw []byte) {
	h.p.mu.producers.Apply(&header, raw)
}

func (h logHook) Rolled(base batch.Offset) error {
	return storageError(h.p.mu.producers.Roll(base))
}

func (h logHook) Truncated(to batch.Offset) error {
	h.p.truncateCleanerOffset(to)
	return storageError(h.p.mu.producers.Load(producerLog(h.p.log), h.p.env.now()))
}

// storageError marks a failure to read or write producer snapshots as one of
// the disk.
func storageError(err error) error {
	if err == nil || errors.Is(err, ErrStorage) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrStorage, err)
}

func (h logHook) SegmentRemoved(base batch.Offset) {
	h.p.removed.Lock()
	defer h.p.removed.Unlock()
	h.p.removed.bases = append(h.p.removed.bases, base)
}

// applyMetadata follows a change of leadership, replicas or brokers. brokers
// may be nil when they did not change.
func (p *Partition) applyMetadata(m *metadata.Partition, brokers brokerFacts) {
	p.mu.Lock()
	s := &p.mu.isr
	if brokers != nil {
		s.brokers = brokers
	}
	newEpoch := s.apply(registration{
		leader:         m.Leader,
		leaderEpoch:    batch.LeaderEpoch(m.LeaderEpoch),
		partitionEpoch: m.PartitionEpoch,
		replicas:       m.Replicas,
		isr:            m.ISR,
	}, p.env.now())
	before := p.status.Load()
	if before.err == nil {
		if newEpoch {
			// Noted at once, even if nothing is ever appended in it: followers
			// that ask for an older epoch must be told where this one begins.
			p.log.AssignEpoch(s.leaderEpoch, s.epochStart)
		}
		p.moved()
	}
	after := &status{leader: s.leader, leading: s.leading, epoch: s.leaderEpoch, epochStart: s.epochStart, err: before.err}
	p.status.Store(after)
	p.mu.Unlock()
	if *before != *after {
		p.env.log.Debug("leadership", "topic", p.topic, "partition", p.index, "leader", int32(after.leader), "epoch", int32(after.epoch))
	}
	p.waiters.wake()
}

// applySettings follows a change of the topic's or the broker's configuration.
func (p *Partition) applySettings(st *settings) {
	p.settings.Store(st)
	p.mu.Lock()
	p.mu.isr.minISR = int(st.topic.MinInsyncReplicas)
	p.mu.isr.lag = st.lag
	if p.log != nil {
		p.mu.producers.SetExpiration(st.producers)
		p.mu.isr.advance(p.env.now())
		p.moved()
	}
	p.mu.Unlock()
	if p.log != nil {
		p.log.SetConfig(st.log)
	}
	p.waiters.wake()
}

// withdraw stops serving for good: err is what every request gets from now on.
func (p *Partition) withdraw(err error) {
	p.mu.Lock()
	st := *p.status.Load()
	if st.err == nil {
		st.err = err
		p.status.Store(&st)
	}
	p.mu.Unlock()
	p.waiters.wake()
}

// failure is called, without the append lock, with every error of the log. A
// failure of the disk takes the directory out of service; a log that is closed
// belongs to a partition that is going away. A lack of file descriptors fails
// the one request, with ErrStorage, which clients try again.
func (p *Partition) failure(err error) error {
	switch {
	case vfs.OutOfDescriptors(err):
		p.env.shortOfDescriptors(p, err)
	case errors.Is(err, commitlog.ErrStorage):
		p.env.dirFailed(p.dir, err)
	case errors.Is(err, commitlog.ErrClosed):
		if st := p.status.Load(); st.err != nil {
			return st.err
		}
		return ErrNotLeader
	}
	return err
}

// close ends the use of the log. A clean one leaves a producer snapshot at the
// end and everything durable.
func (p *Partition) close(clean bool) error {
	p.withdraw(ErrClosed)
	if p.log == nil {
		return nil
	}
	p.mu.Lock()
	if p.mu.closed {
		p.mu.Unlock()
		return nil
	}
	p.mu.closed = true
	var err error
	if clean {
		err = storageError(p.mu.producers.Snapshot(true))
	}
	p.mu.Unlock()
	return errors.Join(err, p.log.Close(clean && err == nil))
}

// Topic is the topic's name.
func (p *Partition) Topic() string { return p.topic }

// TopicID is the topic's id.
func (p *Partition) TopicID() metadata.TopicID { return p.topicID }

// Index is the partition's number in its topic.
func (p *Partition) Index() int32 { return p.index }

// Directory is the id of the log directory the replica is in; DirUnassigned
// when it is in none that could be opened.
func (p *Partition) Directory() metadata.DirID {
	if p.dir == nil {
		return metadata.DirUnassigned
	}
	return p.dir.id()
}

// Leadership says who leads, as far as this replica knows: what KIP-951 puts
// beside NOT_LEADER_OR_FOLLOWER.
func (p *Partition) Leadership() (metadata.BrokerID, batch.LeaderEpoch) {
	st := p.status.Load()
	return st.leader, st.epoch
}

// Config is the topic's effective configuration. It must not be changed.
func (p *Partition) Config() *config.TopicConfig { return &p.settings.Load().topic }

// HighWatermark is the offset below which all in-sync replicas have
// everything, exclusive.
func (p *Partition) HighWatermark() batch.Offset { return batch.Offset(p.hw.Load()) }

// LastStableOffset is the offset below which every transaction is decided,
// exclusive; never above the high watermark.
func (p *Partition) LastStableOffset() batch.Offset { return batch.Offset(p.lso.Load()) }

// LogStartOffset is the first offset that may be read; -1 when the replica is
// offline.
func (p *Partition) LogStartOffset() batch.Offset {
	if p.log == nil {
		return -1
	}
	return p.log.LogStartOffset()
}

// LogEndOffset is the offset of the next record; -1 when the replica is
// offline.
func (p *Partition) LogEndOffset() batch.Offset {
	if p.log == nil {
		return -1
	}
	return p.log.LogEndOffset()
}

// Size is the length of the log in bytes.
func (p *Partition) Size() int64 {
	if p.log == nil {
		return 0
	}
	return p.log.Size()
}

// Watch has w woken whenever the partition moves, until Unwatch.
func (p *Partition) Watch(w *Waiter) { p.waiters.add(w) }

// Unwatch undoes Watch.
func (p *Partition) Unwatch(w *Waiter) { p.waiters.remove(w) }

// Producers returns the producers active on the partition (KIP-664).
func (p *Partition) Producers() ([]producerstate.Producer, error) {
	if err := p.status.Load().check(NoEpoch, true); err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.mu.producers.Producers(), nil
}

// dropSnapshots removes the producer snapshots of segments that are gone.
func (p *Partition) dropSnapshots() {
	p.removed.Lock()
	bases := p.removed.bases
	p.removed.bases = nil
	p.removed.Unlock()
	if len(bases) == 0 {
		return
	}
	slices.Sort(bases)
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, base := range bases {
		if err := p.mu.producers.RemoveSnapshot(base); err != nil {
			// It costs a little space until the next load removes it.
			p.env.log.Warn("producer snapshot stays", "topic", p.topic, "partition", p.index, "err", err)
		}
	}
}

package commitlog

import (
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"slices"
	"sort"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weir-broker/weir/broker/batch"
	"github.com/weir-broker/weir/broker/policy"
	"github.com/weir-broker/weir/broker/vfs"
)

// Log is one partition on disk. The package comment says who may call what.
type Log struct {
	fs     vfs.FS
	hook   Hook
	now    func() time.Time
	later  func(time.Duration, func())
	logger *slog.Logger
	save   struct{ logStart, recoveryPoint func(batch.Offset) error }

	config atomic.Pointer[Config]
	dir    atomic.Pointer[string]

	segments  atomic.Pointer[[]*segment]
	logEnd    atomic.Int64
	logStart  atomic.Int64
	recovery  atomic.Int64
	lastFlush atomic.Int64 // milliseconds
	// truncations counts swaps of segments for shorter ones: a read that overlaps one is done again.
	truncations atomic.Int64
	failed      atomic.Pointer[error]
	epochs      epochs

	maintain struct {
		sync.Mutex
		closed bool
	}
	write  sync.Mutex
	marked bool // a recovery point was saved; guarded by write
	flush  flushTurn
}

// SetConfig replaces the configuration; the next append goes by it.
func (l *Log) SetConfig(c Config) { l.config.Store(&c) }

// LogStartOffset is the first offset readers may see.
func (l *Log) LogStartOffset() batch.Offset { return batch.Offset(l.logStart.Load()) }

// LogEndOffset is the offset the next record gets.
func (l *Log) LogEndOffset() batch.Offset { return batch.Offset(l.logEnd.Load()) }

// RecoveryPoint is the offset below which everything is durable.
func (l *Log) RecoveryPoint() batch.Offset { return batch.Offset(l.recovery.Load()) }

// Size is the length of all segments in bytes.
func (l *Log) Size() int64 {
	n := int64(0)
	for _, s := range l.list() {
		n += s.size.Load()
	}
	return n
}

// Truncations counts how often the log was cut since it was opened.
func (l *Log) Truncations() int64 { return l.truncations.Load() }

// ActiveSegmentBase is the base offset of the segment appends go to.
func (l *Log) ActiveSegmentBase() batch.Offset { return l.active().base }

// Dir is the directory the log is in.
func (l *Log) Dir() string { return *l.dir.Load() }

func (l *Log) list() []*segment { return *l.segments.Load() }

func (l *Log) active() *segment { list := l.list(); return list[len(list)-1] }

func (l *Log) setSegments(list []*segment) { l.segments.Store(&list) }

// floor is the index of the last segment whose base is at or below o, -1 without one.
func floor(list []*segment, o batch.Offset) int {
	return sort.Search(len(list), func(i int) bool { return list[i].base > o }) - 1
}

// failure is the error that ended the use of the log, if there is one.
func (l *Log) failure() error {
	if p := l.failed.Load(); p != nil {
		return *p
	}
	return nil
}

// fail ends the use of the log: what the files hold is no longer known. Except after a lack of file descriptors, which stopped an
// append or a flush before it changed anything: the caller's request fails, the next one may do better. A segment that was sealed
// and got no successor is the exception to that; createSegment avoids it.
func (l *Log) fail(err error) error {
	if vfs.OutOfDescriptors(err) && !l.active().sealed.Load() {
		return storageError("no file can be opened", err)
	}
	return l.end(err)
}

// end is fail for what may not stop half way, whatever the reason.
func (l *Log) end(err error) error {
	err = storageError("log failed", err)
	if l.failed.CompareAndSwap(nil, &err) {
		l.logger.Error("partition log failed", "dir", l.Dir(), "error", err)
	}
	return err
}

// Segments are the facts a retention policy decides on, oldest first.
func (l *Log) Segments() []policy.SegmentRow {
	end, list := l.LogEndOffset(), l.list()
	rows := make([]policy.SegmentRow, len(list))
	for i, s := range list {
		next := end
		if i+1 < len(list) {
			next = list[i+1].base
		}
		rows[i] = policy.SegmentRow{
			Base: int64(s.base), Last: int64(next) - 1, Size: s.size.Load(),
			MaxTimestamp: s.largestTimestamp(), Active: i+1 == len(list),
		}
	}
	return rows
}

// indexOf returns the indexes of a segment, reading or rebuilding them if they are not in memory.
func (l *Log) indexOf(s *segment) (*index, error) {
	if x := s.idx.Load(); x != nil {
		if s.sealed.Load() {
			s.idxUsed.Store(l.now().UnixMilli())
		}
		return x, nil
	}
	s.load.Lock()
	defer s.load.Unlock()
	if x := s.idx.Load(); x != nil {
		return x, nil
	}
	x, err := loadIndex(l.fs, l.Dir(), s.base, s.size.Load())
	if s.replaced.Load() {
		x, err = nil, fmt.Errorf("%w: a cleaned segment has taken its place", errBadIndex)
	}
	if err != nil {
		l.logger.Warn("rebuilding the indexes of a segment", "dir", l.Dir(), "segment", int64(s.base), "error", err)
		r, rerr := s.rebuild(s.size.Load(), l.config.Load().IndexIntervalBytes, false, nil)
		if rerr != nil {
			return nil, rerr
		}
		x = r.idx // in memory only: the files may be those of another segment by now; the next Open mends them
	}
	s.idxUsed.Store(l.now().UnixMilli())
	s.idx.Store(x)
	return x, nil
}

// heal replaces indexes that turned out not to fit their log.
func (l *Log) heal(s *segment, bad *index) error {
	l.write.Lock()
	defer l.write.Unlock()
	if s.idx.Load() != bad || !slices.Contains(l.list(), s) {
		return nil // somebody else did, or the segment left the log
	}
	l.logger.Warn("indexes do not fit the log, rebuilding them", "dir", l.Dir(), "segment", int64(s.base))
	r, err := s.rebuild(s.size.Load(), l.config.Load().IndexIntervalBytes, false, nil)
	if err != nil {
		return err
	}
	if r.reason != nil {
		return fmt.Errorf("segment %d: %w: %w", s.base, batch.ErrCorrupt, r.reason)
	}
	bad.close()
	s.idx.Store(r.idx)
	if err := r.idx.write(l.fs, l.Dir(), s.base, true, false); err != nil {
		l.logger.Warn("could not store rebuilt indexes", "dir", l.Dir(), "segment", int64(s.base), "error", err)
	}
	return nil
}

// TrimMemory forgets the indexes of segments not read for idle; they are loaded again when needed.
func (l *Log) TrimMemory(idle time.Duration) {
	list, before := l.list(), l.now().Add(-idle).UnixMilli()
	for _, s := range list[:len(list)-1] {
		// Only what a flush has written: below the recovery point the files are complete.
		if x := s.idx.Load(); x != nil && s.sealed.Load() && !s.pinned.Load() && s.nextOffset() <= l.RecoveryPoint() && s.idxUsed.Load() < before {
			x.close()
			s.idx.CompareAndSwap(x, nil)
		}
	}
}

// AssignEpoch notes that leader epoch e begins at start. It reaches the disk by the next flush.
func (l *Log) AssignEpoch(e batch.LeaderEpoch, start batch.Offset) { l.epochs.assign(e, start) }

// LatestEpoch is the newest leader epoch known.
func (l *Log) LatestEpoch() (batch.LeaderEpoch, bool) {
	if last, ok := l.epochs.latest(); ok {
		return last.Epoch, true
	}
	return batch.NoLeaderEpoch, false
}

// EndOffsetForEpoch answers OffsetForLeaderEpoch: the largest known epoch at or below e, and where it ends (-1, -1 when
// that is not known).
func (l *Log) EndOffsetForEpoch(e batch.LeaderEpoch) (batch.LeaderEpoch, batch.Offset) {
	return l.epochs.endOffset(e, l.LogEndOffset())
}

// Epochs is the leader epoch checkpoint, oldest first. The slice must not be changed.
func (l *Log) Epochs() []EpochEntry { return l.epochs.view() }

// Close ends the use of the log. A clean close makes all of it durable. Later calls fail with ErrClosed.
func (l *Log) Close(clean bool) error {
	l.maintain.Lock()
	defer l.maintain.Unlock()
	var err error
	if clean && l.failure() == nil {
		err = l.closeClean()
	}
	return l.shut(err)
}

func (l *Log) closeClean() error {
	l.write.Lock()
	s := l.active()
	s.finishTimes()
	l.write.Unlock()
	if err := l.Flush(l.LogEndOffset()); err != nil {
		return err
	}
	// Flush does nothing when the recovery point is at the end already, and does not wait for the index of the active
	// segment; after a clean stop nobody rebuilds it.
	x := s.idx.Load()
	if err := x.write(l.fs, l.Dir(), s.base, true, true); err != nil {
		return l.fail(err)
	}
	if err := l.epochs.save(l.fs, l.Dir()); err != nil {
		return l.fail(err)
	}
	if x.created.Swap(false) || !s.dirSynced.Load() {
		if err := vfs.SyncDir(l.fs, l.Dir()); err != nil {
			return l.fail(err)
		}
		s.dirSynced.Store(true)
	}
	return nil
}

// shut closes the files once nothing is being written or flushed. The caller holds maintain.
func (l *Log) shut(err error) error {
	if l.maintain.closed {
		return err
	}
	l.maintain.closed = true
	closed := error(ErrClosed)
	l.failed.CompareAndSwap(nil, &closed)
	l.write.Lock()
	defer l.write.Unlock()
	l.flush.take()
	defer l.flush.give()
	for _, s := range l.list() {
		if x := s.idx.Load(); x != nil {
			x.close()
		}
		if cerr := s.file.Close(); err == nil && cerr != nil {
			err = storageError("close segment", cerr)
		}
	}
	return err
}

// MarkDeleted closes the log and renames its directory to dir, durably.
func (l *Log) MarkDeleted(dir string) error {
	l.maintain.Lock()
	defer l.maintain.Unlock()
	if err := l.shut(nil); err != nil {
		l.logger.Warn("closing a log that is deleted", "dir", l.Dir(), "error", err)
	}
	if err := l.fs.Rename(l.Dir(), dir); err != nil {
		return storageError("mark log deleted", err)
	}
	l.dir.Store(&dir)
	return storageError("mark log deleted", vfs.SyncDir(l.fs, filepath.Dir(dir)))
}

// Delete removes the log's directory, after MarkDeleted or Close.
func (l *Log) Delete() error {
	l.maintain.Lock()
	defer l.maintain.Unlock()
	if err := l.shut(nil); err != nil {
		l.logger.Warn("closing a log that is deleted", "dir", l.Dir(), "error", err)
	}
	return storageError("delete log", l.fs.RemoveAll(l.Dir()))
}

// createSegment makes an empty segment. In a fresh directory there can be nothing left of an earlier one.
func (l *Log) createSegment(base batch.Offset, fresh bool) (*segment, error) {
	dir, c := l.Dir(), l.config.Load()
	if !fresh {
		for _, ext := range [...]string{extTxnIndex, extIndex, extTimeIndex} {
			_ = l.fs.Remove(segmentPath(dir, base, ext)) // left over from a segment of the same name
		}
	}
	file, err := l.fs.Create(segmentPath(dir, base, extLog))
	if vfs.OutOfDescriptors(err) {
		l.unseal() // its successor is not there, not even in part
	}
	if err != nil {
		return nil, err
	}
	s := newSegment(base, file, l.now())
	s.jitter = jitterOf(dir, base, c.SegmentJitter, c.SegmentAge)
	s.idx.Store(newIndex(nil, nil)) // its files are made when there is something to write, at the latest by a clean close
	if c.Preallocate {
		if err := file.Preallocate(0, int64(c.SegmentBytes)); err != nil {
			l.logger.Debug("could not preallocate a segment", "dir", dir, "segment", int64(base), "error", err)
		}
	}
	vfs.Failpoint("commitlog.segment.created")
	return s, nil
}

// unseal has appends go on in a segment that was sealed for a roll. A flush that saw the seal must be through with it: it cuts files to
// the size it knows. The caller holds write.
func (l *Log) unseal() {
	if l.segments.Load() == nil || !l.active().sealed.Load() { // the log is being opened, or begun anew
		return
	}
	s := l.active()
	l.flush.take()
	defer l.flush.give()
	s.sealed.Store(false)
}

func withDefaults(o *Options) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
}

// appended returns a new list with s at its end.
func appended(list []*segment, s *segment) []*segment { return append(slices.Clone(list), s) }

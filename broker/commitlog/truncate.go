package commitlog

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/weir-broker/weir/broker/batch"
	"github.com/weir-broker/weir/broker/vfs"
)

// Truncate removes everything from to on. A batch that holds to goes as a whole. The log then ends behind the last batch
// that is left, as it would after a restart.
func (l *Log) Truncate(to batch.Offset) error {
	l.maintain.Lock()
	defer l.maintain.Unlock()
	l.write.Lock()
	defer l.write.Unlock()
	if err := l.failure(); err != nil {
		return err
	}
	if to < 0 {
		return fmt.Errorf("%w: truncation to %d", ErrOffsetOutOfRange, to)
	}
	if end := l.LogEndOffset(); to >= end {
		// An epoch may have been noted at the end without any record following.
		l.epochs.cutEnd(end)
		return nil
	}
	if to < l.list()[0].base {
		return l.restartAt(to)
	}
	l.flush.take()
	defer l.flush.give()
	return l.truncate(to)
}

// truncate does the work of Truncate, for an offset inside the log. The caller holds maintain, write and the turn to
// flush.
func (l *Log) truncate(to batch.Offset) error {
	list := l.list()
	i := floor(list, to)
	old := list[i]
	short, end, err := l.shortened(old, to)
	if err != nil {
		return err
	}
	if err := l.lowerRecoveryPoint(end); err != nil {
		return err
	}
	if l.LogStartOffset() > end {
		// Open would take a log that ends before its start for lost, and begin anew.
		if err := l.saveStart(end); err != nil {
			return err
		}
	}
	vfs.Failpoint("commitlog.truncate.begin")
	// Readers see the short log before bytes go; one that began earlier notices the count and reads again.
	l.logEnd.Store(int64(end))
	l.logStart.Store(min(l.logStart.Load(), int64(end)))
	l.setSegments(append(slices.Clone(list[:i]), short))
	l.truncations.Add(1)
	gone := list[i+1:]
	for n := len(gone) - 1; n >= 0; n-- {
		if err := l.removeDurably(gone[n]); err != nil {
			return l.end(err)
		}
	}
	vfs.Failpoint("commitlog.truncate.before-cut")
	if x := old.idx.Load(); x != nil {
		x.close()
	}
	if err := short.idx.Load().write(l.fs, l.Dir(), short.base, true, false); err != nil {
		return l.end(err)
	}
	if err := short.file.Truncate(short.size.Load()); err != nil {
		return l.end(err)
	}
	// Durable now, or a crash could mix what was cut off with what comes in its place.
	if err := short.file.SyncData(); err != nil {
		return l.end(err)
	}
	vfs.Failpoint("commitlog.truncate.after-cut")
	l.epochs.cutEnd(end)
	if err := l.epochs.save(l.fs, l.Dir()); err != nil {
		return l.end(err)
	}
	if l.hook == nil {
		return nil
	}
	for _, s := range gone {
		l.hook.SegmentRemoved(s.base)
	}
	return storageError("truncate", l.hook.Truncated(end))
}

// shortened makes the segment that takes the place of s, without the batches that reach to, and the log end with it.
func (l *Log) shortened(s *segment, to batch.Offset) (*segment, batch.Offset, error) {
	size := s.size.Load()
	pos, _, err := l.locate(s, nil, max(to, s.base), size)
	if err != nil {
		return nil, 0, storageError("truncate", err)
	}
	x, err := l.indexOf(s)
	if err != nil {
		return nil, 0, storageError("truncate", err)
	}
	short := newSegment(s.base, s.file, l.now())
	short.jitter = s.jitter
	short.dirSynced.Store(s.dirSynced.Load())
	short.size.Store(pos)
	cut := x.cut(short.rel(to)) // the batch that holds to has a last offset at or behind it
	short.idx.Store(cut)
	if pos > 0 {
		short.created, short.firstTimestamp = s.created, s.firstTimestamp
		if err := short.readEnd(cut); err != nil {
			return nil, 0, storageError("truncate", err)
		}
	}
	return short, short.nextOffset(), nil
}

// readEnd finds where a shortened segment ends, and its largest timestamp: that of the last time entry, or of a batch
// behind it.
func (s *segment) readEnd(x *index) error {
	from := uint32(0)
	if e, ok := x.lastTime(); ok {
		s.maxTimestamp.Store(e.ts)
		s.maxTimestampRel = e.rel
		from, _, _ = x.position(int64(e.rel))
	}
	sc := newScanner(s.file, int64(from), s.size.Load(), headerChunk)
	defer sc.close()
	for {
		h, err := sc.next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("segment %d: %w", s.base, err)
		}
		s.next.Store(int64(h.NextOffset()))
		if h.MaxTimestamp > s.maxTimestamp.Load() {
			s.maxTimestamp.Store(h.MaxTimestamp)
			s.maxTimestampRel = uint32(s.rel(h.LastOffset()))
		}
		sc.skip(&h)
	}
}

// lowerRecoveryPoint makes sure that no mark vouches for offsets that are about to be written anew.
func (l *Log) lowerRecoveryPoint(to batch.Offset) error {
	if l.RecoveryPoint() <= to {
		return nil
	}
	if l.save.recoveryPoint != nil {
		if err := l.save.recoveryPoint(to); err != nil {
			return storageError("lower recovery point", err)
		}
	}
	l.recovery.Store(int64(to))
	return nil
}

// TruncateFully removes everything and begins again at to.
func (l *Log) TruncateFully(to batch.Offset) error {
	l.maintain.Lock()
	defer l.maintain.Unlock()
	l.write.Lock()
	defer l.write.Unlock()
	if err := l.failure(); err != nil {
		return err
	}
	if to < 0 {
		return fmt.Errorf("%w: truncation to %d", ErrOffsetOutOfRange, to)
	}
	return l.restartAt(to)
}

// restartAt does the work of TruncateFully. The caller holds maintain and write.
func (l *Log) restartAt(to batch.Offset) error {
	l.flush.take()
	defer l.flush.give()
	if err := l.lowerRecoveryPoint(min(to, l.list()[0].base)); err != nil {
		return err
	}
	// With this mark, Open drops what is left of a log that ended below to.
	if err := l.saveStart(to); err != nil {
		return err
	}
	vfs.Failpoint("commitlog.truncate-fully.begin")
	old := l.list()
	for n := len(old) - 1; n >= 0; n-- {
		if err := l.renameDeleted(old[n]); err != nil {
			return l.end(err)
		}
		if err := vfs.SyncDir(l.fs, l.Dir()); err != nil {
			return l.end(err)
		}
	}
	vfs.Failpoint("commitlog.truncate-fully.empty")
	s, err := l.createSegment(to, false)
	if err != nil {
		return l.end(err)
	}
	if err := vfs.SyncDir(l.fs, l.Dir()); err != nil {
		return l.end(err)
	}
	s.dirSynced.Store(true)
	l.logStart.Store(int64(to))
	l.logEnd.Store(int64(to))
	l.setSegments([]*segment{s})
	l.truncations.Add(1)
	l.recovery.Store(int64(to)) // nothing lies below
	for _, s := range old {
		l.scrap(s)
	}
	l.epochs.clear()
	if err := l.epochs.save(l.fs, l.Dir()); err != nil {
		return l.end(err)
	}
	if l.hook == nil {
		return nil
	}
	for _, s := range old {
		l.hook.SegmentRemoved(s.base)
	}
	return storageError("truncate", l.hook.Truncated(to))
}

// removeDurably takes a segment's files out of the directory so that no crash brings them back, and lets them go later.
func (l *Log) removeDurably(s *segment) error {
	if err := l.renameDeleted(s); err != nil {
		return err
	}
	if err := vfs.SyncDir(l.fs, l.Dir()); err != nil {
		return err
	}
	l.scrap(s)
	return nil
}

// renameDeleted puts .deleted behind the names of a segment's files, the log first.
func (l *Log) renameDeleted(s *segment) error {
	vfs.Failpoint("commitlog.delete.before-rename")
	for _, ext := range segmentExts {
		name := segmentPath(l.Dir(), s.base, ext)
		if err := l.fs.Rename(name, name+suffixDeleted); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// scrap closes and removes the renamed files of a segment, once readers that hold it had their time.
func (l *Log) scrap(s *segment) {
	work := func() {
		if x := s.idx.Load(); x != nil {
			x.close()
		}
		_ = s.file.Close()
		for _, ext := range segmentExts {
			name := segmentPath(l.Dir(), s.base, ext) + suffixDeleted
			if err := l.fs.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
				l.logger.Warn("could not remove a deleted file; the next start will", "file", name, "error", err)
			}
		}
	}
	if l.later == nil {
		work()
		return
	}
	l.later(l.config.Load().FileDeleteDelay, work)
}

func (l *Log) saveStart(to batch.Offset) error {
	if l.save.logStart == nil {
		return nil
	}
	return storageError("save log start offset", l.save.logStart(to))
}

// AdvanceLogStart hides records below to and makes that durable. A lower offset does nothing.
func (l *Log) AdvanceLogStart(to batch.Offset) error {
	l.maintain.Lock()
	defer l.maintain.Unlock()
	return l.advance(to)
}

// advance does the work of AdvanceLogStart. The caller holds maintain.
func (l *Log) advance(to batch.Offset) error {
	if err := l.failure(); err != nil {
		return err
	}
	if to <= l.LogStartOffset() {
		return nil
	}
	if end := l.LogEndOffset(); to > end {
		return fmt.Errorf("%w: start %d behind end %d", ErrOffsetOutOfRange, to, end)
	}
	if err := l.saveStart(to); err != nil {
		return err
	}
	l.logStart.Store(int64(to))
	l.epochs.cutStart(to)
	return nil
}

// DeleteBefore removes the segments wholly below off and returns how many; if that would be all, a new one is rolled
// first. The log start offset moves, durably, before files go.
func (l *Log) DeleteBefore(off batch.Offset) (int, error) {
	l.maintain.Lock()
	defer l.maintain.Unlock()
	if err := l.failure(); err != nil {
		return 0, err
	}
	if end := l.LogEndOffset(); off >= end {
		off = end
		if err := l.Roll(); err != nil {
			return 0, err
		}
	}
	list := l.list()
	n := 0
	for n+1 < len(list) && list[n+1].base <= off {
		n++
	}
	if n == 0 {
		return 0, nil
	}
	if err := l.advance(min(list[n].base, l.LogEndOffset())); err != nil {
		return 0, err
	}
	l.write.Lock()
	l.setSegments(slices.Clone(l.list()[n:]))
	l.write.Unlock()
	if err := l.renameAll(list[:n]); err != nil {
		return 0, storageError("delete segment", err)
	}
	for _, s := range list[:n] {
		l.scrap(s)
	}
	if l.hook != nil {
		l.write.Lock()
		defer l.write.Unlock()
		for _, s := range list[:n] {
			l.hook.SegmentRemoved(s.base)
		}
	}
	return n, nil
}

// renameAll renames the files of segments that left the list. It takes the turn to flush, as a flush works on a list of
// its own and may be writing to an index of these.
func (l *Log) renameAll(gone []*segment) error {
	l.flush.take()
	defer l.flush.give()
	for _, s := range gone {
		if err := l.renameDeleted(s); err != nil {
			return err
		}
	}
	return vfs.SyncDir(l.fs, l.Dir())
}

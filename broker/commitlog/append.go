package commitlog

import (
	"fmt"
	"time"

	"github.com/weir-broker/weir/broker/batch"
	"github.com/weir-broker/weir/broker/vfs"
)

// Append writes whole batches at the end: raw is them one after another, hs their headers, offsets and leader epoch
// assigned. A new segment is rolled first where Kafka rolls one. On an error nothing was appended.
func (l *Log) Append(raw []byte, hs []batch.Header) error {
	l.write.Lock()
	defer l.write.Unlock()
	if err := l.failure(); err != nil {
		return err
	}
	if len(hs) == 0 {
		return nil
	}
	c := l.config.Load()
	maxTimestamp, err := l.checkAppend(raw, hs, c)
	if err != nil {
		return err
	}
	first, last := hs[0].BaseOffset, hs[len(hs)-1].LastOffset()
	s := l.active()
	if l.shouldRoll(s, c, len(raw), maxTimestamp, last) {
		if s, err = l.roll(first); err != nil {
			return err
		}
	}
	if !s.fits(last) {
		return fmt.Errorf("%w: offset %d does not fit segment %d", ErrInvalidAppend, last, s.base)
	}
	pos := s.size.Load()
	vfs.Failpoint("commitlog.append.before-write")
	vfs.TearWrite("commitlog.append.torn", s.file, raw, pos)
	if n, err := s.file.WriteAt(raw, pos); err != nil || n < len(raw) {
		if err == nil {
			err = fmt.Errorf("wrote %d of %d bytes", n, len(raw))
		}
		return l.undoWrite(s, pos, storageError("append", err))
	}
	vfs.Failpoint("commitlog.append.after-write")
	at := 0
	for i := range hs {
		h := &hs[i]
		if l.epochs.needs(h.LeaderEpoch, h.BaseOffset) {
			l.epochs.assign(h.LeaderEpoch, h.BaseOffset)
		}
		s.noteAppend(h, pos+int64(at), c.IndexIntervalBytes, c.SegmentIndexBytes)
		if l.hook != nil {
			l.hook.BatchAppended(*h, raw[at:at+h.Size()])
		}
		at += h.Size()
	}
	s.next.Store(int64(last) + 1)
	s.size.Store(pos + int64(len(raw)))
	l.logEnd.Store(int64(last) + 1)
	return nil
}

// checkAppend refuses batches that would break the order of the log, and returns their largest timestamp.
func (l *Log) checkAppend(raw []byte, hs []batch.Header, c *Config) (int64, error) {
	if len(raw) > c.SegmentBytes {
		return 0, fmt.Errorf("%w: %d bytes, at most %d", ErrBatchesTooLarge, len(raw), c.SegmentBytes)
	}
	next, total, maxTimestamp := l.LogEndOffset(), 0, batch.NoTimestamp
	for i := range hs {
		h := &hs[i]
		if h.BaseOffset < next || h.LastOffsetDelta < 0 || h.LastOffset() < h.BaseOffset {
			return 0, fmt.Errorf("%w: offsets %d to %d after %d", ErrInvalidAppend, h.BaseOffset, h.LastOffset(), next)
		}
		next = h.NextOffset()
		total += h.Size()
		maxTimestamp = max(maxTimestamp, h.MaxTimestamp)
	}
	if total != len(raw) {
		return 0, fmt.Errorf("%w: headers speak of %d bytes, there are %d", ErrInvalidAppend, total, len(raw))
	}
	return maxTimestamp, nil
}

// undoWrite cuts what a failed write may have left behind the last batch. If that fails too, nobody knows what the file
// holds, and the log is finished.
func (l *Log) undoWrite(s *segment, size int64, cause error) error {
	if err := s.file.Truncate(size); err != nil {
		return l.fail(fmt.Errorf("%w; cutting it back: %w", cause, err))
	}
	// Until the cut is durable, a crash could bring parts of the lost batch back between later ones.
	if err := s.file.SyncData(); err != nil {
		return l.fail(fmt.Errorf("%w; cutting it back: %w", cause, err))
	}
	return cause
}

// shouldRoll is Kafka's rule: the segment is full, has spanned its time, an index is full, or offsets do not fit.
func (l *Log) shouldRoll(s *segment, c *Config, bytes int, maxTimestamp int64, last batch.Offset) bool {
	size := s.size.Load()
	if size > int64(c.SegmentBytes-bytes) || !s.fits(last) {
		return true
	}
	if size == 0 {
		return false
	}
	if s.idx.Load().full(c.SegmentIndexBytes) {
		return true
	}
	s.loadFirstTimestamp()
	if s.firstTimestamp >= 0 {
		return maxTimestamp-s.firstTimestamp > (c.SegmentAge - s.jitter).Milliseconds()
	}
	return l.now().Sub(s.created) > c.SegmentAge-s.jitter
}

// Roll begins a new segment at the log end; on an empty active segment it does nothing.
func (l *Log) Roll() error {
	l.write.Lock()
	defer l.write.Unlock()
	if err := l.failure(); err != nil {
		return err
	}
	if l.active().size.Load() == 0 {
		return nil
	}
	_, err := l.roll(l.LogEndOffset())
	return err
}

// roll seals the active segment and begins one at base. The caller holds write.
func (l *Log) roll(base batch.Offset) (*segment, error) {
	base = max(base, l.LogEndOffset())
	list := l.list()
	old := list[len(list)-1]
	if old.base >= base {
		return nil, fmt.Errorf("%w: segment %d is there already", ErrInvalidAppend, base)
	}
	vfs.Failpoint("commitlog.roll.begin")
	c := l.config.Load()
	old.finishTimes()
	if err := old.idx.Load().write(l.fs, l.Dir(), old.base, true, false); err != nil {
		return nil, storageError("roll", err)
	}
	if err := l.pinDown(old); err != nil {
		return nil, err
	}
	if c.Compacted {
		// Where offsets may be missing, recovery could not tell a lost tail from a cleaned one.
		if err := old.file.SyncData(); err != nil {
			return nil, l.fail(err)
		}
	}
	if err := l.seal(old); err != nil {
		return nil, err
	}
	s, err := l.createSegment(base, false)
	if err != nil {
		// Its files may be there, now or after a crash. Were the old segment to go on past their base, recovery would
		// take what follows for a broken order and cut it off.
		return nil, l.fail(err)
	}
	l.setSegments(appended(list, s))
	vfs.Failpoint("commitlog.roll.end")
	if l.hook != nil {
		if err := l.hook.Rolled(base); err != nil {
			return nil, storageError("roll", err)
		}
	}
	if l.later != nil {
		l.later(0, func() {
			if err := l.Flush(base); err != nil && l.failure() != ErrClosed {
				l.logger.Error("flushing a rolled segment", "dir", l.Dir(), "segment", int64(old.base), "error", err)
			}
		})
	}
	return s, nil
}

// seal ends a segment. While it was the last one, recovery would have scanned it, and its indexes need not have been
// durable; from now on that comes before the recovery point may stand at its end. Either it stands there already, or the
// flush that moves it sees the seal.
func (l *Log) seal(old *segment) error {
	old.idxUsed.Store(l.now().UnixMilli())
	old.mtime.Store(l.now().UnixMilli())
	old.load.Lock()
	old.sealed.Store(true)
	passed := l.RecoveryPoint() >= old.nextOffset()
	old.load.Unlock()
	if !passed {
		return nil
	}
	if err := old.idx.Load().write(l.fs, l.Dir(), old.base, true, true); err != nil {
		return l.fail(err)
	}
	return nil
}

// pinDown makes sure, before a second segment exists, of what recovery needs to notice that the first one lost its tail or
// its name: the name has to be durable, and there has to be a recovery point. Mostly a flush or an earlier roll saw to it.
func (l *Log) pinDown(old *segment) error {
	if !old.dirSynced.Load() {
		if err := vfs.SyncDir(l.fs, l.Dir()); err != nil {
			return l.fail(err)
		}
		old.dirSynced.Store(true)
	}
	if !l.marked && l.save.recoveryPoint != nil {
		if err := l.save.recoveryPoint(l.RecoveryPoint()); err != nil {
			return storageError("save recovery point", err)
		}
	}
	l.marked = true
	return nil
}

// FlushDue reports whether flush.messages or flush.ms asks for a flush.
func (l *Log) FlushDue(now time.Time) bool {
	unflushed := l.LogEndOffset() - l.RecoveryPoint()
	if unflushed <= 0 {
		return false
	}
	c := l.config.Load()
	return int64(unflushed) >= c.FlushMessages || now.Sub(time.UnixMilli(l.lastFlush.Load())) >= c.FlushInterval
}

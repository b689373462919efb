package commitlog

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/weir-broker/weir/broker/batch"
	"github.com/weir-broker/weir/broker/vfs"
)

// Open loads the log in o.Dir, creating an empty one when there is none, and recovers it after an unclean stop. The
// order is that of Kafka's LogLoader: leftovers of deletions and cleanings, orphaned indexes, the segments, their
// content from the recovery point on, leader epochs, offsets.
func Open(o Options) (*Log, Recovery, error) {
	withDefaults(&o)
	began := o.Now()
	l := &Log{fs: o.FS, hook: o.Hook, now: o.Now, later: o.Later, logger: o.Logger}
	l.flush.freed.L = &l.flush.mu
	l.save.logStart, l.save.recoveryPoint = o.SaveLogStart, o.SaveRecoveryPoint
	l.SetConfig(o.Config)
	l.dir.Store(&o.Dir)
	l.setSegments(nil)
	ld := &loader{l: l, o: &o}
	if err := ld.load(); err != nil {
		for _, s := range ld.list {
			if x := s.idx.Load(); x != nil {
				x.close()
			}
			_ = s.file.Close()
		}
		if errors.Is(err, ErrOldFormat) {
			return nil, ld.found, fmt.Errorf("open %s: %w", o.Dir, err) // the disk is well
		}
		return nil, ld.found, storageError("open "+o.Dir, err)
	}
	ld.found.Took = o.Now().Sub(began)
	if ld.found.Reason != "" {
		l.logger.Warn("log was cut", "dir", o.Dir, "end", int64(l.LogEndOffset()), "bytes", ld.found.TruncatedBytes,
			"segments", ld.found.SegmentsDeleted, "reason", ld.found.Reason)
	}
	return l, ld.found, nil
}

// loader carries the state of Open.
type loader struct {
	l     *Log
	o     *Options
	list  []*segment
	found Recovery
}

func (ld *loader) load() error {
	l, o := ld.l, ld.o
	if o.New {
		s, err := l.createSegment(max(o.LogStartOffset, 0), true)
		if err != nil {
			return err
		}
		ld.list = []*segment{s}
		l.epochs.clear()
		return ld.finish(false)
	}
	if _, err := l.fs.Stat(o.Dir); errors.Is(err, fs.ErrNotExist) {
		if err := l.fs.MkdirAll(o.Dir, 0o755); err != nil {
			return err
		}
		if err := vfs.SyncDir(l.fs, filepath.Dir(o.Dir)); err != nil {
			return err
		}
	}
	if err := ld.clearLeftovers(); err != nil {
		return err
	}
	if err := ld.openSegments(); err != nil {
		return err
	}
	epochsLost := l.epochs.load(l.fs, o.Dir)
	if epochsLost != nil && !errors.Is(epochsLost, fs.ErrNotExist) && !errors.Is(epochsLost, ErrBadCheckpoint) {
		return epochsLost
	}
	clean := o.CleanShutdown && ld.openTail()
	ld.found.Clean = clean
	if !clean {
		if err := ld.recover(); err != nil {
			return err
		}
	}
	if err := ld.dropBelowStart(); err != nil {
		return err
	}
	if epochsLost != nil {
		if err := ld.readEpochs(); err != nil {
			return err
		}
	}
	return ld.finish(clean)
}

// names lists the segment files of the directory by what is put behind their extension.
func (ld *loader) names(fn func(name string, base batch.Offset, ext, suffix string) error) error {
	names, err := ld.l.fs.List(ld.o.Dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if base, ext, suffix, ok := parseSegmentName(name); ok {
			if err := fn(filepath.Join(ld.o.Dir, name), base, ext, suffix); err != nil {
				return err
			}
		}
	}
	return nil
}

// clearLeftovers finishes what was interrupted. A .swap file is complete and replaces the segments whose offsets it
// spans; but if a .cleaned file is left, the cleaning that made both was not done, and swaps from there on go as well.
// Each step is durable before the next, so that a crash in here leaves what the same rules get right.
func (ld *loader) clearLeftovers() error {
	fsys := ld.l.fs
	lowestCleaned := batch.Offset(1<<63 - 1)
	var cleaned, undone, swaps, swapLogs []string
	var bases []batch.Offset
	err := ld.names(func(name string, base batch.Offset, ext, suffix string) error {
		switch suffix {
		case suffixDeleted:
			return fsys.Remove(name)
		case suffixCleaned:
			lowestCleaned = min(lowestCleaned, base)
			cleaned = append(cleaned, name)
		}
		return nil
	})
	if err != nil {
		return err
	}
	err = ld.names(func(name string, base batch.Offset, ext, suffix string) error {
		switch {
		case suffix != suffixSwap:
		case base >= lowestCleaned:
			undone = append(undone, name)
		case ext == extLog:
			swapLogs, bases = append(swapLogs, name), append(bases, base)
		default:
			swaps = append(swaps, name)
		}
		return nil
	})
	if err != nil {
		return err
	}
	// A swap that outlived the last .cleaned would count as complete.
	if err := ld.each(undone, fsys.Remove); err != nil {
		return err
	}
	if err := ld.each(cleaned, fsys.Remove); err != nil {
		return err
	}
	replaced, err := ld.replacedBy(swapLogs, bases)
	if err != nil {
		return err
	}
	rename := func(name string) error { return fsys.Rename(name, name[:len(name)-len(suffixSwap)]) }
	if err := ld.each(replaced, fsys.Remove); err != nil {
		return err
	}
	if err := ld.each(swapLogs, rename); err != nil {
		return err
	}
	return ld.each(swaps, rename)
}

// each does something to each file and makes it durable.
func (ld *loader) each(names []string, do func(name string) error) error {
	for _, name := range names {
		if err := do(name); err != nil {
			return err
		}
	}
	if len(names) == 0 {
		return nil
	}
	return vfs.SyncDir(ld.l.fs, ld.o.Dir)
}

// replacedBy lists the files of the segments that logs waiting to be swapped in, with these bases, take the place of.
func (ld *loader) replacedBy(swapLogs []string, bases []batch.Offset) ([]string, error) {
	if len(swapLogs) == 0 {
		return nil, nil
	}
	from, to := batch.Offset(1<<63-1), batch.Offset(-1)
	for i, name := range swapLogs {
		next, err := ld.endOf(name, bases[i])
		if err != nil {
			return nil, err
		}
		from, to = min(from, bases[i]), max(to, next, bases[i]+1) // a cleaned segment may be empty
	}
	var files []string
	err := ld.names(func(name string, base batch.Offset, _, suffix string) error {
		if suffix == "" && base >= from && base < to {
			files = append(files, name)
		}
		return nil
	})
	return files, err
}

// endOf reads the offset after the last batch of a log file.
func (ld *loader) endOf(name string, base batch.Offset) (batch.Offset, error) {
	f, err := ld.l.fs.Open(name)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return 0, err
	}
	s := newSegment(base, f, ld.o.Now())
	r, err := s.rebuild(st.Size(), ld.o.Config.IndexIntervalBytes, false, nil)
	return r.next, err
}

// openSegments opens every .log, and removes indexes without one.
func (ld *loader) openSegments() error {
	l := ld.l
	logs := map[batch.Offset]bool{}
	err := ld.names(func(_ string, base batch.Offset, ext, suffix string) error {
		if ext == extLog && suffix == "" {
			logs[base] = true
		}
		return nil
	})
	if err != nil {
		return err
	}
	return ld.names(func(name string, base batch.Offset, ext, suffix string) error {
		if suffix != "" {
			return nil
		}
		if !logs[base] {
			l.logger.Warn("removing an index without a log", "file", name)
			return l.fs.Remove(name)
		}
		if ext != extLog {
			return nil
		}
		f, err := l.fs.OpenReadWrite(name)
		if err != nil {
			return err
		}
		s := newSegment(base, f, ld.o.Now())
		ld.list = append(ld.list, s)
		st, err := f.Stat()
		if err != nil {
			return err
		}
		if st.Size() > maxRelative {
			return fmt.Errorf("%s: %d bytes are more than a segment can hold", name, st.Size())
		}
		s.size.Store(st.Size())
		s.mtime.Store(st.ModTime().UnixMilli())
		s.jitter = jitterOf(ld.o.Dir, base, ld.o.Config.SegmentJitter, ld.o.Config.SegmentAge)
		s.dirSynced.Store(ld.o.CleanShutdown || base < ld.o.RecoveryPoint)
		return nil
	})
}

// openTail takes the segments as a clean stop left them. It reports false when the files contradict that.
func (ld *loader) openTail() bool {
	for i, s := range ld.list {
		if i+1 < len(ld.list) {
			if err := ld.openSealed(s, ld.list[i+1].base); err != nil {
				ld.l.logger.Warn("log was not closed cleanly", "dir", ld.o.Dir, "segment", int64(s.base), "error", err)
				return false
			}
			continue
		}
		x, err := loadIndex(ld.l.fs, ld.o.Dir, s.base, s.size.Load())
		if err == nil {
			err = ld.readTail(s, x)
		}
		if err != nil {
			ld.l.logger.Warn("log was not closed cleanly", "dir", ld.o.Dir, "segment", int64(s.base), "error", err)
			return false
		}
		s.idx.Store(x)
	}
	return true
}

// readTail reads the batches behind the last index entry, to learn where the segment ends.
func (ld *loader) readTail(s *segment, x *index) error {
	pos, next, entryRel := int64(0), s.base, uint32(0)
	es := x.offsets.view()
	if len(es) > 0 {
		last := es[len(es)-1]
		pos, entryRel = int64(last.pos), last.rel
	}
	if e, ok := x.lastTime(); ok {
		s.maxTimestamp.Store(e.ts)
		s.maxTimestampRel = e.rel
	}
	sc := newScanner(s.file, pos, s.size.Load(), headerChunk)
	defer sc.close()
	for first := true; ; first = false {
		h, err := sc.next()
		if err == io.EOF {
			s.next.Store(int64(next))
			return nil
		}
		if err == nil {
			err = s.inOrder(&h, next)
		}
		if err == nil && first && len(es) > 0 && s.rel(h.LastOffset()) != int64(entryRel) {
			err = errBadIndex
		}
		if err != nil {
			return err
		}
		if h.MaxTimestamp > s.maxTimestamp.Load() {
			s.maxTimestamp.Store(h.MaxTimestamp)
			s.maxTimestampRel = uint32(s.rel(h.LastOffset()))
		}
		sc.skip(&h)
		next = h.NextOffset()
	}
}

// openSealed prepares a segment that is followed by another and need not be scanned. Its indexes stay on disk; they are
// rebuilt now if they are missing, or do not reach to the end as they do once they are durable.
func (ld *loader) openSealed(s *segment, next batch.Offset) error {
	s.sealed.Store(true)
	x, err := loadIndex(ld.l.fs, ld.o.Dir, s.base, s.size.Load())
	if err == nil {
		err = ld.readTail(s, x)
	}
	if err == nil {
		if e, ok := x.lastTime(); s.maxTimestamp.Load() >= 0 && (!ok || e.ts < s.maxTimestamp.Load()) {
			err = fmt.Errorf("%w: time index ends early", errBadIndex)
		}
	}
	switch {
	case err == nil:
		ld.reportMissing(batch.Offset(s.next.Load()), next)
		s.next.Store(int64(next))
		return nil
	case errors.Is(err, errBadIndex), errors.Is(err, errInvalidBatch), errors.Is(err, fs.ErrNotExist):
	default:
		return err
	}
	ld.l.logger.Warn("rebuilding the indexes of a segment", "dir", ld.o.Dir, "segment", int64(s.base), "error", err)
	r, err := s.rebuild(s.size.Load(), ld.o.Config.IndexIntervalBytes, false, nil)
	if err != nil {
		return err
	}
	if r.reason != nil {
		// It was whole once, so this is damage. Cutting would make it larger: what can be read is served, the rest is an
		// error to its readers.
		ld.l.logger.Error("segment is damaged", "dir", ld.o.Dir, "segment", int64(s.base), "error", r.reason)
	}
	ld.found.IndexesRebuilt++
	s.maxTimestamp.Store(r.maxTimestamp)
	if err := r.idx.write(ld.l.fs, ld.o.Dir, s.base, true, true); err != nil {
		return err
	}
	r.idx.close()
	ld.reportMissing(r.next, next)
	s.next.Store(int64(next))
	return nil
}

// reportMissing says that the records of [from, to), which lie below the recovery point, are not there: a segment's file
// was lost, emptied or cut. Consumers skip the hole without noticing, so the operator must hear of it. In a topic that
// is compacted holes are what a cleaner leaves.
func (ld *loader) reportMissing(from, to batch.Offset) {
	if from >= to || ld.o.Config.Compacted {
		return
	}
	ld.found.Missing += int64(to - from)
	ld.l.logger.Error("records are missing", "dir", ld.o.Dir, "from", int64(from), "to", int64(to),
		"fix", "stop, put the segment files of these offsets back from a copy, start again; without one they are lost (if the topic was compacted once, nothing is)")
}

// recover reads every batch from the segment that holds the recovery point on, and cuts the log at the first that is not
// whole, valid and in order.
func (ld *loader) recover() error {
	if err := ld.finishDeletion(); err != nil {
		return err
	}
	first := max(floor(ld.list, max(ld.o.RecoveryPoint, 0)), 0)
	for i, s := range ld.list {
		if i < first {
			if err := ld.openSealed(s, ld.list[i+1].base); err != nil {
				return err
			}
		}
	}
	for i := first; i < len(ld.list); i++ {
		cut, err := ld.recoverSegment(i)
		if err != nil || cut {
			return err
		}
	}
	return nil
}

// finishDeletion removes the segments wholly below the log start. A crash in the middle of removing them leaves any
// subset, and holes between them must not be taken for lost tails.
func (ld *loader) finishDeletion() error {
	n := max(floor(ld.list, ld.o.LogStartOffset), 0)
	for _, s := range ld.list[:n] {
		if err := ld.l.renameDeleted(s); err != nil {
			return err
		}
		ld.l.scrap(s)
	}
	ld.list = ld.list[n:]
	return nil
}

// recoverSegment scans one segment and cuts the log behind its last good batch if there is a reason to.
func (ld *loader) recoverSegment(i int) (cut bool, err error) {
	l, s := ld.l, ld.list[i]
	size := s.size.Load()
	r, err := s.rebuild(size, ld.o.Config.IndexIntervalBytes, true, func(h *batch.Header) {
		if last, ok := l.epochs.latest(); h.LeaderEpoch >= 0 && (!ok || h.LeaderEpoch > last.Epoch) {
			l.epochs.assign(h.LeaderEpoch, h.BaseOffset)
		}
	})
	if err != nil {
		return false, err
	}
	ld.found.SegmentsScanned++
	ld.found.BytesScanned += size
	reason := r.reason
	if reason == nil && i+1 < len(ld.list) && ld.lostTail(r.next, ld.list[i+1].base) {
		reason = fmt.Errorf("segment %d ends at offset %d, the next begins at %d", s.base, r.next, ld.list[i+1].base)
	}
	if reason == nil {
		s.adopt(&r)
		s.sealed.Store(i+1 < len(ld.list))
		if err := r.idx.write(l.fs, ld.o.Dir, s.base, true, false); err != nil {
			return false, err
		}
		if s.sealed.Load() {
			s.next.Store(int64(ld.list[i+1].base))
		}
		return false, nil
	}
	ld.found.Reason = reason.Error()
	ld.found.TruncatedBytes = size - r.valid
	// Before the cut, and from the last one on: no crash in between may leave a segment behind a hole.
	if err := ld.dropFrom(i + 1); err != nil {
		return false, err
	}
	vfs.Failpoint("commitlog.recover.before-truncate")
	if err := s.file.Truncate(r.valid); err != nil {
		return false, err
	}
	if err := s.file.SyncData(); err != nil {
		return false, err
	}
	s.adopt(&r)
	return true, r.idx.write(l.fs, ld.o.Dir, s.base, true, false)
}

// lostTail is whether offsets are missing between the end of a scanned segment and the base of the next. In a log that is
// not compacted that is the tail of the first, lost although the second reached the disk; below the recovery point it
// is what a cleaner left, when the topic was compacted once.
func (ld *loader) lostTail(end, nextBase batch.Offset) bool {
	return end > nextBase ||
		end < nextBase && !ld.o.Config.Compacted && ld.o.RecoveryPoint >= 0 && nextBase > ld.o.RecoveryPoint
}

// dropFrom removes the segments from i on, the last one first, each durably.
func (ld *loader) dropFrom(i int) error {
	for n := len(ld.list); n > i; n = len(ld.list) {
		s := ld.list[n-1]
		if err := ld.l.renameDeleted(s); err != nil {
			return err
		}
		if err := vfs.SyncDir(ld.l.fs, ld.o.Dir); err != nil {
			return err
		}
		ld.list = ld.list[:n-1]
		ld.found.SegmentsDeleted++
		ld.l.scrap(s)
	}
	return nil
}

// dropBelowStart starts over at the log start offset when the log ends before it: its files were lost.
func (ld *loader) dropBelowStart() error {
	if n := len(ld.list); n > 0 && ld.list[n-1].nextOffset() < ld.o.LogStartOffset {
		ld.found.Reason = fmt.Sprintf("log ends at offset %d, before its start %d", ld.list[n-1].nextOffset(), ld.o.LogStartOffset)
		if err := ld.dropFrom(0); err != nil {
			return err
		}
		ld.l.epochs.clear()
	}
	if len(ld.list) > 0 {
		return nil
	}
	s, err := ld.l.createSegment(max(ld.o.LogStartOffset, 0), false)
	if err != nil {
		return err
	}
	ld.list = append(ld.list, s)
	return nil
}

// readEpochs builds the leader epochs from the batches when their file is gone.
func (ld *loader) readEpochs() error {
	l := ld.l
	l.epochs.clear()
	for _, s := range ld.list {
		_, err := s.rebuild(s.size.Load(), ld.o.Config.IndexIntervalBytes, false, func(h *batch.Header) {
			if last, ok := l.epochs.latest(); h.LeaderEpoch >= 0 && (!ok || h.LeaderEpoch > last.Epoch) {
				l.epochs.assign(h.LeaderEpoch, h.BaseOffset)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// finish publishes what was loaded.
func (ld *loader) finish(clean bool) error {
	l, o := ld.l, ld.o
	active := ld.list[len(ld.list)-1]
	active.sealed.Store(false)
	end := active.nextOffset()
	start := max(o.LogStartOffset, ld.list[0].base)
	recoveryPoint := min(max(o.RecoveryPoint, 0), end)
	if clean {
		recoveryPoint = end
	}
	if o.RecoveryPoint > end && l.save.recoveryPoint != nil {
		// Left as it is, the mark would vouch for what is appended from here on.
		if err := l.save.recoveryPoint(end); err != nil {
			return err
		}
	}
	l.marked = o.RecoveryPoint >= 0
	if !l.marked && len(ld.list) > 1 && l.save.recoveryPoint != nil {
		if err := l.save.recoveryPoint(recoveryPoint); err != nil {
			return err
		}
		l.marked = true
	}
	l.epochs.cutEnd(end)
	if o.LogStartOffset >= 0 {
		l.epochs.cutStart(o.LogStartOffset)
	}
	l.setSegments(ld.list)
	l.logStart.Store(int64(start))
	l.logEnd.Store(int64(end))
	l.recovery.Store(int64(recoveryPoint))
	l.lastFlush.Store(l.now().UnixMilli())
	return nil
}

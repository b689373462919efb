package commitlog

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/weir-broker/weir/broker/batch"
	"github.com/weir-broker/weir/broker/vfs"
)

// swapIn puts a cleaned segment in the place of the neighbouring segments it was made from:
//
//	all *.cleaned are durable             a crash from here on: they go
//	rename to *.swap, sync the directory  from here on: Open finishes what follows
//	the list of segments changes          readers see the new segment
//	rename the old to *.deleted, sync     else the new one could come to lie beside some of them
//	rename .log.swap to .log, sync        else Open could take the other new files for old ones
//	rename the rest, sync
//
// The caller holds no lock.
func (l *Log) swapIn(r *round, group []*segment, s *segment) error {
	l.maintain.Lock()
	defer l.maintain.Unlock()
	if err := r.goOn(0); err != nil {
		return err
	}
	list := l.list()
	at := slices.Index(list, group[0])
	if at < 0 || at+len(group) >= len(list) || !slices.Equal(list[at:at+len(group)], group) {
		return fmt.Errorf("%w: segments were deleted", ErrCleaningAborted)
	}
	if !r.saved && l.save.recoveryPoint != nil {
		// A hole behind the recovery point that the next Open knows would be taken for a lost tail, should the topic not be
		// compacted any more by then.
		if err := l.save.recoveryPoint(l.RecoveryPoint()); err != nil {
			return storageError("save recovery point", err)
		}
	}
	r.saved = true
	d, err := l.fs.OpenDir(l.Dir()) // before anything is renamed: there may be no file descriptor left
	if err != nil {
		return cleanError("clean", err)
	}
	defer d.Close()
	vfs.Failpoint("commitlog.clean.before-swap")
	// From here on the files are not what .cleaned ones are; s.dirSynced says so.
	s.dirSynced.Store(true)
	if err := l.renameSegment(s.base, suffixCleaned, suffixSwap, segmentExts[:]); err != nil {
		return l.end(err)
	}
	if err := d.Sync(); err != nil {
		return l.end(err)
	}
	vfs.Failpoint("commitlog.clean.swap-named")
	for _, old := range group {
		old.replaced.Store(true)
	}
	l.write.Lock()
	list = l.list()
	l.setSegments(slices.Concat(list[:at], []*segment{s}, list[at+len(group):]))
	l.write.Unlock()
	if err := l.finishSwap(d, group, s.base); err != nil {
		return l.end(err)
	}
	s.pinned.Store(false)
	r.res.Segments += len(group)
	r.res.Written++
	for _, old := range group {
		l.scrap(old)
	}
	if l.hook != nil {
		l.write.Lock()
		defer l.write.Unlock()
		for _, old := range group {
			if old.base != s.base {
				l.hook.SegmentRemoved(old.base)
			}
		}
	}
	return nil
}

// finishSwap removes the old names and gives the new files theirs. It takes the turn to flush, as a flush works on a
// list of its own and may be writing to an index of the old segments.
func (l *Log) finishSwap(d vfs.File, group []*segment, base batch.Offset) error {
	l.flush.take()
	defer l.flush.give()
	for _, old := range group {
		if err := l.renameDeleted(old); err != nil {
			return err
		}
	}
	if err := d.Sync(); err != nil {
		return err
	}
	vfs.Failpoint("commitlog.clean.old-removed")
	if err := l.renameSegment(base, suffixSwap, "", segmentExts[:1]); err != nil {
		return err
	}
	if err := d.Sync(); err != nil {
		return err
	}
	vfs.Failpoint("commitlog.clean.log-renamed")
	if err := l.renameSegment(base, suffixSwap, "", segmentExts[1:]); err != nil {
		return err
	}
	return d.Sync()
}

// renameSegment changes what is behind the names of a segment's files.
func (l *Log) renameSegment(base batch.Offset, from, to string, exts []string) error {
	for _, ext := range exts {
		name := segmentPath(l.Dir(), base, ext)
		if err := l.fs.Rename(name+from, name+to); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

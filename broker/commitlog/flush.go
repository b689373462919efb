package commitlog

import (
	"sync"

	"github.com/weir-broker/weir/broker/batch"
	"github.com/weir-broker/weir/broker/vfs"
)

// flushTurn is the turn to flush. Whoever has it flushes for all that wait: each of them looks again before it takes the
// turn itself, and mostly finds its offset durable.
type flushTurn struct {
	mu    sync.Mutex
	freed sync.Cond // its L is mu
	busy  bool
}

func (t *flushTurn) take() {
	t.mu.Lock()
	for t.busy {
		t.freed.Wait()
	}
	t.busy = true
	t.mu.Unlock()
}

// takeUnless waits for the turn, but gives up as soon as done reports true.
func (t *flushTurn) takeUnless(done func() bool) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for !done() {
		if !t.busy {
			t.busy = true
			return true
		}
		t.freed.Wait()
	}
	return false
}

func (t *flushTurn) give() {
	t.mu.Lock()
	t.busy = false
	t.mu.Unlock()
	t.freed.Broadcast()
}

// Flush makes everything below upTo durable. Concurrent calls share one fdatasync.
func (l *Log) Flush(upTo batch.Offset) error {
	upTo = min(upTo, l.LogEndOffset())
	mine := l.flush.takeUnless(func() bool { return l.RecoveryPoint() >= upTo || l.failure() != nil })
	if !mine {
		if l.RecoveryPoint() >= upTo {
			return nil
		}
		return l.failure()
	}
	defer l.flush.give()
	if err := l.failure(); err != nil {
		return err
	}
	if err := l.flushSegments(upTo); err != nil {
		// A failed fsync may have dropped the pages it was for: trying again would succeed and prove nothing.
		return l.fail(err)
	}
	return nil
}

// flushSegments makes the segments that hold [RecoveryPoint, upTo) durable, and moves the recovery point to the end of
// what it found in them. The caller has the turn.
func (l *Log) flushSegments(upTo batch.Offset) (err error) {
	from, list := l.RecoveryPoint(), l.list()
	reached, syncDir := from, false
	var created []*index // whose files have no durable name yet
	defer func() {
		if err != nil { // another attempt, if there is one, has to make them so
			for _, x := range created {
				x.created.Store(true)
			}
		}
	}()
	var open *segment // written while it was the active one
	for i := max(floor(list, from), 0); i < len(list) && (list[i].base < upTo); i++ {
		s := list[i]
		end := s.nextOffset() // before the sync: what is appended meanwhile waits for the next one
		gap := i+1 < len(list) && list[i+1].base > end
		if i+1 < len(list) {
			end = list[i+1].base
		}
		if end <= from && s.dirSynced.Load() {
			continue
		}
		if s.sealed.Load() {
			if err := l.finishSealed(s); err != nil {
				return err
			}
		} else {
			open = s
			if err := s.idx.Load().write(l.fs, l.Dir(), s.base, false, false); err != nil {
				return err
			}
		}
		vfs.Failpoint("commitlog.flush.before-sync")
		if err := s.file.SyncData(); err != nil {
			return err
		}
		if x := s.idx.Load(); x != nil && x.created.Swap(false) {
			created, syncDir = append(created, x), true
		}
		reached, syncDir = max(reached, end), syncDir || !s.dirSynced.Load()
		if gap && !list[i+1].dirSynced.Load() {
			syncDir = true // only the next segment's name says that the log goes on behind the gap
		}
	}
	if err := l.epochs.save(l.fs, l.Dir()); err != nil {
		return err
	}
	if syncDir {
		vfs.Failpoint("commitlog.flush.before-dir-sync")
		if err := vfs.SyncDir(l.fs, l.Dir()); err != nil {
			return err
		}
		for _, s := range list {
			s.dirSynced.Store(true) // a segment begun since is not in list
		}
	}
	l.lastFlush.Store(l.now().UnixMilli())
	return l.moveRecoveryPoint(reached, open)
}

// finishSealed makes the indexes of a segment durable that is not scanned once the recovery point has passed it.
func (l *Log) finishSealed(s *segment) error {
	if l.config.Load().Preallocate {
		if err := s.file.Truncate(s.size.Load()); err != nil { // gives back the blocks it did not need
			return err
		}
	}
	x := s.idx.Load()
	if x == nil {
		return nil // read from the files
	}
	if err := x.write(l.fs, l.Dir(), s.base, true, true); err != nil {
		return err
	}
	x.close()
	return nil
}

// moveRecoveryPoint moves the recovery point forward. If open was sealed since it was written, its indexes come first.
func (l *Log) moveRecoveryPoint(to batch.Offset, open *segment) error {
	if open == nil {
		l.recovery.Store(int64(to))
		return nil
	}
	open.load.Lock()
	defer open.load.Unlock()
	if open.sealed.Load() {
		if err := l.finishSealed(open); err != nil {
			return err
		}
	}
	l.recovery.Store(int64(to))
	return nil
}

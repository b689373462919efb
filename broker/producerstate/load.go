package producerstate

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/weir-broker/weir/broker/batch"
	"github.com/weir-broker/weir/broker/vfs"
)

// Log is what Load needs of the log it rebuilds the state from.
type Log struct {
	// Start and End are the log start and log end offsets.
	Start, End batch.Offset
	// Segments are the base offsets of the segments, ascending.
	Segments []batch.Offset
	// Batches calls fn for each batch that holds an offset of [from, to), in
	// order. raw is valid during the call only.
	Batches func(from, to batch.Offset, fn func(h batch.Header, raw []byte) error) error
}

// Load brings the state to the end of the log: when a partition is opened and
// again whenever its log was truncated. Snapshots above the end or at and
// below the start are removed, the newest usable one is read, a damaged one
// is removed in favour of the one before it, and the log is replayed from
// there. Snapshots are left at the last two segment bases that were passed and
// at the end, so that the next truncation need not read far.
func (s *State) Load(log Log, now time.Time) error {
	if err := s.removeStray(log.Segments); err != nil {
		return err
	}
	// An empty state cannot come to hold producers by losing the log's tail.
	empty := len(s.producers) == 0 && len(s.unreplicated) == 0 && s.mapEnd >= log.End
	if err := s.removeSnapshots(func(o batch.Offset) bool { return o > log.End || o <= log.Start }); err != nil {
		return err
	}
	if log.End != s.mapEnd {
		s.clear()
		if err := s.loadSnapshot(log.Start, now); err != nil {
			return err
		}
	} else {
		s.LogStartAdvanced(log.Start)
	}
	if log.End > s.mapEnd && !empty {
		if err := s.replay(log); err != nil {
			return err
		}
	}
	s.mapEnd = log.End
	return s.Snapshot(true)
}

func (s *State) replay(log Log) error {
	apply := func(h batch.Header, raw []byte) error {
		s.Apply(&h, raw)
		return nil
	}
	s.mapEnd = max(s.mapEnd, log.Start)
	for _, base := range log.Segments[max(0, len(log.Segments)-2):] {
		if base < s.mapEnd {
			continue
		}
		if base > s.mapEnd {
			if err := log.Batches(s.mapEnd, base, apply); err != nil {
				return fmt.Errorf("replay producers to %d: %w", base, err)
			}
			s.mapEnd = base
		}
		if err := s.Snapshot(false); err != nil {
			return err
		}
	}
	if err := log.Batches(s.mapEnd, log.End, apply); err != nil {
		return fmt.Errorf("replay producers to %d: %w", log.End, err)
	}
	return nil
}

func (s *State) clear() {
	clear(s.producers)
	s.ongoing = s.ongoing[:0]
	s.unreplicated = s.unreplicated[:0]
}

// loadSnapshot fills the cleared state from the newest snapshot that can be
// used. Producers that expired meanwhile are left out.
func (s *State) loadSnapshot(logStart batch.Offset, now time.Time) error {
	for len(s.snapshots) > 0 {
		offset := s.snapshots[len(s.snapshots)-1]
		name := filepath.Join(s.dir, FileName(offset))
		entries, err := s.read(name)
		if errors.Is(err, ErrCorruptSnapshot) {
			s.log.Warn("producer snapshot is not usable, taking the one before", "file", name, "err", err)
			if err := s.RemoveSnapshot(offset); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return err
		}
		for i := range entries {
			s.restore(&entries[i])
		}
		for id, p := range s.producers {
			if s.expired(p, now) {
				delete(s.producers, id)
			} else if p.txnFirst != noOffset {
				s.begin(transaction{producer: id, firstOffset: p.txnFirst, lastOffset: noOffset})
			}
		}
		s.snapEnd, s.mapEnd = offset, offset
		return nil
	}
	s.snapEnd, s.mapEnd = logStart, logStart
	return nil
}

func (s *State) read(name string) ([]SnapshotEntry, error) {
	raw, err := vfs.ReadFile(s.fs, name, maxSnapshotLen)
	if errors.Is(err, vfs.ErrFileTooLarge) {
		return nil, fmt.Errorf("%w: %w", ErrCorruptSnapshot, err)
	}
	if err != nil {
		return nil, err
	}
	return DecodeSnapshot(raw)
}

// removeStray deletes the snapshots that belong to no segment, except the
// newest of them if it lies above all segment bases: that one is of the last
// clean shutdown.
func (s *State) removeStray(bases []batch.Offset) error {
	newest := batch.Offset(-1)
	for _, offset := range s.snapshots {
		if !slices.Contains(bases, offset) {
			newest = offset
		}
	}
	highest := batch.Offset(-1)
	if len(bases) > 0 {
		highest = bases[len(bases)-1]
	}
	return s.removeSnapshots(func(o batch.Offset) bool {
		return !slices.Contains(bases, o) && (o != newest || o < highest)
	})
}

// TruncateFully empties the state for a log that was emptied and goes on at
// offset.
func (s *State) TruncateFully(offset batch.Offset) error {
	s.clear()
	s.mapEnd, s.snapEnd = offset, 0
	return s.removeSnapshots(func(batch.Offset) bool { return true })
}

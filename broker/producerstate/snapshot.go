package producerstate

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/weir-broker/weir/broker/batch"
	"github.com/weir-broker/weir/broker/policy"
	"github.com/weir-broker/weir/broker/vfs"
)

// Suffix ends the names of snapshot files.
const Suffix = ".snapshot"

const (
	snapshotVersion    = 1
	snapshotHeaderLen  = 10
	snapshotEntryLen   = 46
	snapshotCRCFrom    = 6
	snapshotNameDigits = 20
	// maxSnapshotLen bounds what is read into memory: 20 million producers.
	maxSnapshotLen = 1 << 30
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// FileName returns the name of the snapshot that describes everything below
// offset.
func FileName(offset batch.Offset) string {
	return fmt.Sprintf("%0*d%s", snapshotNameDigits, int64(offset), Suffix)
}

// ParseFileName is the inverse of FileName.
func ParseFileName(name string) (batch.Offset, bool) {
	digits, ok := strings.CutSuffix(name, Suffix)
	if !ok || len(digits) != snapshotNameDigits || strings.Trim(digits, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	return batch.Offset(n), err == nil
}

// SnapshotEntry is one producer in a snapshot file.
type SnapshotEntry struct {
	ProducerID    batch.ProducerID
	ProducerEpoch batch.ProducerEpoch
	LastSequence  int32 // -1 when only a marker is known
	LastOffset    batch.Offset
	// OffsetDelta is LastOffset minus the base offset of the last batch.
	OffsetDelta      int32
	Timestamp        int64 // ms, of the last batch or marker
	CoordinatorEpoch int32
	TxnFirstOffset   batch.Offset // -1 without an open transaction
}

// checksum is over everything behind itself.
func checksum(raw []byte) uint32 { return crc32.Checksum(raw[snapshotCRCFrom:], castagnoli) }

// EncodeSnapshot returns the bytes of a snapshot file.
func EncodeSnapshot(entries []SnapshotEntry) []byte {
	out := make([]byte, snapshotHeaderLen, snapshotHeaderLen+len(entries)*snapshotEntryLen)
	binary.BigEndian.PutUint16(out, snapshotVersion)
	binary.BigEndian.PutUint32(out[6:], uint32(len(entries)))
	for i := range entries {
		e := &entries[i]
		out = binary.BigEndian.AppendUint64(out, uint64(e.ProducerID))
		out = binary.BigEndian.AppendUint16(out, uint16(e.ProducerEpoch))
		out = binary.BigEndian.AppendUint32(out, uint32(e.LastSequence))
		out = binary.BigEndian.AppendUint64(out, uint64(e.LastOffset))
		out = binary.BigEndian.AppendUint32(out, uint32(e.OffsetDelta))
		out = binary.BigEndian.AppendUint64(out, uint64(e.Timestamp))
		out = binary.BigEndian.AppendUint32(out, uint32(e.CoordinatorEpoch))
		out = binary.BigEndian.AppendUint64(out, uint64(e.TxnFirstOffset))
	}
	binary.BigEndian.PutUint32(out[2:], checksum(out))
	return out
}

// DecodeSnapshot reads the bytes of a snapshot file. Errors wrap
// ErrCorruptSnapshot.
func DecodeSnapshot(raw []byte) ([]SnapshotEntry, error) {
	if len(raw) < snapshotHeaderLen {
		return nil, fmt.Errorf("%w: %d bytes are less than a header", ErrCorruptSnapshot, len(raw))
	}
	if v := binary.BigEndian.Uint16(raw); v != snapshotVersion {
		return nil, fmt.Errorf("%w: version %d", ErrCorruptSnapshot, v)
	}
	stored, computed := binary.BigEndian.Uint32(raw[2:]), checksum(raw)
	if stored != computed {
		return nil, fmt.Errorf("%w: checksum %08x, content has %08x", ErrCorruptSnapshot, stored, computed)
	}
	count := int64(int32(binary.BigEndian.Uint32(raw[6:])))
	if count < 0 || count*snapshotEntryLen > int64(len(raw)-snapshotHeaderLen) {
		return nil, fmt.Errorf("%w: %d entries in %d bytes", ErrCorruptSnapshot, count, len(raw))
	}
	entries := make([]SnapshotEntry, count)
	for i := range entries {
		b := raw[snapshotHeaderLen+i*snapshotEntryLen:]
		entries[i] = SnapshotEntry{
			ProducerID:       batch.ProducerID(binary.BigEndian.Uint64(b)),
			ProducerEpoch:    batch.ProducerEpoch(binary.BigEndian.Uint16(b[8:])),
			LastSequence:     int32(binary.BigEndian.Uint32(b[10:])),
			LastOffset:       batch.Offset(binary.BigEndian.Uint64(b[14:])),
			OffsetDelta:      int32(binary.BigEndian.Uint32(b[22:])),
			Timestamp:        int64(binary.BigEndian.Uint64(b[26:])),
			CoordinatorEpoch: int32(binary.BigEndian.Uint32(b[34:])),
			TxnFirstOffset:   batch.Offset(binary.BigEndian.Uint64(b[38:])),
		}
	}
	return entries, nil
}

// entries returns the state in the form of a snapshot, ascending by id.
func (s *State) entries() []SnapshotEntry {
	out := make([]SnapshotEntry, 0, len(s.producers))
	for id, p := range s.producers {
		e := SnapshotEntry{
			ProducerID:       id,
			ProducerEpoch:    batch.ProducerEpoch(p.epoch),
			LastSequence:     policy.NoSequence,
			LastOffset:       noOffset,
			Timestamp:        p.lastTimestamp,
			CoordinatorEpoch: p.coordinatorEpoch,
			TxnFirstOffset:   p.txnFirst,
		}
		if p.count > 0 {
			b := &p.batches[p.count-1]
			e.LastSequence = b.LastSequence
			e.LastOffset = batch.Offset(b.LastOffset)
			e.OffsetDelta = int32(b.LastOffset - b.BaseOffset)
		}
		out = append(out, e)
	}
	slices.SortFunc(out, func(a, b SnapshotEntry) int {
		switch {
		case a.ProducerID < b.ProducerID:
			return -1
		case a.ProducerID > b.ProducerID:
			return 1
		}
		return 0
	})
	return out
}

// restore is the inverse of entries; only the last batch of a producer
// survives a snapshot.
func (s *State) restore(e *SnapshotEntry) {
	p := &producer{
		epoch:            int16(e.ProducerEpoch),
		coordinatorEpoch: e.CoordinatorEpoch,
		lastTimestamp:    e.Timestamp,
		txnFirst:         max(e.TxnFirstOffset, noOffset),
	}
	if e.LastOffset >= 0 {
		p.batches[0] = policy.ProducerBatch{
			FirstSequence: batch.DecrementSequence(e.LastSequence, e.OffsetDelta),
			LastSequence:  e.LastSequence,
			BaseOffset:    int64(e.LastOffset) - int64(e.OffsetDelta),
			LastOffset:    int64(e.LastOffset),
			Timestamp:     e.Timestamp,
		}
		p.count = 1
	}
	s.producers[e.ProducerID] = p
}

// Roll writes the snapshot of a segment that begins at base, which is the log
// end. It is not made durable: it costs replay time if it is lost.
func (s *State) Roll(base batch.Offset) error {
	s.mapEnd = max(s.mapEnd, base)
	return s.Snapshot(false)
}

// Snapshot writes the state up to End if the newest snapshot is older than
// that. sync makes it durable before it returns; without, a crash may leave a
// file that Load skips.
func (s *State) Snapshot(sync bool) error {
	if s.mapEnd <= s.snapEnd {
		return nil
	}
	name := filepath.Join(s.dir, FileName(s.mapEnd))
	if err := s.write(name, EncodeSnapshot(s.entries()), sync); err != nil {
		return fmt.Errorf("producer snapshot %s: %w", name, err)
	}
	if i, ok := slices.BinarySearch(s.snapshots, s.mapEnd); !ok {
		s.snapshots = slices.Insert(s.snapshots, i, s.mapEnd)
	}
	s.snapEnd = s.mapEnd
	return nil
}

func (s *State) write(name string, content []byte, sync bool) error {
	f, err := s.fs.Create(name)
	if err != nil {
		return err
	}
	if _, err := f.WriteAt(content, 0); err != nil {
		_ = f.Close()
		_ = s.fs.Remove(name) // a torn one would only be skipped later
		return err
	}
	if sync {
		if err := f.Sync(); err != nil {
			_ = f.Close()
			return err
		}
	}
	if err := f.Close(); err != nil {
		return err
	}
	if sync {
		return vfs.SyncDir(s.fs, s.dir)
	}
	return nil
}

func (s *State) listSnapshots() error {
	names, err := s.fs.List(s.dir)
	if err != nil {
		return fmt.Errorf("producer snapshots in %s: %w", s.dir, err)
	}
	s.snapshots = s.snapshots[:0]
	for _, name := range names {
		if offset, ok := ParseFileName(name); ok {
			s.snapshots = append(s.snapshots, offset)
		}
	}
	slices.Sort(s.snapshots)
	return nil
}

// Snapshots returns the offsets of the snapshot files, ascending.
func (s *State) Snapshots() []batch.Offset { return slices.Clone(s.snapshots) }

func (s *State) newestSnapshotOr(otherwise batch.Offset) batch.Offset {
	if n := len(s.snapshots); n > 0 {
		return s.snapshots[n-1]
	}
	return otherwise
}

// removeSnapshots deletes the files of the offsets that match.
func (s *State) removeSnapshots(match func(batch.Offset) bool) error {
	var first error
	s.snapshots = slices.DeleteFunc(s.snapshots, func(offset batch.Offset) bool {
		if !match(offset) {
			return false
		}
		err := s.fs.Remove(filepath.Join(s.dir, FileName(offset)))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			if first == nil {
				first = fmt.Errorf("remove producer snapshot: %w", err)
			}
			return false
		}
		return true
	})
	return first
}

// RemoveSnapshot deletes the snapshot of a segment that was removed.
func (s *State) RemoveSnapshot(base batch.Offset) error {
	return s.removeSnapshots(func(offset batch.Offset) bool { return offset == base })
}

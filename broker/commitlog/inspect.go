package commitlog

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/weir-broker/weir/broker/batch"
	"github.com/weir-broker/weir/broker/vfs"
)

// This file reads files of a log that nobody else has open, for people who look at them: `weir log dump`.

// ErrInvalidFile is returned for a file whose content is not what its name promises.
var ErrInvalidFile = errors.New("invalid content")

// IndexEntry is an entry of an offset index: the batch at Position ends with Offset.
type IndexEntry struct {
	Offset   batch.Offset
	Position int64
}

// TimeIndexEntry is an entry of a time index: Timestamp, in milliseconds, is the largest up to the batch that ends with
// Offset.
type TimeIndexEntry struct {
	Timestamp int64
	Offset    batch.Offset
}

// AbortedTxn is an entry of a transaction index (KIP-98). All offsets are inclusive but LastStableOffset.
type AbortedTxn struct {
	ProducerID              batch.ProducerID
	FirstOffset, LastOffset batch.Offset
	LastStableOffset        batch.Offset
}

// abortedTxnLen is int16 version 0 and four int64.
const abortedTxnLen = 2 + 4*8

// FileKind says what a file in a partition's folder is.
type FileKind int8

const (
	FileUnknown FileKind = iota
	FileLog
	FileOffsetIndex
	FileTimeIndex
	FileTxnIndex
	FileEpochs
	FileTopicID
)

// KindOfFile tells by its name what a file is, and for those of a segment its base offset. Files that wait to be removed
// or swapped in count as what they are.
func KindOfFile(name string) (FileKind, batch.Offset) {
	name = filepath.Base(name)
	switch name {
	case epochFile:
		return FileEpochs, 0
	case topicIDFile:
		return FileTopicID, 0
	}
	base, ext, _, ok := parseSegmentName(name)
	if !ok {
		return FileUnknown, 0
	}
	switch ext {
	case extLog:
		return FileLog, base
	case extIndex:
		return FileOffsetIndex, base
	case extTimeIndex:
		return FileTimeIndex, base
	}
	return FileTxnIndex, base
}

// WalkFile calls fn for each batch of a .log file. raw is valid during the call; its CRC is not checked. The result is
// the position up to which there are whole batches. What lies behind is described by an error that wraps ErrInvalidFile.
func WalkFile(fsys vfs.FS, name string, fn func(pos int64, h batch.Header, raw []byte) error) (int64, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return 0, err
	}
	s := newScanner(f, 0, st.Size(), scanChunk)
	defer s.close()
	for {
		h, err := s.next()
		if errors.Is(err, io.EOF) {
			return s.pos, nil
		}
		var raw []byte
		if err == nil {
			raw, err = s.body(&h)
		}
		if errors.Is(err, errInvalidBatch) || errors.Is(err, ErrOldFormat) {
			return s.pos, fmt.Errorf("%w: %w (%d bytes from there to the end)", ErrInvalidFile, err, st.Size()-s.pos)
		}
		if err != nil {
			return s.pos, err
		}
		if err := fn(s.pos, h, raw); err != nil {
			return s.pos, err
		}
		s.skip(&h)
	}
}

// ReadOffsetIndex reads an offset index as far as it is filled: a broker that was killed leaves zeros behind the entries.
func ReadOffsetIndex(fsys vfs.FS, name string) ([]IndexEntry, error) {
	_, base := KindOfFile(name)
	raw, err := readEntries(fsys, name, offsetEntryLen)
	var out []IndexEntry
	for i := 0; i < len(raw); i += offsetEntryLen {
		rel, pos := binary.BigEndian.Uint32(raw[i:]), binary.BigEndian.Uint32(raw[i+4:])
		if rel == 0 && (i > 0 || pos == 0) {
			return out, errors.Join(err, onlyZeros(raw[i:], len(out)))
		}
		// Signed, as Kafka reads them: a damaged entry shows as what it is.
		out = append(out, IndexEntry{base + batch.Offset(int32(rel)), int64(int32(pos))})
	}
	return out, err
}

// onlyZeros checks that nothing is hidden behind the end of the entries.
func onlyZeros(rest []byte, entries int) error {
	if i := slices.IndexFunc(rest, func(b byte) bool { return b != 0 }); i >= 0 {
		return fmt.Errorf("%w: entry %d is zero, but the file goes on behind it", ErrInvalidFile, entries)
	}
	return nil
}

// ReadTimeIndex reads a time index as far as it is filled.
func ReadTimeIndex(fsys vfs.FS, name string) ([]TimeIndexEntry, error) {
	_, base := KindOfFile(name)
	raw, err := readEntries(fsys, name, timeEntryLen)
	var out []TimeIndexEntry
	for i := 0; i < len(raw); i += timeEntryLen {
		ts, rel := int64(binary.BigEndian.Uint64(raw[i:])), binary.BigEndian.Uint32(raw[i+8:])
		if rel == 0 && (i > 0 || ts == 0 && len(raw) > timeEntryLen) {
			return out, errors.Join(err, onlyZeros(raw[i:], len(out)))
		}
		out = append(out, TimeIndexEntry{ts, base + batch.Offset(int32(rel))})
	}
	return out, err
}

// ReadTxnIndex reads the aborted transactions of a segment.
func ReadTxnIndex(fsys vfs.FS, name string) ([]AbortedTxn, error) {
	raw, err := readEntries(fsys, name, abortedTxnLen)
	var out []AbortedTxn
	for ; len(raw) > 0; raw = raw[abortedTxnLen:] {
		if v := binary.BigEndian.Uint16(raw); v != 0 {
			return out, fmt.Errorf("%w: version %d of entry %d, this weir reads 0", ErrInvalidFile, v, len(out))
		}
		at := func(i int) int64 { return int64(binary.BigEndian.Uint64(raw[2+8*i:])) }
		out = append(out, AbortedTxn{batch.ProducerID(at(0)), batch.Offset(at(1)), batch.Offset(at(2)), batch.Offset(at(3))})
	}
	return out, err
}

// readEntries returns the whole entries of a file, with an error that wraps ErrInvalidFile if something is left over.
func readEntries(fsys vfs.FS, name string, entryLen int) ([]byte, error) {
	raw, err := vfs.ReadFile(fsys, name, maxRelative)
	if errors.Is(err, vfs.ErrFileTooLarge) {
		return nil, fmt.Errorf("%w: %w", ErrInvalidFile, err)
	}
	if err != nil {
		return nil, err
	}
	if left := len(raw) % entryLen; left != 0 {
		return raw[:len(raw)-left], fmt.Errorf("%w: %d bytes are not a whole number of entries of %d bytes", ErrInvalidFile, len(raw), entryLen)
	}
	return raw, nil
}

// ReadEpochs reads a leader-epoch-checkpoint.
func ReadEpochs(fsys vfs.FS, name string) ([]EpochEntry, error) {
	content, err := vfs.ReadFile(fsys, name, epochFileLimit)
	if err != nil {
		return nil, err
	}
	return decodeEpochs(content)
}

// VerifySegment compares the log of a segment with itself and its indexes, and calls report for each problem: batches
// that are not whole, in order or intact, records that cannot be read, index entries that do not lead to the batch they
// name, times that are not the largest so far. An index that ends early is no problem, and one that is missing is one in
// all segments but the newest, whose index files come with its first flush.
// The error is about files that cannot be read at all.
func VerifySegment(fsys vfs.FS, dir string, base batch.Offset, report func(file string, problem error)) error {
	v := segmentCheck{base: base, next: base, report: report, log: baseName(base) + extLog}
	v.index, v.times = baseName(base)+extIndex, baseName(base)+extTimeIndex
	names, err := fsys.List(dir)
	if err != nil {
		return err
	}
	v.newest = true
	for _, name := range names {
		if other, ext, suffix, ok := parseSegmentName(name); ok && suffix == "" && ext == extLog && other > base {
			v.newest = false
		}
	}
	if v.offsets, err = ReadOffsetIndex(fsys, filepath.Join(dir, v.index)); v.failed(v.index, err) {
		return err
	}
	if v.stamps, err = ReadTimeIndex(fsys, filepath.Join(dir, v.times)); v.failed(v.times, err) {
		return err
	}
	v.checkOrder()
	if _, err = WalkFile(fsys, filepath.Join(dir, v.log), v.batch); v.failed(v.log, err) {
		return err
	}
	v.checkRest()
	return nil
}

type segmentCheck struct {
	base, next        batch.Offset
	newest            bool // no later segment
	report            func(file string, problem error)
	log, index, times string
	offsets           []IndexEntry
	stamps            []TimeIndexEntry
	largest           int64 // timestamp so far
}

// failed reports an error about content and tells whether it is of another kind, so that verification cannot go on.
func (v *segmentCheck) failed(file string, err error) bool {
	if err == nil {
		return false
	}
	if v.newest && errors.Is(err, fs.ErrNotExist) && file != v.log {
		return false
	}
	if errors.Is(err, ErrInvalidFile) || errors.Is(err, fs.ErrNotExist) && file != v.log {
		v.report(file, err)
		return false
	}
	return true
}

// checkOrder reports entries that do not ascend and sorts them for the walk.
func (v *segmentCheck) checkOrder() {
	for i := 1; i < len(v.offsets); i++ {
		if a, b := v.offsets[i-1], v.offsets[i]; b.Offset <= a.Offset || b.Position <= a.Position {
			v.problem(v.index, "entry %d (offset %d, position %d) does not follow offset %d, position %d", i, b.Offset, b.Position, a.Offset, a.Position)
		}
	}
	for i := 1; i < len(v.stamps); i++ {
		if a, b := v.stamps[i-1], v.stamps[i]; b.Timestamp <= a.Timestamp || b.Offset < a.Offset {
			v.problem(v.times, "entry %d (timestamp %d, offset %d) does not follow timestamp %d, offset %d", i, b.Timestamp, b.Offset, a.Timestamp, a.Offset)
		}
	}
	slices.SortStableFunc(v.offsets, func(a, b IndexEntry) int { return cmp.Compare(a.Position, b.Position) })
	slices.SortStableFunc(v.stamps, func(a, b TimeIndexEntry) int { return cmp.Compare(a.Offset, b.Offset) })
	v.largest = batch.NoTimestamp
}

func (v *segmentCheck) problem(file, format string, args ...any) {
	v.report(file, fmt.Errorf("%w: "+format, append([]any{ErrInvalidFile}, args...)...))
}

func (v *segmentCheck) batch(pos int64, h batch.Header, raw []byte) error {
	if h.BaseOffset < v.next {
		v.problem(v.log, "batch at position %d begins with offset %d, want at least %d", pos, h.BaseOffset, v.next)
	}
	v.next = max(v.next, h.NextOffset())
	largest := h.MaxTimestamp
	if !batch.VerifyCRC(raw) {
		v.problem(v.log, "CRC of the batch at position %d, offsets %d to %d, does not match", pos, h.BaseOffset, h.LastOffset())
	} else if found, err := checkRecords(&h, raw); err != nil {
		v.report(v.log, fmt.Errorf("%w: batch at position %d: %w", ErrInvalidFile, pos, err))
	} else {
		largest = found
		if largest != h.MaxTimestamp && h.RecordCount > 0 {
			v.problem(v.log, "batch at position %d: largest timestamp is %d, its header says %d", pos, largest, h.MaxTimestamp)
		}
	}
	for ; len(v.offsets) > 0 && v.offsets[0].Position <= pos; v.offsets = v.offsets[1:] {
		e := v.offsets[0]
		switch {
		case e.Position < pos:
			v.problem(v.index, "no batch begins at position %d, offset %d", e.Position, e.Offset)
		case e.Offset != h.LastOffset():
			v.problem(v.index, "offset %d at position %d, the batch there ends with %d", e.Offset, pos, h.LastOffset())
		}
	}
	v.largest = max(v.largest, largest)
	for ; len(v.stamps) > 0 && v.stamps[0].Offset <= h.LastOffset(); v.stamps = v.stamps[1:] {
		e := v.stamps[0]
		switch {
		case e.Offset != h.LastOffset():
			v.problem(v.times, "no batch ends with offset %d, timestamp %d", e.Offset, e.Timestamp)
		case e.Timestamp != largest:
			v.problem(v.times, "timestamp %d at offset %d, the batch there has %d", e.Timestamp, e.Offset, largest)
		case e.Timestamp < v.largest:
			v.problem(v.times, "timestamp %d at offset %d, there is %d before it", e.Timestamp, e.Offset, v.largest)
		}
	}
	return nil
}

// checkRest reports entries that point behind the log.
func (v *segmentCheck) checkRest() {
	for _, e := range v.offsets {
		v.problem(v.index, "no batch begins at position %d, offset %d", e.Position, e.Offset)
	}
	for _, e := range v.stamps {
		v.problem(v.times, "no batch ends with offset %d, timestamp %d", e.Offset, e.Timestamp)
	}
}

// checkRecords reads all records of a batch and returns their largest timestamp.
func checkRecords(h *batch.Header, raw []byte) (int64, error) {
	it, err := batch.Records(raw, batch.Limits{})
	if err != nil {
		return 0, err
	}
	defer it.Close()
	largest, last := int64(batch.NoTimestamp), h.BaseOffset-1
	for it.Next() {
		if off := it.Offset(); off <= last || off > h.LastOffset() {
			return 0, fmt.Errorf("record at offset %d follows %d, the batch ends with %d", off, last, h.LastOffset())
		}
		last, largest = it.Offset(), max(largest, it.Timestamp())
	}
	return largest, it.Err()
}

package commitlog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"log/slog"
	"maps"
	"sync"

	"github.com/weir-broker/weir/broker/batch"
	"github.com/weir-broker/weir/broker/vfs"
)

const (
	marksFile = "local.db"
	// marksVersion is the version of the layout below. A file of another version is not read.
	marksVersion = 1
	// markSize is the length of a value: four int64 and a checksum.
	markSize = 4*8 + 4
)

var errMarksFormat = errors.New("unknown or damaged format")

// Mark is what a log directory remembers of a partition beside its files. Each is Unknown when it was never set or lost.
type Mark struct {
	// RecoveryPoint is the offset below which the log is durable: recovery begins there.
	RecoveryPoint batch.Offset
	// HighWatermark is the one last written down; the true one may be higher.
	HighWatermark batch.Offset
	// LogStartOffset is the first offset readers may see.
	LogStartOffset batch.Offset
	// CleanerOffset is the first offset that compaction has not seen.
	CleanerOffset batch.Offset
}

// noMark is the mark of a partition without one.
var noMark = Mark{RecoveryPoint: Unknown, HighWatermark: Unknown, LogStartOffset: Unknown, CleanerOffset: Unknown}

// Marks are the marks of all partitions of a log directory, kept in local.db.
//
// Memory is what counts while the process lives; the file is brought up to it by Flush, in one transaction, and by the
// calls that say so. Losing the file costs time, never data: recovery scans whole logs, high watermarks are found anew,
// log start offsets fall back to the first segment. So of a file that is damaged what
// is intact is kept, one that is missing or of another version is begun anew, and a warning says so. Marks is safe for concurrent use.
type Marks struct {
	// turn is held by the one who writes the file. It is taken before mu, never the other way round.
	turn struct {
		sync.Mutex
		store  markStore
		closed bool
	}
	mu struct {
		sync.Mutex
		marks map[TopicPartition]Mark
		dirty map[TopicPartition]struct{} // differ from the file; removed ones are not in marks
		seq   int64                       // counts changes
		saved int64                       // changes up to here are in the file
	}
}

// markStore is a file of marks.
type markStore interface {
	// write makes the changed marks durable; nil is for one to remove. all returns everything there is, count says how
	// many that were when changed was taken.
	write(changed map[TopicPartition]*Mark, all func() map[TopicPartition]Mark, count int) error
	close() error
}

// openMarks reads local.db. After an unclean stop, when trust is false, its structure is begun anew from what was read.
func openMarks(fsys vfs.FS, dir string, trust bool, log *slog.Logger) (*Marks, error) {
	m := &Marks{}
	var store markStore
	var marks map[TopicPartition]Mark
	var err error
	if vfs.Root(fsys) == vfs.OS() {
		store, marks, err = openBoltMarks(dir, trust, log)
	} else {
		store, marks, err = openFileMarks(fsys, dir, log)
	}
	if err != nil {
		return nil, storageError("open "+marksFile, err)
	}
	m.turn.store, m.mu.marks = store, marks
	m.mu.dirty = map[TopicPartition]struct{}{}
	return m, nil
}

// Get returns the mark of a partition, all Unknown when there is none.
func (m *Marks) Get(tp TopicPartition) Mark {
	m.mu.Lock()
	defer m.mu.Unlock()
	if mark, ok := m.mu.marks[tp]; ok {
		return mark
	}
	return noMark
}

// All returns a copy of all marks.
func (m *Marks) All() map[TopicPartition]Mark {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.mu.marks)
}

// SetRecoveryPoint notes a higher recovery point; it reaches the disk by the next Flush. To lower one, use
// SaveRecoveryPoint.
func (m *Marks) SetRecoveryPoint(tp TopicPartition, off batch.Offset) {
	m.change(tp, func(mark *Mark) { mark.RecoveryPoint = off })
}

// SetHighWatermark notes a high watermark; it reaches the disk by the next Flush.
func (m *Marks) SetHighWatermark(tp TopicPartition, off batch.Offset) {
	m.change(tp, func(mark *Mark) { mark.HighWatermark = off })
}

// SetCleanerOffset notes how far compaction came; it reaches the disk by the next Flush.
func (m *Marks) SetCleanerOffset(tp TopicPartition, off batch.Offset) {
	m.change(tp, func(mark *Mark) { mark.CleanerOffset = off })
}

// SetLogStartOffset makes a log start offset durable. It is called before segments below it are removed.
func (m *Marks) SetLogStartOffset(tp TopicPartition, off batch.Offset) error {
	return m.save(m.change(tp, func(mark *Mark) { mark.LogStartOffset = off }))
}

// SaveRecoveryPoint makes a recovery point durable. It is called with a lower one before a log is truncated.
func (m *Marks) SaveRecoveryPoint(tp TopicPartition, off batch.Offset) error {
	return m.save(m.change(tp, func(mark *Mark) { mark.RecoveryPoint = off }))
}

// Remove forgets partitions, durably, so that a later topic of the same name does not inherit their marks.
func (m *Marks) Remove(tps ...TopicPartition) error {
	m.mu.Lock()
	changed := false
	for _, tp := range tps {
		if _, ok := m.mu.marks[tp]; ok {
			delete(m.mu.marks, tp)
			m.mu.dirty[tp] = struct{}{}
			m.mu.seq++
			changed = true
		}
	}
	seq := m.mu.seq
	m.mu.Unlock()
	if !changed {
		return nil
	}
	return m.save(seq)
}

// Flush makes all marks durable, in one transaction. Without changes it costs nothing.
func (m *Marks) Flush() error {
	m.mu.Lock()
	seq := m.mu.seq
	m.mu.Unlock()
	return m.save(seq)
}

func (m *Marks) change(tp TopicPartition, fn func(*Mark)) int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	mark, ok := m.mu.marks[tp]
	if !ok {
		mark = noMark
	}
	was := mark
	fn(&mark)
	if mark != was {
		m.mu.marks[tp] = mark
		m.mu.dirty[tp] = struct{}{}
		m.mu.seq++
	}
	return m.mu.seq
}

// save returns when the changes up to seq are durable. Those who wait for the turn meanwhile share the next write.
func (m *Marks) save(seq int64) error {
	m.turn.Lock()
	defer m.turn.Unlock()
	m.mu.Lock()
	if m.mu.saved >= seq {
		m.mu.Unlock()
		return nil
	}
	upTo, dirty := m.mu.seq, m.mu.dirty
	m.mu.dirty = map[TopicPartition]struct{}{}
	count := len(m.mu.marks)
	changed := make(map[TopicPartition]*Mark, len(dirty))
	for tp := range dirty {
		changed[tp] = nil
		if mark, ok := m.mu.marks[tp]; ok {
			changed[tp] = &mark
		}
	}
	m.mu.Unlock()
	err := ErrClosed
	if !m.turn.closed {
		err = storageError("write "+marksFile, m.turn.store.write(changed, m.All, count))
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if err != nil {
		maps.Copy(m.mu.dirty, dirty)
		return err
	}
	m.mu.saved = upTo
	return nil
}

func (m *Marks) close() error {
	m.turn.Lock()
	defer m.turn.Unlock()
	if m.turn.closed {
		return nil
	}
	m.turn.closed = true
	return m.turn.store.close()
}

// The layout of version 1, big endian. The checksum is there because bbolt has none of its own for what is in its pages,
// and a wrong log start offset would remove records.
//
//	key    topic, one zero byte, int32 partition
//	value  int64 recovery point, int64 high watermark, int64 log start offset, int64 cleaner offset,
//	       uint32 crc32c of the key and the 32 bytes before
func appendMarkValue(dst, key []byte, m Mark) []byte {
	start := len(dst)
	for _, off := range []batch.Offset{m.RecoveryPoint, m.HighWatermark, m.LogStartOffset, m.CleanerOffset} {
		dst = binary.BigEndian.AppendUint64(dst, uint64(off))
	}
	crc := crc32.Update(crc32.Checksum(key, castagnoli), castagnoli, dst[start:])
	return binary.BigEndian.AppendUint32(dst, crc)
}

func parseMark(key, value []byte) (TopicPartition, Mark, error) {
	tp, err := parseMarkKey(key)
	if err != nil {
		return tp, noMark, err
	}
	if len(value) != markSize {
		return tp, noMark, fmt.Errorf("%w: mark of %d bytes", errMarksFormat, len(value))
	}
	crc := crc32.Update(crc32.Checksum(key, castagnoli), castagnoli, value[:markSize-4])
	if crc != binary.BigEndian.Uint32(value[markSize-4:]) {
		return tp, noMark, fmt.Errorf("%w: checksum of %s", errMarksFormat, tp)
	}
	at := func(i int) batch.Offset { return batch.Offset(binary.BigEndian.Uint64(value[8*i:])) }
	return tp, Mark{RecoveryPoint: at(0), HighWatermark: at(1), LogStartOffset: at(2), CleanerOffset: at(3)}, nil
}

func appendMarkKey(dst []byte, tp TopicPartition) []byte {
	dst = append(append(dst, tp.Topic...), 0)
	return binary.BigEndian.AppendUint32(dst, uint32(tp.Partition))
}

func parseMarkKey(key []byte) (TopicPartition, error) {
	zero := len(key) - 5
	if zero < 1 || key[zero] != 0 {
		return TopicPartition{}, fmt.Errorf("%w: key of %d bytes", errMarksFormat, len(key))
	}
	tp := TopicPartition{Topic: string(key[:zero]), Partition: int32(binary.BigEndian.Uint32(key[zero+1:]))}
	if tp.Partition < 0 {
		return tp, fmt.Errorf("%w: negative partition", errMarksFormat)
	}
	return tp, nil
}

package commitlog

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weir-broker/weir/broker/batch"
	"github.com/weir-broker/weir/broker/vfs"
)

// segment is one .log file with its indexes. The writer changes the active one; readers see what size and the index
// published. A truncation puts a new segment object over the same file in its place.
type segment struct {
	base batch.Offset
	file vfs.File
	// size is the length of the whole batches in bytes, next the offset after them.
	size, next atomic.Int64
	// maxTimestamp is the largest of all records, -1 without one.
	maxTimestamp atomic.Int64
	// mtime is when the file last changed, in milliseconds; it stands in for a missing maxTimestamp.
	mtime atomic.Int64
	// dirSynced is whether the file's name is durable, sealed whether appends have moved on.
	dirSynced, sealed atomic.Bool

	// idx is nil while the indexes of a sealed segment are not in memory; idxUsed is when it was needed last.
	idx     atomic.Pointer[index]
	idxUsed atomic.Int64
	load    sync.Mutex // held to load idx, and to seal

	// What cleaning knows and does of a sealed segment: whether there are transactions in it, the largest timestamp of its
	// first batch plus two, whether its files are being renamed, and whether another segment took its name.
	txns             atomic.Int32
	firstSeen        atomic.Int64
	pinned, replaced atomic.Bool

	// cursors remember where reads ended, so that the reader that goes on there need not search: offset-base<<32 | pos.
	cursors [cursorSlots]atomic.Uint64

	// The rest belongs to the writer.
	maxTimestampRel uint32 // last offset - base of the first batch with maxTimestamp
	sinceIndex      int64  // bytes since the last index entry
	firstTimestamp  int64  // largest of the first batch, -1 unknown
	created         time.Time
	jitter          time.Duration
}

const cursorSlots = 8

func newSegment(base batch.Offset, file vfs.File, created time.Time) *segment {
	s := &segment{base: base, file: file, created: created, firstTimestamp: batch.NoTimestamp}
	s.next.Store(int64(base))
	s.maxTimestamp.Store(batch.NoTimestamp)
	s.mtime.Store(created.UnixMilli())
	return s
}

func (s *segment) rel(o batch.Offset) int64 { return int64(o - s.base) }

// fits is whether the offset can be written relative to the base.
func (s *segment) fits(o batch.Offset) bool { r := s.rel(o); return r >= 0 && r <= maxRelative }

func (s *segment) nextOffset() batch.Offset { return batch.Offset(s.next.Load()) }

func (s *segment) cursor(o batch.Offset) *atomic.Uint64 {
	return &s.cursors[uint64(s.rel(o))*0x9E3779B97F4A7C15>>61]
}

// noteAppend takes a batch of the active segment into account that was written at pos. The index entry comes before the
// batch is counted, and only while there is room: an index that is full lets the next append roll.
func (s *segment) noteAppend(h *batch.Header, pos int64, interval, maxIndexBytes int) {
	rel := uint32(s.rel(h.LastOffset()))
	if h.MaxTimestamp > s.maxTimestamp.Load() {
		s.maxTimestampRel = rel
		s.maxTimestamp.Store(h.MaxTimestamp)
	}
	if pos == 0 {
		s.firstTimestamp = h.MaxTimestamp
	}
	if x := s.idx.Load(); s.sinceIndex > int64(interval) && !x.full(maxIndexBytes) {
		x.offsets.append(offsetEntry{rel, uint32(pos)})
		x.addTime(timeEntry{s.maxTimestamp.Load(), s.maxTimestampRel})
		s.sinceIndex = 0
	}
	s.sinceIndex += int64(h.Size())
}

// finishTimes adds the time entry that ends a segment; it may go beyond what "full" allows.
func (s *segment) finishTimes() {
	s.idx.Load().addTime(timeEntry{s.maxTimestamp.Load(), s.maxTimestampRel})
}

// largestTimestamp is the time of the newest record, or that of the file when none has a timestamp.
func (s *segment) largestTimestamp() time.Time {
	if ts := s.maxTimestamp.Load(); ts >= 0 {
		return time.UnixMilli(ts)
	}
	return time.UnixMilli(s.mtime.Load())
}

// loadFirstTimestamp reads what time-based rolling compares with, if it is not known.
func (s *segment) loadFirstTimestamp() {
	if s.firstTimestamp >= 0 || s.size.Load() < batch.HeaderLen {
		return
	}
	var raw [batch.HeaderLen]byte
	if n, _ := s.file.ReadAt(raw[:], 0); n == len(raw) {
		if h, err := batch.ParseHeader(raw[:]); err == nil {
			s.firstTimestamp = h.MaxTimestamp
		}
	}
}

// rebuilt is what reading a log file batch by batch found.
type rebuilt struct {
	idx            *index
	valid          int64        // bytes of whole, valid batches in order
	next           batch.Offset // offset after them
	maxTimestamp   int64
	maxRel         uint32
	firstTimestamp int64
	reason         error // why the scan ended before the end, nil when it did not
}

// rebuild walks the batches of [0, size) and makes the indexes as appending them would have. With crc every byte is
// verified; without, only the headers are read. each may be nil.
func (s *segment) rebuild(size int64, interval int, crc bool, each func(h *batch.Header)) (rebuilt, error) {
	chunk := headerChunk
	if crc {
		chunk = scanChunk
	}
	r := rebuilt{idx: newIndex(nil, nil), next: s.base, maxTimestamp: batch.NoTimestamp, firstTimestamp: batch.NoTimestamp}
	sc := newScanner(s.file, 0, size, chunk)
	defer sc.close()
	lastEntry := int64(0)
	for {
		h, err := sc.next()
		if err == io.EOF {
			break
		}
		if err == nil {
			err = s.inOrder(&h, r.next)
		}
		if err == nil && crc {
			err = sc.intact(&h)
		}
		if errors.Is(err, errInvalidBatch) {
			r.reason = err
			break
		}
		if err != nil {
			return r, err
		}
		rel := uint32(s.rel(h.LastOffset()))
		if h.MaxTimestamp > r.maxTimestamp {
			r.maxTimestamp, r.maxRel = h.MaxTimestamp, rel
		}
		if sc.pos == 0 {
			r.firstTimestamp = h.MaxTimestamp
		}
		if sc.pos-lastEntry > int64(interval) {
			r.idx.offsets.append(offsetEntry{rel, uint32(sc.pos)})
			r.idx.addTime(timeEntry{r.maxTimestamp, r.maxRel})
			lastEntry = sc.pos
		}
		if each != nil {
			each(&h)
		}
		sc.skip(&h)
		r.valid, r.next = sc.pos, h.NextOffset()
	}
	r.idx.addTime(timeEntry{r.maxTimestamp, r.maxRel})
	return r, nil
}

// inOrder checks what a header says about offsets against the segment and the batch before.
func (s *segment) inOrder(h *batch.Header, next batch.Offset) error {
	if h.LastOffsetDelta < 0 || h.BaseOffset < next || h.BaseOffset < 0 || !s.fits(h.LastOffset()) || h.RecordCount < 0 {
		return fmt.Errorf("%w: offsets %d to %d do not follow %d in segment %d", errInvalidBatch, h.BaseOffset, h.LastOffset(), next, s.base)
	}
	return nil
}

// adopt makes what rebuild found the state of the segment.
func (s *segment) adopt(r *rebuilt) {
	s.size.Store(r.valid)
	s.next.Store(int64(r.next))
	s.maxTimestamp.Store(r.maxTimestamp)
	s.maxTimestampRel, s.firstTimestamp = r.maxRel, r.firstTimestamp
	s.idx.Store(r.idx)
	s.sinceIndex = 0
}

// jitterOf takes a segment's share of the roll jitter from its name, so that it needs no source of randomness and is
// the same after a restart.
func jitterOf(dir string, base batch.Offset, jitter, age time.Duration) time.Duration {
	most := min(jitter, age)
	if most <= 0 {
		return 0
	}
	h := fnv.New64a()
	_, _ = io.WriteString(h, segmentPath(dir, base, extLog))
	return time.Duration(h.Sum64() % uint64(most))
}

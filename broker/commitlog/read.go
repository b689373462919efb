package commitlog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/weir-broker/weir/broker/batch"
)

const (
	// Where Read looks into a batch header: batchLength, magic, lastOffsetDelta.
	lengthAt    = 8
	lastDeltaAt = 23

	// readAttempts bounds how often a read is done again because segments changed under it.
	readAttempts = 64
)

// Read appends whole batches to dst: from the one that holds offset from, or the next one there is, up to maxBytes, and
// none that reaches upTo. With minOneBatch the first batch is read however large it is. It reads from one segment, into
// the spare capacity of dst, which it grows if that is too small.
func (l *Log) Read(dst []byte, from, upTo batch.Offset, maxBytes int, minOneBatch bool) (ReadResult, error) {
	for attempt := 0; ; attempt++ {
		seen := l.truncations.Load()
		res, err := l.readOnce(dst, from, upTo, maxBytes, minOneBatch)
		if err == nil && l.truncations.Load() == seen {
			return res, nil
		}
		if again, err := l.readAgain(err, seen, attempt); !again {
			return ReadResult{Bytes: dst, NextOffset: from}, err
		}
	}
}

// readAgain decides whether a read is to be repeated: when a truncation ran beside it, or a segment was closed because
// it left the log.
func (l *Log) readAgain(err error, seen int64, attempt int) (bool, error) {
	switch {
	case err == nil || l.truncations.Load() != seen || errors.Is(err, fs.ErrClosed):
		if failed := l.failure(); failed != nil {
			return false, failed
		}
		if attempt < readAttempts {
			return true, nil
		}
		return false, storageError("read", err)
	case errors.Is(err, ErrOffsetOutOfRange), errors.Is(err, batch.ErrCorrupt), errors.Is(err, ErrStorage), errors.Is(err, ErrClosed):
		return false, err
	}
	return false, storageError("read", err)
}

func (l *Log) readOnce(dst []byte, from, upTo batch.Offset, maxBytes int, minOneBatch bool) (ReadResult, error) {
	empty := ReadResult{Bytes: dst, NextOffset: from}
	if err := l.failure(); err != nil {
		return empty, err
	}
	end := l.LogEndOffset() // before the list, which then holds what lies below end
	list := l.list()
	if start := l.LogStartOffset(); from < start || from > end {
		return empty, fmt.Errorf("%w: %d is not in [%d, %d]", ErrOffsetOutOfRange, from, start, end)
	}
	upTo = min(upTo, end)
	if from >= upTo {
		return empty, nil
	}
	i := floor(list, from)
	if i < 0 {
		return empty, fmt.Errorf("%w: %d lies before the first segment", ErrOffsetOutOfRange, from)
	}
	for ; i < len(list) && list[i].base < upTo; i++ {
		res, found, err := l.readSegment(list[i], dst, from, upTo, max(maxBytes, 0), minOneBatch)
		if err != nil || found {
			return res, err
		}
	}
	return empty, nil
}

// readSegment reads from one segment; found is false when no batch of it reaches from.
func (l *Log) readSegment(s *segment, dst []byte, from, upTo batch.Offset, maxBytes int, minOneBatch bool) (ReadResult, bool, error) {
	size := s.size.Load()
	pos, dst, err := l.locate(s, dst, max(from, s.base), size)
	res := ReadResult{Bytes: dst, NextOffset: from}
	if err != nil || pos >= size {
		return res, false, err
	}
	limit := min(size, pos+int64(maxBytes))
	if upTo < s.nextOffset() {
		x, err := l.indexOf(s)
		if err != nil {
			return res, false, err
		}
		if bound, ok := x.bound(s.rel(upTo)); ok {
			limit = max(pos, min(limit, int64(bound)))
		}
	}
	n := int(limit - pos)
	if n < batch.HeaderLen {
		n = int(min(batch.HeaderLen, size-pos))
	}
	start := len(dst)
	dst = slices.Grow(dst, n)[:start+n]
	if err := readFull(s, dst[start:], pos); err != nil {
		return res, false, err
	}
	used, next, firstSize, err := wholeBatches(dst[start:], from, upTo, limit-pos)
	if err != nil {
		return res, false, fmt.Errorf("segment %d, position %d: %w", s.base, pos+int64(used), err)
	}
	if used == 0 && firstSize > 0 {
		// The first batch may be read, but is larger than maxBytes.
		if !minOneBatch {
			return ReadResult{Bytes: dst[:start], NextOffset: from, FirstTooLarge: true}, true, nil
		}
		if int64(firstSize) > size-pos {
			return res, false, fmt.Errorf("segment %d, position %d: %w: batch of %d bytes, %d are left", s.base, pos, batch.ErrCorrupt, firstSize, size-pos)
		}
		dst = slices.Grow(dst[:start+min(n, firstSize)], max(0, firstSize-n))[:start+firstSize]
		if firstSize > n {
			if err := readFull(s, dst[start+n:], pos+int64(n)); err != nil {
				return res, false, err
			}
		}
		used = firstSize
	}
	if used > 0 && next > s.base && s.rel(next) <= maxRelative {
		s.cursor(next).Store(uint64(s.rel(next))<<32 | uint64(pos+int64(used)))
	}
	return ReadResult{Bytes: dst[:start+used], NextOffset: next}, true, nil
}

func readFull(s *segment, p []byte, pos int64) error {
	if n, err := s.file.ReadAt(p, pos); n < len(p) {
		if err == nil || err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return fmt.Errorf("segment %d at %d: %w", s.base, pos, err)
	}
	return nil
}

// wholeBatches walks the batches that raw begins with and returns how many bytes of them lie within limit and below
// upTo, and the offset after them. When it is the limit that leaves out the first batch, firstSize is its length and
// next the offset after it.
func wholeBatches(raw []byte, from, upTo batch.Offset, limit int64) (used int, next batch.Offset, firstSize int, err error) {
	next = from
	for len(raw)-used >= batch.HeaderLen {
		b := raw[used:]
		size := batch.LogOverhead + int(int32(binary.BigEndian.Uint32(b[lengthAt:])))
		base := batch.Offset(binary.BigEndian.Uint64(b))
		last := base + batch.Offset(int32(binary.BigEndian.Uint32(b[lastDeltaAt:])))
		if b[magicAt] != 2 || size < batch.HeaderLen || last < base || last < next {
			if used > 0 {
				return used, next, 0, nil // the reader gets what is in order, and the error when it comes back
			}
			return 0, from, 0, fmt.Errorf("%w: no batch that follows offset %d", batch.ErrCorrupt, next)
		}
		if last >= upTo {
			break
		}
		if int64(used+size) > limit {
			if used == 0 {
				return 0, last + 1, size, nil
			}
			break
		}
		used += size
		next = last + 1
	}
	return used, next, 0, nil
}

// locate finds the position of the first batch whose last offset is at least from; size when there is none. The spare
// capacity of dst serves to read headers; it is returned because it may have grown.
func (l *Log) locate(s *segment, dst []byte, from batch.Offset, size int64) (int64, []byte, error) {
	rel := s.rel(from)
	if from >= s.nextOffset() || rel > maxRelative {
		return size, dst, nil
	}
	if c := s.cursor(from).Load(); int64(c>>32) == rel && int64(c&maxRelative) < size {
		return int64(c & maxRelative), dst, nil // an unset slot says that offset base lies at position 0
	}
	for attempt := 0; ; attempt++ {
		x, err := l.indexOf(s)
		if err != nil {
			return 0, dst, err
		}
		at, entryRel, indexed := x.position(rel)
		pos, grown, err := s.walkTo(dst, int64(at), from, size, entryRel, indexed)
		dst = grown
		if !errors.Is(err, errBadIndex) || attempt > 0 {
			return pos, dst, err
		}
		if err := l.heal(s, x); err != nil {
			return 0, dst, err
		}
	}
}

// walkTo steps over batches from pos until one reaches from. When pos comes from the index, the batch there has to end
// at the offset the index says.
func (s *segment) walkTo(dst []byte, pos int64, from batch.Offset, size int64, entryRel uint32, indexed bool) (int64, []byte, error) {
	const least = 4 << 10
	if cap(dst)-len(dst) < least {
		dst = slices.Grow(dst, least)
	}
	space := dst[len(dst):cap(dst)]
	space = space[:min(len(space), headerChunk)]
	var have []byte // file content from haveAt
	haveAt := int64(0)
	for pos < size {
		if pos < haveAt || pos+batch.HeaderLen > haveAt+int64(len(have)) {
			n := int(min(int64(len(space)), size-pos))
			if err := readFull(s, space[:n], pos); err != nil {
				return 0, dst, err
			}
			have, haveAt = space[:n], pos
		}
		h, err := batch.ParseHeader(have[pos-haveAt:])
		switch {
		case indexed && (err != nil || s.rel(h.LastOffset()) != int64(entryRel)):
			return 0, dst, fmt.Errorf("%w: segment %d, position %d", errBadIndex, s.base, pos)
		case err != nil:
			return 0, dst, fmt.Errorf("segment %d, position %d: %w: %w", s.base, pos, batch.ErrCorrupt, err)
		case h.LastOffset() >= from:
			return pos, dst, nil
		}
		indexed = false
		pos += int64(h.Size())
	}
	return size, dst, nil
}

// Batches calls fn for each batch that overlaps [from, to), oldest first. raw is valid during the call only. A
// truncation beside it fails with ErrOffsetOutOfRange.
func (l *Log) Batches(from, to batch.Offset, fn func(h batch.Header, raw []byte) error) error {
	if err := l.failure(); err != nil {
		return err
	}
	seen, end := l.truncations.Load(), l.LogEndOffset()
	list := l.list()
	if start := l.LogStartOffset(); from < start || from > end {
		return fmt.Errorf("%w: %d is not in [%d, %d]", ErrOffsetOutOfRange, from, start, end)
	}
	to = min(to, end)
	for i := max(floor(list, from), 0); i < len(list) && list[i].base < to; i++ {
		s := list[i]
		err := l.scanSegment(s, seen, from, func(sc *scanner, h *batch.Header) (bool, error) {
			if h.BaseOffset >= to {
				return false, nil
			}
			raw, err := sc.body(h)
			if err != nil {
				return false, l.scanError(s, seen, err)
			}
			return true, fn(*h, raw)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// scanSegment calls fn for each batch of a segment that reaches from, until fn returns false. seen is how many
// truncations there were when the caller took the list of segments.
func (l *Log) scanSegment(s *segment, seen int64, from batch.Offset, fn func(sc *scanner, h *batch.Header) (bool, error)) error {
	size := s.size.Load()
	pos, _, err := l.locate(s, nil, max(from, s.base), size)
	if err != nil {
		return l.scanError(s, seen, err)
	}
	sc := newScanner(s.file, pos, size, headerChunk)
	defer sc.close()
	for {
		h, err := sc.next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return l.scanError(s, seen, err)
		}
		more, err := fn(sc, &h)
		if err != nil || !more {
			return err
		}
		sc.skip(&h)
	}
}

// scanError tells a segment that was taken away under a reader from one that cannot be read.
func (l *Log) scanError(s *segment, seen int64, err error) error {
	switch {
	case l.failure() != nil:
		return l.failure()
	case l.truncations.Load() != seen || errors.Is(err, fs.ErrClosed):
		return fmt.Errorf("%w: segment %d changed while it was read", ErrOffsetOutOfRange, s.base)
	case errors.Is(err, errInvalidBatch):
		return fmt.Errorf("segment %d: %w: %w", s.base, batch.ErrCorrupt, err)
	case errors.Is(err, batch.ErrCorrupt):
		return err
	}
	return storageError("read", err)
}

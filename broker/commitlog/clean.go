package commitlog

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"time"

	"github.com/weir-broker/weir/broker/batch"
	"github.com/weir-broker/weir/broker/policy"
)

// CleanerOptions are the means of a Cleaner.
type CleanerOptions struct {
	// MapBytes bounds the table of keys (log.cleaner.dedupe.buffer.size by log.cleaner.threads), MapLoad is the share of
	// it that is filled at most (log.cleaner.io.buffer.load.factor).
	MapBytes int64
	MapLoad  float64
	// BufferBytes is for reading and writing together (log.cleaner.io.buffer.size by log.cleaner.threads). A batch that is
	// larger is still read, in a buffer of its size.
	BufferBytes int
	// Throttle is called with each number of bytes read or written, and waits if that is too fast. Nil does not.
	Throttle func(ctx context.Context, bytes int) error
	// Policy decides on records; nil is Kafka's rule.
	Policy policy.Compaction
}

// Cleaner compacts logs, one at a time. It belongs to one goroutine.
type Cleaner struct {
	o     CleanerOptions
	slots int // of the table of keys
	limit int // entries in it
	m     offsetMap
	in    []byte
	out   []byte
	ask   asking
	work  []chunkBatch
	keep  []bool // a verdict per record of the chunk
}

// leastBuffer is the smallest buffer for reading, and for writing.
const leastBuffer = 4 << 10

// NewCleaner returns a cleaner. It takes its memory when it first has work, and gives it back with Release.
func NewCleaner(o CleanerOptions) (*Cleaner, error) {
	c := &Cleaner{o: o}
	c.slots, c.limit = offsetMapLimits(o.MapBytes, o.MapLoad)
	if c.limit < 1 {
		return nil, fmt.Errorf("%w: a table of %d bytes, filled to %v, has no room for a key", ErrInvalidCleaner, o.MapBytes, o.MapLoad)
	}
	if c.o.Policy == nil {
		c.o.Policy = policy.StandardCompaction()
	}
	var secret [16]byte
	_, _ = rand.Read(secret[:]) // never fails since Go 1.24
	c.m.key = [2]uint64{binary.LittleEndian.Uint64(secret[:]), binary.LittleEndian.Uint64(secret[8:])}
	return c, nil
}

// Release gives the memory back while there is nothing to do.
func (c *Cleaner) Release() {
	*c = Cleaner{o: c.o, slots: c.slots, limit: c.limit, m: offsetMap{key: c.m.key}}
}

// LastRecord is what the log end knows of an active producer.
type LastRecord struct {
	// LastOffset is that of its last batch of records, Unknown if only a marker is known.
	LastOffset batch.Offset
	Epoch      batch.ProducerEpoch
}

// CleanJob is one round over one log.
type CleanJob struct {
	Topic     string
	Partition int32
	// From and To are those of Cleanable.
	From, To      batch.Offset
	HighWatermark batch.Offset
	Now           time.Time
	// DeleteRetention is how long tombstones and markers stay once nothing older needs them (delete.retention.ms).
	DeleteRetention time.Duration
	// Producers returns the active producers; the batch each ended with stays, if only its header.
	Producers func() map[batch.ProducerID]LastRecord
	// Args are for the policy.
	Args string
	// Limits bound what is unpacked of compressed batches.
	Limits batch.Limits
}

// CleanResult is what a round did.
type CleanResult struct {
	// To is where the next round begins: the first offset whose key was not looked at.
	To batch.Offset
	// Segments were replaced by Written ones.
	Segments, Written int
	// MapBytes were read to fill the table of keys, BytesRead and BytesWritten to clean.
	MapBytes, BytesRead, BytesWritten int64
	RecordsRead, RecordsKept          int64
	// Keyless records were dropped: a compacted topic refuses them, so they are from before it was one.
	Keyless int64
	// MapUse is the share of the table of keys that was filled.
	MapUse float64
	// Truncations is Log.Truncations as the round found it: To means nothing once that has changed.
	Truncations int64
}

// round is the state of one Clean.
type round struct {
	c    *Cleaner
	l    *Log
	ctx  context.Context
	job  *CleanJob
	res  *CleanResult
	now  int64
	seen int64      // truncations when it began
	list []*segment // when it began
	n    int        // how many of list may be cleaned

	aborted   []AbortedTxn
	txns      *txnFilter
	producers map[batch.ProducerID]LastRecord
	saved     bool
}

// Clean does one round: it notes the newest offset of each key in [job.From, job.To), as far as the table goes, and
// writes all segments up to there anew without the records that are out of date. The new segments take the place of the
// old ones one after another, the oldest first, each in a way that no crash leaves a mixture. Readers, appends and
// flushes go on meanwhile. ErrCleaningAborted: the log was truncated, or segments of it deleted; the rounds before count,
// this one does not.
//
// Batches are verified as they are read: what is damaged stays as it is, and the error says so.
func (c *Cleaner) Clean(ctx context.Context, l *Log, job CleanJob) (CleanResult, error) {
	res := CleanResult{To: job.From, Truncations: l.Truncations()}
	r := &round{c: c, l: l, ctx: ctx, job: &job, res: &res, now: job.Now.UnixMilli(), seen: res.Truncations}
	r.list = l.list()
	for r.n < len(r.list)-1 && r.list[r.n].base < job.To {
		r.n++
	}
	if err := r.run(); err != nil {
		return res, fmt.Errorf("clean %s: %w", l.Dir(), r.explain(err))
	}
	return res, nil
}

func (r *round) run() error {
	if err := r.goOn(0); err != nil {
		return err
	}
	if r.n == 0 || r.job.From >= r.job.To {
		return nil
	}
	// Below the recovery point a hole between segments is known to be one that a cleaner left.
	if err := r.l.Flush(r.list[r.n].base); err != nil {
		return err
	}
	var err error
	if r.aborted, err = r.l.abortedTxns(r.list, r.n, r.seen); err != nil {
		return err
	}
	// Nobody reads what lies below the log start; Kafka does not ask there who aborted.
	start := r.l.LogStartOffset()
	r.aborted = slices.DeleteFunc(r.aborted, func(t AbortedTxn) bool { return t.LastOffset < start })
	if err := r.fillMap(); err != nil {
		return err
	}
	end := r.c.m.latest + 1
	r.res.MapUse = float64(r.c.m.entries) / float64(r.c.slots)
	r.txns = newTxnFilter(r.aborted)
	groups, err := r.groups(between(r.list[:r.n], 0, end))
	if err != nil {
		return err
	}
	for _, g := range groups {
		if err := r.cleanGroup(g); err != nil {
			return err
		}
	}
	r.res.To = end
	return nil
}

// goOn is asked before each step; bytes were just read or written.
func (r *round) goOn(bytes int) error {
	if err := r.l.failure(); err != nil {
		return err
	}
	if err := r.ctx.Err(); err != nil {
		return err
	}
	if r.l.truncations.Load() != r.seen {
		return fmt.Errorf("%w: the log was truncated", ErrCleaningAborted)
	}
	if bytes > 0 && r.c.o.Throttle != nil {
		return r.c.o.Throttle(r.ctx, bytes)
	}
	return nil
}

// explain tells an error of the disk from a segment that was taken away while it was cleaned.
func (r *round) explain(err error) error {
	switch {
	case errors.Is(err, ErrClosed), errors.Is(err, ErrCleaningAborted), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case r.l.truncations.Load() != r.seen, errors.Is(err, fs.ErrClosed), errors.Is(err, ErrOffsetOutOfRange):
		return fmt.Errorf("%w: %w", ErrCleaningAborted, err)
	}
	return err
}

// fillMap notes the newest offset of each key in the dirty part.
func (r *round) fillMap() error {
	c := r.c
	c.m.reset(c.slots, c.limit, int64(r.job.To-r.job.From))
	open := make([]AbortedTxn, 0, len(r.aborted))
	for _, t := range r.aborted {
		if t.LastOffset >= r.job.From {
			open = append(open, t)
		}
	}
	txns := newTxnFilter(open)
	dirty := between(r.list[:r.n], r.job.From, r.job.To)
	for i, s := range dirty {
		next := r.job.To
		if i+1 < len(dirty) {
			next = dirty[i+1].base
		}
		full, err := r.mapSegment(s, txns)
		if err != nil || full {
			return err
		}
		c.m.latest = next - 1
	}
	return nil
}

// errMapFull ends the walk over a segment.
var errMapFull = errors.New("table of keys is full")

func (r *round) mapSegment(s *segment, txns *txnFilter) (full bool, err error) {
	from, m := r.job.From, &r.c.m
	pos, _, err := r.l.locate(s, nil, max(from, s.base), s.size.Load())
	if err != nil {
		return false, r.l.scanError(s, r.seen, err)
	}
	err = r.chunks(s, pos, func(raw []byte) error {
		r.res.MapBytes += int64(len(raw))
		return batch.Split(raw, func(h batch.Header, raw []byte) error {
			if err := r.check(s, &h, raw); err != nil {
				return err
			}
			if h.IsControl() {
				if _, err := txns.marker(&h, raw); err != nil {
					return err
				}
			} else if !txns.records(&h) {
				if err := r.mapBatch(raw); err != nil {
					return err
				}
			}
			if h.LastOffset() >= from {
				m.latest = h.LastOffset()
			}
			return nil
		})
	})
	if errors.Is(err, errMapFull) {
		return true, nil
	}
	return false, err
}

func (r *round) mapBatch(raw []byte) error {
	it, err := batch.Records(raw, r.job.Limits)
	if err != nil {
		return err
	}
	defer it.Close()
	m := &r.c.m
	for it.Next() {
		if key := it.Record().Key; key != nil && it.Offset() >= r.job.From {
			if m.full() {
				return errMapFull
			}
			m.put(key, it.Offset())
		}
	}
	return it.Err()
}

// check makes sure of a batch before anything is made of it: writing damaged records anew would give them a checksum
// that fits.
func (r *round) check(s *segment, h *batch.Header, raw []byte) error {
	if !batch.VerifyCRC(raw) {
		return fmt.Errorf("segment %d, batch at offset %d: %w: CRC does not match", s.base, h.BaseOffset, batch.ErrCorrupt)
	}
	if h.LastOffsetDelta < 0 || h.RecordCount < 0 || h.BaseOffset < s.base || !s.fits(h.LastOffset()) {
		return fmt.Errorf("segment %d, batch at offset %d: %w: offsets or counts", s.base, h.BaseOffset, batch.ErrCorrupt)
	}
	return nil
}

// chunks calls fn with whole batches of a segment from pos on, as many as the buffer holds.
func (r *round) chunks(s *segment, pos int64, fn func(raw []byte) error) error {
	c, size := r.c, s.size.Load()
	usual := max(c.o.BufferBytes/2, leastBuffer)
	if len(c.in) != usual {
		c.in = make([]byte, usual)
	}
	for pos < size {
		n := int(min(int64(len(c.in)), size-pos))
		if err := readFull(s, c.in[:n], pos); err != nil {
			return r.l.scanError(s, r.seen, err)
		}
		whole, need, err := wholeLength(c.in[:n])
		if err != nil {
			return fmt.Errorf("segment %d, position %d: %w: %w", s.base, pos+int64(whole), batch.ErrCorrupt, err)
		}
		if whole == 0 {
			if int64(need) > size-pos {
				return fmt.Errorf("segment %d, position %d: %w: batch of %d bytes, %d are left", s.base, pos, batch.ErrCorrupt, need, size-pos)
			}
			c.in = make([]byte, need)
			continue
		}
		if err := r.goOn(n); err != nil {
			return err
		}
		if err := fn(c.in[:whole]); err != nil {
			return err
		}
		pos += int64(whole)
		if len(c.in) > usual {
			c.in = make([]byte, usual)
		}
	}
	return nil
}

// wholeLength is the length of the whole batches that raw begins with; when there is none, need is what it takes.
func wholeLength(raw []byte) (whole, need int, err error) {
	for len(raw)-whole >= batch.HeaderLen {
		h, err := batch.ParseHeader(raw[whole:])
		if err != nil {
			return whole, 0, err
		}
		if h.Size() > len(raw)-whole {
			return whole, h.Size(), nil
		}
		whole += h.Size()
	}
	return whole, batch.HeaderLen, nil
}

// groups puts neighbouring segments together whose sum is no larger than one may be, in log, in each index and in the
// span of offsets: so segments do not become ever smaller.
func (r *round) groups(list []*segment) ([][]*segment, error) {
	conf := r.l.config.Load()
	var groups [][]*segment
	var size, offsets, times int64
	for i, s := range list {
		o, t, err := r.indexSizes(s)
		if err != nil {
			return nil, err
		}
		last := r.job.To - 1
		if i+1 < len(list) {
			last = list[i+1].base - 1
		}
		if n := len(groups); n > 0 &&
			size+s.size.Load() <= int64(conf.SegmentBytes) && offsets+o <= int64(conf.SegmentIndexBytes) && times+t <= int64(conf.SegmentIndexBytes) &&
			(s.size.Load() == 0 || last-groups[n-1][0].base <= math.MaxInt32) {
			groups[n-1] = append(groups[n-1], s)
			size, offsets, times = size+s.size.Load(), offsets+o, times+t
			continue
		}
		groups = append(groups, []*segment{s})
		size, offsets, times = s.size.Load(), o, t
	}
	return groups, nil
}

// indexSizes are the lengths of the index files of a sealed segment, in bytes.
func (r *round) indexSizes(s *segment) (offsets, times int64, err error) {
	if x := s.idx.Load(); x != nil {
		return int64(x.offsets.len()) * offsetEntryLen, int64(x.times.len()) * timeEntryLen, nil
	}
	for ext, n := range map[string]*int64{extIndex: &offsets, extTimeIndex: &times} {
		st, err := r.l.fs.Stat(segmentPath(r.l.Dir(), s.base, ext))
		switch {
		case errors.Is(err, fs.ErrNotExist): // made anew when needed
		case err != nil:
			return 0, 0, storageError("clean", err)
		default:
			*n = st.Size()
		}
	}
	return offsets, times, nil
}

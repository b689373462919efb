package commitlog

import (
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/weir-broker/weir/broker/batch"
	"github.com/weir-broker/weir/broker/policy"
	"github.com/weir-broker/weir/broker/vfs"
)

// rowsPerCall is how many records a policy is asked about at a time.
const rowsPerCall = 4096

// asking collects the records a policy is to be asked about.
type asking struct {
	needs    policy.CompactionNeeds
	rows     []policy.CompactionRow
	places   []rowPlace
	verdicts []policy.CompactionVerdict
	arena    []byte // copies of what does not outlive the walk over a compressed batch
}

// rowPlace is where the verdict on a row goes, and whether a tombstone there is past its time.
type rowPlace struct {
	at      int
	expired bool
}

// chunkBatch is what becomes of one batch of a chunk.
type chunkBatch struct {
	h   batch.Header
	raw []byte
	// first and n are the place and the number of the verdicts on its records; none when it was not looked into.
	first, n int
	// emptyStays is whether it stays as a header when no record does, discard whether no record is to.
	emptyStays, discard bool
	// loneMarker is set for a marker of a transaction that has no batch left.
	loneMarker bool
	// nulls are the places of the records with a null value.
	nulls []int
}

// cleanedSegment is the segment that a group is written into.
type cleanedSegment struct {
	s        *segment
	pos      int64 // written so far; more waits in Cleaner.out
	interval int
	txns     []AbortedTxn
}

// cleanGroup writes a group of segments into a new one, and puts that in their place.
func (r *round) cleanGroup(group []*segment) error {
	l := r.l
	if err := r.goOn(0); err != nil {
		return err
	}
	r.producers = nil
	if r.job.Producers != nil {
		r.producers = r.job.Producers()
	}
	indexed, err := l.indexedTxns(group)
	if err != nil {
		return storageError("clean", err)
	}
	out, err := r.createCleaned(group[0])
	if err != nil {
		return err
	}
	err = func() error {
		for _, s := range group {
			if err := r.cleanSegment(s, out); err != nil {
				return err
			}
		}
		out.txns = r.txns.takeKept()
		for i, t := range out.txns {
			if known, ok := indexed[t.LastOffset]; ok && known.ProducerID == t.ProducerID {
				out.txns[i] = known // first seen when its first record was still there
			}
		}
		return r.finishCleaned(group, out)
	}()
	if err == nil {
		err = l.swapIn(r, group, out.s)
	}
	if err != nil && !out.s.dirSynced.Load() {
		r.dropCleaned(out)
	}
	return err
}

// createCleaned makes the file of a cleaned segment.
func (r *round) createCleaned(first *segment) (*cleanedSegment, error) {
	l := r.l
	for _, ext := range segmentExts {
		_ = l.fs.Remove(segmentPath(l.Dir(), first.base, ext) + suffixCleaned)
	}
	name := segmentPath(l.Dir(), first.base, extLog) + suffixCleaned
	f, err := l.fs.Create(name)
	if err != nil {
		return nil, cleanError("create "+name, err)
	}
	s := newSegment(first.base, f, first.created)
	s.jitter = first.jitter
	s.idx.Store(newIndex(nil, nil))
	return &cleanedSegment{s: s, interval: l.config.Load().IndexIntervalBytes}, nil
}

// dropCleaned removes what was written of a cleaned segment that does not take its place.
func (r *round) dropCleaned(out *cleanedSegment) {
	_ = out.s.file.Close()
	for _, ext := range segmentExts {
		_ = r.l.fs.Remove(segmentPath(r.l.Dir(), out.s.base, ext) + suffixCleaned) // the next round or Open does otherwise
	}
	r.c.out = r.c.out[:0]
}

// cleanError marks a failure of the disk. A full one is none, nor a lack of file descriptors: nothing of the log was touched.
func cleanError(what string, err error) error {
	if errors.Is(err, syscall.ENOSPC) || vfs.OutOfDescriptors(err) {
		return fmt.Errorf("%s: %w", what, err)
	}
	return storageError(what, err)
}

// cleanSegment copies what stays of a segment.
func (r *round) cleanSegment(s *segment, out *cleanedSegment) error {
	return r.chunks(s, 0, func(raw []byte) error {
		r.res.BytesRead += int64(len(raw))
		if err := r.judge(s, raw); err != nil {
			return err
		}
		for i := range r.c.work {
			if err := r.emit(&r.c.work[i], out); err != nil {
				return err
			}
		}
		return nil
	})
}

// judge decides on every batch and record of a chunk.
func (r *round) judge(s *segment, raw []byte) error {
	c := r.c
	c.work, c.keep = c.work[:0], c.keep[:0]
	c.ask.needs = c.o.Policy.Needs()
	err := batch.Split(raw, func(h batch.Header, raw []byte) error {
		if err := r.check(s, &h, raw); err != nil {
			return err
		}
		b := chunkBatch{h: h, raw: raw, first: len(c.keep)}
		if err := r.judgeBatch(&b); err != nil {
			return err
		}
		if !b.discard {
			if err := r.judgeRecords(&b); err != nil {
				return fmt.Errorf("batch at offset %d: %w", h.BaseOffset, err)
			}
		}
		c.work = append(c.work, b)
		return nil
	})
	if err != nil {
		return err
	}
	return r.decide()
}

// judgeBatch decides what happens to a batch as a whole.
func (r *round) judgeBatch(b *chunkBatch) error {
	h := &b.h
	var mayGo bool
	var err error
	if h.IsControl() {
		if mayGo, err = r.txns.marker(h, b.raw); err != nil {
			return err
		}
		b.loneMarker = mayGo
		// A marker goes when no batch of its transaction is left and its own delete horizon has passed.
		horizon, ok := h.DeleteHorizon()
		b.discard = mayGo && ok && horizon <= r.now
	} else {
		b.discard = r.txns.records(h)
	}
	if last, ok := r.producers[h.ProducerID]; ok && h.HasProducer() {
		// The batch with a producer's last sequence number stays, or, if only a marker is known of it, one with its epoch.
		if last.LastOffset >= 0 {
			b.emptyStays = h.LastOffset() == last.LastOffset
		} else {
			b.emptyStays = h.IsControl() && h.ProducerEpoch == last.Epoch
		}
	}
	// So does the last one below the high watermark: it says where the log ends.
	b.emptyStays = b.emptyStays || h.NextOffset() == r.job.HighWatermark
	return nil
}

// judgeRecords walks the records of a batch and asks about those that are up for cleaning.
func (r *round) judgeRecords(b *chunkBatch) error {
	c := r.c
	it, err := batch.Records(b.raw, r.job.Limits)
	if err != nil {
		return err
	}
	defer it.Close()
	horizon, ok := b.h.DeleteHorizon()
	expired := ok && horizon <= r.now
	copied := b.h.Codec() != batch.None
	for it.Next() {
		rec := it.Record()
		r.res.RecordsRead++
		b.n++
		c.keep = append(c.keep, true)
		if rec.Value == nil {
			b.nulls = append(b.nulls, len(c.keep)-1)
		}
		if b.h.IsControl() || it.Offset() > c.m.latest {
			continue
		}
		row := policy.CompactionRow{Offset: int64(it.Offset()), Timestamp: it.Timestamp(), ValueLength: -1}
		if rec.Value != nil {
			row.ValueLength = int32(len(rec.Value))
		}
		if rec.Key != nil {
			row.Keyed = true
			if c.m.get(rec.Key) > it.Offset() {
				row.Newer = 1
			}
		} else {
			r.res.Keyless++
		}
		c.ask.fill(&row, rec, copied)
		c.ask.rows = append(c.ask.rows, row)
		c.ask.places = append(c.ask.places, rowPlace{len(c.keep) - 1, expired})
		if len(c.ask.rows) == rowsPerCall {
			if err := r.decide(); err != nil {
				return err
			}
		}
	}
	return it.Err()
}

// fill adds the key and the headers that the policy wants.
func (a *asking) fill(row *policy.CompactionRow, rec *batch.Record, copied bool) {
	hold := func(b []byte) []byte {
		if !copied || b == nil {
			return b
		}
		n := len(a.arena)
		a.arena = append(a.arena, b...)
		return a.arena[n:len(a.arena):len(a.arena)]
	}
	if a.needs.Keys {
		row.Key = hold(rec.Key)
	}
	if len(a.needs.Headers) == 0 || rec.HeaderCount == 0 {
		return
	}
	row.Headers = make([][]byte, len(a.needs.Headers))
	for k, v := range rec.Headers() {
		for i, want := range a.needs.Headers {
			if string(k) == want {
				row.Headers[i] = hold(v)
			}
		}
	}
}

// decide asks the policy about the rows that wait.
func (r *round) decide() error {
	a := &r.c.ask
	if len(a.rows) == 0 {
		return nil
	}
	if cap(a.verdicts) < len(a.rows) {
		a.verdicts = make([]policy.CompactionVerdict, len(a.rows), rowsPerCall)
	}
	verdicts := a.verdicts[:len(a.rows)]
	clear(verdicts)
	facts := policy.CompactionFacts{Topic: r.job.Topic, Partition: r.job.Partition, Now: r.now, Args: r.job.Args}
	if err := r.c.o.Policy.Decide(r.ctx, facts, a.rows, verdicts); err != nil {
		return fmt.Errorf("compaction policy: %w", err)
	}
	for i := range a.rows {
		place := a.places[i]
		r.c.keep[place.at] = verdicts[i].Keeps(r.now) && !(a.rows[i].Tombstone() && place.expired)
	}
	clear(a.rows)
	a.rows, a.places, a.arena = a.rows[:0], a.places[:0], a.arena[:0]
	return nil
}

// emit writes what stays of a batch.
func (r *round) emit(b *chunkBatch, out *cleanedSegment) error {
	c, h := r.c, &b.h
	keep := c.keep[b.first : b.first+b.n]
	kept := 0
	for _, k := range keep {
		if k {
			kept++
		}
	}
	start := len(c.out)
	switch {
	case kept > 0:
		marks := b.loneMarker
		for _, at := range b.nulls {
			marks = marks || c.keep[at]
		}
		old, had := h.DeleteHorizon()
		if kept == b.n && (!marks || had) {
			c.out = append(c.out, b.raw...)
			break
		}
		horizon := batch.NoTimestamp
		if had {
			horizon = old
		} else if marks {
			horizon = r.now + r.job.DeleteRetention.Milliseconds()
		}
		var err error
		c.out, err = batch.AppendFiltered(c.out, b.raw, horizon, r.job.Limits, func(i int) bool { return keep[i] })
		if err != nil {
			return fmt.Errorf("batch at offset %d: %w", h.BaseOffset, err)
		}
	case b.emptyStays:
		c.out = batch.AppendEmptied(c.out, h)
	default:
		return nil
	}
	r.res.RecordsKept += int64(kept)
	nh, err := batch.ParseHeader(c.out[start:])
	if err != nil {
		return err
	}
	s, pos := out.s, out.pos+int64(start)
	if pos+int64(nh.Size()) > maxRelative {
		return fmt.Errorf("segment %d would exceed %d bytes", s.base, maxRelative)
	}
	s.noteAppend(&nh, pos, out.interval, maxRelative)
	s.next.Store(int64(nh.NextOffset()))
	if len(c.out) >= max(c.o.BufferBytes/2, leastBuffer) {
		return r.writeOut(out)
	}
	return nil
}

// writeOut writes the batches that wait.
func (r *round) writeOut(out *cleanedSegment) error {
	c := r.c
	n := len(c.out)
	if n == 0 {
		return nil
	}
	if w, err := out.s.file.WriteAt(c.out, out.pos); err != nil || w < n {
		if err == nil {
			err = fmt.Errorf("wrote %d of %d bytes", w, n)
		}
		return cleanError("write a cleaned segment", err)
	}
	out.pos += int64(n)
	r.res.BytesWritten += int64(n)
	c.out = c.out[:0]
	if usual := max(c.o.BufferBytes/2, leastBuffer); cap(c.out) > 4*usual {
		c.out = nil // there was a large batch
	}
	return r.goOn(n)
}

// finishCleaned makes a cleaned segment durable under its first name.
func (r *round) finishCleaned(group []*segment, out *cleanedSegment) error {
	l, s, last := r.l, out.s, group[len(group)-1]
	if err := r.writeOut(out); err != nil {
		return err
	}
	s.size.Store(out.pos)
	s.next.Store(last.next.Load())
	s.finishTimes()
	s.sealed.Store(true)
	s.pinned.Store(true)
	x := s.idx.Load()
	vfs.Failpoint("commitlog.clean.before-sync")
	if err := s.file.SyncData(); err != nil {
		return cleanError("sync a cleaned segment", err)
	}
	files := []struct {
		ext string
		raw []byte
	}{
		{extIndex, encodeOffsetIndex(x.offsets.view())},
		{extTimeIndex, encodeTimeIndex(x.times.view())},
		{extTxnIndex, encodeTxnIndex(out.txns)},
	}
	mtime := time.UnixMilli(last.mtime.Load())
	for _, f := range files {
		if f.ext == extTxnIndex && len(f.raw) == 0 {
			continue
		}
		if err := r.writeCleaned(segmentPath(l.Dir(), s.base, f.ext)+suffixCleaned, f.raw, mtime); err != nil {
			return err
		}
	}
	x.file.offsetsWritten, x.file.timesWritten = x.offsets.len(), x.times.len()
	// Where no record has a timestamp, the age of the file stands in for one: that of the records, not of the cleaning.
	if err := l.fs.Chtimes(segmentPath(l.Dir(), s.base, extLog)+suffixCleaned, mtime); err != nil {
		return cleanError("clean", err)
	}
	s.mtime.Store(last.mtime.Load())
	if err := vfs.SyncDir(l.fs, l.Dir()); err != nil {
		return cleanError("clean", err)
	}
	return nil
}

func (r *round) writeCleaned(name string, raw []byte, mtime time.Time) error {
	f, err := r.l.fs.Create(name)
	if err != nil {
		return cleanError("create "+name, err)
	}
	if len(raw) > 0 {
		_, err = f.WriteAt(raw, 0)
	}
	if err == nil {
		err = f.SyncData()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = r.l.fs.Chtimes(name, mtime)
	}
	if err != nil {
		return cleanError("write "+name, err)
	}
	return nil
}

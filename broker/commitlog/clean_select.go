package commitlog

import (
	"math"
	"time"

	"github.com/weir-broker/weir/broker/batch"
)

// CleanQuery is what the decision to clean a log depends on beside the log.
type CleanQuery struct {
	// Checkpoint is where the last round ended, Unknown if there was none or it was lost.
	Checkpoint batch.Offset
	// LastStable is the last stable offset: nothing behind it is cleaned.
	LastStable batch.Offset
	// MinLag keeps records from being cleaned, and MaxLag has them cleaned however clean the rest is
	// (min.compaction.lag.ms, max.compaction.lag.ms; KIP-354).
	MinLag, MaxLag time.Duration
	Now            time.Time
}

// Cleanable says what there is to clean in a log.
type Cleanable struct {
	// From is the first offset that no round has seen, To the base of the first segment that may not be cleaned yet.
	From, To batch.Offset
	// Reset is set when Checkpoint was outside the log, so that From is its start: the mark should be corrected.
	Reset bool
	// CleanBytes are those of the segments below From, DirtyBytes those from there to To.
	CleanBytes, DirtyBytes int64
	// Overdue is for how long the oldest dirty segment has been above MaxLag; 0 when it is not.
	Overdue time.Duration
}

// Ratio is the share of DirtyBytes, 0 for an empty log.
func (c *Cleanable) Ratio() float64 {
	if c.DirtyBytes == 0 {
		return 0
	}
	return float64(c.DirtyBytes) / float64(c.CleanBytes+c.DirtyBytes)
}

// Due is whether a round is wanted: the log is dirtier than min.cleanable.dirty.ratio, or records are above MaxLag.
func (c *Cleanable) Due(minRatio float64) bool {
	return c.DirtyBytes > 0 && (c.Overdue > 0 || c.Ratio() > minRatio)
}

// Cleanable works out what may be cleaned, as Kafka does: never the active segment, nothing behind the last stable
// offset, no segment with a record younger than MinLag nor those behind it.
func (l *Log) Cleanable(q CleanQuery) (Cleanable, error) {
	if err := l.failure(); err != nil {
		return Cleanable{}, err
	}
	list := l.list()
	active := list[len(list)-1]
	start, end := l.LogStartOffset(), l.LogEndOffset()
	c := Cleanable{From: q.Checkpoint}
	if c.From == Unknown {
		c.From = start
	}
	if c.From < start || c.From > end {
		c.From, c.Reset = start, true
	}
	now := q.Now.UnixMilli()
	dirty := between(list, c.From, active.base)

	bound := min(q.LastStable, active.base)
	if lag := q.MinLag.Milliseconds(); lag > 0 {
		for _, s := range dirty {
			if s.largestTimestamp().UnixMilli() > now-lag {
				bound = min(bound, s.base)
				break
			}
		}
	}
	bound = max(bound, c.From)
	c.To = active.base
	if bound <= active.base {
		if i := max(floor(list, bound), 0); i < len(list) {
			c.To = list[i].base
		}
	}
	for _, s := range between(list, Unknown, c.From) {
		c.CleanBytes += s.size.Load()
	}
	for _, s := range between(list, min(c.From, c.To), c.To) {
		c.DirtyBytes += s.size.Load()
	}
	oldest := int64(math.MaxInt64)
	for _, s := range dirty {
		ts, err := s.firstBatchTimestamp()
		if err != nil {
			return c, storageError("read", err)
		}
		if ts > 0 {
			oldest = min(oldest, ts)
		}
	}
	if until := now - max(q.MaxLag.Milliseconds(), 0); oldest < until {
		c.Overdue = time.Duration(min(until-oldest, math.MaxInt64/int64(time.Millisecond))) * time.Millisecond
	}
	return c, nil
}

// between are the segments from the one that holds from to the last that begins before to.
func between(list []*segment, from, to batch.Offset) []*segment {
	if from >= to {
		return nil
	}
	i := max(floor(list, from), 0)
	j := i
	for j < len(list) && list[j].base < to {
		j++
	}
	return list[i:j]
}

// firstBatchTimestamp is the largest timestamp of the first batch of a sealed segment in milliseconds, -1 without one.
func (s *segment) firstBatchTimestamp() (int64, error) {
	if known := s.firstSeen.Load(); known != 0 {
		return known - 2, nil
	}
	ts := batch.NoTimestamp
	if s.size.Load() >= batch.HeaderLen {
		var raw [batch.HeaderLen]byte
		if err := readFull(s, raw[:], 0); err != nil {
			return 0, err
		}
		if h, err := batch.ParseHeader(raw[:]); err == nil {
			ts = max(h.MaxTimestamp, batch.NoTimestamp)
		}
	}
	s.firstSeen.Store(ts + 2)
	return ts, nil
}

package policy

import (
	"context"
	"time"
)

// Retention decides how much of the front of one partition's log goes. It is
// asked by the partition's leader at each retention check. An error means
// "keep everything".
type Retention interface {
	Decide(ctx context.Context, facts RetentionFacts) (RetentionVerdict, error)
}

// SegmentRow is one segment of a log as a retention policy sees it.
type SegmentRow struct {
	// Base is the offset the segment's files are named by.
	Base int64
	// Last is the offset before the next segment's base, or before the log
	// end for the active segment; below Base when the segment is empty.
	Last int64
	// Size is the length of the segment's .log file in bytes.
	Size int64
	// MaxTimestamp is the largest record timestamp, or the file's
	// modification time when no record carries one.
	MaxTimestamp time.Time
	// Active marks the segment that appends go to.
	Active bool
}

// DiskUse is the state of the file system that holds the log's directory.
type DiskUse struct {
	// TotalBytes and FreeBytes are zero when they are not known.
	TotalBytes, FreeBytes int64
}

// RetentionFacts is everything a retention policy may look at.
type RetentionFacts struct {
	Topic     string
	Partition int32
	// Segments are ordered by Base and contiguous; the last one is active.
	Segments []SegmentRow
	// LogStartOffset is the first offset readers may see; it can lie inside
	// a segment after DeleteRecords.
	LogStartOffset int64
	// HighWatermark is exclusive; nothing at or above it may be removed.
	HighWatermark int64
	// LogEndOffset is exclusive.
	LogEndOffset int64
	// DeletePolicy is whether cleanup.policy contains "delete". Without it
	// only what lies wholly below LogStartOffset goes.
	DeletePolicy bool
	// RetentionBytes is retention.bytes; negative is unlimited.
	RetentionBytes int64
	// Retention is retention.ms; negative is unlimited.
	Retention time.Duration
	Disk      DiskUse
	Now       time.Time
	// Args is the topic's weir.retention.args, empty for the twin.
	Args string
}

// RetentionReason says which rule removed a segment.
type RetentionReason uint8

// The reasons, in the order the standard rule tries them.
const (
	// ReasonLogStart: the segment lies wholly below the log start offset.
	ReasonLogStart RetentionReason = iota + 1
	// ReasonSize: the log without the segment still holds retention.bytes.
	ReasonSize
	// ReasonTime: the segment's newest record is older than retention.ms.
	ReasonTime
	// ReasonPlugin: a policy of the user's decided it.
	ReasonPlugin
)

// String returns the word used in logs and in the deletion ledger.
func (r RetentionReason) String() string {
	switch r {
	case ReasonLogStart:
		return "log-start"
	case ReasonSize:
		return "size"
	case ReasonTime:
		return "time"
	case ReasonPlugin:
		return "plugin"
	}
	return "unknown"
}

// SegmentRemoval names one segment that goes and why.
type SegmentRemoval struct {
	Base   int64
	Reason RetentionReason
}

// RetentionVerdict is the answer of a retention policy.
type RetentionVerdict struct {
	// LogStartOffset is the new log start offset; never below the one in the
	// facts, never above the high watermark.
	LogStartOffset int64
	// Removed lists the segments that lie wholly below LogStartOffset,
	// oldest first. Empty means that nothing is deleted.
	Removed []SegmentRemoval
	// RollActive asks for a new active segment first, because the present
	// one is among those removed.
	RollActive bool
}

// StandardRetention returns Kafka's rule: segments below the log start offset,
// then retention.bytes, then retention.ms, each oldest first and stopping at
// the first segment that stays. A segment that reaches above the high
// watermark stays, as does an empty active segment.
func StandardRetention() Retention { return standardRetention{} }

type standardRetention struct{}

var _ Retention = standardRetention{}

func (standardRetention) Decide(_ context.Context, f RetentionFacts) (RetentionVerdict, error) {
	verdict := RetentionVerdict{LogStartOffset: f.LogStartOffset}
	next := 0 // first segment that stays so far

	// pass removes segments from next on while the rule asks for it.
	pass := func(reason RetentionReason, gone func(i int, s SegmentRow) bool) {
		for ; next < len(f.Segments); next++ {
			s := f.Segments[next]
			last := next == len(f.Segments)-1
			upper := f.LogEndOffset
			if !last {
				upper = f.Segments[next+1].Base
			}
			if f.HighWatermark < upper || !gone(next, s) || last && s.Size == 0 {
				return
			}
			verdict.Removed = append(verdict.Removed, SegmentRemoval{Base: s.Base, Reason: reason})
			verdict.LogStartOffset = max(verdict.LogStartOffset, upper)
			verdict.RollActive = last
		}
	}

	pass(ReasonLogStart, func(i int, _ SegmentRow) bool {
		return i+1 < len(f.Segments) && f.Segments[i+1].Base <= f.LogStartOffset
	})
	if !f.DeletePolicy {
		return verdict, nil
	}

	if f.RetentionBytes >= 0 {
		var size int64
		for _, s := range f.Segments[next:] {
			size += s.Size
		}
		excess := size - f.RetentionBytes
		pass(ReasonSize, func(_ int, s SegmentRow) bool {
			if excess-s.Size < 0 {
				return false
			}
			excess -= s.Size
			return true
		})
	}

	if f.Retention >= 0 {
		// Whole milliseconds, as record timestamps are: a fraction of one
		// must not make a segment older than Kafka would call it.
		now, limit := f.Now.UnixMilli(), f.Retention.Milliseconds()
		pass(ReasonTime, func(_ int, s SegmentRow) bool {
			return now-s.MaxTimestamp.UnixMilli() > limit
		})
	}
	return verdict, nil
}

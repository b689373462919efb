package policy

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func at(ms int64) time.Time { return time.UnixMilli(ms) }

// rows builds contiguous segments of ten offsets each; sizes and timestamps
// are given per segment.
func rows(sizes, stamps []int64) []SegmentRow {
	out := make([]SegmentRow, len(sizes))
	for i := range sizes {
		out[i] = SegmentRow{Base: int64(i) * 10, Last: int64(i)*10 + 9, Size: sizes[i], MaxTimestamp: at(stamps[i]), Active: i == len(sizes)-1}
	}
	return out
}

func describe(v RetentionVerdict) string {
	var b strings.Builder
	for _, r := range v.Removed {
		fmt.Fprintf(&b, "%d:%s ", r.Base, r.Reason)
	}
	fmt.Fprintf(&b, "start=%d", v.LogStartOffset)
	if v.RollActive {
		b.WriteString(" roll")
	}
	return b.String()
}

func TestStandardRetentionFollowsKafkasThreePasses(t *testing.T) {
	base := func() RetentionFacts {
		return RetentionFacts{
			Segments:       rows([]int64{100, 100, 100}, []int64{1000, 2000, 3000}),
			HighWatermark:  30,
			LogEndOffset:   30,
			DeletePolicy:   true,
			RetentionBytes: -1,
			Retention:      -1,
			Now:            at(3000),
		}
	}
	tests := []struct {
		name string
		edit func(f *RetentionFacts)
		want string
	}{
		{"no limits keep everything", func(*RetentionFacts) {}, "start=0"},
		{"below the log start", func(f *RetentionFacts) { f.LogStartOffset = 20 }, "0:log-start 10:log-start start=20"},
		{"inside a segment keeps it", func(f *RetentionFacts) { f.LogStartOffset = 19 }, "0:log-start start=19"},
		{"the active segment is never below the log start", func(f *RetentionFacts) { f.LogStartOffset = 30 }, "0:log-start 10:log-start start=30"},
		{"size keeps at least retention.bytes", func(f *RetentionFacts) { f.RetentionBytes = 200 }, "0:size start=10"},
		{"size one byte short keeps one more", func(f *RetentionFacts) { f.RetentionBytes = 201 }, "start=0"},
		{"size zero takes the active segment", func(f *RetentionFacts) { f.RetentionBytes = 0 }, "0:size 10:size 20:size start=30 roll"},
		{"size counts after the log start pass", func(f *RetentionFacts) { f.LogStartOffset = 10; f.RetentionBytes = 200 }, "0:log-start start=10"},
		{"time equal to the limit stays", func(f *RetentionFacts) { f.Retention = 2000 * time.Millisecond }, "start=0"},
		{"time beyond the limit goes", func(f *RetentionFacts) { f.Retention = 1999 * time.Millisecond }, "0:time start=10"},
		{"a fraction of a millisecond is no age", func(f *RetentionFacts) {
			f.Retention = 2000 * time.Millisecond
			f.Now = f.Now.Add(999 * time.Microsecond)
		}, "start=0"},
		{"time can take the active segment", func(f *RetentionFacts) { f.Retention = 0; f.Now = at(9000) }, "0:time 10:time 20:time start=30 roll"},
		{"a future timestamp stops the pass", func(f *RetentionFacts) {
			f.Segments = rows([]int64{100, 100, 100}, []int64{99000, 1, 2})
			f.Retention = 0
			f.Now = at(9000)
		}, "start=0"},
		{"size then time", func(f *RetentionFacts) {
			f.RetentionBytes = 200
			f.Retention = 999 * time.Millisecond
		}, "0:size 10:time start=20"},
		{"nothing above the high watermark", func(f *RetentionFacts) { f.RetentionBytes = 0; f.HighWatermark = 29 }, "0:size 10:size start=20"},
		{"without delete only the log start counts", func(f *RetentionFacts) {
			f.DeletePolicy = false
			f.RetentionBytes = 0
			f.Retention = 0
			f.LogStartOffset = 10
		}, "0:log-start start=10"},
		{"an empty active segment stays", func(f *RetentionFacts) {
			f.Segments = rows([]int64{100, 0}, []int64{1, 1})
			f.HighWatermark, f.LogEndOffset = 10, 10
			f.Retention = 0
		}, "0:time start=10"},
		{"no segments", func(f *RetentionFacts) { f.Segments = nil }, "start=0"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			f := base()
			tc.edit(&f)
			v, err := StandardRetention().Decide(context.Background(), f)
			if err != nil {
				t.Fatal(err)
			}
			if got := describe(v); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

// Whatever the facts, the verdict removes a prefix, never reaches above the
// high watermark and never moves the start back.
func TestStandardRetentionVerdictIsAlwaysSafe(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 6).Draw(t, "segments")
		f := RetentionFacts{
			RetentionBytes: rapid.Int64Range(-1, 400).Draw(t, "bytes"),
			Retention:      time.Duration(rapid.Int64Range(-1, 100).Draw(t, "ms")) * time.Millisecond,
			DeletePolicy:   rapid.Bool().Draw(t, "delete"),
			Now:            at(rapid.Int64Range(0, 200).Draw(t, "now")),
		}
		var next int64
		for i := range n {
			length := rapid.Int64Range(0, 5).Draw(t, "length")
			f.Segments = append(f.Segments, SegmentRow{Base: next, Last: next + length - 1, Size: length * 20, MaxTimestamp: at(rapid.Int64Range(0, 200).Draw(t, "stamp")), Active: i == n-1})
			next += length
		}
		f.LogEndOffset = next
		f.HighWatermark = rapid.Int64Range(0, next).Draw(t, "hw")
		f.LogStartOffset = rapid.Int64Range(0, f.HighWatermark).Draw(t, "start")
		v, err := StandardRetention().Decide(context.Background(), f)
		if err != nil {
			t.Fatal(err)
		}
		if v.LogStartOffset < f.LogStartOffset || v.LogStartOffset > f.HighWatermark {
			t.Fatalf("start %d outside [%d, %d]", v.LogStartOffset, f.LogStartOffset, f.HighWatermark)
		}
		for i, r := range v.Removed {
			if r.Base != f.Segments[i].Base {
				t.Fatalf("removed %d at place %d is not the prefix", r.Base, i)
			}
			if f.Segments[i].Last >= v.LogStartOffset {
				t.Fatalf("segment %d removed although it reaches to %d, start %d", r.Base, f.Segments[i].Last, v.LogStartOffset)
			}
		}
	})
}

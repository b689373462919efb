package commitlog

import (
	"errors"
	"fmt"

	"github.com/weir-broker/weir/broker/batch"
)

// OffsetForTimestamp finds the first record below upTo whose timestamp, in milliseconds, is at least ts. It looks into
// compressed batches too.
func (l *Log) OffsetForTimestamp(ts int64, upTo batch.Offset) (found TimestampOffset, ok bool, err error) {
	err = l.steady(func() error {
		found, ok, err = l.offsetForTimestamp(ts, upTo)
		return err
	})
	return found, ok, err
}

// steady runs a lookup again when a truncation or deletion changed the log under it.
func (l *Log) steady(lookup func() error) error {
	for attempt := 0; ; attempt++ {
		seen := l.truncations.Load()
		err := lookup()
		changed := l.truncations.Load() != seen || errors.Is(err, ErrOffsetOutOfRange)
		if !changed || l.failure() != nil || attempt >= readAttempts {
			return err
		}
	}
}

func (l *Log) offsetForTimestamp(ts int64, upTo batch.Offset) (TimestampOffset, bool, error) {
	if err := l.failure(); err != nil {
		return TimestampOffset{}, false, err
	}
	upTo = min(upTo, l.LogEndOffset())
	start := l.LogStartOffset()
	for _, s := range l.list() {
		if s.base >= upTo {
			break
		}
		// A segment can be skipped by its largest timestamp. Its records below the log start do not count, so what is
		// sought may also be in a later one.
		if s.maxTimestamp.Load() < ts || s.nextOffset() <= start {
			continue
		}
		found, ok, err := l.firstInSegment(s, ts, start, upTo)
		if err != nil || ok {
			return found, ok, err
		}
	}
	return TimestampOffset{}, false, nil
}

// firstInSegment finds the first record of a segment with offset in [start, upTo) and a timestamp of at least ts.
func (l *Log) firstInSegment(s *segment, ts int64, start, upTo batch.Offset) (found TimestampOffset, ok bool, err error) {
	seen := l.truncations.Load()
	x, err := l.indexOf(s)
	if err != nil {
		return found, false, l.scanError(s, seen, err)
	}
	from := start
	if e, ok := x.before(ts); ok {
		// Batches before that one have smaller timestamps, as e is the first with its own; with ts itself e is the batch.
		from = max(from, s.base+batch.Offset(e.rel))
	}
	err = l.scanSegment(s, seen, from, func(sc *scanner, h *batch.Header) (bool, error) {
		if h.BaseOffset >= upTo {
			return false, nil
		}
		if h.MaxTimestamp < ts {
			return true, nil
		}
		raw, err := sc.body(h)
		if err != nil {
			return false, l.scanError(s, seen, err)
		}
		found, ok, err = firstRecord(raw, h, ts, start, upTo)
		return !ok, err
	})
	return found, ok, err
}

// firstRecord finds the first record of a batch with offset in [start, upTo) and a timestamp of at least ts.
func firstRecord(raw []byte, h *batch.Header, ts int64, start, upTo batch.Offset) (TimestampOffset, bool, error) {
	it, err := batch.Records(raw, batch.Limits{})
	if err != nil {
		return TimestampOffset{}, false, fmt.Errorf("batch at offset %d: %w", h.BaseOffset, err)
	}
	defer it.Close()
	for it.Next() {
		if o := it.Offset(); it.Timestamp() >= ts && o >= start && o < upTo {
			return TimestampOffset{it.Timestamp(), o, h.LeaderEpoch}, true, nil
		}
	}
	if err := it.Err(); err != nil {
		return TimestampOffset{}, false, fmt.Errorf("batch at offset %d: %w", h.BaseOffset, err)
	}
	return TimestampOffset{}, false, nil
}

// MaxTimestampOffset finds the first record with the largest timestamp of the log (KIP-734).
func (l *Log) MaxTimestampOffset() (found TimestampOffset, ok bool, err error) {
	err = l.steady(func() error {
		found, ok, err = l.maxTimestampOffset()
		return err
	})
	return found, ok, err
}

func (l *Log) maxTimestampOffset() (TimestampOffset, bool, error) {
	if err := l.failure(); err != nil {
		return TimestampOffset{}, false, err
	}
	var newest *segment
	largest, start := batch.NoTimestamp, l.LogStartOffset()
	for _, s := range l.list() {
		if ts := s.maxTimestamp.Load(); ts > largest && s.nextOffset() > start {
			newest, largest = s, ts
		}
	}
	if newest == nil {
		return TimestampOffset{}, false, nil
	}
	// From the segment's base, not the log start: like Kafka, a record that DeleteRecords hid may be the answer.
	return l.firstInSegment(newest, largest, newest.base, l.LogEndOffset())
}

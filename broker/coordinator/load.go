package coordinator

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/weir-broker/weir/broker/batch"
)

// errUnreadable is a log that no attempt will read: a record that the machine cannot take, a batch that is broken.
var errUnreadable = errors.New("log cannot be replayed")

// load reads the log from its start to its end into a new machine. Compaction leaves holes between offsets and batches
// without records.
func (s *shard[M, K, R]) load(ctx context.Context) (r *running[M, K, R], err error) {
	select {
	case s.rt.loads <- struct{}{}:
		defer func() { <-s.rt.loads }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() {
		if p := recover(); p != nil {
			s.logger.Error("panic at loading a shard", "panic", p, "stack", string(debug.Stack()))
			err = fmt.Errorf("%w: panic: %v", errUnreadable, p)
		}
	}()
	began := s.rt.opt.Now()
	m := s.rt.machine(s.partition)
	start, _, _ := s.log.Extent()
	l := loader[M, K, R]{shard: s, machine: m, next: start}
	var buf []byte
	for {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if buf, err = s.log.Read(s.epoch, l.next, s.rt.opt.LoadBytes, buf[:0]); err != nil {
			return nil, fmt.Errorf("read from offset %d: %w", l.next, err)
		}
		if len(buf) == 0 {
			break
		}
		before := l.next
		if err := batch.Split(buf, l.batch); err != nil {
			return nil, fmt.Errorf("%w: after offset %d: %w", errUnreadable, l.next, err)
		}
		if l.next == before {
			return nil, fmt.Errorf("%w: nothing new is read at offset %d", errUnreadable, l.next)
		}
		l.bytes += len(buf)
	}
	_, end, _ := s.log.Extent()
	if end < l.next {
		return nil, fmt.Errorf("log ends at offset %d after records up to %d were read", end, l.next)
	}
	took := s.rt.opt.Now().Sub(began)
	s.rt.metrics.loads.add(s.rt.opt.Now(), took)
	s.logger.Info("shard is loaded", "records", l.records, "skipped", l.skipped, "bytes", l.bytes, "end", end, "took", took)
	return newRunning(s, m, end), nil
}

// loader replays the batches of a log.
type loader[M Machine[M, K, R], K comparable, R any] struct {
	shard   *shard[M, K, R]
	machine M
	next    Offset

	records, skipped, bytes int
}

func (l *loader[M, K, R]) batch(h batch.Header, raw []byte) error {
	if h.LastOffset() < l.next {
		return nil
	}
	if !batch.VerifyCRC(raw) {
		return fmt.Errorf("%w: CRC of the batch at offset %d", batch.ErrCorrupt, h.BaseOffset)
	}
	producer := NoProducer()
	if h.IsTransactional() {
		producer = Producer{ID: h.ProducerID, Epoch: h.ProducerEpoch}
	}
	if h.IsControl() {
		if err := l.control(h, raw, producer); err != nil {
			return err
		}
	} else if err := l.data(raw, producer); err != nil {
		return err
	}
	l.next = h.NextOffset()
	return nil
}

func (l *loader[M, K, R]) control(h batch.Header, raw []byte, producer Producer) error {
	if h.RecordCount == 0 {
		return nil // emptied by compaction
	}
	marker, err := batch.ParseControl(raw)
	if err != nil {
		return err
	}
	if marker.Type != batch.ControlCommit && marker.Type != batch.ControlAbort {
		return nil
	}
	l.records++
	return l.machine.ReplayEndTransaction(h.BaseOffset, producer, marker.Type == batch.ControlCommit)
}

func (l *loader[M, K, R]) data(raw []byte, producer Producer) error {
	it, err := batch.Records(raw, batch.Limits{})
	if err != nil {
		return err
	}
	defer it.Close()
	for it.Next() {
		if it.Offset() < l.next {
			continue
		}
		r := it.Record()
		err := l.machine.Replay(it.Offset(), producer, Record{Key: r.Key, Value: r.Value})
		switch {
		case errors.Is(err, ErrUnknownType):
			l.skipped++
			l.shard.rt.metrics.unknown.Inc()
			l.shard.logger.Warn("record is skipped", "offset", it.Offset(), "error", err)
		case err != nil:
			return fmt.Errorf("record at offset %d: %w", it.Offset(), err)
		default:
			l.records++
		}
	}
	return it.Err()
}

package commitlog

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/weir-broker/weir/broker/batch"
)

// What a segment is known to hold of transactions.
const (
	txnsUnknown int32 = iota
	txnsNone
	txnsSome
)

// abortedTxns reads from the batches which transactions were aborted: those with a record in list[:n]. The markers may
// lie behind, so it goes on through list until each is decided. It does not rely on transaction indexes, which a
// recovery may have lost: a marker decides what its producer wrote before it.
func (l *Log) abortedTxns(list []*segment, n int, seen int64) ([]AbortedTxn, error) {
	var aborted []AbortedTxn
	open := map[batch.ProducerID]batch.Offset{}
	for i, s := range list {
		if i >= n && len(open) == 0 {
			break
		}
		sealed := s.sealed.Load()
		if sealed && s.txns.Load() == txnsNone {
			continue
		}
		any := false
		err := l.scanHeaders(s, seen, func(sc *scanner, h *batch.Header) error {
			if !h.IsTransactional() && !h.IsControl() {
				return nil
			}
			any = true
			if !h.IsControl() {
				if _, ok := open[h.ProducerID]; !ok && i < n {
					open[h.ProducerID] = h.BaseOffset
				}
				return nil
			}
			kind, err := markerOf(sc, h)
			first, ok := open[h.ProducerID]
			if err != nil || !ok || kind != batch.ControlAbort && kind != batch.ControlCommit {
				return err
			}
			delete(open, h.ProducerID)
			if kind == batch.ControlAbort {
				t := AbortedTxn{ProducerID: h.ProducerID, FirstOffset: first, LastOffset: h.BaseOffset, LastStableOffset: h.BaseOffset + 1}
				for _, o := range open {
					t.LastStableOffset = min(t.LastStableOffset, o)
				}
				aborted = append(aborted, t)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		if sealed && !any {
			s.txns.CompareAndSwap(txnsUnknown, txnsNone)
		}
	}
	slices.SortStableFunc(aborted, func(a, b AbortedTxn) int { return cmp.Compare(a.FirstOffset, b.FirstOffset) })
	return aborted, nil
}

// scanHeaders calls fn for each batch of a whole segment.
func (l *Log) scanHeaders(s *segment, seen int64, fn func(sc *scanner, h *batch.Header) error) error {
	sc := newScanner(s.file, 0, s.size.Load(), headerChunk)
	defer sc.close()
	for {
		h, err := sc.next()
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = fn(sc, &h)
		}
		if err != nil {
			return l.scanError(s, seen, err)
		}
		sc.skip(&h)
	}
}

// markerOf reads what a control batch says. One that was emptied, or says something else, is ControlUnknown.
func markerOf(sc *scanner, h *batch.Header) (batch.ControlType, error) {
	if h.RecordCount == 0 {
		return batch.ControlUnknown, nil
	}
	raw, err := sc.body(h)
	if err != nil {
		return batch.ControlUnknown, err
	}
	m, err := batch.ParseControl(raw)
	if err != nil {
		return batch.ControlUnknown, fmt.Errorf("control batch at offset %d: %w: %w", h.BaseOffset, batch.ErrCorrupt, err)
	}
	return m.Type, nil
}

// txnFilter follows the transactions while the batches of a log pass in order, as Kafka's CleanedTransactionMetadata.
type txnFilter struct {
	aborted []AbortedTxn // not begun yet, by first offset
	// ongoing are the aborted transactions that batches are passing of, committed the producers of others.
	ongoing   map[batch.ProducerID]*ongoingAbort
	committed map[batch.ProducerID]struct{}
	// kept are the aborted ones whose marker stays, in the order of the markers, since the last take.
	kept []AbortedTxn
}

type ongoingAbort struct {
	txn  AbortedTxn
	seen bool // a batch of it was there
}

func newTxnFilter(aborted []AbortedTxn) *txnFilter {
	return &txnFilter{aborted: aborted, ongoing: map[batch.ProducerID]*ongoingAbort{}, committed: map[batch.ProducerID]struct{}{}}
}

func (f *txnFilter) begin(upTo batch.Offset) {
	for len(f.aborted) > 0 && f.aborted[0].FirstOffset <= upTo {
		t := f.aborted[0]
		f.aborted = f.aborted[1:]
		if _, ok := f.ongoing[t.ProducerID]; !ok {
			f.ongoing[t.ProducerID] = &ongoingAbort{txn: t}
		}
	}
}

// records reports whether a batch of records belongs to an aborted transaction, so that it may go.
func (f *txnFilter) records(h *batch.Header) bool {
	f.begin(h.LastOffset())
	if !h.IsTransactional() {
		return false
	}
	if a, ok := f.ongoing[h.ProducerID]; ok {
		a.seen = true
		return true
	}
	f.committed[h.ProducerID] = struct{}{}
	return false
}

// marker reports whether a control batch has no batch of its transaction before it any more, so that it may go.
func (f *txnFilter) marker(h *batch.Header, raw []byte) (bool, error) {
	f.begin(h.LastOffset())
	if h.RecordCount == 0 {
		return true, nil // it was cleaned before
	}
	m, err := batch.ParseControl(raw)
	if err != nil {
		return false, fmt.Errorf("control batch at offset %d: %w: %w", h.BaseOffset, batch.ErrCorrupt, err)
	}
	switch m.Type {
	case batch.ControlAbort:
		a, ok := f.ongoing[h.ProducerID]
		delete(f.ongoing, h.ProducerID)
		if ok && a.seen {
			f.kept = append(f.kept, a.txn)
			return false, nil
		}
		return true, nil
	case batch.ControlCommit:
		_, ok := f.committed[h.ProducerID]
		delete(f.committed, h.ProducerID)
		return !ok, nil
	}
	return false, nil
}

// takeKept returns the aborted transactions whose marker was kept since the last call.
func (f *txnFilter) takeKept() []AbortedTxn {
	kept := f.kept
	f.kept = nil
	return kept
}

// indexedTxns are the aborted transactions that the transaction indexes of segments hold, by the offset of the marker.
func (l *Log) indexedTxns(group []*segment) (map[batch.Offset]AbortedTxn, error) {
	found := map[batch.Offset]AbortedTxn{}
	for _, s := range group {
		txns, err := ReadTxnIndex(l.fs, segmentPath(l.Dir(), s.base, extTxnIndex))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case errors.Is(err, ErrInvalidFile):
			l.logger.Warn("transaction index is damaged and made anew", "dir", l.Dir(), "segment", int64(s.base), "error", err)
		case err != nil:
			return nil, err
		}
		for _, t := range txns {
			found[t.LastOffset] = t
		}
	}
	return found, nil
}

func encodeTxnIndex(txns []AbortedTxn) []byte {
	raw := make([]byte, 0, len(txns)*abortedTxnLen)
	for _, t := range txns {
		raw = binary.BigEndian.AppendUint16(raw, 0)
		raw = binary.BigEndian.AppendUint64(raw, uint64(t.ProducerID))
		raw = binary.BigEndian.AppendUint64(raw, uint64(t.FirstOffset))
		raw = binary.BigEndian.AppendUint64(raw, uint64(t.LastOffset))
		raw = binary.BigEndian.AppendUint64(raw, uint64(t.LastStableOffset))
	}
	return raw
}

package producerstate

import (
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/weir-broker/weir/broker/batch"
	"github.com/weir-broker/weir/broker/policy"
	"github.com/weir-broker/weir/broker/vfs"
)

// noOffset stands for an offset that is not there.
const noOffset = batch.Offset(policy.NoOffset)

// Options configures a State.
type Options struct {
	FS vfs.FS
	// Dir is the partition's folder, where the snapshots are. New says that it
	// was made just now and holds none.
	Dir string
	New bool
	// Expiration is producer.id.expiration.ms: a producer without an open
	// transaction is forgotten that long after its last batch's timestamp.
	Expiration time.Duration
	// Policy decides on batches; nil is policy.StandardProducer.
	Policy policy.Producer
	// Logger may be nil.
	Logger *slog.Logger
}

// State is the producer state of one partition. It is not safe for concurrent
// use.
type State struct {
	fs         vfs.FS
	dir        string
	expiration time.Duration
	policy     policy.Producer
	standard   policy.Producer
	log        *slog.Logger

	producers map[batch.ProducerID]*producer
	// ongoing transactions have data and no marker yet, unreplicated ones a
	// marker at or above the high watermark. Both ascend by first offset.
	ongoing      []transaction
	unreplicated []transaction

	// mapEnd is the offset up to which the log is in the state, exclusive;
	// snapEnd the one of the newest snapshot.
	mapEnd, snapEnd batch.Offset
	snapshots       []batch.Offset // of the files present, ascending

	facts policy.ProducerFacts // reused by Check: nothing else is live across calls
}

type producer struct {
	epoch            int16
	coordinatorEpoch int32
	lastTimestamp    int64 // ms, of the last batch or marker
	txnFirst         batch.Offset
	batches          [policy.ProducerBatches]policy.ProducerBatch // oldest first
	count            int
}

type transaction struct {
	producer    batch.ProducerID
	firstOffset batch.Offset
	lastOffset  batch.Offset // of the marker; noOffset while ongoing
}

// Open returns the empty state of the partition in o.Dir and notes which
// snapshots are there. Load fills it.
func Open(o Options) (*State, error) {
	s := &State{
		fs:         o.FS,
		dir:        o.Dir,
		expiration: o.Expiration,
		policy:     o.Policy,
		standard:   policy.StandardProducer(),
		log:        o.Logger,
		producers:  make(map[batch.ProducerID]*producer),
	}
	if s.policy == nil {
		s.policy = s.standard
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if o.New {
		return s, nil
	}
	if err := s.listSnapshots(); err != nil {
		return nil, err
	}
	return s, nil
}

// SetExpiration changes producer.id.expiration.ms.
func (s *State) SetExpiration(d time.Duration) { s.expiration = d }

// Verdict is the answer of Check for a batch that is no error.
type Verdict struct {
	// Duplicate is set for a batch that is in the log already; it must not be
	// appended and is answered with the fields below.
	Duplicate bool
	// BaseOffset and LastOffset are where the first copy lies.
	BaseOffset, LastOffset batch.Offset
	// Timestamp is the largest timestamp of the first copy in milliseconds.
	Timestamp int64
}

// Check decides whether a batch with a producer id may be appended. A batch
// without one is always accepted. It changes nothing and does not allocate
// unless it returns an error.
func (s *State) Check(h *batch.Header, origin policy.Origin) (Verdict, error) {
	if !h.HasProducer() {
		return Verdict{}, nil
	}
	f := &s.facts
	f.ProducerID = int64(h.ProducerID)
	if p, ok := s.producers[h.ProducerID]; ok {
		f.Known = true
		f.Epoch = p.epoch
		f.Batches = p.batches
		f.Count = p.count
		f.TxnFirstOffset = int64(p.txnFirst)
	} else {
		f.Known = false
		f.Epoch = policy.NoProducerEpoch
		f.Count = 0
		f.TxnFirstOffset = policy.NoOffset
	}
	f.Origin = origin
	f.BatchEpoch = int16(h.ProducerEpoch)
	f.FirstSequence = h.BaseSequence
	f.LastSequence = h.LastSequence()
	f.Transactional = h.IsTransactional()

	v := s.policy.Check(f)
	if v.Outcome > policy.ProducerInvalidTxnState || v.Outcome == policy.ProducerDuplicate && (v.Batch < 0 || v.Batch >= f.Count) {
		// An answer outside the contract counts as no answer.
		v = s.standard.Check(f)
	}
	switch v.Outcome {
	case policy.ProducerAccept:
		return Verdict{}, nil
	case policy.ProducerDuplicate:
		b := &f.Batches[v.Batch]
		return Verdict{
			Duplicate:  true,
			BaseOffset: batch.Offset(b.BaseOffset),
			LastOffset: batch.Offset(b.LastOffset),
			Timestamp:  b.Timestamp,
		}, nil
	}
	return Verdict{}, rejection(v.Outcome, f)
}

func rejection(outcome policy.ProducerOutcome, f *policy.ProducerFacts) error {
	last := policy.NoSequence
	if f.Count > 0 {
		last = f.Batches[f.Count-1].LastSequence
	}
	switch outcome {
	case policy.ProducerInvalidEpoch:
		return fmt.Errorf("%w: producer %d sent epoch %d, the last one seen is %d",
			ErrInvalidProducerEpoch, f.ProducerID, f.BatchEpoch, f.Epoch)
	case policy.ProducerInvalidTxnState:
		return fmt.Errorf("%w: producer %d epoch %d, transactional %t, transaction open from offset %d",
			ErrInvalidTxnState, f.ProducerID, f.BatchEpoch, f.Transactional, f.TxnFirstOffset)
	default:
		return fmt.Errorf("%w: producer %d epoch %d sent sequence %d after %d of epoch %d",
			ErrOutOfOrderSequence, f.ProducerID, f.BatchEpoch, f.FirstSequence, last, f.Epoch)
	}
}

// CompletedTxn is a transaction whose marker was just applied; an aborted one
// belongs into the segment's .txnindex.
type CompletedTxn struct {
	ProducerID batch.ProducerID
	// FirstOffset is that of the transaction's first record, LastOffset that
	// of its marker.
	FirstOffset, LastOffset batch.Offset
	Aborted                 bool
	// LastStableOffset is where the oldest transaction that is still open
	// begins, or the offset after the marker.
	LastStableOffset batch.Offset
}

// Apply takes over a batch that was appended, live or in replay. raw is the
// whole batch and is only read when it is a control batch. It returns the
// transaction a marker completed, if any. Nothing is checked: whatever is in
// the log counts.
func (s *State) Apply(h *batch.Header, raw []byte) (CompletedTxn, bool) {
	s.mapEnd = h.NextOffset()
	if !h.HasProducer() {
		return CompletedTxn{}, false
	}
	if h.IsControl() {
		return s.applyMarker(h, raw)
	}
	p := s.get(h.ProducerID)
	p.setEpoch(int16(h.ProducerEpoch))
	if p.count == len(p.batches) {
		copy(p.batches[:], p.batches[1:])
		p.count--
	}
	p.batches[p.count] = policy.ProducerBatch{
		FirstSequence: h.BaseSequence,
		LastSequence:  h.LastSequence(),
		BaseOffset:    int64(h.BaseOffset),
		LastOffset:    int64(h.LastOffset()),
		Timestamp:     h.MaxTimestamp,
	}
	p.count++
	p.lastTimestamp = h.MaxTimestamp
	if h.IsTransactional() && p.txnFirst == noOffset {
		p.txnFirst = h.BaseOffset
		s.begin(transaction{producer: h.ProducerID, firstOffset: h.BaseOffset, lastOffset: noOffset})
	}
	return CompletedTxn{}, false
}

func (s *State) applyMarker(h *batch.Header, raw []byte) (CompletedTxn, bool) {
	if h.RecordCount == 0 {
		// Emptied by compaction; its transaction is long decided.
		return CompletedTxn{}, false
	}
	marker, err := batch.ParseControl(raw)
	if err != nil || marker.Type != batch.ControlCommit && marker.Type != batch.ControlAbort {
		s.log.Warn("control batch of a producer is no transaction marker", "offset", int64(h.BaseOffset), "producer", int64(h.ProducerID), "err", err)
		return CompletedTxn{}, false
	}
	p := s.get(h.ProducerID)
	first := p.txnFirst
	p.setEpoch(int16(h.ProducerEpoch))
	p.coordinatorEpoch = marker.CoordinatorEpoch
	p.lastTimestamp = h.MaxTimestamp // of its only record
	p.txnFirst = noOffset
	if first == noOffset {
		return CompletedTxn{}, false
	}
	done := CompletedTxn{
		ProducerID:       h.ProducerID,
		FirstOffset:      first,
		LastOffset:       h.BaseOffset,
		Aborted:          marker.Type == batch.ControlAbort,
		LastStableOffset: h.BaseOffset + 1,
	}
	if i, ok := findTxn(s.ongoing, first); ok {
		s.ongoing = slices.Delete(s.ongoing, i, i+1)
	}
	if len(s.ongoing) > 0 {
		done.LastStableOffset = s.ongoing[0].firstOffset
	}
	i, _ := findTxn(s.unreplicated, first)
	s.unreplicated = slices.Insert(s.unreplicated, i, transaction{producer: h.ProducerID, firstOffset: first, lastOffset: h.BaseOffset})
	return done, true
}

func (s *State) get(id batch.ProducerID) *producer {
	p, ok := s.producers[id]
	if !ok {
		p = &producer{epoch: policy.NoProducerEpoch, coordinatorEpoch: -1, lastTimestamp: -1, txnFirst: noOffset}
		s.producers[id] = p
	}
	return p
}

// setEpoch forgets the batches of another epoch: their sequences say nothing
// about this one's.
func (p *producer) setEpoch(epoch int16) {
	if p.epoch != epoch {
		p.epoch = epoch
		p.count = 0
	}
}

func (s *State) begin(t transaction) {
	i, _ := findTxn(s.ongoing, t.firstOffset)
	s.ongoing = slices.Insert(s.ongoing, i, t)
}

func findTxn(txns []transaction, first batch.Offset) (int, bool) {
	return slices.BinarySearchFunc(txns, first, func(t transaction, o batch.Offset) int {
		switch {
		case t.firstOffset < o:
			return -1
		case t.firstOffset > o:
			return 1
		}
		return 0
	})
}

// HighWatermarkAdvanced lets go of the decided transactions whose marker lies
// below hw.
func (s *State) HighWatermarkAdvanced(hw batch.Offset) { s.replicatedBelow(hw) }

func (s *State) replicatedBelow(offset batch.Offset) {
	if len(s.unreplicated) == 0 {
		return
	}
	s.unreplicated = slices.DeleteFunc(s.unreplicated, func(t transaction) bool { return t.lastOffset < offset })
}

// FirstUnstableOffset returns the first offset of the oldest transaction that
// has no marker below the high watermark; the last stable offset never passes
// it. The second result is false when there is none.
func (s *State) FirstUnstableOffset() (batch.Offset, bool) {
	switch {
	case len(s.ongoing) == 0 && len(s.unreplicated) == 0:
		return 0, false
	case len(s.ongoing) == 0:
		return s.unreplicated[0].firstOffset, true
	case len(s.unreplicated) == 0:
		return s.ongoing[0].firstOffset, true
	}
	return min(s.ongoing[0].firstOffset, s.unreplicated[0].firstOffset), true
}

// LogStartAdvanced tells the state that offsets below start are gone.
func (s *State) LogStartAdvanced(start batch.Offset) {
	s.replicatedBelow(start)
	s.mapEnd = max(s.mapEnd, start)
	s.snapEnd = s.newestSnapshotOr(start)
}

// Expire forgets producers without an open transaction whose last batch is
// older than the expiration. It returns how many.
func (s *State) Expire(now time.Time) int {
	before := len(s.producers)
	for id, p := range s.producers {
		if s.expired(p, now) {
			delete(s.producers, id)
		}
	}
	return before - len(s.producers)
}

func (s *State) expired(p *producer, now time.Time) bool {
	return p.txnFirst == noOffset && now.UnixMilli()-p.lastTimestamp >= s.expiration.Milliseconds()
}

// End returns the offset up to which the log is in the state, exclusive.
func (s *State) End() batch.Offset { return s.mapEnd }

// Len returns the number of producers known.
func (s *State) Len() int { return len(s.producers) }

// Producer is one producer's state, as DescribeProducers shows it.
type Producer struct {
	ID            batch.ProducerID
	Epoch         batch.ProducerEpoch
	LastSequence  int32 // -1 when only a marker is known
	LastTimestamp int64 // ms
	// LastOffset is that of the last data batch, -1 when only a marker is
	// known.
	LastOffset       batch.Offset
	CoordinatorEpoch int32        // -1 before the first marker
	TxnFirstOffset   batch.Offset // -1 without an open transaction
}

// Producers returns the active producers in ascending order of id.
func (s *State) Producers() []Producer {
	out := make([]Producer, 0, len(s.producers))
	for id, p := range s.producers {
		v := Producer{
			ID:               id,
			Epoch:            batch.ProducerEpoch(p.epoch),
			LastSequence:     policy.NoSequence,
			LastTimestamp:    p.lastTimestamp,
			LastOffset:       noOffset,
			CoordinatorEpoch: p.coordinatorEpoch,
			TxnFirstOffset:   p.txnFirst,
		}
		if p.count > 0 {
			b := &p.batches[p.count-1]
			v.LastSequence, v.LastOffset = b.LastSequence, batch.Offset(b.LastOffset)
		}
		out = append(out, v)
	}
	slices.SortFunc(out, func(a, b Producer) int {
		switch {
		case a.ID < b.ID:
			return -1
		case a.ID > b.ID:
			return 1
		}
		return 0
	})
	return out
}

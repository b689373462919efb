package batch

import "encoding/binary"

// ControlType is the kind of a control record.
type ControlType int16

// The control records of Kafka. Only the transaction markers occur in topic partitions.
const (
	ControlAbort          ControlType = 0
	ControlCommit         ControlType = 1
	ControlLeaderChange   ControlType = 2
	ControlSnapshotHeader ControlType = 3
	ControlSnapshotFooter ControlType = 4
	ControlKRaftVersion   ControlType = 5
	ControlKRaftVoters    ControlType = 6
	ControlUnknown        ControlType = -1
)

const (
	controlKeyLen     = 4 // version int16, type int16
	endTxnMarkerLen   = 6 // version int16, coordinator epoch int32
	maxControlPayload = 64 << 10
)

// EndTxnMarker is the record that ends a transaction in a partition (KIP-98).
type EndTxnMarker struct {
	Type             ControlType // ControlAbort or ControlCommit
	CoordinatorEpoch int32
}

// ParseControl reads the type of the control batch raw; for transaction markers also the coordinator epoch. A type
// that is not known is ControlUnknown without error, since newer brokers may write newer ones. ErrInvalidRecord: raw
// is no control batch or is malformed.
func ParseControl(raw []byte) (EndTxnMarker, error) {
	none := EndTxnMarker{Type: ControlUnknown, CoordinatorEpoch: -1}
	h, err := ParseHeader(raw)
	if err != nil {
		return none, err
	}
	if !h.IsControl() {
		return none, invalidRecord("batch at offset %d is no control batch", h.BaseOffset)
	}
	it, err := Records(raw, Limits{Decompressed: maxControlPayload, Record: maxControlPayload})
	if err != nil {
		return none, err
	}
	defer it.Close()
	if !it.Next() {
		if it.Err() != nil {
			return none, it.Err()
		}
		return none, invalidRecord("control batch at offset %d is empty", h.BaseOffset)
	}
	m := none
	r := it.Record()
	if len(r.Key) < controlKeyLen || int16(binary.BigEndian.Uint16(r.Key)) < 0 {
		return none, invalidRecord("control batch at offset %d has a key of %d bytes", h.BaseOffset, len(r.Key))
	}
	m.Type = ControlType(binary.BigEndian.Uint16(r.Key[2:]))
	switch m.Type {
	case ControlAbort, ControlCommit:
		if len(r.Value) < endTxnMarkerLen || int16(binary.BigEndian.Uint16(r.Value)) < 0 {
			return none, invalidRecord("transaction marker at offset %d has a value of %d bytes", h.BaseOffset, len(r.Value))
		}
		m.CoordinatorEpoch = int32(binary.BigEndian.Uint32(r.Value[2:]))
	case ControlLeaderChange, ControlSnapshotHeader, ControlSnapshotFooter, ControlKRaftVersion, ControlKRaftVoters:
	default:
		m.Type = ControlUnknown
	}
	return m, nil
}

// NewEndTxnMarker builds the control batch that commits or aborts a producer's transaction: one record at offset o.
// ts is in milliseconds.
func NewEndTxnMarker(o Offset, ts int64, id ProducerID, epoch ProducerEpoch, leaderEpoch LeaderEpoch, m EndTxnMarker) []byte {
	var key [controlKeyLen]byte
	binary.BigEndian.PutUint16(key[2:], uint16(m.Type))
	var value [endTxnMarkerLen]byte
	binary.BigEndian.PutUint32(value[2:], uint32(m.CoordinatorEpoch))
	b := NewBuilder(BuilderOptions{
		BaseOffset: o, LeaderEpoch: leaderEpoch, ProducerID: id, ProducerEpoch: epoch, BaseSequence: NoSequence,
		Transactional: true, Control: true,
	})
	b.Add(ts, key[:], value[:], nil)
	return b.Bytes()
}

package batch

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

// EndTxnMarker is the record that ends a transaction in a partition (KIP-98).
type EndTxnMarker struct {
	Type             ControlType // ControlAbort or ControlCommit
	CoordinatorEpoch int32
}

// ParseControl reads the type of the control batch raw; for transaction markers also the coordinator epoch. A type
// that is not known is ControlUnknown without error. ErrInvalidRecord: raw is no control batch or is malformed.
func ParseControl(raw []byte) (EndTxnMarker, error) { return EndTxnMarker{}, ErrInvalidRecord }

// NewEndTxnMarker builds the control batch that commits or aborts a producer's transaction, one record at offset o.
// ts is in milliseconds.
func NewEndTxnMarker(o Offset, ts int64, id ProducerID, epoch ProducerEpoch, leaderEpoch LeaderEpoch, m EndTxnMarker) []byte {
	return nil
}

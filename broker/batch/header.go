package batch

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
)

// Offset is the position of a record in a partition, counted from 0.
type Offset int64

// LeaderEpoch counts the leaders a partition has had; -1 is none (KIP-101).
type LeaderEpoch int32

// ProducerID names an idempotent or transactional producer; -1 is none (KIP-98).
type ProducerID int64

// ProducerEpoch fences older instances of a producer; -1 is none.
type ProducerEpoch int16

const (
	// HeaderLen is the size of a batch header in bytes: an empty batch has just this.
	HeaderLen = 61
	// LogOverhead is the part in front of what batchLength counts: base offset and batchLength itself.
	LogOverhead = 12
	// NoTimestamp is the timestamp of a record that has none, in milliseconds.
	NoTimestamp int64 = -1
	// NoProducerID is the producer id of a batch written without idempotence.
	NoProducerID ProducerID = -1
	// NoProducerEpoch is the producer epoch of a batch written without idempotence.
	NoProducerEpoch ProducerEpoch = -1
	// NoSequence is the base sequence of a batch without sequence numbers; control batches have it too.
	NoSequence int32 = -1
	// NoLeaderEpoch is the leader epoch of a batch that no leader has stamped.
	NoLeaderEpoch LeaderEpoch = -1

	magicV2 = 2

	offBaseOffset      = 0
	offBatchLength     = 8
	offLeaderEpoch     = 12
	offMagic           = 16
	offCRC             = 17
	offAttributes      = 21
	offLastOffsetDelta = 23
	offBaseTimestamp   = 27
	offMaxTimestamp    = 35
	offProducerID      = 43
	offProducerEpoch   = 51
	offBaseSequence    = 53
	offRecordCount     = 57

	attrCodecMask     = 0x07
	attrLogAppendTime = 0x08
	attrTransactional = 0x10
	attrControl       = 0x20
	attrDeleteHorizon = 0x40

	// minBatchLength is the least batchLength of any magic, that of a message of magic 0. Kafka refuses less at
	// framing, before it looks at the magic.
	minBatchLength = 14
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Header is a parsed batch header. Timestamps are milliseconds since the Unix epoch.
type Header struct {
	BaseOffset      Offset
	BatchLength     int32
	LeaderEpoch     LeaderEpoch
	Magic           int8
	CRC             uint32
	Attributes      int16
	LastOffsetDelta int32
	BaseTimestamp   int64
	MaxTimestamp    int64
	ProducerID      ProducerID
	ProducerEpoch   ProducerEpoch
	BaseSequence    int32
	RecordCount     int32
}

// ParseHeader reads the header of the batch that raw begins with. The batch's records need not be in raw: Size says
// how long the whole is. ErrTruncated: raw is shorter than a header. ErrCorrupt: the magic is not 2 or batchLength
// cannot be one.
func ParseHeader(raw []byte) (Header, error) {
	if len(raw) < HeaderLen {
		return Header{}, fmt.Errorf("batch header needs %d bytes, have %d: %w", HeaderLen, len(raw), ErrTruncated)
	}
	h := decodeHeader((*[HeaderLen]byte)(raw))
	if h.Magic != magicV2 {
		return Header{}, fmt.Errorf("batch at offset %d has magic %d: %w", h.BaseOffset, h.Magic, ErrCorrupt)
	}
	if h.BatchLength < HeaderLen-LogOverhead || h.BatchLength > math.MaxInt32-LogOverhead {
		return Header{}, fmt.Errorf("batch at offset %d has length %d: %w", h.BaseOffset, h.BatchLength, ErrCorrupt)
	}
	return h, nil
}

func decodeHeader(b *[HeaderLen]byte) Header {
	return Header{
		BaseOffset:      Offset(binary.BigEndian.Uint64(b[offBaseOffset:])),
		BatchLength:     int32(binary.BigEndian.Uint32(b[offBatchLength:])),
		LeaderEpoch:     LeaderEpoch(binary.BigEndian.Uint32(b[offLeaderEpoch:])),
		Magic:           int8(b[offMagic]),
		CRC:             binary.BigEndian.Uint32(b[offCRC:]),
		Attributes:      int16(binary.BigEndian.Uint16(b[offAttributes:])),
		LastOffsetDelta: int32(binary.BigEndian.Uint32(b[offLastOffsetDelta:])),
		BaseTimestamp:   int64(binary.BigEndian.Uint64(b[offBaseTimestamp:])),
		MaxTimestamp:    int64(binary.BigEndian.Uint64(b[offMaxTimestamp:])),
		ProducerID:      ProducerID(binary.BigEndian.Uint64(b[offProducerID:])),
		ProducerEpoch:   ProducerEpoch(binary.BigEndian.Uint16(b[offProducerEpoch:])),
		BaseSequence:    int32(binary.BigEndian.Uint32(b[offBaseSequence:])),
		RecordCount:     int32(binary.BigEndian.Uint32(b[offRecordCount:])),
	}
}

// AppendHeader appends the 61 bytes of h to dst. The CRC is written as it stands in h.
func AppendHeader(dst []byte, h *Header) []byte {
	dst = binary.BigEndian.AppendUint64(dst, uint64(h.BaseOffset))
	dst = binary.BigEndian.AppendUint32(dst, uint32(h.BatchLength))
	dst = binary.BigEndian.AppendUint32(dst, uint32(h.LeaderEpoch))
	dst = append(dst, byte(h.Magic))
	dst = binary.BigEndian.AppendUint32(dst, h.CRC)
	dst = binary.BigEndian.AppendUint16(dst, uint16(h.Attributes))
	dst = binary.BigEndian.AppendUint32(dst, uint32(h.LastOffsetDelta))
	dst = binary.BigEndian.AppendUint64(dst, uint64(h.BaseTimestamp))
	dst = binary.BigEndian.AppendUint64(dst, uint64(h.MaxTimestamp))
	dst = binary.BigEndian.AppendUint64(dst, uint64(h.ProducerID))
	dst = binary.BigEndian.AppendUint16(dst, uint16(h.ProducerEpoch))
	dst = binary.BigEndian.AppendUint32(dst, uint32(h.BaseSequence))
	return binary.BigEndian.AppendUint32(dst, uint32(h.RecordCount))
}

// Size is the length of the whole batch in bytes, header included.
func (h *Header) Size() int { return LogOverhead + int(h.BatchLength) }

// LastOffset is the offset of the batch's last record, inclusive. It survives compaction of that record.
func (h *Header) LastOffset() Offset { return h.BaseOffset + Offset(h.LastOffsetDelta) }

// NextOffset is the offset after the batch.
func (h *Header) NextOffset() Offset { return h.LastOffset() + 1 }

// Codec is the compression of the batch's records; it may be one that does not exist (5 to 7).
func (h *Header) Codec() Codec { return Codec(h.Attributes & attrCodecMask) }

// IsControl reports whether the batch holds a control record, such as a transaction marker.
func (h *Header) IsControl() bool { return h.Attributes&attrControl != 0 }

// IsTransactional reports whether the batch belongs to a transaction.
func (h *Header) IsTransactional() bool { return h.Attributes&attrTransactional != 0 }

// HasProducer reports whether the batch has a producer id, and so sequence numbers.
func (h *Header) HasProducer() bool { return h.ProducerID > NoProducerID }

// LogAppendTime reports whether all records carry MaxTimestamp, set by the broker, as their timestamp.
func (h *Header) LogAppendTime() bool { return h.Attributes&attrLogAppendTime != 0 }

// DeleteHorizon is the time in milliseconds from which the batch's tombstones and markers may be cleaned away, if
// the batch has one (KIP-534).
func (h *Header) DeleteHorizon() (int64, bool) {
	return h.BaseTimestamp, h.Attributes&attrDeleteHorizon != 0
}

// LastSequence is the sequence number of the batch's last record, NoSequence when it has none.
func (h *Header) LastSequence() int32 {
	if h.BaseSequence == NoSequence {
		return NoSequence
	}
	return IncrementSequence(h.BaseSequence, h.LastOffsetDelta)
}

// IncrementSequence adds increment to sequence; after 2147483647 comes 0.
func IncrementSequence(sequence, increment int32) int32 {
	if sequence > math.MaxInt32-increment {
		return increment - (math.MaxInt32 - sequence) - 1
	}
	return sequence + increment
}

// DecrementSequence is the inverse of IncrementSequence.
func DecrementSequence(sequence, decrement int32) int32 {
	if sequence < decrement {
		return math.MaxInt32 - (decrement - sequence) + 1
	}
	return sequence - decrement
}

// VerifyCRC reports whether raw, exactly one batch, matches its CRC.
func VerifyCRC(raw []byte) bool {
	return len(raw) >= HeaderLen && binary.BigEndian.Uint32(raw[offCRC:]) == checksum(raw)
}

func checksum(raw []byte) uint32 { return crc32.Update(0, castagnoli, raw[offAttributes:]) }

// SetBaseOffset overwrites the base offset of the batch raw in place. The CRC does not cover it.
// raw must hold at least a header.
func SetBaseOffset(raw []byte, o Offset) {
	binary.BigEndian.PutUint64(raw[offBaseOffset:], uint64(o))
}

// SetLeaderEpoch overwrites the leader epoch of the batch raw in place. The CRC does not cover it.
// raw must hold at least a header.
func SetLeaderEpoch(raw []byte, e LeaderEpoch) {
	binary.BigEndian.PutUint32(raw[offLeaderEpoch:], uint32(e))
}

// Split calls fn for each batch of raw, which holds whole batches one after another; the slice given to fn is
// exactly that batch and aliases raw. It verifies no CRC. A batch cut short at the end gives ErrTruncated after fn
// has seen all before it.
func Split(raw []byte, fn func(h Header, raw []byte) error) error {
	for len(raw) > 0 {
		h, err := ParseHeader(raw)
		if err != nil {
			return err
		}
		size := h.Size()
		if size > len(raw) {
			return fmt.Errorf("batch at offset %d needs %d bytes, have %d: %w", h.BaseOffset, size, len(raw), ErrTruncated)
		}
		if err := fn(h, raw[:size:size]); err != nil {
			return err
		}
		raw = raw[size:]
	}
	return nil
}

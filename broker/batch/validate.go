package batch

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// TimestampType says whose clock a topic's records carry: message.timestamp.type.
type TimestampType int8

const (
	// CreateTime keeps the producer's timestamps, within a range.
	CreateTime TimestampType = iota
	// LogAppendTime stamps each batch with the broker's clock.
	LogAppendTime
)

// Origin says who wrote a batch. Clients are trusted least.
type Origin int8

const (
	// OriginClient is a produce request.
	OriginClient Origin = iota
	// OriginCoordinator is the broker itself: group and transaction coordinators, transaction markers.
	OriginCoordinator
)

// DefaultRecordBound is the bound on a batch's records after decompression, in bytes, when ValidateOptions or Limits
// leave it 0. Validation streams, so it bounds time rather than memory.
const DefaultRecordBound = 256 << 20

// ValidateOptions are the rules of the topic and the state of its log. Times are milliseconds.
type ValidateOptions struct {
	NextOffset     Offset      // the log end offset: what the first record gets
	LeaderEpoch    LeaderEpoch // stamped on the batch
	Now            int64       // the broker's clock
	TimestampType  TimestampType
	BeforeMax      int64 // message.timestamp.before.max.ms: how much older than Now; math.MaxInt64 is no bound
	AfterMax       int64 // message.timestamp.after.max.ms: how much newer than Now
	MaxBatchSize   int   // max.message.bytes; 0 is no bound
	Compacted      bool  // cleanup.policy has compact: every record needs a key
	TargetCodec    TargetCodec
	MaxRecordSize  int    // max.decompressed.message.bytes: most bytes of one record of a compressed batch; 0 is no bound
	RecordBound    int64  // most bytes of all records after decompression; 0 is DefaultRecordBound
	HeaderOnly     bool   // weir.produce.validation=header: CRC and header, records only where a rule needs them
	Origin         Origin // who wrote it
	TopicPartition string // "topic-0", for messages only
}

// ValidateResult is an accepted batch.
type ValidateResult struct {
	Raw    []byte // the batch as it goes into the log: the slice given, patched in place, or a new one if Recompressed
	Header Header // of Raw
	// MaxTimestamp is the newest timestamp of the batch's records, NoTimestamp if none has one.
	MaxTimestamp int64
	// ShallowOffsetOfMaxTimestamp is the last offset of the batch, the one a time index names; -1 without timestamp.
	ShallowOffsetOfMaxTimestamp Offset
	// LogAppendTime is Now on topics with LogAppendTime, else NoTimestamp: the produce response carries it.
	LogAppendTime int64
	Recompressed  bool
}

// CheckProduced applies the rules a produce request has for the framing of one partition's records, before anything
// else is looked at: exactly one batch, magic 2, no zstd below version 7 (KIP-110). ErrInvalidRecord, ErrCorrupt,
// ErrUnsupportedCodec or ErrUndecodable. Validate applies them too, but for the version's.
func CheckProduced(raw []byte, version int16) error {
	_, err := frame(raw, version < 7)
	return err
}

// frame finds the one batch of raw and returns its size. Like Kafka's it ignores what follows the batch, if that is
// too short to be a batch itself.
func frame(raw []byte, noZstd bool) (int, error) {
	size, err := nextBatch(raw)
	if err != nil {
		return 0, err
	}
	if size == 0 {
		return 0, invalidRecord("no batch in %d bytes", len(raw))
	}
	if raw[offMagic] != magicV2 {
		return 0, invalidRecord("magic %d, must be %d", raw[offMagic], magicV2)
	}
	if noZstd {
		if size < offLastOffsetDelta {
			return 0, undecodable("batch of %d bytes", size)
		}
		c := Codec(raw[offAttributes+1] & attrCodecMask)
		if c == Zstd {
			return 0, fmt.Errorf("%w: zstd needs produce version 7", ErrUnsupportedCodec)
		}
		if !c.Valid() {
			return 0, undecodable("unknown compression type %d", int8(c))
		}
	}
	second, err := nextBatch(raw[size:])
	if err != nil {
		return 0, err
	}
	if second != 0 {
		return 0, invalidRecord("more than one batch")
	}
	return size, nil
}

// nextBatch is the size of the batch b begins with, 0 if none is there as a whole.
func nextBatch(b []byte) (int, error) {
	if len(b) < LogOverhead {
		return 0, nil
	}
	length := int32(binary.BigEndian.Uint32(b[offBatchLength:]))
	if length < minBatchLength {
		return 0, fmt.Errorf("%w: batch length %d", ErrCorrupt, length)
	}
	if len(b) <= offMagic {
		return 0, nil
	}
	if b[offMagic] > magicV2 {
		return 0, fmt.Errorf("%w: magic %d", ErrCorrupt, int8(b[offMagic]))
	}
	if length > math.MaxInt32-LogOverhead {
		return 0, undecodable("batch length %d", length)
	}
	size := LogOverhead + int(length)
	if size > len(b) {
		return 0, nil
	}
	return size, nil
}

// Validate decides whether the produced batch raw may be appended, and makes it what the log stores: offsets,
// leader epoch, timestamps and, if the topic wants another codec, compression. raw is patched in place.
//
// The rules and their order are those of Kafka 4.4, so of several faults the same one is reported. Where we differ:
// RecordErrors names at most MaxRecordErrors records, RecordBound limits what a batch unpacks to, recompression keeps
// the bytes of header keys that are not UTF-8, and of a stream that is damaged in itself our decoders may notice
// another fault first, or one that Kafka's miss. Errors: ErrInvalidRecord, ErrCorrupt, ErrTooLarge,
// ErrUndecodable, or *RecordErrors of kind ErrInvalidRecord or ErrInvalidTimestamp. After an error raw may have been
// read but not changed.
func Validate(raw []byte, o ValidateOptions) (ValidateResult, error) {
	size, err := frame(raw, false)
	if err != nil {
		return ValidateResult{}, o.locate(err)
	}
	res, err := validate(raw[:size:size], &o)
	if err != nil {
		return ValidateResult{}, o.locate(err)
	}
	return res, nil
}

// locate adds the partition to an error.
func (o *ValidateOptions) locate(err error) error {
	if o.TopicPartition == "" {
		return err
	}
	var records *RecordErrors
	if errors.As(err, &records) {
		return err
	}
	return fmt.Errorf("%s: %w", o.TopicPartition, err)
}

// validate is Validate for raw of exactly one batch's length.
func validate(raw []byte, o *ValidateOptions) (ValidateResult, error) {
	if base := int64(binary.BigEndian.Uint64(raw)); o.Origin == OriginClient && base != 0 {
		return ValidateResult{}, invalidRecord("base offset is %d, must be 0", base)
	}
	if len(raw) < offBaseTimestamp {
		return ValidateResult{}, undecodable("batch of %d bytes", len(raw))
	}
	if o.MaxBatchSize > 0 && len(raw) > o.MaxBatchSize {
		return ValidateResult{}, tooLarge(len(raw), o.MaxBatchSize)
	}
	if !VerifyCRC(raw) {
		return ValidateResult{}, fmt.Errorf("%w: CRC does not match", ErrCorrupt)
	}
	h := decodeHeader((*[HeaderLen]byte)(raw))
	if !h.Codec().Valid() {
		return ValidateResult{}, undecodable("unknown compression type %d", int8(h.Codec()))
	}
	if o.Origin == OriginClient {
		if err := checkHeader(&h); err != nil {
			return ValidateResult{}, err
		}
	}
	target := h.Codec()
	if o.TargetCodec.Force {
		target = o.TargetCodec.Compression.Codec
	}
	if target != h.Codec() && !(h.Codec() == None && h.IsControl()) {
		return recompress(raw, &h, o)
	}

	if o.HeaderOnly && headerSuffices(&h, o) {
		return accept(raw, &h, o, h.RecordCount, h.MaxTimestamp), nil
	}
	c := newChecker(&h, o)
	var err error
	switch {
	case h.RecordCount < 0:
		err = invalidRecord("record count is %d", h.RecordCount)
	case h.RecordCount == 0:
	case h.Codec() == None:
		err = c.walk(raw[HeaderLen:], h.RecordCount)
	default:
		err = c.walkPacked(h.Codec(), raw[HeaderLen:], h.RecordCount)
	}
	if err == nil {
		err = c.failure()
	}
	if err != nil {
		return ValidateResult{}, err
	}
	// Kafka cannot rebuild a batch whose fields it has skipped, and rebuilding a control batch would lose its kind.
	if c.scattered && (h.Codec() != None || target != None) {
		return ValidateResult{}, undecodable("records are not numbered from 0")
	}
	return accept(raw, &h, o, h.RecordCount, c.maxTimestamp), nil
}

func tooLarge(size, most int) error {
	return fmt.Errorf("%w: %d bytes, the most is %d", ErrTooLarge, size, most)
}

// checkHeader applies the rules for the headers of clients.
func checkHeader(h *Header) error {
	switch {
	case h.LastOffsetDelta < 0:
		return invalidRecord("last offset delta is %d", h.LastOffsetDelta)
	case h.RecordCount <= 0:
		return invalidRecord("record count is %d", h.RecordCount)
	case int64(h.LastOffsetDelta)+1 != int64(h.RecordCount):
		return invalidRecord("last offset delta is %d, but record count %d", h.LastOffsetDelta, h.RecordCount)
	case h.IsControl():
		return invalidRecord("clients may not write control records")
	case h.HasProducer() && h.BaseSequence < 0:
		return invalidRecord("base sequence %d of producer %d", h.BaseSequence, h.ProducerID)
	}
	return nil
}

// headerSuffices reports whether, in header-only mode, no rule of the topic needs the records. A header that looks
// wrong is not enough: the walk then finds which records are.
func headerSuffices(h *Header, o *ValidateOptions) bool {
	if o.Compacted || h.LogAppendTime() || h.RecordCount <= 0 {
		return false
	}
	return o.TimestampType == LogAppendTime ||
		o.BeforeMax == math.MaxInt64 && (h.MaxTimestamp == NoTimestamp || h.MaxTimestamp-o.Now <= o.AfterMax)
}

// accept patches raw for the log. n is the number of records, newest the newest of their timestamps.
func accept(raw []byte, h *Header, o *ValidateOptions, n int32, newest int64) ValidateResult {
	h.BaseOffset = o.NextOffset + Offset(n) - 1 - Offset(h.LastOffsetDelta)
	h.LeaderEpoch = o.LeaderEpoch
	SetBaseOffset(raw, h.BaseOffset)
	SetLeaderEpoch(raw, h.LeaderEpoch)
	stamp := o.TimestampType == LogAppendTime
	if stamp {
		newest = o.Now
	}
	// The attributes' unused bits survive only where nothing else changes, as in Kafka.
	if h.LogAppendTime() != stamp || h.MaxTimestamp != newest {
		h.MaxTimestamp = newest
		h.Attributes &= attrCodecMask | attrTransactional | attrControl | attrDeleteHorizon
		if stamp {
			h.Attributes |= attrLogAppendTime
		}
		binary.BigEndian.PutUint16(raw[offAttributes:], uint16(h.Attributes))
		binary.BigEndian.PutUint64(raw[offMaxTimestamp:], uint64(newest))
		h.CRC = checksum(raw)
		binary.BigEndian.PutUint32(raw[offCRC:], h.CRC)
	}
	return result(raw, h, o)
}

func result(raw []byte, h *Header, o *ValidateOptions) ValidateResult {
	r := ValidateResult{
		Raw: raw, Header: *h, MaxTimestamp: h.MaxTimestamp, ShallowOffsetOfMaxTimestamp: h.LastOffset(),
		LogAppendTime: NoTimestamp,
	}
	if o.TimestampType == LogAppendTime {
		r.LogAppendTime = o.Now
	}
	if h.MaxTimestamp == NoTimestamp {
		r.ShallowOffsetOfMaxTimestamp = -1
	}
	return r
}

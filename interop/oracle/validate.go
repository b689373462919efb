//go:build interop

package oracle

import (
	"context"
	"math"
)

// Codec names as Kafka's topic configuration spells them; "producer" keeps what the producer chose.
const (
	CodecProducer     = "producer"
	CodecUncompressed = "uncompressed"
)

// DefaultLevel asks for a codec's default level.
const DefaultLevel = math.MinInt32

// Origin is who appends, in the order of Kafka's AppendOrigin.
type Origin int8

// The origins.
const (
	OriginReplication Origin = iota
	OriginCoordinator
	OriginClient
	OriginRaftLeader
)

// NoDecompressedLimit is the default of max.decompressed.message.bytes.
const NoDecompressedLimit = 2147483639

// ValidateRequest is the records field of one partition of a produce request and what the leader holds against it.
type ValidateRequest struct {
	ProduceVersion       int16 // version of the produce request; negative skips the request's own check
	NextOffset           int64 // log end offset
	LeaderEpoch          int32
	Now                  int64 // ms
	LogAppendTime        bool  // message.timestamp.type
	BeforeMax, AfterMax  int64 // message.timestamp.{before,after}.max.ms
	MaxMessageBytes      int32
	SegmentBytes         int32 // 0: not checked
	MaxDecompressedBytes int32 // max.decompressed.message.bytes; 0 means its default
	Compacted            bool
	Codec                string // compression.type
	Level                int32  // DefaultLevel, or the level
	Origin               Origin
	WantRecords          bool // also return the accepted records, decompressed
	Raw                  []byte
}

// NewValidateRequest returns a request with Kafka's defaults for a client's append.
func NewValidateRequest(raw []byte) ValidateRequest {
	return ValidateRequest{
		ProduceVersion: 12, BeforeMax: math.MaxInt64, AfterMax: 3600000, MaxMessageBytes: 1048588, SegmentBytes: 1 << 30,
		MaxDecompressedBytes: NoDecompressedLimit, Codec: CodecProducer, Level: DefaultLevel, Origin: OriginClient, Raw: raw,
	}
}

// Rejection is an exception of Kafka's, named as the class is and coded as the protocol does.
type Rejection struct {
	Stage   string // request, analyze, validate or size: which check spoke
	Class   string // simple name of the exception's class
	Code    int16
	Message string
	Records []RecordError
}

// RecordError is the complaint about one record.
type RecordError struct {
	Index   int32
	Message string
}

// Record is one accepted record.
type Record struct {
	Offset, Timestamp int64
	Key, Value        []byte // nil is null
	Headers           []Header
}

// Header is a record header; a nil value is null.
type Header struct {
	Key   string
	Value []byte
}

// ValidateResult is Kafka's answer. Nothing is set but NoRecords when the set held no valid bytes.
type ValidateResult struct {
	Rejected                *Rejection // nil: accepted
	NoRecords               bool
	FirstOffset, LastOffset int64
	MaxTimestamp            int64
	LogAppendTime           int64 // -1 unless LogAppendTime was asked for
	Recompressed            bool  // the bytes were rebuilt rather than patched
	Raw                     []byte
	Records                 []Record
}

// Validate asks what a leader does to the records before it writes them: ProduceRequest.validateRecords, the log's
// analyzeAndValidateRecords, LogValidator, and the checks of size after it. Several thousand cases a second.
func (o *Oracle) Validate(ctx context.Context, q ValidateRequest) (ValidateResult, error) {
	if q.MaxDecompressedBytes == 0 {
		q.MaxDecompressedBytes = NoDecompressedLimit
	}
	var w writer
	w.b = make([]byte, 0, 96+len(q.Raw))
	w.i16(q.ProduceVersion)
	w.i64(q.NextOffset)
	w.i32(q.LeaderEpoch)
	w.i64(q.Now)
	w.bool(q.LogAppendTime)
	w.i64(q.BeforeMax)
	w.i64(q.AfterMax)
	w.i32(q.MaxMessageBytes)
	w.i32(q.SegmentBytes)
	w.i32(q.MaxDecompressedBytes)
	w.bool(q.Compacted)
	w.str(q.Codec)
	w.i32(q.Level)
	w.i8(int8(q.Origin))
	w.bool(q.WantRecords)
	w.bytes(q.Raw)
	b, err := o.call(ctx, opValidate, w.b)
	if err != nil {
		return ValidateResult{}, err
	}
	r := reader{b: b}
	var res ValidateResult
	switch r.i8() {
	case 1:
		res.Rejected = &Rejection{Stage: r.str(), Class: r.str(), Code: r.i16(), Message: r.str()}
		for n := r.i32(); n > 0 && r.err == nil; n-- {
			res.Rejected.Records = append(res.Rejected.Records, RecordError{Index: r.i32(), Message: r.str()})
		}
		return res, r.err
	case 2:
		res.NoRecords = true
		return res, r.err
	}
	res.FirstOffset, res.LastOffset, res.MaxTimestamp, res.LogAppendTime = r.i64(), r.i64(), r.i64(), r.i64()
	res.Recompressed = r.i8() != 0
	res.Raw = r.bytes()
	n := r.i32()
	if n < 0 {
		return res, r.err
	}
	list := reader{b: r.bytes(), err: r.err}
	for ; n > 0 && list.err == nil; n-- {
		rec := Record{Offset: list.i64(), Timestamp: list.i64(), Key: list.bytes(), Value: list.bytes()}
		for h := list.i32(); h > 0 && list.err == nil; h-- {
			rec.Headers = append(rec.Headers, Header{Key: list.str(), Value: list.bytes()})
		}
		res.Records = append(res.Records, rec)
	}
	return res, list.err
}

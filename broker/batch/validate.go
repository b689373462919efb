package batch

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
	RecordBound    int64  // most bytes of records after decompression; 0 is DefaultRecordBound
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
// ErrUnsupportedCodec or ErrUndecodable.
func CheckProduced(raw []byte, version int16) error { return ErrUndecodable }

// Validate decides whether the produced batch raw may be appended, and makes it what the log stores: offsets,
// leader epoch, timestamps and, if the topic wants another codec, compression. raw is patched in place.
//
// The rules and their order are those of Kafka 4.4, so of several faults the same one is reported. Errors:
// ErrInvalidRecord, ErrCorrupt, ErrTooLarge, ErrUndecodable, or *RecordErrors of kind ErrInvalidRecord or
// ErrInvalidTimestamp.
func Validate(raw []byte, o ValidateOptions) (ValidateResult, error) {
	return ValidateResult{}, ErrUndecodable
}

package commitlog

import (
	"log/slog"
	"time"

	"github.com/weir-broker/weir/broker/batch"
	"github.com/weir-broker/weir/broker/vfs"
)

// Unknown is the value of an offset mark that was lost or never written.
const Unknown batch.Offset = -1

// Config is what a topic's configuration says about its log. The zero value of an optional field switches it off.
type Config struct {
	// SegmentBytes is the size at which a segment is full (segment.bytes). At most 2^31-1.
	SegmentBytes int
	// SegmentIndexBytes bounds each index file (segment.index.bytes).
	SegmentIndexBytes int
	// IndexIntervalBytes is how many bytes of log lie between two index entries, roughly (index.interval.bytes).
	IndexIntervalBytes int
	// SegmentAge is the span of record time a segment holds (segment.ms), SegmentJitter what is taken off it at most, so
	// that the segments of many partitions do not roll together (segment.jitter.ms).
	SegmentAge, SegmentJitter time.Duration
	// FlushMessages and FlushInterval say when FlushDue reports true (flush.messages, flush.ms).
	FlushMessages int64
	FlushInterval time.Duration
	// FileDeleteDelay is how long removed files stay as *.deleted (file.delete.delay.ms).
	FileDeleteDelay time.Duration
	// Preallocate asks for the disk blocks of a whole segment when it is created (preallocate). The file keeps its length.
	Preallocate bool
	// Compacted is whether cleanup.policy contains compact. Then offsets may be missing between segments, so that a
	// segment has to be durable before the next one takes data.
	Compacted bool
}

// DefaultConfig returns Kafka's defaults.
func DefaultConfig() Config {
	return Config{
		SegmentBytes:       1 << 30,
		SegmentIndexBytes:  10 << 20,
		IndexIntervalBytes: 4096,
		SegmentAge:         7 * 24 * time.Hour,
		FlushMessages:      1<<63 - 1,
		FlushInterval:      1<<63 - 1,
		FileDeleteDelay:    time.Minute,
	}
}

// Options are the arguments of Open.
type Options struct {
	FS vfs.FS
	// Dir is the partition's directory. It is created when missing.
	Dir    string
	Config Config
	// New says that Dir was made for this log just now: nothing in it has to be looked for, recovered or cleared away.
	New bool
	// Hook is told what happens to the log after Open returned. It may be nil.
	Hook Hook
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// RecoveryPoint and LogStartOffset are the marks kept in the log directory, Unknown when lost. Losing one costs a
	// longer recovery, or shows records again that DeleteRecords had hidden; never data.
	RecoveryPoint, LogStartOffset batch.Offset
	// CleanShutdown is whether the directory was closed properly: then nothing is scanned.
	CleanShutdown bool
	// SaveLogStart and SaveRecoveryPoint make a mark durable. They are called before the log does something that must not
	// be seen with the older mark: removing files, and lowering the recovery point. Nil means that nobody keeps marks.
	SaveLogStart, SaveRecoveryPoint func(batch.Offset) error
	// Later runs work in the background, not before the delay is over: removing files, flushing a segment that was
	// rolled. Nil removes at once and flushes nothing.
	Later  func(delay time.Duration, work func())
	Logger *slog.Logger
}

// Hook connects what is derived from a log. Calls come from the writer, one at a time, under its lock.
type Hook interface {
	// BatchAppended is called for each batch after it was written and before LogEndOffset passes it.
	BatchAppended(h batch.Header, raw []byte)
	// Rolled is called when a new active segment begins at base. An error fails the append that rolled.
	Rolled(base batch.Offset) error
	// Truncated is called when the log ends at to, or, after TruncateFully, begins and ends there.
	Truncated(to batch.Offset) error
	// SegmentRemoved is called for each segment that left the log by truncation, DeleteBefore, or because cleaning put its
	// records into the segment before it.
	SegmentRemoved(base batch.Offset)
}

// Recovery tells what Open found and did.
type Recovery struct {
	// Clean is whether the log was taken as it is.
	Clean bool
	// SegmentsScanned and BytesScanned count what was read batch by batch.
	SegmentsScanned int
	BytesScanned    int64
	// TruncatedBytes were cut from the end of a segment, SegmentsDeleted were dropped behind that cut.
	TruncatedBytes  int64
	SegmentsDeleted int
	// Missing is how many offsets below the recovery point no segment holds any more: files were lost. They are reported,
	// the rest is served.
	Missing int64
	// IndexesRebuilt counts segments whose indexes were missing or unusable although the log was not scanned for
	// another reason.
	IndexesRebuilt int
	// Reason says why the log was cut, empty when it was not.
	Reason string
	// Took is the duration of Open.
	Took time.Duration
}

// ReadResult is the answer of Read.
type ReadResult struct {
	// Bytes is dst with the batches appended.
	Bytes []byte
	// NextOffset is the offset after the last batch read, or the one asked for when none was.
	NextOffset batch.Offset
	// FirstTooLarge is set when nothing was read because the first batch exceeds maxBytes.
	FirstTooLarge bool
}

// TimestampOffset is a record found by time.
type TimestampOffset struct {
	// Timestamp is the record's, in milliseconds since 1970.
	Timestamp int64
	Offset    batch.Offset
	// LeaderEpoch is the one of the batch, -1 when it carries none.
	LeaderEpoch batch.LeaderEpoch
}

// EpochEntry says at which offset a leader epoch begins.
type EpochEntry struct {
	Epoch       batch.LeaderEpoch
	StartOffset batch.Offset
}

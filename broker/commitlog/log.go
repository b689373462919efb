package commitlog

import (
	"errors"
	"time"

	"github.com/weir-broker/weir/broker/batch"
	"github.com/weir-broker/weir/broker/policy"
)

var errAPIOnly = errors.New("commitlog: being built")

// Log is one partition on disk.
type Log struct{}

// Open loads the log in o.Dir, creating an empty one when there is none, and recovers it after an unclean stop.
func Open(o Options) (*Log, Recovery, error) { return nil, Recovery{}, errAPIOnly }

// SetConfig replaces the configuration; the next append goes by it.
func (l *Log) SetConfig(c Config) {}

// LogStartOffset is the first offset readers may see.
func (l *Log) LogStartOffset() batch.Offset { return 0 }

// LogEndOffset is the offset the next record gets.
func (l *Log) LogEndOffset() batch.Offset { return 0 }

// RecoveryPoint is the offset below which everything is durable.
func (l *Log) RecoveryPoint() batch.Offset { return 0 }

// Size is the length of all segments in bytes.
func (l *Log) Size() int64 { return 0 }

// ActiveSegmentBase is the base offset of the segment appends go to.
func (l *Log) ActiveSegmentBase() batch.Offset { return 0 }

// Append writes whole batches at the end: raw is them one after another, hs their headers, offsets and leader epoch
// assigned. A new segment is rolled first where Kafka rolls one. On an error nothing was appended.
func (l *Log) Append(raw []byte, hs []batch.Header) error { return errAPIOnly }

// Roll begins a new segment at the log end; on an empty active segment it does nothing.
func (l *Log) Roll() error { return errAPIOnly }

// Read appends whole batches to dst: from the one that holds offset from, or the next one there is, up to maxBytes, and
// none that reaches upTo. With minOneBatch the first batch is read however large it is.
func (l *Log) Read(dst []byte, from, upTo batch.Offset, maxBytes int, minOneBatch bool) (ReadResult, error) {
	return ReadResult{}, errAPIOnly
}

// Batches calls fn for each batch that overlaps [from, to), oldest first. raw is valid during the call only.
func (l *Log) Batches(from, to batch.Offset, fn func(h batch.Header, raw []byte) error) error {
	return errAPIOnly
}

// OffsetForTimestamp finds the first record below upTo whose timestamp, in milliseconds, is at least ts.
func (l *Log) OffsetForTimestamp(ts int64, upTo batch.Offset) (TimestampOffset, bool, error) {
	return TimestampOffset{}, false, errAPIOnly
}

// MaxTimestampOffset finds the first record with the largest timestamp of the log (KIP-734).
func (l *Log) MaxTimestampOffset() (TimestampOffset, bool, error) {
	return TimestampOffset{}, false, errAPIOnly
}

// AssignEpoch notes that leader epoch e begins at start. It reaches the disk by the next flush.
func (l *Log) AssignEpoch(e batch.LeaderEpoch, start batch.Offset) {}

// LatestEpoch is the newest leader epoch known.
func (l *Log) LatestEpoch() (batch.LeaderEpoch, bool) { return -1, false }

// EndOffsetForEpoch answers OffsetForLeaderEpoch: the largest known epoch at or below e, and where it ends (-1, -1 when
// that is not known).
func (l *Log) EndOffsetForEpoch(e batch.LeaderEpoch) (batch.LeaderEpoch, batch.Offset) { return -1, -1 }

// EpochForOffset is the leader epoch that wrote off.
func (l *Log) EpochForOffset(off batch.Offset) (batch.LeaderEpoch, bool) { return -1, false }

// Epochs is the leader epoch checkpoint, oldest first. The slice must not be changed.
func (l *Log) Epochs() []EpochEntry { return nil }

// Truncate removes everything from to on. A batch that holds to goes as a whole.
func (l *Log) Truncate(to batch.Offset) error { return errAPIOnly }

// TruncateFully removes everything and begins again at to.
func (l *Log) TruncateFully(to batch.Offset) error { return errAPIOnly }

// AdvanceLogStart hides records below to and makes that durable. A lower offset does nothing.
func (l *Log) AdvanceLogStart(to batch.Offset) error { return errAPIOnly }

// Segments are the facts a retention policy decides on, oldest first.
func (l *Log) Segments() []policy.SegmentRow { return nil }

// DeleteBefore removes the segments wholly below off and returns how many; if that would be all, a new one is rolled
// first. The log start offset moves, durably, before files go.
func (l *Log) DeleteBefore(off batch.Offset) (int, error) { return 0, errAPIOnly }

// Flush makes everything below upTo durable. Concurrent calls share one fdatasync.
func (l *Log) Flush(upTo batch.Offset) error { return errAPIOnly }

// FlushDue reports whether flush.messages or flush.ms asks for a flush.
func (l *Log) FlushDue(now time.Time) bool { return false }

// TrimMemory forgets the indexes of segments not read for idle; they are loaded again when needed.
func (l *Log) TrimMemory(idle time.Duration) {}

// Close ends the use of the log. A clean close makes all of it durable.
func (l *Log) Close(clean bool) error { return errAPIOnly }

// MarkDeleted closes the log for reading and writing and renames its directory to dir.
func (l *Log) MarkDeleted(dir string) error { return errAPIOnly }

// Delete removes the log's directory, after MarkDeleted or Close.
func (l *Log) Delete() error { return errAPIOnly }

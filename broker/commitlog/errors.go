package commitlog

import "errors"

var (
	// ErrStorage wraps every failure of the disk: the directory of the log should go offline, unless it was only a lack of file
	// descriptors (vfs.OutOfDescriptors), which says nothing about the disk. A log that could not undo
	// a failed write answers every later call with it.
	ErrStorage = errors.New("storage failure")
	// ErrOffsetOutOfRange is returned for an offset below LogStartOffset or above LogEndOffset.
	ErrOffsetOutOfRange = errors.New("offset out of range")
	// ErrClosed is returned by calls on a log that was closed or deleted.
	ErrClosed = errors.New("log is closed")
	// ErrBatchesTooLarge is returned when one append is larger than a segment may be (RECORD_LIST_TOO_LARGE).
	ErrBatchesTooLarge = errors.New("batches exceed segment.bytes")
	// ErrInvalidAppend is returned when batches do not follow the log end, overlap, or do not match their headers.
	ErrInvalidAppend = errors.New("batches do not continue the log")
	// ErrOldFormat is returned by Open for segments that hold intact messages of the formats before Kafka 0.11.
	// They are refused, not cut away.
	ErrOldFormat = errors.New("message format v0 or v1 is not supported")
	// ErrCleaningAborted is returned by Clean when the log was truncated, or segments of it were deleted, meanwhile: the
	// round is to be done again.
	ErrCleaningAborted = errors.New("cleaning aborted")
	// ErrInvalidCleaner is returned by NewCleaner.
	ErrInvalidCleaner = errors.New("invalid cleaner")
	// ErrBadCheckpoint is returned for a leader-epoch-checkpoint or partition.metadata that cannot be read.
	ErrBadCheckpoint = errors.New("malformed checkpoint file")
)

package batch

import (
	"errors"
	"fmt"
)

// What can be wrong with a batch. Each names the Kafka error code a produce request gets for it.
var (
	// ErrTruncated: the bytes end before the header or the batch does. Only from ParseHeader and Split, never from
	// Validate.
	ErrTruncated = errors.New("batch is cut short")
	// ErrCorrupt: framing, magic or CRC are wrong; CORRUPT_MESSAGE (2).
	ErrCorrupt = errors.New("batch is corrupt")
	// ErrInvalidRecord: header or records break a rule; INVALID_RECORD (87).
	ErrInvalidRecord = errors.New("invalid record")
	// ErrInvalidTimestamp: a timestamp is out of the topic's range, or the producer claimed LogAppendTime;
	// INVALID_TIMESTAMP (32).
	ErrInvalidTimestamp = errors.New("invalid timestamp")
	// ErrTooLarge: the batch is above max.message.bytes, before or after recompression, or unpacks to more than the
	// bound; MESSAGE_TOO_LARGE (10).
	ErrTooLarge = errors.New("batch is too large")
	// ErrUnsupportedCodec: the produce version does not allow the codec (zstd below version 7, KIP-110);
	// UNSUPPORTED_COMPRESSION_TYPE (76).
	ErrUnsupportedCodec = errors.New("compression type is not supported")
	// ErrUndecodable: the payload cannot be unpacked at all: an unknown codec, a broken compressed stream, a record
	// length that is no varint. Kafka has no code of its own for it and answers UNKNOWN_SERVER_ERROR (-1).
	ErrUndecodable = errors.New("batch cannot be decoded")
)

// RecordError says what is wrong with one record of a batch (KIP-467).
type RecordError struct {
	Index   int32 // position in the batch, from 0
	Message string
}

// MaxRecordErrors bounds RecordErrors.Errors. A batch with more bad records than this names only the first ones.
const MaxRecordErrors = 4096

// RecordErrors refuses a batch because of single records. It unwraps to Kind, ErrInvalidRecord or
// ErrInvalidTimestamp; one bad timestamp makes the whole ErrInvalidTimestamp.
type RecordErrors struct {
	Kind   error
	Errors []RecordError // ascending by Index
	Total  int           // how many records were bad, also beyond MaxRecordErrors
}

func (e *RecordErrors) Error() string {
	if len(e.Errors) == 0 {
		return e.Kind.Error()
	}
	first := e.Errors[0]
	return fmt.Sprintf("%v: %d bad records, the first at index %d: %s", e.Kind, e.Total, first.Index, first.Message)
}

// Unwrap gives the kind.
func (e *RecordErrors) Unwrap() error { return e.Kind }

func undecodable(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrUndecodable, fmt.Sprintf(format, args...))
}

func invalidRecord(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrInvalidRecord, fmt.Sprintf(format, args...))
}

package coordinator

import "errors"

// What a request is answered with when its operation is not.
var (
	// ErrNotCoordinator: the shard is not led here, or was dropped while the request waited; NOT_COORDINATOR (16).
	ErrNotCoordinator = errors.New("not the coordinator")
	// ErrLoading: the shard is being loaded; COORDINATOR_LOAD_IN_PROGRESS (14).
	ErrLoading = errors.New("coordinator is loading")
	// ErrNotAvailable: the shard's queue is full; COORDINATOR_NOT_AVAILABLE (15).
	ErrNotAvailable = errors.New("coordinator is overloaded")
	// ErrRecordsTooLarge: the records of the operation do not fit into one batch; MESSAGE_TOO_LARGE (10).
	ErrRecordsTooLarge = errors.New("records do not fit into a batch")
	// ErrTimeout: the records were not committed in time, but may be later; REQUEST_TIMED_OUT (7).
	ErrTimeout = errors.New("records were not committed in time")
)

// What Machine.Replay says of a record. An error that is not ErrUnknownType fails the machine.
var (
	// ErrUnknownType is a record of a type that the machine does not know: such a record is skipped.
	ErrUnknownType = errors.New("unknown record type")
	// ErrUnknownVersion is a value of a known type in a version that the machine does not know: state cannot be built
	// without it.
	ErrUnknownVersion = errors.New("unknown version of a record")
)

// ErrRefused is what Log.Append wraps when it refuses one batch and stands as it was, such as that of a producer that was
// fenced. A transactional batch or a marker is appended before it is replayed, so that only its own request fails.
var ErrRefused = errors.New("batch is refused")

package coordinator

import (
	"context"
	"log/slog"
	"time"

	"github.com/weir-broker/weir/broker/batch"
)

// Offset is the position of a record in the shard's partition.
type Offset = batch.Offset

// ProducerID names a transactional producer; NoProducerID is none.
type ProducerID = batch.ProducerID

// ProducerEpoch fences older instances of a producer.
type ProducerEpoch = batch.ProducerEpoch

// NoProducerID is the producer id of a record outside a transaction.
const NoProducerID = batch.NoProducerID

// Producer is a transactional producer.
type Producer struct {
	ID    ProducerID
	Epoch ProducerEpoch
}

// Transactional reports whether p is a producer at all.
func (p Producer) Transactional() bool { return p.ID != NoProducerID }

// NoProducer is who wrote a record outside a transaction.
func NoProducer() Producer { return Producer{ID: NoProducerID, Epoch: batch.NoProducerEpoch} }

// Record is a record of an internal topic. A nil Value is a tombstone.
type Record struct {
	Key, Value []byte
}

// Machine is the state of one shard. M is the machine itself, K names its timers, R is what it answers with:
//
//	type Effects = coordinator.Effects[*Shard, TimerKey, kmsg.Response]
//
// One goroutine at a time calls it. It has no clock, goroutine or IO of its own.
type Machine[M any, K comparable, R any] interface {
	// Replay applies a record, on the live path as at loading. producer is that of the record's batch, NoProducer
	// outside a transaction. Key and value must not be kept, only copied. An error that is ErrUnknownType means that the
	// record is skipped and counted; after any other error the machine is dropped, and at loading the shard fails.
	Replay(offset Offset, producer Producer, r Record) error
	// ReplayEndTransaction applies the marker that ends a producer's transaction in this partition.
	ReplayEndTransaction(offset Offset, producer Producer, commit bool) error
	// Loaded comes once, after the last record of the log and before the first operation.
	Loaded(now time.Time) Effects[M, K, R]
	// Expire is the operation of a timer that went off. It is not called for one that was cancelled or set anew.
	Expire(now time.Time, key K) Effects[M, K, R]
}

// Operation is a request, or an answer to a Call, put to a machine. It changes nothing that records say: Replay does
// that. It may keep soft state, which is lost with the machine. token names the request: it is answered by a Reply of this
// or of a later operation, exactly once. Where nobody waits the token is 0 and needs no answer.
type Operation[M any, K comparable, R any] func(m M, now time.Time, token Token) Effects[M, K, R]

// Token names a request that waits for its answer. Tokens are never used twice.
type Token uint64

// Effects is what an operation wants done, in this order: Records are replayed and appended; then Timers are changed,
// Events logged and Calls begun; at last, when everything replayed until then is committed, Replies are given out. If the
// append fails none of it is seen by anybody.
type Effects[M any, K comparable, R any] struct {
	// Records go into one batch, so that all or none of them are there after a crash. More than fit into a batch are
	// ErrRecordsTooLarge for everybody in Replies and for the request itself, and nothing of the Effects happens: a
	// machine with soft state looks at the limit before it changes that.
	Records []Record
	// Divisible allows Records in several batches: each record is useful alone.
	Divisible bool
	// Transaction makes Records a transactional batch of this producer. It is never Divisible.
	Transaction *Producer
	Replies     []Reply[R]
	Timers      []Timer[K]
	Calls       []Call[M, K, R]
	Events      []Event
}

// Reply is the answer to a request.
type Reply[R any] struct {
	Token    Token
	Response R
}

// Timer is a change of a timer. Setting a timer replaces the one of the same key.
type Timer[K comparable] struct {
	Key   K
	After time.Duration // until it goes off; negative cancels it
}

// Call is work that must not be done on the shard's goroutine: long computation, or facts from elsewhere.
type Call[M any, K comparable, R any] struct {
	// Key says what the call is about, such as a group. Calls of one shard and key run one after another, in order.
	Key string
	// Run runs on a worker and returns the operation that brings the result back; nil when there is none. ctx ends when
	// the machine is dropped: then the result is not wanted any more. Run must not touch the machine.
	Run func(ctx context.Context) Operation[M, K, R]
	// Refused is put to the machine instead of a result if there are too many calls already, or if Run panicked. May be
	// nil.
	Refused Operation[M, K, R]
}

// Event is a state transition worth a line in the log.
type Event struct {
	Message string
	Attrs   []slog.Attr
}

// Package coordinator runs state machines that are kept in the partitions of an internal topic: group coordinators in
// __consumer_offsets, transaction coordinators in __transaction_state.
//
// It owns, per partition led by this broker (a shard), one goroutine that is the only one to touch the shard's Machine;
// the bounded queue before it; batches of records and their append; replies that wait for the high watermark; timers;
// calls, the work that a machine gives away; loading, dropping and loading again. It does not own what the records mean,
// nor the log, which it sees through Log, nor who leads what: node calls Elect and Resign. group and txn write Machines
// and see only machine.go; api submits operations and waits for their Futures.
//
//	          Elect                    log read to its end
//	(absent) -------> loading -------------------------------> active --+
//	   ^                ^  |                                     |      | operations
//	   |                |  | a record that cannot be replayed    |<-----+
//	   | Resign, Close  |  v                                     |
//	   +------------- (any)  failed                              |
//	                    ^                                        |
//	                    +----------------------------------------+
//	                      append refused, replay failed, log gone, a newer epoch
//
// # One way to change state
//
// An operation reads the machine and answers with Effects. Its records are replayed at the offsets they are about to
// have and put into the open batch; the batch is appended when it is full, when the queue is empty or when the linger
// time is over, so that operations that queue up share one append. Replay before append means that a record which the
// machine cannot take never reaches the log. There is no undo: when an append fails, or comes back with another offset
// than expected, the machine is dropped whole, everybody who waits is answered with ErrNotCoordinator, and a new machine
// is loaded from the log. Between attempts that fail lies a growing pause.
//
// # What a reply may tell
//
// A reply is given out once everything that was replayed before it has been committed, records of other operations and
// records found at loading included; an operation that appends nothing is no exception. Kafka lets a read see the state
// as of the last committed offset at once and keeps several versions of its state for that. Here there is one version,
// and a read waits, in the worst case for one round of replication: nothing is ever told that a new leader could unsay.
package coordinator

// Package network carries Kafka frames between sockets and one Handler.
//
// It owns listeners, connection limits, framing, the buffers frames and replies live in, the order
// of replies on a connection, and the bounds on what a peer can make the process hold. It does not
// know what is inside a frame: package api decodes, decides and encodes. node builds a Server and
// gives it bound listeners and the handler.
//
// # A connection
//
//	socket ─▶ reader ──Serve──▶ Done ─────────────▶ written by the reader itself
//	            │                Pending ─▶ queue ─▶ writer (started when the first reply is parked,
//	            │                                     gone when the queue is empty)
//	            └── more whole frames already read? ready replies wait for them and leave in one send
//
// One goroutine per connection reads a frame and runs the handler on it, so requests of one
// connection are served in the order in which they came. While something is parked, every later
// reply of the connection queues behind it: replies leave in request order, always. A handler that
// answers NoReply (Produce with acks=0) leaves no hole.
//
// # Memory
//
// The 4-byte length is checked before anything is allocated. A connection that says nothing holds
// its read-ahead buffer (2 KiB) and its goroutine. Frames that do not fit the read-ahead take a
// pooled buffer after the byte budget of the server (Options.QueuedBytes) lets them; while the
// budget is spent, readers wait, which is how the backlog reaches the clients. Parked replies per
// connection are bounded in number, ready replies behind them in bytes; at the bound the reader
// stops reading.
//
// # Goroutines
//
//	acceptLoop  one per listener, ends when Stop closes the listener
//	readLoop    one per connection
//	writeLoop   at most one per connection, only while replies are parked
package network

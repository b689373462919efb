package network

import "context"

// Handler serves the frames of all connections.
type Handler interface {
	// Serve is called on the connection's own goroutine, once per frame, in the order of the frames.
	// frame.B is the frame without its length. The server releases the frame when Serve returns
	// unless the handler called frame.Keep. While Serve runs, the connection is not read: a request
	// whose effect later ones must see may block here, until its own deadline or c.Context ends;
	// other waiting is returned as Pending.
	Serve(c *Conn, frame *Buffer) Reply
}

// Waiter is the second phase of a request: it waits for what the reply depends on and encodes it.
type Waiter interface {
	// Wait is called exactly once, when it is the request's turn to be answered. It must return by
	// the deadline of its own request, and at once when ctx ends (the connection is gone or the
	// server gives up on it); what it returns then is dropped. A nil buffer sends nothing. An error
	// closes the connection.
	Wait(ctx context.Context) (*Buffer, error)
}

// WaiterFunc is a function that is a Waiter.
type WaiterFunc func(ctx context.Context) (*Buffer, error)

// Wait calls f.
func (f WaiterFunc) Wait(ctx context.Context) (*Buffer, error) { return f(ctx) }

// Reply is what a handler answers to a frame. The zero Reply is NoReply.
type Reply struct {
	buf   *Buffer
	wait  Waiter
	err   error
	close bool
}

// Done answers with buf (see Pool.GetReply and Buffer.Chain), which the server releases once sent.
func Done(buf *Buffer) Reply { return Reply{buf: buf} }

// Pending parks the reply. Later replies of the connection wait behind it.
func Pending(w Waiter) Reply { return Reply{wait: w} }

// NoReply answers nothing, as Produce with acks=0.
func NoReply() Reply { return Reply{} }

// Close ends the connection once the replies before this one are out. err is the reason, for the
// log; nil closes silently.
func Close(err error) Reply { return Reply{err: err, close: true} }

// Buffer returns the reply of Done, nil for the other kinds.
func (r Reply) Buffer() *Buffer { return r.buf }

// Waiter returns the second phase of Pending, nil for the other kinds.
func (r Reply) Waiter() Waiter { return r.wait }

// Closes reports whether the reply is Close, and why.
func (r Reply) Closes() (bool, error) { return r.close, r.err }

package network

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// readAheadBytes is what a connection holds while it is idle. Frames that fit are read with one
	// system call, pipelined ones several at once.
	readAheadBytes = 2048
	// coalesceBytes bounds the ready replies that wait for one send.
	coalesceBytes = 64 << 10
	// queuedReplyBytes bounds the ready replies that wait behind a parked one.
	queuedReplyBytes = 1 << 20
	// frameStall ends a connection whose peer stops in the middle of a frame: unlike an idle one it
	// holds a part of the byte budget.
	frameStall = time.Minute
)

// sheddableBytes is the size from which on a reply that is not taken is worth closing its connection for.
const sheddableBytes = 64 << 10

// ErrFrameLength is the reason for closing a connection whose next frame claims a negative length
// or one above Options.MaxFrameBytes.
var ErrFrameLength = errors.New("frame length out of range")

// Conn is one client connection. Its methods may be called from any goroutine; State belongs to the
// handler and is touched only inside Serve.
type Conn struct {
	// State is the handler's own, per connection.
	State any

	id       uint64
	listener string
	nc       net.Conn
	server   *Server

	// Only the reader touches these.
	in         [readAheadBytes]byte
	start, end int // in[start:end] is read and not consumed
	ready      []*Buffer
	readyBytes int
	lastRead   time.Time
	readBy     time.Time // the read deadline that is set
	ctx        context.Context
	cancel     context.CancelFunc

	// Whoever writes touches these: the writer while it runs, else the reader.
	out     [][]byte
	vec     net.Buffers
	writeBy time.Time

	receivingSince atomic.Int64 // when the frame being received was given its memory, Unix nanoseconds; 0 when there is none
	received       atomic.Int64 // bytes of it

	sendingBytes atomic.Int64 // of the write that is under way, 0 when none is
	sendingSince atomic.Int64 // when it began, Unix nanoseconds

	room chan struct{} // the writer took something from the queue, or ended

	mu struct {
		sync.Mutex
		queue   []queued
		bytes   int  // of ready replies in queue
		parked  int  // waiters in queue or running
		writing bool // the writer runs
		failed  error
	}
}

type queued struct {
	buf  *Buffer
	wait Waiter
}

// ID numbers the connections of a server from 1.
func (c *Conn) ID() uint64 { return c.id }

// Listener is the name of the listener the client came in on.
func (c *Conn) Listener() string { return c.listener }

// RemoteAddr is the client's address.
func (c *Conn) RemoteAddr() net.Addr { return c.nc.RemoteAddr() }

// LocalAddr is our end's address, the one the client connected to.
func (c *Conn) LocalAddr() net.Addr { return c.nc.LocalAddr() }

// ShedStalled closes the connections of the server that have been sending one large reply for longer than tolerance.
// It is for when the memory of their replies is needed.
func (c *Conn) ShedStalled(tolerance time.Duration) { c.server.shedStalled(tolerance) }

// Draining is closed when the server is stopping: a Waiter that can answer early should.
func (c *Conn) Draining() <-chan struct{} { return c.server.draining }

// Context ends when the server no longer waits for what is being served.
func (c *Conn) Context() context.Context { return c.server.base }

// Pool is where replies to this connection come from.
func (c *Conn) Pool() *Pool { return c.server.o.Pool }

// readLoop serves the connection until it ends and closes it.
func (c *Conn) readLoop() {
	err := c.serve()
	c.teardown(err)
}

func (c *Conn) serve() (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = c.panicked("serve", v)
		}
	}()
	for {
		frame, err := c.readFrame()
		if err != nil {
			return err
		}
		c.server.o.Metrics.requests.Add(1)
		reply := c.server.o.Handler.Serve(c, frame)
		if !frame.kept {
			frame.Release()
		}
		if err := c.dispatch(reply); err != nil {
			return err
		}
	}
}

// dispatch sends, queues or parks one reply.
func (c *Conn) dispatch(r Reply) error {
	switch {
	case r.close:
		err := c.flush()
		c.awaitWriter()
		if r.err != nil {
			return r.err
		}
		if err == nil {
			err = io.EOF
		}
		return err
	case r.wait != nil:
		return c.park(queued{wait: r.wait})
	case r.buf == nil:
		if !c.moreFramesRead() {
			return c.flush()
		}
		return nil
	}
	binary.BigEndian.PutUint32(r.buf.B, uint32(r.buf.Len()-LengthBytes))
	if c.writerRuns() {
		return c.park(queued{buf: r.buf})
	}
	c.ready = append(c.ready, r.buf)
	c.readyBytes += r.buf.Len()
	if c.readyBytes < coalesceBytes && c.moreFramesRead() {
		return nil
	}
	return c.flush()
}

// moreFramesRead reports whether a whole further frame is in the read-ahead, so that serving it
// blocks on nothing.
func (c *Conn) moreFramesRead() bool {
	have := c.end - c.start
	if have < LengthBytes {
		return false
	}
	n := int32(binary.BigEndian.Uint32(c.in[c.start:]))
	return n >= 0 && int(n) <= have-LengthBytes
}

// flush writes the ready replies, unless the writer runs: then they queue behind what is parked.
func (c *Conn) flush() error {
	if len(c.ready) == 0 {
		return nil
	}
	err := c.write(c.ready)
	clear(c.ready)
	c.ready, c.readyBytes = c.ready[:0], 0
	return err
}

func (c *Conn) writerRuns() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mu.writing
}

// park queues q behind what is parked, starts the writer when it does not run, and then waits until
// the connection is within its bounds again.
func (c *Conn) park(q queued) error {
	if err := c.flush(); err != nil {
		discard(q)
		return err
	}
	if c.ctx == nil {
		c.ctx, c.cancel = context.WithCancel(context.Background())
	}
	c.mu.Lock()
	if err := c.mu.failed; err != nil {
		c.mu.Unlock()
		discard(q)
		return err
	}
	c.mu.queue = append(c.mu.queue, q)
	if q.wait != nil {
		c.mu.parked++
		c.server.o.Metrics.parked.Add(1)
	} else {
		c.mu.bytes += q.buf.Len()
	}
	if !c.mu.writing {
		c.mu.writing = true
		c.server.wg.Add(1)
		go c.writeLoop(c.ctx)
	}
	for c.mu.writing && c.mu.failed == nil && (c.mu.parked >= c.server.o.MaxParked || c.mu.bytes > queuedReplyBytes) {
		c.mu.Unlock()
		select {
		case <-c.room:
		case <-c.server.force:
			return net.ErrClosed
		}
		c.mu.Lock()
	}
	err := c.mu.failed
	c.mu.Unlock()
	return err
}

// discard ends what will never be sent.
func discard(q queued) {
	if q.buf != nil {
		q.buf.Release()
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if buf, _ := q.wait.Wait(ctx); buf != nil {
		buf.Release()
	}
}

// writeLoop answers what is queued, in order, and ends when the queue is empty.
func (c *Conn) writeLoop(ctx context.Context) {
	defer c.server.wg.Done()
	var batch []*Buffer
	size := 0
	for {
		q, more, ok := c.next(len(batch) == 0)
		if !ok {
			return
		}
		if q.wait != nil {
			buf, err := c.wait(ctx, q.wait)
			c.server.o.Metrics.parked.Add(-1)
			if err != nil {
				if buf != nil {
					buf.Release()
				}
				c.fail(err)
			}
			if buf != nil && err == nil {
				binary.BigEndian.PutUint32(buf.B, uint32(buf.Len()-LengthBytes))
				batch = append(batch, buf)
				size += buf.Len()
			}
		} else if q.buf != nil {
			batch = append(batch, q.buf)
			size += q.buf.Len()
		}
		if len(batch) > 0 && (!more || size >= coalesceBytes) {
			if err := c.writeUnlessFailed(batch); err != nil {
				c.fail(err)
			}
			clear(batch)
			batch, size = batch[:0], 0
		}
	}
}

// next takes the head of the queue. more says that the entry after it is a ready reply, which may
// join the same send. ok is false when the queue is empty and the writer has ended; with a batch
// unsent (empty false) the queue cannot be empty.
func (c *Conn) next(empty bool) (q queued, more, ok bool) {
	c.mu.Lock()
	if len(c.mu.queue) == 0 {
		if !empty {
			panic("BUG: network: writer holds replies nobody will send")
		}
		c.mu.writing = false
		c.mu.queue = nil
		c.mu.Unlock()
		c.signalRoom()
		return queued{}, false, false
	}
	q = c.mu.queue[0]
	c.mu.queue[0] = queued{}
	c.mu.queue = c.mu.queue[1:]
	more = len(c.mu.queue) > 0 && c.mu.queue[0].buf != nil
	if q.wait != nil {
		c.mu.parked--
	} else {
		c.mu.bytes -= q.buf.Len()
	}
	c.mu.Unlock()
	c.signalRoom()
	return q, more, true
}

func (c *Conn) signalRoom() {
	select {
	case c.room <- struct{}{}:
	default:
	}
}

// wait runs a second phase; a panic in it ends the connection only.
func (c *Conn) wait(ctx context.Context, w Waiter) (buf *Buffer, err error) {
	defer func() {
		if v := recover(); v != nil {
			buf, err = nil, c.panicked("wait", v)
		}
	}()
	return w.Wait(ctx)
}

func (c *Conn) panicked(where string, v any) error {
	c.server.o.Metrics.panics.Add(1)
	c.server.o.Logger.Error("panic while serving a connection; closing it",
		slog.String("where", where), slog.String("remote", c.nc.RemoteAddr().String()),
		slog.Any("panic", v), slog.String("stack", string(debug.Stack())))
	return fmt.Errorf("panic in handler: %v", v)
}

// fail makes the writer drop everything from here on and wakes the reader.
func (c *Conn) fail(err error) {
	c.mu.Lock()
	if c.mu.failed == nil {
		c.mu.failed = err
	}
	c.mu.Unlock()
	c.cancel()
	_ = c.nc.Close() // wakes the reader, whatever deadline it is just setting
	c.signalRoom()
}

func (c *Conn) writeUnlessFailed(bufs []*Buffer) error {
	c.mu.Lock()
	err := c.mu.failed
	c.mu.Unlock()
	if err != nil {
		for _, b := range bufs {
			b.Release()
		}
		return err
	}
	return c.write(bufs)
}

// write sends bufs with one call and releases them.
func (c *Conn) write(bufs []*Buffer) error {
	defer func() {
		for _, b := range bufs {
			b.Release()
		}
	}()
	if idle := c.server.o.MaxIdle; idle > 0 {
		if now := time.Now(); c.writeBy.Sub(now) < idle/2 {
			c.writeBy = now.Add(idle)
			if err := c.nc.SetWriteDeadline(c.writeBy); err != nil {
				return err
			}
		}
	}
	out := c.out[:0]
	total := 0
	for _, b := range bufs {
		for part := b; part != nil; part = part.next {
			if len(part.B) > 0 {
				out = append(out, part.B)
				total += len(part.B)
			}
		}
	}
	c.out = out
	if total >= sheddableBytes {
		c.sendingSince.Store(time.Now().UnixNano())
		c.sendingBytes.Store(int64(total))
		defer c.sendingBytes.Store(0)
	}
	var err error
	if len(out) == 1 {
		_, err = c.nc.Write(out[0])
	} else {
		c.vec = out
		_, err = c.vec.WriteTo(c.nc)
		c.vec = nil
	}
	clear(c.out)
	c.server.o.Metrics.bytesOut.Add(int64(total))
	return err
}

// awaitWriter returns when nothing is queued any more, or the server gives up on it.
func (c *Conn) awaitWriter() {
	for c.writerRuns() {
		select {
		case <-c.room:
		case <-c.server.force:
			return
		}
	}
}

// teardown ends the connection: err is why serve returned.
func (c *Conn) teardown(err error) {
	for _, b := range c.ready {
		b.Release()
	}
	c.ready = nil
	if errors.Is(err, errDraining) {
		c.awaitWriter() // everything received is answered
	}
	c.mu.Lock()
	if c.mu.failed == nil {
		c.mu.failed = net.ErrClosed
	} else {
		err = c.mu.failed
	}
	c.mu.Unlock()
	if c.cancel != nil {
		c.cancel()
	}
	c.server.ending(c, err)
	_ = c.nc.Close()
	c.server.closed(c)
}

// readFrame returns the next frame, without its length.
func (c *Conn) readFrame() (*Buffer, error) {
	for c.end-c.start < LengthBytes {
		if err := c.fill(); err != nil {
			if c.end > c.start && errors.Is(err, io.EOF) {
				return nil, io.ErrUnexpectedEOF
			}
			return nil, err
		}
	}
	n := int32(binary.BigEndian.Uint32(c.in[c.start:]))
	if n < 0 || n > c.server.o.MaxFrameBytes {
		return nil, fmt.Errorf("%w: %d, allowed are 0 to %d", ErrFrameLength, n, c.server.o.MaxFrameBytes)
	}
	c.server.o.Metrics.bytesIn.Add(int64(n) + LengthBytes)
	c.start += LengthBytes
	if int(n) <= c.end-c.start {
		frame := c.server.o.Pool.Get(int(n))
		frame.B = append(frame.B, c.in[c.start:c.start+int(n)]...)
		c.start += int(n)
		return frame, nil
	}
	return c.readLongFrame(int(n))
}

// readLongFrame reads a frame that is not wholly in the read-ahead straight into its buffer.
func (c *Conn) readLongFrame(n int) (*Buffer, error) {
	if err := c.flush(); err != nil {
		return nil, err
	}
	budget := c.server.budgetFor(n)
	if !budget.acquire(int64(n), c.server.force, c.server.shedSlowFrames) {
		return nil, net.ErrClosed
	}
	c.receivingSince.Store(time.Now().UnixNano())
	defer c.receivingSince.Store(0)
	frame := c.server.o.Pool.Get(n)
	frame.budget, frame.charged = budget, int64(n)
	have := copy(frame.B[:n], c.in[c.start:c.end])
	c.received.Store(int64(have))
	c.start, c.end = 0, 0
	frame.B = frame.B[:n]
	for have < n {
		if err := c.setReadDeadline(time.Now().Add(frameStall), true); err != nil {
			frame.Release()
			return nil, err
		}
		got, err := c.nc.Read(frame.B[have:])
		have += got
		c.received.Store(int64(have))
		if have < n && err != nil {
			frame.Release()
			switch {
			case errors.Is(err, io.EOF):
				err = io.ErrUnexpectedEOF
			case c.isDraining():
				err = errDraining
			}
			return nil, err
		}
	}
	c.lastRead = time.Now()
	c.readBy = time.Time{} // the stall deadline is not the idle one
	return frame, nil
}

// fill reads more into the read-ahead. It blocks as long as the connection may be idle.
func (c *Conn) fill() error {
	if err := c.flush(); err != nil {
		return err
	}
	if c.start > 0 {
		c.end = copy(c.in[:], c.in[c.start:c.end])
		c.start = 0
	}
	for {
		now := time.Now()
		if err := c.setReadDeadline(c.idleDeadline(now), false); err != nil {
			return err
		}
		if c.isDraining() { // after setting the deadline: Stop sets its own after closing draining
			return errDraining
		}
		n, err := c.nc.Read(c.in[c.end:])
		if n > 0 {
			c.end += n
			c.lastRead = time.Now()
			return nil
		}
		if err == nil {
			continue
		}
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return err
		}
		if err := c.woken(); err != nil {
			return err
		}
	}
}

// idleDeadline is when the connection has been silent for too long; zero when it may stay for ever.
func (c *Conn) idleDeadline(now time.Time) time.Time {
	idle := c.server.o.MaxIdle
	if idle <= 0 {
		return time.Time{}
	}
	// Moving the deadline costs more than a look at the clock: leave one that is still far away.
	if c.readBy.Sub(now) > idle-idle/8 {
		return c.readBy
	}
	if at := c.lastRead.Add(idle); at.After(now) {
		return at
	}
	return now.Add(idle)
}

func (c *Conn) setReadDeadline(at time.Time, stalled bool) error {
	if at.Equal(c.readBy) && !stalled {
		return nil
	}
	c.readBy = at
	return c.nc.SetReadDeadline(at)
}

// woken decides what a passed read deadline means: an idle connection ends, one with parked requests
// or later traffic goes on, a draining or failed one ends.
func (c *Conn) woken() error {
	c.readBy = time.Time{}
	c.mu.Lock()
	failed, busy := c.mu.failed, c.mu.writing
	c.mu.Unlock()
	if failed != nil {
		return failed
	}
	if c.isDraining() {
		return errDraining
	}
	if !busy && c.server.o.MaxIdle > 0 && time.Since(c.lastRead) >= c.server.o.MaxIdle {
		return errIdle
	}
	return nil
}

func (c *Conn) isDraining() bool {
	select {
	case <-c.server.draining:
		return true
	default:
		return false
	}
}

var (
	errIdle     = errors.New("idle for longer than connections.max.idle.ms")
	errDraining = errors.New("server is stopping")
)

var _ slog.LogValuer = (*Conn)(nil)

// LogValue describes the connection in logs.
func (c *Conn) LogValue() slog.Value {
	return slog.GroupValue(slog.Uint64("id", c.id), slog.String("listener", c.listener), slog.String("remote", c.nc.RemoteAddr().String()))
}

// connIDs hands out connection ids.
type connIDs struct{ last atomic.Uint64 }

func (i *connIDs) next() uint64 { return i.last.Add(1) }

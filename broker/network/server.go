package network

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Listener is a bound listener under its Kafka name (PLAINTEXT, EXTERNAL, …).
type Listener struct {
	Name string
	net.Listener
}

// Options are what a Server is built from.
type Options struct {
	Handler   Handler
	Listeners []Listener
	Logger    *slog.Logger
	Metrics   *Metrics
	Pool      *Pool // nil: a pool of its own

	// MaxFrameBytes is socket.request.max.bytes: a longer frame closes its connection. 0: 100 MiB.
	MaxFrameBytes int32
	// QueuedBytes caps the bytes of frames received and not yet served, over all connections
	// (queued.max.request.bytes). Readers wait while it is spent. 0: no cap.
	QueuedBytes int64
	// MaxParked is how many replies of one connection may wait before it is no longer read. 0: 100.
	MaxParked int
	// MaxIdle is connections.max.idle.ms. It also bounds how long a peer may refuse to take a reply.
	// 0: no limit.
	MaxIdle time.Duration
	// MaxConnections is max.connections: at the limit, new connections wait to be served. 0: no limit.
	MaxConnections int
	// MaxConnectionsPerIP is max.connections.per.ip: connections above it are closed at once. 0: no
	// limit. MaxConnectionsPerIPOverrides holds other limits by address; there 0 means none allowed.
	MaxConnectionsPerIP          int
	MaxConnectionsPerIPOverrides map[netip.Addr]int
	// MaxDescriptor is the highest file descriptor that a connection may get; one above it is closed at once. As
	// descriptors are given out lowest first, it leaves the rest to the logs: without one a log cannot roll, and its
	// directory would go offline. 0: no limit.
	MaxDescriptor int
	// SendBufferBytes and ReceiveBufferBytes are socket.send.buffer.bytes and
	// socket.receive.buffer.bytes. 0 or -1: the operating system's default.
	SendBufferBytes, ReceiveBufferBytes int
}

// Server accepts connections and runs the handler on their frames.
type Server struct {
	o        Options
	budget   budget       // of frames above smallFrameBytes
	refused  atomic.Int64 // when a connection was last refused for want of descriptors, Unix nanoseconds
	small    budget       // of the others
	ids      connIDs
	wg       sync.WaitGroup // accept loops, readers, writers
	draining chan struct{}  // closed when Stop begins
	force    chan struct{}  // closed when Stop gives up waiting
	shed     atomic.Int64   // when stalled connections were last looked for, Unix nanoseconds
	base     context.Context
	cutOff   context.CancelFunc // ends base, together with force

	mu struct {
		sync.Mutex
		conns    map[*Conn]struct{}
		perIP    map[netip.Addr]int
		slot     chan struct{} // closed and replaced when a connection ends
		started  bool
		stopping bool
	}
}

// NewServer builds a server; Start makes it accept. The listeners belong to the server from here on.
func NewServer(o Options) *Server {
	if o.MaxFrameBytes <= 0 {
		o.MaxFrameBytes = 100 << 20
	}
	if o.MaxParked <= 0 {
		o.MaxParked = 100
	}
	if o.Pool == nil {
		o.Pool = &Pool{}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Metrics == nil {
		o.Metrics = NewMetrics(nil)
	}
	s := &Server{o: o, draining: make(chan struct{}), force: make(chan struct{})}
	s.base, s.cutOff = context.WithCancel(context.Background())
	s.small.limit = (o.QueuedBytes + 3) / 4
	s.budget.limit = o.QueuedBytes - o.QueuedBytes/4
	s.mu.conns = make(map[*Conn]struct{})
	s.mu.perIP = make(map[netip.Addr]int)
	s.mu.slot = make(chan struct{})
	o.Metrics.attach(s)
	return s
}

// Pool is the pool frames come from and replies should come from.
func (s *Server) Pool() *Pool { return s.o.Pool }

// Connections is the number of open connections.
func (s *Server) Connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.mu.conns)
}

// Start begins to accept on every listener.
func (s *Server) Start() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.started || s.mu.stopping {
		return
	}
	s.mu.started = true
	for _, l := range s.o.Listeners {
		s.wg.Add(1)
		go s.acceptLoop(l)
	}
}

// Stop stops accepting and reading, lets what was received be answered, and closes everything. When
// ctx ends first, what is left is cut off and the error of ctx returned.
func (s *Server) Stop(ctx context.Context) error {
	s.mu.Lock()
	if s.mu.stopping {
		s.mu.Unlock()
		s.wg.Wait()
		return nil
	}
	s.mu.stopping = true
	close(s.draining)
	for c := range s.mu.conns {
		_ = c.nc.SetReadDeadline(time.Unix(1, 0)) // wakes readers; none reads further frames
	}
	s.mu.Unlock()
	for _, l := range s.o.Listeners {
		_ = l.Close()
	}

	done := make(chan struct{})
	go func() {
		s.wg.Wait()
		close(done)
	}()
	select {
	case <-done:
		s.cutOff()
		return nil
	case <-ctx.Done():
	}
	close(s.force)
	s.cutOff()
	s.mu.Lock()
	for c := range s.mu.conns {
		_ = c.nc.Close()
	}
	s.mu.Unlock()
	<-done
	return ctx.Err()
}

// shedInterval is the least time between two searches for stalled connections.
const shedInterval = 100 * time.Millisecond

func (s *Server) shedStalled(tolerance time.Duration) {
	now := time.Now()
	last := s.shed.Load()
	if now.UnixNano()-last < int64(shedInterval) || !s.shed.CompareAndSwap(last, now.UnixNano()) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.mu.conns {
		held := c.sendingBytes.Load()
		if held == 0 || now.UnixNano()-c.sendingSince.Load() < int64(tolerance) {
			continue
		}
		s.o.Logger.Warn("connection closed: its client does not take a reply, and memory is short", slog.Any("conn", c), slog.Int64("bytes", held))
		_ = c.nc.Close()
	}
}

const (
	// smallFrameBytes is the size up to which a frame does not queue behind larger ones: what a producer sends by
	// default. A few clients that claim the largest frames and send nothing must not stop the others.
	smallFrameBytes = 1<<20 + 64<<10
	// frameGrace and frameBytesPerSecond are what a peer in the middle of a frame may take while others wait for memory.
	frameGrace          = 5 * time.Second
	frameBytesPerSecond = 256 << 10
)

// budgetFor is what a frame of n bytes is charged to.
func (s *Server) budgetFor(n int) *budget {
	if n <= smallFrameBytes {
		return &s.small
	}
	return &s.budget
}

// queuedBytes is what frames hold.
func (s *Server) queuedBytes() int64 { return s.small.inUse() + s.budget.inUse() }

// shedSlowFrames closes the connections whose frames arrive too slowly for the memory they hold while others wait.
func (s *Server) shedSlowFrames() {
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.mu.conns {
		since := c.receivingSince.Load()
		if since == 0 || !tooSlow(now.Sub(time.Unix(0, since)), c.received.Load()) {
			continue
		}
		s.o.Logger.Warn("connection closed: its frame arrives slowly, and others wait for memory", slog.Any("conn", c), slog.Int64("received", c.received.Load()))
		_ = c.nc.Close()
	}
}

func tooSlow(took time.Duration, received int64) bool {
	return took > frameGrace && float64(received) < (took-frameGrace).Seconds()*frameBytesPerSecond
}

func (s *Server) acceptLoop(l Listener) {
	defer s.wg.Done()
	const maxPause = time.Second
	pause := 5 * time.Millisecond
	for {
		nc, err := l.Accept()
		if err != nil {
			if s.stopped() || errors.Is(err, net.ErrClosed) {
				return
			}
			// Out of descriptors or the like: the connections that exist go on.
			s.o.Logger.Warn("accept failed", slog.String("listener", l.Name), slog.Any("error", err))
			select {
			case <-time.After(pause):
			case <-s.draining:
				return
			}
			pause = min(2*pause, maxPause)
			continue
		}
		pause = 5 * time.Millisecond
		if !s.admit(l.Name, nc) {
			_ = nc.Close()
		}
	}
}

func (s *Server) stopped() bool {
	select {
	case <-s.draining:
		return true
	default:
		return false
	}
}

// admit starts serving nc when the limits allow it. At max.connections it waits for a place.
func (s *Server) admit(listener string, nc net.Conn) bool {
	ip := remoteIP(nc)
	s.mu.Lock()
	for s.o.MaxConnections > 0 && len(s.mu.conns) >= s.o.MaxConnections && !s.mu.stopping {
		slot := s.mu.slot
		s.mu.Unlock()
		select {
		case <-slot:
		case <-s.draining:
			return false
		}
		s.mu.Lock()
	}
	defer s.mu.Unlock()
	if s.mu.stopping {
		return false
	}
	limit, overridden := s.o.MaxConnectionsPerIPOverrides[ip]
	if !overridden {
		limit = s.o.MaxConnectionsPerIP
	}
	if (limit > 0 || overridden) && s.mu.perIP[ip] >= limit {
		s.o.Metrics.rejected.Add(1)
		s.o.Logger.Info("connection refused: max.connections.per.ip", slog.String("listener", listener), slog.String("remote", ip.String()), slog.Int("limit", limit))
		return false
	}
	if fd, ok := descriptor(nc); ok && s.o.MaxDescriptor > 0 && fd > s.o.MaxDescriptor {
		s.o.Metrics.rejected.Add(1)
		if now := time.Now().UnixNano(); now-s.refused.Load() > int64(time.Second) {
			s.refused.Store(now)
			s.o.Logger.Warn("connections refused: the file descriptors left are kept for the logs; raise the limit of open files (ulimit -n, LimitNOFILE)",
				slog.String("listener", listener), slog.Int("connections", len(s.mu.conns)))
		}
		return false
	}
	s.setSocketOptions(nc)
	now := time.Now()
	c := &Conn{id: s.ids.next(), listener: listener, nc: nc, server: s, lastRead: now, room: make(chan struct{}, 1)}
	s.mu.perIP[ip]++
	s.mu.conns[c] = struct{}{}
	s.o.Metrics.accepted.Add(1)
	s.wg.Add(1)
	go func() {
		defer s.wg.Done()
		c.readLoop()
	}()
	return true
}

// Detached returns a connection that the server neither reads nor counts: whoever holds it gives
// frames to the handler directly. For tests and benchmarks of handlers.
func (s *Server) Detached(listener string, nc net.Conn) *Conn {
	return &Conn{id: s.ids.next(), listener: listener, nc: nc, server: s, room: make(chan struct{}, 1)}
}

func (s *Server) setSocketOptions(nc net.Conn) {
	tcp, ok := nc.(*net.TCPConn)
	if !ok {
		return
	}
	if s.o.SendBufferBytes > 0 {
		_ = tcp.SetWriteBuffer(s.o.SendBufferBytes)
	}
	if s.o.ReceiveBufferBytes > 0 {
		_ = tcp.SetReadBuffer(s.o.ReceiveBufferBytes)
	}
}

// descriptor is the file descriptor of a connection.
func descriptor(nc net.Conn) (fd int, ok bool) {
	sc, ok := nc.(syscall.Conn)
	if !ok {
		return 0, false
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return 0, false
	}
	err = raw.Control(func(n uintptr) { fd = int(n) })
	return fd, err == nil
}

func remoteIP(nc net.Conn) netip.Addr {
	if tcp, ok := nc.RemoteAddr().(*net.TCPAddr); ok {
		return tcp.AddrPort().Addr().Unmap()
	}
	return netip.Addr{}
}

// ending says why c ends, before the client can know that it did: what a client sees is counted already.
func (s *Server) ending(c *Conn, err error) {
	switch {
	case err == nil, errors.Is(err, io.EOF), errors.Is(err, errDraining), errors.Is(err, net.ErrClosed):
	case errors.Is(err, ErrFrameLength):
		s.o.Metrics.badFrames.Add(1)
		s.o.Logger.Warn("connection closed", slog.Any("conn", c), slog.Any("error", err))
	default:
		s.o.Logger.Debug("connection closed", slog.Any("conn", c), slog.Any("error", err))
	}
}

// closed forgets c.
func (s *Server) closed(c *Conn) {
	ip := remoteIP(c.nc)
	s.mu.Lock()
	delete(s.mu.conns, c)
	if s.mu.perIP[ip]--; s.mu.perIP[ip] <= 0 {
		delete(s.mu.perIP, ip)
	}
	close(s.mu.slot)
	s.mu.slot = make(chan struct{})
	s.mu.Unlock()
}

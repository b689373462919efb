package network

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

type handlerFunc func(c *Conn, frame *Buffer) Reply

func (f handlerFunc) Serve(c *Conn, frame *Buffer) Reply { return f(c, frame) }

func echo(c *Conn, frame *Buffer) Reply { return Done(reply(c, frame.B)) }

func reply(c *Conn, body []byte) *Buffer {
	b := c.Pool().GetReply(len(body))
	b.B = append(b.B, body...)
	return b
}

// serve starts a server on loopback and returns a function that dials it.
func serve(t *testing.T, h handlerFunc, change func(*Options)) (*Server, func() net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Handler: h, Listeners: []Listener{{Name: "PLAINTEXT", Listener: l}}, MaxIdle: 10 * time.Second}
	if change != nil {
		change(&o)
	}
	s := NewServer(o)
	s.Start()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := s.Stop(ctx); err != nil {
			t.Errorf("stop: %v", err)
		}
	})
	return s, func() net.Conn {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		_ = c.SetDeadline(time.Now().Add(10 * time.Second))
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
}

// tappedListener tells a test of the reads and writes that its server begins on connections.
type tappedListener struct {
	net.Listener
	read, wrote func(n int) // length of the buffer; nil is not called
}

func (l *tappedListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &tappedConn{Conn: c, tap: l}, nil
}

type tappedConn struct {
	net.Conn
	tap *tappedListener
}

func (c *tappedConn) Read(p []byte) (int, error) {
	if c.tap.read != nil {
		c.tap.read(len(p))
	}
	return c.Conn.Read(p)
}

func (c *tappedConn) Write(p []byte) (int, error) {
	if c.tap.wrote != nil {
		c.tap.wrote(len(p))
	}
	return c.Conn.Write(p)
}

// signal leaves one signal in a channel with room for one.
func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

func awaitSignal(t *testing.T, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(20 * time.Second):
		t.Fatal("it does not come to that")
	}
}

func frameOf(body []byte) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...)
}

func send(t *testing.T, c net.Conn, bodies ...[]byte) {
	t.Helper()
	var all []byte
	for _, b := range bodies {
		all = append(all, frameOf(b)...)
	}
	if _, err := c.Write(all); err != nil {
		t.Fatal(err)
	}
}

func receive(t *testing.T, c net.Conn) []byte {
	t.Helper()
	body, err := receiveErr(c)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

func receiveErr(c net.Conn) ([]byte, error) {
	var n [4]byte
	if _, err := io.ReadFull(c, n[:]); err != nil {
		return nil, err
	}
	body := make([]byte, binary.BigEndian.Uint32(n[:]))
	_, err := io.ReadFull(c, body)
	return body, err
}

func expectClosed(t *testing.T, c net.Conn) {
	t.Helper()
	if body, err := receiveErr(c); err == nil {
		t.Fatalf("got a reply of %d bytes, want the connection closed", len(body))
	} else if errors.Is(err, context.DeadlineExceeded) || isTimeout(err) {
		t.Fatal("connection still open")
	}
}

func isTimeout(err error) bool {
	var ne net.Error
	return errors.As(err, &ne) && ne.Timeout()
}

func TestFramesOfEverySizeComeBackWhole(t *testing.T) {
	_, dial := serve(t, echo, nil)
	c := dial()
	for _, n := range []int{0, 1, 100, readAheadBytes - 5, readAheadBytes - 4, readAheadBytes, 3*readAheadBytes + 1, 1 << 20, 5<<20 + 3} {
		body := bytes.Repeat([]byte{byte(n), 0xa5}, n/2+1)[:n]
		go func() { _, _ = c.Write(frameOf(body)) }()
		if got := receive(t, c); !bytes.Equal(got, body) {
			t.Fatalf("frame of %d bytes came back changed", n)
		}
	}
}

func TestFrameInSingleBytesIsAssembled(t *testing.T) {
	_, dial := serve(t, echo, nil)
	c := dial()
	for _, b := range frameOf([]byte("slowly")) {
		if _, err := c.Write([]byte{b}); err != nil {
			t.Fatal(err)
		}
	}
	if got := receive(t, c); string(got) != "slowly" {
		t.Fatalf("got %q", got)
	}
}

func TestPipelinedRepliesKeepOrderWhateverParks(t *testing.T) {
	const requests = 1000
	_, dial := serve(t, func(c *Conn, frame *Buffer) Reply {
		n := binary.BigEndian.Uint32(frame.B)
		body := bytes.Clone(frame.B)
		switch n % 5 {
		case 0:
			return Pending(WaiterFunc(func(ctx context.Context) (*Buffer, error) {
				select {
				case <-time.After(time.Duration(n%7) * 100 * time.Microsecond):
				case <-ctx.Done():
				}
				return reply(c, body), nil
			}))
		case 3:
			return NoReply()
		}
		return Done(reply(c, body))
	}, func(o *Options) { o.MaxParked = 8 })
	c := dial()
	go func() {
		for i := range requests {
			body := binary.BigEndian.AppendUint32(nil, uint32(i))
			body = append(body, make([]byte, (i%50)*101)...)
			_, _ = c.Write(frameOf(body))
		}
	}()
	for i := range requests {
		if i%5 == 3 {
			continue
		}
		if got := binary.BigEndian.Uint32(receive(t, c)); got != uint32(i) {
			t.Fatalf("got reply %d, want %d", got, i)
		}
	}
}

func TestReplyMayBeChainedBuffers(t *testing.T) {
	_, dial := serve(t, func(c *Conn, frame *Buffer) Reply {
		head := reply(c, frame.B[:1])
		tail := head
		for i := 1; i < len(frame.B); i++ {
			part := c.Pool().Get(1)
			part.B = append(part.B, frame.B[i])
			tail = tail.Chain(part)
		}
		return Done(head)
	}, nil)
	c := dial()
	send(t, c, []byte("abcdefgh"), []byte("second"))
	for _, want := range []string{"abcdefgh", "second"} {
		if got := receive(t, c); string(got) != want {
			t.Fatalf("got %q, want %q", got, want)
		}
	}
}

func TestHostileLengthClosesBeforeAnythingIsAllocated(t *testing.T) {
	for name, head := range map[string]uint32{"negative": 0x80000000, "minus one": 0xffffffff, "one too many": 1<<20 + 1, "largest": 0x7fffffff} {
		t.Run(name, func(t *testing.T) {
			s, dial := serve(t, echo, func(o *Options) { o.MaxFrameBytes = 1 << 20 })
			c := dial()
			_, _ = c.Write(binary.BigEndian.AppendUint32(nil, head))
			expectClosed(t, c)
			if used := s.queuedBytes(); used != 0 {
				t.Errorf("%d bytes of the budget are still spent", used)
			}
			if got := s.o.Metrics.badFrames.Load(); got != 1 {
				t.Errorf("bad frames counted: %d", got)
			}
		})
	}
}

func TestCloseAnswersWhatCameBefore(t *testing.T) {
	_, dial := serve(t, func(c *Conn, frame *Buffer) Reply {
		switch string(frame.B) {
		case "close":
			return Close(errors.New("asked to"))
		case "park":
			return Pending(WaiterFunc(func(context.Context) (*Buffer, error) { return reply(c, []byte("parked")), nil }))
		}
		return echo(c, frame)
	}, nil)
	c := dial()
	send(t, c, []byte("a"), []byte("park"), []byte("b"), []byte("close"), []byte("never"))
	for _, want := range []string{"a", "parked", "b"} {
		if got := receive(t, c); string(got) != want {
			t.Fatalf("got %q, want %q", got, want)
		}
	}
	expectClosed(t, c)
}

func TestPanicClosesOnlyItsConnection(t *testing.T) {
	s, dial := serve(t, func(c *Conn, frame *Buffer) Reply {
		switch string(frame.B) {
		case "serve":
			panic("in serve")
		case "wait":
			return Pending(WaiterFunc(func(context.Context) (*Buffer, error) { panic("in wait") }))
		}
		return echo(c, frame)
	}, nil)
	bystander := dial()
	for _, where := range []string{"serve", "wait"} {
		c := dial()
		send(t, c, []byte(where))
		expectClosed(t, c)
	}
	send(t, bystander, []byte("still here"))
	receive(t, bystander)
	if got := s.o.Metrics.Panics(); got != 2 {
		t.Errorf("panics counted: %d, want 2", got)
	}
}

func TestClientGoingAwayEndsItsParkedRequests(t *testing.T) {
	ended := make(chan error, 1)
	_, dial := serve(t, func(c *Conn, frame *Buffer) Reply {
		return Pending(WaiterFunc(func(ctx context.Context) (*Buffer, error) {
			<-ctx.Done()
			ended <- ctx.Err()
			return nil, ctx.Err()
		}))
	}, nil)
	c := dial()
	send(t, c, []byte("wait for ever"))
	_ = c.Close()
	select {
	case <-ended:
	case <-time.After(5 * time.Second):
		t.Fatal("the parked request outlived its connection")
	}
}

func TestSlowReaderHoldsUpNobodyElse(t *testing.T) {
	big := make([]byte, 4<<20)
	_, dial := serve(t, func(c *Conn, frame *Buffer) Reply {
		if string(frame.B) == "big" {
			return Done(reply(c, big))
		}
		return echo(c, frame)
	}, nil)
	slow := dial()
	for range 10 {
		send(t, slow, []byte("big")) // never read
	}
	c := dial()
	for range 100 {
		send(t, c, []byte("quick"))
		receive(t, c)
	}
	_ = slow.Close()
}

func TestSpentBudgetHoldsReadersUntilFramesAreServed(t *testing.T) {
	gate := make(chan struct{})
	var inside, most atomic.Int64
	s, dial := serve(t, func(c *Conn, frame *Buffer) Reply {
		n := inside.Add(1)
		for {
			old := most.Load()
			if n <= old || most.CompareAndSwap(old, n) {
				break
			}
		}
		<-gate
		inside.Add(-1)
		return Done(reply(c, nil))
	}, func(o *Options) { o.QueuedBytes = 64 << 10 })
	const clients = 8
	var wg sync.WaitGroup
	for range clients {
		c := dial()
		wg.Add(1)
		go func() {
			defer wg.Done()
			_, _ = c.Write(frameOf(make([]byte, 40<<10)))
			_, _ = receiveErr(c)
		}()
	}
	for range clients {
		gate <- struct{}{}
	}
	wg.Wait()
	if most.Load() > 2 { // 40 KiB fit, and one frame may overdraw
		t.Errorf("%d frames of 40 KiB were in flight under a budget of 64 KiB", most.Load())
	}
	if used := s.queuedBytes(); used != 0 {
		t.Errorf("%d bytes still spent", used)
	}
}

func TestIdleConnectionIsClosedAndBusyOneIsNot(t *testing.T) {
	_, dial := serve(t, func(c *Conn, frame *Buffer) Reply {
		return Pending(WaiterFunc(func(ctx context.Context) (*Buffer, error) {
			select {
			case <-time.After(400 * time.Millisecond):
			case <-ctx.Done():
			}
			return reply(c, []byte("late")), nil
		}))
	}, func(o *Options) { o.MaxIdle = 150 * time.Millisecond })
	idle, busy := dial(), dial()
	start := time.Now()
	send(t, busy, []byte("x"))
	expectClosed(t, idle)
	if d := time.Since(start); d < 100*time.Millisecond {
		t.Errorf("closed after %v", d)
	}
	if got := receive(t, busy); string(got) != "late" {
		t.Errorf("got %q", got)
	}
}

func TestConnectionLimitPerAddress(t *testing.T) {
	_, dial := serve(t, echo, func(o *Options) { o.MaxConnectionsPerIP = 2 })
	a, b := dial(), dial()
	for _, c := range []net.Conn{a, b} {
		send(t, c, []byte("x"))
		receive(t, c)
	}
	third := dial()
	_, _ = third.Write(frameOf([]byte("x")))
	expectClosed(t, third)
}

func TestConnectionLimitOverrideForAnAddress(t *testing.T) {
	_, dial := serve(t, echo, func(o *Options) {
		o.MaxConnectionsPerIPOverrides = map[netip.Addr]int{netip.MustParseAddr("127.0.0.1"): 0}
	})
	c := dial()
	_, _ = c.Write(frameOf([]byte("x")))
	expectClosed(t, c)
}

func TestMaxConnectionsMakesTheNextOneWait(t *testing.T) {
	_, dial := serve(t, echo, func(o *Options) { o.MaxConnections = 1 })
	first := dial()
	send(t, first, []byte("x"))
	receive(t, first)
	second := dial()
	send(t, second, []byte("y"))
	_ = second.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
	if _, err := receiveErr(second); !isTimeout(err) {
		t.Fatalf("the second connection was served beside the first: %v", err)
	}
	_ = first.Close()
	_ = second.SetReadDeadline(time.Now().Add(5 * time.Second))
	if got := receive(t, second); string(got) != "y" {
		t.Fatalf("got %q", got)
	}
}

func TestStopAnswersWhatWasReceived(t *testing.T) {
	arrived := make(chan struct{})
	s, dial := serve(t, func(c *Conn, frame *Buffer) Reply {
		close(arrived)
		return Pending(WaiterFunc(func(ctx context.Context) (*Buffer, error) {
			select {
			case <-c.Draining():
			case <-ctx.Done():
			}
			return reply(c, []byte("answered")), nil
		}))
	}, nil)
	c := dial()
	send(t, c, []byte("x"))
	<-arrived
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := s.Stop(ctx); err != nil {
		t.Fatal(err)
	}
	if got := receive(t, c); string(got) != "answered" {
		t.Fatalf("got %q", got)
	}
	expectClosed(t, c)
}

func TestStopCutsOffWhatDoesNotEnd(t *testing.T) {
	arrived := make(chan struct{})
	s, dial := serve(t, func(c *Conn, frame *Buffer) Reply {
		close(arrived)
		return Pending(WaiterFunc(func(ctx context.Context) (*Buffer, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}))
	}, nil)
	c := dial()
	send(t, c, []byte("x"))
	<-arrived
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if err := s.Stop(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("stop: %v", err)
	}
}

func TestPoolClassesHoldWhatTheyPromise(t *testing.T) {
	var p Pool
	for n := 0; n <= maxClassBytes; n = n*5/4 + 1 {
		b := p.Get(n)
		if cap(b.B) < n || len(b.B) != 0 {
			t.Fatalf("Get(%d): len %d cap %d", n, len(b.B), cap(b.B))
		}
		if n > minClassBytes && cap(b.B) > 2*n+minClassBytes {
			t.Errorf("Get(%d) wastes: cap %d", n, cap(b.B))
		}
		b.B = append(b.B[:cap(b.B)], 1) // grown by append
		b.Release()
	}
	for n := range 5000 {
		if b := p.Get(n); cap(b.B) < n {
			t.Fatalf("reused buffer for %d has cap %d", n, cap(b.B))
		}
	}
}

func TestServingARequestAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector drops pooled buffers at random")
	}
	_, dial := serve(t, echo, nil)
	c := dial()
	frame := frameOf(make([]byte, 10000))
	in := make([]byte, len(frame))
	n := testing.AllocsPerRun(500, func() {
		_, _ = c.Write(frame)
		if _, err := io.ReadFull(c, in); err != nil {
			t.Fatal(err)
		}
	})
	if n > 0.5 {
		t.Errorf("%v allocations per request", n)
	}
}

// Six clients that claim frames of 100 MiB and fall silent would hold the whole budget.
func TestClaimedFramesDoNotStopOtherConnections(t *testing.T) {
	reading := make(chan struct{}, 1)
	s, dial := serve(t, echo, func(o *Options) {
		o.QueuedBytes = 64 << 20
		o.Listeners[0].Listener = &tappedListener{Listener: o.Listeners[0].Listener, read: func(n int) {
			if n > smallFrameBytes { // the frame has its memory and is being waited for
				signal(reading)
			}
		}}
	})
	for range 4 {
		c := dial()
		claim := make([]byte, 3*readAheadBytes)
		binary.BigEndian.PutUint32(claim, 64<<20)
		if _, err := c.Write(claim); err != nil {
			t.Fatal(err)
		}
	}
	awaitSignal(t, reading)
	if s.queuedBytes() == 0 {
		t.Error("no claim was granted")
	}
	c := dial()
	body := make([]byte, 100<<10)
	began := time.Now()
	send(t, c, body)
	if got := receive(t, c); len(got) != len(body) {
		t.Errorf("%d bytes", len(got))
	}
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("answered after %v", took)
	}
}

func TestFramesThatArriveSlowlyAreCutOffOnlyForOthers(t *testing.T) {
	for _, tt := range []struct {
		took     time.Duration
		received int64
		want     bool
	}{
		{0, 0, false},
		{frameGrace, 0, false},
		{frameGrace + time.Second, 0, true},
		{frameGrace + time.Second, frameBytesPerSecond, false},
		{time.Minute, 10 << 20, true},
		{time.Minute, 90 << 20, false},
	} {
		if got := tooSlow(tt.took, tt.received); got != tt.want {
			t.Errorf("%d bytes in %v: %v, want %v", tt.received, tt.took, got, tt.want)
		}
	}
}

func TestConnectionsLeaveDescriptorsToTheLogs(t *testing.T) {
	_, dial := serve(t, echo, nil)
	first := dial()
	send(t, first, []byte("served"))
	receive(t, first)
	fd, ok := descriptor(first)
	if !ok {
		t.Skip("no descriptors here")
	}
	_, dialFull := serve(t, echo, func(o *Options) { o.MaxDescriptor = fd })
	late := dialFull() // what the server gets lies above
	expectClosed(t, late)
	send(t, first, []byte("still served"))
	receive(t, first)
}

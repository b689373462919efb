package network

import (
	"io"
	"sync/atomic"
	"testing"
)

func TestChargeCountsABufferUntilItsRelease(t *testing.T) {
	var p Pool
	var used atomic.Int64
	small, large := p.Get(100), p.Get(maxClassBytes+1)
	small.Charge(&used)
	large.Charge(&used)
	large.B = append(large.B, make([]byte, maxClassBytes+2)...) // outgrown
	large.Charge(&used)
	if got, want := used.Load(), int64(cap(small.B)+cap(large.B)); got != want {
		t.Errorf("%d bytes charged, want %d", got, want)
	}
	small.Chain(large)
	small.Release()
	if got := used.Load(); got != 0 {
		t.Errorf("%d bytes charged after everything was released", got)
	}
}

func TestShedStalledClosesOnlyWhoDoesNotRead(t *testing.T) {
	const large = 64 << 20 // more than the socket takes
	conns, sending := make(chan *Conn, 2), make(chan struct{}, 1)
	_, dial := serve(t, func(c *Conn, frame *Buffer) Reply {
		conns <- c
		if frame.B[0] == 's' {
			return echo(c, frame)
		}
		return Done(reply(c, make([]byte, large)))
	}, func(o *Options) {
		o.Listeners[0].Listener = &tappedListener{Listener: o.Listeners[0].Listener, wrote: func(n int) {
			if n >= large {
				signal(sending)
			}
		}}
	})
	good, bad := dial(), dial()
	send(t, good, []byte("small"))
	receive(t, good)
	<-conns
	send(t, bad, []byte("large"))
	c := <-conns
	awaitSignal(t, sending)
	c.ShedStalled(0)
	if n, err := io.Copy(io.Discard, bad); n >= large {
		t.Fatalf("the whole reply came: %d bytes, %v", n, err)
	}
	send(t, good, []byte("still there"))
	receive(t, good)
}

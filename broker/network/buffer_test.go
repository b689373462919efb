package network

import (
	"sync/atomic"
	"testing"
	"time"
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
	conns := make(chan *Conn, 2)
	s, dial := serve(t, func(c *Conn, frame *Buffer) Reply {
		conns <- c
		if frame.B[0] == 's' {
			return echo(c, frame)
		}
		return Done(reply(c, make([]byte, 64<<20)))
	}, nil)
	good, bad := dial(), dial()
	send(t, good, []byte("small"))
	receive(t, good)
	<-conns
	send(t, bad, []byte("large"))
	c := <-conns
	for deadline := time.Now().Add(5 * time.Second); s.Connections() == 2 && time.Now().Before(deadline); {
		c.ShedStalled(time.Millisecond)
		time.Sleep(time.Millisecond)
	}
	if n := s.Connections(); n != 1 {
		t.Fatalf("%d connections, want the one that reads", n)
	}
	send(t, good, []byte("still there"))
	receive(t, good)
}

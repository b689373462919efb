package network

import "testing"

func TestPoolCountsWhatIsHeld(t *testing.T) {
	var p Pool
	small, large := p.Get(100), p.Get(maxClassBytes+1)
	if got, want := p.InUse(), int64(cap(small.B)+cap(large.B)); got != want {
		t.Errorf("%d bytes in use, want %d", got, want)
	}
	large.B = append(large.B, make([]byte, 3*maxClassBytes)...) // outgrown: what is taken back is what was counted
	small.Chain(large)
	small.Release()
	if got := p.InUse(); got != 0 {
		t.Errorf("%d bytes in use after everything was released", got)
	}
}

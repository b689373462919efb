package node

import "testing"

func TestMemoryLimitLeavesRoomAboveWhatIsLive(t *testing.T) {
	for live, want := range map[uint64]int64{0: 112 << 20, 64 << 20: 112 << 20, 200 << 20: 249 << 20, 8 << 30: 9<<30 + 24<<20} {
		if got := memoryLimit(live); got != want {
			t.Errorf("live %d: %d, want %d", live, got, want)
		}
	}
}

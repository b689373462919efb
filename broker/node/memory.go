package node

import (
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// A broker's memory is mostly buffers of frames, which hold no pointers: collecting them costs little, but at GOGC's
// pace as much garbage again lies beside them. Up to memoryBudget that is no matter; from there on the runtime is asked
// to collect sooner. The limit grows with what is live, since a limit below it would only make the collector run without
// end. An operator's own GOMEMLIMIT is left alone.
const (
	memoryBudget   = 112 << 20
	memoryReserve  = 24 << 20 // for stacks and the runtime's own, and for what comes between two looks
	memoryInterval = time.Second
)

// memoryLimit is the limit for a heap of which live bytes were found in use by the last collection.
func memoryLimit(live uint64) int64 {
	return int64(max(memoryBudget, live+live/8+memoryReserve))
}

// keepMemoryBudget sets the runtime's memory limit until the node stops.
func (n *Node) keepMemoryBudget() {
	if os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	every := time.NewTicker(memoryInterval)
	defer every.Stop()
	for limit := int64(-1); ; {
		metrics.Read(live)
		if next := memoryLimit(live[0].Value.Uint64()); next != limit {
			debug.SetMemoryLimit(next)
			limit = next
		}
		select {
		case <-every.C:
		case <-n.stopping:
			return
		}
	}
}

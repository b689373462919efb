//go:build failpoints

package vfs

import (
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
)

// failpointTarget is read once: the environment of a process is its argument here.
var failpointTarget = sync.OnceValue(func() *failpoint {
	name, nth, found := strings.Cut(os.Getenv("WEIR_FAILPOINT"), ":")
	if name == "" {
		return nil
	}
	fp := &failpoint{name: name, nth: 1}
	if found {
		n, err := strconv.ParseInt(nth, 10, 64)
		if err != nil || n < 1 {
			panic("WEIR_FAILPOINT: want name or name:nth with nth >= 1, have " + os.Getenv("WEIR_FAILPOINT"))
		}
		fp.nth = n
	}
	return fp
})

type failpoint struct {
	name   string
	nth    int64
	passed atomic.Int64
}

// Failpoint kills the process, as kill -9 would, at the nth passing of the name that WEIR_FAILPOINT gives.
func Failpoint(name string) {
	if due(name) {
		kill()
	}
}

// TearWrite writes the first half of b and kills the process, at the nth passing of the name that WEIR_FAILPOINT gives.
func TearWrite(name string, f File, b []byte, off int64) {
	if due(name) {
		_, _ = f.WriteAt(b[:len(b)/2], off)
		kill()
	}
}

func due(name string) bool {
	fp := failpointTarget()
	return fp != nil && fp.name == name && fp.passed.Add(1) == fp.nth
}

func kill() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {} // the signal may take a moment: nothing after this line may happen
}

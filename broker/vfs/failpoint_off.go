//go:build !failpoints

package vfs

// Failpoint marks a place at which a kill -9 campaign may end the process. In this build it does nothing.
//
// With the build tag failpoints and WEIR_FAILPOINT=name or name:nth in the environment, the nth passing of that name
// kills the process as kill -9 would.
func Failpoint(name string) {}

// TearWrite marks a write that a kill -9 campaign may tear: at the nth passing the first half of b reaches the file and
// the process is killed. In this build it does nothing.
func TearWrite(name string, f File, b []byte, off int64) {}

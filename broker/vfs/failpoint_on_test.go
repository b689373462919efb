//go:build failpoints

package vfs

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

func TestFailpointKillsAtTheNthPassing(t *testing.T) {
	if dir := os.Getenv("WEIR_VFS_DIR"); dir != "" {
		for _, name := range []string{"1", "2", "3"} {
			if err := WriteFileAtomic(OS(), filepath.Join(dir, name), []byte("x")); err != nil {
				t.Fatal(err)
			}
		}
		return
	}
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0], "-test.run", t.Name()+"$")
	cmd.Env = append(os.Environ(), "WEIR_VFS_DIR="+dir, "WEIR_FAILPOINT=vfs.atomic.before-rename:2")
	var exit *exec.ExitError
	if err := cmd.Run(); !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("child ended with %v", err)
	}
	names, err := OS().List(dir)
	if err != nil || len(names) != 2 || names[0] != "1" || names[1] != "2.tmp" {
		t.Fatalf("left %v, %v", names, err)
	}
}

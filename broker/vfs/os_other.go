//go:build !linux

package vfs

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

func fdatasync(fd int) error { return unix.Fsync(fd) }

func preallocate(int, int64, int64) error { return nil }

func pwritev(fd int, bufs [][]byte, off int64) (int, error) {
	total := 0
	for _, b := range bufs {
		n, err := unix.Pwrite(fd, b, off+int64(total))
		total += max(n, 0)
		if err != nil || n < len(b) {
			return total, err
		}
	}
	return total, nil
}

func lockFile(f *os.File) error {
	err := ignoringEINTR(func() error { return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) })
	if errors.Is(err, unix.EWOULDBLOCK) {
		return ErrLocked
	}
	return err
}

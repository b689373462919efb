package vfs

import (
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

func fdatasync(fd int) error { return unix.Fdatasync(fd) }

func preallocate(fd int, off, length int64) error {
	err := unix.Fallocate(fd, unix.FALLOC_FL_KEEP_SIZE, off, length)
	if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENOSYS) {
		return nil // tmpfs of old kernels, NFS, overlay: the write itself allocates
	}
	return err
}

func pwritev(fd int, bufs [][]byte, off int64) (int, error) { return unix.Pwritev(fd, bufs, off) }

// lockFile takes an open-file-description lock on the whole file. Unlike flock it excludes the POSIX locks that the
// JVM takes, so that a running Kafka and weir never share a directory; unlike those it also excludes a second opener in
// this process.
func lockFile(f *os.File) error {
	lk := unix.Flock_t{Type: unix.F_WRLCK, Whence: io.SeekStart}
	err := ignoringEINTR(func() error { return unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, &lk) })
	if err == nil {
		return nil
	}
	if !errors.Is(err, unix.EAGAIN) && !errors.Is(err, unix.EACCES) {
		return err
	}
	holder := unix.Flock_t{Type: unix.F_WRLCK, Whence: io.SeekStart}
	if unix.FcntlFlock(f.Fd(), unix.F_OFD_GETLK, &holder) == nil && holder.Type != unix.F_UNLCK && holder.Pid > 0 {
		return fmt.Errorf("%w (process id %d)", ErrLocked, holder.Pid)
	}
	return ErrLocked
}

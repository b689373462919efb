package vfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sort"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// OS returns the machine's own file system. Names are paths as the os package takes them.
func OS() FS { return osFS{} }

type osFS struct{}

var _ FS = osFS{}

func (osFS) Create(name string) (File, error) {
	return openOS(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC)
}

func (osFS) Open(name string) (File, error) { return openOS(name, os.O_RDONLY) }

func (osFS) OpenReadWrite(name string) (File, error) { return openOS(name, os.O_RDWR) }

func (osFS) OpenDir(name string) (File, error) {
	return openOS(name, os.O_RDONLY|unix.O_DIRECTORY)
}

func openOS(name string, flag int) (File, error) {
	f, err := os.OpenFile(name, flag, 0o644)
	if err != nil {
		return nil, err
	}
	raw, err := f.SyscallConn()
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return &osFile{File: f, raw: raw}, nil
}

func (osFS) Remove(name string) error { return os.Remove(name) }

func (osFS) RemoveAll(name string) error { return os.RemoveAll(name) }

func (osFS) Rename(oldName, newName string) error { return os.Rename(oldName, newName) }

func (osFS) MkdirAll(name string, perm fs.FileMode) error { return os.MkdirAll(name, perm) }

func (osFS) List(name string) ([]string, error) {
	d, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	names, err := d.Readdirnames(-1)
	if cerr := d.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return nil, err
	}
	sort.Strings(names)
	return names, nil
}

func (osFS) Stat(name string) (fs.FileInfo, error) { return os.Stat(name) }

func (osFS) Chtimes(name string, mtime time.Time) error { return os.Chtimes(name, mtime, mtime) }

func (osFS) DiskUsage(name string) (Usage, error) {
	var st unix.Statfs_t
	if err := ignoringEINTR(func() error { return unix.Statfs(name, &st) }); err != nil {
		return Usage{}, &fs.PathError{Op: "statfs", Path: name, Err: err}
	}
	size := uint64(st.Bsize)
	return Usage{Total: st.Blocks * size, Free: st.Bavail * size}, nil
}

// Lock writes our process id into the file, for the error of the next one who tries.
func (osFS) Lock(name string) (io.Closer, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	if err := lockFile(f); err != nil {
		holder := make([]byte, 20)
		n, _ := f.ReadAt(holder, 0)
		_ = f.Close()
		if !errors.Is(err, ErrLocked) {
			return nil, &fs.PathError{Op: "lock", Path: name, Err: err}
		}
		if pid, perr := strconv.Atoi(strings.TrimSpace(string(holder[:n]))); perr == nil {
			return nil, fmt.Errorf("%s: %w (process id %d)", name, err, pid)
		}
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if err := f.Truncate(0); err == nil {
		// Only a courtesy: the lock is held whether or not the number could be written.
		_, _ = f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	}
	return f, nil
}

// osFile adds to os.File what it lacks. The descriptor is only used through raw, which keeps it open meanwhile: a bare
// Fd() could be closed, and its number be another file's, by the time of the call.
type osFile struct {
	*os.File
	raw syscall.RawConn
}

func (f *osFile) SyncData() error {
	return f.control("fdatasync", func(fd int) error {
		return ignoringEINTR(func() error { return fdatasync(fd) })
	})
}

func (f *osFile) Preallocate(off, length int64) error {
	if length <= 0 {
		return nil
	}
	return f.control("fallocate", func(fd int) error {
		return ignoringEINTR(func() error { return preallocate(fd, off, length) })
	})
}

func (f *osFile) control(op string, fn func(fd int) error) error {
	var err error
	if cerr := f.raw.Control(func(fd uintptr) { err = fn(int(fd)) }); cerr != nil {
		err = cerr
	}
	if err != nil {
		return &fs.PathError{Op: op, Path: f.Name(), Err: err}
	}
	return nil
}

// iovMax is how many buffers one pwritev takes (IOV_MAX).
const iovMax = 1024

func (f *osFile) WriteVec(bufs [][]byte, off int64) (int, error) {
	if len(bufs) == 1 {
		return f.WriteAt(bufs[0], off)
	}
	total := 0
	for len(bufs) > 0 {
		chunk := bufs[:min(len(bufs), iovMax)]
		n, err := f.writeChunk(chunk, off)
		total += n
		if err != nil {
			return total, err
		}
		off += int64(n)
		bufs = bufs[len(chunk):]
	}
	return total, nil
}

// writeChunk writes at most iovMax buffers; when the system takes only a part of them, it goes on after that part.
func (f *osFile) writeChunk(bufs [][]byte, off int64) (int, error) {
	want := 0
	for _, b := range bufs {
		want += len(b)
	}
	if want == 0 {
		return 0, nil
	}
	c := vecCalls.Get().(*vecCall)
	c.bufs, c.off = bufs, off
	err := f.raw.Control(c.run)
	n := c.n
	if err == nil {
		err = c.err
	}
	*c = vecCall{run: c.run}
	vecCalls.Put(c)
	if err != nil {
		return n, &fs.PathError{Op: "pwritev", Path: f.Name(), Err: err}
	}
	for n < want { // short: the rest buffer by buffer, which is rare enough to be plain
		rest, skip := bufs, n
		for len(rest) > 0 && skip >= len(rest[0]) {
			skip -= len(rest[0])
			rest = rest[1:]
		}
		m, err := f.WriteAt(rest[0][skip:], off+int64(n))
		n += m
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// vecCall carries the arguments of one pwritev through RawConn.Control without allocating a closure per write.
type vecCall struct {
	bufs [][]byte
	off  int64
	n    int
	err  error
	run  func(fd uintptr)
}

// vecCalls is a pool, not state.
var vecCalls = sync.Pool{New: func() any {
	c := &vecCall{}
	c.run = func(fd uintptr) {
		for {
			c.n, c.err = pwritev(int(fd), c.bufs, c.off)
			if c.err != unix.EINTR {
				break
			}
		}
		c.n = max(c.n, 0)
	}
	return c
}}

func ignoringEINTR(fn func() error) error {
	for {
		if err := fn(); err != unix.EINTR {
			return err
		}
	}
}

package vfs

import (
	"io"
	"io/fs"
	"math"
	"path/filepath"
	"sync/atomic"
	"syscall"
)

// memFile is an open file or directory of a Mem.
type memFile struct {
	m      *Mem
	n      *node
	name   string
	write  bool
	closed atomic.Bool
}

var _ File = (*memFile)(nil)

func (f *memFile) Close() error {
	if f.closed.Swap(true) {
		return pathError("close", f.name, fs.ErrClosed)
	}
	return nil
}

// check tells whether the file may be used for an operation.
func (f *memFile) check(op string, write bool, off int64) error {
	switch {
	case f.closed.Load():
		return pathError(op, f.name, fs.ErrClosed)
	case f.n.dir:
		return pathError(op, f.name, syscall.EISDIR)
	case write && !f.write:
		return pathError(op, f.name, syscall.EBADF)
	case off < 0:
		return pathError(op, f.name, syscall.EINVAL)
	}
	return nil
}

func (f *memFile) ReadAt(p []byte, off int64) (int, error) {
	if err := f.check("read", false, off); err != nil {
		return 0, err
	}
	f.m.mu.RLock()
	n := f.n.readAt(p, off)
	f.m.mu.RUnlock()
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (f *memFile) WriteAt(p []byte, off int64) (int, error) {
	if err := f.check("write", true, off); err != nil {
		return 0, err
	}
	if off > math.MaxInt64-int64(len(p)) {
		return 0, pathError("write", f.name, syscall.EFBIG)
	}
	f.m.mu.Lock()
	f.n.writeAt(p, off)
	f.n.modTime = f.m.mu.now()
	f.m.mu.Unlock()
	f.m.did(OpWrite, f.name, off, int64(len(p)))
	return len(p), nil
}

func (f *memFile) WriteVec(bufs [][]byte, off int64) (int, error) {
	if err := f.check("write", true, off); err != nil {
		return 0, err
	}
	total := 0
	f.m.mu.Lock()
	for _, b := range bufs {
		f.n.writeAt(b, off+int64(total))
		total += len(b)
	}
	f.n.modTime = f.m.mu.now()
	f.m.mu.Unlock()
	f.m.did(OpWriteVec, f.name, off, int64(total))
	return total, nil
}

func (f *memFile) Truncate(size int64) error {
	if err := f.check("truncate", true, size); err != nil {
		return err
	}
	f.m.mu.Lock()
	f.n.truncate(size)
	f.n.modTime = f.m.mu.now()
	f.m.mu.Unlock()
	f.m.did(OpTruncate, f.name, 0, size)
	return nil
}

func (f *memFile) Sync() error { return f.sync(OpSync) }

func (f *memFile) SyncData() error { return f.sync(OpSyncData) }

func (f *memFile) sync(kind OpKind) error {
	if f.closed.Load() {
		return pathError("sync", f.name, fs.ErrClosed)
	}
	f.m.mu.Lock()
	if f.n.dir {
		kind = OpSyncDir
		f.m.syncDir(f.n)
	} else {
		f.n.sync()
	}
	f.m.mu.Unlock()
	f.m.did(kind, f.name, 0, 0)
	return nil
}

func (f *memFile) Preallocate(off, length int64) error {
	if err := f.check("fallocate", true, off); err != nil {
		return err
	}
	if length > 0 {
		f.m.did(OpPreallocate, f.name, off, length)
	}
	return nil
}

func (f *memFile) Stat() (fs.FileInfo, error) {
	if f.closed.Load() {
		return nil, pathError("stat", f.name, fs.ErrClosed)
	}
	f.m.mu.RLock()
	defer f.m.mu.RUnlock()
	return f.n.info(filepath.Base(f.name)), nil
}

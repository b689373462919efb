package vfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"syscall"
	"time"
)

// ErrLocked is what FS.Lock returns when another process, or another part of this one, holds the lock.
var ErrLocked = errors.New("locked by another process")

// ErrFileTooLarge is what ReadFile returns for a file above its limit.
var ErrFileTooLarge = errors.New("file larger than the limit")

// FS is a file system. Implementations are safe for concurrent use. Errors of missing and existing files satisfy
// errors.Is with fs.ErrNotExist and fs.ErrExist; a full disk satisfies syscall.ENOSPC.
//
// It has more methods than an interface of weir usually has, because a wrapper has to pass all of them on.
type FS interface {
	// Create makes a file, or empties the one that is there, and opens it for reading and writing.
	Create(name string) (File, error)
	// Open opens a file for reading.
	Open(name string) (File, error)
	// OpenReadWrite opens a file that must exist for reading and writing.
	OpenReadWrite(name string) (File, error)
	// OpenDir opens a directory, for File.Sync.
	OpenDir(name string) (File, error)
	// Remove removes a file or an empty directory.
	Remove(name string) error
	// RemoveAll removes name and what is below it; it is no error if nothing is there.
	RemoveAll(name string) error
	// Rename moves a file or directory, replacing a file at newName atomically. Durable after a Sync of both directories.
	Rename(oldName, newName string) error
	// MkdirAll makes a directory and those above it.
	MkdirAll(name string, perm fs.FileMode) error
	// List returns the names in a directory, sorted.
	List(name string) ([]string, error)
	// Stat describes a file or directory.
	Stat(name string) (fs.FileInfo, error)
	// Lock takes an exclusive lock on a file, which it creates, until the Closer is closed or the process ends.
	// It does not wait: it fails with ErrLocked.
	Lock(name string) (io.Closer, error)
	// Chtimes sets the modification time.
	Chtimes(name string, mtime time.Time) error
	// DiskUsage tells how full the file system that holds name is.
	DiskUsage(name string) (Usage, error)
}

// File is an open file or directory. Reads may run concurrently with each other and with writes; writes to
// overlapping ranges are the caller's to order.
type File interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	// Sync makes content and attributes durable (fsync); for a directory, its entries.
	Sync() error
	// SyncData makes the content and the length durable, but perhaps not the times (fdatasync).
	SyncData() error
	// Truncate sets the length, in bytes. What it adds reads as zeros.
	Truncate(size int64) error
	// Stat describes the file.
	Stat() (fs.FileInfo, error)
	// Preallocate asks for disk blocks under [off, off+length) bytes without changing the length of the file. A file
	// system that cannot do it is no error; a full one is.
	Preallocate(off, length int64) error
	// WriteVec writes the buffers one after another at off, as one operation where the system has one (pwritev). It
	// returns the number of bytes written, and an error if that is not all of them. It does not change bufs.
	WriteVec(bufs [][]byte, off int64) (int, error)
}

// Usage tells how full a file system is, in bytes.
type Usage struct {
	Total uint64 // size of the file system
	Free  uint64 // what this process may still use
}

// Root returns the file system under all wrappers. Code that needs a real path, such as a bbolt file, asks whether
// Root(fsys) is OS().
func Root(fsys FS) FS {
	for {
		w, ok := fsys.(interface{ Unwrap() FS })
		if !ok {
			return fsys
		}
		fsys = w.Unwrap()
	}
}

// ReadFile returns the whole content of a file of at most limit bytes. Above that it fails with ErrFileTooLarge before
// it allocates.
func ReadFile(fsys FS, name string, limit int64) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if st.Size() > limit {
		return nil, fmt.Errorf("%s: %w: %d bytes, at most %d", name, ErrFileTooLarge, st.Size(), limit)
	}
	content := make([]byte, st.Size())
	n, err := f.ReadAt(content, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return content[:n], nil
}

// OutOfDescriptors reports whether a file could not be opened because the process, or the machine, has too many open already. That
// says nothing about the disk: the file system was not asked, nothing was created, and the same call may succeed a moment later.
func OutOfDescriptors(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

// TempSuffix ends the name under which WriteFileAtomic writes before it renames. Kafka uses the same one and removes
// such files when it loads a log.
const TempSuffix = ".tmp"

// WriteFileAtomic replaces the content of a file so that after a crash it holds either the old content or the new one,
// and after it returned, the new one: write to name.tmp, sync, rename, sync the directory.
func WriteFileAtomic(fsys FS, name string, content []byte) error {
	tmp := name + TempSuffix
	if err := writeSynced(fsys, tmp, content); err != nil {
		// What is left of it is overwritten next time; on a full disk its blocks are wanted back now.
		_ = fsys.Remove(tmp)
		return err
	}
	Failpoint("vfs.atomic.before-rename")
	if err := fsys.Rename(tmp, name); err != nil {
		return err
	}
	Failpoint("vfs.atomic.before-dir-sync")
	return SyncDir(fsys, filepath.Dir(name))
}

func writeSynced(fsys FS, name string, content []byte) error {
	f, err := fsys.Create(name)
	if err != nil {
		return err
	}
	if _, err := f.WriteAt(content, 0); err != nil {
		_ = f.Close()
		return err
	}
	if err := f.Sync(); err != nil {
		_ = f.Close()
		return err
	}
	return f.Close()
}

// SyncDir makes the entries of a directory durable.
func SyncDir(fsys FS, name string) error {
	d, err := fsys.OpenDir(name)
	if err != nil {
		return err
	}
	if err := d.Sync(); err != nil {
		_ = d.Close()
		return err
	}
	return d.Close()
}

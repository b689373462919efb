package vfs

import (
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Fault says which operations fail and how.
type Fault struct {
	// Kinds are the operations to fail; OpsAll when 0.
	Kinds OpKind
	// Glob is a path.Match pattern for the last parts of the path, as many as it has: "*.log", "orders-*/*.index". One
	// that begins with a slash is for the whole path. Empty matches all. A rename matches by either of its names.
	Glob string
	// Nth is the first matching operation that fails, from 1; 0 is 1.
	Nth int64
	// Times is how many of them fail from there on; 0 is all.
	Times int64
	// Err is what they return, inside a *fs.PathError; syscall.EIO when nil.
	Err error
	// Short is how many bytes of a failing write are written nevertheless. All of them is allowed: the disk took them
	// and the answer was lost.
	Short int
	// After performs the operation and then reports the failure all the same.
	After bool
	// Forget makes a failing Sync or SyncData on Mem lose what it was to make durable: the next one succeeds and
	// covers only what was written since. Linux does that, so an fsync is not to be tried again.
	Forget bool
}

// Faults passes operations on to another file system, except those that a Fault chose to fail. It is safe for
// concurrent use.
type Faults struct {
	under FS
	mu    struct {
		sync.Mutex
		rules []*FaultRule
	}
}

var _ FS = (*Faults)(nil)

// FaultRule is a Fault at work.
type FaultRule struct {
	f       Fault
	owner   *Faults
	matched atomic.Int64
	failed  atomic.Int64
}

// NewFaults wraps a file system.
func NewFaults(under FS) *Faults { return &Faults{under: under} }

// Unwrap returns the file system underneath.
func (s *Faults) Unwrap() FS { return s.under }

// Add sets a fault. When several match an operation, the one added first decides, but all count it.
func (s *Faults) Add(f Fault) *FaultRule {
	if f.Kinds == 0 {
		f.Kinds = OpsAll
	}
	f.Nth = max(f.Nth, 1)
	if f.Err == nil {
		f.Err = syscall.EIO
	}
	if _, err := path.Match(f.Glob, ""); err != nil {
		panic("BUG: fault pattern " + f.Glob + ": " + err.Error())
	}
	r := &FaultRule{f: f, owner: s}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.rules = append(s.mu.rules, r)
	return r
}

// Clear removes all faults: the disk works again.
func (s *Faults) Clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.rules = nil
}

// Remove removes this fault.
func (r *FaultRule) Remove() {
	r.owner.mu.Lock()
	defer r.owner.mu.Unlock()
	for i, other := range r.owner.mu.rules {
		if other == r {
			r.owner.mu.rules = append(r.owner.mu.rules[:i:i], r.owner.mu.rules[i+1:]...)
			return
		}
	}
}

// Matched returns how many operations matched so far, failed or not.
func (r *FaultRule) Matched() int64 { return r.matched.Load() }

// Failed returns how many operations this fault failed.
func (r *FaultRule) Failed() int64 { return r.failed.Load() }

func (f *Fault) matches(kind OpKind, names []string) bool {
	if f.Kinds&kind == 0 {
		return false
	}
	if f.Glob == "" {
		return true
	}
	for _, name := range names {
		if ok, _ := path.Match(f.Glob, lastParts(name, f.Glob)); ok {
			return true
		}
	}
	return false
}

// lastParts returns as many of the last parts of a path as the pattern has.
func lastParts(name, glob string) string {
	name = path.Clean(filepath.ToSlash(name))
	if strings.HasPrefix(glob, "/") {
		return name
	}
	at := len(name)
	for range strings.Count(glob, "/") + 1 {
		at = strings.LastIndexByte(name[:max(at, 0)], '/')
	}
	return name[at+1:]
}

// hit counts the operation and returns the fault that fails it, if any.
func (s *Faults) hit(kind OpKind, names ...string) *Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	var hit *FaultRule
	for _, r := range s.mu.rules {
		if !r.f.matches(kind, names) {
			continue
		}
		n := r.matched.Add(1)
		if hit == nil && n >= r.f.Nth && (r.f.Times == 0 || n < r.f.Nth+r.f.Times) {
			hit = r
		}
	}
	if hit == nil {
		return nil
	}
	hit.failed.Add(1)
	return &hit.f
}

// run performs an operation unless it is to fail.
func (s *Faults) run(kind OpKind, fn func() error, names ...string) error {
	f := s.hit(kind, names...)
	if f == nil {
		return fn()
	}
	if f.After {
		if err := fn(); err != nil {
			return err
		}
	}
	return pathError(kind.String(), names[len(names)-1], f.Err)
}

func (s *Faults) file(kind OpKind, name string, open func(string) (File, error)) (File, error) {
	var under File
	err := s.run(kind, func() (err error) { under, err = open(name); return err }, name)
	if err != nil {
		if under != nil {
			_ = under.Close()
		}
		return nil, err
	}
	return &faultyFile{File: under, s: s, name: name, dir: kind == OpOpenDir}, nil
}

// Create implements FS.
func (s *Faults) Create(name string) (File, error) { return s.file(OpCreate, name, s.under.Create) }

// Open implements FS.
func (s *Faults) Open(name string) (File, error) { return s.file(OpOpen, name, s.under.Open) }

// OpenReadWrite implements FS.
func (s *Faults) OpenReadWrite(name string) (File, error) {
	return s.file(OpOpenReadWrite, name, s.under.OpenReadWrite)
}

// OpenDir implements FS.
func (s *Faults) OpenDir(name string) (File, error) { return s.file(OpOpenDir, name, s.under.OpenDir) }

// Remove implements FS.
func (s *Faults) Remove(name string) error {
	return s.run(OpRemove, func() error { return s.under.Remove(name) }, name)
}

// RemoveAll implements FS.
func (s *Faults) RemoveAll(name string) error {
	return s.run(OpRemoveAll, func() error { return s.under.RemoveAll(name) }, name)
}

// Rename implements FS.
func (s *Faults) Rename(oldName, newName string) error {
	return s.run(OpRename, func() error { return s.under.Rename(oldName, newName) }, oldName, newName)
}

// MkdirAll implements FS.
func (s *Faults) MkdirAll(name string, perm fs.FileMode) error {
	return s.run(OpMkdirAll, func() error { return s.under.MkdirAll(name, perm) }, name)
}

// List implements FS.
func (s *Faults) List(name string) (names []string, err error) {
	err = s.run(OpList, func() (err error) { names, err = s.under.List(name); return err }, name)
	return names, err
}

// Stat implements FS.
func (s *Faults) Stat(name string) (st fs.FileInfo, err error) {
	err = s.run(OpStat, func() (err error) { st, err = s.under.Stat(name); return err }, name)
	return st, err
}

// Lock implements FS.
func (s *Faults) Lock(name string) (l io.Closer, err error) {
	err = s.run(OpLock, func() (err error) { l, err = s.under.Lock(name); return err }, name)
	if err != nil && l != nil {
		_ = l.Close()
		l = nil
	}
	return l, err
}

// Chtimes implements FS.
func (s *Faults) Chtimes(name string, mtime time.Time) error {
	return s.run(OpChtimes, func() error { return s.under.Chtimes(name, mtime) }, name)
}

// DiskUsage implements FS.
func (s *Faults) DiskUsage(name string) (u Usage, err error) {
	err = s.run(OpDiskUsage, func() (err error) { u, err = s.under.DiskUsage(name); return err }, name)
	return u, err
}

// faultyFile is a file opened through Faults.
type faultyFile struct {
	File
	s    *Faults
	name string
	dir  bool
}

func (f *faultyFile) ReadAt(p []byte, off int64) (n int, err error) {
	if hit := f.s.hit(OpRead, f.name); hit != nil {
		return 0, pathError(OpRead.String(), f.name, hit.Err)
	}
	return f.File.ReadAt(p, off)
}

func (f *faultyFile) WriteAt(p []byte, off int64) (int, error) {
	hit := f.s.hit(OpWrite, f.name)
	if hit == nil {
		return f.File.WriteAt(p, off)
	}
	return f.short(OpWrite, hit, p, off)
}

func (f *faultyFile) WriteVec(bufs [][]byte, off int64) (int, error) {
	hit := f.s.hit(OpWriteVec, f.name)
	if hit == nil {
		return f.File.WriteVec(bufs, off)
	}
	var all []byte
	for _, b := range bufs {
		all = append(all, b...)
	}
	return f.short(OpWriteVec, hit, all, off)
}

// short writes what the fault lets through. With After, all of it, though the answer is that nothing was.
func (f *faultyFile) short(kind OpKind, hit *Fault, p []byte, off int64) (int, error) {
	n := min(hit.Short, len(p))
	if hit.After {
		n = len(p)
	}
	if n > 0 {
		m, err := f.File.WriteAt(p[:n], off)
		if err != nil {
			return m, err
		}
	}
	if hit.After {
		n = 0
	}
	return n, pathError(kind.String(), f.name, hit.Err)
}

func (f *faultyFile) Truncate(size int64) error {
	return f.s.run(OpTruncate, func() error { return f.File.Truncate(size) }, f.name)
}

func (f *faultyFile) Sync() error {
	kind := OpSync
	if f.dir {
		kind = OpSyncDir
	}
	return f.sync(kind, f.File.Sync)
}

func (f *faultyFile) SyncData() error { return f.sync(OpSyncData, f.File.SyncData) }

func (f *faultyFile) sync(kind OpKind, under func() error) error {
	hit := f.s.hit(kind, f.name)
	if hit == nil {
		return under()
	}
	if hit.After {
		if err := under(); err != nil {
			return err
		}
	} else if mf, ok := f.File.(*memFile); ok && hit.Forget && kind != OpSyncDir {
		mf.m.mu.Lock()
		mf.n.forget()
		mf.m.mu.Unlock()
	}
	return pathError(kind.String(), f.name, hit.Err)
}

func (f *faultyFile) Preallocate(off, length int64) error {
	return f.s.run(OpPreallocate, func() error { return f.File.Preallocate(off, length) }, f.name)
}

func (f *faultyFile) Stat() (st fs.FileInfo, err error) {
	err = f.s.run(OpStat, func() (err error) { st, err = f.File.Stat(); return err }, f.name)
	return st, err
}

// Close closes the file also when it is to fail, as the system does.
func (f *faultyFile) Close() error {
	err := f.File.Close()
	if hit := f.s.hit(OpClose, f.name); hit != nil {
		return pathError(OpClose.String(), f.name, hit.Err)
	}
	return err
}

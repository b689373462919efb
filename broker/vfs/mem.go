package vfs

import (
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// memTotal is the size that Mem claims to have, in bytes.
const memTotal = 1 << 40

// Mem is a file system in memory that knows what of it is durable. It is safe for concurrent use.
//
// Names are slash-separated paths below one root; "/a/b" and "a/b" are the same file.
type Mem struct {
	ops  atomic.Int64
	onOp atomic.Pointer[func(Op)]

	// mu guards all nodes too. Operations on memory are short, so one lock serves all files.
	mu struct {
		sync.RWMutex
		root    *node
		pending []dirOp // directory operations that are not durable, oldest first
		locks   map[string]struct{}
		now     func() time.Time
	}
}

var _ FS = (*Mem)(nil)

// NewMem returns an empty file system.
func NewMem() *Mem {
	m := &Mem{}
	m.mu.now = time.Now
	m.mu.root = newDirNode(0o755, time.Time{})
	m.mu.locks = map[string]struct{}{}
	return m
}

// SetClock sets where modification times come from.
func (m *Mem) SetClock(now func() time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.mu.now = now
}

// Ops returns how many operations of OpsChange succeeded so far.
func (m *Mem) Ops() int64 { return m.ops.Load() }

// OnOp sets a function that is called after every operation of OpsChange that succeeded, on the goroutine that did it
// and without a lock held: it may take a CrashClone. nil removes it.
func (m *Mem) OnOp(fn func(Op)) {
	if fn == nil {
		m.onOp.Store(nil)
		return
	}
	m.onOp.Store(&fn)
}

func (m *Mem) did(kind OpKind, name string, off, length int64) {
	seq := m.ops.Add(1)
	if fn := m.onOp.Load(); fn != nil {
		(*fn)(Op{Seq: seq, Kind: kind, Name: name, Off: off, Len: length})
	}
}

// split returns the parts of a cleaned name; none for the root.
func split(name string) []string {
	name = strings.Trim(filepath.ToSlash(filepath.Clean("/"+name)), "/")
	if name == "" {
		return nil
	}
	return strings.Split(name, "/")
}

func cleanName(name string) string { return "/" + strings.Join(split(name), "/") }

func pathError(op, name string, err error) error {
	return &fs.PathError{Op: op, Path: name, Err: err}
}

// find returns the node of a name. The caller holds mu.
func (m *Mem) find(name string) (*node, error) {
	n := m.mu.root
	for _, part := range split(name) {
		if !n.dir {
			return nil, syscall.ENOTDIR
		}
		next, ok := n.entries[part]
		if !ok {
			return nil, syscall.ENOENT
		}
		n = next
	}
	return n, nil
}

// findParent returns the directory of a name and the last part of it. The caller holds mu.
func (m *Mem) findParent(name string) (*node, string, error) {
	parts := split(name)
	if len(parts) == 0 {
		return nil, "", syscall.EBUSY
	}
	last := len(parts) - 1
	dir, err := m.find(strings.Join(parts[:last], "/"))
	if err != nil {
		return nil, "", err
	}
	if !dir.dir {
		return nil, "", syscall.ENOTDIR
	}
	return dir, parts[last], nil
}

// link sets or, with nil, removes one directory entry. The caller holds mu.
func (m *Mem) link(dir *node, name string, to *node) {
	m.setEntry(dir, name, to)
	m.mu.pending = append(m.mu.pending, dirOp{keys: [2]dirKey{{dir, name}}, nodes: [2]*node{to}})
}

func (m *Mem) setEntry(dir *node, name string, to *node) {
	if to == nil {
		delete(dir.entries, name)
	} else {
		dir.entries[name] = to
	}
	dir.modTime = m.mu.now()
}

// Create implements FS.
func (m *Mem) Create(name string) (File, error) {
	f, err := m.create(name)
	if err != nil {
		return nil, pathError("create", name, err)
	}
	m.did(OpCreate, f.name, 0, 0)
	return f, nil
}

func (m *Mem) create(name string) (*memFile, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	dir, base, err := m.findParent(name)
	if err != nil {
		return nil, err
	}
	n := dir.entries[base]
	switch {
	case n == nil:
		n = newFileNode(m.mu.now())
		m.link(dir, base, n)
	case n.dir:
		return nil, syscall.EISDIR
	default:
		n.truncate(0)
		n.modTime = m.mu.now()
	}
	return &memFile{m: m, n: n, name: cleanName(name), write: true}, nil
}

// Open implements FS.
func (m *Mem) Open(name string) (File, error) { return m.open(name, false) }

// OpenReadWrite implements FS.
func (m *Mem) OpenReadWrite(name string) (File, error) { return m.open(name, true) }

func (m *Mem) open(name string, write bool) (File, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	n, err := m.find(name)
	if err == nil && n.dir && write {
		err = syscall.EISDIR
	}
	if err != nil {
		return nil, pathError("open", name, err)
	}
	return &memFile{m: m, n: n, name: cleanName(name), write: write}, nil
}

// OpenDir implements FS.
func (m *Mem) OpenDir(name string) (File, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	n, err := m.find(name)
	if err == nil && !n.dir {
		err = syscall.ENOTDIR
	}
	if err != nil {
		return nil, pathError("open", name, err)
	}
	return &memFile{m: m, n: n, name: cleanName(name)}, nil
}

// Remove implements FS.
func (m *Mem) Remove(name string) error {
	if err := m.remove(name); err != nil {
		return pathError("remove", name, err)
	}
	m.did(OpRemove, cleanName(name), 0, 0)
	return nil
}

func (m *Mem) remove(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	dir, base, err := m.findParent(name)
	if err != nil {
		return err
	}
	n := dir.entries[base]
	switch {
	case n == nil:
		return syscall.ENOENT
	case n.dir && len(n.entries) > 0:
		return syscall.ENOTEMPTY
	}
	m.link(dir, base, nil)
	return nil
}

// RemoveAll implements FS. It counts as one operation, but a crash may leave any part of it undone.
func (m *Mem) RemoveAll(name string) error {
	err := m.removeAll(name)
	if errors.Is(err, syscall.ENOENT) {
		return nil
	}
	if err != nil {
		return pathError("remove", name, err)
	}
	m.did(OpRemoveAll, cleanName(name), 0, 0)
	return nil
}

func (m *Mem) removeAll(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	dir, base, err := m.findParent(name)
	if err != nil {
		return err
	}
	n := dir.entries[base]
	if n == nil {
		return syscall.ENOENT
	}
	m.unlinkTree(n)
	m.link(dir, base, nil)
	return nil
}

func (m *Mem) unlinkTree(n *node) {
	for _, name := range sortedKeys(n.entries) {
		m.unlinkTree(n.entries[name])
		m.link(n, name, nil)
	}
}

// Rename implements FS.
func (m *Mem) Rename(oldName, newName string) error {
	if err := m.rename(oldName, newName); err != nil {
		return &linkError{op: "rename", from: oldName, to: newName, err: err}
	}
	m.did(OpRename, cleanName(newName), 0, 0)
	return nil
}

func (m *Mem) rename(oldName, newName string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	from, oldBase, err := m.findParent(oldName)
	if err != nil {
		return err
	}
	to, newBase, err := m.findParent(newName)
	if err != nil {
		return err
	}
	n := from.entries[oldBase]
	if n == nil {
		return syscall.ENOENT
	}
	there := to.entries[newBase]
	intoItself := n.dir && strings.HasPrefix(cleanName(newName)+"/", cleanName(oldName)+"/")
	switch {
	case there != nil && there.dir:
		return syscall.EEXIST // as os.Rename has it, empty or not
	case there == n:
		return nil
	case intoItself:
		return syscall.EINVAL
	case there != nil && n.dir:
		return syscall.ENOTDIR
	}
	m.setEntry(from, oldBase, nil)
	m.setEntry(to, newBase, n)
	m.mu.pending = append(m.mu.pending, dirOp{
		keys:  [2]dirKey{{from, oldBase}, {to, newBase}},
		nodes: [2]*node{nil, n},
	})
	return nil
}

// linkError is os.LinkError without the os package's file system.
type linkError struct {
	op, from, to string
	err          error
}

func (e *linkError) Error() string { return e.op + " " + e.from + " " + e.to + ": " + e.err.Error() }

func (e *linkError) Unwrap() error { return e.err }

// MkdirAll implements FS.
func (m *Mem) MkdirAll(name string, perm fs.FileMode) error {
	made, err := m.mkdirAll(name, perm)
	if err != nil {
		return pathError("mkdir", name, err)
	}
	if made {
		m.did(OpMkdirAll, cleanName(name), 0, 0)
	}
	return nil
}

func (m *Mem) mkdirAll(name string, perm fs.FileMode) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, made := m.mu.root, false
	for _, part := range split(name) {
		next := n.entries[part]
		if next == nil {
			next = newDirNode(perm, m.mu.now())
			m.link(n, part, next)
			made = true
		}
		if !next.dir {
			return false, syscall.ENOTDIR
		}
		n = next
	}
	return made, nil
}

// List implements FS.
func (m *Mem) List(name string) ([]string, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	n, err := m.find(name)
	if err == nil && !n.dir {
		err = syscall.ENOTDIR
	}
	if err != nil {
		return nil, pathError("open", name, err)
	}
	return sortedKeys(n.entries), nil
}

// Stat implements FS.
func (m *Mem) Stat(name string) (fs.FileInfo, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	n, err := m.find(name)
	if err != nil {
		return nil, pathError("stat", name, err)
	}
	return n.info(filepath.Base(cleanName(name))), nil
}

// Chtimes implements FS.
func (m *Mem) Chtimes(name string, mtime time.Time) error {
	m.mu.Lock()
	n, err := m.find(name)
	if err == nil {
		n.modTime = mtime
	}
	m.mu.Unlock()
	if err != nil {
		return pathError("chtimes", name, err)
	}
	m.did(OpChtimes, cleanName(name), 0, 0)
	return nil
}

// Lock implements FS. The lock lasts until it is closed: a crash clone has none.
func (m *Mem) Lock(name string) (io.Closer, error) {
	key := cleanName(name)
	m.mu.Lock()
	if _, held := m.mu.locks[key]; held {
		m.mu.Unlock()
		return nil, pathError("lock", name, ErrLocked)
	}
	dir, base, err := m.findParent(name)
	if err != nil {
		m.mu.Unlock()
		return nil, pathError("lock", name, err)
	}
	made := dir.entries[base] == nil
	if made {
		m.link(dir, base, newFileNode(m.mu.now()))
	}
	m.mu.locks[key] = struct{}{}
	m.mu.Unlock()
	if made {
		m.did(OpCreate, key, 0, 0)
	}
	return &memLock{m: m, key: key}, nil
}

type memLock struct {
	m    *Mem
	key  string
	once sync.Once
}

func (l *memLock) Close() error {
	l.once.Do(func() {
		l.m.mu.Lock()
		defer l.m.mu.Unlock()
		delete(l.m.mu.locks, l.key)
	})
	return nil
}

// DiskUsage implements FS: a disk of one tebibyte, less what the files hold.
func (m *Mem) DiskUsage(name string) (Usage, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if _, err := m.find(name); err != nil {
		return Usage{}, pathError("statfs", name, err)
	}
	var used func(n *node) uint64
	used = func(n *node) uint64 {
		sum := uint64(n.size)
		for _, e := range n.entries {
			sum += used(e)
		}
		return sum
	}
	return Usage{Total: memTotal, Free: memTotal - min(memTotal, used(m.mu.root))}, nil
}

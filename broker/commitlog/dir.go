package commitlog

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"

	"github.com/weir-broker/weir/broker/vfs"
)

const (
	lockFile          = ".lock"
	cleanShutdownFile = ".kafka_cleanshutdown"
	// smallFileLimit bounds what is read of the files a log directory itself has, in bytes.
	smallFileLimit = 1 << 20
)

var (
	// ErrDirLocked is returned by OpenDir when another process, weir or Kafka, uses the directory.
	ErrDirLocked = errors.New("log directory is in use")
	// ErrForeignDir is returned by OpenDir for a directory of another cluster or node.
	ErrForeignDir = errors.New("log directory belongs to another cluster or node")
	// ErrNotLogDir is returned for a path that is no directory, and by OpenDir for one with content that no broker put there.
	ErrNotLogDir = errors.New("not a log directory")
	// ErrBadMetaProperties is returned for a meta.properties that cannot be read, or is missing beside partitions.
	ErrBadMetaProperties = errors.New("unusable meta.properties")
)

// DirOptions are the arguments of OpenDir.
type DirOptions struct {
	// ClusterID and NodeID are who opens the directory. A new directory gets them; another's is refused.
	ClusterID string
	NodeID    int32
	// NewID makes the id of a new directory; nil draws one at random.
	NewID  func() DirectoryID
	Logger *slog.Logger // nil discards
}

// Dir is one log directory: an entry of log.dirs. It is safe for concurrent use.
//
//	.lock                 held while a process uses the directory
//	meta.properties       whose it is (Kafka's version 1)
//	.kafka_cleanshutdown  there only between a clean close and the next start
//	local.db              Marks, and *-checkpoint, Kafka's form of them, after a clean close
//	<topic>-<partition>/  one Log each, and *-delete, *-stray, *-future
type Dir struct {
	fs       vfs.FS
	path     string
	log      *slog.Logger
	identity Identity
	lock     io.Closer
	clean    bool
	epoch    int64 // broker epoch of the clean shutdown before this start
	marks    *Marks

	mu struct {
		sync.Mutex
		brokerEpoch int64
		failure     error
		onFail      []func(error)
		closed      bool
	}
}

// OpenDir takes a log directory into use, creating it when missing. Folders of partitions whose deletion had begun are
// removed. The clean-shutdown mark is consumed: if the process dies from here on, the next start recovers.
func OpenDir(fsys vfs.FS, path string, o DirOptions) (*Dir, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.NewID == nil {
		o.NewID = randomDirectoryID
	}
	if err := checkPlace(fsys, path); err != nil {
		return nil, err
	}
	if err := makeDir(fsys, path); err != nil {
		return nil, storageError("create log directory "+path, err)
	}
	lock, err := fsys.Lock(filepath.Join(path, lockFile))
	if errors.Is(err, vfs.ErrLocked) {
		return nil, fmt.Errorf("%w: %w: stop the other broker, or give this one its own log.dirs", ErrDirLocked, err)
	}
	if err != nil {
		return nil, storageError("lock log directory "+path, err)
	}
	d := &Dir{fs: fsys, path: path, log: o.Logger.With("dir", path), lock: lock, epoch: -1}
	d.mu.brokerEpoch = -1
	if err := d.load(o); err != nil {
		_ = lock.Close()
		return nil, err
	}
	return d, nil
}

// makeDir creates a directory durably, with the folders above it that are missing: each of them is an entry in its own
// parent, and a crash that loses one of those entries loses all that lies below.
func makeDir(fsys vfs.FS, path string) error {
	path = filepath.Clean(path)
	missing := []string(nil) // from path upwards
	for dir := path; ; dir = filepath.Dir(dir) {
		if _, err := fsys.Stat(dir); err == nil || dir == filepath.Dir(dir) {
			break
		}
		missing = append(missing, dir)
	}
	if len(missing) == 0 {
		return nil
	}
	if err := fsys.MkdirAll(path, 0o755); err != nil {
		return err
	}
	for _, dir := range missing {
		if err := vfs.SyncDir(fsys, filepath.Dir(dir)); err != nil {
			return err
		}
	}
	return nil
}

func (d *Dir) load(o DirOptions) error {
	if err := d.identify(o); err != nil {
		return err
	}
	if err := d.takeCleanShutdown(); err != nil {
		return err
	}
	if err := d.removeDeleted(); err != nil {
		return err
	}
	marks, err := openMarks(d.fs, d.path, d.clean, d.log)
	if err != nil {
		return err
	}
	d.marks = marks
	if err := d.takeCheckpoints(); err != nil {
		return errors.Join(err, marks.close())
	}
	return nil
}

// takeCleanShutdown reads the mark of a clean shutdown and removes it durably, before anything is changed that the mark
// would then be wrong about.
func (d *Dir) takeCleanShutdown() error {
	name := filepath.Join(d.path, cleanShutdownFile)
	content, err := vfs.ReadFile(d.fs, name, smallFileLimit)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil && !errors.Is(err, vfs.ErrFileTooLarge) {
		return storageError("read clean-shutdown mark", err)
	}
	d.clean = true // as for Kafka, being there is what counts
	var mark cleanShutdown
	if err := json.Unmarshal(content, &mark); err == nil && mark.Version == 0 && mark.BrokerEpoch != nil {
		d.epoch = *mark.BrokerEpoch
	}
	if err := d.fs.Remove(name); err != nil {
		return storageError("remove clean-shutdown mark", err)
	}
	if err := vfs.SyncDir(d.fs, d.path); err != nil {
		return storageError("remove clean-shutdown mark", err)
	}
	return nil
}

// cleanShutdown is the content of .kafka_cleanshutdown (KIP-966).
type cleanShutdown struct {
	Version     int    `json:"version"`
	BrokerEpoch *int64 `json:"brokerEpoch"`
}

// removeDeleted removes the folders of deleted partitions that the last run did not get to.
func (d *Dir) removeDeleted() error {
	names, err := d.fs.List(d.path)
	if err != nil {
		return storageError("list log directory", err)
	}
	for _, name := range names {
		switch f, _ := ParseFolder(name); f.Kind {
		case FolderDeleted:
			if err := d.fs.RemoveAll(filepath.Join(d.path, name)); err != nil {
				return storageError("remove deleted partition", err)
			}
			d.log.Info("removed folder of a deleted partition", "folder", name)
		case FolderStray, FolderFuture:
			d.log.Warn("folder is not in use: remove it if its records are not wanted", "folder", name)
		}
	}
	return nil
}

// Path returns the directory's path as it was given.
func (d *Dir) Path() string { return d.path }

// FS returns the file system the directory is on.
func (d *Dir) FS() vfs.FS { return d.fs }

// ID returns the directory id that brokers register with the controller (KIP-858).
func (d *Dir) ID() DirectoryID { return d.identity.DirectoryID }

// CleanShutdown reports whether the directory was closed cleanly before this start.
func (d *Dir) CleanShutdown() bool { return d.clean }

// PreviousBrokerEpoch is the broker epoch that a clean shutdown left, or -1 (KIP-966).
func (d *Dir) PreviousBrokerEpoch() int64 { return d.epoch }

// Marks returns the offsets kept beside the logs.
func (d *Dir) Marks() *Marks { return d.marks }

// DiskUsage tells how full the file system of the directory is.
func (d *Dir) DiskUsage() (vfs.Usage, error) {
	u, err := d.fs.DiskUsage(d.path)
	return u, storageError("disk usage", err)
}

// Partitions lists the folders of live partitions, by name. Deleted, stray and future ones are left out.
func (d *Dir) Partitions() ([]Folder, error) {
	names, err := d.fs.List(d.path)
	if err != nil {
		return nil, storageError("list log directory", err)
	}
	var out []Folder
	for _, name := range names {
		f, ok := ParseFolder(name)
		if !ok || f.Kind != FolderLive {
			continue
		}
		st, err := d.fs.Stat(filepath.Join(d.path, name))
		if err != nil {
			return nil, storageError("list log directory", err)
		}
		if st.IsDir() {
			out = append(out, f)
		}
	}
	return out, nil
}

// Fail takes the directory offline for the rest of the process, for a failure of the disk. The first failure is kept
// and passed to the callbacks; later calls do nothing.
func (d *Dir) Fail(err error) {
	if err == nil {
		return
	}
	d.mu.Lock()
	if d.mu.failure != nil || d.mu.closed {
		d.mu.Unlock()
		return
	}
	d.mu.failure = err
	callbacks := slices.Clone(d.mu.onFail)
	d.mu.Unlock()
	d.log.Error("log directory goes offline: its partitions are not served until the disk is mended and the broker restarted",
		"error", err)
	for _, fn := range callbacks {
		fn(err)
	}
}

// Offline returns the failure that took the directory offline, and whether there was one.
func (d *Dir) Offline() (error, bool) { //nolint:revive // the error is a value here, not an outcome
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.mu.failure, d.mu.failure != nil
}

// OnFail adds a callback for Fail. It is called at once if the directory is offline already, and must not block.
func (d *Dir) OnFail(fn func(error)) {
	d.mu.Lock()
	failure := d.mu.failure
	d.mu.onFail = append(d.mu.onFail, fn)
	d.mu.Unlock()
	if failure != nil {
		fn(failure)
	}
}

// SetBrokerEpoch sets the broker epoch that a clean Close writes down.
func (d *Dir) SetBrokerEpoch(epoch int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.mu.brokerEpoch = epoch
}

// Close ends the use of the directory, after its logs were closed. With clean, the marks are flushed and the
// clean-shutdown mark is written; a directory that is offline stays without one.
func (d *Dir) Close(clean bool) error {
	d.mu.Lock()
	if d.mu.closed {
		d.mu.Unlock()
		return nil
	}
	d.mu.closed = true
	failure, epoch := d.mu.failure, d.mu.brokerEpoch
	d.mu.Unlock()
	var err error
	if clean && failure == nil {
		if err = d.marks.Flush(); err == nil {
			err = d.leaveCheckpoints()
		}
		if err == nil {
			err = d.writeCleanShutdown(epoch)
		}
	}
	return errors.Join(err, d.marks.close(), d.lock.Close())
}

func (d *Dir) writeCleanShutdown(epoch int64) error {
	content, err := json.Marshal(cleanShutdown{BrokerEpoch: &epoch})
	if err != nil {
		return err
	}
	vfs.Failpoint("commitlog.dir.before-clean-mark")
	return storageError("write clean-shutdown mark",
		vfs.WriteFileAtomic(d.fs, filepath.Join(d.path, cleanShutdownFile), content))
}

// randomDirectoryID draws an id that Kafka accepts: none of its reserved ones, whose first half is zero, and no text
// that begins with a dash, which command lines take for an option.
func randomDirectoryID() DirectoryID {
	for {
		var id DirectoryID
		_, _ = rand.Read(id[:]) // never fails since Go 1.24
		id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80
		if id.String()[0] != '-' {
			return id
		}
	}
}

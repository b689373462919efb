package commitlog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"time"

	"go.etcd.io/bbolt"

	"github.com/weir-broker/weir/broker/vfs"
)

var (
	marksBucket  = []byte("marks")
	metaBucket   = []byte("meta")
	versionKey   = []byte("version")
	countKey     = []byte("count")
	castagnoli   = crc32.MakeTable(crc32.Castagnoli)
	marksMagic   = []byte("weirmark")
	errMarksGone = errors.New("no such file")
)

// boltMarks keeps marks in a bbolt file. bbolt maps the file into memory and trusts it, so that a damaged one makes it
// panic or fault; both are caught, and the file is begun anew from what is in memory.
type boltMarks struct {
	name string
	log  *slog.Logger
	db   *bbolt.DB
	// broken is set after a panic inside bbolt. It may still hold its locks then, so that Close would wait for ever: the
	// database is left to itself, with its file descriptor, and a new file takes its place.
	broken bool
}

func openBoltMarks(dir string, trust bool, log *slog.Logger) (markStore, map[TopicPartition]Mark, error) {
	b := &boltMarks{name: filepath.Join(dir, marksFile), log: log}
	marks := map[TopicPartition]Mark{}
	_, err := os.Stat(b.name)
	if errors.Is(err, fs.ErrNotExist) {
		return b, marks, b.beginAnew(marks)
	}
	if err == nil {
		err = b.guard(func() (err error) {
			if b.db, err = openBolt(b.name); err != nil {
				return err
			}
			return readBolt(b.db, marks)
		})
	}
	switch {
	case errors.Is(err, fs.ErrPermission):
		return nil, nil, err
	case err != nil:
		// Each mark has its own checksum: those that were read are right.
		log.Warn("marks are damaged: some logs are recovered in full", "file", b.name, "read", len(marks), "error", err)
	case trust:
		return b, marks, nil
	}
	return b, marks, b.beginAnew(marks)
}

func openBolt(name string) (*bbolt.DB, error) {
	return bbolt.Open(name, 0o644, &bbolt.Options{
		Timeout: time.Second, // the directory's own lock is held: nobody should have it
		// The list of free pages is kept in the file. Without it bbolt looks for them on a goroutine of its own, where
		// a damaged file would end the process.
		NoFreelistSync: false,
		FreelistType:   bbolt.FreelistMapType,
	})
}

// readBolt adds the intact marks to marks. An error says that there may have been more.
func readBolt(db *bbolt.DB, marks map[TopicPartition]Mark) error {
	return db.View(func(tx *bbolt.Tx) error {
		meta, bucket := tx.Bucket(metaBucket), tx.Bucket(marksBucket)
		if meta == nil || bucket == nil {
			return fmt.Errorf("%w: no marks in it", errMarksFormat)
		}
		if v := meta.Get(versionKey); len(v) != 4 || binary.BigEndian.Uint32(v) != marksVersion {
			return fmt.Errorf("%w: version %x, want %d", errMarksFormat, v, marksVersion)
		}
		var damage error
		err := bucket.ForEach(func(k, v []byte) error {
			tp, mark, err := parseMark(k, v)
			switch {
			case err != nil:
				damage = err
			case bucket.Get(k) == nil:
				damage = fmt.Errorf("%w: %s is out of place", errMarksFormat, tp)
				fallthrough
			default:
				marks[tp] = mark
			}
			return nil
		})
		if v := meta.Get(countKey); damage == nil && (len(v) != 4 || int64(binary.BigEndian.Uint32(v)) != int64(len(marks))) {
			damage = fmt.Errorf("%w: %d marks, want %x", errMarksFormat, len(marks), v)
		}
		return errors.Join(err, damage)
	})
}

// beginAnew replaces the file by one that holds all.
func (b *boltMarks) beginAnew(all map[TopicPartition]Mark) error {
	if b.db != nil && !b.broken {
		_ = b.db.Close()
	}
	b.db, b.broken = nil, false
	tmp := b.name + vfs.TempSuffix
	if err := os.Remove(tmp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	db, err := openBolt(tmp)
	if err != nil {
		return err
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		meta, err := tx.CreateBucketIfNotExists(metaBucket)
		if err != nil {
			return err
		}
		if err := meta.Put(versionKey, binary.BigEndian.AppendUint32(nil, marksVersion)); err != nil {
			return err
		}
		if _, err := tx.CreateBucketIfNotExists(marksBucket); err != nil {
			return err
		}
		for tp, mark := range all {
			if err := putMark(tx, tp, &mark); err != nil {
				return err
			}
		}
		return putCount(tx, len(all))
	})
	if err := errors.Join(err, db.Close()); err != nil {
		return err
	}
	if err := os.Rename(tmp, b.name); err != nil {
		return err
	}
	if err := vfs.SyncDir(vfs.OS(), filepath.Dir(b.name)); err != nil {
		return err
	}
	b.db, err = openBolt(b.name)
	return err
}

// putMark sets a mark, or with nil removes it.
func putMark(tx *bbolt.Tx, tp TopicPartition, mark *Mark) error {
	key := appendMarkKey(nil, tp)
	if mark == nil {
		return tx.Bucket(marksBucket).Delete(key)
	}
	return tx.Bucket(marksBucket).Put(key, appendMarkValue(nil, key, *mark))
}

func putCount(tx *bbolt.Tx, n int) error {
	return tx.Bucket(metaBucket).Put(countKey, binary.BigEndian.AppendUint32(nil, uint32(n)))
}

func (b *boltMarks) write(changed map[TopicPartition]*Mark, all func() map[TopicPartition]Mark, count int) error {
	err := errMarksGone
	if b.db != nil {
		err = b.guard(func() error {
			return b.db.Update(func(tx *bbolt.Tx) error {
				for tp, mark := range changed {
					if err := putMark(tx, tp, mark); err != nil {
						return err
					}
				}
				return putCount(tx, count)
			})
		})
	}
	var damage *faultError
	if !errors.As(err, &damage) && !errors.Is(err, errMarksGone) {
		return err
	}
	b.log.Warn("marks are damaged and written anew from memory", "file", b.name, "error", err)
	return b.beginAnew(all())
}

func (b *boltMarks) close() error {
	if b.db == nil || b.broken {
		return nil
	}
	return b.guard(b.db.Close)
}

// faultError is a panic, or an access to memory that a damaged file does not back.
type faultError struct{ value any }

func (e *faultError) Error() string { return fmt.Sprintf("damaged file: %v", e.value) }

// guard runs fn on the database and turns what a damaged file does to it into a faultError.
func (b *boltMarks) guard(fn func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			b.broken = true
			err = &faultError{r}
		}
	}()
	return fn()
}

// fileMarks keeps marks in one file that is replaced as a whole: the twin of boltMarks for file systems that bbolt cannot
// write to, so that crash clones cover the marks too.
//
//	8 bytes "weirmark", uint32 version, uint32 crc32c of the rest, uint32 count,
//	count times: uint16 length of the key, key, value
type fileMarks struct {
	fs   vfs.FS
	name string
}

const fileMarksHeader = 8 + 4 + 4 + 4

func openFileMarks(fsys vfs.FS, dir string, log *slog.Logger) (markStore, map[TopicPartition]Mark, error) {
	f := &fileMarks{fs: fsys, name: filepath.Join(dir, marksFile)}
	content, err := vfs.ReadFile(fsys, f.name, 1<<30)
	if errors.Is(err, fs.ErrNotExist) {
		return f, map[TopicPartition]Mark{}, nil
	}
	if err != nil {
		return nil, nil, err
	}
	marks, err := parseFileMarks(content)
	if err != nil {
		log.Warn("marks are unusable and begun anew: logs are recovered in full", "file", f.name, "error", err)
		return f, map[TopicPartition]Mark{}, nil
	}
	return f, marks, nil
}

func parseFileMarks(b []byte) (map[TopicPartition]Mark, error) {
	if len(b) < fileMarksHeader || string(b[:8]) != string(marksMagic) ||
		binary.BigEndian.Uint32(b[8:]) != marksVersion || binary.BigEndian.Uint32(b[12:]) != crc32.Checksum(b[16:], castagnoli) {
		return nil, errMarksFormat
	}
	marks := map[TopicPartition]Mark{}
	count := binary.BigEndian.Uint32(b[16:])
	b = b[fileMarksHeader:]
	for range count {
		if len(b) < 2 {
			return nil, errMarksFormat
		}
		n := int(binary.BigEndian.Uint16(b))
		if len(b) < 2+n+markSize {
			return nil, errMarksFormat
		}
		tp, mark, err := parseMark(b[2:2+n], b[2+n:2+n+markSize])
		if err != nil {
			return nil, err
		}
		marks[tp] = mark
		b = b[2+n+markSize:]
	}
	if len(b) != 0 {
		return nil, errMarksFormat
	}
	return marks, nil
}

func (f *fileMarks) write(_ map[TopicPartition]*Mark, list func() map[TopicPartition]Mark, _ int) error {
	all := list()
	b := append([]byte(nil), marksMagic...)
	b = binary.BigEndian.AppendUint32(b, marksVersion)
	b = binary.BigEndian.AppendUint32(b, 0)
	b = binary.BigEndian.AppendUint32(b, uint32(len(all)))
	tps := slices.SortedFunc(maps.Keys(all), func(x, y TopicPartition) int {
		return slices.Compare(appendMarkKey(nil, x), appendMarkKey(nil, y))
	})
	for _, tp := range tps {
		key := appendMarkKey(nil, tp)
		b = binary.BigEndian.AppendUint16(b, uint16(len(key)))
		b = appendMarkValue(append(b, key...), key, all[tp])
	}
	binary.BigEndian.PutUint32(b[12:], crc32.Checksum(b[16:], castagnoli))
	return vfs.WriteFileAtomic(f.fs, f.name, b)
}

func (f *fileMarks) close() error { return nil }

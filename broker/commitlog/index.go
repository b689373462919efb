package commitlog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sort"
	"sync"
	"sync/atomic"

	"github.com/weir-broker/weir/broker/batch"
	"github.com/weir-broker/weir/broker/vfs"
)

const (
	offsetEntryLen = 8
	timeEntryLen   = 12
	// maxRelative is the largest distance of an offset from its segment's base, and the largest position in a .log.
	maxRelative = 1<<31 - 1
)

// errBadIndex says that an index file does not fit its log; the index is built again.
var errBadIndex = errors.New("index does not fit the log")

// offsetEntry says where the batch lies whose last offset is rel above the segment's base.
type offsetEntry struct{ rel, pos uint32 }

// timeEntry says that ts, in milliseconds, is the largest timestamp up to the batch whose last offset is rel above the
// base, and that this batch is the first with it.
type timeEntry struct {
	ts  int64
	rel uint32
}

// table is a slice with one writer that appends and any number of readers without a lock. An entry is written before the
// count that includes it, and never again: to shorten a table, make a new one.
type table[E any] struct {
	chunk atomic.Pointer[tableChunk[E]]
}

type tableChunk[E any] struct {
	n atomic.Int64
	e []E // len is the capacity
}

func newTable[E any](entries []E) *table[E] {
	t := &table[E]{}
	c := &tableChunk[E]{e: entries}
	c.n.Store(int64(len(entries)))
	t.chunk.Store(c)
	return t
}

// view is what the table holds now. It must not be changed.
func (t *table[E]) view() []E {
	c := t.chunk.Load()
	return c.e[:c.n.Load()]
}

func (t *table[E]) len() int { return int(t.chunk.Load().n.Load()) }

func (t *table[E]) append(e E) {
	c := t.chunk.Load()
	n := c.n.Load()
	if n == int64(len(c.e)) {
		grown := &tableChunk[E]{e: make([]E, max(16, 2*n))}
		copy(grown.e, c.e)
		grown.e[n] = e
		grown.n.Store(n + 1)
		t.chunk.Store(grown)
		return
	}
	c.e[n] = e
	c.n.Store(n + 1)
}

// index is the offset index and the time index of one segment, in memory.
type index struct {
	offsets *table[offsetEntry]
	times   *table[timeEntry]

	// file guards the two files and how many entries each holds already.
	file struct {
		sync.Mutex
		offsets, times               vfs.File // nil until written to
		offsetsWritten, timesWritten int
	}
	created atomic.Bool // a file was made whose name is not durable yet
}

func newIndex(offsets []offsetEntry, times []timeEntry) *index {
	return &index{offsets: newTable(offsets), times: newTable(times)}
}

// position returns where to begin looking for the batch that holds the offset rel above the base: the position of the
// indexed batch with the largest last offset at or below it, and that last offset; position 0 and false without one.
func (x *index) position(rel int64) (pos, entryRel uint32, indexed bool) {
	es := x.offsets.view()
	i := sort.Search(len(es), func(i int) bool { return int64(es[i].rel) > rel })
	if i == 0 {
		return 0, 0, false
	}
	return es[i-1].pos, es[i-1].rel, true
}

// bound returns the position of the first indexed batch that reaches the offset rel above the base; the batches
// below rel end there at the latest.
func (x *index) bound(rel int64) (pos uint32, found bool) {
	es := x.offsets.view()
	i := sort.Search(len(es), func(i int) bool { return int64(es[i].rel) >= rel })
	if i == len(es) {
		return 0, false
	}
	return es[i].pos, true
}

// before returns the entry with the largest timestamp at or below ts.
func (x *index) before(ts int64) (timeEntry, bool) {
	es := x.times.view()
	i := sort.Search(len(es), func(i int) bool { return es[i].ts > ts })
	if i == 0 {
		return timeEntry{}, false
	}
	return es[i-1], true
}

func (x *index) lastTime() (timeEntry, bool) {
	es := x.times.view()
	if len(es) == 0 {
		return timeEntry{}, false
	}
	return es[len(es)-1], true
}

// addTime adds a time entry if it moves time forward, as Kafka does.
func (x *index) addTime(e timeEntry) {
	last, ok := x.lastTime()
	if e.ts > batch.NoTimestamp && (!ok || e.ts > last.ts) {
		x.times.append(e)
	}
}

// cut returns the index of the segment cut before the offset rel above the base.
func (x *index) cut(rel int64) *index {
	os, ts := x.offsets.view(), x.times.view()
	i := sort.Search(len(os), func(i int) bool { return int64(os[i].rel) >= rel })
	j := sort.Search(len(ts), func(i int) bool { return int64(ts[i].rel) >= rel })
	return newIndex(append([]offsetEntry(nil), os[:i]...), append([]timeEntry(nil), ts[:j]...))
}

// full is whether the segment has to roll because an index may hold no more. One time entry is kept back for the end of
// the segment.
func (x *index) full(maxBytes int) bool {
	return x.offsets.len() >= maxBytes/offsetEntryLen || x.times.len() >= maxBytes/timeEntryLen-1
}

// write brings the files up to date. With truncate they are cut to what the index holds; sync makes them durable.
func (x *index) write(fsys vfs.FS, dir string, base batch.Offset, truncate, sync bool) error {
	x.file.Lock()
	defer x.file.Unlock()
	offsets, times := x.offsets.view(), x.times.view()
	f := &x.file
	if err := x.open(fsys, segmentPath(dir, base, extIndex), &f.offsets); err != nil {
		return err
	}
	if err := x.open(fsys, segmentPath(dir, base, extTimeIndex), &f.times); err != nil {
		return err
	}
	vfs.Failpoint("commitlog.index.before-write")
	if n := len(offsets) - f.offsetsWritten; n > 0 {
		raw := encodeOffsetIndex(offsets[f.offsetsWritten:])
		if _, err := f.offsets.WriteAt(raw, int64(f.offsetsWritten)*offsetEntryLen); err != nil {
			return err
		}
		f.offsetsWritten = len(offsets)
	}
	if n := len(times) - f.timesWritten; n > 0 {
		raw := encodeTimeIndex(times[f.timesWritten:])
		if _, err := f.times.WriteAt(raw, int64(f.timesWritten)*timeEntryLen); err != nil {
			return err
		}
		f.timesWritten = len(times)
	}
	vfs.Failpoint("commitlog.index.after-write")
	if truncate {
		if err := f.offsets.Truncate(int64(f.offsetsWritten) * offsetEntryLen); err != nil {
			return err
		}
		if err := f.times.Truncate(int64(f.timesWritten) * timeEntryLen); err != nil {
			return err
		}
	}
	if !sync {
		return nil
	}
	if err := f.offsets.SyncData(); err != nil {
		return err
	}
	return f.times.SyncData()
}

func encodeOffsetIndex(entries []offsetEntry) []byte {
	raw := make([]byte, 0, len(entries)*offsetEntryLen)
	for _, e := range entries {
		raw = binary.BigEndian.AppendUint32(raw, e.rel)
		raw = binary.BigEndian.AppendUint32(raw, e.pos)
	}
	return raw
}

func encodeTimeIndex(entries []timeEntry) []byte {
	raw := make([]byte, 0, len(entries)*timeEntryLen)
	for _, e := range entries {
		raw = binary.BigEndian.AppendUint64(raw, uint64(e.ts))
		raw = binary.BigEndian.AppendUint32(raw, e.rel)
	}
	return raw
}

func (x *index) open(fsys vfs.FS, name string, f *vfs.File) error {
	if *f != nil {
		return nil
	}
	opened, err := fsys.OpenReadWrite(name)
	if errors.Is(err, fs.ErrNotExist) {
		opened, err = fsys.Create(name)
		x.created.Store(true)
	}
	if err == nil {
		*f = opened
	}
	return err
}

// close gives the files back; they are opened again if there is something to write.
func (x *index) close() {
	x.file.Lock()
	defer x.file.Unlock()
	for _, f := range [...]*vfs.File{&x.file.offsets, &x.file.times} {
		if *f != nil {
			_ = (*f).Close() // what had to be durable was synced
			*f = nil
		}
	}
}

// loadIndex reads the index files of a segment whose log is logSize bytes long. errBadIndex, or fs.ErrNotExist: they
// have to be built from the log.
func loadIndex(fsys vfs.FS, dir string, base batch.Offset, logSize int64) (*index, error) {
	raw, err := readIndexFile(fsys, segmentPath(dir, base, extIndex), offsetEntryLen)
	if err != nil {
		return nil, err
	}
	offsets := make([]offsetEntry, 0, len(raw)/offsetEntryLen)
	for ; len(raw) > 0; raw = raw[offsetEntryLen:] {
		e := offsetEntry{rel: binary.BigEndian.Uint32(raw), pos: binary.BigEndian.Uint32(raw[4:])}
		if n := len(offsets); n > 0 && (e.rel <= offsets[n-1].rel || e.pos <= offsets[n-1].pos) {
			return nil, fmt.Errorf("%w: offset entry %d does not follow the one before", errBadIndex, n)
		}
		// The first batch is never indexed. Zeros are what a crash, or Kafka's preallocation, leaves.
		if e.rel > maxRelative || e.pos == 0 || int64(e.pos) >= logSize {
			return nil, fmt.Errorf("%w: offset entry %d lies outside", errBadIndex, len(offsets))
		}
		offsets = append(offsets, e)
	}
	raw, err = readIndexFile(fsys, segmentPath(dir, base, extTimeIndex), timeEntryLen)
	if err != nil {
		return nil, err
	}
	times := make([]timeEntry, 0, len(raw)/timeEntryLen)
	for ; len(raw) > 0; raw = raw[timeEntryLen:] {
		e := timeEntry{ts: int64(binary.BigEndian.Uint64(raw)), rel: binary.BigEndian.Uint32(raw[8:])}
		if n := len(times); n > 0 && (e.ts <= times[n-1].ts || e.rel < times[n-1].rel) {
			return nil, fmt.Errorf("%w: time entry %d does not follow the one before", errBadIndex, n)
		}
		if e.rel > maxRelative || e.ts < 0 {
			return nil, fmt.Errorf("%w: time entry %d lies outside", errBadIndex, len(times))
		}
		times = append(times, e)
	}
	x := newIndex(offsets, times)
	x.file.offsetsWritten, x.file.timesWritten = len(offsets), len(times)
	return x, nil
}

// readIndexFile reads an index file of whole entries. The file's own length bounds what is allocated.
func readIndexFile(fsys vfs.FS, name string, entryLen int64) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	// An entry per byte of the largest log could not be more than this.
	if size := st.Size(); size%entryLen != 0 || size > maxRelative {
		return nil, fmt.Errorf("%w: %d bytes", errBadIndex, size)
	}
	raw := make([]byte, st.Size())
	if n, err := f.ReadAt(raw, 0); n < len(raw) {
		if err == nil || errors.Is(err, io.EOF) {
			err = errBadIndex
		}
		return nil, err
	}
	return raw, nil
}

package commitlog

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/weir-broker/weir/broker/batch"
	"github.com/weir-broker/weir/broker/vfs"
)

const (
	epochFile = "leader-epoch-checkpoint"
	// epochFileLimit bounds what is read of it: well over a million epochs.
	epochFileLimit = 32 << 20
)

// epochs is the leader epoch checkpoint: where each epoch begins, ascending in both columns (KIP-101). Readers see an
// immutable slice. Like an index it is only durable up to the recovery point: beyond, recovery reads the epochs from the
// batches again.
type epochs struct {
	list atomic.Pointer[[]EpochEntry]

	mu struct {
		sync.Mutex
		dirty bool // list differs from the file
	}
	file sync.Mutex // held while the file is written; taken before mu
}

func (e *epochs) view() []EpochEntry {
	if p := e.list.Load(); p != nil {
		return *p
	}
	return nil
}

func (e *epochs) set(list []EpochEntry) {
	e.list.Store(&list)
	e.mu.dirty = true
}

func (e *epochs) latest() (EpochEntry, bool) {
	list := e.view()
	if len(list) == 0 {
		return EpochEntry{}, false
	}
	return list[len(list)-1], true
}

// needs is whether assign would change anything; it is asked for every batch.
func (e *epochs) needs(epoch batch.LeaderEpoch, start batch.Offset) bool {
	if epoch < 0 || start < 0 {
		return false
	}
	last, ok := e.latest()
	return !ok || epoch != last.Epoch || start < last.StartOffset
}

// assign adds an entry. Those that contradict it, with the same or a later epoch or offset, go.
func (e *epochs) assign(epoch batch.LeaderEpoch, start batch.Offset) {
	if !e.needs(epoch, start) {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	old := e.view()
	keep := len(old)
	for keep > 0 && (old[keep-1].Epoch >= epoch || old[keep-1].StartOffset >= start) {
		keep--
	}
	e.set(append(slices.Clone(old[:keep]), EpochEntry{epoch, start}))
}

// cutEnd drops the epochs that begin at or behind end.
func (e *epochs) cutEnd(end batch.Offset) {
	e.mu.Lock()
	defer e.mu.Unlock()
	old := e.view()
	keep := len(old)
	for keep > 0 && old[keep-1].StartOffset >= end {
		keep--
	}
	if keep < len(old) {
		e.set(slices.Clone(old[:keep]))
	}
}

// cutStart lets the epoch that holds start begin there, and drops those before it.
func (e *epochs) cutStart(start batch.Offset) {
	e.mu.Lock()
	defer e.mu.Unlock()
	old := e.view()
	gone := 0
	for gone < len(old) && old[gone].StartOffset <= start {
		gone++
	}
	if gone == 0 || (gone == 1 && old[0].StartOffset == start) {
		return
	}
	list := slices.Clone(old[gone-1:])
	list[0].StartOffset = start
	e.set(list)
}

func (e *epochs) clear() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.view()) > 0 {
		e.set(nil)
	}
}

// endOffset answers OffsetForLeaderEpoch: the largest epoch at or below the one asked for, and where the next one
// begins. For the newest epoch that is the log end.
func (e *epochs) endOffset(epoch batch.LeaderEpoch, logEnd batch.Offset) (batch.LeaderEpoch, batch.Offset) {
	list := e.view()
	if epoch < 0 || len(list) == 0 {
		return -1, Unknown
	}
	if list[len(list)-1].Epoch == epoch {
		return epoch, logEnd
	}
	higher := 0
	for higher < len(list) && list[higher].Epoch <= epoch {
		higher++
	}
	switch higher {
	case len(list): // newer than any known
		return -1, Unknown
	case 0: // older than any known: its records are gone, the follower goes on where the log begins
		return epoch, list[0].StartOffset
	}
	return list[higher-1].Epoch, list[higher].StartOffset
}

// save writes the file if it differs from the list.
func (e *epochs) save(fsys vfs.FS, dir string) error {
	e.file.Lock()
	defer e.file.Unlock()
	e.mu.Lock()
	dirty, list := e.mu.dirty, e.view()
	e.mu.dirty = false
	e.mu.Unlock()
	if !dirty {
		return nil
	}
	vfs.Failpoint("commitlog.epochs.before-write")
	if err := vfs.WriteFileAtomic(fsys, filepath.Join(dir, epochFile), encodeEpochs(list)); err != nil {
		e.mu.Lock()
		e.mu.dirty = true
		e.mu.Unlock()
		return storageError("write leader epochs", err)
	}
	return nil
}

// encodeEpochs writes Kafka's checkpoint: version 0, the number of entries, a line for each.
func encodeEpochs(list []EpochEntry) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "0\n%d\n", len(list))
	for _, e := range list {
		fmt.Fprintf(&b, "%d %d\n", e.Epoch, e.StartOffset)
	}
	return b.Bytes()
}

func decodeEpochs(content []byte) ([]EpochEntry, error) {
	if len(content) == 0 {
		return nil, nil // Kafka creates the file empty
	}
	lines := strings.Split(strings.TrimRight(string(content), "\n"), "\n")
	if len(lines) < 2 || strings.TrimSpace(lines[0]) != "0" {
		return nil, fmt.Errorf("%w: want version 0 and a count", ErrBadCheckpoint)
	}
	n, err := strconv.Atoi(strings.TrimSpace(lines[1]))
	if err != nil || n != len(lines)-2 {
		return nil, fmt.Errorf("%w: %q entries, %d lines", ErrBadCheckpoint, lines[1], len(lines)-2)
	}
	var list []EpochEntry
	for _, line := range lines[2:] {
		left, right, found := strings.Cut(strings.TrimSpace(line), " ")
		epoch, err1 := strconv.ParseInt(left, 10, 32)
		start, err2 := strconv.ParseInt(strings.TrimSpace(right), 10, 64)
		entry := EpochEntry{batch.LeaderEpoch(epoch), batch.Offset(start)}
		if !found || err1 != nil || err2 != nil || epoch < 0 || start < 0 {
			return nil, fmt.Errorf("%w: line %q", ErrBadCheckpoint, line)
		}
		if k := len(list); k > 0 && (list[k-1].Epoch >= entry.Epoch || list[k-1].StartOffset > entry.StartOffset) {
			return nil, fmt.Errorf("%w: epochs out of order at %q", ErrBadCheckpoint, line)
		}
		list = append(list, entry)
	}
	return list, nil
}

// load reads the file. ErrBadCheckpoint and fs.ErrNotExist leave the list empty.
func (e *epochs) load(fsys vfs.FS, dir string) error {
	content, err := vfs.ReadFile(fsys, filepath.Join(dir, epochFile), epochFileLimit)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if errors.Is(err, vfs.ErrFileTooLarge) {
			return fmt.Errorf("%w: %w", ErrBadCheckpoint, err)
		}
		return storageError("read leader epochs", err)
	}
	list, err := decodeEpochs(content)
	if err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.set(list)
	e.mu.dirty = false
	return nil
}

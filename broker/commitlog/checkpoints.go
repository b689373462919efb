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

	"github.com/weir-broker/weir/broker/batch"
	"github.com/weir-broker/weir/broker/vfs"
)

// Kafka keeps what we keep in local.db in four text files. They change hands so that a directory can go from Kafka to
// weir and back: where they are, they are right and local.db is not, since whoever used the directory last left them. We
// write them in a clean close and, in a start, take them over and remove them. While weir runs there are none; a Kafka
// that finds none recovers in full.
type checkpoint struct {
	name string
	of   func(*Mark) *batch.Offset
}

// checkpointLimit bounds what is read of one, in bytes: several hundred thousand partitions.
const checkpointLimit = 64 << 20

func checkpoints() [4]checkpoint {
	return [...]checkpoint{
		{"recovery-point-offset-checkpoint", func(m *Mark) *batch.Offset { return &m.RecoveryPoint }},
		{"replication-offset-checkpoint", func(m *Mark) *batch.Offset { return &m.HighWatermark }},
		{"log-start-offset-checkpoint", func(m *Mark) *batch.Offset { return &m.LogStartOffset }},
		{"cleaner-offset-checkpoint", func(m *Mark) *batch.Offset { return &m.CleanerOffset }},
	}
}

// takeCheckpoints moves Kafka's files into the marks. An unreadable one counts as empty: that costs time.
func (d *Dir) takeCheckpoints() error {
	var taken []string
	for _, c := range checkpoints() {
		name := filepath.Join(d.path, c.name)
		content, err := vfs.ReadFile(d.fs, name, checkpointLimit)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil && !errors.Is(err, vfs.ErrFileTooLarge) {
			return storageError("read "+name, err)
		}
		var offsets map[TopicPartition]batch.Offset
		if err == nil {
			offsets, err = decodeCheckpoint(content)
		}
		if err != nil {
			d.log.Warn("checkpoint is unusable: logs are recovered in full", "file", name, "error", err)
		}
		d.marks.replace(c.of, offsets)
		taken = append(taken, name)
	}
	if len(taken) == 0 {
		return nil
	}
	if err := d.marks.Flush(); err != nil {
		return err
	}
	for _, name := range taken {
		if err := d.fs.Remove(name); err != nil {
			return storageError("remove "+name, err)
		}
	}
	return storageError("remove checkpoints", vfs.SyncDir(d.fs, d.path))
}

// leaveCheckpoints writes the files for whoever uses the directory next.
func (d *Dir) leaveCheckpoints() error {
	all := d.marks.All()
	for _, c := range checkpoints() {
		name := filepath.Join(d.path, c.name)
		if err := vfs.WriteFileAtomic(d.fs, name, encodeCheckpoint(all, c.of)); err != nil {
			return storageError("write "+name, err)
		}
	}
	return nil
}

func encodeCheckpoint(all map[TopicPartition]Mark, of func(*Mark) *batch.Offset) []byte {
	var lines []string
	for tp, mark := range all {
		if off := *of(&mark); off != Unknown {
			lines = append(lines, fmt.Sprintf("%s %d %d\n", tp.Topic, tp.Partition, off))
		}
	}
	slices.Sort(lines)
	return fmt.Appendf(nil, "0\n%d\n%s", len(lines), strings.Join(lines, ""))
}

func decodeCheckpoint(content []byte) (map[TopicPartition]batch.Offset, error) {
	offsets := map[TopicPartition]batch.Offset{}
	if len(content) == 0 {
		return offsets, nil // Kafka creates them empty
	}
	lines := bytes.Split(bytes.TrimSuffix(content, []byte("\n")), []byte("\n"))
	if len(lines) < 2 || string(bytes.TrimSpace(lines[0])) != "0" {
		return nil, fmt.Errorf("%w: want version 0 and a count", ErrBadCheckpoint)
	}
	if n, err := strconv.Atoi(string(bytes.TrimSpace(lines[1]))); err != nil || n != len(lines)-2 {
		return nil, fmt.Errorf("%w: %q entries, %d lines", ErrBadCheckpoint, lines[1], len(lines)-2)
	}
	for _, line := range lines[2:] {
		words := strings.Fields(string(line))
		if len(words) != 3 {
			return nil, fmt.Errorf("%w: line %q", ErrBadCheckpoint, line)
		}
		partition, err1 := strconv.ParseInt(words[1], 10, 32)
		offset, err2 := strconv.ParseInt(words[2], 10, 64)
		if err1 != nil || err2 != nil || partition < 0 || offset < 0 {
			return nil, fmt.Errorf("%w: line %q", ErrBadCheckpoint, line)
		}
		offsets[TopicPartition{words[0], int32(partition)}] = batch.Offset(offset)
	}
	return offsets, nil
}

// replace sets one field of all marks: to what offsets has, and to Unknown where it has nothing.
func (m *Marks) replace(of func(*Mark) *batch.Offset, offsets map[TopicPartition]batch.Offset) {
	for tp := range m.All() {
		if _, ok := offsets[tp]; !ok {
			m.change(tp, func(mark *Mark) { *of(mark) = Unknown })
		}
	}
	for tp, off := range offsets {
		m.change(tp, func(mark *Mark) { *of(mark) = off })
	}
}

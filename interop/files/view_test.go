//go:build interop

package files_test

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/weir-broker/weir/broker/batch"
	"github.com/weir-broker/weir/broker/commitlog"
	"github.com/weir-broker/weir/broker/producerstate"
	"github.com/weir-broker/weir/broker/vfs"
	"github.com/weir-broker/weir/interop/oracle"
)

// opening is how a partition directory is opened, by Kafka and by us.
type opening struct {
	dir             string
	clean           bool
	recovery, start int64
	// live leaves out the producers whose records were all deleted. Who knows of them after a crash depends on which snapshots
	// survived: Kafka writes those above its recovery point anew, from the records that are left; we keep ours.
	live bool
}

// lines is what either made of a directory, in a form to compare.
type lines []string

// byKafka opens the directory with LogLoader and closes it again.
func byKafka(t *testing.T, o opening) lines {
	t.Helper()
	r, err := kafka.OpenLog(context.Background(), oracle.OpenLogRequest{
		Dir: o.dir, Config: topicConfig, LogStartOffset: max(o.start, 0), RecoveryPoint: max(o.recovery, 0),
		Clean: o.clean, Now: time.Now().UnixMilli(), Close: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	if r.ErrorClass != "" {
		return lines{"error " + r.ErrorClass + " " + r.ErrorMessage}
	}
	s := r.Opened
	out := lines{fmt.Sprintf("start %d end %d", s.LogStartOffset, s.LogEndOffset)}
	for i, g := range s.Segments {
		if i+1 < len(s.Segments) && s.Segments[i+1].Base <= s.LogStartOffset {
			continue // retention takes it next; we do so in a recovery already
		}
		out = append(out, segmentLine(g.Base, g.Next, g.Size, g.LargestTimestamp))
	}
	for _, e := range s.Epochs {
		out = append(out, fmt.Sprintf("leader epoch %d from %d", e.Epoch, e.Start))
	}
	for _, p := range s.Producers {
		if o.live && p.Batches[len(p.Batches)-1].LastOffset < s.LogStartOffset {
			continue
		}
		out = append(out, producerLine(p.ID, p.Epoch, p.Batches[len(p.Batches)-1].LastSeq, p.LastTimestamp))
	}
	return out
}

func segmentLine(base, next, size, largest int64) string {
	if size == 0 {
		largest = 0 // the time of the file
	}
	return fmt.Sprintf("segment %d-%d size %d time %d", base, next, size, largest)
}

func logConfig() commitlog.Config {
	c := commitlog.DefaultConfig()
	c.SegmentBytes, _ = strconv.Atoi(topicConfig["segment.bytes"])
	c.IndexIntervalBytes, _ = strconv.Atoi(topicConfig["index.interval.bytes"])
	c.FileDeleteDelay = 0
	return c
}

// byUs does the same with our log and producer state.
func byUs(t *testing.T, o opening) lines {
	t.Helper()
	log, _, err := commitlog.Open(commitlog.Options{
		FS: vfs.OS(), Dir: o.dir, Config: logConfig(),
		RecoveryPoint: batch.Offset(o.recovery), LogStartOffset: batch.Offset(o.start), CleanShutdown: o.clean,
	})
	if err != nil {
		return lines{"error " + err.Error()}
	}
	rows := log.Segments()
	out := lines{fmt.Sprintf("start %d end %d", log.LogStartOffset(), log.LogEndOffset())}
	var bases []batch.Offset
	for _, r := range rows {
		bases = append(bases, batch.Offset(r.Base))
		if !r.Active && r.Last < int64(log.LogStartOffset()) {
			continue
		}
		out = append(out, segmentLine(r.Base, r.Last+1, r.Size, r.MaxTimestamp.UnixMilli()))
	}
	for _, e := range log.Epochs() {
		out = append(out, fmt.Sprintf("leader epoch %d from %d", e.Epoch, e.StartOffset))
	}
	producers, err := producerstate.Open(producerstate.Options{FS: vfs.OS(), Dir: o.dir, Expiration: 24 * time.Hour})
	if err == nil {
		err = producers.Load(producerstate.Log{
			Start: log.LogStartOffset(), End: log.LogEndOffset(), Segments: bases, Batches: log.Batches,
		}, time.Now())
	}
	if err == nil {
		err = producers.Snapshot(true)
	}
	if err := errors.Join(err, log.Close(true)); err != nil {
		t.Fatal(err)
	}
	for _, p := range producers.Producers() {
		if o.live && p.LastOffset < log.LogStartOffset() {
			continue
		}
		out = append(out, producerLine(int64(p.ID), int16(p.Epoch), p.LastSequence, p.LastTimestamp))
	}
	return out
}

// differ reports the first lines that two views do not share.
func differ(ours, theirs lines) error {
	if slices.Equal(ours, theirs) {
		return nil
	}
	i := 0
	for i < min(len(ours), len(theirs)) && ours[i] == theirs[i] {
		i++
	}
	return fmt.Errorf("line %d: ours\n  %v\nKafka's\n  %v\nof\n%q\n%q", i, ours[i:min(i+3, len(ours))], theirs[i:min(i+3, len(theirs))], ours, theirs)
}

// content returns what the files of a partition say: the logs, the indexes without the zeros of a preallocated one, the
// snapshots with their entries in order, without those of producers that wrote nothing from offset from on.
func content(t *testing.T, dir string, from int64) map[string][sha256.Size]byte {
	t.Helper()
	names, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][sha256.Size]byte{}
	for _, n := range names {
		raw, err := os.ReadFile(filepath.Join(dir, n.Name()))
		if err != nil {
			t.Fatal(err)
		}
		switch filepath.Ext(n.Name()) {
		case ".index", ".timeindex":
			raw = bytes.TrimRight(raw, "\x00") // no entry ends with a zero byte everywhere
		case ".snapshot":
			entries, err := producerstate.DecodeSnapshot(raw)
			if err != nil {
				continue // we leave a damaged one that is not needed until it is; Kafka may have written it anew
			}
			entries = slices.DeleteFunc(entries, func(e producerstate.SnapshotEntry) bool { return int64(e.LastOffset) < from })
			slices.SortFunc(entries, func(a, b producerstate.SnapshotEntry) int { return cmp.Compare(a.ProducerID, b.ProducerID) })
			raw = producerstate.EncodeSnapshot(entries)
		case ".log":
		default:
			continue
		}
		out[n.Name()] = sha256.Sum256(raw)
	}
	return out
}

// live tells which .log files reach to the log start offset or above, by the name without extension.
func live(t *testing.T, dir string, from int64) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.log"))
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	for i, n := range names {
		names[i] = strings.TrimSuffix(filepath.Base(n), ".log")
	}
	for len(names) > 1 {
		if base, err := strconv.ParseInt(names[1], 10, 64); err != nil || base > from {
			break
		}
		names = names[1:]
	}
	return names
}

// sameContent compares the files of the segments that the log start offset leaves, and the snapshot at the end.
func sameContent(t *testing.T, ours, theirs string, from int64) error {
	t.Helper()
	x, y := content(t, ours, from), content(t, theirs, from)
	a, b := live(t, ours, from), live(t, theirs, from)
	if !slices.Equal(a, b) {
		return fmt.Errorf("segments %v, Kafka's %v", a, b)
	}
	var problems []error
	for _, base := range a {
		for _, ext := range []string{".log", ".index", ".timeindex"} {
			name := base + ext
			if _, ok := x[name]; !ok || x[name] != y[name] {
				problems = append(problems, fmt.Errorf("%s differs", name))
			}
		}
	}
	// Snapshots in between may differ: of two that lead to the same state, Kafka writes one anew and we keep the one of the roll.
	if p, q := newestSnapshot(x), newestSnapshot(y); p != q || x[p] != y[q] {
		problems = append(problems, fmt.Errorf("newest snapshots %s and %s differ", p, q))
	}
	return errors.Join(problems...)
}

func newestSnapshot(files map[string][sha256.Size]byte) string {
	newest := ""
	for name := range files {
		if filepath.Ext(name) == ".snapshot" {
			newest = max(newest, name)
		}
	}
	return newest
}

// copyPartition copies a partition directory into a new parent: Kafka takes topic and partition from its name.
func copyPartition(t *testing.T, from string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), filepath.Base(from))
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	return to
}

// noMismatch lets DumpLogSegments read every file of a directory.
func noMismatch(t *testing.T, dir string) oracle.Dump {
	t.Helper()
	d, err := kafka.DumpLogs(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Mismatches) > 0 {
		t.Errorf("%d mismatches in %s:\n%q", len(d.Mismatches), filepath.Base(dir), d.Mismatches[:min(20, len(d.Mismatches))])
	}
	return d
}

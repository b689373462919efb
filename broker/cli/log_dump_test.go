package cli

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weir-broker/weir/broker/batch"
	"github.com/weir-broker/weir/broker/commitlog"
	"github.com/weir-broker/weir/broker/producerstate"
	"github.com/weir-broker/weir/broker/vfs"
)

var rewriteGolden = flag.Bool("rewrite-golden", false, "write testdata/log-dump.*.txt anew")

// dump runs `weir log dump` and returns what it printed.
func dump(output string, args ...string) (stdout, stderr string, err error) {
	var out, errOut bytes.Buffer
	g := &globals{output: output, stdout: &out, stderr: &errOut}
	cmd := newLogCommand(g)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs(append([]string{"dump"}, args...))
	cmd.SetOut(&out)
	cmd.SetErr(&errOut)
	err = cmd.Execute()
	return out.String(), errOut.String(), err
}

const segment0 = "00000000000000000000"

// writePartition makes a partition's folder with two segments, all files, and some of each kind of batch.
func writePartition(t *testing.T, codec batch.Codec) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "hello-0")
	c := commitlog.DefaultConfig()
	c.IndexIntervalBytes, c.SegmentIndexBytes = 100, 1000
	l, _, err := commitlog.Open(commitlog.Options{
		FS: vfs.OS(), Dir: dir, Config: c, Now: func() time.Time { return time.UnixMilli(1700000000000) },
		RecoveryPoint: commitlog.Unknown, LogStartOffset: commitlog.Unknown,
	})
	if err != nil {
		t.Fatal(err)
	}
	appendBatch := func(raw []byte) {
		t.Helper()
		h, err := batch.ParseHeader(raw)
		if err != nil {
			t.Fatal(err)
		}
		l.AssignEpoch(h.LeaderEpoch, h.BaseOffset)
		if err := l.Append(raw, []batch.Header{h}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range int64(6) {
		o := batch.NoProducer()
		o.BaseOffset, o.LeaderEpoch, o.Compression = batch.Offset(3*i), batch.LeaderEpoch(i/3), batch.CompressionOf(codec)
		o.ProducerID, o.ProducerEpoch, o.BaseSequence = 1000, 1, int32(3*i)
		b := batch.NewBuilder(o)
		ts := 1700000000000 + 10*i
		b.Add(ts, []byte(fmt.Sprintf("key-%d", i)), []byte("text with \"quotes\"\nand lines"), []batch.RecordHeader{{Key: "trace", Value: []byte("a b")}, {Key: "none"}})
		b.Add(ts+1, nil, []byte{0xff, 0xfe, byte(i)}, nil)
		b.Add(ts+2, []byte{}, nil, nil)
		appendBatch(b.Bytes())
		if i == 3 {
			if err := l.Roll(); err != nil {
				t.Fatal(err)
			}
		}
	}
	appendBatch(batch.NewEndTxnMarker(18, 1700000000100, 1000, 1, 1, batch.EndTxnMarker{Type: batch.ControlAbort, CoordinatorEpoch: 5}))
	if err := l.Close(true); err != nil {
		t.Fatal(err)
	}
	if err := commitlog.WriteTopicID(vfs.OS(), dir, [16]byte{1, 2, 3}); err != nil {
		t.Fatal(err)
	}
	snapshot := producerstate.EncodeSnapshot([]producerstate.SnapshotEntry{{
		ProducerID: 1000, ProducerEpoch: 1, LastSequence: 17, LastOffset: 17, OffsetDelta: 2, Timestamp: 1700000000052,
		CoordinatorEpoch: 5, TxnFirstOffset: -1,
	}})
	write(t, filepath.Join(dir, producerstate.FileName(19)), snapshot)
	txn := make([]byte, 2, 34)
	for _, v := range []uint64{1000, 0, 18, 19} {
		txn = binary.BigEndian.AppendUint64(txn, v)
	}
	write(t, filepath.Join(dir, "00000000000000000012.txnindex"), txn)
	return dir
}

func write(t *testing.T, name string, content []byte) {
	t.Helper()
	if err := os.WriteFile(name, content, 0o644); err != nil {
		t.Fatal(err)
	}
}

func readFile(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestLogDumpPrintsEveryFileOfAPartition(t *testing.T) {
	dir := writePartition(t, batch.None)
	for _, output := range []string{outputTable, outputJSON} {
		stdout, stderr, err := dump(output, dir, "--records")
		if err != nil || stderr != "" {
			t.Fatalf("%v\n%s", err, stderr)
		}
		got := strings.ReplaceAll(stdout, filepath.Dir(dir)+"/", "")
		golden := filepath.Join("testdata", "log-dump."+output+".txt")
		if *rewriteGolden {
			if err := os.MkdirAll("testdata", 0o755); err != nil {
				t.Fatal(err)
			}
			write(t, golden, []byte(got))
		}
		if want := string(readFile(t, golden)); got != want {
			t.Errorf("%s differs (-rewrite-golden writes it anew): have\n%s", golden, got)
		}
		for line := range strings.Lines(stdout) {
			if output == outputJSON && !json.Valid([]byte(line)) {
				t.Errorf("not JSON: %s", line)
			}
		}
	}
}

func TestLogDumpReadsEveryCodec(t *testing.T) {
	plain, _, err := dump(outputTable, filepath.Join(writePartition(t, batch.None), segment0+".log"), "--records")
	if err != nil {
		t.Fatal(err)
	}
	records := func(out string) string {
		var lines []string
		for line := range strings.Lines(out) {
			if strings.HasPrefix(line, "  | ") {
				lines = append(lines, line)
			}
		}
		return strings.Join(lines, "")
	}
	if strings.Count(records(plain), "\n") != 12 {
		t.Fatalf("have\n%s", plain)
	}
	for _, codec := range []batch.Codec{batch.Gzip, batch.Snappy, batch.LZ4, batch.Zstd} {
		dir := writePartition(t, codec)
		out, stderr, err := dump(outputTable, filepath.Join(dir, segment0+".log"), "--records")
		if err != nil || records(out) != records(plain) || !strings.Contains(out, "compresscodec: "+codec.String()) {
			t.Errorf("%s: %v %s\n%s", codec, err, stderr, out)
		}
		if out, stderr, err := dump(outputTable, dir, "--verify"); err != nil || !strings.Contains(out, "no problem found") {
			t.Errorf("%s: verify: %v %s", codec, err, stderr)
		}
	}
}

// TestLogDumpVerifyFindsEveryFlippedByte flips bytes of each file in turn.
func TestLogDumpVerifyFindsEveryFlippedByte(t *testing.T) {
	dir := writePartition(t, batch.None)
	rng := rand.New(rand.NewPCG(1, 2))
	names, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, entry := range names {
		name := filepath.Join(dir, entry.Name())
		good := readFile(t, name)
		switch filepath.Ext(name) {
		case ".txnindex", ".metadata", "": // without redundancy
			continue
		}
		for at := range good {
			bad := bytes.Clone(good)
			bad[at] ^= 1 << rng.IntN(8)
			if filepath.Ext(name) == ".log" && isLeaderEpoch(good, at) {
				continue // outside the CRC, any value is possible
			}
			write(t, name, bad)
			_, stderr, err := dump(outputTable, dir, "--verify")
			if err == nil || !strings.Contains(stderr, entry.Name()[:20]) || !strings.Contains(err.Error(), "found") {
				t.Errorf("%s: byte %d (%x for %x): %v, %q", entry.Name(), at, bad[at], good[at], err, stderr)
			}
			checked++
		}
		write(t, name, good)
	}
	if checked < 1000 {
		t.Errorf("only %d bytes checked", checked)
	}
}

func isLeaderEpoch(log []byte, at int) bool {
	for pos := 0; pos+12 <= len(log); {
		if at >= pos+12 && at < pos+16 {
			return true
		}
		pos += 12 + int(binary.BigEndian.Uint32(log[pos+8:]))
	}
	return false
}

func TestLogDumpPrintsWhatIsIntactAndReportsTheRest(t *testing.T) {
	for name, c := range map[string]struct {
		file   string
		damage func(b []byte) []byte
		says   string
		lines  int
	}{
		"torn log":           {segment0 + ".log", func(b []byte) []byte { return b[:len(b)-5] }, "3", 3},
		"garbage in the log": {segment0 + ".log", func(b []byte) []byte { return append(b, "garbage"...) }, "less than a header", 4},
		"torn index":         {segment0 + ".index", func(b []byte) []byte { return append(b, 0, 0, 0) }, "whole number of entries", 3},
		"zeros in the index": {segment0 + ".index", func(b []byte) []byte { clear(b[8:16]); return b }, "goes on behind", 1},
		"torn time index":    {segment0 + ".timeindex", func(b []byte) []byte { return b[:len(b)-1] }, "whole number of entries", 2},
		"snapshot checksum":  {"00000000000000000019.snapshot", func(b []byte) []byte { b[20] ^= 1; return b }, "checksum", 0},
		"short snapshot":     {"00000000000000000019.snapshot", func(b []byte) []byte { return b[:3] }, "header", 0},
		"epochs":             {"leader-epoch-checkpoint", func([]byte) []byte { return []byte("0\n2\n0 0\n") }, "entries", 0},
		"topic id":           {"partition.metadata", func([]byte) []byte { return []byte("version: 0\n") }, "topic id", 0},
		"txn version":        {"00000000000000000012.txnindex", func(b []byte) []byte { b[1] = 7; return b }, "version 7", 0},
	} {
		t.Run(name, func(t *testing.T) {
			dir := writePartition(t, batch.None)
			file := filepath.Join(dir, c.file)
			write(t, file, c.damage(readFile(t, file)))
			stdout, stderr, err := dump(outputTable, file)
			if err == nil || !strings.Contains(stderr, c.says) || !strings.HasPrefix(stderr, file+": ") {
				t.Errorf("%v, %q", err, stderr)
			}
			if got := strings.Count(stdout, "\n") - 1; got != c.lines {
				t.Errorf("%d entries printed, want %d\n%s", got, c.lines, stdout)
			}
		})
	}
}

func TestLogDumpVerifyWantsAllFilesOfASegment(t *testing.T) {
	dir := writePartition(t, batch.None)
	if err := os.Remove(filepath.Join(dir, segment0+".timeindex")); err != nil {
		t.Fatal(err)
	}
	_, stderr, err := dump(outputTable, filepath.Join(dir, segment0+".index"), "--verify")
	if err == nil || !strings.Contains(stderr, segment0+".timeindex: ") {
		t.Errorf("%v, %q", err, stderr)
	}
	if err := os.Remove(filepath.Join(dir, segment0+".log")); err != nil {
		t.Fatal(err)
	}
	if _, stderr, err = dump(outputTable, filepath.Join(dir, segment0+".index"), "--verify"); err == nil || !strings.Contains(stderr, ".log") {
		t.Errorf("%v, %q", err, stderr)
	}
}

func TestLogDumpRefusesWhatIsNoFileOfALog(t *testing.T) {
	dir := t.TempDir()
	other := filepath.Join(dir, "notes.txt")
	write(t, other, nil)
	var usage usageError
	if _, _, err := dump(outputTable); !errors.As(err, &usage) {
		t.Errorf("no argument: %v", err)
	}
	if _, _, err := dump(outputTable, other); !errors.As(err, &usage) || !strings.Contains(err.Error(), ".timeindex") {
		t.Errorf("other file: %v", err)
	}
	if _, _, err := dump(outputTable, dir); err == nil || errors.As(err, &usage) {
		t.Errorf("other directory: %v", err)
	}
	if _, _, err := dump(outputTable, filepath.Join(dir, segment0+".log")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
}

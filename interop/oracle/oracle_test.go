//go:build interop

package oracle

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

var shared *Oracle

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "weir-oracle-")
		if err != nil {
			panic(err)
		}
		defer os.RemoveAll(dir)
		if shared, err = Start(Options{Dir: dir}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		code := m.Run()
		if err := shared.Close(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return code
	}())
}

type testBatch struct {
	base, producer int64
	epoch          int16
	seq            int32
	ts             int64
	values         []string
	noKey          bool
}

// bytes builds an uncompressed batch by hand, so that the oracle is checked against the format and not against our own builder.
func (b testBatch) bytes() []byte {
	var body []byte
	for i, v := range b.values {
		var r []byte
		r = append(r, 0)
		r = binary.AppendVarint(r, 0)
		r = binary.AppendVarint(r, int64(i))
		if b.noKey {
			r = binary.AppendVarint(r, -1)
		} else {
			r = binary.AppendVarint(r, 1)
			r = append(r, 'k')
		}
		r = binary.AppendVarint(r, int64(len(v)))
		r = append(r, v...)
		r = binary.AppendVarint(r, 0)
		body = binary.AppendVarint(body, int64(len(r)))
		body = append(body, r...)
	}
	raw := make([]byte, 61, 61+len(body))
	e := binary.BigEndian
	e.PutUint64(raw, uint64(b.base))
	e.PutUint32(raw[8:], uint32(49+len(body)))
	raw[16] = 2
	e.PutUint32(raw[23:], uint32(len(b.values)-1))
	e.PutUint64(raw[27:], uint64(b.ts))
	e.PutUint64(raw[35:], uint64(b.ts))
	e.PutUint64(raw[43:], uint64(b.producer))
	e.PutUint16(raw[51:], uint16(b.epoch))
	e.PutUint32(raw[53:], uint32(b.seq))
	e.PutUint32(raw[57:], uint32(len(b.values)))
	raw = append(raw, body...)
	e.PutUint32(raw[17:], crc32.Checksum(raw[21:], crc32.MakeTable(crc32.Castagnoli)))
	return raw
}

func plain(ts int64, values ...string) testBatch {
	return testBatch{producer: -1, epoch: -1, seq: -1, ts: ts, values: values}
}

func TestValidateAssignsOffsets(t *testing.T) {
	ctx := context.Background()
	q := NewValidateRequest(plain(1000, "a", "b").bytes())
	q.Now, q.NextOffset, q.LeaderEpoch, q.WantRecords = 1000, 41, 7, true
	r, err := shared.Validate(ctx, q)
	if err != nil || r.Rejected != nil {
		t.Fatal(err, r.Rejected)
	}
	if r.FirstOffset != 41 || r.LastOffset != 42 || r.MaxTimestamp != 1000 || r.Recompressed || len(r.Records) != 2 ||
		string(r.Records[1].Value) != "b" || r.Records[1].Offset != 42 || r.LogAppendTime != -1 {
		t.Fatalf("%+v", r)
	}
	if got := binary.BigEndian.Uint64(r.Raw); got != 41 {
		t.Fatalf("base offset %d", got)
	}
	q.Codec = "zstd"
	if r, err = shared.Validate(ctx, q); err != nil || r.Rejected != nil || !r.Recompressed || r.Raw[22]&7 != 4 {
		t.Fatal(err, r.Rejected, r)
	}
}

func TestValidateNamesTheComplaint(t *testing.T) {
	ok := plain(1000, "a", "b")
	for _, c := range []struct {
		name   string
		change func(q *ValidateRequest)
		stage  string
		class  string
		code   int16
		errors int
	}{
		{"crc", func(q *ValidateRequest) { q.Raw[17]++ }, "analyze", "CorruptRecordException", 2, 0},
		{"magic", func(q *ValidateRequest) { q.Raw[16] = 1 }, "request", "InvalidRecordException", 87, 0},
		{"base offset", func(q *ValidateRequest) { q.Raw[7] = 1 }, "analyze", "InvalidRecordException", 87, 0},
		{"size", func(q *ValidateRequest) { q.MaxMessageBytes = 60 }, "analyze", "RecordTooLargeException", 10, 0},
		{"future", func(q *ValidateRequest) { q.Now, q.AfterMax = 0, 1 }, "validate", "InvalidTimestampException", 32, 2},
		{"no key", func(q *ValidateRequest) {
			b := ok
			b.noKey = true
			q.Raw, q.Compacted = b.bytes(), true
		}, "validate", "InvalidRecordException", 87, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			q := NewValidateRequest(ok.bytes())
			q.Now = 1000
			c.change(&q)
			r, err := shared.Validate(context.Background(), q)
			if err != nil || r.Rejected == nil {
				t.Fatal(err, r)
			}
			if x := r.Rejected; x.Stage != c.stage || x.Class != c.class || x.Code != c.code || len(x.Records) != c.errors {
				t.Fatalf("%+v", x)
			}
		})
	}
}

func TestValidateIsFast(t *testing.T) {
	raw := plain(1000, strings.Repeat("x", 100), "b", "c").bytes()
	const n, lanes = 20000, 16
	run := func() float64 {
		start := time.Now()
		var wg sync.WaitGroup
		for range lanes {
			wg.Go(func() {
				for range n / lanes {
					q := NewValidateRequest(raw)
					q.Now = 1000
					if r, err := shared.Validate(context.Background(), q); err != nil || r.Rejected != nil {
						t.Error(err, r.Rejected)
						return
					}
				}
			})
		}
		wg.Wait()
		return n / time.Since(start).Seconds()
	}
	run()
	t.Logf("%.0f cases/s", run())
}

func TestProducerSequence(t *testing.T) {
	b := func(seq int32, n int) []byte {
		return testBatch{producer: 9, epoch: 1, seq: seq, ts: 5000 + int64(seq), values: make([]string, n)}.bytes()
	}
	r, err := shared.Producer(context.Background(), time.Hour, 100, 2, []ProducerStep{
		AppendStep(OriginClient, b(0, 2)), AppendStep(OriginClient, b(2, 3)), AppendStep(OriginClient, b(0, 2)),
		AppendStep(OriginClient, b(9, 1)), RestartStep(0, 6000), AppendStep(OriginClient, b(0, 2)), AppendStep(OriginClient, b(5, 1)),
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range r.Steps {
		got = append(got, fmt.Sprintf("%d:%d-%d:%d", s.Verdict, s.FirstOffset, s.LastOffset, s.Code))
	}
	want := "0:100-101:0 0:102-104:0 1:100-101:0 2:-1--1:45 0:-1--1:0 2:-1--1:45 0:105-105:0"
	if strings.Join(got, " ") != want {
		t.Fatalf("%v\nwant %v", got, want)
	}
	if r.NextOffset != 106 || len(r.Entries) != 1 || len(r.Entries[0].Batches) != 2 || len(r.Snapshot) != 10+46 {
		t.Fatalf("%+v", r)
	}
}

func writeLog(t *testing.T, dir string, batches ...[]byte) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	var all []byte
	for _, b := range batches {
		all = append(all, b...)
	}
	if err := os.WriteFile(filepath.Join(dir, "00000000000000000000.log"), all, 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestOpenLogTruncatesTornTail(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "t-0")
	a, b := plain(1000, "a", "b"), plain(2000, "c")
	b.base = 2
	b.producer, b.epoch, b.seq = 5, 0, 0
	torn := b
	torn.base = 3
	writeLog(t, dir, a.bytes(), b.bytes(), torn.bytes()[:65])
	r, err := shared.OpenLog(context.Background(), OpenLogRequest{Dir: dir, Now: 3000, Close: true})
	if err != nil || r.ErrorClass != "" {
		t.Fatal(err, r)
	}
	if r.Opened.LogEndOffset != 3 || r.Opened.LogStartOffset != 0 || len(r.Opened.Producers) != 1 || r.Opened.Producers[0].ID != 5 {
		t.Fatalf("%+v", r.Opened)
	}
	// Not the index: a log that was just recovered keeps it preallocated, and the tool takes an empty one's zeros for an entry.
	d, err := shared.DumpFiles(context.Background(), []string{
		filepath.Join(dir, "00000000000000000000.log"), filepath.Join(dir, "00000000000000000003.snapshot"),
	}, "--print-data-log")
	if err != nil || len(d.Mismatches) != 0 || !strings.Contains(d.Stdout, "payload: c") {
		t.Fatal(err, d)
	}
}

func TestDumpReportsFlippedIndexByte(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "t-0")
	a, b := plain(1000, "a", "b"), plain(2000, "c")
	b.base = 2
	writeLog(t, dir, a.bytes(), b.bytes())
	name := filepath.Join(dir, "00000000000000000000.index")
	entry := binary.BigEndian.AppendUint32(nil, 2)
	entry = binary.BigEndian.AppendUint32(entry, uint32(len(a.bytes())))
	for _, wrong := range []bool{false, true} {
		if wrong {
			entry[3]++
		}
		if err := os.WriteFile(name, entry, 0o644); err != nil {
			t.Fatal(err)
		}
		d, err := shared.DumpLogs(context.Background(), dir)
		if err != nil || (len(d.Mismatches) != 0) != wrong {
			t.Fatal(err, d)
		}
	}
}

func TestRetentionLeavesTheActiveSegment(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "t-0")
	a, b := plain(1000, "a", "b"), plain(2000, "c")
	b.base = 2
	writeLog(t, dir, a.bytes())
	if err := os.WriteFile(filepath.Join(dir, "00000000000000000002.log"), b.bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	hw := int64(3)
	r, err := shared.OpenLog(context.Background(), OpenLogRequest{
		Dir: dir, Now: 1600, HighWatermark: &hw, Retain: true, Config: map[string]string{"retention.ms": "500"},
	})
	if err != nil || r.ErrorClass != "" || r.Deleted != 1 {
		t.Fatal(err, r)
	}
	if r.Retained.LogStartOffset != 2 || len(r.Retained.Segments) != 1 || r.Retained.LogEndOffset != 3 {
		t.Fatalf("%+v", r.Retained)
	}
}

func TestConfigTables(t *testing.T) {
	c, err := shared.Configs(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if k := c.Topic["retention.ms"]; k.Type != "LONG" || k.Default == nil || *k.Default != "604800000" ||
		strings.Join(k.BrokerSynonyms, " ") != "log.retention.ms log.retention.minutes log.retention.hours" {
		t.Fatalf("%+v", k)
	}
	if k := c.Broker["log.retention.ms"]; k.UpdateMode != "cluster-wide" {
		t.Fatalf("%+v", k)
	}
	if len(c.Group) == 0 {
		t.Fatal("no group table")
	}
	if x, err := shared.CheckConfig(context.Background(), "topic", map[string]string{"retention.ms": "x"}); err != nil || x.Class != "ConfigException" {
		t.Fatal(err, x)
	}
	if x, err := shared.CheckConfig(context.Background(), "topic", map[string]string{"retention.ms": "5"}); err != nil || x.Class != "" {
		t.Fatal(err, x)
	}
}

func TestBrokerServesToolsAndStops(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	b, err := shared.StartBroker(ctx, dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	out, err := shared.Tool(ctx, Invocation{Tool: "topics", Args: []string{"--bootstrap-server", b.Bootstrap, "--create", "--topic", "one"}})
	if err != nil || out.Code != 0 || out.Stdout != "Created topic one.\n" {
		t.Fatal(err, out)
	}
	out, err = shared.Tool(ctx, Invocation{
		Tool: "console-producer", Args: []string{"--bootstrap-server", b.Bootstrap, "--topic", "one"}, Stdin: "a\nb\n",
	})
	if err != nil || out.Code != 0 {
		t.Fatal(err, out)
	}
	out, err = shared.Tool(ctx, Invocation{Tool: "console-consumer", Args: []string{
		"--bootstrap-server", b.Bootstrap, "--topic", "one", "--partition", "0", "--from-beginning", "--max-messages", "2",
	}})
	if err != nil || out.Code != 0 || out.Stdout != "a\nb\n" {
		t.Fatal(err, out)
	}
	out, err = shared.Tool(ctx, Invocation{Tool: "topics", Args: []string{"--bootstrap-server", b.Bootstrap, "--create", "--topic", "one"}})
	if err != nil || out.Code != 1 || !strings.Contains(out.Stdout, "already exists") {
		t.Fatal(err, out)
	}
	if err := b.Stop(ctx); err != nil {
		t.Fatal(err)
	}
	if d, err := shared.DumpLogs(ctx, filepath.Join(b.LogDir, "one-0")); err != nil || len(d.Mismatches) != 0 {
		t.Fatal(err, d)
	}
}

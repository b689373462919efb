package commitlog

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/weir-broker/weir/broker/batch"
	"github.com/weir-broker/weir/broker/vfs"
)

func TestFailedWriteIsUndoneAndTheLogGoesOn(t *testing.T) {
	for _, short := range []int{0, 1, 70, 149, 100000} {
		mem := vfs.NewMem()
		faults := vfs.NewFaults(mem)
		f := newFixture(t, faults, smallConfig())
		f.open(false)
		want := f.add(2, 150)
		rule := faults.Add(vfs.Fault{Kinds: vfs.OpWrite, Glob: "*.log", Times: 1, Err: syscall.ENOSPC, Short: short})
		raw := build(2, 2, 150, 0, 0, batch.None)
		err := f.log.Append(raw, headers(t, raw))
		if !errors.Is(err, ErrStorage) || !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("short %d: %v", short, err)
		}
		rule.Remove()
		if f.log.LogEndOffset() != 2 || !bytes.Equal(readAll(t, f.log), want) {
			t.Fatalf("short %d: end %d", short, f.log.LogEndOffset())
		}
		want = append(want, f.add(1, 100)...)
		g := newFixture(t, mem.Clone(), f.cfg)
		g.open(false)
		if !bytes.Equal(readAll(t, g.log), want) || g.found.TruncatedBytes != 0 {
			t.Fatalf("short %d: reopened to %d, %+v", short, g.log.LogEndOffset(), g.found)
		}
	}
}

func TestLogThatCannotUndoAWriteIsFinished(t *testing.T) {
	mem := vfs.NewMem()
	faults := vfs.NewFaults(mem)
	f := newFixture(t, faults, smallConfig())
	f.open(false)
	want := f.add(2, 150)
	faults.Add(vfs.Fault{Kinds: vfs.OpWrite | vfs.OpTruncate, Glob: "*.log", Short: 80})
	raw := build(2, 2, 150, 0, 0, batch.None)
	if err := f.log.Append(raw, headers(t, raw)); !errors.Is(err, ErrStorage) {
		t.Fatal(err)
	}
	faults.Clear()
	for what, err := range map[string]error{
		"append": f.log.Append(raw, headers(t, raw)), "flush": f.log.Flush(2), "roll": f.log.Roll(), "truncate": f.log.Truncate(0),
	} {
		if !errors.Is(err, ErrStorage) {
			t.Errorf("%s on a failed log: %v", what, err)
		}
	}
	if _, err := f.log.Read(nil, 0, 2, 100, true); !errors.Is(err, ErrStorage) {
		t.Errorf("read on a failed log: %v", err)
	}
	g := newFixture(t, mem.Clone(), f.cfg)
	g.open(false)
	if !bytes.Equal(readAll(t, g.log), want) {
		t.Errorf("reopened to %d", g.log.LogEndOffset())
	}
}

func TestFailedSyncIsNeverTriedAgain(t *testing.T) {
	faults := vfs.NewFaults(vfs.NewMem())
	f := newFixture(t, faults, smallConfig())
	f.open(false)
	f.add(2, 150)
	faults.Add(vfs.Fault{Kinds: vfs.OpSyncData, Glob: "*.log", Times: 1, Forget: true})
	for range 2 {
		if err := f.log.Flush(2); !errors.Is(err, ErrStorage) {
			t.Fatal(err)
		}
	}
	if f.log.RecoveryPoint() != 0 {
		t.Errorf("recovery point %d", f.log.RecoveryPoint())
	}
}

func TestConcurrentFlushesShareSyncs(t *testing.T) {
	mem := vfs.NewMem()
	f := newFixture(t, mem, DefaultConfig())
	f.open(false)
	var mu sync.Mutex
	syncs := 0
	mem.OnOp(func(op vfs.Op) {
		if op.Kind == vfs.OpSyncData {
			mu.Lock()
			syncs++
			mu.Unlock()
		}
	})
	const writers, each = 8, 50
	var appendLock sync.Mutex
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			for range each {
				appendLock.Lock()
				end := f.log.LogEndOffset()
				raw := build(end, 1, 100, 0, 0, batch.None)
				var hs []batch.Header
				_ = batch.Split(raw, func(h batch.Header, _ []byte) error { hs = append(hs, h); return nil })
				err := f.log.Append(raw, hs)
				appendLock.Unlock()
				if err == nil {
					err = f.log.Flush(end + 1)
				}
				if err != nil || f.log.RecoveryPoint() < end+1 {
					t.Errorf("offset %d: %v, recovery point %d", end, err, f.log.RecoveryPoint())
					return
				}
			}
		})
	}
	wg.Wait()
	if syncs > writers*each {
		t.Errorf("%d syncs for %d flushes", syncs, writers*each)
	}
}

func TestReadersNeverSeeWhatTruncationReplaces(t *testing.T) {
	f := memFixture(t, smallConfig())
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			var dst []byte
			for {
				select {
				case <-stop:
					return
				default:
				}
				end := f.log.LogEndOffset()
				res, err := f.log.Read(dst[:0], max(0, end-9), end, 2000, true)
				if errors.Is(err, ErrOffsetOutOfRange) {
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				dst = res.Bytes
				if err := batch.Split(res.Bytes, func(_ batch.Header, raw []byte) error {
					if !batch.VerifyCRC(raw) {
						return errors.New("CRC")
					}
					return nil
				}); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for i := range 300 {
		for range 6 {
			f.add(1+i%3, 100+i)
		}
		if err := f.log.Truncate(f.log.LogEndOffset() - batch.Offset(2+i%7)); err != nil {
			t.Fatal(err)
		}
		if i%10 == 9 {
			if _, err := f.log.DeleteBefore(f.log.LogEndOffset() - 5); err != nil {
				t.Fatal(err)
			}
		}
	}
	close(stop)
	wg.Wait()
}

func TestRollsByTimeAndByFullIndexes(t *testing.T) {
	cfg := smallConfig()
	cfg.SegmentBytes, cfg.SegmentAge = 1<<20, time.Second
	f := memFixture(t, cfg)
	ts := testEpochTime.UnixMilli()
	at := func(ms int64) batch.Offset {
		f.append(build(f.log.LogEndOffset(), 1, 100, ts+ms, 0, batch.None))
		return f.log.ActiveSegmentBase()
	}
	for i, step := range []struct {
		ms   int64
		base batch.Offset
	}{{0, 0}, {1000, 0}, {1001, 2}, {2001, 2}, {1500, 2}, {2002, 5}} {
		if got := at(step.ms); got != step.base {
			t.Fatalf("append %d at %d ms: active segment %d, want %d", i, step.ms, got, step.base)
		}
	}
	// Without timestamps the wall clock counts.
	f.append(build(f.log.LogEndOffset(), 1, 100, ts+5000, 0, batch.None))
	if err := f.log.TruncateFully(10); err != nil {
		t.Fatal(err)
	}
	f.append(build(10, 1, 100, -1, 0, batch.None))
	f.now = f.now.Add(time.Second)
	f.append(build(11, 1, 100, -1, 0, batch.None))
	f.now = f.now.Add(time.Millisecond)
	f.append(build(12, 1, 100, -1, 0, batch.None))
	if got := f.log.ActiveSegmentBase(); got != 12 {
		t.Errorf("active segment %d, want 12", got)
	}
	cfg.SegmentAge, cfg.SegmentIndexBytes, cfg.IndexIntervalBytes = time.Hour, 12*4, 0
	f.log.SetConfig(cfg)
	for range 12 {
		f.append(build(f.log.LogEndOffset(), 1, 100, ts+int64(f.log.LogEndOffset()), 0, batch.None))
	}
	for _, s := range f.log.list()[2:] {
		if n := s.idx.Load().times.len(); n > 4 {
			t.Errorf("segment %d has %d time entries, room for 4", s.base, n)
		}
	}
	if err := f.log.Flush(f.log.LogEndOffset()); err != nil {
		t.Fatal(err)
	}
	verify(t, f.fs, testDir)
}

func TestLeaderEpochsAnswerAsKafka(t *testing.T) {
	var e epochs
	for _, in := range []EpochEntry{{2, 10}, {2, 12}, {4, 20}, {7, 30}} {
		e.assign(in.Epoch, in.StartOffset)
	}
	for _, tc := range []struct {
		ask, epoch batch.LeaderEpoch
		end        batch.Offset
	}{{-1, -1, -1}, {0, 0, 10}, {2, 2, 20}, {3, 2, 20}, {4, 4, 30}, {5, 4, 30}, {7, 7, 99}, {8, -1, -1}} {
		if epoch, end := e.endOffset(tc.ask, 99); epoch != tc.epoch || end != tc.end {
			t.Errorf("epoch %d: got %d ends %d, want %d ends %d", tc.ask, epoch, end, tc.epoch, tc.end)
		}
	}
	if got := string(encodeEpochs(e.view())); got != "0\n3\n2 10\n4 20\n7 30\n" {
		t.Errorf("file %q", got)
	}
	back, err := decodeEpochs(encodeEpochs(e.view()))
	if err != nil || len(back) != 3 {
		t.Errorf("read back %v %v", back, err)
	}
	for _, bad := range []string{"1\n0\n", "0\n2\n1 2\n", "0\nx\n", "0\n1\n1\n", "0\n1\n-1 3\n", "0\n2\n4 1\n3 2\n"} {
		if _, err := decodeEpochs([]byte(bad)); !errors.Is(err, ErrBadCheckpoint) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	e.cutStart(25)
	e.cutEnd(30)
	if got := e.view(); len(got) != 1 || got[0] != (EpochEntry{4, 25}) {
		t.Errorf("cut to %v", got)
	}
	e.assign(5, 25)
	if got := e.view(); len(got) != 1 || got[0].Epoch != 5 {
		t.Errorf("conflicting epoch stays: %v", got)
	}
}

func TestTopicIDRoundTrip(t *testing.T) {
	mem := vfs.NewMem()
	if err := mem.MkdirAll(testDir, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, found, err := ReadTopicID(mem, testDir); found || err != nil {
		t.Fatal(found, err)
	}
	id := [16]byte{1, 2, 3, 250, 251, 252, 253, 254, 255}
	if err := WriteTopicID(mem, testDir, id); err != nil {
		t.Fatal(err)
	}
	if got, found, err := ReadTopicID(mem, testDir); got != id || !found || err != nil {
		t.Fatal(got, found, err)
	}
	content, _ := vfs.ReadFile(mem, testDir+"/"+topicIDFile, 100)
	if string(content) != "version: 0\ntopic_id: AQID-vv8_f7_AAAAAAAAAA" {
		t.Errorf("%q", content)
	}
}

func TestOldMessageFormatIsRefusedNotCut(t *testing.T) {
	mem := vfs.NewMem()
	f := newFixture(t, mem, smallConfig())
	f.open(false)
	// One message of magic 1: offset, size, CRC-32, magic, attributes, timestamp, null key, value "x".
	msg := []byte("\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x17\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x05\xff\xff\xff\xff\x00\x00\x00\x01x")
	putCRC(msg)
	w, err := mem.OpenReadWrite(segmentPath(testDir, 0, extLog))
	if err != nil {
		t.Fatal(err)
	}
	padded := append(msg, make([]byte, 60)...) // behind it, anything
	if _, err := w.WriteAt(padded, 0); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Open(f.options(false)); !errors.Is(err, ErrOldFormat) {
		t.Fatalf("%v", err)
	}
	if st, _ := mem.Stat(segmentPath(testDir, 0, extLog)); st.Size() != int64(len(padded)) {
		t.Errorf("cut to %d bytes", st.Size())
	}
}

func putCRC(msg []byte) { binary.BigEndian.PutUint32(msg[12:], crc32.ChecksumIEEE(msg[16:])) }

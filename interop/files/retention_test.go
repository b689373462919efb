//go:build interop

package files_test

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/weir-broker/weir/broker/batch"
	"github.com/weir-broker/weir/broker/commitlog"
	"github.com/weir-broker/weir/broker/policy"
	"github.com/weir-broker/weir/broker/vfs"
	"github.com/weir-broker/weir/interop/oracle"
)

// TestRetentionRemovesWhatKafkaWould makes logs of random segments and asks both for what goes at a given time: the same
// segments, and the same log start offset.
func TestRetentionRemovesWhatKafkaWould(t *testing.T) {
	source(t, 6)
	n := envInt("WEIR_FILES_RETENTIONS", 2000)
	var (
		wg   sync.WaitGroup
		next = make(chan int)
		mu   sync.Mutex
		met  = map[string]int{}
	)
	dir := t.TempDir()
	for lane := range 4 {
		wg.Go(func() {
			for i := range next {
				seen, err := retainBoth(rand.New(rand.NewPCG(seed, uint64(i)+1<<32)), filepath.Join(dir, fmt.Sprint(lane), "t-0"))
				if err != nil {
					t.Errorf("list %d of seed %d: %v", i, seed, err)
				}
				mu.Lock()
				for _, what := range seen {
					met[what]++
				}
				mu.Unlock()
			}
		})
	}
	for i := range n {
		if t.Failed() {
			break
		}
		next <- i
	}
	close(next)
	wg.Wait()
	t.Logf("%d lists: %v", n, met)
	for _, what := range []string{"nothing", "log-start", "size", "time", "roll"} {
		if met[what] == 0 && !t.Failed() {
			t.Errorf("no list met %q", what)
		}
	}
}

const retentionEpoch = 1_700_000_000_000 // ms

// makeLog writes a closed log to dir and returns what a policy sees of it.
func makeLog(r *rand.Rand, dir string) ([]policy.SegmentRow, batch.Offset, error) {
	mem := vfs.NewMem()
	log, _, err := commitlog.Open(commitlog.Options{FS: mem, Dir: "/t-0", Config: logConfig(), RecoveryPoint: -1, LogStartOffset: batch.Offset(r.IntN(2) * 100)})
	if err != nil {
		return nil, 0, err
	}
	clock := int64(retentionEpoch)
	for i := range 1 + r.IntN(8) {
		if i > 0 {
			if err := log.Roll(); err != nil {
				return nil, 0, err
			}
		}
		noTime := r.IntN(6) == 0
		for range r.IntN(4) {
			o := batch.NoProducer()
			o.BaseOffset = log.LogEndOffset()
			b := batch.NewBuilder(o)
			for range 1 + r.IntN(3) {
				clock += r.Int64N(4000) - 1000
				ts := clock
				if noTime {
					ts = -1
				}
				b.Add(ts, nil, make([]byte, r.IntN(300)), nil)
			}
			raw := b.Bytes()
			h, err := batch.ParseHeader(raw)
			if err != nil {
				return nil, 0, err
			}
			if err := log.Append(raw, []batch.Header{h}); err != nil {
				return nil, 0, err
			}
		}
	}
	rows, end := log.Segments(), log.LogEndOffset()
	if err := log.Close(true); err != nil {
		return nil, 0, err
	}
	names, err := mem.List("/t-0")
	if err != nil {
		return nil, 0, err
	}
	for _, name := range names {
		content, err := vfs.ReadFile(mem, filepath.Join("/t-0", name), 1<<24)
		if err != nil {
			return nil, 0, err
		}
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			return nil, 0, err
		}
	}
	for i := range rows {
		mtime := time.UnixMilli(retentionEpoch + r.Int64N(60000))
		if err := os.Chtimes(filepath.Join(dir, fmt.Sprintf("%020d.log", rows[i].Base)), mtime, mtime); err != nil {
			return nil, 0, err
		}
		// In the file system that wrote it the segment without timestamps is as old as this test, not as the records.
		if rows[i].MaxTimestamp.After(time.UnixMilli(retentionEpoch+1_000_000_000)) || rows[i].Size == 0 {
			rows[i].MaxTimestamp = mtime
		}
	}
	return rows, end, nil
}

func retainBoth(r *rand.Rand, dir string) ([]string, error) {
	if err := os.RemoveAll(dir); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, fs.ModePerm); err != nil {
		return nil, err
	}
	rows, end, err := makeLog(r, dir)
	if err != nil {
		return nil, err
	}
	first := rows[0].Base
	between := func(from int64) int64 { return from + r.Int64N(int64(end)-from+1) }
	f := policy.RetentionFacts{
		Segments: rows, LogStartOffset: first, HighWatermark: int64(end), LogEndOffset: int64(end), DeletePolicy: r.IntN(5) > 0,
		RetentionBytes: -1, Retention: -1, Now: time.UnixMilli(retentionEpoch + r.Int64N(90000)),
	}
	if r.IntN(3) == 0 {
		f.HighWatermark = between(first)
	}
	if r.IntN(3) == 0 {
		f.LogStartOffset = first + r.Int64N(f.HighWatermark-first+1)
	}
	if r.IntN(2) == 0 {
		f.RetentionBytes = r.Int64N(6000)
	}
	if r.IntN(2) == 0 {
		f.Retention = time.Duration(r.IntN(60000)) * time.Millisecond
	}
	config := map[string]string{
		"retention.bytes": strconv.FormatInt(f.RetentionBytes, 10), "retention.ms": strconv.FormatInt(f.Retention.Milliseconds(), 10),
		"cleanup.policy": "delete", "segment.bytes": "1048576",
	}
	if f.Retention < 0 {
		config["retention.ms"] = "-1"
	}
	if !f.DeletePolicy {
		config["cleanup.policy"] = "compact"
	}
	ours, err := policy.StandardRetention().Decide(context.Background(), f)
	if err != nil {
		return nil, err
	}
	theirs, err := kafka.OpenLog(context.Background(), oracle.OpenLogRequest{
		Dir: dir, Config: config, LogStartOffset: first, RecoveryPoint: int64(end), Clean: true, Now: f.Now.UnixMilli(),
		HighWatermark: &f.HighWatermark, DeleteRecordsTo: &f.LogStartOffset, Retain: true,
	})
	if err != nil || theirs.ErrorClass != "" {
		return nil, fmt.Errorf("oracle: %w %s %s", err, theirs.ErrorClass, theirs.ErrorMessage)
	}
	var left, want []int64
	for _, s := range rows[len(ours.Removed):] {
		left = append(left, s.Base)
	}
	if ours.RollActive {
		left = append(left, int64(end))
	}
	for _, s := range theirs.Retained.Segments {
		want = append(want, s.Base)
	}
	if len(ours.Removed) != theirs.Deleted || ours.LogStartOffset != theirs.Retained.LogStartOffset || !slices.Equal(left, want) {
		return nil, fmt.Errorf("ours %+v leaves %v; Kafka deleted %d, start %d, leaves %v\nfacts %+v\nopened %+v",
			ours, left, theirs.Deleted, theirs.Retained.LogStartOffset, want, f, theirs.Opened.Segments)
	}
	var seen []string
	for _, s := range ours.Removed {
		seen = append(seen, s.Reason.String())
	}
	if ours.RollActive {
		seen = append(seen, "roll")
	}
	if len(seen) == 0 {
		seen = []string{"nothing"}
	}
	return seen, nil
}

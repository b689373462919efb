//go:build interop

package files_test

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/weir-broker/weir/interop/weir"
)

func start(t *testing.T, dir string) *weir.Broker {
	t.Helper()
	return weir.Start(t, dir, "--override", "log.retention.check.interval.ms=200", "--override", "log.initial.task.delay.ms=0")
}

// busy fills a partition in three lives of the broker, with records deleted from its front by request and by retention, and
// returns its directory after a clean stop.
func busy(t *testing.T, dir string, n int) (part string, from, to int64, producers []string) {
	t.Helper()
	ctx := context.Background()
	b := start(t, dir)
	config := map[string]string{"retention.bytes": strconv.Itoa(12 << 20 * scale), "file.delete.delay.ms": "100"}
	for k, v := range topicConfig {
		config[k] = v
	}
	create(t, b.Bootstrap, config)
	for life := range 3 {
		if life > 0 {
			b = start(t, dir)
		}
		before, end := offsetsOf(t, b.Bootstrap)
		deleteRecords(t, b.Bootstrap, before+(end-before)/5)
		acked := produce(ctx, t, b.Bootstrap, seed+uint64(life), n)
		from, to = offsetsOf(t, b.Bootstrap)
		producers = producersOf(t, b.Bootstrap)
		if to-end != acked {
			t.Fatalf("%d records acknowledged, the log grew by %d", acked, to-end)
		}
		if life == 1 {
			b.Kill()
			continue
		}
		if err := b.Stop(); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, topic+"-0"), from, to, producers
}

var dumped = regexp.MustCompile(`(?m)^Dumping \S+\.(\w+)$`)

// TestKafkaDumpsABusyPartitionWithoutMismatch also flips a byte in an offset index and one in a time index, to see that the
// check can fail.
func TestKafkaDumpsABusyPartitionWithoutMismatch(t *testing.T) {
	r := source(t, 1)
	part, from, to, _ := busy(t, filepath.Join(t.TempDir(), "data"), 1000*scale)
	d := noMismatch(t, part)
	sane, err := kafka.DumpLogs(context.Background(), part, "--index-sanity-check")
	if err != nil || len(sane.Mismatches) > 0 || !strings.Contains(sane.Stdout, "passed sanity check.") {
		t.Errorf("index sanity check: %v %v", err, sane.Mismatches)
	}
	verify(t, part)
	kinds := map[string]int{}
	for _, m := range dumped.FindAllStringSubmatch(d.Stdout, -1) {
		kinds[m[1]]++
	}
	epochs, err := os.ReadFile(filepath.Join(part, "leader-epoch-checkpoint"))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("offsets %d-%d, files dumped %v, %d lines, leader epochs %q", from, to, kinds, strings.Count(d.Stdout, "\n"), epochs)
	if from == 0 || kinds["log"] < 4 || kinds["index"] != kinds["log"] || kinds["timeindex"] != kinds["log"] || kinds["snapshot"] == 0 ||
		strings.Count(string(epochs), "\n") < 4 {
		t.Error("the partition was not busy enough")
	}
	for _, ext := range []string{"index", "timeindex"} {
		names, err := filepath.Glob(filepath.Join(part, "*."+ext))
		if err != nil {
			t.Fatal(err)
		}
		name := names[r.IntN(len(names)-1)]
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		at := r.IntN(len(raw))
		flipped := append([]byte(nil), raw...)
		flipped[at] ^= 1 << r.IntN(8)
		if err := os.WriteFile(name, flipped, 0o644); err != nil {
			t.Fatal(err)
		}
		if d, err := kafka.DumpFiles(context.Background(), []string{name}); err != nil || len(d.Mismatches) == 0 {
			t.Errorf("byte %d of %s flipped: nothing reported (%v)", at, filepath.Base(name), err)
		}
		if err := os.WriteFile(name, raw, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestKafkaDumpsARecoveredPartitionWithoutMismatch kills the broker under load, lets weir recover, and stops it cleanly.
func TestKafkaDumpsARecoveredPartitionWithoutMismatch(t *testing.T) {
	r := source(t, 2)
	dir := filepath.Join(t.TempDir(), "data")
	b := start(t, dir)
	create(t, b.Bootstrap, topicConfig)
	for round := range 2 + scale/2 {
		killUnderLoad(t, b, uint64(round), time.Duration(150+r.IntN(250))*time.Millisecond)
		b = start(t, dir)
		_, end := offsetsOf(t, b.Bootstrap)
		if err := b.Stop(); err != nil {
			t.Fatal(err)
		}
		d := noMismatch(t, filepath.Join(dir, topic+"-0"))
		verify(t, filepath.Join(dir, topic+"-0"))
		t.Logf("round %d: end offset %d, %d files", round, end, len(dumped.FindAllString(d.Stdout, -1)))
		if t.Failed() {
			return
		}
		b = start(t, dir)
		deleteRecords(t, b.Bootstrap, end) // so that a campaign does not grow
	}
}

// killUnderLoad writes for a while and kills the broker in the middle of it.
func killUnderLoad(t *testing.T, b *weir.Broker, stream uint64, after time.Duration) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan int64)
	go func() { done <- produce(ctx, t, b.Bootstrap, seed+1000*(stream+1), 100000) }()
	<-time.After(after)
	b.Kill()
	cancel()
	if acked := <-done; acked == 0 {
		t.Error("killed before anything was acknowledged")
	}
}

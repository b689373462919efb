//go:build interop

package files_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/weir-broker/weir/broker/batch"
	"github.com/weir-broker/weir/broker/commitlog"
	"github.com/weir-broker/weir/interop/weir"
)

// verify runs `weir log dump --verify`.
func verify(t *testing.T, part string) {
	t.Helper()
	out, err := exec.Command(weir.Binary(), "log", "dump", "--verify", part).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "no problem found") {
		t.Errorf("weir log dump --verify %s: %v\n%.2000s", filepath.Base(part), err, out)
	}
}

// checkpointed reads one of the files that say where a broker stopped.
func checkpointed(t *testing.T, dir, file string) int64 {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dir, file))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(raw)) {
		var off int64
		if n, _ := fmt.Sscanf(line, topic+" 0 %d", &off); n == 1 {
			return off
		}
	}
	return -1
}

func openingOf(t *testing.T, dir, part string) opening {
	t.Helper()
	return opening{
		dir: part, clean: true,
		recovery: checkpointed(t, dir, "recovery-point-offset-checkpoint"), start: checkpointed(t, dir, "log-start-offset-checkpoint"),
	}
}

// TestKafkaTakesOverACleanDirectoryAndGivesItBack goes from weir to Kafka's UnifiedLog, by the checkpoint files that weir left,
// and back to weir.
func TestKafkaTakesOverACleanDirectoryAndGivesItBack(t *testing.T) {
	source(t, 4)
	dir := filepath.Join(t.TempDir(), "data")
	part, from, end, producers := busy(t, dir, 600*scale)
	how := openingOf(t, dir, part)
	if hw := checkpointed(t, dir, "replication-offset-checkpoint"); how.recovery != end || how.start != from || hw != end {
		t.Errorf("checkpoints say recovery point %d, start %d, high watermark %d; weir said %d-%d", how.recovery, how.start, hw, from, end)
	}
	if _, err := os.Stat(filepath.Join(dir, ".kafka_cleanshutdown")); err != nil {
		t.Error(err)
	}
	files, untouched := content(t, part, 0), copyPartition(t, part)
	k := byKafka(t, how)
	if want := fmt.Sprintf("start %d end %d", from, end); k[0] != want {
		t.Errorf("weir said %q, Kafka opened it as %q", want, k[0])
	}
	var known []string
	for _, l := range k {
		if strings.HasPrefix(l, "producer ") {
			known = append(known, l)
		}
	}
	slices.Sort(known)
	if !slices.Equal(known, producers) {
		t.Errorf("producers %q, Kafka's %q", producers, known)
	}
	for name, sum := range content(t, part, 0) {
		if old, ok := files[name]; ok && old != sum {
			t.Errorf("Kafka changed %s", name)
		}
	}
	// Back, in the broker itself.
	b := weir.Start(t, dir)
	if s, e := offsetsOf(t, b.Bootstrap); s != from || e != end {
		t.Errorf("offsets %d-%d after Kafka had it, %d-%d before", s, e, from, end)
	}
	if got := producersOf(t, b.Bootstrap); !slices.Equal(got, producers) {
		t.Errorf("producers %q after Kafka had it, %q before", got, producers)
	}
	if err := b.Stop(); err != nil {
		t.Fatal(err)
	}
	if err := sameContent(t, part, untouched, from); err != nil {
		t.Errorf("there and back: %v", err)
	}
	noMismatch(t, part)
	if err := differ(byUs(t, opening{dir: part, clean: true, recovery: how.recovery, start: how.start}), k); err != nil {
		t.Error(err)
	}
}

// TestWeirOpensWhatAKafkaBrokerWrote gives the same traffic to a real Kafka broker and opens its directory, as after a clean
// stop and as after a kill.
func TestWeirOpensWhatAKafkaBrokerWrote(t *testing.T) {
	r := source(t, 5)
	ctx := context.Background()
	broker, err := kafka.StartBroker(ctx, t.TempDir(), map[string]string{
		"offsets.topic.replication.factor": "1", "transaction.state.log.replication.factor": "1", "transaction.state.log.min.isr": "1",
	})
	if err != nil {
		t.Fatal(err)
	}
	create(t, broker.Bootstrap, topicConfig)
	acked := produce(ctx, t, broker.Bootstrap, seed+77, 800*scale)
	_, end := offsetsOf(t, broker.Bootstrap)
	deleteRecords(t, broker.Bootstrap, end/4)
	from, end := offsetsOf(t, broker.Bootstrap)
	producers := producersOf(t, broker.Bootstrap)
	if end != acked {
		t.Fatalf("%d acknowledged, end offset %d", acked, end)
	}
	left := filepath.Join(broker.LogDir, topic+"-0")
	killed := copyPartition(t, left)
	if err := broker.Stop(ctx); err != nil {
		t.Fatal(err)
	}
	verify(t, left)
	how := openingOf(t, broker.LogDir, copyPartition(t, left))
	how.start = max(how.start, 0)
	for name, how := range map[string]opening{"clean": how, "copied while it ran": {dir: killed, recovery: 0, start: how.start}} {
		got := byUs(t, how)
		if want := fmt.Sprintf("start %d end %d", from, end); got[0] != want {
			t.Errorf("%s: Kafka said %q, we opened it as %q", name, want, got[0])
		}
		var known []string
		for _, l := range got {
			if strings.HasPrefix(l, "producer ") {
				known = append(known, l)
			}
		}
		slices.Sort(known)
		if !slices.Equal(known, producers) {
			t.Errorf("%s: producers %q, Kafka's %q", name, known, producers)
		}
		if err := sameContent(t, how.dir, left, how.start); err != nil {
			t.Errorf("%s: our close changed the files: %v", name, err)
		}
		verify(t, how.dir)
		noMismatch(t, how.dir)
	}
	t.Run("damaged", func(t *testing.T) {
		for _, d := range damages() {
			recoverBoth(t, r, left, d, commitlog.Mark{LogStartOffset: batch.Offset(how.start)})
			if t.Failed() {
				t.Fatal(d.name)
			}
		}
	})
}

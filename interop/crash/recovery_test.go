//go:build campaign

package crash_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weir-broker/weir/interop/weir"
)

// TestRecoveryTimeOfALargeDirectory fills a directory with WEIR_RECOVERY_GB gigabytes (default 1), kills the broker and
// reports how long it takes until it serves again: with its marks, and without local.db. It judges only that the log
// ends where it ended.
func TestRecoveryTimeOfALargeDirectory(t *testing.T) {
	size := fromEnv(t, "WEIR_RECOVERY_GB", 1) << 30
	dir := filepath.Join(t.TempDir(), "data")
	listen := freeAddress(t)
	args := []string{"--listen", listen, "--override", "log.segment.bytes=268435456"}
	broker, err := weir.Launch(dir, nil, args...)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { broker.Kill() }()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	client, err := kgo.NewClient(kgo.SeedBrokers(listen), kgo.DefaultProduceTopic("large"), kgo.RecordPartitioner(kgo.RoundRobinPartitioner()), kgo.ProducerBatchCompression(kgo.NoCompression()))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if _, err := kadm.NewClient(client).CreateTopic(ctx, partitions, 1, nil, "large"); err != nil {
		t.Fatal(err)
	}
	value := make([]byte, 1000)
	for range size / len(value) {
		client.Produce(ctx, &kgo.Record{Value: value}, func(_ *kgo.Record, err error) {
			if err != nil {
				t.Error(err)
			}
		})
	}
	if err := client.Flush(ctx); err != nil {
		t.Fatal(err)
	}
	ends := func() string {
		listed, err := kadm.NewClient(client).ListEndOffsets(ctx, "large")
		if err != nil {
			t.Fatal(err)
		}
		out := ""
		for partition := range int32(partitions) {
			end, _ := listed.Lookup("large", partition)
			out += fmt.Sprint(end.Offset, " ")
		}
		return out
	}
	want := ends()
	restart := func(name string) {
		started := time.Now()
		if broker, err = weir.Launch(dir, nil, args...); err != nil {
			t.Fatal(err)
		}
		t.Logf("%d GiB, %s: serving after %v", size>>30, name, time.Since(started).Round(time.Millisecond))
		if got := ends(); got != want {
			t.Fatalf("%s: log ends %s, were %s", name, got, want)
		}
	}
	broker.Kill()
	restart("killed, with local.db")
	broker.Kill()
	if err := os.Remove(filepath.Join(dir, "local.db")); err != nil {
		t.Fatal(err)
	}
	restart("killed, without local.db")
	if err := broker.Stop(); err != nil {
		t.Fatal(err)
	}
	restart("stopped cleanly")
}

//go:build campaign || interop

package crash_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weir-broker/weir/interop/weir"
)

const (
	compacted      = "compacted"
	compactedKeys  = 40
	cleaningPoints = "commitlog.clean."
)

// TestNewestValuesSurviveKillWhileCleaning kills the broker at each failpoint of cleaning, and at random, while a compacted topic
// is overwritten and cleaned all the time: of each key the last acknowledged value, or a later one, is there afterwards, in order,
// and cleaning goes on.
func TestNewestValuesSurviveKillWhileCleaning(t *testing.T) {
	rounds, perPoint := fromEnv(t, "WEIR_CRASH_ROUNDS", 4), fromEnv(t, "WEIR_CRASH_PER_FAILPOINT", 1)
	seed := uint64(fromEnv(t, "WEIR_CRASH_SEED", int(time.Now().UnixNano()%1_000_000)))
	t.Logf("seed %d", seed)
	t.Setenv("WEIR_BIN", buildWithFailpoints(t))
	rng := rand.New(rand.NewPCG(seed, 7))
	points := make([]string, rounds)
	for _, name := range failpoints(t, true) {
		for range perPoint {
			points = append(points, fmt.Sprintf("%s:%d", name, 1+rng.IntN(4)))
		}
	}
	cleaned, hit := 0, 0
	for i, point := range points {
		t.Run(fmt.Sprintf("%03d", i), func(t *testing.T) {
			t.Logf("kill %q", point)
			died, rounds := cleaningRound(t, rng, point)
			if died {
				hit++
			}
			cleaned += rounds
		})
	}
	t.Logf("%d rounds, %d died at their failpoint, %d logs were cleaned", len(points), hit, cleaned)
}

func cleaningRound(t *testing.T, rng *rand.Rand, point string) (died bool, cleaned int) {
	listen, dir := freeAddress(t), filepath.Join(t.TempDir(), "data")
	args := []string{"--listen", listen, "--override", "log.cleaner.backoff.ms=20", "--override", "log.segment.delete.delay.ms=50"}
	broker, err := weir.Launch(dir, nil, args...)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { broker.Kill() }()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	client, err := kgo.NewClient(kgo.SeedBrokers(listen), kgo.DefaultProduceTopic(compacted), kgo.RecordDeliveryTimeout(time.Minute), kgo.MaxBufferedRecords(200),
		kgo.ProducerLinger(time.Millisecond), kgo.RetryBackoffFn(func(int) time.Duration { return 20 * time.Millisecond }), kgo.MetadataMinAge(50*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	config := map[string]*string{
		"cleanup.policy": kadm.StringPtr("compact"), "segment.bytes": kadm.StringPtr("1048576"), "min.cleanable.dirty.ratio": kadm.StringPtr("0.01"),
	}
	if _, err := kadm.NewClient(client).CreateTopic(ctx, 1, 1, config, compacted); err != nil {
		t.Fatal(err)
	}
	if point != "" {
		if err := broker.Stop(); err != nil {
			t.Fatal(err)
		}
		if broker, err = weir.Launch(dir, []string{"WEIR_FAILPOINT=" + point}, args...); err != nil {
			t.Fatal(err)
		}
	}
	stop, done := make(chan struct{}), make(chan map[uint64]uint64)
	go func() { done <- overwrite(ctx, t, client, stop) }()
	if point == "" {
		time.Sleep(time.Duration(400+rng.IntN(1200)) * time.Millisecond) // the moment of the kill is the input of this round
	} else {
		select {
		case <-broker.Done():
			died = true
		case <-time.After(15 * time.Second): // it was not passed often enough
		}
	}
	broker.Kill()
	cleaned += strings.Count(broker.Log(), "log cleaned")
	if broker, err = weir.Launch(dir, nil, args...); err != nil {
		t.Fatal(err)
	}
	time.Sleep(300 * time.Millisecond)
	close(stop)
	acked := <-done
	checkNewest(ctx, t, listen, acked)
	if err := broker.Stop(); err != nil {
		t.Fatal(err)
	}
	cleaned += strings.Count(broker.Log(), "log cleaned")
	if broker, err = weir.Launch(dir, nil, args...); err != nil {
		t.Fatal(err)
	}
	checkNewest(ctx, t, listen, acked)
	return died, cleaned
}

// overwrite writes the keys round and round until stop is closed, and returns the last value of each that was acknowledged.
func overwrite(ctx context.Context, t *testing.T, client *kgo.Client, stop <-chan struct{}) map[uint64]uint64 {
	var mu sync.Mutex
	acked := map[uint64]uint64{}
	for n := uint64(1); ; n++ {
		select {
		case <-stop:
			if err := client.Flush(ctx); err != nil {
				t.Errorf("flush after the restart: %v", err)
			}
			mu.Lock()
			defer mu.Unlock()
			return acked
		default:
		}
		key := n % compactedKeys
		value := binary.BigEndian.AppendUint64(make([]byte, 0, 4008), n)
		value = append(value, make([]byte, 4000)...)
		for i := 8; i < len(value); i += 8 {
			binary.BigEndian.PutUint64(value[i-i%8:], n*uint64(i)) // does not compress away
		}
		binary.BigEndian.PutUint64(value, n)
		client.Produce(ctx, &kgo.Record{Key: binary.BigEndian.AppendUint64(nil, key), Value: value}, func(_ *kgo.Record, err error) {
			if err != nil {
				t.Errorf("record %d: %v", n, err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			acked[key] = max(acked[key], n)
		})
	}
}

// checkNewest reads the topic and holds it against what was acknowledged.
func checkNewest(ctx context.Context, t *testing.T, listen string, acked map[uint64]uint64) {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(listen), kgo.ConsumeTopics(compacted), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	ends, err := kadm.NewClient(client).ListEndOffsets(ctx, compacted)
	if err != nil {
		t.Fatal(err)
	}
	end, _ := ends.Lookup(compacted, 0)
	found, last, records := map[uint64]uint64{}, int64(-1), 0
	for last+1 < end.Offset {
		fetches := client.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			t.Fatalf("at %d of %d: %v", last, end.Offset, err)
		}
		fetches.EachRecord(func(r *kgo.Record) {
			if r.Offset <= last {
				t.Errorf("offset %d after %d", r.Offset, last)
			}
			last = r.Offset
			records++
			key, n := binary.BigEndian.Uint64(r.Key), binary.BigEndian.Uint64(r.Value)
			if n%compactedKeys != key || n < found[key] {
				t.Errorf("offset %d: key %d has value %d after %d", r.Offset, key, n, found[key])
			}
			found[key] = n
		})
	}
	for key, n := range acked {
		if found[key] < n {
			t.Errorf("key %d: newest value %d, %d was acknowledged", key, found[key], n)
		}
	}
	t.Logf("%d records left below offset %d", records, end.Offset)
}

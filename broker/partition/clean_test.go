package partition

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/weir-broker/weir/broker/batch"
	"github.com/weir-broker/weir/broker/metadata"
	"github.com/weir-broker/weir/broker/policy"
	"github.com/weir-broker/weir/broker/vfs"
)

// pair builds a batch of one record.
func pair(key, value string) []byte {
	b := batch.NewBuilder(batch.NoProducer())
	var v []byte
	if value != "" {
		v = []byte(value)
	}
	b.Add(time.Now().UnixMilli(), []byte(key), v, nil)
	return b.Bytes()
}

// allRecords reads the whole log, across its segments.
func allRecords(t testing.TB, p *Partition) []string {
	t.Helper()
	var out []string
	for at := p.LogStartOffset(); at < p.HighWatermark(); {
		r, err := p.Fetch(consume(at), nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Records) == 0 {
			break
		}
		out = append(out, decode(t, r.Records, at)...)
		if err := batch.Split(r.Records, func(h batch.Header, _ []byte) error { at = h.NextOffset(); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func compactTopic(more ...string) []string {
	return append([]string{"cleanup.policy=compact", "internal.segment.bytes=4096", "min.cleanable.dirty.ratio=0.1", "delete.retention.ms=60000"}, more...)
}

// fill writes n rounds of all keys, and then pushes what came before out of
// the active segment.
func fill(t testing.TB, p *Partition, rounds, keys int) {
	t.Helper()
	for r := range rounds {
		for k := range keys {
			mustAppend(t, p, pair(fmt.Sprint("k", k), fmt.Sprintf("%d.%d-%s", r, k, strings.Repeat("x", 40))))
		}
	}
	for range 60 {
		mustAppend(t, p, pair("last", strings.Repeat("y", 100)))
	}
}

func TestCompactedTopicIsCleanedAfterTheBackoff(t *testing.T) {
	scheduled(t, []string{"log.cleaner.backoff.ms=1000"}, compactTopic(), func(h *host, _ *cluster, p *Partition) {
		fill(t, p, 20, 5)
		mustAppend(t, p, pair("k3", "")) // deletes k3
		fill(t, p, 0, 0)
		before := p.Size()
		time.Sleep(1100 * time.Millisecond)
		synctest.Wait()
		st, ok := p.Cleaning()
		if !ok || st.LastRound.IsZero() || st.Offset <= 0 || st.Err != nil {
			t.Fatalf("state %+v", st)
		}
		if p.Size() >= before {
			t.Errorf("log of %d bytes, before %d", p.Size(), before)
		}
		count := map[string]int{}
		for _, r := range allRecords(t, p) {
			_, value, _ := strings.Cut(r, ":")
			if offset := value; strings.HasPrefix(offset, "19.") {
				count[offset[:4]]++
			}
		}
		for k := range 5 {
			want := 1
			if k == 3 {
				want = 0
			}
			if got := count[fmt.Sprintf("19.%d", k)]; got != want {
				t.Errorf("key k%d: %d records, want %d", k, got, want)
			}
		}
		if h.cleaners.count.rounds.Load() == 0 || h.cleaners.count.bytesRead.Load() == 0 {
			t.Error("nothing was counted")
		}
	})
}

func TestTombstonesGoAfterDeleteRetention(t *testing.T) {
	scheduled(t, []string{"log.cleaner.backoff.ms=1000"}, compactTopic(), func(_ *host, _ *cluster, p *Partition) {
		fill(t, p, 1, 2)
		mustAppend(t, p, pair("k1", ""))
		tombstones := func() (n int) {
			for _, r := range allRecords(t, p) {
				if strings.HasSuffix(r, ":") {
					n++
				}
			}
			return n
		}
		fill(t, p, 0, 0)
		time.Sleep(2 * time.Second)
		if n := tombstones(); n != 1 {
			t.Fatalf("%d tombstones after the first round", n)
		}
		fill(t, p, 0, 0)
		time.Sleep(10 * time.Second)
		if n := tombstones(); n != 1 {
			t.Fatalf("%d tombstones within delete.retention.ms", n)
		}
		time.Sleep(60 * time.Second)
		fill(t, p, 0, 0)
		time.Sleep(2 * time.Second)
		if n := tombstones(); n != 0 {
			t.Errorf("%d tombstones after delete.retention.ms", n)
		}
	})
}

func TestCleanerOffsetSurvivesARestartAndFollowsTruncation(t *testing.T) {
	fs := vfs.NewMem()
	c := newCluster(t)
	c.topic("t", 1)
	for _, o := range compactTopic() {
		key, value, _ := cut(o)
		c.set("t", key, value)
	}
	h := openHost(t, fs, nil)
	h.apply(c)
	p := h.get("t", 0)
	fill(t, p, 10, 5)
	cleaner, err := h.newCleaner(1, 1<<20, 0.9, 64<<10)
	if err != nil {
		t.Fatal(err)
	}
	if !h.cleanDirtiest(context.Background(), cleaner, 0) {
		t.Fatal("nothing to clean")
	}
	st, _ := p.Cleaning()
	if st.Offset <= 0 || st.DirtyBytes != 0 {
		t.Fatalf("state %+v", st)
	}
	if h.cleanDirtiest(context.Background(), cleaner, 0) {
		t.Fatal("cleaned again")
	}
	h.close()
	h = openHost(t, fs, nil)
	h.apply(c)
	p = h.get("t", 0)
	again, _ := p.Cleaning()
	if again.Offset != st.Offset {
		t.Errorf("offset %d after a restart, it was %d", again.Offset, st.Offset)
	}
	if err := p.log.Truncate(st.Offset - 10); err != nil {
		t.Fatal(err)
	}
	if now, _ := p.Cleaning(); now.Offset >= st.Offset || now.Offset > p.LogEndOffset() {
		t.Errorf("offset %d after truncation to %d", now.Offset, p.LogEndOffset())
	}
	h.close()
}

// stuck keeps a round from going on until it is let go.
type stuck struct{ begun, free chan struct{} }

func (*stuck) Needs() policy.CompactionNeeds { return policy.CompactionNeeds{} }
func (s *stuck) Decide(ctx context.Context, f policy.CompactionFacts, rows []policy.CompactionRow, verdicts []policy.CompactionVerdict) error {
	s.begun <- struct{}{}
	<-s.free
	return policy.StandardCompaction().Decide(ctx, f, rows, verdicts)
}

func TestRetentionPassesByALogThatIsBeingCleaned(t *testing.T) {
	s := &stuck{begun: make(chan struct{}, 1000), free: make(chan struct{})}
	c := newCluster(t)
	c.topic("t", 1)
	for _, o := range compactTopic("cleanup.policy=compact,delete", "retention.bytes=1") {
		key, value, _ := cut(o)
		c.set("t", key, value)
	}
	h := openHost(t, vfs.NewMem(), func(o *Options) { o.Compaction = s })
	defer h.close()
	h.apply(c)
	p := h.get("t", 0)
	fill(t, p, 10, 5)
	cleaner, err := h.newCleaner(1, 1<<20, 0.9, 64<<10)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan bool)
	go func() { done <- h.cleanDirtiest(context.Background(), cleaner, 0) }()
	<-s.begun
	if n, err := p.retain(context.Background(), time.Now(), policy.DiskUse{}); n != 0 || err != nil {
		t.Errorf("retention removed %d segments: %v", n, err)
	}
	close(s.free)
	<-done
	if n, err := p.retain(context.Background(), time.Now(), policy.DiskUse{}); n == 0 || err != nil {
		t.Errorf("retention removed %d segments after the round: %v", n, err)
	}
}

func TestDamagedPartitionIsSeenAndNotTriedAgain(t *testing.T) {
	fs := vfs.NewMem()
	c := newCluster(t)
	c.topic("t", 1)
	for _, o := range compactTopic() {
		key, value, _ := cut(o)
		c.set("t", key, value)
	}
	registry := prometheus.NewPedanticRegistry()
	h := openHost(t, fs, func(o *Options) { o.Registerer = registry })
	defer h.close()
	h.apply(c)
	p := h.get("t", 0)
	fill(t, p, 10, 5)
	names, err := fs.List(p.log.Dir())
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(names, func(n string) bool { return strings.HasSuffix(n, ".log") })
	f, err := fs.OpenReadWrite(p.log.Dir() + "/" + names[i])
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte{0xff, 0xfe}, 100); err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
	cleaner, err := h.newCleaner(1, 1<<20, 0.9, 64<<10)
	if err != nil {
		t.Fatal(err)
	}
	if !h.cleanDirtiest(context.Background(), cleaner, 0) {
		t.Fatal("nothing was tried")
	}
	st, _ := p.Cleaning()
	if !st.Uncleanable || st.Err == nil || st.DirtyBytes == 0 {
		t.Fatalf("state %+v", st)
	}
	if h.cleanDirtiest(context.Background(), cleaner, 0) {
		t.Error("tried again")
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for _, mf := range families {
		if mf.GetName() == "kafka_log_logcleanermanager_uncleanable_partitions_count" {
			for _, m := range mf.GetMetric() {
				sum += m.GetGauge().GetValue()
			}
		}
	}
	if sum != 1 {
		t.Errorf("%v uncleanable partitions are reported", sum)
	}
	mustAppend(t, p, pair("k", "goes on"))
}

// A full disk or a failing policy is no damage: the round is done again.
func TestFailedRoundIsTriedAgainAfterTheBackoff(t *testing.T) {
	calls := 0
	scheduled := func(fail func() error) policy.Compaction { return policyFunc(fail) }
	c := newCluster(t)
	c.topic("t", 1)
	for _, o := range compactTopic() {
		key, value, _ := cut(o)
		c.set("t", key, value)
	}
	now := time.Now()
	h := openHost(t, vfs.NewMem(), func(o *Options) {
		o.Now = func() time.Time { return now }
		o.Compaction = scheduled(func() error {
			if calls++; calls == 1 {
				return fmt.Errorf("trap")
			}
			return nil
		})
	})
	defer h.close()
	h.apply(c)
	p := h.get("t", 0)
	fill(t, p, 10, 5)
	cleaner, err := h.newCleaner(1, 1<<20, 0.9, 64<<10)
	if err != nil {
		t.Fatal(err)
	}
	const backoff = time.Minute
	h.cleanDirtiest(context.Background(), cleaner, backoff)
	if st, _ := p.Cleaning(); st.Err == nil || st.Uncleanable {
		t.Fatalf("state %+v", st)
	}
	if h.cleanDirtiest(context.Background(), cleaner, backoff) {
		t.Error("tried again at once")
	}
	now = now.Add(backoff)
	h.cleanDirtiest(context.Background(), cleaner, backoff)
	if st, _ := p.Cleaning(); st.Err != nil || st.LastRound.IsZero() {
		t.Errorf("state %+v", st)
	}
}

type policyFunc func() error

func (policyFunc) Needs() policy.CompactionNeeds { return policy.CompactionNeeds{} }
func (f policyFunc) Decide(ctx context.Context, facts policy.CompactionFacts, rows []policy.CompactionRow, verdicts []policy.CompactionVerdict) error {
	if err := f(); err != nil {
		return err
	}
	return policy.StandardCompaction().Decide(ctx, facts, rows, verdicts)
}

func TestCleaningKeepsToItsPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rate := 1000.0
		c := &cleaners{bytesPerSecond: func() float64 { return rate }}
		began := time.Now()
		for range 50 {
			if err := c.throttle(context.Background(), 100); err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(began); took < 4800*time.Millisecond || took > 5*time.Second {
			t.Errorf("5000 bytes at 1000 a second took %v", took)
		}
		rate = 1.7976931348623157e308
		began = time.Now()
		for range 1000 {
			if err := c.throttle(context.Background(), 1<<20); err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("without a bound it took %v", took)
		}
		rate = 1
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if err := c.throttle(ctx, 1<<20); err == nil {
			t.Error("a wait that is cancelled returned nothing")
		}
	})
}

func TestCleanersFollowTheirConfiguration(t *testing.T) {
	scheduled(t, []string{"log.cleaner.enable=true", "log.cleaner.threads=0", "log.cleaner.backoff.ms=1000"}, compactTopic(), func(h *host, c *cluster, p *Partition) {
		fill(t, p, 10, 5)
		time.Sleep(10 * time.Second)
		if n := h.cleaners.count.rounds.Load(); n != 0 {
			t.Fatalf("%d rounds without a cleaner", n)
		}
		two := "2"
		c.change(brokerConfig("log.cleaner.threads", &two))
		h.apply(c)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if n := h.cleaners.count.rounds.Load(); n == 0 {
			t.Error("no round after log.cleaner.threads was raised")
		}
	})
}

// brokerConfig sets a property of all brokers.
func brokerConfig(key string, value *string) metadata.Record {
	return &metadata.Config{Resource: metadata.Resource{Type: metadata.BrokerResource}, Key: key, Value: value}
}

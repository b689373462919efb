//go:build campaign || interop

// Package crash_test kills the broker while clients write and holds it to its word afterwards: nothing acknowledged is
// lost, moved, duplicated or reordered.
package crash_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weir-broker/weir/interop/weir"
)

const (
	partitions = 6
	producers  = 3
	expiring   = "expiring"
)

// plan is one round: how the broker runs, how clients write, and where it dies.
type plan struct {
	seed       uint64
	acksAll    bool
	idempotent bool
	segment    int
	dirs       int
	flush      bool   // weir.flush.on.acks=all
	failpoint  string // "" kills at a random moment
	nth        int
}

func (p plan) String() string {
	where := "at random"
	if p.failpoint != "" {
		where = fmt.Sprintf("%s:%d", p.failpoint, p.nth)
	}
	return fmt.Sprintf("seed=%d acksAll=%v idempotent=%v segment=%d dirs=%d flush=%v kill=%s", p.seed, p.acksAll, p.idempotent, p.segment, p.dirs, p.flush, where)
}

// TestAckedRecordsSurviveKill runs WEIR_CRASH_ROUNDS rounds (default 8) with kills at random moments, and each named
// failpoint of the storage path WEIR_CRASH_PER_FAILPOINT times (default 1).
func TestAckedRecordsSurviveKill(t *testing.T) {
	rounds, perPoint := fromEnv(t, "WEIR_CRASH_ROUNDS", 8), fromEnv(t, "WEIR_CRASH_PER_FAILPOINT", 1)
	seed := uint64(fromEnv(t, "WEIR_CRASH_SEED", int(time.Now().UnixNano()%1_000_000)))
	t.Logf("seed %d", seed)
	binary := buildWithFailpoints(t)
	t.Setenv("WEIR_BIN", binary)
	rng := rand.New(rand.NewPCG(seed, 1))
	var plans []plan
	for range rounds {
		plans = append(plans, randomPlan(rng))
	}
	for _, name := range failpoints(t, false) {
		for range perPoint {
			p := randomPlan(rng)
			p.failpoint, p.nth, p.segment = name, 1+rng.IntN(3), 1<<20
			if name == atCleanStop || name == atRecovery {
				p.nth = 1
			}
			plans = append(plans, p)
		}
	}
	torn, reached, acked := 0, 0, 0
	for i, p := range plans {
		t.Run(fmt.Sprintf("%03d", i), func(t *testing.T) {
			t.Log(p)
			r := round(t, p)
			if r.torn {
				torn++
			}
			if r.died {
				reached++
			}
			acked += r.acked
		})
	}
	t.Logf("%d rounds, %d kills hit while clients wrote, %d with a torn tail, %d records acknowledged and found again", len(plans), reached, torn, acked)
}

func randomPlan(rng *rand.Rand) plan {
	p := plan{seed: rng.Uint64() >> 32, acksAll: rng.IntN(3) > 0, segment: 1 << 30, dirs: 1, flush: rng.IntN(4) == 0}
	p.idempotent = p.acksAll && rng.IntN(2) == 0
	if rng.IntN(2) == 0 {
		p.segment = 1 << 20
	}
	if rng.IntN(2) == 0 {
		p.dirs = 3
	}
	return p
}

func fromEnv(t *testing.T, name string, otherwise int) int {
	t.Helper()
	if text := os.Getenv(name); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return n
	}
	return otherwise
}

func buildWithFailpoints(t *testing.T) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "weir")
	cmd := exec.Command("go", "build", "-tags", "failpoints", "-o", binary, "./broker/cmd/weir")
	cmd.Dir = weir.Root()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return binary
}

var failpointCall = regexp.MustCompile(`vfs\.(?:Failpoint|TearWrite)\("([^"]+)"`)

// unreachable are points that a broker without followers does not pass; the crash-clone model test of commitlog does.
var unreachable = map[string]string{
	"commitlog.truncate.begin":       "only a follower truncates",
	"commitlog.truncate.before-cut":  "only a follower truncates",
	"commitlog.truncate.after-cut":   "only a follower truncates",
	"commitlog.truncate-fully.begin": "only a follower truncates",
	"commitlog.truncate-fully.empty": "only a follower truncates",
}

// Points that the load alone does not pass, and what the round does about it.
const (
	atCleanStop = "commitlog.dir.before-clean-mark"   // it is stopped instead of killed
	atRecovery  = "commitlog.recover.before-truncate" // it is killed, its logs get a torn tail, and the next start passes it
)

// failpoints are the names in the source of the storage path: those of cleaning, or the others.
func failpoints(t *testing.T, cleaning bool) []string {
	t.Helper()
	var names []string
	for _, pattern := range []string{"commitlog", "producerstate", "partition"} {
		files, err := filepath.Glob(filepath.Join(weir.Root(), "broker", pattern, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range failpointCall.FindAllStringSubmatch(string(text), -1) {
				if _, out := unreachable[m[1]]; !out && strings.HasPrefix(m[1], cleaningPoints) == cleaning {
					names = append(names, m[1])
				}
			}
		}
	}
	sort.Strings(names)
	return names
}

type result struct {
	torn, died bool
	acked      int
}

// written is one record as its producer knows it.
type written struct {
	partition int32
	offset    int64 // -1 while not acknowledged
	sequence  uint64
}

func round(t *testing.T, p plan) result {
	rng := rand.New(rand.NewPCG(p.seed, 2))
	listen := freeAddress(t)
	dir := filepath.Join(t.TempDir(), "data")
	args := []string{"--listen", listen, "--override", "log.retention.check.interval.ms=100", "--override", "log.initial.task.delay.ms=0"}
	if p.dirs > 1 {
		var dirs []string
		for i := range p.dirs {
			dirs = append(dirs, filepath.Join(dir, strconv.Itoa(i)))
		}
		args = append(args, "--override", "log.dirs="+strings.Join(dirs, ","))
	}
	if p.flush {
		args = append(args, "--override", "weir.flush.on.acks=all")
	}
	broker, err := weir.Launch(dir, nil, args...)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { broker.Kill() }()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	const topic = "crash"
	segment := strconv.Itoa(p.segment)
	admin, err := kgo.NewClient(kgo.SeedBrokers(listen))
	if err != nil {
		t.Fatal(err)
	}
	_, err = kadm.NewClient(admin).CreateTopic(ctx, partitions, 1, map[string]*string{"segment.bytes": &segment}, topic)
	if err == nil {
		_, err = kadm.NewClient(admin).CreateTopic(ctx, 1, 1, map[string]*string{"segment.bytes": kadm.StringPtr("1048576"), "retention.bytes": kadm.StringPtr("2097152")}, expiring)
	}
	admin.Close()
	if err != nil {
		t.Fatal(err)
	}
	if p.failpoint != "" && p.failpoint != atRecovery {
		// The point is armed in a second life, so that setting up cannot pass it.
		if err := broker.Stop(); err != nil {
			t.Fatalf("clean stop: %v", err)
		}
		if broker, err = weir.Launch(dir, []string{fmt.Sprintf("WEIR_FAILPOINT=%s:%d", p.failpoint, p.nth)}, args...); err != nil {
			if !strings.Contains(err.Error(), "killed") {
				t.Fatal(err)
			}
			if broker, err = weir.Launch(dir, nil, args...); err != nil { // it died while starting: that counts as well
				t.Fatal(err)
			}
		}
	}
	stop := make(chan struct{})
	histories := make([][]written, producers)
	var wg sync.WaitGroup
	for i := range producers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			histories[i] = produce(ctx, t, p, listen, topic, i, stop)
		}()
	}
	died := true
	switch p.failpoint {
	case "":
		time.Sleep(time.Duration(30+rng.IntN(700)) * time.Millisecond) // the moment of the kill is the input of this round
		broker.Kill()
	case atRecovery:
		time.Sleep(time.Duration(30+rng.IntN(700)) * time.Millisecond)
		broker.Kill()
		tearTails(t, dir, rng)
		broker, err = weir.Launch(dir, []string{fmt.Sprintf("WEIR_FAILPOINT=%s:%d", p.failpoint, p.nth)}, args...)
		if died = err != nil && strings.Contains(err.Error(), "killed"); !died {
			t.Fatalf("the start after a torn tail passed recovery: %v", err)
		}
	case atCleanStop:
		time.Sleep(time.Duration(30+rng.IntN(300)) * time.Millisecond)
		if err := broker.Stop(); err == nil {
			died = false
		}
	default:
		go expire(ctx, listen, stop)
		select {
		case <-broker.Done():
		case <-time.After(4 * time.Second): // the load did not pass the point often enough
			died = false
			broker.Kill()
		}
	}
	if broker, err = weir.Launch(dir, nil, args...); err != nil {
		t.Fatal(err)
	}
	time.Sleep(200 * time.Millisecond) // clients that lived through the kill go on writing
	close(stop)
	wg.Wait()
	check(ctx, t, p, listen, topic, histories)
	if rng.IntN(2) == 0 { // and once more after a clean restart
		if err := broker.Stop(); err != nil {
			t.Fatalf("clean stop: %v", err)
		}
		if broker, err = weir.Launch(dir, nil, args...); err != nil {
			t.Fatal(err)
		}
		check(ctx, t, p, listen, topic, histories)
	}
	acked := 0
	for _, h := range histories {
		for _, w := range h {
			if w.offset >= 0 {
				acked++
			}
		}
	}
	return result{torn: strings.Contains(broker.Log(), "log was cut"), died: died, acked: acked}
}

// tearTails appends what a write that was cut short leaves: the beginning of a batch.
func tearTails(t *testing.T, dir string, rng *rand.Rand) {
	t.Helper()
	var logs []string
	for _, pattern := range []string{"*/*.log", "*/*/*.log"} {
		found, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			t.Fatal(err)
		}
		logs = append(logs, found...)
	}
	newest := map[string]string{} // by partition: only the active segment can be cut short
	for _, path := range logs {
		if folder := filepath.Dir(path); path > newest[folder] {
			newest[folder] = path
		}
	}
	for _, path := range newest {
		file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		tail := make([]byte, 1+rng.IntN(200))
		for i := range tail {
			tail[i] = byte(rng.Uint32())
		}
		if _, err := file.Write(tail); err != nil {
			t.Fatal(err)
		}
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// expire writes a topic of its own whose segments retention removes all the time, so that removing is killed as well.
func expire(ctx context.Context, listen string, stop <-chan struct{}) {
	client, err := kgo.NewClient(kgo.SeedBrokers(listen), kgo.DefaultProduceTopic(expiring), kgo.MaxBufferedRecords(200), kgo.DisableIdempotentWrite(), kgo.ProducerBatchCompression(kgo.NoCompression()))
	if err != nil {
		return
	}
	defer client.Close()
	value := make([]byte, 20_000)
	for {
		select {
		case <-stop:
			return
		default:
		}
		client.Produce(ctx, &kgo.Record{Value: value}, nil)
	}
}

func freeAddress(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// produce writes until stop is closed, through the kill, and returns what it knows of each record.
func produce(ctx context.Context, t *testing.T, p plan, listen, topic string, id int, stop <-chan struct{}) []written {
	rng := rand.New(rand.NewPCG(p.seed, uint64(100+id)))
	options := []kgo.Opt{
		kgo.SeedBrokers(listen), kgo.DefaultProduceTopic(topic), kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.ProducerLinger(time.Millisecond), kgo.MaxBufferedRecords(2000), kgo.RecordDeliveryTimeout(60 * time.Second),
		kgo.RetryBackoffFn(func(int) time.Duration { return 20 * time.Millisecond }), kgo.MetadataMinAge(50 * time.Millisecond),
		kgo.ProducerBatchCompression([]kgo.CompressionCodec{kgo.NoCompression(), kgo.Lz4Compression(), kgo.ZstdCompression(), kgo.SnappyCompression(), kgo.GzipCompression()}[rng.IntN(5)]),
	}
	if !p.acksAll {
		options = append(options, kgo.RequiredAcks(kgo.LeaderAck()))
	}
	if !p.idempotent {
		options = append(options, kgo.DisableIdempotentWrite())
	}
	client, err := kgo.NewClient(options...)
	if err != nil {
		t.Error(err)
		return nil
	}
	defer client.Close()
	var mu sync.Mutex
	var history []written
	for sequence := uint64(0); ; sequence++ {
		select {
		case <-stop:
			if err := client.Flush(ctx); err != nil {
				t.Errorf("flush after the restart: %v", err)
			}
			mu.Lock()
			defer mu.Unlock()
			return history
		default:
		}
		value := make([]byte, 16+rng.IntN(2500))
		binary.BigEndian.PutUint64(value, uint64(id))
		binary.BigEndian.PutUint64(value[8:], sequence)
		partition := int32(rng.IntN(partitions))
		mu.Lock()
		index := len(history)
		history = append(history, written{partition: partition, offset: -1, sequence: sequence})
		mu.Unlock()
		client.Produce(ctx, &kgo.Record{Partition: partition, Value: value}, func(r *kgo.Record, err error) {
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				history[index].offset = r.Offset
			} else if p.idempotent {
				t.Errorf("producer %d, sequence %d: %v", id, sequence, err)
			}
		})
	}
}

// check reads the whole topic and holds it against what producers know.
func check(ctx context.Context, t *testing.T, p plan, listen, topic string, histories [][]written) {
	t.Helper()
	type key struct {
		producer uint64
		sequence uint64
	}
	read, err := readAll(ctx, listen, topic)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[key]int{}
	at := map[int32]map[int64]key{}
	for partition, records := range read {
		at[partition] = map[int64]key{}
		last := map[uint64]uint64{}
		for i, r := range records {
			if r.Offset != int64(i) {
				t.Fatalf("partition %d: offset %d where %d should be: a gap or a step back", partition, r.Offset, i)
			}
			k := key{binary.BigEndian.Uint64(r.Value), binary.BigEndian.Uint64(r.Value[8:])}
			seen[k]++
			at[partition][r.Offset] = k
			if before, ok := last[k.producer]; ok && p.idempotent && k.sequence <= before {
				t.Errorf("partition %d offset %d: sequence %d of producer %d after %d: reordered", partition, r.Offset, k.sequence, k.producer, before)
			}
			last[k.producer] = k.sequence
		}
	}
	for producer, history := range histories {
		for _, w := range history {
			k := key{uint64(producer), w.sequence}
			if w.offset >= 0 {
				if found, ok := at[w.partition][w.offset]; !ok || found != k {
					t.Errorf("%v: acknowledged at partition %d offset %d, found %v (present %v): lost or moved", k, w.partition, w.offset, found, ok)
				}
			}
			if p.idempotent && seen[k] > 1 {
				t.Errorf("%v: %d copies although the producer was idempotent", k, seen[k])
			}
		}
	}
}

func readAll(ctx context.Context, listen, topic string) (map[int32][]*kgo.Record, error) {
	admin, err := kgo.NewClient(kgo.SeedBrokers(listen))
	if err != nil {
		return nil, err
	}
	defer admin.Close()
	ends, err := kadm.NewClient(admin).ListEndOffsets(ctx, topic)
	if err != nil {
		return nil, err
	}
	if err := ends.Error(); err != nil {
		return nil, err
	}
	left := 0
	assigned := map[int32]kgo.Offset{}
	ends.Each(func(o kadm.ListedOffset) {
		if o.Offset > 0 {
			left++
			assigned[o.Partition] = kgo.NewOffset().At(0)
		}
	})
	out := map[int32][]*kgo.Record{}
	if left == 0 {
		return out, nil
	}
	client, err := kgo.NewClient(kgo.SeedBrokers(listen), kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: assigned}))
	if err != nil {
		return nil, err
	}
	defer client.Close()
	for left > 0 {
		fetches := client.PollFetches(ctx)
		if err := errors.Join(fetches.Err(), ctx.Err()); err != nil {
			return nil, err
		}
		fetches.EachRecord(func(r *kgo.Record) {
			out[r.Partition] = append(out[r.Partition], r)
			if end, _ := ends.Lookup(topic, r.Partition); r.Offset == end.Offset-1 {
				left--
			}
		})
	}
	return out, nil
}

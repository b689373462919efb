package quorum

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/raft"
	"go.uber.org/goleak"

	"github.com/weir-broker/weir/broker/metadata"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv("WEIR_QUORUM_CHILD"); dir != "" {
		proposeForEver(dir)
	}
	goleak.VerifyTestMain(m)
}

// Propose puts records decided in a term into the log and waits for their effect.
func (q *Quorum) Propose(ctx context.Context, term metadata.Term, records []metadata.Record) (metadata.Index, error) {
	return q.Start(metadata.Entry{Term: term, Records: records})(ctx)
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

func openOne(t testing.TB, dir string) *Quorum {
	t.Helper()
	q, err := Open(Options{Dir: dir, NodeID: 1, Logger: quiet()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := q.Close(); err != nil {
			t.Error(err)
		}
	})
	return q
}

// lead waits for leadership and starts its term.
func lead(t testing.TB, q *Quorum) metadata.Term {
	t.Helper()
	term, err := startTerm(q)
	if err != nil {
		t.Fatal(err)
	}
	return term
}

func startTerm(q *Quorum) (metadata.Term, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	for {
		select {
		case l := <-q.Leadership():
			if !l.Leader {
				continue
			}
			_, err := q.Propose(ctx, l.Term, []metadata.Record{&metadata.TermStart{Term: l.Term, Leader: 1}})
			return l.Term, err
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
}

func topic(n int) *metadata.NewTopic {
	return &metadata.NewTopic{ID: metadata.TopicID{byte(n >> 16), byte(n >> 8), byte(n), 1}, Name: fmt.Sprintf("topic-%06d", n)}
}

func propose(t testing.TB, q *Quorum, term metadata.Term, records ...metadata.Record) metadata.Index {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	index, err := q.Propose(ctx, term, records)
	if err != nil {
		t.Fatal(err)
	}
	return index
}

func TestProposeReturnsWhenTheImageCoversIt(t *testing.T) {
	q := openOne(t, t.TempDir())
	term := lead(t, q)
	for n := range 50 {
		index := propose(t, q, term, topic(n))
		img := q.Image()
		if img.Index < index || img.Topic(topic(n).Name) == nil {
			t.Fatalf("image at %d after proposal at %d: topic %v", img.Index, index, img.Topic(topic(n).Name))
		}
	}
	if err := q.Barrier(context.Background()); err != nil {
		t.Fatal(err)
	}
}

func TestRefusedEntryIsReportedAndLeavesTheLogUsable(t *testing.T) {
	q := openOne(t, t.TempDir())
	term := lead(t, q)
	propose(t, q, term, topic(1))
	if _, err := q.Propose(context.Background(), term, []metadata.Record{topic(2), topic(1)}); !errors.Is(err, metadata.ErrConflict) {
		t.Fatalf("got %v, want a conflict", err)
	}
	if q.Image().Topic(topic(2).Name) != nil {
		t.Fatal("half an entry took effect")
	}
	if _, err := q.Propose(context.Background(), term-1, []metadata.Record{topic(3)}); !errors.Is(err, metadata.ErrStaleTerm) {
		t.Fatalf("got %v, want a stale term", err)
	}
	propose(t, q, term, topic(2))
}

func TestImageSurvivesRestart(t *testing.T) {
	dir := t.TempDir()
	q := openOne(t, dir)
	term := lead(t, q)
	for n := range 20 {
		propose(t, q, term, topic(n), &metadata.NewPartition{
			TopicID: topic(n).ID, Partition: metadata.Partition{Replicas: []metadata.BrokerID{1}, ISR: []metadata.BrokerID{1}, Leader: 1},
		})
	}
	propose(t, q, term, &metadata.RemoveTopic{ID: topic(7).ID})
	want := string(metadata.AppendSnapshot(nil, q.Image()))
	if err := q.Close(); err != nil {
		t.Fatal(err)
	}
	q = openOne(t, dir)
	if got := string(metadata.AppendSnapshot(nil, q.Image())); got != want {
		t.Fatal("image differs after a clean restart, before any election")
	}
	if next := lead(t, q); next <= term {
		t.Fatalf("term %d after %d", next, term)
	}
	if q.Image().TopicCount() != 19 {
		t.Fatalf("%d topics", q.Image().TopicCount())
	}
}

func TestLostMetadataDatabaseIsMadeAnew(t *testing.T) {
	for _, cut := range []bool{false, true} {
		t.Run(fmt.Sprintf("snapshot=%v", cut), func(t *testing.T) {
			dir := t.TempDir()
			q := openOne(t, dir)
			term := lead(t, q)
			for n := range 30 {
				propose(t, q, term, topic(n))
			}
			if cut {
				if err := q.raft.Snapshot().Error(); err != nil {
					t.Fatal(err)
				}
			}
			propose(t, q, term, topic(30))
			if err := q.Close(); err != nil {
				t.Fatal(err)
			}
			if err := os.Remove(filepath.Join(dir, metadataFile)); err != nil {
				t.Fatal(err)
			}
			q = openOne(t, dir)
			lead(t, q)
			if got := q.Image().TopicCount(); got != 31 {
				t.Fatalf("%d topics, want 31", got)
			}
		})
	}
}

func TestSubscribersSeeImagesInOrderBeforeProposeReturns(t *testing.T) {
	q := openOne(t, t.TempDir())
	var last metadata.Index
	var topics int
	q.Subscribe(func(img *metadata.Image) {
		if img.Index < last {
			t.Errorf("image %d after %d", img.Index, last)
		}
		last, topics = img.Index, img.TopicCount()
	})
	term := lead(t, q)
	for n := range 20 {
		propose(t, q, term, topic(n))
		if topics != n+1 {
			t.Fatalf("subscriber has seen %d topics after %d were proposed", topics, n+1)
		}
	}
}

func TestBurstSharesSyncs(t *testing.T) {
	q := openOne(t, t.TempDir())
	term := lead(t, q)
	const n = 500
	before := q.log.Stats()
	waits := make([]func(context.Context) (metadata.Index, error), n)
	for i := range n {
		waits[i] = q.Start(metadata.Entry{Term: term, Records: []metadata.Record{topic(i)}})
	}
	last := metadata.Index(0)
	for _, wait := range waits {
		index, err := wait(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if index <= last {
			t.Fatalf("entry %d after %d", index, last)
		}
		last = index
	}
	stats := q.log.Stats()
	if writes := stats.TxStats.GetWrite() - before.TxStats.GetWrite(); writes > n {
		t.Fatalf("%d pages written for %d entries", writes, n)
	}
}

func TestAnotherNodesDirectoryIsRefused(t *testing.T) {
	dir := t.TempDir()
	q := openOne(t, dir)
	propose(t, q, lead(t, q), &metadata.Cluster{ClusterID: "alpha"})
	if _, err := Open(Options{Dir: dir, NodeID: 1, Logger: quiet()}); err == nil || !strings.Contains(err.Error(), "in use by another process") {
		t.Fatalf("second open: %v", err)
	}
	if err := q.Close(); err != nil {
		t.Fatal(err)
	}
	for _, o := range []Options{{NodeID: 2}, {NodeID: 1, ClusterID: "beta"}} {
		o.Dir, o.Logger = dir, quiet()
		_, err := Open(o)
		if !errors.Is(err, ErrDirectory) || !strings.Contains(err.Error(), "belongs to") {
			t.Fatalf("open with %+v: %v", o, err)
		}
	}
}

func TestDamagedFilesAreNamedWithAFix(t *testing.T) {
	fill := func(b []byte) {
		for i := range b {
			b[i] = 0xA5
		}
	}
	damage := map[string]func([]byte) []byte{
		"empty header": func(b []byte) []byte { fill(b[:8192]); return b },
		"pages":        func(b []byte) []byte { fill(b[8192:]); return b },
		"text":         func([]byte) []byte { return []byte("this is no database") },
	}
	for _, file := range []string{metadataFile, raftFile} {
		for name, hurt := range damage {
			t.Run(file+" "+name, func(t *testing.T) {
				dir := t.TempDir()
				q := openOne(t, dir)
				term := lead(t, q)
				for n := range 200 {
					q.Start(metadata.Entry{Term: term, Records: []metadata.Record{topic(n)}})
				}
				propose(t, q, term, topic(200))
				if err := q.Close(); err != nil {
					t.Fatal(err)
				}
				path := filepath.Join(dir, file)
				raw, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, hurt(raw), 0o600); err != nil {
					t.Fatal(err)
				}
				q, err = Open(Options{Dir: dir, NodeID: 1, Logger: quiet()})
				if err == nil {
					_ = q.Close()
					t.Fatal("damaged file was opened")
				}
				if !errors.Is(err, ErrDirectory) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), ";") {
					t.Fatalf("error names no file or fix: %v", err)
				}
			})
		}
	}
}

func TestLostLogIsNoticed(t *testing.T) {
	dir := t.TempDir()
	q := openOne(t, dir)
	term := lead(t, q)
	for n := range 20 {
		propose(t, q, term, topic(n))
	}
	if err := q.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, raftFile)); err != nil {
		t.Fatal(err)
	}
	if q, err := Open(Options{Dir: dir, NodeID: 1, Logger: quiet()}); !errors.Is(err, ErrDirectory) {
		_ = q.Close()
		t.Fatalf("opened without its log: %v", err)
	}
}

func TestLostSnapshotsAreNoticed(t *testing.T) {
	dir := t.TempDir()
	q := openOne(t, dir)
	term := lead(t, q)
	err := q.raft.ReloadConfig(raft.ReloadableConfig{
		TrailingLogs: 1, SnapshotInterval: time.Hour, SnapshotThreshold: 1 << 20, HeartbeatTimeout: time.Second, ElectionTimeout: time.Second,
	})
	if err != nil {
		t.Fatal(err)
	}
	for n := range 20 {
		propose(t, q, term, topic(n))
	}
	if err := q.raft.Snapshot().Error(); err != nil {
		t.Fatal(err)
	}
	propose(t, q, term, topic(20))
	if err := q.Close(); err != nil {
		t.Fatal(err)
	}
	// With its snapshot, and even without metadata.db, the cut log is enough.
	if err := os.Remove(filepath.Join(dir, metadataFile)); err != nil {
		t.Fatal(err)
	}
	q = openOne(t, dir)
	lead(t, q)
	if got := q.Image().TopicCount(); got != 21 {
		t.Fatalf("%d topics, want 21", got)
	}
	if err := q.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(dir, "snapshots")); err != nil {
		t.Fatal(err)
	}
	q, err = Open(Options{Dir: dir, NodeID: 1, Logger: quiet()})
	if !errors.Is(err, ErrDirectory) || !strings.Contains(err.Error(), "snapshots") {
		_ = q.Close()
		t.Fatalf("opened a cut log without its snapshot: %v", err)
	}
}

func TestReplicaStopsAtARecordItDoesNotKnow(t *testing.T) {
	q := openOne(t, t.TempDir())
	term := lead(t, q)
	propose(t, q, term, topic(1))
	at := q.Image().Index
	err := q.raft.Apply([]byte{99, 0, 0, 0, 0, 0}, time.Second).Error()
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-q.Failed():
	case <-time.After(10 * time.Second):
		t.Fatal("did not stop")
	}
	if !errors.Is(q.Err(), metadata.ErrUnknownFormat) {
		t.Fatal(q.Err())
	}
	if _, err := q.Propose(context.Background(), term, []metadata.Record{topic(2)}); !errors.Is(err, ErrStopped) {
		t.Fatalf("proposal after the stop: %v", err)
	}
	if q.Image().Index != at {
		t.Fatal("image moved past the stop")
	}
}

func TestDiskThatTakesNoVoteStopsTheReplicaInOrder(t *testing.T) {
	q, err := Open(Options{Dir: t.TempDir(), NodeID: 1, Logger: quiet(), timeouts: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	term := lead(t, q)
	// Every write to the log and the vote fails from here on.
	if err := q.log.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := q.Propose(context.Background(), term, oneTopic(1)); !errors.Is(err, ErrUnknownOutcome) {
		t.Fatalf("proposal on a broken disk: %v", err)
	}
	select {
	case <-q.Failed():
	case <-time.After(20 * time.Second):
		t.Fatal("the replica did not stop")
	}
	if err := q.Err(); !errors.Is(err, ErrDirectory) || !strings.Contains(err.Error(), raftFile) {
		t.Fatal(err)
	}
	if _, err := q.Propose(context.Background(), term, oneTopic(2)); err == nil {
		t.Fatal("a stopped replica took a proposal")
	}
	if err := q.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestLoneVoterLeadsAtOnce(t *testing.T) {
	dir := t.TempDir()
	for round := range 5 {
		start := time.Now()
		q, err := Open(Options{Dir: dir, NodeID: 1, Logger: quiet()})
		if err != nil {
			t.Fatal(err)
		}
		opened := time.Since(start)
		<-q.Leadership()
		t.Logf("round %d: open %v, leader %v", round, opened, time.Since(start))
		// An election by timeout takes at least a second.
		if took := time.Since(start) - opened; took > 900*time.Millisecond {
			t.Errorf("leader only after %v", took)
		}
		if err := q.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func oneTopic(n int) []metadata.Record { return []metadata.Record{topic(n)} }

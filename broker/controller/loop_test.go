package controller_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/weir-broker/weir/broker/config"
	"github.com/weir-broker/weir/broker/controller"
	"github.com/weir-broker/weir/broker/metadata"
	"github.com/weir-broker/weir/broker/quorum"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeQuorum applies entries when the test lets it.
type fakeQuorum struct {
	mu         sync.Mutex
	image      *metadata.Image
	leadership chan metadata.Leadership
	fail       error
	entries    int
	hold       chan struct{} // nil: apply at once
}

func newFakeQuorum() *fakeQuorum {
	return &fakeQuorum{image: metadata.NewImage(), leadership: make(chan metadata.Leadership, 1)}
}

func (q *fakeQuorum) Image() *metadata.Image {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.image
}

func (q *fakeQuorum) Leadership() <-chan metadata.Leadership { return q.leadership }

func (q *fakeQuorum) Start(e metadata.Entry) func(context.Context) (metadata.Index, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.entries++
	hold, fail := q.hold, q.fail
	return func(ctx context.Context) (metadata.Index, error) {
		if hold != nil {
			select {
			case <-hold:
			case <-ctx.Done():
				return 0, ctx.Err()
			}
		}
		if fail != nil {
			return 0, fail
		}
		q.mu.Lock()
		defer q.mu.Unlock()
		next, err := metadata.Apply(q.image, q.image.Index+1, e)
		if next != nil {
			q.image = next
		}
		return q.image.Index, err
	}
}

func (q *fakeQuorum) set(hold chan struct{}, fail error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.hold, q.fail = hold, fail
}

func start(t testing.TB, q controller.Quorum) *controller.Controller {
	t.Helper()
	cfg, _, err := config.Load(config.Sources{Overrides: []string{
		"node.id=1", "log.dirs=" + t.TempDir(), "process.roles=broker,controller", "controller.listener.names=CONTROLLER",
		"listeners=PLAINTEXT://127.0.0.1:9092,CONTROLLER://127.0.0.1:9093", "controller.quorum.voters=1@127.0.0.1:9093",
	}})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	c := controller.New(controller.Options{
		NodeID: 1, Quorum: q, Config: cfg, Random: rng, Logger: slog.New(slog.DiscardHandler),
		Features:  []metadata.SupportedFeature{{Name: metadata.MetadataFeature, Min: 7, Max: 30}},
		Bootstrap: controller.Bootstrap("alpha", metadata.Feature{Name: metadata.MetadataFeature, Level: 30}),
		NewTopicID: func() metadata.TopicID {
			var id metadata.TopicID
			for i := range id {
				id[i] = byte(rng.IntN(256))
			}
			return id
		},
	})
	t.Cleanup(c.Close)
	return c
}

func register(t testing.TB, c *controller.Controller, incarnation byte) metadata.BrokerEpoch {
	t.Helper()
	for {
		epoch, err := c.RegisterBroker(context.Background(), controller.BrokerRegistration{
			ID: 1, ClusterID: "alpha", IncarnationID: metadata.IncarnationID{incarnation}, LogDirs: []metadata.DirID{{1}},
			Features: []metadata.SupportedFeature{{Name: metadata.MetadataFeature, Min: 7, Max: 30}}, Ready: true,
		})
		if errors.Is(err, controller.ErrNotController) {
			time.Sleep(100 * time.Microsecond) // elected in a moment
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		return epoch
	}
}

func create(ctx context.Context, c *controller.Controller, name string, partitions int32) (*controller.Error, error) {
	results, err := c.CreateTopics(ctx, controller.CreateTopicsRequest{Topics: []controller.CreateTopic{
		{Name: name, Partitions: partitions, ReplicationFactor: 1},
	}})
	if err != nil {
		return nil, err
	}
	return results[0].Err, nil
}

func TestOnlyTheLeaderDecides(t *testing.T) {
	q := newFakeQuorum()
	c := start(t, q)
	if _, err := create(context.Background(), c, "a", 1); !errors.Is(err, controller.ErrNotController) {
		t.Fatalf("before any election: %v", err)
	}
	q.leadership <- metadata.Leadership{Leader: true, Term: 4}
	register(t, c, 1)
	if refused, err := create(context.Background(), c, "a", 1); refused != nil || err != nil {
		t.Fatal(refused, err)
	}
	if img := q.Image(); img.Term != 4 || img.ClusterID != "alpha" || img.WeirLevel != metadata.MaxWeirLevel {
		t.Fatalf("term %d cluster %q level %d", img.Term, img.ClusterID, img.WeirLevel)
	}
	q.leadership <- metadata.Leadership{Term: 5}
	for len(q.leadership) > 0 {
		time.Sleep(100 * time.Microsecond)
	}
	if _, err := create(context.Background(), c, "b", 1); !errors.Is(err, controller.ErrNotController) {
		t.Fatalf("after losing leadership: %v", err)
	}
}

func TestRequestsInFlightSeeEachOther(t *testing.T) {
	q := newFakeQuorum()
	c := start(t, q)
	q.leadership <- metadata.Leadership{Leader: true, Term: 1}
	register(t, c, 1)
	hold := make(chan struct{})
	q.set(hold, nil)
	type answer struct {
		refused *controller.Error
		err     error
	}
	answers := make(chan answer, 8)
	for range 8 {
		go func() {
			refused, err := create(context.Background(), c, "same", 1)
			answers <- answer{refused, err}
		}()
	}
	select {
	case a := <-answers:
		t.Fatalf("answered before anything was applied: %+v", a)
	case <-time.After(20 * time.Millisecond):
	}
	close(hold)
	created := 0
	for range 8 {
		a := <-answers
		switch {
		case a.err != nil:
			t.Error(a.err)
		case a.refused == nil:
			created++
		case a.refused.Kind != controller.TopicAlreadyExists:
			t.Error(a.refused)
		}
	}
	if created != 1 {
		t.Errorf("created %d times", created)
	}
}

func TestLostProposalIsNoOnesGround(t *testing.T) {
	q := newFakeQuorum()
	c := start(t, q)
	q.leadership <- metadata.Leadership{Leader: true, Term: 1}
	register(t, c, 1)
	lost := errors.New("lost")
	hold := make(chan struct{})
	q.set(hold, lost)
	first := make(chan error, 1)
	go func() {
		_, err := create(context.Background(), c, "x", 1)
		first <- err
	}()
	for entries(q) < 4 { // term, bootstrap, registration, x
		time.Sleep(100 * time.Microsecond)
	}
	second := make(chan error, 1)
	go func() { // finds x there already, by the lost decision
		refused, err := create(context.Background(), c, "x", 1)
		if err == nil {
			err = fmt.Errorf("answered %v", refused)
		}
		second <- err
	}()
	time.Sleep(5 * time.Millisecond) // either order of what follows must hold
	close(hold)
	if err := <-first; !errors.Is(err, lost) {
		t.Fatal(err)
	}
	q.set(nil, nil)
	if err := <-second; err != nil && !errors.Is(err, controller.ErrNotController) && err.Error() != "answered <nil>" {
		t.Fatal(err)
	}
	for {
		refused, err := create(context.Background(), c, "y", 1)
		if errors.Is(err, controller.ErrNotController) {
			continue // the lost generation is still draining
		}
		if refused != nil || err != nil {
			t.Fatal(refused, err)
		}
		return
	}
}

func entries(q *fakeQuorum) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.entries
}

func TestWaitEndsWithItsContext(t *testing.T) {
	q := newFakeQuorum()
	c := start(t, q)
	q.leadership <- metadata.Leadership{Leader: true, Term: 1}
	register(t, c, 1)
	q.set(make(chan struct{}), nil)
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Millisecond)
	defer cancel()
	if _, err := create(ctx, c, "slow", 1); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
}

// openReal is a controller on a real quorum in dir.
func openReal(t testing.TB, dir string) (*quorum.Quorum, *controller.Controller) {
	t.Helper()
	q, err := quorum.Open(quorum.Options{Dir: dir, NodeID: 1, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := q.Close(); err != nil {
			t.Error(err)
		}
	})
	return q, start(t, q)
}

func TestDecisionsSurviveRestart(t *testing.T) {
	dir := t.TempDir()
	q, c := openReal(t, dir)
	epoch := register(t, c, 1)
	if refused, err := create(context.Background(), c, "kept", 3); refused != nil || err != nil {
		t.Fatal(refused, err)
	}
	first, err := c.AllocateProducerIDs(context.Background(), 1, epoch)
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	if err := q.Close(); err != nil {
		t.Fatal(err)
	}
	q, c = openReal(t, dir)
	again := register(t, c, 2)
	if again <= epoch {
		t.Errorf("broker epoch %d after %d", again, epoch)
	}
	kept := q.Image().Topic("kept")
	if kept == nil || kept.PartitionCount() != 3 || kept.Partition(0).Leader != 1 || kept.Partition(0).LeaderEpoch != 1 {
		t.Fatalf("topic after restart: %+v", kept)
	}
	second, err := c.AllocateProducerIDs(context.Background(), 1, again)
	if err != nil || second.First != first.First+metadata.ProducerID(first.Count) {
		t.Fatalf("producer ids %+v after %+v: %v", second, first, err)
	}
	if _, err := c.AllocateProducerIDs(context.Background(), 1, epoch); err == nil {
		t.Error("a broker epoch of before was accepted")
	}
}

// BenchmarkCreate measures what a client waits for: one request with a thousand
// partitions, and a thousand requests with a topic each, one after the other and
// at once.
func BenchmarkCreate(b *testing.B) {
	_, c := openReal(b, b.TempDir())
	register(b, c, 1)
	n := 0
	one := func(partitions int32) {
		refused, err := create(context.Background(), c, fmt.Sprintf("topic-%d", n), partitions)
		if refused != nil || err != nil {
			b.Error(refused, err)
		}
	}
	b.Run("partitions=1000", func(b *testing.B) {
		for b.Loop() {
			n++
			one(1000)
		}
	})
	b.Run("topic", func(b *testing.B) {
		for b.Loop() {
			n++
			one(1)
		}
	})
	b.Run("topics=1000/atonce", func(b *testing.B) {
		for b.Loop() {
			var wait sync.WaitGroup
			n++
			for i := range 1000 {
				wait.Go(func() {
					refused, err := create(context.Background(), c, fmt.Sprintf("burst-%d-%d", n, i), 1)
					if refused != nil || err != nil {
						b.Error(refused, err)
					}
				})
			}
			wait.Wait()
		}
	})
}

func TestNothingIsWrittenForACallerThatGaveUp(t *testing.T) {
	q := newFakeQuorum()
	c := start(t, q)
	q.leadership <- metadata.Leadership{Leader: true, Term: 1}
	register(t, c, 1)
	for i := range 500 { // the race detector looks on
		ctx, cancel := context.WithCancel(context.Background())
		go cancel()
		results, err := c.DeleteTopics(ctx, []controller.TopicRef{{Name: fmt.Sprint(i)}})
		if err == nil && len(results) != 1 || err != nil && !errors.Is(err, context.Canceled) {
			t.Fatalf("%v, %v", results, err)
		}
	}
}

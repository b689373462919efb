package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/weir-broker/weir/broker/config"
	"github.com/weir-broker/weir/broker/controller"
	"github.com/weir-broker/weir/broker/coordinator"
	"github.com/weir-broker/weir/broker/metadata"
)

// tally counts the records of each key.
type tally struct{ counts map[string]int }

type (
	tallyEffects   = coordinator.Effects[*tally, string, string]
	tallyOperation = coordinator.Operation[*tally, string, string]
)

func newTally(int32) *tally { return &tally{map[string]int{}} }

func (m *tally) Replay(_ coordinator.Offset, _ coordinator.Producer, r coordinator.Record) error {
	m.counts[string(r.Key)]++
	return nil
}

func (m *tally) ReplayEndTransaction(coordinator.Offset, coordinator.Producer, bool) error {
	return nil
}

func (m *tally) Loaded(time.Time) tallyEffects         { return tallyEffects{} }
func (m *tally) Expire(time.Time, string) tallyEffects { return tallyEffects{} }

func bump(key string, times int) tallyOperation {
	return func(m *tally, _ time.Time, token coordinator.Token) tallyEffects {
		e := tallyEffects{Replies: []coordinator.Reply[string]{{Token: token, Response: fmt.Sprint(m.counts[key])}}}
		for range times {
			e.Records = append(e.Records, coordinator.Record{Key: []byte(key), Value: []byte("1")})
		}
		return e
	}
}

func inTransaction(p coordinator.Producer, op tallyOperation) tallyOperation {
	return func(m *tally, now time.Time, token coordinator.Token) tallyEffects {
		e := op(m, now, token)
		e.Transaction = &p
		return e
	}
}

// TestShardsLiveInPartitions runs a coordinator on the partitions of a broker: what it appends is there after an election,
// after a restart of the broker, and gone with the topic.
func TestShardsLiveInPartitions(t *testing.T) {
	for _, overrides := range [][]string{nil, {"weir.flush.on.acks=all"}} {
		t.Run(fmt.Sprint(overrides), func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			dir := t.TempDir()
			n := startInside(ctx, t, dir, overrides...)
			created, err := n.controller.CreateTopics(ctx, controller.CreateTopicsRequest{Topics: []controller.CreateTopic{{Name: "__consumer_offsets", Partitions: 2, ReplicationFactor: 1}}})
			if err != nil || created[0].Err != nil {
				t.Fatal(err, created)
			}
			rt := coordinator.New(coordinator.Options{Name: "tally", LoadBytes: 100}, newTally)
			topic := &internalTopic{name: "__consumer_offsets", shards: rt}
			follow := func() { topic.follow(n.quorum.Image(), n.table, 1) }
			await(ctx, t, func() bool { follow(); return len(rt.Partitions()) == 2 })
			say := func(want string, op tallyOperation) {
				t.Helper()
				got := ""
				await(ctx, t, func() bool {
					follow()
					var err error
					got, err = rt.Submit(1, op).Wait(ctx)
					return !errors.Is(err, coordinator.ErrLoading) && !errors.Is(err, coordinator.ErrNotCoordinator)
				})
				if got != want {
					t.Errorf("answer %q, want %q", got, want)
				}
			}
			for i := range 5 {
				say(fmt.Sprint(3*i), bump("a", 3))
			}
			// Nobody has opened this transaction: its batch is refused, and the shard goes on.
			op := inTransaction(coordinator.Producer{ID: 7, Epoch: 1}, bump("a", 1))
			if _, err := rt.Submit(1, op).Wait(ctx); !errors.Is(err, coordinator.ErrRefused) {
				t.Errorf("batch of a transaction that is not open: %v", err)
			}
			say("15", bump("a", 1))

			closeAll(ctx, t, n, rt)
			n = startInside(ctx, t, dir, overrides...)
			rt = coordinator.New(coordinator.Options{Name: "tally"}, newTally)
			topic.shards, topic.id = rt, metadata.TopicID{}
			say("16", bump("a", 0))

			// Deleted and made again under its name: nothing of the old one is left.
			if _, err := n.controller.DeleteTopics(ctx, []controller.TopicRef{{Name: "__consumer_offsets"}}); err != nil {
				t.Fatal(err)
			}
			if _, err := n.controller.CreateTopics(ctx, controller.CreateTopicsRequest{Topics: []controller.CreateTopic{{Name: "__consumer_offsets", Partitions: 2, ReplicationFactor: 1}}}); err != nil {
				t.Fatal(err)
			}
			was := topic.id
			await(ctx, t, func() bool { follow(); return topic.id != was && topic.id != (metadata.TopicID{}) })
			say("0", bump("a", 1))
			parts := rt.Partitions()
			slices.Sort(parts)
			if !slices.Equal(parts, []int32{0, 1}) {
				t.Errorf("shards %v", parts)
			}
			closeAll(ctx, t, n, rt)
		})
	}
}

func startInside(ctx context.Context, t *testing.T, dir string, overrides ...string) *Node {
	t.Helper()
	broker, _, err := config.Load(config.Sources{
		Defaults:  map[string]string{"process.roles": "broker,controller", "node.id": "1", "listeners": "PLAINTEXT://127.0.0.1:0", "log.dirs": dir},
		Overrides: append([]string{"weir.admin.address="}, overrides...),
	})
	if err != nil {
		t.Fatal(err)
	}
	n, err := Start(ctx, Options{Config: broker, Logger: slog.New(slog.DiscardHandler), Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func closeAll(ctx context.Context, t *testing.T, n *Node, rt interface{ Close(context.Context) error }) {
	t.Helper()
	if err := errors.Join(rt.Close(ctx), n.Stop(ctx)); err != nil {
		t.Error(err)
	}
}

func await(ctx context.Context, t *testing.T, done func() bool) {
	t.Helper()
	for !done() {
		select {
		case <-ctx.Done():
			t.Fatal("waited for too long")
		case <-time.After(time.Millisecond):
		}
	}
}

var _ shards = (*coordinator.Runtime[*tally, string, string])(nil)

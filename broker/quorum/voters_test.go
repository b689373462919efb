package quorum

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/hashicorp/raft"

	"github.com/weir-broker/weir/broker/metadata"
)

// voters are three quorums in this process, over transports that can be cut.
type voters struct {
	t          *testing.T
	dirs       [3]string
	addresses  [3]raft.ServerAddress
	transports [3]*raft.InmemTransport
	quorums    [3]*Quorum
	terms      [3]metadata.Leadership
}

func newVoters(t *testing.T) *voters {
	v := &voters{t: t}
	for i := range v.dirs {
		v.dirs[i] = t.TempDir()
		v.addresses[i] = raft.ServerAddress(fmt.Sprintf("voter-%d", i+1))
	}
	for i := range v.dirs {
		v.open(i)
	}
	t.Cleanup(func() {
		for i := range v.quorums {
			v.close(i)
		}
	})
	return v
}

func (v *voters) open(i int) {
	v.t.Helper()
	_, v.transports[i] = raft.NewInmemTransportWithTimeout(v.addresses[i], time.Second)
	for j, other := range v.transports {
		if other != nil && j != i {
			other.Connect(v.addresses[i], v.transports[i])
			v.transports[i].Connect(v.addresses[j], other)
		}
	}
	o := Options{Dir: v.dirs[i], NodeID: metadata.BrokerID(i + 1), Logger: quiet(), transport: v.transports[i], timeouts: 500 * time.Millisecond}
	for j, address := range v.addresses {
		o.Voters = append(o.Voters, Voter{ID: metadata.BrokerID(j + 1), Address: string(address)})
	}
	q, err := Open(o)
	if err != nil {
		v.t.Fatal(err)
	}
	v.quorums[i] = q
}

func (v *voters) close(i int) {
	if v.quorums[i] == nil {
		return
	}
	for j, other := range v.transports {
		if j != i && other != nil {
			other.Disconnect(v.addresses[i])
		}
	}
	if err := v.within("close", v.quorums[i].Close); err != nil {
		v.t.Error(err)
	}
	v.quorums[i], v.transports[i] = nil, nil
}

// within calls fn and fails the test, with what every goroutine does, when it does not return.
func (v *voters) within(what string, fn func() error) error {
	v.t.Helper()
	done := make(chan error, 1)
	go func() { done <- fn() }()
	select {
	case err := <-done:
		return err
	case <-time.After(60 * time.Second):
		stacks := make([]byte, 1<<20)
		v.t.Fatalf("%s does not return:\n%s", what, stacks[:runtime.Stack(stacks, true)])
		return nil
	}
}

// leader waits for a voter that leads and starts its term there.
func (v *voters) leader() (int, metadata.Term) {
	v.t.Helper()
	deadline := time.After(30 * time.Second)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		for i, q := range v.quorums {
			if q == nil {
				continue
			}
			select {
			case v.terms[i] = <-q.Leadership():
			default:
			}
			l := v.terms[i]
			if !l.Leader || q.Image().Term > l.Term {
				continue
			}
			if q.Image().Term == l.Term {
				return i, l.Term
			}
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
			_, err := q.Propose(ctx, l.Term, []metadata.Record{&metadata.TermStart{Term: l.Term, Leader: metadata.BrokerID(i + 1)}})
			cancel()
			if err == nil {
				return i, l.Term
			}
		}
		select {
		case <-deadline:
			v.t.Fatal("no leader")
		case <-tick.C:
		}
	}
}

// propose proposes until a leader takes it. A proposal whose outcome is unknown
// may be in the log already; the second time it is then a conflict.
func (v *voters) propose(records ...metadata.Record) {
	v.t.Helper()
	// On a busy machine leaders come and go; but one deadline holds for all attempts, or they could go on for half an hour.
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		i, term := v.leader()
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		_, err := v.quorums[i].Propose(ctx, term, records)
		cancel()
		if err == nil || errors.Is(err, metadata.ErrConflict) {
			return
		}
		v.t.Logf("proposal to voter %d in term %d: %v", i+1, term, err)
		if errors.Is(err, ErrNotLeader) || errors.Is(err, metadata.ErrStaleTerm) {
			// After any other error it may lead on, and tells of its leadership only once.
			v.terms[i] = metadata.Leadership{}
		}
	}
	v.t.Fatal("no leader took the proposal")
}

// await waits until voter i has the image of index.
func (v *voters) await(i int, index metadata.Index) *metadata.Image {
	v.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := v.quorums[i].awaitPublished(ctx, index); err != nil {
		v.t.Fatalf("voter %d is at %d, wanted %d: %v", i+1, v.quorums[i].Image().Index, index, err)
	}
	return v.quorums[i].Image()
}

func TestThreeVotersKeepOneImageAcrossALeadersLoss(t *testing.T) {
	v := newVoters(t)
	n := 0
	add := func(count int) metadata.Index {
		for range count {
			v.propose(topic(n))
			n++
		}
		i, _ := v.leader()
		return v.quorums[i].Image().Index
	}
	index := add(10)
	for i := range v.quorums {
		if got := v.await(i, index).TopicCount(); got != n {
			t.Fatalf("voter %d has %d topics, want %d", i+1, got, n)
		}
	}
	lost, term := v.leader()
	v.close(lost)
	index = add(10)
	if _, next := v.leader(); next <= term {
		t.Fatalf("term %d after %d", next, term)
	}
	// The log is cut, so that the lost voter can only catch up by a snapshot.
	for _, q := range v.quorums {
		if q == nil {
			continue
		}
		err := q.raft.ReloadConfig(raft.ReloadableConfig{
			TrailingLogs: 1, SnapshotInterval: time.Hour, SnapshotThreshold: 1 << 20,
			HeartbeatTimeout: 500 * time.Millisecond, ElectionTimeout: 500 * time.Millisecond,
		})
		if err != nil {
			t.Fatal(err)
		}
		v.awaitAll(index)
		if err := v.within("snapshot", func() error { return q.raft.Snapshot().Error() }); err != nil {
			t.Fatal(err)
		}
	}
	v.open(lost)
	index = add(3)
	for i := range v.quorums {
		img := v.await(i, index)
		if img.TopicCount() != n {
			t.Fatalf("voter %d has %d topics, want %d", i+1, img.TopicCount(), n)
		}
	}
	if v.quorums[lost].raft.Stats()["last_snapshot_index"] == "0" {
		t.Fatal("the lost voter caught up without a snapshot")
	}
	// What a snapshot brought is in metadata.db as well.
	v.close(lost)
	v.open(lost)
	if got := v.await(lost, index).TopicCount(); got != n {
		t.Fatalf("after a restart: %d topics, want %d", got, n)
	}
}

func (v *voters) awaitAll(index metadata.Index) {
	for i, q := range v.quorums {
		if q != nil {
			v.await(i, index)
		}
	}
}

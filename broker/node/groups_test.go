package node_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weir-broker/weir/broker/node"
)

// groupOverrides make groups quick and the topic that keeps them small.
var groupOverrides = []string{"group.initial.rebalance.delay.ms=0", "offsets.topic.num.partitions=3"}

func member(t *testing.T, n *node.Node, group string, opts ...kgo.Opt) *kgo.Client {
	t.Helper()
	cl, err := kgo.NewClient(append([]kgo.Opt{
		kgo.SeedBrokers(n.Bootstrap()), kgo.ConsumerGroup(group), kgo.ConsumeTopics("work"), kgo.DisableAutoCommit(),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.FetchMaxWait(100 * time.Millisecond), kgo.HeartbeatInterval(100 * time.Millisecond),
	}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	return cl
}

// take polls until want records came.
func take(ctx context.Context, t *testing.T, cl *kgo.Client, want int) []*kgo.Record {
	t.Helper()
	var got []*kgo.Record
	for len(got) < want {
		fetches := cl.PollFetches(ctx)
		if err := fetches.Err0(); err != nil {
			t.Fatalf("%d of %d records: %v", len(got), want, err)
		}
		got = append(got, fetches.Records()...)
	}
	return got
}

// TestGroupGoesOnWhereItCommittedAfterAKill has a group consume and commit, starts a node from a copy of the files of the
// running one, which is what a kill leaves, and has the group consume on.
func TestGroupGoesOnWhereItCommittedAfterAKill(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	dir := filepath.Join(t.TempDir(), "0")
	n, err := start(t, load(t, dir, "127.0.0.1:0", groupOverrides...))
	if err != nil {
		t.Fatal(err)
	}
	cl, a := clients(t, n)
	if _, err := a.CreateTopic(ctx, 4, 1, nil, "work"); err != nil {
		t.Fatal(err)
	}
	write := func(cl *kgo.Client, from, to int) {
		t.Helper()
		for i := from; i < to; i++ {
			if err := cl.ProduceSync(ctx, &kgo.Record{Topic: "work", Key: fmt.Append(nil, i), Value: fmt.Append(nil, i)}).FirstErr(); err != nil {
				t.Fatal(err)
			}
		}
	}
	write(cl, 0, 20)
	m := member(t, n, "g")
	if err := m.CommitRecords(ctx, take(ctx, t, m, 20)...); err != nil {
		t.Fatal(err)
	}
	left := filepath.Join(t.TempDir(), "1")
	if err := os.CopyFS(left, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	m.Close()
	cl.Close()
	stop(t, n)

	if n, err = start(t, load(t, left, "127.0.0.1:0", groupOverrides...)); err != nil {
		t.Fatal(err)
	}
	defer stop(t, n)
	cl, a = clients(t, n)
	defer cl.Close()
	offsets, err := a.FetchOffsets(ctx, "g")
	sum := int64(0)
	offsets.Each(func(o kadm.OffsetResponse) { sum += o.At })
	if err != nil || sum != 20 {
		t.Errorf("offsets after the kill: %v, %v", offsets, err)
	}
	write(cl, 20, 25)
	// The member of the killed node is a member still, until its session is over: a new one waits for it, or it leaves.
	groups, err := a.DescribeGroups(ctx, "g")
	if err != nil || len(groups["g"].Members) != 1 {
		t.Fatalf("group after the kill: %+v, %v", groups, err)
	}
	leave := kmsg.NewPtrLeaveGroupRequest()
	leave.Group = "g"
	leave.Members = []kmsg.LeaveGroupRequestMember{{MemberID: groups["g"].Members[0].MemberID}}
	if resp, err := leave.RequestWith(ctx, cl); err != nil || resp.ErrorCode != 0 {
		t.Fatalf("leave: %+v, %v", resp, err)
	}
	m = member(t, n, "g")
	defer m.Close()
	for _, r := range take(ctx, t, m, 5) {
		if string(r.Value) < "20" || len(r.Value) < 2 {
			t.Errorf("record %s was committed before the kill", r.Value)
		}
	}
}

// TestMembersShareAndTakeOver: every partition has one owner, and those of a member that leaves go to the others.
func TestMembersShareAndTakeOver(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	n, err := start(t, load(t, t.TempDir(), "127.0.0.1:0", groupOverrides...))
	if err != nil {
		t.Fatal(err)
	}
	defer stop(t, n)
	cl, a := clients(t, n)
	defer cl.Close()
	if _, err := a.CreateTopic(ctx, 4, 1, nil, "work"); err != nil {
		t.Fatal(err)
	}
	poll := func(cl *kgo.Client) func() {
		ctx, cancel := context.WithCancel(ctx)
		done := make(chan struct{})
		go func() {
			defer close(done)
			for ctx.Err() == nil {
				cl.PollFetches(ctx)
			}
		}()
		return func() { cancel(); <-done; cl.Close() }
	}
	shares := func(members int) {
		t.Helper()
		for ctx.Err() == nil {
			described, err := a.DescribeGroups(ctx, "g")
			if g := described["g"]; err == nil && g.Err == nil && g.State == "Stable" && len(g.Members) == members {
				owned := g.AssignedPartitions()
				total := 0
				for _, m := range g.Members {
					as, _ := m.Assigned.AsConsumer()
					for _, t := range as.Topics {
						total += len(t.Partitions)
					}
				}
				if len(owned["work"]) == 4 && total == 4 {
					return
				}
			}
		}
		t.Fatal("the group does not settle")
	}
	stopFirst := poll(member(t, n, "g"))
	shares(1)
	stopSecond := poll(member(t, n, "g"))
	shares(2)
	stopFirst()
	shares(1)
	stopSecond()
	if _, err := a.DeleteGroups(ctx, "g"); err != nil {
		t.Fatal(err)
	}
	if listed, err := a.ListGroups(ctx); err != nil || len(listed) != 0 {
		t.Errorf("groups left: %v, %v", listed, err)
	}
}

// TestStopDoesNotWaitForMembers: a member that waits for others in its group does not hold up the stop of its broker.
func TestStopDoesNotWaitForMembers(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	n, err := start(t, load(t, t.TempDir(), "127.0.0.1:0", "group.initial.rebalance.delay.ms=300000", "offsets.topic.num.partitions=3"))
	if err != nil {
		t.Fatal(err)
	}
	cl, a := clients(t, n)
	defer cl.Close()
	find := kmsg.NewPtrFindCoordinatorRequest()
	find.CoordinatorKeys = []string{"g"}
	if resp, err := find.RequestWith(ctx, cl); err != nil || resp.Coordinators[0].ErrorCode != 0 {
		t.Fatalf("find: %+v, %v", resp, err)
	}
	joined := make(chan int16, 1)
	go func() {
		join := kmsg.NewPtrJoinGroupRequest()
		join.Group, join.ProtocolType, join.InstanceID = "g", "consumer", kmsg.StringPtr("i")
		join.SessionTimeoutMillis, join.RebalanceTimeoutMillis = 10_000, 300_000
		join.Protocols = []kmsg.JoinGroupRequestProtocol{{Name: "range", Metadata: []byte{0, 0, 0, 0, 0, 0}}}
		for {
			resp, err := cl.Broker(1).Request(ctx, join)
			if err != nil {
				joined <- -1
				return
			}
			if code := resp.(*kmsg.JoinGroupResponse).ErrorCode; code != 14 { // the coordinator is loaded
				joined <- code
				return
			}
		}
	}()
	for ctx.Err() == nil {
		if groups, err := a.DescribeGroups(ctx, "g"); err == nil && len(groups["g"].Members) == 1 {
			break
		}
	}
	began := time.Now()
	stop(t, n)
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("the stop took %v", took)
	}
	if code := <-joined; code != 16 && code != -1 {
		t.Errorf("the member was answered with %d, want NOT_COORDINATOR", code)
	}
}

package node_test

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weir-broker/weir/broker/node"
	"github.com/weir-broker/weir/broker/vfs"
)

func TestNobodyLeadsFromAFailedDirectoryUntilItIsBack(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	root := t.TempDir()
	bad := filepath.Join(root, "bad")
	broker := load(t, filepath.Join(root, "good")+","+bad, "127.0.0.1:0")
	faults := vfs.NewFaults(vfs.OS())
	begin := func() (*node.Node, *kgo.Client, *kadm.Client) {
		n, err := node.Start(ctx, node.Options{Config: broker, Logger: slog.New(slog.DiscardHandler), Version: "test", FS: faults})
		if err != nil {
			t.Fatal(err)
		}
		cl, err := kgo.NewClient(kgo.SeedBrokers(n.Bootstrap()), kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.RecordRetries(1), kgo.MetadataMinAge(20*time.Millisecond))
		if err != nil {
			t.Fatal(err)
		}
		return n, cl, kadm.NewClient(cl)
	}
	// leaderless waits until the partitions without a leader are these: the broker reports beside its other work.
	leaderless := func(a *kadm.Client, want []int32) {
		t.Helper()
		for {
			topics, err := a.Metadata(ctx, "spread")
			if err != nil {
				t.Fatalf("partitions without a leader: %v", err)
			}
			got := []int32(nil)
			for _, p := range topics.Topics["spread"].Partitions.Sorted() {
				if p.Leader < 0 {
					got = append(got, p.Partition)
				}
			}
			if slices.Equal(got, want) {
				return
			}
		}
	}
	write := func(cl *kgo.Client, partition int32) error {
		return cl.ProduceSync(ctx, &kgo.Record{Topic: "spread", Partition: partition, Value: []byte("v")}).FirstErr()
	}

	n, cl, a := begin()
	if _, err := a.CreateTopic(ctx, 4, 1, nil, "spread"); err != nil {
		t.Fatal(err)
	}
	dirs, err := a.DescribeAllLogDirs(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	var there []int32
	for p := range dirs[1][bad].Topics["spread"] {
		there = append(there, p)
	}
	slices.Sort(there)
	if len(there) != 2 {
		t.Fatalf("partitions in %s: %v", bad, there)
	}
	for p := range int32(4) {
		if err := write(cl, p); err != nil {
			t.Fatal(err)
		}
	}
	leaderless(a, nil)
	faults.Add(vfs.Fault{Kinds: vfs.OpWrite, Glob: filepath.Join(bad, "*", "*.log"), Err: errors.New("broken disk")})
	if err := write(cl, there[0]); err == nil {
		t.Error("written to a broken disk")
	}
	leaderless(a, there)
	cl.Close()
	stop(t, n)

	faults.Clear()
	n, cl, a = begin()
	defer stop(t, n)
	defer cl.Close()
	leaderless(a, nil)
	ends, err := a.ListEndOffsets(ctx, "spread")
	if err != nil {
		t.Fatal(err)
	}
	for p := range int32(4) {
		if o, _ := ends.Lookup("spread", p); o.Offset != 1 || o.Err != nil {
			t.Errorf("partition %d ends at %d, %v", p, o.Offset, o.Err)
		}
	}
}

package node_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weir-broker/weir/broker/node"
)

// TestAKilledNodeKeepsWhatItJustCreated starts nodes from copies of the files of a running one, which is what a kill leaves,
// within the time that metadata.db may be behind. The folder of a topic that only the log of the metadata knows is no stray,
// and the leader epochs of its records stay known.
func TestAKilledNodeKeepsWhatItJustCreated(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	dir := filepath.Join(t.TempDir(), "0")
	n, err := start(t, load(t, dir, "127.0.0.1:0"))
	if err != nil {
		t.Fatal(err)
	}
	stop(t, n) // metadata.db knows the cluster from here on
	if n, err = start(t, load(t, dir, "127.0.0.1:0")); err != nil {
		t.Fatal(err)
	}
	func() {
		cl, a := clients(t, n)
		defer cl.Close()
		if _, err := a.CreateTopic(ctx, 1, 1, nil, "young"); err != nil {
			t.Error(err)
		}
	}()
	for life := range int64(3) {
		end, err := writeOne(ctx, t, n)
		if err != nil || end != life+1 {
			t.Errorf("life %d: log end %d after a write, %v", life, end, err)
		}
		left := filepath.Join(t.TempDir(), fmt.Sprint(life+1))
		if err := os.CopyFS(left, os.DirFS(dir)); err != nil {
			t.Error(err)
		}
		stop(t, n)
		if t.Failed() {
			return
		}
		dir = left
		if n, err = start(t, load(t, dir, "127.0.0.1:0")); err != nil {
			t.Fatal(err)
		}
	}
	stop(t, n)
	epochs, err := os.ReadFile(filepath.Join(dir, "young-0", "leader-epoch-checkpoint"))
	if err != nil || strings.Count(string(epochs), "\n") != 2+4 {
		t.Errorf("leader epochs of four lives: %q, %v", epochs, err)
	}
}

func clients(t *testing.T, n *node.Node) (*kgo.Client, *kadm.Client) {
	t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(n.Bootstrap()))
	if err != nil {
		t.Fatal(err)
	}
	return cl, kadm.NewClient(cl)
}

// writeOne writes a record and returns the log end offset after it.
func writeOne(ctx context.Context, t *testing.T, n *node.Node) (int64, error) {
	t.Helper()
	cl, a := clients(t, n)
	defer cl.Close()
	if err := cl.ProduceSync(ctx, &kgo.Record{Topic: "young", Value: []byte("v")}).FirstErr(); err != nil {
		return 0, err
	}
	ends, err := a.ListEndOffsets(ctx, "young")
	if err != nil {
		return 0, err
	}
	o, _ := ends.Lookup("young", 0)
	return o.Offset, o.Err
}

package node_test

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/weir-broker/weir/broker/config"
	"github.com/weir-broker/weir/broker/node"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func load(t *testing.T, dir, listen string, overrides ...string) *config.Broker {
	t.Helper()
	broker, _, err := config.Load(config.Sources{
		Defaults: map[string]string{
			"process.roles": "broker,controller", "node.id": "1", "listeners": "PLAINTEXT://" + listen, "log.dirs": dir,
			"weir.admin.address": "127.0.0.1:0",
		},
		Overrides: overrides,
	})
	if err != nil {
		t.Fatal(err)
	}
	return broker
}

func start(t *testing.T, broker *config.Broker) (*node.Node, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	return node.Start(ctx, node.Options{Config: broker, Logger: slog.New(slog.DiscardHandler), Version: "test"})
}

func stop(t *testing.T, n *node.Node) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := n.Stop(ctx); err != nil {
		t.Error(err)
	}
}

func TestEmptyDirectoryIsFormattedAndKeepsItsCluster(t *testing.T) {
	dir := t.TempDir()
	for range 3 {
		n, err := start(t, load(t, dir, "127.0.0.1:0"))
		if err != nil {
			t.Fatal(err)
		}
		client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		response, err := client.Get("http://" + n.Admin() + "/readyz")
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != http.StatusOK {
			t.Errorf("/readyz of a serving node: %s", response.Status)
		}
		stop(t, n)
	}
	properties, err := os.ReadFile(filepath.Join(dir, "meta.properties"))
	if err != nil || !strings.Contains(string(properties), "node.id=1") {
		t.Errorf("meta.properties: %v\n%s", err, properties)
	}
}

func TestStartNamesCausePlaceAndFix(t *testing.T) {
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	foreign := t.TempDir()
	n, err := start(t, load(t, foreign, "127.0.0.1:0"))
	if err != nil {
		t.Fatal(err)
	}
	stop(t, n)
	other := t.TempDir()
	n, err = start(t, load(t, other, "127.0.0.1:0"))
	if err != nil {
		t.Fatal(err)
	}
	defer stop(t, n)

	file := fileAt(t)
	for name, c := range map[string]struct {
		broker *config.Broker
		words  []string
	}{
		"port in use":         {load(t, t.TempDir(), busy.Addr().String()), []string{"listeners", busy.Addr().String(), "in use", "choose another port"}},
		"directory in use":    {load(t, other, "127.0.0.1:0"), []string{other, "in use"}},
		"directories of two":  {load(t, foreign+","+other, "127.0.0.1:0"), []string{"log.dirs", foreign, other, "cluster"}},
		"directory of node 1": {load(t, foreign, "127.0.0.1:0", "node.id=2"), []string{foreign, "node.id", "2"}},
		"admin port in use":   {load(t, t.TempDir(), "127.0.0.1:0", "weir.admin.address="+busy.Addr().String()), []string{"weir.admin.address", "in use"}},
		"below a file":        {load(t, filepath.Join(file, "below"), "127.0.0.1:0"), []string{"below", file + ", which it lies below, is a file", "name another directory"}},
		"a file":              {load(t, file, "127.0.0.1:0"), []string{file, "it is a file", "name a directory"}},
		"a file of two":       {load(t, t.TempDir()+","+file, "127.0.0.1:0"), []string{file, "it is a file", "name a directory"}},
		"other content":       {load(t, filepath.Dir(file), "127.0.0.1:0"), []string{filepath.Dir(file), "other content (file)", "name an empty or new directory"}},
		"cannot be made":      {load(t, "/proc/weir", "127.0.0.1:0"), []string{"/proc/weir", "mend the disk or its permissions"}},
	} {
		t.Run(name, func(t *testing.T) {
			n, err := start(t, c.broker)
			if err == nil {
				stop(t, n)
				t.Fatal("started")
			}
			for _, word := range c.words {
				if !strings.Contains(err.Error(), word) {
					t.Errorf("%q does not mention %q", err, word)
				}
			}
			t.Log(err)
		})
	}
	if left, err := os.ReadDir(filepath.Dir(file)); err != nil || len(left) != 1 {
		t.Errorf("a directory that was refused has %v, %v", left, err)
	}
}

func fileAt(t *testing.T) string {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestPartitionsWithoutTheirMetadataAreRefused(t *testing.T) {
	dir := t.TempDir()
	n, err := start(t, load(t, dir, "127.0.0.1:0"))
	if err != nil {
		t.Fatal(err)
	}
	stop(t, n)
	if err := os.Mkdir(filepath.Join(dir, "orders-0"), 0o755); err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(dir, "weir-metadata", "raft.db")
	for _, lose := range []func() error{
		func() error { return os.Truncate(log, 0) },
		func() error { return os.RemoveAll(filepath.Dir(log)) },
	} {
		if err := lose(); err != nil {
			t.Fatal(err)
		}
		n, err := start(t, load(t, dir, "127.0.0.1:0"))
		if err == nil {
			stop(t, n)
			t.Fatal("started with an empty cluster over a directory with partitions")
		}
		for _, part := range []string{"weir-metadata", "orders-0", "restore it"} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%v: does not name %q", err, part)
			}
		}
	}
}

func TestUnreadableDirectoryLeavesTheOthersServing(t *testing.T) {
	a, b := t.TempDir(), t.TempDir()
	dirs := a + "," + b
	n, err := start(t, load(t, dirs, "127.0.0.1:0"))
	if err != nil {
		t.Fatal(err)
	}
	stop(t, n)
	breakIt := func(dir string) {
		file := filepath.Join(dir, "meta.properties")
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(file, 0o755); err != nil { // as unreadable as a bad sector
			t.Fatal(err)
		}
	}
	breakIt(b)
	n, err = start(t, load(t, dirs, "127.0.0.1:0"))
	if err != nil {
		t.Fatalf("one unreadable directory of two: %v", err)
	}
	stop(t, n)
	breakIt(a)
	if n, err = start(t, load(t, dirs, "127.0.0.1:0")); err == nil {
		stop(t, n)
		t.Error("started without a readable directory")
	}
}

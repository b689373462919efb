package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"
	"sync"
	"testing"
	"time"
)

// syncBuffer is a bytes.Buffer that a command may write while a test reads.
type syncBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// serveOnce runs weir until it is ready, interrupts it, and returns its first line on stdout and all of stderr.
func serveOnce(t *testing.T, args ...string) (ready, stderr string) {
	t.Helper()
	out, in := io.Pipe()
	var errors syncBuffer
	ctx, interrupt := context.WithTimeout(t.Context(), 30*time.Second)
	defer interrupt()
	code := make(chan int, 1)
	go func() {
		code <- run(ctx, args, nil, in, &errors)
		in.Close()
	}()
	ready, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("%v: not ready: %v\n%s", args, err, errors.String())
	}
	interrupt()
	if got := <-code; got != exitDone {
		t.Errorf("%v: exit code %d\n%s", args, got, errors.String())
	}
	return strings.TrimSuffix(ready, "\n"), errors.String()
}

// A log begins with which node of which cluster it is of; the line on stdout is the same in every log format.
func TestLogsBeginWithWhoStarts(t *testing.T) {
	dir := t.TempDir()
	flags := []string{"dev", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--dir", dir, "--log-format"}
	ready, logs := serveOnce(t, append(flags, "json")...)
	if !strings.HasPrefix(ready, "weir ready bootstrap=127.0.0.1:") || !strings.Contains(ready, " admin=127.0.0.1:") {
		t.Errorf("with JSON logs stdout has %q", ready)
	}
	records := make(map[string]map[string]any)
	for line := range strings.Lines(logs) {
		var record map[string]any
		if err := json.Unmarshal([]byte(line), &record); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if len(records) == 0 && record["msg"] != "starting" {
			t.Errorf("the first record is %s", line)
		}
		records[record["msg"].(string)] = record
	}
	starting := records["starting"]
	bootstrap, admin, _ := strings.Cut(strings.TrimPrefix(ready, "weir ready bootstrap="), " admin=")
	cluster, _ := starting["cluster"].(string)
	if starting["version"] != Version || starting["node"] != 1.0 || len(cluster) != 22 || starting["level"] != "INFO" {
		t.Errorf("starting: %v", starting)
	}
	if l, _ := starting["listeners"].([]any); len(l) != 1 || l[0] != "PLAINTEXT://"+bootstrap {
		t.Errorf("listeners of starting: %v", starting)
	}
	if d, _ := starting["dirs"].([]any); len(d) != 1 || d[0] != dir {
		t.Errorf("dirs of starting: %v", starting)
	}
	if r := records["ready"]; r["bootstrap"] != bootstrap || r["admin"] != admin {
		t.Errorf("ready: %v, stdout %q", r, ready)
	}

	ready, logs = serveOnce(t, append(flags, "text")...)
	if !strings.HasPrefix(ready, "weir ready bootstrap=") || strings.Contains(logs, "msg=ready") {
		t.Errorf("with text logs stdout has %q, stderr\n%s", ready, logs)
	}
	first, _, _ := strings.Cut(logs, "\n")
	for _, want := range []string{"msg=starting", "version=" + Version, "node=1", "cluster=" + cluster, "listeners=[PLAINTEXT://127.0.0.1:", "dirs=[" + dir + "]"} {
		if !strings.Contains(first, want) {
			t.Errorf("no %s in %s", want, first)
		}
	}
}

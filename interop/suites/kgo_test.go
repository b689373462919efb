//go:build interop

// Package suites_test runs other projects' own test suites against this build. Their sources come from the module
// cache at test time and are not part of this repository.
package suites_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/weir-broker/weir/interop/weir"
)

const franzGo = "github.com/twmb/franz-go@v1.22.3"

// leftOut are tests of the kgo suite that need what this version of weir does not offer. Any other failure is ours.
var leftOut = map[string]string{
	"TestTxnEtl": "transactions",
}

// TestKgoSuite runs franz-go's client tests. Each test that testdata/kgo.txt names must pass; the file is the floor.
func TestKgoSuite(t *testing.T) {
	source := moduleSource(t, franzGo)
	broker := weir.Start(t, filepath.Join(t.TempDir(), "data"), "--override", "auto.create.topics.enable=false")
	var skip []string
	for name := range leftOut {
		skip = append(skip, "^"+regexp.QuoteMeta(name)+"$")
	}
	slices.Sort(skip)
	args := []string{"test", "-json", "-count=1", "-timeout", "8m"}
	if len(skip) > 0 {
		args = append(args, "-skip", strings.Join(skip, "|"))
	}
	cmd := exec.Command("go", append(args, ".")...)
	cmd.Dir = filepath.Join(source, "pkg", "kgo")
	cmd.Env = append(os.Environ(), "KGO_SEEDS="+broker.Bootstrap, "KGO_TEST_RF=1", "KGO_TEST_RECORDS=50000", "KGO_LOG_LEVEL=none", "GOFLAGS=-mod=mod -buildvcs=false")
	out, runErr := cmd.Output()
	passed, failed, skipped, output := results(out)
	for _, name := range failed {
		t.Errorf("%s failed:\n%s", name, output[name])
	}
	if runErr != nil && len(failed) == 0 {
		t.Errorf("go test: %v\n%s", runErr, out[max(0, len(out)-4000):])
	}
	floor := filepath.Join("testdata", "kgo.txt")
	if os.Getenv("WEIR_UPDATE") != "" {
		if err := os.WriteFile(floor, []byte(strings.Join(passed, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(floor)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range strings.Fields(string(want)) {
		if !slices.Contains(passed, name) {
			t.Errorf("%s passed before and does not now", name)
		}
	}
	t.Logf("%d passed, %d failed, %d left out, skipped by themselves: %v", len(passed), len(failed), len(leftOut), skipped)
}

// moduleSource copies a module's source out of the module cache, so that its own tests can run there.
func moduleSource(t *testing.T, module string) string {
	t.Helper()
	out, err := exec.Command("go", "mod", "download", "-json", module).Output()
	if err != nil {
		t.Fatalf("go mod download %s: %v\n%s", module, err, out)
	}
	var at struct{ Dir string }
	if err := json.Unmarshal(out, &at); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(at.Dir)); err != nil {
		t.Fatal(err)
	}
	return dir
}

func results(raw []byte) (passed, failed, skipped []string, output map[string]string) {
	output = map[string]string{}
	lines := bufio.NewScanner(bytes.NewReader(raw))
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var event struct{ Action, Test, Output string }
		if json.Unmarshal(lines.Bytes(), &event) != nil || event.Test == "" {
			continue
		}
		top := !strings.Contains(event.Test, "/")
		switch event.Action {
		case "output":
			output[event.Test] += event.Output
		case "pass":
			if top {
				passed = append(passed, event.Test)
			}
		case "fail":
			failed = append(failed, event.Test)
		case "skip":
			if top {
				skipped = append(skipped, event.Test)
			}
		}
	}
	slices.Sort(passed)
	return passed, failed, skipped, output
}

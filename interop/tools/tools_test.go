//go:build interop

package tools

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/weir-broker/weir/interop/compare"
	"github.com/weir-broker/weir/interop/oracle"
	"github.com/weir-broker/weir/interop/weir"
)

// step is one invocation.
type step struct {
	name    string
	args    []string
	stdin   string
	files   map[string]string
	options []string
}

func (s step) has(option string) bool { return slices.Contains(s.options, option) }

// side is one of the two brokers compared.
type side struct {
	bootstrap string
	masks     []mask
	dir       string
}

type mask struct {
	re *regexp.Regexp
	by string
}

// The masks: ids, times, ports and paths. Speeds are times in another unit, masked only where a step asks for it.
var masks = []mask{
	{regexp.MustCompile(`127\.0\.0\.1:\d+`), "127.0.0.1:PORT"},
	{regexp.MustCompile(`\b(host|Host):? ?127\.0\.0\.1 +(port:? ?)?\d+`), "$1 127.0.0.1 PORT"},
	{regexp.MustCompile(`(127\.0\.0\.1\s+)\d{4,5}\b`), "${1}PORT"},
	{regexp.MustCompile(`((?:TopicId|Cluster ID|ClusterId): *)[0-9A-Za-z_-]{22}`), "${1}ID"},
	{regexp.MustCompile(`"avg_throughput":[0-9.E]+`), `"avg_throughput":N`}, // first: its digits can look like a time
	{regexp.MustCompile(`\b1[5-9]\d{11}\b`), "TIME"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(,\d+)?`), "TIME"},
	{regexp.MustCompile(`tries=\d+|after \d+ attempt`), "tries"},
	{regexp.MustCompile(`/\S*/tmp\S*|/tmp/[^\s",\]]*`), "PATH"},
}

var positions = []mask{
	{regexp.MustCompile(`(Epoch|HighWatermark): +\d+`), "$1: N"},
	{regexp.MustCompile(`"directoryId": "[0-9A-Za-z_-]{22}"`), `"directoryId": "ID"`},
	{regexp.MustCompile(`^(out: \d+ +\t)[0-9A-Za-z_-]{22}\t\d+ *`), "${1}ID\tN"},
}

var measures = []mask{
	{regexp.MustCompile(`\d+(\.\d+)? (records/sec|MB/sec|ms)`), "N $2"},
	{regexp.MustCompile(`"offset":\d+|"partition":\d+`), "N"},
}

func (d side) run(t *testing.T, o *oracle.Oracle, s step) []string {
	t.Helper()
	for name, text := range s.files {
		if err := os.WriteFile(filepath.Join(d.dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	args := make([]string, len(s.args))
	for i, a := range s.args {
		args[i] = strings.NewReplacer("$B", d.bootstrap, "$DIR", d.dir).Replace(a)
	}
	start := time.Now()
	out, err := o.Tool(context.Background(), oracle.Invocation{Tool: args[0], Args: args[1:], Stdin: s.stdin, Timeout: 90 * time.Second})
	if err != nil {
		t.Fatalf("%s: %v\n%s", s.name, err, o.Stderr())
	}
	if took := time.Since(start); took > 10*time.Second {
		t.Logf("%s took %v", s.name, took)
	}
	lines := []string{fmt.Sprintf("exit %d", out.Code)}
	for _, stream := range []struct{ name, text string }{{"out", out.Stdout}, {"err", out.Stderr}} {
		var of []string
		for line := range strings.Lines(stream.text) {
			if strings.HasPrefix(line, "\tat ") {
				continue // a place in the tool's own code
			}
			of = append(of, stream.name+": "+strings.TrimRight(line, "\n"))
		}
		for i := range of {
			of[i] = d.mask(of[i], s)
		}
		if s.has("sorted") {
			slices.Sort(of)
		}
		lines = append(lines, of...)
	}
	return lines
}

func (d side) mask(line string, s step) string {
	line = replace(replace(line, d.masks), masks)
	if s.has("measured") {
		line = replace(line, measures)
	}
	if s.has("metadata") {
		line = replace(line, positions)
	}
	return line
}

func replace(line string, by []mask) string {
	for _, m := range by {
		line = m.re.ReplaceAllString(line, m.by)
	}
	return line
}

func readScript(t *testing.T, path string) []step {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var steps []step
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := lines.Text()
		if name, ok := strings.CutPrefix(line, "== "); ok {
			steps = append(steps, step{name: name, files: map[string]string{}})
			continue
		}
		if line == "" || line[0] == '#' {
			continue
		}
		s := &steps[len(steps)-1]
		if text, ok := strings.CutPrefix(line, "< "); ok {
			if n, ok := strings.CutPrefix(text, "BIG:"); ok {
				size, err := strconv.Atoi(n)
				if err != nil {
					t.Fatal(err)
				}
				text = strings.Repeat("x", size)
			}
			s.stdin += text + "\n"
		} else if text, ok := strings.CutPrefix(line, "> "); ok {
			name, content, _ := strings.Cut(text, ": ")
			s.files[name] += content + "\n"
		} else if text, ok := strings.CutPrefix(line, "! "); ok {
			s.options = append(s.options, text)
		} else {
			s.args = split(line)
		}
	}
	return steps
}

// split cuts at spaces outside double quotes.
func split(line string) []string {
	var args []string
	var arg strings.Builder
	quoted, any := false, false
	for _, r := range line {
		switch {
		case r == '"':
			quoted, any = !quoted, true
		case r == ' ' && !quoted:
			if any {
				args = append(args, arg.String())
			}
			arg.Reset()
			any = false
		default:
			arg.WriteRune(r)
			any = true
		}
	}
	if any {
		args = append(args, arg.String())
	}
	return args
}

func startOracle(t *testing.T) *oracle.Oracle {
	t.Helper()
	o, err := oracle.Start(oracle.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := o.Close(); err != nil {
			t.Error(err)
		}
	})
	return o
}

func startKafka(t *testing.T, o *oracle.Oracle) side {
	t.Helper()
	b, err := o.StartBroker(context.Background(), t.TempDir(), map[string]string{"offsets.topic.replication.factor": "1"})
	if err != nil {
		t.Fatal(err)
	}
	return side{bootstrap: b.Bootstrap, dir: t.TempDir(), masks: paths(b.LogDir)}
}

func paths(dirs ...string) []mask {
	var m []mask
	for _, d := range dirs {
		m = append(m, mask{regexp.MustCompile(regexp.QuoteMeta(d)), "PATH"})
	}
	return m
}

// startWeir uses the broker that WEIR_BOOTSTRAP names, which must be empty, or starts the built binary.
func startWeir(t *testing.T) side {
	t.Helper()
	if at := os.Getenv("WEIR_BOOTSTRAP"); at != "" {
		return side{bootstrap: at, dir: t.TempDir()}
	}
	dir := filepath.Join(t.TempDir(), "data")
	b := weir.Start(t, dir, "--override", "offsets.topic.replication.factor=1")
	return side{bootstrap: b.Bootstrap, dir: t.TempDir(), masks: paths(dir)}
}

// selected leaves the steps to play: all, or with WEIR_STEPS those whose name matches it.
func selected(t *testing.T) []step {
	steps := readScript(t, "script.txt")
	if only := os.Getenv("WEIR_STEPS"); only != "" {
		re := regexp.MustCompile(only)
		steps = slices.DeleteFunc(steps, func(s step) bool { return !re.MatchString(s.name) })
	}
	return steps
}

// TestToolsAnswerAlike plays the script against Kafka and weir.
func TestToolsAnswerAlike(t *testing.T) {
	o := startOracle(t)
	kafka, ours := startKafka(t, o), startWeir(t)
	expected, err := compare.ReadExpected("expected.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range selected(t) {
		t.Run(s.name, func(t *testing.T) {
			want, got := kafka.run(t, o, s), ours.run(t, o, s)
			if wrong := expected.Unexpected(s.name, compare.Diff(want, got)); len(wrong) > 0 {
				t.Errorf("%s\n%s", strings.Join(s.args, " "), strings.Join(wrong, "\n"))
			}
		})
	}
	if os.Getenv("WEIR_STEPS") == "" {
		for _, line := range expected.Stale() {
			t.Error(line)
		}
	}
}

// TestScriptIsStableOnKafka plays the script on two Kafka brokers: what differs there is a mask or an order that is missing here.
// With WEIR_GOLDEN it also writes Kafka's answers to that file.
func TestScriptIsStableOnKafka(t *testing.T) {
	o := startOracle(t)
	a, b := startKafka(t, o), startKafka(t, o)
	var golden strings.Builder
	for _, s := range selected(t) {
		first, second := a.run(t, o, s), b.run(t, o, s)
		fmt.Fprintf(&golden, "== %s\n%s\n", s.name, strings.Join(first, "\n"))
		if d := compare.Diff(first, second); len(d) > 0 {
			t.Errorf("%s\n%s", s.name, strings.Join(d, "\n"))
		}
	}
	if to := os.Getenv("WEIR_GOLDEN"); to != "" {
		if err := os.WriteFile(to, []byte(golden.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

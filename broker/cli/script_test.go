package cli

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/weir-broker/weir/broker/config"
	"github.com/weir-broker/weir/broker/node"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"weir": func() { os.Exit(Run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) },
	})
}

// broker starts a node for scripts. WEIR_TEST_BOOTSTRAP names another broker to run them against, such as Kafka itself.
func broker(t *testing.T) string {
	t.Helper()
	if bootstrap := os.Getenv("WEIR_TEST_BOOTSTRAP"); bootstrap != "" {
		return bootstrap
	}
	b, _, err := config.Load(config.Sources{Defaults: map[string]string{
		"node.id": "1", "process.roles": "broker,controller", "listeners": "PLAINTEXT://127.0.0.1:0", "weir.admin.address": "",
		"log.dirs": t.TempDir(), "log.initial.task.delay.ms": "0",
	}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	n, err := node.Start(ctx, node.Options{Config: b, Logger: slog.New(slog.DiscardHandler), Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if err := n.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	return n.Bootstrap()
}

// closedPort is an address where nobody listens.
func closedPort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// The scripts are what a user types, with what is then on the screen.
func TestCommandsAsAUserTypesThem(t *testing.T) {
	bootstrap, closed := broker(t), closedPort(t)
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			// Scripts run at the same time, so each has topics of its own.
			e.Setenv("WEIR_BOOTSTRAP", bootstrap)
			e.Setenv("CLOSED", closed)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits},
	})
}

// exits runs a command that must end with the given code: exits 2 weir topic frobnicate.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	want, err := strconv.Atoi(args[0])
	if err != nil || neg {
		ts.Fatalf("usage: exits CODE COMMAND...")
	}
	runErr := ts.Exec(args[1], args[2:]...)
	got := 0
	if exit, ok := runErr.(*exec.ExitError); ok {
		got = exit.ExitCode()
	} else if runErr != nil {
		ts.Fatalf("%v", runErr)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

func TestFromNamesAPlaceInALog(t *testing.T) {
	now := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]startPoint{
		"start":                {offset: -2},
		"end":                  {offset: -1},
		"0":                    {offset: 0},
		"17":                   {offset: 17},
		"-5":                   {relative: 5},
		"-90m":                 {at: now.Add(-90 * time.Minute)},
		"2026-01-02T03:04:05Z": {at: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)},
	} {
		got, err := parseFrom(text, now)
		if err != nil || got != want {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "earliest", "1h", "-", "2026-01-02"} {
		if _, err := parseFrom(text, now); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}

func TestRecordsSurviveJSON(t *testing.T) {
	for _, text := range []string{
		`{"key":null,"value":"v"}`,
		`{"key":"","value":null}`,
		`{"key":"k","value":null,"value_base64":"//4=","headers":[{"key":"h","value":null},{"key":"i","value":"x"},{"key":"j","value":null,"value_base64":"/w=="}]}`,
		`{"key":"<&>","value":"ü"}`,
	} {
		r, err := fromJSON([]byte(text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		var b strings.Builder
		out := toJSON(r)
		out.Partition, out.Offset, out.Timestamp = nil, nil, nil
		if err := printJSON(&b, out); err != nil || strings.TrimSpace(b.String()) != text {
			t.Errorf("%s came back as %s (%v)", text, b.String(), err)
		}
	}
	for _, text := range []string{`{"value":1}`, `[]`, `{"value":"a","value_base64":"YQ=="}`, `{"value_base64":"!"}`, `{`} {
		if _, err := fromJSON([]byte(text)); err == nil {
			t.Errorf("%s is accepted", text)
		}
	}
}

// Every command says how it is used, with an example, and completes nothing it should not.
func TestEveryCommandHasHelpWithAnExample(t *testing.T) {
	root := newRoot(strings.NewReader(""), nil, nil)
	commands := slices.Clone(root.Commands())
	for len(commands) > 0 {
		cmd := commands[0]
		commands = append(commands[1:], cmd.Commands()...)
		if cmd.Hidden || cmd.Name() == "help" || cmd.Name() == "completion" {
			continue
		}
		if cmd.Short == "" || cmd.Example == "" && len(cmd.Commands()) == 0 || strings.HasSuffix(cmd.Short, ".") {
			t.Errorf("%s: short %q, example %q", cmd.CommandPath(), cmd.Short, cmd.Example)
		}
		for _, line := range strings.Split(cmd.Example, "\n") {
			if !strings.HasPrefix(line, "  ") && line != "" {
				t.Errorf("%s: example line %q is not indented", cmd.CommandPath(), line)
			}
		}
	}
}

// Help lists a shared flag where it does something, and nowhere else.
func TestHelpIsSilentAboutFlagsThatDoNothing(t *testing.T) {
	for command, want := range map[string]string{
		"dev": "", "serve": "", "completion bash": "", "version": "output", "log": "output", "log dump": "output",
		"topic list": "bootstrap output", "config": "bootstrap output", "produce": "bootstrap output", "": "bootstrap output",
	} {
		var out, errs strings.Builder
		if code := Run(append(strings.Fields(command), "--help"), strings.NewReader(""), &out, &errs); code != exitDone {
			t.Fatalf("%s --help: exit code %d, %s", command, code, errs.String())
		}
		var got []string
		for _, name := range []string{"bootstrap", "output"} {
			if strings.Contains(out.String(), "--"+name+" string") {
				got = append(got, name)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("weir %s --help lists %q, want %q", command, got, want)
		}
	}
	if code := Run([]string{"version", "--bootstrap", "elsewhere:9092"}, nil, io.Discard, io.Discard); code != exitDone {
		t.Error("a shared flag is refused where it means nothing")
	}
}

func TestNearestPropertiesAreProposed(t *testing.T) {
	names := []string{"retention.ms", "retention.bytes", "delete.retention.ms", "segment.ms", "flush.ms", "cleanup.policy"}
	for key, want := range map[string]string{
		"retention.ms":    "retention.ms, delete.retention.ms",
		"retention_ms":    "retention.ms",
		"Retention.Bytes": "retention.bytes",
		"cleanup.polcy":   "cleanup.policy",
		"retention":       "retention.ms, retention.bytes, delete.retention.ms",
		"segmnt.ms":       "segment.ms",
		"ms":              "",
		"nope":            "",
		"":                "",
	} {
		if got := strings.Join(nearKeys(key, names), ", "); got != want {
			t.Errorf("%q: %q, want %q", key, got, want)
		}
	}
}

func TestAddressesDefaultTheirPort(t *testing.T) {
	for text, want := range map[string]string{
		"a": "[a:9092]", "a:1,b": "[a:1 b:9092]", "[::1]:5": "[[::1]:5]", "::1": "[[::1]:9092]", " a:1 , b:2": "[a:1 b:2]",
	} {
		seeds, err := (&globals{bootstrap: text}).seeds()
		if err != nil || fmt.Sprint(seeds) != want {
			t.Errorf("%s: %v, %v, want %s", text, seeds, err, want)
		}
	}
	if _, err := (&globals{bootstrap: ":9092"}).seeds(); err == nil {
		t.Error("an address without a host is accepted")
	}
}

// A producer that waits for input ends when it is interrupted, or when a record is refused meanwhile.
func TestProduceEndsWithoutMoreInput(t *testing.T) {
	bootstrap := broker(t)
	for name, c := range map[string]struct {
		topic string
		want  int
	}{"interrupted": {"waits", exitDone}, "refused": {"nobody-made-it", exitFailed}} {
		t.Run(name, func(t *testing.T) {
			if c.want == exitDone {
				if code := Run([]string{"topic", "create", c.topic, "--bootstrap", bootstrap}, nil, io.Discard, io.Discard); code != 0 {
					t.Fatal("topic is not created")
				}
			}
			in, write := io.Pipe()
			defer write.Close()
			acknowledged, out := io.Pipe()
			ctx, interrupt := context.WithCancel(t.Context())
			defer interrupt()
			code := make(chan int)
			go func() {
				code <- run(ctx, []string{"produce", c.topic, "-o", "json", "--bootstrap", bootstrap}, in, out, io.Discard)
			}()
			if _, err := io.WriteString(write, "one\n"); err != nil {
				t.Fatal(err)
			}
			if c.want == exitDone {
				if _, err := acknowledged.Read(make([]byte, 100)); err != nil {
					t.Fatal(err)
				}
				interrupt()
			}
			select {
			case got := <-code:
				if got != c.want {
					t.Errorf("exit code %d, want %d", got, c.want)
				}
			case <-time.After(20 * time.Second):
				t.Fatal("does not end")
			}
		})
	}
}

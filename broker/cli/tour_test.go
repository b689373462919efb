package cli_test

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

var tourBlock = regexp.MustCompile("(?s)```sh tour\n(.*?)```")

// TestEveryCommandOfTheTour runs README's tour as it stands, with other ports and in a directory of its own.
func TestEveryCommandOfTheTour(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	listen, admin := freeAddress(t), freeAddress(t)
	t.Setenv("WEIR_BOOTSTRAP", listen)

	var commands []string
	for _, block := range tourBlock.FindAllSubmatch(readme, -1) {
		for line := range strings.Lines(string(block[1])) {
			if line = strings.TrimSpace(line); line != "" {
				commands = append(commands, line)
			}
		}
	}
	if len(commands) < 8 {
		t.Fatalf("README's tour has only %d commands", len(commands))
	}
	for _, command := range commands {
		t.Run(strings.Fields(command)[0]+" "+shorten(command), func(t *testing.T) {
			switch {
			case command == "make build":
				build := exec.Command("go", "build", "-buildvcs=false", "-o", filepath.Join(dir, "bin", "weir"), "./broker/cmd/weir")
				build.Dir = root
				if out, err := build.CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
			case strings.HasSuffix(command, " &"):
				background(t, dir, strings.TrimSuffix(command, " &")+" --listen "+listen+" --admin "+admin)
			case command == "kill %1":
				if running == nil {
					t.Fatal("no broker was started in the background")
				}
				if err := running.Process.Signal(syscall.SIGTERM); err != nil {
					t.Fatal(err)
				}
				if err := running.Wait(); err != nil {
					t.Errorf("the broker did not stop cleanly: %v", err)
				}
				running = nil
				if _, err := os.Stat(filepath.Join(dir, "weir-data", ".kafka_cleanshutdown")); err != nil {
					t.Errorf("stopping left the directory unclean: %v", err)
				}
			case strings.HasPrefix(command, "curl -s "): // asked from here: a machine with only Go may lack curl
				response, err := http.Get(strings.ReplaceAll(strings.TrimPrefix(command, "curl -s "), "127.0.0.1:9644", admin))
				if err != nil {
					t.Fatal(err)
				}
				response.Body.Close()
				if response.StatusCode != http.StatusOK {
					t.Errorf("%s: %s", command, response.Status)
				}
			default:
				ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
				defer cancel()
				run := exec.CommandContext(ctx, "bash", "-o", "pipefail", "-ec", command)
				run.Dir = dir
				out, err := run.CombinedOutput()
				if err != nil {
					t.Fatalf("%s: %v\n%s", command, err, out)
				}
				t.Logf("$ %s\n%s", command, out)
				if strings.Contains(command, " consume ") {
					for _, want := range []string{"book", "lamp", "pen"} {
						if !bytes.Contains(out, []byte(want)) {
							t.Errorf("%s: no %q in\n%s", command, want, out)
						}
					}
				}
			}
		})
	}
	if running != nil {
		_ = running.Process.Kill()
		_ = running.Wait()
		running = nil
		t.Error("README does not say how to stop the broker")
	}
}

// running is the broker that the tour left in the background.
var running *exec.Cmd

func background(t *testing.T, dir, command string) {
	t.Helper()
	cmd := exec.Command("bash", "-c", "exec "+command)
	cmd.Dir = dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	running = cmd
	ready := make(chan error, 1)
	go func() {
		buf := make([]byte, 256)
		n, err := stdout.Read(buf)
		if err == nil && !strings.HasPrefix(string(buf[:n]), "weir ready bootstrap=") {
			t.Errorf("first line of weir dev: %q", buf[:n])
		}
		ready <- err
	}()
	select {
	case err := <-ready:
		if err != nil {
			t.Fatalf("%s ended before it was ready: %v", command, err)
		}
	case <-time.After(30 * time.Second):
		t.Fatalf("%s is not ready after 30 s", command)
	}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func shorten(s string) string {
	if len(s) > 40 {
		return s[:40]
	}
	return s
}

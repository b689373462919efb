//go:build interop || campaign

// Package weir starts the built binary (bin/weir, or the one WEIR_BIN names) for tests that drive it with other
// people's clients. It owns the process: it ends the pid it started and no other.
package weir

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

var ready = regexp.MustCompile(`weir ready bootstrap=(\S+) admin=(\S+)`)

// Broker is one running process.
type Broker struct {
	Bootstrap string // host:port for clients
	Admin     string // host:port of the admin listener
	Dir       string // its log directory
	Cmd       *exec.Cmd

	logPath string
	done    chan struct{} // closed when the process has ended
	waitErr error
}

// Root is the folder of the checkout.
func Root() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Dir(filepath.Dir(filepath.Dir(file)))
}

// Binary is the program under test.
func Binary() string {
	if bin := os.Getenv("WEIR_BIN"); bin != "" {
		return bin
	}
	return filepath.Join(Root(), "bin", "weir")
}

// Start runs `weir dev` on a free loopback port with dir as its data directory and waits until it serves. The process
// is killed when the test ends; its log is printed when the test has failed.
func Start(t testing.TB, dir string, args ...string) *Broker {
	t.Helper()
	b, err := Launch(dir, nil, args...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		b.Kill()
		if t.Failed() {
			if log, err := os.ReadFile(b.logPath); err == nil {
				t.Logf("log of weir (last part):\n%s", tail(string(log), 6000))
			}
		}
	})
	return b
}

// Launch is Start without a test: env is added to the process' environment. A --listen among args replaces the free port.
func Launch(dir string, env []string, args ...string) (*Broker, error) {
	full := []string{"dev", "--admin", "127.0.0.1:0", "--dir", dir}
	if !slices.Contains(args, "--listen") {
		full = append(full, "--listen", "127.0.0.1:0")
	}
	full = append(full, args...)
	cmd := exec.Command(Binary(), full...)
	// The WEIR_* variables of a campaign are the test's, not properties of the broker.
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(kv string) bool { return strings.HasPrefix(kv, "WEIR_") }), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	log, err := os.OpenFile(filepath.Clean(dir)+".log", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("%s: %w (run make build first)", Binary(), err)
	}
	b := &Broker{Cmd: cmd, Dir: dir, logPath: log.Name(), done: make(chan struct{})}
	found := make(chan []string, 1)
	var once sync.Once
	go func() {
		lines := bufio.NewScanner(io.TeeReader(stdout, log))
		for lines.Scan() {
			if m := ready.FindStringSubmatch(lines.Text()); m != nil {
				once.Do(func() { found <- m })
			}
		}
		b.waitErr = cmd.Wait()
		_ = log.Close()
		close(b.done)
	}()
	select {
	case m := <-found:
		b.Bootstrap, b.Admin = m[1], m[2]
		return b, nil
	case <-b.done:
		text, _ := os.ReadFile(b.logPath)
		return nil, fmt.Errorf("weir ended before it served (%v):\n%s", b.waitErr, tail(string(text), 4000))
	case <-time.After(60 * time.Second):
		b.Kill()
		text, _ := os.ReadFile(b.logPath)
		return nil, fmt.Errorf("weir did not serve within 60 s:\n%s", tail(string(text), 4000))
	}
}

// Kill ends the process at once, as kill -9 does, and waits until it is gone.
func (b *Broker) Kill() {
	_ = b.Cmd.Process.Kill()
	<-b.done
}

// Stop asks the process to end and waits for it; it returns how it ended.
func (b *Broker) Stop() error {
	_ = b.Cmd.Process.Signal(syscall.SIGTERM)
	<-b.done
	return b.waitErr
}

// Log is what the process wrote so far, all its lives in the same directory included.
func (b *Broker) Log() string {
	text, _ := os.ReadFile(b.logPath)
	return string(text)
}

// Done is closed when the process has ended.
func (b *Broker) Done() <-chan struct{} { return b.done }

func tail(s string, n int) string {
	if len(s) > n {
		s = s[len(s)-n:]
		if i := strings.IndexByte(s, '\n'); i >= 0 {
			s = s[i+1:]
		}
	}
	return s
}

//go:build interop

package oracle

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

// ErrClosed is returned for calls on an oracle whose process has ended.
var ErrClosed = errors.New("oracle: process has ended")

// FailedError says that the oracle itself failed, which is never Kafka's answer to a case.
type FailedError struct{ Trace string }

func (e *FailedError) Error() string { return "oracle failed: " + e.Trace }

// Operation numbers, as in Operations.java.
const (
	opPing byte = iota
	opValidate
	opProducer
	opOpenLog
	opConfigs
	opCheckConfig
	opTool
	opBrokerStart
	opBrokerStop
	opAssign
	opGroupRecord
	opGroups
	opReconcile
	opClean
)

// Options configures Start.
type Options struct {
	Dir      string // work directory of the process; must exist
	HeapMB   int    // maximum heap, 1024 when 0
	LogLevel string // what Kafka's own log writes to Dir/kafka.log, "warn" when empty
}

// Oracle is one running JVM.
type Oracle struct {
	cmd    *exec.Cmd
	dir    string
	stderr *os.File

	out chan []byte   // frames to send
	end chan struct{} // closed when the process's answers have ended

	mu      sync.Mutex
	next    uint64
	waiting map[uint64]chan<- answer
	err     error
}

type answer struct {
	status  byte
	payload []byte
}

// Start builds the Java program if its sources changed since the last build, and starts the JVM.
func Start(o Options) (*Oracle, error) {
	classpath, err := build()
	if err != nil {
		return nil, err
	}
	if o.HeapMB == 0 {
		o.HeapMB = 1024
	}
	if o.LogLevel == "" {
		o.LogLevel = "warn"
	}
	stderr, err := os.Create(filepath.Join(o.Dir, "stderr.log"))
	if err != nil {
		return nil, fmt.Errorf("oracle: %w", err)
	}
	cmd := exec.Command("java", fmt.Sprintf("-Xmx%dm", o.HeapMB), "-XX:+UseSerialGC", "--add-opens=java.base/java.lang=ALL-UNNAMED",
		"-Duser.language=en", "-Duser.timezone=UTC",
		"-Dweir.oracle.log="+filepath.Join(o.Dir, "kafka.log"), "-Dweir.oracle.level="+o.LogLevel,
		"-cp", classpath, "weir.oracle.Main", o.Dir)
	cmd.Stderr = stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("oracle: %w", err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("oracle: %w", err)
	}
	// Pdeathsig follows the thread that started the child, so that thread must stay.
	started := make(chan error)
	stopped := make(chan struct{})
	go func() {
		runtime.LockOSThread()
		started <- cmd.Start()
		<-stopped
	}()
	if err := <-started; err != nil {
		close(stopped)
		return nil, fmt.Errorf("oracle: start java: %w", err)
	}
	or := &Oracle{
		cmd: cmd, dir: o.Dir, stderr: stderr,
		out: make(chan []byte, 256), end: make(chan struct{}), waiting: map[uint64]chan<- answer{},
	}
	go or.send(stdin)
	go func() {
		or.receive(stdout)
		close(stopped)
	}()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if _, err := or.call(ctx, opPing, nil); err != nil {
		return nil, errors.Join(fmt.Errorf("oracle: first answer: %w", err), or.Close())
	}
	return or, nil
}

// Close ends the process, brokers included, and waits for it.
func (o *Oracle) Close() error {
	o.mu.Lock()
	if o.err == nil {
		o.err = ErrClosed
		close(o.out)
	}
	o.mu.Unlock()
	kill := time.AfterFunc(30*time.Second, func() { _ = o.cmd.Process.Kill() })
	defer kill.Stop()
	<-o.end
	err := o.cmd.Wait()
	return errors.Join(err, o.stderr.Close())
}

// Stderr returns what the process wrote to its error stream so far.
func (o *Oracle) Stderr() string {
	text, err := os.ReadFile(filepath.Join(o.dir, "stderr.log"))
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func (o *Oracle) call(ctx context.Context, op byte, payload []byte) ([]byte, error) {
	frame := make([]byte, 0, 13+len(payload))
	frame = binary.BigEndian.AppendUint32(frame, uint32(9+len(payload)))
	ch := make(chan answer, 1)
	o.mu.Lock()
	if o.err != nil {
		o.mu.Unlock()
		return nil, o.err
	}
	o.next++
	id := o.next
	o.waiting[id] = ch
	frame = binary.BigEndian.AppendUint64(frame, id)
	frame = append(frame, op)
	frame = append(frame, payload...)
	// Sent under the lock so that Close cannot close the channel in between; the sender never takes the lock.
	o.out <- frame
	o.mu.Unlock()
	select {
	case a, ok := <-ch:
		if !ok {
			return nil, fmt.Errorf("%w: %s", ErrClosed, o.Stderr())
		}
		if a.status != 0 {
			return nil, &FailedError{Trace: string(a.payload)}
		}
		return a.payload, nil
	case <-ctx.Done():
		o.mu.Lock()
		delete(o.waiting, id)
		o.mu.Unlock()
		return nil, ctx.Err()
	}
}

func (o *Oracle) send(w io.WriteCloser) {
	defer w.Close()
	b := bufio.NewWriterSize(w, 1<<20)
	for frame := range o.out {
		if _, err := b.Write(frame); err != nil {
			break
		}
		if len(o.out) == 0 {
			if err := b.Flush(); err != nil {
				break
			}
		}
	}
	_ = b.Flush()
	for range o.out { // a broken pipe must not block callers
	}
}

func (o *Oracle) receive(r io.Reader) {
	b := bufio.NewReaderSize(r, 1<<20)
	head := make([]byte, 13)
	for {
		if _, err := io.ReadFull(b, head); err != nil {
			break
		}
		payload := make([]byte, binary.BigEndian.Uint32(head)-9)
		if _, err := io.ReadFull(b, payload); err != nil {
			break
		}
		id := binary.BigEndian.Uint64(head[4:])
		o.mu.Lock()
		ch := o.waiting[id]
		delete(o.waiting, id)
		o.mu.Unlock()
		if ch != nil {
			ch <- answer{status: head[12], payload: payload}
		}
	}
	o.mu.Lock()
	if o.err == nil {
		o.err = ErrClosed
		close(o.out)
	}
	for _, ch := range o.waiting {
		close(ch)
	}
	clear(o.waiting)
	o.mu.Unlock()
	close(o.end)
}

// build compiles the Java program when a source is newer than the last build, and returns its class path. Packages tested in
// parallel take turns.
func build() (string, error) {
	_, file, _, ok := runtime.Caller(0)
	if !ok {
		return "", errors.New("oracle: no caller frame, cannot find the Java sources")
	}
	root := filepath.Join(filepath.Dir(file), "java")
	target := filepath.Join(root, "target")
	if err := os.MkdirAll(target, 0o755); err != nil {
		return "", fmt.Errorf("oracle: %w", err)
	}
	lock, err := os.OpenFile(filepath.Join(target, "lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return "", fmt.Errorf("oracle: %w", err)
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return "", fmt.Errorf("oracle: lock: %w", err)
	}
	stamp := filepath.Join(target, "built")
	if fresh(root, target, stamp) {
		return readClasspath(target)
	}
	if _, err := maven(root, "-o", "compile"); err != nil {
		if out, err := maven(root, "compile"); err != nil {
			return "", fmt.Errorf("oracle: mvn compile: %w\n%s", err, out)
		}
	}
	if err := os.WriteFile(stamp, nil, 0o644); err != nil {
		return "", fmt.Errorf("oracle: %w", err)
	}
	return readClasspath(target)
}

func maven(root string, args ...string) (string, error) {
	cmd := exec.Command("mvn", append([]string{"-q", "-B"}, args...)...)
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func fresh(root, target, stamp string) bool {
	built, err := os.Stat(stamp)
	if err != nil {
		return false
	}
	newest := built.ModTime()
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if path == target {
			return fs.SkipDir
		}
		st, err := d.Info()
		if err == nil && st.ModTime().After(newest) {
			newest = st.ModTime()
		}
		return err
	})
	return err == nil && newest.Equal(built.ModTime())
}

func readClasspath(target string) (string, error) {
	jars, err := os.ReadFile(filepath.Join(target, "classpath.txt"))
	if err != nil {
		return "", fmt.Errorf("oracle: %w", err)
	}
	return filepath.Join(target, "classes") + ":" + strings.TrimSpace(string(jars)), nil
}

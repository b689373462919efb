package vfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"path"
	"strings"
	"syscall"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// TestCrashScripts plays the scripts of testdata. Each line of the command `do` is one operation; `crash` replaces the
// file system by a crash clone of it; `tree` prints all of it.
func TestCrashScripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, file string) {
		m := NewMem()
		faults := NewFaults(m)
		datadriven.RunTest(t, file, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "reset":
				m = NewMem()
				faults = NewFaults(m)
				return ""
			case "do":
				return doLines(faults, d.Input)
			case "crash":
				var kept float64
				var seed int
				if d.HasArg("kept") {
					var s string
					d.ScanArgs(t, "kept", &s)
					if _, err := fmt.Sscan(s, &kept); err != nil {
						t.Fatal(err)
					}
				}
				d.MaybeScanArgs(t, "seed", &seed)
				m = m.CrashClone(CrashOptions{UnsyncedKept: kept, Rand: rand.New(rand.NewPCG(uint64(seed), 0))})
				faults = NewFaults(m)
				return tree(t, m, "/")
			case "fault":
				return addFault(t, faults, d)
			case "heal":
				faults.Clear()
				return ""
			case "tree":
				return tree(t, m, "/")
			case "ops":
				return fmt.Sprint(m.Ops())
			}
			t.Fatalf("unknown command %s", d.Cmd)
			return ""
		})
	})
}

func addFault(t *testing.T, s *Faults, d *datadriven.TestData) string {
	var f Fault
	for _, arg := range d.CmdArgs {
		switch arg.Key {
		case "kind":
			for _, v := range arg.Vals {
				k, err := parseOpKind(v)
				if err != nil {
					t.Fatal(err)
				}
				f.Kinds |= k
			}
		case "glob":
			f.Glob = arg.Vals[0]
		case "err":
			f.Err = map[string]error{"ENOSPC": syscall.ENOSPC, "EIO": syscall.EIO}[arg.Vals[0]]
		case "after":
			f.After = true
		case "forget":
			f.Forget = true
		case "nth", "times", "short":
			var n int64
			if _, err := fmt.Sscan(arg.Vals[0], &n); err != nil {
				t.Fatal(err)
			}
			switch arg.Key {
			case "nth":
				f.Nth = n
			case "times":
				f.Times = n
			default:
				f.Short = int(n)
			}
		default:
			t.Fatalf("unknown argument %s", arg.Key)
		}
	}
	s.Add(f)
	return ""
}

func doLines(fsys FS, input string) string {
	var out strings.Builder
	for line := range strings.Lines(input) {
		args := strings.Fields(line)
		if len(args) == 0 {
			continue
		}
		if err := doOp(fsys, &out, args); err != nil {
			fmt.Fprintf(&out, "%s: %s\n", strings.Join(args, " "), reason(err))
		}
	}
	if out.Len() == 0 {
		return "ok"
	}
	return out.String()
}

// reason is the innermost error, which is the same on all file systems.
func reason(err error) string {
	var errno syscall.Errno
	switch {
	case errors.As(err, &errno):
		return errno.Error()
	case errors.Is(err, ErrLocked):
		return ErrLocked.Error()
	case errors.Is(err, io.EOF):
		return "EOF"
	}
	return err.Error()
}

// doOp does one operation. Content is written as letter*count, "a*600".
func doOp(fsys FS, out io.Writer, args []string) error {
	name := args[1]
	switch args[0] {
	case "mkdir":
		return fsys.MkdirAll(name, 0o755)
	case "rm":
		return fsys.Remove(name)
	case "rm-r":
		return fsys.RemoveAll(name)
	case "mv":
		return fsys.Rename(name, args[2])
	case "sync-dir":
		return SyncDir(fsys, name)
	case "atomic":
		return WriteFileAtomic(fsys, name, content(args[2]))
	case "lock":
		_, err := fsys.Lock(name)
		return err
	case "cat":
		b, err := ReadFile(fsys, name, 1<<20)
		if err == nil {
			fmt.Fprintf(out, "%s: %s\n", name, runs(b))
		}
		return err
	case "create":
		f, err := fsys.Create(name)
		if err != nil {
			return err
		}
		return f.Close()
	}
	f, err := fsys.OpenReadWrite(name)
	if err != nil {
		return err
	}
	defer f.Close()
	switch args[0] {
	case "write": // write NAME OFF CONTENT
		n, err := f.WriteAt(content(args[3]), number(args[2]))
		if err != nil {
			fmt.Fprintf(out, "wrote %d\n", n)
		}
		return err
	case "write-vec": // write-vec NAME OFF CONTENT...
		var bufs [][]byte
		for _, c := range args[3:] {
			bufs = append(bufs, content(c))
		}
		n, err := f.WriteVec(bufs, number(args[2]))
		if err != nil {
			fmt.Fprintf(out, "wrote %d\n", n)
		}
		return err
	case "append": // append NAME CONTENT
		st, err := f.Stat()
		if err != nil {
			return err
		}
		_, err = f.WriteAt(content(args[2]), st.Size())
		return err
	case "truncate":
		return f.Truncate(number(args[2]))
	case "preallocate":
		return f.Preallocate(0, number(args[2]))
	case "sync":
		return f.Sync()
	case "sync-data":
		return f.SyncData()
	}
	return fmt.Errorf("unknown operation %s", args[0])
}

func number(s string) int64 {
	var n int64
	if _, err := fmt.Sscan(s, &n); err != nil {
		panic(err)
	}
	return n
}

func content(s string) []byte {
	letter, count, found := strings.Cut(s, "*")
	if !found {
		return []byte(s)
	}
	return []byte(strings.Repeat(letter, int(number(count))))
}

// runs prints content as letter*count, zeros as 0.
func runs(b []byte) string {
	var out []string
	for len(b) > 0 {
		n := 1
		for n < len(b) && b[n] == b[0] {
			n++
		}
		c := string(b[:1])
		if b[0] == 0 {
			c = "0"
		}
		out = append(out, fmt.Sprintf("%s*%d", c, n))
		b = b[n:]
	}
	return "[" + strings.Join(out, " ") + "]"
}

func tree(t *testing.T, fsys FS, dir string) string {
	names, err := fsys.List(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, name := range names {
		full := path.Join(dir, name)
		st, err := fsys.Stat(full)
		if err != nil {
			t.Fatal(err)
		}
		if st.IsDir() {
			fmt.Fprintf(&out, "%s/\n%s", full, tree(t, fsys, full))
			continue
		}
		b, err := ReadFile(fsys, full, 1<<20)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		fmt.Fprintf(&out, "%s %s\n", full, runs(b))
	}
	return out.String()
}

// parseOpKind is the inverse of OpKind.String for one kind.
func parseOpKind(name string) (OpKind, error) {
	for i, n := range opNames {
		if n == name {
			return 1 << i, nil
		}
	}
	return 0, fmt.Errorf("unknown file operation %q", name)
}

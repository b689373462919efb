package vfs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// TestMemBehavesAsTheSystem does the same random operations on Mem and on the machine's file system.
func TestMemBehavesAsTheSystem(t *testing.T) {
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 1))
		real, mem := t.TempDir(), NewMem()
		names := []string{"a", "b", "d", "d/a", "d/b", "d/e", "d/e/a", "d/e/f/g"}
		for step := range 200 {
			op := randomOp(rng, names)
			var got [2]string
			for i, fsys := range []FS{OS(), mem} {
				args := append([]string(nil), op...)
				if i == 0 {
					for j := 1; j < len(args); j++ {
						if strings.HasPrefix(args[j], "a") || strings.HasPrefix(args[j], "b") || strings.HasPrefix(args[j], "d") {
							if !strings.Contains(args[j], "*") {
								args[j] = filepath.Join(real, args[j])
							}
						}
					}
				}
				var out bytes.Buffer
				if err := doOp(fsys, &out, args); err != nil {
					fmt.Fprint(&out, reason(err))
				}
				got[i] = strings.ReplaceAll(out.String(), real+"/", "")
			}
			if got[0] != got[1] {
				t.Fatalf("seed %d step %d %v: system %q, Mem %q", seed, step, op, got[0], got[1])
			}
		}
		if a, b := strings.ReplaceAll(tree(t, OS(), real), real, ""), tree(t, mem, "/"); a != b {
			t.Fatalf("seed %d: system has\n%sMem has\n%s", seed, a, b)
		}
	}
}

func randomOp(rng *rand.Rand, names []string) []string {
	name := names[rng.IntN(len(names))]
	blob := fmt.Sprintf("%c*%d", 'p'+rune(rng.IntN(8)), rng.IntN(6000))
	off := fmt.Sprint(rng.IntN(10000))
	switch rng.IntN(14) {
	case 0:
		return []string{"mkdir", name}
	case 1:
		return []string{"rm", name}
	case 2:
		return []string{"rm-r", name}
	case 3, 4:
		return []string{"mv", name, names[rng.IntN(len(names))]}
	case 5:
		return []string{"write-vec", name, off, blob, "q*3", blob}
	case 6:
		return []string{"truncate", name, off}
	case 7:
		return []string{"append", name, blob}
	case 8, 9:
		return []string{"cat", name}
	case 10:
		return []string{"preallocate", name, off}
	case 11, 12:
		return []string{"create", name}
	}
	return []string{"write", name, off, blob}
}

// TestSyncedContentSurvivesEveryCrash keeps a model of what was synced and crashes after every operation.
func TestSyncedContentSurvivesEveryCrash(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 2))
		m := NewMem()
		f, err := m.Create("log")
		if err != nil {
			t.Fatal(err)
		}
		if err := SyncDir(m, "/"); err != nil {
			t.Fatal(err)
		}
		var seen, synced []byte
		check := func(kept float64) {
			c := m.CrashClone(CrashOptions{UnsyncedKept: kept, Rand: rng})
			got, err := ReadFile(c, "log", 1<<20)
			if err != nil {
				t.Fatal(err)
			}
			if kept == 0 && !bytes.Equal(got, synced) || kept == 1 && !bytes.Equal(got, seen) {
				t.Fatalf("seed %d kept %v: content is neither what was synced nor what was seen", seed, kept)
			}
			if len(got) < len(synced) {
				t.Fatalf("seed %d: %d bytes left of %d synced", seed, len(got), len(synced))
			}
			for i, b := range got { // appends only: each byte is old, new or a hole
				if i < len(synced) && b != synced[i] || b != 0 && b != seen[i] {
					t.Fatalf("seed %d kept %v: byte %d is %d", seed, kept, i, b)
				}
			}
		}
		for range 60 {
			if rng.IntN(4) == 0 {
				if err := f.SyncData(); err != nil {
					t.Fatal(err)
				}
				synced = bytes.Clone(seen)
			} else {
				b := bytes.Repeat([]byte{byte(1 + rng.IntN(255))}, 1+rng.IntN(3000))
				if _, err := f.WriteAt(b, int64(len(seen))); err != nil {
					t.Fatal(err)
				}
				seen = append(seen, b...)
			}
			check(0)
			check(0.5)
			check(1)
		}
		if got, _ := ReadFile(m, "log", 1<<20); !bytes.Equal(got, seen) {
			t.Fatalf("seed %d: clones changed the original", seed)
		}
	}
}

func TestCloneAndOriginalDoNotSeeEachOther(t *testing.T) {
	m := NewMem()
	if err := WriteFileAtomic(m, "f", []byte("original")); err != nil {
		t.Fatal(err)
	}
	c := m.Clone()
	for fsys, b := range map[*Mem]string{m: "ORIG", c: "CLON"} {
		f, err := fsys.OpenReadWrite("f")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteAt([]byte(b), 0); err != nil {
			t.Fatal(err)
		}
	}
	for fsys, want := range map[*Mem]string{m: "ORIGinal", c: "CLONinal"} {
		if got, _ := ReadFile(fsys, "f", 100); string(got) != want {
			t.Errorf("have %s, want %s", got, want)
		}
	}
}

// TestWriteFileAtomicLeavesOldOrNewAtEveryCrash crashes after every operation and at several kindnesses of the disk.
func TestWriteFileAtomicLeavesOldOrNewAtEveryCrash(t *testing.T) {
	oldContent, newContent := bytes.Repeat([]byte("o"), 3000), bytes.Repeat([]byte("n"), 5000)
	m := NewMem()
	if err := WriteFileAtomic(m, "f", oldContent); err != nil {
		t.Fatal(err)
	}
	crashes := 0
	rng := rand.New(rand.NewPCG(7, 7))
	m.OnOp(func(op Op) {
		for _, kept := range []float64{0, 0.2, 0.5, 0.8, 1} {
			for range 10 {
				crashes++
				got, err := ReadFile(m.CrashClone(CrashOptions{UnsyncedKept: kept, Rand: rng}), "f", 1<<20)
				if err != nil || !bytes.Equal(got, oldContent) && !bytes.Equal(got, newContent) {
					t.Errorf("crash after %s, kept %v: %d bytes, %v", op, kept, len(got), err)
				}
			}
		}
	})
	if err := WriteFileAtomic(m, "f", newContent); err != nil {
		t.Fatal(err)
	}
	if got, _ := ReadFile(m.CrashClone(CrashOptions{}), "f", 1<<20); !bytes.Equal(got, newContent) {
		t.Error("new content is not durable though the call returned")
	}
	if crashes != 5*50 { // create, write, sync, rename, sync-dir
		t.Errorf("%d crashes", crashes)
	}
}

func TestWriteFileAtomicKeepsOldContentWhenAnyOperationFails(t *testing.T) {
	for _, kind := range []OpKind{OpCreate, OpWrite, OpSync, OpClose, OpRename, OpOpenDir, OpSyncDir} {
		m := NewMem()
		if err := WriteFileAtomic(m, "f", []byte("old")); err != nil {
			t.Fatal(err)
		}
		s := NewFaults(m)
		s.Add(Fault{Kinds: kind, Err: syscall.ENOSPC, Short: 1, Times: 1})
		if err := WriteFileAtomic(s, "f", []byte("new")); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("%s: have %v", kind, err)
		}
		got, err := ReadFile(m, "f", 10)
		if err != nil || string(got) != "old" && string(got) != "new" {
			t.Errorf("%s: left %q, %v", kind, got, err)
		}
	}
}

func TestReadFileRefusesBeforeItAllocates(t *testing.T) {
	m := NewMem()
	f, err := m.Create("big")
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Truncate(1 << 50); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadFile(m, "big", 1<<20); !errors.Is(err, ErrFileTooLarge) {
		t.Fatalf("have %v", err)
	}
}

func TestOSWriteVecWritesMoreThanTheSystemTakesAtOnce(t *testing.T) {
	f, err := OS().Create(filepath.Join(t.TempDir(), "f"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, count := range []int{0, 1, 2, iovMax, iovMax + 1, 3*iovMax + 5} {
		var bufs [][]byte
		want := bytes.Repeat([]byte{'.'}, 7)
		for i := range count {
			b := bytes.Repeat([]byte{byte('a' + i%26)}, i%5) // some empty
			bufs = append(bufs, b)
			want = append(want, b...)
		}
		if err := f.Truncate(0); err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteAt(want[:7], 0); err != nil {
			t.Fatal(err)
		}
		n, err := f.WriteVec(bufs, 7)
		if err != nil || n != len(want)-7 {
			t.Fatalf("%d buffers: wrote %d, %v", count, n, err)
		}
		got := make([]byte, len(want)+1)
		n, err = f.ReadAt(got, 0)
		if !errors.Is(err, io.EOF) || !bytes.Equal(got[:n], want) {
			t.Fatalf("%d buffers: content differs (%v)", count, err)
		}
	}
}

func TestOSWriteVecReportsHowMuchAFullDiskTook(t *testing.T) {
	f, err := OS().Create(filepath.Join(t.TempDir(), "f"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	// The file size limit makes the kernel write short and then refuse, as a full disk does. The signal that comes with
	// it is ignored by Go programs that ask for it; here the limit is set in a child.
	if os.Getenv("WEIR_VFS_CHILD") == "" {
		cmd := exec.Command(os.Args[0], "-test.run", t.Name()+"$")
		cmd.Env = append(os.Environ(), "WEIR_VFS_CHILD=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 100, Max: 100}); err != nil {
		t.Skip(err)
	}
	n, err := f.WriteVec([][]byte{make([]byte, 70), make([]byte, 70)}, 0)
	if n != 100 || !errors.Is(err, syscall.EFBIG) {
		t.Fatalf("wrote %d, %v", n, err)
	}
}

func TestWriteVecDoesNotAllocatePerWrite(t *testing.T) {
	f, err := OS().Create(filepath.Join(t.TempDir(), "f"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	bufs := [][]byte{make([]byte, 100), make([]byte, 100)}
	if n := testing.AllocsPerRun(200, func() {
		if _, err := f.WriteVec(bufs, 0); err != nil {
			t.Fatal(err)
		}
	}); n > 1 {
		t.Errorf("%v allocations a write", n)
	}
}

func TestOSPreallocateKeepsTheLength(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	f, err := OS().Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Preallocate(0, 1<<20); err != nil {
		t.Fatal(err)
	}
	st, err := f.Stat()
	if err != nil || st.Size() != 0 {
		t.Fatalf("size %d, %v", st.Size(), err)
	}
	for _, sync := range []func() error{f.Sync, f.SyncData} {
		if err := sync(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestOSLockExcludesThisProcessAndOthers(t *testing.T) {
	name := filepath.Join(t.TempDir(), ".lock")
	if os.Getenv("WEIR_VFS_LOCK") != "" {
		_, err := OS().Lock(os.Getenv("WEIR_VFS_LOCK"))
		fmt.Printf("child: %v locked=%v\n", err, errors.Is(err, ErrLocked))
		return
	}
	l, err := OS().Lock(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := OS().Lock(name); !errors.Is(err, ErrLocked) {
		t.Fatalf("a second lock in this process: %v", err)
	}
	child := func() string {
		cmd := exec.Command(os.Args[0], "-test.run", t.Name()+"$", "-test.v")
		cmd.Env = append(os.Environ(), "WEIR_VFS_LOCK="+name)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return string(out)
	}
	if out := child(); !strings.Contains(out, "locked=true") || !strings.Contains(out, fmt.Sprintf("process id %d", os.Getpid())) {
		t.Errorf("another process: %s", out)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if out := child(); !strings.Contains(out, "child: <nil>") {
		t.Errorf("after release: %s", out)
	}
}

func TestOSDiskUsage(t *testing.T) {
	u, err := OS().DiskUsage(t.TempDir())
	if err != nil || u.Total == 0 || u.Free > u.Total {
		t.Fatalf("%+v, %v", u, err)
	}
	if _, err := OS().DiskUsage("/does/not/exist"); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("have %v", err)
	}
}

func TestRootSeesThroughWrappers(t *testing.T) {
	if Root(NewFaults(NewFaults(OS()))) != OS() {
		t.Error("OS() is not found under two wrappers")
	}
	m := NewMem()
	if Root(NewFaults(m)) != FS(m) || Root(m) != FS(m) {
		t.Error("Mem is not found")
	}
}

func TestMemIsSafeForConcurrentUse(t *testing.T) {
	m := NewMem()
	var clones sync.WaitGroup
	m.OnOp(func(op Op) {
		if op.Seq%50 == 0 {
			clones.Go(func() {
				c := m.CrashClone(CrashOptions{UnsyncedKept: 0.5, Rand: rand.New(rand.NewPCG(uint64(op.Seq), 0))})
				f, err := c.Create("x")
				if err != nil {
					t.Error(err)
					return
				}
				_, _ = f.WriteAt([]byte("x"), 0)
			})
		}
	})
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			name := fmt.Sprintf("d%d/f", g)
			if err := m.MkdirAll(filepath.Dir(name), 0o755); err != nil {
				t.Error(err)
			}
			f, err := m.Create(name)
			if err != nil {
				t.Error(err)
				return
			}
			buf := make([]byte, 100)
			for i := range int64(300) {
				_, _ = f.WriteAt(buf, i*100)
				_, _ = f.ReadAt(buf, i*50)
				_ = f.SyncData()
				_, _ = m.List("/")
				_ = m.Rename(name, name+"2")
				_ = m.Rename(name+"2", name)
			}
		})
	}
	wg.Wait()
	clones.Wait()
	if m.Ops() == 0 {
		t.Error("nothing counted")
	}
}

func TestMemClosedAndReadOnlyFilesRefuse(t *testing.T) {
	m := NewMem()
	if err := WriteFileAtomic(m, "f", []byte("abc")); err != nil {
		t.Fatal(err)
	}
	f, err := m.Open("f")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte("x"), 0); !errors.Is(err, syscall.EBADF) {
		t.Errorf("write to a file open for reading: %v", err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := f.ReadAt(make([]byte, 1), 0); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("read of a closed file: %v", err)
	}
	if err := f.Close(); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("second close: %v", err)
	}
}

func TestMemUnlinkedFileStaysReadable(t *testing.T) {
	m := NewMem()
	if err := WriteFileAtomic(m, "f", []byte("abc")); err != nil {
		t.Fatal(err)
	}
	f, err := m.OpenReadWrite("f")
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Remove("f"); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 3)
	if _, err := f.ReadAt(b, 0); err != nil || string(b) != "abc" {
		t.Fatalf("%q, %v", b, err)
	}
	if _, err := f.WriteAt([]byte("x"), 3); err != nil {
		t.Fatal(err)
	}
}

func TestModificationTimes(t *testing.T) {
	at := time.UnixMilli(1700000000123)
	dir := t.TempDir()
	for fsys, name := range map[FS]string{OS(): filepath.Join(dir, "f"), NewMem(): "f"} {
		if err := WriteFileAtomic(fsys, name, nil); err != nil {
			t.Fatal(err)
		}
		if err := fsys.Chtimes(name, at); err != nil {
			t.Fatal(err)
		}
		if st, err := fsys.Stat(name); err != nil || !st.ModTime().Equal(at) {
			t.Errorf("%T: %v, %v", fsys, st.ModTime(), err)
		}
	}
}

// BenchmarkMemCrashAfterEveryAppend is the cost of one round of a crash-clone model test on a log of a few megabytes.
func BenchmarkMemCrashAfterEveryAppend(b *testing.B) {
	m := NewMem()
	f, err := m.Create("log")
	if err != nil {
		b.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	rec := make([]byte, 200)
	var off int64
	for b.Loop() {
		if _, err := f.WriteAt(rec, off%(4<<20)); err != nil {
			b.Fatal(err)
		}
		off += 200
		if off%4000 == 0 {
			if err := f.SyncData(); err != nil {
				b.Fatal(err)
			}
		}
		m.CrashClone(CrashOptions{UnsyncedKept: 0.5, Rand: rng})
	}
}

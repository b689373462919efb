package commitlog

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/weir-broker/weir/broker/vfs"
)

var dirOwner = DirOptions{ClusterID: "4L6g3nShT-eMCtK--X86sw", NodeID: 7}

func mustOpenDir(t *testing.T, fsys vfs.FS, path string) *Dir {
	t.Helper()
	d, err := OpenDir(fsys, path, dirOwner)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func mustWrite(t *testing.T, fsys vfs.FS, name, content string) {
	t.Helper()
	if err := fsys.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := vfs.WriteFileAtomic(fsys, name, []byte(content)); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, fsys vfs.FS, name string) string {
	t.Helper()
	b, err := vfs.ReadFile(fsys, name, 1<<24)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// bothFS runs a test on the machine's file system, where marks are in bbolt, and on Mem, where they are in a file.
func bothFS(t *testing.T, fn func(t *testing.T, fsys vfs.FS, path string)) {
	t.Run("os", func(t *testing.T) { fn(t, vfs.OS(), filepath.Join(t.TempDir(), "a", "log")) })
	t.Run("mem", func(t *testing.T) { fn(t, vfs.NewMem(), "/a/log") })
}

func TestNewDirGetsIdentityAndKeepsIt(t *testing.T) {
	bothFS(t, func(t *testing.T, fsys vfs.FS, path string) {
		d := mustOpenDir(t, fsys, path)
		id := d.ID()
		if id == (DirectoryID{}) || d.CleanShutdown() || d.PreviousBrokerEpoch() != -1 {
			t.Errorf("id %s, clean %v, epoch %d", id, d.CleanShutdown(), d.PreviousBrokerEpoch())
		}
		if err := d.Close(true); err != nil {
			t.Fatal(err)
		}
		want := "cluster.id=4L6g3nShT-eMCtK--X86sw\ndirectory.id=" + id.String() + "\nnode.id=7\nversion=1\n"
		if got := read(t, fsys, filepath.Join(path, "meta.properties")); got != want {
			t.Errorf("have %q, want %q", got, want)
		}
		d = mustOpenDir(t, fsys, path)
		defer d.Close(false)
		if d.ID() != id {
			t.Errorf("id changed from %s to %s", id, d.ID())
		}
	})
}

func TestNewNestedDirSurvivesACrash(t *testing.T) {
	fsys := vfs.NewMem()
	if err := mustOpenDir(t, fsys, "/srv/weir/a/log").Close(true); err != nil {
		t.Fatal(err)
	}
	after := fsys.CrashClone(vfs.CrashOptions{})
	for _, name := range []string{"/srv/weir/a/log/meta.properties", "/srv/weir/a/log/" + cleanShutdownFile} {
		if _, err := after.Stat(name); err != nil {
			t.Errorf("after a crash: %v", err)
		}
	}
}

func TestDirInUseIsRefused(t *testing.T) {
	bothFS(t, func(t *testing.T, fsys vfs.FS, path string) {
		d := mustOpenDir(t, fsys, path)
		if _, err := OpenDir(fsys, path, dirOwner); !errors.Is(err, ErrDirLocked) || !strings.Contains(err.Error(), path) {
			t.Errorf("have %v", err)
		}
		if err := d.Close(false); err != nil {
			t.Fatal(err)
		}
		if err := mustOpenDir(t, fsys, path).Close(false); err != nil {
			t.Fatal(err)
		}
	})
}

func TestMetaProperties(t *testing.T) {
	const kafkas = "#\n#Mon Nov 30 10:00:00 UTC 2026\nnode.id=7\ndirectory.id=Wq5uHFyVTvSvsCLpNv0r7w\nversion=1\ncluster.id=4L6g3nShT-eMCtK--X86sw\n"
	for name, c := range map[string]struct {
		content string
		err     error
		says    []string
	}{
		"as Kafka writes it": {content: kafkas},
		"spaces, colons, escapes, CRLF": {content: "! x\r\nversion : 1\r\nnode.id 7\r\n cluster.id = 4L6g3nShT\\-eMCtK--X86sw\r\n" +
			"directory.id=Wq5uHFyVTvSvsCLpNv0r7w\r\n"},
		"version 0":       {content: "version=0\nbroker.id=7\n"},
		"another cluster": {strings.Replace(kafkas, "4L6", "5L6", 1), ErrForeignDir, []string{"5L6g3nShT-eMCtK--X86sw", "4L6g3nShT-eMCtK--X86sw", "meta.properties", "log.dirs"}},
		"another node":    {strings.Replace(kafkas, "node.id=7", "node.id=8", 1), ErrForeignDir, []string{"node.id is 8", "is 7", "meta.properties"}},
		"version 0 of another node": {
			"version=0\nbroker.id=3\n", ErrForeignDir, []string{"node.id is 3"},
		},
		"newer version":       {strings.Replace(kafkas, "version=1", "version=2", 1), ErrBadMetaProperties, []string{`"2"`}},
		"empty":               {"", ErrBadMetaProperties, []string{"version"}},
		"no node":             {strings.Replace(kafkas, "node.id=7", "", 1), ErrBadMetaProperties, []string{"node.id"}},
		"no cluster":          {strings.Replace(kafkas, "cluster.id", "x", 1), ErrBadMetaProperties, []string{"cluster.id"}},
		"bad directory id":    {strings.Replace(kafkas, "Wq5", "Wq", 1), ErrBadMetaProperties, []string{"directory.id"}},
		"number out of range": {strings.Replace(kafkas, "node.id=7", "node.id=4294967303", 1), ErrBadMetaProperties, []string{"node.id"}},
		"huge":                {strings.Repeat("#", smallFileLimit+1), ErrBadMetaProperties, []string{"larger"}},
	} {
		t.Run(name, func(t *testing.T) {
			fsys := vfs.NewMem()
			mustWrite(t, fsys, "/log/meta.properties", c.content)
			d, err := OpenDir(fsys, "/log", dirOwner)
			if !errors.Is(err, c.err) {
				t.Fatalf("have %v, want %v", err, c.err)
			}
			for _, part := range c.says {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q does not say %q", err, part)
				}
			}
			if err != nil {
				if read(t, fsys, "/log/meta.properties") != c.content {
					t.Error("a refused file was changed")
				}
				if _, err := fsys.Lock("/log/.lock"); err != nil {
					t.Errorf("still locked after failure: %v", err)
				}
				return
			}
			id := d.ID()
			if !strings.HasPrefix(c.content, "version=0") && id.String() != "Wq5uHFyVTvSvsCLpNv0r7w" {
				t.Errorf("directory id is %s", id)
			}
			if err := d.Close(true); err != nil {
				t.Fatal(err)
			}
			if d = mustOpenDir(t, fsys, "/log"); d.ID() != id || id == (DirectoryID{}) {
				t.Errorf("directory id %s, then %s", id, d.ID())
			}
		})
	}
}

func TestPartitionsWithoutMetaPropertiesAreRefused(t *testing.T) {
	fsys := vfs.NewMem()
	mustWrite(t, fsys, "/log/orders-0/00000000000000000000.log", "")
	_, err := OpenDir(fsys, "/log", dirOwner)
	if !errors.Is(err, ErrBadMetaProperties) || !strings.Contains(err.Error(), "orders-0") {
		t.Fatalf("have %v", err)
	}
}

func TestCleanShutdownMarkHoldsForOneStart(t *testing.T) {
	bothFS(t, func(t *testing.T, fsys vfs.FS, path string) {
		d := mustOpenDir(t, fsys, path)
		d.SetBrokerEpoch(42)
		if err := d.Close(true); err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(path, ".kafka_cleanshutdown")
		if got := read(t, fsys, name); got != `{"version":0,"brokerEpoch":42}` {
			t.Errorf("mark is %s", got)
		}
		d = mustOpenDir(t, fsys, path)
		if !d.CleanShutdown() || d.PreviousBrokerEpoch() != 42 {
			t.Errorf("clean %v, epoch %d", d.CleanShutdown(), d.PreviousBrokerEpoch())
		}
		if _, err := fsys.Stat(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the mark is still there: %v", err)
		}
		if err := d.Close(false); err != nil {
			t.Fatal(err)
		}
		d = mustOpenDir(t, fsys, path)
		defer d.Close(false)
		if d.CleanShutdown() {
			t.Error("clean after an unclean close")
		}
	})
}

func TestUnreadableCleanShutdownMarkStillCounts(t *testing.T) {
	for _, content := range []string{"", "x", `{"version":9}`, `{"version":0}`, `{"version":0,"brokerEpoch":"x"}`} {
		fsys := vfs.NewMem()
		if err := mustOpenDir(t, fsys, "/log").Close(false); err != nil {
			t.Fatal(err)
		}
		mustWrite(t, fsys, "/log/.kafka_cleanshutdown", content)
		if d := mustOpenDir(t, fsys, "/log"); !d.CleanShutdown() || d.PreviousBrokerEpoch() != -1 {
			t.Errorf("%q: clean %v, epoch %d", content, d.CleanShutdown(), d.PreviousBrokerEpoch())
		}
	}
}

func TestOfflineDirIsNotClosedCleanly(t *testing.T) {
	fsys := vfs.NewMem()
	d := mustOpenDir(t, fsys, "/log")
	var told []error
	d.OnFail(func(err error) { told = append(told, err) })
	if err, off := d.Offline(); off || err != nil {
		t.Fatal("offline at once")
	}
	first := errors.New("first")
	d.Fail(nil)
	d.Fail(first)
	d.Fail(errors.New("second"))
	d.OnFail(func(err error) { told = append(told, err) })
	if err, off := d.Offline(); !off || !errors.Is(err, first) {
		t.Errorf("offline %v, %v", off, err)
	}
	if len(told) != 2 || told[0] != first || told[1] != first {
		t.Errorf("callbacks got %v", told)
	}
	if err := d.Close(true); err != nil {
		t.Fatal(err)
	}
	if d = mustOpenDir(t, fsys, "/log"); d.CleanShutdown() {
		t.Error("an offline directory was marked clean")
	}
}

func TestDirListsLivePartitionsAndRemovesDeletedOnes(t *testing.T) {
	bothFS(t, func(t *testing.T, fsys vfs.FS, path string) {
		if err := mustOpenDir(t, fsys, path).Close(true); err != nil {
			t.Fatal(err)
		}
		const unique = "0123456789abcdef0123456789abcdef"
		for _, name := range []string{
			"orders-0", "orders-12", "a-b.c-3", "x-delete-0", "gone-1." + unique + "-delete", "stray-1." + unique + "-stray",
			"future-1." + unique + "-future", "lost+found", "orders", "plain",
		} {
			mustWrite(t, fsys, filepath.Join(path, name, "file"), "x")
		}
		mustWrite(t, fsys, filepath.Join(path, "file-0"), "not a folder")
		d := mustOpenDir(t, fsys, path)
		defer d.Close(false)
		folders, err := d.Partitions()
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range folders {
			got = append(got, f.Topic+"/"+f.TopicPartition.String())
			if f.Name != f.TopicPartition.String() {
				t.Errorf("%+v", f)
			}
		}
		if want := "a-b.c/a-b.c-3 orders/orders-0 orders/orders-12 x-delete/x-delete-0"; strings.Join(got, " ") != want {
			t.Errorf("have %v", got)
		}
		names, err := fsys.List(path)
		if err != nil {
			t.Fatal(err)
		}
		all := strings.Join(names, " ")
		if strings.Contains(all, "gone-1") || !strings.Contains(all, "stray-1") || !strings.Contains(all, "future-1") {
			t.Errorf("left: %s", all)
		}
	})
}

func TestFolderNames(t *testing.T) {
	const unique = "0123456789abcdef0123456789abcdef"
	for name, want := range map[string]Folder{
		"t-0":                             {TopicPartition{"t", 0}, FolderLive, ""},
		"t-2147483647":                    {TopicPartition{"t", 2147483647}, FolderLive, ""},
		"__consumer_offsets-49":           {TopicPartition{"__consumer_offsets", 49}, FolderLive, ""},
		"a-b-1":                           {TopicPartition{"a-b", 1}, FolderLive, ""},
		"t-0." + unique + "-delete":       {TopicPartition{"t", 0}, FolderDeleted, ""},
		"t-0." + unique + "-stray":        {TopicPartition{"t", 0}, FolderStray, ""},
		"t-0." + unique + "-future":       {TopicPartition{"t", 0}, FolderFuture, ""},
		"t." + unique + "-delete-5":       {TopicPartition{"t." + unique + "-delete", 5}, FolderLive, ""},
		"t--1":                            {TopicPartition{"t-", 1}, FolderLive, ""},
		"t-01":                            {},
		"t-+1":                            {},
		"t-2147483648":                    {},
		"-0":                              {},
		"t":                               {},
		"t-":                              {},
		"":                                {},
		"t-0.xyz-delete":                  {},
		"t-0." + unique[:31] + "-delete":  {},
		"t-0." + unique[:31] + "X-delete": {},
		"." + unique + "-delete":          {},
		unique + "-delete":                {},
	} {
		got, ok := ParseFolder(name)
		if ok != (want != Folder{}) {
			t.Errorf("%s: parsed %v", name, ok)
		}
		if want.Name = got.Name; ok && (got != want || got.Name != name) {
			t.Errorf("%s: have %+v, want %+v", name, got, want)
		}
	}
	long := TopicPartition{strings.Repeat("x", 249), 123}
	for _, kind := range []FolderKind{FolderDeleted, FolderStray, FolderFuture} {
		name := FolderName(long, kind, [16]byte{0xab})
		if f, ok := ParseFolder(name); !ok || len(name) > 255 || f.Kind != kind || f.Partition != 123 {
			t.Errorf("%s: %d bytes, %+v", name, len(name), f)
		}
	}
	if got := FolderName(TopicPartition{"t", 1}, FolderDeleted, [16]byte{1}); got != "t-1.01000000000000000000000000000000-delete" {
		t.Error(got)
	}
}

// TestDirSurvivesCrashAtEveryOperation opens, marks and closes a directory and crashes after each operation on the way.
func TestDirSurvivesCrashAtEveryOperation(t *testing.T) {
	fsys := vfs.NewMem()
	rng := rand.New(rand.NewPCG(3, 3))
	tp := TopicPartition{"orders", 0}
	var opened *Dir           // returned by OpenDir
	durable := int64(Unknown) // log start offset that was acknowledged
	started := false
	crashes := 0
	fsys.OnOp(func(op vfs.Op) {
		for _, kept := range []float64{0, 0.5, 1} {
			crashes++
			c := fsys.CrashClone(vfs.CrashOptions{UnsyncedKept: kept, Rand: rng})
			d, err := OpenDir(c, "/log", dirOwner)
			if err != nil {
				t.Fatalf("after %s, kept %v: %v", op, kept, err)
			}
			if opened != nil && d.ID() != opened.ID() {
				t.Errorf("after %s, kept %v: the directory id changed", op, kept)
			}
			if got := d.Marks().Get(tp).LogStartOffset; int64(got) < durable {
				t.Errorf("after %s, kept %v: log start offset %d, acknowledged %d", op, kept, got, durable)
			}
			if started && kept == 0 && d.CleanShutdown() {
				t.Errorf("after %s: clean though the directory was in use", op)
			}
			if err := d.Close(true); err != nil {
				t.Error(err)
			}
		}
	})
	for round := range int64(3) {
		d := mustOpenDir(t, fsys, "/log")
		opened, started = d, true
		d.Marks().SetHighWatermark(tp, 5)
		for i := range int64(3) {
			if err := d.Marks().SetLogStartOffset(tp, offset(round*10+i)); err != nil {
				t.Fatal(err)
			}
			durable = round*10 + i
		}
		started = false
		if err := d.Close(round < 2); err != nil {
			t.Fatal(err)
		}
	}
	if crashes < 60 {
		t.Errorf("only %d crashes", crashes)
	}
}

func TestFailedDiskIsReportedByOpenDir(t *testing.T) {
	for nth := int64(1); ; nth++ {
		mem := vfs.NewMem()
		if err := mustOpenDir(t, mem, "/log").Close(true); err != nil {
			t.Fatal(err)
		}
		s := vfs.NewFaults(mem)
		rule := s.Add(vfs.Fault{Nth: nth, Err: syscall.EIO})
		d, err := OpenDir(s, "/log", dirOwner)
		if rule.Failed() == 0 {
			if err != nil {
				t.Fatal(err)
			}
			if nth < 8 {
				t.Errorf("only %d operations", nth)
			}
			return
		}
		if err == nil {
			_ = d.Close(false)
			continue // only closing a file that was read failed
		}
		if !errors.Is(err, ErrStorage) || !errors.Is(err, syscall.EIO) {
			t.Errorf("operation %d: %v", nth, err)
		}
		if err := mustOpenDir(t, mem, "/log").Close(true); err != nil {
			t.Errorf("operation %d: %v", nth, err)
		}
	}
}

// TestFailedDiskAtCloseLeavesNoWrongMark fails every operation of a clean close: what is opened afterwards is clean only
// with all marks, and without it has none that is too high.
func TestFailedDiskAtCloseLeavesNoWrongMark(t *testing.T) {
	tp := TopicPartition{"orders", 0}
	for nth := int64(1); ; nth++ {
		mem := vfs.NewMem()
		s := vfs.NewFaults(mem)
		d := mustOpenDir(t, s, "/log")
		d.Marks().SetRecoveryPoint(tp, 10)
		rule := s.Add(vfs.Fault{Nth: nth, Err: syscall.ENOSPC})
		err := d.Close(true)
		if rule.Failed() == 0 {
			if err != nil || nth < 20 {
				t.Errorf("%d operations, %v", nth, err)
			}
			return
		}
		if err == nil {
			t.Errorf("operation %d: no error", nth)
		}
		for _, kept := range []float64{0, 1} {
			d := mustOpenDir(t, mem.CrashClone(vfs.CrashOptions{UnsyncedKept: kept}), "/log")
			got := d.Marks().Get(tp).RecoveryPoint
			if d.CleanShutdown() && got != 10 || got != 10 && got != Unknown {
				t.Errorf("operation %d, kept %v: clean %v with recovery point %d", nth, kept, d.CleanShutdown(), got)
			}
		}
	}
}

// What a killed first start, a file system or Kafka's format tool leaves is no reason to refuse a directory; what somebody keeps there is.
func TestOnlyNewDirectoriesAreFormatted(t *testing.T) {
	for name, accepted := range map[string]bool{
		".lock": true, ".gitkeep": true, "lost+found": true, "meta.properties.tmp": true, "local.db": true, "bootstrap.checkpoint": true,
		"recovery-point-offset-checkpoint": true,
		"notes.txt":                        false, "src": false, "weir-metadata": false,
	} {
		fs := vfs.NewMem()
		if err := fs.MkdirAll("d", 0o755); err != nil {
			t.Fatal(err)
		}
		f, err := fs.Create("d/" + name)
		if err != nil || f.Close() != nil {
			t.Fatal(err)
		}
		d, err := OpenDir(fs, "d", DirOptions{ClusterID: "4L6g3nShT-eMCtK--X86sw", NodeID: 7})
		if (err == nil) != accepted || err != nil && !errors.Is(err, ErrNotLogDir) {
			t.Errorf("a directory with %s: %v", name, err)
		}
		if err == nil && d.Close(true) != nil {
			t.Errorf("%s: not closed", name)
		}
	}
}

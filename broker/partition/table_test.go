package partition

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/weir-broker/weir/broker/batch"
	"github.com/weir-broker/weir/broker/commitlog"
	"github.com/weir-broker/weir/broker/metadata"
	"github.com/weir-broker/weir/broker/vfs"
)

// folders lists the partition folders of the test directories, with unique
// parts cut out.
func folders(t *testing.T, fs vfs.FS) []string {
	t.Helper()
	var out []string
	for _, d := range testDirs {
		names, err := fs.List(d)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if f, ok := commitlog.ParseFolder(name); ok {
				if f.Kind != commitlog.FolderLive {
					name = f.TopicPartition.String() + name[strings.LastIndexByte(name, '-'):]
				}
				out = append(out, filepath.Join(d, name))
			}
		}
	}
	return out
}

func TestNewPartitionsGoToTheEmptierDirectory(t *testing.T) {
	c := newCluster(t)
	fs := vfs.NewMem()
	h := openHost(t, fs, nil)
	defer h.close()
	c.topic("a", 3)
	h.apply(c)
	c.topic("b", 2)
	h.apply(c)
	byDir := map[string]int{}
	for _, p := range h.All() {
		byDir[p.dir.path]++
	}
	if byDir["/data/a"]+byDir["/data/b"] != 5 || byDir["/data/a"] < 2 || byDir["/data/b"] < 2 {
		t.Errorf("%v", byDir)
	}
	for _, d := range h.LogDirs() {
		if d.Err != nil || len(d.Replicas) != byDir[d.Path] || d.ID == (metadata.DirID{}) {
			t.Errorf("%+v", d)
		}
	}
}

func TestRecordsAndConfigurationSurviveRestarts(t *testing.T) {
	c := newCluster(t)
	id := c.topic("t", 4)
	fs := vfs.NewMem()
	for round := range 4 {
		h := openHost(t, fs, nil)
		h.apply(c)
		h.apply(c) // idempotent
		for i := range int32(4) {
			p, err := h.LookupID(id, i)
			if err != nil {
				t.Fatal(err)
			}
			mustAppend(t, p, values(fmt.Sprintf("r%d", round)))
			if got := read(t, p, 0); len(got) != round+1 || got[round] != fmt.Sprintf("%d:r%d", round, round) {
				t.Errorf("round %d partition %d: %v", round, i, got)
			}
		}
		h.close()
		if round == 2 {
			fs = fs.CrashClone(vfs.CrashOptions{}) // it was closed cleanly: all is durable
		}
	}
	if got := folders(t, fs); len(got) != 4 {
		t.Errorf("%v", got)
	}
}

func TestDeletedTopicsLeaveAndANewOneOfTheNameIsEmpty(t *testing.T) {
	c := newCluster(t)
	id := c.topic("t", 1)
	fs := vfs.NewMem()
	h := openHost(t, fs, nil)
	h.apply(c)
	p := h.get("t", 0)
	mustAppend(t, p, values("old", "old"))
	if _, _, err := p.DeleteRecords(1); err != nil { // leaves a mark behind
		t.Fatal(err)
	}
	w := NewWaiter()
	p.Watch(w)
	c.change(&metadata.RemoveTopic{ID: id})
	h.apply(c)
	if _, err := h.Lookup("t", 0); !errors.Is(err, ErrUnknownTopicOrPartition) {
		t.Error(err)
	}
	if _, err := h.LookupID(id, 0); !errors.Is(err, ErrUnknownTopicID) {
		t.Error(err)
	}
	select {
	case <-w.C():
	default:
		t.Error("those who wait are not told")
	}
	for name, call := range map[string]func() error{
		"append": func() error { _, err := p.Append(produce(values("x"))); return err },
		"fetch":  func() error { _, err := p.Fetch(consume(1), nil); return err },
		"ack":    func() error { _, err := p.AckState(1); return err },
	} {
		if err := call(); !errors.Is(err, ErrUnknownTopicOrPartition) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := folders(t, fs); !slices.Equal(got, []string{"/data/a/t-0-delete"}) && !slices.Equal(got, []string{"/data/b/t-0-delete"}) {
		t.Errorf("%v", got)
	}
	// Deleted and made anew between two images.
	c.topic("t", 1)
	h.apply(c)
	if got := read(t, h.get("t", 0), 0); got != nil {
		t.Errorf("the new topic has %v", got)
	}
	mustAppend(t, h.get("t", 0), values("new"))
	h.close()

	h = openHost(t, fs, nil)
	defer h.close()
	h.apply(c)
	if got := read(t, h.get("t", 0), 0); !slices.Equal(got, []string{"0:new"}) {
		t.Errorf("%v", got)
	}
	if got := folders(t, fs); len(got) != 1 {
		t.Errorf("deleted folders are still there: %v", got)
	}
}

func TestFoldersTheClusterDoesNotKnowAreSetAside(t *testing.T) {
	c := newCluster(t)
	fs := vfs.NewMem()
	h := openHost(t, fs, nil)
	mine := c.topic("mine", 1)
	c.topic("gone", 1)
	c.topic("moved", 1)
	h.apply(c)
	for _, topic := range []string{"mine", "gone", "moved"} {
		mustAppend(t, h.get(topic, 0), values(topic))
	}
	dir := h.get("mine", 0).dir.path
	h.close()

	// Meanwhile: one topic was deleted and made anew, one moved away, and a
	// second copy and a folder without an id came up.
	c.change(&metadata.RemoveTopic{ID: c.img.Topic("gone").ID})
	c.topic("gone", 1)
	moved := c.img.Topic("moved")
	c.change(&metadata.PartitionChange{TopicID: moved.ID, ExpectedEpoch: moved.Partition(0).PartitionEpoch, Replicas: []metadata.BrokerID{2}, ISR: []metadata.BrokerID{2}, Directories: make([]metadata.DirID, 1), SetLeader: true, Leader: 2})
	other := "/data/b"
	if dir == other {
		other = "/data/a"
	}
	for _, name := range []string{"mine-0", "loose-0"} {
		if err := fs.MkdirAll(filepath.Join(other, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := commitlog.WriteTopicID(fs, filepath.Join(other, "mine-0"), mine); err != nil {
		t.Fatal(err)
	}

	h = openHost(t, fs, nil)
	h.apply(c)
	got := folders(t, fs)
	for _, want := range []string{"gone-0-stray", "moved-0-stray", "mine-0-stray", "loose-0-stray"} {
		if !slices.ContainsFunc(got, func(f string) bool { return strings.HasSuffix(f, want) }) {
			t.Errorf("no %s in %v", want, got)
		}
	}
	if got := read(t, h.get("gone", 0), 0); got != nil {
		t.Errorf("the new topic has the old one's records: %v", got)
	}
	// Which of the two copies of "mine" is kept is the order of log.dirs.
	if dir == "/data/a" {
		if got := read(t, h.get("mine", 0), 0); !slices.Equal(got, []string{"0:mine"}) {
			t.Errorf("%v", got)
		}
	}
	if _, err := h.Lookup("moved", 0); !errors.Is(err, ErrNotLeader) {
		t.Error(err)
	}
	h.close()
	// Set aside, not deleted: nothing of it goes by further starts.
	h = openHost(t, fs, nil)
	defer h.close()
	h.apply(c)
	if again := folders(t, fs); !slices.Equal(again, got) {
		t.Errorf("%v, before %v", again, got)
	}
}

func TestRecordsWhoseTopicIDIsLostAreNotReplacedByAnEmptyLog(t *testing.T) {
	for name, damage := range map[string]func(fs vfs.FS, file string) error{
		"removed": func(fs vfs.FS, file string) error { return fs.Remove(file) },
		"damaged": func(fs vfs.FS, file string) error { return vfs.WriteFileAtomic(fs, file, make([]byte, 44)) },
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			fs := vfs.NewMem()
			h := openHost(t, fs, nil)
			id := c.topic("t", 2)
			h.apply(c)
			mustAppend(t, h.get("t", 0), values("kept"))
			mustAppend(t, h.get("t", 1), values("other"))
			folder := filepath.Join(h.get("t", 0).dir.path, "t-0")
			h.close()
			if err := damage(fs, filepath.Join(folder, "partition.metadata")); err != nil {
				t.Fatal(err)
			}

			h = openHost(t, fs, nil)
			h.apply(c)
			if _, err := h.Lookup("t", 0); !errors.Is(err, ErrStorage) {
				t.Errorf("lookup: %v, want ErrStorage", err)
			}
			if got := read(t, h.get("t", 1), 0); !slices.Equal(got, []string{"0:other"}) {
				t.Errorf("its neighbour: %v", got)
			}
			h.close()
			// The fix that the log names.
			if err := commitlog.WriteTopicID(fs, folder, id); err != nil {
				t.Fatal(err)
			}
			h = openHost(t, fs, nil)
			defer h.close()
			h.apply(c)
			if got := read(t, h.get("t", 0), 0); !slices.Equal(got, []string{"0:kept"}) {
				t.Errorf("after the fix: %v", got)
			}
		})
	}
}

func TestPartitionLeftUnopenedIsStillRecoveredAfterACleanStop(t *testing.T) {
	c := newCluster(t)
	disk := vfs.NewMem()
	h := openHost(t, disk, nil)
	id := c.topic("t", 1)
	h.apply(c)
	mustAppend(t, h.get("t", 0), values("kept"))
	whole := h.get("t", 0).Size()
	mustAppend(t, h.get("t", 0), values("torn"))
	folder := filepath.Join(h.get("t", 0).dir.path, "t-0")
	fs := disk.Clone() // a crash, which tore the last batch and lost the topic id
	h.close()
	f, err := fs.OpenReadWrite(filepath.Join(folder, "00000000000000000000.log"))
	if err == nil {
		_, err = f.WriteAt([]byte{0xff, 0xff}, whole+batch.HeaderLen)
		err = errors.Join(err, f.Close(), fs.Remove(filepath.Join(folder, "partition.metadata")))
	}
	if err != nil {
		t.Fatal(err)
	}

	h = openHost(t, fs, nil)
	h.apply(c)
	if _, err := h.Lookup("t", 0); !errors.Is(err, ErrStorage) {
		t.Errorf("lookup: %v, want ErrStorage", err)
	}
	h.close()
	if err := commitlog.WriteTopicID(fs, folder, id); err != nil {
		t.Fatal(err)
	}
	h = openHost(t, fs, nil)
	defer h.close()
	h.apply(c)
	if end := h.get("t", 0).LogEndOffset(); end != 1 {
		t.Errorf("log end %d, the torn batch counts", end)
	}
	if got := read(t, h.get("t", 0), 0); !slices.Equal(got, []string{"0:kept"}) {
		t.Errorf("%v", got)
	}
}

func TestConfigurationChangesApplyToLivePartitions(t *testing.T) {
	h, c, p := one(t)
	mustAppend(t, p, records(1, 1, 1, 1))
	c.set("t", "max.message.bytes", "100")
	h.apply(c)
	if _, err := p.Append(produce(records(1, 1, 1, 1))); err == nil {
		t.Error("a batch above the new max.message.bytes is accepted")
	}
	if got := p.Config().MaxMessageBytes; got != 100 {
		t.Errorf("%d", got)
	}
	// A default of the whole cluster, as kafka-configs sets it.
	value := "1"
	c.change(&metadata.Config{Resource: metadata.Resource{Type: metadata.TopicResource, Name: "t"}, Key: "max.message.bytes"})
	value = "90"
	c.change(&metadata.Config{Resource: metadata.Resource{Type: metadata.BrokerResource}, Key: "message.max.bytes", Value: &value})
	h.apply(c)
	if got := p.Config().MaxMessageBytes; got != 90 {
		t.Errorf("%d", got)
	}
}

// A value that cannot be read, as a newer version may have written it, concerns its own topic and nothing else in the image.
func TestUnusableConfigurationHarmsNoOtherTopic(t *testing.T) {
	c := newCluster(t)
	c.topic("live", 1)
	c.set("live", "retention.ms", "5000")
	registry := prometheus.NewPedanticRegistry()
	var logged bytes.Buffer
	h := openHost(t, vfs.NewMem(), func(o *Options) {
		o.Registerer, o.Logger = registry, slog.New(slog.NewTextHandler(&logged, nil))
	})
	defer h.close()
	h.apply(c)
	unusable := func() float64 {
		t.Helper()
		families, err := registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range families {
			if f.GetName() == "weir_partition_unusable_topic_configs" {
				return f.GetMetric()[0].GetGauge().GetValue()
			}
		}
		t.Fatal("no such metric")
		return 0
	}

	// One image with a live topic that gets a bad value, a new topic that has one, and good changes after both.
	c.set("live", "retention.ms", "for a while")
	c.set("live", "max.message.bytes", "100")
	c.set("first", "cleanup.policy", "distil")
	c.set("first", "max.message.bytes", "200")
	c.topic("first", 1)
	c.topic("second", 1)
	c.set("second", "max.message.bytes", "300")
	bad := "often"
	c.change(&metadata.Config{Resource: metadata.Resource{Type: metadata.BrokerResource}, Key: "log.retention.check.interval.ms", Value: &bad})
	h.apply(c)
	if got := h.get("live", 0).Config(); got.Retention != 5*time.Second || got.MaxMessageBytes == 100 {
		t.Errorf("live: %v, %d; want what it had", got.Retention, got.MaxMessageBytes)
	}
	if got := h.get("first", 0).Config(); got.MaxMessageBytes != 200 || got.Retention >= 0 || got.RetentionBytes >= 0 {
		t.Errorf("first: %d, %v, %d; want its good value, and no retention", got.MaxMessageBytes, got.Retention, got.RetentionBytes)
	}
	if got := h.get("second", 0).Config(); got.MaxMessageBytes != 300 || got.Retention < 0 {
		t.Errorf("second: %d, %v", got.MaxMessageBytes, got.Retention)
	}
	mustAppend(t, h.get("first", 0), values("a"))
	if unusable() != 2 {
		t.Errorf("%v topics are counted, want 2", unusable())
	}
	for _, want := range []string{"topic=live", "topic=first", "often"} {
		if !strings.Contains(logged.String(), want) {
			t.Errorf("no %s in the log:\n%s", want, logged.String())
		}
	}

	c.set("live", "retention.ms", "7000")
	c.set("first", "cleanup.policy", "compact")
	h.apply(c)
	if live, first := h.get("live", 0).Config(), h.get("first", 0).Config(); live.Retention != 7*time.Second || live.MaxMessageBytes != 100 || !first.Compact || first.Retention < 0 {
		t.Errorf("mended: %+v, %+v", live, first)
	}
	if unusable() != 0 {
		t.Errorf("%v topics are counted, want none", unusable())
	}
}

func TestFailedDirectoryTakesOnlyItsPartitionsOut(t *testing.T) {
	c := newCluster(t)
	c.topic("t", 4)
	broken := errors.New("input/output error")
	faults := vfs.NewFaults(vfs.NewMem())
	h := openHost(t, faults, nil)
	h.apply(c)
	var bad, good *Partition
	for _, p := range h.All() {
		if p.dir.path == "/data/a" {
			bad = p
		} else {
			good = p
		}
		mustAppend(t, p, values("kept"))
	}
	w := NewWaiter()
	bad.Watch(w)
	faults.Add(vfs.Fault{Kinds: vfs.OpWrite, Glob: "/data/a/*/*.log", Err: broken})
	if _, err := bad.Append(produce(values("lost"))); !errors.Is(err, ErrStorage) {
		t.Errorf("%v", err)
	}
	if !slices.Equal(h.failed, []string{"/data/a"}) {
		t.Errorf("told of %v", h.failed)
	}
	select {
	case <-w.C():
	default:
		t.Error("those who wait are not told")
	}
	for i := range int32(4) {
		p, err := h.Lookup("t", i)
		switch {
		case err == nil && p.dir.path == "/data/b":
			mustAppend(t, p, values("more"))
		case !errors.Is(err, ErrStorage):
			t.Errorf("partition %d: %v", i, err)
		}
	}
	if _, err := bad.Fetch(consume(0), nil); !errors.Is(err, ErrStorage) {
		t.Errorf("%v", err)
	}
	if dirs := h.LogDirs(); dirs[0].Err == nil || dirs[1].Err != nil || len(dirs[1].Replicas) != 2 {
		t.Errorf("%+v", dirs)
	}
	// New partitions avoid it; metadata changes do not bring it back.
	c.topic("new", 2)
	c.lead("t", good.Index(), 1)
	h.apply(c)
	for i := range int32(2) {
		if p := h.get("new", i); p.dir.path != "/data/b" {
			t.Errorf("new partition in %s", p.dir.path)
		}
	}
	_ = h.Close()

	// The disk is mended: what was acknowledged is there.
	faults.Clear()
	h = openHost(t, faults, nil)
	defer h.close()
	h.apply(c)
	if got := read(t, h.get("t", bad.Index()), 0); !slices.Equal(got, []string{"0:kept"}) {
		t.Errorf("%v", got)
	}
}

// A directory that is missing at the start may hold any partition that is not
// found: those are not created anew, empty, somewhere else.
// A process that has too many files open has healthy disks: what needs another file fails, and only that.
func TestLackOfDescriptorsTakesNoDirectoryOffline(t *testing.T) {
	const opens = vfs.OpCreate | vfs.OpOpen | vfs.OpOpenReadWrite | vfs.OpOpenDir
	c := newCluster(t)
	c.topic("t", 1)
	c.set("t", "internal.segment.bytes", "150")
	faults := vfs.NewFaults(vfs.NewMem())
	var logged bytes.Buffer
	h := openHost(t, faults, func(o *Options) { o.Logger = slog.New(slog.NewTextHandler(&logged, nil)) })
	defer h.close()
	h.apply(c)
	p := h.get("t", 0)
	mustAppend(t, p, values("a"))

	short := faults.Add(vfs.Fault{Kinds: opens, Err: syscall.EMFILE})
	for range 3 {
		if _, err := p.Append(produce(values("needs a segment"))); !errors.Is(err, ErrStorage) || !vfs.OutOfDescriptors(err) {
			t.Errorf("append without a descriptor: %v", err)
		}
	}
	if got := read(t, p, 0); !slices.Equal(got, []string{"0:a"}) {
		t.Errorf("%v", got)
	}
	c.topic("late", 1)
	h.apply(c)
	if _, err := h.Lookup("late", 0); !errors.Is(err, ErrStorage) {
		t.Errorf("a partition without files: %v", err)
	}
	if n := strings.Count(logged.String(), "LimitNOFILE"); n != 1 {
		t.Errorf("the shortage is logged %d times", n)
	}
	if n := h.env.shortages.Load(); n != 4 {
		t.Errorf("%d shortages are counted, want 4", n)
	}
	short.Remove()

	mustAppend(t, p, values("b"))
	if got := read(t, p, 0); !slices.Equal(got, []string{"0:a", "1:b"}) {
		t.Errorf("%v", got)
	}
	if len(h.failed) != 0 {
		t.Errorf("offline: %v", h.failed)
	}
	c.topic("later", 1)
	h.apply(c)
	mustAppend(t, h.get("later", 0), values("c"))
}

func TestFlushOfAcksWaitsForADescriptor(t *testing.T) {
	c := newCluster(t)
	c.topic("t", 1)
	c.set("t", "weir.flush.on.acks", "all")
	faults := vfs.NewFaults(vfs.NewMem())
	h := openHost(t, faults, nil)
	defer h.close()
	h.apply(c)
	p := h.get("t", 0)
	if err := p.identify(true); err != nil { // or the append itself would fail
		t.Fatal(err)
	}
	rule := faults.Add(vfs.Fault{Kinds: vfs.OpCreate | vfs.OpOpenDir, Err: syscall.ENFILE, Times: 2})
	r := mustAppend(t, p, values("a"))
	if err := await(t, p, r.LastOffset+1); err != nil {
		t.Errorf("%v", err)
	}
	if rule.Failed() != 2 || len(h.failed) != 0 {
		t.Errorf("%d opens failed; offline: %v", rule.Failed(), h.failed)
	}
}

func TestPartitionsOfAMissingDirectoryAreNotCreatedAnew(t *testing.T) {
	c := newCluster(t)
	c.topic("t", 2)
	fs := vfs.NewMem()
	h := openHost(t, fs, nil)
	h.apply(c)
	for _, p := range h.All() {
		mustAppend(t, p, values("x"))
	}
	h.close()

	h = openHost(t, fs, func(o *Options) {
		if err := o.Dirs[1].Close(true); err != nil {
			t.Fatal(err)
		}
		o.Dirs = o.Dirs[:1]
		o.FailedDirs["/data/b"] = errors.New("no such device")
	})
	defer h.close()
	h.apply(c)
	var offline, served int
	for i := range int32(2) {
		switch p, err := h.Lookup("t", i); {
		case errors.Is(err, ErrStorage):
			offline++
		case err == nil && len(read(t, p, 0)) == 1:
			served++
		default:
			t.Errorf("partition %d: %v", i, err)
		}
	}
	if offline != 1 || served != 1 {
		t.Errorf("%d offline, %d served", offline, served)
	}
	dirs := h.LogDirs()
	if len(dirs) != 2 || dirs[1].Path != "/data/b" || dirs[1].Err == nil {
		t.Errorf("%+v", dirs)
	}
	// What is created from now on cannot be there.
	c.topic("new", 1)
	h.apply(c)
	mustAppend(t, h.get("new", 0), values("y"))
}

func TestMetricsHaveTheNamesDashboardsRead(t *testing.T) {
	c := newCluster(t)
	c.topic("t", 1)
	c.topic("thin", 1, 1, 2)
	registry := prometheus.NewPedanticRegistry()
	h := openHost(t, vfs.NewMem(), func(o *Options) { o.Registerer = registry })
	defer h.close()
	h.apply(c)
	thin := c.img.Topic("thin")
	c.change(&metadata.PartitionChange{TopicID: thin.ID, ISR: []metadata.BrokerID{1}, ExpectedEpoch: thin.Partition(0).PartitionEpoch})
	h.apply(c)
	p := h.get("t", 0)
	mustAppend(t, p, values("a", "b"))
	read(t, p, 0)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	have := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			name := f.GetName()
			for _, l := range m.GetLabel() {
				name += " " + l.GetValue()
			}
			have[name] = m.GetGauge().GetValue() + m.GetCounter().GetValue()
		}
	}
	for name, want := range map[string]float64{
		"kafka_server_brokertopicmetrics_messagesin_total t":    2,
		"kafka_server_brokertopicmetrics_messagesin_total thin": 0,
		"kafka_server_replicamanager_leadercount":               2,
		"kafka_server_replicamanager_partitioncount":            2,
		"kafka_server_replicamanager_underreplicatedpartitions": 1,
		"kafka_server_replicamanager_offlinereplicacount":       0,
		"kafka_cluster_partition_underminisr 0 thin":            0,
		"kafka_cluster_partition_atminisr 0 thin":               1,
		"kafka_cluster_partition_replicascount 0 thin":          2,
		"kafka_topic_partition_current_offset 0 t":              2,
		"kafka_server_brokertopicmetrics_bytesin_total t":       float64(p.Size()),
		"kafka_server_brokertopicmetrics_bytesout_total t":      float64(p.Size()),
		"kafka_log_log_size 0 t":                                float64(p.Size()),
		"kafka_log_logmanager_offlinelogdirectorycount":         0,
	} {
		if got, ok := have[name]; !ok || got != want {
			t.Errorf("%s is %v (there: %t), want %v", name, got, ok, want)
		}
	}
}

// The metadata names the directory: it decides, unless that one is gone while
// nothing is offline, so that the operator replaced it.
func TestTheDirectoryTheMetadataNamesIsTaken(t *testing.T) {
	for _, tc := range []struct {
		name    string
		named   func(h *host) metadata.DirID
		offline bool
		want    string
	}{
		{"one of ours", func(h *host) metadata.DirID { return h.dirs[1].id() }, false, "/data/b"},
		{"replaced", func(*host) metadata.DirID { return metadata.DirID{0: 9} }, false, "/data/a"},
		{"maybe offline", func(*host) metadata.DirID { return metadata.DirID{0: 9} }, true, ""},
		{"lost, maybe offline", func(*host) metadata.DirID { return metadata.DirLost }, true, ""},
		{"not assigned yet", func(*host) metadata.DirID { return metadata.DirUnassigned }, true, "/data/b"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := newCluster(t)
			h := openHost(t, vfs.NewMem(), nil)
			defer func() { _ = h.Close() }()
			h.apply(c)
			if tc.offline {
				h.dirs[0].dir.Fail(errors.New("input/output error"))
			}
			id := c.topic("t", 0)
			c.change(&metadata.NewPartition{TopicID: id, Partition: metadata.Partition{
				Replicas: []metadata.BrokerID{1}, ISR: []metadata.BrokerID{1}, Directories: []metadata.DirID{tc.named(h)}, Leader: 1,
			}})
			h.apply(c)
			p, err := h.Lookup("t", 0)
			switch {
			case tc.want == "" && !errors.Is(err, ErrStorage):
				t.Errorf("%v", err)
			case tc.want != "" && (err != nil || p.dir.path != tc.want):
				t.Errorf("%v, %v", p, err)
			}
		})
	}
}

// The marks beside the logs only save time: without them everything is found
// again.
func TestLosingTheMarksLosesNoRecords(t *testing.T) {
	c := newCluster(t)
	c.topic("t", 1)
	fs := vfs.NewMem()
	h := openHost(t, fs, nil)
	h.apply(c)
	p := h.get("t", 0)
	mustAppend(t, p, values("a"))
	mustAppend(t, p, idempotent(3, 0, 2))
	h.saveMarks(t.Context(), time.Now())
	clone := fs.CrashClone(vfs.CrashOptions{UnsyncedKept: 1})
	h.close()
	if err := clone.Remove(filepath.Join(p.dir.path, "local.db")); err != nil {
		t.Fatal(err)
	}
	h = openHost(t, clone, nil)
	defer h.close()
	h.apply(c)
	p = h.get("t", 0)
	if got := read(t, p, 0); len(got) != 3 || p.HighWatermark() != 3 {
		t.Errorf("%v, high watermark %d", got, p.HighWatermark())
	}
	if r := mustAppend(t, p, idempotent(3, 0, 2)); !r.Duplicate || r.BaseOffset != 1 {
		t.Errorf("%+v", r)
	}
}

// A round of the marks that runs while a topic is deleted must not bring its
// marks back.
func TestMarksOfADeletedPartitionStayAway(t *testing.T) {
	h, c, p := one(t)
	mustAppend(t, p, values("a"))
	c.change(&metadata.RemoveTopic{ID: p.TopicID()})
	h.apply(c)
	p.noteMarks() // the round had looked at the partition before
	tp := commitlog.TopicPartition{Topic: "t", Partition: 0}
	if m := p.dir.dir.Marks().Get(tp); m.HighWatermark != commitlog.Unknown || m.RecoveryPoint != commitlog.Unknown {
		t.Errorf("%+v", m)
	}
}

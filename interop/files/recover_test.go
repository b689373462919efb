//go:build interop

package files_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weir-broker/weir/broker/batch"
	"github.com/weir-broker/weir/broker/commitlog"
	"github.com/weir-broker/weir/broker/vfs"
	"github.com/weir-broker/weir/interop/weir"
)

// markOf reads what a killed broker had noted of the partition, from a copy of its log directory.
func markOf(t *testing.T, dir string) commitlog.Mark {
	t.Helper()
	fs := vfs.OS()
	id, ok, err := commitlog.ReadIdentity(fs, dir)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	d, err := commitlog.OpenDir(fs, dir, commitlog.DirOptions{ClusterID: id.ClusterID, NodeID: id.NodeID})
	if err != nil {
		t.Fatal(err)
	}
	m := d.Marks().Get(commitlog.TopicPartition{Topic: topic, Partition: 0})
	if err := d.Close(false); err != nil {
		t.Fatal(err)
	}
	return m
}

// damage is one thing that can happen to the files of a partition.
type damage struct {
	name string
	// full asks for a recovery of everything: the damage may lie below the recovery point, where Kafka does not look at batches,
	// and lives with a time index that is short or gone.
	full bool
	do   func(d *damaged) error
}

type damaged struct {
	r     *rand.Rand
	dir   string
	names []string // of the .log files, in order
}

func (d *damaged) last() string { return d.names[len(d.names)-1] }

func (d *damaged) any() string { return d.names[d.r.IntN(len(d.names))] }

// edit changes a file in place.
func (d *damaged) edit(name string, fn func(raw []byte) []byte) error {
	raw, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	return os.WriteFile(name, fn(raw), 0o644)
}

func (d *damaged) sibling(log, ext string) string { return strings.TrimSuffix(log, ".log") + ext }

func (d *damaged) cut(name string, within int) error {
	return d.edit(name, func(raw []byte) []byte { return raw[:len(raw)-d.r.IntN(min(within, len(raw))+1)] })
}

// flip changes a bit that the checksum covers, or of the checksum or the length, in one of the last batches.
func (d *damaged) flip(name string) error {
	return d.edit(name, func(raw []byte) []byte {
		var starts []int
		at := 0
		for at < len(raw) {
			h, err := batch.ParseHeader(raw[at:])
			if err != nil {
				break
			}
			starts = append(starts, at)
			at += h.Size()
		}
		if len(starts) == 0 {
			return raw
		}
		i := max(0, len(starts)-1-d.r.IntN(4))
		end := min(at, len(raw))
		if i+1 < len(starts) {
			end = starts[i+1]
		}
		p := starts[i] + 17 + d.r.IntN(end-starts[i]-17)
		if d.r.IntN(10) == 0 {
			p = starts[i] + 8 + d.r.IntN(4)
		}
		raw[p] ^= 1 << d.r.IntN(8)
		return raw
	})
}

const damagedSnapshot = "snapshot corrupt"

// unlessGone forgives a file that is not there: a kill may come before the first flush of the newest segment, which makes
// its index files.
func unlessGone(err error) error {
	if os.IsNotExist(err) {
		return nil
	}
	return err
}

func damages() []damage {
	remove := func(ext string) func(*damaged) error {
		return func(d *damaged) error {
			return unlessGone(os.Remove(d.sibling(d.any(), ext)))
		}
	}
	return []damage{
		{name: "none", do: func(*damaged) error { return nil }},
		{name: "torn tail", do: func(d *damaged) error { return d.cut(d.last(), 5000) }},
		{name: "tail lost", do: func(d *damaged) error { return d.cut(d.last(), 1<<20) }},
		{name: "garbage behind", do: func(d *damaged) error {
			return d.edit(d.last(), func(raw []byte) []byte {
				for range 1 + d.r.IntN(4000) {
					raw = append(raw, byte(d.r.Uint32()))
				}
				return raw
			})
		}},
		{name: "zeros behind", do: func(d *damaged) error {
			return d.edit(d.last(), func(raw []byte) []byte { return append(raw, make([]byte, 1+d.r.IntN(9000))...) })
		}},
		{name: "zeros for the tail", do: func(d *damaged) error {
			return d.edit(d.last(), func(raw []byte) []byte {
				clear(raw[len(raw)-d.r.IntN(min(9000, len(raw))+1):])
				return raw
			})
		}},
		{name: "corrupt byte", do: func(d *damaged) error { return d.flip(d.last()) }},
		{name: "corrupt byte in any segment", full: true, do: func(d *damaged) error { return d.flip(d.any()) }},
		{name: "any segment torn", full: true, do: func(d *damaged) error { return d.cut(d.any(), 3000) }},
		{name: "no index", do: remove(".index")},
		{name: "no time index", full: true, do: remove(".timeindex")},
		{name: "no snapshot", do: remove(".snapshot")},
		{name: "indexes emptied", full: true, do: func(d *damaged) error {
			for _, ext := range []string{".index", ".timeindex"} {
				if err := unlessGone(os.Truncate(d.sibling(d.any(), ext), 0)); err != nil {
					return err
				}
			}
			return nil
		}},
		{name: "index cut", full: true, do: func(d *damaged) error { return unlessGone(d.cut(d.sibling(d.any(), ".index"), 100)) }},
		{name: damagedSnapshot, do: func(d *damaged) error {
			name := d.sibling(d.any(), ".snapshot")
			if _, err := os.Stat(name); err != nil {
				return nil
			}
			return d.edit(name, func(raw []byte) []byte { raw[2+d.r.IntN(len(raw)-2)] ^= 0x10; return raw })
		}},
		{name: "no leader epochs", full: true, do: func(d *damaged) error {
			// Kafka recovers a segment without an index before all others, and then takes its first batch for the beginning
			// of an epoch that it has nothing older of. The newest segment's index may not be there yet: make it.
			for _, ext := range []string{".index", ".timeindex"} {
				f, err := os.OpenFile(d.sibling(d.last(), ext), os.O_CREATE|os.O_WRONLY, 0o644)
				if err != nil {
					return err
				}
				if err := f.Close(); err != nil {
					return err
				}
			}
			return unlessGone(os.Remove(filepath.Join(d.dir, "leader-epoch-checkpoint")))
		}},
		{name: "torn tail and no indexes", full: true, do: func(d *damaged) error {
			for _, name := range d.names {
				for _, ext := range []string{".index", ".timeindex"} {
					if err := unlessGone(os.Remove(d.sibling(name, ext))); err != nil {
						return err
					}
				}
			}
			return d.cut(d.last(), 5000)
		}},
	}
}

// TestKafkaRecoversWhatAKillLeftAsWeDo kills the broker under load, damages copies of the partition, and lets LogLoader and our
// commitlog recover each: same offsets, segments, leader epochs and producers, same bytes in the files after a clean close, no
// mismatch in ours. Then each opens what the other one closed.
func TestKafkaRecoversWhatAKillLeftAsWeDo(t *testing.T) {
	r := source(t, 3)
	base := t.TempDir()
	dir := filepath.Join(base, "data")
	part := filepath.Join(dir, topic+"-0")
	b := start(t, dir)
	create(t, b.Bootstrap, topicConfig)
	counts := map[string]int{}
	for kill := range 2 + scale/4 {
		if kill > 0 {
			b = start(t, dir)
			from, end := offsetsOf(t, b.Bootstrap)
			deleteRecords(t, b.Bootstrap, from+(end-from)*3/4)
		}
		killUnderLoad(t, b, 500+uint64(kill), time.Duration(200+r.IntN(300))*time.Millisecond)
		left := filepath.Join(base, fmt.Sprintf("left-%d", kill))
		if err := os.CopyFS(left, os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
		mark := markOf(t, left)
		all := damages()
		for i := range len(all) {
			d := all[i]
			t.Run(fmt.Sprintf("kill %d %s", kill, d.name), func(t *testing.T) {
				for range scale {
					recoverBoth(t, rand.New(rand.NewPCG(r.Uint64(), 0)), part, d, mark)
					if t.Failed() {
						return
					}
					counts[d.name]++
				}
			})
		}
		restartDamaged(t, r, dir, mark)
		_ = os.RemoveAll(left)
	}
	t.Logf("rounds without a difference: %v", counts)
}

func recoverBoth(t *testing.T, r *rand.Rand, part string, d damage, mark commitlog.Mark) {
	ours := copyPartition(t, part)
	// Segments below the log start offset are left whole: Kafka reads them once more, we remove them.
	names := live(t, ours, int64(mark.LogStartOffset))
	for i := range names {
		names[i] = filepath.Join(ours, names[i]+".log")
	}
	if err := d.do(&damaged{r: r, dir: ours, names: names}); err != nil {
		t.Fatal(err)
	}
	theirs := copyPartition(t, ours)
	how := opening{recovery: int64(mark.RecoveryPoint), start: int64(mark.LogStartOffset), live: true}
	if d.full || r.IntN(2) == 0 {
		how.recovery = 0
	}
	us, them := how, how
	us.dir, them.dir = ours, theirs
	a, k := byUs(t, us), byKafka(t, them)
	if err := differ(a, k); err != nil {
		t.Errorf("recovery from %d, start %d: %v", how.recovery, how.start, err)
		return
	}
	if err := sameContent(t, ours, theirs, how.start); err != nil {
		t.Errorf("recovery from %d, start %d, files: %v", how.recovery, how.start, err)
	}
	if r.IntN(4) == 0 && d.name != damagedSnapshot {
		noMismatch(t, ours)
	}
	// Each takes over from the other.
	us.dir, them.dir, us.clean, them.clean = theirs, ours, true, true
	if err := differ(byUs(t, us), k); err != nil {
		t.Errorf("after Kafka's close: %v", err)
	}
	if err := differ(a, byKafka(t, them)); err != nil {
		t.Errorf("after our close: %v", err)
	}
}

// restartDamaged tears the tail of the killed directory, and lets the binary itself recover what LogLoader recovers.
func restartDamaged(t *testing.T, r *rand.Rand, dir string, mark commitlog.Mark) {
	t.Helper()
	part := filepath.Join(dir, topic+"-0")
	names, err := filepath.Glob(filepath.Join(part, "*.log"))
	if err != nil || len(names) == 0 {
		t.Fatal(err, len(names))
	}
	slices.Sort(names)
	if err := (&damaged{r: r, dir: part, names: names}).cut(names[len(names)-1], 20000); err != nil {
		t.Fatal(err)
	}
	k := byKafka(t, opening{dir: copyPartition(t, part), recovery: int64(mark.RecoveryPoint), start: int64(mark.LogStartOffset)})
	b := weir.Start(t, dir)
	from, end := offsetsOf(t, b.Bootstrap)
	if want := fmt.Sprintf("start %d end %d", from, end); k[0] != want {
		t.Errorf("weir says %q, Kafka %q", want, k[0])
	}
	var producers []string
	for _, l := range k {
		if strings.HasPrefix(l, "producer ") {
			producers = append(producers, l)
		}
	}
	slices.Sort(producers)
	if got := producersOf(t, b.Bootstrap); !slices.Equal(got, producers) {
		t.Errorf("producers %q, Kafka's %q", got, producers)
	}
	if err := b.Stop(); err != nil {
		t.Fatal(err)
	}
	noMismatch(t, part)
}

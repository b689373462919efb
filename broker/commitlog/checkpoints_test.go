package commitlog

import (
	"errors"
	"io/fs"
	"path/filepath"
	"testing"

	"github.com/weir-broker/weir/broker/vfs"
)

func TestDirectoryGoesToKafkaAndBack(t *testing.T) {
	bothFS(t, func(t *testing.T, fsys vfs.FS, path string) {
		a, b := TopicPartition{"orders", 0}, TopicPartition{"orders", 1}
		d := mustOpenDir(t, fsys, path)
		d.Marks().SetRecoveryPoint(a, 10)
		d.Marks().SetHighWatermark(a, 12)
		d.Marks().SetRecoveryPoint(b, 7)
		if err := d.Marks().SetLogStartOffset(b, 5); err != nil {
			t.Fatal(err)
		}
		if err := d.Close(true); err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]string{
			"recovery-point-offset-checkpoint": "0\n2\norders 0 10\norders 1 7\n",
			"replication-offset-checkpoint":    "0\n1\norders 0 12\n",
			"log-start-offset-checkpoint":      "0\n1\norders 1 5\n",
			"cleaner-offset-checkpoint":        "0\n0\n",
		} {
			if got := read(t, fsys, filepath.Join(path, name)); got != want {
				t.Errorf("%s: have %q, want %q", name, got, want)
			}
		}
		// Kafka truncated one partition, deleted from the other, and made a third.
		mustWrite(t, fsys, filepath.Join(path, "recovery-point-offset-checkpoint"), "0\n3\norders 0 4\norders 1 9\nnew 0 1\n")
		mustWrite(t, fsys, filepath.Join(path, "log-start-offset-checkpoint"), "0\n1\norders 1 8\n")
		mustWrite(t, fsys, filepath.Join(path, "replication-offset-checkpoint"), "")
		d = mustOpenDir(t, fsys, path)
		if err := d.Close(false); err != nil { // taken over durably
			t.Fatal(err)
		}
		d = mustOpenDir(t, fsys, path)
		defer d.Close(false)
		for tp, want := range map[TopicPartition]Mark{
			a: {4, Unknown, Unknown, Unknown}, b: {9, Unknown, 8, Unknown}, {"new", 0}: {1, Unknown, Unknown, Unknown},
		} {
			if got := d.Marks().Get(tp); got != want {
				t.Errorf("%s: have %+v, want %+v", tp, got, want)
			}
		}
		for _, c := range checkpoints() {
			if _, err := fsys.Stat(filepath.Join(path, c.name)); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s stays while the directory is in use: %v", c.name, err)
			}
		}
	})
}

func TestUnusableCheckpointCostsTimeOnly(t *testing.T) {
	for _, content := range []string{
		"x", "0", "1\n0\n", "0\n1\n", "0\n0\norders 0 1\n", "0\n1\norders 0\n", "0\n1\norders 0 -1\n", "0\n1\norders x 1\n",
		"0\n1\norders 4294967296 1\n", "0\n1\na b 0 1\n", "0\n99999999999999999999\n",
	} {
		fsys := vfs.NewMem()
		d := mustOpenDir(t, fsys, "/log")
		tp := TopicPartition{"orders", 0}
		d.Marks().SetRecoveryPoint(tp, 10)
		d.Marks().SetHighWatermark(tp, 10)
		if err := d.Close(true); err != nil {
			t.Fatal(err)
		}
		mustWrite(t, fsys, "/log/recovery-point-offset-checkpoint", content)
		d = mustOpenDir(t, fsys, "/log")
		if m := d.Marks().Get(tp); m.RecoveryPoint != Unknown || m.HighWatermark != 10 {
			t.Errorf("%q: have %+v", content, m)
		}
	}
}

package quorum

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// What a power failure would take cannot be tried here; which folders are made durable can.
func TestEveryNewFolderAboveTheLogIsSynced(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "a", "b", "weir-metadata")
	fresh, err := makeDir(dir)
	want := []string{dir, filepath.Join(root, "a", "b"), filepath.Join(root, "a"), root}
	if err != nil || !slices.Equal(fresh, want) {
		t.Errorf("%q, %v; want %q", fresh, err, want)
	}
	if fresh, err = makeDir(dir); err != nil || !slices.Equal(fresh, want[:2]) { // after a start that ended before there was a log
		t.Errorf("again: %q, %v", fresh, err)
	}
	if err := os.WriteFile(filepath.Join(dir, raftFile), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if fresh, err = makeDir(dir); err != nil || fresh != nil {
		t.Errorf("with a log: %q, %v", fresh, err)
	}
}

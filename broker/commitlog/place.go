package commitlog

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/weir-broker/weir/broker/vfs"
)

// maxForeignNames bounds how many files an error names.
const maxForeignNames = 3

// checkDirectory refuses a path that is, or leads through, something other than a directory. That is a slip of who configured it and
// no failure of a disk.
func checkDirectory(fsys vfs.FS, path string) error {
	for at := filepath.Clean(path); ; at = filepath.Dir(at) {
		st, err := fsys.Stat(at)
		switch {
		case err == nil && !st.IsDir() && at == filepath.Clean(path):
			return fmt.Errorf("%s: %w: it is a file: name a directory, or a new one, in log.dirs (--dir of weir dev)", path, ErrNotLogDir)
		case err == nil && !st.IsDir():
			return fmt.Errorf("%s: %w: %s, which it lies below, is a file: name another directory in log.dirs (--dir of weir dev)", path, ErrNotLogDir, at)
		case err == nil || at == filepath.Dir(at):
			return nil // what else is wrong with it shows when it is used
		}
	}
}

// checkPlace refuses to make a log directory of one that serves another purpose: its files would then lie among the broker's, and
// whoever clears up after one would take the other's away.
func checkPlace(fsys vfs.FS, path string) error {
	if err := checkDirectory(fsys, path); err != nil {
		return err
	}
	if _, err := fsys.Stat(filepath.Join(path, metaPropertiesFile)); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	names, err := fsys.List(path)
	if err != nil {
		return nil // not there yet, or it shows when it is used
	}
	names = slices.DeleteFunc(names, ordinary)
	if len(names) == 0 {
		return nil
	}
	slices.Sort(names)
	listed := strings.Join(names[:min(len(names), maxForeignNames)], ", ")
	if len(names) > maxForeignNames {
		listed += ", …"
	}
	return fmt.Errorf("%s: %w: it has no %s but other content (%s): name an empty or new directory in log.dirs (--dir of weir dev)",
		path, ErrNotLogDir, metaPropertiesFile, listed)
}

// ordinary reports whether a name is no surprise in a directory without meta.properties: hidden files, what file systems put into
// their root, folders of partitions, and what a broker that was killed while it formatted the directory, or Kafka's format tool, leaves.
func ordinary(name string) bool {
	if _, partition := ParseFolder(name); partition {
		return true
	}
	return strings.HasPrefix(name, ".") || name == "lost+found" || strings.HasPrefix(name, metaPropertiesFile) ||
		strings.HasPrefix(name, marksFile) || strings.HasSuffix(name, "checkpoint")
}

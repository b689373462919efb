package commitlog

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/weir-broker/weir/broker/vfs"
)

const (
	topicIDFile = "partition.metadata"
	// topicIDFileLimit bounds what is read of the file; ours has 44 bytes.
	topicIDFileLimit = 4096
)

// ReadTopicID returns the topic id in a partition's directory, and false when there is none yet (KIP-516).
func ReadTopicID(fsys vfs.FS, dir string) (id [16]byte, found bool, err error) {
	name := filepath.Join(dir, topicIDFile)
	content, err := vfs.ReadFile(fsys, name, topicIDFileLimit)
	if errors.Is(err, fs.ErrNotExist) {
		return id, false, nil
	}
	if errors.Is(err, vfs.ErrFileTooLarge) {
		return id, false, fmt.Errorf("%s: %w: too long", name, ErrBadCheckpoint)
	}
	if err != nil {
		return id, false, storageError("read topic id", err)
	}
	version, text := "", ""
	for line := range strings.Lines(string(content)) {
		switch key, value, _ := strings.Cut(strings.TrimSpace(line), ": "); key {
		case "version":
			version = value
		case "topic_id":
			text = value
		}
	}
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if version != "0" || err != nil || len(raw) != len(id) {
		return id, false, fmt.Errorf("%s: %w: want version 0 and a topic id", name, ErrBadCheckpoint)
	}
	copy(id[:], raw)
	return id, true, nil
}

// HoldsRecords reports whether a partition's directory has a segment that is not empty.
func HoldsRecords(fsys vfs.FS, dir string) (bool, error) {
	names, err := fsys.List(dir)
	if err != nil {
		return false, storageError("list partition folder", err)
	}
	for _, name := range names {
		if _, ext, suffix, ok := parseSegmentName(name); !ok || ext != extLog || suffix == suffixDeleted {
			continue
		}
		st, err := fsys.Stat(filepath.Join(dir, name))
		if err != nil {
			return false, storageError("list partition folder", err)
		}
		if st.Size() > 0 {
			return true, nil
		}
	}
	return false, nil
}

// WriteTopicID stores the topic id in a partition's directory, durably.
func WriteTopicID(fsys vfs.FS, dir string, id [16]byte) error {
	content := "version: 0\ntopic_id: " + base64.RawURLEncoding.EncodeToString(id[:])
	if err := vfs.WriteFileAtomic(fsys, filepath.Join(dir, topicIDFile), []byte(content)); err != nil {
		return storageError("write topic id", err)
	}
	return nil
}

// storageError marks a failure of the disk. It keeps the cause, so that a full disk can be told from a broken one.
func storageError(what string, err error) error {
	if err == nil || errors.Is(err, ErrStorage) {
		return err
	}
	return fmt.Errorf("%s: %w: %w", what, ErrStorage, err)
}

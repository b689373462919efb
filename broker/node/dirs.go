package node

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"

	"github.com/weir-broker/weir/broker/commitlog"
	"github.com/weir-broker/weir/broker/quorum"
	"github.com/weir-broker/weir/broker/vfs"
)

// clusterID finds the id of the cluster that the log directories belong to, or draws one for a new cluster. A cluster
// id in one directory and another in a second is an error: one of them was mounted by mistake. A directory whose disk
// cannot be read says nothing; with no other one to say it, no id is drawn.
func clusterID(fsys vfs.FS, paths []string) (id string, err error) {
	var from string
	var unreadable error
	for _, path := range paths {
		identity, found, err := commitlog.ReadIdentity(fsys, path)
		if errors.Is(err, commitlog.ErrStorage) {
			unreadable = errors.Join(unreadable, err) // openDirs meets it again
			continue
		}
		if err != nil {
			return "", err
		}
		if !found || identity.ClusterID == "" {
			continue
		}
		if id != "" && id != identity.ClusterID {
			return "", fmt.Errorf("log.dirs: %s belongs to cluster %s and %s to cluster %s; list directories of one cluster", from, id, path, identity.ClusterID)
		}
		id, from = identity.ClusterID, path
	}
	switch {
	case id != "":
		return id, nil
	case unreadable != nil:
		return "", unusable(unreadable)
	}
	return newUUID(), nil
}

// checkMetadataThere refuses log directories with partitions and no metadata log beside them: with a new, empty one the
// cluster would know none of their topics, and every partition would be set aside.
func (n *Node) checkMetadataThere(o Options) error {
	dir := filepath.Join(o.Config.MetadataLogDir, metadataDir)
	if there, err := quorum.HasLog(dir); err != nil || there {
		return err
	}
	for _, d := range n.dirs {
		folders, err := d.Partitions()
		if err != nil {
			return err
		}
		if len(folders) > 0 {
			return fmt.Errorf("metadata.log.dir: the metadata log in %s is missing or empty, but %s holds partitions (%s): "+
				"restore it from a copy, or move the partitions out of log.dirs", dir, d.Path(), folders[0].Name)
		}
	}
	return nil
}

// newUUID draws a random UUID in Kafka's text form. One that begins with a dash would be taken for an option by
// command lines.
func newUUID() string {
	for {
		var b [16]byte
		_, _ = rand.Read(b[:]) // never fails, and ends the process if it would
		if text := base64.RawURLEncoding.EncodeToString(b[:]); text[0] != '-' {
			return text
		}
	}
}

// openDirs takes all log directories into use. A directory whose disk fails is left out as long as another one works,
// as the partitions on the others can be served; failed says why, and keeps its partitions from being created anew
// elsewhere. Every other error is the operator's to mend first.
func openDirs(fsys vfs.FS, paths []string, o commitlog.DirOptions, log *slog.Logger) (dirs []*commitlog.Dir, failed map[string]error, err error) {
	defer func() {
		if err != nil {
			for _, d := range dirs {
				_ = d.Close(false)
			}
		}
	}()
	failed = make(map[string]error)
	var failures error
	for _, path := range paths {
		dir, err := commitlog.OpenDir(fsys, path, o)
		switch {
		case err == nil:
			dirs = append(dirs, dir)
		case errors.Is(err, commitlog.ErrStorage):
			log.Error("log directory is offline", "dir", path, "error", err)
			failed[path] = err
			failures = errors.Join(failures, err)
		default:
			return dirs, nil, err
		}
	}
	if len(dirs) == 0 {
		return nil, nil, unusable(failures)
	}
	return dirs, failed, nil
}

// unusable is the error when no log directory is left.
func unusable(failures error) error {
	return fmt.Errorf("no log directory can be used: %w: mend the disk or its permissions, or name another directory in log.dirs (--dir of weir dev)", failures)
}

package commitlog

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/weir-broker/weir/broker/vfs"
)

const metaPropertiesFile = "meta.properties"

// DirectoryID names a log directory in the cluster (KIP-858).
type DirectoryID [16]byte

// String is Kafka's text form: 22 characters of URL-safe base64.
func (id DirectoryID) String() string { return base64.RawURLEncoding.EncodeToString(id[:]) }

func parseDirectoryID(text string) (id DirectoryID, err error) {
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(raw) != len(id) {
		return id, fmt.Errorf("%w: directory.id %q is not a Kafka uuid", ErrBadMetaProperties, text)
	}
	copy(id[:], raw)
	return id, nil
}

// Identity is whose directory it is: the content of meta.properties.
type Identity struct {
	ClusterID   string
	NodeID      int32
	DirectoryID DirectoryID
}

// ReadIdentity reads the meta.properties of a log directory without taking it into use, and false when there is none.
// It reads version 1 and the version 0 of ZooKeeper times, whose cluster id may be empty and whose directory id is zero.
func ReadIdentity(fsys vfs.FS, path string) (Identity, bool, error) {
	if err := checkDirectory(fsys, path); err != nil {
		return Identity{}, false, err
	}
	name := filepath.Join(path, metaPropertiesFile)
	content, err := vfs.ReadFile(fsys, name, smallFileLimit)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Identity{}, false, nil
	case errors.Is(err, vfs.ErrFileTooLarge):
		return Identity{}, false, fmt.Errorf("%w: %w", ErrBadMetaProperties, err)
	case err != nil:
		return Identity{}, false, storageError("read "+name, err)
	}
	id, err := parseIdentity(content)
	if err != nil {
		return Identity{}, false, fmt.Errorf("%s: %w", name, err)
	}
	return id, true, nil
}

func parseIdentity(content []byte) (Identity, error) {
	props := parseProperties(string(content))
	id := Identity{ClusterID: props["cluster.id"]}
	nodeKey := "node.id"
	switch props["version"] {
	case "0":
		nodeKey = "broker.id"
	case "1":
		if id.ClusterID == "" {
			return id, fmt.Errorf("%w: no cluster.id", ErrBadMetaProperties)
		}
	default:
		if props["version"] == "" {
			return id, fmt.Errorf("%w: no version line, so it is damaged: restore it from a copy, or write version=1, cluster.id and node.id (another log directory has them)", ErrBadMetaProperties)
		}
		return id, fmt.Errorf("%w: version %q, this weir reads 0 and 1", ErrBadMetaProperties, props["version"])
	}
	node, err := strconv.ParseInt(props[nodeKey], 10, 32)
	if err != nil {
		return id, fmt.Errorf("%w: %s is %q, want a number", ErrBadMetaProperties, nodeKey, props[nodeKey])
	}
	id.NodeID = int32(node)
	if text, ok := props["directory.id"]; ok {
		if id.DirectoryID, err = parseDirectoryID(text); err != nil {
			return id, err
		}
	}
	return id, nil
}

// parseProperties reads the part of Java's properties format that Kafka writes into such files: comments, key=value with
// backslash escapes, no continued lines.
func parseProperties(content string) map[string]string {
	props := map[string]string{}
	for line := range strings.Lines(content) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' || line[0] == '!' {
			continue
		}
		end := len(line)
		for i := 0; i < len(line); i++ {
			if line[i] == '\\' {
				i++
			} else if strings.IndexByte("=: \t", line[i]) >= 0 {
				end = i
				break
			}
		}
		value := strings.TrimLeft(line[end:], " \t")
		if value != "" && (value[0] == '=' || value[0] == ':') {
			value = value[1:]
		}
		props[unescape(line[:end])] = unescape(strings.TrimLeft(value, " \t"))
	}
	return props
}

func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		out.WriteByte(s[i])
	}
	return out.String()
}

// format returns the content of a meta.properties of version 1. None of the values needs an escape: identify refuses
// cluster ids that would.
func (id Identity) format() []byte {
	return fmt.Appendf(nil, "cluster.id=%s\ndirectory.id=%s\nnode.id=%d\nversion=1\n", id.ClusterID, id.DirectoryID, id.NodeID)
}

// identify compares the directory's identity with who opens it, and writes one into a new directory.
func (d *Dir) identify(o DirOptions) error {
	name := filepath.Join(d.path, metaPropertiesFile)
	if strings.ContainsAny(o.ClusterID, "\\\r\n=:#! \t") || o.ClusterID == "" {
		return fmt.Errorf("BUG: cluster id %q cannot be written to %s", o.ClusterID, name)
	}
	id, found, err := ReadIdentity(d.fs, d.path)
	if err != nil {
		return err
	}
	want := Identity{ClusterID: o.ClusterID, NodeID: o.NodeID, DirectoryID: id.DirectoryID}
	if !found {
		folders, err := d.Partitions()
		if err != nil {
			return err
		}
		if len(folders) > 0 {
			return fmt.Errorf("%s: %w: missing, but there are partitions (%s): put the file back, or move them out of log.dirs",
				name, ErrBadMetaProperties, folders[0].Name)
		}
	}
	if found && id.ClusterID != "" && id.ClusterID != want.ClusterID {
		return fmt.Errorf("%s: %w: cluster.id is %s, this broker's cluster is %s: check log.dirs, or move the old directory away",
			name, ErrForeignDir, id.ClusterID, want.ClusterID)
	}
	if found && id.NodeID != want.NodeID {
		return fmt.Errorf("%s: %w: node.id is %d, this broker is %d: check node.id and log.dirs",
			name, ErrForeignDir, id.NodeID, want.NodeID)
	}
	if want.DirectoryID == (DirectoryID{}) {
		want.DirectoryID = o.NewID()
	}
	d.identity = want
	if found && id == want {
		return nil
	}
	return storageError("write "+name, vfs.WriteFileAtomic(d.fs, name, want.format()))
}

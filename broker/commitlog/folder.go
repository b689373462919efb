package commitlog

import (
	"encoding/hex"
	"strconv"
	"strings"
)

// TopicPartition names a partition.
type TopicPartition struct {
	Topic     string
	Partition int32
}

// String is the name of the partition's folder, "topic-7".
func (tp TopicPartition) String() string { return tp.Topic + "-" + strconv.Itoa(int(tp.Partition)) }

// FolderKind says what a folder of a log directory is.
type FolderKind int8

const (
	FolderLive    FolderKind = iota + 1 // a partition: topic-7
	FolderDeleted                       // a deleted partition whose files are going: topic-7.<32 hex digits>-delete
	FolderStray                         // a partition that the cluster does not place here: topic-7.<32 hex digits>-stray
	FolderFuture                        // a partition on its way to this directory from another: topic-7.<32 hex digits>-future
)

// folderSuffixes are Kafka's.
var folderSuffixes = map[FolderKind]string{
	FolderDeleted: "-delete",
	FolderStray:   "-stray",
	FolderFuture:  "-future",
}

// Folder is a parsed folder name.
type Folder struct {
	TopicPartition
	Kind FolderKind
	Name string
}

const (
	uniqueHexLen = 32
	// maxFolderName is what file systems take, in bytes.
	maxFolderName = 255
)

// ParseFolder tells what a name in a log directory is, and false when it is no folder of a partition.
func ParseFolder(name string) (Folder, bool) {
	f := Folder{Kind: FolderLive, Name: name}
	base := name
	for kind, suffix := range folderSuffixes {
		cut, ok := strings.CutSuffix(name, suffix)
		if !ok {
			continue
		}
		dot := strings.LastIndexByte(cut, '.')
		if dot < 1 || len(cut)-dot-1 != uniqueHexLen || strings.Trim(cut[dot+1:], "0123456789abcdef") != "" {
			continue
		}
		f.Kind, base = kind, cut[:dot]
	}
	dash := strings.LastIndexByte(base, '-')
	if dash < 1 {
		return Folder{}, false
	}
	digits := base[dash+1:]
	n, err := strconv.ParseInt(digits, 10, 32)
	if err != nil || strconv.FormatInt(n, 10) != digits || n < 0 {
		return Folder{}, false
	}
	f.Topic, f.Partition = base[:dash], int32(n)
	return f, true
}

// FolderName returns the name a partition's folder gets when it becomes another kind. unique keeps it apart from
// earlier ones. As in Kafka, a topic too long for the file system is cut short: what such a folder held is not read from its name.
func FolderName(tp TopicPartition, kind FolderKind, unique [16]byte) string {
	suffix, ok := folderSuffixes[kind]
	if !ok {
		return tp.String()
	}
	tail := "-" + strconv.Itoa(int(tp.Partition)) + "." + hex.EncodeToString(unique[:]) + suffix
	return tp.Topic[:min(len(tp.Topic), maxFolderName-len(tail))] + tail
}

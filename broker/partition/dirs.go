package partition

import (
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/weir-broker/weir/broker/batch"
	"github.com/weir-broker/weir/broker/commitlog"
	"github.com/weir-broker/weir/broker/metadata"
	"github.com/weir-broker/weir/broker/vfs"
)

// hostDir is a log directory and what the table keeps beside it.
type hostDir struct {
	dir  *commitlog.Dir // nil if it could not be opened; then failed says why
	fs   vfs.FS
	path string
	// failed is set for a directory that never came up.
	failed error
	// replicas counts the partitions in it; guarded by Table.applying.
	replicas int
	// unopened is set when a partition's folder was left as it was found. What an earlier crash did to it is still to be
	// recovered, so the directory stays unclean if it was; guarded by Table.applying.
	unopened bool
}

// closedCleanly is whether a clean-shutdown mark would tell the truth about every folder.
func (d *hostDir) closedCleanly() bool { return d.online() && (!d.unopened || d.dir.CleanShutdown()) }

type dirMarks struct{ recoveryPoint, highWatermark, logStart batch.Offset }

func (d *hostDir) marks(topic string, index int32) dirMarks {
	m := d.dir.Marks().Get(commitlog.TopicPartition{Topic: topic, Partition: index})
	return dirMarks{recoveryPoint: m.RecoveryPoint, highWatermark: m.HighWatermark, logStart: m.LogStartOffset}
}

func (d *hostDir) saveLogStart(topic string, index int32, o batch.Offset) error {
	return d.dir.Marks().SetLogStartOffset(commitlog.TopicPartition{Topic: topic, Partition: index}, o)
}

func (d *hostDir) saveRecoveryPoint(topic string, index int32, o batch.Offset) error {
	return d.dir.Marks().SaveRecoveryPoint(commitlog.TopicPartition{Topic: topic, Partition: index}, o)
}

// failure is why the directory is offline, nil while it serves.
func (d *hostDir) failure() error {
	if d.dir == nil {
		return d.failed
	}
	err, _ := d.dir.Offline()
	return err
}

func (d *hostDir) online() bool { return d.failure() == nil }

func (d *hostDir) id() metadata.DirID {
	if d.dir == nil {
		return metadata.DirUnassigned
	}
	return metadata.DirID(d.dir.ID())
}

// found is a partition's folder that the metadata confirms.
type found struct {
	dir *hostDir
	// unsure is why the folder cannot be told to be this replica's. It stays where it is, and the replica is not served.
	unsure error
}

// replicaKey names a replica by the topic's identity.
type replicaKey struct {
	id    metadata.TopicID
	index int32
}

// scan walks the log directories at the start. Folders whose topic id and
// number the image places on this broker are returned; all others are set
// aside under a name ending in -stray, where their records stay until somebody
// removes them.
func (t *Table) scan(img *metadata.Image) map[replicaKey]found {
	all := make(map[replicaKey]found)
	for _, d := range t.dirs {
		if !d.online() {
			continue
		}
		if err := t.scanDir(d, img, all); err != nil {
			t.dirFailed(d, err)
		}
	}
	for k, f := range all {
		if !f.dir.online() {
			delete(all, k)
		}
	}
	return all
}

func (t *Table) scanDir(d *hostDir, img *metadata.Image, all map[replicaKey]found) error {
	folders, err := d.dir.Partitions()
	if err != nil {
		return err
	}
	for _, f := range folders {
		raw, ok, err := commitlog.ReadTopicID(d.fs, filepath.Join(d.path, f.Name))
		if err != nil && !errors.Is(err, commitlog.ErrBadCheckpoint) {
			return err
		}
		key := replicaKey{id: metadata.TopicID(raw), index: f.Partition}
		why := ""
		switch topic := img.TopicByID(key.id); {
		case err != nil || !ok:
			// The id is durable before the first record. A folder with records has lost it: an empty log must not take
			// the place of what was acknowledged.
			lost, lookErr := d.lostTopicID(f, img, t.env.node)
			if lookErr != nil {
				return lookErr
			}
			if lost != nil {
				t.unidentified(d, f, lost, all)
				continue
			}
			why = "no topic id"
		case topic == nil:
			why = "the cluster has no topic of its id"
		case topic.Name != f.Topic:
			why = "its id is that of topic " + topic.Name
		case topic.Partition(f.Partition) == nil || !topic.Partition(f.Partition).IsReplica(t.env.node):
			why = "the cluster does not place it on this broker"
		case all[key].dir != nil && all[key].unsure == nil:
			why = "also in " + all[key].dir.path
		default:
			all[key] = found{dir: d}
			d.replicas++
			continue
		}
		if err := t.setAside(d, f, why); err != nil {
			return err
		}
	}
	return nil
}

// lostTopicID returns the topic whose records the folder f, which has no usable topic id, seems to hold: the one of its
// name, if the cluster places that partition on this broker and the folder has records.
func (d *hostDir) lostTopicID(f commitlog.Folder, img *metadata.Image, node metadata.BrokerID) (*metadata.Topic, error) {
	topic := img.Topic(f.Topic)
	if topic == nil || topic.Partition(f.Partition) == nil || !topic.Partition(f.Partition).IsReplica(node) {
		return nil, nil
	}
	holds, err := commitlog.HoldsRecords(d.fs, filepath.Join(d.path, f.Name))
	if err != nil || !holds {
		return nil, err
	}
	return topic, nil
}

// unidentified leaves the folder f, whose topic id is lost, alone and keeps its partition from being served until
// somebody has decided whose records these are. A folder of the same partition with its id goes before it.
func (t *Table) unidentified(d *hostDir, f commitlog.Folder, topic *metadata.Topic, all map[replicaKey]found) {
	file := filepath.Join(d.path, f.Name, "partition.metadata")
	err := fmt.Errorf("%w: %s is missing or damaged, but its folder holds records", ErrStorage, file)
	t.env.log.Error("partition is not served: its topic id is lost", "topic", f.Topic, "partition", f.Partition, "dir", d.path, "file", file,
		"fix", fmt.Sprintf("if these are the records of this topic, write the lines \"version: 0\" and \"topic_id: %s\" to that file, else move the folder away; then restart", topic.ID))
	d.unopened = true
	key := replicaKey{id: topic.ID, index: f.Partition}
	if _, ok := all[key]; !ok {
		all[key] = found{dir: d, unsure: err}
	}
}

func (t *Table) setAside(d *hostDir, f commitlog.Folder, why string) error {
	to := commitlog.FolderName(f.TopicPartition, commitlog.FolderStray, uniqueID())
	if err := d.fs.Rename(filepath.Join(d.path, f.Name), filepath.Join(d.path, to)); err != nil {
		return fmt.Errorf("set stray folder aside: %w: %w", ErrStorage, err)
	}
	if err := vfs.SyncDir(d.fs, d.path); err != nil {
		return fmt.Errorf("set stray folder aside: %w: %w", ErrStorage, err)
	}
	t.env.log.Warn("partition folder set aside", "dir", d.path, "folder", f.Name, "as", to, "reason", why)
	return d.dir.Marks().Remove(f.TopicPartition)
}

func uniqueID() (id [16]byte) {
	_, _ = rand.Read(id[:]) // never fails since Go 1.24
	return id
}

// place chooses the directory of a replica that is not on disk yet: the one
// the metadata names, or the online one with the fewest. It returns nil when
// the replica may lie in a directory that is offline: a second, empty copy of
// it would be worse than none. isNew says that the partition was created just
// now, so that it lies nowhere.
func (t *Table) place(m *metadata.Partition, isNew bool) *hostDir {
	want := m.Directory(t.env.node)
	var best *hostDir
	offline := false
	for _, d := range t.dirs {
		switch {
		case !d.online():
			offline = true
		case d.id() == want:
			return d
		case best == nil || d.replicas < best.replicas:
			best = d
		}
	}
	if offline && (!isNew || want != metadata.DirUnassigned) {
		return nil
	}
	return best
}

// dirFailed takes a directory and its partitions out of service.
func (t *Table) dirFailed(d *hostDir, err error) { d.dir.Fail(err) }

// dirOffline is called once per directory, by it.
func (t *Table) dirOffline(d *hostDir, err error) {
	for _, p := range t.All() {
		if p.dir == d {
			p.withdraw(fmt.Errorf("%w: log directory %s is offline", ErrStorage, d.path))
		}
	}
	if t.options.DirFailed != nil {
		t.options.DirFailed(d.path, err)
	}
}

// LogDir is one log directory, as DescribeLogDirs shows it.
type LogDir struct {
	Path string
	ID   metadata.DirID
	// Err is why the directory is offline, nil while it serves.
	Err error
	// TotalBytes and UsableBytes are of the file system; -1 when unknown.
	TotalBytes, UsableBytes int64
	Replicas                []LogDirReplica
}

// LogDirReplica is one replica in a log directory.
type LogDirReplica struct {
	Topic     string
	Partition int32
	Size      int64 // bytes
	// OffsetLag is how far the log end is behind the high watermark.
	OffsetLag int64
}

// LogDirs describes the log directories.
func (t *Table) LogDirs() []LogDir {
	out := make([]LogDir, len(t.dirs))
	at := make(map[*hostDir]int, len(t.dirs))
	for i, d := range t.dirs {
		at[d] = i
		out[i] = LogDir{Path: d.path, ID: d.id(), TotalBytes: -1, UsableBytes: -1}
		if err := d.failure(); err != nil {
			out[i].Err = err
			continue
		}
		if use, err := d.dir.DiskUsage(); err == nil {
			out[i].TotalBytes, out[i].UsableBytes = int64(use.Total), int64(use.Free)
		}
	}
	for _, p := range t.All() {
		i, ok := at[p.dir]
		if !ok || out[i].Err != nil || p.log == nil {
			continue
		}
		out[i].Replicas = append(out[i].Replicas, LogDirReplica{
			Topic: p.topic, Partition: p.index, Size: p.log.Size(),
			OffsetLag: max(0, int64(p.HighWatermark()-p.log.LogEndOffset())),
		})
	}
	return out
}

package partition

import (
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/weir-broker/weir/broker/config"
	"github.com/weir-broker/weir/broker/metadata"
	"github.com/weir-broker/weir/broker/policy"
)

// Options configures a Table.
type Options struct {
	NodeID metadata.BrokerID
	// Config is the broker's static configuration; dynamic values come with
	// the images given to Apply.
	Config *config.Broker
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Logger may be nil.
	Logger *slog.Logger
	// Retention and Producer decide; nil means Kafka's rules.
	Retention policy.Retention
	Producer  policy.Producer
	// Registerer takes the metrics; nil keeps none.
	Registerer prometheus.Registerer
	// DirFailed is told when a log directory goes offline; it must not block.
	DirFailed func(path string, err error)
}

// Table is the set of replicas this broker hosts. It is safe for concurrent
// use.
type Table struct{}

// NewTable returns a table without partitions. Apply fills it.
func NewTable(o Options) (*Table, error) { return &Table{}, errAPIOnly }

// Start begins the schedules: retention, flushing, producer expiry, marks.
func (t *Table) Start() {}

// Close stops the schedules and closes all logs: producer snapshots, flush,
// marks. It returns the first error; the others are logged.
func (t *Table) Close() error { return errAPIOnly }

// Apply brings the table in line with the image: the first call loads and
// recovers what is on disk, later ones follow the differences. It is
// idempotent. It must not be called concurrently.
func (t *Table) Apply(img *metadata.Image) error { return errAPIOnly }

// Lookup finds the replica of a partition by the topic's name. Errors:
// ErrUnknownTopicOrPartition, ErrNotLeader (known, but no replica here),
// ErrStorage.
func (t *Table) Lookup(topic string, index int32) (*Partition, error) { return nil, errAPIOnly }

// LookupID is Lookup by topic id; ErrUnknownTopicID when no topic has it.
func (t *Table) LookupID(id metadata.TopicID, index int32) (*Partition, error) {
	return nil, errAPIOnly
}

// All returns the hosted partitions, by topic and index.
func (t *Table) All() []*Partition { return nil }

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
func (t *Table) LogDirs() []LogDir { return nil }

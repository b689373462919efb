package config

import (
	"log/slog"
	"time"
)

// SecurityProtocol is how a listener talks: PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL.
type SecurityProtocol string

// The security protocols.
const (
	Plaintext     SecurityProtocol = "PLAINTEXT"
	SSL           SecurityProtocol = "SSL"
	SASLPlaintext SecurityProtocol = "SASL_PLAINTEXT"
	SASLSSL       SecurityProtocol = "SASL_SSL"
)

// Listener is one entry of listeners or advertised.listeners.
type Listener struct {
	Name     string // upper case
	Protocol SecurityProtocol
	Host     string // "" is every interface
	Port     int    // 0 lets the system choose
}

// Voter is one entry of controller.quorum.voters.
type Voter struct {
	ID   int32
	Host string
	Port int
}

// Bounded is a duration that a group may set for itself between limits.
type Bounded struct{ Default, Min, Max time.Duration }

// Broker holds the broker properties that weir honours, typed. A Broker is immutable; [Broker.WithDynamic] makes a changed copy.
// Each field names its property; see the tables for units and defaults.
type Broker struct {
	// Identity and roles.
	NodeID                  int32    // node.id
	Rack                    string   // broker.rack, "" if unset
	BrokerRole              bool     // process.roles contains broker
	ControllerRole          bool     // process.roles contains controller
	ControllerListenerNames []string // controller.listener.names, upper case
	QuorumVoters            []Voter  // controller.quorum.voters
	QuorumBootstrapServers  []string // controller.quorum.bootstrap.servers

	// Listeners. Listeners holds the broker's own, without controller listeners.
	Listeners           []Listener // listeners
	ControllerListeners []Listener // listeners whose name is in controller.listener.names
	AdvertisedListeners []Listener // advertised.listeners; nil if unset: answer with the address the client came in on
	InterBrokerListener string     // inter.broker.listener.name, or the one of security.inter.broker.protocol
	AdminAddress        string     // weir.admin.address, "" serves none

	// Network limits.
	SocketRequestMaxBytes    int32          // socket.request.max.bytes
	SocketSendBufferBytes    int32          // socket.send.buffer.bytes, -1 leaves the system's
	SocketReceiveBufferBytes int32          // socket.receive.buffer.bytes, -1 leaves the system's
	ConnectionsMaxIdle       time.Duration  // connections.max.idle.ms, negative never closes
	MaxConnections           int32          // max.connections
	MaxConnectionsPerIP      int32          // max.connections.per.ip
	MaxConnectionsPerIPFor   map[string]int // max.connections.per.ip.overrides
	QueuedMaxRequestBytes    int64          // queued.max.request.bytes, -1 no limit
	RequestTimeout           time.Duration  // request.timeout.ms
	FetchMaxBytes            int32          // fetch.max.bytes
	FetchSessionCacheSlots   int32          // max.incremental.fetch.session.cache.slots
	MaxRequestPartitions     int32          // max.request.partition.size.limit

	// Directories.
	LogDirs                   []string      // log.dirs, or log.dir
	MetadataLogDir            string        // metadata.log.dir, or the first log directory
	RecoveryThreadsPerDir     int32         // num.recovery.threads.per.data.dir
	RetentionCheckInterval    time.Duration // log.retention.check.interval.ms
	FlushSchedulerInterval    time.Duration // log.flush.scheduler.interval.ms
	HighWatermarkInterval     time.Duration // replica.high.watermark.checkpoint.interval.ms
	InitialTaskDelay          time.Duration // log.initial.task.delay.ms
	ProducerIDExpiration      time.Duration // producer.id.expiration.ms
	ProducerIDExpirationCheck time.Duration // producer.id.expiration.check.interval.ms
	Cleaner                   Cleaner
	CleanerBytesPerSecond     float64 // log.cleaner.io.max.bytes.per.second

	// Topics.
	NumPartitions            int32 // num.partitions
	DefaultReplicationFactor int16 // default.replication.factor
	AutoCreateTopics         bool  // auto.create.topics.enable
	DeleteTopicEnable        bool  // delete.topic.enable

	// Groups and their offsets.
	OffsetsTopicPartitions     int32         // offsets.topic.num.partitions
	OffsetsTopicReplication    int16         // offsets.topic.replication.factor
	OffsetsTopicSegmentBytes   int32         // offsets.topic.segment.bytes
	OffsetsTopicCompression    int8          // offsets.topic.compression.codec: 0 none, 1 gzip, 2 snappy, 3 lz4, 4 zstd
	OffsetsCommitTimeout       time.Duration // offsets.commit.timeout.ms
	OffsetsLoadBufferBytes     int32         // offsets.load.buffer.size
	OffsetsRetention           time.Duration // offsets.retention.minutes
	OffsetsRetentionCheck      time.Duration // offsets.retention.check.interval.ms
	OffsetMetadataMaxBytes     int32         // offset.metadata.max.bytes
	GroupInitialRebalanceDelay time.Duration // group.initial.rebalance.delay.ms
	GroupMinSessionTimeout     time.Duration // group.min.session.timeout.ms
	GroupMaxSessionTimeout     time.Duration // group.max.session.timeout.ms
	GroupMaxSize               int32         // group.max.size
	GroupCoordinatorLinger     time.Duration // group.coordinator.append.linger.ms, negative adapts to the load
	GroupConsumerSession       Bounded       // group.consumer.session.timeout.ms, .min., .max.
	GroupConsumerHeartbeat     Bounded       // group.consumer.heartbeat.interval.ms, .min., .max.
	GroupConsumerAssignment    Bounded       // group.consumer.assignment.interval.ms, .min., .max.
	GroupConsumerMaxSize       int32         // group.consumer.max.size
	GroupConsumerRegexRefresh  time.Duration // group.consumer.regex.refresh.interval.ms

	// Replication and sessions.
	ReplicaLagTimeMax       time.Duration // replica.lag.time.max.ms
	BrokerSessionTimeout    time.Duration // broker.session.timeout.ms
	BrokerHeartbeatInterval time.Duration // broker.heartbeat.interval.ms

	static         map[string]string // as set in file, environment and overrides
	dynamicBroker  map[string]string
	dynamicCluster map[string]string
}

// Cleaner is how the log cleaner is to run; a change of it restarts the cleaner.
type Cleaner struct {
	Enable       bool          // log.cleaner.enable
	Threads      int32         // log.cleaner.threads
	DedupeBuffer int64         // log.cleaner.dedupe.buffer.size, over all threads
	LoadFactor   float64       // log.cleaner.io.buffer.load.factor
	IOBuffer     int32         // log.cleaner.io.buffer.size, over all threads
	Backoff      time.Duration // log.cleaner.backoff.ms
}

// Warning is something in a configuration that does not stop the broker.
type Warning struct {
	Place string // file:line, the environment variable, or --override
	Key   string
	Text  string
}

// LogValue lets slog print a warning as place, key and text.
func (w Warning) LogValue() slog.Value {
	return slog.GroupValue(slog.String("place", w.Place), slog.String("key", w.Key), slog.String("text", w.Text))
}

// Sources are where [Load] reads from, weakest first.
type Sources struct {
	Defaults  map[string]string // values of the command itself, below the file (weir dev)
	Path      string            // the properties file, "" for none
	Environ   []string          // as os.Environ; only WEIR_* is read
	Overrides []string          // key=value, as --override gives them
}

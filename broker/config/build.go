package config

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// WithDynamic returns b with the dynamic values of this broker and of the cluster in place of those it had. Values that do
// not parse are left out, since refusing them would keep a broker from starting; the error names them.
func (b *Broker) WithDynamic(broker, cluster map[string]string) (*Broker, error) {
	var errs []error
	usable := func(values map[string]string) map[string]string {
		kept := make(map[string]string, len(values))
		for _, name := range slices.Sorted(maps.Keys(values)) {
			if p, ok := Lookup(ScopeBroker, name); ok {
				if _, err := parseValue(p, values[name]); err != nil {
					errs = append(errs, err)
					continue
				}
			}
			kept[name] = values[name]
		}
		return kept
	}
	return assemble(b.static, usable(broker), usable(cluster)), errors.Join(errs...)
}

// Static returns the values set in the file, the environment and overrides, by property name.
func (b *Broker) Static() map[string]string { return maps.Clone(b.static) }

// assemble makes the typed form of values that parse. Combinations that make no sense are left for check; the fields they concern
// are then not to be used.
func assemble(static, dynamicBroker, dynamicCluster map[string]string) *Broker {
	static = maps.Clone(static)
	// node.id and its deprecated other name stand for each other.
	if id, ok := static["node.id"]; ok {
		if _, both := static["broker.id"]; !both {
			static["broker.id"] = id
		}
	} else if id, ok := static["broker.id"]; ok {
		static["node.id"] = id
	}
	b := &Broker{static: static, dynamicBroker: dynamicBroker, dynamicCluster: dynamicCluster}
	b.setIdentity()
	b.setListeners()
	b.setNetwork()
	b.setStorage()
	b.setGroups()
	return b
}

func (b *Broker) get(name string) value {
	p := brokerIndex[name]
	if p == nil {
		panic("BUG: no property " + name)
	}
	return b.effective(p, name)
}

func (b *Broker) num(name string) int64        { return b.get(name).num }
func (b *Broker) ms(name string) time.Duration { return milliseconds(b.get(name).num) }
func (b *Broker) flag(name string) bool        { return b.get(name).flag }
func (b *Broker) text(name string) string      { return b.get(name).text }
func (b *Broker) list(name string) []string    { return b.get(name).list }

// first is the value of the strongest synonym of name that is set, in name's own unit.
func (b *Broker) first(name string) int64 {
	names := synonyms(name)
	for _, n := range names {
		if b.sets(n) {
			return b.num(n) * max(1, conversions[n])
		}
	}
	for _, n := range names {
		if v := defaultValue(brokerIndex[n]); !v.null {
			return v.num * max(1, conversions[n])
		}
	}
	return 0
}

func (b *Broker) setIdentity() {
	roles := b.list("process.roles")
	b.NodeID = int32(b.num("node.id"))
	b.Rack = b.text("broker.rack")
	b.BrokerRole = slices.Contains(roles, "broker")
	b.ControllerRole = slices.Contains(roles, "controller")
	for _, name := range b.list("controller.listener.names") {
		b.ControllerListenerNames = append(b.ControllerListenerNames, strings.ToUpper(name))
	}
	b.QuorumVoters, _ = parseVoters(b.list("controller.quorum.voters"))
	b.QuorumBootstrapServers = b.list("controller.quorum.bootstrap.servers")
	b.BrokerSessionTimeout = b.ms("broker.session.timeout.ms")
	b.BrokerHeartbeatInterval = b.ms("broker.heartbeat.interval.ms")
	b.ReplicaLagTimeMax = b.ms("replica.lag.time.max.ms")
}

func (b *Broker) protocols() (map[string]SecurityProtocol, error) {
	const name = "listener.security.protocol.map"
	return protocolMap(b.text(name), !b.sets(name), b.ControllerListenerNames, b.list("listeners"))
}

func (b *Broker) isController(l Listener) bool {
	return slices.Contains(b.ControllerListenerNames, l.Name)
}

func (b *Broker) setListeners() {
	protocols, _ := b.protocols()
	all, _ := parseListeners(b.list("listeners"), protocols)
	for _, l := range all {
		if b.isController(l) {
			b.ControllerListeners = append(b.ControllerListeners, l)
		} else {
			b.Listeners = append(b.Listeners, l)
		}
	}
	advertised, _ := parseListeners(b.list("advertised.listeners"), protocols)
	b.AdvertisedListeners = slices.DeleteFunc(advertised, b.isController)
	b.InterBrokerListener = strings.ToUpper(b.text("inter.broker.listener.name"))
	if b.InterBrokerListener == "" {
		b.InterBrokerListener = b.text("security.inter.broker.protocol")
	}
	b.AdminAddress = b.text("weir.admin.address")
}

func (b *Broker) setNetwork() {
	b.SocketRequestMaxBytes = int32(b.num("socket.request.max.bytes"))
	b.SocketSendBufferBytes = int32(b.num("socket.send.buffer.bytes"))
	b.SocketReceiveBufferBytes = int32(b.num("socket.receive.buffer.bytes"))
	b.ConnectionsMaxIdle = b.ms("connections.max.idle.ms")
	b.MaxConnections = int32(b.num("max.connections"))
	b.MaxConnectionsPerIP = int32(b.num("max.connections.per.ip"))
	b.MaxConnectionsPerIPFor, _ = connectionLimits(b.text("max.connections.per.ip.overrides"))
	b.QueuedMaxRequestBytes = b.num("queued.max.request.bytes")
	b.RequestTimeout = b.ms("request.timeout.ms")
	b.FetchMaxBytes = int32(b.num("fetch.max.bytes"))
	b.FetchSessionCacheSlots = int32(b.num("max.incremental.fetch.session.cache.slots"))
	b.MaxRequestPartitions = int32(b.num("max.request.partition.size.limit"))
}

func (b *Broker) setStorage() {
	b.LogDirs = b.list("log.dirs")
	if len(b.LogDirs) == 0 {
		b.LogDirs = b.list("log.dir")
	}
	b.MetadataLogDir = b.text("metadata.log.dir")
	if b.MetadataLogDir == "" && len(b.LogDirs) > 0 {
		b.MetadataLogDir = b.LogDirs[0]
	}
	b.RecoveryThreadsPerDir = int32(b.num("num.recovery.threads.per.data.dir"))
	b.RetentionCheckInterval = b.ms("log.retention.check.interval.ms")
	b.FlushSchedulerInterval = b.ms("log.flush.scheduler.interval.ms")
	b.HighWatermarkInterval = b.ms("replica.high.watermark.checkpoint.interval.ms")
	b.InitialTaskDelay = b.ms("log.initial.task.delay.ms")
	b.ProducerIDExpiration = b.ms("producer.id.expiration.ms")
	b.ProducerIDExpirationCheck = b.ms("producer.id.expiration.check.interval.ms")
	b.Cleaner = Cleaner{
		Enable: b.flag("log.cleaner.enable"), Threads: int32(b.num("log.cleaner.threads")),
		DedupeBuffer: b.num("log.cleaner.dedupe.buffer.size"), LoadFactor: b.get("log.cleaner.io.buffer.load.factor").real,
		IOBuffer: int32(b.num("log.cleaner.io.buffer.size")), Backoff: b.ms("log.cleaner.backoff.ms"),
	}
	b.CleanerBytesPerSecond = b.get("log.cleaner.io.max.bytes.per.second").real
	b.NumPartitions = int32(b.num("num.partitions"))
	b.DefaultReplicationFactor = int16(min(b.num("default.replication.factor"), 1<<15-1))
	b.AutoCreateTopics = b.flag("auto.create.topics.enable")
	b.DeleteTopicEnable = b.flag("delete.topic.enable")
}

func (b *Broker) setGroups() {
	b.OffsetsTopicPartitions = int32(b.num("offsets.topic.num.partitions"))
	b.OffsetsTopicReplication = int16(b.num("offsets.topic.replication.factor"))
	b.OffsetsTopicSegmentBytes = int32(b.num("offsets.topic.segment.bytes"))
	b.OffsetsTopicCompression = int8(b.num("offsets.topic.compression.codec"))
	b.OffsetsCommitTimeout = b.ms("offsets.commit.timeout.ms")
	b.OffsetsLoadBufferBytes = int32(b.num("offsets.load.buffer.size"))
	b.OffsetsRetention = time.Duration(b.num("offsets.retention.minutes")) * time.Minute
	b.OffsetsRetentionCheck = b.ms("offsets.retention.check.interval.ms")
	b.OffsetMetadataMaxBytes = int32(b.num("offset.metadata.max.bytes"))
	b.GroupInitialRebalanceDelay = b.ms("group.initial.rebalance.delay.ms")
	b.GroupMinSessionTimeout = b.ms("group.min.session.timeout.ms")
	b.GroupMaxSessionTimeout = b.ms("group.max.session.timeout.ms")
	b.GroupMaxSize = int32(b.num("group.max.size"))
	b.GroupCoordinatorLinger = b.ms("group.coordinator.append.linger.ms")
	bounded := func(name string) Bounded {
		return Bounded{Default: b.ms("group.consumer." + name), Min: b.ms("group.consumer.min." + name), Max: b.ms("group.consumer.max." + name)}
	}
	b.GroupConsumerSession = bounded("session.timeout.ms")
	b.GroupConsumerHeartbeat = bounded("heartbeat.interval.ms")
	b.GroupConsumerAssignment = bounded("assignment.interval.ms")
	b.GroupConsumerMaxSize = int32(b.num("group.consumer.max.size"))
	b.GroupConsumerRegexRefresh = b.ms("group.consumer.regex.refresh.interval.ms")
}

// connectionLimits reads max.connections.per.ip.overrides: host:count pairs. An IPv6 address keeps its colons.
func connectionLimits(text string) (map[string]int, error) {
	limits := make(map[string]int)
	for _, pair := range commaSeparator.Split(trimJava(text), -1) {
		if pair == "" {
			continue
		}
		at := strings.LastIndexByte(pair, ':')
		if at <= 0 {
			return nil, fmt.Errorf("%q is not host:count", pair)
		}
		n, err := strconv.ParseInt(trimJava(pair[at+1:]), 10, 32)
		if err != nil || n < 0 {
			return nil, fmt.Errorf("%q is not host:count", pair)
		}
		limits[strings.Trim(trimJava(pair[:at]), "[]")] = int(n)
	}
	return limits, nil
}

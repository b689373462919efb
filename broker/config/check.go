package config

import (
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// finding is a combination of values that makes no sense, filed under the key to change.
type finding struct{ key, cause, fix string }

// check looks at values together. set holds the static values as their sources gave them.
func (b *Broker) check(set map[string]string) []finding {
	found := b.checkIdentity(set)
	found = append(found, b.checkListeners()...)
	return append(found, b.checkLimits()...)
}

func (b *Broker) checkIdentity(set map[string]string) []finding {
	var found []finding
	add := func(key, cause, fix string) { found = append(found, finding{key, cause, fix}) }
	node, hasNode := set["node.id"]
	broker, hasBroker := set["broker.id"]
	switch {
	case !hasNode && !hasBroker:
		add("node.id", "is not set", "add a line such as node.id=1")
	case hasNode && hasBroker && node != broker:
		add("broker.id", fmt.Sprintf("is %s but node.id is %s", broker, node), "remove broker.id")
	}
	if _, ok := set["process.roles"]; !ok {
		add("process.roles", "is not set", "add a line process.roles=broker,controller")
	} else if !b.BrokerRole || !b.ControllerRole {
		add("process.roles", "a node of this version is broker and controller at once", "write process.roles=broker,controller")
	}
	voters, err := parseVoters(b.list("controller.quorum.voters"))
	isVoter := slices.ContainsFunc(voters, func(v Voter) bool { return v.ID == b.NodeID })
	switch {
	case err != nil:
		add("controller.quorum.voters", err.Error(), fmt.Sprintf("write %d@localhost:9093, or remove it", b.NodeID))
	case len(voters) > 1:
		add("controller.quorum.voters", fmt.Sprintf("names %d voters, but this version runs on one node", len(voters)),
			"leave only this node")
	case len(voters) == 1 && !isVoter:
		add("controller.quorum.voters", fmt.Sprintf("does not contain this node, %d", b.NodeID),
			fmt.Sprintf("write %d@host:port", b.NodeID))
	}
	for _, server := range b.QuorumBootstrapServers {
		if _, _, err := parseAddress(server); err != nil {
			add("controller.quorum.bootstrap.servers", err.Error(), "write host:port, or remove it")
		}
	}
	return found
}

func (b *Broker) checkListeners() []finding {
	protocols, err := b.protocols()
	if err != nil {
		return []finding{{"listener.security.protocol.map", err.Error(), "write NAME:PROTOCOL pairs separated by commas"}}
	}
	all, err := parseListeners(b.list("listeners"), protocols)
	if err != nil {
		return []finding{{"listeners", err.Error(), "write NAME://host:port, and name a protocol for NAME in listener.security.protocol.map"}}
	}
	var found []finding
	add := func(key, cause, fix string) { found = append(found, finding{key, cause, fix}) }
	if err := checkPorts(all); err != nil {
		add("listeners", err.Error(), "give each listener its own port")
	}
	if len(b.Listeners) == 0 {
		add("listeners", "none is left for clients: all are in controller.listener.names", "add one such as PLAINTEXT://:9092")
	}
	for _, l := range b.Listeners {
		if l.Protocol != Plaintext {
			add("listeners", fmt.Sprintf("listener %s speaks %s, which this version does not serve", l.Name, l.Protocol),
				"map it to PLAINTEXT, or put a TLS proxy in front")
		}
	}
	advertised, err := parseListeners(b.list("advertised.listeners"), protocols)
	if err != nil {
		add("advertised.listeners", err.Error(), "write NAME://host:port with names from listeners")
		return found
	}
	for _, l := range advertised {
		switch {
		case l.Host == "0.0.0.0" || l.Host == "::":
			add("advertised.listeners", l.Name+" is at "+l.Host+", where no client can connect",
				"write the address that clients use, or remove advertised.listeners to answer with the address each came in on")
		case l.Port == 0:
			add("advertised.listeners", l.Name+" has port 0, where no client can connect", "write the port that clients use")
		case !slices.ContainsFunc(all, func(other Listener) bool { return other.Name == l.Name }):
			add("advertised.listeners", l.Name+" is not in listeners", "use names of "+listenerNames(all))
		}
	}
	clients := b.Listeners
	if len(b.AdvertisedListeners) > 0 {
		clients = b.AdvertisedListeners
	}
	if b.sets("inter.broker.listener.name") {
		if b.sets("security.inter.broker.protocol") {
			add("security.inter.broker.protocol", "is set together with inter.broker.listener.name", "remove one of them")
		}
		if !slices.ContainsFunc(clients, func(l Listener) bool { return l.Name == b.InterBrokerListener }) {
			add("inter.broker.listener.name", b.InterBrokerListener+" is not among the advertised listeners",
				"use one of "+listenerNames(clients))
		}
	}
	return found
}

func listenerNames(listeners []Listener) string {
	var names []string
	for _, l := range listeners {
		names = append(names, l.Name)
	}
	return strings.Join(names, ", ")
}

// limit is a rule about numbers together, with Kafka's text for it.
type limit struct {
	broken          bool
	key, cause, fix string
}

// limits are the rules that dynamic changes must keep as well.
func (b *Broker) limits() []limit {
	wait, perIP := b.ms("replica.fetch.wait.max.ms"), b.num("max.connections.per.ip")
	retention := b.first("log.retention.ms")
	least, most := b.num("log.cleaner.min.compaction.lag.ms"), b.num("log.cleaner.max.compaction.lag.ms")
	idle, delay := b.num("connections.max.idle.ms"), b.num("connection.failed.authentication.delay.ms")
	return []limit{
		{b.first("log.roll.ms") < 1, "log.roll.ms", "log.roll.ms must be greater than or equal to 1", "write 1 or more"},
		{
			b.first("log.roll.jitter.ms") < 0, "log.roll.jitter.ms",
			"log.roll.jitter.ms must be greater than or equal to 0", "write 0 or more",
		},
		{
			retention == 0, "log.retention.ms",
			"log.retention.ms must be unlimited (-1) or, greater than or equal to 1", "write -1, or 1 or more",
		},
		{
			b.num("log.cleaner.dedupe.buffer.size")/max(1, b.num("log.cleaner.threads")) <= 1<<20, "log.cleaner.dedupe.buffer.size",
			"log.cleaner.dedupe.buffer.size must be at least 1MB per cleaner thread.", "raise it or lower log.cleaner.threads",
		},
		{
			wait > b.ms("replica.socket.timeout.ms"), "replica.socket.timeout.ms",
			"replica.socket.timeout.ms should always be at least replica.fetch.wait.max.ms to prevent unnecessary socket timeouts",
			"raise it",
		},
		{
			wait > b.ReplicaLagTimeMax, "replica.fetch.wait.max.ms",
			"replica.fetch.wait.max.ms should always be less than or equal to replica.lag.time.max.ms to prevent frequent changes in ISR",
			"lower it",
		},
		{
			b.QueuedMaxRequestBytes > 0 && b.QueuedMaxRequestBytes < int64(b.SocketRequestMaxBytes), "queued.max.request.bytes",
			"queued.max.request.bytes must be larger or equal to socket.request.max.bytes", "raise it or write -1",
		},
		{
			perIP == 0 && len(b.MaxConnectionsPerIPFor) == 0, "max.connections.per.ip",
			"max.connections.per.ip can be set to zero only if max.connections.per.ip.overrides property is set.", "raise it",
		},
		{
			idle >= 0 && delay >= idle, "connection.failed.authentication.delay.ms",
			fmt.Sprintf("connection.failed.authentication.delay.ms=%d should always be less than connections.max.idle.ms=%d"+
				" to prevent failed authentication responses from timing out", delay, idle), "lower it",
		},
		{
			least > most, "log.cleaner.min.compaction.lag.ms",
			fmt.Sprintf("conflict topic config setting min.compaction.lag.ms (%d) > max.compaction.lag.ms (%d)", least, most),
			"lower it",
		},
	}
}

func (b *Broker) checkLimits() []finding {
	var found []finding
	for _, l := range b.limits() {
		if l.broken {
			cause := strings.TrimSuffix(strings.TrimPrefix(l.cause, l.key+" "), ".")
			found = append(found, finding{l.setKey(b), cause, l.fix})
		}
	}
	if _, err := connectionLimits(b.text("max.connections.per.ip.overrides")); err != nil {
		found = append(found, finding{"max.connections.per.ip.overrides", err.Error(), "write host:count pairs separated by commas"})
	}
	if codec := b.num("offsets.topic.compression.codec"); codec < 0 || codec > 4 {
		found = append(found, finding{"offsets.topic.compression.codec", fmt.Sprintf("there is no codec %d", codec), "write 0 (none), 1 (gzip), 2 (snappy), 3 (lz4) or 4 (zstd)"})
	}
	for i, dir := range b.LogDirs {
		same := func(other string) bool { return filepath.Clean(other) == filepath.Clean(dir) }
		if slices.ContainsFunc(b.LogDirs[:i], same) {
			found = append(found, finding{"log.dirs", dir + " is listed twice", "list each directory once"})
		}
	}
	if b.AdminAddress != "" {
		if _, port, err := net.SplitHostPort(b.AdminAddress); err != nil || !isPort(port) {
			found = append(found, finding{
				"weir.admin.address", fmt.Sprintf("%q is not host:port", b.AdminAddress),
				"write 127.0.0.1:9644, or leave it empty to serve none",
			})
		}
	}
	return found
}

// setKey is the synonym of the limit's key that the configuration sets, since that is the line to change.
func (l limit) setKey(b *Broker) string {
	for _, name := range synonyms(l.key) {
		if b.sets(name) {
			return name
		}
	}
	return l.key
}

func isPort(text string) bool {
	n, err := strconv.ParseUint(text, 10, 16)
	return err == nil && n <= 65535
}

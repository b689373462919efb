package api

import (
	"net"

	"github.com/weir-broker/weir/broker/metadata"
)

// node is a broker as clients are told of it.
type node struct {
	id   metadata.BrokerID
	host string
	port int32
	rack string
}

// node returns the address of broker id on the listener the request came in on; false when it is
// unknown, fenced, or has no such listener.
func (r *request) node(id metadata.BrokerID) (node, bool) {
	b := r.image.Broker(id)
	if b == nil || b.Fenced {
		return node{}, false
	}
	return r.address(b)
}

// address is where to reach b. This broker without advertised.listeners is reached where the client
// reached it.
func (r *request) address(b *metadata.Broker) (node, bool) {
	n := node{id: b.ID, rack: b.Rack}
	if cfg := r.handler.config.Load(); int32(b.ID) == cfg.NodeID && cfg.AdvertisedListeners == nil {
		if tcp, ok := r.conn.LocalAddr().(*net.TCPAddr); ok {
			n.host, n.port = tcp.AddrPort().Addr().Unmap().WithZone("").String(), int32(tcp.Port)
			return n, true
		}
	}
	e, ok := b.Endpoint(r.conn.Listener())
	if !ok {
		return node{}, false
	}
	n.host, n.port = e.Host, int32(e.Port)
	return n, true
}

// aliveNodes are the brokers clients may talk to.
func (r *request) aliveNodes() []node {
	var nodes []node
	for _, b := range r.image.Brokers() {
		if b.Fenced {
			continue
		}
		if n, ok := r.address(b); ok {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// controllerID is a broker that takes requests for the controller: any may, so this one when it is
// alive. -1 when no broker is.
func (r *request) controllerID() int32 {
	self := r.handler.nodeID()
	if _, ok := r.node(metadata.BrokerID(self)); ok {
		return self
	}
	for _, n := range r.aliveNodes() {
		return int32(n.id)
	}
	return -1
}

// offlineReplicas are the replicas of p that cannot be reached on the request's listener.
func (r *request) offlineReplicas(p *metadata.Partition) []int32 {
	offline := []int32{}
	for _, id := range p.Replicas {
		if !r.replicaAlive(id) || r.inOfflineDir(p, id) {
			offline = append(offline, int32(id))
		}
	}
	return offline
}

func (r *request) replicaAlive(id metadata.BrokerID) bool {
	_, ok := r.node(id)
	return ok
}

func (r *request) inOfflineDir(p *metadata.Partition, id metadata.BrokerID) bool {
	dir, b := p.Directory(id), r.image.Broker(id)
	if dir.Reserved() {
		return dir == metadata.DirLost
	}
	for _, online := range b.LogDirs {
		if online == dir {
			return false
		}
	}
	return len(b.LogDirs) > 0
}

func brokerIDs(ids []metadata.BrokerID) []int32 {
	out := make([]int32, len(ids))
	for i, id := range ids {
		out[i] = int32(id)
	}
	return out
}

// The operations a principal may do, as bits by Kafka's AclOperation numbers. Without an authorizer
// everything that applies to the resource is allowed.
const (
	opRead, opWrite, opCreate, opDelete, opAlter, opDescribe                    = 3, 4, 5, 6, 7, 8
	opClusterAction, opDescribeConfigs, opAlterConfigs, opIdempotentWrite int32 = 9, 10, 11, 12

	topicOperations   = 1<<opRead | 1<<opWrite | 1<<opCreate | 1<<opDelete | 1<<opAlter | 1<<opDescribe | 1<<opDescribeConfigs | 1<<opAlterConfigs
	clusterOperations = 1<<opCreate | 1<<opAlter | 1<<opDescribe | 1<<opClusterAction | 1<<opDescribeConfigs | 1<<opAlterConfigs | 1<<opIdempotentWrite

	// operationsNotAsked is what a field holds when the client did not ask.
	operationsNotAsked int32 = -1 << 31
)

// validTopicName reports whether name may be a topic: 1 to 249 letters, digits, dots, dashes and
// underscores, and not "." or "..".
func validTopicName(name string) bool {
	if name == "" || name == "." || name == ".." || len(name) > 249 {
		return false
	}
	for i := range len(name) {
		b := name[i]
		if !(b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '.' || b == '_' || b == '-') {
			return false
		}
	}
	return true
}

func stringPtr(s string) *string { return &s }

// nilIfEmpty is null on the wire for "".
func nilIfEmpty(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

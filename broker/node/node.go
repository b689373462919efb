package node

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	mathrand "math/rand/v2"
	"net"
	"net/netip"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/weir-broker/weir/broker/adminhttp"
	"github.com/weir-broker/weir/broker/api"
	"github.com/weir-broker/weir/broker/commitlog"
	"github.com/weir-broker/weir/broker/config"
	"github.com/weir-broker/weir/broker/controller"
	"github.com/weir-broker/weir/broker/metadata"
	"github.com/weir-broker/weir/broker/network"
	"github.com/weir-broker/weir/broker/partition"
	"github.com/weir-broker/weir/broker/quorum"
	"github.com/weir-broker/weir/broker/vfs"
)

// metadataDir is the folder of the cluster metadata inside metadata.log.dir. No partition folder can have this name,
// since it does not end in a number.
const metadataDir = "weir-metadata"

// abandonTimeout bounds the stop of what was started before a start failed.
const abandonTimeout = 30 * time.Second

// features are what this broker supports. They follow what is there: groups, transactions and ELR bring theirs.
func features() []metadata.SupportedFeature {
	return []metadata.SupportedFeature{{Name: "metadata.version", Min: 7, Max: 33}}
}

// queuedBytes turns queued.max.request.bytes into the bound for frames in memory. Kafka's default is none; but a broker
// whose memory clients can fill with frames of 100 MiB is not one to leave running, so there is always one.
func queuedBytes(property int64) int64 {
	const otherwise = 512 << 20
	if property <= 0 {
		return otherwise
	}
	return property
}

// Options are what a node is built from.
type Options struct {
	Config  *config.Broker
	Logger  *slog.Logger
	Version string           // what the binary calls itself, for the weir_build metric
	Now     func() time.Time // nil means time.Now
	FS      vfs.FS           // nil means the machine's; only log directories go through it
}

// Node is a running broker.
type Node struct {
	config    *config.Broker
	clusterID string
	log       *slog.Logger

	registry   *prometheus.Registry
	bound      []network.Listener
	admin      *adminhttp.Server // nil when weir.admin.address is empty
	dirs       []*commitlog.Dir
	failedDirs map[string]error // those that could not be opened
	quorum     *quorum.Quorum
	controller *controller.Controller
	table      *partition.Table
	groups     *groups
	api        *api.Handler
	server     *network.Server

	serving  atomic.Bool
	watch    sync.WaitGroup // the goroutines that notice a failed quorum, report log directories and mind the memory
	stopping chan struct{}
	moved    chan struct{} // holds one: log directories have something to report
	stages   []stage       // what was started, in order
	failed   chan struct{}
	failure  struct {
		sync.Mutex
		err error
	}
}

// stage is one started part and how it is stopped.
type stage struct {
	name string
	stop func(ctx context.Context) error
}

// Start builds a node and returns when it serves. On an error nothing is left running. ctx bounds the start only.
func Start(ctx context.Context, o Options) (_ *Node, err error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.FS == nil {
		o.FS = vfs.OS()
	}
	n := &Node{config: o.Config, log: o.Logger, registry: prometheus.NewRegistry(), failed: make(chan struct{}), stopping: make(chan struct{}), moved: make(chan struct{}, 1)}
	n.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	n.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "weir_build", Help: "Always 1; the label says which version runs.", ConstLabels: prometheus.Labels{"version": o.Version},
	}, func() float64 { return 1 }))
	defer func() {
		if err != nil {
			stop, cancel := context.WithTimeout(context.Background(), abandonTimeout)
			defer cancel()
			if stopErr := n.Stop(stop); stopErr != nil {
				n.log.Warn("after a failed start", "error", stopErr)
			}
		}
	}()
	for _, start := range []func(context.Context, Options) error{
		n.startListeners, n.startAdmin, n.startDirs, n.startTable, n.startMetadata, n.startBroker,
	} {
		if err := start(ctx, o); err != nil {
			return nil, err
		}
	}
	return n, nil
}

func (n *Node) started(name string, stop func(ctx context.Context) error) {
	n.stages = append(n.stages, stage{name, stop})
}

func (n *Node) startListeners(_ context.Context, o Options) (err error) {
	if n.bound, err = bindListeners(o.Config.Listeners); err != nil {
		return err
	}
	n.started("listeners", func(context.Context) error {
		for _, l := range n.bound {
			_ = l.Close() // closed already when the server ran
		}
		return nil
	})
	return nil
}

func (n *Node) startAdmin(_ context.Context, o Options) error {
	if o.Config.AdminAddress == "" {
		return nil
	}
	listener, err := listen("weir.admin.address", o.Config.AdminAddress)
	if err != nil {
		return err
	}
	n.admin = adminhttp.New(adminhttp.Options{Listener: listener, Gatherer: n.registry, Ready: n.notReady, Cleaning: n.cleaning, Logger: n.log})
	n.admin.Start()
	n.started("admin", n.admin.Stop)
	return nil
}

// cleaning is what the admin listener shows of compaction; it answers before the partitions are there.
func (n *Node) cleaning(topic string) []partition.CleaningState {
	if !n.serving.Load() {
		return nil
	}
	return n.table.Cleaning(topic)
}

// notReady says why the broker does not serve.
func (n *Node) notReady() []adminhttp.Reason {
	if n.serving.Load() {
		return nil
	}
	return []adminhttp.Reason{{Part: "broker", Cause: "starting or stopping: logs are being recovered or closed"}}
}

func (n *Node) startDirs(_ context.Context, o Options) (err error) {
	if n.clusterID, err = clusterID(o.FS, o.Config.LogDirs); err != nil {
		return err
	}
	n.dirs, n.failedDirs, err = openDirs(o.FS, o.Config.LogDirs, commitlog.DirOptions{ClusterID: n.clusterID, NodeID: o.Config.NodeID, Logger: n.log}, n.log)
	if err != nil {
		return err
	}
	n.logIdentity(o)
	n.started("log directories", func(context.Context) error {
		if n.table != nil {
			return nil // it took them over and has closed them
		}
		var err error
		for _, d := range n.dirs {
			err = errors.Join(err, d.Close(false))
		}
		return err
	})
	return nil
}

// logIdentity writes what a log must begin with to be of use later: which node of which cluster this is, and where it is.
func (n *Node) logIdentity(o Options) {
	listeners := make([]string, len(n.bound))
	for i, l := range n.bound {
		listeners[i] = l.Name + "://" + l.Addr().String()
	}
	n.log.Info("starting", "version", o.Version, "node", o.Config.NodeID, "cluster", n.clusterID, "listeners", listeners, "dirs", o.Config.LogDirs)
}

func (n *Node) startMetadata(ctx context.Context, o Options) (err error) {
	if err := n.checkMetadataThere(o); err != nil {
		return err
	}
	n.quorum, err = quorum.Open(quorum.Options{
		Dir: filepath.Join(o.Config.MetadataLogDir, metadataDir), NodeID: metadata.BrokerID(o.Config.NodeID), ClusterID: n.clusterID, Logger: n.log,
	})
	if err != nil {
		return err
	}
	n.watch.Go(func() {
		select {
		case <-n.quorum.Failed():
			n.fail(n.quorum.Err())
		case <-n.stopping:
		}
	})
	n.started("quorum", func(context.Context) error { return n.quorum.Close() })
	n.controller = controller.New(controller.Options{
		NodeID: metadata.BrokerID(o.Config.NodeID), Quorum: n.quorum, Config: o.Config, Features: features(),
		Bootstrap:  controller.Bootstrap(n.clusterID, metadata.Feature{Name: "metadata.version", Level: 33}),
		Random:     mathrand.New(mathrand.NewPCG(mathrand.Uint64(), mathrand.Uint64())),
		NewTopicID: newTopicID, Logger: n.log,
	})
	n.started("controller", func(context.Context) error { n.controller.Close(); return nil })
	return nil
}

// newTopicID draws an id that is none of Kafka's reserved ones and does not begin with a dash in text.
func newTopicID() metadata.TopicID {
	for {
		var id metadata.TopicID
		_, _ = rand.Read(id[:])
		if text := id.String(); text[0] != '-' && !slices.Equal(id[:8], make([]byte, 8)) {
			return id
		}
	}
}

func (n *Node) startTable(_ context.Context, o Options) (err error) {
	n.table, err = partition.NewTable(partition.Options{
		NodeID: metadata.BrokerID(o.Config.NodeID), Config: o.Config, Dirs: n.dirs, FailedDirs: n.failedDirs, Now: o.Now, Logger: n.log, Registerer: n.registry,
		DirFailed: n.dirFailed,
	})
	if err != nil {
		return err
	}
	n.started("partitions", func(context.Context) error { return n.table.Close() })
	return nil
}

func (n *Node) startBroker(ctx context.Context, o Options) (err error) {
	n.groups = newGroups(o.Config, n.table, n.registry, n.log)
	n.started("groups", n.groups.Close)
	n.api = api.New(api.Options{
		Config: o.Config, Features: features(), Controller: n.controller, Table: n.table, Groups: n.groups, Logger: n.log, Registerer: n.registry, Now: o.Now,
	})
	// After a kill the image is that of metadata.db at first, which may lack the last second: topics whose folders are here,
	// leader epochs that records carry. It is whole once the controller is active, and nobody may act on it before.
	if err := n.controller.AwaitActive(ctx); err != nil {
		return fmt.Errorf("load the cluster's metadata: %w", err)
	}
	n.quorum.Subscribe(n.publish)
	// Registering returns when the image with this broker in it was published: then the logs are recovered.
	epoch, err := n.register(ctx, o)
	if err != nil {
		return err
	}
	for _, d := range n.dirs {
		d.SetBrokerEpoch(int64(epoch))
	}
	n.watch.Go(func() { n.reportDirectoriesLoop(epoch) })
	n.watch.Go(n.keepMemoryBudget)
	n.table.Start()
	overrides := map[netip.Addr]int{}
	for host, limit := range o.Config.MaxConnectionsPerIPFor {
		if addr, err := netip.ParseAddr(host); err == nil {
			overrides[addr] = limit
		}
	}
	n.server = network.NewServer(network.Options{
		Handler: n.api, Listeners: n.bound, Logger: n.log, Metrics: network.NewMetrics(n.registry),
		MaxFrameBytes: o.Config.SocketRequestMaxBytes, QueuedBytes: queuedBytes(o.Config.QueuedMaxRequestBytes),
		MaxIdle: max(0, o.Config.ConnectionsMaxIdle), MaxConnections: int(o.Config.MaxConnections),
		MaxConnectionsPerIP: int(o.Config.MaxConnectionsPerIP), MaxConnectionsPerIPOverrides: overrides,
		MaxDescriptor:   connectionDescriptors(),
		SendBufferBytes: int(o.Config.SocketSendBufferBytes), ReceiveBufferBytes: int(o.Config.SocketReceiveBufferBytes),
	})
	n.server.Start()
	n.serving.Store(true)
	n.started("network", func(ctx context.Context) error {
		n.serving.Store(false)
		// First, since members wait in their groups for minutes: they are told to look for another coordinator.
		return errors.Join(n.groups.Close(ctx), n.server.Stop(ctx))
	})
	return nil
}

// register makes this broker known to the controller. It has no bound of its own: it waits for the recovery of the logs.
func (n *Node) register(ctx context.Context, o Options) (metadata.BrokerEpoch, error) {
	var dirs []metadata.DirID
	for _, d := range n.dirs {
		dirs = append(dirs, metadata.DirID(d.ID()))
	}
	var incarnation metadata.IncarnationID
	_, _ = rand.Read(incarnation[:])
	epoch, err := n.controller.RegisterBroker(ctx, controller.BrokerRegistration{
		ID: metadata.BrokerID(o.Config.NodeID), ClusterID: n.clusterID, IncarnationID: incarnation, Rack: o.Config.Rack,
		Endpoints: endpoints(o.Config, n.bound), Features: features(), LogDirs: dirs, Ready: true,
	})
	if err != nil {
		return 0, fmt.Errorf("register broker %d: %w", o.Config.NodeID, err)
	}
	return epoch, nil
}

// dirFailed has the controller told of a log directory that went offline, and ends the node when it was the last one:
// there is nothing left that it could serve.
func (n *Node) dirFailed(path string, err error) {
	n.log.Error("log directory is offline", "dir", path, "error", err)
	n.directoriesMoved()
	for _, d := range n.dirs {
		if _, offline := d.Offline(); !offline {
			return
		}
	}
	n.fail(fmt.Errorf("every log directory is offline, the last one %s: %w", path, err))
}

func (n *Node) fail(err error) {
	n.failure.Lock()
	defer n.failure.Unlock()
	if n.failure.err == nil {
		n.failure.err = err
		close(n.failed)
	}
}

// Failed is closed when the node can no longer serve; Err then says why. It still has to be stopped.
func (n *Node) Failed() <-chan struct{} { return n.failed }

// Err is why the node failed.
func (n *Node) Err() error {
	n.failure.Lock()
	defer n.failure.Unlock()
	return n.failure.err
}

// Bootstrap is the address of the first listener, for clients on this machine.
func (n *Node) Bootstrap() string { return reachable(n.bound[0].Addr()) }

// Admin is the address of the admin listener, "-" without one.
func (n *Node) Admin() string {
	if n.admin == nil {
		return "-"
	}
	return reachable(n.admin.Addr())
}

// reachable turns the address of a wildcard listener into one that a client on this machine can use.
func reachable(addr net.Addr) string {
	tcp, ok := addr.(*net.TCPAddr)
	if !ok || !tcp.IP.IsUnspecified() {
		return addr.String()
	}
	return net.JoinHostPort("127.0.0.1", fmt.Sprint(tcp.Port))
}

// Stop stops everything that was started, last first, and returns what went wrong. ctx bounds how long requests in
// flight are waited for. It is called once.
func (n *Node) Stop(ctx context.Context) error {
	var failed error
	close(n.stopping)
	defer n.watch.Wait()
	for _, s := range slices.Backward(n.stages) {
		if err := s.stop(ctx); err != nil {
			failed = errors.Join(failed, fmt.Errorf("stop %s: %w", s.name, err))
		}
	}
	n.stages = nil
	return failed
}

package quorum

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"
	raftboltdb "github.com/hashicorp/raft-boltdb/v2"
	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"github.com/weir-broker/weir/broker/metadata"
)

// Errors.
var (
	// ErrNotLeader: this node does not lead the quorum; nothing was proposed.
	ErrNotLeader = errors.New("quorum: this node is not the leader")
	// ErrUnknownOutcome: leadership ended, or the wait did, before the entry's
	// fate was known. It may still take effect.
	ErrUnknownOutcome = errors.New("quorum: the outcome of the proposal is not known")
	// ErrClosed: the quorum is closed.
	ErrClosed = errors.New("quorum: closed")
	// ErrStopped: an entry could not be applied, so this replica follows the log
	// no further. Err gives the cause.
	ErrStopped = errors.New("quorum: stopped at an entry that could not be applied")
	// ErrDirectory: the metadata directory cannot be used as it is.
	ErrDirectory = errors.New("quorum: metadata directory")
)

const (
	raftFile     = "raft.db"
	metadataFile = "metadata.db"

	// enqueueTimeout bounds how long a proposal waits for room in Raft's queue.
	enqueueTimeout = 10 * time.Second
	// openTimeout bounds the wait for another process to let go of the files.
	openTimeout = 500 * time.Millisecond
	// saveDelay is how long metadata.db may be behind, to join bursts.
	saveDelay = time.Second
	// The log is cut every snapshotEvery entries; trailing entries stay for
	// followers that are a little behind.
	snapshotEvery    = 4096
	snapshotInterval = 2 * time.Minute
	trailingEntries  = 1024
)

// Voter is a controller that votes.
type Voter struct {
	ID      metadata.BrokerID
	Address string
}

// Options are what a Quorum needs.
type Options struct {
	// Dir is the metadata directory; it is created when it is missing.
	Dir    string
	NodeID metadata.BrokerID
	// ClusterID is checked against the directory's, when both are known.
	ClusterID string
	// Voters are the first voters of a new cluster; empty means this node alone.
	Voters []Voter
	Logger *slog.Logger

	// transport carries Raft's messages; nil is one within this process, for a
	// node that votes alone.
	transport raft.Transport
	// timeouts are Raft's for heartbeats and elections; 0 is Raft's default.
	timeouts time.Duration
}

// Quorum is this node's replica of the metadata log. Its methods are safe for
// concurrent use.
type Quorum struct {
	logger     *slog.Logger
	dir        string
	raft       *raft.Raft
	log        *raftboltdb.BoltStore
	transport  raft.Transport
	store      *store
	leadership chan metadata.Leadership
	stop       chan struct{}
	loops      sync.WaitGroup
	closing    sync.Once
	closeErr   error

	image   atomic.Pointer[metadata.Image]
	applied chan struct{} // capacity 1: the image moved on
	dirty   chan struct{} // capacity 1: metadata.db is behind
	failed  chan struct{} // closed when the replica stopped
	err     atomic.Pointer[error]

	mu struct {
		sync.Mutex
		subscribers []func(*metadata.Image)
		published   metadata.Index
		moved       chan struct{} // closed and replaced when published moves on
	}
}

// Open opens the metadata directory, making one when there is none, and joins
// the quorum.
func Open(o Options) (*Quorum, error) {
	fresh, err := makeDir(o.Dir)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDirectory, err)
	}
	q := &Quorum{
		logger: o.Logger, dir: o.Dir, transport: o.transport,
		leadership: make(chan metadata.Leadership, 1), stop: make(chan struct{}),
		applied: make(chan struct{}, 1), dirty: make(chan struct{}, 1), failed: make(chan struct{}),
	}
	q.mu.moved = make(chan struct{})
	if err := q.open(o, fresh); err != nil {
		return nil, errors.Join(err, q.closeFiles())
	}
	return q, nil
}

// makeDir makes dir and returns the folders to sync once there are files in it: those whose entries are new. Without that a
// power failure could take the log with all that was acknowledged from it, however well the files themselves were synced.
func makeDir(dir string) (fresh []string, err error) {
	dir = filepath.Clean(dir)
	if _, err := os.Stat(filepath.Join(dir, raftFile)); err == nil {
		return nil, nil
	}
	fresh = []string{dir, filepath.Dir(dir)} // dir may be of a start that ended before it had a log
	for {
		above := fresh[len(fresh)-1]
		if _, err := os.Stat(above); err == nil || above == filepath.Dir(above) {
			return fresh, os.MkdirAll(dir, 0o750)
		}
		fresh = append(fresh, filepath.Dir(above))
	}
}

func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// HasLog reports whether dir holds a metadata log that was ever written to. Without one Open begins anew.
func HasLog(dir string) (bool, error) {
	st, err := os.Stat(filepath.Join(dir, raftFile))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("%w: %w", ErrDirectory, err)
	}
	return st.Size() > 0, nil
}

func (q *Quorum) open(o Options, fresh []string) error {
	var err error
	if q.store, err = openStore(filepath.Join(o.Dir, metadataFile), o.NodeID); err != nil {
		return err
	}
	if q.log, err = openLog(filepath.Join(o.Dir, raftFile)); err != nil {
		return err
	}
	for _, dir := range fresh {
		if err := syncDir(dir); err != nil {
			return fmt.Errorf("%w: %w", ErrDirectory, err)
		}
	}
	snapshots, err := raft.NewFileSnapshotStore(o.Dir, 2, logWriter{q.logger})
	if err != nil {
		return fmt.Errorf("%w: snapshots in %s: %w", ErrDirectory, o.Dir, err)
	}
	img, err := q.restore(snapshots)
	if err != nil {
		return err
	}
	if o.ClusterID != "" && img.ClusterID != "" && o.ClusterID != img.ClusterID {
		return fmt.Errorf("%w: %s belongs to cluster %q, this node is configured for %q; "+
			"point it at its own directory", ErrDirectory, o.Dir, img.ClusterID, o.ClusterID)
	}
	q.image.Store(img)
	q.mu.published = img.Index
	return q.startRaft(o, snapshots)
}

// restore loads the Image from metadata.db and checks it against the log. When
// metadata.db is missing or behind the last snapshot, that one brings the rest.
func (q *Quorum) restore(snapshots raft.SnapshotStore) (*metadata.Image, error) {
	img, err := q.store.load()
	if err != nil {
		return nil, err
	}
	list, err := snapshots.List()
	if err != nil {
		return nil, fmt.Errorf("%w: snapshots in %s: %w", ErrDirectory, q.dir, err)
	}
	last, err := q.log.LastIndex()
	if err != nil {
		return nil, fmt.Errorf("%w: reading %s: %w", ErrDirectory, raftFile, err)
	}
	first, err := q.log.FirstIndex()
	if err != nil {
		return nil, fmt.Errorf("%w: reading %s: %w", ErrDirectory, raftFile, err)
	}
	if first > 1 && (len(list) == 0 || list[0].Index+1 < first) {
		return nil, fmt.Errorf("%w: %s begins at entry %d, and no snapshot reaches that far; restore %s",
			ErrDirectory, filepath.Join(q.dir, raftFile), first, filepath.Join(q.dir, "snapshots"))
	}
	if len(list) > 0 {
		last = max(last, list[0].Index)
		if uint64(img.Index) < list[0].Index {
			if img, err = q.fromSnapshot(snapshots, list[0].ID, img); err != nil {
				return nil, err
			}
		}
	}
	if uint64(img.Index) > last {
		return nil, fmt.Errorf("%w: %s ends at entry %d but %s has applied %d: %s is missing or older; restore it",
			ErrDirectory, filepath.Join(q.dir, raftFile), last, metadataFile, img.Index, raftFile)
	}
	return img, nil
}

func (q *Quorum) fromSnapshot(snapshots raft.SnapshotStore, id string, img *metadata.Image) (*metadata.Image, error) {
	_, r, err := snapshots.Open(id)
	if err != nil {
		return nil, fmt.Errorf("%w: snapshot %s in %s: %w", ErrDirectory, id, q.dir, err)
	}
	newer, err := readSnapshot(r)
	if err != nil {
		return nil, fmt.Errorf("%w: snapshot %s in %s: %w", ErrDirectory, id, q.dir, err)
	}
	// A snapshot may be labelled with the index of an entry that is Raft's own.
	if newer.Index <= img.Index {
		return img, nil
	}
	return newer, q.store.save(newer)
}

func openLog(path string) (*raftboltdb.BoltStore, error) {
	var log *raftboltdb.BoltStore
	err := guard(func() (err error) {
		log, err = raftboltdb.New(raftboltdb.Options{Path: path, BoltOptions: &bbolt.Options{
			Timeout: openTimeout, FreelistType: bbolt.FreelistMapType,
		}})
		if err != nil {
			return err
		}
		first, err := log.FirstIndex()
		if err != nil {
			return err
		}
		last, err := log.LastIndex()
		if err != nil || last == 0 {
			return err
		}
		for _, index := range []uint64{first, last} {
			if err := log.GetLog(index, new(raft.Log)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		if log != nil {
			err = errors.Join(err, log.Close())
		}
		return nil, fileError(path, err, "restore it from a copy, or remove the directory of a node whose cluster has other voters")
	}
	return log, nil
}

// fileError names the file, the cause and one fix.
func fileError(path string, err error, fix string) error {
	if errors.Is(err, bolterrors.ErrTimeout) {
		return fmt.Errorf("%w: %s is in use by another process; stop it first", ErrDirectory, path)
	}
	if errors.Is(err, os.ErrPermission) {
		return fmt.Errorf("%w: %w; give this user access to it", ErrDirectory, err)
	}
	return fmt.Errorf("%w: %s is damaged (%w); %s", ErrDirectory, path, err, fix)
}

func (q *Quorum) startRaft(o Options, snapshots raft.SnapshotStore) error {
	id := serverID(o.NodeID)
	servers := raft.Configuration{}
	for _, v := range o.Voters {
		servers.Servers = append(servers.Servers, raft.Server{ID: serverID(v.ID), Address: raft.ServerAddress(v.Address)})
	}
	alone := len(o.Voters) == 0
	if alone {
		servers.Servers = []raft.Server{{ID: id, Address: raft.ServerAddress(id)}}
	}
	if q.transport == nil {
		_, q.transport = raft.NewInmemTransport(raft.ServerAddress(id))
	}
	notify := make(chan bool, 16)
	conf := raft.DefaultConfig()
	conf.LocalID = id
	conf.LogOutput, conf.LogLevel = logWriter{q.logger}, logLevel(q.logger)
	conf.NotifyCh = notify
	conf.NoSnapshotRestoreOnStart = true
	conf.BatchApplyCh = true
	conf.MaxAppendEntries = 128
	conf.SnapshotThreshold, conf.SnapshotInterval, conf.TrailingLogs = snapshotEvery, snapshotInterval, trailingEntries
	conf.NoLegacyTelemetry = true
	if o.timeouts > 0 {
		conf.HeartbeatTimeout, conf.ElectionTimeout, conf.LeaderLeaseTimeout = o.timeouts, o.timeouts, o.timeouts
	}
	existing, err := raft.HasExistingState(q.log, q.log, snapshots)
	if err != nil {
		return fmt.Errorf("%w: reading %s: %w", ErrDirectory, filepath.Join(q.dir, raftFile), err)
	}
	if !existing {
		if err := raft.BootstrapCluster(conf, q.log, q.log, snapshots, q.transport, servers); err != nil {
			return fmt.Errorf("%w: writing %s: %w", ErrDirectory, filepath.Join(q.dir, raftFile), err)
		}
	}
	if q.raft, err = raft.NewRaft(conf, (*machine)(q), q.log, stable{q.log, q}, snapshots, q.transport); err != nil {
		return fmt.Errorf("%w: %w", ErrDirectory, err)
	}
	q.loops.Add(3)
	go q.watchLeadership(notify)
	go q.publishLoop()
	go q.saveLoop()
	q.hasten(alone, id)
	return nil
}

// hasten makes a lone voter stand for election at once. It has nobody to hear
// from, so that waiting for a heartbeat would only delay the start; short
// timeouts instead would have to be undone before a second voter joins, which
// Raft cannot do to its leader lease while it runs.
func (q *Quorum) hasten(alone bool, id raft.ServerID) {
	configuration := q.raft.GetConfiguration()
	if configuration.Error() != nil {
		return // closed already
	}
	servers := configuration.Configuration().Servers
	if !alone || len(servers) != 1 || servers[0].ID != id {
		return
	}
	local, ok := q.transport.(*raft.InmemTransport)
	if !ok {
		return
	}
	local.Connect(servers[0].Address, local)
	request := &raft.TimeoutNowRequest{RPCHeader: raft.RPCHeader{ProtocolVersion: raft.ProtocolVersionMax, ID: []byte(id)}}
	err := local.TimeoutNow(id, servers[0].Address, request, &raft.TimeoutNowResponse{})
	if err != nil {
		// The election timeout does the same, a second later.
		q.logger.Warn("metadata election not hastened", "error", err)
	}
}

func serverID(id metadata.BrokerID) raft.ServerID { return raft.ServerID(strconv.Itoa(int(id))) }

// Image is the newest applied image.
func (q *Quorum) Image() *metadata.Image { return q.image.Load() }

// Leadership returns a channel that holds the newest state; one that was not
// received in time is replaced by the next.
func (q *Quorum) Leadership() <-chan metadata.Leadership { return q.leadership }

// Failed is closed when this replica had to stop; Err tells why. The process
// should end: its image stays as it is.
func (q *Quorum) Failed() <-chan struct{} { return q.failed }

// Err is why the replica stopped, nil while it follows the log.
func (q *Quorum) Err() error {
	if err := q.err.Load(); err != nil {
		return *err
	}
	return nil
}

// Start hands an entry to the log without waiting for it. Entries reach the log
// in the order of the calls, and a burst of them shares one sync. The function
// it returns waits until this node has applied the entry and every subscriber
// has seen an image that covers it, and returns the outcome of metadata.Apply.
func (q *Quorum) Start(e metadata.Entry) (wait func(context.Context) (metadata.Index, error)) {
	if q.Err() != nil {
		// Raft's main loop may have ended, so that nobody would answer.
		return func(context.Context) (metadata.Index, error) { return 0, ErrStopped }
	}
	future := q.raft.Apply(metadata.AppendEntry(nil, e), enqueueTimeout)
	p := &proposal{future: future, done: make(chan struct{})}
	go p.follow()
	return func(ctx context.Context) (metadata.Index, error) {
		select {
		case <-p.done:
		case <-ctx.Done():
			return 0, fmt.Errorf("%w: %w", ErrUnknownOutcome, ctx.Err())
		case <-q.failed:
			if !p.finished() {
				return 0, fmt.Errorf("%w: %w", ErrUnknownOutcome, ErrStopped)
			}
		case <-q.stop:
			if !p.finished() {
				return 0, fmt.Errorf("%w: %w", ErrUnknownOutcome, ErrClosed)
			}
		}
		if p.err != nil {
			return 0, p.err
		}
		return p.index, q.awaitPublished(ctx, p.index)
	}
}

// proposal is an entry on its way into the log.
type proposal struct {
	future raft.ApplyFuture
	done   chan struct{}
	index  metadata.Index
	err    error
}

func (p *proposal) finished() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// follow ends with Raft's future.
func (p *proposal) follow() {
	defer close(p.done)
	err := p.future.Error()
	switch {
	case errors.Is(err, raft.ErrNotLeader), errors.Is(err, raft.ErrLeadershipTransferInProgress):
		p.err = ErrNotLeader
	case errors.Is(err, raft.ErrRaftShutdown):
		p.err = ErrClosed
	case err != nil:
		p.err = fmt.Errorf("%w: %w", ErrUnknownOutcome, err)
	default:
		p.index = metadata.Index(p.future.Index())
		if applyErr, ok := p.future.Response().(error); ok {
			p.err = applyErr
		}
	}
}

// Barrier returns when this node, as leader, has applied everything that was
// committed before the call.
func (q *Quorum) Barrier(ctx context.Context) error {
	done := make(chan error, 1)
	go func() { done <- q.raft.Barrier(enqueueTimeout).Error() }()
	select {
	case err := <-done:
		if errors.Is(err, raft.ErrNotLeader) {
			return ErrNotLeader
		}
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close leaves the quorum and closes the files. Proposals under way return an
// error.
func (q *Quorum) Close() error {
	q.closing.Do(func() {
		err := q.raft.Shutdown().Error()
		close(q.stop)
		q.loops.Wait()
		q.closeErr = errors.Join(err, q.store.save(q.Image()), q.closeFiles())
	})
	return q.closeErr
}

func (q *Quorum) closeFiles() error {
	var errs []error
	if q.log != nil {
		errs = append(errs, q.log.Close())
	}
	if q.store != nil {
		errs = append(errs, q.store.close())
	}
	return errors.Join(errs...)
}

func (q *Quorum) watchLeadership(notify <-chan bool) {
	defer q.loops.Done()
	for {
		select {
		case <-q.stop:
			return
		case leader := <-notify:
			l := metadata.Leadership{Leader: leader, Term: metadata.Term(q.raft.CurrentTerm())}
			select {
			case <-q.leadership: // replaced
			default:
			}
			q.leadership <- l
			q.logger.Info("metadata leadership", "leader", leader, "term", uint64(l.Term))
		}
	}
}

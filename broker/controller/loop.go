package controller

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/weir-broker/weir/broker/config"
	"github.com/weir-broker/weir/broker/metadata"
)

// Errors of the loop as a whole; errors of single items are *Error.
var (
	// ErrNotController: this node does not lead the metadata quorum, or stopped
	// leading it before the outcome was known.
	ErrNotController = errors.New("controller: this node is not the active controller")
	// ErrClosed: the controller was closed.
	ErrClosed = errors.New("controller: closed")
)

// Quorum is what the loop needs of the replicated log.
type Quorum interface {
	// Image is the newest applied image.
	Image() *metadata.Image
	// Start hands an entry to the log without waiting for it. Entries reach the
	// log in the order of the calls. The function it returns waits until this
	// node has applied the entry, for the outcome of metadata.Apply; it fails
	// earlier when the entry's fate is unknown.
	Start(e metadata.Entry) (wait func(context.Context) (metadata.Index, error))
	// Leadership returns a channel that holds the newest state: a value that
	// was not received in time is replaced by the one that followed it.
	Leadership() <-chan metadata.Leadership
}

// maxInFlight bounds requests waiting for a decision and entries waiting to be
// applied, each.
const maxInFlight = 256

// Options are what a Controller needs. All fields must be set.
type Options struct {
	NodeID metadata.BrokerID
	Quorum Quorum
	// Config is the node's configuration without dynamic values: the defaults of
	// new topics, and the layers below a topic's own configurations.
	Config *config.Broker
	// Features are the feature levels that this program supports.
	Features []metadata.SupportedFeature
	// Bootstrap are the records that a new cluster begins with; see Bootstrap.
	Bootstrap []metadata.Record
	// Random places replicas.
	Random Random
	// NewTopicID draws an id that no topic ever had.
	NewTopicID func() metadata.TopicID
	Logger     *slog.Logger
}

// Random is a source of randomness, as *math/rand/v2.Rand.
type Random interface {
	IntN(n int) int
	Shuffle(n int, swap func(i, j int))
}

// Bootstrap returns the records of a new cluster: its id and the features that
// are on.
func Bootstrap(clusterID string, features ...metadata.Feature) []metadata.Record {
	records := []metadata.Record{
		&metadata.Feature{Name: metadata.WeirFeature, Level: metadata.MaxWeirLevel},
		&metadata.Cluster{ClusterID: clusterID},
	}
	for _, f := range features {
		records = append(records, &f)
	}
	return records
}

// New starts a controller; Close stops it.
func New(o Options) *Controller {
	ctx, cancel := context.WithCancel(context.Background())
	c := &Controller{
		quorum: o.Quorum, rules: newRules(o),
		bootstrap: o.Bootstrap, logger: o.Logger,
		ops: make(chan *operation, maxInFlight), inFlight: make(chan *operation, maxInFlight),
		ctx: ctx, cancel: cancel, activated: make(chan struct{}),
	}
	c.done.Add(2)
	go c.decideLoop()
	go c.replyLoop()
	return c
}

// Controller runs the decisions of the node that leads the quorum. Its methods
// are safe for concurrent use; on other nodes they return ErrNotController.
//
// Goroutines: loop decides and proposes, reply waits for outcomes in order and
// answers. loop owns working and generation.
type Controller struct {
	quorum    Quorum
	rules     rules
	bootstrap []metadata.Record
	logger    *slog.Logger

	ops      chan *operation
	inFlight chan *operation
	ctx      context.Context
	cancel   context.CancelFunc
	done     sync.WaitGroup
	active   atomic.Bool

	once      sync.Once
	activated chan struct{} // closed when this node was active for the first time
}

// operation is one request in the loop.
type operation struct {
	// decide computes the records for the request; it may only read the state. It writes results that the caller of submit
	// owns: taken says whose turn it is, decided is closed when decide has returned.
	decide  func(s state) []metadata.Record
	taken   atomic.Bool
	decided chan struct{}
	// wait is nil when there was nothing to change.
	wait       func(context.Context) (metadata.Index, error)
	generation *generation
	reply      chan error // capacity 1
}

// generation is a run of decisions that build on one another before their
// records are applied. If one of them is lost, later ones rest on sand.
type generation struct {
	failed  atomic.Bool
	pending atomic.Int64
}

// Close stops the loop. Requests in flight return ErrClosed.
func (c *Controller) Close() {
	c.cancel()
	c.done.Wait()
}

// Active reports whether this node is the active controller.
func (c *Controller) Active() bool { return c.active.Load() }

// AwaitActive returns when this node has become the active controller for the first time, which for a lone voter is
// within milliseconds of its start.
func (c *Controller) AwaitActive(ctx context.Context) error {
	select {
	case <-c.activated:
		return nil
	case <-c.ctx.Done():
		return ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

// submit runs one decision through the loop and waits for its effect. When ctx
// ends first, an operation that was decided still goes on: its outcome is only
// not waited for. One that was not is dropped.
func (c *Controller) submit(ctx context.Context, decide func(s state) []metadata.Record) error {
	op := &operation{decide: decide, decided: make(chan struct{}), reply: make(chan error, 1)}
	select {
	case c.ops <- op:
	case <-ctx.Done():
		return ctx.Err()
	case <-c.ctx.Done():
		return ErrClosed
	}
	var err error
	select {
	case err := <-op.reply:
		return err
	case <-ctx.Done():
		err = ctx.Err()
	case <-c.ctx.Done():
		err = ErrClosed
	}
	if !op.taken.CompareAndSwap(false, true) {
		<-op.decided // the loop is at it: a moment, as decisions wait for nothing
	}
	return err
}

func (c *Controller) decideLoop() {
	defer c.done.Done()
	defer c.active.Store(false)
	var term metadata.Term
	var gen *generation
	var working *metadata.Image
	for {
		select {
		case <-c.ctx.Done():
			return
		case l := <-c.quorum.Leadership():
			c.active.Store(false)
			working = nil
			if !l.Leader {
				c.logger.Info("controller resigned", "term", uint64(term))
				continue
			}
			if err := c.begin(l.Term); err != nil {
				c.logger.Warn("controller term not started", "term", uint64(l.Term), "error", err)
				continue
			}
			term, gen, working = l.Term, &generation{}, c.quorum.Image()
			c.active.Store(true)
			c.once.Do(func() { close(c.activated) })
			c.logger.Info("controller active", "term", uint64(term))
		case op := <-c.ops:
			if working == nil {
				op.reply <- ErrNotController
				continue
			}
			if gen.pending.Load() == 0 {
				// Nothing is in flight: what was decided is in the image, or
				// was lost with the generation.
				gen, working = &generation{}, c.quorum.Image()
			} else if gen.failed.Load() {
				op.reply <- ErrNotController
				continue
			}
			working = c.step(op, term, gen, working)
		}
	}
}

// begin starts a term. The entry tells the image the term, so that entries of
// older ones still in the log are ignored; and since it follows everything that
// was committed before this node led, its being applied is also the barrier
// after which the image is the newest there is. The first term of a new cluster
// carries the records it begins with.
func (c *Controller) begin(term metadata.Term) error {
	img := c.quorum.Image()
	if img.Term == term {
		return nil
	}
	records := []metadata.Record{&metadata.TermStart{Term: term, Leader: c.rules.nodeID}}
	_, err := c.quorum.Start(metadata.Entry{Term: term, Records: records})(c.ctx)
	if err != nil || c.quorum.Image().ClusterID != "" {
		return err
	}
	_, err = c.quorum.Start(metadata.Entry{Term: term, Records: c.bootstrap})(c.ctx)
	return err
}

// step decides one operation on the image that the operations before it lead
// to, and returns the image that it leads to itself.
func (c *Controller) step(op *operation, term metadata.Term, gen *generation, working *metadata.Image) *metadata.Image {
	if !op.taken.CompareAndSwap(false, true) {
		return working // its caller gave up
	}
	op.generation = gen
	records := op.decide(c.rules.state(working))
	close(op.decided)
	next := working
	if len(records) > 0 {
		entry := metadata.Entry{Term: term, Records: records}
		after, err := metadata.Apply(working, working.Index+1, entry)
		if err != nil {
			c.logger.Error("controller decided an entry that does not apply", "term", uint64(term), "error", err)
			op.reply <- err
			return working
		}
		next = after
		op.wait = c.quorum.Start(entry)
	}
	gen.pending.Add(1)
	select {
	case c.inFlight <- op:
	case <-c.ctx.Done():
	}
	return next
}

func (c *Controller) replyLoop() {
	defer c.done.Done()
	for {
		select {
		case <-c.ctx.Done():
			return
		case op := <-c.inFlight:
			op.reply <- c.outcome(op)
			op.generation.pending.Add(-1)
		}
	}
}

func (c *Controller) outcome(op *operation) error {
	if op.wait == nil {
		if op.generation.failed.Load() {
			return ErrNotController
		}
		return nil
	}
	if _, err := op.wait(c.ctx); err != nil {
		op.generation.failed.Store(true)
		if c.ctx.Err() != nil {
			return ErrClosed
		}
		// Whatever the log's reason, the client must ask again, and may find
		// that it was done after all.
		return fmt.Errorf("%w: %w", ErrNotController, err)
	}
	return nil
}

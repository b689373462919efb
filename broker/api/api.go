package api

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/weir-broker/weir/broker/config"
	"github.com/weir-broker/weir/broker/metadata"
	"github.com/weir-broker/weir/broker/network"
	"github.com/weir-broker/weir/broker/partition"
)

// Options are what a Handler is built from.
type Options struct {
	// Config is the broker's configuration. SetConfig replaces it when dynamic values change.
	Config *config.Broker
	// Features are what this broker supports, as it registered them.
	Features []metadata.SupportedFeature
	// Table holds the replicas of this broker.
	Table *partition.Table
	// Controller carries out what only the metadata leader may decide.
	Controller Controller
	// Groups are the group coordinators on this broker.
	Groups     Groups
	Logger     *slog.Logger
	Registerer prometheus.Registerer // nil registers nothing
	Now        func() time.Time      // nil is time.Now
}

// Handler serves Kafka requests. It implements network.Handler.
type Handler struct {
	table      *apiTable
	features   []metadata.SupportedFeature
	controller Controller
	groups     Groups
	replicas   replicas
	logger     *slog.Logger
	now        func() time.Time
	metrics    *metrics

	config atomic.Pointer[config.Broker]
	image  atomic.Pointer[metadata.Image]

	produceCalls sync.Pool // of *produceCall
	fetchCalls   sync.Pool // of *fetchCall
	sessions     *fetchSessions
	producerIDs  producerIDs
	replyMemory  replyMemory

	// decoding bounds how many large requests are decoded and held at once.
	decoding chan struct{}

	published struct {
		sync.Mutex
		next chan struct{} // closed by the next Publish
	}
}

var _ network.Handler = (*Handler)(nil)

// New builds a handler. Until the first Publish it answers as an empty cluster.
func New(o Options) *Handler {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	table, sessions := newTable(), newFetchSessions(int(o.Config.FetchSessionCacheSlots))
	h := &Handler{
		table:      table,
		features:   o.Features,
		controller: o.Controller,
		groups:     o.Groups,
		replicas:   hosted{o.Table},
		logger:     o.Logger,
		now:        o.Now,
		metrics:    newMetrics(table, sessions, o.Registerer),
		sessions:   sessions,
		decoding:   make(chan struct{}, 2),
	}
	h.replyMemory.lean, h.replyMemory.full = leanBytes, fullBytes
	h.producerIDs.token = make(chan struct{}, 1)
	h.config.Store(o.Config)
	h.image.Store(metadata.NewImage())
	h.fetchCalls.New = func() any { return &fetchCall{waiter: partition.NewWaiter()} }
	h.produceCalls.New = func() any { return &produceCall{waiter: partition.NewWaiter()} }
	h.published.next = make(chan struct{})
	return h
}

// SetConfig makes the handler use another configuration from the next request on.
func (h *Handler) SetConfig(b *config.Broker) { h.config.Store(b) }

// Publish makes the handler answer from img. node calls it last of all followers of an image, so
// that what a client is told exists can be used.
func (h *Handler) Publish(img *metadata.Image) {
	h.image.Store(img)
	if len(*h.metrics.topics.Load()) > img.TopicCount() {
		h.metrics.keepTopics(func(name string) bool { return img.Topic(name) != nil })
	}
	h.published.Lock()
	close(h.published.next)
	h.published.next = make(chan struct{})
	h.published.Unlock()
}

// awaitImage waits until a published image satisfies ok, or ctx ends. It makes a mutation visible to
// the requests that follow it.
func (h *Handler) awaitImage(ctx context.Context, ok func(*metadata.Image) bool) {
	for {
		h.published.Lock()
		next := h.published.next
		h.published.Unlock()
		if ok(h.image.Load()) {
			return
		}
		select {
		case <-next:
		case <-ctx.Done():
			return
		}
	}
}

func (h *Handler) nodeID() int32 { return h.config.Load().NodeID }

// awaitTopics waits until the topics are in a published image.
func (h *Handler) awaitTopics(ctx context.Context, names []string) {
	h.awaitImage(ctx, func(img *metadata.Image) bool {
		for _, name := range names {
			if img.Topic(name) == nil {
				return false
			}
		}
		return true
	})
}

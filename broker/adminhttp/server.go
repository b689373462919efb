package adminhttp

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/weir-broker/weir/broker/partition"
)

// Reason says why a broker is not ready: which part, and what an operator can do about it.
type Reason struct {
	Part  string `json:"part"`
	Cause string `json:"cause"`
}

// Options are what a Server is built from.
type Options struct {
	Listener net.Listener
	Gatherer prometheus.Gatherer
	// Ready returns why the broker does not serve; an empty result means ready. It must not block.
	Ready func() []Reason
	// Cleaning returns how the compaction of a topic's replicas on this broker goes; all topics for an empty name. Nil
	// when there is nothing to ask.
	Cleaning func(topic string) []partition.CleaningState
	Logger   *slog.Logger
}

// Cleaning is how the compaction of one replica goes, as GET /v1/cleaning?topic=NAME shows it.
type Cleaning struct {
	Topic      string  `json:"topic"`
	Partition  int32   `json:"partition"`
	CleanedTo  int64   `json:"cleaned_to"` // first offset that no round has seen, -1 before the first
	DirtyBytes int64   `json:"dirty_bytes"`
	DirtyRatio float64 `json:"dirty_ratio"`
	// LastRound and FailedAt are RFC 3339, empty when there is none.
	LastRound string `json:"last_round,omitempty"`
	FailedAt  string `json:"failed_at,omitempty"`
	Error     string `json:"error,omitempty"` // of the last round
	// Uncleanable is set when the replica is left alone until the broker starts again.
	Uncleanable bool `json:"uncleanable,omitempty"`
}

func cleaningRows(states []partition.CleaningState) []Cleaning {
	rows := make([]Cleaning, 0, len(states))
	for i := range states {
		st := &states[i]
		row := Cleaning{
			Topic: st.Topic, Partition: st.Partition, CleanedTo: int64(st.Offset), DirtyBytes: st.DirtyBytes, DirtyRatio: st.DirtyRatio, Uncleanable: st.Uncleanable,
			LastRound: timestamp(st.LastRound), FailedAt: timestamp(st.FailedAt),
		}
		if st.Err != nil {
			row.Error = st.Err.Error()
		}
		rows = append(rows, row)
	}
	return rows
}

func timestamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// Server answers /healthz, /readyz, /metrics, /v1/cleaning and, for who asks why a broker is slow or large, Go's /debug/pprof.
type Server struct {
	http     *http.Server
	listener net.Listener
	log      *slog.Logger
	done     chan struct{}
}

// New builds a server; Start makes it answer.
func New(o Options) *Server {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, map[string]string{"status": "ok"})
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if reasons := o.Ready(); len(reasons) > 0 {
			writeJSON(w, http.StatusServiceUnavailable, map[string]any{"status": "not ready", "reasons": reasons})
			return
		}
		writeJSON(w, http.StatusOK, map[string]string{"status": "ready"})
	})
	if o.Cleaning != nil {
		mux.HandleFunc("GET /v1/cleaning", func(w http.ResponseWriter, r *http.Request) {
			writeJSON(w, http.StatusOK, cleaningRows(o.Cleaning(r.URL.Query().Get("topic"))))
		})
	}
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	mux.Handle("GET /metrics", promhttp.HandlerFor(o.Gatherer, promhttp.HandlerOpts{}))
	return &Server{
		// Timeouts bound a client that connects and says nothing; nothing served here takes
		// longer: a CPU profile of the default 30 s just fits.
		http:     &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: time.Minute, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10},
		listener: o.Listener,
		log:      o.Logger,
		done:     make(chan struct{}),
	}
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the client is gone if this fails
}

// Start serves until Stop.
func (s *Server) Start() {
	go func() {
		defer close(s.done)
		if err := s.http.Serve(s.listener); err != nil && !errors.Is(err, http.ErrServerClosed) {
			s.log.Error("admin listener stopped", "error", err)
		}
	}()
}

// Addr is the address the server listens on.
func (s *Server) Addr() net.Addr { return s.listener.Addr() }

// Stop ends the server, waiting for requests in flight until ctx is done.
func (s *Server) Stop(ctx context.Context) error {
	err := s.http.Shutdown(ctx)
	if err != nil {
		_ = s.http.Close()
	}
	<-s.done
	return err
}

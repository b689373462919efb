package network

import (
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics counts what the server does. The hot path adds to plain atomics; Prometheus reads them.
type Metrics struct {
	accepted, rejected, requests, panics, badFrames atomic.Int64
	bytesIn, bytesOut, parked                       atomic.Int64

	server atomic.Pointer[Server]
}

// NewMetrics registers the metrics with reg; nil registers nothing.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	m := &Metrics{}
	if reg == nil {
		return m
	}
	counter := func(name, help string, v *atomic.Int64) prometheus.Collector {
		return prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help}, func() float64 { return float64(v.Load()) })
	}
	gauge := func(name, help string, read func() float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, read)
	}
	reg.MustRegister(
		gauge("kafka_server_socket_server_metrics_connection_count", "Open client connections.", func() float64 {
			if s := m.server.Load(); s != nil {
				return float64(s.Connections())
			}
			return 0
		}),
		counter("weir_network_connections_accepted_total", "Connections accepted and served.", &m.accepted),
		counter("weir_network_connections_rejected_total", "Connections closed at once because of max.connections.per.ip.", &m.rejected),
		counter("weir_network_requests_total", "Frames given to the handler.", &m.requests),
		counter("weir_network_handler_panics_total", "Panics while serving; each closed its connection.", &m.panics),
		counter("weir_network_bad_frames_total", "Connections closed because of a frame length out of range.", &m.badFrames),
		counter("weir_network_bytes_in_total", "Bytes of frames received.", &m.bytesIn),
		counter("weir_network_bytes_out_total", "Bytes of replies handed to the socket.", &m.bytesOut),
		gauge("weir_network_parked_replies", "Replies that wait for their second phase.", func() float64 { return float64(m.parked.Load()) }),
		gauge("weir_network_queued_bytes", "Bytes of frames received and not yet served.", func() float64 {
			if s := m.server.Load(); s != nil {
				return float64(s.queuedBytes())
			}
			return 0
		}),
	)
	return m
}

func (m *Metrics) attach(s *Server) { m.server.Store(s) }

// Panics is how many handler panics were caught.
func (m *Metrics) Panics() int64 { return m.panics.Load() }

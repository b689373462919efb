package api

import (
	"strconv"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics counts what the handlers do. The hot path adds to plain atomics; Prometheus reads them.
type metrics struct {
	table *apiTable

	requests [maxKey + 1]atomic.Int64 // by API key
	rejected atomic.Int64             // frames that are no request we serve
}

func newMetrics(t *apiTable, reg prometheus.Registerer) *metrics {
	m := &metrics{table: t}
	if reg == nil {
		return m
	}
	reg.MustRegister(m)
	return m
}

var (
	requestsDesc = prometheus.NewDesc("kafka_network_requestmetrics_requests_total", "Requests by API.", []string{"request", "key"}, nil)
	rejectedDesc = prometheus.NewDesc("weir_api_rejected_frames_total", "Frames with an unknown API key or version, or that cannot be decoded.", nil, nil)
)

// Describe implements prometheus.Collector.
func (m *metrics) Describe(ch chan<- *prometheus.Desc) {
	ch <- requestsDesc
	ch <- rejectedDesc
}

// Collect implements prometheus.Collector.
func (m *metrics) Collect(ch chan<- prometheus.Metric) {
	for key := range m.requests {
		if e := m.table.endpoint(int16(key)); e != nil {
			ch <- prometheus.MustNewConstMetric(requestsDesc, prometheus.CounterValue, float64(m.requests[key].Load()), e.name, strconv.Itoa(key))
		}
	}
	ch <- prometheus.MustNewConstMetric(rejectedDesc, prometheus.CounterValue, float64(m.rejected.Load()))
}

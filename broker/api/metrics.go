package api

import (
	"maps"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics counts what the handlers do. The hot path adds to plain atomics; Prometheus reads them.
type metrics struct {
	table    *apiTable
	sessions *fetchSessions

	requests [maxKey + 1]atomic.Int64 // by API key
	rejected atomic.Int64             // frames that are no request we serve

	mu     sync.Mutex // held while topics is replaced
	topics atomic.Pointer[map[string]*topicMetrics]
}

func newMetrics(t *apiTable, sessions *fetchSessions, reg prometheus.Registerer) *metrics {
	m := &metrics{table: t, sessions: sessions}
	m.topics.Store(&map[string]*topicMetrics{})
	if reg == nil {
		return m
	}
	reg.MustRegister(m)
	return m
}

var (
	requestsDesc          = prometheus.NewDesc("kafka_network_requestmetrics_requests_total", "Requests by API.", []string{"request", "key"}, nil)
	sessionsDesc          = prometheus.NewDesc("kafka_server_fetchsessioncache_numincrementalfetchsessions", "Incremental fetch sessions (KIP-227).", nil, nil)
	sessionPartitionsDesc = prometheus.NewDesc("kafka_server_fetchsessioncache_numincrementalfetchpartitionscached", "Partitions in incremental fetch sessions.", nil, nil)
	evictionsDesc         = prometheus.NewDesc("kafka_server_fetchsessioncache_incrementalfetchsessionevictions_total", "Fetch sessions displaced by others.", nil, nil)

	rejectedDesc = prometheus.NewDesc("weir_api_rejected_frames_total", "Frames with an unknown API key or version, or that cannot be decoded.", nil, nil)
)

// topicMetrics are the counters of requests for one topic; broker/partition counts its bytes and records.
type topicMetrics struct {
	produces, fetches, failedProduces, failedFetches atomic.Int64
	// perOffset is how many bytes an offset of the topic took in late fetches, to size the next buffer.
	perOffset atomic.Int64
}

// observe takes a fetch of n bytes over some offsets into perOffset.
func (t *topicMetrics) observe(n int, offsets int64) {
	seen := int64(n) / max(offsets, 1)
	if old := t.perOffset.Load(); old > 0 {
		seen = (3*old + seen + 3) / 4
	}
	t.perOffset.Store(max(seen, 1))
}

// topic returns the counters of a topic without allocating for one it knows.
func (m *metrics) topic(name string) *topicMetrics {
	if t := (*m.topics.Load())[name]; t != nil {
		return t
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	old := *m.topics.Load()
	if t := old[name]; t != nil {
		return t
	}
	next := maps.Clone(old)
	t := &topicMetrics{}
	next[name] = t
	m.topics.Store(&next)
	return t
}

// keepTopics forgets the counters of topics that are gone.
func (m *metrics) keepTopics(exists func(name string) bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	next := maps.Clone(*m.topics.Load())
	maps.DeleteFunc(next, func(name string, _ *topicMetrics) bool { return !exists(name) })
	m.topics.Store(&next)
}

// topicDescs are the per-topic counters under the names Kafka's dashboards know.
var topicDescs = []struct {
	desc  *prometheus.Desc
	value func(*topicMetrics) *atomic.Int64
}{
	{topicDesc("totalproducerequests", "Batches that producers sent."), func(t *topicMetrics) *atomic.Int64 { return &t.produces }},
	{topicDesc("failedproducerequests", "Batches that were refused."), func(t *topicMetrics) *atomic.Int64 { return &t.failedProduces }},
	{topicDesc("totalfetchrequests", "Partition reads of fetch requests."), func(t *topicMetrics) *atomic.Int64 { return &t.fetches }},
	{topicDesc("failedfetchrequests", "Partition reads that failed."), func(t *topicMetrics) *atomic.Int64 { return &t.failedFetches }},
}

func topicDesc(name, help string) *prometheus.Desc {
	return prometheus.NewDesc("kafka_server_brokertopicmetrics_"+name+"_total", help, []string{"topic"}, nil)
}

// Describe implements prometheus.Collector.
func (m *metrics) Describe(ch chan<- *prometheus.Desc) {
	ch <- requestsDesc
	ch <- rejectedDesc
	ch <- sessionsDesc
	ch <- sessionPartitionsDesc
	ch <- evictionsDesc
	for _, d := range topicDescs {
		ch <- d.desc
	}
}

// Collect implements prometheus.Collector.
func (m *metrics) Collect(ch chan<- prometheus.Metric) {
	for key := range m.requests {
		if e := m.table.endpoint(int16(key)); e != nil {
			ch <- prometheus.MustNewConstMetric(requestsDesc, prometheus.CounterValue, float64(m.requests[key].Load()), e.name, strconv.Itoa(key))
		}
	}
	sessions, partitions := m.sessions.count()
	ch <- prometheus.MustNewConstMetric(sessionsDesc, prometheus.GaugeValue, float64(sessions))
	ch <- prometheus.MustNewConstMetric(sessionPartitionsDesc, prometheus.GaugeValue, float64(partitions))
	ch <- prometheus.MustNewConstMetric(evictionsDesc, prometheus.CounterValue, float64(m.sessions.evictions.Load()))
	for name, t := range *m.topics.Load() {
		for _, d := range topicDescs {
			ch <- prometheus.MustNewConstMetric(d.desc, prometheus.CounterValue, float64(d.value(t).Load()), name)
		}
	}
	ch <- prometheus.MustNewConstMetric(rejectedDesc, prometheus.CounterValue, float64(m.rejected.Load()))
}

package coordinator

import (
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics of one Runtime. Those of Kafka's coordinator runtime keep their names, so that dashboards find them; durations
// that Kafka shows as percentiles are histograms in seconds here.
type metrics struct {
	queueTime, processingTime, commitTime, flushTime prometheus.Histogram
	records, batches, unknown, timeouts              prometheus.Counter
	drops, refused                                   prometheus.Counter
	loads                                            loadTimes
}

// newMetrics makes the metrics of a coordinator, named as in Options.Name, and registers them with reg unless it is nil.
func newMetrics(name string, reg prometheus.Registerer) *metrics {
	labels := prometheus.Labels{"coordinator": name}
	histogram := func(metric, help string) prometheus.Histogram {
		return prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "weir_coordinator_" + metric, Help: help, ConstLabels: labels,
			Buckets: prometheus.ExponentialBuckets(25e-6, 4, 10), // 25 µs to 6.6 s
		})
	}
	counter := func(metric, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: "weir_coordinator_" + metric, Help: help, ConstLabels: labels})
	}
	m := &metrics{
		queueTime:      histogram("event_queue_seconds", "Time an operation waited in the queue of its shard."),
		processingTime: histogram("event_processing_seconds", "Time an operation and the replay of its records took."),
		commitTime:     histogram("event_purgatory_seconds", "Time an answer waited for records to be committed."),
		flushTime:      histogram("batch_flush_seconds", "Time the append of a batch took."),
		records:        counter("records_total", "Records appended."),
		batches:        counter("batches_total", "Batches appended."),
		unknown:        counter("unknown_records_total", "Records of an unknown type, skipped."),
		timeouts:       counter("commit_timeouts_total", "Answers given up because records were not committed in time."),
		drops:          counter("drops_total", "Machines dropped because they were out of step with their log."),
		refused:        counter("refused_total", "Operations refused because a queue was full."),
	}
	if reg != nil {
		reg.MustRegister(m.queueTime, m.processingTime, m.commitTime, m.flushTime, m.records, m.batches, m.unknown, m.timeouts,
			m.drops, m.refused)
	}
	return m
}

// loadTimes are the newest load times: Kafka shows those of the last 30 seconds.
type loadTimes struct {
	mu   sync.Mutex
	list []loadTime
}

type loadTime struct {
	at   time.Time
	took time.Duration
}

const loadTimesKept = 30 * time.Second

func (l *loadTimes) add(at time.Time, took time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forget(at)
	l.list = append(l.list, loadTime{at, took})
}

func (l *loadTimes) forget(now time.Time) {
	n := 0
	for n < len(l.list) && now.Sub(l.list[n].at) > loadTimesKept {
		n++
	}
	l.list = append(l.list[:0], l.list[n:]...)
}

func (l *loadTimes) read(now time.Time) (longest, average time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forget(now)
	if len(l.list) == 0 {
		return 0, 0
	}
	for _, e := range l.list {
		longest = max(longest, e.took)
		average += e.took
	}
	return longest, average / time.Duration(len(l.list))
}

// gauges are read from the Runtime when metrics are scraped.
type gauges struct {
	read func() reading

	partitions, queued, waiting, calls, loadMax, loadAvg *prometheus.Desc
}

type reading struct {
	byState           [len(stateNames)]int
	queued, waiting   int
	calls             int
	loadMax, loadMean time.Duration
}

func newGauges(name string, read func() reading) *gauges {
	prefix := "kafka_server_" + strings.ReplaceAll(name, "-", "_") + "_metrics_"
	labels := prometheus.Labels{"coordinator": name}
	return &gauges{
		read:       read,
		partitions: prometheus.NewDesc(prefix+"num_partitions", "Shards on this broker by state.", []string{"state"}, nil),
		queued:     prometheus.NewDesc(prefix+"event_queue_size", "Operations in the queues of shards.", nil, nil),
		loadMax:    prometheus.NewDesc(prefix+"partition_load_time_max", "Longest load of a shard in the last 30 s, ms.", nil, nil),
		loadAvg:    prometheus.NewDesc(prefix+"partition_load_time_avg", "Mean load of a shard in the last 30 s, ms.", nil, nil),
		waiting:    prometheus.NewDesc("weir_coordinator_waiting", "Requests not answered yet.", nil, labels),
		calls:      prometheus.NewDesc("weir_coordinator_calls", "Calls that run or wait for a worker.", nil, labels),
	}
}

// Describe implements prometheus.Collector.
func (g *gauges) Describe(out chan<- *prometheus.Desc) { prometheus.DescribeByCollect(g, out) }

// Collect implements prometheus.Collector.
func (g *gauges) Collect(out chan<- prometheus.Metric) {
	r := g.read()
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	for s, n := range r.byState {
		if state(s) != stateClosed {
			gauge(g.partitions, float64(n), stateNames[s])
		}
	}
	gauge(g.queued, float64(r.queued))
	gauge(g.waiting, float64(r.waiting))
	gauge(g.calls, float64(r.calls))
	gauge(g.loadMax, float64(r.loadMax)/float64(time.Millisecond))
	gauge(g.loadAvg, float64(r.loadMean)/float64(time.Millisecond))
}

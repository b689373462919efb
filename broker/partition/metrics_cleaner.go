package partition

import "github.com/prometheus/client_golang/prometheus"

// cleanerDescs describe the metrics of cleaning. Those of Kafka have its names.
type cleanerDescs struct {
	uncleanable, uncleanableBytes                *prometheus.Desc
	dirtyPercent, sinceRun, recopy, took, mapUse *prometheus.Desc
	overdue, dead                                *prometheus.Desc
	rounds, bytesRead, bytesWritten, records     *prometheus.Desc
}

func newCleanerDescs() cleanerDescs {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc(name, help, labels, nil)
	}
	return cleanerDescs{
		uncleanable:      desc("kafka_log_logcleanermanager_uncleanable_partitions_count", "Compacted replicas that cannot be cleaned because records are damaged.", "logDirectory"),
		uncleanableBytes: desc("kafka_log_logcleanermanager_uncleanable_bytes", "Bytes of those replicas that wait to be cleaned.", "logDirectory"),
		dirtyPercent:     desc("kafka_log_logcleanermanager_max_dirty_percent", "Share of uncleaned bytes of the dirtiest log, in percent."),
		sinceRun:         desc("kafka_log_logcleanermanager_time_since_last_run_ms", "Milliseconds since the cleaner last looked for a log to clean."),
		recopy:           desc("kafka_log_logcleaner_cleaner_recopy_percent", "Share of the bytes that the last round kept, in percent."),
		took:             desc("kafka_log_logcleaner_max_clean_time_secs", "Seconds the last round took."),
		mapUse:           desc("kafka_log_logcleaner_max_buffer_utilization_percent", "Share of the table of keys that the last round filled, in percent."),
		overdue:          desc("kafka_log_logcleaner_max_compaction_delay_secs", "Seconds that the oldest uncleaned record is above max.compaction.lag.ms."),
		dead:             desc("kafka_log_logcleaner_deadthreadcount", "Cleaners that could not start."),
		rounds:           desc("weir_log_cleaner_rounds_total", "Rounds of cleaning, by result.", "result"),
		bytesRead:        desc("weir_log_cleaner_read_bytes_total", "Bytes read to clean."),
		bytesWritten:     desc("weir_log_cleaner_written_bytes_total", "Bytes written by cleaning."),
		records:          desc("weir_log_cleaner_records_total", "Records that cleaning looked at, by what became of them.", "verdict"),
	}
}

func (d *cleanerDescs) each(fn func(*prometheus.Desc)) {
	for _, desc := range []*prometheus.Desc{
		d.uncleanable, d.uncleanableBytes, d.dirtyPercent, d.sinceRun, d.recopy, d.took, d.mapUse, d.overdue, d.dead,
		d.rounds, d.bytesRead, d.bytesWritten, d.records,
	} {
		fn(desc)
	}
}

// collectCleaner reports on cleaning.
func (c *collector) collectCleaner(out chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	counter := func(d *prometheus.Desc, v int64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(v), labels...)
	}
	count, bytes := make(map[*hostDir]int), make(map[*hostDir]int64)
	for _, p := range c.t.All() {
		if !p.cleaningState().Uncleanable {
			continue
		}
		if st, ok := p.Cleaning(); ok {
			count[p.dir]++
			bytes[p.dir] += st.DirtyBytes
		}
	}
	d, n := &c.cleaner, &c.t.cleaners.count
	for _, dir := range c.t.dirs {
		gauge(d.uncleanable, float64(count[dir]), dir.path)
		gauge(d.uncleanableBytes, float64(bytes[dir]), dir.path)
	}
	gauge(d.dirtyPercent, float64(n.dirtiest.Load()))
	if started := n.started.Load(); started > 0 {
		gauge(d.sinceRun, float64(c.t.env.now().UnixMilli()-started))
	}
	recopy := 0.0
	if read := n.lastRead.Load(); read > 0 {
		recopy = 100 * float64(n.lastWritten.Load()) / float64(read)
	}
	gauge(d.recopy, recopy)
	gauge(d.took, float64(n.lastTook.Load())/1000)
	gauge(d.mapUse, float64(n.lastMapUse.Load()))
	gauge(d.overdue, float64(n.overdue.Load())/1000)
	gauge(d.dead, float64(n.dead.Load()))
	counter(d.rounds, n.rounds.Load(), "cleaned")
	counter(d.rounds, n.failures.Load(), "failed")
	counter(d.rounds, n.aborted.Load(), "aborted")
	counter(d.bytesRead, n.bytesRead.Load())
	counter(d.bytesWritten, n.bytesWritten.Load())
	counter(d.records, n.recordsKept.Load(), "kept")
	counter(d.records, n.recordsRead.Load()-n.recordsKept.Load(), "removed")
}

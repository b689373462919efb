package partition

import (
	"strconv"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
)

// topicCounters count what goes through a topic's partitions on this broker.
type topicCounters struct {
	messagesIn, bytesIn, bytesOut atomic.Int64
}

// collector reads the table when metrics are scraped, so that the hot path
// pays for three atomic additions and nothing else. The names are those that
// Strimzi's dashboards and kafka_exporter's users look for.
type collector struct {
	t *Table

	messagesIn, bytesIn, bytesOut            *prometheus.Desc
	leaders, partitions, underReplicated     *prometheus.Desc
	offlineReplicas, offlineDirs             *prometheus.Desc
	underMinISR, atMinISR, replicas, inSync  *prometheus.Desc
	size, start, end, highWatermark, earlier *prometheus.Desc
	unusableConfigs, shortages               *prometheus.Desc
	cleaner                                  cleanerDescs
}

var _ prometheus.Collector = (*collector)(nil)

func newCollector(t *Table) *collector {
	byTopic := []string{"topic"}
	byPartition := []string{"topic", "partition"}
	desc := func(name, help string, labels []string) *prometheus.Desc {
		return prometheus.NewDesc(name, help, labels, nil)
	}
	return &collector{
		t:               t,
		cleaner:         newCleanerDescs(),
		messagesIn:      desc("kafka_server_brokertopicmetrics_messagesin_total", "Records appended by producers.", byTopic),
		bytesIn:         desc("kafka_server_brokertopicmetrics_bytesin_total", "Bytes appended by producers.", byTopic),
		bytesOut:        desc("kafka_server_brokertopicmetrics_bytesout_total", "Bytes read by consumers.", byTopic),
		leaders:         desc("kafka_server_replicamanager_leadercount", "Partitions this broker leads.", nil),
		partitions:      desc("kafka_server_replicamanager_partitioncount", "Replicas on this broker.", nil),
		underReplicated: desc("kafka_server_replicamanager_underreplicatedpartitions", "Led partitions with replicas out of sync.", nil),
		offlineReplicas: desc("kafka_server_replicamanager_offlinereplicacount", "Replicas that cannot be served.", nil),
		offlineDirs:     desc("kafka_log_logmanager_offlinelogdirectorycount", "Log directories that are offline.", nil),
		underMinISR:     desc("kafka_cluster_partition_underminisr", "1 if fewer replicas are in sync than min.insync.replicas.", byPartition),
		atMinISR:        desc("kafka_cluster_partition_atminisr", "1 if just min.insync.replicas are in sync.", byPartition),
		replicas:        desc("kafka_cluster_partition_replicascount", "Replicas of a led partition.", byPartition),
		inSync:          desc("kafka_cluster_partition_insyncreplicascount", "In-sync replicas of a led partition.", byPartition),
		size:            desc("kafka_log_log_size", "Bytes in the log.", byPartition),
		start:           desc("kafka_log_log_logstartoffset", "First offset of the log.", byPartition),
		end:             desc("kafka_log_log_logendoffset", "Offset of the next record.", byPartition),
		highWatermark:   desc("kafka_topic_partition_current_offset", "High watermark of a led partition.", byPartition),
		earlier:         desc("kafka_topic_partition_oldest_offset", "Log start offset of a led partition.", byPartition),
		unusableConfigs: desc("weir_partition_unusable_topic_configs", "Topics whose configuration cannot be used, so that an earlier one is in force.", nil),
		shortages:       desc("weir_partition_out_of_descriptors_total", "Operations that failed because no file descriptor was free.", nil),
	}
}

func (c *collector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		c.messagesIn, c.bytesIn, c.bytesOut, c.leaders, c.partitions, c.underReplicated, c.offlineReplicas, c.offlineDirs,
		c.underMinISR, c.atMinISR, c.replicas, c.inSync, c.size, c.start, c.end, c.highWatermark, c.earlier, c.unusableConfigs, c.shortages,
	} {
		out <- d
	}
	c.cleaner.each(func(d *prometheus.Desc) { out <- d })
}

func (c *collector) Collect(out chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	c.collectTopics(out)
	out <- prometheus.MustNewConstMetric(c.shortages, prometheus.CounterValue, float64(c.t.env.shortages.Load()))
	c.collectCleaner(out)

	var leaders, partitions, underReplicated, offline int
	for _, p := range c.t.All() {
		partitions++
		st := p.status.Load()
		if p.log == nil || st.err != nil {
			offline++
			continue
		}
		number := strconv.Itoa(int(p.index))
		gauge(c.size, float64(p.log.Size()), p.topic, number)
		gauge(c.start, float64(p.log.LogStartOffset()), p.topic, number)
		gauge(c.end, float64(p.log.LogEndOffset()), p.topic, number)
		if !st.leading {
			continue
		}
		leaders++
		p.mu.Lock()
		replicas, inSync, least := len(p.mu.isr.followers)+1, len(p.mu.isr.committed), p.mu.isr.effectiveMinISR()
		p.mu.Unlock()
		if inSync < replicas {
			underReplicated++
		}
		gauge(c.underMinISR, oneIf(inSync < least), p.topic, number)
		gauge(c.atMinISR, oneIf(inSync == least), p.topic, number)
		gauge(c.replicas, float64(replicas), p.topic, number)
		gauge(c.inSync, float64(inSync), p.topic, number)
		gauge(c.highWatermark, float64(p.HighWatermark()), p.topic, number)
		gauge(c.earlier, float64(p.log.LogStartOffset()), p.topic, number)
	}
	gauge(c.leaders, float64(leaders))
	gauge(c.partitions, float64(partitions))
	gauge(c.underReplicated, float64(underReplicated))
	gauge(c.offlineReplicas, float64(offline))
	offlineDirs := 0
	for _, d := range c.t.dirs {
		if !d.online() {
			offlineDirs++
		}
	}
	gauge(c.offlineDirs, float64(offlineDirs))
}

func (c *collector) collectTopics(out chan<- prometheus.Metric) {
	c.t.mu.RLock()
	defer c.t.mu.RUnlock()
	unusable := 0
	for name, h := range c.t.mu.byName {
		if h.unusable {
			unusable++
		}
		counter := func(d *prometheus.Desc, v *atomic.Int64) {
			out <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(v.Load()), name)
		}
		counter(c.messagesIn, &h.count.messagesIn)
		counter(c.bytesIn, &h.count.bytesIn)
		counter(c.bytesOut, &h.count.bytesOut)
	}
	out <- prometheus.MustNewConstMetric(c.unusableConfigs, prometheus.GaugeValue, float64(unusable))
}

func oneIf(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

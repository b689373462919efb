package config

import (
	"testing"
	"time"
)

func BenchmarkTopic(b *testing.B) {
	broker := assemble(map[string]string{"log.retention.hours": "24"}, nil, nil)
	overrides := map[string]string{"cleanup.policy": "compact,delete", "retention.ms": "60000"}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Topic(overrides, broker); err != nil {
			b.Fatal(err)
		}
	}
}

func TestTopicConfigIsTyped(t *testing.T) {
	c, err := Topic(map[string]string{
		"cleanup.policy": "compact,delete", "segment.ms": "5000", "max.compaction.lag.ms": "1000", "flush.ms": "9223372036854775807",
		"compression.type": "zstd", "compression.zstd.level": "-7", "message.timestamp.type": "LogAppendTime", "retention.ms": "-1",
		"weir.flush.on.acks": "all", "weir.produce.validation": "header", "from.the.future": "x", "segment.bytes": "2097152",
	}, mustLoad(t, ""))
	if err != nil {
		t.Fatal(err)
	}
	switch {
	case !c.Compact || !c.Delete, c.SegmentAge != 5*time.Second, c.MaxSegmentAge() != time.Second, c.FlushInterval != 1<<63-1,
		c.CompressionType != CompressionZstd, c.ZstdLevel != -7, !c.LogAppendTime, c.Retention >= 0,
		c.FlushOnAcks != FlushOnAcksAll, c.ProduceValidation != ValidateHeader, c.SegmentBytes != 2<<20:
		t.Errorf("%+v", c)
	}
	if c, err = Topic(map[string]string{"internal.segment.bytes": "1000", "cleanup.policy": ""}, mustLoad(t, "")); err != nil {
		t.Fatal(err)
	}
	if c.SegmentBytes != 1000 || c.Compact || c.Delete {
		t.Errorf("%+v", c)
	}
	if _, err := Topic(map[string]string{"segment.bytes": "many"}, mustLoad(t, "")); err == nil {
		t.Error("a value that does not parse is accepted")
	}
}

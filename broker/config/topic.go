package config

import (
	"slices"
	"time"
)

// Compression is the value of compression.type.
type Compression string

// The compression types. CompressionProducer keeps what the producer chose.
const (
	CompressionProducer Compression = "producer"
	CompressionNone     Compression = "uncompressed"
	CompressionGzip     Compression = "gzip"
	CompressionSnappy   Compression = "snappy"
	CompressionLZ4      Compression = "lz4"
	CompressionZstd     Compression = "zstd"
)

// FlushOnAcks is the value of weir.flush.on.acks.
type FlushOnAcks string

// The values of weir.flush.on.acks.
const (
	FlushOnAcksNone FlushOnAcks = "none"
	FlushOnAcksAll  FlushOnAcks = "all"
)

// ProduceValidation is the value of weir.produce.validation.
type ProduceValidation string

// The values of weir.produce.validation.
const (
	ValidateFull   ProduceValidation = "full"
	ValidateHeader ProduceValidation = "header"
)

// TopicConfig is the effective configuration of one topic, typed. Each field names its property.
type TopicConfig struct {
	// Segments.
	SegmentBytes       int32         // segment.bytes, or internal.segment.bytes where set
	SegmentIndexBytes  int32         // segment.index.bytes
	SegmentAge         time.Duration // segment.ms
	SegmentJitter      time.Duration // segment.jitter.ms
	IndexIntervalBytes int32         // index.interval.bytes
	Preallocate        bool          // preallocate
	FlushMessages      int64         // flush.messages
	FlushInterval      time.Duration // flush.ms
	FileDeleteDelay    time.Duration // file.delete.delay.ms

	// Cleaning.
	Delete           bool          // cleanup.policy contains delete
	Compact          bool          // cleanup.policy contains compact
	RetentionBytes   int64         // retention.bytes, negative is unlimited
	Retention        time.Duration // retention.ms, negative is unlimited
	MaxCompactionLag time.Duration // max.compaction.lag.ms
	MinCompactionLag time.Duration // min.compaction.lag.ms
	MinDirtyRatio    float64       // min.cleanable.dirty.ratio
	DeleteRetention  time.Duration // delete.retention.ms

	// Produce.
	MaxMessageBytes    int32             // max.message.bytes
	MaxRecordBytes     int32             // max.decompressed.message.bytes: one record, decompressed
	MinInsyncReplicas  int32             // min.insync.replicas
	CompressionType    Compression       // compression.type
	GzipLevel          int               // compression.gzip.level, -1 the library's choice
	LZ4Level           int               // compression.lz4.level
	ZstdLevel          int               // compression.zstd.level
	LogAppendTime      bool              // message.timestamp.type is LogAppendTime
	TimestampBeforeMax time.Duration     // message.timestamp.before.max.ms
	TimestampAfterMax  time.Duration     // message.timestamp.after.max.ms
	FlushOnAcks        FlushOnAcks       // weir.flush.on.acks
	ProduceValidation  ProduceValidation // weir.produce.validation
}

// MaxSegmentAge is the age at which a segment rolls: a compacted topic rolls no later than max.compaction.lag.ms.
func (c *TopicConfig) MaxSegmentAge() time.Duration {
	if c.Compact && c.MaxCompactionLag > 0 {
		return min(c.MaxCompactionLag, c.SegmentAge)
	}
	return c.SegmentAge
}

// Topic returns a topic's effective configuration: overrides, over the broker's values. Overrides that do not parse are
// an error; unknown names are ignored, since a newer version may have written them.
func Topic(overrides map[string]string, b *Broker) (TopicConfig, error) {
	values, err := b.topicValues(overrides, false)
	if err != nil {
		return TopicConfig{}, err
	}
	return typedTopic(values), nil
}

// topicValues parses every topic property: the override, or else the broker's value.
func (b *Broker) topicValues(overrides map[string]string, strict bool) (map[string]value, error) {
	values := make(map[string]value, len(TopicProperties))
	for i := range TopicProperties {
		p := &TopicProperties[i]
		if text, ok := overrides[p.Name]; ok {
			v, err := parseValue(p, text)
			if err != nil {
				return nil, err
			}
			values[p.Name] = v
			continue
		}
		v := b.inherited(p)
		if strict {
			if err := p.Rule.ensure(p.Name, v); err != nil && !v.null {
				return nil, err
			}
		}
		values[p.Name] = v
	}
	return values, nil
}

// inherited is a topic or group property's value where the resource does not set it: the strongest broker synonym that is set, in
// the property's own unit, or the default.
func (b *Broker) inherited(p *Property) value {
	if p.Synonym == "" {
		return defaultValue(p)
	}
	names := synonyms(p.Synonym)
	for _, layer := range []map[string]string{b.dynamicBroker, b.dynamicCluster, b.static} {
		for _, name := range names {
			text, ok := layer[name]
			if !ok {
				continue
			}
			v, err := parseValue(brokerIndex[name], text)
			if err != nil {
				continue // refused when it was set; a value that got here regardless is as good as unset
			}
			return v.as(p, name)
		}
	}
	for _, name := range names {
		if q := brokerIndex[name]; !q.Null {
			return defaultValue(q).as(p, name)
		}
	}
	return defaultValue(p)
}

// as converts the value of broker property name to one of p.
func (v value) as(p *Property, name string) value {
	if factor, ok := conversions[name]; ok {
		v.num *= factor
	}
	switch {
	case p.Name == "retention.ms" && v.num < 0:
		v.num = -1
	case v.typ == List && p.Type != List:
		// A list of assignors stands for its first.
		v.text = ""
		if len(v.list) > 0 {
			v.text = v.list[0]
		}
	}
	v.typ = p.Type
	return v
}

func defaultValue(p *Property) value {
	if p.Null {
		return value{typ: p.Type, null: true}
	}
	v, err := parseType(p.Name, p.Default, p.Type)
	if err != nil {
		panic("BUG: default of " + p.Name + ": " + err.Error())
	}
	return v
}

func typedTopic(values map[string]value) TopicConfig {
	num := func(name string) int64 { return values[name].num }
	ms := func(name string) time.Duration { return milliseconds(values[name].num) }
	policy := values["cleanup.policy"].list
	c := TopicConfig{
		SegmentBytes:       int32(num("segment.bytes")),
		SegmentIndexBytes:  int32(num("segment.index.bytes")),
		SegmentAge:         ms("segment.ms"),
		SegmentJitter:      ms("segment.jitter.ms"),
		IndexIntervalBytes: int32(num("index.interval.bytes")),
		Preallocate:        values["preallocate"].flag,
		FlushMessages:      num("flush.messages"),
		FlushInterval:      ms("flush.ms"),
		FileDeleteDelay:    ms("file.delete.delay.ms"),
		Delete:             slices.Contains(policy, "delete"),
		Compact:            slices.Contains(policy, "compact"),
		RetentionBytes:     num("retention.bytes"),
		Retention:          ms("retention.ms"),
		MaxCompactionLag:   ms("max.compaction.lag.ms"),
		MinCompactionLag:   ms("min.compaction.lag.ms"),
		MinDirtyRatio:      values["min.cleanable.dirty.ratio"].real,
		DeleteRetention:    ms("delete.retention.ms"),
		MaxMessageBytes:    int32(num("max.message.bytes")),
		MaxRecordBytes:     int32(num("max.decompressed.message.bytes")),
		MinInsyncReplicas:  int32(num("min.insync.replicas")),
		CompressionType:    Compression(values["compression.type"].text),
		GzipLevel:          int(num("compression.gzip.level")),
		LZ4Level:           int(num("compression.lz4.level")),
		ZstdLevel:          int(num("compression.zstd.level")),
		LogAppendTime:      values["message.timestamp.type"].text == "LogAppendTime",
		TimestampBeforeMax: ms("message.timestamp.before.max.ms"),
		TimestampAfterMax:  ms("message.timestamp.after.max.ms"),
		FlushOnAcks:        FlushOnAcks(values["weir.flush.on.acks"].text),
		ProduceValidation:  ProduceValidation(values["weir.produce.validation"].text),
	}
	if internal := values["internal.segment.bytes"]; !internal.null {
		c.SegmentBytes = int32(internal.num)
	}
	return c
}

package partition

import (
	"maps"
	"math"
	"time"

	"github.com/weir-broker/weir/broker/batch"
	"github.com/weir-broker/weir/broker/commitlog"
	"github.com/weir-broker/weir/broker/config"
	"github.com/weir-broker/weir/broker/metadata"
)

// settings is a topic's configuration in the forms its partitions use. It is
// immutable and shared by the partitions of a topic.
type settings struct {
	topic config.TopicConfig
	// overrides is what it was computed from, so that images which share the
	// pointer need no second look.
	overrides *metadata.Configs
	log       commitlog.Config
	validate  batch.ValidateOptions
	flushAcks bool
	// producers is producer.id.expiration.ms, lag replica.lag.time.max.ms.
	producers, lag time.Duration
}

func newSettings(overrides *metadata.Configs, b *config.Broker) (*settings, error) {
	c, err := config.Topic(overrides.Map(), b)
	if err != nil {
		return nil, err
	}
	return typedSettings(c, overrides, b), nil
}

// keepingSettings is for a topic whose overrides cannot all be used, and that
// has no settings yet. Those which can are in force; what is missing may have
// kept records longer, so retention is off.
func keepingSettings(overrides *metadata.Configs, b *config.Broker) *settings {
	usable := overrides.Map()
	maps.DeleteFunc(usable, func(key, value string) bool {
		_, err := config.Topic(map[string]string{key: value}, b)
		return err != nil
	})
	c, err := config.Topic(usable, b)
	if err != nil { // each alone is fine, together they are not
		c, _ = config.Topic(nil, b)
	}
	c.Retention, c.RetentionBytes = -1, -1
	return typedSettings(c, overrides, b)
}

func typedSettings(c config.TopicConfig, overrides *metadata.Configs, b *config.Broker) *settings {
	return &settings{
		topic:     c,
		overrides: overrides,
		flushAcks: c.FlushOnAcks == config.FlushOnAcksAll,
		producers: b.ProducerIDExpiration,
		lag:       b.ReplicaLagTimeMax,
		log: commitlog.Config{
			SegmentBytes:       int(c.SegmentBytes),
			SegmentIndexBytes:  int(c.SegmentIndexBytes),
			IndexIntervalBytes: int(c.IndexIntervalBytes),
			SegmentAge:         c.MaxSegmentAge(),
			SegmentJitter:      c.SegmentJitter,
			FlushMessages:      c.FlushMessages,
			FlushInterval:      c.FlushInterval,
			FileDeleteDelay:    c.FileDeleteDelay,
			Preallocate:        c.Preallocate,
			Compacted:          c.Compact,
		},
		validate: batch.ValidateOptions{
			TimestampType: timestampType(&c),
			BeforeMax:     wholeMilliseconds(c.TimestampBeforeMax),
			AfterMax:      wholeMilliseconds(c.TimestampAfterMax),
			MaxBatchSize:  int(c.MaxMessageBytes),
			MaxRecordSize: int(c.MaxRecordBytes),
			Compacted:     c.Compact,
			TargetCodec:   targetCodec(&c),
			HeaderOnly:    c.ProduceValidation == config.ValidateHeader,
		},
	}
}

func timestampType(c *config.TopicConfig) batch.TimestampType {
	if c.LogAppendTime {
		return batch.LogAppendTime
	}
	return batch.CreateTime
}

// wholeMilliseconds keeps "no bound", which a Duration cannot hold in full, no
// bound.
func wholeMilliseconds(d time.Duration) int64 {
	if d == math.MaxInt64 {
		return math.MaxInt64
	}
	return d.Milliseconds()
}

func targetCodec(c *config.TopicConfig) batch.TargetCodec {
	force := func(codec batch.Codec, level int) batch.TargetCodec {
		return batch.TargetCodec{Force: true, Compression: batch.Compression{Codec: codec, Level: level}}
	}
	switch c.CompressionType {
	case config.CompressionNone:
		return force(batch.None, 0)
	case config.CompressionGzip:
		return force(batch.Gzip, c.GzipLevel)
	case config.CompressionSnappy:
		return force(batch.Snappy, 0)
	case config.CompressionLZ4:
		return force(batch.LZ4, c.LZ4Level)
	case config.CompressionZstd:
		return force(batch.Zstd, c.ZstdLevel)
	}
	return batch.TargetCodec{}
}

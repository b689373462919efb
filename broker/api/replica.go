package api

import (
	"unsafe"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weir-broker/weir/broker/batch"
	"github.com/weir-broker/weir/broker/metadata"
	"github.com/weir-broker/weir/broker/partition"
)

// replicas is where the handlers find what this broker hosts.
type replicas interface {
	Lookup(topic string, index int32) (replica, error)
	LookupID(id metadata.TopicID, index int32) (replica, error)
	LogDirs() []partition.LogDir
	Producers(topic string, index int32) ([]kmsg.DescribeProducersResponseTopicPartitionActiveProducer, error)
}

// replica is one replica of one partition.
type replica interface {
	appender
	watched
	fetcher
	offsets
}

type appender interface {
	Append(partition.AppendRequest) (partition.AppendResult, error)
	Flush(next batch.Offset) error
	AckState(next batch.Offset) (done bool, err error)
	LogStartOffset() batch.Offset
}

type watched interface {
	Watch(*partition.Waiter)
	Unwatch(*partition.Waiter)
}

type fetcher interface {
	Fetch(r partition.FetchRequest, dst []byte) (partition.FetchResult, error)
	HighWatermark() batch.Offset
}

type offsets interface {
	ListOffset(partition.ListOffsetRequest) (partition.ListOffsetResult, error)
	EndOffsetForEpoch(current, epoch batch.LeaderEpoch) (partition.EpochEnd, error)
	DeleteRecords(before batch.Offset) (target, low batch.Offset, err error)
	LowWatermark() (batch.Offset, error)
}

var _ replica = (*partition.Partition)(nil)

// hosted gives partition.Table the shape of replicas.
type hosted struct{ *partition.Table }

func (h hosted) Lookup(topic string, index int32) (replica, error) {
	p, err := h.Table.Lookup(topic, index)
	if err != nil {
		return nil, err
	}
	return p, nil
}

func (h hosted) LookupID(id metadata.TopicID, index int32) (replica, error) {
	p, err := h.Table.LookupID(id, index)
	if err != nil {
		return nil, err
	}
	return p, nil
}

// alias is b as a string without a copy, for looking things up by a name that is still in its frame.
// It must not be kept.
func alias(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

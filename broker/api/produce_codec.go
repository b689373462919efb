package api

import (
	"github.com/weir-broker/weir/broker/batch"
	"github.com/weir-broker/weir/broker/metadata"
	"github.com/weir-broker/weir/broker/partition"
)

// produceTopic is one topic of a request; its partitions are partitions[first:end] of the call.
type produceTopic struct {
	name       []byte // aliases the frame until the call parks; empty from version 13 on
	id         metadata.TopicID
	first, end int
}

// producePartition is one partition of a request and what became of it.
type producePartition struct {
	index   int32
	records []byte // aliases the frame, gone once appended

	replica   replica
	waiting   bool // appended with acks=all and not yet on all in-sync replicas
	next      batch.Offset
	code      Code
	result    partition.AppendResult
	message   string
	recordErr *batch.RecordErrors
}

// maxProducePartitions bounds what an empty partition, 6 bytes on the wire, can make us hold.
const maxProducePartitions = 100_000

// decode reads a ProduceRequest, versions 3 to 13, into p, which must be empty.
func (p *produceCall) decode(body []byte, version int16) error {
	r := reader{b: body}
	flexible := version >= 9
	r.nullableString(flexible) // transactional id: batches say themselves whether they are transactional
	p.acks = r.int16()
	p.timeoutMillis = r.int32()
	topicBytes, partitionBytes := 6, 8 // the least an element takes
	switch {
	case version >= 13:
		topicBytes, partitionBytes = 18, 6
	case flexible:
		topicBytes, partitionBytes = 3, 6
	}
	for n := r.array(flexible, topicBytes); n > 0 && !r.bad; n-- {
		t := produceTopic{first: len(p.partitions)}
		if version >= 13 {
			t.id = r.uuid()
		} else {
			t.name = r.string(flexible)
		}
		for m := r.array(flexible, partitionBytes); m > 0 && !r.bad; m-- {
			if len(p.partitions) >= maxProducePartitions {
				return errBodyTooLarge
			}
			p.partitions = append(p.partitions, producePartition{index: r.int32(), records: r.nullableBytes(flexible)})
			r.tags(flexible, nil)
		}
		r.tags(flexible, nil)
		t.end = len(p.partitions)
		p.topics = append(p.topics, t)
	}
	r.tags(flexible, nil)
	if r.bad {
		return errMalformed
	}
	return nil
}

// encode appends the ProduceResponse.
func (p *produceCall) encode(b []byte, r *request) []byte {
	version, flexible := r.version, r.version >= 9
	hints := leaderHints{request: r}
	b = appendArrayLen(b, len(p.topics), flexible)
	for i := range p.topics {
		t := &p.topics[i]
		if version >= 13 {
			b = append(b, t.id[:]...)
		} else {
			b = appendString(b, t.name, flexible)
		}
		b = appendArrayLen(b, t.end-t.first, flexible)
		for j := t.first; j < t.end; j++ {
			b = p.encodePartition(b, t, &p.partitions[j], version, &hints)
		}
		b = appendNoTags(b, flexible)
	}
	b = appendInt32(b, 0) // throttle time
	if !flexible {
		return b
	}
	if version < 10 {
		return append(b, 0)
	}
	return hints.appendEndpoints(b)
}

func (p *produceCall) encodePartition(b []byte, t *produceTopic, part *producePartition, version int16, hints *leaderHints) []byte {
	flexible := version >= 9
	b = appendInt32(b, part.index)
	b = appendInt16(b, int16(part.code))
	b = appendInt64(b, int64(part.result.BaseOffset))
	b = appendInt64(b, part.result.LogAppendTime)
	if version >= 5 {
		b = appendInt64(b, int64(part.result.LogStartOffset))
	}
	if version >= 8 {
		var errs []batch.RecordError
		if part.recordErr != nil {
			errs = part.recordErr.Errors
		}
		b = appendArrayLen(b, len(errs), flexible)
		for k := range errs {
			b = appendInt32(b, errs[k].Index)
			b = appendNullableString(b, errs[k].Message, flexible)
			b = appendNoTags(b, flexible)
		}
		b = appendNullableString(b, part.message, flexible)
	}
	if !flexible {
		return b
	}
	if version >= 10 && part.code == CodeNotLeaderOrFollower {
		if leader, epoch, ok := hints.leader(t.name, t.id, part.index); ok {
			return appendLeaderTag(append(b, 1), 0, leader, epoch)
		}
	}
	return append(b, 0)
}

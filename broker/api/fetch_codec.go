package api

import (
	"github.com/weir-broker/weir/broker/batch"
	"github.com/weir-broker/weir/broker/metadata"
	"github.com/weir-broker/weir/broker/network"
	"github.com/weir-broker/weir/broker/partition"
)

// partitionKey names a partition in a fetch: by topic id from version 13 on, else by name.
type partitionKey struct {
	id    metadata.TopicID
	name  string
	index int32
}

// wanted is what a client wants of one partition.
type wanted struct {
	offset           batch.Offset
	maxBytes         int32
	leaderEpoch      batch.LeaderEpoch
	lastFetchedEpoch batch.LeaderEpoch
	followerLogStart batch.Offset
}

// fetchPartition is one partition of a fetch and what was read of it.
type fetchPartition struct {
	key   partitionKey
	topic string // "" when the topic is unknown
	want  wanted

	replica  replica
	code     Code
	result   partition.FetchResult // Records is unused: see records
	records  *network.Buffer       // whole batches, nil when there are none
	next     batch.Offset          // what to read on from while the fetch waits
	leftOut  bool                  // unchanged since the last answer of the session
	diverged bool
}

func (p *fetchPartition) size() int {
	if p.records == nil {
		return 0
	}
	return len(p.records.B)
}

// decode reads a FetchRequest, versions 4 to 18, into f, which must be empty. Names are copied.
func (f *fetchCall) decode(body []byte) error {
	r := reader{b: body}
	version, flexible := f.version, f.flexible()
	f.replicaID, f.replicaEpoch = -1, -1
	if version <= 14 {
		f.replicaID = metadata.BrokerID(r.int32())
	}
	f.maxWaitMillis = r.int32()
	f.minBytes = r.int32()
	f.maxBytes = r.int32()
	f.isolation = partition.Isolation(r.int8())
	f.sessionID, f.sessionEpoch = 0, finalEpoch
	if version >= 7 {
		f.sessionID = r.int32()
		f.sessionEpoch = r.int32()
	}
	f.decodeTopics(&r, version, flexible)
	if version >= 7 {
		f.decodeForgotten(&r, version, flexible)
	}
	if version >= 11 {
		r.string(flexible) // rack: there is no replica selector
	}
	r.tags(flexible, func(tag uint32, value []byte) {
		if tag == 1 && version >= 15 { // replica state
			v := reader{b: value}
			f.replicaID = metadata.BrokerID(v.int32())
			f.replicaEpoch = metadata.BrokerEpoch(v.int64())
			if v.bad {
				r.bad = true
			}
		}
	})
	if r.bad {
		return errMalformed
	}
	return nil
}

func (f *fetchCall) decodeTopics(r *reader, version int16, flexible bool) {
	topicBytes, partitionBytes := 6, 16
	switch {
	case version >= 13:
		topicBytes, partitionBytes = 18, 33
	case flexible:
		topicBytes, partitionBytes = 3, 33
	}
	for n := r.array(flexible, topicBytes); n > 0 && !r.bad; n-- {
		key, topic := f.decodeTopic(r, version, flexible)
		for m := r.array(flexible, partitionBytes); m > 0 && !r.bad; m-- {
			p := fetchPartition{key: key, topic: topic, want: wanted{leaderEpoch: partition.NoEpoch, lastFetchedEpoch: partition.NoEpoch, followerLogStart: -1}}
			p.key.index = r.int32()
			if version >= 9 {
				p.want.leaderEpoch = batch.LeaderEpoch(r.int32())
			}
			p.want.offset = batch.Offset(r.int64())
			if version >= 12 {
				p.want.lastFetchedEpoch = batch.LeaderEpoch(r.int32())
			}
			if version >= 5 {
				p.want.followerLogStart = batch.Offset(r.int64())
			}
			p.want.maxBytes = r.int32()
			r.tags(flexible, nil)
			f.partitions = append(f.partitions, p)
		}
		r.tags(flexible, nil)
	}
}

func (f *fetchCall) decodeForgotten(r *reader, version int16, flexible bool) {
	topicBytes := 6
	switch {
	case version >= 13:
		topicBytes = 18
	case flexible:
		topicBytes = 3
	}
	for n := r.array(flexible, topicBytes); n > 0 && !r.bad; n-- {
		key, _ := f.decodeTopic(r, version, flexible)
		for m := r.array(flexible, 4); m > 0 && !r.bad; m-- {
			key.index = r.int32()
			f.forgotten = append(f.forgotten, key)
		}
		r.tags(flexible, nil)
	}
}

// decodeTopic reads how a topic is named. A topic that exists lends its name, so nothing is allocated.
func (f *fetchCall) decodeTopic(r *reader, version int16, flexible bool) (key partitionKey, topic string) {
	if version >= 13 {
		key.id = r.uuid()
		if t := f.image.TopicByID(key.id); t != nil {
			topic = t.Name
		}
		return key, topic
	}
	name := r.string(flexible)
	if t := f.image.Topic(alias(name)); t != nil {
		key.name = t.Name
	} else {
		key.name = string(name)
	}
	return key, key.name
}

// encode builds the FetchResponse. Records stay in the buffers they were read into: what comes
// between them is written behind the records before it, and all is sent at once.
func (f *fetchCall) encode(code Code, sessionID int32) *network.Buffer {
	version, flexible := f.version, f.flexible()
	head := f.reply(64 + 96*len(f.partitions))
	tail := head
	tail.B = appendInt32(tail.B, 0) // throttle time
	if version >= 7 {
		tail.B = appendInt16(tail.B, int16(code))
		tail.B = appendInt32(tail.B, sessionID)
	}
	hints := leaderHints{request: &f.request}
	tail.B = appendArrayLen(tail.B, f.groups(), flexible)
	for first := 0; first < len(f.partitions); {
		end, count := f.group(first)
		if count == 0 {
			first = end
			continue
		}
		p := &f.partitions[first]
		tail = f.room(tail, 64+len(p.key.name))
		if version >= 13 {
			tail.B = append(tail.B, p.key.id[:]...)
		} else {
			tail.B = appendString(tail.B, p.key.name, flexible)
		}
		tail.B = appendArrayLen(tail.B, count, flexible)
		for i := first; i < end; i++ {
			if !f.partitions[i].leftOut {
				tail = f.encodePartition(tail, &f.partitions[i], &hints)
			}
		}
		tail.B = appendNoTags(tail.B, flexible)
		first = end
	}
	tail = f.room(tail, 256)
	switch {
	case !flexible:
	case version >= 16:
		tail.B = hints.appendEndpoints(tail.B)
	default:
		tail.B = append(tail.B, 0)
	}
	return head
}

// group returns where the run of partitions of one topic that starts at first ends, and how many of
// them are answered.
func (f *fetchCall) group(first int) (end, count int) {
	key := &f.partitions[first].key
	for end = first; end < len(f.partitions); end++ {
		p := &f.partitions[end]
		if p.key.id != key.id || p.key.name != key.name {
			break
		}
		if !p.leftOut {
			count++
		}
	}
	return end, count
}

// groups counts the runs that are answered.
func (f *fetchCall) groups() int {
	n := 0
	for first := 0; first < len(f.partitions); {
		end, count := f.group(first)
		if count > 0 {
			n++
		}
		first = end
	}
	return n
}

// smallRecords are copied rather than sent as a piece of their own.
const smallRecords = 4 << 10

// encodePartition appends one partition behind tail and returns the new tail.
func (f *fetchCall) encodePartition(tail *network.Buffer, p *fetchPartition, hints *leaderHints) *network.Buffer {
	version, flexible := f.version, f.flexible()
	tail = f.room(tail, 96+17*len(p.result.Aborted))
	b := tail.B
	code := p.code
	if code == CodeKafkaStorageError && version <= 5 {
		code = CodeNotLeaderOrFollower // what these clients know as a reason to look elsewhere
	}
	b = appendInt32(b, p.key.index)
	b = appendInt16(b, int16(code))
	b = appendInt64(b, int64(p.result.HighWatermark))
	b = appendInt64(b, int64(p.result.LastStableOffset))
	if version >= 5 {
		b = appendInt64(b, int64(p.result.LogStartOffset))
	}
	b = f.appendAborted(b, p)
	if version >= 11 {
		b = appendInt32(b, -1) // preferred read replica
	}
	size := p.size()
	if flexible {
		b = appendUvarint(b, size+1)
	} else {
		b = appendInt32(b, int32(size))
	}
	tail.B = b
	switch {
	case size == 0:
	case size <= smallRecords:
		tail = f.room(tail, size)
		tail.B = append(tail.B, p.records.B...)
		p.records.Release()
	default:
		tail = tail.Chain(p.records)
	}
	p.records = nil
	if flexible {
		tail = f.room(tail, 64)
		tail.B = f.appendPartitionTags(tail.B, p, hints)
	}
	return tail
}

// room returns tail if n more bytes fit it, or a new tail: a piece full of records must never be moved for the few bytes
// that follow it.
func (f *fetchCall) room(tail *network.Buffer, n int) *network.Buffer {
	if cap(tail.B)-len(tail.B) >= n {
		return tail
	}
	return tail.Chain(f.conn.Pool().Get(max(n, 4<<10)))
}

func (f *fetchCall) appendAborted(b []byte, p *fetchPartition) []byte {
	flexible := f.flexible()
	if f.isolation != partition.ReadCommitted || p.code != CodeNone {
		if flexible {
			return append(b, 0)
		}
		return appendInt32(b, -1)
	}
	b = appendArrayLen(b, len(p.result.Aborted), flexible)
	for _, a := range p.result.Aborted {
		b = appendInt64(b, int64(a.ProducerID))
		b = appendInt64(b, int64(a.FirstOffset))
		b = appendNoTags(b, flexible)
	}
	return b
}

func (f *fetchCall) appendPartitionTags(b []byte, p *fetchPartition, hints *leaderHints) []byte {
	at := len(b)
	b = append(b, 0) // the number of tags
	if p.diverged {
		b[at]++
		b = append(b, 0, 13)
		b = appendInt32(b, int32(p.result.Diverging.Epoch))
		b = appendInt64(b, int64(p.result.Diverging.EndOffset))
		b = append(b, 0)
	}
	if f.version >= 16 && (p.code == CodeNotLeaderOrFollower || p.code == CodeFencedLeaderEpoch) {
		if leader, epoch, ok := hints.leader([]byte(p.key.name), p.key.id, p.key.index); ok {
			b[at]++
			b = appendLeaderTag(b, 1, leader, epoch)
		}
	}
	return b
}

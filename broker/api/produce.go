package api

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/weir-broker/weir/broker/batch"
	"github.com/weir-broker/weir/broker/metadata"
	"github.com/weir-broker/weir/broker/network"
	"github.com/weir-broker/weir/broker/partition"
)

// Produce (0), versions 3-13, advertised from 0 on because old librdkafka takes a higher minimum for
// a broker that cannot produce (KAFKA-18659).
//
// KIP-98 (magic 2), KIP-110 (zstd from v7 on), KIP-467 (v8: errors of single records), KIP-951 (v10:
// the new leader beside NOT_LEADER_OR_FOLLOWER), KIP-516 (v13: topic ids). One batch per partition.
//
// Appending happens on the connection's goroutine, in request order; with acks=all the answer is
// parked until the high watermark passed the batches. acks=0 is never answered; an error closes the
// connection instead, so that the client notices.
//
// Deviations: transactional batches are refused with TRANSACTIONAL_ID_AUTHORIZATION_FAILED until
// there are transactions.
func (h *Handler) produce(r *request, body []byte) network.Reply {
	p := h.produceCalls.Get().(*produceCall)
	p.request = *r
	if err := p.decode(body, r.version); err != nil {
		p.release()
		return network.Close(err)
	}
	if transactional(p.partitions) {
		for i := range p.partitions {
			p.partitions[i].refuse(CodeTransactionalIDAuthorizationFailed, "")
		}
	} else {
		p.appendAll()
	}
	if p.acks == 0 {
		return p.unanswered()
	}
	if p.acks == partition.AcksAll && p.stillWaiting() {
		p.detach()
		return network.Pending(p)
	}
	return network.Done(p.finish())
}

// produceCall is one Produce request from decoding to the answer. Calls are pooled.
type produceCall struct {
	request
	acks          int16
	timeoutMillis int32
	topics        []produceTopic
	partitions    []producePartition

	names  []byte // copies of topic names once the frame is gone
	waiter *partition.Waiter
	timer  *time.Timer
}

func (p *produceCall) release() {
	h := p.handler
	clear(p.topics)
	clear(p.partitions)
	p.request = request{}
	p.topics, p.partitions, p.names = p.topics[:0], p.partitions[:0], p.names[:0]
	select {
	case <-p.waiter.C(): // a wake-up nobody waited for
	default:
	}
	h.produceCalls.Put(p)
}

// appendAll appends every partition's batch.
func (p *produceCall) appendAll() {
	internalAllowed := string(p.clientID) == "__admin_client"
	validAcks := p.acks >= -1 && p.acks <= 1
	for i := range p.topics {
		t := &p.topics[i]
		topic := p.topic(t)
		for j := t.first; j < t.end; j++ {
			part := &p.partitions[j]
			part.result = noResult
			switch {
			case topic == nil && p.version >= 13:
				part.refuse(CodeUnknownTopicID, "")
			case topic == nil || topic.Partition(part.index) == nil:
				part.refuse(CodeUnknownTopicOrPartition, "")
			case !validAcks:
				part.refuse(CodeInvalidRequiredAcks, "")
			default:
				p.append(topic, part, internalAllowed)
			}
			part.records = nil
		}
	}
	p.flushAll()
}

// flushAll makes durable what flush.messages promises, all partitions at once: a disk serves concurrent flushes together.
func (p *produceCall) flushAll() {
	var wg sync.WaitGroup
	var last *producePartition // is flushed here
	for i := range p.partitions {
		part := &p.partitions[i]
		if !part.result.FlushDue {
			continue
		}
		if last != nil {
			wg.Go(last.flush)
		}
		last = part
	}
	if last != nil {
		last.flush()
		wg.Wait()
	}
}

func (part *producePartition) flush() {
	if err := part.replica.Flush(part.next); err != nil {
		part.refuse(codeOf(err), "")
	}
}

func (p *produceCall) topic(t *produceTopic) *metadata.Topic {
	if p.version >= 13 {
		return p.image.TopicByID(t.id)
	}
	return p.image.Topic(alias(t.name))
}

// noResult is what an answer says of a partition to which nothing was appended.
var noResult = partition.AppendResult{BaseOffset: -1, LastOffset: -1, LogAppendTime: -1, LogStartOffset: -1}

func (p *produceCall) append(topic *metadata.Topic, part *producePartition, internalAllowed bool) {
	if err := batch.CheckProduced(part.records, p.version); err != nil {
		part.refuse(codeOf(err), "")
		return
	}
	if topic.Internal() && !internalAllowed {
		part.refuse(CodeInvalidTopicException, "")
		return
	}
	rep, err := p.handler.replicas.Lookup(topic.Name, part.index)
	if err != nil {
		part.refuse(codeOf(err), "")
		return
	}
	counters := p.handler.metrics.topic(topic.Name)
	counters.produces.Add(1)
	part.result, err = rep.Append(partition.AppendRequest{Raw: part.records, Acks: p.acks, Origin: batch.OriginClient, CurrentLeaderEpoch: partition.NoEpoch, FlushLater: true})
	if err != nil {
		counters.failedProduces.Add(1)
		p.failed(topic, rep, part, err)
		return
	}
	part.replica, part.next = rep, part.result.LastOffset+1
	part.waiting = p.acks == partition.AcksAll
}

// failed notes why an append was refused. A batch that was looked at and found wanting is answered
// with the log's start, one that could not even be looked at is not, as in Kafka.
func (p *produceCall) failed(topic *metadata.Topic, rep replica, part *producePartition, err error) {
	part.result = noResult
	part.code = codeOf(err)
	var records *batch.RecordErrors
	if errors.As(err, &records) {
		part.recordErr = records
		part.message = records.Error()
	}
	switch part.code {
	case CodeUnknownTopicOrPartition, CodeNotLeaderOrFollower, CodeMessageTooLarge, CodeRecordListTooLarge, CodeCorruptMessage, CodeKafkaStorageError:
	default:
		part.result.LogStartOffset = rep.LogStartOffset()
	}
	ours := part.code == CodeUnknownServerError && !errors.Is(err, batch.ErrUndecodable) // a client's nonsense is not our error
	if ours || part.code == CodeKafkaStorageError {
		p.log(slog.LevelError, "append failed", slog.String("topic", topic.Name), slog.Int("partition", int(part.index)), slog.Any("error", err))
	}
}

func (part *producePartition) refuse(code Code, message string) {
	part.result, part.code, part.message, part.waiting = noResult, code, message, false
}

// stillWaiting asks every waiting partition again and reports whether one has to go on waiting.
func (p *produceCall) stillWaiting() bool {
	waiting := false
	for i := range p.partitions {
		part := &p.partitions[i]
		if !part.waiting {
			continue
		}
		done, err := part.replica.AckState(part.next)
		switch {
		case err != nil:
			// Appended, but the client must not count on it: the offsets stay, as in Kafka.
			part.waiting, part.code = false, codeOf(err)
		case done:
			part.waiting = false
		default:
			waiting = true
		}
	}
	return waiting
}

// detach makes the call independent of its frame.
func (p *produceCall) detach() {
	p.clientID = nil
	size := 0
	for i := range p.topics {
		size += len(p.topics[i].name)
	}
	p.names = slices.Grow(p.names[:0], size)
	for i := range p.topics {
		t := &p.topics[i]
		start := len(p.names)
		p.names = append(p.names, t.name...)
		t.name = p.names[start:len(p.names):len(p.names)]
	}
}

// Wait waits until the batches are on all in-sync replicas or the request's timeout passed.
func (p *produceCall) Wait(ctx context.Context) (*network.Buffer, error) {
	for i := range p.partitions {
		if p.partitions[i].waiting {
			p.partitions[i].replica.Watch(p.waiter)
		}
	}
	left := time.Duration(max(p.timeoutMillis, 0))*time.Millisecond - p.handler.now().Sub(p.received)
	if p.timer == nil {
		p.timer = time.NewTimer(left)
	} else {
		p.timer.Reset(left)
	}
	for p.stillWaiting() {
		select {
		case <-p.waiter.C():
		case <-ctx.Done():
			p.giveUp()
		case <-p.timer.C:
			if p.stillWaiting() {
				p.giveUp()
			}
		}
	}
	p.timer.Stop()
	for i := range p.partitions {
		if rep := p.partitions[i].replica; rep != nil {
			rep.Unwatch(p.waiter)
		}
	}
	return p.finish(), nil
}

// giveUp times out the waiting, not the writing.
func (p *produceCall) giveUp() {
	for i := range p.partitions {
		if part := &p.partitions[i]; part.waiting {
			part.waiting, part.code = false, CodeRequestTimedOut
		}
	}
}

func (p *produceCall) answer() *network.Buffer {
	size := 64
	for i := range p.topics {
		size += 32 + len(p.topics[i].name)
	}
	buf := p.reply(size + 64*len(p.partitions))
	buf.B = p.encode(buf.B, &p.request)
	return buf
}

// finish encodes the answer and gives the call back.
func (p *produceCall) finish() *network.Buffer {
	buf := p.answer()
	p.release()
	return buf
}

// unanswered ends an acks=0 request: nothing is sent, an error closes the connection.
func (p *produceCall) unanswered() network.Reply {
	defer p.release()
	for i := range p.topics {
		t := &p.topics[i]
		for j := t.first; j < t.end; j++ {
			if part := &p.partitions[j]; part.code != CodeNone {
				return network.Close(&unansweredError{topic: string(t.name), partition: part.index, code: part.code})
			}
		}
	}
	return network.NoReply()
}

// unansweredError is why a connection is closed after a Produce with acks=0.
type unansweredError struct {
	topic     string
	partition int32
	code      Code
}

func (e *unansweredError) Error() string {
	return "produce with acks=0 failed: " + e.topic + ": " + e.code.String()
}

// transactional reports whether any batch claims to be part of a transaction.
func transactional(parts []producePartition) bool {
	for i := range parts {
		if h, err := batch.ParseHeader(parts[i].records); err == nil && h.IsTransactional() {
			return true
		}
	}
	return false
}

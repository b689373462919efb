package api

import (
	"context"
	"log/slog"
	"time"

	"github.com/weir-broker/weir/broker/metadata"
	"github.com/weir-broker/weir/broker/network"
	"github.com/weir-broker/weir/broker/partition"
)

// Fetch (1), versions 4-18.
//
// KIP-74 (v3: soft limit, at least one batch), KIP-98 (v4: isolation), KIP-107 (v5: log start), KIP-227
// (v7: sessions), KIP-320 (v9: leader epochs), KIP-392 (v11: rack), KIP-595 (v12: divergence), KIP-516
// (v13: topic ids), KIP-903 (v15: replica state), KIP-951 (v16: the new leader in the answer).
//
// The first read happens on the connection's goroutine. When it does not satisfy the request, the
// fetch is parked: it watches its partitions and reads on from where it stopped, so nothing is read
// twice. Records stay in the buffers they were read into and leave in one vectored write.
//
// Deviations: no replica selector, so no preferred read replica; nothing is throttled.
func (h *Handler) fetch(r *request, body []byte) network.Reply {
	if len(body) > maxDecodedBytes {
		return network.Close(errBodyTooLarge)
	}
	f := h.fetchCalls.Get().(*fetchCall)
	f.request = *r
	if err := f.decode(body); err != nil {
		f.release()
		return network.Close(err)
	}
	f.clientID = nil // the call outlives its frame
	if code := f.openSession(); code != CodeNone {
		f.partitions = f.partitions[:0]
		return network.Done(f.finish(code, 0))
	}
	f.resolve()
	f.fetchMax = min(f.maxBytes, h.config.Load().FetchMaxBytes)
	f.fetchMin = min(f.minBytes, f.fetchMax)
	if f.readOn() || f.maxWaitMillis <= 0 {
		return network.Done(f.answer())
	}
	if f.read > 0 && h.replyMemory.short() {
		return network.Done(f.answer()) // min.bytes is not worth the memory
	}
	return network.Pending(f)
}

// fetchCall is one Fetch request from decoding to the answer. Calls are pooled.
type fetchCall struct {
	request
	replicaID               metadata.BrokerID
	replicaEpoch            metadata.BrokerEpoch
	maxWaitMillis           int32
	minBytes, maxBytes      int32
	fetchMin, fetchMax      int32 // bounded by fetch.max.bytes
	isolation               partition.Isolation
	sessionID, sessionEpoch int32
	partitions              []fetchPartition
	forgotten               []partitionKey

	session *fetchSession // of an incremental fetch
	read    int           // bytes read so far
	failed  bool          // something was found that the client must hear of at once
	waiter  *partition.Waiter
	timer   *time.Timer
}

func (f *fetchCall) release() {
	h := f.handler
	for i := range f.partitions {
		if b := f.partitions[i].records; b != nil {
			b.Release()
		}
	}
	clear(f.partitions)
	f.request, f.session, f.read, f.failed = request{}, nil, 0, false
	f.partitions, f.forgotten = f.partitions[:0], f.forgotten[:0]
	select {
	case <-f.waiter.C(): // a wake-up nobody waited for
	default:
	}
	h.fetchCalls.Put(f)
}

// openSession finds the session of an incremental fetch and replaces what the request names by
// everything the session wants. A request that wants a new session gets one with the answer.
func (f *fetchCall) openSession() Code {
	sessions := f.handler.sessions
	if f.sessionEpoch == initialEpoch || f.sessionEpoch == finalEpoch {
		if f.sessionID != 0 {
			sessions.remove(f.sessionID)
		}
		return CodeNone
	}
	s := sessions.get(f.sessionID)
	if s == nil {
		return CodeFetchSessionIDNotFound
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.epoch != f.sessionEpoch {
		return CodeInvalidFetchSessionEpoch
	}
	if s.usesIDs != (f.version >= 13) {
		return CodeFetchSessionTopicIDError
	}
	for i := range f.partitions {
		p := &f.partitions[i]
		if cached := s.mu.parts[p.key]; cached != nil {
			cached.want = p.want
		} else {
			s.add(&cachedPartition{key: p.key, want: p.want, highWatermark: -1, logStart: -1})
		}
	}
	for _, key := range f.forgotten {
		s.remove(key)
	}
	if len(s.mu.parts) == 0 {
		sessions.remove(s.id)
		f.partitions = f.partitions[:0]
		return CodeNone
	}
	if !sessions.touch(s, s.mu.size, f.received) {
		return CodeFetchSessionIDNotFound // the client goes on with full fetches
	}
	s.mu.epoch = nextEpoch(s.mu.epoch)
	f.session = s
	f.partitions = f.partitions[:0]
	for c := s.mu.ring.next; c != &s.mu.ring; c = c.next {
		p := fetchPartition{key: c.key, topic: c.key.name, want: c.want}
		if f.version >= 13 {
			if t := f.image.TopicByID(c.key.id); t != nil {
				p.topic = t.Name
			}
		}
		f.partitions = append(f.partitions, p)
	}
	return CodeNone
}

// noOffsets is what an answer says of a partition that was not read.
var noOffsets = partition.FetchResult{HighWatermark: -1, LastStableOffset: -1, LogStartOffset: -1, LogEndOffset: -1}

// resolve finds the replica of every partition.
func (f *fetchCall) resolve() {
	for i := range f.partitions {
		p := &f.partitions[i]
		p.result, p.next = noOffsets, p.want.offset
		if p.topic == "" {
			p.code = CodeUnknownTopicID
			continue
		}
		if f.image.Partition(p.topic, p.key.index) == nil {
			p.code = CodeUnknownTopicOrPartition
			continue
		}
		var err error
		if f.version >= 13 {
			p.replica, err = f.handler.replicas.LookupID(p.key.id, p.key.index)
		} else {
			p.replica, err = f.handler.replicas.Lookup(p.topic, p.key.index)
		}
		if err != nil {
			p.replica, p.code = nil, codeOf(err)
			f.failed = true
		}
	}
}

// readOn reads every partition on from where it stopped, within the limits of the request, and
// reports whether the answer need not wait any longer.
func (f *fetchCall) readOn() bool {
	hosted := false
	for i := range f.partitions {
		p := &f.partitions[i]
		if p.replica == nil {
			continue
		}
		hosted = true
		if p.code == CodeNone {
			f.readPartition(p)
		}
	}
	return !hosted || f.failed || f.read >= int(f.fetchMin)
}

func (f *fetchCall) readPartition(p *fetchPartition) {
	have := p.size()
	limit := min(int(p.want.maxBytes)-have, int(f.fetchMax)-f.read)
	lastEpoch := p.want.lastFetchedEpoch
	if have > 0 {
		lastEpoch = partition.NoEpoch // it was checked with the first read
	}
	memory := &f.handler.replyMemory
	wish := max(limit, 0)
	granted := memory.grant(wish)
	limit = min(limit, granted)
	full := granted == 0 && wish > 0
	if full {
		f.conn.ShedStalled(stallTolerance)
	}
	defer func() { memory.settle(granted, p.records) }()
	buf := p.records
	if buf == nil {
		buf = f.conn.Pool().Get(f.guess(p, limit))
	}
	result, err := p.replica.Fetch(partition.FetchRequest{
		Offset: p.next, MaxBytes: max(limit, 0), MinOneBatch: f.read == 0 && !full,
		Isolation: f.isolation, CurrentLeaderEpoch: p.want.leaderEpoch, LastFetchedEpoch: lastEpoch,
		ReplicaID: f.replicaID, BrokerEpoch: f.replicaEpoch, FollowerLogStart: p.want.followerLogStart,
	}, buf.B)
	if err != nil {
		buf.Release()
		p.records = nil
		f.read -= have
		p.code, p.result = codeOf(err), noOffsets
		f.failed = true
		if p.code == CodeUnknownServerError || p.code == CodeKafkaStorageError {
			f.log(slog.LevelError, "fetch failed", slog.String("topic", p.topic), slog.Int("partition", int(p.key.index)), slog.Any("error", err))
		}
		return
	}
	aborted := append(p.result.Aborted, result.Aborted...)
	p.result = result
	p.result.Records, p.result.Aborted = nil, aborted
	buf.B = result.Records
	switch {
	case result.Diverged:
		p.diverged = true
		f.failed = true
		fallthrough
	case len(buf.B) == 0:
		buf.Release()
		p.records = nil
	default:
		p.records = buf
		if got := buf.B[have:]; len(got) > 0 {
			f.read += len(got)
			from := p.next
			p.next = endOffset(got, from)
			f.handler.metrics.topic(p.topic).observe(len(got), int64(p.next-from))
		}
	}
}

// guess sizes the buffer for a first read: what is unread, at what an offset of the topic took lately,
// up to the limit and to what a consumer asks for by default. A wrong guess costs a larger buffer or
// a copy.
func (f *fetchCall) guess(p *fetchPartition, limit int) int {
	const least, usual, most = 512, 1 << 10, 1<<20 + 4<<10
	unread := int64(p.replica.HighWatermark() - p.next)
	if f.replicaID >= 0 {
		unread = int64(limit)
	}
	if unread <= 0 || limit <= 0 {
		return 0
	}
	perOffset := f.handler.metrics.topic(p.topic).perOffset.Load()
	if perOffset == 0 {
		perOffset = usual
	}
	unread = min(unread, most) // before it is multiplied
	return int(min(least+unread*(perOffset+perOffset/8), int64(limit)+least, most))
}

// answer completes the session and encodes what was read.
func (f *fetchCall) answer() *network.Buffer {
	if f.session == nil {
		return f.finish(CodeNone, f.newSession())
	}
	s := f.session
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.epoch != nextEpoch(f.sessionEpoch) {
		f.dropRecords()
		return f.finish(CodeInvalidFetchSessionEpoch, s.id)
	}
	for i := range f.partitions {
		p := &f.partitions[i]
		cached := s.mu.parts[p.key]
		if cached == nil || !cached.tell(p) {
			p.leftOut = true
			continue
		}
		if p.size() > 0 {
			cached.unlink()
			s.pushBack(cached)
		}
	}
	return f.finish(CodeNone, s.id)
}

// newSession caches a session for a full fetch that asks for one, 0 when there is none.
func (f *fetchCall) newSession() int32 {
	if f.version < 7 || f.sessionEpoch != initialEpoch || len(f.partitions) > f.handler.sessions.most {
		return 0
	}
	s := &fetchSession{usesIDs: f.version >= 13, follower: f.replicaID >= 0}
	s.init()
	s.mu.epoch = nextEpoch(initialEpoch)
	for i := range f.partitions {
		p := &f.partitions[i]
		if s.mu.parts[p.key] == nil {
			s.add(&cachedPartition{key: p.key, want: p.want, highWatermark: p.result.HighWatermark, logStart: p.result.LogStartOffset})
		}
	}
	s.size = s.mu.size
	if !f.handler.sessions.open(s, f.handler.now()) {
		return 0
	}
	return s.id
}

func (f *fetchCall) dropRecords() {
	for i := range f.partitions {
		if b := f.partitions[i].records; b != nil {
			b.Release()
		}
	}
	clear(f.partitions)
	f.partitions = f.partitions[:0]
}

// finish counts, encodes and gives the call back.
func (f *fetchCall) finish(code Code, sessionID int32) *network.Buffer {
	for i := range f.partitions {
		p := &f.partitions[i]
		if p.replica == nil {
			continue
		}
		counters := f.handler.metrics.topic(p.topic)
		counters.fetches.Add(1)
		if p.code != CodeNone {
			counters.failedFetches.Add(1)
		}
	}
	buf := f.encode(code, sessionID)
	f.release()
	return buf
}

// Wait waits until enough was read, something went wrong, or the client's patience ends.
func (f *fetchCall) Wait(ctx context.Context) (*network.Buffer, error) {
	for i := range f.partitions {
		if rep := f.partitions[i].replica; rep != nil {
			rep.Watch(f.waiter)
		}
	}
	left := time.Duration(f.maxWaitMillis)*time.Millisecond - f.handler.now().Sub(f.received)
	if f.timer == nil {
		f.timer = time.NewTimer(left)
	} else {
		f.timer.Reset(left)
	}
	for waiting := !f.readOn(); waiting; {
		select {
		case <-f.waiter.C():
			waiting = !f.readOn()
		case <-f.timer.C:
			f.readOn()
			waiting = false
		case <-f.conn.Draining():
			waiting = false
		case <-ctx.Done():
			waiting = false
		}
	}
	f.timer.Stop()
	for i := range f.partitions {
		if rep := f.partitions[i].replica; rep != nil {
			rep.Unwatch(f.waiter)
		}
	}
	return f.answer(), nil
}

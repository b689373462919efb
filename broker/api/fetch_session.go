package api

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weir-broker/weir/broker/batch"
)

// Epochs of a fetch session with a meaning of their own (KIP-227).
const (
	initialEpoch int32 = 0
	finalEpoch   int32 = -1
)

func nextEpoch(epoch int32) int32 {
	if epoch < 0 {
		return finalEpoch
	}
	if epoch == 1<<31-1 {
		return 1
	}
	return epoch + 1
}

// cachedPartition is what a session remembers of a partition: what is wanted and what was last told.
type cachedPartition struct {
	key           partitionKey
	want          wanted
	highWatermark batch.Offset
	logStart      batch.Offset
	prev, next    *cachedPartition
}

// fetchSession is one incremental fetch session. Its partitions form a ring in the order in which
// they are read: those that gave data go to the end, so that all get their turn.
type fetchSession struct {
	id       int32
	usesIDs  bool
	follower bool

	// The cache's lock guards these.
	created, used time.Time
	size          int // partitions, as of the last use

	mu struct {
		sync.Mutex
		epoch int32
		parts map[partitionKey]*cachedPartition
		ring  cachedPartition // sentinel
		size  int             // see cachedPartition.size
	}
}

func (s *fetchSession) init() {
	s.mu.parts = make(map[partitionKey]*cachedPartition)
	s.mu.ring.prev, s.mu.ring.next = &s.mu.ring, &s.mu.ring
}

// size is what a partition counts for in maxCachedPartitions.
func (p *cachedPartition) size() int { return 1 + len(p.key.name)/256 }

func (s *fetchSession) add(p *cachedPartition) {
	s.mu.size += p.size()
	s.mu.parts[p.key] = p
	s.pushBack(p)
}

func (s *fetchSession) pushBack(p *cachedPartition) {
	last := s.mu.ring.prev
	p.prev, p.next = last, &s.mu.ring
	last.next, s.mu.ring.prev = p, p
}

func (p *cachedPartition) unlink() {
	p.prev.next, p.next.prev = p.next, p.prev
	p.prev, p.next = nil, nil
}

func (s *fetchSession) remove(key partitionKey) {
	if p := s.mu.parts[key]; p != nil {
		p.unlink()
		delete(s.mu.parts, key)
		s.mu.size -= p.size()
	}
}

// tell notes what is answered about p and reports whether that must be said at all.
func (p *cachedPartition) tell(f *fetchPartition) bool {
	must := f.size() > 0 || f.diverged
	if p.highWatermark != f.result.HighWatermark {
		p.highWatermark, must = f.result.HighWatermark, true
	}
	if p.logStart != f.result.LogStartOffset {
		p.logStart, must = f.result.LogStartOffset, true
	}
	if f.code != CodeNone {
		p.highWatermark, must = -1, true // so that it is told again once the error is gone
	}
	return must
}

// evictAfter is how long a session is safe from newer ones.
const evictAfter = 2 * time.Minute

// maxCachedPartitions bounds the partitions of all sessions, whose number Kafka leaves to the clients: one of them could
// name partitions that do not exist for ever. Names count by their length, as unknown ones are kept.
const maxCachedPartitions = 500_000

// fetchSessions is the cache of sessions. Kafka splits its cache into eight shards to spare its
// lock; here the lock is held for a map access, and for a walk only when the cache is full.
type fetchSessions struct {
	slots     int
	most      int // maxCachedPartitions, less in tests
	evictions atomic.Int64

	mu struct {
		sync.Mutex
		byID map[int32]*fetchSession
		size int // of all sessions
	}
}

func newFetchSessions(slots int) *fetchSessions {
	c := &fetchSessions{slots: slots, most: maxCachedPartitions}
	c.mu.byID = make(map[int32]*fetchSession)
	return c
}

func (c *fetchSessions) get(id int32) *fetchSession {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mu.byID[id]
}

func (c *fetchSessions) remove(id int32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop(c.mu.byID[id])
}

// drop removes a session, which may be nil. The cache's lock is held.
func (c *fetchSessions) drop(s *fetchSession) {
	if s != nil {
		delete(c.mu.byID, s.id)
		c.mu.size -= s.size
	}
}

// touch notes that s was used and what it holds now. It reports false when that does not fit: the session is gone.
func (c *fetchSessions) touch(s *fetchSession, size int, now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mu.byID[s.id] != s {
		return false
	}
	grown := size - s.size
	if grown > 0 && c.mu.size+grown > c.most {
		c.drop(s)
		return false
	}
	s.used, s.size = now, size
	c.mu.size += grown
	return true
}

func (c *fetchSessions) count() (sessions, partitions int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.mu.byID {
		partitions += s.size
	}
	return len(c.mu.byID), partitions
}

// open caches a new session with an id nobody can guess, if there is room or a session that may go:
// one unused for two minutes, or a smaller one that had its two minutes. A follower's session
// displaces a consumer's, never the other way round.
func (c *fetchSessions) open(s *fetchSession, now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.mu.byID) >= c.slots && !c.evict(s, now) {
		return false
	}
	for c.mu.size+s.size > c.most {
		if s.size > c.most || !c.evict(s, now) {
			return false
		}
	}
	for s.id == 0 || c.mu.byID[s.id] != nil {
		s.id = 1 + rand.Int32N(1<<31-1)
	}
	s.created, s.used = now, now
	c.mu.byID[s.id] = s
	c.mu.size += s.size
	return true
}

func (c *fetchSessions) evict(s *fetchSession, now time.Time) bool {
	if len(c.mu.byID) == 0 {
		return false
	}
	var oldest, least *fetchSession
	for _, o := range c.mu.byID {
		if oldest == nil || o.used.Before(oldest.used) {
			oldest = o
		}
		mayGo := s.follower && !o.follower || (s.follower || !o.follower) && now.Sub(o.created) > evictAfter
		if mayGo && (least == nil || less(o, least)) {
			least = o
		}
	}
	switch {
	case now.Sub(oldest.used) > evictAfter:
		c.drop(oldest)
	case least != nil && !less(s, least):
		c.drop(least)
	default:
		return false
	}
	c.evictions.Add(1)
	return true
}

// less orders sessions by what they are worth keeping.
func less(a, b *fetchSession) bool {
	if a.follower != b.follower {
		return !a.follower
	}
	if a.size != b.size {
		return a.size < b.size
	}
	return a.id < b.id
}

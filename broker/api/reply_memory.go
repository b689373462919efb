package api

import (
	"sync/atomic"
	"time"

	"github.com/weir-broker/weir/broker/network"
)

// Replies are held in memory until the client takes them, and a fetch may ask for fetch.max.bytes. What many clients
// that ask and do not read could make the broker hold is bounded in steps: past leanBytes a fetch reads little, past
// fullBytes nothing, which is a legal answer the client repeats, and connections that do not take what they asked for
// are closed to make room. Bytes are reserved before they are read, so that a thousand fetches at once see each other.
const (
	leanBytes = 256 << 20
	fullBytes = 512 << 20
	// leanRead is what one read may bring when memory is short. A larger first batch is still read whole (KIP-74).
	leanRead = 256 << 10
	// stallTolerance is how long a reply may go untaken when memory is full.
	stallTolerance = 5 * time.Second
)

// replyMemory counts the bytes of replies that were read or encoded and are not sent yet.
type replyMemory struct {
	used atomic.Int64
	// lean and full are leanBytes and fullBytes, smaller in tests.
	lean, full int64
}

// grant returns how many of limit bytes may be read now, and reserves them until settle.
func (m *replyMemory) grant(limit int) int {
	used := m.used.Add(int64(limit))
	granted := limit
	switch {
	case used-int64(limit) >= m.full:
		granted = 0
	case used > m.lean:
		granted = min(limit, leanRead)
	}
	m.used.Add(int64(granted - limit))
	return granted
}

// settle replaces a reservation by what buf, nil or not, really takes until it is released.
func (m *replyMemory) settle(granted int, buf *network.Buffer) {
	if buf != nil {
		buf.Charge(&m.used)
	}
	m.used.Add(-int64(granted))
}

// short reports whether a fetch should answer with what it has rather than wait for more.
func (m *replyMemory) short() bool { return m.used.Load() >= m.lean }

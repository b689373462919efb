package network

import (
	"math/bits"
	"sync"
	"sync/atomic"
)

const (
	minClassBytes = 512
	maxClassBytes = 128 << 20
	// Two classes per power of two (n and 1.5n) keep the slack of a buffer under a third.
	classCount = 2*(27-9) + 1 // 512 = 2^9 … 128 MiB = 2^27
)

// LengthBytes is the room a reply leaves at its start for the frame length, which the server fills
// in when it sends.
const LengthBytes = 4

// Buffer is a piece of pooled memory: a received frame, or a reply or a part of one. B may be
// re-sliced and appended to by whoever holds the buffer. A Buffer is held by one owner at a time and
// given back with Release exactly once.
type Buffer struct {
	B []byte

	pool      *Pool
	next      *Buffer // the following part of the same reply
	budget    *budget // what the frame was charged to; nil when it was not
	charged   int64
	account   *atomic.Int64 // where accounted bytes are counted until the release
	accounted int64
	kept      bool // the handler took the frame over
	free      bool
}

// Keep takes a frame over from the server: it stays valid after Serve returns, and whoever called
// Keep releases it.
func (b *Buffer) Keep() { b.kept = true }

// Charge counts what b holds in to until b is released. Called again it counts what b has grown to.
func (b *Buffer) Charge(to *atomic.Int64) {
	n := int64(cap(b.B))
	to.Add(n - b.accounted)
	b.account, b.accounted = to, n
}

// Chain makes next (and what is chained to it) the continuation of b in one reply, and returns next.
// The parts are sent with one vectored write and released together.
func (b *Buffer) Chain(next *Buffer) *Buffer {
	if b.next != nil {
		panic("BUG: network: buffer chained twice")
	}
	b.next = next
	return next
}

// Len is the number of bytes in b and the buffers chained to it.
func (b *Buffer) Len() int {
	n := 0
	for ; b != nil; b = b.next {
		n += len(b.B)
	}
	return n
}

// Bytes returns a copy of the whole reply, frame length included.
func (b *Buffer) Bytes() []byte {
	out := make([]byte, 0, b.Len())
	for ; b != nil; b = b.next {
		out = append(out, b.B...)
	}
	return out
}

// Release gives b and the buffers chained to it back to the pool. b must not be used afterwards.
func (b *Buffer) Release() {
	for b != nil {
		next := b.next
		b.release()
		b = next
	}
}

func (b *Buffer) release() {
	if b.free {
		panic("BUG: network: buffer released twice")
	}
	if b.budget != nil {
		b.budget.release(b.charged)
	}
	if b.account != nil {
		b.account.Add(-b.accounted)
	}
	p := b.pool
	*b = Buffer{B: b.B[:0], pool: p, free: true}
	p.put(b)
}

// Pool hands out buffers by size class. The zero Pool is ready for use. Memory that is not used for
// two collections goes back to the runtime, but for a few large buffers: the heap of a broker is so
// small that collections come many times a second, and a buffer of a megabyte made anew has to be
// cleared and its pages mapped, which costs more than the read it is for.
type Pool struct {
	classes [classCount]sync.Pool

	large struct {
		sync.Mutex
		kept  [classCount][]*Buffer
		bytes int // of all kept, at most keptBytes
	}
}

// Buffers of at least largeBytes are kept for the next user, up to keptBytes together.
const (
	largeBytes = 64 << 10
	keptBytes  = 16 << 20
)

// takeLarge returns a kept buffer of a class, or nil.
func (p *Pool) takeLarge(class int) *Buffer {
	p.large.Lock()
	defer p.large.Unlock()
	kept := p.large.kept[class]
	if len(kept) == 0 {
		return nil
	}
	b := kept[len(kept)-1]
	kept[len(kept)-1] = nil
	p.large.kept[class] = kept[:len(kept)-1]
	p.large.bytes -= cap(b.B)
	return b
}

// keepLarge keeps a buffer unless enough are kept.
func (p *Pool) keepLarge(class int, b *Buffer) bool {
	p.large.Lock()
	defer p.large.Unlock()
	if p.large.bytes+cap(b.B) > keptBytes {
		return false
	}
	p.large.bytes += cap(b.B)
	p.large.kept[class] = append(p.large.kept[class], b)
	return true
}

// Get returns a buffer with len(B) == 0 and cap(B) >= n. The bytes up to the capacity hold whatever
// the last user left.
func (p *Pool) Get(n int) *Buffer {
	if n > maxClassBytes {
		return &Buffer{B: make([]byte, 0, n), pool: p}
	}
	class := classFor(n)
	if classBytes(class) >= largeBytes {
		if b := p.takeLarge(class); b != nil {
			b.free = false
			return b
		}
	}
	if b, ok := p.classes[class].Get().(*Buffer); ok {
		b.free = false
		return b
	}
	return &Buffer{B: make([]byte, 0, classBytes(class)), pool: p}
}

// GetReply returns a buffer for a reply of about n bytes: the room for the frame length is taken,
// the reply is appended behind it.
func (p *Pool) GetReply(n int) *Buffer {
	b := p.Get(n + LengthBytes)
	b.B = b.B[:LengthBytes]
	return b
}

func (p *Pool) put(b *Buffer) {
	c := cap(b.B)
	if c < minClassBytes || c > maxClassBytes {
		return // outgrown or oversize: left to the collector
	}
	class := classFor(c)
	if classBytes(class) > c {
		class-- // grown by append to a capacity between two classes
	}
	if c >= largeBytes && p.keepLarge(class, b) {
		return
	}
	p.classes[class].Put(b)
}

// classFor returns the smallest class that holds n bytes.
func classFor(n int) int {
	if n <= minClassBytes {
		return 0
	}
	top := bits.Len(uint(n-1)) - 1 // 2^top < n <= 2^(top+1)
	class := 2 * (top - 9)
	if n > 3<<(top-1) {
		return class + 2
	}
	return class + 1
}

func classBytes(class int) int {
	if class%2 == 0 {
		return minClassBytes << (class / 2)
	}
	return 3 * (minClassBytes / 2) << (class / 2)
}

package commitlog

import (
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/weir-broker/weir/broker/batch"
)

// offsetMap knows the newest offset of each key of the dirty part of a log. Like Kafka's it holds, instead of a key, 16
// bytes of hash and the offset, so that a megabyte is good for 43,690 keys however long they are; unlike Kafka's, which is
// MD5, the hash is keyed with a secret of this process, so that nobody can write two keys that it takes for one.
//
// Slots are probed one after another, and an entry gives way to one that is farther from its home (robin hood), so that
// a key that is not there is found out early even in a full table.
type offsetMap struct {
	key [2]uint64

	slots   []offsetSlot // in use of the array behind it
	limit   int          // entries it may hold
	entries int
	// latest is the offset up to which the map speaks for the log, -1 when it is empty.
	latest batch.Offset
}

// offsetSlot is one entry. next is the offset plus one; 0 is an empty slot.
type offsetSlot struct {
	hash keyHash
	next int64
}

const (
	offsetSlotLen = 24
	// leastSlots keeps small tables from being crowded.
	leastSlots = 64
)

// offsetMapLimits are how many slots fit into a number of bytes, and how many entries those may hold.
func offsetMapLimits(bytes int64, load float64) (slots, entries int) {
	slots = int(min(bytes, math.MaxInt32) / offsetSlotLen)
	return slots, min(int(float64(slots)*load), slots)
}

// reset empties the map and makes room for up to want entries, at most limit of them in slots slots.
func (m *offsetMap) reset(slots, limit int, want int64) {
	if want < int64(limit) {
		// Fewer keys cannot need the whole table. Half of it stays free.
		slots = int(min(int64(slots), max(2*want, leastSlots)))
	}
	if cap(m.slots) >= slots {
		m.slots = m.slots[:slots]
		clear(m.slots)
	} else {
		m.slots = nil // before the new one is there, so that the two never are
		m.slots = make([]offsetSlot, slots)
	}
	m.limit, m.entries, m.latest = min(limit, slots), 0, -1
}

func (m *offsetMap) full() bool { return m.entries >= m.limit }

func (m *offsetMap) home(h keyHash) int {
	hi, _ := bits.Mul64(h.a, uint64(len(m.slots)))
	return int(hi)
}

// distance is how far slot i is from the home of h.
func (m *offsetMap) distance(h keyHash, i int) int {
	d := i - m.home(h)
	if d < 0 {
		d += len(m.slots)
	}
	return d
}

// put notes o for the key. The caller looked at full before.
func (m *offsetMap) put(key []byte, o batch.Offset) {
	m.latest = o
	e := offsetSlot{m.hash(key), int64(o) + 1}
	i, d := m.home(e.hash), 0
	moved := false // e is an entry that gave way: its key is nowhere else
	for {
		s := &m.slots[i]
		if s.next == 0 {
			*s = e
			m.entries++
			return
		}
		if !moved && s.hash == e.hash {
			s.next = e.next
			return
		}
		if have := m.distance(s.hash, i); have < d {
			*s, e = e, *s
			d, moved = have, true
		}
		d++
		if i++; i == len(m.slots) {
			i = 0
		}
	}
}

// get returns the offset of a key, -1 when it is not there.
func (m *offsetMap) get(key []byte) batch.Offset {
	if m.entries == 0 {
		return -1
	}
	h := m.hash(key)
	i := m.home(h)
	for d := 0; d < len(m.slots); d++ {
		s := &m.slots[i]
		switch {
		case s.next == 0 || m.distance(s.hash, i) < d:
			return -1
		case s.hash == h:
			return batch.Offset(s.next - 1)
		}
		if i++; i == len(m.slots) {
			i = 0
		}
	}
	return -1
}

func (m *offsetMap) hash(key []byte) keyHash { return sipHash128(m.key, key) }

// keyHash is the hash of a record's key.
type keyHash struct{ a, b uint64 }

// sipHash128 is SipHash-2-4 with 128 bits of output.
func sipHash128(key [2]uint64, p []byte) keyHash {
	v0 := key[0] ^ 0x736f6d6570736575
	v1 := key[1] ^ 0x646f72616e646f6d ^ 0xee
	v2 := key[0] ^ 0x6c7967656e657261
	v3 := key[1] ^ 0x7465646279746573
	last := uint64(len(p)) << 56
	for len(p) >= 8 {
		m := binary.LittleEndian.Uint64(p)
		v3 ^= m
		v0, v1, v2, v3 = sipRound(v0, v1, v2, v3)
		v0, v1, v2, v3 = sipRound(v0, v1, v2, v3)
		v0 ^= m
		p = p[8:]
	}
	for i, c := range p {
		last |= uint64(c) << (8 * i)
	}
	v3 ^= last
	v0, v1, v2, v3 = sipRound(v0, v1, v2, v3)
	v0, v1, v2, v3 = sipRound(v0, v1, v2, v3)
	v0 ^= last
	v2 ^= 0xee
	var out [2]uint64
	for half := range out {
		for range 4 {
			v0, v1, v2, v3 = sipRound(v0, v1, v2, v3)
		}
		out[half] = v0 ^ v1 ^ v2 ^ v3
		v1 ^= 0xdd
	}
	return keyHash{out[0], out[1]}
}

func sipRound(v0, v1, v2, v3 uint64) (uint64, uint64, uint64, uint64) {
	v0 += v1
	v1 = bits.RotateLeft64(v1, 13) ^ v0
	v0 = bits.RotateLeft64(v0, 32)
	v2 += v3
	v3 = bits.RotateLeft64(v3, 16) ^ v2
	v0 += v3
	v3 = bits.RotateLeft64(v3, 21) ^ v0
	v2 += v1
	v1 = bits.RotateLeft64(v1, 17) ^ v2
	v2 = bits.RotateLeft64(v2, 32)
	return v0, v1, v2, v3
}

package batch

import "math/bits"

// uvarint32 reads an unsigned varint of at most 5 bytes from b at i and returns the position after it. A negative
// position is an error: endOfBytes if b ends first, overlong if the fifth byte still continues. Bits above the 32nd
// are dropped, as Kafka drops them.
func uvarint32(b []byte, i int) (uint32, int) {
	if uint(i) < uint(len(b)) && b[i] < 0x80 {
		return uint32(b[i]), i + 1
	}
	return uvarint32Slow(b, i)
}

const (
	endOfBytes = -1
	overlong   = -2
)

func uvarint32Slow(b []byte, i int) (uint32, int) {
	var v uint32
	for shift := uint(0); shift < 35; shift += 7 {
		if uint(i) >= uint(len(b)) {
			return 0, endOfBytes
		}
		c := b[i]
		i++
		v |= uint32(c&0x7f) << shift
		if c < 0x80 {
			return v, i
		}
	}
	return 0, overlong
}

// varint32 reads a zigzag varint; see uvarint32.
func varint32(b []byte, i int) (int32, int) {
	u, n := uvarint32(b, i)
	return int32(u>>1) ^ -int32(u&1), n
}

// varint64 reads a zigzag varint of at most 10 bytes; see uvarint32.
func varint64(b []byte, i int) (int64, int) {
	var v uint64
	for shift := uint(0); shift < 70; shift += 7 {
		if uint(i) >= uint(len(b)) {
			return 0, endOfBytes
		}
		c := b[i]
		i++
		v |= uint64(c&0x7f) << shift
		if c < 0x80 {
			return int64(v>>1) ^ -int64(v&1), i
		}
	}
	return 0, overlong
}

// takeBytes reads a length varint and that many bytes from the front of b; a negative length is null.
func takeBytes(b []byte) (field, rest []byte, ok bool) {
	n, i := varint32(b, 0)
	if i < 0 {
		return nil, nil, false
	}
	b = b[i:]
	if n < 0 {
		return nil, b, true
	}
	if int(n) > len(b) {
		return nil, nil, false
	}
	return b[:n:n], b[n:], true
}

func appendVarint(dst []byte, v int64) []byte {
	u := uint64(v)<<1 ^ uint64(v>>63)
	for u >= 0x80 {
		dst = append(dst, byte(u)|0x80)
		u >>= 7
	}
	return append(dst, byte(u))
}

// varintLen is the number of bytes appendVarint writes.
func varintLen(v int64) int {
	u := uint64(v)<<1 ^ uint64(v>>63)
	return (bits.Len64(u|1) + 6) / 7
}

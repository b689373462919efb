package group

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf16"
)

// hash64 is XXH3 with 64 bits and without a seed, which Kafka hashes topics with (KIP-1101). Groups keep the hash in
// their records: with the same one a group that moves here or back has no rebalance for it.
func hash64(b []byte) uint64 {
	switch n := len(b); {
	case n <= 16:
		return hashUpTo16(b)
	case n <= 128:
		acc := uint64(n) * prime64x1
		for i := (n - 1) / 32; i >= 0; i-- {
			acc += mix16(b[16*i:], 32*i) + mix16(b[n-16*(i+1):], 32*i+16)
		}
		return avalanche(acc)
	case n <= 240:
		acc := uint64(n) * prime64x1
		for i := range 8 {
			acc += mix16(b[16*i:], 16*i)
		}
		acc = avalanche(acc)
		for i := 8; i < n/16; i++ {
			acc += mix16(b[16*i:], 16*(i-8)+3)
		}
		return avalanche(acc + mix16(b[n-16:], 136-17))
	default:
		return hashLong(b)
	}
}

const (
	prime32x1 = 0x9E3779B1
	prime32x2 = 0x85EBCA77
	prime32x3 = 0xC2B2AE3D
	prime64x1 = 0x9E3779B185EBCA87
	prime64x2 = 0xC2B2AE3D27D4EB4F
	prime64x3 = 0x165667B19E3779F9
	prime64x4 = 0x85EBCA77C2B2AE63
	prime64x5 = 0x27D4EB2F165667C5
)

func avalanche(h uint64) uint64 {
	h = (h ^ h>>37) * 0x165667919E3779F9
	return h ^ h>>32
}

func avalancheShort(h uint64) uint64 {
	h = (h ^ h>>33) * prime64x2
	h = (h ^ h>>29) * prime64x3
	return h ^ h>>32
}

func fold(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}

func secretAt(i int) uint64 { return binary.LittleEndian.Uint64(hashSecret[i:]) }

func mix16(b []byte, secret int) uint64 {
	return fold(binary.LittleEndian.Uint64(b)^secretAt(secret), binary.LittleEndian.Uint64(b[8:])^secretAt(secret+8))
}

func hashUpTo16(b []byte) uint64 {
	n := len(b)
	switch {
	case n == 0:
		return avalancheShort(secretAt(56) ^ secretAt(64))
	case n <= 3:
		v := uint64(b[0])<<16 | uint64(b[n>>1])<<24 | uint64(b[n-1]) | uint64(n)<<8
		first := secretAt(0)
		return avalancheShort(v ^ uint64(uint32(first)^uint32(first>>32)))
	case n <= 8:
		h := uint64(binary.LittleEndian.Uint32(b[n-4:])) + uint64(binary.LittleEndian.Uint32(b))<<32
		h ^= secretAt(8) ^ secretAt(16)
		const prime = 0x9FB21C651E98DF25
		h ^= bits.RotateLeft64(h, 49) ^ bits.RotateLeft64(h, 24)
		h *= prime
		h ^= h>>35 + uint64(n)
		h *= prime
		return h ^ h>>28
	default:
		lo := binary.LittleEndian.Uint64(b) ^ secretAt(24) ^ secretAt(32)
		hi := binary.LittleEndian.Uint64(b[n-8:]) ^ secretAt(40) ^ secretAt(48)
		return avalanche(uint64(n) + bits.ReverseBytes64(lo) + hi + fold(lo, hi))
	}
}

func hashLong(b []byte) uint64 {
	acc := [8]uint64{prime32x3, prime64x1, prime64x2, prime64x3, prime64x4, prime32x2, prime64x5, prime32x1}
	const stripe, stripes = 64, 16
	last := b[len(b)-stripe:]
	rest := b
	for n := 0; len(rest) > stripe; n++ {
		accumulate(&acc, rest, 8*(n%stripes))
		rest = rest[stripe:]
		if n%stripes == stripes-1 && len(rest) > 0 {
			for i := range acc {
				acc[i] = (acc[i] ^ acc[i]>>47 ^ secretAt(len(hashSecret)-stripe+8*i)) * prime32x1
			}
		}
	}
	accumulate(&acc, last, len(hashSecret)-stripe-7)
	h := uint64(len(b))
	h *= prime64x1
	for i := range 4 {
		h += fold(acc[2*i]^secretAt(11+16*i), acc[2*i+1]^secretAt(11+16*i+8))
	}
	return avalanche(h)
}

func accumulate(acc *[8]uint64, b []byte, secret int) {
	for i := range acc {
		v := binary.LittleEndian.Uint64(b[8*i:])
		key := v ^ secretAt(secret+8*i)
		acc[i^1] += v
		acc[i] += uint64(uint32(key)) * (key >> 32)
	}
}

// How values are laid out for hashing: little-endian; a string as its UTF-16 units and their number.

func appendHashed64(dst []byte, v uint64) []byte { return binary.LittleEndian.AppendUint64(dst, v) }

func appendHashed32(dst []byte, v uint32) []byte { return binary.LittleEndian.AppendUint32(dst, v) }

func appendHashedString(dst []byte, s string) []byte {
	units := utf16.Encode([]rune(s))
	for _, u := range units {
		dst = binary.LittleEndian.AppendUint16(dst, u)
	}
	return appendHashed32(dst, uint32(len(units)))
}

// hashSecret is the default secret of XXH3.
var hashSecret = [192]byte{
	0xb8, 0xfe, 0x6c, 0x39, 0x23, 0xa4, 0x4b, 0xbe, 0x7c, 0x01, 0x81, 0x2c, 0xf7, 0x21, 0xad, 0x1c,
	0xde, 0xd4, 0x6d, 0xe9, 0x83, 0x90, 0x97, 0xdb, 0x72, 0x40, 0xa4, 0xa4, 0xb7, 0xb3, 0x67, 0x1f,
	0xcb, 0x79, 0xe6, 0x4e, 0xcc, 0xc0, 0xe5, 0x78, 0x82, 0x5a, 0xd0, 0x7d, 0xcc, 0xff, 0x72, 0x21,
	0xb8, 0x08, 0x46, 0x74, 0xf7, 0x43, 0x24, 0x8e, 0xe0, 0x35, 0x90, 0xe6, 0x81, 0x3a, 0x26, 0x4c,
	0x3c, 0x28, 0x52, 0xbb, 0x91, 0xc3, 0x00, 0xcb, 0x88, 0xd0, 0x65, 0x8b, 0x1b, 0x53, 0x2e, 0xa3,
	0x71, 0x64, 0x48, 0x97, 0xa2, 0x0d, 0xf9, 0x4e, 0x38, 0x19, 0xef, 0x46, 0xa9, 0xde, 0xac, 0xd8,
	0xa8, 0xfa, 0x76, 0x3f, 0xe3, 0x9c, 0x34, 0x3f, 0xf9, 0xdc, 0xbb, 0xc7, 0xc7, 0x0b, 0x4f, 0x1d,
	0x8a, 0x51, 0xe0, 0x4b, 0xcd, 0xb4, 0x59, 0x31, 0xc8, 0x9f, 0x7e, 0xc9, 0xd9, 0x78, 0x73, 0x64,
	0xea, 0xc5, 0xac, 0x83, 0x34, 0xd3, 0xeb, 0xc3, 0xc5, 0x81, 0xa0, 0xff, 0xfa, 0x13, 0x63, 0xeb,
	0x17, 0x0d, 0xdd, 0x51, 0xb7, 0xf0, 0xda, 0x49, 0xd3, 0x16, 0x55, 0x26, 0x29, 0xd4, 0x68, 0x9e,
	0x2b, 0x16, 0xbe, 0x58, 0x7d, 0x47, 0xa1, 0xfc, 0x8f, 0xf8, 0xb8, 0xd1, 0x7a, 0xd0, 0x31, 0xce,
	0x45, 0xcb, 0x3a, 0x8f, 0x95, 0x16, 0x04, 0x28, 0xaf, 0xd7, 0xfb, 0xca, 0xbb, 0x4b, 0x40, 0x7e,
}

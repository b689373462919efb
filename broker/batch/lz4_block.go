package batch

import "encoding/binary"

// The reference LZ4 decoder, which Kafka uses, holds blocks to the format's rules about their end; ours does not, and
// refuses a few things the reference lets pass. A batch only one of the two can read must not get into a log, so the
// reference's rules decide: lz4BlockSize applies them, and lz4Unpack follows them to the letter for the blocks our
// decoder refuses. Since such a walk costs more than unpacking, it is only made where ours refuses a block or
// lz4EndsInLiterals has doubts, as it never has about what an encoder writes.
const (
	lz4MinMatch     = 4
	lz4LastLiterals = 5  // a block ends in at least as many literals
	lz4MatchLimit   = 12 // the last match starts at least so far from the end
	lz4LongRun      = 15 // a length of more is continued in further bytes
)

// lz4EndsInLiterals reports whether the block src, unpacked to out, seems to end in the literals the format asks for:
// then both end in the same bytes.
func lz4EndsInLiterals(src, out []byte) bool {
	return len(src) > lz4LastLiterals && len(out) >= lz4LastLiterals &&
		string(src[len(src)-lz4LastLiterals:]) == string(out[len(out)-lz4LastLiterals:])
}

// lz4BlockSize walks the sequences of the block src without unpacking it. It returns the unpacked size, or -1 if the
// reference decoder refuses src for a buffer of room bytes.
func lz4BlockSize(src []byte, room int) int {
	ip, op := 0, 0
	for ip < len(src) {
		token := src[ip]
		ip++
		run := int(token >> 4)
		if run == lz4LongRun {
			more, next := lz4Length(src, ip, len(src)-lz4LongRun)
			if next < 0 || ip >= len(src)-lz4LongRun {
				return -1
			}
			run += more
			ip = next
		}
		if op+run > room-lz4MatchLimit || ip+run > len(src)-(2+1+lz4LastLiterals) {
			// So near an end only the last literals may come.
			if ip+run != len(src) || op+run > room {
				return -1
			}
			return op + run
		}
		ip += run
		op += run
		offset := int(binary.LittleEndian.Uint16(src[ip:]))
		ip += 2
		match := int(token & 15)
		if match == lz4LongRun {
			more, next := lz4Length(src, ip, len(src)-lz4LastLiterals+1)
			if next < 0 {
				return -1
			}
			match += more
			ip = next
		}
		match += lz4MinMatch
		if offset > op || op+match > room-lz4LastLiterals {
			return -1
		}
		op += match
	}
	return -1
}

// lz4Length reads the bytes that continue a length at i. The position after it is negative if it is beyond limit.
func lz4Length(src []byte, i, limit int) (n, next int) {
	for {
		if i >= len(src) {
			return 0, -1
		}
		c := src[i]
		i++
		n += int(c)
		if i > limit {
			return 0, -1
		}
		if c != 255 {
			return n, i
		}
	}
}

// lz4Unpack unpacks into dst a block that lz4BlockSize has passed. A match of offset 0 makes zeros, as the reference
// does.
func lz4Unpack(dst, src []byte) {
	ip, op := 0, 0
	for {
		token := src[ip]
		ip++
		run := int(token >> 4)
		if run == lz4LongRun {
			var more int
			more, ip = lz4Length(src, ip, len(src))
			run += more
		}
		op += copy(dst[op:], src[ip:ip+run])
		ip += run
		if op == len(dst) {
			return
		}
		offset := int(binary.LittleEndian.Uint16(src[ip:]))
		ip += 2
		match := int(token & 15)
		if match == lz4LongRun {
			var more int
			more, ip = lz4Length(src, ip, len(src))
			match += more
		}
		for range match + lz4MinMatch {
			if offset == 0 {
				dst[op] = 0
			} else {
				dst[op] = dst[op-offset]
			}
			op++
		}
	}
}

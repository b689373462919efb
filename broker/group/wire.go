package group

import (
	"encoding/binary"

	"github.com/weir-broker/weir/broker/metadata"
)

// reader takes fields of Kafka's formats from the front of a buffer. After the first field that is not there it only
// returns zero values; failed says so. Every length is checked against what is left before anything is allocated.
type reader struct {
	b      []byte
	failed bool
}

func (r *reader) take(n int) []byte {
	if r.failed || n < 0 || n > len(r.b) {
		r.failed = true
		r.b = nil
		return nil
	}
	p := r.b[:n:n]
	r.b = r.b[n:]
	return p
}

func (r *reader) int8() int8 {
	if p := r.take(1); p != nil {
		return int8(p[0])
	}
	return 0
}

func (r *reader) int16() int16 {
	if p := r.take(2); p != nil {
		return int16(binary.BigEndian.Uint16(p))
	}
	return 0
}

func (r *reader) int32() int32 {
	if p := r.take(4); p != nil {
		return int32(binary.BigEndian.Uint32(p))
	}
	return 0
}

func (r *reader) int64() int64 {
	if p := r.take(8); p != nil {
		return int64(binary.BigEndian.Uint64(p))
	}
	return 0
}

func (r *reader) uuid() (id metadata.TopicID) {
	copy(id[:], r.take(len(id)))
	return id
}

// uvarint reads an unsigned varint of at most 32 bits.
func (r *reader) uvarint() uint32 {
	var v uint64
	for shift := 0; shift < 35; shift += 7 {
		p := r.take(1)
		if p == nil {
			return 0
		}
		v |= uint64(p[0]&0x7f) << shift
		if p[0] < 0x80 {
			if v > 1<<32-1 {
				break
			}
			return uint32(v)
		}
	}
	r.failed, r.b = true, nil
	return 0
}

// length reads the length in front of a string (int16) or of bytes (int32); flexible versions write length+1 as a
// varint for both. -1 means null.
func (r *reader) length(flexible bool, width int) int {
	switch {
	case flexible:
		n := int64(r.uvarint()) - 1
		if n > int64(len(r.b)) {
			r.failed, r.b = true, nil
			return -1
		}
		return int(n)
	case width == 2:
		return int(r.int16())
	default:
		return int(r.int32())
	}
}

func (r *reader) string(flexible bool) string {
	n := r.length(flexible, 2)
	return string(r.take(n)) // null (-1) fails: the field is not nullable
}

func (r *reader) nullableString(flexible bool) *string {
	n := r.length(flexible, 2)
	if n < 0 || r.failed {
		return nil
	}
	p := r.take(n)
	if r.failed {
		return nil
	}
	s := string(p)
	return &s
}

// bytes returns a copy.
func (r *reader) bytes(flexible bool) []byte {
	n := r.length(flexible, 4)
	return append([]byte{}, r.take(n)...)
}

// count reads the length of an array whose items take at least itemSize bytes.
func (r *reader) count(flexible bool, itemSize int) int {
	n := r.length(flexible, 4)
	if r.failed || n < 0 || n > len(r.b)/itemSize {
		r.failed, r.b = true, nil
		return 0
	}
	return n
}

func (r *reader) int32s() []int32 {
	n := r.count(true, 4)
	list := make([]int32, n)
	for i := range list {
		list[i] = r.int32()
	}
	return list
}

func (r *reader) strings() []string {
	n := r.count(true, 1)
	list := make([]string, 0, n)
	for range n {
		list = append(list, r.string(true))
	}
	return list
}

// tags walks the tagged fields at the end of a flexible struct. known takes the fields that it knows and says so; the size
// in front of those is not looked at, as Kafka does not look at it. Others are skipped: a broker of that version has no use
// for them either.
func (r *reader) tags(known func(tag uint32) bool) {
	for n := r.uvarint(); n > 0 && !r.failed; n-- {
		tag := r.uvarint()
		size := r.uvarint()
		if known != nil && known(tag) {
			continue
		}
		if uint64(size) > uint64(len(r.b)) {
			r.failed, r.b = true, nil
			return
		}
		r.take(int(size))
	}
}

func appendInt16(dst []byte, v int16) []byte { return binary.BigEndian.AppendUint16(dst, uint16(v)) }

func appendInt32(dst []byte, v int32) []byte { return binary.BigEndian.AppendUint32(dst, uint32(v)) }

func appendInt64(dst []byte, v int64) []byte { return binary.BigEndian.AppendUint64(dst, uint64(v)) }

func appendUvarint(dst []byte, v uint32) []byte { return binary.AppendUvarint(dst, uint64(v)) }

func appendString(dst []byte, s string, flexible bool) []byte {
	if flexible {
		dst = appendUvarint(dst, uint32(len(s))+1)
	} else {
		dst = appendInt16(dst, int16(len(s)))
	}
	return append(dst, s...)
}

func appendNullableString(dst []byte, s *string, flexible bool) []byte {
	if s != nil {
		return appendString(dst, *s, flexible)
	}
	if flexible {
		return append(dst, 0)
	}
	return appendInt16(dst, -1)
}

func appendBytes(dst, b []byte, flexible bool) []byte {
	dst = appendCount(dst, len(b), flexible)
	return append(dst, b...)
}

func appendCount(dst []byte, n int, flexible bool) []byte {
	if flexible {
		return appendUvarint(dst, uint32(n)+1)
	}
	return appendInt32(dst, int32(n))
}

func appendInt32s(dst []byte, list []int32) []byte {
	dst = appendCount(dst, len(list), true)
	for _, v := range list {
		dst = appendInt32(dst, v)
	}
	return dst
}

func appendStrings(dst []byte, list []string) []byte {
	dst = appendCount(dst, len(list), true)
	for _, s := range list {
		dst = appendString(dst, s, true)
	}
	return dst
}

// appendTag appends one tagged field: number, size, bytes.
func appendTag(dst []byte, tag uint32, field []byte) []byte {
	dst = appendUvarint(dst, tag)
	dst = appendUvarint(dst, uint32(len(field)))
	return append(dst, field...)
}

package api

import (
	"encoding/binary"
	"errors"
	"math"
)

// errMalformed closes the connection: the request cannot be decoded in its version.
var errMalformed = errors.New("malformed request")

// reader reads Kafka's primitive types. After the first read past the end it is bad and every
// further read gives zero values. Nothing it returns is a copy.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) fail() { r.b, r.bad = nil, true }

func (r *reader) take(n int) []byte {
	if n < 0 || n > len(r.b) {
		r.fail()
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

func (r *reader) uuid() (id [16]byte) {
	copy(id[:], r.take(16))
	return id
}

func (r *reader) uvarint() uint32 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 || v > math.MaxUint32 {
		r.fail()
		return 0
	}
	r.b = r.b[n:]
	return uint32(v)
}

// length reads the length of a string (short) or of bytes; -1 is null.
func (r *reader) length(flexible, short bool) int {
	switch {
	case flexible:
		return int(r.uvarint()) - 1
	case short:
		return int(r.int16())
	default:
		return int(r.int32())
	}
}

func (r *reader) string(flexible bool) []byte {
	n := r.length(flexible, true)
	if n < 0 {
		r.fail()
		return nil
	}
	return r.take(n)
}

func (r *reader) nullableString(flexible bool) []byte {
	if n := r.length(flexible, true); n >= 0 {
		return r.take(n)
	}
	return nil
}

func (r *reader) nullableBytes(flexible bool) []byte {
	if n := r.length(flexible, false); n >= 0 {
		return r.take(n)
	}
	return nil
}

// array reads the length of an array whose elements take at least elem bytes. Null is 0.
func (r *reader) array(flexible bool, elem int) int {
	var n int
	if flexible {
		n = int(r.uvarint()) - 1
	} else {
		n = int(r.int32())
	}
	if n > len(r.b)/elem {
		r.fail()
		return 0
	}
	return max(n, 0)
}

// tags reads a tag section and gives each tag to fn, which may be nil.
func (r *reader) tags(flexible bool, fn func(tag uint32, value []byte)) {
	if !flexible {
		return
	}
	for n := r.uvarint(); n > 0 && !r.bad; n-- {
		tag := r.uvarint()
		value := r.take(int(r.uvarint()))
		if fn != nil && !r.bad {
			fn(tag, value)
		}
	}
}

func appendInt16(b []byte, v int16) []byte { return binary.BigEndian.AppendUint16(b, uint16(v)) }
func appendInt32(b []byte, v int32) []byte { return binary.BigEndian.AppendUint32(b, uint32(v)) }
func appendInt64(b []byte, v int64) []byte { return binary.BigEndian.AppendUint64(b, uint64(v)) }

func appendUvarint(b []byte, v int) []byte { return binary.AppendUvarint(b, uint64(v)) }

func appendArrayLen(b []byte, n int, flexible bool) []byte {
	if flexible {
		return appendUvarint(b, n+1)
	}
	return appendInt32(b, int32(n))
}

func appendString[S ~string | ~[]byte](b []byte, s S, flexible bool) []byte {
	if flexible {
		b = appendUvarint(b, len(s)+1)
	} else {
		b = appendInt16(b, int16(len(s)))
	}
	return append(b, s...)
}

// appendNullableString appends s, an empty one as null.
func appendNullableString(b []byte, s string, flexible bool) []byte {
	if s != "" {
		return appendString(b, s, flexible)
	}
	if flexible {
		return append(b, 0)
	}
	return appendInt16(b, -1)
}

func appendNoTags(b []byte, flexible bool) []byte {
	if flexible {
		return append(b, 0)
	}
	return b
}

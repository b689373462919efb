//go:build interop

package oracle

import (
	"encoding/binary"
	"errors"
)

var errShort = errors.New("oracle: answer ends early")

// writer collects request fields: big endian, byte strings with an int32 length.
type writer struct{ b []byte }

func (w *writer) i8(v int8)   { w.b = append(w.b, byte(v)) }
func (w *writer) i16(v int16) { w.b = binary.BigEndian.AppendUint16(w.b, uint16(v)) }
func (w *writer) i32(v int32) { w.b = binary.BigEndian.AppendUint32(w.b, uint32(v)) }
func (w *writer) i64(v int64) { w.b = binary.BigEndian.AppendUint64(w.b, uint64(v)) }

func (w *writer) bool(v bool) {
	if v {
		w.i8(1)
	} else {
		w.i8(0)
	}
}

func (w *writer) bytes(v []byte) {
	w.i32(int32(len(v)))
	w.b = append(w.b, v...)
}

func (w *writer) str(v string) {
	w.i32(int32(len(v)))
	w.b = append(w.b, v...)
}

// reader takes response fields; after the first short read every field is zero and err says so.
type reader struct {
	b   []byte
	err error
}

func (r *reader) take(n int) []byte {
	if r.err != nil || n < 0 || n > len(r.b) {
		r.err = errShort
		return nil
	}
	v := r.b[:n:n]
	r.b = r.b[n:]
	return v
}

func (r *reader) i8() int8 {
	if v := r.take(1); v != nil {
		return int8(v[0])
	}
	return 0
}

func (r *reader) i16() int16 {
	if v := r.take(2); v != nil {
		return int16(binary.BigEndian.Uint16(v))
	}
	return 0
}

func (r *reader) i32() int32 {
	if v := r.take(4); v != nil {
		return int32(binary.BigEndian.Uint32(v))
	}
	return 0
}

func (r *reader) i64() int64 {
	if v := r.take(8); v != nil {
		return int64(binary.BigEndian.Uint64(v))
	}
	return 0
}

// bytes returns nil for a null byte string and a non-nil slice for an empty one.
func (r *reader) bytes() []byte {
	n := r.i32()
	if n == -1 {
		return nil
	}
	return r.take(int(n))
}

func (r *reader) str() string { return string(r.bytes()) }

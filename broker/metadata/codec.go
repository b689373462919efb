package metadata

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// Errors of decoding. ErrUnknownRecord and ErrUnknownFormat mean that a newer
// program wrote the bytes: a replica that meets them must stop, since skipping a
// change would make it disagree with the others for ever.
var (
	ErrUnknownRecord = errors.New("metadata: record of an unknown type or version")
	ErrUnknownFormat = errors.New("metadata: unknown format version")
	ErrCorrupt       = errors.New("metadata: corrupt bytes")
)

// The binary form of an entry. Integers are varints as in encoding/binary
// unless said otherwise; strings and byte arrays have a uvarint length first.
//
//	entry   = format(1 byte, 1) term(uvarint) count(uvarint) record*
//	          crc32c(4 bytes big endian, of all before it)
//	record  = length(uvarint, of what follows) type(uvarint) version(uvarint) fields
//
// A record that is longer than its fields is corrupt: a field is added by a new
// version, never by trailing bytes.
const entryFormat = 1

// AppendEntry appends the binary form of an entry to dst.
func AppendEntry(dst []byte, e Entry) []byte {
	start := len(dst)
	dst = append(dst, entryFormat)
	dst = binary.AppendUvarint(dst, uint64(e.Term))
	dst = binary.AppendUvarint(dst, uint64(len(e.Records)))
	var enc encoder
	for _, r := range e.Records {
		dst = appendRecord(dst, &enc, r)
	}
	return binary.BigEndian.AppendUint32(dst, crc32.Checksum(dst[start:], castagnoli))
}

func appendRecord(dst []byte, enc *encoder, r Record) []byte {
	enc.b = enc.b[:0]
	enc.uvarint(uint64(r.Type()))
	enc.uvarint(uint64(r.version()))
	r.encode(enc)
	dst = binary.AppendUvarint(dst, uint64(len(enc.b)))
	return append(dst, enc.b...)
}

// DecodeEntry reads what AppendEntry wrote. The result does not refer to raw.
func DecodeEntry(raw []byte) (Entry, error) {
	if len(raw) < 4 {
		return Entry{}, fmt.Errorf("%w: truncated entry", ErrCorrupt)
	}
	d := decoder{b: raw[:len(raw)-4]}
	if format := d.byte(); d.err == nil && format != entryFormat {
		return Entry{}, fmt.Errorf("%w: entry format %d", ErrUnknownFormat, format)
	}
	if crc32.Checksum(raw[:len(raw)-4], castagnoli) != binary.BigEndian.Uint32(raw[len(raw)-4:]) {
		return Entry{}, fmt.Errorf("%w: entry checksum", ErrCorrupt)
	}
	e := Entry{Term: Term(d.uvarint())}
	count := d.count(3)
	if d.err != nil {
		return Entry{}, d.err
	}
	e.Records = make([]Record, 0, count)
	for range count {
		r, err := decodeRecord(&d)
		if err != nil {
			return Entry{}, err
		}
		e.Records = append(e.Records, r)
	}
	return e, d.finish()
}

func decodeRecord(d *decoder) (Record, error) {
	body := decoder{b: d.bytes()}
	if d.err != nil {
		return nil, d.err
	}
	typ, version := body.uvarint(), body.uvarint()
	if body.err != nil {
		return nil, body.err
	}
	decode, known := decoders[recordKey{typ, version}]
	if !known {
		return nil, fmt.Errorf("%w: type %d version %d", ErrUnknownRecord, typ, version)
	}
	r := decode(&body)
	return r, body.finish()
}

type recordKey struct{ typ, version uint64 }

// decoders has one row per record type and version that was ever released.
var decoders = map[recordKey]func(*decoder) Record{
	{uint64(TypeTermStart), 0}:        decodeTermStart,
	{uint64(TypeCluster), 0}:          decodeCluster,
	{uint64(TypeFeature), 0}:          decodeFeature,
	{uint64(TypeTopic), 0}:            decodeNewTopic,
	{uint64(TypePartition), 0}:        decodeNewPartition,
	{uint64(TypePartitionChange), 0}:  decodePartitionChange,
	{uint64(TypeRemoveTopic), 0}:      decodeRemoveTopic,
	{uint64(TypeConfig), 0}:           decodeConfig,
	{uint64(TypeRegisterBroker), 0}:   decodeRegisterBroker,
	{uint64(TypeBrokerChange), 0}:     decodeBrokerChange,
	{uint64(TypeUnregisterBroker), 0}: decodeUnregisterBroker,
	{uint64(TypeProducerIDs), 0}:      decodeProducerIDs,
}

// encoder appends fields.
type encoder struct{ b []byte }

func (e *encoder) uvarint(v uint64) { e.b = binary.AppendUvarint(e.b, v) }
func (e *encoder) varint(v int64)   { e.b = binary.AppendVarint(e.b, v) }
func (e *encoder) uuid(v UUID)      { e.b = append(e.b, v[:]...) }

func (e *encoder) bool(v bool) {
	if v {
		e.b = append(e.b, 1)
	} else {
		e.b = append(e.b, 0)
	}
}

func (e *encoder) string(v string) {
	e.uvarint(uint64(len(v)))
	e.b = append(e.b, v...)
}

// optionalString writes nil as 0 and a string as its length plus one.
func (e *encoder) optionalString(v *string) {
	if v == nil {
		e.uvarint(0)
		return
	}
	e.uvarint(uint64(len(*v)) + 1)
	e.b = append(e.b, *v...)
}

// brokers writes nil as 0 and a slice as its length plus one, so that "leave"
// and "empty" differ.
func (e *encoder) brokers(v []BrokerID) {
	if v == nil {
		e.uvarint(0)
		return
	}
	e.uvarint(uint64(len(v)) + 1)
	for _, id := range v {
		e.varint(int64(id))
	}
}

func (e *encoder) dirs(v []DirID) {
	if v == nil {
		e.uvarint(0)
		return
	}
	e.uvarint(uint64(len(v)) + 1)
	for _, id := range v {
		e.uuid(UUID(id))
	}
}

// optionalBool writes 0 for nil, 1 for false, 2 for true.
func (e *encoder) optionalBool(v *bool) {
	switch {
	case v == nil:
		e.b = append(e.b, 0)
	case *v:
		e.b = append(e.b, 2)
	default:
		e.b = append(e.b, 1)
	}
}

// decoder reads fields. After the first error every read returns zero, so that
// callers check once. Nothing is allocated before the bytes that justify it are
// known to be there.
type decoder struct {
	b   []byte
	err error
}

func (d *decoder) fail(what string) {
	if d.err == nil {
		d.err = fmt.Errorf("%w: %s", ErrCorrupt, what)
		d.b = nil
	}
}

func (d *decoder) finish() error {
	if d.err == nil && len(d.b) != 0 {
		d.fail(fmt.Sprintf("%d bytes left over", len(d.b)))
	}
	return d.err
}

func (d *decoder) byte() byte {
	if len(d.b) == 0 {
		d.fail("truncated")
		return 0
	}
	v := d.b[0]
	d.b = d.b[1:]
	return v
}

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 {
		d.fail("bad varint")
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) varint() int64 {
	v, n := binary.Varint(d.b)
	if n <= 0 {
		d.fail("bad varint")
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) ranged(lo, hi int64) int64 {
	v := d.varint()
	if v < lo || v > hi {
		d.fail("number out of range")
		return 0
	}
	return v
}

func (d *decoder) int32() int32 { return int32(d.ranged(-1<<31, 1<<31-1)) }
func (d *decoder) int16() int16 { return int16(d.ranged(-1<<15, 1<<15-1)) }
func (d *decoder) int8() int8   { return int8(d.ranged(-1<<7, 1<<7-1)) }

func (d *decoder) bool() bool {
	v := d.byte()
	if v > 1 {
		d.fail("bad boolean")
	}
	return v == 1
}

func (d *decoder) uuid() UUID {
	var u UUID
	if len(d.b) < len(u) {
		d.fail("truncated")
		return u
	}
	copy(u[:], d.b)
	d.b = d.b[len(u):]
	return u
}

// bytes returns a view of the next length-prefixed bytes.
func (d *decoder) bytes() []byte {
	n := d.uvarint()
	return d.take(n)
}

func (d *decoder) take(n uint64) []byte {
	if n > uint64(len(d.b)) {
		d.fail("length beyond the end")
		return nil
	}
	v := d.b[:n:n]
	d.b = d.b[n:]
	return v
}

func (d *decoder) string() string { return string(d.bytes()) }

func (d *decoder) optionalString() *string {
	n := d.uvarint()
	if n == 0 {
		return nil
	}
	s := string(d.take(n - 1))
	if d.err != nil {
		return nil
	}
	return &s
}

// count reads a length of elements that take at least size bytes each.
func (d *decoder) count(size int) int {
	n := d.uvarint()
	if n > uint64(len(d.b)/size) {
		d.fail("count beyond the end")
		return 0
	}
	return int(n)
}

// optionalCount reads a count plus one; -1 stands for nil.
func (d *decoder) optionalCount(size int) int {
	n := d.uvarint()
	if n == 0 {
		return -1
	}
	if n-1 > uint64(len(d.b)/size) {
		d.fail("count beyond the end")
		return -1
	}
	return int(n - 1)
}

func (d *decoder) brokers() []BrokerID {
	n := d.optionalCount(1)
	if n < 0 {
		return nil
	}
	v := make([]BrokerID, n)
	for i := range v {
		v[i] = BrokerID(d.int32())
	}
	return v
}

func (d *decoder) dirs() []DirID {
	n := d.optionalCount(16)
	if n < 0 {
		return nil
	}
	v := make([]DirID, n)
	for i := range v {
		v[i] = DirID(d.uuid())
	}
	return v
}

func (d *decoder) optionalBool() *bool {
	v := d.byte()
	switch v {
	case 0:
		return nil
	case 1, 2:
		b := v == 2
		return &b
	}
	d.fail("bad optional boolean")
	return nil
}

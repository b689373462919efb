//go:build interop

package wire

import (
	"encoding/binary"
	"hash/crc32"

	"github.com/klauspost/compress/zstd"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// batchOf is a record batch to build, by kmsg alone.
type batchOf struct {
	kmsg.RecordBatch
	values []string
	key    []byte
	zstd   bool
	spoil  func(raw []byte)
}

const t0 = 1700000000000 // time of every record, ms

func newBatch(values ...string) *batchOf {
	b := &batchOf{values: values, key: []byte("k")}
	b.Magic, b.ProducerID, b.ProducerEpoch, b.FirstSequence = 2, -1, -1, -1
	b.FirstTimestamp, b.MaxTimestamp = t0, t0
	return b
}

func (b *batchOf) bytes() []byte {
	b.NumRecords = int32(len(b.values))
	b.LastOffsetDelta = b.NumRecords - 1
	var body []byte
	for i, v := range b.values {
		r := kmsg.Record{OffsetDelta: int32(i), Key: b.key, Value: []byte(v)}
		raw := r.AppendTo(nil)
		// kmsg writes the length field as given: count what follows it.
		r.Length = int32(len(raw) - 1)
		body = append(body, r.AppendTo(nil)...)
	}
	if b.zstd {
		w, err := zstd.NewWriter(nil)
		if err != nil {
			panic(err)
		}
		body = w.EncodeAll(body, nil)
		b.Attributes |= 4
	}
	b.Records = body
	b.Length = int32(49 + len(body))
	raw := b.RecordBatch.AppendTo(nil)
	binary.BigEndian.PutUint32(raw[17:], crc32.Checksum(raw[21:], crc32.MakeTable(crc32.Castagnoli)))
	if b.spoil != nil {
		b.spoil(raw)
	}
	return raw
}

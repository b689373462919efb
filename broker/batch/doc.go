// Package batch owns the record batch, magic 2: the unit a producer sends, the log stores and a consumer fetches.
// It parses and patches the 61 byte header, walks records, compresses and decompresses, computes CRC-32C, builds
// batches and control batches, and decides whether a produced batch is acceptable.
//
// It does no IO, keeps no state between calls and knows nothing about logs, producers or requests. The log, the
// producer state, the partition and the request handlers call it.
//
//	 0  baseOffset           int64  ┐ not covered by the CRC: the broker
//	 8  batchLength          int32  │ patches base offset and leader epoch
//	12  partitionLeaderEpoch int32  │ in place
//	16  magic                int8   ┘
//	17  crc                  uint32   CRC-32C of everything from byte 21
//	21  attributes           int16    0-2 codec, 3 LogAppendTime, 4 transactional, 5 control, 6 delete horizon
//	23  lastOffsetDelta      int32
//	27  baseTimestamp        int64    the delete horizon when bit 6 is set (KIP-534)
//	35  maxTimestamp         int64
//	43  producerId           int64    -1 none (KIP-98)
//	51  producerEpoch        int16
//	53  baseSequence         int32
//	57  recordCount          int32
//	61  records                       compressed as one stream when a codec is set
//
// A record: length varint, attributes int8, timestampDelta varlong, offsetDelta varint, key length varint (-1 null)
// and key, value length varint (-1 null) and value, header count varint, and for each header a key length varint
// and key, a value length varint (-1 null) and value. Varints are zigzag coded.
//
// Every byte slice given to this package may be hostile: lengths are checked before anything is read or allocated,
// and every decompression runs under an explicit bound.
//
// The sync.Pools of the package are its only variables beside tables: they hold codecs and scratch memory, which cost
// tens of KB to a MB each to make, and nothing of any batch. An owner passed in by every caller would hold the same
// objects for a longer list of parameters.
package batch

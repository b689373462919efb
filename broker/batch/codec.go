package batch

import "fmt"

// Codec is a compression type, as in the low three bits of a batch's attributes.
type Codec int8

// The codecs of Kafka (zstd: KIP-110).
const (
	None   Codec = 0
	Gzip   Codec = 1
	Snappy Codec = 2
	LZ4    Codec = 3
	Zstd   Codec = 4
)

// Valid reports whether the codec exists.
func (c Codec) Valid() bool { return c >= None && c <= Zstd }

func (c Codec) String() string {
	switch c {
	case None:
		return "none"
	case Gzip:
		return "gzip"
	case Snappy:
		return "snappy"
	case LZ4:
		return "lz4"
	case Zstd:
		return "zstd"
	}
	return fmt.Sprintf("codec %d", int8(c))
}

// DefaultLevel is Kafka's default compression level of a codec (KIP-390): gzip -1, lz4 9, zstd 3, others 0.
func (c Codec) DefaultLevel() int {
	switch c {
	case Gzip:
		return -1
	case LZ4:
		return 9
	case Zstd:
		return 3
	}
	return 0
}

// Compression is a codec and its level. Level is Kafka's: gzip 1 to 9 or -1, lz4 1 to 17, zstd -131072 to 22.
type Compression struct {
	Codec Codec
	Level int
}

// CompressionOf is the codec at its default level.
func CompressionOf(c Codec) Compression { return Compression{Codec: c, Level: c.DefaultLevel()} }

// TargetCodec is a topic's compression.type. The zero value is "producer": keep what the client chose.
type TargetCodec struct {
	Force       bool
	Compression Compression // used when Force
}

// ForceCodec makes every batch of the topic use c at its default level.
func ForceCodec(c Codec) TargetCodec {
	return TargetCodec{Force: true, Compression: CompressionOf(c)}
}

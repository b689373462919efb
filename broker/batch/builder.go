package batch

// BuilderOptions are the header fields of a batch to build. The zero value of a field is what it says, so set
// ProducerID, ProducerEpoch, BaseSequence and LeaderEpoch to -1 when there are none; NewBuilder's caller who wants
// that starts from NoProducer.
type BuilderOptions struct {
	Compression   Compression
	BaseOffset    Offset
	LeaderEpoch   LeaderEpoch
	ProducerID    ProducerID
	ProducerEpoch ProducerEpoch
	BaseSequence  int32
	Transactional bool
	Control       bool
	// LogAppendTime stamps the batch with AppendTime (ms) instead of the records' own timestamps.
	LogAppendTime bool
	AppendTime    int64
}

// NoProducer are the options of a plain batch: no producer, no leader epoch, not compressed, base offset 0.
func NoProducer() BuilderOptions {
	return BuilderOptions{
		LeaderEpoch: NoLeaderEpoch, ProducerID: NoProducerID, ProducerEpoch: NoProducerEpoch, BaseSequence: NoSequence,
	}
}

// Builder makes one batch from records.
type Builder struct {
	o BuilderOptions
}

// NewBuilder makes an empty builder.
func NewBuilder(o BuilderOptions) *Builder { return &Builder{o: o} }

// Add appends a record at the next offset. ts is in milliseconds, NoTimestamp for none; a nil key or value is null.
func (b *Builder) Add(ts int64, key, value []byte, hs []RecordHeader) {}

// AddAt appends a record at an offset of its own, above the last one: for compacted batches with holes.
func (b *Builder) AddAt(o Offset, ts int64, key, value []byte, hs []RecordHeader) {}

// SetLastOffset makes the batch end at o although its last record may lie before: what compaction does to keep
// offsets.
func (b *Builder) SetLastOffset(o Offset) {}

// SetDeleteHorizon marks the batch with the time in milliseconds from which its tombstones may go (KIP-534). Only
// before the first record.
func (b *Builder) SetDeleteHorizon(ms int64) {}

// Count is the number of records added.
func (b *Builder) Count() int { return 0 }

// UncompressedSize is the size of the batch so far if it were not compressed, header included, in bytes.
func (b *Builder) UncompressedSize() int { return 0 }

// Bytes finishes the batch and returns it, CRC set. The slice belongs to the caller until the next Reset.
func (b *Builder) Bytes() []byte { return nil }

// Reset empties the builder for another batch and keeps its buffers.
func (b *Builder) Reset(o BuilderOptions) {}

package metadata

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"
)

// A snapshot is a whole Image in bytes.
//
//	snapshot = magic("WEIRIMG", 7 bytes) format(1 byte, 1)
//	           part* end
//	part     = kind(1 byte) length(uvarint, of body) body
//	end      = 0(1 byte) crc32c(4 bytes big endian, of all before it)
//
// Parts may also be stored on their own (see Part): a store that keeps one part
// per key writes only what changed.
const (
	snapshotMagic  = "WEIRIMG"
	snapshotFormat = 1
)

// PartKind says what a Part holds.
type PartKind byte

// Kinds of parts. A number is never used twice.
const (
	PartHeader     PartKind = 1 // cluster id, index, term, levels, features
	PartTopic      PartKind = 2 // a topic's id, name and number of partitions
	PartPartitions PartKind = 3 // up to 64 consecutive partitions of a topic
	PartConfigs    PartKind = 4 // a resource's configurations
	PartBroker     PartKind = 5 // a registration
)

// Part is a piece of an Image that can be stored under its own key. A nil Body
// says that the piece is gone.
type Part struct {
	Kind PartKind
	Key  []byte // unique within the kind
	Body []byte // contains what the key says as well
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Parts calls fn with the pieces in which img differs from old, and with those
// of old that are gone; with a nil old, with all pieces of img. The header is
// always among them and comes last. fn must not keep the slices.
func Parts(old, img *Image, fn func(Part) error) error {
	if old == nil {
		old = &Image{}
	}
	var enc encoder
	for change := range ChangedTopics(old, img) {
		if err := topicParts(&enc, change.Old, change.New, fn); err != nil {
			return err
		}
	}
	for r := range ChangedConfigs(old, img) {
		enc.b = enc.b[:0]
		p := Part{Kind: PartConfigs, Key: configsKey(r)}
		if c := img.Configs(r); c != nil {
			encodeConfigs(&enc, r, c)
			p.Body = enc.b
		}
		if err := fn(p); err != nil {
			return err
		}
	}
	for id := range ChangedBrokers(old, img) {
		enc.b = enc.b[:0]
		p := Part{Kind: PartBroker, Key: binary.BigEndian.AppendUint32(nil, uint32(id))}
		if b := img.Broker(id); b != nil {
			encodeBroker(&enc, b)
			p.Body = enc.b
		}
		if err := fn(p); err != nil {
			return err
		}
	}
	enc.b = enc.b[:0]
	encodeHeader(&enc, img)
	return fn(Part{Kind: PartHeader, Body: enc.b})
}

func topicParts(enc *encoder, old, t *Topic, fn func(Part) error) error {
	if t == nil {
		if err := fn(Part{Kind: PartTopic, Key: old.ID[:]}); err != nil {
			return err
		}
		for c := range old.chunks {
			if err := fn(Part{Kind: PartPartitions, Key: partitionsKey(old.ID, c)}); err != nil {
				return err
			}
		}
		return nil
	}
	if old == nil || old.count != t.count || old.Name != t.Name {
		enc.b = enc.b[:0]
		enc.uuid(UUID(t.ID))
		enc.string(t.Name)
		enc.uvarint(uint64(t.count))
		if err := fn(Part{Kind: PartTopic, Key: t.ID[:], Body: enc.b}); err != nil {
			return err
		}
	}
	for c, parts := range t.chunks {
		if old != nil && c < len(old.chunks) && len(old.chunks[c]) == len(parts) && &old.chunks[c][0] == &parts[0] {
			continue
		}
		enc.b = enc.b[:0]
		enc.uuid(UUID(t.ID))
		enc.uvarint(uint64(c))
		enc.uvarint(uint64(len(parts)))
		for _, p := range parts {
			encodePartition(enc, p)
		}
		if err := fn(Part{Kind: PartPartitions, Key: partitionsKey(t.ID, c), Body: enc.b}); err != nil {
			return err
		}
	}
	if old == nil {
		return nil
	}
	for c := len(t.chunks); c < len(old.chunks); c++ {
		if err := fn(Part{Kind: PartPartitions, Key: partitionsKey(t.ID, c)}); err != nil {
			return err
		}
	}
	return nil
}

func partitionsKey(id TopicID, c int) []byte {
	return binary.BigEndian.AppendUint32(append([]byte(nil), id[:]...), uint32(c))
}

func configsKey(r Resource) []byte { return append([]byte{byte(r.Type)}, r.Name...) }

func encodeConfigs(e *encoder, r Resource, c *Configs) {
	e.varint(int64(r.Type))
	e.string(r.Name)
	e.uvarint(uint64(c.Len()))
	for k, v := range c.All() {
		e.string(k)
		e.string(v)
	}
}

func encodeHeader(e *encoder, img *Image) {
	e.string(img.ClusterID)
	e.uvarint(uint64(img.Index))
	e.uvarint(uint64(img.Term))
	e.varint(int64(img.WeirLevel))
	e.varint(int64(img.NextProducerID))
	e.uvarint(uint64(img.FeaturesIndex))
	e.uvarint(uint64(img.features.size))
	for name, level := range img.Features() {
		e.string(name)
		e.varint(int64(level))
	}
}

// Loader puts an Image together from its parts, in any order.
type Loader struct {
	img     Image
	header  bool
	topics  map[TopicID]*Topic
	chunks  map[TopicID]map[uint64][]*Partition
	brokers []row[BrokerID, *Broker]
	configs []row[Resource, *Configs]
}

// NewLoader returns an empty Loader.
func NewLoader() *Loader {
	return &Loader{topics: make(map[TopicID]*Topic), chunks: make(map[TopicID]map[uint64][]*Partition)}
}

// Add takes one part. Parts of a kind that is not known stop a replica, as
// unknown records do.
func (l *Loader) Add(kind PartKind, body []byte) error {
	d := &decoder{b: body}
	switch kind {
	case PartHeader:
		l.addHeader(d)
	case PartTopic:
		t := &Topic{ID: TopicID(d.uuid()), Name: d.string()}
		n := d.uvarint()
		if n > 1<<31-1 {
			d.fail("number of partitions out of range")
		}
		t.count = int32(n)
		l.topics[t.ID] = t
	case PartPartitions:
		l.addPartitions(d)
	case PartConfigs:
		l.addConfigs(d)
	case PartBroker:
		b := &Broker{}
		decodeBroker(d, b)
		l.brokers = append(l.brokers, row[BrokerID, *Broker]{b.ID, b})
	default:
		return fmt.Errorf("%w: snapshot part of kind %d", ErrUnknownFormat, kind)
	}
	return d.finish()
}

func (l *Loader) addHeader(d *decoder) {
	if l.header {
		d.fail("two headers")
		return
	}
	l.header = true
	l.img.ClusterID = d.string()
	l.img.Index = Index(d.uvarint())
	l.img.Term = Term(d.uvarint())
	l.img.WeirLevel = FeatureLevel(d.int16())
	l.img.NextProducerID = ProducerID(d.varint())
	l.img.FeaturesIndex = Index(d.uvarint())
	for range d.count(2) {
		name := d.string()
		l.img.features = l.img.features.put(name, FeatureLevel(d.int16()), strings.Compare)
	}
}

func (l *Loader) addPartitions(d *decoder) {
	id, c := TopicID(d.uuid()), d.uvarint()
	n := d.count(11)
	if n == 0 || n > partitionChunk {
		d.fail("number of partitions in a part out of range")
		return
	}
	parts := make([]*Partition, n)
	for i := range parts {
		parts[i] = &Partition{}
		decodePartition(d, parts[i])
	}
	if l.chunks[id] == nil {
		l.chunks[id] = make(map[uint64][]*Partition)
	}
	l.chunks[id][c] = parts
}

func (l *Loader) addConfigs(d *decoder) {
	r := Resource{Type: ResourceType(d.int8()), Name: d.string()}
	n := d.count(2)
	rows := make([]row[string, string], n)
	for i := range rows {
		rows[i] = row[string, string]{d.string(), d.string()}
	}
	l.configs = append(l.configs, row[Resource, *Configs]{r, &Configs{sortedTable(rows, strings.Compare)}})
}

// Image returns the image when its parts are complete.
func (l *Loader) Image() (*Image, error) {
	if !l.header {
		return nil, fmt.Errorf("%w: no header", ErrCorrupt)
	}
	img := l.img
	if img.WeirLevel > MaxWeirLevel {
		return nil, fmt.Errorf("%w: level %d, this program knows up to %d", ErrLevel, img.WeirLevel, MaxWeirLevel)
	}
	byID := make([]row[TopicID, *Topic], 0, len(l.topics))
	byName := make([]row[string, *Topic], 0, len(l.topics))
	for id, t := range l.topics {
		if err := l.fill(t); err != nil {
			return nil, err
		}
		byID = append(byID, row[TopicID, *Topic]{id, t})
		byName = append(byName, row[string, *Topic]{t.Name, t})
		img.partitions += int(t.count)
	}
	if len(l.chunks) != 0 {
		return nil, fmt.Errorf("%w: partitions of %d topics that do not exist", ErrCorrupt, len(l.chunks))
	}
	img.topicsByID = sortedTable(byID, compareTopicIDs)
	img.topicsByName = sortedTable(byName, strings.Compare)
	img.brokers = sortedTable(l.brokers, cmp.Compare[BrokerID])
	img.configs = sortedTable(l.configs, compareResources)
	if !img.topicsByName.distinct(strings.Compare) || !img.brokers.distinct(cmp.Compare[BrokerID]) ||
		!img.configs.distinct(compareResources) {
		return nil, fmt.Errorf("%w: a key occurs twice", ErrCorrupt)
	}
	for name := range img.Topics() {
		img.collisions = withCollision(img.collisions, name)
	}
	return &img, nil
}

// fill moves a topic's chunks into it and checks that none is missing.
func (l *Loader) fill(t *Topic) error {
	have := l.chunks[t.ID]
	delete(l.chunks, t.ID)
	want := (uint64(t.count) + partitionChunk - 1) / partitionChunk
	if uint64(len(have)) != want {
		return fmt.Errorf("%w: topic %q has %d parts, needs %d", ErrCorrupt, t.Name, len(have), want)
	}
	for c := range want {
		parts := have[c]
		size := min(int(t.count)-int(c)*partitionChunk, partitionChunk)
		if len(parts) != size {
			return fmt.Errorf("%w: part %d of topic %q has %d partitions, needs %d", ErrCorrupt, c, t.Name, len(parts), size)
		}
		t.chunks = append(t.chunks, parts)
	}
	return nil
}

// AppendSnapshot appends the binary form of an image to dst.
func AppendSnapshot(dst []byte, img *Image) []byte {
	start := len(dst)
	dst = append(dst, snapshotMagic...)
	dst = append(dst, snapshotFormat)
	// The function given to Parts returns no error, so Parts returns none.
	_ = Parts(nil, img, func(p Part) error {
		dst = append(dst, byte(p.Kind))
		dst = binary.AppendUvarint(dst, uint64(len(p.Body)))
		dst = append(dst, p.Body...)
		return nil
	})
	dst = append(dst, 0)
	return binary.BigEndian.AppendUint32(dst, crc32.Checksum(dst[start:], castagnoli))
}

// DecodeSnapshot reads what AppendSnapshot wrote.
func DecodeSnapshot(raw []byte) (*Image, error) {
	if len(raw) < len(snapshotMagic)+6 || string(raw[:len(snapshotMagic)]) != snapshotMagic {
		return nil, fmt.Errorf("%w: no snapshot", ErrCorrupt)
	}
	if format := raw[len(snapshotMagic)]; format != snapshotFormat {
		return nil, fmt.Errorf("%w: snapshot format %d", ErrUnknownFormat, format)
	}
	body, sum := raw[:len(raw)-4], binary.BigEndian.Uint32(raw[len(raw)-4:])
	if crc32.Checksum(body, castagnoli) != sum {
		return nil, fmt.Errorf("%w: snapshot checksum", ErrCorrupt)
	}
	d := &decoder{b: body[len(snapshotMagic)+1:]}
	l := NewLoader()
	for {
		kind := PartKind(d.byte())
		if d.err != nil {
			return nil, d.err
		}
		if kind == 0 {
			break
		}
		part := d.bytes()
		if d.err != nil {
			return nil, d.err
		}
		if err := l.Add(kind, part); err != nil {
			return nil, err
		}
	}
	if err := d.finish(); err != nil {
		return nil, err
	}
	return l.Image()
}

// distinct reports whether no key occurs twice.
func (t table[K, V]) distinct(cmp order[K]) bool {
	var keys []K
	for k := range t.all() {
		keys = append(keys, k)
	}
	return len(slices.CompactFunc(keys, func(a, b K) bool { return cmp(a, b) == 0 })) == t.size
}

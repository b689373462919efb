package metadata

import (
	"bytes"
	"cmp"
	"iter"
	"slices"
	"strings"
)

// ResourceType is a kind of thing that has configurations, with Kafka's numbers.
type ResourceType int8

// Resource types.
const (
	TopicResource         ResourceType = 2
	BrokerResource        ResourceType = 4
	BrokerLoggerResource  ResourceType = 8
	ClientMetricsResource ResourceType = 16
	GroupResource         ResourceType = 32
)

// String is Kafka's name of the type.
func (t ResourceType) String() string {
	switch t {
	case TopicResource:
		return "TOPIC"
	case BrokerResource:
		return "BROKER"
	case BrokerLoggerResource:
		return "BROKER_LOGGER"
	case ClientMetricsResource:
		return "CLIENT_METRICS"
	case GroupResource:
		return "GROUP"
	}
	return "UNKNOWN"
}

// Resource names something that has configurations. A broker's name is its id
// in decimal; the empty name stands for all brokers.
type Resource struct {
	Type ResourceType
	Name string
}

// Image is the whole of the cluster's metadata at one index of its log. It is
// immutable and safe for concurrent reading. Make one with NewImage or Apply.
type Image struct {
	// ClusterID is Kafka's cluster.id; empty before the cluster is formatted.
	ClusterID string
	// Index is the position in the metadata log that the image covers.
	Index Index
	// Term is the controller term; Apply ignores entries of any other.
	Term Term
	// WeirLevel is the level of weir.metadata.version: the newest records that
	// this cluster's log may hold.
	WeirLevel FeatureLevel
	// NextProducerID is the first producer id that no block holds yet.
	NextProducerID ProducerID
	// FeaturesIndex is the index of the entry that last changed a feature: the
	// epoch that ApiVersions reports for finalized features.
	FeaturesIndex Index

	topicsByName table[string, *Topic]
	topicsByID   table[TopicID, *Topic]
	brokers      table[BrokerID, *Broker]
	configs      table[Resource, *Configs]
	features     table[string, FeatureLevel]
	// collisions maps a topic name with '.' replaced by '_' to the topics that
	// have it, for names that contain either.
	collisions table[string, []string]
	partitions int
}

// Configs are the dynamic configurations of one resource, in key order.
type Configs struct{ values table[string, string] }

// Get returns the value of key.
func (c *Configs) Get(key string) (string, bool) {
	if c == nil {
		return "", false
	}
	return c.values.get(key, strings.Compare)
}

// Len is the number of keys.
func (c *Configs) Len() int {
	if c == nil {
		return 0
	}
	return c.values.size
}

// All walks keys and values in key order.
func (c *Configs) All() iter.Seq2[string, string] {
	if c == nil {
		return func(func(string, string) bool) {}
	}
	return c.values.all()
}

// Map copies the configurations into a new map.
func (c *Configs) Map() map[string]string {
	m := make(map[string]string, c.Len())
	for k, v := range c.All() {
		m[k] = v
	}
	return m
}

// NewImage returns the image of a log without entries.
func NewImage() *Image { return &Image{} }

// Topic returns the topic called name, or nil.
func (img *Image) Topic(name string) *Topic {
	t, _ := img.topicsByName.get(name, strings.Compare)
	return t
}

// TopicByID returns the topic with that id, or nil.
func (img *Image) TopicByID(id TopicID) *Topic {
	t, _ := img.topicsByID.get(id, compareTopicIDs)
	return t
}

// Colliding returns an existing topic whose name equals name once '.' is read as
// '_': metrics could not tell the two apart. It may be name itself.
func (img *Image) Colliding(name string) (string, bool) {
	if !strings.ContainsAny(name, "._") {
		return "", false
	}
	names, ok := img.collisions.get(unified(name), strings.Compare)
	if !ok {
		return "", false
	}
	return names[0], true
}

func unified(name string) string { return strings.ReplaceAll(name, ".", "_") }

func withCollision(t table[string, []string], name string) table[string, []string] {
	if !strings.ContainsAny(name, "._") {
		return t
	}
	names, _ := t.get(unified(name), strings.Compare)
	names = append(slices.Clone(names), name)
	slices.Sort(names)
	return t.put(unified(name), names, strings.Compare)
}

func withoutCollision(t table[string, []string], name string) table[string, []string] {
	if !strings.ContainsAny(name, "._") {
		return t
	}
	names, _ := t.get(unified(name), strings.Compare)
	names = slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == name })
	if len(names) == 0 {
		return t.remove(unified(name), strings.Compare)
	}
	return t.put(unified(name), names, strings.Compare)
}

// Topics walks all topics in the order of their names.
func (img *Image) Topics() iter.Seq2[string, *Topic] { return img.topicsByName.all() }

// TopicsFrom walks the topics at and after name in the order of their names.
func (img *Image) TopicsFrom(name string) iter.Seq2[string, *Topic] {
	return img.topicsByName.from(name, strings.Compare)
}

// TopicCount is the number of topics.
func (img *Image) TopicCount() int { return img.topicsByName.size }

// PartitionCount is the number of partitions of all topics.
func (img *Image) PartitionCount() int { return img.partitions }

// Partition returns one partition, or nil.
func (img *Image) Partition(topic string, index int32) *Partition {
	if t := img.Topic(topic); t != nil {
		return t.Partition(index)
	}
	return nil
}

// Broker returns the broker with that id, or nil.
func (img *Image) Broker(id BrokerID) *Broker {
	b, _ := img.brokers.get(id, cmp.Compare[BrokerID])
	return b
}

// Brokers walks the registered brokers in the order of their ids.
func (img *Image) Brokers() iter.Seq2[BrokerID, *Broker] { return img.brokers.all() }

// BrokerCount is the number of registered brokers.
func (img *Image) BrokerCount() int { return img.brokers.size }

// Configs returns the dynamic configurations of a resource; nil (which is
// usable, and empty) when it has none. Two images share the pointer while the
// resource's configurations are unchanged.
func (img *Image) Configs(r Resource) *Configs {
	c, _ := img.configs.get(r, compareResources)
	return c
}

// Resources walks the resources that have dynamic configurations, by type and
// then name.
func (img *Image) Resources() iter.Seq2[Resource, *Configs] { return img.configs.all() }

// Feature returns the finalized level of a feature, 0 when it is off.
func (img *Image) Feature(name string) FeatureLevel {
	level, _ := img.features.get(name, strings.Compare)
	return level
}

// Features walks the finalized features in the order of their names.
func (img *Image) Features() iter.Seq2[string, FeatureLevel] { return img.features.all() }

// TopicChange is the difference of one topic between two images. Old is nil for
// a new topic, New for a deleted one. A topic deleted and created anew under
// its name is two changes.
type TopicChange struct{ Old, New *Topic }

// ChangedTopics walks the topics that differ between two images: deletions
// first, then the others, each in the order of topic ids. Its cost follows the
// number of changes, not of topics. old may be nil.
func ChangedTopics(old, img *Image) iter.Seq[TopicChange] {
	return func(yield func(TopicChange) bool) {
		if old == nil {
			old = &Image{}
		}
		for _, r := range unshared(old.topicsByID, img.topicsByID) {
			if img.TopicByID(r.key) == nil && !yield(TopicChange{Old: r.value}) {
				return
			}
		}
		for _, r := range unshared(img.topicsByID, old.topicsByID) {
			if before := old.TopicByID(r.key); before != r.value && !yield(TopicChange{Old: before, New: r.value}) {
				return
			}
		}
	}
}

// ChangedConfigs walks the resources whose dynamic configurations differ
// between two images. old may be nil.
func ChangedConfigs(old, img *Image) iter.Seq[Resource] {
	return func(yield func(Resource) bool) {
		if old == nil {
			old = &Image{}
		}
		for _, r := range unshared(old.configs, img.configs) {
			if img.Configs(r.key) == nil && !yield(r.key) {
				return
			}
		}
		for _, r := range unshared(img.configs, old.configs) {
			if old.Configs(r.key) != r.value && !yield(r.key) {
				return
			}
		}
	}
}

// ChangedBrokers walks the ids of brokers that differ between two images,
// including those that are gone. old may be nil.
func ChangedBrokers(old, img *Image) iter.Seq[BrokerID] {
	return func(yield func(BrokerID) bool) {
		if old == nil {
			old = &Image{}
		}
		for _, r := range unshared(old.brokers, img.brokers) {
			if img.Broker(r.key) == nil && !yield(r.key) {
				return
			}
		}
		for _, r := range unshared(img.brokers, old.brokers) {
			if old.Broker(r.key) != r.value && !yield(r.key) {
				return
			}
		}
	}
}

func compareTopicIDs(a, b TopicID) int { return bytes.Compare(a[:], b[:]) }

func compareResources(a, b Resource) int {
	if c := cmp.Compare(a.Type, b.Type); c != 0 {
		return c
	}
	return strings.Compare(a.Name, b.Name)
}

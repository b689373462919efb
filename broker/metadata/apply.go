package metadata

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Apply refuses an entry with one of these. Every replica refuses it alike and
// the image stays as it was, so the log goes on; whoever proposed the entry is
// told.
var (
	// ErrStaleTerm: the entry was decided in a term that is not the image's.
	ErrStaleTerm = errors.New("metadata: decided in another controller term")
	// ErrStaleEpoch: a partition or broker has changed since the decision.
	ErrStaleEpoch = errors.New("metadata: decided on an older partition or broker epoch")
	// ErrConflict: a record contradicts the image, such as a partition of a
	// topic that does not exist.
	ErrConflict = errors.New("metadata: record contradicts the image")
)

// ErrLevel means that the cluster uses records this program does not know. It
// must stop, as for ErrUnknownRecord.
var ErrLevel = errors.New("metadata: the cluster's " + WeirFeature + " is newer than this program")

// Refused reports whether err leaves the log usable: the entry had no effect,
// on any replica. Any other error of Apply must stop the replica.
func Refused(err error) bool {
	return errors.Is(err, ErrStaleTerm) || errors.Is(err, ErrStaleEpoch) || errors.Is(err, ErrConflict)
}

// Apply returns the image after the entry at index. It is a pure function: the
// same image, index and entry give the same image on every replica. An entry
// takes effect as a whole or not at all. On an error that Refused reports the
// returned image is img at the new index; on any other it is nil.
func Apply(img *Image, index Index, e Entry) (*Image, error) {
	next := *img
	next.Index = index
	ed := &edit{img: next}
	if err := ed.entry(e); err != nil {
		if Refused(err) {
			return &next, err
		}
		return nil, err
	}
	return ed.finish(), nil
}

// edit is the image under construction. Topics that records touch are opened
// once, changed in place, and put back at the end, so that an entry with ten
// thousand partitions costs about as much as its partitions.
type edit struct {
	img  Image
	open map[TopicID]*openTopic
}

// openTopic is a private copy of a topic. Chunks marked as owned were copied
// (or made) by this edit and may be written.
type openTopic struct {
	topic   *Topic
	owned   map[int]struct{}
	removed bool
}

func (ed *edit) entry(e Entry) error {
	records := e.Records
	if len(records) > 0 {
		if start, ok := records[0].(*TermStart); ok {
			if err := ed.termStart(e.Term, start); err != nil {
				return err
			}
			records = records[1:]
		}
	}
	if e.Term != ed.img.Term {
		return fmt.Errorf("%w: entry of term %d, image at term %d", ErrStaleTerm, e.Term, ed.img.Term)
	}
	for _, r := range records {
		if err := ed.record(r); err != nil {
			return err
		}
	}
	return nil
}

func (ed *edit) termStart(term Term, start *TermStart) error {
	if term != start.Term {
		return fmt.Errorf("%w: term start of %d in an entry of term %d", ErrConflict, start.Term, term)
	}
	if term <= ed.img.Term {
		return fmt.Errorf("%w: term %d starts, image at term %d", ErrStaleTerm, term, ed.img.Term)
	}
	ed.img.Term = term
	return nil
}

func (ed *edit) record(r Record) error {
	switch r := r.(type) {
	case *Cluster:
		return ed.cluster(r)
	case *Feature:
		return ed.feature(r)
	case *NewTopic:
		return ed.newTopic(r)
	case *NewPartition:
		return ed.newPartition(r)
	case *PartitionChange:
		return ed.partitionChange(r)
	case *RemoveTopic:
		return ed.removeTopic(r)
	case *Config:
		ed.config(r)
		return nil
	case *RegisterBroker:
		return ed.registerBroker(r)
	case *BrokerChange:
		return ed.brokerChange(r)
	case *UnregisterBroker:
		return ed.unregisterBroker(r)
	case *ProducerIDs:
		return ed.producerIDs(r)
	case *TermStart:
		return fmt.Errorf("%w: term start after other records", ErrConflict)
	}
	return fmt.Errorf("%w: %T", ErrUnknownRecord, r)
}

func (ed *edit) cluster(r *Cluster) error {
	if ed.img.ClusterID != "" && ed.img.ClusterID != r.ClusterID {
		return fmt.Errorf("%w: cluster id %q, already %q", ErrConflict, r.ClusterID, ed.img.ClusterID)
	}
	ed.img.ClusterID = r.ClusterID
	return nil
}

func (ed *edit) feature(r *Feature) error {
	if r.Name == WeirFeature {
		if r.Level > MaxWeirLevel {
			return fmt.Errorf("%w: level %d, this program knows up to %d", ErrLevel, r.Level, MaxWeirLevel)
		}
		ed.img.WeirLevel = r.Level
		return nil
	}
	ed.img.FeaturesIndex = ed.img.Index
	if r.Level == 0 {
		ed.img.features = ed.img.features.remove(r.Name, strings.Compare)
		return nil
	}
	ed.img.features = ed.img.features.put(r.Name, r.Level, strings.Compare)
	return nil
}

func (ed *edit) newTopic(r *NewTopic) error {
	if ed.img.TopicByID(r.ID) != nil || ed.open[r.ID] != nil {
		return fmt.Errorf("%w: topic id %s exists", ErrConflict, r.ID)
	}
	// A name is free when nothing has it, or its holder was removed above in
	// the same entry (removeTopic takes it out of the table at once).
	if ed.img.Topic(r.Name) != nil {
		return fmt.Errorf("%w: topic %q exists", ErrConflict, r.Name)
	}
	t := &Topic{ID: r.ID, Name: r.Name}
	ed.opened(&openTopic{topic: t})
	ed.img.topicsByName = ed.img.topicsByName.put(r.Name, t, strings.Compare)
	ed.img.collisions = withCollision(ed.img.collisions, r.Name)
	return nil
}

func (ed *edit) opened(o *openTopic) {
	if ed.open == nil {
		ed.open = make(map[TopicID]*openTopic)
	}
	o.owned = make(map[int]struct{})
	ed.open[o.topic.ID] = o
}

// topic opens a topic for change.
func (ed *edit) topic(id TopicID) (*openTopic, error) {
	o := ed.open[id]
	if o == nil {
		t := ed.img.TopicByID(id)
		if t == nil {
			return nil, fmt.Errorf("%w: no topic with id %s", ErrConflict, id)
		}
		dup := *t
		dup.chunks = append([][]*Partition(nil), t.chunks...)
		o = &openTopic{topic: &dup}
		ed.opened(o)
	}
	if o.removed {
		return nil, fmt.Errorf("%w: topic with id %s was removed", ErrConflict, id)
	}
	return o, nil
}

// own returns chunk c for writing.
func (o *openTopic) own(c int) []*Partition {
	if _, ok := o.owned[c]; !ok {
		dup := make([]*Partition, len(o.topic.chunks[c]), partitionChunk)
		copy(dup, o.topic.chunks[c])
		o.topic.chunks[c] = dup
		o.owned[c] = struct{}{}
	}
	return o.topic.chunks[c]
}

func (ed *edit) newPartition(r *NewPartition) error {
	o, err := ed.topic(r.TopicID)
	if err != nil {
		return err
	}
	t := o.topic
	if r.Index != t.count {
		return fmt.Errorf("%w: partition %d of %q, which has %d", ErrConflict, r.Index, t.Name, t.count)
	}
	if len(r.Partition.Replicas) == 0 {
		return fmt.Errorf("%w: partition %d of %q has no replicas", ErrConflict, r.Index, t.Name)
	}
	p := r.Partition
	c := int(t.count / partitionChunk)
	if c == len(t.chunks) {
		t.chunks = append(t.chunks, make([]*Partition, 0, partitionChunk))
		o.owned[c] = struct{}{}
	}
	t.chunks[c] = append(o.own(c), &p)
	t.count++
	ed.img.partitions++
	return nil
}

func (ed *edit) partitionChange(r *PartitionChange) error {
	o, err := ed.topic(r.TopicID)
	if err != nil {
		return err
	}
	old := o.topic.Partition(r.Index)
	if old == nil {
		return fmt.Errorf("%w: no partition %d of %q", ErrConflict, r.Index, o.topic.Name)
	}
	if old.PartitionEpoch != r.ExpectedEpoch {
		return fmt.Errorf("%w: partition %d of %q is at epoch %d, the change expects %d",
			ErrStaleEpoch, r.Index, o.topic.Name, old.PartitionEpoch, r.ExpectedEpoch)
	}
	o.own(int(r.Index / partitionChunk))[r.Index%partitionChunk] = changed(old, r)
	return nil
}

// changed returns the partition after a change.
func changed(old *Partition, r *PartitionChange) *Partition {
	p := *old
	if r.Replicas != nil {
		p.Replicas = r.Replicas
	}
	if r.Directories != nil {
		p.Directories = r.Directories
	}
	if r.ISR != nil {
		p.ISR = r.ISR
	}
	if r.ELR != nil {
		p.ELR = r.ELR
	}
	if r.LastKnownELR != nil {
		p.LastKnownELR = r.LastKnownELR
	}
	if r.Adding != nil {
		p.Adding = r.Adding
	}
	if r.Removing != nil {
		p.Removing = r.Removing
	}
	if r.SetLeader {
		p.Leader = r.Leader
		p.LeaderEpoch++
	}
	if r.SetRecovery {
		p.Recovery = r.Recovery
	}
	p.PartitionEpoch++
	return &p
}

func (ed *edit) removeTopic(r *RemoveTopic) error {
	o, err := ed.topic(r.ID)
	if err != nil {
		return err
	}
	o.removed = true
	ed.img.partitions -= int(o.topic.count)
	ed.img.topicsByName = ed.img.topicsByName.remove(o.topic.Name, strings.Compare)
	ed.img.collisions = withoutCollision(ed.img.collisions, o.topic.Name)
	ed.img.configs = ed.img.configs.remove(Resource{TopicResource, o.topic.Name}, compareResources)
	return nil
}

func (ed *edit) config(r *Config) {
	var values table[string, string]
	if old := ed.img.Configs(r.Resource); old != nil {
		values = old.values
	}
	if r.Value == nil {
		values = values.remove(r.Key, strings.Compare)
	} else {
		values = values.put(r.Key, *r.Value, strings.Compare)
	}
	if values.size == 0 {
		ed.img.configs = ed.img.configs.remove(r.Resource, compareResources)
		return
	}
	ed.img.configs = ed.img.configs.put(r.Resource, &Configs{values}, compareResources)
}

func (ed *edit) registerBroker(r *RegisterBroker) error {
	b := r.Broker
	// The same incarnation may register again under its epoch, to amend what it
	// said; any other needs a newer one.
	if old := ed.img.Broker(b.ID); old != nil && (b.Epoch < old.Epoch || b.Epoch == old.Epoch && b.IncarnationID != old.IncarnationID) {
		return fmt.Errorf("%w: broker %d registers epoch %d, already at %d", ErrStaleEpoch, b.ID, b.Epoch, old.Epoch)
	}
	ed.img.brokers = ed.img.brokers.put(b.ID, &b, cmp.Compare[BrokerID])
	return nil
}

// registration returns the broker when it is still at that epoch.
func (ed *edit) registration(id BrokerID, epoch BrokerEpoch) (*Broker, error) {
	b := ed.img.Broker(id)
	if b == nil {
		return nil, fmt.Errorf("%w: broker %d is not registered", ErrConflict, id)
	}
	if b.Epoch != epoch {
		return nil, fmt.Errorf("%w: broker %d is at epoch %d, the change expects %d", ErrStaleEpoch, id, b.Epoch, epoch)
	}
	return b, nil
}

func (ed *edit) brokerChange(r *BrokerChange) error {
	old, err := ed.registration(r.ID, r.Epoch)
	if err != nil {
		return err
	}
	b := *old
	if r.Fenced != nil {
		b.Fenced = *r.Fenced
	}
	if r.InControlledShutdown != nil {
		b.InControlledShutdown = *r.InControlledShutdown
	}
	if r.LogDirs != nil {
		b.LogDirs = r.LogDirs
	}
	if r.CordonedDirs != nil {
		b.CordonedDirs = r.CordonedDirs
	}
	ed.img.brokers = ed.img.brokers.put(b.ID, &b, cmp.Compare[BrokerID])
	return nil
}

func (ed *edit) unregisterBroker(r *UnregisterBroker) error {
	if _, err := ed.registration(r.ID, r.Epoch); err != nil {
		return err
	}
	ed.img.brokers = ed.img.brokers.remove(r.ID, cmp.Compare[BrokerID])
	return nil
}

func (ed *edit) producerIDs(r *ProducerIDs) error {
	if _, err := ed.registration(r.BrokerID, r.BrokerEpoch); err != nil {
		return err
	}
	if r.Next <= ed.img.NextProducerID {
		return fmt.Errorf("%w: producer ids below %d are taken, the block ends at %d", ErrConflict, ed.img.NextProducerID, r.Next)
	}
	ed.img.NextProducerID = r.Next
	return nil
}

// finish puts the opened topics back and returns the image.
func (ed *edit) finish() *Image {
	img := ed.img
	ids := make([]TopicID, 0, len(ed.open))
	for id := range ed.open {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, compareTopicIDs)
	for _, id := range ids {
		o := ed.open[id]
		if o.removed {
			img.topicsByID = img.topicsByID.remove(id, compareTopicIDs)
			continue
		}
		img.topicsByID = img.topicsByID.put(id, o.topic, compareTopicIDs)
		img.topicsByName = img.topicsByName.put(o.topic.Name, o.topic, strings.Compare)
	}
	return &img
}

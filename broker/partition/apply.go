package partition

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"sync"

	"github.com/weir-broker/weir/broker/commitlog"
	"github.com/weir-broker/weir/broker/metadata"
	"github.com/weir-broker/weir/broker/vfs"
)

// Apply brings the table in line with the image: the first call loads and
// recovers what is on disk, later ones follow the differences. It is
// idempotent, and calls are serialised.
//
// The first image must be complete up to what the cluster had decided when
// this broker stopped: folders of partitions it does not place here are set
// aside. A partition or directory that cannot be opened is no error of Apply:
// it answers ErrStorage, is logged, and DirFailed tells of directories. Neither
// is a configuration that cannot be used: it is logged and counted, and what was
// in force before stays so. The only error is ErrClosed.
func (t *Table) Apply(img *metadata.Image) error {
	t.applying.Lock()
	defer t.applying.Unlock()
	if t.applying.closed {
		return ErrClosed
	}
	old := t.applying.image
	if img == old {
		return nil
	}
	rebased := t.applyBrokerConfig(old, img)
	regrouped := t.applyBrokers(old, img)
	var onDisk map[replicaKey]found
	if old == nil {
		onDisk = t.scan(img)
	}
	// The image before the partitions: a lookup must not call a topic unknown
	// that is only being opened.
	t.mu.Lock()
	t.mu.image = img
	t.mu.Unlock()

	opening := t.applyTopics(old, img, onDisk)
	if rebased && old != nil { // the first image's topics have their settings already
		t.reconfigureAll(img)
	} else if old != nil {
		t.reconfigureChanged(old, img)
	}
	if regrouped && old != nil {
		t.regroup(img, opening)
	}
	t.applying.image = img
	for _, kick := range []chan struct{}{t.flushKick, t.cleaners.kick} {
		select {
		case kick <- struct{}{}:
		default:
		}
	}
	return nil
}

// applyBrokerConfig takes over dynamic broker properties and reports whether
// there are new ones. Values that do not parse, which a newer version may have
// accepted, are left out.
func (t *Table) applyBrokerConfig(old, img *metadata.Image) bool {
	own := metadata.Resource{Type: metadata.BrokerResource, Name: strconv.Itoa(int(t.env.node))}
	all := metadata.Resource{Type: metadata.BrokerResource}
	if old != nil && old.Configs(own) == img.Configs(own) && old.Configs(all) == img.Configs(all) {
		return false
	}
	b, err := t.options.Config.WithDynamic(img.Configs(own).Map(), img.Configs(all).Map())
	if err != nil {
		t.env.log.Error("dynamic broker properties cannot be used, and are left out", "err", err)
	}
	t.mu.Lock()
	t.mu.broker = b
	t.mu.Unlock()
	return true
}

// applyBrokers takes over who the brokers are and reports whether that
// changed.
func (t *Table) applyBrokers(old, img *metadata.Image) bool {
	changed := old == nil
	for range metadata.ChangedBrokers(old, img) {
		changed = true
		break
	}
	if !changed {
		return false
	}
	facts := make(brokerFacts, img.BrokerCount())
	for id, b := range img.Brokers() {
		facts[id] = brokerFact{epoch: b.Epoch, fenced: b.Fenced, shuttingDown: b.InControlledShutdown}
	}
	t.applying.brokers = facts
	return true
}

// opening is a replica that Apply begins to host.
type opening struct {
	p       *Partition
	request openRequest
	m       *metadata.Partition
}

// applyTopics follows created, changed and deleted topics. It returns the
// partitions that are new here.
func (t *Table) applyTopics(old, img *metadata.Image, onDisk map[replicaKey]found) map[*Partition]bool {
	var todo []*opening
	for change := range metadata.ChangedTopics(old, img) {
		if change.New == nil {
			t.dropTopic(change.Old.ID)
			continue
		}
		h := t.host(change.New, img)
		var gone []*Partition
		for index, m := range change.New.ChangedPartitions(change.Old) {
			p := h.partition(index)
			switch here := m.IsReplica(t.env.node); {
			case here && p == nil:
				todo = append(todo, t.plan(h, index, m, onDisk, old == nil))
			case here:
				p.applyMetadata(m, nil)
			case p != nil:
				gone = append(gone, p)
			}
		}
		if len(gone) > 0 {
			t.setPartitions(h, gone, nil)
			t.removeReplicas(gone)
		}
	}
	t.openAll(todo)
	fresh := make(map[*Partition]bool, len(todo))
	added := make(map[*hosted][]*Partition)
	t.mu.RLock()
	for _, o := range todo {
		fresh[o.p] = true
		h := t.mu.byID[o.p.topicID]
		added[h] = append(added[h], o.p)
	}
	t.mu.RUnlock()
	for h, ps := range added {
		t.setPartitions(h, nil, ps)
	}
	for p := range fresh {
		// A directory that failed before they could be found has not told them.
		if p.dir != nil && !p.dir.online() {
			p.withdraw(fmt.Errorf("%w: log directory %s is offline", ErrStorage, p.dir.path))
		}
	}
	return fresh
}

// host returns the entry of a topic, making it when there is none.
func (t *Table) host(topic *metadata.Topic, img *metadata.Image) *hosted {
	t.mu.RLock()
	h := t.mu.byID[topic.ID]
	t.mu.RUnlock()
	if h != nil {
		return h
	}
	overrides, b := topicConfigs(img, topic.Name), t.brokerConfig()
	st, err := newSettings(overrides, b)
	if err != nil {
		t.env.log.Error("topic configuration cannot be used: what can is in force, and retention removes nothing", "topic", topic.Name, "err", err)
		st = keepingSettings(overrides, b)
	}
	h = &hosted{name: topic.Name, id: topic.ID, count: &topicCounters{}, settings: st, unusable: err != nil}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.mu.byID[h.id] = h
	t.mu.byName[h.name] = h
	return h
}

func topicConfigs(img *metadata.Image, name string) *metadata.Configs {
	return img.Configs(metadata.Resource{Type: metadata.TopicResource, Name: name})
}

// plan decides where a replica goes. One that may lie in an offline directory
// is hosted without a log and answers ErrStorage.
func (t *Table) plan(h *hosted, index int32, m *metadata.Partition, onDisk map[replicaKey]found, starting bool) *opening {
	o := &opening{m: m, request: openRequest{topic: h.name, id: h.id, index: index, settings: h.settings, count: h.count}}
	f, ok := onDisk[replicaKey{id: h.id, index: index}]
	switch {
	case ok && f.unsure != nil:
		o.p = newPartition(t.env, &o.request)
		o.p.withdraw(f.unsure)
		return o
	case ok:
		o.request.dir = f.dir
		o.request.identified = true
		o.request.clean = f.dir.dir.CleanShutdown()
	default:
		if d := t.place(m, !starting); d != nil {
			o.request.dir = d
			d.replicas++
		}
	}
	o.p = newPartition(t.env, &o.request)
	if o.request.dir == nil {
		o.p.withdraw(fmt.Errorf("%w: no log directory is online that may hold %s", ErrStorage, o.p.name))
	}
	return o
}

// openAll loads and recovers, in parallel within bounds, and then hands on the
// metadata. What fails is withdrawn.
func (t *Table) openAll(todo []*opening) {
	byPartition := make(map[*Partition]*opening, len(todo))
	parts := make([]*Partition, len(todo))
	for i, o := range todo {
		byPartition[o.p] = o
		parts[i] = o.p
	}
	var mu sync.Mutex
	failed := make(map[*hostDir]error)
	t.perDir(parts, func(p *Partition) {
		o := byPartition[p]
		err := t.create(o)
		if err == nil {
			err = p.open(&o.request)
		}
		if err == nil {
			return
		}
		t.env.log.Error("partition cannot be opened", "topic", p.topic, "partition", p.index, "err", err)
		p.withdraw(fmt.Errorf("%w: %s", ErrStorage, err))
		mu.Lock()
		defer mu.Unlock()
		p.dir.unopened = true
		switch {
		case vfs.OutOfDescriptors(err):
			t.env.shortOfDescriptors(p, err)
		case errors.Is(err, commitlog.ErrStorage):
			failed[p.dir] = err
		}
	})
	for d, err := range failed {
		t.dirFailed(d, err)
	}
	fresh := make(map[*hostDir][]*Partition)
	for _, o := range todo {
		if o.request.fresh && o.p.log != nil {
			fresh[o.p.dir] = append(fresh[o.p.dir], o.p)
		}
	}
	for d, ps := range fresh {
		t.work.start(func() { identifyAhead(d, ps) })
	}
	for _, o := range todo {
		o.p.applyMetadata(o.m, t.applying.brokers)
	}
}

// create makes the folder of a new replica. Its topic id is written here and
// made durable before the first record: until then an unreadable one costs
// nothing.
func (t *Table) create(o *opening) error {
	if o.request.identified {
		return nil
	}
	d := o.request.dir
	tp := commitlog.TopicPartition{Topic: o.p.topic, Partition: o.p.index}
	if m := d.dir.Marks().Get(tp); m.RecoveryPoint >= 0 || m.HighWatermark >= 0 || m.LogStartOffset >= 0 || m.CleanerOffset >= 0 {
		// Of an earlier topic of the same name, whose deletion was interrupted.
		if err := d.dir.Marks().Remove(tp); err != nil {
			return err
		}
	}
	path := filepath.Join(d.path, o.p.name)
	_, err := d.fs.Stat(path)
	o.request.fresh = errors.Is(err, fs.ErrNotExist)
	if err := d.fs.MkdirAll(path, 0o755); err != nil {
		return fmt.Errorf("create %s: %w: %w", path, ErrStorage, err)
	}
	f, err := d.fs.Create(filepath.Join(path, "partition.metadata"))
	if err == nil {
		_, err = f.WriteAt([]byte("version: 0\ntopic_id: "+o.p.topicID.String()), 0)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return fmt.Errorf("create %s: %w: %w", path, ErrStorage, err)
	}
	return nil
}

// setPartitions replaces a topic's partitions: without gone, with added.
func (t *Table) setPartitions(h *hosted, gone, added []*Partition) {
	t.mu.Lock()
	defer t.mu.Unlock()
	next := slices.Clone(h.partitions)
	for _, p := range gone {
		next[p.index] = nil
	}
	for _, p := range added {
		for int(p.index) >= len(next) {
			next = append(next, nil)
		}
		next[p.index] = p
	}
	h.partitions = next
}

// dropTopic removes a deleted topic's replicas.
func (t *Table) dropTopic(id metadata.TopicID) {
	t.mu.Lock()
	h := t.mu.byID[id]
	if h == nil {
		t.mu.Unlock()
		return
	}
	delete(t.mu.byID, id)
	if t.mu.byName[h.name] == h {
		delete(t.mu.byName, h.name)
	}
	t.mu.Unlock()
	t.removeReplicas(slices.DeleteFunc(slices.Clone(h.partitions), func(p *Partition) bool { return p == nil }))
}

// removeReplicas renames the folders of replicas that are no longer hosted and
// removes them later.
func (t *Table) removeReplicas(gone []*Partition) {
	marks := make(map[*hostDir][]commitlog.TopicPartition)
	for _, p := range gone {
		p.withdraw(ErrUnknownTopicOrPartition)
		if p.dir == nil {
			continue
		}
		p.dir.replicas--
		if p.log == nil {
			continue
		}
		p.mu.Lock()
		p.mu.closed = true
		p.mu.Unlock()
		tp := commitlog.TopicPartition{Topic: p.topic, Partition: p.index}
		to := filepath.Join(p.dir.path, commitlog.FolderName(tp, commitlog.FolderDeleted, uniqueID()))
		if err := p.log.MarkDeleted(to); err != nil {
			t.env.log.Error("partition folder cannot be set aside for deletion", "topic", p.topic, "partition", p.index, "err", err)
			_ = p.failure(err)
			continue
		}
		marks[p.dir] = append(marks[p.dir], tp)
		t.env.log.Info("partition deleted", "topic", p.topic, "partition", p.index, "folder", to)
		t.work.later(p.settings.Load().log.FileDeleteDelay, func() {
			if err := p.log.Delete(); err != nil {
				t.env.log.Warn("folder of a deleted partition stays", "folder", to, "err", err)
			}
		})
	}
	for d, tps := range marks {
		if err := d.dir.Marks().Remove(tps...); err != nil {
			t.dirFailed(d, err)
		}
	}
}

// reconfigureAll recomputes every topic's settings after a change of broker
// properties.
func (t *Table) reconfigureAll(img *metadata.Image) {
	t.mu.RLock()
	all := slices.Collect(maps.Values(t.mu.byID))
	t.mu.RUnlock()
	for _, h := range all {
		t.reconfigure(h, img)
	}
}

// reconfigureChanged follows changes of topic configurations.
func (t *Table) reconfigureChanged(old, img *metadata.Image) {
	for r := range metadata.ChangedConfigs(old, img) {
		if r.Type != metadata.TopicResource {
			continue
		}
		t.mu.RLock()
		h := t.mu.byName[r.Name]
		t.mu.RUnlock()
		if h == nil || h.settings.overrides == img.Configs(r) {
			continue
		}
		t.reconfigure(h, img)
	}
}

// reconfigure gives a topic the settings of the image. When they cannot be used
// it keeps those it has: no other topic, nor anything else in the image, may
// suffer for one.
func (t *Table) reconfigure(h *hosted, img *metadata.Image) {
	st, err := newSettings(topicConfigs(img, h.name), t.brokerConfig())
	if err != nil {
		t.env.log.Error("topic configuration cannot be used: the one before stays in force", "topic", h.name, "err", err)
		t.mu.Lock()
		h.unusable = true
		t.mu.Unlock()
		return
	}
	t.mu.Lock()
	h.settings, h.unusable = st, false
	partitions := h.partitions
	t.mu.Unlock()
	for _, p := range partitions {
		if p != nil {
			p.applySettings(st)
		}
	}
}

// regroup tells partitions with other replicas that a broker was fenced, came
// back or left; those that were opened just now know.
func (t *Table) regroup(img *metadata.Image, fresh map[*Partition]bool) {
	for _, p := range t.All() {
		if fresh[p] {
			continue
		}
		if m := img.Partition(p.topic, p.index); m != nil && len(m.Replicas) > 1 {
			p.applyMetadata(m, t.applying.brokers)
		}
	}
}

package metadata

// One encode and one decode per record type and version, in the order of the
// type numbers. A released version is never edited: add the next one.

func (*TermStart) version() uint16 { return 0 }

func (r *TermStart) encode(e *encoder) {
	e.uvarint(uint64(r.Term))
	e.varint(int64(r.Leader))
}

func decodeTermStart(d *decoder) Record {
	return &TermStart{Term: Term(d.uvarint()), Leader: BrokerID(d.int32())}
}

func (*Cluster) version() uint16 { return 0 }

func (r *Cluster) encode(e *encoder) { e.string(r.ClusterID) }

func decodeCluster(d *decoder) Record { return &Cluster{ClusterID: d.string()} }

func (*Feature) version() uint16 { return 0 }

func (r *Feature) encode(e *encoder) {
	e.string(r.Name)
	e.varint(int64(r.Level))
}

func decodeFeature(d *decoder) Record {
	return &Feature{Name: d.string(), Level: FeatureLevel(d.int16())}
}

func (*NewTopic) version() uint16 { return 0 }

func (r *NewTopic) encode(e *encoder) {
	e.uuid(UUID(r.ID))
	e.string(r.Name)
}

func decodeNewTopic(d *decoder) Record {
	return &NewTopic{ID: TopicID(d.uuid()), Name: d.string()}
}

func (*NewPartition) version() uint16 { return 0 }

func (r *NewPartition) encode(e *encoder) {
	e.uuid(UUID(r.TopicID))
	e.varint(int64(r.Index))
	encodePartition(e, &r.Partition)
}

func decodeNewPartition(d *decoder) Record {
	r := &NewPartition{TopicID: TopicID(d.uuid()), Index: d.int32()}
	decodePartition(d, &r.Partition)
	return r
}

// encodePartition is shared by NewPartition version 0 and snapshot format 1.
func encodePartition(e *encoder, p *Partition) {
	e.brokers(p.Replicas)
	e.dirs(p.Directories)
	e.brokers(p.ISR)
	e.brokers(p.ELR)
	e.brokers(p.LastKnownELR)
	e.brokers(p.Adding)
	e.brokers(p.Removing)
	e.varint(int64(p.Leader))
	e.varint(int64(p.LeaderEpoch))
	e.varint(int64(p.PartitionEpoch))
	e.varint(int64(p.Recovery))
}

func decodePartition(d *decoder, p *Partition) {
	p.Replicas = d.brokers()
	p.Directories = d.dirs()
	p.ISR = d.brokers()
	p.ELR = d.brokers()
	p.LastKnownELR = d.brokers()
	p.Adding = d.brokers()
	p.Removing = d.brokers()
	p.Leader = BrokerID(d.int32())
	p.LeaderEpoch = LeaderEpoch(d.int32())
	p.PartitionEpoch = PartitionEpoch(d.int32())
	p.Recovery = RecoveryState(d.int8())
}

func (*PartitionChange) version() uint16 { return 0 }

func (r *PartitionChange) encode(e *encoder) {
	e.uuid(UUID(r.TopicID))
	e.varint(int64(r.Index))
	e.varint(int64(r.ExpectedEpoch))
	e.bool(r.SetLeader)
	e.varint(int64(r.Leader))
	e.brokers(r.ISR)
	e.brokers(r.Replicas)
	e.brokers(r.Adding)
	e.brokers(r.Removing)
	e.brokers(r.ELR)
	e.brokers(r.LastKnownELR)
	e.dirs(r.Directories)
	e.bool(r.SetRecovery)
	e.varint(int64(r.Recovery))
}

func decodePartitionChange(d *decoder) Record {
	return &PartitionChange{
		TopicID: TopicID(d.uuid()), Index: d.int32(), ExpectedEpoch: PartitionEpoch(d.int32()),
		SetLeader: d.bool(), Leader: BrokerID(d.int32()),
		ISR: d.brokers(), Replicas: d.brokers(), Adding: d.brokers(), Removing: d.brokers(),
		ELR: d.brokers(), LastKnownELR: d.brokers(), Directories: d.dirs(),
		SetRecovery: d.bool(), Recovery: RecoveryState(d.int8()),
	}
}

func (*RemoveTopic) version() uint16 { return 0 }

func (r *RemoveTopic) encode(e *encoder) { e.uuid(UUID(r.ID)) }

func decodeRemoveTopic(d *decoder) Record { return &RemoveTopic{ID: TopicID(d.uuid())} }

func (*Config) version() uint16 { return 0 }

func (r *Config) encode(e *encoder) {
	e.varint(int64(r.Resource.Type))
	e.string(r.Resource.Name)
	e.string(r.Key)
	e.optionalString(r.Value)
}

func decodeConfig(d *decoder) Record {
	return &Config{
		Resource: Resource{Type: ResourceType(d.int8()), Name: d.string()},
		Key:      d.string(), Value: d.optionalString(),
	}
}

func (*RegisterBroker) version() uint16 { return 0 }

func (r *RegisterBroker) encode(e *encoder) { encodeBroker(e, &r.Broker) }

func decodeRegisterBroker(d *decoder) Record {
	r := &RegisterBroker{}
	decodeBroker(d, &r.Broker)
	return r
}

// encodeBroker is shared by RegisterBroker version 0 and snapshot format 1.
func encodeBroker(e *encoder, b *Broker) {
	e.varint(int64(b.ID))
	e.varint(int64(b.Epoch))
	e.uuid(UUID(b.IncarnationID))
	e.string(b.Rack)
	e.uvarint(uint64(len(b.Endpoints)))
	for _, p := range b.Endpoints {
		e.string(p.Name)
		e.string(p.Host)
		e.uvarint(uint64(p.Port))
		e.varint(int64(p.SecurityProtocol))
	}
	e.uvarint(uint64(len(b.Features)))
	for _, f := range b.Features {
		e.string(f.Name)
		e.varint(int64(f.Min))
		e.varint(int64(f.Max))
	}
	e.dirs(b.LogDirs)
	e.dirs(b.CordonedDirs)
	e.bool(b.Fenced)
	e.bool(b.InControlledShutdown)
}

func decodeBroker(d *decoder, b *Broker) {
	b.ID = BrokerID(d.int32())
	b.Epoch = BrokerEpoch(d.varint())
	b.IncarnationID = IncarnationID(d.uuid())
	b.Rack = d.string()
	if n := d.count(4); n > 0 {
		b.Endpoints = make([]Endpoint, n)
	}
	for i := range b.Endpoints {
		p := &b.Endpoints[i]
		p.Name = d.string()
		p.Host = d.string()
		port := d.uvarint()
		if port > 65535 {
			d.fail("port out of range")
		}
		p.Port = uint16(port)
		p.SecurityProtocol = SecurityProtocol(d.int16())
	}
	if n := d.count(3); n > 0 {
		b.Features = make([]SupportedFeature, n)
	}
	for i := range b.Features {
		b.Features[i] = SupportedFeature{Name: d.string(), Min: FeatureLevel(d.int16()), Max: FeatureLevel(d.int16())}
	}
	b.LogDirs = d.dirs()
	b.CordonedDirs = d.dirs()
	b.Fenced = d.bool()
	b.InControlledShutdown = d.bool()
}

func (*BrokerChange) version() uint16 { return 0 }

func (r *BrokerChange) encode(e *encoder) {
	e.varint(int64(r.ID))
	e.varint(int64(r.Epoch))
	e.optionalBool(r.Fenced)
	e.optionalBool(r.InControlledShutdown)
	e.dirs(r.LogDirs)
	e.dirs(r.CordonedDirs)
}

func decodeBrokerChange(d *decoder) Record {
	return &BrokerChange{
		ID: BrokerID(d.int32()), Epoch: BrokerEpoch(d.varint()),
		Fenced: d.optionalBool(), InControlledShutdown: d.optionalBool(),
		LogDirs: d.dirs(), CordonedDirs: d.dirs(),
	}
}

func (*UnregisterBroker) version() uint16 { return 0 }

func (r *UnregisterBroker) encode(e *encoder) {
	e.varint(int64(r.ID))
	e.varint(int64(r.Epoch))
}

func decodeUnregisterBroker(d *decoder) Record {
	return &UnregisterBroker{ID: BrokerID(d.int32()), Epoch: BrokerEpoch(d.varint())}
}

func (*ProducerIDs) version() uint16 { return 0 }

func (r *ProducerIDs) encode(e *encoder) {
	e.varint(int64(r.BrokerID))
	e.varint(int64(r.BrokerEpoch))
	e.varint(int64(r.Next))
}

func decodeProducerIDs(d *decoder) Record {
	return &ProducerIDs{BrokerID: BrokerID(d.int32()), BrokerEpoch: BrokerEpoch(d.varint()), Next: ProducerID(d.varint())}
}

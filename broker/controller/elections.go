package controller

import (
	"context"
	"slices"

	"github.com/weir-broker/weir/broker/metadata"
)

// electionKind is which replicas an election may choose.
type electionKind int

const (
	// electOnline keeps the leader if it may stay, else takes the first in-sync
	// replica.
	electOnline electionKind = iota
	// electPreferred wants the first replica.
	electPreferred
	// electUnclean takes any live replica before leaving a partition without a
	// leader; what only the lost in-sync replicas had is gone.
	electUnclean
)

// election is the state that an election looks at.
type election struct {
	partition  *metadata.Partition
	isr        []metadata.BrokerID // as it will be
	acceptable func(metadata.BrokerID) bool
	kind       electionKind
}

// elector returns an election for a partition of a topic among brokers that are
// acceptable. A replica whose log directory is offline is never acceptable; dirs
// are the online directories of a broker that is not registered with them yet.
func (s state) elector(topic string, p *metadata.Partition, isr []metadata.BrokerID, acceptable func(metadata.BrokerID) bool,
	dirs map[metadata.BrokerID][]metadata.DirID,
) election {
	return election{partition: p, isr: isr, kind: s.electionKind(topic), acceptable: func(id metadata.BrokerID) bool {
		if !acceptable(id) {
			return false
		}
		online, given := dirs[id]
		if b := s.image.Broker(id); !given && b != nil {
			online = b.LogDirs
		}
		dir := p.Directory(id)
		return dir == metadata.DirUnassigned || dir == metadata.DirMigrating || slices.Contains(online, dir)
	}}
}

// elect chooses the leader, NoLeader when nobody may lead.
func (e *election) elect() (leader metadata.BrokerID, unclean bool) {
	replicas := e.partition.Replicas
	if e.kind == electPreferred && e.eligible(replicas[0]) {
		return replicas[0], false
	}
	if e.eligible(e.partition.Leader) {
		return e.partition.Leader, false
	}
	if i := slices.IndexFunc(replicas, e.eligible); i >= 0 {
		return replicas[i], false
	}
	if e.kind == electUnclean {
		if i := slices.IndexFunc(replicas, e.acceptable); i >= 0 {
			return replicas[i], true
		}
	}
	return metadata.NoLeader, false
}

// eligible reports whether a replica may lead without losing anything.
func (e *election) eligible(id metadata.BrokerID) bool {
	return slices.Contains(e.isr, id) && e.acceptable(id)
}

// change is the record for the election's outcome, nil when nothing changes. An
// ISR never becomes empty: its last members stay in it, since one of them must
// lead next.
func (e *election) change(id metadata.TopicID, index int32) metadata.Record {
	p := e.partition
	r := &metadata.PartitionChange{TopicID: id, Index: index, ExpectedEpoch: p.PartitionEpoch}
	leader, unclean := e.elect()
	changed := false
	if leader != p.Leader {
		r.SetLeader, r.Leader, changed = true, leader, true
		if unclean {
			r.ISR = []metadata.BrokerID{leader}
			if p.Recovery != metadata.Recovering {
				r.SetRecovery, r.Recovery = true, metadata.Recovering
			}
		}
	}
	if r.ISR == nil && len(e.isr) > 0 && !slices.Equal(e.isr, p.ISR) {
		r.ISR, changed = e.isr, true
	}
	if !changed {
		return nil
	}
	return r
}

// brokerGone returns the changes to every partition that broker id is in sync
// for or leads, now that it is not active any more.
func (s state) brokerGone(id metadata.BrokerID) []metadata.Record {
	acceptable := func(b metadata.BrokerID) bool { return b != id && s.active(b) }
	return s.reelect(acceptable, func(p *metadata.Partition) ([]metadata.BrokerID, bool) {
		return withoutBroker(p.ISR, id), p.InISR(id)
	})
}

// dirsGone is brokerGone for the partitions that a broker has in directories
// that went offline.
func (s state) dirsGone(id metadata.BrokerID, dirs []metadata.DirID) []metadata.Record {
	acceptable := func(b metadata.BrokerID) bool { return b != id && s.active(b) }
	return s.reelect(acceptable, func(p *metadata.Partition) ([]metadata.BrokerID, bool) {
		return withoutBroker(p.ISR, id), p.InISR(id) && slices.Contains(dirs, p.Directory(id))
	})
}

func withoutBroker(ids []metadata.BrokerID, id metadata.BrokerID) []metadata.BrokerID {
	rest := make([]metadata.BrokerID, 0, len(ids))
	for _, b := range ids {
		if b != id {
			rest = append(rest, b)
		}
	}
	return rest
}

// brokerBack returns the changes to every partition without a leader, now that
// broker id is active.
func (s state) brokerBack(id metadata.BrokerID) []metadata.Record {
	acceptable := func(b metadata.BrokerID) bool { return b == id || s.active(b) }
	return s.reelect(acceptable, func(p *metadata.Partition) ([]metadata.BrokerID, bool) {
		return p.ISR, p.Leader == metadata.NoLeader
	})
}

// brokerReplaced returns the changes to every partition that an earlier process
// of broker id led, was in sync for or could lead, when the new one is active at
// once. Its log may have lost what the operating system had not written. So
// where another replica is in sync, that one leads and this one has to catch up
// first; where there is none, it leads in a new epoch, as if it had been away and
// elected again.
func (s state) brokerReplaced(id metadata.BrokerID, dirs []metadata.DirID) []metadata.Record {
	online := map[metadata.BrokerID][]metadata.DirID{id: dirs}
	others := func(b metadata.BrokerID) bool { return b != id && s.active(b) }
	all := func(b metadata.BrokerID) bool { return b == id || s.active(b) }
	var records []metadata.Record
	for _, t := range s.image.Topics() {
		for index, p := range t.Partitions() {
			if !p.InISR(id) && p.Leader != metadata.NoLeader {
				continue
			}
			e := s.elector(t.Name, p, withoutBroker(p.ISR, id), others, online)
			if !slices.ContainsFunc(p.ISR, e.eligible) {
				e = s.elector(t.Name, p, p.ISR, all, online)
			}
			if r := e.change(t.ID, index); r != nil {
				records = append(records, r)
			} else if p.Leader == id {
				records = append(records, &metadata.PartitionChange{
					TopicID: t.ID, Index: index, ExpectedEpoch: p.PartitionEpoch, SetLeader: true, Leader: id,
				})
			}
		}
	}
	return records
}

// reelect walks all partitions and holds an election where target says so, for
// the ISR that it returns.
func (s state) reelect(acceptable func(metadata.BrokerID) bool,
	target func(*metadata.Partition) (isr []metadata.BrokerID, affected bool),
) []metadata.Record {
	var records []metadata.Record
	for _, t := range s.image.Topics() {
		for index, p := range t.Partitions() {
			isr, affected := target(p)
			if !affected {
				continue
			}
			e := s.elector(t.Name, p, isr, acceptable, nil)
			if r := e.change(t.ID, index); r != nil {
				records = append(records, r)
			}
		}
	}
	return records
}

const uncleanElectionKey = "unclean.leader.election.enable"

// electionKind is unclean where the topic's configuration allows that.
func (s state) electionKind(topic string) electionKind {
	for _, r := range []metadata.Resource{topicResource(topic), brokerResource(s.nodeID), {Type: metadata.BrokerResource}} {
		if v, set := s.image.Configs(r).Get(uncleanElectionKey); set {
			return kindOf(v)
		}
	}
	return s.staticElection
}

func kindOf(value string) electionKind {
	if value == "true" {
		return electUnclean
	}
	return electOnline
}

// ElectLeaders holds elections. With All, partitions that need none are left out
// of the results.
func (c *Controller) ElectLeaders(ctx context.Context, req ElectLeadersRequest) ([]ElectLeaderResult, error) {
	var results []ElectLeaderResult
	err := c.submit(ctx, func(s state) []metadata.Record {
		var records []metadata.Record
		records, results = s.electLeaders(req)
		return records
	})
	if err != nil {
		return nil, err
	}
	return results, nil
}

func (s state) electLeaders(req ElectLeadersRequest) ([]metadata.Record, []ElectLeaderResult) {
	partitions := req.Partitions
	if req.All {
		partitions = nil
		for name, t := range s.image.Topics() {
			for index := range t.Partitions() {
				partitions = append(partitions, TopicPartition{name, index})
			}
		}
	}
	var records []metadata.Record
	var results []ElectLeaderResult
	done := make(map[TopicPartition]bool, len(partitions))
	for _, tp := range partitions {
		if done[tp] {
			continue
		}
		done[tp] = true
		r, err := s.electLeader(tp, req.Type)
		if r != nil {
			records = append(records, r)
		}
		if !req.All || err == nil || err.Kind != ElectionNotNeeded {
			results = append(results, ElectLeaderResult{TopicPartition: tp, Err: err})
		}
	}
	return records, results
}

func (s state) electLeader(tp TopicPartition, typ ElectionType) (metadata.Record, *Error) {
	t := s.image.Topic(tp.Topic)
	if t == nil {
		return nil, errorf(UnknownTopicOrPartition, "No such topic as %s", tp.Topic)
	}
	p := t.Partition(tp.Index)
	if p == nil {
		return nil, errorf(UnknownTopicOrPartition, "No such partition as %s-%d", tp.Topic, tp.Index)
	}
	e := s.elector(t.Name, p, p.ISR, s.active, nil)
	switch {
	case typ == PreferredElection && p.Leader == p.Replicas[0], typ == UncleanElection && p.Leader != metadata.NoLeader:
		return nil, &Error{Kind: ElectionNotNeeded}
	case typ == UncleanElection:
		e.kind = electUnclean
	case typ == PreferredElection:
		e.kind = electPreferred
	default:
		return nil, errorf(InvalidRequest, "Unknown election type %d", int(typ))
	}
	if r := e.change(t.ID, tp.Index); r != nil {
		return r, nil
	}
	if typ == PreferredElection {
		return nil, &Error{Kind: PreferredLeaderNotAvailable}
	}
	return nil, &Error{Kind: EligibleLeadersNotAvailable}
}

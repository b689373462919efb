package controller

import (
	"context"
	"slices"

	"github.com/weir-broker/weir/broker/metadata"
)

// AssignReplicasToDirs records the log directories of a broker's replicas, so
// that they lose their leadership when their directory does. It returns one error
// or nil for each replica, in the request's order; the error is an *Error when
// the whole request is refused.
func (c *Controller) AssignReplicasToDirs(ctx context.Context, req AssignReplicasToDirs) ([]*Error, error) {
	var results []*Error
	var refused *Error
	err := c.submit(ctx, func(s state) []metadata.Record {
		var records []metadata.Record
		records, results, refused = s.assignReplicasToDirs(req)
		return records
	})
	return results, oneError(err, refused)
}

func (s state) assignReplicasToDirs(req AssignReplicasToDirs) ([]metadata.Record, []*Error, *Error) {
	b, err := s.registration(req.ID, req.Epoch)
	if err != nil {
		return nil, nil, err
	}
	type replica struct {
		topic metadata.TopicID
		index int32
	}
	done := make(map[replica]bool, len(req.Replicas))
	results := make([]*Error, len(req.Replicas))
	var records []metadata.Record
	for i, a := range req.Replicas {
		t := s.image.TopicByID(a.TopicID)
		if t == nil {
			results[i] = &Error{Kind: UnknownTopicID}
			continue
		}
		p := t.Partition(a.Index)
		switch {
		case p == nil:
			results[i] = &Error{Kind: UnknownTopicOrPartition}
		case !p.IsReplica(b.ID):
			results[i] = &Error{Kind: NotLeaderOrFollower}
		case done[replica{a.TopicID, a.Index}]:
			results[i] = errorf(InvalidRequest, "Duplicate replica assignment.")
		default:
			done[replica{a.TopicID, a.Index}] = true
			if r := s.assignReplica(t, a.Index, b, a.Dir); r != nil {
				records = append(records, r)
			}
		}
	}
	return records, results, nil
}

// assignReplica is the change that puts a replica into a directory. In one that
// is offline by now it can neither lead nor be in sync; found in one that is
// online, it may lead again.
func (s state) assignReplica(t *metadata.Topic, index int32, b *metadata.Broker, dir metadata.DirID) metadata.Record {
	p := t.Partition(index)
	if p.Directory(b.ID) == dir {
		return nil
	}
	dirs := make([]metadata.DirID, len(p.Replicas))
	for i, id := range p.Replicas {
		dirs[i] = p.Directory(id)
		if id == b.ID {
			dirs[i] = dir
		}
	}
	moved := *p
	moved.Directories = dirs
	isr := p.ISR
	if !slices.Contains(b.LogDirs, dir) {
		isr = withoutBroker(isr, b.ID)
	}
	e := s.elector(t.Name, &moved, isr, s.active, nil)
	change, elected := e.change(t.ID, index).(*metadata.PartitionChange)
	if !elected {
		change = &metadata.PartitionChange{TopicID: t.ID, Index: index, ExpectedEpoch: p.PartitionEpoch}
	}
	change.Directories = dirs
	return change
}

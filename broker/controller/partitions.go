package controller

import (
	"context"
	"slices"

	"github.com/weir-broker/weir/broker/metadata"
)

// CreatePartitions raises the number of partitions of topics, each on its own.
func (c *Controller) CreatePartitions(ctx context.Context, req CreatePartitionsRequest) ([]CreatePartitionsResult, error) {
	var results []CreatePartitionsResult
	err := c.submit(ctx, func(s state) []metadata.Record {
		var records []metadata.Record
		records, results = s.createPartitions(req)
		return records
	})
	if err != nil {
		return nil, err
	}
	return results, nil
}

func (s state) createPartitions(req CreatePartitionsRequest) ([]metadata.Record, []CreatePartitionsResult) {
	count := make(map[string]int, len(req.Topics))
	for i := range req.Topics {
		count[req.Topics[i].Name]++
	}
	var records []metadata.Record
	results := make([]CreatePartitionsResult, 0, len(req.Topics))
	for i := range req.Topics {
		t := &req.Topics[i]
		result := CreatePartitionsResult{Name: t.Name}
		switch n := count[t.Name]; {
		case n < 0:
			continue
		case n > 1:
			count[t.Name] = -1
			result.Err = errorf(InvalidRequest, "Duplicate topic name.")
		default:
			var added []metadata.Record
			added, result.Err = s.addPartitions(t)
			records = append(records, added...)
		}
		results = append(results, result)
	}
	if req.ValidateOnly {
		return nil, results
	}
	return records, results
}

func (s state) addPartitions(req *CreatePartitions) ([]metadata.Record, *Error) {
	t := s.image.Topic(req.Name)
	if t == nil {
		return nil, &Error{Kind: UnknownTopicOrPartition}
	}
	have := t.PartitionCount()
	switch {
	case req.Count == have:
		return nil, errorf(InvalidPartitions, "Topic already has %d partition(s).", have)
	case req.Count < have:
		return nil, errorf(InvalidPartitions, "The topic %s currently has %d partition(s); %d would not be an increase.",
			req.Name, have, req.Count)
	}
	additional := req.Count - have
	if req.Assignments != nil && len(req.Assignments) != int(additional) {
		return nil, errorf(InvalidReplicaAssignment, "Attempted to add %d additional partition(s), but only %d assignment(s) were specified.",
			additional, len(req.Assignments))
	}
	if additional > maxPartitionsPerCall {
		return nil, errorf(PolicyViolation, "Excessively large number of partitions per request.")
	}
	factor := int(t.ReplicationFactor())
	placed := req.Assignments
	if placed == nil {
		var err *Error
		if placed, err = s.place(int(additional), factor); err != nil {
			return nil, err
		}
	}
	records := make([]metadata.Record, 0, len(placed))
	for i, replicas := range placed {
		index := have + int32(i)
		if req.Assignments != nil {
			if err := s.checkAssignment(replicas, factor); err != nil {
				return nil, err
			}
		}
		isr := s.activeOf(replicas)
		switch {
		case len(isr) == 0 && req.Assignments != nil:
			return nil, allInactive(index)
		case len(isr) == 0:
			return nil, errorf(InvalidReplicationFactor, "Unable to replicate the partition %d time(s): "+
				"All brokers are currently fenced or in controlled shutdown.", factor)
		}
		records = append(records, &metadata.NewPartition{TopicID: t.ID, Index: index, Partition: s.newPartition(replicas, isr)})
	}
	return records, nil
}

// checkAssignment says what is wrong with replicas placed by hand. factor is the
// number of replicas that the partitions before it have, -1 for the first.
func (s state) checkAssignment(replicas []metadata.BrokerID, factor int) *Error {
	const prefix = "The manual partition assignment includes "
	if len(replicas) == 0 {
		return errorf(InvalidReplicaAssignment, prefix+"an empty replica list.")
	}
	sorted := slices.Sorted(slices.Values(replicas))
	for i, id := range sorted {
		b := s.image.Broker(id)
		switch {
		case b == nil:
			return errorf(InvalidReplicaAssignment, prefix+"broker %d, but no such broker is registered.", id)
		case !uncordoned(b):
			return errorf(InvalidReplicaAssignment, prefix+"broker %d, but all its log directories are cordoned.", id)
		case i > 0 && sorted[i-1] == id:
			return errorf(InvalidReplicaAssignment, prefix+"the broker %d more than once.", id)
		}
	}
	if factor >= 0 && len(sorted) != factor {
		return errorf(InvalidReplicaAssignment, prefix+"a partition with %d replica(s), but this is not consistent "+
			"with previous partitions, which have %d replica(s).", len(sorted), factor)
	}
	return nil
}

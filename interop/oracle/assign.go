//go:build interop

package oracle

import (
	"context"
	"fmt"
	"slices"
)

// AssignRequest is a consumer group that a server-side assignor is asked for.
type AssignRequest struct {
	Assignor    string // "uniform" or "range"
	Homogeneous bool   // Kafka's subscription type
	Topics      []AssignTopic
	Members     []AssignMember // in the order in which Kafka is to walk them
	Racks       []string
	// Previous is the last target: partitions are numbered through all topics, an owner is a member's index, -1 none.
	Previous []int32
	// PartitionRacks is by partition number the indexes of racks; nil when there are none.
	PartitionRacks [][]int32
}

// AssignTopic is a topic of the cluster.
type AssignTopic struct {
	ID         [16]byte
	Partitions int32
}

// AssignMember is a member of the group.
type AssignMember struct {
	ID, InstanceID string  // without instance id when empty
	Rack           int32   // index of a rack, -1 none
	Topics         []int32 // indexes of topics
}

// AssignResult is the assignor's answer.
type AssignResult struct {
	Owners         []int32 // as AssignRequest.Previous; nil when the assignor threw
	Class, Message string  // of the exception
}

// Assign asks one of Kafka's server-side assignors for a target assignment.
func (o *Oracle) Assign(ctx context.Context, q AssignRequest) (AssignResult, error) {
	var w writer
	switch q.Assignor {
	case "uniform":
		w.i8(0)
	case "range":
		w.i8(1)
	default:
		return AssignResult{}, fmt.Errorf("oracle: no assignor %q", q.Assignor)
	}
	w.bool(q.Homogeneous)
	w.i32(int32(len(q.Topics)))
	for _, t := range q.Topics {
		w.b = append(w.b, t.ID[:]...)
		w.i32(t.Partitions)
	}
	w.i32(int32(len(q.Racks)))
	for _, rack := range q.Racks {
		w.str(rack)
	}
	w.i32(int32(len(q.Members)))
	for i, m := range q.Members {
		w.str(m.ID)
		w.str(m.InstanceID)
		w.i32(m.Rack)
		if i > 0 && slices.Equal(m.Topics, q.Members[i-1].Topics) {
			w.i32(-1)
			continue
		}
		w.i32(int32(len(m.Topics)))
		for _, t := range m.Topics {
			w.i32(t)
		}
	}
	for _, owner := range q.Previous {
		w.i32(owner)
	}
	w.bool(q.PartitionRacks != nil)
	for _, racks := range q.PartitionRacks {
		w.i8(int8(len(racks)))
		for _, rack := range racks {
			w.i32(rack)
		}
	}
	b, err := o.call(ctx, opAssign, w.b)
	if err != nil {
		return AssignResult{}, err
	}
	r := reader{b: b}
	if r.i8() != 0 {
		return AssignResult{Class: r.str(), Message: r.str()}, r.err
	}
	owners := make([]int32, len(q.Previous))
	for p := range owners {
		owners[p] = r.i32()
	}
	return AssignResult{Owners: owners}, r.err
}

//go:build interop

package oracle

import "context"

// What a GroupStep does instead of a request.
const (
	GroupCrash        int16 = -1 // the shard is dropped and loaded from its records
	GroupNothing      int16 = -2 // time passes
	GroupCommitTxn    int16 = -3 // the transaction of producer Version ends
	GroupAbortTxn     int16 = -4
	GroupTopicDeleted int16 = -5 // the topic named ClientID, with id 1, 2 in its halves, is gone
	// GroupTopics: the topics in Request, written name=partitions/id with commas between, are those of a new image, of index
	// Version. A topic has the number as the second half of its id; three brokers are in the racks r0, r1 and none, and
	// partition p has its replica on p modulo 3.
	GroupTopics int16 = -6
	GroupConfig int16 = -7 // the group named ClientID has the configuration in Request, as a properties file has it
)

// GroupStep is a request to a group coordinator's shard after some time has passed.
type GroupStep struct {
	AdvanceMs    int32
	Key, Version int16
	ClientID     string
	Request      []byte // body; member ids as GroupUUID has them
}

// GroupRecord is a record that the shard appended; a nil value is a tombstone.
type GroupRecord struct{ Key, Value []byte }

// GroupAnswer answers the request of a step, perhaps in a later one.
type GroupAnswer struct {
	Step int32
	Body []byte
}

// GroupStepResult is what came of a step.
type GroupStepResult struct {
	Records []GroupRecord
	Answers []GroupAnswer
}

// Groups plays requests on a fresh shard of Kafka's group coordinator, of classic and consumer groups, that starts at a time
// and with properties of the coordinator. What the shard has another thread do is done right after the request. The random part of each member id is exchanged for one that names the step which made
// it: "00000000-0000-0000-0000-" and its number in 12 digits.
func (o *Oracle) Groups(ctx context.Context, nowMs int64, props map[string]string, steps []GroupStep) ([]GroupStepResult, error) {
	var w writer
	w.i64(nowMs)
	w.i32(int32(len(props)))
	for k, v := range props {
		w.str(k)
		w.str(v)
	}
	w.i32(int32(len(steps)))
	for _, s := range steps {
		w.i32(s.AdvanceMs)
		w.i16(s.Key)
		w.i16(s.Version)
		w.str(s.ClientID)
		w.bytes(s.Request)
	}
	payload, err := o.call(ctx, opGroups, w.b)
	if err != nil {
		return nil, err
	}
	r := reader{b: payload}
	results := make([]GroupStepResult, len(steps))
	for i := range results {
		for n := r.i32(); n > 0 && r.err == nil; n-- {
			results[i].Records = append(results[i].Records, GroupRecord{Key: r.bytes(), Value: r.bytes()})
		}
		for n := r.i32(); n > 0 && r.err == nil; n-- {
			results[i].Answers = append(results[i].Answers, GroupAnswer{Step: r.i32(), Body: r.bytes()})
		}
	}
	return results, r.err
}

// GroupRecordResult is a record as Kafka's serde writes it after reading it, or the error of reading.
type GroupRecordResult struct {
	GroupRecord
	Text           string // how Kafka prints it
	Class, Message string // of the exception
}

// GroupRecord has Kafka's GroupCoordinatorRecordSerde read a record of __consumer_offsets and write it again.
func (o *Oracle) GroupRecord(ctx context.Context, rec GroupRecord) (GroupRecordResult, error) {
	var w writer
	w.bytes(rec.Key)
	w.bool(rec.Value != nil)
	if rec.Value != nil {
		w.bytes(rec.Value)
	}
	payload, err := o.call(ctx, opGroupRecord, w.b)
	if err != nil {
		return GroupRecordResult{}, err
	}
	r := reader{b: payload}
	var out GroupRecordResult
	if r.i8() == 0 {
		out.Key, out.Value, out.Text = r.bytes(), r.bytes(), r.str()
	} else {
		out.Class, out.Message = r.str(), r.str()
	}
	return out, r.err
}

package policy

import "context"

// Compaction decides which records of a compacted log stay. Each replica asks it for itself while it cleans, so the
// verdict has to be the same for the same rows, arguments and time. An error keeps everything and ends the round.
//
// The host alone decides what is no record of a user's: markers of transactions, records of aborted ones, and what
// lies beyond the part of the log that may be cleaned; and it keeps each tombstone until its delete horizon.
type Compaction interface {
	// Needs says what a row has to carry beside its numbers. It is asked once per round.
	Needs() CompactionNeeds
	// Decide fills one verdict for each row. The rows, and what they point to, are valid during the call only.
	Decide(ctx context.Context, facts CompactionFacts, rows []CompactionRow, verdicts []CompactionVerdict) error
}

// CompactionNeeds are the facts that cost something to gather.
type CompactionNeeds struct {
	// Keys asks for the bytes of the keys.
	Keys bool
	// Headers are the record headers to fill in, by key.
	Headers []string
}

// CompactionNewerCap is the largest CompactionRow.Newer: the host knows whether there is a newer version of a key
// below the end of the round, not how many.
const CompactionNewerCap = 1

// CompactionFacts is what all rows of a call share.
type CompactionFacts struct {
	Topic     string
	Partition int32
	// Now is the time of the round, in milliseconds since 1970.
	Now int64
	// Args is the topic's weir.compaction.args, empty for the twin.
	Args string
}

// CompactionRow is one record as a compaction policy sees it.
type CompactionRow struct {
	Offset    int64
	Timestamp int64 // ms, -1 without one
	// Keyed is whether the record has a key; Key is filled if Needs asked for it.
	Keyed bool
	Key   []byte
	// ValueLength is in bytes; -1 is a null value, which marks the key as deleted.
	ValueLength int32
	// Newer is how many newer records of the key there are, at most CompactionNewerCap.
	Newer int32
	// Headers are the values of the headers that Needs named, in that order: of the last one of each key, nil if there
	// is none or it is null.
	Headers [][]byte
}

// Tombstone is whether the record deletes its key.
func (r *CompactionRow) Tombstone() bool { return r.ValueLength < 0 }

// CompactionAction is what happens to one record.
type CompactionAction uint8

// The actions. The zero value keeps.
const (
	CompactionKeep CompactionAction = iota
	CompactionDrop
	// CompactionKeepUntil keeps the record while Now is before Until, and drops it from then on.
	CompactionKeepUntil
)

// CompactionVerdict is the answer for one row.
type CompactionVerdict struct {
	Action CompactionAction
	Until  int64 // ms since 1970, for CompactionKeepUntil
}

// Keeps is whether the record stays at now, in milliseconds.
func (v CompactionVerdict) Keeps(now int64) bool {
	switch v.Action {
	case CompactionDrop:
		return false
	case CompactionKeepUntil:
		return now < v.Until
	}
	return true
}

// StandardCompaction returns Kafka's rule: the newest record of each key stays, older ones and records without a key
// go.
func StandardCompaction() Compaction { return standardCompaction{} }

type standardCompaction struct{}

var _ Compaction = standardCompaction{}

func (standardCompaction) Needs() CompactionNeeds { return CompactionNeeds{} }

func (standardCompaction) Decide(_ context.Context, _ CompactionFacts, rows []CompactionRow, verdicts []CompactionVerdict) error {
	for i := range rows {
		verdicts[i] = CompactionVerdict{}
		if r := &rows[i]; !r.Keyed || r.Newer > 0 {
			verdicts[i].Action = CompactionDrop
		}
	}
	return nil
}

package partition

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weir-broker/weir/broker/batch"
	"github.com/weir-broker/weir/broker/commitlog"
)

// cleaning is what a replica has to do with the cleaner.
type cleaning struct {
	// turn is held by a round, and by retention: a round whose segments are
	// deleted is lost.
	turn  sync.Mutex
	state atomic.Pointer[CleaningState]
}

// CleaningState is how the compaction of one replica goes.
type CleaningState struct {
	Topic     string
	Partition int32
	// Offset is the first one that no round has seen, -1 before the first.
	Offset batch.Offset
	// DirtyBytes of the log wait for a round, DirtyRatio is their share.
	DirtyBytes int64
	DirtyRatio float64
	// LastRound is when a round ended well, zero before the first.
	LastRound time.Time
	// Err is why the last round failed, at FailedAt; nil when it did not.
	Err      error
	FailedAt time.Time
	// Uncleanable is set when trying again is no use: the records are damaged.
	// It lasts until the broker starts again.
	Uncleanable bool
}

// Cleaning says how the compaction of the replica goes; false for one that is
// not compacted.
func (p *Partition) Cleaning() (CleaningState, bool) {
	if p.log == nil || p.status.Load().err != nil || !p.Config().Compact {
		return CleaningState{}, false
	}
	st := p.cleaningState()
	if found, err := p.cleanable(p.env.now()); err == nil {
		st.DirtyBytes, st.DirtyRatio = found.DirtyBytes, found.Ratio()
	}
	st.Topic, st.Partition, st.Offset = p.topic, p.index, p.cleanerOffset()
	return st, true
}

func (p *Partition) cleaningState() CleaningState {
	if st := p.cleaning.state.Load(); st != nil {
		return *st
	}
	return CleaningState{}
}

func (p *Partition) topicPartition() commitlog.TopicPartition {
	return commitlog.TopicPartition{Topic: p.topic, Partition: p.index}
}

func (p *Partition) cleanerOffset() batch.Offset {
	return p.dir.dir.Marks().Get(p.topicPartition()).CleanerOffset
}

// setCleanerOffset notes where the next round begins, unless the log was
// truncated since; the disk hears of it by the next flush of marks. Losing it
// costs a round over everything.
func (p *Partition) setCleanerOffset(o batch.Offset, truncations int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.mu.closed && p.log.Truncations() == truncations {
		p.dir.dir.Marks().SetCleanerOffset(p.topicPartition(), o)
	}
}

// truncateCleanerOffset has what comes in the place of truncated records
// cleaned as well. It is called under the append lock.
func (p *Partition) truncateCleanerOffset(to batch.Offset) {
	if p.cleanerOffset() > to {
		p.dir.dir.Marks().SetCleanerOffset(p.topicPartition(), to)
	}
}

// cleanable is what there is to clean at now.
func (p *Partition) cleanable(now time.Time) (commitlog.Cleanable, error) {
	c := p.Config()
	return p.log.Cleanable(commitlog.CleanQuery{
		Checkpoint: p.cleanerOffset(), LastStable: p.LastStableOffset(),
		MinLag: c.MinCompactionLag, MaxLag: c.MaxCompactionLag, Now: now,
	})
}

// clean does one round. The caller holds the replica's turn.
func (p *Partition) clean(ctx context.Context, c *commitlog.Cleaner, found commitlog.Cleanable, now time.Time) (commitlog.CleanResult, error) {
	conf := p.Config()
	res, err := c.Clean(ctx, p.log, commitlog.CleanJob{
		Topic: p.topic, Partition: p.index, From: found.From, To: found.To,
		HighWatermark: p.HighWatermark(), Now: now, DeleteRetention: conf.DeleteRetention,
		Producers: p.lastRecords,
		Limits:    batch.Limits{Record: max(batch.DefaultRecordLimit, 2*int(conf.MaxMessageBytes))},
	})
	p.dropSnapshots()
	st := p.cleaningState()
	switch {
	case err == nil:
		p.setCleanerOffset(res.To, res.Truncations)
		st = CleaningState{LastRound: now}
	case gone(err):
		return res, err
	case errors.Is(err, commitlog.ErrStorage):
		err = p.failure(err)
		st.Err, st.FailedAt = err, now
	default:
		st.Err, st.FailedAt = err, now
		st.Uncleanable = damaged(err)
	}
	p.cleaning.state.Store(&st)
	return res, err
}

// gone is whether a round ended because its log changed or goes away.
func gone(err error) bool {
	return errors.Is(err, commitlog.ErrCleaningAborted) || errors.Is(err, commitlog.ErrClosed) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// damaged is whether a round would fail for ever.
func damaged(err error) bool {
	for _, kind := range []error{batch.ErrCorrupt, batch.ErrTruncated, batch.ErrInvalidRecord, batch.ErrUndecodable, batch.ErrTooLarge, batch.ErrUnsupportedCodec} {
		if errors.Is(err, kind) {
			return true
		}
	}
	return false
}

// lastRecords is what the log end knows of the active producers.
func (p *Partition) lastRecords() map[batch.ProducerID]commitlog.LastRecord {
	p.mu.Lock()
	producers := p.mu.producers.Producers()
	p.mu.Unlock()
	last := make(map[batch.ProducerID]commitlog.LastRecord, len(producers))
	for i := range producers {
		last[producers[i].ID] = commitlog.LastRecord{LastOffset: producers[i].LastOffset, Epoch: producers[i].Epoch}
	}
	return last
}

// newCleaner makes the means of one of the broker's cleaners.
func (t *Table) newCleaner(threads int, dedupe int64, load float64, ioBuffer int) (*commitlog.Cleaner, error) {
	c, err := commitlog.NewCleaner(commitlog.CleanerOptions{
		MapBytes: dedupe / int64(threads), MapLoad: load, BufferBytes: ioBuffer / threads,
		Throttle: t.cleaners.throttle, Policy: t.options.Compaction,
	})
	if err != nil {
		return nil, fmt.Errorf("log cleaner: %w", err)
	}
	return c, nil
}

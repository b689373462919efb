package partition

import (
	"fmt"
	"math"
	"path/filepath"
	"sync"

	"github.com/weir-broker/weir/broker/batch"
	"github.com/weir-broker/weir/broker/commitlog"
	"github.com/weir-broker/weir/broker/policy"
	"github.com/weir-broker/weir/broker/vfs"
)

// Append validates one batch, assigns its offsets and writes it. When Acks is
// AcksAll, wait for AckState of LastOffset + 1.
//
// Errors: ErrNotLeader, ErrFencedLeaderEpoch, ErrUnknownLeaderEpoch,
// ErrNotEnoughReplicas, ErrBatchLargerThanSegment, ErrStorage, those of the
// producer check, and those of batch.Validate. After any of them but
// ErrStorage nothing of the batch is in the log; after that one the directory
// is out of service, and what it holds is seen at the next start, unless only
// a file descriptor was lacking: then it may be in the log, not flushed.
func (p *Partition) Append(r AppendRequest) (AppendResult, error) {
	result, err := p.lockedAppend(&r)
	if err != nil {
		return AppendResult{}, p.failure(err)
	}
	if !result.Duplicate {
		p.waiters.wake()
	}
	conf := p.settings.Load()
	if conf.log.FlushMessages < math.MaxInt64 && p.log.FlushDue(p.env.now()) {
		// flush.messages is a promise to whoever gets the answer.
		if r.FlushLater {
			result.FlushDue = true
		} else if err := p.Flush(result.LastOffset + 1); err != nil {
			return AppendResult{}, err
		}
	}
	if r.Acks == AcksAll && conf.flushAcks {
		p.flushTo(result.LastOffset + 1)
	}
	return result, nil
}

// Flush makes everything below next durable. Appends that come while it runs
// share the flush after this one. The error is ErrStorage; for want of a file
// descriptor it may be tried again.
func (p *Partition) Flush(next batch.Offset) error {
	if err := p.log.Flush(next); err != nil {
		return p.failure(err)
	}
	return nil
}

// lockedAppend gives the append lock back even if a bug panics over what a client sent: that ends the client's connection,
// and must not end the partition for all others.
func (p *Partition) lockedAppend(r *AppendRequest) (AppendResult, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.appendLocked(r)
}

func (p *Partition) appendLocked(r *AppendRequest) (AppendResult, error) {
	st := p.status.Load()
	if err := st.check(r.CurrentLeaderEpoch, true); err != nil {
		return AppendResult{}, err
	}
	s := &p.mu.isr
	if r.Acks == AcksAll && s.underMinISR() {
		return AppendResult{}, fmt.Errorf("%w: %d, at least %d are asked for", ErrNotEnoughReplicas, len(s.committed), s.effectiveMinISR())
	}
	if !p.mu.identified {
		if err := p.identify(true); err != nil {
			return AppendResult{}, err
		}
	}

	conf := p.settings.Load()
	now := p.env.now()
	options := conf.validate
	options.NextOffset = s.logEnd
	options.LeaderEpoch = st.epoch
	options.Now = now.UnixMilli()
	options.Origin = r.Origin
	options.TopicPartition = p.name
	valid, err := batch.Validate(r.Raw, options)
	if err != nil {
		return AppendResult{}, err
	}
	if len(valid.Raw) > conf.log.SegmentBytes {
		return AppendResult{}, fmt.Errorf("%w: %d bytes, segment.bytes is %d", ErrBatchLargerThanSegment, len(valid.Raw), conf.log.SegmentBytes)
	}
	p.mu.header[0] = valid.Header
	h := &p.mu.header[0]
	verdict, err := p.mu.producers.Check(h, producerOrigin(r.Origin))
	if err != nil {
		return AppendResult{}, err
	}
	if verdict.Duplicate {
		return AppendResult{
			BaseOffset: verdict.BaseOffset, LastOffset: verdict.LastOffset,
			LogAppendTime: verdict.Timestamp, LogStartOffset: s.logStart, Duplicate: true,
		}, nil
	}
	if err := p.log.Append(valid.Raw, p.mu.header[:]); err != nil {
		return AppendResult{}, err
	}
	s.appended(h.NextOffset(), now)
	p.moved()
	p.count.messagesIn.Add(int64(h.RecordCount))
	p.count.bytesIn.Add(int64(len(valid.Raw)))
	return AppendResult{
		BaseOffset: h.BaseOffset, LastOffset: h.LastOffset(),
		LogAppendTime: valid.LogAppendTime, LogStartOffset: s.logStart,
	}, nil
}

// identify makes the topic id durable, and with folder the folder's name as well, before the first record: the log must
// never hold data that nobody can tell the topic of. The caller holds mu.
func (p *Partition) identify(folder bool) error {
	if err := commitlog.WriteTopicID(p.dir.fs, filepath.Join(p.dir.path, p.name), p.topicID); err != nil {
		return err
	}
	if folder {
		if err := vfs.SyncDir(p.dir.fs, p.dir.path); err != nil {
			return storageError(err)
		}
	}
	p.mu.identified = true
	return nil
}

// identifyAhead does for new partitions of one directory, in the background and many at a time, what their first record
// would have to wait for otherwise: a file system commits concurrent syncs together. What fails here is tried again, and
// reported, by the first append.
func identifyAhead(d *hostDir, fresh []*Partition) {
	if vfs.SyncDir(d.fs, d.path) != nil {
		return
	}
	next := make(chan *Partition, len(fresh))
	for _, p := range fresh {
		next <- p
	}
	close(next)
	var wg sync.WaitGroup
	for range min(len(fresh), 16) {
		wg.Go(func() {
			for p := range next {
				p.mu.Lock()
				if !p.mu.closed && !p.mu.identified {
					_ = p.identify(false)
				}
				p.mu.Unlock()
			}
		})
	}
	wg.Wait()
}

func producerOrigin(o batch.Origin) policy.Origin {
	if o == batch.OriginCoordinator {
		return policy.OriginCoordinator
	}
	return policy.OriginClient
}

// AckState says whether everything below next is acknowledged by all in-sync
// replicas, and flushed where weir.flush.on.acks is all. On an error the wait
// is over, too.
func (p *Partition) AckState(next batch.Offset) (done bool, err error) {
	st := p.status.Load()
	if st.err != nil {
		return false, st.err
	}
	p.mu.Lock()
	done, err = p.mu.isr.ackState(next)
	p.mu.Unlock()
	if err != nil || !done {
		return done, err
	}
	if p.settings.Load().flushAcks && p.log.RecoveryPoint() < next {
		p.flushTo(next)
		return false, nil
	}
	return true, nil
}

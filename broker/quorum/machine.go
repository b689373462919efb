package quorum

import (
	"errors"
	"fmt"
	"io"

	"github.com/hashicorp/raft"

	"github.com/weir-broker/weir/broker/metadata"
)

// machine is Raft's view of a Quorum: the state machine that its log drives.
// Raft calls Apply, ApplyBatch, Snapshot and Restore from one goroutine.
type machine Quorum

var _ raft.BatchingFSM = (*machine)(nil)

// Apply applies one entry.
func (m *machine) Apply(log *raft.Log) any { return m.ApplyBatch([]*raft.Log{log})[0] }

// ApplyBatch applies entries that were committed together and publishes the
// image once. Its results are errors, or nil.
func (m *machine) ApplyBatch(logs []*raft.Log) []any {
	q := (*Quorum)(m)
	results := make([]any, len(logs))
	img := q.Image()
	before := img
	for i, log := range logs {
		if log.Type != raft.LogCommand || metadata.Index(log.Index) <= img.Index {
			continue
		}
		if q.Err() != nil {
			results[i] = ErrStopped
			continue
		}
		next, err := apply(img, log)
		if err != nil && !metadata.Refused(err) {
			q.fail(fmt.Errorf("%w: entry %d: %w", ErrStopped, log.Index, err))
			results[i] = ErrStopped
			continue
		}
		img = next
		if err != nil {
			results[i] = err
		}
	}
	if img != before {
		q.image.Store(img)
		wake(q.applied)
		wake(q.dirty)
	}
	return results
}

func apply(img *metadata.Image, log *raft.Log) (*metadata.Image, error) {
	e, err := metadata.DecodeEntry(log.Data)
	if err != nil {
		return nil, err
	}
	return metadata.Apply(img, metadata.Index(log.Index), e)
}

// fail stops the replica: what it would apply from here on could differ from
// what the others do.
func (q *Quorum) fail(err error) {
	if q.err.CompareAndSwap(nil, &err) {
		q.logger.Error("metadata replica stopped", "error", err)
		close(q.failed)
	}
}

// Snapshot captures the image; Raft persists it while entries go on.
func (m *machine) Snapshot() (raft.FSMSnapshot, error) {
	q := (*Quorum)(m)
	if err := q.Err(); err != nil {
		return nil, err
	}
	return &snapshot{q: q, img: q.Image()}, nil
}

type snapshot struct {
	q   *Quorum
	img *metadata.Image
}

// Persist writes the image. The log is cut afterwards, so metadata.db must hold
// what the entries did first.
func (s *snapshot) Persist(sink raft.SnapshotSink) error {
	err := s.q.store.save(s.q.Image())
	if err == nil {
		_, err = sink.Write(metadata.AppendSnapshot(nil, s.img))
	}
	if err != nil {
		return errors.Join(err, sink.Cancel())
	}
	return sink.Close()
}

// Release does nothing: an image needs no release.
func (s *snapshot) Release() {}

// Restore replaces the image by one that the leader sent.
func (m *machine) Restore(r io.ReadCloser) error {
	q := (*Quorum)(m)
	img, err := readSnapshot(r)
	if err != nil {
		return err
	}
	if err := q.store.save(img); err != nil {
		return err
	}
	q.image.Store(img)
	wake(q.applied)
	return nil
}

func readSnapshot(r io.ReadCloser) (*metadata.Image, error) {
	raw, err := io.ReadAll(r)
	if err = errors.Join(err, r.Close()); err != nil {
		return nil, err
	}
	return metadata.DecodeSnapshot(raw)
}

func wake(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

package quorum

import (
	"fmt"
	"path/filepath"
	"runtime"

	"github.com/hashicorp/raft"
)

// stable is where Raft keeps its term and vote. Raft panics when one of them
// cannot be written, as on a full disk, for it must not vote on; but the process
// has partitions to close. So the replica stops in order instead: the failure is
// reported by Failed and Err, and Raft's main loop, which is who writes these,
// ends. Nothing is decided any more, and Close still works.
type stable struct {
	raft.StableStore
	q *Quorum
}

// Set implements raft.StableStore.
func (s stable) Set(key, value []byte) error {
	s.orStop(s.StableStore.Set(key, value))
	return nil
}

// SetUint64 implements raft.StableStore.
func (s stable) SetUint64(key []byte, value uint64) error {
	s.orStop(s.StableStore.SetUint64(key, value))
	return nil
}

func (s stable) orStop(err error) {
	if err == nil {
		return
	}
	s.q.fail(fmt.Errorf("%w: writing %s: %w; mend the disk and start again", ErrDirectory, filepath.Join(s.q.dir, raftFile), err))
	runtime.Goexit()
}

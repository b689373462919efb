package vfs

import (
	"cmp"
	"maps"
	"math/rand/v2"
	"slices"
)

// CrashOptions say how much of what was not synced survives.
type CrashOptions struct {
	// UnsyncedKept is the probability with which each sector and each directory operation that is not durable survives
	// nevertheless: 0 is the harshest disk, 1 the kindest, a process kill without a power cut.
	UnsyncedKept float64
	// Rand decides. It may be nil when UnsyncedKept is 0 or 1.
	Rand *rand.Rand
}

// dirKey is one name in one directory.
type dirKey struct {
	dir  *node
	name string
}

// dirOp is a change of directory entries that is atomic on the platter: one entry, or the two of a rename.
type dirOp struct {
	keys  [2]dirKey // the second is empty but for a rename
	nodes [2]*node  // nil: the entry is gone
}

func (op *dirOp) each(fn func(key dirKey, to *node)) {
	for i, key := range op.keys {
		if key.dir != nil {
			fn(key, op.nodes[i])
		}
	}
}

// apply makes the operation durable.
func (op *dirOp) apply() {
	op.each(func(key dirKey, to *node) {
		if to == nil {
			delete(key.dir.synced, key.name)
		} else {
			key.dir.synced[key.name] = to
		}
	})
}

// syncDir makes the pending operations of a directory durable, and with them those that they follow upon.
func (m *Mem) syncDir(dir *node) {
	need := map[dirKey]struct{}{}
	due := make([]bool, len(m.mu.pending))
	for i := len(m.mu.pending) - 1; i >= 0; i-- {
		m.mu.pending[i].each(func(key dirKey, _ *node) {
			_, follows := need[key]
			due[i] = due[i] || key.dir == dir || follows
		})
		if due[i] {
			m.mu.pending[i].each(func(key dirKey, _ *node) { need[key] = struct{}{} })
		}
	}
	rest := m.mu.pending[:0]
	for i, op := range m.mu.pending {
		if due[i] {
			op.apply()
		} else {
			rest = append(rest, op)
		}
	}
	clear(m.mu.pending[len(rest):])
	m.mu.pending = rest
}

// CrashClone returns the file system as the next boot would find it if the power failed now. The original goes on as
// if nothing had happened. Nothing is locked or open in the clone, and all of it is durable. It has no OnOp hook and
// its operations count from zero.
func (m *Mem) CrashClone(o CrashOptions) *Mem {
	m.mu.Lock()
	defer m.mu.Unlock()
	// Directory operations survive in any order, except that one cannot survive without those before it on its names.
	survived := map[dirKey]*node{}
	lost := map[dirKey]struct{}{}
	for i := range m.mu.pending {
		op := &m.mu.pending[i]
		keep := chance(o.UnsyncedKept, o.Rand)
		op.each(func(key dirKey, _ *node) {
			if _, bad := lost[key]; bad {
				keep = false
			}
		})
		op.each(func(key dirKey, to *node) {
			if keep {
				survived[key] = to
			} else {
				lost[key] = struct{}{}
			}
		})
	}
	byDir := map[*node]map[string]*node{}
	for key, to := range survived {
		if byDir[key.dir] == nil {
			byDir[key.dir] = map[string]*node{}
		}
		byDir[key.dir][key.name] = to
	}
	var rebuild func(n *node) *node
	rebuild = func(n *node) *node {
		if !n.dir {
			return n.crashed(o.UnsyncedKept, o.Rand)
		}
		c := newDirNode(n.mode, n.modTime)
		entries := maps.Clone(n.synced)
		for name, to := range byDir[n] {
			if to == nil {
				delete(entries, name)
			} else {
				entries[name] = to
			}
		}
		for _, name := range sortedKeys(entries) { // sorted, so that a seed decides everything
			c.entries[name] = rebuild(entries[name])
		}
		c.synced = maps.Clone(c.entries)
		return c
	}
	clone := NewMem()
	clone.mu.now = m.mu.now
	clone.mu.root = rebuild(m.mu.root)
	return clone
}

// Clone returns a copy of the file system as a process sees it, as if everything had been synced first: what a process
// that is killed leaves behind while the machine runs on.
func (m *Mem) Clone() *Mem { return m.CrashClone(CrashOptions{UnsyncedKept: 1}) }

func chance(p float64, rng *rand.Rand) bool {
	switch {
	case p <= 0:
		return false
	case p >= 1:
		return true
	}
	return rng.Float64() < p
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K {
	return slices.Sorted(maps.Keys(m))
}

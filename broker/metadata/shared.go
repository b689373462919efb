package metadata

import (
	"iter"
	"sort"
)

// chunkMax bounds a chunk of a table: a change copies at most one chunk (two
// when it splits) and the slice of chunks.
const chunkMax = 128

// table is an immutable sorted map. It is two sorted levels deep: a slice of
// chunks and, in each, a slice of rows. Lookups are two binary searches over
// contiguous memory and allocate nothing; walking it is in key order, which
// listings and snapshots need. The zero table is empty.
type table[K any, V any] struct {
	chunks []*chunk[K, V]
	size   int
}

type chunk[K any, V any] struct{ rows []row[K, V] }

type row[K any, V any] struct {
	key   K
	value V
}

// order compares two keys: negative, zero or positive.
type order[K any] func(a, b K) int

// find returns the chunk and row where key is or would be inserted.
func (t table[K, V]) find(key K, cmp order[K]) (c, r int, found bool) {
	if len(t.chunks) == 0 {
		return 0, 0, false
	}
	// The last chunk whose first key is not above key.
	lo, hi := 0, len(t.chunks)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if cmp(t.chunks[mid].rows[0].key, key) <= 0 {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	c = max(lo-1, 0)
	rows := t.chunks[c].rows
	lo, hi = 0, len(rows)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if cmp(rows[mid].key, key) < 0 {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return c, lo, lo < len(rows) && cmp(rows[lo].key, key) == 0
}

func (t table[K, V]) get(key K, cmp order[K]) (V, bool) {
	c, r, found := t.find(key, cmp)
	if !found {
		var zero V
		return zero, false
	}
	return t.chunks[c].rows[r].value, true
}

// put returns a table with key set to value.
func (t table[K, V]) put(key K, value V, cmp order[K]) table[K, V] {
	if len(t.chunks) == 0 {
		return table[K, V]{chunks: []*chunk[K, V]{{rows: []row[K, V]{{key, value}}}}, size: 1}
	}
	c, r, found := t.find(key, cmp)
	old := t.chunks[c].rows
	if found {
		rows := append([]row[K, V](nil), old...)
		rows[r].value = value
		return table[K, V]{chunks: replaceChunk(t.chunks, c, &chunk[K, V]{rows}), size: t.size}
	}
	rows := make([]row[K, V], 0, len(old)+1)
	rows = append(rows, old[:r]...)
	rows = append(rows, row[K, V]{key, value})
	rows = append(rows, old[r:]...)
	if len(rows) <= chunkMax {
		return table[K, V]{chunks: replaceChunk(t.chunks, c, &chunk[K, V]{rows}), size: t.size + 1}
	}
	// Keys often arrive in order, so an append at the very end leaves full
	// chunks behind it instead of half full ones.
	cut := len(rows) / 2
	if r == len(old) && c == len(t.chunks)-1 {
		cut = len(rows) - 1
	}
	left := &chunk[K, V]{append([]row[K, V](nil), rows[:cut]...)}
	right := &chunk[K, V]{append([]row[K, V](nil), rows[cut:]...)}
	return table[K, V]{chunks: replaceChunk(t.chunks, c, left, right), size: t.size + 1}
}

// remove returns a table without key.
func (t table[K, V]) remove(key K, cmp order[K]) table[K, V] {
	c, r, found := t.find(key, cmp)
	if !found {
		return t
	}
	old := t.chunks[c].rows
	if len(old) == 1 {
		return table[K, V]{chunks: replaceChunk(t.chunks, c), size: t.size - 1}
	}
	rows := make([]row[K, V], 0, len(old)-1)
	rows = append(rows, old[:r]...)
	rows = append(rows, old[r+1:]...)
	return table[K, V]{chunks: replaceChunk(t.chunks, c, &chunk[K, V]{rows}), size: t.size - 1}
}

func replaceChunk[K, V any](chunks []*chunk[K, V], at int, with ...*chunk[K, V]) []*chunk[K, V] {
	out := make([]*chunk[K, V], 0, len(chunks)-1+len(with))
	out = append(out, chunks[:at]...)
	out = append(out, with...)
	return append(out, chunks[at+1:]...)
}

// all walks the rows in key order.
func (t table[K, V]) all() iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		for _, c := range t.chunks {
			for i := range c.rows {
				if !yield(c.rows[i].key, c.rows[i].value) {
					return
				}
			}
		}
	}
}

// from walks the rows at and after key, in order.
func (t table[K, V]) from(key K, cmp order[K]) iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		c, r, _ := t.find(key, cmp)
		for ; c < len(t.chunks); c, r = c+1, 0 {
			rows := t.chunks[c].rows
			for ; r < len(rows); r++ {
				if !yield(rows[r].key, rows[r].value) {
					return
				}
			}
		}
	}
}

// unshared returns the rows of a that are in chunks b does not share, in order.
func unshared[K, V any](a, b table[K, V]) []row[K, V] {
	shared := make(map[*chunk[K, V]]struct{}, len(b.chunks))
	for _, c := range b.chunks {
		shared[c] = struct{}{}
	}
	var rows []row[K, V]
	for _, c := range a.chunks {
		if _, ok := shared[c]; !ok {
			rows = append(rows, c.rows...)
		}
	}
	return rows
}

// sortedTable builds a table from rows in any order with distinct keys.
func sortedTable[K, V any](rows []row[K, V], cmp order[K]) table[K, V] {
	sort.Slice(rows, func(i, j int) bool { return cmp(rows[i].key, rows[j].key) < 0 })
	t := table[K, V]{size: len(rows)}
	for len(rows) > 0 {
		n := min(len(rows), chunkMax/2)
		t.chunks = append(t.chunks, &chunk[K, V]{append([]row[K, V](nil), rows[:n]...)})
		rows = rows[n:]
	}
	return t
}

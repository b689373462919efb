package vfs

import (
	"io/fs"
	"math/rand/v2"
	"time"
)

// pageSize is the unit in which file content is shared between a Mem and its clones, sectorSize the unit that a disk
// writes whole.
const (
	pageSize   = 4096
	sectorSize = 512
)

// page is a piece of file content. Its bytes may be written only by the node whose current edition it carries; anything
// else sees it as immutable. So a clone costs pointers, not bytes.
type page struct {
	edition *edition
	b       [pageSize]byte
}

// edition is an identity: a node takes a new one when its pages become shared.
type edition struct{ _ byte }

// node is a file or a directory. All fields are guarded by the Mem that owns it.
type node struct {
	dir     bool
	mode    fs.FileMode
	modTime time.Time

	// Of a file: what a process sees, and what is on the platter. A nil page is a hole.
	pages       []*page
	size        int64
	edition     *edition
	syncedPages []*page
	syncedSize  int64
	dirty       map[int]struct{} // pages that may differ from the platter

	// Of a directory, likewise.
	entries map[string]*node
	synced  map[string]*node
}

func newDirNode(mode fs.FileMode, now time.Time) *node {
	return &node{dir: true, mode: fs.ModeDir | mode, modTime: now, entries: map[string]*node{}, synced: map[string]*node{}}
}

func newFileNode(now time.Time) *node {
	return &node{mode: 0o644, modTime: now, edition: &edition{}, dirty: map[int]struct{}{}}
}

func (n *node) readAt(p []byte, off int64) int {
	if off >= n.size {
		return 0
	}
	p = p[:min(int64(len(p)), n.size-off)]
	for done := 0; done < len(p); {
		i, at := int((off+int64(done))/pageSize), int((off+int64(done))%pageSize)
		chunk := p[done:min(len(p), done+pageSize-at)]
		if i < len(n.pages) && n.pages[i] != nil {
			copy(chunk, n.pages[i].b[at:])
		} else {
			clear(chunk)
		}
		done += len(chunk)
	}
	return len(p)
}

func (n *node) writeAt(p []byte, off int64) {
	if len(p) == 0 {
		return // does not lengthen the file
	}
	for done := 0; done < len(p); {
		i, at := int((off+int64(done))/pageSize), int((off+int64(done))%pageSize)
		done += copy(n.writable(i).b[at:], p[done:])
	}
	n.size = max(n.size, off+int64(len(p)))
}

// writable returns page i as one that only this node sees.
func (n *node) writable(i int) *page {
	for i >= len(n.pages) {
		n.pages = append(n.pages, nil)
	}
	n.dirty[i] = struct{}{}
	old := n.pages[i]
	if old != nil && old.edition == n.edition {
		return old
	}
	p := &page{edition: n.edition}
	if old != nil {
		p.b = old.b
	}
	n.pages[i] = p
	return p
}

func (n *node) truncate(size int64) {
	if size < n.size {
		keep := int((size + pageSize - 1) / pageSize)
		for i := keep; i < len(n.pages); i++ {
			n.dirty[i] = struct{}{}
		}
		n.pages = n.pages[:min(keep, len(n.pages))]
		if at := size % pageSize; at != 0 && keep-1 < len(n.pages) && n.pages[keep-1] != nil {
			clear(n.writable(keep - 1).b[at:]) // a later extension has to read zeros here
		}
	}
	n.size = size
}

// sync puts what a process sees on the platter.
func (n *node) sync() {
	for i := range n.dirty {
		for i >= len(n.syncedPages) && i < len(n.pages) {
			n.syncedPages = append(n.syncedPages, nil)
		}
		switch {
		case i < len(n.pages):
			n.syncedPages[i] = n.pages[i]
		case i < len(n.syncedPages):
			n.syncedPages[i] = nil
		}
	}
	n.syncedSize = n.size
	clear(n.dirty)
	n.edition = &edition{}
}

// forget takes what is not on the platter for durable, as Linux does after a failed fsync.
func (n *node) forget() {
	clear(n.dirty)
	n.edition = &edition{}
}

// crashed returns the file as a crash may leave it. Each 512-byte sector that is not on the platter is kept with
// probability kept, and the length lies between the two lengths.
func (n *node) crashed(kept float64, rng *rand.Rand) *node {
	c := &node{mode: n.mode, modTime: n.modTime, edition: &edition{}, dirty: map[int]struct{}{}}
	c.size = n.syncedSize
	if n.size != n.syncedSize && chance(kept, rng) {
		c.size = n.size
		if kept < 1 {
			c.size = sizeBetween(n.syncedSize, n.size, rng)
		}
	}
	c.pages = append([]*page(nil), n.syncedPages...)
	if kept > 0 {
		for _, i := range sortedKeys(n.dirty) {
			c.keepSectors(i, n.pageAt(i), kept, rng)
		}
	}
	c.cutToSize()
	c.syncedPages, c.syncedSize = append([]*page(nil), c.pages...), c.size
	// The pages are shared now, with n and between what c shows and what it has on its platter: nobody may write to them
	// in place.
	n.edition, c.edition = &edition{}, &edition{}
	return c
}

// sizeBetween picks the length of a file whose change of length was not synced.
func sizeBetween(synced, seen int64, rng *rand.Rand) int64 {
	lo, hi := min(synced, seen), max(synced, seen)
	at := lo + rng.Int64N(hi-lo+1)
	switch rng.IntN(4) {
	case 0:
		return at
	case 1: // at the end of a sector, as a real file system often leaves it
		return min(hi, (at+sectorSize-1)/sectorSize*sectorSize)
	}
	return seen
}

func (n *node) pageAt(i int) *page {
	if i < len(n.pages) {
		return n.pages[i]
	}
	return nil
}

func (n *node) keepSectors(i int, seen *page, kept float64, rng *rand.Rand) {
	var mask uint8
	for s := range pageSize / sectorSize {
		if chance(kept, rng) {
			mask |= 1 << s
		}
	}
	switch {
	case mask == 0:
		return
	case mask == 1<<(pageSize/sectorSize)-1:
		for i >= len(n.pages) {
			n.pages = append(n.pages, nil)
		}
		n.pages[i] = seen
		return
	}
	p := n.writable(i)
	for s := range pageSize / sectorSize {
		if mask&(1<<s) == 0 {
			continue
		}
		sector := p.b[s*sectorSize : (s+1)*sectorSize]
		if seen == nil {
			clear(sector)
		} else {
			copy(sector, seen.b[s*sectorSize:])
		}
	}
}

// cutToSize drops what lies at or above size, so that an extension reads zeros.
func (n *node) cutToSize() {
	keep := int((n.size + pageSize - 1) / pageSize)
	if keep < len(n.pages) {
		n.pages = n.pages[:keep]
	}
	if at := n.size % pageSize; at != 0 && keep-1 < len(n.pages) && n.pages[keep-1] != nil {
		clear(n.writable(keep - 1).b[at:])
	}
	clear(n.dirty)
}

func (n *node) info(name string) fs.FileInfo {
	return fileStat{name: name, size: n.size, mode: n.mode, modTime: n.modTime}
}

// fileStat is the fs.FileInfo of Mem.
type fileStat struct {
	name    string
	size    int64
	mode    fs.FileMode
	modTime time.Time
}

func (s fileStat) Name() string       { return s.name }
func (s fileStat) Size() int64        { return s.size }
func (s fileStat) Mode() fs.FileMode  { return s.mode }
func (s fileStat) ModTime() time.Time { return s.modTime }
func (s fileStat) IsDir() bool        { return s.mode.IsDir() }
func (s fileStat) Sys() any           { return nil }

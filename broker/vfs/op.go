package vfs

import "fmt"

// OpKind names what was done to a file system. Kinds are bits, so that a Fault may match several.
type OpKind uint32

// The kinds of operations. Those up to OpPreallocate change state and are counted and reported by Mem; the others only
// matter to Faults.
const (
	OpCreate OpKind = 1 << iota
	OpRemove
	OpRemoveAll
	OpRename // matched and reported by the new name
	OpMkdirAll
	OpChtimes
	OpWrite
	OpWriteVec
	OpTruncate
	OpSync
	OpSyncData
	OpSyncDir
	OpPreallocate
	OpOpen
	OpOpenReadWrite
	OpOpenDir
	OpRead
	OpList
	OpStat
	OpLock
	OpDiskUsage
	OpClose

	// OpsWrite are those that need room on the disk.
	OpsWrite = OpCreate | OpMkdirAll | OpWrite | OpWriteVec | OpPreallocate
	// OpsSync are those that wait for the disk.
	OpsSync = OpSync | OpSyncData | OpSyncDir
	// OpsChange are all that change what is stored or how durable it is.
	OpsChange = OpPreallocate<<1 - 1
	// OpsAll are all kinds.
	OpsAll = OpClose<<1 - 1
)

// opNames in the order of the bits.
var opNames = [...]string{
	"create", "remove", "remove-all", "rename", "mkdir-all", "chtimes", "write", "write-vec", "truncate", "sync",
	"sync-data", "sync-dir", "preallocate", "open", "open-read-write", "open-dir", "read", "list", "stat", "lock",
	"disk-usage", "close",
}

// String returns the name of the kind, or of the kinds joined with '|'.
func (k OpKind) String() string {
	out := ""
	for i, name := range opNames {
		if k&(1<<i) == 0 {
			continue
		}
		if out != "" {
			out += "|"
		}
		out += name
	}
	if out == "" {
		return "none"
	}
	return out
}

// Op is one operation that a file system performed or was asked for.
type Op struct {
	Seq  int64 // count of operations so far, this one included
	Kind OpKind
	Name string // file or directory; the new name of a rename
	Off  int64  // of a write
	Len  int64  // bytes written, or the new length of a truncate
}

// String describes the operation for a failing test.
func (o Op) String() string {
	switch o.Kind {
	case OpWrite, OpWriteVec:
		return fmt.Sprintf("#%d %s %s [%d,%d)", o.Seq, o.Kind, o.Name, o.Off, o.Off+o.Len)
	case OpTruncate:
		return fmt.Sprintf("#%d %s %s to %d", o.Seq, o.Kind, o.Name, o.Len)
	}
	return fmt.Sprintf("#%d %s %s", o.Seq, o.Kind, o.Name)
}

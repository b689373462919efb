// Package vfs is the file system as weir's storage sees it.
//
// It owns: the FS and File interfaces; OS, the machine's own file system; Mem, a file system in memory that can be
// "crashed" at any moment; Faults, a wrapper that fails chosen operations; WriteFileAtomic; and Failpoint, the named
// places at which a campaign may kill the process.
//
// It does not own: what is written, when it is flushed, or what a failure means. Those belong to its callers,
// commitlog and producerstate. It imports nothing of weir.
//
// # What survives a crash
//
// Mem keeps two states, the one a process sees and the one on the platter. CrashClone builds a third from them:
//
//	operation            on the platter after            before that, a crash may leave
//	WriteAt, WriteVec,   Sync or SyncData of the file    any mixture of old and new 512-byte sectors, and any length
//	Truncate                                             between the old and the new; a gap reads as zeros
//	Create, Remove,      Sync of the directory that      the operation done or not done; a rename is never done by
//	Rename, MkdirAll     holds the name                  half; operations on unrelated names survive in any order
//
// Syncing a file does not make its name durable. That is what POSIX promises, and less than most Linux file systems do:
// code that is right on Mem is right everywhere.
package vfs

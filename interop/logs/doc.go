// Package logs holds no code: its test gives the files that weir writes to Kafka's own readers: DumpLogSegments over a clean
// directory, LogLoader over one left by a kill.
package logs

// Package files holds no code: its tests give the files of weir to Kafka's own readers and back. DumpLogSegments reads a busy
// partition after a clean stop and after a kill, LogLoader recovers a killed and damaged directory beside us, each takes over a
// directory the other one closed, and Kafka's retention is held against ours. WEIR_FILES_SCALE makes campaigns of them,
// WEIR_FILES_SEED repeats one.
package files

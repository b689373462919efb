package quorum

import (
	"bytes"
	"context"
	"log/slog"
)

// logWriter hands Raft's own log lines to slog: its information is our debugging,
// its errors are our warnings, since what matters of them reaches us as errors of
// our own.
type logWriter struct{ logger *slog.Logger }

// Write takes one line, as in "2026-12-01T00:00:00.000Z [WARN]  raft: message".
func (w logWriter) Write(line []byte) (int, error) {
	level := slog.LevelDebug
	text := bytes.TrimRight(line, "\n")
	if open, end := bytes.IndexByte(text, '['), bytes.IndexByte(text, ']'); open >= 0 && end > open {
		switch string(text[open+1 : end]) {
		case "WARN", "ERROR":
			level = slog.LevelWarn
		}
		text = bytes.TrimSpace(text[end+1:])
	}
	w.logger.Log(context.Background(), level, "raft", "message", string(text))
	return len(line), nil
}

// logLevel is the level that Raft need not format lines below.
func logLevel(logger *slog.Logger) string {
	if logger.Enabled(context.Background(), slog.LevelDebug) {
		return "DEBUG"
	}
	return "WARN"
}

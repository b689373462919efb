//go:build interop

package oracle

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// OpenLogRequest opens a partition directory as a starting broker does. It changes the directory as a broker would (truncates,
// rebuilds indexes, writes snapshots): give it a copy when that matters.
type OpenLogRequest struct {
	Dir                string            `json:"dir"` // named topic-partition
	Config             map[string]string `json:"config,omitempty"`
	LogStartOffset     int64             `json:"logStartOffset"`
	RecoveryPoint      int64             `json:"recoveryPoint"`
	Clean              bool              `json:"clean"` // the last shutdown was clean: nothing is scanned
	Now                int64             `json:"now"`   // ms
	ProducerExpiration int64             `json:"producerExpirationMs,omitempty"`
	HighWatermark      *int64            `json:"highWatermark,omitempty"`   // set before retention
	DeleteRecordsTo    *int64            `json:"deleteRecordsTo,omitempty"` // advance the start offset before retention
	Retain             bool              `json:"retain"`                    // run UnifiedLog.deleteOldSegments at Now
	Close              bool              `json:"close"`                     // close cleanly; otherwise let go as a kill does
}

// LogState describes an open log.
type LogState struct {
	LogStartOffset int64        `json:"logStartOffset"`
	LogEndOffset   int64        `json:"logEndOffset"`
	RecoveryPoint  int64        `json:"recoveryPoint"`
	HighWatermark  int64        `json:"highWatermark"`
	Size           int64        `json:"size"`
	Segments       []LogSegment `json:"segments"`
	Epochs         []LogEpoch   `json:"epochs"`
	Producers      []struct {
		ID               int64 `json:"id"`
		Epoch            int16 `json:"epoch"`
		CoordinatorEpoch int32 `json:"coordinatorEpoch"`
		LastTimestamp    int64 `json:"lastTimestamp"`
		TxnFirstOffset   int64 `json:"txnFirstOffset"`
		Batches          []struct {
			FirstSeq    int32 `json:"firstSeq"`
			LastSeq     int32 `json:"lastSeq"`
			FirstOffset int64 `json:"firstOffset"`
			LastOffset  int64 `json:"lastOffset"`
			Timestamp   int64 `json:"timestamp"`
		} `json:"batches"`
	} `json:"producers"`
}

// LogSegment is one segment of an open log.
type LogSegment struct {
	Base             int64 `json:"base"`
	Next             int64 `json:"next"`
	Size             int64 `json:"size"`
	LargestTimestamp int64 `json:"largestTimestamp"` // the file's modification time when no record has one
	RecordTimestamp  int64 `json:"recordTimestamp"`  // -1 none
}

// LogEpoch is one line of the leader epoch cache.
type LogEpoch struct {
	Epoch int32 `json:"epoch"`
	Start int64 `json:"start"`
}

// OpenLogResult is what LogLoader and UnifiedLog made of the directory.
type OpenLogResult struct {
	ErrorClass   string    `json:"errorClass"` // empty: opened
	ErrorCode    int16     `json:"errorCode"`
	ErrorMessage string    `json:"errorMessage"`
	Opened       *LogState `json:"opened"`
	Deleted      int       `json:"deleted"`  // segments deleted by retention
	Retained     *LogState `json:"retained"` // after retention
}

// OpenLog opens the log and, if asked, applies retention.
func (o *Oracle) OpenLog(ctx context.Context, q OpenLogRequest) (OpenLogResult, error) {
	var res OpenLogResult
	return res, o.callJSON(ctx, opOpenLog, q, &res)
}

func (o *Oracle) callJSON(ctx context.Context, op byte, in, out any) error {
	q, err := json.Marshal(in)
	if err != nil {
		return fmt.Errorf("oracle: %w", err)
	}
	b, err := o.call(ctx, op, q)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, out); err != nil {
		return fmt.Errorf("oracle: answer: %w", err)
	}
	return nil
}

// Dump is what DumpLogSegments said.
type Dump struct {
	Output
	// Mismatches are the lines that report something wrong: everything on stderr, and invalid batches or bytes on stdout.
	Mismatches []string
}

// DumpLogs runs DumpLogSegments with deep iteration over every log, index, time index, transaction index and producer snapshot
// file in dir.
func (o *Oracle) DumpLogs(ctx context.Context, dir string, args ...string) (Dump, error) {
	names, err := os.ReadDir(dir)
	if err != nil {
		return Dump{}, fmt.Errorf("oracle: %w", err)
	}
	var files []string
	for _, n := range names {
		if slices.Contains([]string{".log", ".index", ".timeindex", ".txnindex", ".snapshot"}, filepath.Ext(n.Name())) {
			files = append(files, filepath.Join(dir, n.Name()))
		}
	}
	return o.DumpFiles(ctx, files, args...)
}

// DumpFiles runs DumpLogSegments with deep iteration over the files. It does not return an error for what the tool complains of.
func (o *Oracle) DumpFiles(ctx context.Context, files []string, args ...string) (Dump, error) {
	args = append([]string{"--deep-iteration", "--files", strings.Join(files, ",")}, args...)
	out, err := o.Tool(ctx, Invocation{Tool: "dump-log", Args: args, Timeout: 10 * time.Minute})
	if err != nil {
		return Dump{}, err
	}
	d := Dump{Output: out}
	d.Mismatches = complaints(out.Stderr)
	for line := range strings.Lines(out.Stdout) {
		if strings.Contains(line, "isvalid: false") || strings.Contains(line, "invalid bytes") {
			d.Mismatches = append(d.Mismatches, strings.TrimSpace(line))
		}
	}
	if out.Code != 0 {
		d.Mismatches = append(d.Mismatches, fmt.Sprintf("exit code %d", out.Code))
	}
	return d, nil
}

// complaints returns the lines of the tool's error stream. Kafka 4.4.0 takes the first record of every segment whose base offset is
// above 0 for a gap ("-1 is followed by …"); that line, and its heading when nothing else stands under it, are left out.
func complaints(stderr string) []string {
	var out []string
	heading := ""
	for line := range strings.Lines(stderr) {
		switch line = strings.TrimSpace(line); {
		case line == "" || strings.HasPrefix(line, "-1 is followed by "):
		case strings.HasPrefix(line, "Non-consecutive offsets in "):
			heading = line
		default:
			if heading != "" {
				out = append(out, heading)
				heading = ""
			}
			out = append(out, line)
		}
	}
	return out
}

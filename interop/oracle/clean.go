//go:build interop

package oracle

import "context"

// CleanRequest asks for one round of Kafka's log cleaner over a partition directory that was closed cleanly. It changes the
// directory, and closes it cleanly again.
type CleanRequest struct {
	Dir            string            `json:"dir"` // named topic-partition
	Config         map[string]string `json:"config"`
	LogStartOffset int64             `json:"logStartOffset"`
	RecoveryPoint  int64             `json:"recoveryPoint"`
	HighWatermark  int64             `json:"highWatermark"`
	Checkpoint     int64             `json:"checkpoint"` // where the last round ended, -1 none
	Now            int64             `json:"now"`        // ms
	MapBytes       int               `json:"mapBytes"`
	LoadFactor     float64           `json:"loadFactor"`
	IOBufferBytes  int               `json:"ioBufferBytes"`
}

// CleanResult is what LogCleanerManager found and Cleaner did.
type CleanResult struct {
	ErrorClass       string  `json:"errorClass"` // empty: no exception
	ErrorMessage     string  `json:"errorMessage"`
	LastStableOffset int64   `json:"lastStableOffset"`
	From             int64   `json:"from"` // first dirty offset
	To               int64   `json:"to"`   // first uncleanable offset
	Reset            bool    `json:"reset"`
	OverdueMS        int64   `json:"overdueMs"`
	CleanBytes       int64   `json:"cleanBytes"`
	DirtyBytes       int64   `json:"dirtyBytes"`
	Due              bool    `json:"due"` // the rest is set only then
	End              int64   `json:"end"`
	MessagesRead     int64   `json:"messagesRead"`
	MessagesWritten  int64   `json:"messagesWritten"`
	Invalid          int64   `json:"invalid"`
	MapUse           float64 `json:"mapUse"`
}

// Clean does one round if one is due.
func (o *Oracle) Clean(ctx context.Context, q CleanRequest) (CleanResult, error) {
	var res CleanResult
	return res, o.callJSON(ctx, opClean, q, &res)
}

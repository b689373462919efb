package commitlog

import (
	"path/filepath"
	"strconv"
	"strings"

	"github.com/weir-broker/weir/broker/batch"
)

// Extensions of a segment's files, and what is put behind them.
const (
	extLog       = ".log"
	extIndex     = ".index"
	extTimeIndex = ".timeindex"
	extTxnIndex  = ".txnindex"

	suffixDeleted = ".deleted"
	suffixCleaned = ".cleaned"
	suffixSwap    = ".swap"

	baseDigits = 20
)

// segmentExts are the files that belong to a segment, the log first: a segment without it is none.
var segmentExts = [...]string{extLog, extIndex, extTimeIndex, extTxnIndex}

// baseName is the name of a segment's files without the extension.
func baseName(base batch.Offset) string {
	digits := strconv.FormatInt(int64(base), 10)
	return strings.Repeat("0", max(0, baseDigits-len(digits))) + digits
}

func segmentPath(dir string, base batch.Offset, ext string) string {
	return filepath.Join(dir, baseName(base)+ext)
}

// parseSegmentName splits the name of a segment's file: 00000000000000000042.log.deleted into 42, .log, .deleted.
// The last is empty for a file in use.
func parseSegmentName(name string) (base batch.Offset, ext, suffix string, ok bool) {
	if len(name) <= baseDigits || name[baseDigits] != '.' {
		return 0, "", "", false
	}
	for _, c := range []byte(name[:baseDigits]) {
		if c < '0' || c > '9' {
			return 0, "", "", false
		}
	}
	n, err := strconv.ParseInt(name[:baseDigits], 10, 64)
	if err != nil {
		return 0, "", "", false
	}
	rest := name[baseDigits:]
	for _, e := range segmentExts {
		if s, found := strings.CutPrefix(rest, e); found {
			switch s {
			case "", suffixDeleted, suffixCleaned, suffixSwap:
				return batch.Offset(n), e, s, true
			}
		}
	}
	return 0, "", "", false
}

package coordinator

import "unicode/utf16"

// Partition is the partition of the internal topic that keeps an id: of a group or of a transaction. It is Java's
// String.hashCode over UTF-16, so that ids stay where Kafka put them.
func Partition(id string, partitions int32) int32 {
	var h int32
	for _, r := range id {
		if r1, r2 := utf16.EncodeRune(r); r > 0xffff {
			h = 31*(31*h+r1) + r2
		} else {
			h = 31*h + r
		}
	}
	if h < 0 {
		h = -h // the smallest has no counterpart and becomes 0
	}
	return max(h, 0) % partitions
}

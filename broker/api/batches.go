package api

import "github.com/weir-broker/weir/broker/batch"

// endOffset is the offset after the last whole batch of raw; from when there is none.
func endOffset(raw []byte, from batch.Offset) batch.Offset {
	for len(raw) >= batch.HeaderLen {
		h, err := batch.ParseHeader(raw)
		if err != nil || h.Size() > len(raw) {
			return from
		}
		from = h.NextOffset()
		raw = raw[h.Size():]
	}
	return from
}

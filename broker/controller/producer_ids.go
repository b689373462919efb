package controller

import (
	"context"
	"math"

	"github.com/weir-broker/weir/broker/metadata"
)

// producerIDBlockSize is how many producer ids a broker gets at a time.
const producerIDBlockSize = 1000

// AllocateProducerIDs hands a block of producer ids to a broker (key 67). An id
// is never handed out twice; a block that a broker did not use up is lost.
func (c *Controller) AllocateProducerIDs(ctx context.Context, id metadata.BrokerID, epoch metadata.BrokerEpoch) (ProducerIDBlock, error) {
	var block ProducerIDBlock
	var refused *Error
	err := c.submit(ctx, func(s state) []metadata.Record {
		var records []metadata.Record
		records, block, refused = s.allocateProducerIDs(id, epoch)
		return records
	})
	return block, oneError(err, refused)
}

func (s state) allocateProducerIDs(id metadata.BrokerID, epoch metadata.BrokerEpoch) ([]metadata.Record, ProducerIDBlock, *Error) {
	if _, err := s.registration(id, epoch); err != nil {
		return nil, ProducerIDBlock{}, err
	}
	first := s.image.NextProducerID
	if first > math.MaxInt64-producerIDBlockSize {
		return nil, ProducerIDBlock{}, errorf(UnknownServerError, "Exhausted all producerIds as the next block's end producerId "+
			"has exceeded the int64 type limit")
	}
	record := &metadata.ProducerIDs{BrokerID: id, BrokerEpoch: epoch, Next: first + producerIDBlockSize}
	return []metadata.Record{record}, ProducerIDBlock{First: first, Count: producerIDBlockSize}, nil
}

package api

import (
	"context"
	"log/slog"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weir-broker/weir/broker/controller"
	"github.com/weir-broker/weir/broker/metadata"
)

// InitProducerId (22), versions 0-5.
//
// KIP-98, KIP-360 (v3: the producer's present id and epoch), KIP-588 (v4), KIP-890 (v5). Every idempotent
// producer gets a fresh id with epoch 0, from blocks that the controller hands out and never twice.
//
// Deviations: a transactional id is refused with TRANSACTIONAL_ID_AUTHORIZATION_FAILED, which clients
// take as final, until there are transactions. v6 (KIP-939), unstable in Kafka, is not served.
func (h *Handler) initProducerID(r *request, req *kmsg.InitProducerIDRequest) kmsg.Response {
	resp := kmsg.NewPtrInitProducerIDResponse()
	resp.ProducerID, resp.ProducerEpoch = -1, -1
	switch {
	case req.TransactionalID != nil && *req.TransactionalID == "":
		resp.ErrorCode = int16(CodeInvalidRequest)
		return resp
	case req.TransactionalID != nil:
		r.log(slog.LevelWarn, "transactions are not supported: a producer with a transactional id was refused", slog.String("transactional_id", *req.TransactionalID))
		resp.ErrorCode = int16(CodeTransactionalIDAuthorizationFailed)
		return resp
	case r.version >= 3 && (req.ProducerID == -1) != (req.ProducerEpoch == -1):
		resp.ErrorCode = int16(CodeInvalidRequest)
		return resp
	}
	ctx, cancel := r.context(int32(h.config.Load().RequestTimeout.Milliseconds()))
	defer cancel()
	id, err := h.producerIDs.next(ctx, func(ctx context.Context) (controller.ProducerIDBlock, error) {
		self := metadata.BrokerID(h.nodeID())
		var epoch metadata.BrokerEpoch
		if b := h.image.Load().Broker(self); b != nil {
			epoch = b.Epoch
		}
		return h.controller.AllocateProducerIDs(ctx, self, epoch)
	})
	if err != nil {
		r.log(slog.LevelWarn, "no producer id to hand out", slog.Any("error", err))
		resp.ErrorCode = int16(CodeCoordinatorLoadInProgress) // the client tries again
		return resp
	}
	resp.ProducerID, resp.ProducerEpoch = int64(id), 0
	return resp
}

// producerIDs hands out the ids of the block this broker holds. The token is held while a new block
// is fetched, so that one request fetches and the others wait for it with their own deadlines.
type producerIDs struct {
	token     chan struct{}
	free, end metadata.ProducerID
}

func (p *producerIDs) next(ctx context.Context, fetch func(context.Context) (controller.ProducerIDBlock, error)) (metadata.ProducerID, error) {
	select {
	case p.token <- struct{}{}:
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	defer func() { <-p.token }()
	if p.free >= p.end {
		block, err := fetch(ctx)
		if err != nil {
			return 0, err
		}
		p.free, p.end = block.First, block.First+metadata.ProducerID(block.Count)
	}
	id := p.free
	p.free++
	return id, nil
}

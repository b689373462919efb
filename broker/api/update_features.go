package api

import (
	"errors"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weir-broker/weir/broker/controller"
	"github.com/weir-broker/weir/broker/metadata"
)

// UpdateFeatures (57), versions 0-2.
//
// KIP-584, KIP-778 (v1: upgrade types, validate only), KIP-1022 (v2: all or nothing, no results of single
// features).
//
// No deviations.
func (h *Handler) updateFeatures(r *request, req *kmsg.UpdateFeaturesRequest) kmsg.Response {
	resp := kmsg.NewPtrUpdateFeaturesResponse()
	resp.Results = []kmsg.UpdateFeaturesResponseResult{}
	ask := controller.UpdateFeaturesRequest{ValidateOnly: req.ValidateOnly}
	for i := range req.FeatureUpdates {
		in := &req.FeatureUpdates[i]
		update := controller.FeatureUpdate{Name: in.Feature, Level: metadata.FeatureLevel(in.MaxVersionLevel), Upgrade: controller.UpgradeType(in.UpgradeType)}
		if r.version == 0 {
			update.Upgrade = controller.Upgrade
			if in.AllowDowngrade {
				update.Upgrade = controller.SafeDowngrade
			}
		}
		ask.Updates = append(ask.Updates, update)
	}
	ctx, cancel := r.context(req.TimeoutMillis)
	defer cancel()
	if err := h.controller.UpdateFeatures(ctx, ask); err != nil {
		resp.ErrorCode, resp.ErrorMessage = refusal(err)
		var decided *controller.Error
		if errors.As(err, &decided) {
			resp.ErrorMessage = nilIfEmpty(decided.Message)
		}
		return resp
	}
	for i := range req.FeatureUpdates {
		result := kmsg.NewUpdateFeaturesResponseResult()
		result.Feature = req.FeatureUpdates[i].Feature
		resp.Results = append(resp.Results, result)
	}
	return resp
}

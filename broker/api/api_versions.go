package api

import (
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weir-broker/weir/broker/network"
)

// ApiVersions (18), versions 0-5.
//
// KIP-35, KIP-511 (any version is answered, client software), KIP-584 and KIP-778 (features),
// KIP-1242 (v5: the client says which node it means to talk to). A version we do not know is
// answered in the v0 layout with UNSUPPORTED_VERSION and the range of this key, and the connection
// stays open. The response header never has tags, whatever the version. Versions below 4 leave out
// features whose lowest level is 0, which older clients cannot read (KAFKA-17011).
//
// No deviations.
func (h *Handler) apiVersions(r *request, body []byte) network.Reply {
	if !r.endpoint.speaks(r.version) {
		r.version = 0
		resp := kmsg.NewPtrApiVersionsResponse()
		resp.ErrorCode = int16(CodeUnsupportedVersion)
		resp.ApiKeys = []kmsg.ApiVersionsResponseApiKey{advertisement(r.endpoint)}
		return network.Done(r.encode(resp))
	}
	return decoded((*Handler).apiVersionsKnown)(h, r, body)
}

func (h *Handler) apiVersionsKnown(r *request, req *kmsg.ApiVersionsRequest) kmsg.Response {
	resp := kmsg.NewPtrApiVersionsResponse()
	// An error answer has no keys from which a client could pick versions.
	resp.ApiKeys = []kmsg.ApiVersionsResponseApiKey{}
	if r.version >= 5 && (req.ClusterID == nil) != (req.NodeID == -1) {
		resp.ErrorCode = int16(CodeInvalidRequest)
		return resp
	}
	if r.version >= 3 {
		if !validSoftware(req.ClientSoftwareName) || !validSoftware(req.ClientSoftwareVersion) {
			resp.ErrorCode = int16(CodeInvalidRequest)
			return resp
		}
		if state, ok := r.conn.State.(*connState); ok {
			state.softwareName, state.softwareVersion = strings.Clone(req.ClientSoftwareName), strings.Clone(req.ClientSoftwareVersion)
		}
	}
	if r.version >= 5 && req.ClusterID != nil && (*req.ClusterID != r.image.ClusterID || req.NodeID != h.nodeID()) {
		resp.ErrorCode = int16(CodeRebootstrapRequired)
		return resp
	}
	for _, e := range h.table {
		if e != nil {
			resp.ApiKeys = append(resp.ApiKeys, advertisement(e))
		}
	}
	for _, f := range h.features {
		if r.version < 4 && f.Min == 0 {
			continue
		}
		resp.SupportedFeatures = append(resp.SupportedFeatures, kmsg.ApiVersionsResponseSupportedFeature{Name: f.Name, MinVersion: int16(f.Min), MaxVersion: int16(f.Max)})
	}
	resp.FinalizedFeaturesEpoch = int64(r.image.FeaturesIndex)
	for name, level := range r.image.Features() {
		if level != 0 {
			resp.FinalizedFeatures = append(resp.FinalizedFeatures, kmsg.ApiVersionsResponseFinalizedFeature{Name: name, MinVersionLevel: int16(level), MaxVersionLevel: int16(level)})
		}
	}
	return resp
}

func advertisement(e *endpoint) kmsg.ApiVersionsResponseApiKey {
	a := kmsg.ApiVersionsResponseApiKey{ApiKey: e.key, MinVersion: e.min, MaxVersion: e.max}
	if e.advertised != sameAsMin {
		a.MinVersion = e.advertised
	}
	return a
}

// validSoftware accepts letters, digits, dots and dashes; the ends must be letters or digits.
func validSoftware(s string) bool {
	alnum := func(b byte) bool {
		return b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
	}
	return s != "" && alnum(s[0]) && alnum(s[len(s)-1]) &&
		!slices.ContainsFunc([]byte(s), func(b byte) bool { return !alnum(b) && b != '.' && b != '-' })
}

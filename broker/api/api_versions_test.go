package api

import (
	"encoding/binary"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func apiVersionsRequest(version int16) *kmsg.ApiVersionsRequest {
	req := kmsg.NewPtrApiVersionsRequest()
	req.SetVersion(version)
	req.ClientSoftwareName, req.ClientSoftwareVersion = "test-client", "1.0.0"
	req.NodeID = -1
	return req
}

// Case 1: an unknown version of ApiVersions is answered in v0 and the connection goes on.
func TestApiVersionsOfUnknownVersionIsAnsweredInV0(t *testing.T) {
	c := newRig(t, Options{}).dial()
	frame := appendInt16(appendInt16(nil, apiVersionsKey), 127)
	frame = appendInt32(frame, 77)
	frame = append(appendString(frame, "x", false), 0)
	frame = append(frame, "whatever a later version holds"...)
	c.write(append(binary.BigEndian.AppendUint32(nil, uint32(len(frame))), frame...))
	body, err := c.read()
	if err != nil {
		t.Fatal(err)
	}
	if got := binary.BigEndian.Uint32(body); got != 77 {
		t.Fatalf("correlation id %d", got)
	}
	resp := kmsg.NewPtrApiVersionsResponse()
	if err := resp.ReadFrom(body[4:]); err != nil {
		t.Fatal(err)
	}
	if Code(resp.ErrorCode) != CodeUnsupportedVersion || len(resp.ApiKeys) != 1 || resp.ApiKeys[0].ApiKey != apiVersionsKey || resp.ApiKeys[0].MaxVersion != 5 {
		t.Errorf("answer: %+v", resp)
	}
	for v := int16(0); v <= 5; v++ {
		if got := c.request(apiVersionsRequest(v)).(*kmsg.ApiVersionsResponse); got.ErrorCode != 0 || len(got.ApiKeys) == 0 {
			t.Errorf("v%d afterwards: %+v", v, got)
		}
	}
}

// Case 2: the response header of ApiVersions has no tags although the body is flexible.
func TestApiVersionsResponseHeaderNeverHasTags(t *testing.T) {
	c := newRig(t, Options{}).dial()
	for _, v := range []int16{3, 4, 5} {
		c.write(c.frame(apiVersionsRequest(v)))
		body, err := c.read()
		if err != nil {
			t.Fatal(err)
		}
		if code := binary.BigEndian.Uint16(body[4:]); code != 0 {
			t.Errorf("v%d: the error code does not follow the correlation id: %x", v, body[:12])
		}
		if n := int(body[6]) - 1; n != len(endpoints()) {
			t.Errorf("v%d: %d keys, want %d", v, n, len(endpoints()))
		}
	}
}

func TestApiVersionsNamesTheTableAndTheFeatures(t *testing.T) {
	c := newRig(t, Options{}).dial()
	for v := int16(0); v <= 5; v++ {
		resp := c.request(apiVersionsRequest(v)).(*kmsg.ApiVersionsResponse)
		table := newTable()
		for _, k := range resp.ApiKeys {
			e := table.endpoint(k.ApiKey)
			if e == nil || k.MaxVersion != e.max || k.MinVersion > e.min {
				t.Errorf("v%d advertises %+v", v, k)
			}
		}
		if v < 3 {
			continue
		}
		if want := map[int16]int{3: 1, 4: 2, 5: 2}[v]; len(resp.SupportedFeatures) != want {
			t.Errorf("v%d: supported features %+v", v, resp.SupportedFeatures)
		}
		if len(resp.FinalizedFeatures) != 1 || resp.FinalizedFeatures[0].MaxVersionLevel != 30 || resp.FinalizedFeaturesEpoch < 0 {
			t.Errorf("v%d: finalized features %+v at %d", v, resp.FinalizedFeatures, resp.FinalizedFeaturesEpoch)
		}
	}
}

func TestApiVersionsChecksWhoIsMeant(t *testing.T) {
	c := newRig(t, Options{}).dial()
	for _, tc := range []struct {
		cluster string
		node    int32
		want    Code
	}{
		{testCluster, 1, CodeNone},
		{testCluster, 2, CodeRebootstrapRequired},
		{"other", 1, CodeRebootstrapRequired},
		{testCluster, -1, CodeInvalidRequest},
		{"", 1, CodeInvalidRequest},
	} {
		req := apiVersionsRequest(5)
		req.ClusterID, req.NodeID = nilIfEmpty(tc.cluster), tc.node
		if got := c.request(req).(*kmsg.ApiVersionsResponse); Code(got.ErrorCode) != tc.want {
			t.Errorf("cluster %q node %d: %v, want %v", tc.cluster, tc.node, Code(got.ErrorCode), tc.want)
		}
	}
}

func TestApiVersionsRefusesOddSoftwareNames(t *testing.T) {
	c := newRig(t, Options{}).dial()
	for name, want := range map[string]Code{"a": CodeNone, "a.b-c": CodeNone, "": CodeInvalidRequest, "-a": CodeInvalidRequest, "a b": CodeInvalidRequest, "ä": CodeInvalidRequest} {
		req := apiVersionsRequest(3)
		req.ClientSoftwareName = name
		if got := c.request(req).(*kmsg.ApiVersionsResponse); Code(got.ErrorCode) != want {
			t.Errorf("%q: %v, want %v", name, Code(got.ErrorCode), want)
		}
	}
}

func TestUnknownKeyOrVersionClosesTheConnection(t *testing.T) {
	r := newRig(t, Options{})
	for name, head := range map[string][2]int16{"key": {999, 0}, "negative key": {-1, 0}, "version": {3, 99}, "negative version": {3, -1}, "not served": {4, 0}} {
		t.Run(name, func(t *testing.T) {
			c := r.dial()
			frame := appendInt32(appendInt16(appendInt16(nil, head[0]), head[1]), 1)
			frame = appendInt16(frame, -1)
			c.write(append(binary.BigEndian.AppendUint32(nil, uint32(len(frame))), frame...))
			c.expectClosed()
		})
	}
}

func TestTruncatedRequestClosesTheConnection(t *testing.T) {
	r := newRig(t, Options{})
	whole := r.dial().frame(apiVersionsRequest(4))[4:]
	for n := range whole[:len(whole)-1] {
		c := r.dial()
		c.write(append(binary.BigEndian.AppendUint32(nil, uint32(n)), whole[:n]...))
		c.expectClosed()
	}
}

package api

import (
	"math"

	"github.com/weir-broker/weir/broker/network"
)

// endpoint is one row of the table of APIs.
type endpoint struct {
	key      int16
	name     string // Kafka's
	min, max int16  // the versions served
	// advertised is the lowest version that ApiVersions names, when it is not min.
	advertised int16
	// flexibleFrom is the first version with compact encodings and tags (KIP-482); noFlexible when none has.
	flexibleFrom int16
	serve        func(h *Handler, r *request, body []byte) network.Reply
	// notes say where an answer differs from Kafka's, for docs/api.md.
	notes string
}

func (e *endpoint) speaks(version int16) bool   { return version >= e.min && version <= e.max }
func (e *endpoint) flexible(version int16) bool { return version >= e.flexibleFrom }

// sameAsMin marks a row whose advertised minimum is the real one.
const sameAsMin int16 = -1

// noFlexible is above every version.
const noFlexible int16 = math.MaxInt16

// endpoints is the table of what weir serves; ApiVersions answers from it and nothing else is
// served. Ranges are from the lowest version of Kafka 4.4 (KIP-896) to the highest.
func endpoints() []endpoint {
	return []endpoint{
		{
			key: 0, name: "Produce", min: 3, max: 13, advertised: 0, flexibleFrom: 9, serve: (*Handler).produce,
			notes: "advertised from 0 on, as Kafka does (KAFKA-18659); transactional batches are refused with TRANSACTIONAL_ID_AUTHORIZATION_FAILED",
		},
		{key: 1, name: "Fetch", min: 4, max: 18, advertised: sameAsMin, flexibleFrom: 12, serve: (*Handler).fetch, notes: "no preferred read replica (no replica selector)"},
		{key: 2, name: "ListOffsets", min: 1, max: 11, advertised: sameAsMin, flexibleFrom: 6, serve: decoded((*Handler).listOffsets)},
		{key: 3, name: "Metadata", min: 0, max: 13, advertised: sameAsMin, flexibleFrom: 9, serve: decoded((*Handler).metadata), notes: "a topic created because it was asked for is in the very answer"},
		{key: 8, name: "OffsetCommit", min: 2, max: 10, advertised: sameAsMin, flexibleFrom: 8, serve: parked((*Handler).offsetCommit)},
		{key: 9, name: "OffsetFetch", min: 1, max: 10, advertised: sameAsMin, flexibleFrom: 6, serve: parked((*Handler).offsetFetch)},
		{key: 10, name: "FindCoordinator", min: 0, max: 6, advertised: sameAsMin, flexibleFrom: 3, serve: decoded((*Handler).findCoordinator), notes: "__consumer_offsets that is created because a group was asked for is in the very answer; transactions are refused with TRANSACTIONAL_ID_AUTHORIZATION_FAILED and share groups with INVALID_REQUEST"},
		{key: 11, name: "JoinGroup", min: 0, max: 9, advertised: sameAsMin, flexibleFrom: 6, serve: parked((*Handler).joinGroup)},
		{key: 12, name: "Heartbeat", min: 0, max: 4, advertised: sameAsMin, flexibleFrom: 4, serve: parked((*Handler).heartbeat)},
		{key: 13, name: "LeaveGroup", min: 0, max: 5, advertised: sameAsMin, flexibleFrom: 4, serve: parked((*Handler).leaveGroup)},
		{key: 14, name: "SyncGroup", min: 0, max: 5, advertised: sameAsMin, flexibleFrom: 4, serve: parked((*Handler).syncGroup)},
		{key: 15, name: "DescribeGroups", min: 0, max: 6, advertised: sameAsMin, flexibleFrom: 5, serve: parked((*Handler).describeGroups), notes: "groups in the order asked for"},
		{key: 16, name: "ListGroups", min: 0, max: 5, advertised: sameAsMin, flexibleFrom: 3, serve: parked((*Handler).listGroups)},
		{key: apiVersionsKey, name: "ApiVersions", min: 0, max: 5, advertised: sameAsMin, flexibleFrom: 3, serve: (*Handler).apiVersions},
		{key: 19, name: "CreateTopics", min: 2, max: 7, advertised: sameAsMin, flexibleFrom: 5, serve: decoded((*Handler).createTopics)},
		{key: 20, name: "DeleteTopics", min: 1, max: 6, advertised: sameAsMin, flexibleFrom: 4, serve: decoded((*Handler).deleteTopics), notes: "answered in the order of the request; Kafka shuffles"},
		{key: 21, name: "DeleteRecords", min: 0, max: 2, advertised: sameAsMin, flexibleFrom: 2, serve: decoded((*Handler).deleteRecords)},
		{key: 22, name: "InitProducerId", min: 0, max: 5, advertised: sameAsMin, flexibleFrom: 2, serve: decoded((*Handler).initProducerID), notes: "a transactional id is refused with TRANSACTIONAL_ID_AUTHORIZATION_FAILED"},
		{key: 23, name: "OffsetForLeaderEpoch", min: 2, max: 4, advertised: sameAsMin, flexibleFrom: 4, serve: decoded((*Handler).offsetForLeaderEpoch)},
		{key: 32, name: "DescribeConfigs", min: 1, max: 4, advertised: sameAsMin, flexibleFrom: 4, serve: decoded((*Handler).describeConfigs), notes: "no broker loggers"},
		{key: 33, name: "AlterConfigs", min: 0, max: 2, advertised: sameAsMin, flexibleFrom: 2, serve: decoded((*Handler).alterConfigs), notes: "no broker loggers"},
		{key: 35, name: "DescribeLogDirs", min: 1, max: 5, advertised: sameAsMin, flexibleFrom: 2, serve: decoded((*Handler).describeLogDirs)},
		{key: 37, name: "CreatePartitions", min: 0, max: 3, advertised: sameAsMin, flexibleFrom: 2, serve: decoded((*Handler).createPartitions)},
		{key: 42, name: "DeleteGroups", min: 0, max: 3, advertised: sameAsMin, flexibleFrom: 2, serve: parked((*Handler).deleteGroups), notes: "groups in the order asked for"},
		{key: 44, name: "IncrementalAlterConfigs", min: 0, max: 1, advertised: sameAsMin, flexibleFrom: 1, serve: decoded((*Handler).incrementalAlterConfigs), notes: "no broker loggers"},
		{key: 47, name: "OffsetDelete", min: 0, max: 0, advertised: sameAsMin, flexibleFrom: noFlexible, serve: parked((*Handler).offsetDelete)},
		{key: 55, name: "DescribeQuorum", min: 0, max: 2, advertised: sameAsMin, flexibleFrom: 0, serve: decoded((*Handler).describeQuorum), notes: "one voter, this node; offsets are indexes of the metadata log"},
		{key: 57, name: "UpdateFeatures", min: 0, max: 2, advertised: sameAsMin, flexibleFrom: 0, serve: decoded((*Handler).updateFeatures)},
		{key: 60, name: "DescribeCluster", min: 0, max: 2, advertised: sameAsMin, flexibleFrom: 0, serve: decoded((*Handler).describeCluster)},
		{key: 61, name: "DescribeProducers", min: 0, max: 0, advertised: sameAsMin, flexibleFrom: 0, serve: decoded((*Handler).describeProducers)},
		{key: 74, name: "ListConfigResources", min: 0, max: 1, advertised: sameAsMin, flexibleFrom: 0, serve: decoded((*Handler).listConfigResources)},
		{key: 75, name: "DescribeTopicPartitions", min: 0, max: 0, advertised: sameAsMin, flexibleFrom: 0, serve: decoded((*Handler).describeTopicPartitions)},
	}
}

const maxKey = 94

// apiTable is the endpoints by key. A nil entry is an API that is not served.
type apiTable [maxKey + 1]*endpoint

func newTable() *apiTable {
	var t apiTable
	for _, e := range endpoints() {
		t[e.key] = &e
	}
	return &t
}

func (t *apiTable) endpoint(key int16) *endpoint {
	if key < 0 || key > maxKey {
		return nil
	}
	return t[key]
}

package api

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"net"
	"os"
	runtimemetrics "runtime/metrics"
	"strconv"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weir-broker/weir/broker/controller"
	"github.com/weir-broker/weir/broker/metadata"
	"github.com/weir-broker/weir/broker/network"
)

// sampleRequest is a valid request of an API in a version.
func sampleRequest(key, version int16) kmsg.Request {
	req := kmsg.RequestForKey(key)
	switch q := req.(type) {
	case *kmsg.ProduceRequest:
		*q = *produceRequest(version, 1, "a", 0, plainBatch("x", "y"))
	case *kmsg.FetchRequest:
		*q = *fetchRequest(version, "a", 0, 1<<20, 0)
		q.SessionEpoch = 0
	case *kmsg.ListOffsetsRequest:
		*q = *listOffsetsRequest(version, "a", -1)
	case *kmsg.MetadataRequest:
		*q = *metadataRequest(version, "a")
	case *kmsg.ApiVersionsRequest:
		*q = *apiVersionsRequest(version)
	case *kmsg.CreateTopicsRequest:
		t := kmsg.NewCreateTopicsRequestTopic()
		t.Topic, t.NumPartitions, t.ReplicationFactor = "new", 1, 1
		t.Configs = []kmsg.CreateTopicsRequestTopicConfig{{Name: "flush.ms", Value: kmsg.StringPtr("1")}}
		q.Topics, q.TimeoutMillis, q.ValidateOnly = []kmsg.CreateTopicsRequestTopic{t}, 1000, true
	case *kmsg.DeleteTopicsRequest:
		q.TopicNames, q.TimeoutMillis = []string{"gone"}, 1000
		q.Topics = []kmsg.DeleteTopicsRequestTopic{{Topic: kmsg.StringPtr("gone")}}
	case *kmsg.DeleteRecordsRequest:
		q.Topics, q.TimeoutMillis = []kmsg.DeleteRecordsRequestTopic{{Topic: "a", Partitions: []kmsg.DeleteRecordsRequestTopicPartition{{}}}}, 1000
	case *kmsg.InitProducerIDRequest:
		q.ProducerID, q.ProducerEpoch = -1, -1
	case *kmsg.OffsetForLeaderEpochRequest:
		p := kmsg.NewOffsetForLeaderEpochRequestTopicPartition()
		q.Topics = []kmsg.OffsetForLeaderEpochRequestTopic{{Topic: "a", Partitions: []kmsg.OffsetForLeaderEpochRequestTopicPartition{p}}}
	case *kmsg.DescribeConfigsRequest:
		*q = *describeConfigsRequest(version, kmsg.ConfigResourceTypeTopic, "a")
	case *kmsg.AlterConfigsRequest:
		q.ValidateOnly = true
		q.Resources = []kmsg.AlterConfigsRequestResource{{ResourceType: kmsg.ConfigResourceTypeTopic, ResourceName: "a", Configs: []kmsg.AlterConfigsRequestResourceConfig{{Name: "flush.ms", Value: kmsg.StringPtr("1")}}}}
	case *kmsg.IncrementalAlterConfigsRequest:
		q.ValidateOnly = true
		q.Resources = []kmsg.IncrementalAlterConfigsRequestResource{{ResourceType: kmsg.ConfigResourceTypeTopic, ResourceName: "a", Configs: []kmsg.IncrementalAlterConfigsRequestResourceConfig{{Name: "flush.ms", Value: kmsg.StringPtr("1")}}}}
	case *kmsg.CreatePartitionsRequest:
		t := kmsg.NewCreatePartitionsRequestTopic()
		t.Topic, t.Count = "a", 9
		q.Topics, q.TimeoutMillis, q.ValidateOnly = []kmsg.CreatePartitionsRequestTopic{t}, 1000, true
	case *kmsg.DescribeQuorumRequest:
		q.Topics = []kmsg.DescribeQuorumRequestTopic{{Topic: quorumTopic, Partitions: []kmsg.DescribeQuorumRequestTopicPartition{{}}}}
	case *kmsg.UpdateFeaturesRequest:
		q.TimeoutMillis, q.ValidateOnly = 1000, true
		q.FeatureUpdates = []kmsg.UpdateFeaturesRequestFeatureUpdate{{Feature: "metadata.version", MaxVersionLevel: 30, UpgradeType: 1}}
	case *kmsg.DescribeProducersRequest:
		q.Topics = []kmsg.DescribeProducersRequestTopic{{Topic: "a", Partitions: []int32{0}}}
	case *kmsg.DescribeTopicPartitionsRequest:
		q.Topics, q.ResponsePartitionLimit = []kmsg.DescribeTopicPartitionsRequestTopic{{Topic: "a"}}, 100
	case *kmsg.DescribeClusterRequest:
		q.EndpointType = 1
	default:
		sampleGroupRequest(req, version)
	}
	req.SetVersion(version)
	return req
}

func TestEveryAdvertisedKeyAnswersAtEveryVersion(t *testing.T) {
	r := newRig(t, Options{Config: testConfig(t, "group.initial.rebalance.delay.ms=0")})
	r.addTopic("a", 1)
	r.addTopic(offsetsTopic, 2)
	r.awaitGroups()
	c := r.dial()
	for _, e := range endpoints() {
		for v := e.min; v <= e.max; v++ {
			req := sampleRequest(e.key, v)
			if req.MaxVersion() < e.max {
				t.Errorf("%s: kmsg knows versions up to %d only", e.name, req.MaxVersion())
			}
			c.request(req) // decodes, and compares with what kmsg would write
			if got := req.IsFlexible(); got != e.flexible(v) {
				t.Errorf("%s v%d: the table says flexible %v, kmsg %v", e.name, v, e.flexible(v), got)
			}
		}
	}
}

// refusingController answers everything with an error, so that mutated requests change nothing.
type refusingController struct{}

var errRefused = &controller.Error{Kind: controller.PolicyViolation, Message: "refused"}

func (refusingController) CreateTopics(_ context.Context, req controller.CreateTopicsRequest) (out []controller.CreateTopicResult, _ error) {
	for i := range req.Topics {
		out = append(out, controller.CreateTopicResult{Name: req.Topics[i].Name, Err: errRefused})
	}
	return out, nil
}

func (refusingController) DeleteTopics(_ context.Context, refs []controller.TopicRef) (out []controller.DeleteTopicResult, _ error) {
	for i := range refs {
		out = append(out, controller.DeleteTopicResult{Name: refs[i].Name, ID: refs[i].ID, Err: errRefused})
	}
	return out, nil
}

func (refusingController) CreatePartitions(_ context.Context, req controller.CreatePartitionsRequest) (out []controller.CreatePartitionsResult, _ error) {
	for i := range req.Topics {
		out = append(out, controller.CreatePartitionsResult{Name: req.Topics[i].Name, Err: errRefused})
	}
	return out, nil
}

func (refusingController) AlterConfigs(_ context.Context, req controller.AlterConfigsRequest) (out []controller.AlterConfigsResult, _ error) {
	for i := range req.Resources {
		out = append(out, controller.AlterConfigsResult{Resource: req.Resources[i].Resource, Err: errRefused})
	}
	return out, nil
}

func (refusingController) IncrementalAlterConfigs(_ context.Context, req controller.IncrementalAlterConfigsRequest) (out []controller.AlterConfigsResult, _ error) {
	for i := range req.Resources {
		out = append(out, controller.AlterConfigsResult{Resource: req.Resources[i].Resource, Err: errRefused})
	}
	return out, nil
}

func (refusingController) UpdateFeatures(context.Context, controller.UpdateFeaturesRequest) error {
	return errRefused
}

func (refusingController) AllocateProducerIDs(context.Context, metadata.BrokerID, metadata.BrokerEpoch) (controller.ProducerIDBlock, error) {
	return controller.ProducerIDBlock{First: 1, Count: 1 << 30}, nil
}

// feeder gives frames to a handler without a socket.
type feeder struct {
	handler *Handler
	conn    *network.Conn
	ended   context.Context
}

func newFeeder(t testing.TB, r *rig) *feeder {
	t.Helper()
	near, far := net.Pipe()
	t.Cleanup(func() { _, _ = near.Close(), far.Close() })
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	return &feeder{handler: r.handler, conn: r.server.Detached("PLAINTEXT", near), ended: ended}
}

// feed serves one frame and drops the answer; it returns its size.
func (f *feeder) feed(frame []byte) int {
	buf := f.conn.Pool().Get(len(frame))
	buf.B = append(buf.B, frame...)
	reply := f.handler.Serve(f.conn, buf)
	buf.Release()
	answer := reply.Buffer()
	if w := reply.Waiter(); w != nil {
		answer, _ = w.Wait(f.ended)
	}
	if answer == nil {
		return 0
	}
	n := answer.Len()
	answer.Release()
	return n
}

// sampleFrames are valid frames, without their length, of every API and version.
func sampleFrames() [][]byte {
	format := kmsg.NewRequestFormatter(kmsg.FormatterClientID("fuzz"))
	var out [][]byte
	for _, e := range endpoints() {
		for v := e.min; v <= e.max; v++ {
			out = append(out, format.AppendRequest(nil, sampleRequest(e.key, v), 7)[4:])
		}
	}
	return out
}

// mutate changes frame in one of the ways in which peers lie.
func mutate(rng *rand.Rand, frame []byte) []byte {
	frame = append([]byte(nil), frame...)
	for range 1 + rng.IntN(4) {
		if len(frame) < 12 {
			return frame
		}
		at := 8 + rng.IntN(len(frame)-8) // the key and version stay
		switch rng.IntN(7) {
		case 0:
			frame[at] ^= 1 << rng.IntN(8)
		case 1:
			frame[at] = byte(rng.Uint32())
		case 2: // a length
			if at+4 <= len(frame) {
				binary.BigEndian.PutUint32(frame[at:], []uint32{0, 1, 0x7fffffff, 0x80000000, 0xffffffff, 0xfffffffe, rng.Uint32()}[rng.IntN(7)])
			}
		case 3: // a long varint
			for i := at; i < len(frame) && i < at+5; i++ {
				frame[i] |= 0x80
			}
		case 4:
			frame = frame[:at]
		case 5:
			frame = append(frame[:at], frame[at+1+rng.IntN(min(8, len(frame)-at)):]...)
		case 6:
			frame = append(frame, frame[at:]...)
		}
	}
	return frame
}

func allocated() uint64 {
	s := []runtimemetrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	runtimemetrics.Read(s)
	return s[0].Value.Uint64()
}

// TestMutatedFramesAreHarmless feeds mutated requests of every API to the dispatcher. WEIR_FUZZ_FRAMES
// sets how many.
func TestMutatedFramesAreHarmless(t *testing.T) {
	frames := 60_000
	if n, err := strconv.Atoi(os.Getenv("WEIR_FUZZ_FRAMES")); err == nil {
		frames = n
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	// Some frames found groups, which then are in the answers to others: a broker serves so many and is thrown away.
	const perBroker = 200_000
	for first := 0; first < frames; first += perBroker {
		t.Run(strconv.Itoa(first), func(t *testing.T) { feedMutated(t, rng, min(perBroker, frames-first)) })
	}
}

// feedMutated feeds mutated frames to a new broker.
func feedMutated(t *testing.T, rng *rand.Rand, frames int) {
	r := newRig(t, Options{Config: testConfig(t, "auto.create.topics.enable=false")})
	r.addTopic("a", 1)
	r.addTopic(offsetsTopic, 2)
	r.handler.controller = refusingController{}
	samples := sampleFrames()
	f := newFeeder(t, r)
	const bound = 8 << 20 // bytes one frame below 2 KiB may cost; fetches return what was produced
	for i := range frames {
		frame := mutate(rng, samples[i%len(samples)])
		before := allocated()
		func() {
			defer func() {
				if v := recover(); v != nil {
					t.Fatalf("frame %x: panic: %v", frame, v)
				}
			}()
			f.feed(frame)
		}()
		if cost := allocated() - before; cost > bound {
			t.Fatalf("a frame of %d bytes cost %d: %x", len(frame), cost, frame)
		}
	}
}

func FuzzDispatch(f *testing.F) {
	for _, frame := range sampleFrames() {
		f.Add(frame)
	}
	r := newRig(f, Options{Config: testConfig(f, "auto.create.topics.enable=false")})
	r.addTopic("a", 1)
	r.addTopic(offsetsTopic, 2)
	r.handler.controller = refusingController{}
	feeder := newFeeder(f, r)
	f.Fuzz(func(_ *testing.T, frame []byte) {
		if len(frame) <= 64<<10 {
			feeder.feed(frame)
		}
	})
}

func TestHotPathAllocations(t *testing.T) {
	r := newRig(t, Options{})
	r.addTopic("a", 1)
	f := newFeeder(t, r)
	format := kmsg.NewRequestFormatter(kmsg.FormatterClientID("perf"))
	produce := format.AppendRequest(nil, produceRequest(12, 1, "a", 0, plainBatch("some value of some length", "and another one")), 7)[4:]
	allAcks := format.AppendRequest(nil, produceRequest(13, -1, "a", 0, plainBatch("some value of some length", "and another one")), 7)[4:]
	for name, frame := range map[string][]byte{"produce acks=1": produce, "produce acks=all": allAcks} {
		if n := testing.AllocsPerRun(200, func() { f.feed(frame) }); n > 5 {
			t.Errorf("%s: %v allocations per request, at most 5 are allowed", name, n)
		} else {
			t.Logf("%s: %v allocations", name, n)
		}
	}
	for _, v := range []int16{12, 17} {
		full := fetchRequest(v, "a", 0, 64<<10, 0)
		fetch := format.AppendRequest(nil, full, 7)[4:]
		if n := testing.AllocsPerRun(200, func() { f.feed(fetch) }); n > 5 {
			t.Errorf("fetch v%d: %v allocations per request, at most 5 are allowed", v, n)
		} else {
			t.Logf("fetch v%d: %v allocations", v, n)
		}
	}
}

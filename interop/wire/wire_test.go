//go:build interop

package wire

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weir-broker/weir/interop/compare"
	"github.com/weir-broker/weir/interop/oracle"
	"github.com/weir-broker/weir/interop/weir"
)

// broker is one of the two compared.
type broker struct {
	addr string
	conn *conn
	ids  map[string][16]byte
	// counts holds the partitions of the topics set up.
	counts map[string]int32
	keys   map[int16]kmsg.ApiVersionsResponseApiKey
}

func (b *broker) connect(t *testing.T) *conn {
	t.Helper()
	if b.conn == nil {
		c, err := dial(b.addr)
		if err != nil {
			t.Fatal(err)
		}
		b.conn = c
	}
	return b.conn
}

func (b *broker) drop() {
	b.conn.close()
	b.conn = nil
}

func (b *broker) must(t *testing.T, r kmsg.Request, version int16) kmsg.Response {
	t.Helper()
	r.SetVersion(version)
	resp, err := b.connect(t).ask(r)
	if err != nil {
		t.Fatalf("%s: %s v%d: %v", b.addr, kmsg.NameForKey(r.Key()), version, err)
	}
	return resp
}

// play sends a request and shows what came of it.
func (b *broker) play(t *testing.T, r kmsg.Request) []string {
	t.Helper()
	resp, err := b.connect(t).ask(r)
	if err != nil {
		b.drop()
		return []string{"error: " + err.Error()}
	}
	if v, ok := resp.(*kmsg.InitProducerIDResponse); ok && v.ErrorCode == 14 {
		return b.play(t, r) // the broker is fetching its first block of ids
	}
	sortUnordered(resp)
	out := lines(resp)
	for i, line := range out {
		out[i] = documentation.ReplaceAllString(line, "$1 = MASKED")
		for _, m := range texts {
			out[i] = m.re.ReplaceAllString(out[i], m.by)
		}
	}
	return out
}

// sortUnordered orders the lists that Kafka answers in the order of a hash table.
func sortUnordered(resp kmsg.Response) {
	switch v := resp.(type) {
	case *kmsg.MetadataResponse:
		slices.SortFunc(v.Topics, func(a, b kmsg.MetadataResponseTopic) int {
			return strings.Compare(deref(a.Topic), deref(b.Topic))
		})
	case *kmsg.CreateTopicsResponse:
		for _, x := range v.Topics {
			slices.SortFunc(x.Configs, func(a, b kmsg.CreateTopicsResponseTopicConfig) int { return strings.Compare(a.Name, b.Name) })
		}
	case *kmsg.DescribeConfigsResponse:
		for _, x := range v.Resources {
			slices.SortFunc(x.Configs, func(a, b kmsg.DescribeConfigsResponseResourceConfig) int { return strings.Compare(a.Name, b.Name) })
		}
	case *kmsg.ListConfigResourcesResponse:
		slices.SortFunc(v.ConfigResources, func(a, b kmsg.ListConfigResourcesResponseConfigResource) int {
			return cmp.Or(cmp.Compare(a.Type, b.Type), strings.Compare(a.Name, b.Name))
		})
	case *kmsg.ListGroupsResponse:
		slices.SortFunc(v.Groups, func(a, b kmsg.ListGroupsResponseGroup) int { return strings.Compare(a.Group, b.Group) })
	case *kmsg.OffsetFetchResponse:
		for _, g := range v.Groups {
			slices.SortFunc(g.Topics, func(a, b kmsg.OffsetFetchResponseGroupTopic) int {
				return cmp.Or(strings.Compare(a.Topic, b.Topic), cmp.Compare(len(a.Partitions), len(b.Partitions))) // or ids, which differ
			})
		}
		slices.SortFunc(v.Topics, func(a, b kmsg.OffsetFetchResponseTopic) int { return strings.Compare(a.Topic, b.Topic) })
	case *kmsg.DeleteTopicsResponse:
		slices.SortFunc(v.Topics, func(a, b kmsg.DeleteTopicsResponseTopic) int { return strings.Compare(deref(a.Topic), deref(b.Topic)) })
	case *kmsg.ApiVersionsResponse:
		// Which keys there are is compared by TestAdvertisedVersions.
		v.ApiKeys = nil
		slices.SortFunc(v.SupportedFeatures, func(a, b kmsg.ApiVersionsResponseSupportedFeature) int { return strings.Compare(a.Name, b.Name) })
		slices.SortFunc(v.FinalizedFeatures, func(a, b kmsg.ApiVersionsResponseFinalizedFeature) int { return strings.Compare(a.Name, b.Name) })
	}
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

var (
	documentation = regexp.MustCompile(`(\.Documentation) = .+`)
	texts         = []struct {
		re *regexp.Regexp
		by string
	}{
		{regexp.MustCompile(`127\.0\.0\.1:\d+`), "127.0.0.1:PORT"},
		{regexp.MustCompile(`/tmp/\S+`), "PATH"},
		{regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`), "UUID"},
		{regexp.MustCompile(`within \[-?\d+, \d+\]`), "within TIMES"},
		{regexp.MustCompile(`(__cluster_metadata.*(HighWatermark|LogEndOffset|LeaderEpoch)) = \d+`), "$1 = MASKED"}, // of the metadata log
		{regexp.MustCompile(`CQkJAAAAAAAAAAAAAAAAAA`), "ID"},
	}
)

// setUp creates the topics that the cases name and fills wf with two batches of two records.
func (b *broker) setUp(t *testing.T) {
	t.Helper()
	v := kmsg.NewPtrApiVersionsRequest()
	b.keys = map[int16]kmsg.ApiVersionsResponseApiKey{}
	for _, k := range b.must(t, v, 0).(*kmsg.ApiVersionsResponse).ApiKeys {
		b.keys[k.ApiKey] = k
	}
	r := kmsg.NewPtrCreateTopicsRequest()
	r.TimeoutMillis = 10000
	add := func(name string, partitions int32, config ...string) {
		c := kmsg.NewCreateTopicsRequestTopic()
		c.Topic, c.NumPartitions, c.ReplicationFactor = name, partitions, 1
		for i := 0; i < len(config); i += 2 {
			x := kmsg.NewCreateTopicsRequestTopicConfig()
			x.Name, x.Value = config[i], kmsg.StringPtr(config[i+1])
			c.Configs = append(c.Configs, x)
		}
		r.Topics = append(r.Topics, c)
	}
	add("w", 2)
	add("wf", 1)
	add("wp", 1)
	add("wa", 1)
	add("wd", 1)
	add("wc", 1, "cleanup.policy", "compact")
	add("ws", 1, "max.message.bytes", "2000")
	add("wm", 1, "min.insync.replicas", "2")
	for v := range 7 {
		add(fmt.Sprintf("gone-v%d", v), 1)
	}
	b.ids, b.counts = map[string][16]byte{}, map[string]int32{}
	for _, x := range b.must(t, r, 7).(*kmsg.CreateTopicsResponse).Topics {
		if x.ErrorCode != 0 {
			t.Fatalf("%s: create %s: code %d", b.addr, x.Topic, x.ErrorCode)
		}
		b.ids[x.Topic], b.counts[x.Topic] = x.TopicID, x.NumPartitions
	}
	b.awaitLeaders(t)
	b.awaitGroups(t)
	for range 2 {
		p := kmsg.NewPtrProduceRequest()
		p.Acks, p.TimeoutMillis = 1, 5000
		x := kmsg.NewProduceRequestTopic()
		x.Topic = "wf"
		y := kmsg.NewProduceRequestTopicPartition()
		y.Records = newBatch("one", "two").bytes()
		x.Partitions = append(x.Partitions, y)
		p.Topics = append(p.Topics, x)
		if code := b.must(t, p, 9).(*kmsg.ProduceResponse).Topics[0].Partitions[0].ErrorCode; code != 0 {
			t.Fatalf("%s: produce: code %d", b.addr, code)
		}
	}
}

// awaitLeaders waits until the broker leads every partition of the topics set up: a topic's creation is answered before that.
func (b *broker) awaitLeaders(t *testing.T) {
	t.Helper()
	r := kmsg.NewPtrListOffsetsRequest()
	r.ReplicaID = -1
	for name := range b.ids {
		x := kmsg.NewListOffsetsRequestTopic()
		x.Topic = name
		for i := range b.counts[name] {
			p := kmsg.NewListOffsetsRequestTopicPartition()
			p.Partition, p.CurrentLeaderEpoch, p.Timestamp = i, -1, -1
			x.Partitions = append(x.Partitions, p)
		}
		r.Topics = append(r.Topics, x)
	}
	for end := time.Now().Add(20 * time.Second); ; {
		waiting := ""
		for _, x := range b.must(t, r, 7).(*kmsg.ListOffsetsResponse).Topics {
			for _, p := range x.Partitions {
				if p.ErrorCode != 0 {
					waiting = x.Topic
				}
			}
		}
		if waiting == "" {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%s: no leader for %s", b.addr, waiting)
		}
	}
}

func startKafka(t *testing.T, o *oracle.Oracle) *broker {
	t.Helper()
	b, err := o.StartBroker(context.Background(), t.TempDir(), map[string]string{"offsets.topic.replication.factor": "1", "offsets.topic.num.partitions": "5"})
	if err != nil {
		t.Fatal(err)
	}
	k := &broker{addr: b.Bootstrap}
	k.setUp(t)
	return k
}

func startWeir(t *testing.T) *broker {
	t.Helper()
	addr := os.Getenv("WEIR_BOOTSTRAP")
	if addr == "" {
		addr = weir.Start(t, filepath.Join(t.TempDir(), "data"), "--override", "offsets.topic.replication.factor=1", "--override", "offsets.topic.num.partitions=5").Bootstrap
	}
	w := &broker{addr: addr}
	w.setUp(t)
	return w
}

func startOracle(t *testing.T) *oracle.Oracle {
	t.Helper()
	o, err := oracle.Start(oracle.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := o.Close(); err != nil {
			t.Error(err)
		}
	})
	return o
}

// playAll plays every case at every version on both and calls report with the differences, which are the same for the versions
// named.
func playAll(t *testing.T, a, b *broker, report func(step string, versions []int16, diff []string)) {
	t.Helper()
	only := regexp.MustCompile(os.Getenv("WEIR_STEPS"))
	for _, c := range cases() {
		key := c.build(env{}).Key()
		step := kmsg.NameForKey(key) + "/" + c.name
		if !only.MatchString(step) {
			continue
		}
		supported, ok := a.keys[key]
		if _, both := b.keys[key]; !ok || !both {
			t.Errorf("%s: not advertised by both", step)
			continue
		}
		low, high := max(supported.MinVersion, c.min), min(supported.MaxVersion, c.build(env{}).MaxVersion())
		if key == 0 {
			low = max(low, 3) // advertised from 0 for the sake of one client, served from 3
		}
		found := map[string][]int16{}
		var order []string
		for v := low; v <= high; v++ {
			play := func(b *broker) []string {
				start := time.Now()
				defer func() {
					if d := time.Since(start); d > time.Second {
						t.Logf("%s v%d took %v", step, v, d)
					}
				}()
				r := c.build(env{version: v, ids: b.ids})
				r.SetVersion(v)
				return b.play(t, r)
			}
			d := compare.Diff(play(a), play(b))
			text := strings.Join(d, "\n")
			if _, seen := found[text]; !seen {
				order = append(order, text)
			}
			found[text] = append(found[text], v)
		}
		for _, text := range order {
			if text != "" {
				report(step, found[text], strings.Split(text, "\n"))
			}
		}
	}
}

// TestAnswersAlike plays the cases against Kafka and weir.
func TestAnswersAlike(t *testing.T) {
	o := startOracle(t)
	kafka, ours := startKafka(t, o), startWeir(t)
	expected, err := compare.ReadExpected("expected.txt")
	if err != nil {
		t.Fatal(err)
	}
	playAll(t, kafka, ours, func(step string, versions []int16, diff []string) {
		if wrong := expected.Unexpected(step, diff); len(wrong) > 0 {
			t.Errorf("%s %v\n%s", step, versions, strings.Join(wrong, "\n"))
		}
	})
	if os.Getenv("WEIR_STEPS") == "" {
		for _, line := range expected.Stale() {
			t.Error(line)
		}
	}
}

// TestCasesAreStableOnKafka plays the cases on two Kafka brokers: what differs there is a mask that is missing here.
func TestCasesAreStableOnKafka(t *testing.T) {
	o := startOracle(t)
	a, b := startKafka(t, o), startKafka(t, o)
	playAll(t, a, b, func(step string, versions []int16, diff []string) {
		t.Errorf("%s %v\n%s", step, versions, strings.Join(diff, "\n"))
	})
}

// TestAdvertisedVersions: what weir advertises it advertises with Kafka's range.
func TestAdvertisedVersions(t *testing.T) {
	o := startOracle(t)
	kafka, ours := startKafka(t, o), startWeir(t)
	for key, w := range ours.keys {
		k, ok := kafka.keys[key]
		if !ok || k.MinVersion != w.MinVersion || k.MaxVersion != w.MaxVersion {
			t.Errorf("%s: [%d, %d], Kafka's is [%d, %d] (known: %v)", kmsg.NameForKey(key), w.MinVersion, w.MaxVersion, k.MinVersion, k.MaxVersion, ok)
		}
	}
	for key := range kafka.keys {
		if _, ok := ours.keys[key]; !ok {
			t.Logf("not advertised: %s", kmsg.NameForKey(key))
		}
	}
}

// TestBadFramesEndAlike sends, for every key weir advertises, a version above and below the range, a body cut short and a body with
// bytes behind its end, and compares whether the connection survives and with what answer.
func TestBadFramesEndAlike(t *testing.T) {
	o := startOracle(t)
	kafka, ours := startKafka(t, o), startWeir(t)
	expected, err := compare.ReadExpected("expected.txt")
	if err != nil {
		t.Fatal(err)
	}
	var keys []int16
	for key := range ours.keys {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		first := slices.IndexFunc(cases(), func(c testCase) bool { return c.build(env{}).Key() == key })
		if first < 0 {
			t.Errorf("%s: no case", kmsg.NameForKey(key))
			continue
		}
		c := cases()[first]
		for _, kind := range []string{"above", "below", "cut", "longer", "empty"} {
			outcome := func(b *broker) []string {
				r := c.build(env{ids: b.ids})
				version := kafka.keys[key].MaxVersion
				r.SetVersion(min(version, r.MaxVersion()))
				conn := b.connect(t)
				frame := conn.frame(r)
				switch kind {
				case "above":
					frame[6], frame[7] = 0, byte(version+1)
				case "below":
					low := kafka.keys[key].MinVersion
					if key == 0 {
						low = 3
					}
					frame[6], frame[7] = byte((low-1)>>8), byte(low-1)
				case "cut":
					frame = frame[:len(frame)-1]
				case "longer":
					frame = append(frame, 0, 0, 0)
				case "empty":
					frame = frame[:4+8+2+len(clientID)]
				}
				frame[0], frame[1], frame[2], frame[3] = 0, byte((len(frame)-4)>>16), byte((len(frame)-4)>>8), byte(len(frame)-4)
				body, err := conn.roundTrip(frame)
				if err != nil {
					b.drop()
					return []string{err.Error()}
				}
				if kind == "longer" {
					return []string{"answered"}
				}
				if key == 18 {
					return []string{fmt.Sprintf("answered, error code %d", int16(body[0])<<8|int16(body[1]))}
				}
				return []string{"answered"}
			}
			want, got := outcome(kafka), outcome(ours)
			step := kmsg.NameForKey(key) + "/frame-" + kind
			if wrong := expected.Unexpected(step, compare.Diff(want, got)); len(wrong) > 0 {
				t.Errorf("%s: %s", step, strings.Join(wrong, " "))
			}
		}
	}
	if c, err := dial(ours.addr); err != nil {
		t.Error(errors.Join(errors.New("weir takes no connection afterwards"), err))
	} else {
		c.close()
	}
}

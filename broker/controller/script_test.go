package controller

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/weir-broker/weir/broker/config"
	"github.com/weir-broker/weir/broker/metadata"
)

// script is the state that a test script works on.
type script struct {
	t     *testing.T
	rules rules
	img   *metadata.Image
	ids   int
}

// testFeatures is what the node under test supports.
func testFeatures() []metadata.SupportedFeature {
	return []metadata.SupportedFeature{{Name: "group.version", Min: 0, Max: 1}, {Name: metadata.MetadataFeature, Min: 7, Max: 30}}
}

func testConfig(t testing.TB, overrides ...string) *config.Broker {
	t.Helper()
	c, _, err := config.Load(config.Sources{Overrides: append([]string{
		"node.id=1", "log.dirs=/tmp/weir", "listeners=PLAINTEXT://127.0.0.1:9092", "process.roles=broker,controller",
		"controller.listener.names=CONTROLLER", "listeners=PLAINTEXT://127.0.0.1:9092,CONTROLLER://127.0.0.1:9093",
		"controller.quorum.voters=1@127.0.0.1:9093",
	}, overrides...)})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func newScript(t *testing.T) *script {
	s := &script{t: t}
	s.rules = newRules(Options{
		NodeID: 1, Config: testConfig(t, "num.partitions=2"), Features: testFeatures(), Random: rand.New(rand.NewPCG(1, 2)),
		NewTopicID: func() metadata.TopicID { s.ids++; return metadata.TopicID{15: byte(s.ids)} },
	})
	records := append([]metadata.Record{&metadata.TermStart{Term: 1}}, Bootstrap("alpha", metadata.Feature{Name: metadata.MetadataFeature, Level: 30})...)
	img, err := metadata.Apply(metadata.NewImage(), 1, metadata.Entry{Term: 1, Records: records})
	if err != nil {
		t.Fatal(err)
	}
	s.img = img
	return s
}

// TestScripts runs testdata/*.txt: a command is the operation and its input the
// request in JSON, the output the results, the records decided, and whether they
// apply. "image" prints the partitions and brokers.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			s := newScript(t)
			datadriven.RunTest(t, file, func(t *testing.T, d *datadriven.TestData) string {
				s.t = t
				return s.run(d)
			})
		})
	}
}

func parse[T any](s *script, input string) T {
	var req T
	d := json.NewDecoder(strings.NewReader(input))
	d.DisallowUnknownFields()
	if err := d.Decode(&req); err != nil {
		s.t.Fatalf("%v in %s", err, input)
	}
	return req
}

func (s *script) run(d *datadriven.TestData) string {
	var out strings.Builder
	st := s.rules.state(s.img)
	var records []metadata.Record
	item := func(name string, err *Error, format string, args ...any) {
		if err != nil {
			fmt.Fprintf(&out, "%s: %v\n", name, err)
		} else {
			fmt.Fprintf(&out, "%s: ok%s\n", name, fmt.Sprintf(format, args...))
		}
	}
	switch d.Cmd {
	case "create-topics":
		var results []CreateTopicResult
		records, results = st.createTopics(parse[CreateTopicsRequest](s, d.Input))
		for _, r := range results {
			item(r.Name, r.Err, " partitions=%d factor=%d%s", r.Partitions, r.ReplicationFactor, setConfigs(r.Configs))
		}
	case "delete-topics":
		var results []DeleteTopicResult
		records, results = st.deleteTopics(parse[[]TopicRef](s, d.Input))
		for _, r := range results {
			item(fmt.Sprintf("%q %d", r.Name, r.ID[15]), r.Err, "")
		}
	case "create-partitions":
		var results []CreatePartitionsResult
		records, results = st.createPartitions(parse[CreatePartitionsRequest](s, d.Input))
		for _, r := range results {
			item(r.Name, r.Err, "")
		}
	case "alter-configs", "incremental-alter-configs":
		var results []AlterConfigsResult
		if d.Cmd == "alter-configs" {
			records, results = st.alterConfigs(parse[AlterConfigsRequest](s, d.Input))
		} else {
			records, results = st.incrementalAlterConfigs(parse[IncrementalAlterConfigsRequest](s, d.Input))
		}
		for _, r := range results {
			item(fmt.Sprintf("%s %q", r.Resource.Type, r.Resource.Name), r.Err, "")
		}
	case "register":
		var err *Error
		var epoch metadata.BrokerEpoch
		records, epoch, err = st.registerBroker(parse[BrokerRegistration](s, d.Input))
		item("register", err, " epoch=%d", epoch)
	case "unregister":
		var err *Error
		records, err = st.unregisterBroker(parse[metadata.BrokerID](s, d.Input))
		item("unregister", err, "")
	case "heartbeat":
		var err *Error
		var r HeartbeatResult
		records, r, err = st.heartbeat(parse[BrokerHeartbeat](s, d.Input))
		item("heartbeat", err, " caught-up=%v fenced=%v shut-down=%v", r.CaughtUp, r.Fenced, r.ShouldShutDown)
	case "assign-dirs":
		var err *Error
		var results []*Error
		req := parse[AssignReplicasToDirs](s, d.Input)
		records, results, err = st.assignReplicasToDirs(req)
		item("assign-dirs", err, "")
		for i, r := range results {
			item(fmt.Sprintf("%d-%d", req.Replicas[i].TopicID[15], req.Replicas[i].Index), r, "")
		}
	case "producer-ids":
		var err *Error
		var block ProducerIDBlock
		req := parse[struct {
			ID    metadata.BrokerID
			Epoch metadata.BrokerEpoch
		}](s, d.Input)
		records, block, err = st.allocateProducerIDs(req.ID, req.Epoch)
		item("producer-ids", err, " [%d, +%d)", block.First, block.Count)
	case "update-features":
		var err *Error
		records, err = st.updateFeatures(parse[UpdateFeaturesRequest](s, d.Input))
		item("update-features", err, "")
	case "elect":
		var results []ElectLeaderResult
		records, results = st.electLeaders(parse[ElectLeadersRequest](s, d.Input))
		for _, r := range results {
			item(fmt.Sprintf("%s-%d", r.Topic, r.Index), r.Err, "")
		}
	case "isr": // sets a partition's ISR and leader, as its leader would
		req := parse[struct {
			Topic  string
			Index  int32
			ISR    []metadata.BrokerID
			Leader metadata.BrokerID
		}](s, d.Input)
		t := s.img.Topic(req.Topic)
		records = []metadata.Record{&metadata.PartitionChange{
			TopicID: t.ID, Index: req.Index, ExpectedEpoch: t.Partition(req.Index).PartitionEpoch, ISR: req.ISR, SetLeader: true, Leader: req.Leader,
		}}
	case "image":
		return s.image()
	default:
		return "unknown command"
	}
	s.apply(&out, records)
	return out.String()
}

func (s *script) apply(out *strings.Builder, records []metadata.Record) {
	for _, r := range records {
		fmt.Fprintf(out, "  %s\n", describe(r))
	}
	if len(records) == 0 {
		return
	}
	img, err := metadata.Apply(s.img, s.img.Index+1, metadata.Entry{Term: 1, Records: records})
	if err != nil {
		fmt.Fprintf(out, "DOES NOT APPLY: %v\n", err)
		return
	}
	s.img = img
}

// setConfigs counts effective configurations and names those the topic sets.
func setConfigs(entries []ConfigEntry) string {
	if entries == nil {
		return ""
	}
	text := fmt.Sprintf(" configs=%d", len(entries))
	for _, e := range entries {
		if e.Source == int8(config.SourceTopic) {
			text += fmt.Sprintf(" %s=%s", e.Name, *e.Value)
		}
	}
	return text
}

func describe(r metadata.Record) string {
	switch r := r.(type) {
	case *metadata.NewTopic:
		return fmt.Sprintf("topic %s id=%d", r.Name, r.ID[15])
	case *metadata.NewPartition:
		p := &r.Partition
		return fmt.Sprintf("partition %d-%d leader=%d replicas=%v isr=%v dirs=%v", r.TopicID[15], r.Index, p.Leader, p.Replicas, p.ISR, dirNumbers(p.Directories))
	case *metadata.PartitionChange:
		text := fmt.Sprintf("change %d-%d@%d", r.TopicID[15], r.Index, r.ExpectedEpoch)
		if r.SetLeader {
			text += fmt.Sprintf(" leader=%d", r.Leader)
		}
		if r.ISR != nil {
			text += fmt.Sprintf(" isr=%v", r.ISR)
		}
		if r.Directories != nil {
			text += fmt.Sprintf(" dirs=%v", dirNumbers(r.Directories))
		}
		if r.SetRecovery {
			text += fmt.Sprintf(" recovery=%d", r.Recovery)
		}
		return text
	case *metadata.RemoveTopic:
		return fmt.Sprintf("remove topic %d", r.ID[15])
	case *metadata.Config:
		if r.Value == nil {
			return fmt.Sprintf("config %s %q %s deleted", r.Resource.Type, r.Resource.Name, r.Key)
		}
		return fmt.Sprintf("config %s %q %s=%s", r.Resource.Type, r.Resource.Name, r.Key, *r.Value)
	case *metadata.RegisterBroker:
		b := &r.Broker
		return fmt.Sprintf("register %d epoch=%d rack=%q fenced=%v", b.ID, b.Epoch, b.Rack, b.Fenced)
	case *metadata.BrokerChange:
		text := fmt.Sprintf("broker %d@%d", r.ID, r.Epoch)
		if r.Fenced != nil {
			text += fmt.Sprintf(" fenced=%v", *r.Fenced)
		}
		if r.InControlledShutdown != nil {
			text += fmt.Sprintf(" shutdown=%v", *r.InControlledShutdown)
		}
		if r.LogDirs != nil {
			text += fmt.Sprintf(" dirs=%v", dirNumbers(r.LogDirs))
		}
		return text
	case *metadata.UnregisterBroker:
		return fmt.Sprintf("unregister %d@%d", r.ID, r.Epoch)
	case *metadata.ProducerIDs:
		return fmt.Sprintf("producer ids to %d for broker %d@%d", r.Next, r.BrokerID, r.BrokerEpoch)
	case *metadata.Feature:
		return fmt.Sprintf("feature %s=%d", r.Name, r.Level)
	}
	return fmt.Sprintf("%T", r)
}

func dirNumbers(dirs []metadata.DirID) []int {
	out := make([]int, len(dirs))
	for i, d := range dirs {
		out[i] = int(d[0])
	}
	return out
}

func (s *script) image() string {
	var out strings.Builder
	for id, b := range s.img.Brokers() {
		fmt.Fprintf(&out, "broker %d epoch=%d fenced=%v shutdown=%v\n", id, b.Epoch, b.Fenced, b.InControlledShutdown)
	}
	for name, t := range s.img.Topics() {
		for i, p := range t.Partitions() {
			fmt.Fprintf(&out, "%s-%d leader=%d/%d epoch=%d replicas=%v isr=%v\n", name, i, p.Leader, p.LeaderEpoch, p.PartitionEpoch, p.Replicas, p.ISR)
		}
	}
	for r, c := range s.img.Resources() {
		fmt.Fprintf(&out, "%s %q", r.Type, r.Name)
		for k, v := range c.All() {
			fmt.Fprintf(&out, " %s=%s", k, v)
		}
		out.WriteByte('\n')
	}
	return out.String()
}

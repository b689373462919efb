package metadata

import (
	"encoding/hex"
	"fmt"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// TestScripts runs testdata/*.txt. Commands:
//
//	apply term=N      the records below, one a line, as one entry at the next index
//	image             the image
//	encode            the record below, in hex; decoding must give it back
//	snapshot          encodes the image, decodes it, and prints the size
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			img := NewImage()
			datadriven.RunTest(t, file, func(t *testing.T, d *datadriven.TestData) string {
				switch d.Cmd {
				case "apply":
					var term int
					d.ScanArgs(t, "term", &term)
					next, err := Apply(img, img.Index+1, Entry{Term: Term(term), Records: parseRecords(t, d.Input)})
					if next != nil {
						img = next
					}
					if err != nil {
						return fmt.Sprintf("%v\nrefused: %v", err, Refused(err))
					}
					return "ok"
				case "image":
					return dump(img)
				case "encode":
					return encodeOne(t, parseRecords(t, d.Input)[0])
				case "snapshot":
					raw := AppendSnapshot(nil, img)
					got, err := DecodeSnapshot(raw)
					if err != nil {
						return err.Error()
					}
					if dump(got) != dump(img) {
						return "differs:\n" + dump(got)
					}
					return fmt.Sprintf("%d bytes: %x", len(raw), raw)
				}
				return "unknown command"
			})
		})
	}
}

func encodeOne(t *testing.T, r Record) string {
	raw := AppendEntry(nil, Entry{Term: 3, Records: []Record{r}})
	e, err := DecodeEntry(raw)
	if err != nil {
		t.Fatal(err)
	}
	if e.Term != 3 || !reflect.DeepEqual(e.Records, []Record{r}) {
		t.Fatalf("decoded %+v, want %+v", e.Records[0], r)
	}
	return hex.EncodeToString(raw)
}

// fields are the key=value words of a record's line.
type fields struct {
	t *testing.T
	m map[string]string
}

func (f fields) has(key string) bool   { _, ok := f.m[key]; return ok }
func (f fields) str(key string) string { return f.m[key] }

func (f fields) num(key string) int64 {
	text, ok := f.m[key]
	if !ok {
		return 0
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		f.t.Fatalf("%s: %v", key, err)
	}
	return n
}

func (f fields) id(key string) (u [16]byte) { u[0] = byte(f.num(key)); return u }

// ids reads "1,2"; "-" is empty, absent is nil.
func (f fields) ids(key string) []BrokerID {
	text, ok := f.m[key]
	if !ok {
		return nil
	}
	list := []BrokerID{}
	for _, part := range strings.Split(text, ",") {
		if n, err := strconv.Atoi(part); err == nil {
			list = append(list, BrokerID(n))
		}
	}
	return list
}

func (f fields) dirs(key string) []DirID {
	ids := f.ids(key)
	if ids == nil {
		return nil
	}
	list := make([]DirID, len(ids))
	for i, id := range ids {
		list[i][0] = byte(id)
	}
	return list
}

func (f fields) boolean(key string) *bool {
	if !f.has(key) {
		return nil
	}
	b := f.str(key) == "true"
	return &b
}

func parseRecords(t *testing.T, input string) []Record {
	var records []Record
	for line := range strings.Lines(input) {
		words := strings.Fields(line)
		f := fields{t, make(map[string]string)}
		for _, w := range words[1:] {
			k, v, _ := strings.Cut(w, "=")
			f.m[k] = v
		}
		records = append(records, parseRecord(f, words[0]))
	}
	return records
}

func parseRecord(f fields, kind string) Record {
	switch kind {
	case "term-start":
		return &TermStart{Term: Term(f.num("term")), Leader: BrokerID(f.num("leader"))}
	case "cluster":
		return &Cluster{ClusterID: f.str("id")}
	case "feature":
		return &Feature{Name: f.str("name"), Level: FeatureLevel(f.num("level"))}
	case "topic":
		return &NewTopic{ID: f.id("id"), Name: f.str("name")}
	case "partition":
		return &NewPartition{TopicID: f.id("topic"), Index: int32(f.num("index")), Partition: Partition{
			Replicas: f.ids("replicas"), ISR: f.ids("isr"), Directories: f.dirs("dirs"), ELR: f.ids("elr"),
			LastKnownELR: f.ids("last-elr"), Adding: f.ids("adding"), Removing: f.ids("removing"), Leader: BrokerID(f.num("leader")),
			LeaderEpoch: LeaderEpoch(f.num("leader-epoch")), PartitionEpoch: PartitionEpoch(f.num("epoch")),
			Recovery: RecoveryState(f.num("recovery")),
		}}
	case "change":
		return &PartitionChange{
			TopicID: f.id("topic"), Index: int32(f.num("index")), ExpectedEpoch: PartitionEpoch(f.num("epoch")),
			SetLeader: f.has("leader"), Leader: BrokerID(f.num("leader")), ISR: f.ids("isr"), Replicas: f.ids("replicas"),
			Adding: f.ids("adding"), Removing: f.ids("removing"), ELR: f.ids("elr"), LastKnownELR: f.ids("last-elr"),
			Directories: f.dirs("dirs"), SetRecovery: f.has("recovery"), Recovery: RecoveryState(f.num("recovery")),
		}
	case "remove":
		return &RemoveTopic{ID: f.id("topic")}
	case "config":
		r := &Config{Resource: Resource{ResourceType(f.num("type")), f.str("name")}, Key: f.str("key")}
		if f.has("value") {
			value := f.str("value")
			r.Value = &value
		}
		return r
	case "register":
		b := Broker{
			ID: BrokerID(f.num("broker")), Epoch: BrokerEpoch(f.num("epoch")), IncarnationID: f.id("incarnation"), Rack: f.str("rack"),
			LogDirs: f.dirs("dirs"), CordonedDirs: f.dirs("cordoned"), Fenced: f.str("fenced") == "true",
		}
		if f.has("host") {
			b.Endpoints = []Endpoint{{Name: "PLAINTEXT", Host: f.str("host"), Port: 9092}}
			b.Features = []SupportedFeature{{Name: MetadataFeature, Min: 7, Max: 30}}
		}
		return &RegisterBroker{Broker: b}
	case "broker-change":
		return &BrokerChange{
			ID: BrokerID(f.num("broker")), Epoch: BrokerEpoch(f.num("epoch")), Fenced: f.boolean("fenced"),
			InControlledShutdown: f.boolean("shutdown"), LogDirs: f.dirs("dirs"), CordonedDirs: f.dirs("cordoned"),
		}
	case "unregister":
		return &UnregisterBroker{ID: BrokerID(f.num("broker")), Epoch: BrokerEpoch(f.num("epoch"))}
	case "producer-ids":
		return &ProducerIDs{BrokerID: BrokerID(f.num("broker")), BrokerEpoch: BrokerEpoch(f.num("epoch")), Next: ProducerID(f.num("next"))}
	}
	f.t.Fatalf("record %q", kind)
	return nil
}

// dump is the image in words.
func dump(img *Image) string {
	var b strings.Builder
	fmt.Fprintf(&b, "cluster=%q index=%d term=%d weir=%d producer-id=%d features@%d partitions=%d\n",
		img.ClusterID, img.Index, img.Term, img.WeirLevel, img.NextProducerID, img.FeaturesIndex, img.PartitionCount())
	for name, level := range img.Features() {
		fmt.Fprintf(&b, "feature %s=%d\n", name, level)
	}
	for id, r := range img.Brokers() {
		fmt.Fprintf(&b, "broker %d epoch=%d rack=%q endpoints=%v dirs=%d fenced=%v shutdown=%v\n",
			id, r.Epoch, r.Rack, r.Endpoints, len(r.LogDirs), r.Fenced, r.InControlledShutdown)
	}
	for name, topic := range img.Topics() {
		fmt.Fprintf(&b, "topic %s id=%d\n", name, topic.ID[0])
		for i, p := range topic.Partitions() {
			fmt.Fprintf(&b, "  %d leader=%d/%d epoch=%d replicas=%v isr=%v", i, p.Leader, p.LeaderEpoch, p.PartitionEpoch, p.Replicas, p.ISR)
			for _, list := range []struct {
				name string
				ids  []BrokerID
			}{{"elr", p.ELR}, {"last-elr", p.LastKnownELR}, {"adding", p.Adding}, {"removing", p.Removing}} {
				if len(list.ids) > 0 {
					fmt.Fprintf(&b, " %s=%v", list.name, list.ids)
				}
			}
			if p.Recovery != Recovered {
				b.WriteString(" recovering")
			}
			b.WriteByte('\n')
		}
	}
	for r, c := range img.Resources() {
		fmt.Fprintf(&b, "configs %s %q", r.Type, r.Name)
		for k, v := range c.All() {
			fmt.Fprintf(&b, " %s=%s", k, v)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

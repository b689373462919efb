package metadata

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestTableAgreesWithMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var now table[int, int]
		model := make(map[int]int)
		var before table[int, int]
		snapshot := make(map[int]int)
		for i := range rapid.IntRange(0, 600).Draw(t, "operations") {
			key := rapid.IntRange(0, 400).Draw(t, "key")
			switch rapid.IntRange(0, 4).Draw(t, "op") {
			case 0:
				now = now.remove(key, cmp.Compare[int])
				delete(model, key)
			case 1:
				before, snapshot = now, maps.Clone(model)
			default:
				now = now.put(key, i, cmp.Compare[int])
				model[key] = i
			}
		}
		// The older table is as it was: nothing it shares was written to.
		for _, pair := range []struct {
			table table[int, int]
			model map[int]int
		}{{now, model}, {before, snapshot}} {
			var keys []int
			for k, v := range pair.table.all() {
				keys = append(keys, k)
				if got, ok := pair.table.get(k, cmp.Compare[int]); !ok || got != v || pair.model[k] != v {
					t.Fatalf("key %d: %d %v, model %d", k, got, ok, pair.model[k])
				}
			}
			want := slices.Sorted(maps.Keys(pair.model))
			if !slices.Equal(keys, want) || pair.table.size != len(want) {
				t.Fatalf("keys %v, want %v", keys, want)
			}
			from := rapid.IntRange(0, 400).Draw(t, "from")
			var rest []int
			for k := range pair.table.from(from, cmp.Compare[int]) {
				rest = append(rest, k)
			}
			at, _ := slices.BinarySearch(want, from)
			if !slices.Equal(rest, want[at:]) {
				t.Fatalf("from %d: %v, want %v", from, rest, want[at:])
			}
		}
	})
}

// bigImage has topics of partitions each.
func bigImage(t testing.TB, topics, partitions int) *Image {
	t.Helper()
	records := []Record{&TermStart{Term: 1}, &Cluster{ClusterID: "big"}}
	for n := range topics {
		id := topicID(n)
		records = append(records, &NewTopic{ID: id, Name: fmt.Sprintf("topic-%06d", n)})
		for i := range partitions {
			records = append(records, &NewPartition{TopicID: id, Index: int32(i), Partition: Partition{
				Replicas: []BrokerID{1}, ISR: []BrokerID{1}, Directories: []DirID{{1}}, Leader: 1,
			}})
		}
	}
	img, err := Apply(NewImage(), 1, Entry{Term: 1, Records: records})
	if err != nil {
		t.Fatal(err)
	}
	return img
}

func topicID(n int) TopicID { return TopicID{byte(n * 7), byte(n >> 8), byte(n)} }

func TestOnePartitionChangeSharesTheRest(t *testing.T) {
	for _, shape := range []struct{ topics, partitions int }{{1, 10_000}, {10_000, 1}} {
		img := bigImage(t, shape.topics, shape.partitions)
		name := fmt.Sprintf("topic-%06d", shape.topics/2)
		topic := img.Topic(name)
		entry := Entry{Term: 1, Records: []Record{
			&PartitionChange{TopicID: topic.ID, Index: int32(shape.partitions / 2), SetLeader: true, Leader: 1},
		}}
		result := testing.Benchmark(func(b *testing.B) {
			for b.Loop() {
				if _, err := Apply(img, 2, entry); err != nil {
					b.Fatal(err)
				}
			}
		})
		if got := result.AllocedBytesPerOp(); got > 32<<10 {
			t.Errorf("%+v: a change of one partition copies %d bytes", shape, got)
		}
		next, err := Apply(img, 2, entry)
		if err != nil {
			t.Fatal(err)
		}
		changes := 0
		for c := range ChangedTopics(img, next) {
			for i, p := range c.New.ChangedPartitions(c.Old) {
				changes++
				if c.New.Name != name || i != int32(shape.partitions/2) || p.LeaderEpoch != 1 {
					t.Errorf("change of %s-%d", c.New.Name, i)
				}
			}
		}
		if changes != 1 {
			t.Errorf("%d partitions differ, want 1", changes)
		}
		parts := 0
		if err := Parts(img, next, func(Part) error { parts++; return nil }); err != nil || parts != 2 {
			t.Errorf("%d parts differ (%v), want the chunk and the header", parts, err)
		}
	}
}

func TestReadsAllocateNothing(t *testing.T) {
	img := bigImage(t, 1000, 3)
	id := img.Topic("topic-000500").ID
	got := testing.AllocsPerRun(100, func() {
		if img.Partition("topic-000500", 2).Leader != 1 || img.TopicByID(id).Partition(1) == nil || img.Topic("none") != nil {
			t.Error("wrong answer")
		}
		for _, p := range img.TopicByID(id).Partitions() {
			if !p.InISR(1) {
				t.Error("wrong answer")
			}
		}
		img.Broker(1)
		img.Feature(MetadataFeature)
		img.Configs(Resource{TopicResource, "topic-000500"})
	})
	if got != 0 {
		t.Errorf("%v allocations", got)
	}
}

func TestPublishedImageNeverChanges(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	img := bigImage(t, 50, 70)
	type kept struct {
		img  *Image
		text string
	}
	var history []kept
	for step := range 300 {
		if step%30 == 0 {
			history = append(history, kept{img, dump(img)})
		}
		next, err := Apply(img, img.Index+1, Entry{Term: 1, Records: randomRecords(rng, img)})
		if err != nil && !Refused(err) {
			t.Fatal(err)
		}
		img = next
	}
	for _, k := range history {
		if dump(k.img) != k.text {
			t.Fatalf("image %d changed", k.img.Index)
		}
	}
	assertPartsRebuild(t, history[0].img, history[4].img, img)
}

func randomRecords(rng *rand.Rand, img *Image) []Record {
	var records []Record
	for range 1 + rng.IntN(5) {
		n := rng.IntN(60)
		id := topicID(n)
		switch rng.IntN(6) {
		case 0:
			records = append(records, &NewTopic{ID: id, Name: fmt.Sprintf("topic.%06d", n)})
		case 1:
			records = append(records, &RemoveTopic{ID: id})
		case 2:
			value := fmt.Sprint(rng.IntN(9))
			r := &Config{Resource: Resource{TopicResource, fmt.Sprintf("topic-%06d", n)}, Key: fmt.Sprintf("k%d", rng.IntN(5)), Value: &value}
			if rng.IntN(3) == 0 {
				r.Value = nil
			}
			records = append(records, r)
		default:
			t := img.TopicByID(id)
			if t == nil || t.PartitionCount() == 0 {
				continue
			}
			i := rng.Int32N(t.PartitionCount())
			records = append(records, &PartitionChange{TopicID: id, Index: i, ExpectedEpoch: t.Partition(i).PartitionEpoch, SetLeader: true, Leader: 2})
			if rng.IntN(2) == 0 {
				records = append(records, &NewPartition{TopicID: id, Index: t.PartitionCount(), Partition: Partition{Replicas: []BrokerID{3}}})
			}
		}
	}
	return records
}

// assertPartsRebuild keeps parts by key, as metadata.db does, across images.
func assertPartsRebuild(t *testing.T, images ...*Image) {
	t.Helper()
	stored := make(map[string][]byte)
	var old *Image
	for _, img := range images {
		err := Parts(old, img, func(p Part) error {
			key := string(append([]byte{byte(p.Kind)}, p.Key...))
			if p.Body == nil {
				delete(stored, key)
			} else {
				stored[key] = bytes.Clone(p.Body)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		old = img
		l := NewLoader()
		for key, body := range stored {
			if err := l.Add(PartKind(key[0]), body); err != nil {
				t.Fatal(err)
			}
		}
		got, err := l.Image()
		if err != nil {
			t.Fatal(err)
		}
		if dump(got) != dump(img) {
			t.Fatalf("parts give another image at %d", img.Index)
		}
		if other, err := DecodeSnapshot(AppendSnapshot(nil, img)); err != nil || dump(other) != dump(img) {
			t.Fatalf("snapshot gives another image at %d: %v", img.Index, err)
		}
	}
}

func TestCollidingNamesAreFound(t *testing.T) {
	img, err := Apply(NewImage(), 1, Entry{Term: 1, Records: []Record{
		&TermStart{Term: 1}, &NewTopic{ID: TopicID{1}, Name: "a.b"}, &NewTopic{ID: TopicID{2}, Name: "a_b"}, &NewTopic{ID: TopicID{3}, Name: "plain"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if img, err = Apply(img, 2, Entry{Term: 1, Records: []Record{&RemoveTopic{ID: TopicID{1}}}}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"a.b": "a_b", "plain": "", "plain.x": "", "a_b": "a_b"} {
		if got, _ := img.Colliding(name); got != want {
			t.Errorf("%s collides with %q, want %q", name, got, want)
		}
	}
}

func TestIDsAreWrittenAsKafkaWritesThem(t *testing.T) {
	u := UUID{0x53, 0x2a, 0xff, 0xfe, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}
	text := u.String()
	if text != "Uyr__gECAwQFBgcICQoLDA" {
		t.Fatal(text)
	}
	if !DirLost.Reserved() || (DirID{15: 100}).Reserved() || (DirID{14: 1}).Reserved() {
		t.Error("reserved directory ids")
	}
}

func TestUnknownRecordStopsTheReplica(t *testing.T) {
	var enc encoder
	for _, r := range []Record{unknownRecord{99, 0}, unknownRecord{TypeTopic, 7}} {
		raw := appendRecord(nil, &enc, r)
		if _, err := decodeRecord(&decoder{b: raw}); !errors.Is(err, ErrUnknownRecord) || Refused(err) {
			t.Errorf("%+v: %v", r, err)
		}
	}
	if _, err := Apply(&Image{}, 1, Entry{Records: []Record{unknownRecord{99, 0}}}); !errors.Is(err, ErrUnknownRecord) {
		t.Error(err)
	}
	if err := NewLoader().Add(77, nil); !errors.Is(err, ErrUnknownFormat) {
		t.Error(err)
	}
}

type unknownRecord struct {
	typ RecordType
	v   uint16
}

func (r unknownRecord) Type() RecordType { return r.typ }
func (r unknownRecord) version() uint16  { return r.v }
func (unknownRecord) encode(*encoder)    {}

func FuzzDecode(f *testing.F) {
	script, err := os.ReadFile("testdata/format_v0.txt")
	if err != nil {
		f.Fatal(err)
	}
	for line := range strings.Lines(string(script)) {
		var raw []byte
		if n, _ := fmt.Sscanf(strings.TrimSpace(line), "%x", &raw); n == 1 && len(raw) > 8 {
			f.Add(raw)
		}
	}
	f.Add(AppendSnapshot(nil, bigImage(f, 2, 3)))
	f.Fuzz(func(t *testing.T, raw []byte) {
		// The checksum would hide the decoders, so they are given its bytes bare.
		d := &decoder{b: raw}
		for d.err == nil && len(d.b) > 0 {
			r, err := decodeRecord(d)
			if err != nil {
				break
			}
			var enc encoder
			again := appendRecord(nil, &enc, r)
			if _, err := decodeRecord(&decoder{b: again}); err != nil {
				t.Fatalf("encoded %+v: %v", r, err)
			}
		}
		if e, err := DecodeEntry(raw); err == nil {
			_, _ = Apply(NewImage(), 1, e)
		}
		for kind := PartHeader; kind <= PartBroker; kind++ {
			l := NewLoader()
			if l.Add(kind, raw) == nil {
				_, _ = l.Image()
			}
		}
		_, _ = DecodeSnapshot(raw)
	})
}

func BenchmarkTopicLookup(b *testing.B) {
	img := bigImage(b, 10_000, 1)
	for b.Loop() {
		img.Topic("topic-005678")
	}
}

func BenchmarkApplyThousandPartitions(b *testing.B) {
	for b.Loop() {
		bigImage(b, 1, 1000)
	}
}

package partition

import (
	"errors"
	"strconv"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/weir-broker/weir/broker/batch"
	"github.com/weir-broker/weir/broker/commitlog"
	"github.com/weir-broker/weir/broker/config"
	"github.com/weir-broker/weir/broker/metadata"
	"github.com/weir-broker/weir/broker/vfs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// cluster is the metadata of a test: an image and what changes it.
type cluster struct {
	t     testing.TB
	img   *metadata.Image
	index metadata.Index
	ids   byte
}

func newCluster(t testing.TB) *cluster {
	c := &cluster{t: t, img: metadata.NewImage()}
	c.change(&metadata.TermStart{Term: 1, Leader: 1})
	c.change(&metadata.Cluster{ClusterID: "test"})
	for id := metadata.BrokerID(1); id <= 3; id++ {
		c.change(&metadata.RegisterBroker{Broker: metadata.Broker{ID: id, Epoch: metadata.BrokerEpoch(10 * id)}})
	}
	return c
}

func (c *cluster) change(rs ...metadata.Record) {
	c.t.Helper()
	c.index++
	img, err := metadata.Apply(c.img, c.index, metadata.Entry{Term: 1, Records: rs})
	if err != nil {
		c.t.Fatal(err)
	}
	c.img = img
}

// topic creates a topic whose partitions all have these replicas and lead with
// the first.
func (c *cluster) topic(name string, partitions int, replicas ...metadata.BrokerID) metadata.TopicID {
	c.t.Helper()
	if len(replicas) == 0 {
		replicas = []metadata.BrokerID{1}
	}
	c.ids++
	id := metadata.TopicID{0: 0xab, 15: c.ids}
	c.change(&metadata.NewTopic{ID: id, Name: name})
	for i := range partitions {
		dirs := make([]metadata.DirID, len(replicas))
		c.change(&metadata.NewPartition{TopicID: id, Index: int32(i), Partition: metadata.Partition{
			Replicas: replicas, ISR: replicas, Directories: dirs, Leader: replicas[0],
		}})
	}
	return id
}

func (c *cluster) set(topic, key, value string) {
	c.t.Helper()
	c.change(&metadata.Config{Resource: metadata.Resource{Type: metadata.TopicResource, Name: topic}, Key: key, Value: &value})
}

// lead moves leadership.
func (c *cluster) lead(topic string, index int32, leader metadata.BrokerID) {
	c.t.Helper()
	tp := c.img.Topic(topic)
	c.change(&metadata.PartitionChange{TopicID: tp.ID, Index: index, ExpectedEpoch: tp.Partition(index).PartitionEpoch, SetLeader: true, Leader: leader})
}

// host is a broker's table on some file system.
type host struct {
	*Table
	t      testing.TB
	fs     vfs.FS
	mu     sync.Mutex
	failed []string
}

var testDirs = []string{"/data/a", "/data/b"}

func testConfig(t testing.TB, overrides ...string) *config.Broker {
	t.Helper()
	b, _, err := config.Load(config.Sources{Overrides: append([]string{
		"node.id=1", "process.roles=broker,controller", "log.dirs=/data/a,/data/b",
		"listeners=PLAINTEXT://127.0.0.1:0,CONTROLLER://127.0.0.1:0", "controller.listener.names=CONTROLLER",
		"controller.quorum.voters=1@127.0.0.1:9093",
	}, overrides...)})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func openHost(t testing.TB, fs vfs.FS, edit func(o *Options), overrides ...string) *host {
	t.Helper()
	h := &host{t: t, fs: fs}
	o := Options{
		NodeID: 1, Config: testConfig(t, overrides...), FailedDirs: map[string]error{},
		DirFailed: func(path string, _ error) {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.failed = append(h.failed, path)
		},
	}
	// The folder above log.dirs is the operator's, and durable.
	if err := errors.Join(fs.MkdirAll("/data", 0o755), vfs.SyncDir(fs, "/")); err != nil {
		t.Fatal(err)
	}
	for _, path := range testDirs {
		dir, err := commitlog.OpenDir(fs, path, commitlog.DirOptions{ClusterID: "test", NodeID: 1})
		if err != nil {
			o.FailedDirs[path] = err
			continue
		}
		o.Dirs = append(o.Dirs, dir)
	}
	if edit != nil {
		edit(&o)
	}
	table, err := NewTable(o)
	if err != nil {
		t.Fatal(err)
	}
	h.Table = table
	return h
}

func (h *host) apply(c *cluster) {
	h.t.Helper()
	if err := h.Apply(c.img); err != nil {
		h.t.Fatal(err)
	}
}

func (h *host) get(topic string, index int32) *Partition {
	h.t.Helper()
	p, err := h.Lookup(topic, index)
	if err != nil {
		h.t.Fatalf("%s-%d: %v", topic, index, err)
	}
	return p
}

func (h *host) close() {
	h.t.Helper()
	if err := h.Close(); err != nil {
		h.t.Fatal(err)
	}
}

// one is a table with one topic "t" of one partition.
func one(t testing.TB, overrides ...string) (*host, *cluster, *Partition) {
	t.Helper()
	c := newCluster(t)
	c.topic("t", 1)
	for _, o := range overrides {
		key, value, _ := cut(o)
		c.set("t", key, value)
	}
	h := openHost(t, vfs.NewMem(), nil)
	h.apply(c)
	t.Cleanup(func() { _ = h.Close() })
	return h, c, h.get("t", 0)
}

func cut(s string) (string, string, bool) {
	for i := range s {
		if s[i] == '=' {
			return s[:i], s[i+1:], true
		}
	}
	return s, "", false
}

// records builds a batch of records with the given timestamps.
func records(stamps ...int64) []byte {
	b := batch.NewBuilder(batch.NoProducer())
	for i, ts := range stamps {
		b.Add(ts, []byte("k"+strconv.Itoa(i)), []byte("value"), nil)
	}
	return b.Bytes()
}

// values builds a batch of records with the given values, stamped now.
func values(vs ...string) []byte {
	b := batch.NewBuilder(batch.NoProducer())
	for _, v := range vs {
		b.Add(time.Now().UnixMilli(), nil, []byte(v), nil)
	}
	return b.Bytes()
}

func idempotent(id batch.ProducerID, sequence int32, n int) []byte {
	o := batch.NoProducer()
	o.ProducerID, o.ProducerEpoch, o.BaseSequence = id, 0, sequence
	b := batch.NewBuilder(o)
	for i := range n {
		b.Add(time.Now().UnixMilli(), nil, []byte(strconv.Itoa(i)), nil)
	}
	return b.Bytes()
}

func produce(raw []byte) AppendRequest {
	return AppendRequest{Raw: raw, Acks: AcksAll, CurrentLeaderEpoch: NoEpoch}
}

func mustAppend(t testing.TB, p *Partition, raw []byte) AppendResult {
	t.Helper()
	r, err := p.Append(produce(raw))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func consume(from batch.Offset) FetchRequest {
	return FetchRequest{Offset: from, MaxBytes: 1 << 20, MinOneBatch: true, CurrentLeaderEpoch: NoEpoch, LastFetchedEpoch: NoEpoch, ReplicaID: Consumer}
}

// read returns the values from an offset on, as "offset:value".
func read(t testing.TB, p *Partition, from batch.Offset) []string {
	t.Helper()
	r, err := p.Fetch(consume(from), nil)
	if err != nil {
		t.Fatal(err)
	}
	return decode(t, r.Records, from)
}

func decode(t testing.TB, raw []byte, from batch.Offset) []string {
	t.Helper()
	var out []string
	err := batch.Split(raw, func(_ batch.Header, b []byte) error {
		it, err := batch.Records(b, batch.Limits{})
		if err != nil {
			return err
		}
		defer it.Close()
		for it.Next() {
			if it.Offset() >= from {
				out = append(out, strconv.FormatInt(int64(it.Offset()), 10)+":"+string(it.Record().Value))
			}
		}
		return it.Err()
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// await waits until p acknowledges everything below next.
func await(t testing.TB, p *Partition, next batch.Offset) error {
	t.Helper()
	w := NewWaiter()
	p.Watch(w)
	defer p.Unwatch(w)
	timeout := time.NewTimer(20 * time.Second)
	defer timeout.Stop()
	for {
		done, err := p.AckState(next)
		if done || err != nil {
			return err
		}
		select {
		case <-w.C():
		case <-timeout.C:
			return errors.New("no acknowledgement")
		}
	}
}

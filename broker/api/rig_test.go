package api

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weir-broker/weir/broker/commitlog"
	"github.com/weir-broker/weir/broker/config"
	"github.com/weir-broker/weir/broker/controller"
	"github.com/weir-broker/weir/broker/metadata"
	"github.com/weir-broker/weir/broker/network"
	"github.com/weir-broker/weir/broker/partition"
	"github.com/weir-broker/weir/broker/vfs"
)

const testCluster = "AAAAAAAAAAAAAAAAAAAAAQ"

// rig is a handler behind a real listener.
type rig struct {
	t          testing.TB
	handler    *Handler
	server     *network.Server
	addr       string
	fs         *vfs.Mem
	table      *partition.Table
	quorum     *testQuorum
	controller *controller.Controller
}

func testConfig(t testing.TB, overrides ...string) *config.Broker {
	t.Helper()
	overrides = append([]string{"node.id=1", "process.roles=broker,controller", "log.dirs=" + t.TempDir(), "listeners=PLAINTEXT://127.0.0.1:9092,CONTROLLER://127.0.0.1:9093", "controller.listener.names=CONTROLLER", "controller.quorum.voters=1@127.0.0.1:9093"}, overrides...)
	cfg, _, err := config.Load(config.Sources{Overrides: overrides})
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

func newRig(t testing.TB, o Options) *rig {
	t.Helper()
	if o.Config == nil {
		o.Config = testConfig(t)
	}
	if o.Features == nil {
		o.Features = []metadata.SupportedFeature{{Name: "metadata.version", Min: 7, Max: 30}, {Name: "kraft.version", Min: 0, Max: 1}}
	}
	fs := vfs.NewMem()
	dir, err := commitlog.OpenDir(fs, "data", commitlog.DirOptions{ClusterID: testCluster, NodeID: 1})
	if err != nil {
		t.Fatal(err)
	}
	table, err := partition.NewTable(partition.Options{NodeID: 1, Dirs: []*commitlog.Dir{dir}, Config: o.Config, Logger: slog.New(slog.NewTextHandler(t.Output(), nil))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := table.Close(); err != nil {
			t.Errorf("close table: %v", err)
		}
	})
	o.Table = table
	q := &testQuorum{img: metadata.NewImage(), leadership: make(chan metadata.Leadership, 1)}
	var drawn byte
	c := controller.New(controller.Options{
		NodeID: 1, Quorum: q, Config: o.Config, Features: o.Features, Random: rand.New(rand.NewPCG(1, 2)),
		Bootstrap:  controller.Bootstrap(testCluster, metadata.Feature{Name: "metadata.version", Level: 30}),
		NewTopicID: func() metadata.TopicID { drawn++; return metadata.TopicID{0xff, drawn} },
		Logger:     slog.New(slog.NewTextHandler(t.Output(), nil)),
	})
	t.Cleanup(c.Close)
	o.Controller = c
	groups := newRigGroups(o.Config)
	t.Cleanup(func() {
		if err := groups.Close(context.Background()); err != nil {
			t.Errorf("close groups: %v", err)
		}
	})
	o.Groups = groups
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, handler: New(o), addr: l.Addr().String(), fs: fs, table: table, quorum: q, controller: c}
	r.server = network.NewServer(network.Options{Handler: r.handler, Listeners: []network.Listener{{Name: "PLAINTEXT", Listener: l}}, Logger: slog.New(slog.NewTextHandler(t.Output(), nil))})
	r.server.Start()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := r.server.Stop(ctx); err != nil {
			t.Errorf("stop: %v", err)
		}
	})
	r.quorum.publish = func(img *metadata.Image) {
		self := img.Configs(metadata.Resource{Type: metadata.BrokerResource, Name: "1"})
		if cfg, err := o.Config.WithDynamic(self.Map(), img.Configs(metadata.Resource{Type: metadata.BrokerResource}).Map()); err == nil {
			r.handler.SetConfig(cfg)
		}
		if err := table.Apply(img); err != nil {
			t.Errorf("apply: %v", err)
		}
		groups.follow(img, table)
		r.handler.Publish(img)
	}
	r.quorum.leadership <- metadata.Leadership{Leader: true, Term: 1}
	for !r.controller.Active() {
		runtime.Gosched()
	}
	r.publish(&metadata.RegisterBroker{Broker: metadata.Broker{ID: 1, Epoch: 1, Rack: "r1", Endpoints: []metadata.Endpoint{{Name: "PLAINTEXT", Host: "broker.example", Port: 9092}}, Features: o.Features, LogDirs: []metadata.DirID{metadata.DirID(dir.ID())}}})
	return r
}

// publish applies records and publishes the image.
func (r *rig) publish(records ...metadata.Record) {
	r.t.Helper()
	if _, err := r.quorum.Start(metadata.Entry{Term: 1, Records: records})(context.Background()); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) image() *metadata.Image { return r.quorum.Image() }

// testQuorum is a metadata log that applies at once.
type testQuorum struct {
	mu         sync.Mutex
	img        *metadata.Image
	publish    func(*metadata.Image)
	leadership chan metadata.Leadership
}

func (q *testQuorum) Image() *metadata.Image {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.img
}

func (q *testQuorum) Leadership() <-chan metadata.Leadership { return q.leadership }

func (q *testQuorum) Start(e metadata.Entry) func(context.Context) (metadata.Index, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	next, err := metadata.Apply(q.img, q.img.Index+1, e)
	if next != nil {
		q.img = next
		q.publish(next)
	}
	return func(context.Context) (metadata.Index, error) { return next.Index, err }
}

func topicID(name string) metadata.TopicID {
	var id metadata.TopicID
	copy(id[:], name)
	return id
}

// addTopic publishes a topic led by node 1.
func (r *rig) addTopic(name string, partitions int) {
	r.t.Helper()
	records := []metadata.Record{&metadata.NewTopic{ID: topicID(name), Name: name}}
	for i := range partitions {
		records = append(records, &metadata.NewPartition{TopicID: topicID(name), Index: int32(i), Partition: metadata.Partition{
			Replicas: []metadata.BrokerID{1}, Directories: []metadata.DirID{metadata.DirUnassigned}, ISR: []metadata.BrokerID{1}, Leader: 1,
		}})
	}
	r.publish(records...)
}

// client is one connection that speaks raw frames.
type client struct {
	t           testing.TB
	conn        net.Conn
	correlation int32
}

func (r *rig) dial() *client {
	r.t.Helper()
	c, err := net.Dial("tcp", r.addr)
	if err != nil {
		r.t.Fatal(err)
	}
	_ = c.SetDeadline(time.Now().Add(15 * time.Second))
	r.t.Cleanup(func() { _ = c.Close() })
	return &client{t: r.t, conn: c}
}

// frame encodes req with a header, in the version set on it.
func (c *client) frame(req kmsg.Request) []byte {
	c.correlation++
	return kmsg.NewRequestFormatter(kmsg.FormatterClientID("test")).AppendRequest(nil, req, c.correlation)
}

func (c *client) write(b []byte) {
	c.t.Helper()
	if _, err := c.conn.Write(b); err != nil {
		c.t.Fatal(err)
	}
}

func (c *client) read() ([]byte, error) {
	var n [4]byte
	if _, err := io.ReadFull(c.conn, n[:]); err != nil {
		return nil, err
	}
	body := make([]byte, binary.BigEndian.Uint32(n[:]))
	_, err := io.ReadFull(c.conn, body)
	return body, err
}

// request sends req and decodes the answer in the same version.
func (c *client) request(req kmsg.Request) kmsg.Response {
	c.t.Helper()
	c.write(c.frame(req))
	return c.response(req, c.correlation)
}

func (c *client) response(req kmsg.Request, correlation int32) kmsg.Response {
	c.t.Helper()
	body, err := c.read()
	if err != nil {
		c.t.Fatalf("%s v%d: %v", kmsg.NameForKey(req.Key()), req.GetVersion(), err)
	}
	return c.decode(req, correlation, body)
}

func (c *client) decode(req kmsg.Request, correlation int32, body []byte) kmsg.Response {
	c.t.Helper()
	if got := int32(binary.BigEndian.Uint32(body)); got != correlation {
		c.t.Fatalf("correlation id %d, want %d", got, correlation)
	}
	body = body[4:]
	if req.IsFlexible() && req.Key() != apiVersionsKey {
		if body[0] != 0 {
			c.t.Fatalf("response header has %d tags", body[0])
		}
		body = body[1:]
	}
	resp := req.ResponseKind()
	resp.SetVersion(req.GetVersion())
	if err := resp.ReadFrom(body); err != nil {
		c.t.Fatalf("%s v%d: %v", kmsg.NameForKey(req.Key()), req.GetVersion(), err)
	}
	if again := resp.AppendTo(nil); string(again) != string(body) {
		c.t.Errorf("%s v%d: the answer is not what kmsg writes for it:\n got %x\nwant %x", kmsg.NameForKey(req.Key()), req.GetVersion(), body, again)
	}
	return resp
}

func (c *client) expectClosed() {
	c.t.Helper()
	body, err := c.read()
	if err == nil {
		c.t.Fatalf("got an answer of %d bytes, want the connection closed", len(body))
	}
	var ne net.Error
	if errors.As(err, &ne) && ne.Timeout() {
		c.t.Fatal("the connection is still open")
	}
}

// versions runs fn for every version of an API.
func versions(t *testing.T, key int16, fn func(t *testing.T, version int16)) {
	t.Helper()
	e := newTable().endpoint(key)
	for v := e.min; v <= e.max; v++ {
		t.Run(strings.Join([]string{e.name, "v" + itoa(int(v))}, "/"), func(t *testing.T) { fn(t, v) })
	}
}

func itoa(n int) string { return strconv.Itoa(n) }

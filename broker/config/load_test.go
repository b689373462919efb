package config

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "server.properties")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const minimal = "node.id=1\nprocess.roles=broker,controller\n"

func mustLoad(t *testing.T, text string) *Broker {
	t.Helper()
	b, _, err := Load(Sources{Path: write(t, minimal+text)})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The file has the keys and values of the server.properties that Kafka 4.4 ships.
func TestKafkaServerPropertiesLoadsAsIs(t *testing.T) {
	b, warnings, err := Load(Sources{Path: "testdata/kafka-4.4-server.properties"})
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range warnings {
		if !strings.Contains(w.Text, "no effect") {
			t.Errorf("warning: %+v", w)
		}
	}
	if len(b.Listeners) != 1 || b.Listeners[0] != (Listener{"PLAINTEXT", Plaintext, "", 9092}) {
		t.Errorf("listeners %+v", b.Listeners)
	}
	if len(b.ControllerListeners) != 1 || b.ControllerListeners[0].Port != 9093 {
		t.Errorf("controller listeners %+v", b.ControllerListeners)
	}
	if len(b.AdvertisedListeners) != 1 || b.AdvertisedListeners[0].Host != "localhost" {
		t.Errorf("advertised %+v", b.AdvertisedListeners)
	}
	if !slices.Equal(b.LogDirs, []string{"/tmp/kraft-combined-logs"}) || b.NodeID != 1 {
		t.Errorf("%+v", b)
	}
}

func TestAllProblemsAreReportedAtOnceWithTheirPlaces(t *testing.T) {
	path := write(t, `node.id=one
process.roles=broker,controller
# a comment
num.partitions = 0
log.retention.ms=forever
auto.create.topics.enable=yes
bad\u12zz=1
compression.type=brotli
listeners=SSL://:9092
`)
	_, _, err := Load(Sources{
		Path:      path,
		Environ:   []string{"WEIR_SOCKET_REQUEST_MAX_BYTES=huge", "PATH=/bin"},
		Overrides: []string{"message.max.bytes=-1", "oops"},
	})
	var problems *LoadError
	if !errors.As(err, &problems) {
		t.Fatalf("error %v", err)
	}
	got := strings.ReplaceAll(err.Error(), path, "server.properties")
	want := `server.properties:1: node.id: "one": Not a number of type INT; write a number (int) in [0,...]
server.properties:4: num.partitions: "0": Value must be at least 1; write a number (int) in [1,...], or remove it for the default 1
server.properties:5: log.retention.ms: "forever": Not a number of type LONG; write a number (long)
server.properties:6: auto.create.topics.enable: "yes": Expected value to be either true or false; write true or false, or remove it for the default true
server.properties:7: "\\u12zz" is not a unicode escape; write four hexadecimal digits after \u, or \\u for a backslash
server.properties:8: compression.type: "brotli": String must be one of: uncompressed, zstd, lz4, snappy, gzip, producer; choose from [uncompressed, zstd, lz4, snappy, gzip, producer], or remove it for the default producer
server.properties:9: listeners: listener SSL speaks SSL, which this version does not serve; map it to PLAINTEXT, or put a TLS proxy in front
--override: oops: has no value; write --override key=value
--override: message.max.bytes: "-1": Value must be at least 0; write a number (int) in [0,...], or remove it for the default 1048588
environment WEIR_SOCKET_REQUEST_MAX_BYTES: socket.request.max.bytes: "huge": Not a number of type INT; write a number (int) in [1,...], or remove it for the default 104857600`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestCombinationsAreReportedAtTheLineToChange(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"no id":           {"process.roles=broker,controller", "node.id: is not set; add a line such as node.id=1"},
		"no roles":        {"node.id=1", "process.roles: is not set; add a line process.roles=broker,controller"},
		"broker only":     {"node.id=1\nprocess.roles=broker", "2: process.roles: a node of this version is broker and controller at once"},
		"two ids":         {minimal + "broker.id=2", "3: broker.id: is 2 but node.id is 1; remove broker.id"},
		"voters":          {minimal + "controller.quorum.voters=1@a:1,2@b:1", "3: controller.quorum.voters: names 2 voters"},
		"foreign voter":   {minimal + "controller.quorum.voters=7@a:1", "3: controller.quorum.voters: does not contain this node, 1"},
		"bad voter":       {minimal + "controller.quorum.voters=x", `"x" is not {id}@{host}:{port}`},
		"tls":             {minimal + "listeners=SSL://:9092", "3: listeners: listener SSL speaks SSL, which this version does not serve"},
		"acl":             {minimal + "authorizer.class.name=x.Y", "3: authorizer.class.name: weir has no access control lists yet"},
		"unknown name":    {minimal + "listeners=FOO://:9092", "3: listeners: listener FOO has no security protocol"},
		"no port":         {minimal + "listeners=PLAINTEXT://host", "3: listeners: \"PLAINTEXT://host\" is not NAME://host:port"},
		"port range":      {minimal + "listeners=PLAINTEXT://:70000", "port 70000 of PLAINTEXT://:70000 is not between 0 and 65535"},
		"same port":       {minimal + "listeners=A://:1,B://:1\nlistener.security.protocol.map=A:PLAINTEXT,B:PLAINTEXT", "A and B are both on port 1"},
		"same name":       {minimal + "listeners=PLAINTEXT://:1,PLAINTEXT://:2", "two listeners are named PLAINTEXT"},
		"only controller": {minimal + "listeners=CONTROLLER://:1\ncontroller.listener.names=CONTROLLER", "none is left for clients"},
		"unroutable":      {minimal + "advertised.listeners=PLAINTEXT://0.0.0.0:9092", "PLAINTEXT is at 0.0.0.0, where no client can connect"},
		"not a listener":  {minimal + "advertised.listeners=SSL://h:9092", "3: advertised.listeners: SSL is not in listeners; use names of PLAINTEXT"},
		"inter broker":    {minimal + "inter.broker.listener.name=X", "3: inter.broker.listener.name: X is not among the advertised listeners; use one of PLAINTEXT"},
		"retention zero":  {minimal + "log.retention.minutes=0", "3: log.retention.minutes: must be unlimited (-1) or, greater than or equal to 1"},
		"same dir":        {minimal + "log.dirs=/a,/a/", "3: log.dirs: /a/ is listed twice"},
		"empty dirs":      {minimal + "log.dirs=", "3: log.dirs: Configuration 'log.dirs' must not be empty."},
		"admin":           {minimal + "weir.admin.address=nowhere", `3: weir.admin.address: "nowhere" is not host:port`},
		"lag":             {minimal + "log.cleaner.min.compaction.lag.ms=9\nlog.cleaner.max.compaction.lag.ms=8", "min.compaction.lag.ms (9) > max.compaction.lag.ms (8)"},
		"protocol map":    {minimal + "listener.security.protocol.map=A", `"A" is not NAME:PROTOCOL`},
		"queue":           {minimal + "queued.max.request.bytes=5", "must be larger or equal to socket.request.max.bytes"},
		"per ip":          {minimal + "max.connections.per.ip.overrides=h", `"h" is not host:count`},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := Load(Sources{Path: write(t, c.text)})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

func TestWarningsNameTheNearestProperty(t *testing.T) {
	for text, want := range map[string]string{
		"log.retentoin.ms=5":       "did you mean log.retention.ms?",
		"retention.ms=5":           "did you mean log.retention.ms?",
		"admin.address=:1":         "did you mean weir.admin.address?",
		"rsm.config.bucket=x":      "is not a broker property and is ignored",
		"zookeeper.connect=z":      "ZooKeeper is gone since Kafka 4.0",
		"num.io.threads=9":         "is accepted but has no effect in weir",
		"num.partitions=3":         "",
		"num.io.threads=8":         "",
		"log.dirs=/a\nlog.dirs=/b": "replaces the value set at",
	} {
		_, warnings, err := Load(Sources{Path: write(t, minimal+text)})
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if want == "" && len(warnings) == 0 {
			continue
		}
		if len(warnings) != 1 || !strings.Contains(warnings[0].Text, want) {
			t.Errorf("%s: warnings %+v, want %q", text, warnings, want)
		}
	}
}

func TestLaterSourcesWin(t *testing.T) {
	b, _, err := Load(Sources{
		Defaults:  map[string]string{"node.id": "5", "process.roles": "broker,controller", "num.partitions": "2"},
		Path:      write(t, "num.partitions=3\nlog.segment.bytes=1048576\n"),
		Environ:   []string{"WEIR_LOG_SEGMENT_BYTES=2097152", "WEIR_ADMIN_ADDRESS=127.0.0.1:1", "WEIR_BOOTSTRAP=x:1"},
		Overrides: []string{"num.partitions = 4"},
	})
	if err != nil {
		t.Fatal(err)
	}
	topic, err := Topic(nil, b)
	if err != nil {
		t.Fatal(err)
	}
	if b.NodeID != 5 || b.NumPartitions != 4 || topic.SegmentBytes != 2097152 || b.AdminAddress != "127.0.0.1:1" {
		t.Errorf("node %d, partitions %d, segment %d, admin %s", b.NodeID, b.NumPartitions, topic.SegmentBytes, b.AdminAddress)
	}
}

func TestUnsetAdvertisedListenersStayUnset(t *testing.T) {
	b := mustLoad(t, "listeners=PLAINTEXT://0.0.0.0:9092\n")
	if b.AdvertisedListeners != nil {
		t.Errorf("advertised %+v", b.AdvertisedListeners)
	}
}

func TestRetentionTakesTheFinestUnitThatIsSet(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"":                      7 * 24 * time.Hour,
		"log.retention.hours=1": time.Hour,
		"log.retention.hours=1\nlog.retention.minutes=2": 2 * time.Minute,
		"log.retention.hours=1\nlog.retention.ms=3":      3 * time.Millisecond,
		"log.retention.minutes=-1":                       -time.Millisecond,
		"log.retention.hours=-1":                         -time.Millisecond,
		"log.retention.ms=9223372036854775807":           1<<63 - 1,
		"log.retention.hours=2147483647":                 1<<63 - 1,
	} {
		topic, err := Topic(nil, mustLoad(t, text))
		if err != nil {
			t.Fatal(err)
		}
		if topic.Retention != want {
			t.Errorf("%q: retention %v, want %v", text, topic.Retention, want)
		}
	}
}

func TestMissingFileIsOneProblem(t *testing.T) {
	_, _, err := Load(Sources{Path: filepath.Join(t.TempDir(), "none")})
	var problems *LoadError
	if !errors.As(err, &problems) || len(problems.Problems) != 1 || !strings.Contains(err.Error(), "no such file or directory; give the path") {
		t.Error(err)
	}
}

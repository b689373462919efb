package config

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write golden files and docs/config.md")

func printed(entries []Entry) string {
	var b strings.Builder
	show := func(v *string) string {
		if v == nil {
			return "null"
		}
		return *v
	}
	for _, e := range entries {
		fmt.Fprintf(&b, "%s=%s source=%d type=%s", e.Name, show(e.Value), e.Source, e.Type)
		if e.ReadOnly {
			b.WriteString(" read-only")
		}
		if e.Sensitive {
			b.WriteString(" sensitive")
		}
		b.WriteString(" [")
		for i, s := range e.Synonyms {
			if i > 0 {
				b.WriteString(", ")
			}
			fmt.Fprintf(&b, "%d:%s=%s", s.Source, s.Name, show(s.Value))
		}
		b.WriteString("]\n")
	}
	return b.String()
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s is stale; run go test ./broker/config -update\n%s", path, firstDifference(got, string(want)))
	}
}

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return fmt.Sprintf("line %d\ngot  %s\nwant %s", i+1, g[i], w[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(g), len(w))
}

// layered is a broker with something in every layer.
func layered(t *testing.T) *Broker {
	t.Helper()
	b := mustLoad(t, `log.dirs=/a
log.retention.hours=24
log.segment.bytes=2097152
ssl.key.password=secret
listener.name.external.ssl.keystore.password=hidden
max.connections=100
listener.name.external.max.connections=7
some.plugin.key=maybe a secret
`)
	b, err := b.WithDynamic(
		map[string]string{"log.segment.bytes": "4194304", "background.threads": "12"},
		map[string]string{"log.segment.bytes": "3145728", "log.retention.ms": "5000", "message.max.bytes": "99"})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestDescribeListsEveryProperty(t *testing.T) {
	b := layered(t)
	overrides := map[string]string{"cleanup.policy": "compact , delete", "segment.bytes": "1048576", "from.the.future": "1"}
	golden(t, "testdata/describe_topic.txt", printed(b.DescribeTopic(overrides, nil)))
	golden(t, "testdata/describe_group.txt", printed(b.DescribeGroup(map[string]string{"consumer.session.timeout.ms": "46000"}, nil)))
	golden(t, "testdata/describe_broker.txt", printed(b.DescribeBroker(nil)))
	golden(t, "testdata/describe_cluster.txt", printed(b.DescribeClusterDefault(nil)))
}

func TestDescribeOrdersSourcesAsKafka(t *testing.T) {
	b := layered(t)
	for key, want := range map[string]string{
		"segment.bytes": "segment.bytes=1048576 source=1 type=int [1:segment.bytes=1048576, 2:log.segment.bytes=4194304, " +
			"3:log.segment.bytes=3145728, 4:log.segment.bytes=2097152, 5:log.segment.bytes=1073741824]\n",
		"retention.ms": "retention.ms=5000 source=3 type=long [3:log.retention.ms=5000, 4:log.retention.hours=24, 5:log.retention.hours=168]\n",
		// No broker property stands for it, so it has no layers, only a default.
		"leader.replication.throttled.replicas": "leader.replication.throttled.replicas= source=5 type=list []\n",
		"no.such.key":                           "",
	} {
		if got := printed(b.DescribeTopic(map[string]string{"segment.bytes": "1048576"}, []string{key})); got != want {
			t.Errorf("%s:\ngot  %swant %s", key, got, want)
		}
	}
	for key, want := range map[string]string{
		"log.retention.ms":    "log.retention.ms=5000 source=3 type=long [3:log.retention.ms=5000, 4:log.retention.hours=24, 5:log.retention.hours=168]\n",
		"log.retention.hours": "log.retention.hours=24 source=4 type=int read-only [4:log.retention.hours=24, 5:log.retention.hours=168]\n",
		"ssl.key.password":    "ssl.key.password=null source=4 type=password sensitive [4:ssl.key.password=null]\n",
		"some.plugin.key":     "some.plugin.key=null source=4 type=unknown read-only sensitive [4:some.plugin.key=null]\n",
		"broker.id":           "broker.id=1 source=4 type=int read-only [4:broker.id=1, 5:broker.id=-1]\n",
		"listener.name.external.max.connections": "listener.name.external.max.connections=7 source=4 type=int read-only " +
			"[4:listener.name.external.max.connections=7, 4:max.connections=100, 5:max.connections=2147483647]\n",
		"max.connections": "max.connections=100 source=4 type=int [4:max.connections=100, 5:max.connections=2147483647]\n",
	} {
		if got := printed(b.DescribeBroker([]string{key})); got != want {
			t.Errorf("%s:\ngot  %swant %s", key, got, want)
		}
	}
}

func TestDescribeNeverShowsSecrets(t *testing.T) {
	b := layered(t)
	all := printed(b.DescribeBroker(nil)) + printed(b.DescribeClusterDefault(nil))
	for _, secret := range []string{"=secret", "=hidden", "maybe a secret"} {
		if strings.Contains(all, secret) {
			t.Errorf("shows %q", secret)
		}
	}
}

func TestDynamicValuesThatDoNotParseAreLeftOut(t *testing.T) {
	b, err := mustLoad(t, "max.connections=5").WithDynamic(map[string]string{"max.connections": "many"}, nil)
	if err == nil || b.MaxConnections != 5 {
		t.Errorf("max.connections %d, error %v", b.MaxConnections, err)
	}
}

func TestTopicFollowsDynamicBrokerDefaults(t *testing.T) {
	b := layered(t)
	c, err := Topic(nil, b)
	if err != nil {
		t.Fatal(err)
	}
	if c.SegmentBytes != 4194304 || c.Retention.Milliseconds() != 5000 || c.MaxMessageBytes != 99 {
		t.Errorf("%+v", c)
	}
}

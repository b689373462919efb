//go:build interop

package config_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weir-broker/weir/broker/config"
)

// The broker is changed in every layer, and then asked about itself, a topic and a group. Ours is given the same layers.
func TestDescriptionsAreThoseOfKafka(t *testing.T) {
	o, ctx := start(t)
	kafka, err := o.StartBroker(ctx, t.TempDir(), map[string]string{
		"log.retention.hours": "24", "log.segment.bytes": "2097152", "ssl.key.password": "secret", "max.connections": "100",
		"listener.name.plaintext.max.connections": "50", "some.plugin.key": "x", "unclean.leader.election.interval.ms": "300001",
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := kafka.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	cl, err := kgo.NewClient(kgo.SeedBrokers(kafka.Bootstrap))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()

	all := describe(ctx, t, cl, kmsg.ConfigResourceTypeBroker, "1")
	static := make(map[string]string)
	for _, c := range all {
		for _, s := range c.ConfigSynonyms {
			if s.Source == kmsg.ConfigSourceStaticBrokerConfig && s.Value != nil {
				static[s.Name] = *s.Value
			}
		}
	}
	static["ssl.key.password"], static["some.plugin.key"] = "secret", "x"
	delete(static, "broker.id") // node.id under its other name
	dynamic := map[string]string{"log.segment.bytes": "4194304", "background.threads": "12", "listener.name.plaintext.max.connections": "40"}
	cluster := map[string]string{"log.retention.ms": "5000", "message.max.bytes": "99999", "min.insync.replicas": "1"}
	topic := map[string]string{"cleanup.policy": "compact , delete", "segment.bytes": "1048576"}
	groups := map[string]string{"consumer.session.timeout.ms": "46000"}
	create := kmsg.NewPtrCreateTopicsRequest()
	item := kmsg.NewCreateTopicsRequestTopic()
	item.Topic, item.NumPartitions, item.ReplicationFactor = "t", 1, 1
	create.Topics = append(create.Topics, item)
	if _, err := create.RequestWith(ctx, cl); err != nil {
		t.Fatal(err)
	}
	alter(ctx, t, cl, kmsg.ConfigResourceTypeBroker, "1", dynamic)
	alter(ctx, t, cl, kmsg.ConfigResourceTypeBroker, "", cluster)
	alter(ctx, t, cl, kmsg.ConfigResourceTypeTopic, "t", topic)
	alter(ctx, t, cl, kmsg.ConfigResourceTypeGroupConfig, "g", groups)

	b, _, err := config.Load(config.Sources{Defaults: static})
	if err != nil {
		t.Fatal(err)
	}
	if b, err = b.WithDynamic(dynamic, cluster); err != nil {
		t.Fatal(err)
	}
	compare(t, "broker", b.DescribeBroker(nil), describe(ctx, t, cl, kmsg.ConfigResourceTypeBroker, "1"))
	compare(t, "cluster", b.DescribeClusterDefault(nil), describe(ctx, t, cl, kmsg.ConfigResourceTypeBroker, ""))
	compare(t, "topic", b.DescribeTopic(topic, nil), describe(ctx, t, cl, kmsg.ConfigResourceTypeTopic, "t"))
	compare(t, "group", b.DescribeGroup(groups, nil), describe(ctx, t, cl, kmsg.ConfigResourceTypeGroupConfig, "g"))
}

func describe(ctx context.Context, t *testing.T, cl *kgo.Client, typ kmsg.ConfigResourceType, name string) []kmsg.DescribeConfigsResponseResourceConfig {
	t.Helper()
	req := kmsg.NewPtrDescribeConfigsRequest()
	req.IncludeSynonyms = true
	item := kmsg.NewDescribeConfigsRequestResource()
	item.ResourceType, item.ResourceName = typ, name
	req.Resources = append(req.Resources, item)
	resp, err := req.RequestWith(ctx, cl)
	if err != nil || len(resp.Resources) != 1 || resp.Resources[0].ErrorCode != 0 {
		t.Fatalf("describe %v %s: %v, %+v", typ, name, err, resp)
	}
	return resp.Resources[0].Configs
}

func alter(ctx context.Context, t *testing.T, cl *kgo.Client, typ kmsg.ConfigResourceType, name string, values map[string]string) {
	t.Helper()
	req := kmsg.NewPtrIncrementalAlterConfigsRequest()
	item := kmsg.NewIncrementalAlterConfigsRequestResource()
	item.ResourceType, item.ResourceName = typ, name
	for k, v := range values {
		c := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
		c.Name, c.Value = k, &v
		item.Configs = append(item.Configs, c)
	}
	req.Resources = append(req.Resources, item)
	resp, err := req.RequestWith(ctx, cl)
	if err != nil || len(resp.Resources) != 1 || resp.Resources[0].ErrorCode != 0 {
		t.Fatalf("alter %v %s: %v, %+v", typ, name, err, resp)
	}
}

func shown(v *string) string {
	if v == nil {
		return "null"
	}
	return *v
}

func compare(t *testing.T, what string, ours []config.Entry, theirs []kmsg.DescribeConfigsResponseResourceConfig) {
	t.Helper()
	texts := make(map[string]string)
	for _, e := range ours {
		var layers []string
		for _, s := range e.Synonyms {
			layers = append(layers, fmt.Sprintf("%d:%s=%s", s.Source, s.Name, shown(s.Value)))
		}
		readOnly := e.ReadOnly
		if e.Name == "listeners" || e.Name == "listener.security.protocol.map" {
			readOnly = false // ours are fixed at start
		}
		texts[e.Name] = fmt.Sprintf("%s source %d type %d read-only %v sensitive %v %v", shown(e.Value), e.Source, e.Type, readOnly, e.Sensitive, layers)
	}
	var names []string
	for _, c := range theirs {
		var layers []string
		for _, s := range c.ConfigSynonyms {
			layers = append(layers, fmt.Sprintf("%d:%s=%s", s.Source, s.Name, shown(s.Value)))
		}
		names = append(names, c.Name)
		want := fmt.Sprintf("%s source %d type %d read-only %v sensitive %v %v", shown(c.Value), c.Source, c.ConfigType, c.ReadOnly, c.IsSensitive, layers)
		if c.Name == "log.retention.hours" {
			// A dynamic log.retention.ms makes Kafka print the default of hours beside the source of the value in the file, 24.
			want = strings.Replace(want, "168 source 4", "24 source 4", 1)
		}
		if c.Name == "socket.receive.buffer.bytes" || c.Name == "socket.send.buffer.bytes" {
			want = strings.ReplaceAll(want, "102400", "-1") // ours are left to the system
		}
		if got := texts[c.Name]; got != want {
			t.Errorf("%s %s\nours  %s\nKafka %s", what, c.Name, got, want)
		}
	}
	for _, e := range ours {
		if !slices.Contains(names, e.Name) && !strings.HasPrefix(e.Name, "weir.") {
			t.Errorf("%s %s is not in Kafka's answer", what, e.Name)
		}
	}
	t.Logf("%s: %d properties compared", what, len(theirs))
}

//go:build interop

// Package config_test holds broker/config against Kafka's own ConfigDefs: the tables' rows, and what is said of values. The rows
// are kept in broker/config/testdata, so that the ordinary tests need no JVM; -update writes them.
package config_test

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weir-broker/weir/broker/config"
	"github.com/weir-broker/weir/interop/oracle"
)

var update = flag.Bool("update", false, "write broker/config/testdata/kafka-4.4-properties.tsv")

const rowsFile = "../../broker/config/testdata/kafka-4.4-properties.tsv"

func start(t *testing.T) (*oracle.Oracle, context.Context) {
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
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	t.Cleanup(cancel)
	return o, ctx
}

func TestRowsAreThoseOfKafka(t *testing.T) {
	o, ctx := start(t)
	tables, err := o.Configs(ctx)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("# Every property of Kafka 4.4.0: scope, name, type, default (\\N null, \\REQ none), valid values, importance, internal, update mode.\n" +
		"# Written by interop/config from the ConfigDefs of the Kafka jars.\n")
	for _, scope := range []struct {
		name string
		keys map[string]oracle.ConfigKey
	}{{"broker", tables.Broker}, {"topic", tables.Topic}, {"group", tables.Group}} {
		for _, name := range slices.Sorted(maps.Keys(scope.keys)) {
			k := scope.keys[name]
			if k.DynamicOnly {
				continue
			}
			standard, validator, mode := `\REQ`, k.Validator, k.UpdateMode
			if k.Default != nil {
				standard = *k.Default
			} else if k.HasDefault {
				standard = `\N`
			}
			if mode == "" {
				mode = "read-only"
			}
			fmt.Fprintf(&b, "%s\t%s\t%s\t%s\t%s\t%s\t%v\t%s\n", scope.name, name, k.Type, standard, validator, k.Importance, k.Internal, mode)
		}
	}
	want, err := os.ReadFile(filepath.FromSlash(rowsFile))
	if err != nil {
		t.Fatal(err)
	}
	got := b.String()
	if *update {
		if err := os.WriteFile(rowsFile, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got != string(want) {
		g, w := strings.Split(got, "\n"), strings.Split(string(want), "\n")
		for i := range min(len(g), len(w)) {
			if g[i] != w[i] {
				t.Fatalf("%s line %d\nis    %s\nKafka %s", rowsFile, i+1, w[i], g[i])
			}
		}
	}
}

// texts are values that most properties refuse in one way or another.
var texts = []string{
	"", " ", "0", "1", "-1", "-2", "-3", "5", " 7 ", "+8", "1e3", "0.5", "2147483647", "2147483648", "9223372036854775807", "9223372036854775808",
	"true", "FALSE", "yes", "delete", "compact,delete", "delete,,compact", "a, b ,a", "gzip", "none", "all", "1048576", "10000", "60000", "latest",
	"by_duration:P1D", "by_duration:P", "read_committed", "CreateTime", "*", "0:1", "0:1,", "é", "32768", "sticky", "0x10", "1_000", "__x",
}

// Messages name a list in brackets and an offending value as Java prints it, so equal texts mean equal parsing.
func TestValuesAreJudgedAsByKafka(t *testing.T) {
	o, ctx := start(t)
	b, _, err := config.Load(config.Sources{Defaults: map[string]string{"node.id": "1", "process.roles": "broker,controller"}})
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	judge := func(kind, name, text string, ours error) {
		t.Helper()
		theirs, err := o.CheckConfig(ctx, kind, map[string]string{name: text})
		if err != nil {
			t.Fatal(err)
		}
		compared++
		got := ""
		if ours != nil {
			got = ours.Error()
		}
		if got != theirs.Message && !explained(got) {
			t.Errorf("%s %s=%q\nours  %q\nKafka %q (%s)", kind, name, text, got, theirs.Message, theirs.Class)
		}
	}
	for _, text := range texts {
		for _, p := range config.TopicProperties {
			if !strings.HasPrefix(p.Name, "weir.") && p.Name != "remote.storage.enable" {
				judge("topic", p.Name, text, b.ValidateTopic(map[string]string{p.Name: text}))
			}
		}
		for _, p := range config.GroupProperties {
			judge("group", p.Name, text, b.ValidateGroup(map[string]string{p.Name: text}))
		}
		for _, p := range config.BrokerProperties() {
			if p.Update == config.ClusterWide && p.Type != config.Class && !strings.HasPrefix(p.Name, "weir.") {
				judge("broker-default", p.Name, text, b.ValidateBroker(map[string]string{p.Name: text}, false))
			}
		}
	}
	t.Logf("%d values compared", compared)
}

// explained are refusals that the oracle does not make, since it asks only the part of Kafka that needs no running broker: bounds set by
// the broker's own configuration, and values that do not go together. broker/config tests them against recorded answers.
func explained(message string) bool {
	for _, part := range []string{
		"requirement failed", "Invalid dynamic configuration", "must be in the range", "must be less than or equal to",
		"must be greater than", "is not a registered task assignor", "DLQ topic name must not", "duplicate tag keys",
	} {
		if strings.Contains(message, part) {
			return true
		}
	}
	return false
}

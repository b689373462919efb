package config

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// differences are properties that differ from Kafka's on purpose.
var differences = map[string]string{
	// Listeners are opened at start; Kafka can change them while it runs.
	"broker listeners":                      "update",
	"broker listener.security.protocol.map": "update",
	// Left to the system, buffers fit the connection: a fifth less CPU per byte produced.
	"broker socket.receive.buffer.bytes": "default",
	"broker socket.send.buffer.bytes":    "default",
}

func kafkaRows(t *testing.T, file string) [][]string {
	t.Helper()
	content, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]string
	for line := range strings.Lines(string(content)) {
		if !strings.HasPrefix(line, "#") {
			rows = append(rows, strings.Split(strings.TrimSuffix(line, "\n"), "\t"))
		}
	}
	return rows
}

var scopes = map[string]Scope{"broker": ScopeBroker, "topic": ScopeTopic, "group": ScopeGroup}

func TestTablesAreKafkas(t *testing.T) {
	known := make(map[string]bool)
	for _, row := range kafkaRows(t, "kafka-4.4-properties.tsv") {
		scope, name := row[0], row[1]
		known[scope+" "+name] = true
		p, ok := Lookup(scopes[scope], name)
		if !ok {
			t.Errorf("%s %s is missing", scope, name)
			continue
		}
		standard := p.Default
		if p.Null {
			standard = `\N`
		}
		if row[3] == `\REQ` {
			row[3] = `\N`
		}
		is := []string{strings.ToUpper(p.Type.String()), standard, strings.ToUpper(p.Importance.String()), p.Update.String()}
		want := []string{row[2], row[3], row[5], row[7]}
		switch differences[scope+" "+name] {
		case "update":
			is[3] = want[3]
		case "default":
			is[1] = want[1]
		}
		if p.Internal != (row[6] == "true") || !slices.Equal(is, want) {
			t.Errorf("%s %s: type, default, importance, update are %q, Kafka's %q", scope, name, is, want)
		}
		// Kafka prints no rule for "any list without repetition" and gives some checks a vague name.
		vague := row[4] == "" || row[4] == "non-empty list" || row[4] == "non-null string"
		if rule := p.Rule.String(); !vague && rule != row[4] || vague && rule != "" {
			t.Errorf("%s %s: valid values are %q, Kafka's %q", scope, name, rule, row[4])
		}
	}
	for _, table := range []struct {
		scope string
		rows  []Property
	}{{"broker", BrokerProperties()}, {"topic", TopicProperties}, {"group", GroupProperties}} {
		for _, p := range table.rows {
			if !known[table.scope+" "+p.Name] && !strings.HasPrefix(p.Name, "weir.") {
				t.Errorf("%s %s is not Kafka's", table.scope, p.Name)
			}
		}
	}
}

func TestTablesAreSortedDocumentedAndConsistent(t *testing.T) {
	for name, table := range map[string][]Property{
		"broker": BrokerProperties(), "topic": TopicProperties, "group": GroupProperties, "dynamic": dynamicProperties,
	} {
		for i := range table {
			p := &table[i]
			if i > 0 && table[i-1].Name >= p.Name {
				t.Errorf("%s: %s comes after %s", name, p.Name, table[i-1].Name)
			}
			if !strings.HasSuffix(p.Doc, ".") || strings.Contains(p.Documentation(), "  ") {
				t.Errorf("%s: documentation of %s is %q", name, p.Name, p.Doc)
			}
			if p.Synonym != "" && brokerIndex[p.Synonym] == nil {
				t.Errorf("%s: synonym %s of %s does not exist", name, p.Synonym, p.Name)
			}
			if p.Null {
				continue
			}
			if _, err := parseValue(p, p.Default); err != nil {
				t.Errorf("%s: default of %s: %v", name, p.Name, err)
			}
			if got := defaultValue(p).String(); got != p.Default {
				t.Errorf("%s: default of %s is %q, printed as %q", name, p.Name, p.Default, got)
			}
		}
	}
}

// A topic property and its broker synonym are one setting: defaults that differed would make the broker's answer depend on
// which of them is read.
func TestTopicDefaultsAreThoseOfTheirSynonyms(t *testing.T) {
	b := assemble(nil, nil, nil)
	for i := range TopicProperties {
		p := &TopicProperties[i]
		if got, want := b.inherited(p), defaultValue(p); got.String() != want.String() {
			t.Errorf("%s: %s by synonym, %s by default", p.Name, got, want)
		}
	}
}

func TestUnusedPropertiesSaySo(t *testing.T) {
	p, _ := Lookup(ScopeBroker, "num.io.threads")
	if !strings.HasSuffix(p.Documentation(), "it has no effect in weir.") {
		t.Error(p.Documentation())
	}
	p, _ = Lookup(ScopeBroker, "log.segment.bytes")
	if strings.Contains(p.Documentation(), "no effect") {
		t.Error(p.Documentation())
	}
}

func TestListenerPrefixFindsTheProperty(t *testing.T) {
	for name, want := range map[string]string{
		"listener.name.external.ssl.key.password":        "ssl.key.password",
		"listener.name.sasl_ssl.plain.sasl.jaas.config":  "sasl.jaas.config",
		"listener.name.a.max.connections":                "max.connections",
		"listener.name.a.unheard.of":                     "",
		"listener.name.max.connections":                  "",
		"log.dirs":                                       "log.dirs",
		"leader.replication.throttled.rate":              "leader.replication.throttled.rate",
		"listener.name.x.scram-sha-256.sasl.login.class": "sasl.login.class",
	} {
		p, ok := Lookup(ScopeBroker, name)
		if ok != (want != "") || ok && p.Name != want {
			t.Errorf("%s: %v, %v", name, p, ok)
		}
	}
}

package config

import (
	"fmt"
	"strings"
)

// Reference is docs/config.md: every property, from the tables.
func Reference() string {
	var b strings.Builder
	b.WriteString(`# Configuration reference

Generated from the tables of broker/config by ` + "`go test ./broker/config -update`" + `. Do not edit.

A broker reads a Java properties file (` + "`weir serve -c server.properties`" + `), then environment variables (` + "`WEIR_LOG_RETENTION_MS`" + ` is
` + "`log.retention.ms`; `__` stands for `_`, `___` for `-`" + `), then ` + "`--override key=value`" + `. Later ones win. Names, types and defaults
are those of Kafka 4.4; properties that weir does not use are accepted and listed at the end.

Update says how a broker property changes while the broker runs: *cluster-wide* for one broker or as the default of all, *per-broker*
for one broker, *read-only* at the next start. Topic and group properties change at once.
`)
	section(&b, "Topics", "`weir config set topic NAME key=value`, or `--config` of `weir topic create`.", TopicProperties, true)
	section(&b, "Brokers", "`server.properties`, or `weir config set broker ID key=value` where Update is not read-only.", BrokerProperties(), true)
	b.WriteString("\n## Accepted without effect\n\nweir reads and describes these as Kafka does and does nothing with them. " +
		"A value other than the default is warned of at start.\n")
	for _, part := range []struct {
		title string
		rows  []Property
	}{{"Topics", TopicProperties}, {"Groups", GroupProperties}, {"Brokers", BrokerProperties()}} {
		section(&b, "", part.title, part.rows, false)
	}
	return b.String()
}

// section writes the properties of a table that weir uses, or those that it does not.
func section(b *strings.Builder, title, introduction string, table []Property, used bool) {
	if title != "" {
		fmt.Fprintf(b, "\n## %s\n\n%s\n", title, introduction)
	} else {
		fmt.Fprintf(b, "\n### %s\n\n| property | type | default |\n|---|---|---|\n", introduction)
	}
	for i := range table {
		p := &table[i]
		switch {
		case p.Inert == used || p.Internal:
		case used:
			writeProperty(b, p)
		default:
			fmt.Fprintf(b, "| `%s` | %s | %s |\n", p.Name, p.Type, shownDefault(p))
		}
	}
}

func writeProperty(b *strings.Builder, p *Property) {
	fmt.Fprintf(b, "\n### `%s`\n\n%s\n\n", p.Name, p.Doc)
	fmt.Fprintf(b, "- Type: %s\n- Default: %s\n", p.Type, shownDefault(p))
	if rule := p.Rule.String(); rule != "" {
		fmt.Fprintf(b, "- Valid values: %s\n", rule)
	}
	fmt.Fprintf(b, "- Importance: %s\n", p.Importance)
	switch _, topic := topicIndex[p.Name]; {
	case topic && topicIndex[p.Name] == p && p.Synonym != "":
		fmt.Fprintf(b, "- Broker default: `%s`\n", strings.Join(synonyms(p.Synonym), "`, then `"))
	case brokerIndex[p.Name] == p:
		fmt.Fprintf(b, "- Update: %s\n", p.Update)
	}
}

func shownDefault(p *Property) string {
	switch {
	case p.Null:
		return "none"
	case p.Default == "":
		return "empty"
	}
	return "`" + p.Default + "`"
}

package api

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite docs/api.md")

const docsPath = "../../docs/api.md"

// apiTableMarkdown is docs/api.md, made from the table of endpoints.
func apiTableMarkdown() string {
	rows := endpoints()
	slices.SortFunc(rows, func(a, b endpoint) int { return int(a.key) - int(b.key) })
	var b strings.Builder
	b.WriteString(`# Kafka APIs

Generated from the table in broker/api; ` + "`go test ./broker/api -run TestAPITableInDocs -update`" + ` writes it.

What is listed is answered in every version named, with Kafka 4.4's semantics; nothing else is advertised. A request
with another key, or in a version that is not listed, closes the connection, as in Kafka. Only ApiVersions is answered in
any version.

| key | API | versions | flexible from | differs from Kafka 4.4 |
| --- | --- | --- | --- | --- |
`)
	for _, e := range rows {
		flexible := fmt.Sprint(e.flexibleFrom)
		if e.flexibleFrom > e.max {
			flexible = "-"
		}
		notes := e.notes
		if notes == "" {
			notes = "-"
		}
		fmt.Fprintf(&b, "| %d | %s | %d-%d | %s | %s |\n", e.key, e.name, e.min, e.max, flexible, notes)
	}
	return b.String()
}

func TestAPITableInDocs(t *testing.T) {
	want := apiTableMarkdown()
	if *update {
		if err := os.MkdirAll("../../docs", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(docsPath, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(docsPath)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s is stale: run go test ./broker/api -run TestAPITableInDocs -update", docsPath)
	}
}

package config

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// The cases follow java.util.Properties, which reads Kafka's own files.
func TestPropertiesSyntaxIsJavas(t *testing.T) {
	type kv struct{ key, value string }
	for text, want := range map[string][]kv{
		"":                                 {},
		"a=b":                              {{"a", "b"}},
		"a = b ":                           {{"a", "b "}},
		"a:b":                              {{"a", "b"}},
		"a b":                              {{"a", "b"}},
		"a  :  b":                          {{"a", "b"}},
		"a = = b":                          {{"a", "= b"}},
		"a":                                {{"a", ""}},
		"=b":                               {{"", "b"}},
		" \t\fa=b":                         {{"a", "b"}},
		"# c\n! d\n  # e\na=#b":            {{"a", "#b"}},
		"a=b\r\nc=d\re=f\n":                {{"a", "b"}, {"c", "d"}, {"e", "f"}},
		"a=b,\\\n   c,\\\r\n\td":           {{"a", "b,c,d"}},
		"a=b\\\\\nc=d":                     {{"a", "b\\"}, {"c", "d"}},
		"a=b\\\n\nc=d":                     {{"a", "b"}, {"c", "d"}},
		"a=b\\\n# not a comment":           {{"a", "b# not a comment"}},
		"# comment \\\na=b":                {{"a", "b"}},
		"a=b\\":                            {{"a", "b"}},
		"a\\=b\\:c\\ d=e":                  {{"a=b:c d", "e"}},
		"a=\\t\\n\\r\\f\\q\\\\":            {{"a", "\t\n\r\fq\\"}},
		"a=\\u0041\\u00e9":                 {{"a", "Aé"}},
		"a=\\ud83d\\ude00":                 {{"a", "😀"}},
		"\ufeffa=ü":                        {{"a", "ü"}},
		"a=\xfc":                           {{"a", "ü"}},
		"listeners=PLAINTEXT://:9092,B://": {{"listeners", "PLAINTEXT://:9092,B://"}},
	} {
		got, bad := parseProperties([]byte(text))
		if len(bad) > 0 || len(got) != len(want) {
			t.Errorf("%q: got %+v, %+v", text, got, bad)
			continue
		}
		for i := range want {
			if got[i].key != want[i].key || got[i].value != want[i].value {
				t.Errorf("%q: got %+v, want %+v", text, got[i], want[i])
			}
		}
	}
}

func TestPropertiesKeepTheLineASettingStartsOn(t *testing.T) {
	got, _ := parseProperties([]byte("# c\n\na=1\\\n2\\\n3\nb=4\n"))
	if len(got) != 2 || got[0].line != 3 || got[1].line != 6 {
		t.Errorf("%+v", got)
	}
}

func TestBrokenUnicodeEscapesAreReported(t *testing.T) {
	for _, text := range []string{"a=\\u12", "a=\\u12g4", "\\u=1", "a=\\u"} {
		if _, bad := parseProperties([]byte(text)); len(bad) != 1 || bad[0].line != 1 {
			t.Errorf("%q: %+v", text, bad)
		}
	}
}

// Whatever the bytes, parsing ends, and settings written back with escapes read the same.
func FuzzParseProperties(f *testing.F) {
	f.Add([]byte("a=b\\\n c\n#x\nd:e\\u0041"))
	f.Add([]byte("\\"))
	f.Add([]byte("a\\\r\n=\xff\\ud83d\\ude00"))
	f.Fuzz(func(t *testing.T, content []byte) {
		settings, _ := parseProperties(content)
		var b strings.Builder
		for _, s := range settings {
			if !utf8.ValidString(s.key + s.value) {
				return // half a surrogate pair
			}
			b.WriteString(escaped(s.key) + "=" + escaped(s.value) + "\n")
		}
		again, bad := parseProperties([]byte(b.String()))
		if len(bad) > 0 || len(again) != len(settings) {
			t.Fatalf("%q read as %+v, written %q, read again as %+v", content, settings, b.String(), again)
		}
		for i := range settings {
			if again[i].key != settings[i].key || again[i].value != settings[i].value {
				t.Fatalf("%+v read again as %+v", settings[i], again[i])
			}
		}
	})
}

func escaped(s string) string {
	return strings.NewReplacer(`\`, `\\`, " ", `\ `, "\t", `\t`, "\n", `\n`, "\r", `\r`, "\f", `\f`,
		"=", `\=`, ":", `\:`, "#", `\#`, "!", `\!`, "\ufeff", `\ufeff`).Replace(s)
}

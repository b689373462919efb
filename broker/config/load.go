package config

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
)

// maxFileSize bounds a properties file, in bytes. Real ones have a few KB.
const maxFileSize = 4 << 20

// Load reads a configuration. Everything wrong is reported in one *LoadError, a problem a line as "place: key: cause; fix"; warnings
// never keep a broker from starting.
func Load(s Sources) (*Broker, []Warning, error) {
	l := loader{values: maps.Clone(s.Defaults), places: make(map[string]string)}
	if l.values == nil {
		l.values = make(map[string]string)
	}
	if s.Path != "" && !l.file(s.Path) {
		return nil, nil, &LoadError{l.problems} // what would be missing without the file is not worth telling
	}
	l.environment(s.Environ)
	l.overrides(s.Overrides)
	invalid := l.checkEach()
	// Values are looked at together even where some are invalid, those being as good as unset, so that all is said at once.
	usable := maps.Clone(l.values)
	maps.DeleteFunc(usable, func(key, _ string) bool { return invalid[key] })
	b := assemble(usable, nil, nil)
	for _, f := range b.check(l.values) {
		if !invalid[f.key] {
			l.problem(l.place(f.key), f.key, f.cause, f.fix)
		}
	}
	if len(l.problems) == 0 {
		l.warnCombinations(b)
	}
	slices.SortStableFunc(l.warnings, func(a, b Warning) int { return cmp.Compare(l.line(a.Place), l.line(b.Place)) })
	if len(l.problems) > 0 {
		slices.SortStableFunc(l.problems, func(a, b Problem) int { return cmp.Compare(l.line(a.Place), l.line(b.Place)) })
		return nil, l.warnings, &LoadError{l.problems}
	}
	return b, l.warnings, nil
}

// line is the line of a place in the file; what is not at a line comes last.
func (l *loader) line(place string) int {
	text, ok := strings.CutPrefix(place, l.path+":")
	if n, err := strconv.Atoi(text); ok && err == nil {
		return n
	}
	return math.MaxInt
}

// loader gathers the values of all sources and everything to say about them.
type loader struct {
	values   map[string]string
	places   map[string]string // where each value was set last
	path     string
	problems []Problem
	warnings []Warning
}

func (l *loader) problem(place, key, cause, fix string) {
	l.problems = append(l.problems, Problem{Place: place, Key: key, Cause: cause, Fix: fix})
}

func (l *loader) warn(key, format string, args ...any) {
	l.warnings = append(l.warnings, Warning{Place: l.place(key), Key: key, Text: fmt.Sprintf(format, args...)})
}

// place says where a key was set; a key that nobody set belongs to the file that lacks it.
func (l *loader) place(key string) string {
	if place, ok := l.places[key]; ok {
		return place
	}
	return l.path
}

func (l *loader) set(key, value, place string) {
	l.values[key], l.places[key] = value, place
}

// file reads the properties file and reports whether it could.
func (l *loader) file(path string) bool {
	l.path = path
	content, err := readBounded(path)
	if err != nil {
		l.problem(path, "", err.Error(), "give the path of a readable properties file")
		return false
	}
	settings, bad := parseProperties(content)
	for _, b := range bad {
		l.problem(fmt.Sprintf("%s:%d", path, b.line), "", b.cause, `write four hexadecimal digits after \u, or \\u for a backslash`)
	}
	for _, s := range settings {
		place := fmt.Sprintf("%s:%d", path, s.line)
		if earlier, ok := l.places[s.key]; ok {
			l.warnings = append(l.warnings, Warning{Place: place, Key: s.key, Text: "replaces the value set at " + earlier})
		}
		l.set(s.key, s.value, place)
	}
	return true
}

func readBounded(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, plainPathError(err)
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, maxFileSize+1))
	switch {
	case err != nil:
		return nil, plainPathError(err)
	case len(content) > maxFileSize:
		return nil, fmt.Errorf("is larger than %d bytes", maxFileSize)
	}
	return content, nil
}

// plainPathError drops the path, which the place of the problem shows already.
func plainPathError(err error) error {
	if pe, ok := err.(*os.PathError); ok {
		return pe.Err
	}
	return err
}

// notProperties are WEIR_* variables that mean something else.
var notProperties = map[string]bool{"WEIR_BOOTSTRAP": true, "WEIR_FAILPOINT": true}

// environment reads WEIR_* variables: WEIR_LOG_RETENTION_MS is log.retention.ms. A double underscore is an underscore
// and a triple one a hyphen, for listener names. The prefix of weir's own properties need not be repeated.
func (l *loader) environment(environ []string) {
	for _, entry := range slices.Sorted(slices.Values(environ)) {
		name, value, _ := strings.Cut(entry, "=")
		suffix, ok := strings.CutPrefix(name, "WEIR_")
		if !ok || suffix == "" || notProperties[name] {
			continue
		}
		key := strings.NewReplacer("___", "-", "__", "_", "_", ".").Replace(strings.ToLower(suffix))
		if _, ok := brokerIndex[key]; !ok && brokerIndex["weir."+key] != nil {
			key = "weir." + key
		}
		l.set(key, value, "environment "+name)
	}
}

func (l *loader) overrides(overrides []string) {
	for _, o := range overrides {
		key, value, ok := strings.Cut(o, "=")
		key = trimJava(key)
		if !ok || key == "" {
			l.problem("--override", o, "has no value", "write --override key=value")
			continue
		}
		l.set(key, value, "--override")
	}
}

// refused are properties whose silent loss would be unsafe, with the reason. Any value but the default stops the broker.
var refused = map[string][2]string{
	"authorizer.class.name": {
		"weir has no access control lists yet, so everything would be allowed",
		"remove the line, and let only trusted clients reach the listeners",
	},
	"config.providers": {
		"weir does not look up ${provider:path:key} references",
		"put the values into WEIR_* environment variables",
	},
}

// gone are properties that Kafka had once, with what to know about them.
var gone = map[string]string{
	"zookeeper.connect":                 "ZooKeeper is gone since Kafka 4.0",
	"broker.id.generation.enable":       "broker ids are no longer generated since Kafka 4.0",
	"inter.broker.protocol.version":     "feature levels replace it since Kafka 4.0",
	"log.message.format.version":        "there is one record format since Kafka 4.0",
	"control.plane.listener.name":       "it went with ZooKeeper in Kafka 4.0",
	"log.message.downconversion.enable": "there is one record format since Kafka 4.0",
	"log.message.timestamp.difference.max.ms": "log.message.timestamp.before.max.ms and log.message.timestamp.after.max.ms " +
		"replace it since Kafka 4.0",
}

// checkEach checks every value on its own and returns the keys of those that are invalid.
func (l *loader) checkEach() map[string]bool {
	invalid := make(map[string]bool)
	for _, key := range slices.Sorted(maps.Keys(l.values)) {
		p, ok := Lookup(ScopeBroker, key)
		if !ok {
			l.unknown(key)
			continue
		}
		text := l.values[key]
		v, err := parseValue(p, text)
		if err != nil {
			cause := err.Error()
			if e, ok := err.(*Error); ok {
				cause = e.cause(p.Sensitive())
			}
			l.problem(l.place(key), key, cause, fixFor(p))
			invalid[key] = true
			continue
		}
		if v.String() == p.Default && !p.Null {
			continue
		}
		if why, ok := refused[p.Name]; ok {
			l.problem(l.place(key), key, why[0], why[1])
		} else if p.Inert {
			l.warn(key, "is accepted but has no effect in weir")
		}
	}
	return invalid
}

func (l *loader) unknown(key string) {
	switch {
	case gone[key] != "":
		l.warn(key, "is ignored: %s", gone[key])
	case nearest(key) != "":
		l.warn(key, "is not a broker property and is ignored; did you mean %s?", nearest(key))
	default:
		l.warn(key, "is not a broker property and is ignored")
	}
}

// fixFor says what a property may be set to.
func fixFor(p *Property) string {
	rule, standard := p.Rule.String(), ""
	if !p.Null && p.Default != "" {
		standard = fmt.Sprintf(", or remove it for the default %s", p.Default)
	}
	if p.Default == "9223372036854775807" {
		standard = ", or remove it for the default, unlimited"
	}
	switch {
	case p.Type == Boolean:
		return "write true or false" + standard
	case rule != "" && (p.Type == String || p.Type == List):
		return "choose from " + rule + standard
	case rule != "":
		return fmt.Sprintf("write a number (%s) in %s%s", p.Type, rule, standard)
	case p.Type == Int || p.Type == Short || p.Type == Long || p.Type == Double:
		return fmt.Sprintf("write a number (%s)%s", p.Type, standard)
	}
	if p.Type == List {
		return "write at least one value" + standard
	}
	return "correct it" + standard
}

// warnCombinations warns of values that are each fine and unwise together.
func (l *loader) warnCombinations(b *Broker) {
	if 2*b.BrokerHeartbeatInterval > b.BrokerSessionTimeout {
		l.warn("broker.heartbeat.interval.ms", "is more than half of broker.session.timeout.ms (%d ms): one lost heartbeat fences the broker",
			b.BrokerSessionTimeout.Milliseconds())
	}
}

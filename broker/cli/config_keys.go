package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weir-broker/weir/broker/config"
)

// maxNearKeys bounds how many names an error proposes for one that does not exist.
const maxNearKeys = 3

// configState is a resource before it is changed: which properties there are, and which it sets itself. A broker answers a change that
// changes nothing as any other, and takes unknown names for brokers and in deletions, so it is asked beforehand.
type configState struct {
	kind  configKind
	given []string             // KIND and NAME as the user wrote them
	rows  map[string]configRow // what the broker knows of the resource, by property
	more  []string             // properties that exist beside those of rows
}

// loadConfigState asks the cluster about a resource.
func loadConfigState(ctx context.Context, cl *kgo.Client, kind configKind, name string, given []string) (*configState, error) {
	s := &configState{kind: kind, given: given[:2], rows: make(map[string]configRow)}
	if kind.scope == config.ScopeBroker {
		brokers, err := kadm.NewClient(cl).ListBrokers(ctx)
		if err != nil {
			return nil, failedConfig(given, err)
		}
		if err := brokerExists(name, brokers.NodeIDs()); err != nil {
			return nil, err
		}
		if name == "" && len(brokers) > 0 { // the default of all has only what is set; what there is, any broker knows
			rows, err := describeConfig(ctx, cl, kind, strconv.Itoa(int(brokers[0].NodeID)), nil, false)
			if err != nil {
				return nil, failedConfig(given, err)
			}
			for _, r := range rows {
				s.more = append(s.more, r.Name)
			}
		}
	}
	rows, err := describeConfig(ctx, cl, kind, name, nil, false)
	if err != nil {
		return nil, failedConfig(given, err)
	}
	for _, r := range rows {
		s.rows[r.Name] = r
	}
	return s, nil
}

// brokerExists says when there is no broker of that id. No name stands for all.
func brokerExists(name string, ids []int32) error {
	id, err := strconv.ParseInt(name, 10, 32)
	if name == "" || err == nil && slices.Contains(ids, int32(id)) {
		return nil
	}
	return fmt.Errorf("broker %s: there is no such broker in the cluster; there is %s", name, joined(ids))
}

// set reports whether the resource itself, and not something it inherits from, sets a property; value is nil where it is hidden.
func (s *configState) set(key string) (value *string, ok bool) {
	layer := map[config.Scope]string{config.ScopeTopic: "topic", config.ScopeGroup: "group", config.ScopeBroker: "broker"}[s.kind.scope]
	if s.given[1] == "default" && s.kind.scope == config.ScopeBroker {
		layer = "cluster default"
	}
	row, ok := s.rows[key]
	return row.Value, ok && row.Source == layer
}

// check refuses keys that are no properties of the resource.
func (s *configState) check(keys ...string) error {
	for _, key := range keys {
		_, told := s.rows[key]
		if _, known := config.Lookup(s.kind.scope, key); !told && !known && !slices.Contains(s.more, key) {
			return unknownKey(s.given, key, slices.Concat(s.more, slices.Collect(maps.Keys(s.rows)), propertyNames(s.kind.scope, "")))
		}
	}
	return nil
}

// changes reports whether a change would make a difference. Where that cannot be told, because the value is hidden, it would.
func (s *configState) changes(c alteration) bool {
	value, set := s.set(c.key)
	switch {
	case c.op == opDelete:
		return set
	case !set || value == nil || c.value == nil:
		return true
	case c.op == opSet:
		return *value != *c.value
	}
	list := strings.Split(*value, ",")
	return slices.ContainsFunc(strings.Split(*c.value, ","), func(item string) bool {
		return slices.Contains(list, item) == (c.op == opSubtract)
	})
}

// readOnly returns those of the changed properties that a running broker cannot change.
func (s *configState) readOnly(changes []alteration) []string {
	var keys []string
	for _, c := range changes {
		p, known := config.Lookup(s.kind.scope, c.key)
		if row, told := s.rows[c.key]; told && row.ReadOnly || !told && known && s.kind.scope == config.ScopeBroker && p.Update == config.ReadOnly {
			keys = append(keys, c.key)
		}
	}
	return keys
}

// unknownKey is the error for a property that does not exist: given holds KIND and NAME, names the properties there are.
func unknownKey(given []string, key string, names []string) error {
	names = slices.DeleteFunc(names, func(name string) bool {
		p, known := config.Lookup(configKinds[given[0]].scope, name)
		return known && (p.Inert || p.Internal)
	})
	fix := fmt.Sprintf("see 'weir config get %s %s --all'", given[0], given[1])
	if near := nearKeys(key, names); len(near) > 0 {
		fix = fmt.Sprintf("did you mean %s? %s", strings.Join(near, ", "), fix)
	}
	return fmt.Errorf("%s %s: no property %s; %s", given[0], given[1], key, fix)
}

// nearKeys returns the names that key may have been meant to be, most likely first.
func nearKeys(key string, names []string) []string {
	const never = 1 << 10
	key = strings.ToLower(key)
	rank := make(map[string]int)
	for _, name := range names {
		switch distance := editDistance(key, name); {
		case distance <= max(1, min(len(key), len(name))/5):
			rank[name] = distance
		case len(key) >= 4 && (strings.Contains(name, key) || len(name) >= 4 && strings.Contains(key, name)):
			rank[name] = never + distance
		}
	}
	near := slices.SortedFunc(maps.Keys(rank), func(a, b string) int {
		if rank[a] != rank[b] {
			return rank[a] - rank[b]
		}
		return strings.Compare(a, b)
	})
	return near[:min(len(near), maxNearKeys)]
}

// editDistance counts the characters to insert, delete or replace between a and b. '_' and '-' count as the '.' of properties.
func editDistance(a, b string) int {
	a, b = strings.NewReplacer("_", ".", "-", ".").Replace(a), strings.NewReplacer("_", ".", "-", ".").Replace(b)
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

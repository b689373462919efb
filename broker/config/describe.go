package config

import (
	"maps"
	"slices"
)

// DescribeTopic returns a topic's properties as DescribeConfigs answers them, sorted by name. A nil or empty keys asks for all;
// names that do not exist are left out.
func (b *Broker) DescribeTopic(overrides map[string]string, keys []string) []Entry {
	return b.describe(TopicProperties, overrides, SourceTopic, keys)
}

// DescribeGroup returns a group's properties as DescribeConfigs answers them, sorted by name.
func (b *Broker) DescribeGroup(overrides map[string]string, keys []string) []Entry {
	return b.describe(GroupProperties, overrides, SourceGroup, keys)
}

func (b *Broker) describe(table []Property, overrides map[string]string, own Source, keys []string) []Entry {
	var entries []Entry
	for i := range table {
		p := &table[i]
		text, overridden := overrides[p.Name]
		if !wanted(keys, p.Name) || p.Internal && !overridden && !b.sets(p.Synonym) {
			continue
		}
		e := Entry{Name: p.Name, Type: p.Type, Doc: p.Documentation(), Sensitive: p.Sensitive(), Source: SourceDefault}
		v := b.inherited(p)
		if overridden {
			if parsed, err := parseValue(p, text); err == nil {
				v = parsed
			}
			e.Synonyms = append(e.Synonyms, Synonym{Name: p.Name, Value: shown(p, v), Source: own})
		}
		e.Value = shown(p, v)
		switch {
		case p.Synonym != "":
			e.Synonyms = append(e.Synonyms, b.layers(p.Synonym, p.Sensitive())...)
		case own == SourceGroup && !p.Null:
			e.Synonyms = append(e.Synonyms, Synonym{Name: p.Name, Value: shown(p, defaultValue(p)), Source: SourceDefault})
		}
		if len(e.Synonyms) > 0 {
			e.Source = e.Synonyms[0].Source
		}
		entries = append(entries, e)
	}
	unknown := slices.Sorted(maps.Keys(overrides))
	for _, name := range unknown {
		if known := slices.ContainsFunc(table, func(p Property) bool { return p.Name == name }); known || !wanted(keys, name) {
			continue
		}
		// A key of another version of the schema: its type is unknown, so it may be a secret.
		entries = append(entries, Entry{Name: name, Source: own, Sensitive: true, Synonyms: []Synonym{{Name: name, Source: own}}})
	}
	return entries
}

func wanted(keys []string, name string) bool { return len(keys) == 0 || slices.Contains(keys, name) }

func shown(p *Property, v value) *string {
	if v.null || p.Sensitive() {
		return nil
	}
	text := v.String()
	return &text
}

// sets reports whether any layer above the defaults sets the broker property.
func (b *Broker) sets(name string) bool {
	if name == "" {
		return false
	}
	for _, layer := range []map[string]string{b.dynamicBroker, b.dynamicCluster, b.static} {
		if _, ok := layer[name]; ok {
			return true
		}
	}
	return false
}

// layers lists every layer that sets the broker property or one of its synonyms, strongest first.
func (b *Broker) layers(name string, sensitive bool) []Synonym {
	names := synonyms(name)
	var all []Synonym
	add := func(name, text string, source Source) {
		s := Synonym{Name: name, Source: source}
		if !sensitive {
			s.Value = &text
		}
		all = append(all, s)
	}
	for _, layer := range []struct {
		values map[string]string
		source Source
	}{
		{b.dynamicBroker, SourceDynamicBroker},
		{b.dynamicCluster, SourceDynamicCluster},
		{b.static, SourceStatic},
	} {
		for _, name := range names {
			if text, ok := layer.values[name]; ok {
				add(name, text, layer.source)
			}
		}
	}
	for _, name := range names {
		if p, ok := brokerIndex[name]; ok && !p.Null {
			add(name, p.Default, SourceDefault)
		}
	}
	// A listener override names its base property as a synonym, never the other way round.
	first := slices.IndexFunc(all, func(s Synonym) bool { return s.Name == name })
	if first < 0 {
		return nil
	}
	return all[first:]
}

// DescribeBroker returns this broker's properties as DescribeConfigs answers them for its id, sorted by name.
func (b *Broker) DescribeBroker(keys []string) []Entry {
	var entries []Entry
	seen := make(map[string]bool)
	for i := range allBroker {
		p := &allBroker[i]
		seen[p.Name] = true
		if !wanted(keys, p.Name) || p.Internal && !b.sets(p.Name) {
			continue
		}
		entries = append(entries, b.brokerEntry(p.Name, SourceUnknown))
	}
	for _, layer := range []map[string]string{b.static, b.dynamicCluster, b.dynamicBroker} {
		for name := range layer {
			if !seen[name] && wanted(keys, name) {
				seen[name] = true
				entries = append(entries, b.brokerEntry(name, SourceUnknown))
			}
		}
	}
	sortEntries(entries)
	return entries
}

// DescribeClusterDefault returns the dynamic defaults of all brokers, as DescribeConfigs answers for the empty broker name: only
// what is set there.
func (b *Broker) DescribeClusterDefault(keys []string) []Entry {
	var entries []Entry
	for name := range b.dynamicCluster {
		if wanted(keys, name) {
			entries = append(entries, b.brokerEntry(name, SourceDynamicCluster))
		}
	}
	sortEntries(entries)
	return entries
}

func sortEntries(entries []Entry) {
	slices.SortFunc(entries, func(x, y Entry) int {
		if x.Name < y.Name {
			return -1
		}
		return 1
	})
}

// brokerEntry describes one broker property; only restricts its layers to one source where it is not SourceUnknown.
func (b *Broker) brokerEntry(name string, only Source) Entry {
	p, known := Lookup(ScopeBroker, name)
	e := Entry{Name: name, Source: SourceDefault, Sensitive: true, ReadOnly: true}
	if known {
		e.Type, e.Sensitive = p.Type, p.Sensitive()
		if p.Name == name {
			e.Doc, e.ReadOnly = p.Documentation(), p.Update == ReadOnly
		}
	}
	e.Synonyms = b.layers(name, e.Sensitive)
	if only != SourceUnknown {
		e.Synonyms = slices.DeleteFunc(e.Synonyms, func(s Synonym) bool { return s.Source != only })
	}
	if len(e.Synonyms) > 0 {
		e.Source = e.Synonyms[0].Source
	}
	if e.Sensitive {
		return e
	}
	if only != SourceUnknown {
		text := b.dynamicCluster[name]
		e.Value = &text
		return e
	}
	e.Value = shown(p, b.effective(p, name))
	return e
}

// effective is the value of broker property name, which is p or p with a listener prefix.
func (b *Broker) effective(p *Property, name string) value {
	for _, layer := range []map[string]string{b.dynamicBroker, b.dynamicCluster, b.static} {
		if text, ok := layer[name]; ok {
			if v, err := parseValue(p, text); err == nil {
				return v
			}
		}
	}
	return defaultValue(p)
}

package controller

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/weir-broker/weir/broker/config"
	"github.com/weir-broker/weir/broker/metadata"
)

// maxConfigValueLength bounds a value, in UTF-16 units.
const maxConfigValueLength = 1<<15 - 1

// AlterConfigs replaces the dynamic configurations of resources. Each resource
// is changed or refused on its own.
func (c *Controller) AlterConfigs(ctx context.Context, req AlterConfigsRequest) ([]AlterConfigsResult, error) {
	return c.alter(ctx, func(s state) ([]metadata.Record, []AlterConfigsResult) { return s.alterConfigs(req) })
}

// IncrementalAlterConfigs changes single configurations of resources. Each
// resource is changed or refused on its own.
func (c *Controller) IncrementalAlterConfigs(ctx context.Context, req IncrementalAlterConfigsRequest) ([]AlterConfigsResult, error) {
	return c.alter(ctx, func(s state) ([]metadata.Record, []AlterConfigsResult) { return s.incrementalAlterConfigs(req) })
}

func (c *Controller) alter(ctx context.Context, decide func(state) ([]metadata.Record, []AlterConfigsResult)) (results []AlterConfigsResult, err error) {
	err = c.submit(ctx, func(s state) (records []metadata.Record) {
		records, results = decide(s)
		return records
	})
	if err != nil {
		return nil, err
	}
	return results, nil
}

func (s state) alterConfigs(req AlterConfigsRequest) ([]metadata.Record, []AlterConfigsResult) {
	return alterEach(req.Resources, func(r *ReplaceConfigs) metadata.Resource { return r.Resource }, s.replaceConfigs, req.ValidateOnly)
}

func (s state) incrementalAlterConfigs(req IncrementalAlterConfigsRequest) ([]metadata.Record, []AlterConfigsResult) {
	return alterEach(req.Resources, func(r *ChangeConfigs) metadata.Resource { return r.Resource }, s.changeConfigs, req.ValidateOnly)
}

// alterEach decides on resources one by one. One that is named twice is refused
// wherever it is named.
func alterEach[R any](resources []R, of func(*R) metadata.Resource, decide func(r *R, repeated bool) ([]metadata.Record, *Error), validateOnly bool) ([]metadata.Record, []AlterConfigsResult) {
	count := make(map[metadata.Resource]int)
	for i := range resources {
		count[of(&resources[i])]++
	}
	var records []metadata.Record
	results := make([]AlterConfigsResult, len(resources))
	for i := range resources {
		resource := of(&resources[i])
		changed, err := decide(&resources[i], count[resource] > 1)
		results[i] = AlterConfigsResult{Resource: resource, Err: err}
		records = append(records, changed...)
	}
	if validateOnly {
		return nil, results
	}
	return records, results
}

func (s state) replaceConfigs(r *ReplaceConfigs, repeated bool) ([]metadata.Record, *Error) {
	changes := make([]ConfigChange, len(r.Configs))
	for i, kv := range r.Configs {
		changes[i] = ConfigChange{Name: kv.Name, Op: OpSet, Value: kv.Value}
	}
	if err := s.checkChanges(r.Resource, changes, repeated); err != nil {
		return nil, err
	}
	values := make(map[string]string, len(r.Configs))
	for _, kv := range r.Configs {
		values[kv.Name] = *kv.Value
	}
	if r.Resource.Type == metadata.BrokerResource {
		if err := s.checkBrokerValues(r.Resource, values); err != nil {
			return nil, err
		}
	}
	old := s.image.Configs(r.Resource)
	var records []metadata.Record
	for _, kv := range r.Configs {
		before, had := old.Get(kv.Name)
		// A broker rereads what a value refers to, such as a key store, even
		// when the value itself stays.
		if !had || before != *kv.Value || r.Resource.Type == metadata.BrokerResource {
			records = append(records, &metadata.Config{Resource: r.Resource, Key: kv.Name, Value: kv.Value})
		}
	}
	for key := range old.All() {
		if _, kept := values[key]; !kept {
			records = append(records, &metadata.Config{Resource: r.Resource, Key: key})
		}
	}
	if err := s.checkConfigs(r.Resource, records, false); err != nil {
		return nil, err
	}
	return records, nil
}

func (s state) changeConfigs(r *ChangeConfigs, repeated bool) ([]metadata.Record, *Error) {
	if err := s.checkChanges(r.Resource, r.Changes, repeated); err != nil {
		return nil, err
	}
	if r.Resource.Type == metadata.BrokerResource {
		values, err := s.changedBrokerValues(r)
		if err != nil {
			return nil, err
		}
		if err := s.checkBrokerValues(r.Resource, values); err != nil {
			return nil, err
		}
	}
	old := s.image.Configs(r.Resource)
	var records []metadata.Record
	for i := range r.Changes {
		c := &r.Changes[i]
		var before *string
		if v, had := old.Get(c.Name); had {
			before = &v
		}
		after := before
		switch c.Op {
		case OpSet:
			after = c.Value
		case OpDelete:
			after = nil
		case OpAppend, OpSubtract:
			list, err := s.changedList(r.Resource.Type, c, before)
			if err != nil {
				return nil, err
			}
			after = &list
		}
		if !equalValues(before, after) || r.Resource.Type == metadata.BrokerResource {
			records = append(records, &metadata.Config{Resource: r.Resource, Key: c.Name, Value: after})
		}
	}
	if err := s.checkConfigs(r.Resource, records, false); err != nil {
		return nil, err
	}
	return records, nil
}

func equalValues(a, b *string) bool {
	return a == nil && b == nil || a != nil && b != nil && *a == *b
}

// changedList appends to or subtracts from a list-valued property. Only topics
// and brokers have such properties.
func (s state) changedList(typ metadata.ResourceType, c *ConfigChange, before *string) (string, *Error) {
	scope, ok := scopeOf(typ)
	if !ok || scope == config.ScopeGroup || !config.IsList(scope, c.Name) {
		return "", errorf(InvalidConfig, "Can't %s to key %s because its type is not LIST.", c.Op, c.Name)
	}
	text := ""
	if before != nil {
		text = *before
	} else if p, known := config.Lookup(scope, c.Name); known && !p.Null {
		text = p.Default
	}
	list := slices.DeleteFunc(javaSplit(text), func(v string) bool { return v == "" })
	for _, v := range javaSplit(*c.Value) {
		at := slices.Index(list, v)
		switch {
		case c.Op == OpAppend && at < 0:
			list = append(list, v)
		case c.Op == OpSubtract && at >= 0:
			list = slices.Delete(list, at, at+1)
		}
	}
	return strings.Join(list, ","), nil
}

// String is Kafka's name of the operation.
func (op ConfigOp) String() string {
	switch op {
	case OpSet:
		return "SET"
	case OpDelete:
		return "DELETE"
	case OpAppend:
		return "APPEND"
	case OpSubtract:
		return "SUBTRACT"
	}
	return "UNKNOWN(" + strconv.Itoa(int(op)) + ")"
}

func scopeOf(typ metadata.ResourceType) (config.Scope, bool) {
	switch typ {
	case metadata.TopicResource:
		return config.ScopeTopic, true
	case metadata.BrokerResource:
		return config.ScopeBroker, true
	case metadata.GroupResource:
		return config.ScopeGroup, true
	}
	return 0, false
}

// checkChanges says what is wrong with a request for one resource before any
// value is looked at. Kafka's broker does this before it asks the controller.
func (s state) checkChanges(r metadata.Resource, changes []ConfigChange, repeated bool) *Error {
	if repeated {
		return errorf(InvalidRequest, "Each resource must appear at most once.")
	}
	seen := make(map[string]bool, len(changes))
	var nulls []string
	for i := range changes {
		c := &changes[i]
		if seen[c.Name] {
			return errorf(InvalidRequest, "Error due to duplicate config keys")
		}
		seen[c.Name] = true
		if c.Value == nil && c.Op != OpDelete {
			nulls = append(nulls, c.Name)
		}
	}
	if len(nulls) > 0 {
		return errorf(InvalidRequest, "Null value not supported for : %s", strings.Join(nulls, ", "))
	}
	switch r.Type {
	case metadata.BrokerResource:
		if r.Name != "" {
			if err := s.checkOwnName(r.Name); err != nil {
				return err
			}
		}
	case metadata.TopicResource, metadata.GroupResource, metadata.ClientMetricsResource:
	default:
		return errorf(InvalidRequest, "Unknown resource type %d", int(r.Type))
	}
	for i := range changes {
		if op := changes[i].Op; op < OpSet || op > OpSubtract {
			return errorf(InvalidRequest, "Unknown operations type %d", int(op))
		}
	}
	return nil
}

func (s state) checkOwnName(name string) *Error {
	id, err := strconv.ParseInt(name, 10, 32)
	if err != nil {
		return errorf(InvalidRequest, "Node id must be an integer, but it is: %s", name)
	}
	if metadata.BrokerID(id) != s.nodeID {
		return errorf(InvalidRequest, "Unexpected broker id, expected %d, but received %s", s.nodeID, name)
	}
	return nil
}

// changedBrokerValues is what a broker's own check of incremental changes looks
// at: its dynamic values with the changes made. It words refusals differently
// from the check of topics.
func (s state) changedBrokerValues(r *ChangeConfigs) (map[string]string, *Error) {
	values := s.image.Configs(r.Resource).Map()
	for i := range r.Changes {
		c := &r.Changes[i]
		switch c.Op {
		case OpSet:
			values[c.Name] = *c.Value
		case OpDelete:
			delete(values, c.Name)
		case OpAppend, OpSubtract:
			p, known := config.Lookup(config.ScopeBroker, c.Name)
			if !known {
				return nil, errorf(InvalidConfig, "Unknown config name: %s", c.Name)
			}
			if p.Type != config.List {
				return nil, errorf(InvalidConfig, "Config value %s is not allowed for config key: %s", strings.ToLower(c.Op.String()), c.Name)
			}
			var before *string
			if v, had := values[c.Name]; had {
				before = &v
			}
			list, err := s.changedList(r.Resource.Type, c, before)
			if err != nil {
				return nil, err
			}
			values[c.Name] = list
		}
	}
	return values, nil
}

func (s state) checkBrokerValues(r metadata.Resource, values map[string]string) *Error {
	return configError(s.config.ValidateBroker(values, r.Name != ""))
}

// checkConfigs says what is wrong with the configurations that a resource would
// have after records.
func (s state) checkConfigs(r metadata.Resource, records []metadata.Record, created bool) *Error {
	all := s.image.Configs(r).Map()
	for _, record := range records {
		c := record.(*metadata.Config)
		switch {
		case c.Value == nil:
			delete(all, c.Key)
		case javaLength(*c.Value) > maxConfigValueLength:
			return errorf(InvalidConfig, "The configuration value cannot be added because it exceeds the maximum value size of %d bytes.",
				maxConfigValueLength)
		default:
			all[c.Key] = *c.Value
		}
	}
	if err := s.validate(r, all); err != nil {
		return err
	}
	if created {
		return nil
	}
	return s.checkExists(r)
}

func (s state) validate(r metadata.Resource, values map[string]string) *Error {
	switch r.Type {
	case metadata.TopicResource:
		if r.Name == "" {
			return errorf(InvalidRequest, "Default topic resources are not allowed.")
		}
		if err := checkTopicName(r.Name); err != nil {
			return err
		}
		return configError(s.broker().ValidateTopic(values))
	case metadata.GroupResource:
		if r.Name == "" {
			return errorf(InvalidRequest, "Default group resources are not allowed.")
		}
		return configError(s.broker().ValidateGroup(values))
	case metadata.ClientMetricsResource:
		return checkClientMetrics(r.Name, values)
	}
	// A broker's values were checked before.
	return nil
}

func (s state) checkExists(r metadata.Resource) *Error {
	switch {
	case r.Type == metadata.TopicResource && s.image.Topic(r.Name) == nil:
		return errorf(UnknownTopicOrPartition, "The topic '%s' does not exist.", r.Name)
	case r.Type == metadata.BrokerResource && r.Name != "":
		// checkOwnName has read the name already.
		id, err := strconv.ParseInt(r.Name, 10, 32)
		if err != nil || s.image.Broker(metadata.BrokerID(id)) == nil && metadata.BrokerID(id) != s.nodeID {
			return errorf(BrokerIDNotRegistered, "No node with id %s found.", r.Name)
		}
	}
	return nil
}

// configError gives an error of package config its kind.
func configError(err error) *Error {
	if err == nil {
		return nil
	}
	var e *config.Error
	if errors.As(err, &e) && e.Request {
		return &Error{Kind: InvalidRequest, Message: err.Error()}
	}
	return &Error{Kind: InvalidConfig, Message: err.Error()}
}

// newTopicConfigs checks the configurations of a topic to be created. Of a key
// that is named twice the last value counts.
func (s state) newTopicConfigs(t *CreateTopic) (map[string]string, *Error) {
	values := make(map[string]string, len(t.Configs))
	var nulls []string
	for _, kv := range t.Configs {
		if kv.Value == nil {
			nulls = append(nulls, kv.Name)
			continue
		}
		values[kv.Name] = *kv.Value
	}
	if len(nulls) > 0 {
		return nil, errorf(InvalidConfig, "Null value not supported for topic configs: %s", strings.Join(nulls, ","))
	}
	if len(values) == 0 {
		return values, nil
	}
	records := make([]metadata.Record, 0, len(values))
	for _, key := range sortedKeys(values) {
		value := values[key]
		records = append(records, &metadata.Config{Resource: topicResource(t.Name), Key: key, Value: &value})
	}
	return values, s.checkConfigs(topicResource(t.Name), records, true)
}

// effectiveTopicConfigs lists what a topic with these overrides would have.
func (s state) effectiveTopicConfigs(overrides map[string]string) []ConfigEntry {
	described := s.broker().DescribeTopic(overrides, nil)
	entries := make([]ConfigEntry, len(described))
	for i, d := range described {
		entries[i] = ConfigEntry{Name: d.Name, Value: d.Value, ReadOnly: d.ReadOnly, Sensitive: d.Sensitive, Source: int8(d.Source)}
	}
	return entries
}

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }

// javaSplit splits at commas as Java's String.split does: empty strings at the
// end are left out, but an empty text is one empty string.
func javaSplit(text string) []string {
	if text == "" {
		return []string{""}
	}
	parts := strings.Split(text, ",")
	for len(parts) > 0 && parts[len(parts)-1] == "" {
		parts = parts[:len(parts)-1]
	}
	return parts
}

// javaLength is the length that Java sees: UTF-16 units.
func javaLength(s string) int {
	n := 0
	for _, r := range s {
		n += max(utf16.RuneLen(r), 1)
	}
	return n
}

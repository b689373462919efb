package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// ValidateTopic checks the overrides that a topic is about to have. The error is an *Error for INVALID_CONFIG.
func (b *Broker) ValidateTopic(overrides map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(overrides)) {
		if topicIndex[name] == nil {
			return invalid("Unknown topic config name: %s", name)
		}
	}
	values, err := b.topicValues(overrides, true)
	if err != nil {
		return err
	}
	least, most := values["min.compaction.lag.ms"].num, values["max.compaction.lag.ms"].num
	if least > most {
		return invalid("conflict topic config setting min.compaction.lag.ms (%d) > max.compaction.lag.ms (%d)", least, most)
	}
	if values["remote.storage.enable"].flag {
		return invalid("Tiered Storage functionality is disabled in the broker. " +
			"Topic cannot be configured with remote log storage.")
	}
	return nil
}

// ValidateGroup checks the overrides that a group is about to have. The error is an *Error for INVALID_CONFIG.
func (b *Broker) ValidateGroup(overrides map[string]string) error {
	names := slices.Sorted(maps.Keys(overrides))
	for _, name := range names {
		if groupIndex[name] == nil {
			return invalid("Unknown group config name: %s", name)
		}
	}
	const tags = "streams.rack.aware.assignment.tags"
	if text, ok := overrides[tags]; ok {
		if v, err := parseType(tags, text, List); err == nil && len(withoutDuplicates(v.list)) != len(v.list) {
			return invalid("%s must not contain duplicate tag keys.", tags)
		}
	}
	set := make(map[string]value, len(names))
	for _, name := range names {
		v, err := parseValue(groupIndex[name], overrides[name])
		if err != nil {
			return err
		}
		set[name] = v
	}
	return b.checkGroup(set)
}

// groupBounds name the broker properties that bound a group property; "" leaves a side open.
var groupBounds = []struct{ name, least, most string }{
	{"consumer.heartbeat.interval.ms", "group.consumer.min.heartbeat.interval.ms", "group.consumer.max.heartbeat.interval.ms"},
	{"consumer.session.timeout.ms", "group.consumer.min.session.timeout.ms", "group.consumer.max.session.timeout.ms"},
	{"consumer.assignment.interval.ms", "group.consumer.min.assignment.interval.ms", "group.consumer.max.assignment.interval.ms"},
	{"share.heartbeat.interval.ms", "group.share.min.heartbeat.interval.ms", "group.share.max.heartbeat.interval.ms"},
	{"share.session.timeout.ms", "group.share.min.session.timeout.ms", "group.share.max.session.timeout.ms"},
	{"share.record.lock.duration.ms", "group.share.min.record.lock.duration.ms", "group.share.max.record.lock.duration.ms"},
	{"share.delivery.count.limit", "group.share.min.delivery.count.limit", "group.share.max.delivery.count.limit"},
	{"share.partition.max.record.locks", "group.share.min.partition.max.record.locks", "group.share.max.partition.max.record.locks"},
	{"share.assignment.interval.ms", "group.share.min.assignment.interval.ms", "group.share.max.assignment.interval.ms"},
	{"streams.heartbeat.interval.ms", "group.streams.min.heartbeat.interval.ms", "group.streams.max.heartbeat.interval.ms"},
	{"streams.session.timeout.ms", "group.streams.min.session.timeout.ms", "group.streams.max.session.timeout.ms"},
	{"streams.num.standby.replicas", "", "group.streams.max.standby.replicas"},
	{"streams.assignment.interval.ms", "group.streams.min.assignment.interval.ms", "group.streams.max.assignment.interval.ms"},
	{"streams.task.offset.interval.ms", "group.streams.min.task.offset.interval.ms", ""},
	{"streams.num.warmup.replicas", "", "group.streams.max.warmup.replicas"},
}

func (b *Broker) checkGroup(set map[string]value) error {
	for _, bound := range groupBounds {
		v, ok := set[bound.name]
		if !ok {
			continue
		}
		switch {
		case bound.least == "" && v.num > b.num(bound.most):
			return invalid("%s must be less than or equal to %d", bound.name, b.num(bound.most))
		case bound.most == "" && v.num < b.num(bound.least):
			return invalid("%s must be greater than or equal to %d", bound.name, b.num(bound.least))
		case bound.least == "" || bound.most == "":
		case v.num < b.num(bound.least) || v.num > b.num(bound.most):
			return invalid("%s must be in the range %d to %d inclusive.", bound.name, b.num(bound.least), b.num(bound.most))
		}
	}
	if v, ok := set["streams.assignor.name"]; ok {
		registered := b.list("group.streams.assignors")
		if !slices.Contains(registered, v.text) {
			return invalid("streams.assignor.name '%s' is not a registered task assignor. Registered assignors are: [%s].",
				v.text, strings.Join(registered, ", "))
		}
	}
	for _, kind := range []string{"consumer", "share", "streams"} {
		session, heartbeat := kind+".session.timeout.ms", kind+".heartbeat.interval.ms"
		s, sessionSet := set[session]
		h, heartbeatSet := set[heartbeat]
		if !sessionSet {
			s = b.get("group." + session)
		}
		if !heartbeatSet {
			h = b.get("group." + heartbeat)
		}
		if (sessionSet || heartbeatSet) && s.num <= h.num {
			return invalid("%s must be greater than %s", session, heartbeat)
		}
	}
	if strings.HasPrefix(set["errors.deadletterqueue.topic.name"].text, "__") {
		return invalid("errors.deadletterqueue.topic.name: DLQ topic name must not start with '__'")
	}
	return nil
}

// reloadable are the TLS properties that a listener reads again while it serves; they are dynamic only with a listener prefix.
var reloadable = []string{
	"ssl.key.password", "ssl.keystore.certificate.chain", "ssl.keystore.key", "ssl.keystore.location", "ssl.keystore.password",
	"ssl.keystore.type", "ssl.truststore.certificates", "ssl.truststore.location", "ssl.truststore.password", "ssl.truststore.type",
}

// clusterListenerProperties may be set for all brokers although they belong to a listener.
var clusterListenerProperties = []string{"max.connections", "max.connection.creation.rate", "num.network.threads"}

// ValidateBroker checks the dynamic values that this broker (perBroker) or all brokers are about to have. The error is an
// *Error for INVALID_REQUEST. Names that no table has are accepted, as Kafka does for the sake of plug-ins.
func (b *Broker) ValidateBroker(values map[string]string, perBroker bool) error {
	err := b.validateBroker(values, perBroker)
	if err == nil {
		return nil
	}
	return &Error{Request: true, Message: err.Error()}
}

func (b *Broker) validateBroker(values map[string]string, perBroker bool) error {
	var static, bare, single []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if p := brokerIndex[name]; p != nil && p.Update == ReadOnly {
			static = append(static, name)
		}
		if slices.Contains(reloadable, name) {
			bare = append(bare, name)
		}
		base, prefixed := withoutListener(name)
		if p := brokerIndex[name]; p != nil && p.Update == PerBroker ||
			prefixed && !slices.Contains(clusterListenerProperties, base) {
			single = append(single, name)
		}
	}
	switch {
	case len(static) > 0:
		return invalid("Cannot update these configs dynamically: [%s]", strings.Join(static, ", "))
	case len(bare) > 0:
		return invalid("These security configs can be dynamically updated only per-listener using the listener prefix: [%s]",
			strings.Join(bare, ", "))
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		p, ok := Lookup(ScopeBroker, name)
		if !ok {
			continue
		}
		// A file may repeat an item of a list, a dynamic change may not.
		if raw, err := parseType(name, values[name], p.Type); err == nil && p.Rule.distinct &&
			len(withoutDuplicates(raw.list)) != len(raw.list) {
			return invalid("Configuration '%s' values must not be duplicated.", name)
		}
		if _, err := parseValue(p, values[name]); err != nil {
			return err
		}
	}
	if !perBroker && len(single) > 0 {
		return invalid("Cannot update these configs at default cluster level, broker id must be specified: [%s]",
			strings.Join(single, ", "))
	}
	return b.checkChange(values, perBroker)
}

// threadCounts may at most halve or double in one change.
var threadCounts = []string{"background.threads", "num.io.threads", "num.recovery.threads.per.data.dir", "num.replica.fetchers"}

// checkChange looks at the values that would be in force after the change.
func (b *Broker) checkChange(values map[string]string, perBroker bool) error {
	next := assemble(b.static, values, b.dynamicCluster)
	if !perBroker {
		next = assemble(b.static, b.dynamicBroker, values)
	}
	for _, l := range next.limits() {
		if l.broken {
			return fmt.Errorf("requirement failed: %s", l.cause)
		}
	}
	for _, name := range threadCounts {
		is, was := next.num(name), b.num(name)
		prefix := fmt.Sprintf("Invalid dynamic configuration: Dynamic thread count update validation failed for %s=%d", name, is)
		switch {
		case is == was:
		case is < was/2:
			return fmt.Errorf("%s, value should be at least half the current value %d", prefix, was)
		case is > was*2:
			return fmt.Errorf("%s, value should not be greater than double the current value %d", prefix, was)
		}
	}
	return nil
}

// IsList reports whether APPEND and SUBTRACT apply to a property.
func IsList(scope Scope, name string) bool {
	p, ok := Lookup(scope, name)
	return ok && p.Type == List
}

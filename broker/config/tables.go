package config

import (
	"regexp"
	"slices"
	"strings"
)

// BrokerProperties returns every broker property by name, Kafka's and weir's own.
func BrokerProperties() []Property { return allBroker }

var allBroker = joined(clusterProperties, networkProperties, logProperties, coordinatorProperties, securityProperties,
	remoteProperties, weirProperties)

func joined(parts ...[]Property) []Property {
	all := slices.Concat(parts...)
	slices.SortFunc(all, func(a, b Property) int { return strings.Compare(a.Name, b.Name) })
	return all
}

func indexed(parts ...[]Property) map[string]*Property {
	index := make(map[string]*Property)
	for _, part := range parts {
		for i := range part {
			index[part[i].Name] = &part[i]
		}
	}
	return index
}

var (
	brokerIndex  = indexed(allBroker)
	dynamicIndex = indexed(dynamicProperties)
	topicIndex   = indexed(TopicProperties)
	groupIndex   = indexed(GroupProperties)
)

// Lookup finds a property by scope and name. A broker property may carry a listener prefix (listener.name.external.ssl.key.password).
// ok is false if there is no such property.
func Lookup(scope Scope, name string) (p *Property, ok bool) {
	switch scope {
	case ScopeTopic:
		p, ok = topicIndex[name]
	case ScopeGroup:
		p, ok = groupIndex[name]
	default:
		if p, ok = brokerIndex[name]; !ok {
			p, ok = dynamicIndex[name]
		}
		if !ok {
			if base, prefixed := withoutListener(name); prefixed {
				p, ok = brokerIndex[base]
			}
		}
	}
	return p, ok
}

var listenerPrefix = regexp.MustCompile(`^listener\.name\.[^.]*\.(.*)$`)

// mechanismProperties may be set per listener and SASL mechanism, as in listener.name.sasl_ssl.plain.sasl.jaas.config.
var mechanismProperties = []string{
	"sasl.jaas.config", "sasl.login.callback.handler.class", "sasl.login.class", "sasl.server.callback.handler.class",
	"connections.max.reauth.ms",
}

// withoutListener returns the property that a name with a listener prefix overrides.
func withoutListener(name string) (string, bool) {
	if !strings.HasPrefix(name, "listener.name.") {
		return "", false
	}
	match := listenerPrefix.FindStringSubmatch(name)
	if match == nil {
		return "", false
	}
	for _, base := range mechanismProperties {
		if strings.HasSuffix(match[1], base) {
			return base, true
		}
	}
	return match[1], true
}

// conversions are broker synonyms that count in another unit than the property they stand for.
var conversions = map[string]int64{
	"log.roll.hours":        3_600_000,
	"log.roll.jitter.hours": 3_600_000,
	"log.retention.minutes": 60_000,
	"log.retention.hours":   3_600_000,
}

// synonyms returns the broker properties that may stand for name, strongest first, itself included.
func synonyms(name string) []string {
	switch name {
	case "log.roll.ms", "log.roll.hours":
		return []string{"log.roll.ms", "log.roll.hours"}
	case "log.roll.jitter.ms", "log.roll.jitter.hours":
		return []string{"log.roll.jitter.ms", "log.roll.jitter.hours"}
	case "log.flush.interval.ms":
		return []string{"log.flush.interval.ms", "log.flush.scheduler.interval.ms"}
	case "log.retention.ms", "log.retention.minutes", "log.retention.hours":
		return []string{"log.retention.ms", "log.retention.minutes", "log.retention.hours"}
	}
	if base, ok := withoutListener(name); ok {
		return []string{name, base}
	}
	return []string{name}
}

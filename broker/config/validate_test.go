package config

import (
	"strings"
	"testing"
)

func TestValidationSaysWhatKafkaSays(t *testing.T) {
	b := mustLoad(t, "")
	for _, row := range kafkaRows(t, "kafka-4.4-validation.tsv") {
		scope, name, text, want := row[0], row[1], row[2], row[3]
		var err error
		if scope == "topic" {
			err = b.ValidateTopic(map[string]string{name: text})
		} else {
			err = b.ValidateGroup(map[string]string{name: text})
		}
		got := "ok"
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s %s=%q: %q, Kafka says %q", scope, name, text, got, want)
			continue
		}
		if err == nil && scope == "topic" {
			entries := b.DescribeTopic(map[string]string{name: text}, []string{name})
			if len(entries) != 1 || *entries[0].Value != row[4] {
				t.Errorf("%s=%q is described as %+v, Kafka stores %q", name, text, entries, row[4])
			}
		}
	}
}

func TestTopicValuesMustAgree(t *testing.T) {
	b := mustLoad(t, "log.cleaner.max.compaction.lag.ms=100")
	err := b.ValidateTopic(map[string]string{"min.compaction.lag.ms": "200"})
	if want := "conflict topic config setting min.compaction.lag.ms (200) > max.compaction.lag.ms (100)"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if err := b.ValidateTopic(map[string]string{"min.compaction.lag.ms": "200", "max.compaction.lag.ms": "300"}); err != nil {
		t.Error(err)
	}
}

func TestGroupTimeoutsMustAgree(t *testing.T) {
	b := mustLoad(t, "group.consumer.max.heartbeat.interval.ms=60000")
	err := b.ValidateGroup(map[string]string{"consumer.heartbeat.interval.ms": "45000"})
	if err == nil || err.Error() != "consumer.session.timeout.ms must be greater than consumer.heartbeat.interval.ms" {
		t.Error(err)
	}
}

func TestDynamicBrokerChangesAreCheckedAsKafkaDoes(t *testing.T) {
	b := mustLoad(t, "log.retention.hours=5")
	for _, c := range []struct {
		values    string
		perBroker bool
		want      string
	}{
		{"log.retention.ms=5", false, ""},
		{"log.retention.ms=5", true, ""},
		{"num.partitions=5", true, "Cannot update these configs dynamically: [num.partitions]"},
		{"num.partitions=5 node.id=3", true, "Cannot update these configs dynamically: [node.id, num.partitions]"},
		{"ssl.keystore.location=x", true, "These security configs can be dynamically updated only per-listener using the listener prefix: [ssl.keystore.location]"},
		{"listener.name.a.ssl.keystore.location=x", true, ""},
		{"listener.name.a.ssl.keystore.location=x", false, "Cannot update these configs at default cluster level, broker id must be specified: [listener.name.a.ssl.keystore.location]"},
		{"listener.name.a.max.connections=5", false, ""},
		{"log.segment.bytes=5", true, "Invalid value 5 for configuration log.segment.bytes: Value must be at least 1048576"},
		{"log.retention.ms=0", true, "requirement failed: log.retention.ms must be unlimited (-1) or, greater than or equal to 1"},
		{"num.io.threads=17", true, "Invalid dynamic configuration: Dynamic thread count update validation failed for num.io.threads=17, value should not be greater than double the current value 8"},
		{"num.io.threads=3", true, "Invalid dynamic configuration: Dynamic thread count update validation failed for num.io.threads=3, value should be at least half the current value 8"},
		{"num.io.threads=16", false, ""},
		{"log.cleaner.threads=0", false, ""},
		{"log.cleaner.threads=200", false, "requirement failed: log.cleaner.dedupe.buffer.size must be at least 1MB per cleaner thread."},
		{"leader.replication.throttled.rate=-1", true, "Invalid value -1 for configuration leader.replication.throttled.rate: Value must be at least 0"},
		{"my.plugin.key=1", true, ""},
		{"weir.flush.on.acks=some", false, "Invalid value some for configuration weir.flush.on.acks: String must be one of: none, all"},
	} {
		values := make(map[string]string)
		for _, pair := range strings.Fields(c.values) {
			k, v, _ := strings.Cut(pair, "=")
			values[k] = v
		}
		err := b.ValidateBroker(values, c.perBroker)
		got := ""
		if err != nil {
			got = err.Error()
			if e, ok := err.(*Error); !ok || !e.Request {
				t.Errorf("%s: error is %#v", c.values, err)
			}
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.values, got, c.want)
		}
	}
}

func TestOnlyListsAreAppendedTo(t *testing.T) {
	if !IsList(ScopeTopic, "cleanup.policy") || IsList(ScopeTopic, "retention.ms") || IsList(ScopeTopic, "none") {
		t.Error("cleanup.policy is a list, retention.ms is not")
	}
}

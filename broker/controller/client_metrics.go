package controller

import (
	"regexp"
	"strconv"
	"strings"
)

// Keys of a client metrics subscription (KIP-714).
const (
	clientMetricsMetrics  = "metrics"
	clientMetricsInterval = "interval.ms"
	clientMetricsMatch    = "match"
)

// clientMetricsMatchKeys are the client attributes that a subscription may match.
var clientMetricsMatchKeys = map[string]bool{
	"client_instance_id": true, "client_id": true, "client_software_name": true,
	"client_software_version": true, "client_source_address": true, "client_source_port": true,
}

// checkClientMetrics says what is wrong with a client metrics subscription.
func checkClientMetrics(name string, values map[string]string) *Error {
	if name == "" {
		return errorf(InvalidRequest, "Subscription name can't be empty")
	}
	for _, key := range sortedKeys(values) {
		if key != clientMetricsMetrics && key != clientMetricsInterval && key != clientMetricsMatch {
			return errorf(InvalidRequest, "Unknown client metrics configuration: %s", key)
		}
	}
	for _, key := range []string{clientMetricsMetrics, clientMetricsMatch} {
		if text, set := values[key]; set {
			if err := checkPlainList(key, text); err != nil {
				return err
			}
		}
	}
	if text, set := values[clientMetricsInterval]; set {
		ms, err := strconv.ParseInt(strings.TrimSpace(text), 10, 32)
		if err != nil {
			return errorf(InvalidConfig, "Invalid value %s for configuration %s: Not a number of type INT", text, clientMetricsInterval)
		}
		if ms < 100 || ms > 3600000 {
			return errorf(InvalidRequest, "Invalid value %d for %s, interval must be between 100 and 3600000 (1 hour)", ms, clientMetricsInterval)
		}
	}
	for _, pattern := range listItems(values[clientMetricsMatch]) {
		key, value, found := strings.Cut(pattern, "=")
		valid := found && value != "" && !strings.Contains(strings.TrimRight(value, "="), "=") && clientMetricsMatchKeys[strings.TrimSpace(key)]
		if valid {
			_, err := regexp.Compile(strings.TrimSpace(value))
			valid = err == nil
		}
		if !valid {
			return errorf(InvalidConfig, "Illegal client matching pattern: %s", pattern)
		}
	}
	return nil
}

func listItems(text string) []string {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	items := strings.Split(text, ",")
	for i := range items {
		items[i] = strings.TrimSpace(items[i])
	}
	return items
}

func checkPlainList(key, text string) *Error {
	seen := make(map[string]bool)
	items := listItems(text)
	for _, item := range items {
		if item == "" {
			return errorf(InvalidConfig, "Configuration '%s' values must not be empty.", key)
		}
		if seen[item] {
			return errorf(InvalidConfig, "Configuration '%s' values must not be duplicated.", key)
		}
		seen[item] = true
	}
	return nil
}

//go:build interop

package oracle

import (
	"context"
	"encoding/json"
	"fmt"
)

// ConfigKey is one row of a ConfigDef.
type ConfigKey struct {
	Type           string   `json:"type"`
	Importance     string   `json:"importance"`
	Internal       bool     `json:"internal"`
	HasDefault     bool     `json:"hasDefault"`
	Default        *string  `json:"default"` // nil: null or no default
	Validator      string   `json:"validator"`
	UpdateMode     string   `json:"updateMode"`     // broker: read-only, per-broker, cluster-wide
	DynamicOnly    bool     `json:"dynamicOnly"`    // broker: cannot stand in server.properties
	Synonyms       []string `json:"synonyms"`       // broker: names in order of precedence
	BrokerSynonyms []string `json:"brokerSynonyms"` // topic: broker names in order of precedence
}

// ConfigTables are Kafka's tables by kind and name.
type ConfigTables struct {
	Topic, Broker, Group map[string]ConfigKey
}

// Configs returns the tables.
func (o *Oracle) Configs(ctx context.Context) (ConfigTables, error) {
	b, err := o.call(ctx, opConfigs, nil)
	if err != nil {
		return ConfigTables{}, err
	}
	var t ConfigTables
	if err := json.Unmarshal(b, &t); err != nil {
		return t, fmt.Errorf("oracle: configs: %w", err)
	}
	return t, nil
}

// ConfigComplaint is Kafka's objection to a set of values; the zero value means none.
type ConfigComplaint struct {
	Class   string `json:"errorClass"`
	Message string `json:"errorMessage"`
}

// CheckConfig checks overrides by kind: topic, broker (one broker's dynamic values), broker-default (the cluster's dynamic
// values) or group.
func (o *Oracle) CheckConfig(ctx context.Context, kind string, config map[string]string) (ConfigComplaint, error) {
	var c ConfigComplaint
	return c, o.callJSON(ctx, opCheckConfig, map[string]any{"kind": kind, "config": config}, &c)
}

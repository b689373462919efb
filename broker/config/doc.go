// Package config knows every configuration property: its Kafka name, type, default, valid values, what it does, where it may be
// set and how a running broker picks a change up.
//
// It owns
//   - the tables of broker, topic and group properties ([BrokerProperties], [TopicProperties], [GroupProperties]), which are also the
//     source of docs/config.md and of DescribeConfigs answers;
//   - reading them: a server.properties file, then WEIR_* environment variables, then --override flags ([Load]), every
//     problem reported at once with its place;
//   - the typed values the rest of the broker takes: [Broker] and [TopicConfig];
//   - the rules for changing them at run time ([Broker.ValidateTopic], [Broker.ValidateBroker], [Broker.ValidateGroup]), with the error texts
//     that Kafka's tools print.
//
// It does not own where dynamic values are kept (metadata), who may change them (security) or who carries a change out
// (node, partition). It is a leaf: it imports nothing else of this module. node, controller, api, partition and cli call it.
//
// # Precedence
//
// A value comes from the first of these layers that sets it (the numbers are DescribeConfigs sources):
//
//	topic or group override      (1, 8)   the resource itself
//	dynamic broker config        (2)      this broker only
//	dynamic cluster default      (3)      every broker
//	static broker config         (4)      file, environment, --override
//	default                      (5)      the table
//
// A topic property looks for its broker synonyms in layers 2 to 5, for example retention.ms at log.retention.ms,
// then log.retention.minutes, then log.retention.hours.
package config

package config

import "errors"

// Load reads a configuration. Everything wrong is reported in one error, a problem a line as "place: key: cause; fix"; warnings
// never keep a broker from starting.
func Load(s Sources) (*Broker, []Warning, error) {
	return nil, nil, errors.New("config: Load lands next")
}

// WithDynamic returns b with the dynamic values of this broker and of the cluster in place of those it had. Values that do
// not parse are ignored, since refusing them would keep a broker from starting; the error names them.
func (b *Broker) WithDynamic(broker, cluster map[string]string) (*Broker, error) {
	return b, nil
}

// Static returns the values set in the file, the environment and overrides, by property name.
func (b *Broker) Static() map[string]string { return b.static }

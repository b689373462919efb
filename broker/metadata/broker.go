package metadata

// SecurityProtocol is how a listener is secured, with Kafka's numbers.
type SecurityProtocol int16

// Security protocols.
const (
	Plaintext     SecurityProtocol = 0
	SSL           SecurityProtocol = 1
	SASLPlaintext SecurityProtocol = 2
	SASLSSL       SecurityProtocol = 3
)

// Endpoint is an address that a broker advertises.
type Endpoint struct {
	Name             string // the listener's name
	Host             string
	Port             uint16
	SecurityProtocol SecurityProtocol
}

// SupportedFeature is the range of levels of one feature that a broker can run
// with, both ends inclusive.
type SupportedFeature struct {
	Name     string
	Min, Max FeatureLevel
}

// Broker is one registered broker. It is immutable.
type Broker struct {
	ID            BrokerID
	Epoch         BrokerEpoch
	IncarnationID IncarnationID
	Rack          string // empty: none
	Endpoints     []Endpoint
	Features      []SupportedFeature // sorted by name
	LogDirs       []DirID            // online directories, sorted
	CordonedDirs  []DirID            // directories that get no new replicas (KIP-1066)
	// Fenced brokers lead nothing and are not told to clients.
	Fenced               bool
	InControlledShutdown bool
}

// Active reports whether the broker may lead and be in an ISR.
func (b *Broker) Active() bool { return !b.Fenced && !b.InControlledShutdown }

// Endpoint returns the address of listener name.
func (b *Broker) Endpoint(name string) (Endpoint, bool) {
	for _, e := range b.Endpoints {
		if e.Name == name {
			return e, true
		}
	}
	return Endpoint{}, false
}

// Feature returns the range of feature name that the broker supports.
func (b *Broker) Feature(name string) (SupportedFeature, bool) {
	for _, f := range b.Features {
		if f.Name == name {
			return f, true
		}
	}
	return SupportedFeature{}, false
}

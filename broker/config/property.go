package config

// Type is a property's type, numbered as in DescribeConfigs responses (KIP-569).
type Type int8

// The types of Kafka's properties.
const (
	Unknown  Type = 0
	Boolean  Type = 1
	String   Type = 2
	Int      Type = 3 // 32 bits
	Short    Type = 4 // 16 bits
	Long     Type = 5 // 64 bits
	Double   Type = 6
	List     Type = 7 // separated by commas
	Class    Type = 8 // a Java class name; weir keeps the text and loads nothing
	Password Type = 9 // never shown
)

var typeNames = [...]string{"unknown", "boolean", "string", "int", "short", "long", "double", "list", "class", "password"}

// String returns the type in lower case, as Kafka's documentation prints it.
func (t Type) String() string {
	if t < 0 || int(t) >= len(typeNames) {
		return "unknown"
	}
	return typeNames[t]
}

// Importance says how likely an operator has to look at a property.
type Importance uint8

// Kafka's three levels.
const (
	Low Importance = iota
	Medium
	High
)

// String returns low, medium or high.
func (i Importance) String() string { return [...]string{"low", "medium", "high"}[min(i, High)] }

// Scope says which kind of resource a property belongs to.
type Scope uint8

// The scopes.
const (
	ScopeBroker Scope = iota
	ScopeTopic
	ScopeGroup
)

// UpdateMode says how a broker property changes without a restart (KIP-226).
type UpdateMode uint8

// The update modes of Kafka's documentation.
const (
	ReadOnly    UpdateMode = iota // restart needed
	PerBroker                     // dynamic, for one broker id only
	ClusterWide                   // dynamic, for one broker or as default of all
)

// String returns the mode as Kafka's documentation writes it.
func (m UpdateMode) String() string {
	return [...]string{"read-only", "per-broker", "cluster-wide"}[min(m, ClusterWide)]
}

// Property is one row of the tables.
type Property struct {
	Name       string
	Doc        string
	Type       Type
	Default    string // as DescribeConfigs prints it; see Null
	Null       bool   // the default is null rather than Default
	Rule       Rule   // what a value must satisfy; the zero Rule accepts all of Type
	Importance Importance
	Update     UpdateMode // brokers only; topics and groups always change at once
	Internal   bool       // hidden from DescribeConfigs unless set
	Inert      bool       // accepted so that Kafka's files load, without effect in weir
	// Synonym names the broker property that is a topic or group property's default, "" if there is none. It may have further
	// synonyms of its own (log.retention.ms, then .minutes, then .hours).
	Synonym string
}

// Sensitive reports whether the value must never be shown.
func (p *Property) Sensitive() bool { return p.Type == Password }

// Source says which layer a value comes from, numbered as in DescribeConfigs responses.
type Source int8

// The sources.
const (
	SourceUnknown        Source = 0
	SourceTopic          Source = 1
	SourceDynamicBroker  Source = 2
	SourceDynamicCluster Source = 3
	SourceStatic         Source = 4
	SourceDefault        Source = 5
	SourceGroup          Source = 8
)

// Entry is one property in a DescribeConfigs answer.
type Entry struct {
	Name      string
	Value     *string // nil when null or sensitive
	Source    Source
	Type      Type
	Doc       string
	ReadOnly  bool
	Sensitive bool
	Synonyms  []Synonym // every layer that sets the value, strongest first
}

// Synonym is one layer's value of a property.
type Synonym struct {
	Name   string
	Value  *string
	Source Source
}

package config

// inertDoc ends the documentation of a property that weir accepts and ignores.
const inertDoc = " Accepted so that Kafka's configurations load; it has no effect in weir."

// Documentation is the property's text for DescribeConfigs and docs/config.md.
func (p *Property) Documentation() string {
	if p.Inert {
		return p.Doc + inertDoc
	}
	return p.Doc
}

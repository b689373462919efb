package config

// ValidateTopic checks the overrides that a topic is about to have, existing being those it has (nil when it is created). The error
// is an *Error for INVALID_CONFIG.
func (b *Broker) ValidateTopic(overrides, existing map[string]string) error {
	return nil
}

// ValidateGroup checks the overrides that a group is about to have. The error is an *Error for INVALID_CONFIG.
func (b *Broker) ValidateGroup(overrides map[string]string) error {
	return nil
}

// ValidateBroker checks the dynamic values that a broker (perBroker) or all brokers are about to have. The error is an
// *Error for INVALID_REQUEST.
func (b *Broker) ValidateBroker(values map[string]string, perBroker bool) error {
	return nil
}

// NullError is the error for alterations that give a null value to the named keys of a topic or group.
func NullError(scope Scope, names []string) error {
	return nil
}

// IsList reports whether APPEND and SUBTRACT apply to a property.
func IsList(scope Scope, name string) bool {
	p, ok := Lookup(scope, name)
	return ok && p.Type == List
}

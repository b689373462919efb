package config

import "fmt"

// Error is a value that a resource must not have. Its text is Kafka's, since tools print it to people.
type Error struct {
	// Request is true where Kafka answers INVALID_REQUEST (dynamic broker changes), false for INVALID_CONFIG.
	Request bool
	Message string
}

// Error returns Kafka's message.
func (e *Error) Error() string { return e.Message }

func invalid(format string, args ...any) *Error {
	return &Error{Message: fmt.Sprintf(format, args...)}
}

// invalidValue is the form most of Kafka's checks have.
func invalidValue(name, value, why string) *Error {
	return invalid("Invalid value %s for configuration %s: %s", value, name, why)
}

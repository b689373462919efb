package config

import (
	"fmt"
	"strings"
)

// Error is a value that a resource must not have. Its text is Kafka's, since tools print it to people.
type Error struct {
	// Request is true where Kafka answers INVALID_REQUEST (dynamic broker changes), false for INVALID_CONFIG.
	Request bool
	Message string

	value string // the refused value, where the message is of the form invalidValue makes
	why   string
}

// Error returns Kafka's message.
func (e *Error) Error() string { return e.Message }

// cause is the message without the property's name, for reports that show it already.
func (e *Error) cause(hide bool) string {
	switch {
	case e.why == "":
		return e.Message
	case hide:
		return e.why
	}
	return fmt.Sprintf("%q: %s", e.value, e.why)
}

func invalid(format string, args ...any) *Error {
	return &Error{Message: fmt.Sprintf(format, args...)}
}

// invalidValue is the form most of Kafka's checks have.
func invalidValue(name, value, why string) *Error {
	e := invalid("Invalid value %s for configuration %s: %s", value, name, why)
	e.value, e.why = value, why
	return e
}

// Problem is one thing wrong with a configuration.
type Problem struct {
	Place string // file:line, "environment WEIR_X", or "--override"
	Key   string
	Cause string
	Fix   string
}

// String returns "place: key: cause; fix".
func (p Problem) String() string {
	var parts []string
	for _, part := range []string{p.Place, p.Key, p.Cause} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	text := strings.Join(parts, ": ")
	if p.Fix != "" {
		text += "; " + p.Fix
	}
	return text
}

// LoadError is every problem of one configuration.
type LoadError struct{ Problems []Problem }

// Error returns a line per problem.
func (e *LoadError) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

package config

import "testing"

func TestReferenceIsUpToDate(t *testing.T) {
	golden(t, "../../docs/config.md", Reference())
}

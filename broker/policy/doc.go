// Package policy holds the broker's decision points: small interfaces over
// plain facts, and for each the Go version of Kafka's rule.
//
// A policy is a pure function. The broker gathers facts, asks, checks the
// verdict and performs it; a policy keeps nothing between calls that it may
// not lose. The Go versions ("twins") are what runs by default, what answers
// when a plugin fails, and what a plugin is compared with.
//
// The package owns the shape of facts and verdicts and the twins' rules. It
// does not own when a policy is asked, which one is bound to a topic, or what
// happens to a verdict: broker/partition asks Retention and carries it out,
// broker/producerstate asks Producer, broker/group's worker asks Assignor. It
// imports nothing of the broker and speaks in plain numbers, because the same
// facts cross into plugins.
package policy

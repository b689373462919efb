// Package adminhttp is the admin listener: health, readiness and metrics over HTTP, loopback by default.
//
// It owns the HTTP server and its handlers. It does not own what it reports: readiness reasons come from a function
// that node passes in, metrics from the registry that node hands to every package. node starts it first and stops it
// last, so that an operator can watch a broker that is still recovering its logs.
package adminhttp

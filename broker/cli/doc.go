// Package cli is weir's command line: one file per command, built on cobra. It owns flags, help texts, tables, JSON
// output and exit codes (0 done, 1 failed, 2 wrong usage). It does not own any broker behaviour: serve and dev hand a
// configuration to broker/node, the client commands speak Kafka's protocol through franz-go, and `log dump` reads files
// through the packages that own their formats.
package cli

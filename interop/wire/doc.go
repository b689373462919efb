// Package wire holds no code: its test sends the same raw requests, at every version Kafka supports, to Apache Kafka and to weir
// and compares the decoded answers field by field, error paths included.
//
// cases_test.go lists the requests, expected.txt the differences that are meant, each with its reason. Masks hide ids, times,
// ports and paths, by the name of the field, and nothing else.
package wire

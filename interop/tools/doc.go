// Package tools holds no code: its test runs one script of Kafka's command-line tools against Apache Kafka and against weir and
// compares what they say.
//
// script.txt lists the invocations, expected.txt the differences that are meant, each with its reason. Masks hide ids, times,
// ports and paths and nothing else. A difference that is not expected fails, and so does an expectation that no longer occurs.
package tools

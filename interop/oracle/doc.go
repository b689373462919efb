// Package oracle asks Apache Kafka itself what the right answer is.
//
// It builds a small Java program against Kafka's released jars, starts one JVM with a bounded heap and speaks to it over stdin
// and stdout. Calls are typed, may be made from any goroutine and are pipelined. There are two kinds: library oracles (our bytes
// in, the answer of Kafka's own classes out, with an explicit clock), and real brokers and command-line tools running inside that
// JVM.
//
// The package owns the Java program and its protocol. It does not judge: comparing answers is the tests' work. Everything but
// this comment is behind the build tag interop, since it needs a JDK and Maven.
package oracle

//go:build interop

package oracle

import (
	"context"
	"time"
)

// Invocation is one run of a Kafka command-line tool.
type Invocation struct {
	Tool    string // topics, configs, console-producer, … as in Tools.java, or a class name
	Args    []string
	Stdin   string
	Timeout time.Duration // a minute when 0; the tool is interrupted after it
}

// Output is what the tool wrote and how it ended.
type Output struct {
	Code           int32 // -1: interrupted at its timeout
	Stdout, Stderr string
}

// Tool runs a tool inside the JVM. Tools run one at a time, since they share the process's streams.
func (o *Oracle) Tool(ctx context.Context, i Invocation) (Output, error) {
	if i.Timeout == 0 {
		i.Timeout = time.Minute
	}
	var w writer
	w.str(i.Tool)
	w.str(i.Stdin)
	w.i64(i.Timeout.Milliseconds())
	w.i32(int32(len(i.Args)))
	for _, a := range i.Args {
		w.str(a)
	}
	b, err := o.call(ctx, opTool, w.b)
	if err != nil {
		return Output{}, err
	}
	r := reader{b: b}
	out := Output{Code: r.i32(), Stdout: r.str(), Stderr: r.str()}
	return out, r.err
}

// Broker is a real Kafka broker inside the JVM.
type Broker struct {
	Bootstrap string `json:"bootstrap"`
	LogDir    string `json:"dataDir"` // its only log directory

	oracle *Oracle
}

// StartBroker formats dir unless it is formatted, and starts one node, broker and controller in one, on free loopback ports.
// config adds to or replaces its properties; groups and transactions need their topics' replication factors set to 1 there.
func (o *Oracle) StartBroker(ctx context.Context, dir string, config map[string]string) (*Broker, error) {
	b := &Broker{oracle: o}
	err := o.callJSON(ctx, opBrokerStart, map[string]any{"dir": dir, "config": config}, b)
	if err != nil {
		return nil, err
	}
	return b, nil
}

// Stop shuts the broker down cleanly; its directory can be started again.
func (b *Broker) Stop(ctx context.Context) error {
	q := map[string]string{"bootstrap": b.Bootstrap}
	var none struct{}
	return b.oracle.callJSON(ctx, opBrokerStop, q, &none)
}

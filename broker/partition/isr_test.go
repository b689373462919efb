package partition

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/weir-broker/weir/broker/batch"
	"github.com/weir-broker/weir/broker/metadata"
)

// TestISR runs the scripts in testdata/isr. Broker 1 is the local replica.
//
//	brokers            one per line: ID epoch=N [fenced] [stopping]
//	apply              leader=N epoch=N pepoch=N replicas=(..) isr=(..)
//	append N           the leader's log now ends at N
//	fetch ID N         follower ID has everything below N; [epoch=N] [start=N]
//	tick DURATION      time passes, then members that fell behind are looked for
//	accept / refuse    the controller answers the pending proposal
//	ack N              what a producer that waits for N is told
//	start N            the log start offset moves
func TestISR(t *testing.T) {
	datadriven.Walk(t, "testdata/isr", func(t *testing.T, path string) {
		s := newISRState(1, 30*time.Second)
		now := time.UnixMilli(0)
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			var out strings.Builder
			switch d.Cmd {
			case "min-isr":
				d.ScanArgs(t, "n", &s.minISR)
			case "brokers":
				s.brokers = parseBrokers(t, d.Input)
			case "apply":
				var leader, epoch, pepoch int64
				d.ScanArgs(t, "leader", &leader)
				d.ScanArgs(t, "epoch", &epoch)
				d.ScanArgs(t, "pepoch", &pepoch)
				if s.apply(registration{
					leader:         metadata.BrokerID(leader),
					leaderEpoch:    batch.LeaderEpoch(epoch),
					partitionEpoch: metadata.PartitionEpoch(pepoch),
					replicas:       ids(t, d, "replicas"),
					isr:            ids(t, d, "isr"),
				}, now) {
					fmt.Fprintf(&out, "epoch %d begins at %d\n", s.leaderEpoch, s.epochStart)
				}
			case "append":
				var end int64
				d.ScanArgs(t, "to", &end)
				s.appended(batch.Offset(end), now)
			case "fetch":
				var id, offset, start int64
				epoch := int64(-1)
				d.ScanArgs(t, "id", &id)
				d.ScanArgs(t, "at", &offset)
				if d.HasArg("epoch") {
					d.ScanArgs(t, "epoch", &epoch)
				}
				if d.HasArg("start") {
					d.ScanArgs(t, "start", &start)
				}
				_, change, err := s.fetched(metadata.BrokerID(id), metadata.BrokerEpoch(epoch), batch.Offset(offset), batch.Offset(start), s.logEnd, now)
				if err != nil {
					fmt.Fprintf(&out, "error: %v\n", err)
				}
				printChange(&out, change)
			case "tick":
				var text string
				d.ScanArgs(t, "by", &text)
				by, err := time.ParseDuration(text)
				if err != nil {
					t.Fatal(err)
				}
				now = now.Add(by)
				printChange(&out, s.tick(now))
			case "accept":
				s.accepted(s.leaderEpoch, s.partitionEpoch+1, s.pending.members, now)
			case "refuse":
				s.refused()
			case "start":
				var start int64
				d.ScanArgs(t, "at", &start)
				s.logStartAdvanced(batch.Offset(start))
				fmt.Fprintf(&out, "low watermark %d\n", s.lowWatermark())
			case "ack":
				var next int64
				d.ScanArgs(t, "next", &next)
				done, err := s.ackState(batch.Offset(next))
				switch {
				case errors.Is(err, ErrNotLeader), errors.Is(err, ErrNotEnoughReplicasAfterAppend):
					return fmt.Sprintf("done=%t %v\n", done, err)
				case err != nil:
					t.Fatal(err)
				}
				return fmt.Sprintf("done=%t\n", done)
			default:
				d.Fatalf(t, "unknown command %s", d.Cmd)
			}
			printState(&out, &s)
			return out.String()
		})
	})
}

func parseBrokers(t *testing.T, input string) brokerFacts {
	facts := brokerFacts{}
	for line := range strings.Lines(input) {
		fields := strings.Fields(line)
		var id, epoch int64
		if _, err := fmt.Sscanf(fields[0]+" "+fields[1], "%d epoch=%d", &id, &epoch); err != nil {
			t.Fatal(err)
		}
		facts[metadata.BrokerID(id)] = brokerFact{
			epoch:        metadata.BrokerEpoch(epoch),
			fenced:       strings.Contains(line, "fenced"),
			shuttingDown: strings.Contains(line, "stopping"),
		}
	}
	return facts
}

func ids(t *testing.T, d *datadriven.TestData, key string) []metadata.BrokerID {
	var out []metadata.BrokerID
	for _, arg := range d.CmdArgs {
		if arg.Key != key {
			continue
		}
		for _, v := range arg.Vals {
			var id int64
			if _, err := fmt.Sscan(v, &id); err != nil {
				t.Fatal(err)
			}
			out = append(out, metadata.BrokerID(id))
		}
	}
	return out
}

func printChange(out *strings.Builder, c *isrChange) {
	if c != nil {
		fmt.Fprintf(out, "propose isr=%v broker-epochs=%v at epoch %d, partition epoch %d\n", c.members, c.epochs, c.leaderEpoch, c.partitionEpoch)
	}
}

func printState(out *strings.Builder, s *isrState) {
	if !s.leading {
		fmt.Fprintf(out, "follower of %d, epoch %d; hw=%d leo=%d\n", s.leader, s.leaderEpoch, s.highWatermark, s.logEnd)
		return
	}
	fmt.Fprintf(out, "hw=%d leo=%d isr=%v", s.highWatermark, s.logEnd, s.committed)
	if s.pending != nil {
		fmt.Fprintf(out, " pending=%v maximal=%d", s.pending.members, s.maximalISRSize())
	}
	if s.underMinISR() {
		out.WriteString(" UNDER-MIN-ISR")
	}
	out.WriteString("\n")
}

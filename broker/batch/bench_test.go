package batch

import (
	"fmt"
	"math"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"
)

// sample builds a batch of n records with values of about size bytes that compress about as JSON events do.
func sample(c Codec, n, size int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	o := NoProducer()
	o.Compression = CompressionOf(c)
	b := NewBuilder(o)
	words := []string{"temperature", "pressure", "sensor", "station", "north", "south", "2026-01-02T03:04:05", "value", "alert"}
	for i := range n {
		var v []byte
		for len(v) < size {
			v = fmt.Appendf(v, "%s:%d,", words[r.IntN(len(words))], r.IntN(100000))
		}
		b.Add(1_700_000_000_000+int64(i), fmt.Appendf(nil, "key-%d", r.IntN(1000)), v[:size], nil)
	}
	return b.Bytes()
}

func benchOptions() ValidateOptions {
	return ValidateOptions{
		NextOffset: 1000, LeaderEpoch: 3, Now: 1_700_000_001_000, BeforeMax: math.MaxInt64, AfterMax: 3_600_000,
		MaxBatchSize: 8 << 20, TopicPartition: "t-0",
	}
}

func BenchmarkParseHeader(b *testing.B) {
	raw := sample(None, 1, 10)
	for b.Loop() {
		if _, err := ParseHeader(raw); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkValidate(b *testing.B) {
	for _, c := range []Codec{None, Gzip, Snappy, LZ4, Zstd} {
		for _, shape := range []struct{ n, size int }{{1000, 100}, {160, 100}, {1000, 1000}, {16, 1000}} {
			for _, header := range []bool{false, true} {
				if header && (c != None && c != LZ4 || shape.n != 1000) {
					continue
				}
				b.Run(fmt.Sprintf("%v/%dx%d/header=%v", c, shape.n, shape.size, header), func(b *testing.B) {
					raw := sample(c, shape.n, shape.size)
					o := benchOptions()
					o.HeaderOnly = header
					b.ReportAllocs()
					b.SetBytes(int64(len(raw)))
					before := cpuTime(b)
					for b.Loop() {
						SetBaseOffset(raw, 0)
						if _, err := Validate(raw, o); err != nil {
							b.Fatal(err)
						}
					}
					b.ReportMetric(float64((cpuTime(b)-before).Nanoseconds())/float64(b.N)/float64(shape.n), "cpu-ns/record")
				})
			}
		}
	}
}

// cpuTime is what the process has used: on a busy machine it says more than the clock.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func BenchmarkRecompress(b *testing.B) {
	for _, to := range []Codec{None, Gzip, Snappy, LZ4, Zstd} {
		from := None
		if to == None {
			from = LZ4
		}
		b.Run(fmt.Sprintf("%v-to-%v", from, to), func(b *testing.B) {
			raw := sample(from, 1000, 1000)
			o := benchOptions()
			o.TargetCodec = ForceCodec(to)
			b.ReportAllocs()
			b.SetBytes(1000 * 1000)
			for b.Loop() {
				if _, err := Validate(raw, o); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkRecords(b *testing.B) {
	for _, c := range []Codec{None, LZ4} {
		b.Run(c.String(), func(b *testing.B) {
			raw := sample(c, 1000, 100)
			b.ReportAllocs()
			for b.Loop() {
				it, err := Records(raw, Limits{})
				if err != nil {
					b.Fatal(err)
				}
				n := 0
				for it.Next() {
					n++
				}
				it.Close()
				if n != 1000 {
					b.Fatal(n)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/record")
		})
	}
}

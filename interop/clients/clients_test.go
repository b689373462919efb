//go:build interop

// Package clients_test moves real data through other people's clients: one writes, another reads, and SHA-256 over
// (partition, offset, key, value, headers) must agree. See README.md for the file formats.
package clients_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weir-broker/weir/interop/weir"
)

const partitions = 3

var codecs = []string{"none", "gzip", "snappy", "lz4", "zstd"}

// client is one program or library: write fills OUTPUT with acknowledgements, read with digests.
type client struct {
	name  string
	share int // of ten parts of the records, how many it writes
	write func(ctx context.Context, bootstrap, topic, codec, input, output string) error
	read  func(ctx context.Context, bootstrap, topic, output string) error
}

func clients(t *testing.T) []client {
	here, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	python := []string{filepath.Join(here, "python", "venv", "bin", "python"), filepath.Join(here, "python", "client.py")}
	java := []string{"java", "-Xmx512m", "-cp", filepath.Join(here, "java", "target", "classes") + ":" + filepath.Join(here, "java", "target", "lib", "*"), "Client"}
	node := []string{"node", "--max-old-space-size=2048", filepath.Join(here, "node", "client.js")}
	return []client{
		{"kgo", 3, kgoWrite, kgoRead},
		{"java", 2, program(java).write, program(java).read},
		{"sarama", 2, saramaWrite, saramaRead},
		{"confluent", 1, program(python).write, program(python).read},
		{"kcat", 1, kcatWrite, kcatRead},
		{"kafkajs", 1, program(node).write, nil},
	}
}

// reader names who reads what each writer wrote: always another one.
var reader = map[string]string{"kgo": "java", "java": "confluent", "sarama": "kgo", "confluent": "sarama", "kcat": "kgo", "kafkajs": "kcat"}

type program []string

func (p program) write(ctx context.Context, bootstrap, topic, codec, input, output string) error {
	return p.run(ctx, "write", bootstrap, topic, codec, input, output)
}

func (p program) read(ctx context.Context, bootstrap, topic, output string) error {
	return p.run(ctx, "read", bootstrap, topic, strconv.Itoa(partitions), output)
}

func (p program) run(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, p[0], append(p[1:len(p):len(p)], args...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %v: %w\n%s", p[0], args[0], err, out)
	}
	return nil
}

// TestEveryClientReadsWhatAnotherWrote writes WEIR_INTEROP_RECORDS records per codec (default 60,000; the campaign
// takes 1,000,000) through six clients and reads them through another one each.
func TestEveryClientReadsWhatAnotherWrote(t *testing.T) {
	total := 60_000
	if env := os.Getenv("WEIR_INTEROP_RECORDS"); env != "" {
		var err error
		if total, err = strconv.Atoi(env); err != nil {
			t.Fatal(err)
		}
	}
	broker := weir.Start(t, filepath.Join(t.TempDir(), "data"))
	all := clients(t)
	byName := map[string]client{}
	for _, c := range all {
		byName[c.name] = c
	}
	admin, err := kgo.NewClient(kgo.SeedBrokers(broker.Bootstrap))
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close()
	for number, codec := range codecs {
		for index, c := range all {
			t.Run(codec+"/"+c.name+"-to-"+reader[c.name], func(t *testing.T) {
				ctx, cancel := context.WithTimeout(context.Background(), 15*time.Minute)
				defer cancel()
				count := total * c.share / 10
				dir := t.TempDir()
				input := filepath.Join(dir, "input")
				seed := uint64(number*100 + index)
				if err := os.WriteFile(input, makeInput(count, seed, c.name == "kcat", reader[c.name] == "kcat"), 0o644); err != nil {
					t.Fatal(err)
				}
				topic := fmt.Sprintf("data-%s-%s", codec, c.name)
				if _, err := kadm.NewClient(admin).CreateTopic(ctx, partitions, 1, nil, topic); err != nil {
					t.Fatal(err)
				}
				acks, digests := filepath.Join(dir, "acks"), filepath.Join(dir, "digests")
				started := time.Now()
				if err := c.write(ctx, broker.Bootstrap, topic, codec, input, acks); err != nil {
					t.Fatal(err)
				}
				wrote := time.Since(started)
				want, err := expected(input, acks)
				if err != nil {
					t.Fatal(err)
				}
				started = time.Now()
				if err := byName[reader[c.name]].read(ctx, broker.Bootstrap, topic, digests); err != nil {
					t.Fatal(err)
				}
				got, err := os.ReadFile(digests)
				if err != nil {
					t.Fatal(err)
				}
				if string(got) != want {
					t.Fatalf("%s wrote and %s read %s, digests differ\nwant\n%sgot\n%s", c.name, reader[c.name], topic, want, got)
				}
				t.Logf("%d records, written in %v, read in %v, sha256 equal:\n%s", count, wrote.Round(time.Millisecond), time.Since(started).Round(time.Millisecond), want)
			})
		}
	}
}

// makeInput makes count records of mixed size with keys and headers. kcat takes text only: one set of headers a run, no
// delimiter bytes, no null or empty parts; as a reader it prints headers as text.
func makeInput(count int, seed uint64, kcatWrites, kcatReads bool) []byte {
	rng := rand.New(rand.NewPCG(seed, 7))
	out := make([]byte, 0, count*600)
	partition := 0
	for i := range count {
		if !kcatWrites {
			partition = rng.IntN(partitions)
		} else {
			partition = i * partitions / count // one after another, so that order is offset
		}
		out = binary.BigEndian.AppendUint32(out, uint32(partition))
		key := fmt.Appendf(nil, "key-%d-%d", i, rng.Uint32())
		size := 1 + rng.IntN(300)
		if rng.IntN(50) == 0 {
			size = 2000 + rng.IntN(20000)
		}
		value := make([]byte, size)
		for j := range value {
			switch {
			case kcatWrites:
				value[j] = 'a' + byte(rng.IntN(26))
			case j%3 == 0:
				value[j] = byte(rng.Uint32())
			default:
				value[j] = byte(i)
			}
		}
		headers := []kgo.RecordHeader{{Key: "trace", Value: []byte("t-42")}, {Key: "part", Value: []byte("p")}}
		if !kcatWrites {
			headers = headers[:rng.IntN(3)]
			for h := range headers {
				headers[h].Value = fmt.Appendf(nil, "h-%d", rng.Uint32())
			}
			if !kcatReads {
				switch rng.IntN(20) {
				case 0:
					key = nil
				case 1:
					value = nil
				case 2:
					key, value = []byte{}, []byte{}
				}
			}
		}
		out = appendRecord(out, key, value, headers)
	}
	return out
}

func appendBytes(out, content []byte) []byte {
	if content == nil {
		return binary.BigEndian.AppendUint32(out, 0xffffffff)
	}
	return append(binary.BigEndian.AppendUint32(out, uint32(len(content))), content...)
}

func appendRecord(out, key, value []byte, headers []kgo.RecordHeader) []byte {
	out = appendBytes(out, key)
	out = appendBytes(out, value)
	out = binary.BigEndian.AppendUint32(out, uint32(len(headers)))
	for _, h := range headers {
		out = appendBytes(out, []byte(h.Key))
		out = appendBytes(out, h.Value)
	}
	return out
}

type cursor struct {
	b  []byte
	at int
}

func (c *cursor) int() int {
	v := int32(binary.BigEndian.Uint32(c.b[c.at:]))
	c.at += 4
	return int(v)
}

func (c *cursor) bytes() []byte {
	n := c.int()
	if n < 0 {
		return nil
	}
	v := c.b[c.at : c.at+n : c.at+n]
	c.at += n
	return v
}

// next returns the next record of an input file and the bytes that stand for it in a digest.
func (c *cursor) next() (record *kgo.Record, body []byte, more bool) {
	if c.at >= len(c.b) {
		return nil, nil, false
	}
	record = &kgo.Record{Partition: int32(c.int())}
	start := c.at
	record.Key, record.Value = c.bytes(), c.bytes()
	for n := c.int(); n > 0; n-- {
		record.Headers = append(record.Headers, kgo.RecordHeader{Key: string(c.bytes()), Value: c.bytes()})
	}
	return record, c.b[start:c.at], true
}

// expected computes the digests from what was sent and where the broker said it went.
func expected(input, acks string) (string, error) {
	raw, err := os.ReadFile(input)
	if err != nil {
		return "", err
	}
	file, err := os.Open(acks)
	if err != nil {
		return "", err
	}
	defer file.Close()
	type placed struct {
		offset int64
		body   []byte
	}
	var by [partitions][]placed
	in, lines := cursor{b: raw}, bufio.NewScanner(file)
	for {
		record, body, more := in.next()
		if !more {
			break
		}
		if !lines.Scan() {
			return "", fmt.Errorf("fewer acknowledgements than records")
		}
		var partition int32
		var offset int64
		if _, err := fmt.Sscanf(lines.Text(), "%d %d", &partition, &offset); err != nil {
			return "", err
		}
		if partition != record.Partition {
			return "", fmt.Errorf("a record for partition %d was acknowledged in %d", record.Partition, partition)
		}
		by[partition] = append(by[partition], placed{offset, body})
	}
	var out strings.Builder
	for partition, records := range by {
		sort.Slice(records, func(i, j int) bool { return records[i].offset < records[j].offset })
		sum := sha256.New()
		for i, r := range records {
			if i > 0 && r.offset == records[i-1].offset {
				return "", fmt.Errorf("offset %d of partition %d was given twice", r.offset, partition)
			}
			writePlace(sum, int32(partition), r.offset)
			sum.Write(r.body)
		}
		fmt.Fprintf(&out, "%d %d %x\n", partition, len(records), sum.Sum(nil))
	}
	return out.String(), nil
}

func writePlace(sum hash.Hash, partition int32, offset int64) {
	var place [12]byte
	binary.BigEndian.PutUint32(place[:], uint32(partition))
	binary.BigEndian.PutUint64(place[4:], uint64(offset))
	sum.Write(place[:])
}

// digests collects what a library client reads, partition by partition.
type digests struct {
	sums   [partitions]hash.Hash
	counts [partitions]int
	buf    []byte
}

func newDigests() *digests {
	d := &digests{}
	for i := range d.sums {
		d.sums[i] = sha256.New()
	}
	return d
}

func (d *digests) add(partition int32, offset int64, key, value []byte, headers []kgo.RecordHeader) {
	writePlace(d.sums[partition], partition, offset)
	d.buf = appendRecord(d.buf[:0], key, value, headers)
	d.sums[partition].Write(d.buf)
	d.counts[partition]++
}

func (d *digests) save(output string) error {
	var out bytes.Buffer
	for partition, sum := range d.sums {
		fmt.Fprintf(&out, "%d %d %x\n", partition, d.counts[partition], sum.Sum(nil))
	}
	return os.WriteFile(output, out.Bytes(), 0o644)
}

//go:build interop

package clients_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"github.com/IBM/sarama"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// writeAcks writes the OUTPUT of a write.
func writeAcks(output string, places []place) error {
	var out bytes.Buffer
	for _, p := range places {
		fmt.Fprintf(&out, "%d %d\n", p.partition, p.offset)
	}
	return os.WriteFile(output, out.Bytes(), 0o644)
}

type place struct {
	partition int32
	offset    int64
}

func kgoWrite(ctx context.Context, bootstrap, topic, codec, input, output string) error {
	compression := map[string]kgo.CompressionCodec{"none": kgo.NoCompression(), "gzip": kgo.GzipCompression(), "snappy": kgo.SnappyCompression(), "lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression()}
	client, err := kgo.NewClient(kgo.SeedBrokers(bootstrap), kgo.DefaultProduceTopic(topic), kgo.ProducerBatchCompression(compression[codec]), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err != nil {
		return err
	}
	defer client.Close()
	raw, err := os.ReadFile(input)
	if err != nil {
		return err
	}
	var records []*kgo.Record
	var failures []error
	in := cursor{b: raw}
	for {
		record, _, more := in.next()
		if !more {
			break
		}
		records = append(records, record)
		client.Produce(ctx, record, func(_ *kgo.Record, err error) {
			if err != nil {
				failures = append(failures, err) // promises run one at a time
			}
		})
	}
	if err := client.Flush(ctx); err != nil {
		return err
	}
	if len(failures) > 0 {
		return fmt.Errorf("%d records failed, first: %w", len(failures), failures[0])
	}
	places := make([]place, len(records))
	for i, r := range records {
		places[i] = place{r.Partition, r.Offset}
	}
	return writeAcks(output, places)
}

func kgoRead(ctx context.Context, bootstrap, topic, output string) error {
	admin, err := kgo.NewClient(kgo.SeedBrokers(bootstrap))
	if err != nil {
		return err
	}
	defer admin.Close()
	ends, err := kadm.NewClient(admin).ListEndOffsets(ctx, topic)
	if err != nil {
		return err
	}
	assigned := map[int32]kgo.Offset{}
	left := 0
	for partition := range int32(partitions) {
		if end, ok := ends.Lookup(topic, partition); ok && end.Offset > 0 {
			assigned[partition] = kgo.NewOffset().AtStart()
			left++
		}
	}
	client, err := kgo.NewClient(kgo.SeedBrokers(bootstrap), kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: assigned}))
	if err != nil {
		return err
	}
	defer client.Close()
	d := newDigests()
	for left > 0 {
		fetches := client.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			return err
		}
		fetches.EachRecord(func(r *kgo.Record) {
			d.add(r.Partition, r.Offset, r.Key, r.Value, r.Headers)
			if end, _ := ends.Lookup(topic, r.Partition); r.Offset == end.Offset-1 {
				left--
			}
		})
	}
	return d.save(output)
}

func saramaConfig() *sarama.Config {
	config := sarama.NewConfig()
	config.Version = sarama.V4_1_0_0
	return config
}

func saramaWrite(_ context.Context, bootstrap, topic, codec, input, output string) error {
	config := saramaConfig()
	config.Producer.Compression = map[string]sarama.CompressionCodec{"none": sarama.CompressionNone, "gzip": sarama.CompressionGZIP, "snappy": sarama.CompressionSnappy, "lz4": sarama.CompressionLZ4, "zstd": sarama.CompressionZSTD}[codec]
	config.Producer.Partitioner = sarama.NewManualPartitioner
	config.Producer.RequiredAcks = sarama.WaitForAll
	config.Producer.Return.Successes = true
	producer, err := sarama.NewAsyncProducer([]string{bootstrap}, config)
	if err != nil {
		return err
	}
	raw, err := os.ReadFile(input)
	if err != nil {
		return err
	}
	encoder := func(b []byte) sarama.Encoder {
		if b == nil {
			return nil
		}
		return sarama.ByteEncoder(b)
	}
	var messages []*sarama.ProducerMessage
	in := cursor{b: raw}
	for {
		record, _, more := in.next()
		if !more {
			break
		}
		message := &sarama.ProducerMessage{Topic: topic, Partition: record.Partition, Key: encoder(record.Key), Value: encoder(record.Value)}
		for _, h := range record.Headers {
			message.Headers = append(message.Headers, sarama.RecordHeader{Key: []byte(h.Key), Value: h.Value})
		}
		messages = append(messages, message)
	}
	go func() {
		for _, m := range messages {
			producer.Input() <- m
		}
		producer.AsyncClose()
	}()
	var failures []error
	acked := 0
	successes, failed := producer.Successes(), producer.Errors()
	for successes != nil || failed != nil {
		select {
		case _, open := <-successes:
			if !open {
				successes = nil
				continue
			}
			acked++
		case err, open := <-failed:
			if !open {
				failed = nil
				continue
			}
			failures = append(failures, err)
		}
	}
	if len(failures) > 0 || acked != len(messages) {
		return fmt.Errorf("%d of %d acknowledged: %w", acked, len(messages), errors.Join(failures[:min(1, len(failures))]...))
	}
	places := make([]place, len(messages))
	for i, m := range messages {
		places[i] = place{m.Partition, m.Offset}
	}
	return writeAcks(output, places)
}

func saramaRead(_ context.Context, bootstrap, topic, output string) error {
	client, err := sarama.NewClient([]string{bootstrap}, saramaConfig())
	if err != nil {
		return err
	}
	defer client.Close()
	consumer, err := sarama.NewConsumerFromClient(client)
	if err != nil {
		return err
	}
	d := newDigests()
	for partition := range int32(partitions) {
		end, err := client.GetOffset(topic, partition, sarama.OffsetNewest)
		if err != nil {
			return err
		}
		start, err := client.GetOffset(topic, partition, sarama.OffsetOldest)
		if err != nil {
			return err
		}
		if start == end {
			continue
		}
		part, err := consumer.ConsumePartition(topic, partition, start)
		if err != nil {
			return err
		}
		for message := range part.Messages() {
			headers := make([]kgo.RecordHeader, 0, len(message.Headers))
			for _, h := range message.Headers {
				headers = append(headers, kgo.RecordHeader{Key: string(h.Key), Value: h.Value})
			}
			d.add(message.Partition, message.Offset, message.Key, message.Value, headers)
			if message.Offset >= end-1 {
				break
			}
		}
		if err := part.Close(); err != nil {
			return err
		}
	}
	if err := consumer.Close(); err != nil {
		return err
	}
	return d.save(output)
}

// kcatWrite sends each partition's records in order through one kcat, so a record's place in the input is its offset.
func kcatWrite(ctx context.Context, bootstrap, topic, codec, input, output string) error {
	raw, err := os.ReadFile(input)
	if err != nil {
		return err
	}
	var texts [partitions]bytes.Buffer
	var next [partitions]int64
	var places []place
	var headers []string
	in := cursor{b: raw}
	for {
		record, _, more := in.next()
		if !more {
			break
		}
		fmt.Fprintf(&texts[record.Partition], "%s\t%s\n", record.Key, record.Value)
		places = append(places, place{record.Partition, next[record.Partition]})
		next[record.Partition]++
		headers = headers[:0]
		for _, h := range record.Headers {
			headers = append(headers, "-H", h.Key+"="+string(h.Value))
		}
	}
	for partition := range texts {
		args := append([]string{"-P", "-b", bootstrap, "-t", topic, "-p", strconv.Itoa(partition), "-K", "\t", "-z", codec, "-X", "acks=all"}, headers...)
		cmd := exec.CommandContext(ctx, "kcat", args...)
		cmd.Stdin = &texts[partition]
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("kcat: %w\n%s", err, out)
		}
	}
	return writeAcks(output, places)
}

// kcatRead prints each record with the lengths of its parts in front, so that any bytes can be told apart.
func kcatRead(ctx context.Context, bootstrap, topic, output string) error {
	d := newDigests()
	for partition := range partitions {
		cmd := exec.CommandContext(ctx, "kcat", "-C", "-q", "-b", bootstrap, "-t", topic, "-p", strconv.Itoa(partition), "-o", "beginning", "-e", "-f", `%p %o %K %S %h\n%k%s\n`)
		stdout, err := cmd.StdoutPipe()
		if err != nil {
			return err
		}
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		if err := cmd.Start(); err != nil {
			return err
		}
		if err := kcatParse(bufio.NewReaderSize(stdout, 1<<20), d); err != nil {
			return fmt.Errorf("kcat: %w", err)
		}
		if err := cmd.Wait(); err != nil {
			return fmt.Errorf("kcat: %w\n%s", err, stderr.String())
		}
	}
	return d.save(output)
}

func kcatParse(in *bufio.Reader, d *digests) error {
	for {
		line, err := in.ReadString('\n')
		if errors.Is(err, io.EOF) && line == "" {
			return nil
		}
		if err != nil {
			return err
		}
		fields := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 5)
		var numbers [4]int64
		for i := range numbers {
			if numbers[i], err = strconv.ParseInt(fields[i], 10, 64); err != nil {
				return fmt.Errorf("line %q: %w", line, err)
			}
		}
		take := func(n int64) ([]byte, error) {
			if n < 0 {
				return nil, nil
			}
			b := make([]byte, n)
			_, err := io.ReadFull(in, b)
			return b, err
		}
		key, err := take(numbers[2])
		if err != nil {
			return err
		}
		value, err := take(numbers[3])
		if err != nil {
			return err
		}
		if _, err := in.ReadByte(); err != nil {
			return err
		}
		var headers []kgo.RecordHeader
		if fields[4] != "" {
			for _, pair := range strings.Split(fields[4], ",") {
				name, content, _ := strings.Cut(pair, "=")
				headers = append(headers, kgo.RecordHeader{Key: name, Value: []byte(content)})
			}
		}
		d.add(int32(numbers[0]), numbers[1], key, value, headers)
	}
}

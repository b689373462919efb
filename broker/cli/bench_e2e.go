package cli

import (
	"context"
	"encoding/binary"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// e2e writes records that carry the time they were due and reads them in the same process, so that one clock measures both ends.
func (o *benchOptions) e2e(ctx context.Context, g *globals, _ bool) (*benchReport, error) {
	opts, err := o.producerOptions()
	if err != nil {
		return nil, err
	}
	offsets, err := o.ends(ctx, g)
	if err != nil {
		return nil, err
	}
	consumer, err := g.connect(ctx, kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{o.topic: offsets}))
	if err != nil {
		return nil, err
	}
	defer consumer.Close()
	producer, err := g.connect(ctx, opts...)
	if err != nil {
		return nil, err
	}
	defer producer.Close()

	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	l, start := newLatencies(), time.Now()
	var reader sync.WaitGroup
	reader.Go(func() {
		for seen := int64(0); seen < o.records && ctx.Err() == nil; {
			fetches := consumer.PollFetches(ctx)
			now := time.Since(start)
			fetches.EachRecord(func(r *kgo.Record) {
				if len(r.Value) >= 8 {
					seen++
					l.add(now - time.Duration(binary.BigEndian.Uint64(r.Value)))
				}
			})
		}
	})
	values := o.values()
	for n := range o.records {
		due := pace(ctx, start, n, o.rate)
		value := append([]byte(nil), values[n%int64(len(values))]...)
		binary.BigEndian.PutUint64(value, uint64(due.Sub(start)))
		producer.Produce(ctx, &kgo.Record{Value: value}, func(_ *kgo.Record, err error) {
			if err != nil {
				cancel(err)
			}
		})
		if ctx.Err() != nil {
			break
		}
	}
	// What was acknowledged is readable at once; the wait is bounded all the same.
	late := time.AfterFunc(deliveryTimeout, func() { cancel(context.DeadlineExceeded) })
	defer late.Stop()
	reader.Wait()
	if cause := context.Cause(ctx); cause != nil {
		return nil, failed("topic "+o.topic, cause, "")
	}
	return &benchReport{Records: o.records, Bytes: o.records * int64(o.size), Seconds: time.Since(start).Seconds(), Latency: l.report()}, nil
}

// ends are the offsets from which new records will be read.
func (o *benchOptions) ends(ctx context.Context, g *globals) (map[int32]kgo.Offset, error) {
	adm, err := g.admin(ctx)
	if err != nil {
		return nil, err
	}
	defer adm.Close()
	listed, err := adm.ListEndOffsets(ctx, o.topic)
	if err == nil {
		err = listed.Error()
	}
	if err != nil {
		return nil, failed("topic "+o.topic, err, "")
	}
	offsets := make(map[int32]kgo.Offset)
	listed.Each(func(l kadm.ListedOffset) { offsets[l.Partition] = kgo.NewOffset().At(l.Offset) })
	return offsets, nil
}

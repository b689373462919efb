//go:build interop

// Package validate_test compares the broker's verdict on produced batches with Kafka's own.
package validate_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/weir-broker/weir/broker/batch"
	"github.com/weir-broker/weir/interop/oracle"
)

var (
	cases = flag.Int("cases", envInt("WEIR_VALIDATE_CASES", 20000), "how many random batches to judge")
	seed  = flag.Uint64("seed", uint64(envInt("WEIR_VALIDATE_SEED", 0)), "seed of the cases; 0 takes one from the clock")
	only  = flag.Int("only", -1, "judge just this case of the seed and print it")
)

func envInt(name string, otherwise int) int {
	n, err := strconv.Atoi(os.Getenv(name))
	if err != nil {
		return otherwise
	}
	return n
}

// TestValidateAgreesWithKafka judges random and malformed batches by our Validate and by Kafka's request check,
// append analysis and LogValidator: the same verdict or error, record errors at the same places, the same offsets,
// timestamps and bytes; where the batch is rebuilt, the same header and the same records.
func TestValidateAgreesWithKafka(t *testing.T) {
	or, err := oracle.Start(oracle.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer or.Close()
	s := *seed
	if s == 0 {
		s = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d, %d cases", s, *cases)

	first, last := 0, *cases
	if *only >= 0 {
		first, last = *only, *only+1
	}
	var next atomic.Int64
	next.Store(int64(first))
	var mu sync.Mutex
	tally := map[string]int{}
	differences := 0
	var wg sync.WaitGroup
	for range 12 {
		wg.Go(func() {
			for {
				i := int(next.Add(1) - 1)
				if i >= last {
					return
				}
				c := newCase(rand.New(rand.NewPCG(s, uint64(i))))
				verdict, diff := judge(t.Context(), or, c, *only >= 0)
				mu.Lock()
				tally[verdict]++
				if diff != "" {
					differences++
					if differences <= 25 {
						t.Errorf("case %d (-seed %d -only %d): %s\n%s", i, s, i, diff, c)
					}
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	for k, n := range tally {
		t.Logf("%6d %s", n, k)
	}
	if differences > 0 {
		t.Errorf("%d differences in %d cases", differences, last-first)
	}
	known := 0
	for k, n := range tally {
		if strings.HasPrefix(k, "known") {
			known += n
		}
	}
	if known > (last-first)/2000+5 {
		t.Errorf("%d known differences", known)
	}
	if *only < 0 && tally["accepted"] < (last-first)/10 {
		t.Errorf("only %d batches were accepted: the cases say too little", tally["accepted"])
	}
}

func code(err error) int16 {
	switch {
	case errors.Is(err, batch.ErrUnsupportedCodec):
		return 76
	case errors.Is(err, batch.ErrInvalidTimestamp):
		return 32
	case errors.Is(err, batch.ErrInvalidRecord):
		return 87
	case errors.Is(err, batch.ErrCorrupt):
		return 2
	case errors.Is(err, batch.ErrTooLarge):
		return 10
	case errors.Is(err, batch.ErrUndecodable):
		return -1
	}
	return -99
}

// judge has both sides look at c and says what Kafka found and where we differ.
func judge(ctx context.Context, or *oracle.Oracle, c testCase, verbose bool) (verdict, diff string) {
	q := oracle.NewValidateRequest(bytes.Clone(c.raw))
	q.ProduceVersion, q.NextOffset, q.LeaderEpoch, q.Now = c.version, int64(c.o.NextOffset), int32(c.o.LeaderEpoch), c.o.Now
	q.LogAppendTime = c.o.TimestampType == batch.LogAppendTime
	q.BeforeMax, q.AfterMax, q.MaxMessageBytes = c.o.BeforeMax, c.o.AfterMax, int32(c.o.MaxBatchSize)
	q.SegmentBytes, q.Compacted = 0, c.o.Compacted
	q.MaxDecompressedBytes = int32(c.o.MaxRecordSize)
	if c.o.Origin == batch.OriginCoordinator {
		q.Origin = oracle.OriginCoordinator
	}
	if c.o.TargetCodec.Force {
		q.Codec = c.o.TargetCodec.Compression.Codec.String()
		switch c.o.TargetCodec.Compression.Codec {
		case batch.Gzip, batch.LZ4, batch.Zstd:
			q.Level = int32(c.o.TargetCodec.Compression.Level)
		}
	}
	k, err := or.Validate(ctx, q)
	if err != nil {
		return "oracle failed", err.Error()
	}

	mine := bytes.Clone(c.raw)
	var res batch.ValidateResult
	err = nil
	if c.version >= 0 {
		err = batch.CheckProduced(mine, c.version)
	}
	if err == nil {
		res, err = batch.Validate(mine, c.o)
	}
	if verbose {
		fmt.Printf("%s\nraw %x\nkafka: %+v\nours: %v %+v\n", c, c.raw, k.Rejected, err, res.Header)
	}
	if k.Rejected != nil {
		verdict = fmt.Sprintf("%d %s %s", k.Rejected.Code, k.Rejected.Stage, k.Rejected.Class)
		if err == nil {
			return verdict, fmt.Sprintf("Kafka refuses (%s: %s), we accept", verdict, k.Rejected.Message)
		}
		if code(err) != k.Rejected.Code {
			if known := knownDifference(c, k.Rejected, err); known != "" {
				return "known: " + known, ""
			}
			return verdict, fmt.Sprintf("Kafka says %s: %s\nwe say %d %v", verdict, k.Rejected.Message, code(err), err)
		}
		return verdict, compareRecordErrors(k.Rejected.Records, err)
	}
	if k.NoRecords {
		return "no records", "Kafka finds no records"
	}
	if err != nil {
		if slices.Contains(c.made, flippedBits) && errors.Is(err, batch.ErrUndecodable) && strings.Contains(err.Error(), "zstd") {
			return "known: a damaged zstd stream that the reference decoder does not notice", ""
		}
		return "accepted", fmt.Sprintf("Kafka accepts, we refuse: %v", err)
	}
	verdict = "accepted"
	if k.Recompressed {
		verdict = "rebuilt"
	}
	return verdict, compareAccepted(ctx, or, c, k, res)
}

// knownDifference names why both sides may refuse c for different reasons.
func knownDifference(c testCase, k *oracle.Rejection, err error) string {
	if k.Class == "OutOfMemoryError" && code(err) == 87 {
		return "Kafka allocates what a record claims before it looks whether that is there"
	}
	damaged := slices.Contains(c.made, flippedBits) || slices.Contains(c.made, cutShort)
	if damaged && code(err) != k.Code && (code(err) == -1 || code(err) == 87) && (k.Code == -1 || k.Code == 87) {
		return "both refuse a damaged stream, at different places"
	}
	return ""
}

func compareRecordErrors(want []oracle.RecordError, err error) string {
	var got *batch.RecordErrors
	if !errors.As(err, &got) {
		if len(want) > 0 {
			return fmt.Sprintf("Kafka names %d records, we none", len(want))
		}
		return ""
	}
	if got.Total != len(want) {
		return fmt.Sprintf("Kafka names %d records, we %d", len(want), got.Total)
	}
	for i, e := range got.Errors {
		if e.Index != want[i].Index {
			return fmt.Sprintf("record error %d: index %d, Kafka's %d", i, e.Index, want[i].Index)
		}
	}
	return ""
}

func compareAccepted(ctx context.Context, or *oracle.Oracle, c testCase, k oracle.ValidateResult, res batch.ValidateResult) string {
	h := res.Header
	if parsed, err := batch.ParseHeader(res.Raw); err != nil || parsed != h || h.Size() != len(res.Raw) {
		return fmt.Sprintf("result header %+v does not describe its bytes %+v (%v)", h, parsed, err)
	}
	if int64(c.o.NextOffset) != k.FirstOffset || int64(h.LastOffset()) != k.LastOffset {
		return fmt.Sprintf("offsets end at %d, Kafka's at %d", h.LastOffset(), k.LastOffset)
	}
	if res.MaxTimestamp != k.MaxTimestamp || res.LogAppendTime != k.LogAppendTime || res.Recompressed != k.Recompressed {
		return fmt.Sprintf("max timestamp %d append time %d rebuilt %v, Kafka's %d %d %v",
			res.MaxTimestamp, res.LogAppendTime, res.Recompressed, k.MaxTimestamp, k.LogAppendTime, k.Recompressed)
	}
	if !batch.VerifyCRC(res.Raw) {
		return "CRC of the result is wrong"
	}
	if !res.Recompressed {
		if !bytes.Equal(res.Raw, k.Raw) {
			return fmt.Sprintf("bytes differ\nours  %s\nkafka %s", clip(res.Raw), clip(k.Raw))
		}
		return ""
	}
	kh, err := batch.ParseHeader(k.Raw)
	if err != nil {
		return fmt.Sprintf("Kafka's batch: %v", err)
	}
	h.BatchLength, h.CRC, kh.BatchLength, kh.CRC = 0, 0, 0, 0
	if h != kh {
		return fmt.Sprintf("rebuilt header %+v\nKafka's        %+v", h, kh)
	}
	ours, err := batch.Unpack(res.Raw, batch.Limits{})
	if err != nil {
		return fmt.Sprintf("unpack ours: %v", err)
	}
	theirs, err := batch.Unpack(k.Raw, batch.Limits{})
	if err != nil {
		return fmt.Sprintf("unpack Kafka's: %v", err)
	}
	if !bytes.Equal(ours, theirs) && !keptOddHeaderKey(res.Raw) {
		return fmt.Sprintf("records differ\nours  %s\nkafka %s", clip(ours), clip(theirs))
	}
	// Kafka must be able to read what we packed.
	again := bytes.Clone(res.Raw)
	batch.SetBaseOffset(again, 0)
	q := oracle.NewValidateRequest(again)
	q.Now, q.AfterMax, q.MaxMessageBytes = c.o.Now, c.o.AfterMax, 1<<30
	q.LogAppendTime = false
	r, err := or.Validate(ctx, q)
	if err != nil {
		return err.Error()
	}
	if r.Rejected != nil {
		return fmt.Sprintf("Kafka cannot read our %v batch: %s %s", h.Codec(), r.Rejected.Class, r.Rejected.Message)
	}
	return ""
}

// keptOddHeaderKey reports whether raw has a header key that is not UTF-8. Kafka replaces such bytes where it rebuilds
// a batch; we keep what the producer sent.
func keptOddHeaderKey(raw []byte) bool {
	it, err := batch.Records(raw, batch.Limits{})
	if err != nil {
		return false
	}
	defer it.Close()
	for it.Next() {
		for k := range it.Record().Headers() {
			if !utf8.Valid(k) {
				return true
			}
		}
	}
	return false
}

func clip(b []byte) string {
	if len(b) > 400 {
		return hex.EncodeToString(b[:400]) + fmt.Sprintf("… %d bytes", len(b))
	}
	return hex.EncodeToString(b)
}

func (c testCase) String() string {
	o := c.o
	return fmt.Sprintf("made by %s\nversion %d next %d now %d type %d before %d after %d max %d compacted %v codec %+v record %d origin %d\n%s",
		strings.Join(c.made, ", "), c.version, o.NextOffset, o.Now, o.TimestampType, o.BeforeMax, o.AfterMax, o.MaxBatchSize, o.Compacted,
		o.TargetCodec, o.MaxRecordSize, o.Origin, clip(c.raw))
}

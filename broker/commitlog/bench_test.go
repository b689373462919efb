package commitlog

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/weir-broker/weir/broker/batch"
	"github.com/weir-broker/weir/broker/vfs"
)

// appender appends the same batch again and again, as a leader does: base offset and header patched in place.
type appender struct {
	l   *Log
	raw []byte
	hs  []batch.Header
}

func newAppender(tb testing.TB, l *Log, size int) *appender {
	raw := build(0, 10, size, 1_700_000_000_000, 0, batch.None)
	return &appender{l: l, raw: raw, hs: headers(tb, raw)}
}

func (a *appender) append() error {
	o := a.l.LogEndOffset()
	batch.SetBaseOffset(a.raw, o)
	a.hs[0].BaseOffset = o
	return a.l.Append(a.raw, a.hs)
}

func osLog(tb testing.TB, cfg Config) *Log {
	tb.Helper()
	l, _, err := Open(Options{
		FS: vfs.OS(), Dir: tb.TempDir() + "/t-0", Config: cfg, RecoveryPoint: Unknown, LogStartOffset: Unknown,
	})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = l.Close(false) })
	return l
}

func TestAppendAndReadDoNotAllocate(t *testing.T) {
	l := osLog(t, DefaultConfig())
	a := newAppender(t, l, 16<<10)
	for range 100 {
		if err := a.append(); err != nil {
			t.Fatal(err)
		}
	}
	if n := testing.AllocsPerRun(200, func() {
		if err := a.append(); err != nil {
			t.Fatal(err)
		}
	}); n > 0 {
		t.Errorf("%v allocations per append", n)
	}
	dst := make([]byte, 0, 64<<10)
	from := batch.Offset(0)
	if n := testing.AllocsPerRun(200, func() {
		res, err := l.Read(dst, from, l.LogEndOffset(), 64<<10, true)
		if err != nil {
			t.Fatal(err)
		}
		if from = res.NextOffset; from == l.LogEndOffset() {
			from = 7
		}
	}); n > 0 {
		t.Errorf("%v allocations per read", n)
	}
}

func BenchmarkAppend(b *testing.B) {
	for _, size := range []int{1 << 10, 16 << 10, 64 << 10} {
		b.Run(fmt.Sprintf("%dKB", size>>10), func(b *testing.B) {
			cfg := DefaultConfig()
			cfg.SegmentBytes = 256 << 20
			l := osLog(b, cfg)
			a := newAppender(b, l, size)
			b.SetBytes(int64(len(a.raw)))
			b.ReportAllocs()
			for b.Loop() {
				if err := a.append(); err != nil {
					b.Fatal(err)
				}
				if l.Size() > 1<<30 { // keeps the page cache, and the disk, out of the measurement
					b.StopTimer()
					if err := l.TruncateFully(0); err != nil {
						b.Fatal(err)
					}
					b.StartTimer()
				}
			}
		})
	}
}

func BenchmarkRead(b *testing.B) {
	for _, batchSize := range []int{1 << 10, 16 << 10} {
		for _, size := range []int{64 << 10, 1 << 20} {
			b.Run(fmt.Sprintf("%dKB of %dKB batches", size>>10, batchSize>>10), func(b *testing.B) {
				l := osLog(b, DefaultConfig())
				a := newAppender(b, l, batchSize)
				for l.Size() < 128<<20 {
					if err := a.append(); err != nil {
						b.Fatal(err)
					}
				}
				dst := make([]byte, 0, size)
				from := batch.Offset(0)
				b.SetBytes(int64(size))
				b.ReportAllocs()
				for b.Loop() {
					res, err := l.Read(dst, from, l.LogEndOffset(), size, true)
					if err != nil {
						b.Fatal(err)
					}
					if from = res.NextOffset; from == l.LogEndOffset() {
						from = 0
					}
				}
			})
		}
	}
}

// BenchmarkReadAnywhere begins every read at another offset, so that it has to be searched for.
func BenchmarkReadAnywhere(b *testing.B) {
	l := osLog(b, DefaultConfig())
	a := newAppender(b, l, 1<<10)
	for l.Size() < 64<<20 {
		if err := a.append(); err != nil {
			b.Fatal(err)
		}
	}
	dst := make([]byte, 0, 64<<10)
	end := int64(l.LogEndOffset())
	b.ReportAllocs()
	for i := int64(0); b.Loop(); i++ {
		if _, err := l.Read(dst, batch.Offset(i*7919%end), l.LogEndOffset(), 16<<10, true); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkClean cleans a log of 1,000,000 records of 300,000 keys.
func BenchmarkClean(b *testing.B) {
	for _, codec := range []batch.Codec{batch.None, batch.LZ4, batch.Zstd} {
		b.Run(codec.String(), func(b *testing.B) {
			for range b.N {
				b.StopTimer()
				cfg := DefaultConfig()
				cfg.Compacted, cfg.SegmentBytes = true, 16<<20
				l := osLog(b, cfg)
				rng := rand.New(rand.NewPCG(1, 1))
				value := make([]byte, 100)
				for range 10000 {
					o := batch.NoProducer()
					o.BaseOffset, o.Compression = l.LogEndOffset(), batch.CompressionOf(codec)
					bb := batch.NewBuilder(o)
					for range 100 {
						for i := range value {
							value[i] = byte('a' + rng.IntN(8))
						}
						bb.Add(1, fmt.Appendf(nil, "key-%08d", rng.IntN(300_000)), value, nil)
					}
					raw := bb.Bytes()
					if err := l.Append(raw, headers(b, raw)); err != nil {
						b.Fatal(err)
					}
				}
				if err := l.Roll(); err != nil {
					b.Fatal(err)
				}
				c, err := NewCleaner(CleanerOptions{MapBytes: 128 << 20, MapLoad: 0.9, BufferBytes: 512 << 10})
				if err != nil {
					b.Fatal(err)
				}
				b.SetBytes(l.Size())
				b.StartTimer()
				if _, err := c.Clean(b.Context(), l, CleanJob{To: l.LogEndOffset(), HighWatermark: l.LogEndOffset(), Now: time.Now()}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

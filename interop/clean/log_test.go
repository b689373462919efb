//go:build interop

package clean_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"time"

	"github.com/weir-broker/weir/broker/batch"
	"github.com/weir-broker/weir/broker/commitlog"
	"github.com/weir-broker/weir/broker/vfs"
)

// randomLog grows a log with everything a compacted partition may hold.
type randomLog struct {
	r    *rand.Rand
	dir  string
	conf commitlog.Config
	l    *commitlog.Log

	keys      int
	clock     int64 // ms, of the next record
	epoch     batch.LeaderEpoch
	codec     batch.Codec // -1 any
	producers []*randomProducer
}

type randomProducer struct {
	id    batch.ProducerID
	epoch batch.ProducerEpoch
	next  int32
	open  bool // has a transaction open
	txn   bool // is transactional
}

func newRandomLog(r *rand.Rand, dir string) *randomLog {
	g := &randomLog{
		r: r, dir: dir, conf: commitlog.DefaultConfig(), keys: 1 + r.IntN(30), clock: 1_600_000_000_000 + r.Int64N(1_000_000_000),
		epoch: batch.LeaderEpoch(r.IntN(3)), codec: batch.Codec(r.IntN(10) - 5),
	}
	g.conf.Compacted = true
	g.conf.SegmentBytes = 600 + r.IntN(12000)
	g.conf.IndexIntervalBytes = r.IntN(1200)
	g.conf.SegmentIndexBytes = 12 * (12 + r.IntN(60))
	for i := range r.IntN(5) {
		g.producers = append(g.producers, &randomProducer{id: batch.ProducerID(1000 + i), epoch: batch.ProducerEpoch(r.IntN(3)), txn: r.IntN(3) > 0})
	}
	return g
}

// grow appends n batches, rolls now and then, and closes the log; with none it mends what is in the indexes only.
func (g *randomLog) grow(n int) error {
	l, _, err := commitlog.Open(commitlog.Options{FS: vfs.OS(), Dir: g.dir, Config: g.conf, RecoveryPoint: commitlog.Unknown, LogStartOffset: commitlog.Unknown, CleanShutdown: true})
	if err != nil {
		return err
	}
	g.l = l
	for range n {
		if g.r.IntN(12) == 0 {
			if err := l.Roll(); err != nil {
				return err
			}
		}
		raw := g.batch(l.LogEndOffset())
		h, err := batch.ParseHeader(raw)
		if err != nil {
			return err
		}
		if len(raw) > g.conf.SegmentBytes {
			continue
		}
		if err := l.Append(raw, []batch.Header{h}); err != nil {
			return err
		}
	}
	if n > 0 && g.r.IntN(4) > 0 {
		if err := l.Roll(); err != nil {
			return err
		}
	}
	return l.Close(true)
}

func (g *randomLog) tick() {
	if g.r.IntN(3) > 0 {
		g.clock += g.r.Int64N(60_000)
	}
	if g.r.IntN(40) == 0 {
		g.clock -= g.r.Int64N(500_000)
	}
}

// batch makes the next batch at the offset end or a little behind.
func (g *randomLog) batch(end batch.Offset) []byte {
	r := g.r
	g.tick()
	if r.IntN(25) == 0 {
		g.epoch++
	}
	if r.IntN(20) == 0 {
		end += batch.Offset(r.IntN(20))
	}
	o := batch.NoProducer()
	o.BaseOffset, o.LeaderEpoch = end, g.epoch
	var p *randomProducer
	if len(g.producers) > 0 && r.IntN(4) > 0 {
		p = g.producers[r.IntN(len(g.producers))]
	}
	if p != nil && p.open && r.IntN(3) == 0 || p != nil && r.IntN(40) == 0 {
		p.open = false
		kind := batch.ControlType(r.IntN(2))
		return batch.NewEndTxnMarker(end, g.clock, p.id, p.epoch, g.epoch, batch.EndTxnMarker{Type: kind, CoordinatorEpoch: 3})
	}
	codec := g.codec
	if codec < 0 {
		codec = batch.Codec(r.IntN(5))
	}
	o.Compression = batch.CompressionOf(codec)
	if r.IntN(6) == 0 {
		o.LogAppendTime, o.AppendTime = true, g.clock
	}
	n := 1 + r.IntN(1+r.IntN(20))
	if p != nil {
		if r.IntN(30) == 0 && !p.open {
			p.epoch, p.next = p.epoch+1, 0
		}
		o.ProducerID, o.ProducerEpoch, o.BaseSequence, o.Transactional = p.id, p.epoch, p.next, p.txn
		p.open = p.txn
	}
	b := batch.NewBuilder(o)
	horizon := r.IntN(8) == 0
	if horizon {
		b.SetDeleteHorizon(g.clock + r.Int64N(2_000_000) - 1_000_000)
	}
	at := end
	if p == nil || r.IntN(15) > 0 {
		for range n {
			if r.IntN(8) == 0 {
				at += batch.Offset(r.IntN(4)) // a hole inside the batch
			}
			g.record(b, at)
			at++
		}
	}
	last := at - 1
	if r.IntN(10) == 0 {
		last += batch.Offset(r.IntN(5))
	}
	if last < end {
		last = end
	}
	if b.Count() == 0 { // as an earlier cleaning leaves it
		b = batch.NewBuilder(o)
		b.SetMaxTimestamp(g.clock)
	}
	b.SetLastOffset(last)
	if p != nil {
		p.next = batch.IncrementSequence(p.next, int32(last-end)+1)
	}
	return b.Bytes()
}

func (g *randomLog) record(b *batch.Builder, at batch.Offset) {
	r := g.r
	g.tick()
	ts := g.clock
	if r.IntN(30) == 0 {
		ts = batch.NoTimestamp
	}
	var key, value []byte
	if r.IntN(40) > 0 {
		key = fmt.Appendf(nil, "key-%d", r.IntN(g.keys))
		if r.IntN(60) == 0 {
			key = []byte{}
		}
	}
	if r.IntN(4) > 0 {
		value = make([]byte, r.IntN(1+r.IntN(200)))
		for i := range value {
			value[i] = byte('a' + r.IntN(4))
		}
	}
	var hs []batch.RecordHeader
	for range r.IntN(1 + r.IntN(3)) {
		hs = append(hs, batch.RecordHeader{Key: "h", Value: []byte("v")})
	}
	b.AddAt(at, ts, key, value, hs)
}

// age gives the segments' files times of modification that both cleaners see.
func (g *randomLog) age(fsys vfs.FS) error {
	names, err := filepath.Glob(filepath.Join(g.dir, "*.log"))
	if err != nil {
		return err
	}
	at := g.clock - int64(len(names))*100_000
	for _, name := range names {
		at += g.r.Int64N(200_000)
		if err := fsys.Chtimes(name, time.UnixMilli(at)); err != nil {
			return err
		}
	}
	return nil
}

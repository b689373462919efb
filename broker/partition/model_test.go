package partition

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/weir-broker/weir/broker/batch"
	"github.com/weir-broker/weir/broker/policy"
	"github.com/weir-broker/weir/broker/producerstate"
	"github.com/weir-broker/weir/broker/vfs"
)

// model is what a partition must hold.
type model struct {
	t       *testing.T
	r       *rand.Rand
	c       *cluster
	mem     *vfs.Mem
	h       *host
	p       *Partition
	records []string // by offset, "offset:value"
	start   batch.Offset
	// durable is the offset below which everything was acknowledged as flushed.
	durable batch.Offset
	// last is each producer's last batch that must still be known.
	last map[batch.ProducerID]sentBatch
	next int
}

type sentBatch struct {
	sequence int32
	n        int
	base     batch.Offset
}

// TestPartitionHoldsItsPromisesAcrossCrashes appends, deletes and crashes at
// random. After a kill of the process everything appended is there; after a
// power loss everything acknowledged under weir.flush.on.acks=all is, and what
// is there beyond that is what was appended, in order. Producers' retries are
// recognised exactly when their first copy survived. WEIR_PARTITION_SEEDS plays
// more seeds, from WEIR_PARTITION_SEED on.
func TestPartitionHoldsItsPromisesAcrossCrashes(t *testing.T) {
	first, seeds := envUint("WEIR_PARTITION_SEED", 0), envUint("WEIR_PARTITION_SEEDS", 12)
	for seed := first; seed < first+seeds; seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			m := &model{t: t, r: rand.New(rand.NewPCG(seed, 7)), c: newCluster(t), mem: vfs.NewMem(), last: map[batch.ProducerID]sentBatch{}}
			m.c.topic("t", 1)
			m.c.set("t", "weir.flush.on.acks", "all")
			m.c.set("t", "internal.segment.bytes", "2000")
			m.c.set("t", "index.interval.bytes", "200")
			m.open()
			for range 150 {
				m.step()
				m.check()
			}
			m.h.close()
		})
	}
}

func envUint(name string, otherwise uint64) uint64 {
	if n, err := strconv.ParseUint(os.Getenv(name), 10, 64); err == nil {
		return n
	}
	return otherwise
}

func (m *model) open() {
	m.h = openHost(m.t, m.mem, nil)
	m.h.apply(m.c)
	m.p = m.h.get("t", 0)
}

func (m *model) end() batch.Offset { return batch.Offset(len(m.records)) }

func (m *model) step() {
	switch k := m.r.IntN(40); {
	case k < 12:
		m.append(values(m.values()...))
	case k < 24:
		m.appendIdempotent()
	case k < 27:
		m.retry()
	case k < 29:
		to := m.start + batch.Offset(m.r.IntN(int(m.end()-m.start)+1))
		if _, _, err := m.p.DeleteRecords(to); err != nil {
			m.t.Fatal(err)
		}
		m.start = max(m.start, to)
	case k < 31:
		if _, err := m.p.retain(m.t.Context(), time.Now(), policy.DiskUse{}); err != nil {
			m.t.Fatal(err)
		}
	case k < 33:
		m.h.close()
		m.durable = m.end()
		m.open()
		m.prune()
	case k < 35:
		m.c.lead("t", 0, 1)
		m.h.apply(m.c)
	case k < 37:
		m.crash(vfs.CrashOptions{UnsyncedKept: 1})
		if got := m.p.LogEndOffset(); got != m.end() {
			m.t.Fatalf("after a kill the log ends at %d, not %d", got, m.end())
		}
	case k < 39:
		m.crash(vfs.CrashOptions{UnsyncedKept: m.r.Float64(), Rand: m.r})
	default:
		m.crash(vfs.CrashOptions{})
	}
}

func (m *model) values() []string {
	out := make([]string, 1+m.r.IntN(4))
	for i := range out {
		m.next++
		out[i] = fmt.Sprintf("v%d-%s", m.next, strings.Repeat("x", m.r.IntN(120)))
	}
	return out
}

func (m *model) append(raw []byte) AppendResult {
	m.t.Helper()
	content := decode(m.t, raw, 0)
	r := mustAppend(m.t, m.p, raw)
	if r.BaseOffset != m.end() || r.LastOffset != r.BaseOffset+batch.Offset(len(content))-1 {
		m.t.Fatalf("appended at %d-%d, log end was %d", r.BaseOffset, r.LastOffset, m.end())
	}
	for i, v := range content {
		_, value, _ := strings.Cut(v, ":")
		m.records = append(m.records, fmt.Sprintf("%d:%s", int(r.BaseOffset)+i, value))
	}
	if m.r.IntN(3) == 0 { // not every producer waits
		if err := await(m.t, m.p, r.LastOffset+1); err != nil {
			m.t.Fatal(err)
		}
		m.durable = m.end()
	}
	return r
}

func (m *model) appendIdempotent() {
	id := batch.ProducerID(m.r.IntN(3))
	n := 1 + m.r.IntN(3)
	sequence := int32(0)
	if b, ok := m.last[id]; ok {
		sequence = b.sequence + int32(b.n)
	}
	r := m.append(idempotent(id, sequence, n))
	m.last[id] = sentBatch{sequence: sequence, n: n, base: r.BaseOffset}
}

func (m *model) retry() {
	for id, b := range m.last {
		r := mustAppend(m.t, m.p, idempotent(id, b.sequence, b.n))
		if !r.Duplicate || r.BaseOffset != b.base || r.LastOffset != b.base+batch.Offset(b.n)-1 {
			m.t.Fatalf("retry of producer %d at %d: %+v", id, b.base, r)
		}
		if err := await(m.t, m.p, r.LastOffset+1); err != nil {
			m.t.Fatal(err)
		}
		m.durable = max(m.durable, r.LastOffset+1)
	}
}

// crash abandons the process and starts another on what the disk kept.
func (m *model) crash(o vfs.CrashOptions) {
	m.t.Helper()
	clone := m.mem.CrashClone(o)
	_ = m.h.Close() // the old process, on the old disk
	m.mem = clone
	m.open()
	end := m.p.LogEndOffset()
	if end < m.durable || end > m.end() {
		m.t.Fatalf("after a crash the log ends at %d; acknowledged %d, appended %d", end, m.durable, m.end())
	}
	m.records = m.records[:end]
	m.durable = min(m.durable, end)
	m.prune()
}

// prune leaves out the producers that may be forgotten after a restart: those
// whose last batch was lost, and, as in Kafka, those whose records are all
// deleted.
func (m *model) prune() {
	start, end := max(m.start, m.p.LogStartOffset()), m.end()
	for id, b := range m.last {
		if b.base+batch.Offset(b.n) > end || b.base < start {
			delete(m.last, id)
			m.forget(id)
		}
	}
}

// forget makes a producer whose last batch is gone send its next one, so that
// there is a last batch again.
func (m *model) forget(id batch.ProducerID) {
	ps, err := m.p.Producers()
	if err != nil {
		m.t.Fatal(err)
	}
	i := slices.IndexFunc(ps, func(p producerstate.Producer) bool { return p.ID == id })
	if i < 0 {
		return
	}
	r := m.append(idempotent(id, ps[i].LastSequence+1, 1))
	m.last[id] = sentBatch{sequence: ps[i].LastSequence + 1, n: 1, base: r.BaseOffset}
}

func (m *model) check() {
	m.t.Helper()
	start := m.p.LogStartOffset()
	if start < m.start || start > m.end() {
		m.t.Fatalf("log start %d, deleted up to %d of %d", start, m.start, m.end())
	}
	m.start = start
	if hw, leo := m.p.HighWatermark(), m.p.LogEndOffset(); hw != leo || leo != m.end() {
		m.t.Fatalf("high watermark %d, log end %d, model %d", hw, leo, m.end())
	}
	from := start
	if n := m.end() - start; n > 0 {
		from += batch.Offset(m.r.IntN(int(n)))
	}
	var got []string
	for next := from; next < m.end(); {
		r, err := m.p.Fetch(consume(next), nil)
		if err != nil {
			m.t.Fatal(err)
		}
		part := decode(m.t, r.Records, next)
		if len(part) == 0 {
			m.t.Fatalf("nothing at %d, log end %d", next, m.end())
		}
		got = append(got, part...)
		next += batch.Offset(len(part))
	}
	if want := m.records[from:]; !slices.Equal(got, want) {
		m.t.Fatalf("from %d:\n%v\nwant\n%v", from, got, want)
	}
}

package coordinator

import (
	"context"
	"sync"
)

// pool runs the calls of all shards on a bounded number of workers. A worker lives as long as there is work.
type pool struct {
	workers int // most at once
	max     int // most calls that run or wait
	wg      *sync.WaitGroup

	mu struct {
		sync.Mutex
		lanes   map[lane][]job
		ready   []lane // lanes with work and no worker, in order
		calls   int
		running int
	}
}

// lane is the calls that run one after another.
type lane struct {
	owner any // the shard
	key   string
}

type job struct {
	ctx context.Context
	run func(ctx context.Context)
}

func newPool(workers, most int, wg *sync.WaitGroup) *pool {
	p := &pool{workers: workers, max: most, wg: wg}
	p.mu.lanes = map[lane][]job{}
	return p
}

// add queues a job; false when there are too many. A job whose ctx ends before its turn does not run.
func (p *pool) add(l lane, j job) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.mu.calls >= p.max {
		return false
	}
	p.mu.calls++
	jobs, busy := p.mu.lanes[l]
	p.mu.lanes[l] = append(jobs, j)
	if busy {
		return true
	}
	p.mu.ready = append(p.mu.ready, l)
	if p.mu.running < p.workers {
		p.mu.running++
		p.wg.Go(p.work)
	}
	return true
}

func (p *pool) work() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.mu.ready) > 0 {
		l := p.mu.ready[0]
		p.mu.ready = p.mu.ready[1:]
		j := p.mu.lanes[l][0]
		p.mu.Unlock()
		if j.ctx.Err() == nil {
			j.run(j.ctx)
		}
		p.mu.Lock()
		p.mu.calls--
		if rest := p.mu.lanes[l][1:]; len(rest) > 0 {
			p.mu.lanes[l] = rest
			p.mu.ready = append(p.mu.ready, l)
		} else {
			delete(p.mu.lanes, l)
		}
	}
	p.mu.running--
}

// size is how many calls run or wait.
func (p *pool) size() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.mu.calls
}

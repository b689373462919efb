package coordinator

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// TestEveryRequestIsAnsweredWhileLeadersMove has clients write and read without pause while the partition moves, appends
// fail, images are published and metrics are read. It is for the race detector, and for what it counts: each request is
// answered, and what was answered for is in the log.
func TestEveryRequestIsAnsweredWhileLeadersMove(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	reg := prometheus.NewRegistry()
	rt := New(Options{Name: "test-coordinator", Registerer: reg, MaxQueued: 64}, newStore)
	log := newMemLog(1)
	log.auto = true
	rt.Elect(0, 1, log)
	var clients, chaos sync.WaitGroup
	written := make([]map[string]bool, 8)
	for c := range written {
		written[c] = map[string]bool{}
		clients.Go(func() {
			for i := range 400 {
				value := fmt.Sprintf("v%d-%d", c, i)
				for _, f := range []*Future[string]{
					rt.Submit(0, puts(value, "a", value, "b", value)), rt.Submit(0, get("a")), rt.Submit(0, compute("c", value, nil)),
					rt.Submit(0, setTimer("t", time.Duration(i%3)*time.Millisecond)),
				} {
					r, err := f.Wait(ctx)
					switch {
					case errors.Is(err, ErrTimeout):
						t.Errorf("a request was left without an answer: %v", err)
						return
					case errors.Is(err, ErrLoading), errors.Is(err, ErrNotCoordinator):
						<-time.After(100 * time.Microsecond) // as a client would, so that there is something to disturb
					case err == nil && r == value:
						written[c][value] = true
					}
				}
			}
		})
	}
	stop := make(chan struct{})
	chaos.Go(func() {
		rnd := rand.New(rand.NewPCG(1, 2))
		for epoch := int32(2); ; epoch++ {
			select {
			case <-stop:
				return
			case <-time.After(time.Duration(rnd.IntN(5)) * time.Millisecond):
			}
			switch rnd.IntN(4) {
			case 0:
				log.change(func() { log.fail = errors.New("append fails") })
			case 1:
				rt.Resign(0, log.epochNow())
				rt.Elect(0, log.epochNow(), log)
			default:
				log.change(func() { log.epoch++ })
				rt.Elect(0, log.epochNow(), log)
			}
			rt.Publish(func(s *store, _ time.Time, _ Token) effects { s.image = fmt.Sprint(epoch); return effects{} })
			if _, err := reg.Gather(); err != nil {
				t.Error(err)
			}
		}
	})
	clients.Wait()
	close(stop)
	chaos.Wait()
	if err := rt.Close(ctx); err != nil {
		t.Error(err)
	}
	total, values := 0, log.committedValues()
	for _, w := range written {
		for value := range w {
			if total++; !values[value] {
				t.Errorf("%s was answered for and is not in the log", value)
			}
		}
	}
	if total < 300 || log.epochNow() < 5 {
		t.Errorf("only %d requests went through, at %d epochs", total, log.epochNow())
	}
}

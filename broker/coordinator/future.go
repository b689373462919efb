package coordinator

import (
	"context"
	"fmt"
)

// Future is the answer to a submitted operation, once it is there.
type Future[R any] struct {
	done     chan struct{}
	response R
	err      error
}

func newFuture[R any]() *Future[R] { return &Future[R]{done: make(chan struct{})} }

func failedFuture[R any](err error) *Future[R] {
	f := newFuture[R]()
	f.complete(*new(R), err)
	return f
}

// complete gives the answer out. It is called once.
func (f *Future[R]) complete(response R, err error) {
	f.response, f.err = response, err
	close(f.done)
}

// Done is closed when the answer is there.
func (f *Future[R]) Done() <-chan struct{} { return f.done }

// Wait returns the answer: what the machine said, or one of the package's errors. When ctx ends first the wait is over
// with ErrTimeout; the operation goes on.
func (f *Future[R]) Wait(ctx context.Context) (R, error) {
	select {
	case <-f.done:
		return f.response, f.err
	case <-ctx.Done():
		var none R
		return none, fmt.Errorf("%w: %w", ErrTimeout, context.Cause(ctx))
	}
}

package sandbox

import (
	"fmt"
	"io"
	"sync"

	"scupper.dev/scupper/audit"
)

// allowance is what is left of the output that a run may print, on all of its streams together.
type allowance struct {
	mu    sync.Mutex
	limit uint64
	left  uint64
	cut   bool
}

func newAllowance(limit uint64) *allowance { return &allowance{limit: limit, left: limit} }

// writer passes on what is left of the allowance. What comes after is taken and dropped: the command goes on.
func (a *allowance) writer(w io.Writer) io.Writer {
	if w == nil {
		return io.Discard
	}
	if a.limit == 0 {
		return w
	}
	return writerFunc(func(b []byte) (int, error) {
		kept := b[:a.take(len(b))]
		if len(kept) == 0 {
			return len(b), nil
		}
		if n, err := w.Write(kept); err != nil {
			return n, err
		}
		return len(b), nil
	})
}

func (a *allowance) take(n int) uint64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	taken := min(uint64(n), a.left)
	a.left -= taken
	a.cut = a.cut || taken < uint64(n)
	return taken
}

func (a *allowance) reached() []audit.Reached {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.cut {
		return nil
	}
	return []audit.Reached{{Limit: "output", Says: fmt.Sprintf("the sandbox printed more than its %s, the rest was cut off", size(a.limit))}}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

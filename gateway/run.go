package gateway

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// run does the work within the tool's time. A tool that crashes has failed, and nothing
// else; trouble is one sentence about it for the record.
func (t *tool) run(ctx context.Context, call *Call) (result Result, trouble string) {
	ctx, cancel := context.WithTimeout(ctx, t.Definition.Timeout)
	defer cancel()
	defer func() {
		if v := recover(); v != nil {
			trouble = fmt.Sprintf("the tool crashed: %v", v)
			result = Failure("the tool crashed; this is a fault of scupper, and the record of the call has more")
		}
	}()
	result = t.Tool.Call(ctx, call)
	if len(result.Content) == 0 && result.Structured == nil {
		result.Content = []Content{{Text: "(no output)"}}
	}
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		trouble = fmt.Sprintf("ended after %v", t.Definition.Timeout)
	case ctx.Err() != nil:
		trouble = "cancelled by the caller"
	}
	return result, trouble
}

// rising passes on what rises: a caller is told nothing that goes backwards. It is never
// nil.
func rising(p Progress) Progress {
	if p == nil {
		return func(float64, float64, string) {}
	}
	var mu sync.Mutex
	last := -1.0
	return func(done, total float64, text string) {
		mu.Lock()
		defer mu.Unlock()
		if done <= last {
			return
		}
		last = done
		p(done, total, text)
	}
}

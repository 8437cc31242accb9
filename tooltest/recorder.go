package tooltest

import (
	"context"
	"slices"
	"sync"

	"github.com/toolpost/toolpost"
)

// A Recorder is a toolset that forwards calls and records them. It is safe for
// concurrent use.
type Recorder struct {
	toolpost.Toolset // what is recorded
	mu               sync.Mutex
	calls            []Recorded
}

// Recorded is one call and its outcome.
type Recorded struct {
	Name      string
	Arguments string
	Result    *toolpost.Result // nil if Err is set; its Notes describe repaired arguments
	Err       error
}

// Record returns ts with its calls recorded, in the order in which they end.
// Calls whose arguments are refused by the schema do not reach a tool and are
// not recorded.
func Record(ts toolpost.Toolset) *Recorder {
	r := &Recorder{}
	r.Toolset = toolpost.Map(ts, func(t *toolpost.Tool) *toolpost.Tool {
		next := t.Handler
		t.Handler = func(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
			result, err := next(ctx, call)
			r.mu.Lock()
			defer r.mu.Unlock()
			r.calls = append(r.calls, Recorded{call.Name, string(call.Arguments), result, err})
			return result, err
		}
		return t
	})
	return r
}

// Calls returns the calls so far.
func (r *Recorder) Calls() []Recorded {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.calls)
}

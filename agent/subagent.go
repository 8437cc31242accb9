package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/dep"
	"github.com/toolpost/toolpost/model"
)

// maxDepth is how deeply agents may be nested.
const maxDepth = 5

// A frame links a run to the tool call that started it.
type frame struct {
	run      *run
	response int // the number of the response with the call
	call     int // its index in it

	mu    sync.Mutex
	spent []*record      // by the runs inside the call
	tasks map[string]int // how often each task was given inside the call
	files []string       // of the sessions inside the call
}

// digest identifies a task inside the call: by the session, the call, the task, and
// how often it was given before. It is the same when the call continues after a
// crash.
func (f *frame) digest(tool, task string) string {
	key := fmt.Sprintf("%q %d %d %q %q", f.run.session.ID(), f.response, f.call, tool, task)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.tasks == nil {
		f.tasks = map[string]int{}
	}
	f.tasks[key]++
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", key, f.tasks[key]))
	return hex.EncodeToString(sum[:8])
}

func (f *frame) add(spent *record) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.spent = append(f.spent, spent)
}

// open opens the session for a task inside the call, in a file beside the outer one.
func (f *frame) open(tool, task string) (*Session, error) {
	path := f.run.session.file.Name() + "." + f.digest(tool, task)
	s, err := OpenSession(path)
	if err == nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.files = append(f.files, path)
	}
	return s, err
}

// removeFiles removes the sessions inside the call. They are needed only while the call
// has no result in the outer session.
func (f *frame) removeFiles() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, path := range f.files {
		_ = os.Remove(path) // a file that stays is not read again
	}
}

type frameKey struct{}

// depth returns how many runs the frame is inside of.
func (f *frame) depth() int {
	n := 0
	for f != nil {
		f = f.run.outer
		n++
	}
	return n
}

// enter opens the scope of the run. If the run is inside a call of another one, it
// inherits that run's Approve and Caller unless it sets its own.
func (r *run) enter(ctx context.Context) (inner context.Context, leave func() error, err error) {
	if outer, ok := ctx.Value(frameKey{}).(*frame); ok {
		if outer.depth() >= maxDepth {
			return nil, nil, errors.New("too many agents run inside each other")
		}
		r.outer = outer
		inherited := *r.agent
		if inherited.opts.Approve == nil {
			inherited.opts.Approve = outer.run.approveInner()
		}
		if inherited.opts.Caller == nil {
			inherited.opts.Caller = outer.run.agent.opts.Caller
		}
		r.agent = &inherited
	}
	scope := new(dep.Scope).Open(ctx, dep.PerRun)
	return scope, scope.Close, nil
}

// approveInner returns the run's Approve for calls of agents inside it, nil if it
// has none. Several of them may run at the same time, but a person is
// asked about one call at a time.
func (r *run) approveInner() func(context.Context, *Request) (Decision, error) {
	approve := r.agent.opts.Approve
	if approve == nil {
		return nil
	}
	return func(ctx context.Context, call *Request) (Decision, error) {
		r.approving.Lock()
		defer r.approving.Unlock()
		return approve(ctx, call)
	}
}

// spend records tokens in the sessions of the runs that this one is inside of.
func (r *run) spend(spent *record) error {
	if r.outer == nil {
		return nil
	}
	e := &record{Type: recordSpent, Response: r.outer.response, Call: r.outer.call, Origin: spent.Origin, Tokens: spent.Tokens, Cost: spent.Cost}
	if err := r.outer.run.session.append(e); err != nil {
		return err
	}
	r.outer.add(e)
	return r.outer.run.spend(e)
}

// innerSession returns the session for a task inside a call, and a function that
// closes it. If the outer session is in a file, this one is in a file beside it, so
// that a call that was interrupted continues.
func innerSession(ctx context.Context, tool, task string) (*Session, func(), error) {
	outer, ok := ctx.Value(frameKey{}).(*frame)
	if !ok || outer.run.session.file == nil {
		return NewSession(), func() {}, nil
	}
	s, err := outer.open(tool, task)
	if err != nil {
		return nil, nil, err
	}
	return s, func() { _ = s.Close() }, nil
}

// Tool returns the agent as a tool: every call is a run in a session of its own,
// in a file beside that of the outer session. The run's tokens and costs count for
// the limits of the run that calls it, whose approval rules it has unless it has its
// own. A call inside it that would wait for a decision is denied, because the tool
// must answer.
func (a *Agent) Tool(name, description string) *toolpost.Tool {
	type input struct {
		Task string `json:"task" jsonschema:"minLength=1" desc:"What to do, with everything that is needed to do it: the agent does not know this conversation"`
	}
	inner := *a
	inner.asTool = true
	return toolpost.New(name, description, func(ctx context.Context, in input) (string, error) {
		s, end, err := innerSession(ctx, name, in.Task)
		if err != nil {
			return "", toolpost.Failed.Errorf("%v", err)
		}
		defer end()
		var prompt []model.Part
		if len(s.Messages()) == 0 {
			prompt = append(prompt, model.Text(in.Task))
		}
		result, err := inner.Do(ctx, s, prompt...)
		var stopped *StopError
		switch {
		case errors.As(err, &stopped) && result.Text != "":
			return "", toolpost.Failed.Errorf("%v. Its last words were: %s", err, result.Text)
		case err != nil:
			return "", toolpost.Failed.Errorf("%v", err)
		}
		return result.Text, nil
	}, &toolpost.Options{Policy: toolpost.Policy{Resumable: true}})
}

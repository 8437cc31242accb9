package claude

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/claude/message"
)

// A Model uses the CLI as a model: it takes a prompt and the names of tools,
// and returns an answer. Each request is a separate run; several may run
// concurrently.
type Model struct {
	opts ModelOptions

	mu       sync.Mutex
	toolsets []registeredServer
}

// ModelOptions are the optional parts of NewModel. Settings of a request take
// precedence.
type ModelOptions struct {
	Options               // of every run
	Timeout time.Duration // for every request; none if 0

	// Interrupted is called after every message and in between, on another
	// goroutine. If it returns true, the request ends with ErrInterrupted.
	Interrupted func() bool

	// OnMessage receives every message. Its errors are logged and do not end
	// the request.
	OnMessage func(ctx context.Context, m message.Message) error
}

type registeredServer struct {
	server string
	tools  toolpost.Toolset
}

// NewModel returns a model without tools.
func NewModel(opts *ModelOptions) *Model {
	if opts == nil {
		opts = &ModelOptions{}
	}
	return &Model{opts: *opts}
}

// SetToolset registers tools for requests under the name server, or
// [DefaultServer] if it is empty. It replaces another toolset of that name and
// logs a warning. Nil registers a toolset without tools.
func (m *Model) SetToolset(server string, ts toolpost.Toolset) {
	server = cmp.Or(server, DefaultServer)
	if ts == nil {
		ts = toolpost.Tools(nil)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	at := slices.IndexFunc(m.toolsets, func(r registeredServer) bool { return r.server == server })
	if at < 0 {
		m.toolsets = append(m.toolsets, registeredServer{server, ts})
		return
	}
	m.opts.logger().Warn("a registered toolset is replaced", "server", server)
	m.toolsets[at].tools = ts
}

// A Request is one prompt for a Model.
type Request struct {
	Prompt string
	Blocks []Block // come after Prompt, such as images

	// Tools are the registered tools that the model may use, by their own
	// names: all if nil, none if empty.
	Tools []string

	Settings *RequestSettings // nil for the model's settings
}

// RequestSettings are settings for one request; an empty field uses the model's
// setting.
type RequestSettings struct {
	Timeout            time.Duration
	MaxBudgetUSD       float64
	MaxTurns           int
	AppendSystemPrompt string
	Dir                string

	// At most one of Continue and Resume; either replaces both of the model's.
	Continue bool
	Resume   string
}

// A Reply is the answer to a Request.
type Reply struct {
	Text  string // the structured output as JSON, if there is one
	Usage message.Usage
}

// Request returns the answer to a prompt.
func (m *Model) Request(ctx context.Context, r *Request) (*Reply, error) {
	reply, _, err := m.RequestWithMetadata(ctx, r)
	return reply, err
}

// RequestWithMetadata returns the answer with everything that is known about
// the run. If there is an error, the response contains what was known until
// then, or is nil.
func (m *Model) RequestWithMetadata(ctx context.Context, r *Request) (*Reply, *Response, error) {
	response, err := Collect(m.Stream(ctx, r))
	if err != nil {
		return nil, response, err
	}
	reply := &Reply{Text: response.Result, Usage: response.Usage}
	if response.StructuredOutput != nil {
		reply.Text = string(response.StructuredOutput)
	}
	return reply, response, nil
}

// Stream yields the messages of the run that answers a prompt, as [Run] does.
func (m *Model) Stream(ctx context.Context, r *Request) iter.Seq2[message.Message, error] {
	return func(yield func(message.Message, error) bool) {
		if r == nil {
			yield(nil, errors.New("the request is nil; give one with a Prompt"))
			return
		}
		o, timeout := m.settings(r.Settings)
		if timeout < 0 {
			yield(nil, fmt.Errorf("the timeout of the request is %v; give one above 0, or 0 for that of the model", timeout))
			return
		}
		ctx, stop := context.WithCancelCause(ctx)
		defer m.watch(ctx, stop)()
		if timeout > 0 {
			timer := time.AfterFunc(timeout, func() { stop(&TimeoutError{timeout}) })
			defer timer.Stop()
		}
		servers, err := m.servers(ctx, r.Tools)
		if err != nil {
			yield(nil, cmp.Or(context.Cause(ctx), err))
			return
		}
		o.Servers = slices.Concat(o.Servers, servers)
		defer closeAll(servers)
		for msg, err := range Run(ctx, r.Prompt, o, r.Blocks...) {
			if err == nil {
				m.tell(ctx, msg)
				if m.opts.Interrupted != nil && m.opts.Interrupted() {
					stop(ErrInterrupted)
				}
			}
			if !yield(msg, err) || err != nil {
				return
			}
		}
	}
}

// watch asks Interrupted while nothing comes. End ends that, and the context.
func (m *Model) watch(ctx context.Context, stop context.CancelCauseFunc) (end func()) {
	const pause = 200 * time.Millisecond
	var watching sync.WaitGroup
	if m.opts.Interrupted != nil {
		watching.Go(func() {
			tick := time.NewTicker(pause)
			defer tick.Stop()
			for {
				select {
				case <-ctx.Done():
					return
				case <-tick.C:
				}
				if m.opts.Interrupted() {
					stop(ErrInterrupted)
				}
			}
		})
	}
	return func() {
		stop(nil)
		watching.Wait()
	}
}

func (m *Model) tell(ctx context.Context, msg message.Message) {
	if m.opts.OnMessage == nil {
		return
	}
	if err := m.opts.OnMessage(ctx, msg); err != nil {
		m.opts.logger().Warn("the callback for messages failed", "type", msg.Head().Type, "error", err)
	}
}

// settings are the options of the model with those of one request.
func (m *Model) settings(s *RequestSettings) (*Options, time.Duration) {
	o, timeout := m.opts.Options, m.opts.Timeout
	if s == nil {
		return &o, timeout
	}
	timeout = cmp.Or(s.Timeout, timeout)
	o.MaxBudgetUSD = cmp.Or(s.MaxBudgetUSD, o.MaxBudgetUSD)
	o.MaxTurns = cmp.Or(s.MaxTurns, o.MaxTurns)
	o.AppendSystemPrompt = cmp.Or(s.AppendSystemPrompt, o.AppendSystemPrompt)
	o.Dir = cmp.Or(s.Dir, o.Dir)
	if s.Continue || s.Resume != "" {
		o.Continue, o.Resume = s.Continue, s.Resume
	}
	return &o, timeout
}

// servers serve the tools of those names, all if names is nil.
func (m *Model) servers(ctx context.Context, names []string) ([]*Server, error) {
	picked, err := m.pick(ctx, names)
	if err != nil {
		return nil, err
	}
	var servers []*Server
	for _, p := range picked {
		s, err := NewServer(ctx, p.server, p.tools, &ServerOptions{Logger: m.opts.Logger})
		if err != nil {
			closeAll(servers)
			return nil, err
		}
		servers = append(servers, s)
	}
	return servers, nil
}

func closeAll(servers []*Server) {
	for _, s := range servers {
		_ = s.Close() // it only ends calls that still run
	}
}

// pick returns what is left of the toolsets that have tools of those names.
func (m *Model) pick(ctx context.Context, names []string) (picked []registeredServer, err error) {
	m.mu.Lock()
	toolsets := slices.Clone(m.toolsets)
	m.mu.Unlock()
	if len(names) > 0 && len(toolsets) == 0 {
		return nil, fmt.Errorf("tools %q: %w", names, ErrToolsetNotRegistered)
	}
	missing, available := slices.Clone(names), []string{}
	for _, r := range toolsets {
		tools, err := sound(r.tools).Tools(ctx)
		if err != nil {
			return nil, fmt.Errorf("list the tools of server %q: %w", r.server, err)
		}
		var wanted toolpost.Tools
		for _, t := range tools {
			available = append(available, t.Name)
			missing = slices.DeleteFunc(missing, func(name string) bool { return name == t.Name })
			if names == nil || slices.Contains(names, t.Name) {
				wanted = append(wanted, t)
			}
		}
		if len(wanted) > 0 {
			picked = append(picked, registeredServer{r.server, wanted})
		}
	}
	if len(missing) > 0 {
		return nil, &ToolNotFoundError{Missing: missing, Available: available}
	}
	return picked, nil
}

var (
	// ErrToolsetNotRegistered reports a request for tools to a model that has
	// no toolset.
	ErrToolsetNotRegistered = errors.New("no toolset is registered; call SetToolset before the request")

	// ErrInterrupted reports a request that ModelOptions.Interrupted ended.
	ErrInterrupted = errors.New("the request was interrupted")
)

// A ToolNotFoundError reports a request for tools that are in no registered
// toolset.
type ToolNotFoundError struct {
	Missing, Available []string
}

func (e *ToolNotFoundError) Error() string {
	return fmt.Sprintf("no registered toolset has the tools %q; there are %q", e.Missing, e.Available)
}

// A TimeoutError reports a request that took too long. The run was ended; the
// caller may repeat the request or resume its session.
type TimeoutError struct {
	After time.Duration
}

func (e *TimeoutError) Error() string {
	return fmt.Sprintf("the claude CLI did not answer within %v; try again, or give the request a longer Timeout", e.After)
}

// Timeout returns true, as for timeout errors of package net.
func (e *TimeoutError) Timeout() bool { return true }

// Unwrap returns [context.DeadlineExceeded].
func (e *TimeoutError) Unwrap() error { return context.DeadlineExceeded }

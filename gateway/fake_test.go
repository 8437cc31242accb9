package gateway_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/gateway"
	"github.com/toolpost/toolpost/internal/hidden"
	"github.com/toolpost/toolpost/schema"
	"github.com/toolpost/toolpost/upstream"
)

// A fake is an upstream whose state a test sets.
type fake struct {
	toolpost.Base
	cfg   upstream.Config
	ended chan struct{} // closed after the first attempt to connect

	mu        sync.Mutex
	status    upstream.Status
	tools     []*toolpost.Tool
	features  *toolpost.Features
	err       error // of Tools
	closed    bool
	unsettled bool // calls were canceled that are not answered
	opts      upstream.Options
	known     *upstream.Known
	listing   func() // called by Tools when it has read the list
	once      sync.Once
}

func (f *fake) Ready(ctx context.Context) error {
	select {
	case <-f.ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (f *fake) Status() upstream.Status {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.status
}

func (f *fake) Tools(context.Context) ([]*toolpost.Tool, error) {
	f.mu.Lock()
	tools, err, listing := f.tools, f.err, f.listing
	f.mu.Unlock()
	if listing != nil {
		listing()
	}
	return tools, err
}

func (f *fake) Features() *toolpost.Features {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.features
}

func (f *fake) Close() error {
	f.mu.Lock()
	f.closed, f.status.State = true, upstream.Closed
	f.mu.Unlock()
	f.end()
	return nil
}

func (f *fake) Settled() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return !f.unsettled
}

func (f *fake) isClosed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.closed
}

// recall lists the tools that are known of the server, as an upstream does.
func (f *fake) recall() {
	if f.known = f.opts.Known; f.known == nil {
		return
	}
	for _, raw := range f.known.Lists["tools/list"] {
		var d toolpost.Definition
		err := d.UnmarshalJSON(raw)
		if err != nil {
			panic(err)
		}
		f.tools = append(f.tools, &toolpost.Tool{Definition: d, Handler: f.late, Policy: toolpost.Policy{SkipValidation: true}})
	}
}

// late runs a call of a tool that was known before the server has connected.
func (f *fake) late(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
	_ = f.Ready(ctx)
	if err := f.Status().Err; err != nil {
		return nil, err
	}
	tools, _ := f.Tools(ctx)
	for _, t := range tools {
		if t.Name != call.Name {
			continue
		}
		if err := hidden.UpstreamOptionsOf(&f.opts).Vet(t); err != nil {
			return nil, err
		}
		return t.Handler(ctx, call)
	}
	return nil, toolpost.Failed.Errorf("server %q no longer has a tool %q", f.cfg.Name, call.Name)
}

// Known returns the tools that are listed now.
func (f *fake) Known() *upstream.Known {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.known == nil && len(f.tools) > 0 {
		f.known = &upstream.Known{Capabilities: []byte(`{"tools":{}}`), Lists: map[string][][]byte{}}
		for _, t := range f.tools {
			if t == nil || t.Input == nil {
				continue // a tool that no server lists
			}
			raw, err := t.MarshalJSON()
			if err != nil {
				continue
			}
			f.known.Lists["tools/list"] = append(f.known.Lists["tools/list"], raw)
		}
	}
	return f.known
}

func (f *fake) end() { f.once.Do(func() { close(f.ended) }) }

func (f *fake) set(change func(f *fake)) {
	f.mu.Lock()
	before := f.tools
	if f.features != nil { // a source with other features has another pointer
		c := *f.features
		f.features = &c
	}
	change(f)
	if !slices.Equal(before, f.tools) {
		f.known = nil
	}
	f.mu.Unlock()
	f.Notify(toolpost.Event{})
}

// handle gives the first tool another handler. It makes a new tool, because the
// gateway may have listed the old one already. It is for use within set.
func (f *fake) handle(h toolpost.Handler) {
	t := *f.tools[0]
	t.Handler = h
	f.tools = append([]*toolpost.Tool{&t}, f.tools[1:]...)
}

// connect makes the fake ready with tools of these names.
func (f *fake) connect(names ...string) {
	var tools []*toolpost.Tool
	for _, name := range names {
		tools = append(tools, tool(name, f.cfg.Name+" "+f.cfg.Command))
	}
	f.offer(tools...)
}

// connectTool makes the fake ready with one tool. A call that waits for the fake uses
// the handler, which one that is set later would come too late for.
func (f *fake) connectTool(name string, h toolpost.Handler) {
	t := tool(name, "")
	t.Handler = h
	f.offer(t)
}

func (f *fake) offer(tools ...*toolpost.Tool) {
	f.set(func(f *fake) {
		f.status.State, f.status.Tools, f.status.Err = upstream.Ready, len(tools), nil
		f.tools = tools
	})
	f.end()
}

// fail makes the fake fail; its tools stay.
func (f *fake) fail(err error) {
	f.set(func(f *fake) { f.status.State, f.status.Err, f.status.Retry = upstream.Failed, err, time.Now() })
	f.end()
}

// tool returns a tool that answers with who it is and the name it was called by.
func tool(name, who string) *toolpost.Tool {
	return &toolpost.Tool{
		Definition: toolpost.Definition{Name: name, Input: schema.MustParse(`{"type":"object"}`)},
		Handler: func(_ context.Context, call *toolpost.Call) (*toolpost.Result, error) {
			return toolpost.TextResult(who + " " + call.Name), nil
		},
		Policy: toolpost.Policy{SkipValidation: true},
	}
}

// A fleet makes fakes in place of upstreams.
type fleet struct {
	mu      sync.Mutex
	started []*fake // in the order of their start
}

func (f *fleet) start(cfg *upstream.Config, opts *upstream.Options) (gateway.Connection, error) {
	if cfg.Command == "refused" {
		return nil, fmt.Errorf("start upstream %q: it is refused", cfg.Name)
	}
	u := &fake{cfg: *cfg, ended: make(chan struct{})}
	u.status = upstream.Status{Name: cfg.Name, State: upstream.Connecting}
	if opts != nil {
		u.opts = *opts
		u.recall()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.started = append(f.started, u)
	return u, nil
}

// last returns the fake of that name that was started last.
func (f *fleet) last(name string) *fake {
	f.mu.Lock()
	defer f.mu.Unlock()
	var u *fake
	for _, s := range f.started {
		if s.cfg.Name == name {
			u = s
		}
	}
	return u
}

func (f *fleet) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.started)
}

// open opens a gateway over fakes; it is closed with the test.
func open(t *testing.T, cfg *config.Config) (*gateway.Gateway, *fleet) {
	t.Helper()
	return openWith(t, cfg, nil)
}

func openWith(t *testing.T, cfg *config.Config, opts *gateway.Options) (*gateway.Gateway, *fleet) {
	t.Helper()
	f := &fleet{}
	g, err := gateway.StartWith(t.Context(), cfg, opts, f.start)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
		for _, u := range f.started {
			if !u.isClosed() {
				t.Errorf("%s is not closed", u.cfg.Name)
			}
		}
	})
	return g, f
}

// servers is a configuration of commands: name, command, name, command…
func servers(pairs ...string) *config.Config {
	cfg := &config.Config{}
	for i := 0; i < len(pairs); i += 2 {
		s := config.Server{}
		s.Name, s.Command = pairs[i], pairs[i+1]
		cfg.Servers = append(cfg.Servers, s)
	}
	return cfg
}

func prefixed(cfg *config.Config, prefix string) *config.Config {
	for i := range cfg.Servers {
		cfg.Servers[i].Prefix = &prefix
	}
	return cfg
}

func names(g *gateway.Gateway) []string {
	tools, _ := g.Live().Set().Tools(context.Background())
	all := []string{}
	for _, t := range tools {
		all = append(all, t.Name)
	}
	return all
}

// call returns what the tool answers, or its error.
func call(g *gateway.Gateway, name string) string {
	text, err := g.Live().CallText(context.Background(), name, map[string]any{})
	if err != nil {
		return "error: " + err.Error()
	}
	return text
}

func findings(g *gateway.Gateway) []string {
	var all []string
	stop := g.WatchSnapshot(func(s *gateway.Snapshot) {
		for _, f := range s.Findings {
			all = append(all, f.Tool+"| "+f.Message)
		}
	})
	stop()
	return all
}

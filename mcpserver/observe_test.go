package mcpserver_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/mcpserver"
	"github.com/toolpost/toolpost/observe"
)

// An observed request is what an observer records of it.
type observed struct {
	method, name, client string
	session              bool
	outcome              observe.Outcome
	code                 int64
}

// A recorder is an observer.
type recorder struct {
	mu   sync.Mutex
	seen []observed
	bad  []string
}

func (rec *recorder) observe(ctx context.Context, r *observe.Request) (context.Context, func(*observe.Response)) {
	if observe.From(ctx) != r || r.Transport == "" || r.Protocol == "" || r.Session == "" || len(r.ID) == 0 {
		rec.bad = append(rec.bad, r.Method+": incomplete")
	}
	return ctx, func(response *observe.Response) {
		rec.mu.Lock()
		defer rec.mu.Unlock()
		if response.Duration <= 0 || response.Outcome == observe.OK && response.Bytes == 0 || (response.Err != nil) != (response.Code != 0) {
			rec.bad = append(rec.bad, r.Method+": the response is incomplete")
		}
		rec.seen = append(rec.seen, observed{r.Method, r.Name, r.Client.Name, r.InSession, response.Outcome, response.Code})
	}
}

// last returns what was observed last, and forgets it.
func (rec *recorder) last(t *testing.T) observed {
	t.Helper()
	rec.mu.Lock()
	defer rec.mu.Unlock()
	if len(rec.seen) != 1 || len(rec.bad) != 0 {
		t.Fatalf("observed %v, %v; want one request", rec.seen, rec.bad)
	}
	got := rec.seen[0]
	rec.seen = nil
	return got
}

func TestObserve(t *testing.T) {
	answers := map[string]toolpost.Handler{
		"fails": func(context.Context, *toolpost.Call) (*toolpost.Result, error) {
			return nil, toolpost.Failed.Errorf("no disk")
		},
		"denies": func(context.Context, *toolpost.Call) (*toolpost.Result, error) {
			return nil, toolpost.Denied.Errorf("no")
		},
		"retries": func(context.Context, *toolpost.Call) (*toolpost.Result, error) {
			return nil, toolpost.Retry.Errorf("again")
		},
		"panics": func(context.Context, *toolpost.Call) (*toolpost.Result, error) { panic("secret") },
		"works": func(context.Context, *toolpost.Call) (*toolpost.Result, error) {
			return toolpost.TextResult("fine"), nil
		},
		"protocol": func(context.Context, *toolpost.Call) (*toolpost.Result, error) {
			return nil, &toolpost.ProtocolError{Code: -32050}
		},
		"late": func(ctx context.Context, _ *toolpost.Call) (*toolpost.Result, error) {
			observe.From(ctx).Note(observe.Timeout)
			return nil, toolpost.Failed.Errorf("too late")
		},
		"recovers": func(ctx context.Context, _ *toolpost.Call) (*toolpost.Result, error) {
			observe.From(ctx).Note(observe.Timeout)
			return toolpost.TextResult("fine after all"), nil
		},
	}
	var tools []*toolpost.Tool
	for name, h := range answers {
		tools = append(tools, rawTool(name, anyObject, h))
	}
	everyWay(t, func(t *testing.T, w way) {
		rec := &recorder{}
		s := serve(t, &mcpserver.Options{Observe: rec.observe}, tools...)
		session := w.connect(t, s, nil)
		if _, err := session.ListTools(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		rec.mu.Lock()
		rec.seen = nil // some clients discover the server first
		rec.mu.Unlock()
		for _, want := range []observed{
			{name: "works", outcome: observe.OK}, {name: "fails", outcome: observe.ToolError}, {name: "denies", outcome: observe.Denied},
			{name: "retries", outcome: observe.Invalid}, {name: "panics", outcome: observe.ToolError}, {name: "late", outcome: observe.Timeout},
			{name: "recovers", outcome: observe.OK},
			{name: "protocol", outcome: observe.ProtocolError, code: -32050}, {name: "missing", outcome: observe.ProtocolError, code: -32602},
		} {
			_, _ = session.CallTool(t.Context(), &mcp.CallToolParams{Name: want.name}) // errors are what is observed
			got := rec.last(t)
			want.method, want.client, want.session = "tools/call", got.client, got.session
			if got != want || got.client == "" {
				t.Errorf("observed %+v, want %+v", got, want)
			}
		}
	})
}

// A call that asks its client for input is two requests; the second one has the
// result, and what was found out during the first.
func TestObserveParked(t *testing.T) {
	to := &observe.Target{Server: "s", Name: "ask"}
	rec := &recorder{}
	var targets []*observe.Target
	s := serve(t, &mcpserver.Options{Observe: func(ctx context.Context, r *observe.Request) (context.Context, func(*observe.Response)) {
		ctx, end := rec.observe(ctx, r)
		return ctx, func(response *observe.Response) {
			targets = append(targets, r.Target())
			end(response)
		}
	}}, rawTool("ask", anyObject, func(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
		observe.From(ctx).SetTarget(to)
		_, err := call.Caller.Request(ctx, "elicitation/create", json.RawMessage(`{}`))
		return toolpost.Failed.Resultf("refused"), err
	}))
	body, header := modernCall("ask", "{}", "")
	var first struct {
		Result struct{ RequestState string }
	}
	if e := s.post(t, body, header); json.Unmarshal([]byte(e.body), &first) != nil || first.Result.RequestState == "" {
		t.Fatalf("%s", e.body)
	}
	if got := rec.last(t); got.outcome != observe.InputRequired {
		t.Errorf("observed %+v, want input_required", got)
	}
	again := `"name":"ask","requestState":"` + first.Result.RequestState + `","inputResponses":{"input":{"action":"accept"}}`
	s.post(t, strings.Replace(body, `"name":"ask"`, again, 1), header)
	if got := rec.last(t); got.outcome != observe.ToolError {
		t.Errorf("observed %+v, want tool_error", got)
	}
	if diff := cmp.Diff([]*observe.Target{to, to}, targets); diff != "" {
		t.Error(diff)
	}
}

// A request whose client takes it back is canceled.
func TestObserveCanceled(t *testing.T) {
	everyWay(t, func(t *testing.T, w way) {
		started, ended := make(chan struct{}), make(chan observe.Outcome, 1)
		s := serve(t, &mcpserver.Options{Observe: func(ctx context.Context, r *observe.Request) (context.Context, func(*observe.Response)) {
			return ctx, func(response *observe.Response) {
				if r.Method == "tools/call" {
					ended <- response.Outcome
				}
			}
		}}, rawTool("waits", anyObject, func(ctx context.Context, _ *toolpost.Call) (*toolpost.Result, error) {
			close(started)
			<-ctx.Done()
			return nil, context.Cause(ctx)
		}))
		session := w.connect(t, s, nil)
		ctx, cancel := context.WithCancel(t.Context())
		called := make(chan struct{})
		go func() {
			defer close(called)
			_, _ = session.CallTool(ctx, &mcp.CallToolParams{Name: "waits"}) // it is canceled
		}()
		<-started
		cancel()
		if got := <-ended; got != observe.Canceled {
			t.Errorf("observed %s, want canceled", got)
		}
		<-called
	})
}

// TestObserveProfile: a request is observed with the profile that its client is served,
// not with what the address asks for, also after that has changed.
func TestObserveProfile(t *testing.T) {
	tools := toolpost.Tools{rawTool("t", anyObject, func(context.Context, *toolpost.Call) (*toolpost.Result, error) {
		return toolpost.TextResult("fine"), nil
	})}
	everyWay(t, func(t *testing.T, w way) {
		profiles, served := map[*toolpost.Live]string{}, atomic.Pointer[toolpost.Live]{}
		for _, name := range []string{"wide", "narrow"} {
			live, err := toolpost.NewLive(t.Context(), tools)
			if err != nil {
				t.Fatal(err)
			}
			defer live.Close()
			profiles[live] = name
			served.Store(live)
		}
		views := &hooks{
			view:    func(observe.Client) (*toolpost.Live, error) { return served.Load(), nil },
			profile: func(live *toolpost.Live) string { return profiles[live] },
		}
		var mu sync.Mutex
		var seen []string
		s := serve(t, &mcpserver.Options{Views: views, Observe: func(ctx context.Context, r *observe.Request) (context.Context, func(*observe.Response)) {
			mu.Lock()
			defer mu.Unlock()
			if r.Method == "tools/call" {
				seen = append(seen, r.Profile)
			}
			return ctx, nil
		}}, tools...)
		session := w.connect(t, s, nil)
		for live, name := range profiles {
			served.Store(live)
			views.changed()
			for range 2 {
				if _, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "t"}); err != nil {
					t.Fatal(err)
				}
			}
			mu.Lock()
			if diff := cmp.Diff([]string{name, name}, seen); diff != "" {
				t.Error(diff)
			}
			seen = nil
			mu.Unlock()
		}
	})
}

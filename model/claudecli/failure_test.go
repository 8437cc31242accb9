package claudecli_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/claude"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/claudecli"
)

var errExit = &claude.ExitError{Code: 3, Stderr: "bad \x1b[31m thing with sk-ant-api03-abcdefghijklmnopqrstuvwxyz and hush-hush-hush"}

// fails returns the error of a stream.
func fails(t *testing.T, ctx context.Context, m model.Model, r *model.Request) *model.Error {
	t.Helper()
	var last error
	for _, err := range m.Stream(ctx, r) {
		last = err
	}
	e := (*model.Error)(nil)
	if !errors.As(last, &e) {
		t.Fatalf("the stream ended with %v", last)
	}
	if e.Origin != m.Origin() {
		t.Errorf("the origin is %v", e.Origin)
	}
	return e
}

func hi() *model.Request { return &model.Request{Messages: []*model.Message{model.UserText("hi")}} }

// TestFailures maps what the CLI reports.
func TestFailures(t *testing.T) {
	problem := func(word string, status int) object {
		return object{"type": "assistant", "session_id": "s", "parent_tool_use_id": nil, "error": word, "api_error_status": status,
			"message": object{"id": "x", "model": "<synthetic>", "role": "assistant", "content": []any{text("API Error")}}}
	}
	lost := func() object {
		return object{"type": "result", "subtype": "success", "is_error": true, "api_error": "connection_failed", "terminal_reason": "api_error", "result": "API Error: Connection refused", "session_id": "s"}
	}
	ended := func(text string, status int) object {
		return object{"type": "result", "subtype": "success", "is_error": true, "api_error_status": status, "terminal_reason": "api_error", "result": text, "session_id": "s"}
	}
	for name, test := range map[string]struct {
		lines  []any
		kind   model.ErrorKind
		status int
		text   string
	}{
		"no login":   {[]any{problem("authentication_failed", 0), ended("Not logged in · Please run /login", 0)}, model.KindAuth, 0, "/login"},
		"wrong key":  {[]any{ended("API Error: invalid x-api-key hush-hush-hush", 401)}, model.KindAuth, 401, "x-api-key [secret]"},
		"limit":      {[]any{problem("rate_limit", 429), ended("API Error: slow down", 429)}, model.KindRateLimit, 429, "slow down"},
		"overload 2": {[]any{problem("server_error", 529), ended("API Error: 529 busy", 529)}, model.KindOverloaded, 529, "busy"},
		"too large":  {[]any{problem("invalid_request", 413), ended("Request too large", 413)}, model.KindTooLong, 413, "large"},
		"forbidden":  {[]any{ended("API Error: 403", 403)}, model.KindAuth, 403, "403"},
		"late":       {[]any{problem("unknown", 0), ended("API Error: this is a test", 0)}, model.KindServer, 0, "test"},
		"timeout":    {[]any{problem("unknown", 0), ended("API Error: Request timed out.", 0)}, model.KindConnection, 0, "timed"},
		"overload":   {[]any{problem("overloaded", 529), ended("API Error: busy", 529)}, model.KindOverloaded, 529, "busy"},
		"too long":   {[]any{problem("invalid_request", 400), ended("Prompt is too long · about", 400)}, model.KindTooLong, 400, "too long"},
		"credit":     {[]any{problem("billing_error", 400), ended("Credit balance is too low", 400)}, model.KindQuota, 400, "Credit"},
		"invalid":    {[]any{ended("API Error: no such model \x1b[31m", 404)}, model.KindInvalid, 404, `\x1b[31m`},
		"server":     {[]any{ended("API Error: 500", 500)}, model.KindServer, 500, "500"},
		"no network": {[]any{problem("server_error", 0), lost()}, model.KindConnection, 0, "Connection"},
		"execution":  {[]any{object{"type": "result", "subtype": "error_during_execution", "is_error": true, "errors": []string{"boom"}, "session_id": "s"}}, model.KindServer, 0, "boom"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, m := newWorld(t, &claudecli.Options{CLI: &claude.Options{Env: []string{"ANTHROPIC_API_KEY=hush-hush-hush"}}}, func(f *fake) {
					f.prompt()
					f.write(test.lines...)
				})
				e := fails(t, t.Context(), m, hi())
				if e.Kind != test.kind || e.Status != test.status || !strings.Contains(e.Text, test.text) || strings.Contains(e.Error(), "hush-hush") {
					t.Errorf("%+v", e)
				}
			})
		})
	}
}

func TestRetryAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, m := newWorld(t, nil, func(f *fake) {
			f.prompt()
			f.write(object{"type": "rate_limit_event", "session_id": "s", "rate_limit_info": object{"status": "rejected", "resetsAt": time.Now().Add(time.Hour).Unix()}})
			f.result("You've hit your limit", object{"is_error": true})
		})
		if e := fails(t, t.Context(), m, hi()); e.Kind != model.KindRateLimit || e.RetryAfter != time.Hour {
			t.Errorf("%+v", e)
		}
	})
}

// TestExit: the end of the process is reported without its control characters
// and secrets.
func TestExit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, m := newWorld(t, &claudecli.Options{CLI: &claude.Options{Env: []string{"ANTHROPIC_API_KEY=hush-hush-hush"}}}, func(f *fake) {
			f.prompt()
			f.failure = errExit
		})
		e := fails(t, t.Context(), m, hi())
		if text := e.Error(); e.Kind != model.KindConnection || !errors.Is(e, errExit) || !strings.Contains(text, `bad \x1b[31m thing`) ||
			strings.Contains(text, "abcdefghij") || strings.Contains(text, "hush") {
			t.Errorf("%v", e)
		}
	})
}

// TestCancel: no process is left when ctx ends, while the model writes and while
// a call waits.
func TestCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, m := newWorld(t, nil, func(f *fake) {
			f.prompt()
			f.write(event(object{"type": "message_start", "message": object{}}))
			f.take(func(object) bool { return false }) // answers interrupts
		})
		ctx, cancel := context.WithCancel(t.Context())
		go func() { synctest.Wait(); cancel() }()
		if e := fails(t, ctx, m, hi()); !errors.Is(e, context.Canceled) {
			t.Errorf("%+v", e)
		}
		if n := w.running(); n != 0 {
			t.Errorf("%d CLIs run", n)
		}
	})
}

// TestStarting: a CLI that does not start ends when ctx does, and when the model
// is closed.
func TestStarting(t *testing.T) {
	for name, end := range map[string]func(m *claudecli.Model, cancel func()){
		"the context": func(_ *claudecli.Model, cancel func()) { cancel() },
		"the model":   func(m *claudecli.Model, _ func()) { _ = m.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, m := newWorld(t, nil, func(*fake) {})
				w.mute = true
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				ended := 0
				go func() {
					synctest.Wait()
					end(m, cancel)
					ended = w.running()
				}()
				fails(t, ctx, m, hi())
				synctest.Wait()
				if n := w.running(); n != 0 || name == "the model" && ended != 0 {
					t.Errorf("%d CLIs run, and %d ran when the model was closed", n, ended)
				}
			})
		})
	}
}

// TestLeave: no process is left when the loop is left.
func TestLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, m := newWorld(t, nil, func(f *fake) {
			f.prompt()
			f.say("end_turn", text("hello"))
			f.take(func(object) bool { return false })
		})
		for range m.Stream(t.Context(), hi()) {
			break
		}
		if n := w.running(); n != 0 {
			t.Errorf("%d CLIs run", n)
		}
	})
}

// TestClose ends a stream, and sessions whose calls wait.
func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, m := newWorld(t, nil, func(f *fake) {
			f.prompt()
			f.say("tool_use", use("toolu_1", "add", five))
			f.call("toolu_1", "add", five)
			f.take(func(object) bool { return false })
		}, func(f *fake) {
			f.prompt()
			f.take(func(object) bool { return false })
		})
		r := hi()
		r.Tools = tools(t)
		respond(t, m, r)
		go func() {
			synctest.Wait()
			if err := m.Close(); err != nil {
				t.Error(err)
			}
		}()
		if e := fails(t, t.Context(), m, hi()); e.Kind != model.KindConnection {
			t.Errorf("%+v", e)
		}
		synctest.Wait()
		if n := w.running(); n != 0 {
			t.Errorf("%d CLIs run", n)
		}
	})
}

func TestClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, m := newWorld(t, nil)
		if err := m.Close(); err != nil {
			t.Error(err)
		}
		if e := fails(t, t.Context(), m, hi()); e.Kind != model.KindInvalid || !strings.Contains(e.Error(), "the model is closed") {
			t.Errorf("%+v", e)
		}
	})
}

func TestMissing(t *testing.T) {
	m := claudecli.New("", &claudecli.Options{CLI: &claude.Options{CLI: t.TempDir() + "/claude"}})
	defer m.Close()
	if e := fails(t, t.Context(), m, hi()); e.Kind != model.KindInvalid {
		t.Errorf("%+v", e)
	}
}

// TestCheck: what the CLI does not take is not sent.
func TestCheck(t *testing.T) {
	_, m := newWorld(t, nil)
	for want, r := range map[string]*model.Request{
		"the conversation is empty": {},
		"empty prompt":              {Messages: []*model.Message{model.UserText(" \n")}},
		"unknown effort":            {Effort: "most", Messages: []*model.Message{model.UserText("hi")}},
		"maximum of tokens":         {MaxTokens: -1, Messages: []*model.Message{model.UserText("hi")}},
		"has no result": {Messages: []*model.Message{model.UserText("hi"),
			{Role: model.RoleAssistant, Parts: []model.Part{{Type: model.TypeCall, ID: "c", Name: "add"}}}, model.UserText("and?")}},
	} {
		if err := m.Check(r); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
		if e := fails(t, t.Context(), m, r); e.Kind != model.KindInvalid {
			t.Errorf("%+v", e)
		}
	}
	r := &model.Request{Effort: "high", Messages: []*model.Message{model.UserText("hi"),
		{Role: model.RoleAssistant, Parts: []model.Part{{Type: model.TypeCall, ID: "c", Name: "add"}}},
		results(toolpost.TextResult("1").Message("c"))}}
	if err := m.Check(r); err != nil {
		t.Error(err)
	}
}

// TestLongResponse has a CLI that streams more than a model writes, and one that
// sends more calls.
func TestLongResponse(t *testing.T) {
	piece := strings.Repeat("x", 64<<10)
	for name, write := range map[string]func(f *fake){
		"text": func(f *fake) {
			f.write(event(object{"type": "message_start", "message": object{"usage": counter}}),
				event(object{"type": "content_block_start", "index": 0, "content_block": text("")}))
			for range 200 {
				f.write(event(object{"type": "content_block_delta", "index": 0, "delta": object{"type": "text_delta", "text": piece}}))
			}
		},
		"calls": func(f *fake) {
			for range 2100 {
				f.write(frame(use("c", "add", object{})))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, m := newWorld(t, nil, func(f *fake) {
					f.prompt()
					write(f)
					f.take(func(object) bool { return false })
				})
				if e := fails(t, t.Context(), m, hi()); e.Temporary() || !strings.Contains(e.Error(), "no model writes") {
					t.Errorf("the error is %v", e)
				}
			})
		})
	}
}

package gateway_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/gateway"
	"github.com/toolpost/toolpost/redmine"
	"github.com/toolpost/toolpost/upstream"
)

// A tracker answers as Redmine does to "who am I", once its key is good.
type tracker struct{ good atomic.Bool }

func (k *tracker) RoundTrip(r *http.Request) (*http.Response, error) {
	status, body := http.StatusUnauthorized, ""
	if k.good.Load() {
		status, body = http.StatusOK, `{"user":{"id":1,"login":"admin"},"issue_statuses":[]}`
	}
	return &http.Response{StatusCode: status, Request: r, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}, nil
}

// TestRedmine: the tools are there from the start, tell what is wrong, and work
// once Redmine takes the key.
func TestRedmine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var k tracker
		server := func(readOnly bool) *config.Config {
			return &config.Config{Servers: []config.Server{{
				Config: upstream.Config{Name: "work", Transport: "redmine"},
				Source: &config.Source{URL: "http://redmine.test", Key: "s3cret", Transport: &k, ReadOnly: readOnly},
			}}}
		}
		g, err := gateway.Start(t.Context(), server(false), &gateway.Options{
			Logger: slog.New(slog.DiscardHandler), OpenSource: func(s *config.Server) (toolpost.Toolset, error) { return redmine.New((*redmine.Options)(s.Source)) },
		})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := g.Close(); err != nil {
				t.Error(err)
			}
		}()
		wait, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := g.Ready(wait); err != nil {
			t.Fatal(err)
		}
		status := func() upstream.Status { synctest.Wait(); return g.Status()[0] }
		if s := status(); s.State != upstream.Failed || s.Err == nil || s.Retry.IsZero() || s.Transport != "redmine" {
			t.Errorf("without a good key: %+v", s)
		}
		tools := names(g)
		if !slices.Contains(tools, "work__get_issue") || !slices.Contains(tools, "work__update_issue") {
			t.Errorf("the tools are %q", tools)
		}
		r, err := g.Live().Call(t.Context(), &toolpost.Call{Name: "work__get_issue", Arguments: []byte(`{"id":"1"}`)})
		if err != nil {
			t.Fatal(err)
		}
		if text, _ := r.FirstText(); !r.IsError() || !strings.Contains(text, "does not accept the credentials") {
			t.Errorf("the call says %q", text)
		}

		k.good.Store(true)
		time.Sleep(time.Hour)
		if s := status(); s.State != upstream.Ready || s.Err != nil || s.Tools != len(tools) {
			t.Errorf("with a good key: %+v", s)
		}
		var prompts []string
		for _, p := range g.Live().Features().Prompts {
			prompts = append(prompts, p.Name)
		}
		if !slices.Contains(prompts, "work__triage") {
			t.Errorf("the prompts are %q", prompts)
		}

		k.good.Store(false)
		time.Sleep(10 * time.Minute)
		if s := status(); s.State != upstream.Failed || s.Err == nil {
			t.Errorf("after the key was withdrawn: %+v", s)
		}
		k.good.Store(true)
		time.Sleep(time.Hour)

		if err := g.Reload(t.Context(), server(true)); err != nil {
			t.Fatal(err)
		}
		status()
		if tools := names(g); slices.Contains(tools, "work__update_issue") {
			t.Errorf("read only, the tools are %q", tools)
		}
	})
}

// TestSourceOfUnknownType: a server of a type that the program does not have fails, and the
// others are served.
func TestSourceOfUnknownType(t *testing.T) {
	cfg, err := config.Parse("toolpost.json", []byte(`{"mcpServers": {
		"work": {"type": "redmine", "url": "http://127.0.0.1:1", "apiKey": "key"},
		"a": {"command": "x"}}}`), func(string) (string, bool) { return "", false })
	if err != nil {
		t.Fatal(err)
	}
	g, f := open(t, cfg)
	f.last("a").connect("ping")
	if s := g.Status()[0]; s.State != upstream.Failed || !strings.Contains(s.Err.Error(), `server "work": this program has no tools for servers of the type "redmine"`) {
		t.Errorf("the status is %+v", s)
	}
	if s := g.Status()[1]; s.State != upstream.Ready {
		t.Errorf("the other is %+v", s)
	}
}

// A panicking source is one whose check panics.
type panicking struct{ toolpost.Toolset }

func (panicking) Check(context.Context) error { panic("odd") }

// TestSourceThatPanics: the tools are listed, and the status has the reason.
func TestSourceThatPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := &config.Config{Servers: []config.Server{{Config: upstream.Config{Name: "a", Transport: "odd"}, Source: &config.Source{}}}}
		g, err := gateway.Start(t.Context(), cfg, &gateway.Options{
			Logger: slog.New(slog.DiscardHandler),
			OpenSource: func(*config.Server) (toolpost.Toolset, error) {
				return panicking{toolpost.Tools{tool("ping", "a")}}, nil
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		defer g.Close()
		if err := g.Ready(t.Context()); err != nil {
			t.Fatal(err)
		}
		if s := g.Status()[0]; s.State != upstream.Failed || s.Reason() != "it panicked: odd" || s.Tools != 1 {
			t.Errorf("the status is %+v", s)
		}
		if got := call(g, "a__ping"); got != "a ping" {
			t.Errorf("the tool answers %q", got)
		}
	})
}

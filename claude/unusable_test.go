package claude_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/claude"
)

func TestNoGoodToolset(t *testing.T) {
	panics := toolpost.ToolsetFunc(func(context.Context) ([]*toolpost.Tool, error) { panic("boom") })
	for want, tools := range map[string]toolpost.Toolset{
		"tool 2 of 2 is nil": append(letters("a"), nil),
		"boom":               panics,
		"no handler":         toolpost.Tools{{}},
		"no toolset":         nil,
	} {
		if _, err := claude.NewServer(t.Context(), "", tools, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("a server: %v, want %q", err, want)
		}
		if tools == nil {
			continue
		}
		if _, err := claude.Collect(claude.Run(t.Context(), "hi", &claude.Options{Toolset: tools})); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("a run: %v, want %q", err, want)
		}
		m := claude.NewModel(nil)
		m.SetToolset("", tools)
		if _, err := m.Request(t.Context(), &claude.Request{Prompt: "hi"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("a model: %v, want %q", err, want)
		}
	}
	if _, err := claude.NewModel(nil).Request(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "the request is nil") {
		t.Errorf("no request: %v", err)
	}
}

func TestClosedServer(t *testing.T) {
	s, err := claude.NewServer(t.Context(), "", letters("a"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	const want = `the server "tools" is closed`
	_, err = claude.Collect(claude.Run(t.Context(), "hi", &claude.Options{Servers: []*claude.Server{s}}))
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("a run: %v", err)
	}
	if err := s.Refresh(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("refreshed: %v", err)
	}
	if err := new(claude.Server).Refresh(t.Context()); err == nil {
		t.Error("an empty server is refreshed")
	}
}

// TestModelWaitsForTools: listing the tools is a part of the request.
func TestModelWaitsForTools(t *testing.T) {
	slow := toolpost.ToolsetFunc(func(ctx context.Context) ([]*toolpost.Tool, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	})
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		m := claude.NewModel(&claude.ModelOptions{Timeout: 3 * time.Second})
		m.SetToolset("", slow)
		_, err := m.Request(t.Context(), &claude.Request{Prompt: "hi"})
		var late *claude.TimeoutError
		if took := time.Since(began); !errors.As(err, &late) || took != 3*time.Second {
			t.Errorf("after %v: %v", took, err)
		}
		m = claude.NewModel(&claude.ModelOptions{Interrupted: func() bool { return time.Since(began) > 5*time.Second }})
		m.SetToolset("", slow)
		_, err = m.Request(t.Context(), &claude.Request{Prompt: "hi"})
		if took := time.Since(began); !errors.Is(err, claude.ErrInterrupted) || took > 5500*time.Millisecond {
			t.Errorf("after %v: %v", took, err)
		}
	})
}

func TestEmptyPrompt(t *testing.T) {
	for _, prompt := range []string{"", " \n"} {
		_, err := claude.Collect(claude.Run(t.Context(), prompt, options(t, "model")))
		if err == nil || !strings.Contains(err.Error(), "the prompt is empty") {
			t.Errorf("%q: %v", prompt, err)
		}
	}
}

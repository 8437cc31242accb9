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
		if _, err := claude.Do(t.Context(), "hi", &claude.Options{Toolset: tools}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("a run: %v, want %q", err, want)
		}
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
	_, err = claude.Do(t.Context(), "hi", &claude.Options{Servers: []*claude.Server{s}})
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

// TestRunWaitsForTools: listing the tools is a part of the run, and ends with its context.
func TestRunWaitsForTools(t *testing.T) {
	slow := toolpost.ToolsetFunc(func(ctx context.Context) ([]*toolpost.Tool, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	})
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		_, err := claude.Do(ctx, "hi", &claude.Options{Toolset: slow})
		if took := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || took != 3*time.Second {
			t.Errorf("after %v: %v", took, err)
		}
	})
}

func TestEmptyPrompt(t *testing.T) {
	for _, prompt := range []string{"", " \n"} {
		_, err := claude.Do(t.Context(), prompt, options(t, "picked tools"))
		if err == nil || !strings.Contains(err.Error(), "the prompt is empty") {
			t.Errorf("%q: %v", prompt, err)
		}
	}
}

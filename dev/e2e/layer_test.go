package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/gateway"
	"github.com/toolpost/toolpost/internal/wire"
	"github.com/toolpost/toolpost/mcpserver"
)

// An audit is a layer of a program: it notes every call, whatever it is for.
type audit struct {
	mu    sync.Mutex
	lines []string
}

func (a *audit) layer(next toolpost.Handler) toolpost.Handler {
	return func(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
		result, err := next(ctx, call)
		a.mu.Lock()
		defer a.mu.Unlock()
		a.lines = append(a.lines, fmt.Sprintf("%s failed=%t", call.Name, err != nil || result.IsError()))
		return result, err
	}
}

// own is a toolset of the program with a prompt.
type own struct{ toolpost.Toolset }

func (own) Features() *toolpost.Features {
	get := func(context.Context, *toolpost.Call) (*toolpost.Result, error) {
		return toolpost.RawResult(json.RawMessage(`{"messages":[]}`)), nil
	}
	return &toolpost.Features{Prompts: []*toolpost.Prompt{{Name: "hello", Definition: json.RawMessage(`{"name":"hello"}`), Get: get}}}
}

// A layer of ten lines sees tools, prompts, resources and extensions alike, of
// servers and of the program itself, in every pair of eras.
func TestAuditLayer(t *testing.T) {
	for _, server := range []string{wire.LastSession, wire.Stateless} {
		for _, client := range []string{wire.LastSession, wire.Stateless} {
			t.Run(server+" to "+client, func(t *testing.T) {
				cfg, err := config.Parse("toolpost.json", []byte(`{"mcpServers":{"x":`+extendedEntry(t, "http", server)+`}}}`), nil)
				if err != nil {
					t.Fatal(err)
				}
				a := &audit{}
				g, err := gateway.Start(t.Context(), cfg, &gateway.Options{Middleware: a.layer})
				if err != nil {
					t.Fatal(err)
				}
				if err := g.Add("own", own{toolpost.Tools{add}}); err != nil {
					t.Fatal(err)
				}
				if err := g.Ready(t.Context()); err != nil {
					t.Fatal(err)
				}
				s, err := mcpserver.New(t.Context(), g.Live(), nil)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() {
					s.Close()
					g.Close()
				})
				c := dial(t, s, "http", client, "audited")
				for _, call := range [][2]string{
					{"tools/call", `{"name":"x__job","arguments":{}}`},
					{"tools/call", `{"name":"own__add","arguments":{"a":1}}`},
					{"tools/call", `{"name":"own__add","arguments":{"a":"x"}}`},
					{"prompts/get", `{"name":"own__hello"}`},
					{"resources/read", `{"uri":"ui://job/view"}`},
					{"skills/list", `{}`},
				} {
					if got := c.result(call[0], call[1]); strings.Contains(got, `"code"`) {
						t.Errorf("%s: %s", call[0], got)
					}
				}
				a.mu.Lock()
				defer a.mu.Unlock()
				want := []string{
					"x__job failed=false", "own__add failed=false", // arguments that do not fit do not reach the layer
					"own__hello failed=false", "ui://job/view failed=false", "skills/list failed=false",
				}
				if diff := cmp.Diff(want, slices.Clone(a.lines)); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}

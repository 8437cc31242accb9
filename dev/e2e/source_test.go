package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/gateway"
	"github.com/toolpost/toolpost/internal/wire"
	"github.com/toolpost/toolpost/mcpserver"
	"github.com/toolpost/toolpost/store"
	"github.com/toolpost/toolpost/upstream"
)

// A notebook is a source whose prompts and resource change.
type notebook struct {
	toolpost.Base
	changed chan string // the URIs that are subscribed to
	prompts chan string // what the next prompt is called
	list    []*toolpost.Prompt
}

func (n *notebook) Tools(context.Context) ([]*toolpost.Tool, error) {
	return []*toolpost.Tool{add}, nil
}

func (n *notebook) Features() *toolpost.Features {
	select {
	case name := <-n.prompts:
		n.list = append(slices.Clip(n.list), &toolpost.Prompt{Name: name, Get: answers(`{"messages":[]}`)})
	default:
	}
	return &toolpost.Features{
		Prompts:   n.list,
		Resources: []*toolpost.Resource{{URI: "note://1", Definition: json.RawMessage(`{"name":"one"}`), Read: answers(`{"contents":[{"uri":"note://1","text":"one"}]}`)}},
		Subscribe: func(_ context.Context, uri string, _ bool) error {
			n.changed <- uri
			return nil
		},
	}
}

func answers(result string) toolpost.Handler {
	return func(context.Context, *toolpost.Call) (*toolpost.Result, error) {
		return toolpost.RawResult(json.RawMessage(result)), nil
	}
}

// A server is served through layers without a gateway: its tools, prompts and
// resources, their changes, and one audit layer around all of them.
func TestServeAnUpstream(t *testing.T) {
	for _, version := range []string{wire.LastSession, wire.Stateless} {
		t.Run(version, func(t *testing.T) {
			n := &notebook{changed: make(chan string, 9), prompts: make(chan string, 9)}
			n.prompts <- "first"
			behind, err := upstream.Start(&upstream.Config{Name: "behind", URL: serve(t, n) + "/mcp", ProtocolVersion: version}, nil)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { behind.Close() })
			a := &audit{}
			front := serve(t, toolpost.Wrap(toolpost.Join(toolpost.Prefix(behind, "far_"), toolpost.Tools{greet}), a.layer))
			c := connect(t, &upstream.Config{Name: "client", URL: front + "/mcp", ProtocolVersion: version}, nil)
			events := make(chan toolpost.Event, 99)
			c.Watch(func(e toolpost.Event) { events <- e })
			until := func(what string, ok func(toolpost.Event) bool) {
				t.Helper()
				for deadline := time.After(time.Minute); ; {
					select {
					case e := <-events:
						if ok(e) {
							return
						}
					case <-deadline:
						t.Fatalf("never: %s", what)
					}
				}
			}
			prompts := func(toolpost.Event) bool {
				var names []string
				for _, p := range c.Features().Prompts {
					names = append(names, p.Name)
				}
				return strings.Join(names, " ") == "far_first far_second"
			}

			call(t, c, &toolpost.Call{Name: "far_add", Arguments: json.RawMessage(`{"a":1}`)})
			f := c.Features()
			for name, h := range map[string]toolpost.Handler{"far_first": f.Prompts[0].Get, "note://1": f.Resources[0].Read} {
				if _, err := h(t.Context(), &toolpost.Call{Name: name}); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
			a.mu.Lock()
			slices.Sort(a.lines)
			if want := []string{"far_add failed=false", "far_first failed=false", "note://1 failed=false"}; !slices.Equal(a.lines, want) {
				t.Errorf("the layer saw %q", a.lines)
			}
			a.mu.Unlock()

			if err := f.Subscribe(t.Context(), "note://1", true); err != nil {
				t.Fatal(err)
			}
			n.Notify(toolpost.Event{Resource: <-n.changed})
			until("an update of the resource", func(e toolpost.Event) bool { return e.Resource == "note://1" })
			n.prompts <- "second"
			n.Notify(toolpost.Event{})
			until("a second prompt", prompts)
		})
	}
}

// A resource is whole or refused: a client never gets more than the limit, and
// nothing is cut.
func TestLargeResource(t *testing.T) {
	page := func(size int) *toolpost.Resource {
		uri := fmt.Sprint("page://", size)
		return &toolpost.Resource{URI: uri, Read: answers(`{"contents":[{"uri":"` + uri + `","text":"` + strings.Repeat("x", size) + `"}]}`)}
	}
	behind, err := mcpserver.New(t.Context(), &toolpost.Features{Resources: []*toolpost.Resource{page(4 << 20), page(50 << 20)}}, &mcpserver.Options{Limits: mcpserver.Limits{Read: 1 << 30}})
	if err != nil {
		t.Fatal(err)
	}
	h := httptest.NewServer(behind)
	t.Cleanup(func() { behind.Close(); h.Close() })
	kept, err := store.Dir(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	g, err := gateway.Start(t.Context(), &config.Config{Servers: []config.Server{
		{Config: upstream.Config{Name: "pages", URL: h.URL + "/mcp"}},
	}}, &gateway.Options{Store: kept, Spool: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	if err := g.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	c := connect(t, &upstream.Config{Name: "client", URL: serve(t, g.Live()) + "/mcp"}, nil)
	for _, r := range c.Features().Resources {
		result, err := r.Read(t.Context(), &toolpost.Call{Name: r.URI})
		switch {
		case strings.HasSuffix(r.URI, fmt.Sprint(50<<20)):
			if err == nil || !strings.Contains(err.Error(), "the limit is 8388608") {
				t.Errorf("%s: %v", r.URI, err)
			}
		case err != nil:
			t.Error(err)
		default:
			if raw, err := result.MarshalJSON(); err != nil || len(raw) < 4<<20 {
				t.Errorf("%s: %d bytes, %v", r.URI, len(raw), err)
			}
		}
	}
	if n := len(c.Features().Resources); n != 2 {
		t.Errorf("%d resources", n)
	}
}

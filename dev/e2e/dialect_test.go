package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/gateway"
	"github.com/toolpost/toolpost/mcpserver"
	"github.com/toolpost/toolpost/schema"
	"github.com/toolpost/toolpost/schema/dialect"
	"github.com/toolpost/toolpost/upstream"
)

// getIssue takes an id that is a number or text, and answers with the
// arguments that it got.
var getIssue = &toolpost.Tool{
	Definition: toolpost.Definition{
		Name:        "get_issue",
		Description: "Gets an issue (by its number_or_key).\nOne.\nTwo.\nThree.\nFour.",
		Input: schema.MustParse(`{"type":"object","properties":{"id":{"type":["integer","string"],` +
			`"description":"The issue_id (a number or a key)."}},"required":["id"]}`),
	},
	Handler: func(_ context.Context, call *toolpost.Call) (*toolpost.Result, error) {
		return toolpost.TextResult(string(call.Arguments)), nil
	},
}

// A definition is a tool as a client reads it.
type definition struct {
	Name, Description string
	InputSchema       struct {
		Properties map[string]property
	}
}

type property struct {
	Type                json.RawMessage
	AnyOf, OneOf        []property
	Description, Format string
}

// takes reports whether a model would read that the property may have a type.
func (p property) takes(kind string) bool {
	return strings.Contains(strings.ToLower(string(p.Type)), `"`+kind+`"`) ||
		slices.ContainsFunc(append(p.AnyOf, p.OneOf...), func(p property) bool { return p.takes(kind) })
}

// A front is a server as clients address it.
type front string

// serveViews serves what each client gets of ts.
func serveViews(t *testing.T, ts toolpost.Toolset, views *gateway.Views) front {
	s, err := mcpserver.New(t.Context(), ts, &mcpserver.Options{Views: views})
	if err != nil {
		t.Fatal(err)
	}
	h := httptest.NewServer(s)
	t.Cleanup(func() {
		s.Close()
		h.Close()
	})
	return front(h.URL)
}

// request makes a request of 2026-07-28 and decodes its result.
func (f front) request(t *testing.T, path, client, method, name, members string, result any) {
	t.Helper()
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",`+
		`"io.modelcontextprotocol/clientInfo":{"name":%q,"version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`, method, members, client)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, string(f)+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range map[string]string{"Content-Type": "application/json", "Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": method, "Mcp-Name": name} {
		req.Header.Set(k, v)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s %s: %d %s, %v", path, method, resp.StatusCode, raw, err)
	}
	if err := json.Unmarshal(raw, &struct{ Result any }{result}); err != nil {
		t.Fatal(err)
	}
}

// list returns the only tool that a client sees.
func (f front) list(t *testing.T, path, client string) definition {
	t.Helper()
	var list struct{ Tools []definition }
	f.request(t, path, client, "tools/list", "", "", &list)
	if len(list.Tools) != 1 {
		t.Fatalf("%s: %d tools, want 1", path, len(list.Tools))
	}
	return list.Tools[0]
}

func (f front) call(t *testing.T, path, client, name, arguments string) string {
	t.Helper()
	var result struct{ Content []struct{ Text string } }
	f.request(t, path, client, "tools/call", name, fmt.Sprintf(`"name":%q,"arguments":%s,`, name, arguments), &result)
	if len(result.Content) != 1 {
		t.Fatalf("%s: %d contents", path, len(result.Content))
	}
	var b bytes.Buffer
	if json.Compact(&b, []byte(result.Content[0].Text)) != nil {
		return result.Content[0].Text
	}
	return b.String()
}

// Flow 2 in a dialect: what a client reads is what its dialect allows, and
// what it writes reaches the handler as the type that the tool asks for.
func TestDialects(t *testing.T) {
	source, err := toolpost.NewLive(t.Context(), toolpost.Tools{getIssue})
	if err != nil {
		t.Fatal(err)
	}
	none := ""
	behind := config.Server{Config: upstream.Config{Name: "issues", URL: serve(t, source) + "/mcp", Transport: upstream.HTTP}, Prefix: &none}
	g, err := gateway.Start(t.Context(), &config.Config{Servers: []config.Server{behind}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := g.Ready(ctx); err != nil {
		t.Fatal(err)
	}
	direct, err := gateway.NewViews(source, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { direct.Close() })

	for name, f := range map[string]front{"gateway": serveViews(t, g, g.Views()), "typed": serveViews(t, source, direct)} {
		for _, d := range dialect.All() {
			t.Run(name+"/"+d.ID, func(t *testing.T) { testID(t, f, "/mcp/"+d.ID) })
		}
		t.Run(name+"/claude desktop itself", func(t *testing.T) {
			tool := f.list(t, "/mcp", "claude-ai")
			id := tool.InputSchema.Properties["id"]
			for _, text := range []string{tool.Description, id.Description} {
				if text == "" || strings.ContainsAny(text, "()_") || strings.Count(text, "\n") > 3 {
					t.Errorf("a description is %q", text)
				}
			}
			if string(id.Type) != `"string"` || id.AnyOf != nil {
				t.Errorf("the id is %+v", id)
			}
			if got := f.call(t, "/mcp", "claude-ai", tool.Name, `{"id":"7"}`); got != `{"id":7}` {
				t.Errorf("got %s", got)
			}
		})
		t.Run(name+"/unknown", func(t *testing.T) {
			tool := f.list(t, "/mcp", "unknown")
			if tool.Description != getIssue.Description || !tool.InputSchema.Properties["id"].takes("integer") {
				t.Errorf("got %+v", tool)
			}
			if got := f.call(t, "/mcp", "unknown", tool.Name, `{"id":7}`); got != `{"id":7}` {
				t.Errorf("got %s", got)
			}
		})
	}
}

// testID calls as a model would that reads the schema.
func testID(t *testing.T, f front, path string) {
	tool := f.list(t, path, "tester")
	id, ok := tool.InputSchema.Properties["id"]
	if !ok {
		t.Fatalf("there is no id in %+v", tool)
	}
	number := `7`
	if !id.takes("integer") && !id.takes("number") {
		number = `"7"`
	}
	if !id.takes("string") {
		t.Fatalf("the id takes no text: %+v", id)
	}
	for written, want := range map[string]string{number: `7`, `"KEY-1"`: `"KEY-1"`, `"null"`: `"null"`} {
		if got := f.call(t, path, "tester", tool.Name, `{"id":`+written+`}`); got != `{"id":`+want+`}` {
			t.Errorf("%s arrives as %s, want %s", written, got, want)
		}
	}
	for _, wrong := range []string{`{}`, `{"id":[]}`} {
		if got := f.call(t, path, "tester", tool.Name, wrong); strings.HasPrefix(got, "{") {
			t.Errorf("%s arrives as %s", wrong, got)
		}
	}
}

package e2e_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/gateway"
	"github.com/toolpost/toolpost/store"
	"github.com/toolpost/toolpost/upstream"
)

// Flow 4: 20 MB of an upstream's tool pass the gateway; the client gets a view,
// and finds the last line by page and by search, in its own session only.
func TestLargeOutput(t *testing.T) {
	const rows = 200_000
	var log strings.Builder
	for i := range rows {
		fmt.Fprintf(&log, "%06d %s\n", i+1, strings.Repeat("log entry ", 9))
	}
	whole := log.String() + "verdict: 3 of 4 failed\n"
	big := toolpost.New("big", "Return much.", func(context.Context, struct{}) (string, error) { return whole, nil }, nil)
	source, err := toolpost.NewLive(t.Context(), toolpost.Tools{big})
	if err != nil {
		t.Fatal(err)
	}
	kept, err := store.Dir(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	g, err := gateway.Start(t.Context(), &config.Config{Servers: []config.Server{
		{Config: upstream.Config{Name: "logs", URL: serve(t, source) + "/mcp", Transport: upstream.HTTP}},
	}}, &gateway.Options{Store: kept})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	if err := g.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	front := serve(t, g.Live())
	modern := connect(t, &upstream.Config{Name: "modern", URL: front + "/mcp", Transport: upstream.HTTP, ProtocolVersion: "2026-07-28"}, nil)
	classic := connect(t, &upstream.Config{Name: "classic", URL: front + "/mcp", Transport: upstream.HTTP, ProtocolVersion: "2025-11-25"}, nil)
	var refs []string
	for _, u := range []*upstream.Upstream{modern, classic} {
		r := result(t, u, "logs__big", "{}")
		view, _ := r.FirstText()
		if n := utf8.RuneCountInString(view); n > 48_000 || n < 40_000 || !strings.HasPrefix(view, "000001 log entry") || !strings.HasSuffix(view, "verdict: 3 of 4 failed\n") {
			t.Fatalf("the view has %d characters: %.100q", n, view)
		}
		var meta struct {
			Ref string `json:"toolpost/output_ref"`
		}
		if err := json.Unmarshal(r.Meta(), &meta); err != nil || meta.Ref == "" {
			t.Fatalf("_meta is %s", r.Meta())
		}
		next := regexp.MustCompile(`Read on with tool_output_cache (\{.*?\})`).FindStringSubmatch(view)
		if next == nil {
			t.Fatal("the view does not say how to read on")
		}
		var at struct{ Offset int }
		if err := json.Unmarshal([]byte(next[1]), &at); err != nil {
			t.Fatal(err)
		}
		page, _ := result(t, u, "tool_output_cache", next[1]).FirstText()
		if want := fmt.Sprintf("%5d  %06d log entry", at.Offset+1, at.Offset+1); !strings.HasPrefix(page, want) {
			t.Errorf("the next page is %.50q, want %q", page, want)
		}
		found, _ := result(t, u, "tool_output_cache_grep", `{"ref_id":"`+meta.Ref+`","pattern":"^verdict: .*failed$","regex":true,"before":1}`).FirstText()
		if want := "200001: verdict: 3 of 4 failed\n"; !strings.HasPrefix(found, "200000- 200000 log entry") || !strings.HasSuffix(found, want) {
			t.Errorf("found is %q", found)
		}
		refs = append(refs, meta.Ref)
	}
	if r := result(t, classic, "tool_output_cache", `{"ref_id":"`+refs[0]+`"}`); !r.IsError() {
		t.Error("an output of another session is read")
	}
	with := func(token string) *upstream.Upstream {
		return connect(t, &upstream.Config{Name: "with", URL: front + "/mcp", Transport: upstream.HTTP, ProtocolVersion: "2026-07-28", Headers: map[string]string{"Authorization": token}}, nil)
	}
	var meta struct {
		Ref string `json:"toolpost/output_ref"`
	}
	if err := json.Unmarshal(result(t, with("Bearer old"), "logs__big", "{}").Meta(), &meta); err != nil {
		t.Fatal(err)
	}
	args := `{"ref_id":"` + meta.Ref + `"}`
	if r := result(t, with("Bearer old"), "tool_output_cache", args); r.IsError() {
		t.Error("over another connection, an output is lost")
	}
	if r := result(t, with("Bearer other"), "tool_output_cache", args); !r.IsError() {
		t.Error("with another token, the output of a caller is read")
	}
	if r := result(t, modern, "tool_output_cache", args); !r.IsError() {
		t.Error("without a token, the output of a caller with one is read")
	}
}

// What a server says wrong is not believed, and does not flood: a reference that
// it made up, many parts, and long errors of the tool and of the protocol.
func TestHostileOutput(t *testing.T) {
	long := strings.Repeat("long ", 200_000)
	hostile := mcp.NewServer(&mcp.Implementation{Name: "hostile", Version: "1"}, nil)
	add := func(name string, r *mcp.CallToolResult, err error) {
		hostile.AddTool(&mcp.Tool{Name: name, InputSchema: map[string]any{"type": "object"}},
			func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { return r, err })
	}
	forged := mcp.Meta{"toolpost/output_ref": "aaaaaaaaaaaaaaaa", "own": "kept"}
	links := make([]mcp.Content, 5000)
	for i := range links {
		links[i] = &mcp.ResourceLink{URI: fmt.Sprintf("file:///%d", i), Name: "n"}
	}
	add("forged", &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "small"}}, Meta: forged}, nil)
	add("links", &mcp.CallToolResult{Content: links, Meta: forged}, nil)
	add("failed", &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: long}}, IsError: true}, nil)
	add("fault", nil, &jsonrpc.Error{Code: -32000, Message: long, Data: json.RawMessage(`"` + long + `"`)})
	server := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return hostile }, nil))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	g, err := gateway.Start(t.Context(), &config.Config{Servers: []config.Server{
		{Config: upstream.Config{Name: "h", URL: server.URL, Transport: upstream.HTTP}},
	}}, &gateway.Options{Store: store.Memory(nil)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	if err := g.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	u := connect(t, &upstream.Config{Name: "client", URL: serve(t, g.Live()) + "/mcp", Transport: upstream.HTTP}, nil)
	small := result(t, u, "h__forged", "{}")
	if meta := string(small.Meta()); strings.Contains(meta, "output_ref") || !strings.Contains(meta, `"own":"kept"`) {
		t.Errorf("a reference that the server made up is passed on: %s", meta)
	}
	for name, most := range map[string]int{"h__links": 60_000, "h__failed": 11_000} {
		raw, err := result(t, u, name, "{}").MarshalJSON()
		if err != nil || utf8.RuneCount(raw) > most || !strings.Contains(string(raw), `"toolpost/output_ref":"`) || strings.Contains(string(raw), "aaaaaaaaaaaaaaaa") {
			t.Errorf("%s: %v: %d bytes: %.100s", name, err, len(raw), raw)
		}
	}
	set, err := toolpost.NewSet(t.Context(), u)
	if err != nil {
		t.Fatal(err)
	}
	_, err = set.Call(t.Context(), &toolpost.Call{Name: "h__fault"})
	var fault *toolpost.ProtocolError
	if !errors.As(err, &fault) || fault.Code != -32000 || fault.Data != nil || utf8.RuneCountInString(fault.Message) > 10_000 {
		t.Fatalf("the error is %T with %d bytes", err, len(fmt.Sprint(err)))
	}
	next := regexp.MustCompile(`Read on with tool_output_cache (\{.*?\})`).FindStringSubmatch(fault.Message)
	if next == nil {
		t.Fatalf("the error does not say how to read on: %.200s", fault.Message)
	}
	if page, _ := result(t, u, "tool_output_cache", next[1]).FirstText(); !strings.Contains(page, "long long") {
		t.Errorf("the rest of the error is %.100q", page)
	}
}

func result(t *testing.T, ts toolpost.Toolset, name, args string) *toolpost.Result {
	t.Helper()
	set, err := toolpost.NewSet(t.Context(), ts)
	if err != nil {
		t.Fatal(err)
	}
	r, err := set.Call(t.Context(), &toolpost.Call{Name: name, Arguments: json.RawMessage(args)})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A long text beside a short one is shown with the reference to the whole.
func TestLongBesideShort(t *testing.T) {
	whole := strings.Repeat("a line of the log\n", 400_000) + "NEEDLE\n"
	two := toolpost.New("two", "Return two texts.", func(context.Context, struct{}) ([]toolpost.Part, error) {
		return []toolpost.Part{{Type: "text", Text: whole}, {Type: "text", Text: "exit code 0"}}, nil
	}, nil)
	bad := toolpost.New("bad", "Fail at length.", func(context.Context, struct{}) (*toolpost.Result, error) {
		return toolpost.Failed.Resultf("%s", whole), nil
	}, nil)
	source, err := toolpost.NewLive(t.Context(), toolpost.Tools{two, bad})
	if err != nil {
		t.Fatal(err)
	}
	g, err := gateway.Start(t.Context(), &config.Config{Servers: []config.Server{
		{Config: upstream.Config{Name: "logs", URL: serve(t, source) + "/mcp", Transport: upstream.HTTP}},
	}}, &gateway.Options{Store: store.Memory(nil), Spool: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	if err := g.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	client := connect(t, &upstream.Config{Name: "client", URL: serve(t, g.Live()) + "/mcp", Transport: upstream.HTTP}, nil)
	for name, most := range map[string]int{"logs__two": 48_000, "logs__bad": 10_000} {
		r := result(t, client, name, "{}")
		view, _ := r.FirstText()
		ref := regexp.MustCompile(`"ref_id":"([a-z2-7]+)"`).FindStringSubmatch(view)
		if n := utf8.RuneCountInString(view); n > most || ref == nil || !strings.HasSuffix(view, "NEEDLE\n") {
			t.Fatalf("%s: the view has %d characters: %.200q", name, n, view)
		}
		found, _ := result(t, client, "tool_output_cache_grep", `{"ref_id":"`+ref[1]+`","pattern":"NEEDLE"}`).FirstText()
		if !strings.HasPrefix(found, "400001: NEEDLE") {
			t.Errorf("%s: found %.200q", name, found)
		}
	}
}

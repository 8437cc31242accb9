package recording_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/recording"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/gateway"
	"github.com/toolpost/toolpost/mcpserver"
	"github.com/toolpost/toolpost/observe"
	"github.com/toolpost/toolpost/schema"
	"github.com/toolpost/toolpost/upstream"
)

// everything is a server of the official SDK with something of everything.
func everything(t *testing.T) string {
	s := mcp.NewServer(&mcp.Implementation{Name: "everything", Version: "1"}, &mcp.ServerOptions{Instructions: "Use <all> tools & more."})
	calls := 0
	raw := func(name string, f func(args string) *mcp.CallToolResult) {
		s.AddTool(&mcp.Tool{Name: name, Description: "<" + name + "> & more", InputSchema: json.RawMessage(`{"type":"object","properties":{"token":{"type":"string"}}}`)},
			func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				return f(string(r.Params.Arguments)), nil
			})
	}
	text := func(s string) *mcp.CallToolResult {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: s}}}
	}
	raw("echo", text)
	raw("count", func(string) *mcp.CallToolResult { calls++; return text(fmt.Sprint("call ", calls)) })
	raw("fail", func(string) *mcp.CallToolResult { r := text("no <disk>"); r.IsError = true; return r })
	raw("large", func(string) *mcp.CallToolResult { return text(strings.Repeat("line é\n", 30_000)) })
	raw("picture", func(string) *mcp.CallToolResult {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.ImageContent{Data: []byte{1, 2}, MIMEType: "image/png"}}, StructuredContent: map[string]any{"big": int64(9007199254740993), "a<b": true}}
	})
	s.AddPrompt(&mcp.Prompt{Name: "greet", Arguments: []*mcp.PromptArgument{{Name: "who"}}}, func(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: "Hello " + r.Params.Arguments["who"]}}}}, nil
	})
	read := func(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		if strings.HasSuffix(r.Params.URI, "none") {
			return nil, mcp.ResourceNotFoundError(r.Params.URI)
		}
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: r.Params.URI, Text: "at " + r.Params.URI}}}, nil
	}
	s.AddResource(&mcp.Resource{URI: "test://one", Name: "one"}, read)
	s.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: "test://of/{id}", Name: "of"}, read)
	web := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil))
	t.Cleanup(web.Close)
	return web.URL
}

var requests = []string{
	`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`,
	`{"jsonrpc":"2.0","id":3,"method":"prompts/list"}`,
	`{"jsonrpc":"2.0","id":4,"method":"resources/list"}`,
	`{"jsonrpc":"2.0","id":5,"method":"resources/templates/list"}`,
	`{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"all__echo","arguments":{"b": 1.0,"a":[true,"é"]}}}`,
	`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"all__count","arguments":{}}}`,
	`{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"all__count"}}`,
	`{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"all__count","arguments":{}}}`,
	`{"jsonrpc":"2.0","id":10,"method":"tools/call","params":{"name":"all__fail"}}`,
	`{"jsonrpc":"2.0","id":11,"method":"tools/call","params":{"name":"all__large"}}`,
	`{"jsonrpc":"2.0","id":12,"method":"tools/call","params":{"name":"all__picture"}}`,
	`{"jsonrpc":"2.0","id":13,"method":"prompts/get","params":{"name":"all__greet","arguments":{"who":"you"}}}`,
	`{"jsonrpc":"2.0","id":14,"method":"resources/read","params":{"uri":"test://one"}}`,
	`{"jsonrpc":"2.0","id":15,"method":"resources/read","params":{"uri":"test://of/7"}}`,
	`{"jsonrpc":"2.0","id":16,"method":"resources/read","params":{"uri":"test://of/none"}}`,
	`{"jsonrpc":"2.0","id":17,"method":"tools/call","params":{"name":"all__missing"}}`,
}

// ask sends requests one after the other, and returns the answers.
func ask(t *testing.T, ts toolpost.Toolset, requests ...string) []string {
	t.Helper()
	return askObserved(t, ts, nil, requests...)
}

func askObserved(t *testing.T, ts toolpost.Toolset, o observe.Observer, requests ...string) (answers []string) {
	t.Helper()
	server, err := mcpserver.New(t.Context(), ts, &mcpserver.Options{Observe: o})
	if err != nil {
		t.Fatal(err)
	}
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- server.ServeStdio(t.Context(), in, out)
		out.Close()
	}()
	lines := bufio.NewReader(fromServer)
	send := func(message string) {
		if _, err := io.WriteString(toServer, message+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	for i, r := range append([]string{`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`}, requests...) {
		send(r)
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
			continue
		}
		answers = append(answers, line)
	}
	toServer.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if err := server.Close(); err != nil {
		t.Error(err)
	}
	return answers
}

// observed is an observer, which lets a recorder know the methods of requests.
func observed(ctx context.Context, _ *observe.Request) (context.Context, func(*observe.Response)) {
	return ctx, nil
}

// record runs a gateway with a recorder, and returns the answers.
func record(t *testing.T, file string, server upstream.Config, requests ...string) []string {
	t.Helper()
	cfg := &config.Config{Servers: []config.Server{{Config: server}}}
	r, err := recording.Create(file, &recording.Options{Secrets: cfg.Secrets()})
	if err != nil {
		t.Fatal(err)
	}
	g, err := gateway.Start(t.Context(), cfg, &gateway.Options{Middleware: r.Middleware, Spool: t.TempDir(), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.SetCatalogue(g.Live().Set(), func(string) bool { return false })
	answers := askObserved(t, g.Live(), observed, requests...)
	r.SetCatalogue(g.Live().Set(), func(string) bool { return false })
	if err := g.Close(); err != nil {
		t.Error(err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	return answers
}

func read(t *testing.T, file string) *recording.Recording {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	rec, err := recording.Read(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

func player(t *testing.T, file string) *recording.Player {
	t.Helper()
	p, err := recording.NewPlayer(read(t, file))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A replay answers as the gateway did, to the byte.
func TestReplay(t *testing.T) {
	file := filepath.Join(t.TempDir(), "session.jsonl")
	want := record(t, file, upstream.Config{Name: "all", URL: everything(t)}, requests...)
	got := ask(t, player(t, file), requests...)
	for i := range requests {
		if got[i] != want[i] {
			t.Errorf("%s\n got %.500s\nwant %.500s", requests[i], got[i], want[i])
		}
		if strings.Contains(want[i], "-32603") {
			t.Errorf("%s was not answered: %s", requests[i], want[i])
		}
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	rec := read(t, file)
	if len(rec.Calls) != 11 || rec.Calls[0].Server != "" && rec.Calls[0].Server != "all" || rec.Torn {
		t.Errorf("%d calls", len(rec.Calls))
	}
	if _, err := recording.Create(file, nil); err == nil || !strings.Contains(err.Error(), "exists; remove it") {
		t.Error(err)
	}
}

func TestUnknownCalls(t *testing.T) {
	file := filepath.Join(t.TempDir(), "session.jsonl")
	record(t, file, upstream.Config{Name: "all", URL: everything(t)}, requests...)
	const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"all__%s","arguments":{%s}}}`
	p := player(t, file)
	got := ask(t, p, fmt.Sprintf(call, "echo", `"a":1`), fmt.Sprintf(call, "echo", `"a":[true,"é"],"b":1`), fmt.Sprintf(call, "count", ""))
	for i, want := range []string{
		`the recording has no call of \"all__echo\" with these arguments; it has calls with:\n{\"b\": 1.0,\"a\":[true,\"é\"]}`,
		`{\"b\": 1.0,\"a\":[true,\"é\"]}`, // the order of members and the form of numbers do not matter
		`call 1`,
	} {
		if !strings.Contains(got[i], want) {
			t.Errorf("got %s, want %s", got[i], want)
		}
	}
	if got := ask(t, p, fmt.Sprintf(call, "count", ""), fmt.Sprintf(call, "count", ""), fmt.Sprintf(call, "count", "")); !strings.Contains(got[2], "call 3") {
		t.Error(got)
	}
}

// Recorded calls that share arguments with an unknown call are named first.
func TestUnknownCallsNameNearOnes(t *testing.T) {
	rec := &recording.Recording{Catalogue: &recording.Catalogue{Tools: []json.RawMessage{[]byte(`{"name":"a","inputSchema":{"type":"object"}}`)}}}
	for i := range 9 {
		rec.Calls = append(rec.Calls, &recording.Call{Method: "tools/call", Name: "a", Args: fmt.Appendf(nil, `{"n":%d,"of":"%c"}`, i, 'a'+i)})
	}
	p, err := recording.NewPlayer(rec)
	if err != nil {
		t.Fatal(err)
	}
	got := ask(t, p, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"of":"i","n":7.0,"x":1}}}`)
	if want := `calls with:\n{\"n\":7,\"of\":\"h\"}\n{\"n\":8,\"of\":\"i\"}\n{\"n\":0,`; !strings.Contains(got[0], want) || !strings.Contains(got[0], `and 4 more`) || !strings.Contains(got[0], `"isError":true`) {
		t.Errorf("got %s, want %s", got[0], want)
	}
}

func TestSecretsAreNotRecorded(t *testing.T) {
	file := filepath.Join(t.TempDir(), "session.jsonl")
	const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"all__echo","arguments":{"password":"sesame-1","text":"a sesame-2 b"}}}`
	server := upstream.Config{Name: "all", URL: everything(t), Headers: map[string]string{"X-Api-Key": "sesame-2"}}
	if answers := record(t, file, server, call); !strings.Contains(answers[0], "sesame-1") || !strings.Contains(answers[0], "sesame-2") {
		t.Error("the client does not get the secrets that it sent: ", answers)
	}
	data, err := os.ReadFile(file)
	if err != nil || bytes.Contains(data, []byte("sesame")) {
		t.Errorf("%v\n%s", err, data)
	}
	if c := read(t, file).Calls[0]; c.Redacted != 1 || string(c.Args) != `{"password":"[secret]","text":"a [secret] b"}` {
		t.Errorf("%+v", c)
	}
	if got := ask(t, player(t, file), strings.Replace(call, "sesame-2", "[secret]", 1)); !strings.Contains(got[0], `{[secret],\"text\":\"a [secret] b\"}`) {
		t.Error(got)
	}
}

func TestBounds(t *testing.T) {
	file := filepath.Join(t.TempDir(), "session.jsonl")
	var logged bytes.Buffer
	r, err := recording.Create(file, &recording.Options{MaxSize: 1000, Logger: slog.New(slog.NewTextHandler(&logged, nil))})
	if err != nil {
		t.Fatal(err)
	}
	huge := strings.Repeat("x", 9<<20)
	h := r.Middleware(func(_ context.Context, call *toolpost.Call) (*toolpost.Result, error) {
		if call.Name == "huge" {
			return toolpost.TextResult(huge), nil
		}
		return toolpost.TextResult("small"), nil
	})
	for _, name := range []string{"huge", "a", "b", "c", "d", "e", "f", "g"} {
		if result, err := h(t.Context(), &toolpost.Call{Name: name}); err != nil || result.IsError() {
			t.Error(result, err)
		}
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	rec := read(t, file)
	if n := len(rec.Calls); n < 3 || n > 7 || rec.Calls[0].Omitted < 9<<20 || !strings.Contains(logged.String(), "the recording ends here") {
		t.Errorf("%d calls, %+v, %s", n, rec.Calls[0], &logged)
	}
	p, err := recording.NewPlayer(&recording.Recording{Calls: rec.Calls, Catalogue: &recording.Catalogue{Tools: []json.RawMessage{[]byte(`{"name":"huge","inputSchema":{"type":"object"}}`)}}})
	if err != nil {
		t.Fatal(err)
	}
	tools, _ := p.Tools(t.Context())
	if _, err := tools[0].Handler(t.Context(), &toolpost.Call{Name: "huge"}); err == nil || !strings.Contains(err.Error(), "but not its result, which had 9437") {
		t.Error(err)
	}
}

func TestMalformed(t *testing.T) {
	const first = `{"kind":"recording","v":1,"ts":"2026-11-24T00:00:00Z"}` + "\n"
	for data, want := range map[string]string{
		"":            "the file is empty",
		"{}\n":        "line 1: it is not the first line of a recording",
		"{\"a\":1}":   "line 1: unexpected EOF",
		first + "{\n": "line 2: it is not valid JSON",
		first + `{"kind":"new"}` + "\n{\"kind\":\"call\",\"name\":1}\n": "line 3: json: cannot unmarshal",
		strings.Replace(first, `"v":1`, `"v":2`, 1):                     "the recording has version 2, and this program reads version 1",
	} {
		if _, err := recording.Read(strings.NewReader(data)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", data, err, want)
		}
	}
	rec, err := recording.Read(strings.NewReader(first + `{"kind":"call","method":"tools/call","name":"a","result":{"content":[]}}` + "\n" + `{"kind":"call","na`))
	if err != nil || !rec.Torn || len(rec.Calls) != 1 {
		t.Errorf("%+v, %v", rec, err)
	}
	if !recording.Is([]byte(first)) || recording.Is([]byte(`{"tools":[]}`)) {
		t.Error("recordings are not recognized")
	}
}

func FuzzRead(f *testing.F) {
	const first = `{"kind":"recording","v":1,"ts":"2026-11-24T00:00:00Z"}` + "\n"
	f.Add([]byte(first + `{"kind":"catalogue","tools":[{"name":"a","inputSchema":{"type":"object"}}],"prompts":[{"name":"p"}],"resources":[{"uri":"u"}],"templates":[{"uriTemplate":"u{a}"}]}` + "\n"))
	f.Add([]byte(first + `{"kind":"call","method":"tools/call","name":"a","args":{"b":[1]},"result":{"content":[]}}` + "\n" + `{"kind":"call","na`))
	f.Fuzz(func(t *testing.T, data []byte) {
		rec, err := recording.Read(bytes.NewReader(data))
		if err != nil {
			return
		}
		p, err := recording.NewPlayer(rec)
		if err != nil {
			return
		}
		set, err := toolpost.NewSet(t.Context(), p)
		if err != nil {
			return
		}
		for _, c := range rec.Calls {
			if c.Method == "tools/call" && set.Lookup(c.Name) != nil {
				_, _ = set.Call(t.Context(), &toolpost.Call{Name: c.Name, Arguments: c.Args}) // it must not panic
			}
		}
	})
}

func TestBreaking(t *testing.T) {
	const tool = `{"name":"a","inputSchema":%s}`
	catalogue := func(schema string) *recording.Recording {
		return &recording.Recording{Catalogue: &recording.Catalogue{Tools: []json.RawMessage{fmt.Appendf(nil, tool, schema)}}}
	}
	for _, c := range []struct{ before, after, want string }{
		{`{"type":"object"}`, `{"type":"object","properties":{"n":{"type":"string"}}}`, ``},
		{`{"properties":{"n":{"type":"integer"}}}`, `{"properties":{"n":{"type":"number"}}}`, ``},
		{`{"properties":{"n":{"type":"number"}}}`, `{"properties":{"n":{"type":"integer"}}}`, `argument "n" no longer accepts the type number`},
		{`{"properties":{"n":{}}}`, `{"properties":{"n":{"type":["integer","null"]}}}`, `argument "n" accepts only integer, null now`},
		{`{"properties":{"n":{}}}`, `{"properties":{"n":{"enum":[1]}}}`, `argument "n" accepts only some values now`},
		{`{"properties":{"n":{"enum":[1,2.0]}}}`, `{"properties":{"n":{"enum":[2,1]}}}`, ``},
		{`{}`, `{"required":["x"]}`, `argument "x" is new and required`},
		{`{"properties":{"o":{"properties":{"p":{"items":{"properties":{"q":{}}}}}}}}`, `{"properties":{"o":{"properties":{"p":{"items":{"properties":{}}}}}}}`, `argument "o.p[].q" is removed`},
	} {
		d := recording.Compare(catalogue(c.before), catalogue(c.after))
		if len(d.Tools) != 1 {
			if c.want != "" {
				t.Errorf("%s, %s: %d tools differ", c.before, c.after, len(d.Tools))
			}
			continue
		}
		if got := strings.Join(d.Tools[0].Breaking, "; "); got != c.want {
			t.Errorf("%s, %s: %s, want %s", c.before, c.after, got, c.want)
		}
	}
}

// When catalogues change at the same time, the recording ends with the one that the
// recorder takes for the last.
func TestConcurrentCatalogues(t *testing.T) {
	set := func(name string) *toolpost.Set {
		s, err := toolpost.NewSet(t.Context(), toolpost.Tools{{
			Definition: toolpost.Definition{Name: name, Input: schema.MustParse(`{"type":"object"}`)},
			Handler:    func(context.Context, *toolpost.Call) (*toolpost.Result, error) { return nil, nil },
		}})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	a, b := set("a"), set("b")
	none := func(string) bool { return false }
	file := filepath.Join(t.TempDir(), "file")
	r, err := recording.Create(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 50 {
		var all sync.WaitGroup
		for range 100 {
			all.Go(func() { r.SetCatalogue(a, none) })
			all.Go(func() { r.SetCatalogue(b, none) })
		}
		all.Wait()
		r.SetCatalogue(a, none)
		if last := read(t, file).Catalogue.Tools; len(last) != 1 || !strings.Contains(string(last[0]), `"a"`) {
			t.Fatalf("the last catalogue is %s", last)
		}
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

//lint:file-ignore SA1019 older versions of the protocol have logging, roots and sampling

//go:build linux

package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Names of the friendly servers. All clients share the process shared, which must not
// ask, and the servers web and steady over HTTP. Steady is stateless and is never
// disturbed: it must answer every call. Own has a process for each session; auto has
// the default settings, and one for each session since it has asked.
const (
	shared = "shared"
	auto   = "auto"
	own    = "own"
	web    = "web"
	steady = "steady"
)

// changeAfter is after how many calls a server changes its list.
const changeAfter = 100

// A nonce identifies one call: all that belongs to the call carries it.
type nonce struct {
	Nonce string `json:"nonce"`
	Wait  int    `json:"wait"` // milliseconds
	Size  int    `json:"size"` // bytes that the answer has in addition
}

// newUpstream returns a server. Its tool echo answers with the nonce, after progress
// and a log message with the same nonce. Its tool ask asks the client two questions
// with the nonce, whose answers must carry it. Now and then its list changes.
func newUpstream() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "upstream", Version: "1"}, nil)
	var calls atomic.Int64
	mcp.AddTool(s, &mcp.Tool{Name: "echo", Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}}, func(ctx context.Context, r *mcp.CallToolRequest, in nonce) (*mcp.CallToolResult, any, error) {
		if token := r.Params.GetProgressToken(); token != nil {
			_ = r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Message: in.Nonce, Progress: 1}) // the caller may be gone
		}
		_ = r.Session.Log(ctx, &mcp.LoggingMessageParams{Level: "warning", Data: in.Nonce})
		select {
		case <-time.After(time.Duration(in.Wait) * time.Millisecond):
		case <-ctx.Done():
		}
		if n := calls.Add(1); n%changeAfter == 0 {
			change(s, n/changeAfter)
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: in.Nonce}, &mcp.TextContent{Text: strings.Repeat("x", min(in.Size, stuckSize))}}}, nil, nil
	})
	mcp.AddTool(s, &mcp.Tool{Name: "ask"}, func(_ context.Context, r *mcp.CallToolRequest, in nonce) (*mcp.CallToolResult, any, error) {
		if r.Params.InputResponses == nil {
			return &mcp.CallToolResult{InputRequests: questions(in.Nonce)}, nil, nil
		}
		return checkAnswers(in.Nonce, r.Params.InputResponses), nil, nil
	})
	return s
}

// questions returns an elicitation and a sampling with the nonce.
func questions(nonce string) mcp.InputRequestMap {
	return mcp.InputRequestMap{
		"elicit": &mcp.ElicitParams{Mode: "form", Message: nonce, RequestedSchema: map[string]any{
			"type": "object", "properties": map[string]any{"answer": map[string]any{"type": "string"}},
		}},
		"sample": &mcp.CreateMessageWithToolsParams{MaxTokens: 100, Messages: []*mcp.SamplingMessageV2{
			{Role: "user", Content: []mcp.Content{&mcp.TextContent{Text: nonce}}},
		}},
	}
}

// crossed begins the result of a call that got the answers of another one.
const crossed = "answers of another call: "

// checkAnswers returns the nonce if both answers carry it.
func checkAnswers(nonce string, answers mcp.InputResponseMap) *mcp.CallToolResult {
	text := nonce
	elicited, _ := answers["elicit"].(*mcp.ElicitResult)
	if elicited == nil || elicited.Content["answer"] != nonce {
		text = fmt.Sprintf("%s%s got %+v", crossed, nonce, elicited)
	}
	var sampled []mcp.Content
	switch s := answers["sample"].(type) {
	case *mcp.CreateMessageResult:
		sampled = []mcp.Content{s.Content}
	case *mcp.CreateMessageWithToolsResult:
		sampled = s.Content
	}
	if len(sampled) != 1 || textOf(sampled[0]) != nonce {
		text = fmt.Sprintf("%s%s got %T", crossed, nonce, answers["sample"])
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}

func textOf(c mcp.Content) string {
	text, ok := c.(*mcp.TextContent)
	if !ok {
		return fmt.Sprintf("%T", c)
	}
	return text.Text
}

// change adds a tool to the list, or removes it.
func change(s *mcp.Server, n int64) {
	if n%2 == 0 {
		s.RemoveTools("extra")
		return
	}
	mcp.AddTool(s, &mcp.Tool{Name: "extra", Description: fmt.Sprint(n)}, func(context.Context, *mcp.CallToolRequest, nonce) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{}, nil, nil
	})
}

// serveStdio is the server that the arguments of the command name.
func serveStdio(arguments []string) error {
	if len(arguments) == 2 {
		return serveHostile(arguments[1])
	}
	return newUpstream().Run(context.Background(), &mcp.StdioTransport{})
}

// A webServer is a server over HTTP that can be restarted at the same address.
type webServer struct {
	*httptest.Server
	stateless bool
	handler   atomic.Pointer[mcp.StreamableHTTPHandler]
}

func serveHTTP(stateless bool) *webServer {
	w := &webServer{stateless: stateless}
	w.begin()
	w.Server = httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) { w.handler.Load().ServeHTTP(out, r) }))
	return w
}

// begin forgets all sessions.
func (w *webServer) begin() {
	s := newUpstream()
	w.handler.Store(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s },
		&mcp.StreamableHTTPOptions{Stateless: w.stateless, SessionTimeout: time.Minute, PropagateRequestCancellation: true}))
}

// restart cuts all connections and forgets all sessions.
func (w *webServer) restart() {
	w.begin()
	w.CloseClientConnections()
}

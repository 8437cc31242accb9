//go:build unix

//lint:file-ignore SA1019 clients of all eras still have sampling and roots

package live

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The servers of TestMatrix, and the tools that each of them has.
var (
	matrixServers = []string{"sessions", "stateless"}
	matrixTools   = []string{"canceled", "count", "echo", "elicit", "grow", "resume", "roots", "sample", "touch", "wait"}
)

// matrixUpstreams starts a server for each era, which are built on the SDK, and
// returns the configuration of a gateway in front of them, and what tells that
// a call of wait has begun.
func matrixUpstreams(t *testing.T) (config string, waiting map[string]chan struct{}) {
	servers := map[string]any{}
	waiting = map[string]chan struct{}{}
	for _, name := range matrixServers {
		waiting[name] = make(chan struct{}, 1)
		s, stateless := newMatrixServer(t, name, waiting[name]), name == "stateless"
		handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, &mcp.StreamableHTTPOptions{
			Stateless: stateless, PropagateRequestCancellation: true,
		})
		server := listen(t, handler)
		version := "2025-11-25"
		if stateless {
			version = "2026-07-28"
		}
		servers[name] = map[string]any{"type": "http", "url": server.URL, "protocolVersion": version}
	}
	data, err := json.Marshal(map[string]any{"mcpServers": servers})
	if err != nil {
		t.Fatal(err)
	}
	return string(data), waiting
}

// newMatrixServer returns a server with a tool for each step. It sends to waiting
// when a call of wait has begun.
func newMatrixServer(t *testing.T, name string, waiting chan<- struct{}) *mcp.Server {
	allow := func(context.Context, *mcp.SubscribeRequest) error { return nil }
	s := mcp.NewServer(&mcp.Implementation{Name: name, Version: "1"}, &mcp.ServerOptions{
		SubscribeHandler:   allow,
		UnsubscribeHandler: func(context.Context, *mcp.UnsubscribeRequest) error { return nil },
	})
	prompt := func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return &mcp.GetPromptResult{}, nil
	}
	s.AddPrompt(&mcp.Prompt{Name: "hello"}, prompt)

	clock, version := "live://"+name+"/clock", atomic.Int32{}
	s.AddResource(&mcp.Resource{Name: "clock", URI: clock}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: clock, Text: fmt.Sprint("version ", version.Load())}}}, nil
	})
	addTool(t, s, "touch", func(ctx context.Context, req *mcp.CallToolRequest, _ struct{}) (string, error) {
		version.Add(1)
		return "touched", s.ResourceUpdated(ctx, &mcp.ResourceUpdatedNotificationParams{URI: clock})
	})
	addTool(t, s, "grow", func(context.Context, *mcp.CallToolRequest, struct{}) (string, error) {
		addTool(t, s, "grown", func(context.Context, *mcp.CallToolRequest, struct{}) (string, error) { return "grown", nil })
		s.AddPrompt(&mcp.Prompt{Name: "grown"}, prompt)
		s.AddResource(&mcp.Resource{Name: "grown", URI: "live://" + name + "/grown"}, nil)
		return "grown", nil
	})
	addTool(t, s, "echo", func(_ context.Context, _ *mcp.CallToolRequest, args struct {
		Text string `json:"text"`
	}) (string, error) {
		return "echo: " + args.Text, nil
	})
	addCounting(t, s)
	addWaiting(t, s, waiting)
	addAsking(s)
	return s
}

// addTool adds a tool whose result is a text. Its calls end with the test, because
// the SDK does not cancel those of a session that is deleted: it waits for them.
func addTool[A any](t *testing.T, s *mcp.Server, name string, f func(context.Context, *mcp.CallToolRequest, A) (string, error)) {
	mcp.AddTool(s, &mcp.Tool{Name: name}, func(ctx context.Context, req *mcp.CallToolRequest, args A) (*mcp.CallToolResult, any, error) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(t.Context(), cancel)()
		text, err := f(ctx, req, args)
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil, err
	})
}

func progress(ctx context.Context, req *mcp.CallToolRequest, done, total float64, message string) error {
	return req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
		ProgressToken: req.Params.GetProgressToken(), Progress: done, Total: total, Message: message,
	})
}

// addCounting adds a tool that reports three steps and goes on when the client has
// seen them. An SDK may drop what comes together with the result.
func addCounting(t *testing.T, s *mcp.Server) {
	resume := make(chan struct{}, 1)
	addTool(t, s, "count", func(ctx context.Context, req *mcp.CallToolRequest, _ struct{}) (string, error) {
		for i := 1; i <= 3; i++ {
			if err := progress(ctx, req, float64(i), 3, fmt.Sprint("step ", i)); err != nil {
				return "", err
			}
		}
		select {
		case <-resume:
			return "resumed", nil
		case <-ctx.Done():
			return "", ctx.Err()
		}
	})
	addTool(t, s, "resume", func(context.Context, *mcp.CallToolRequest, struct{}) (string, error) {
		resume <- struct{}{}
		return "resumed", nil
	})
}

// addWaiting adds a tool that waits until it is canceled, and one that waits until
// that has happened.
func addWaiting(t *testing.T, s *mcp.Server, waiting chan<- struct{}) {
	canceled := make(chan struct{}, 1)
	addTool(t, s, "wait", func(ctx context.Context, req *mcp.CallToolRequest, _ struct{}) (string, error) {
		waiting <- struct{}{}
		if req.Params.GetProgressToken() != nil {
			if err := progress(ctx, req, 1, 2, "waiting"); err != nil {
				return "", err
			}
		}
		<-ctx.Done()
		canceled <- struct{}{}
		return "", ctx.Err()
	})
	addTool(t, s, "canceled", func(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (string, error) {
		select {
		case <-canceled:
			return "canceled", nil
		case <-ctx.Done():
			return "", ctx.Err()
		}
	})
}

// addAsking adds the tools that ask the client: with a request in a session, and
// with their result in 2026-07-28.
func addAsking(s *mcp.Server) {
	who := &mcp.ElicitParams{Message: "Who is it?", RequestedSchema: map[string]any{
		"type": "object", "properties": map[string]any{"name": map[string]any{"type": "string"}}, "required": []string{"name"},
	}}
	addAsk(s, "elicit", who, func(ctx context.Context, s *mcp.ServerSession) (mcp.InputResponse, error) { return s.Elicit(ctx, who) })
	sum := &mcp.CreateMessageWithToolsParams{MaxTokens: 9, Messages: []*mcp.SamplingMessageV2{{Role: "user", Content: []mcp.Content{&mcp.TextContent{Text: "2+2"}}}}}
	addAsk(s, "sample", sum, func(ctx context.Context, s *mcp.ServerSession) (mcp.InputResponse, error) {
		return s.CreateMessageWithTools(ctx, sum)
	})
	addAsk(s, "roots", &mcp.ListRootsParams{}, func(ctx context.Context, s *mcp.ServerSession) (mcp.InputResponse, error) {
		return s.ListRoots(ctx, nil)
	})
}

func addAsk(s *mcp.Server, name string, question mcp.InputRequest, ask func(context.Context, *mcp.ServerSession) (mcp.InputResponse, error)) {
	mcp.AddTool(s, &mcp.Tool{Name: name}, func(ctx context.Context, req *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		answer := req.Params.InputResponses["question"]
		if req.ProtocolVersion() < "2026-07-28" {
			var err error
			if answer, err = ask(ctx, req.Session); err != nil {
				return nil, nil, err
			}
		}
		text := ""
		switch a := answer.(type) {
		case nil:
			return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"question": question}}, nil, nil
		case *mcp.ElicitResult:
			text = fmt.Sprintf("%s: %v", a.Action, a.Content["name"])
		case *mcp.CreateMessageWithToolsResult:
			for _, c := range a.Content {
				text += c.(*mcp.TextContent).Text
			}
		case *mcp.ListRootsResult:
			for _, r := range a.Roots {
				text += r.URI
			}
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil, nil
	})
}

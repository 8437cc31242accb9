//lint:file-ignore SA1019 older versions of the protocol have logging, roots and sampling

package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// askingServer is a server over stdio with everything that crosses a bridge,
// made with the official SDK. Its tool "ask" requests everything from its client
// that a server may, and "wait" waits until it is canceled; both write what happened
// to the folder of their argument, or their result.
func askingServer() {
	if err := newAskingServer().Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		log.Fatal(err)
	}
}

type folderArgument struct {
	Folder string `json:"folder,omitempty"`
}

func newAskingServer() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "asking", Title: "Asks \u00fcber alles", Version: "2.1", WebsiteURL: "https://example.org/x"}, &mcp.ServerOptions{
		Instructions:      "Ask first.",
		CompletionHandler: completeArgument,
		SubscribeHandler:  func(context.Context, *mcp.SubscribeRequest) error { return nil },
		UnsubscribeHandler: func(context.Context, *mcp.UnsubscribeRequest) error {
			return nil
		},
	})
	mcp.AddTool(s, &mcp.Tool{Name: "ask", Title: "Ask", Description: "Asks <the> client & logs.", Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}}, ask)
	mcp.AddTool(s, &mcp.Tool{Name: "wait"}, wait)
	mcp.AddTool(s, &mcp.Tool{Name: "grow", Description: "Adds a tool."}, func(context.Context, *mcp.CallToolRequest, folderArgument) (*mcp.CallToolResult, any, error) {
		mcp.AddTool(s, &mcp.Tool{Name: "grown"}, wait)
		return text("grew"), nil, nil
	})
	s.AddPrompt(&mcp.Prompt{Name: "greet", Title: "Greet", Arguments: []*mcp.PromptArgument{{Name: "who", Required: true}}}, func(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: "hi " + r.Params.Arguments["who"]}}}}, nil
	})
	read := func(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: r.Params.URI, Text: "of " + r.Params.URI}}}, nil
	}
	s.AddResource(&mcp.Resource{URI: "note://one", Name: "one", MIMEType: "text/plain", Size: 3}, read)
	s.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: "note://all/{id}", Name: "all"}, read)
	return s
}

func completeArgument(_ context.Context, r *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
	return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: []string{r.Params.Argument.Value + "!"}}}, nil
}

func text(s string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: s}}}
}

func ask(ctx context.Context, r *mcp.CallToolRequest, _ folderArgument) (*mcp.CallToolResult, any, error) {
	var got []string
	if token := r.Params.GetProgressToken(); token != nil {
		if err := r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: 1, Message: "half"}); err != nil {
			return nil, nil, err
		}
	}
	if err := r.Session.Log(ctx, &mcp.LoggingMessageParams{Level: "warning", Data: "careful"}); err != nil {
		return nil, nil, err
	}
	roots, err := r.Session.ListRoots(ctx, nil)
	if err != nil {
		return nil, nil, fmt.Errorf("roots: %w", err)
	}
	for _, root := range roots.Roots {
		got = append(got, root.URI)
	}
	sample, err := r.Session.CreateMessage(ctx, &mcp.CreateMessageParams{MaxTokens: 5, Messages: []*mcp.SamplingMessage{{Role: "user", Content: &mcp.TextContent{Text: "say"}}}})
	if err != nil {
		return nil, nil, fmt.Errorf("sampling: %w", err)
	}
	got = append(got, sample.Content.(*mcp.TextContent).Text)
	answer, err := r.Session.Elicit(ctx, &mcp.ElicitParams{Message: "name?", RequestedSchema: map[string]any{"type": "object", "properties": map[string]any{"name": map[string]any{"type": "string"}}}})
	if err != nil {
		return nil, nil, fmt.Errorf("elicitation: %w", err)
	}
	got = append(got, fmt.Sprint(answer.Action, answer.Content["name"]))
	return text(strings.Join(got, " ")), nil, nil
}

// wait reports that it has started, and that it was canceled.
func wait(ctx context.Context, _ *mcp.CallToolRequest, args folderArgument) (*mcp.CallToolResult, any, error) {
	if err := os.WriteFile(filepath.Join(args.Folder, "started"), nil, 0o600); err != nil {
		return nil, nil, err
	}
	<-ctx.Done()
	return text("canceled"), nil, os.WriteFile(filepath.Join(args.Folder, "canceled"), nil, 0o600)
}

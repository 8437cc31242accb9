package main

import (
	"context"
	"net/http"
	"os/exec"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// newNaive returns an aggregator as anyone writes it with the MCP SDK: a client
// of the upstream, and a server that has its tools under a prefix.
func newNaive(ctx context.Context, era, url string, command []string) (http.Handler, error) {
	var t mcp.Transport
	if url != "" {
		t = &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}
	} else {
		t = &mcp.CommandTransport{Command: exec.Command(command[0], command[1:]...)}
	}
	info := &mcp.Implementation{Name: "naive", Version: "1.0.0"}
	upstream, err := mcp.NewClient(info, nil).Connect(ctx, t, nil)
	if err != nil {
		return nil, err
	}
	server := mcp.NewServer(info, nil)
	for tool, err := range upstream.Tools(ctx, nil) {
		if err != nil {
			return nil, err
		}
		name := tool.Name
		tool.Name = "up__" + name
		server.AddTool(tool, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return upstream.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: r.Params.Arguments})
		})
	}
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server },
		&mcp.StreamableHTTPOptions{Stateless: era == statelessEra}), nil
}

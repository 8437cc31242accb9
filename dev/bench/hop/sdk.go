//go:build linux

package main

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// An sdkClient is a client that decodes every answer, as those of users do: it
// shows what a hop adds to the time of a call, not what the hop costs.
type sdkClient struct {
	session *mcp.ClientSession
	http    *http.Transport
	params  *mcp.CallToolParams
}

func dialSDK(e endpoint, size int) (*sdkClient, error) {
	c := &sdkClient{http: &http.Transport{}, params: &mcp.CallToolParams{Name: e.tool, Arguments: map[string]int{"bytes": size}}}
	var t mcp.Transport = &mcp.StreamableClientTransport{Endpoint: e.url, HTTPClient: &http.Client{Transport: c.http}, DisableStandaloneSSE: true}
	if e.legacy {
		t = &mcp.SSEClientTransport{Endpoint: e.url, HTTPClient: &http.Client{Transport: c.http}}
	}
	var err error
	c.session, err = mcp.NewClient(&mcp.Implementation{Name: "bench", Version: "1.0.0"}, nil).
		Connect(context.Background(), t, &mcp.ClientSessionOptions{ProtocolVersion: e.era})
	return c, err
}

func (c *sdkClient) callTool(w *want, _ *answer) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	r, err := c.session.CallTool(ctx, c.params)
	if err != nil {
		return err
	}
	if len(r.Content) == 0 || r.IsError {
		return errors.New("not the result")
	}
	text, ok := r.Content[0].(*mcp.TextContent)
	if !ok || !strings.HasPrefix(text.Text, first) || !w.view && len(text.Text) != w.size {
		return errors.New("not the text that the server sent")
	}
	return nil
}

func (c *sdkClient) close() {
	_ = c.session.Close() // it is of no more use
	c.http.CloseIdleConnections()
}

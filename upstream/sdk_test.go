package upstream

import (
	"context"
	"encoding/json"
	"io"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/wire"
)

// sdkServer serves the tools of [FuzzPeers] with the MCP SDK, over stdio.
func sdkServer(asks toolpost.Handler) service {
	return func(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error {
		s := mcp.NewServer(&mcp.Implementation{Name: "sdk", Version: "1"}, nil)
		for name, h := range map[string]toolpost.Handler{"echo": echoes, "ask": asks, "wait": waits} {
			s.AddTool(&mcp.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`)}, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				result, err := h(ctx, &toolpost.Call{Arguments: r.Params.Arguments, Caller: sdkCaller{r}})
				if err != nil {
					return nil, err
				}
				return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: result.Parts()[0].Text}}}, nil
			})
		}
		return s.Run(ctx, &mcp.IOTransport{Reader: in, Writer: out})
	}
}

// An sdkCaller is the client of a call, as the SDK shows it.
type sdkCaller struct{ *mcp.CallToolRequest }

// Notify implements [toolpost.Caller].
func (c sdkCaller) Notify(ctx context.Context, _ string, params json.RawMessage) error {
	p := &mcp.ProgressNotificationParams{ProgressToken: c.Params.GetProgressToken()}
	_ = json.Unmarshal(wire.Get(params, "progress"), &p.Progress)
	p.Message = wire.Unquote(wire.Get(params, "message"))
	if p.ProgressToken == nil {
		return nil
	}
	return c.Session.NotifyProgress(ctx, p)
}

// Request implements [toolpost.Caller].
func (c sdkCaller) Request(ctx context.Context, _ string, params json.RawMessage) (json.RawMessage, error) {
	answer, err := c.Session.Elicit(ctx, &mcp.ElicitParams{
		Message: wire.Unquote(wire.Get(params, "message")), RequestedSchema: wire.Get(params, "requestedSchema"),
	})
	if err != nil {
		return nil, err
	}
	return json.Marshal(answer)
}

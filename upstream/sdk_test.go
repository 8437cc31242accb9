package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"time"

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

// sdkClient has c make its calls with the MCP SDK, over the newest network.
func (w *world) sdkClient(c *client, s service) {
	p, _ := w.nets[len(w.nets)-1].spawn(s)(nil, time.Minute)
	var mu sync.Mutex
	open := map[string]*outgoing{}
	sdk := mcp.NewClient(&mcp.Implementation{Name: c.name, Version: "1"}, &mcp.ClientOptions{
		ElicitationHandler: func(ctx context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			answer, err := (&outgoing{w: w, client: c.name}).Request(ctx, "", wire.Append(nil, `"message":`+string(wire.Quote(r.Params.Message))))
			if err != nil {
				return nil, err
			}
			result := &mcp.ElicitResult{}
			return result, json.Unmarshal(answer, result)
		},
		ProgressNotificationHandler: func(ctx context.Context, r *mcp.ProgressNotificationClientRequest) {
			mu.Lock()
			defer mu.Unlock()
			token, _ := r.Params.ProgressToken.(string)
			if o := open[token]; o != nil {
				params, _ := json.Marshal(r.Params)
				_ = o.Notify(ctx, "notifications/progress", params)
			}
		},
	})
	session, err := sdk.Connect(context.Background(), &mcp.IOTransport{Reader: p.stdout.(io.ReadCloser), Writer: p.stdin}, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	c.close = session.Close
	w.ends = append(w.ends, func() { _ = session.Close() })
	c.call = func(ctx context.Context, o *outgoing, tool string, arguments []byte) (string, error) {
		mu.Lock()
		o.sdk, open[o.nonce] = true, o
		mu.Unlock()
		params := &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(arguments)}
		params.SetProgressToken(o.nonce)
		r, err := session.CallTool(ctx, params)
		if err != nil {
			return "", err
		}
		text := ""
		for _, block := range r.Content {
			if t, ok := block.(*mcp.TextContent); ok {
				text += t.Text
			}
		}
		if r.IsError {
			return "", errors.New(text)
		}
		return text, nil
	}
}

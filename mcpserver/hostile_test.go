package mcpserver_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolpost/toolpost"
)

// No error of a client passes for its consent.
func TestRefusalIsNoAnswer(t *testing.T) {
	tool := rawTool("ask", anyObject, func(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
		var answer struct{ Action string }
		if err := call.Ask(ctx, "elicitation/create", map[string]any{"message": "may I?"}, &answer); err != nil {
			return nil, toolpost.Failed("refused")
		}
		return toolpost.Text(answer.Action), nil
	})
	everyWay(t, func(t *testing.T, w way) {
		for _, code := range []int64{1, -32042} {
			session := w.connect(t, serve(t, nil, tool), &mcp.ClientOptions{
				ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
					return nil, &jsonrpc.Error{Code: code, Message: "no", Data: json.RawMessage(`{"action":"accept"}`)}
				},
			})
			r, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "ask"})
			switch {
			case w.isModern() && err == nil: // the client does not call again
				t.Errorf("code %d: got %+v", code, r)
			case !w.isModern() && (err != nil || !r.IsError || r.Content[0].(*mcp.TextContent).Text != "refused"):
				t.Errorf("code %d: got %+v, %v", code, r, err)
			}
		}
	})
}

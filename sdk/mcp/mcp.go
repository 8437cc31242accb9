// Package mcp makes Toolpost tools of tools that are written for the official MCP
// SDK for Go, without a server between.
package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/bind"
	"github.com/toolpost/toolpost/schema"
)

// New makes a tool of one of the SDK. Its handler gets no session: a request to
// one panics, which fails the call. As in the SDK, an error of the handler is a
// failure of the exchange. A definition that is not valid is a
// *[toolpost.ToolValidationError].
func New(t *sdk.Tool, h sdk.ToolHandler) (*toolpost.Tool, error) {
	if h == nil {
		return newTool(t, nil)
	}
	return newTool(t, func(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
		req, err := requestOf(call)
		if err != nil {
			return nil, err
		}
		r, err := h(ctx, req)
		if err != nil {
			return nil, exchangeError(err)
		}
		return resultOf(r)
	})
}

// For is [New] for a typed handler. The schemas come from In and Out
// if t has none. An error of the handler is shown to the model.
func For[In, Out any](t *sdk.Tool, h sdk.ToolHandlerFor[In, Out]) (*toolpost.Tool, error) {
	c := *t
	if err := inferred[In](&c.InputSchema, schema.ForInput[In]); err != nil {
		return nil, &toolpost.ToolValidationError{Tool: t.Name, Field: "schema", Err: err}
	}
	open := reflect.TypeFor[Out]().Kind() == reflect.Interface // it promises nothing
	if !open {
		if err := inferred[Out](&c.OutputSchema, schema.ForOutput[Out]); err != nil {
			return nil, &toolpost.ToolValidationError{Tool: t.Name, Field: "schema", Err: err}
		}
	}
	if h == nil {
		return newTool(&c, nil)
	}
	return newTool(&c, func(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
		req, err := requestOf(call)
		if err != nil {
			return nil, err
		}
		var in In
		if err := json.Unmarshal(req.Params.Arguments, &in); err != nil {
			return nil, &toolpost.ArgumentsError{Tool: call.Name, Err: err}
		}
		r, out, err := h(ctx, req, in)
		if wire := (*jsonrpc.Error)(nil); errors.As(err, &wire) {
			return nil, exchangeError(err)
		}
		if err != nil {
			return nil, err
		}
		if r == nil {
			r = &sdk.CallToolResult{}
		}
		return resultOf(filled(r, out, open))
	})
}

// inferred sets a schema that is missing.
func inferred[T any](s *any, infer func() (*schema.Schema, error)) error {
	if *s != nil {
		return nil
	}
	if reflect.TypeFor[T]().Kind() == reflect.Interface {
		*s = json.RawMessage(`{"type":"object"}`)
		return nil
	}
	found, err := infer()
	if err == nil {
		*s = found
	}
	return err
}

// filled puts the typed output into a result that has none.
func filled[Out any](r *sdk.CallToolResult, out Out, open bool) *sdk.CallToolResult {
	if r.StructuredContent != nil || open && any(out) == nil {
		return r
	}
	c := *r
	c.StructuredContent = out
	if c.Content == nil {
		if text, err := json.Marshal(out); err == nil { // otherwise encoding the result returns the same error
			c.Content = []sdk.Content{&sdk.TextContent{Text: string(text)}}
		}
	}
	return &c
}

func newTool(t *sdk.Tool, h toolpost.Handler) (*toolpost.Tool, error) {
	invalid := func(err error) error {
		return &toolpost.ToolValidationError{Tool: t.Name, Field: "schema", Err: err}
	}
	raw, err := json.Marshal(t)
	if err != nil {
		return nil, invalid(err)
	}
	var d toolpost.Definition
	switch err := json.Unmarshal(raw, &d); {
	case err != nil:
		return nil, invalid(err)
	case d.Output == nil && t.OutputSchema != nil:
		return nil, invalid(errors.New(`its outputSchema is not the schema of an object; give it "type": "object"`))
	}
	return bind.Adapt(&toolpost.Tool{Definition: d, Handler: h})
}

func requestOf(call *toolpost.Call) (*sdk.CallToolRequest, error) {
	params := &sdk.CallToolParamsRaw{Name: call.Name, Arguments: call.Arguments}
	if len(params.Arguments) == 0 {
		params.Arguments = json.RawMessage("{}")
	}
	var p struct {
		Meta sdk.Meta `json:"_meta"`
	}
	if len(call.Params) > 0 {
		if err := json.Unmarshal(call.Params, &p); err != nil {
			return nil, fmt.Errorf("read the parameters of the call: %w", err)
		}
		params.Meta = p.Meta
	}
	return &sdk.CallToolRequest{Params: params, Extra: &sdk.RequestExtra{}}, nil
}

func resultOf(r *sdk.CallToolResult) (*toolpost.Result, error) {
	if r == nil {
		return nil, nil
	}
	raw, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("encode result: %w", err)
	}
	return toolpost.RawResult(raw), nil
}

// exchangeError is an error as the SDK would send it.
func exchangeError(err error) error {
	var wire *jsonrpc.Error
	if errors.As(err, &wire) {
		return &toolpost.ProtocolError{Code: wire.Code, Message: wire.Message, Data: wire.Data}
	}
	return &toolpost.ProtocolError{Code: jsonrpc.CodeInternalError, Message: err.Error()}
}

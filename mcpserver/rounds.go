package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	jsonx "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// maxRounds bounds how often one call may ask.
const maxRounds = 10

// rounds runs a handler for a client of the session era. Where the handler
// answers input_required itself, the client is asked and the handler runs
// again, as a client of 2026-07-28 would have it.
func (c *core) rounds(ctx context.Context, r *request) (json.RawMessage, error) {
	caller := sessionCaller{r}
	for range maxRounds {
		raw, err := c.run(ctx, r, caller)
		if err != nil || text(get(raw, "resultType")) != "input_required" {
			return raw, err
		}
		responses, err := fulfil(ctx, caller, get(raw, "inputRequests"))
		if err != nil {
			return nil, toFault(r, err)
		}
		next := *r
		next.params = put(r.params, "inputResponses", responses)
		if state := get(raw, "requestState"); state != nil {
			next.params = put(next.params, "requestState", state)
		} else {
			next.params = drop(next.params, "requestState")
		}
		r = &next
	}
	return nil, rpcError(jsonrpc.CodeInternalError, "%.100q asked for input more than %d times", r.name, maxRounds)
}

// fulfil asks the client for every input, in the order in which they are named.
func fulfil(ctx context.Context, caller sessionCaller, requests json.RawMessage) (json.RawMessage, error) {
	d := jsontext.NewDecoder(bytes.NewReader(requests))
	if t, err := d.ReadToken(); err != nil || t.Kind() != '{' {
		return nil, errors.New("read inputRequests: it is not an object")
	}
	answers := json.RawMessage("{}")
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil {
			return nil, fmt.Errorf("read inputRequests: %w", err)
		}
		key := name.String()
		var a struct {
			Method string          `json:"method"`
			Params json.RawMessage `json:"params"`
		}
		if err := jsonx.UnmarshalDecode(d, &a); err != nil {
			return nil, fmt.Errorf("read inputRequests: %w", err)
		}
		answer, err := caller.Request(ctx, a.Method, a.Params)
		if err != nil {
			return nil, fmt.Errorf("input %q: %w", key, err)
		}
		answers = extend(answers, string(quote(key))+":"+string(answer))
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, fmt.Errorf("read inputRequests: %w", err)
	}
	return answers, nil
}

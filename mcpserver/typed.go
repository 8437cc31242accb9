//lint:file-ignore SA1019 older versions of the protocol have logging

package mcpserver

import (
	"encoding/json"
	"errors"
	"reflect"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// What a client may say about itself. It is kept as long as its session lasts.
const (
	maxInitialize = 64 << 10
	maxName       = 1 << 10
)

// checkTypes reads the params that the MCP library is to read: its own errors
// have no code, and tell of Go.
func (m *message) checkTypes() error {
	var p any
	switch m.method {
	case "initialize":
		p = new(mcp.InitializeParams)
	case "logging/setLevel":
		p = new(mcp.SetLoggingLevelParams)
	case "resources/subscribe", "resources/unsubscribe":
		p = new(mcp.SubscribeParams)
	default:
		return nil
	}
	if !isObject(m.params) {
		return rpcError(jsonrpc.CodeInvalidParams, "%s: params must be an object", m.method)
	}
	if m.method == "initialize" && len(m.params) > maxInitialize {
		return rpcError(jsonrpc.CodeInvalidParams, "initialize: the params have %d bytes; the limit is %d", len(m.params), maxInitialize)
	}
	err := json.Unmarshal(m.params, p)
	var wrong *json.UnmarshalTypeError
	switch {
	case err == nil:
		return checkClient(p)
	case errors.As(err, &wrong):
		return rpcError(jsonrpc.CodeInvalidParams, "%s: %s must be %s", m.method, wrong.Field, kindName(wrong.Type.Kind()))
	}
	return rpcError(jsonrpc.CodeInvalidParams, "%s: the params are not those of the protocol", m.method)
}

// checkClient limits what the client calls itself: it is kept, and logged with
// every call.
func checkClient(params any) error {
	init, ok := params.(*mcp.InitializeParams)
	if !ok || init.ClientInfo == nil {
		return nil
	}
	if fault := checkClientName(init.ClientInfo.Name, init.ClientInfo.Version); fault != nil {
		return fault
	}
	return nil
}

func checkClientName(name, version string) *jsonrpc.Error {
	if len(name) > maxName || len(version) > maxName {
		return rpcError(jsonrpc.CodeInvalidParams, "the name and the version of the client may have %d bytes each", maxName)
	}
	return nil
}

func kindName(k reflect.Kind) string {
	switch k {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice, reflect.Array:
		return "an array"
	case reflect.Struct, reflect.Map:
		return "an object"
	}
	return "of another type"
}

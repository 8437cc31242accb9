package upstream

import (
	"encoding/json"
	"net/http"

	"github.com/toolpost/toolpost/internal/wire"
)

// describe sets the headers by which modern requests say what is in their
// body (MCP 2026-07-28, Transports).
func describe(h http.Header, x *exchange) {
	if x.method == "" {
		return // an answer
	}
	h.Set("Mcp-Method", x.method)
	if x.name != "" {
		h.Set("Mcp-Name", wire.EncodeHeader(x.name))
	}
	for _, b := range x.bindings {
		if text, ok := wire.HeaderText(b.Find(x.arguments())); ok {
			h.Set(b.Header, wire.EncodeHeader(text))
		}
	}
}

// arguments returns the arguments that are sent.
func (c *content) arguments() json.RawMessage {
	for _, m := range c.set {
		if m.Name == "arguments" {
			return m.Value
		}
	}
	return nil
}

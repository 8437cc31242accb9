package mcpserver

import (
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	carrier    = ":message" // no client can send a header of that name
	indexMeta  = "toolpost/index"
	carryParts = 4
)

// carry puts the parts of a request into the headers that its handler sees,
// and returns the parameters that are left for the library.
func (m *message) carry(h http.Header) json.RawMessage {
	index := len(h[carrier]) / carryParts
	h[carrier] = append(h[carrier], string(m.params), m.name, string(m.arguments), string(m.meta))
	if index == 0 {
		return json.RawMessage("{}")
	}
	return json.RawMessage(`{"_meta":{"` + indexMeta + `":` + strconv.Itoa(index) + `}}`)
}

// uncarry returns the parts of the request again.
func uncarry(req mcp.Request) (m message) {
	extra := req.GetExtra()
	if extra == nil {
		return m
	}
	parts := extra.Header[carrier]
	if p := req.GetParams(); p != nil && len(parts) > carryParts { // only carry writes the _meta of a batch
		n, _ := p.GetMeta()[indexMeta].(float64)
		if index := int(n); index > 0 && index < len(parts)/carryParts {
			parts = parts[index*carryParts:]
		}
	}
	if len(parts) < carryParts {
		return m
	}
	m.params, m.name = rawOrNil(parts[0]), parts[1]
	m.arguments, m.meta = rawOrNil(parts[2]), rawOrNil(parts[3])
	return m
}

func rawOrNil(s string) json.RawMessage {
	if s == "" {
		return nil
	}
	return json.RawMessage(s)
}

// exchanges finds the POST that a request came by.
const exchangeHeader = ":exchange" // no client can send a header of that name

// keepExchange makes x known under a key in the headers, until the returned
// function is called.
func (c *core) keepExchange(h http.Header, x *exchange) (forget func()) {
	key := strconv.FormatUint(c.lastExchange.Add(1), 10)
	h[exchangeHeader] = []string{key}
	c.exchanges.Store(key, x)
	return func() { c.exchanges.Delete(key) }
}

// exchangeOf returns the POST that a request came by: nil for transports that
// have none. It is false if the POST has ended.
func (c *core) exchangeOf(req mcp.Request) (x *exchange, here bool) {
	key := headerOf(req)[exchangeHeader]
	if len(key) == 0 {
		return nil, true
	}
	v, _ := c.exchanges.Load(key[0])
	x, here = v.(*exchange)
	return x, here
}

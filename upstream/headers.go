package upstream

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// describe sets the headers by which modern requests say what is in their
// body (MCP 2026-07-28, Transports), and returns their protocol version.
func describe(h http.Header, req *jsonrpc.Request, version string) string {
	if version != "" && version < modernVersion {
		return version
	}
	params, _ := parseObject(req.Params)
	if meta, err := parseObject(params.get("_meta")); err == nil && version == "" {
		version = meta.text(mcp.MetaKeyProtocolVersion)
	}
	if version < modernVersion {
		return version
	}
	h.Set("Mcp-Method", req.Method)
	switch req.Method {
	case "tools/call", "prompts/get":
		h.Set("Mcp-Name", headerValue(params.text("name")))
	case "resources/read":
		h.Set("Mcp-Name", headerValue(params.text("uri")))
	}
	x, ok := req.Extra.(*exchange)
	if !ok || len(x.bindings) == 0 {
		return version
	}
	arguments, _ := parseObject(params.get("arguments"))
	for _, b := range x.bindings {
		if v, ok := primitive(b.find(arguments)); ok {
			h.Set("Mcp-Param-"+b.header, headerValue(v))
		}
	}
	return version
}

// A binding is an argument that is sent as a header too (x-mcp-header).
type binding struct {
	path   []string
	header string
}

func (b *binding) find(o object) json.RawMessage {
	for _, name := range b.path[:len(b.path)-1] {
		o, _ = parseObject(o.get(name))
	}
	return o.get(b.path[len(b.path)-1])
}

// bindingsOf finds the bindings of an input schema. A tool whose bindings are
// not valid must not be used over HTTP.
func bindingsOf(schema json.RawMessage) ([]binding, error) {
	if !bytes.Contains(schema, []byte(`"x-mcp-header"`)) {
		return nil, nil
	}
	return collect(nil, nil, schema)
}

func collect(found []binding, path []string, schema json.RawMessage) ([]binding, error) {
	o, err := parseObject(schema)
	if err != nil {
		return found, nil
	}
	properties, err := parseObject(o.get("properties"))
	if err != nil {
		return found, nil
	}
	for _, m := range properties {
		p, err := parseObject(m.value)
		if err != nil {
			continue
		}
		at := append(path[:len(path):len(path)], m.name)
		if mark := p.get("x-mcp-header"); mark != nil {
			b := binding{at, p.text("x-mcp-header")}
			if err := b.check(p.text("type"), found); err != nil {
				return nil, fmt.Errorf("x-mcp-header of property %s: %w", strings.Join(at, "."), err)
			}
			found = append(found, b)
		}
		if found, err = collect(found, at, m.value); err != nil {
			return nil, err
		}
	}
	return found, nil
}

const tokenChars = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

func (b *binding) check(kind string, others []binding) error {
	if kind != "string" && kind != "integer" && kind != "boolean" {
		return fmt.Errorf("the property's type is %q, want string, integer or boolean", kind)
	}
	if b.header == "" || strings.IndexFunc(b.header, func(r rune) bool { return !strings.ContainsRune(tokenChars, r) }) >= 0 {
		return fmt.Errorf("%q is not a header name", b.header)
	}
	for _, o := range others {
		if strings.EqualFold(o.header, b.header) {
			return fmt.Errorf("the header %q is used twice", b.header)
		}
	}
	return nil
}

// primitive returns the text of a string, a boolean or an exact integer.
func primitive(raw json.RawMessage) (string, bool) {
	text := string(bytes.TrimSpace(raw))
	switch {
	case text == "true", text == "false":
		return text, true
	case strings.HasPrefix(text, `"`):
		var s string
		return s, json.Unmarshal(raw, &s) == nil
	}
	n, err := strconv.ParseFloat(text, 64)
	const exact = 1<<53 - 1
	if err != nil || n != float64(int64(n)) || n > exact || n < -exact {
		return "", false
	}
	return strconv.FormatInt(int64(n), 10), true
}

// headerValue encodes what a header cannot hold as it is.
func headerValue(s string) string {
	const begin, end = "=?base64?", "?="
	plain := strings.IndexFunc(s, func(r rune) bool { return r < 0x20 || r > 0x7E }) < 0 &&
		strings.Trim(s, " \t") == s && !(strings.HasPrefix(s, begin) && strings.HasSuffix(s, end))
	if plain {
		return s
	}
	return begin + base64.StdEncoding.EncodeToString([]byte(s)) + end
}

package mcpserver

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"

	jsonx "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/toolpost/toolpost/internal/wire"
)

// Headers of streamable HTTP. Those of 2026-07-28 repeat what the body says,
// for proxies that do not read it; both must agree.
const (
	versionHeader = "Mcp-Protocol-Version"
	sessionHeader = "Mcp-Session-Id"
	methodHeader  = "Mcp-Method"
	nameHeader    = "Mcp-Name"
	paramHeader   = "Mcp-Param-"
)

// maxInteger is the largest integer that every JSON library keeps exactly.
const maxInteger = 1<<53 - 1

// A binding is an argument that is repeated in a header.
type binding struct {
	path   []string
	header string
}

// An annotated is a schema with the annotation that mirrors its value in a
// header. Other values in the place of a schema, such as true, have none.
type annotated struct {
	Header     json.RawMessage `json:"x-mcp-header"`
	Properties properties      `json:"properties"`
}

type properties map[string]annotated

// UnmarshalJSONFrom implements [jsonx.UnmarshalerFrom].
func (a *annotated) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	if d.PeekKind() != '{' {
		return d.SkipValue()
	}
	type plain annotated
	return jsonx.UnmarshalDecode(d, (*plain)(a))
}

// UnmarshalJSONFrom implements [jsonx.UnmarshalerFrom].
func (p *properties) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	if d.PeekKind() != '{' {
		return d.SkipValue()
	}
	return jsonx.UnmarshalDecode(d, (*map[string]annotated)(p))
}

// bindings reads the x-mcp-header annotations of an input schema.
func bindings(schema []byte) []binding {
	if !strings.Contains(string(schema), `"x-mcp-header"`) {
		return nil
	}
	var root annotated
	if err := jsonx.Unmarshal(schema, &root, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)); err != nil {
		return nil // annotations that cannot be read bind nothing
	}
	return root.bindings(nil, nil)
}

func (a annotated) bindings(path []string, found []binding) []binding {
	for name, p := range a.Properties {
		at := append(slices.Clip(path), name)
		var header string
		if p.Header != nil && jsonx.Unmarshal(p.Header, &header) == nil && header != "" {
			found = append(found, binding{at, paramHeader + header})
		}
		found = p.bindings(at, found)
	}
	return found
}

// checkHeaders compares the headers of a request of 2026-07-28 with its body.
func checkHeaders(h http.Header, m *wire.Message) *wire.Error {
	mismatch := func(name, want string) *wire.Error {
		return wire.Errorf(wire.CodeHeaderMismatch, "the header %s is %.100q, but the body says %.100q", name, h.Get(name), want)
	}
	if h.Get(methodHeader) != m.Method {
		return mismatch(methodHeader, m.Method)
	}
	if m.Named() {
		if name, ok := headerValue(h.Get(nameHeader)); !ok || name == "" || name != subject(m) {
			return mismatch(nameHeader, subject(m))
		}
	}
	return nil
}

// checkParams compares Mcp-Param headers with the arguments they repeat.
func checkParams(h http.Header, m *wire.Message, bound []binding) *wire.Error {
	for _, b := range bound {
		arg := m.Arguments
		for _, name := range b.path {
			if !wire.IsObject(arg) {
				arg = nil
				break
			}
			arg = wire.Get(arg, name)
		}
		if err := checkParam(h.Get(b.header), arg, b); err != nil {
			return err
		}
	}
	return nil
}

func checkParam(header string, arg json.RawMessage, b binding) *wire.Error {
	argument := strings.Join(b.path, ".")
	if arg == nil || string(arg) == "null" {
		if header != "" {
			return wire.Errorf(wire.CodeHeaderMismatch, "there is a header %s, but no argument %s", b.header, argument)
		}
		return nil
	}
	value, ok := headerValue(header)
	if header == "" || !ok || !sameValue(value, arg) {
		return wire.Errorf(wire.CodeHeaderMismatch, "the header %s is %.100q, but the argument %s is %.100s", b.header, header, argument, arg)
	}
	return nil
}

// sameValue compares a header with a string, boolean or integer argument.
func sameValue(header string, arg json.RawMessage) bool {
	if arg[0] == '"' {
		return wire.Unquote(arg) == header
	}
	if header == string(arg) {
		return header == "true" || header == "false" || isInteger(header)
	}
	x, err := strconv.ParseFloat(header, 64)
	y, err2 := strconv.ParseFloat(string(arg), 64)
	return err == nil && err2 == nil && x == y && x == float64(int64(x)) && x <= maxInteger && x >= -maxInteger
}

func isInteger(s string) bool {
	n, err := strconv.ParseInt(s, 10, 64)
	return err == nil && n <= maxInteger && n >= -maxInteger
}

// headerValue decodes =?base64?…?=, in which headers carry other than ASCII.
func headerValue(s string) (string, bool) {
	inner, ok := strings.CutPrefix(s, "=?base64?")
	if !ok {
		return s, true
	}
	inner, ok = strings.CutSuffix(inner, "?=")
	if !ok {
		return s, true
	}
	b, err := base64.StdEncoding.DecodeString(inner)
	return string(b), err == nil
}

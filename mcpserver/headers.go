package mcpserver

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/toolpost/toolpost/internal/wire"
)

// Headers of streamable HTTP. Those of 2026-07-28 repeat what the body says,
// for proxies that do not read it; both must agree.
const (
	versionHeader = "Mcp-Protocol-Version"
	sessionHeader = "Mcp-Session-Id"
	methodHeader  = "Mcp-Method"
	nameHeader    = "Mcp-Name"
)

// checkHeaders compares the headers of a request of 2026-07-28 with its body.
func checkHeaders(h http.Header, m *wire.Message) *wire.Error {
	mismatch := func(name, want string) *wire.Error {
		return wire.Errorf(wire.CodeHeaderMismatch, "the header %s is %.100q, but the body says %.100q", name, h.Get(name), want)
	}
	if h.Get(methodHeader) != m.Method {
		return mismatch(methodHeader, m.Method)
	}
	if m.Named() {
		if name, ok := wire.DecodeHeader(h.Get(nameHeader)); !ok || name == "" || name != subject(m) {
			return mismatch(nameHeader, subject(m))
		}
	}
	return nil
}

// checkParams compares Mcp-Param headers with the arguments they repeat.
func checkParams(h http.Header, m *wire.Message, bound []wire.Binding) *wire.Error {
	for _, b := range bound {
		header, arg := h.Get(b.Header), b.Find(m.Arguments)
		argument := strings.Join(b.Path, ".")
		switch {
		case absent(arg) && header != "":
			return wire.Errorf(wire.CodeHeaderMismatch, "there is a header %s, but no argument %s", b.Header, argument)
		case !absent(arg) && (header == "" || !sameValue(header, arg)):
			return wire.Errorf(wire.CodeHeaderMismatch, "the header %s is %.100q, but the argument %s is %.100s", b.Header, header, argument, arg)
		}
	}
	return nil
}

// sameValue compares a header with an argument. Numbers may be written in
// several ways.
func sameValue(header string, arg json.RawMessage) bool {
	value, ok := wire.DecodeHeader(header)
	want, has := wire.HeaderText(arg)
	if !ok || !has {
		return false
	}
	number, isNumber := wire.HeaderText(json.RawMessage(value))
	return value == want || isNumber && arg[0] != '"' && value[0] != '"' && number == want
}

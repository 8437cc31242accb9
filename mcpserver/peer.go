package mcpserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/extension"
	"github.com/toolpost/toolpost/internal/wire"
)

// A peer is a client, and what it can do.
type peer struct {
	version  string // of the protocol
	client   Client
	can      []string        // capabilities to answer requests
	declared json.RawMessage // extensions that it knows, of a session
}

func (p *peer) modern() bool { return p.version >= wire.Stateless }

// require rejects a request that the client did not declare it can answer.
func (p *peer) require(method string, params json.RawMessage) error {
	name, needed := "", "{}"
	switch method {
	case "elicitation/create", "sampling/createMessage", "roots/list":
		name, _, _ = strings.Cut(method, "/")
	}
	if name == "elicitation" && wire.Unquote(wire.Get(params, "mode")) == "url" {
		name, needed = urlMode, `{"url":{}}`
	}
	switch {
	case slices.Contains(p.can, name), extension.Method(method) && extension.Of(method, p.declared):
		return nil
	case name == "":
		return toolpost.ErrNoCaller
	case !p.modern():
		return fmt.Errorf("%w: it did not declare the client capability %s", toolpost.ErrNoCaller, name)
	}
	return &toolpost.ProtocolError{
		Code:    wire.CodeMissingCapability,
		Message: method + " needs the client capability " + name,
		Data:    fmt.Appendf(nil, `{"requiredCapabilities":{"%s":%s}}`, strings.TrimSuffix(name, ".url"), needed),
	}
}

// requireInputs rejects a result that asks for input that the client did not
// declare it can give: clients wait for such input without end.
func (p *peer) requireInputs(result json.RawMessage) error {
	for _, input := range wire.Members(wire.Get(result, "inputRequests")) {
		err := p.require(wire.Unquote(wire.Get(input, "method")), wire.Get(input, "params"))
		if err != nil && !errors.Is(err, toolpost.ErrNoCaller) { // unknown methods are not ours to judge
			return err
		}
	}
	return nil
}

// Limits of what a client says about itself. A session keeps it.
const (
	maxInitialize = 64 << 10
	maxName       = 1 << 10
)

// readPeer reads what a client says about itself in initialize, or with every
// request since 2026-07-28. The prefix goes before the names of members in
// errors.
func readPeer(version string, info, capabilities json.RawMessage, from Client, prefix string) (*peer, *wire.Error) {
	p := &peer{version: version, client: from, can: answering(capabilities)}
	if !absent(capabilities) && !wire.IsObject(capabilities) {
		return nil, wire.Errorf(wire.CodeInvalidParams, "%scapabilities must be an object", prefix)
	}
	if !p.modern() { // which have no requests to the client
		p.declared = extension.Declared(capabilities)
	}
	if absent(info) {
		return p, nil
	}
	if !wire.IsObject(info) {
		return nil, wire.Errorf(wire.CodeInvalidParams, "%sclientInfo must be an object", prefix)
	}
	for _, text := range []struct {
		name string
		into *string
	}{{"name", &p.client.Name}, {"version", &p.client.Version}} {
		value := wire.Get(info, text.name)
		if value != nil && value[0] != '"' {
			return nil, wire.Errorf(wire.CodeInvalidParams, "%sclientInfo.%s must be a string", prefix, text.name)
		}
		if *text.into = wire.Unquote(value); len(*text.into) > maxName {
			return nil, wire.Errorf(wire.CodeInvalidParams, "the name and the version of the client may have %d bytes each", maxName)
		}
	}
	return p, nil
}

// answering returns the capabilities by which a client answers requests.
func answering(capabilities json.RawMessage) (names []string) {
	for name, value := range wire.Members(capabilities) {
		if absent(value) || name != "elicitation" && name != "sampling" && name != "roots" {
			continue
		}
		names = append(names, name)
		if name == "elicitation" && !absent(wire.Get(value, "url")) {
			names = append(names, urlMode)
		}
	}
	return names
}

// urlMode is the capability to open addresses for the user (MCP 2025-11-25, URL mode
// elicitation). A client without it must not be asked to.
const urlMode = "elicitation.url"

// Supports reports whether the client declared a capability to answer requests; see
// [toolpost.Call.CallerSupports].
func (p *peer) Supports(capability string) bool {
	return p != nil && slices.Contains(p.can, capability)
}

func absent(raw json.RawMessage) bool { return raw == nil || string(raw) == "null" }

package mcpserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/extension"
	"github.com/toolpost/toolpost/internal/hidden"
	"github.com/toolpost/toolpost/internal/wire"
	"github.com/toolpost/toolpost/observe"
)

// A peer is a client, and what it can do.
type peer struct {
	version  string // of the protocol
	client   observe.Client
	can      capabilitySet   // to answer requests
	declared json.RawMessage // extensions that it knows, of a session
	says     hidden.Introduction
	party    string // of the client of a session
}

func (p *peer) modern() bool { return p.version >= wire.Stateless }

// require rejects a request that the client did not declare it can answer.
func (p *peer) require(method string, params json.RawMessage) error {
	capability, part := p.missing(method, params)
	name := strings.TrimSuffix(capability+"."+part, ".")
	switch {
	case capability == "", extension.Method(method) && extension.Of(method, p.declared):
		return nil
	case capability == unknownMethod:
		return toolpost.ErrNoCaller
	case !p.modern() && part == "":
		return fmt.Errorf("%w: it did not declare the client capability %s", toolpost.ErrNoCaller, name)
	case !p.modern():
		return fmt.Errorf("%w: %w", toolpost.ErrNoCaller, &toolpost.ProtocolError{
			Code: wire.CodeInvalidParams, Message: method + ": the client did not declare the capability " + name,
		})
	}
	needed := "{}"
	if part != "" {
		needed = `{"` + part + `":{}}`
	}
	return &toolpost.ProtocolError{
		Code:    wire.CodeMissingCapability,
		Message: method + " needs the client capability " + name,
		Data:    fmt.Appendf(nil, `{"requiredCapabilities":{"%s":%s}}`, capability, needed),
	}
}

// unknownMethod stands for the capability to answer a request that MCP does not define.
const unknownMethod = "?"

// missing returns the capability, and the part of it, that the client did not declare
// and that answering a request needs; "" if it declared all.
func (p *peer) missing(method string, params json.RawMessage) (capability, part string) {
	switch method {
	case "roots/list":
		capability = "roots"
	case "elicitation/create":
		if capability, part = "elicitation", "form"; wire.Unquote(wire.Get(params, "mode")) == "url" {
			part = "url"
		}
	case "sampling/createMessage":
		if capability = "sampling"; !absent(wire.Get(params, "tools")) || !absent(wire.Get(params, "toolChoice")) {
			part = "tools"
		}
	default:
		return unknownMethod, ""
	}
	switch {
	case !p.can.has(capability) && part != "url":
		return capability, ""
	case part != "" && !p.can.has(capability+"."+part):
		return capability, part
	}
	return "", ""
}

// answerable returns the params of a request without what the client does not know:
// includeContext, which servers should send only to clients that declare it (MCP
// 2025-11-25, sampling). Clients of older versions know it.
func (p *peer) answerable(method string, params json.RawMessage) json.RawMessage {
	if method != "sampling/createMessage" || p.version < "2025-11-25" || p.can.has("sampling.context") || wire.Get(params, "includeContext") == nil {
		return params
	}
	return wire.Delete(params, "includeContext")
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
func readPeer(version string, info, capabilities json.RawMessage, from observe.Client, prefix string) (*peer, *wire.Error) {
	p := &peer{version: version, client: from, can: parseCapabilities(capabilities)}
	if !absent(capabilities) && !wire.IsObject(capabilities) {
		return nil, wire.Errorf(wire.CodeInvalidParams, "%scapabilities must be an object", prefix)
	}
	p.says = hidden.Introduction{Info: info, Capabilities: capabilities}
	if !p.modern() { // which have no requests to the client
		p.declared = extension.Declared(capabilities)
		p.says = hidden.Introduction{Info: keep(info), Capabilities: keep(capabilities)}
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

// maxSays bounds each part of what a session keeps of what its client said.
const maxSays = 8 << 10

// keep returns a copy that does not hold the message in memory, nil if it is too large
// to be kept.
func keep(raw json.RawMessage) json.RawMessage {
	if len(raw) > maxSays {
		return nil
	}
	return bytes.Clone(raw)
}

// Introduction returns what the client said about itself; see [hidden.IntroductionOf].
func (p *peer) Introduction() *hidden.Introduction {
	if p == nil {
		return nil
	}
	return &p.says
}

// A capabilitySet has a bit for each of the requestCapabilities that a client declared.
type capabilitySet uint8

// requestCapabilities are the capabilities by which clients answer requests, each followed by
// its parts (MCP 2025-11-25). A server must not send a request whose capability or part the
// client did not declare.
var requestCapabilities = [...]string{
	"roots",
	"elicitation", "elicitation.form", "elicitation.url",
	"sampling", "sampling.context", "sampling.tools",
}

func (c capabilitySet) has(name string) bool {
	i := slices.Index(requestCapabilities[:], name)
	return i >= 0 && c&(1<<i) != 0
}

// parseCapabilities returns the requestCapabilities among those that a client declared.
func parseCapabilities(declared json.RawMessage) (all capabilitySet) {
	for name, value := range wire.Members(declared) {
		if absent(value) {
			continue
		}
		for i, by := range requestCapabilities {
			capability, part, isPart := strings.Cut(by, ".")
			if capability == name && (!isPart || !absent(wire.Get(value, part)) || by == "elicitation.form" && absent(wire.Get(value, "url"))) {
				all |= 1 << i // without parts, elicitation is that of forms, as before there were parts
			}
		}
	}
	return all
}

// Supports reports whether the client declared a capability to answer requests; see
// [toolpost.Call.CallerSupports].
func (p *peer) Supports(capability string) bool {
	return p != nil && p.can.has(capability)
}

func absent(raw json.RawMessage) bool { return raw == nil || string(raw) == "null" }

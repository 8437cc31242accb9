//lint:file-ignore SA1019 older versions of the protocol have logging, sampling and roots

package mcpserver

import (
	"context"
	"encoding/json"
	"slices"

	jsonx "github.com/go-json-experiment/json"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolpost/toolpost"
)

// Protocol versions that make a difference here.
const (
	stateless = "2026-07-28" // no sessions, no requests from the server
	lastOfOld = "2025-11-25"
	lastBatch = "2025-03-26" // later versions have no batches
)

// A peer is the client that sent a request.
type peer struct {
	version         string // of the protocol
	client, release string // the name and version that the client gives itself
	can             abilities
}

func (p *peer) modern() bool { return p.version >= stateless }

// abilities are the requests that a client can answer.
type abilities struct{ elicit, sample, roots bool }

// ability returns the name of the capability that a request to the client
// needs, and whether the client has it.
func (a abilities) ability(method string) (name string, has bool) {
	switch method {
	case "elicitation/create":
		return "elicitation", a.elicit
	case "sampling/createMessage":
		return "sampling", a.sample
	case "roots/list":
		return "roots", a.roots
	}
	return "", false
}

// require refuses a request that the client did not declare it can answer.
func (p *peer) require(method string) error {
	name, has := p.can.ability(method)
	switch {
	case has:
		return nil
	case name == "" || !p.modern():
		return toolpost.ErrNoCaller
	}
	return &toolpost.ProtocolError{
		Code:    mcp.CodeMissingRequiredClientCapabilities,
		Message: method + " needs the client capability " + name,
		Data:    []byte(`{"requiredCapabilities":{"` + name + `":{}}}`),
	}
}

// meta is what the server reads of a request's _meta.
type meta struct {
	Version string `json:"io.modelcontextprotocol/protocolVersion"`
	Client  *struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	} `json:"io.modelcontextprotocol/clientInfo"`
	Can *struct {
		Elicitation json.RawMessage `json:"elicitation"`
		Sampling    json.RawMessage `json:"sampling"`
		Roots       json.RawMessage `json:"roots"`
	} `json:"io.modelcontextprotocol/clientCapabilities"`
	LogLevel string          `json:"io.modelcontextprotocol/logLevel"`
	Progress json.RawMessage `json:"progressToken"`
}

func readMeta(raw json.RawMessage) (m meta, fault *jsonrpc.Error) {
	if raw == nil {
		return m, nil
	}
	if err := jsonx.Unmarshal(raw, &m); err != nil {
		return m, rpcError(jsonrpc.CodeInvalidParams, "read _meta: %.300v", err)
	}
	if m.Client != nil {
		fault = checkClientName(m.Client.Name, m.Client.Version)
	}
	return m, fault
}

// peer returns the client that a modern request describes itself.
func (m *meta) peer() peer {
	p := peer{version: m.Version}
	if m.Client != nil {
		p.client, p.release = m.Client.Name, m.Client.Version
	}
	if m.Can != nil {
		p.can = abilities{m.Can.Elicitation != nil, m.Can.Sampling != nil, m.Can.Roots != nil}
	}
	return p
}

// sessionPeer returns the client that introduced itself by initialize.
func sessionPeer(s *mcp.ServerSession) peer {
	var p peer
	init := s.InitializeParams()
	if init == nil {
		return p
	}
	p.version = init.ProtocolVersion
	if p.modern() || !slices.Contains(mcp.SupportedProtocolVersions(), p.version) {
		p.version = lastOfOld // what initialize answers to a version it cannot serve
	}
	if init.ClientInfo != nil {
		p.client, p.release = init.ClientInfo.Name, init.ClientInfo.Version
	}
	if c := init.Capabilities; c != nil {
		p.can = abilities{c.Elicitation != nil, c.Sampling != nil, c.RootsV2 != nil}
	}
	return p
}

type peerKey struct{}

// ClientFrom returns the name and version that the client of the current
// call gave itself, empty if it gave none. They are claims, not identities.
func ClientFrom(ctx context.Context) (name, version string) {
	if p, ok := ctx.Value(peerKey{}).(*peer); ok {
		return p.client, p.release
	}
	return "", ""
}

package upstream

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"net/url"
	"strings"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/cleartext"
	"github.com/toolpost/toolpost/internal/wire"
)

// codeURLRequired is the code of errors that ask to open an address first (MCP
// 2025-11-25, URL mode elicitation).
const codeURLRequired = -32042

// checkLinks refuses an elicitation whose address a client must not open, as
// one that runs a script or starts a program.
func checkLinks(method string, params json.RawMessage) error {
	if method != "elicitation/create" {
		return nil
	}
	address := wire.Get(params, "url") // what is not an object has none
	if address == nil && wire.Unquote(wire.Get(params, "mode")) != "url" {
		return nil
	}
	return checkLink(wire.Unquote(address))
}

func checkLink(address string) error {
	u, err := url.Parse(address)
	if err == nil && u.Hostname() != "" && u.User == nil && (u.Scheme == "https" || u.Scheme == "http" && loopbackHost(u.Hostname())) {
		return nil
	}
	return fmt.Errorf("the server asks to open %.100q, which is refused: want an https address without a user, or an http address of this machine", address)
}

func loopbackHost(host string) bool {
	ip, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && ip.Unmap().IsLoopback()
}

// protocolError returns an error of the server as the caller gets it.
func protocolError(e *wire.Error) *toolpost.ProtocolError {
	if e.Code != codeURLRequired {
		return &toolpost.ProtocolError{Code: e.Code, Message: e.Message, Data: e.Data}
	}
	data, err := presentableData(e.Data)
	if err != nil {
		return &toolpost.ProtocolError{Code: wire.CodeInternal, Message: err.Error()}
	}
	return &toolpost.ProtocolError{Code: e.Code, Message: cleartext.Clean(e.Message), Data: data}
}

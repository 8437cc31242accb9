package upstream

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/cleartext"
	"github.com/toolpost/toolpost/internal/netaddr"
	"github.com/toolpost/toolpost/internal/wire"
)

// Limits of what clients show to a person.
const (
	longestElicitation = 1 << 20
	longestProgress    = 64 << 10
)

// presentable returns the params of a server's request as a client may show
// them to a person. Hidden characters are removed from the texts of an
// elicitation. An elicitation is refused if its address must not be opened, or
// if a name or value that must come back unchanged has hidden characters.
// Requests of other methods are returned unchanged.
func presentable(method string, params json.RawMessage) (json.RawMessage, error) {
	if method != "elicitation/create" || len(params) == 0 {
		return params, nil
	}
	if len(params) > longestElicitation {
		return nil, fmt.Errorf("an elicitation of the server is refused: it has %d bytes, at most %d are passed on", len(params), longestElicitation)
	}
	if !jsontext.Value(params).IsValid() {
		return nil, errOddInput
	}
	if wire.TooDeep(params, deepestItem) {
		return nil, fmt.Errorf("an elicitation of the server is refused: it has more than %d levels", deepestItem)
	}
	if err := checkAddress(params); err != nil {
		return nil, err
	}
	clean, err := removeHidden("", params)
	if err != nil {
		return nil, fmt.Errorf("an elicitation of the server is refused: %w", err)
	}
	return clean, nil
}

// errOddInput refuses what asks for input and has a member twice, since readers
// differ in which of the two counts.
var errOddInput = errors.New("the server's request for input has a member twice, or is not UTF-8")

// makePresentable makes all presentable that a result asks for. That of a task asks
// without saying so in its type. Other results keep their bytes.
func makePresentable(m *wire.Message, task bool) error {
	if !m.Asks && (!task || m.InputRequests == nil) {
		return nil
	}
	if !jsontext.Value(m.Result).IsValid() {
		return &inputError{errOddInput}
	}
	var refused error
	clean := wire.Edit(m.InputRequests, func(_ string, q json.RawMessage) json.RawMessage {
		params := wire.Get(q, "params")
		shown, err := presentable(wire.Unquote(wire.Get(q, "method")), params)
		refused = cmp.Or(refused, err)
		if err != nil || bytes.Equal(shown, params) {
			return q
		}
		return wire.Set(q, "params", shown)
	})
	if refused != nil {
		return &inputError{refused}
	}
	if !bytes.Equal(clean, m.InputRequests) {
		m.Result, m.InputRequests = wire.Set(m.Result, "inputRequests", clean), clean
	}
	return nil
}

// presentableData is presentable for the data of an error that asks to open
// addresses first.
func presentableData(raw json.RawMessage) (json.RawMessage, error) {
	asked := wire.Get(raw, "elicitations")
	if asked == nil {
		return raw, nil
	}
	if !jsontext.Value(raw).IsValid() {
		return nil, errOddInput
	}
	if asked[0] != '[' {
		return nil, errors.New("the server's error asks for input, but not with a list")
	}
	var refused error
	clean := wire.EditElements(asked, func(params json.RawMessage) json.RawMessage {
		shown, err := presentable("elicitation/create", params)
		refused = cmp.Or(refused, err)
		return shown
	})
	if refused != nil || bytes.Equal(clean, asked) {
		return raw, refused
	}
	return wire.Set(raw, "elicitations", clean), nil
}

// presentableProgress returns the params of a progress notification without the
// hidden characters of its message, which clients show, and without a message
// that is too long to be shown.
func presentableProgress(params json.RawMessage) json.RawMessage {
	if len(wire.Get(params, "message")) > longestProgress {
		return wire.Delete(params, "message")
	}
	message := wire.Unquote(wire.Get(params, "message"))
	if clean := cleartext.Clean(message); clean != message {
		return wire.Set(params, "message", wire.Quote(clean))
	}
	return params
}

// removeHidden returns a value of an elicitation without the hidden characters of
// its texts. All else stays. Name is that of the member that has the value.
func removeHidden(name string, value json.RawMessage) (json.RawMessage, error) {
	var refused error
	clean := func(name string, value json.RawMessage) json.RawMessage {
		shown, err := removeHidden(name, value)
		refused = cmp.Or(refused, err)
		return shown
	}
	switch value[0] {
	case '{':
		value = wire.Edit(value, func(member string, value json.RawMessage) json.RawMessage {
			if cleartext.Clean(member) != member {
				refused = cmp.Or(refused, fmt.Errorf("a name in it has hidden characters: %+.100q", member))
			}
			if member == "_meta" {
				return value
			}
			return clean(member, value)
		})
	case '[':
		value = wire.EditElements(value, func(value json.RawMessage) json.RawMessage { return clean(name, value) })
	case '"':
		text := wire.Unquote(value)
		shown := cleartext.Clean(text)
		switch {
		case shown == text:
		case name != "message" && name != "title" && name != "description" && name != "enumNames": // no person reads it
			return nil, fmt.Errorf("its %s has hidden characters: %+.100q", name, text)
		default:
			return wire.Quote(shown), nil
		}
	}
	return value, refused
}

// codeURLRequired is the code of errors that ask to open an address first (MCP
// 2025-11-25, URL mode elicitation).
const codeURLRequired = -32042

// checkAddress refuses an elicitation whose address a client must not open, such
// as one that runs a script or starts a program.
func checkAddress(params json.RawMessage) error {
	address := wire.Get(params, "url") // what is not an object has none
	if address == nil && wire.Unquote(wire.Get(params, "mode")) != "url" {
		return nil
	}
	link := wire.Unquote(address)
	u, err := url.Parse(link)
	if err == nil && u.Hostname() != "" && u.User == nil && (u.Scheme == "https" || u.Scheme == "http" && netaddr.IsLoopback(u.Hostname())) {
		return nil
	}
	return fmt.Errorf("the server asks to open %.100q, which is refused: want an https address without a user, or an http address of this machine", link)
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

package wire

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode"
)

// A parser reads messages.
type parser struct{ scanner }

func (p *parser) batch() (found []Message, err error) {
	ids := map[string]bool{}
	err = p.array(func() error {
		if len(found) == maxBatch {
			return Errorf(CodeInvalidRequest, "the batch has more than %d messages", maxBatch)
		}
		var m Message
		if err := p.message(&m); err != nil {
			return err
		}
		if id := string(m.ID); m.IsCall() {
			if ids[id] {
				return Errorf(CodeInvalidRequest, "two requests of the batch have the id %s", id)
			}
			ids[id] = true
		}
		found = append(found, m)
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case found == nil:
		return nil, Errorf(CodeInvalidRequest, "the batch is empty")
	}
	return found, nil
}

func (p *parser) message(m *Message) error {
	if c := p.peek(); c != '{' {
		if err := p.skip(); err != nil && c != 0 {
			return err
		}
		return Errorf(CodeInvalidRequest, "want a JSON-RPC message: a JSON object")
	}
	var version, id json.RawMessage
	err := p.object(func(name []byte) error {
		switch string(name) {
		case `"jsonrpc"`:
			return p.raw(&version)
		case `"id"`:
			return p.raw(&id)
		case `"method"`:
			return p.text(&m.Method, "/method", CodeInvalidRequest)
		case `"params"`:
			return p.params(m)
		case `"result"`:
			return p.result(m)
		case `"error"`:
			return p.raw(&m.Err)
		}
		return p.other(name)
	})
	switch {
	case err != nil:
		return err
	case p.strict:
		return m.check(version, id)
	}
	return m.forgive(version, id)
}

// members reads an object like object does. Any other value is read as it is.
func (p *parser) members(into *json.RawMessage, f func(name []byte) error) error {
	if p.peek() != '{' {
		return p.raw(into)
	}
	start := p.at
	err := p.object(f)
	*into = p.data[start:p.at:p.at]
	return err
}

func (p *parser) raw(into *json.RawMessage) (err error) {
	*into, err = p.value()
	return err
}

// text reads a string. Where a server sends something else, it stays "".
func (p *parser) text(into *string, pointer string, code int64) error {
	raw, err := p.value()
	switch {
	case err != nil:
		return err
	case raw[0] == '"':
		*into = Unquote(raw)
	case p.strict:
		return Errorf(code, "%s is not a string", pointer)
	}
	return nil
}

// other reads a member that the envelope does not have, and refuses a known
// one in another spelling: some readers would take it.
func (p *parser) other(name []byte) error {
	if p.strict {
		text := Unquote(name)
		for _, known := range []string{"jsonrpc", "id", "method", "params", "result", "error"} {
			if Alike(text, known) {
				return Errorf(CodeInvalidRequest, "the member %.40q must be written %q", text, known)
			}
		}
	}
	return p.skip()
}

// Alike reports whether some readers take one name of a member for the other:
// those that ignore case, as encoding/json does, or control characters.
func Alike(name, known string) bool {
	return strings.EqualFold(known, strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, name))
}

func (p *parser) params(m *Message) error {
	m.Call = Call{} // of an earlier member of this name
	return p.members(&m.Params, func(name []byte) error {
		switch string(name) {
		case `"name"`:
			m.HasName = true
			return p.text(&m.Name, "/params/name", CodeInvalidParams)
		case `"uri"`:
			m.HasURI = true
			return p.text(&m.URI, "/params/uri", CodeInvalidParams)
		case `"arguments"`:
			return p.raw(&m.Arguments)
		case `"inputResponses"`:
			return p.raw(&m.InputResponses)
		case `"requestState"`:
			return p.raw(&m.RequestState)
		case `"progressToken"`:
			return p.raw(&m.ProgressToken)
		case `"_meta"`:
			return p.meta(m)
		}
		return p.odd(name, "name", "uri", "arguments", "inputResponses", "requestState", "progressToken", "_meta")
	})
}

// odd reads an unknown member. One that hides the name of a known one behind
// escapes is refused: other readers would take it.
func (p *parser) odd(name []byte, known ...string) error {
	if p.strict && bytes.IndexByte(name, '\\') >= 0 {
		text := Unquote(name)
		for _, k := range known {
			if text == k {
				return Errorf(CodeInvalidParams, "the member %q must be written without escapes", text)
			}
		}
	}
	return p.skip()
}

func (p *parser) meta(m *Message) error {
	m.MetaCall = MetaCall{} // of an earlier member of this name
	return p.members(&m.Meta, func(name []byte) error {
		switch string(name) {
		case `"progressToken"`:
			return p.raw(&m.ProgressToken)
		case `"` + MetaVersion + `"`:
			return p.text(&m.Version, "/params/_meta/"+MetaVersion, CodeInvalidParams)
		case `"` + MetaLogLevel + `"`:
			return p.text(&m.LogLevel, "/params/_meta/"+MetaLogLevel, CodeInvalidParams)
		case `"` + MetaClientInfo + `"`:
			return p.optional(&m.ClientInfo)
		case `"` + MetaCapabilities + `"`:
			return p.optional(&m.Capabilities)
		}
		return p.odd(name, "progressToken", MetaVersion, MetaLogLevel, MetaClientInfo, MetaCapabilities)
	})
}

// optional reads a value; null counts as none.
func (p *parser) optional(into *json.RawMessage) error {
	raw, err := p.value()
	*into = unlessNull(raw)
	return err
}

func (p *parser) result(m *Message) error {
	m.Answer, p.links = Answer{}, false // of an earlier member of this name
	err := p.members(&m.Result, func(name []byte) error {
		switch string(name) {
		case `"isError"`:
			raw, err := p.value()
			m.IsError = string(raw) == "true"
			return err
		case `"content"`:
			return p.raw(&m.Content)
		case `"structuredContent"`:
			return p.raw(&m.Structured)
		case `"resultType"`:
			raw, err := p.value()
			m.ResultType, m.Typed = Unquote(raw), true
			m.Asks = m.Asks || m.ResultType == "input_required"
			return err
		case `"inputRequests"`:
			return p.raw(&m.InputRequests)
		case `"requestState"`:
			return p.raw(&m.ResultState)
		case `"_meta"`:
			m.OddMeta = m.ResultMeta != nil
			return p.raw(&m.ResultMeta)
		}
		return p.skip()
	})
	m.Links = p.links
	return err
}

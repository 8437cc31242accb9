package wire

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode"
)

// A parser reads messages.
type parser struct{ scanner }

func (p *parser) batch() ([]Message, error) {
	var found []Message
	ids := map[string]bool{}
	list, err := p.open()
	if err != nil {
		return nil, err
	}
	for {
		switch more, err := p.element(&list); {
		case err != nil:
			return nil, err
		case !more && len(found) == 0:
			return nil, Errorf(CodeInvalidRequest, "the batch is empty")
		case !more:
			return found, nil
		case len(found) == maxBatch:
			return nil, Errorf(CodeInvalidRequest, "the batch has more than %d messages", maxBatch)
		}
		var m Message
		if err := p.message(&m); err != nil {
			return nil, err
		}
		if id := string(m.ID); m.IsCall() {
			if ids[id] {
				return nil, Errorf(CodeInvalidRequest, "two requests of the batch have the id %s", id)
			}
			ids[id] = true
		}
		found = append(found, m)
	}
}

func (p *parser) message(m *Message) error {
	if c := p.peek(); c != '{' {
		if _, err := p.value(); err != nil && c != 0 {
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

// object reads an object; f reads the value of each member. Servers may write
// names with escapes.
func (p *parser) object(f func(name []byte) error) error {
	list, err := p.open()
	for err == nil {
		var name []byte
		if name, err = p.next(&list); name == nil {
			return err
		}
		if !p.strict && bytes.IndexByte(name, '\\') >= 0 {
			name = Quote(Unquote(name))
		}
		err = f(name)
	}
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
		plain := strings.Map(func(r rune) rune {
			if unicode.IsControl(r) {
				return -1
			}
			return r
		}, text)
		for _, known := range []string{"jsonrpc", "id", "method", "params", "result", "error"} {
			if strings.EqualFold(plain, known) {
				return Errorf(CodeInvalidRequest, "the member %.40q must be written %q", text, known)
			}
		}
	}
	_, err := p.value()
	return err
}

func (p *parser) params(m *Message) error {
	if p.peek() != '{' {
		return p.raw(&m.Params)
	}
	start := p.at
	err := p.object(func(name []byte) error {
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
	m.Params = p.data[start:p.at:p.at]
	return err
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
	_, err := p.value()
	return err
}

func (p *parser) meta(m *Message) error {
	if p.peek() != '{' {
		return p.raw(&m.Meta)
	}
	start := p.at
	err := p.object(func(name []byte) error {
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
	m.Meta = p.data[start:p.at:p.at]
	return err
}

// optional reads a value; null is no value.
func (p *parser) optional(into *json.RawMessage) error {
	raw, err := p.value()
	if string(raw) != "null" {
		*into = raw
	}
	return err
}

func (p *parser) result(m *Message) error {
	if p.peek() != '{' {
		return p.raw(&m.Result)
	}
	start := p.at
	err := p.object(func(name []byte) error {
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
			return p.raw(&m.ResultMeta)
		}
		_, err := p.value()
		return err
	})
	m.Result = p.data[start:p.at:p.at]
	return err
}

package upstream

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/toolpost/toolpost/internal/cleartext"
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
	if err := checkLinks(method, params); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	c := formCleaner{d: jsontext.NewDecoder(bytes.NewReader(params)), e: jsontext.NewEncoder(&out, jsontext.PreserveRawStrings(true))}
	switch err := c.value(""); {
	case err != nil:
		return nil, fmt.Errorf("an elicitation of the server is refused: %w", err)
	case !c.changed:
		return params, nil // in its own bytes
	}
	return bytes.TrimSpace(out.Bytes()), nil
}

// errOddInput refuses what asks for input and has a member twice, since readers
// differ in which of the two counts.
var errOddInput = errors.New("the server's request for input has a member twice, or is not UTF-8")

// presentableResult returns a result that asks for input with all that it asks
// made presentable. Other results keep their bytes.
func presentableResult(m wire.Message) (wire.Message, error) {
	if !m.Asks {
		return m, nil
	}
	if !jsontext.Value(m.Result).IsValid() {
		return m, &inputError{errOddInput}
	}
	var refused error
	clean := wire.Edit(m.InputRequests, func(_ string, q json.RawMessage) json.RawMessage {
		params := wire.Get(q, "params")
		shown, err := presentable(wire.Unquote(wire.Get(q, "method")), params)
		refused = firstOf(refused, err)
		if err != nil || bytes.Equal(shown, params) {
			return q
		}
		return wire.Set(q, "params", shown)
	})
	if refused != nil {
		return m, &inputError{refused}
	}
	if !bytes.Equal(clean, m.InputRequests) {
		m.Result, m.InputRequests = wire.Set(m.Result, "inputRequests", clean), clean
	}
	return m, nil
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
	changed, list := false, json.RawMessage("[")
	for params := range wire.Elements(asked) {
		clean, err := presentable("elicitation/create", params)
		if err != nil {
			return nil, err
		}
		changed = changed || !bytes.Equal(clean, params)
		if len(list) > 1 {
			list = append(list, ',')
		}
		list = append(list, clean...)
	}
	if !changed {
		return raw, nil
	}
	return wire.Set(raw, "elicitations", append(list, ']')), nil
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

// A formCleaner copies an elicitation without the hidden characters of its texts.
type formCleaner struct {
	d       *jsontext.Decoder
	e       *jsontext.Encoder
	changed bool
}

// value copies the value of the member called name.
func (c *formCleaner) value(name string) error {
	switch kind := c.d.PeekKind(); {
	case kind == '{' && name != "_meta":
		return c.elements(c.member)
	case kind == '[':
		return c.elements(func() error { return c.value(name) })
	}
	raw, err := c.d.ReadValue()
	if err != nil {
		return err
	}
	if raw.Kind() != '"' {
		return c.e.WriteValue(raw)
	}
	text, _ := jsontext.AppendUnquote(nil, raw) // ReadValue has checked it
	clean := cleartext.Clean(string(text))
	switch {
	case clean == string(text):
		return c.e.WriteValue(raw)
	case name == "message" || name == "title" || name == "description" || name == "enumNames":
		c.changed = true
		return c.e.WriteToken(jsontext.String(clean))
	}
	return fmt.Errorf("its %s has hidden characters: %+.100q", name, text)
}

// member copies a member of an object.
func (c *formCleaner) member() error {
	t, err := c.d.ReadToken()
	if err != nil {
		return err
	}
	name := t.String()
	if cleartext.Clean(name) != name {
		return fmt.Errorf("a name in it has hidden characters: %+.100q", name)
	}
	if err := c.e.WriteToken(t); err != nil {
		return err
	}
	return c.value(name)
}

// elements copies an object or an array.
func (c *formCleaner) elements(next func() error) error {
	t, err := c.d.ReadToken()
	if err != nil {
		return err
	}
	if err := c.e.WriteToken(t); err != nil {
		return err
	}
	for kind := c.d.PeekKind(); kind != '}' && kind != ']'; kind = c.d.PeekKind() {
		if err := next(); err != nil {
			return err
		}
	}
	if t, err = c.d.ReadToken(); err != nil {
		return err
	}
	return c.e.WriteToken(t)
}

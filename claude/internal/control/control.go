// Package control decodes the lines by which the CLI and its host control each other.
// Programs do not see them, so package message has no types for them.
//
//	*message.System ──▶ Decode ──▶ *Request, *Response, *Cancel, *KeepAlive, *Mirror
package control

import (
	"encoding/json"
	"errors"

	"github.com/toolpost/toolpost/claude/message"
	"github.com/toolpost/toolpost/internal/wire"
)

// A Request is a request of the CLI to this process.
type Request struct {
	ID      string
	Subtype string
	Body    json.RawMessage // the object that has the subtype
}

// A Response answers a request of this process.
type Response struct {
	ID      string
	Subtype string          // success or error
	Body    json.RawMessage // nil if there is none
	Error   string
	Code    string
}

// A Cancel cancels a request of the CLI.
type Cancel struct{ ID string }

// A KeepAlive only shows that the CLI is alive.
type KeepAlive struct{}

// A Mirror contains what was added to a transcript.
type Mirror struct {
	File  string
	Lines []json.RawMessage
	Size  int64 // of the message, in bytes
}

// Decode returns the line of control that m is, nil if it is another message. The error
// is a *message.ParseError.
func Decode(m message.Message) (any, error) {
	s, ok := m.(*message.System)
	if !ok {
		return nil, nil
	}
	d := &decoder{system: s}
	var line any
	switch s.Type {
	case "control_request":
		body := d.object("request")
		line = &Request{ID: d.text(s.Extra, "", "request_id"), Subtype: d.required(body, "request.", "subtype"), Body: s.Extra["request"]}
	case "control_response":
		body := d.object("response")
		line = &Response{
			ID: d.required(body, "response.", "request_id"), Subtype: d.required(body, "response.", "subtype"),
			Body: notNull(body["response"]), Error: d.text(body, "response.", "error"), Code: d.text(body, "response.", "error_code"),
		}
	case "control_cancel_request":
		line = &Cancel{ID: d.text(s.Extra, "", "request_id")}
	case "keep_alive":
		line = &KeepAlive{}
	case "transcript_mirror":
		line = &Mirror{File: d.text(s.Extra, "", "filePath"), Lines: d.list("entries"), Size: int64(len(s.Raw))}
	}
	if d.err != nil {
		return nil, d.err
	}
	return line, nil
}

// A decoder reads members of a message, and keeps the first error.
type decoder struct {
	system *message.System
	err    error
}

type members map[string]json.RawMessage

var errMissing = errors.New("is missing")

func (d *decoder) fail(field string, err error) {
	if d.err == nil {
		d.err = &message.ParseError{Type: d.system.Type, Field: field, Line: d.system.Raw, Err: err}
	}
}

// object returns the members of a member that is an object.
func (d *decoder) object(name string) members {
	raw := d.system.Extra[name]
	if !wire.IsObject(raw) {
		d.fail(name, errors.New("is not an object"))
	}
	all := members{}
	for n, value := range wire.Members(raw) {
		all[n] = value
	}
	return all
}

// list returns the elements of a member that is an array.
func (d *decoder) list(name string) (all []json.RawMessage) {
	raw := d.system.Extra[name]
	if len(raw) == 0 || raw[0] != '[' {
		d.fail(name, errors.New("is not an array"))
	}
	for value := range wire.Elements(raw) {
		all = append(all, value)
	}
	return all
}

// text returns a string of an object; empty if there is none.
func (d *decoder) text(object members, at, name string) string {
	raw := notNull(object[name])
	if raw != nil && raw[0] != '"' {
		d.fail(at+name, errors.New("is not a string"))
	}
	return wire.Unquote(raw)
}

func (d *decoder) required(object members, at, name string) string {
	text := d.text(object, at, name)
	if text == "" {
		d.fail(at+name, errMissing)
	}
	return text
}

func notNull(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 || raw[0] == 'n' {
		return nil
	}
	return raw
}

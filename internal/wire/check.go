package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
)

// check looks at the message of a client as a whole.
func (m *Message) check(version, id json.RawMessage) error {
	if err := checkID(id); err != nil {
		return err
	}
	if m.ID = id; bytes.IndexByte(id, '\\') > 0 { // ids are compared by their bytes
		m.ID = Quote(Unquote(id))
	}
	response := m.Result != nil || m.Err != nil
	switch {
	case m.Result != nil && m.Err != nil:
		return Errorf(CodeInvalidRequest, "a response has a result or an error, not both")
	case string(version) != `"2.0"`:
		return Errorf(CodeInvalidRequest, `want "jsonrpc":"2.0", got %.40q`, version)
	case m.Method != "" && response:
		return Errorf(CodeInvalidRequest, "a message has a method, or a result or error, not both")
	case m.Method == "" && !response:
		return Errorf(CodeInvalidRequest, "the message has no method")
	case m.Method == "" && id == nil:
		return Errorf(CodeInvalidRequest, "the response has no id")
	case m.IsCall() && strings.HasPrefix(m.Method, "notifications/"):
		return Errorf(CodeInvalidRequest, "the notification %.100q has an id", m.Method)
	}
	return m.checkName()
}

// checkName accepts the one member that names what the request is for. With
// another one beside it, a filter in front might read the other.
func (m *Message) checkName() error {
	if !m.Named() {
		return nil
	}
	resource := m.Method == "resources/read"
	if resource && m.HasName || !resource && m.HasURI {
		want := "name"
		if resource {
			want = "uri"
		}
		return Errorf(CodeInvalidParams, "%s takes %s; remove the member that names something else", m.Method, want)
	}
	return nil
}

// checkID accepts ids that come back unchanged through every JSON library.
func checkID(id json.RawMessage) error {
	switch {
	case id == nil:
		return nil
	case id[0] == '"':
		if len(id) > maxID+2 {
			return Errorf(CodeInvalidRequest, "the id has %d bytes, at most %d", len(id), maxID)
		}
		return nil
	}
	n, err := strconv.ParseInt(string(id), 10, 64)
	if err != nil || strconv.FormatInt(n, 10) != string(id) || n > maxSafe || n < -maxSafe {
		return Errorf(CodeInvalidRequest, "want an id that is a string or an integer up to 2^53-1, got %.40s", id)
	}
	return nil
}

var errNotMessage = errors.New("not a JSON-RPC message")

// forgive looks at the message of a server as a whole. Null is the same as an
// absent member. A response without result and error is a response: its request
// must not wait for another one.
func (m *Message) forgive(version, id json.RawMessage) error {
	m.ID, m.Err = unlessNull(id), unlessNull(m.Err)
	if m.Err != nil || m.Method != "" {
		m.Result = unlessNull(m.Result)
	}
	isRequest, isResponse := m.Method != "", m.Result != nil || m.Err != nil
	switch {
	case string(version) != `"2.0"`, isRequest && isResponse, m.ID != nil && strings.IndexByte(`"-0123456789`, m.ID[0]) < 0:
		return errNotMessage
	case m.ID == nil && (isRequest && id != nil || !isRequest && m.Err == nil):
		return errNotMessage
	}
	return nil
}

func unlessNull(raw json.RawMessage) json.RawMessage {
	if string(raw) == "null" {
		return nil
	}
	return raw
}

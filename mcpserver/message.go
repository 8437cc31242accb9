package mcpserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// What one message may be. Real ones stay far below.
const (
	maxDepth    = 256
	maxIDLength = 1 << 10
	maxBatch    = 100
	maxSafe     = 1<<53 - 1 // integers above are not exact for every peer
)

// A message is one JSON-RPC message (https://www.jsonrpc.org/specification),
// taken apart as far as routing needs it. Its raw members are slices of what
// came in.
type message struct {
	id     json.RawMessage // nil for a notification
	method string          // "" for a response
	params json.RawMessage
	answer json.RawMessage // a response's result, or its error if failed
	failed bool

	unknown bool // a ping in place of an unknown method; see known

	// Members of params, if it is an object.
	name      string // of the tool or prompt; the URI of a resource
	uri       string
	has       [2]bool // whether params has name, and uri
	arguments json.RawMessage
	meta      json.RawMessage
}

func (m *message) isCall() bool { return m.method != "" && m.id != nil }

func rpcError(code int64, format string, args ...any) *jsonrpc.Error {
	return &jsonrpc.Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// parse takes data apart in one pass. It is strict, so that no two readers of
// the same bytes can disagree: valid UTF-8, no duplicate members, no odd
// spellings of the envelope's members, ids that every peer can echo. With an
// error it returns what it understood, for the answer's id.
func parse(data []byte) (msgs []message, batch bool, fault *jsonrpc.Error) {
	if tooDeep(data) {
		return nil, false, rpcError(jsonrpc.CodeParseError, "the message nests more than %d levels deep", maxDepth)
	}
	p := &parser{data, jsontext.NewDecoder(bytes.NewBuffer(data))}
	batch = p.dec.PeekKind() == '['
	var err error
	if batch {
		msgs, err = p.batch()
	} else {
		msgs = make([]message, 1)
		err = p.message(&msgs[0])
	}
	if err == nil {
		if _, more := p.dec.ReadToken(); more != io.EOF {
			err = rpcError(jsonrpc.CodeParseError, "there is data after the message")
		}
	}
	return msgs, batch, asFault(err)
}

// asFault returns nil for nil. Errors of the decoder are syntax errors.
func asFault(err error) *jsonrpc.Error {
	var fault *jsonrpc.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &fault):
		return fault
	case errors.Is(err, jsontext.ErrDuplicateName):
		return rpcError(jsonrpc.CodeInvalidRequest, "%.300v", err)
	}
	return rpcError(jsonrpc.CodeParseError, "the message is not JSON: %.300v", err)
}

type parser struct {
	data []byte
	dec  *jsontext.Decoder
}

func (p *parser) batch() ([]message, error) {
	if _, err := p.dec.ReadToken(); err != nil {
		return nil, err
	}
	var msgs []message
	ids := map[string]bool{}
	for p.dec.PeekKind() != ']' {
		if len(msgs) == maxBatch {
			return nil, rpcError(jsonrpc.CodeInvalidRequest, "the batch has more than %d messages", maxBatch)
		}
		var m message
		if err := p.message(&m); err != nil {
			return nil, err
		}
		if id := string(m.id); m.isCall() {
			if ids[id] {
				return nil, rpcError(jsonrpc.CodeInvalidRequest, "two requests of the batch have the id %s", id)
			}
			ids[id] = true
		}
		msgs = append(msgs, m)
	}
	if len(msgs) == 0 {
		return nil, rpcError(jsonrpc.CodeInvalidRequest, "the batch is empty")
	}
	_, err := p.dec.ReadToken()
	return msgs, err
}

func (p *parser) message(m *message) error {
	if kind := p.dec.PeekKind(); kind != '{' {
		if _, err := p.dec.ReadToken(); err != nil && err != io.EOF {
			return err
		}
		return rpcError(jsonrpc.CodeInvalidRequest, "want a JSON-RPC message: a JSON object")
	}
	if _, err := p.dec.ReadToken(); err != nil {
		return err
	}
	var version, id json.RawMessage
	for p.dec.PeekKind() != '}' {
		name, err := p.name()
		if err != nil {
			return err
		}
		switch name {
		case "jsonrpc":
			err = p.value(&version)
		case "id":
			err = p.value(&id)
		default:
			err = p.member(m, name)
		}
		if err != nil {
			return err
		}
	}
	if _, err := p.dec.ReadToken(); err != nil {
		return err
	}
	return m.check(version, id)
}

func (p *parser) member(m *message, name string) error {
	switch name {
	case "method":
		return p.text(&m.method, jsonrpc.CodeInvalidRequest)
	case "params":
		return p.params(m)
	case "result", "error":
		if m.answer != nil {
			return rpcError(jsonrpc.CodeInvalidRequest, "a response has a result or an error, not both")
		}
		m.failed = name == "error"
		return p.value(&m.answer)
	}
	plain := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, name)
	for _, known := range []string{"jsonrpc", "id", "method", "params", "result", "error"} {
		if strings.EqualFold(plain, known) {
			return rpcError(jsonrpc.CodeInvalidRequest, "the member %.40q must be written %q", name, known)
		}
	}
	return p.dec.SkipValue()
}

func (p *parser) params(m *message) error {
	if p.dec.PeekKind() != '{' {
		return p.value(&m.params)
	}
	if _, err := p.dec.ReadToken(); err != nil {
		return err
	}
	start := p.dec.InputOffset() - 1
	for p.dec.PeekKind() != '}' {
		name, err := p.name()
		if err != nil {
			return err
		}
		switch name {
		case "name":
			m.has[0] = true
			err = p.text(&m.name, jsonrpc.CodeInvalidParams)
		case "uri":
			m.has[1] = true
			err = p.text(&m.uri, jsonrpc.CodeInvalidParams)
		case "arguments":
			err = p.value(&m.arguments)
		case "_meta":
			err = p.value(&m.meta)
		default:
			err = p.dec.SkipValue()
		}
		if err != nil {
			return err
		}
	}
	_, err := p.dec.ReadToken()
	m.params = p.data[start:p.dec.InputOffset()]
	return err
}

func (p *parser) name() (string, error) {
	t, err := p.dec.ReadToken()
	if err != nil {
		return "", err
	}
	return t.String(), nil
}

// value reads the next value as a slice of the data.
func (p *parser) value(v *json.RawMessage) error {
	raw, err := p.dec.ReadValue()
	end := p.dec.InputOffset()
	*v = p.data[end-int64(len(raw)) : end : end]
	return err
}

func (p *parser) text(s *string, code int64) error {
	if kind := p.dec.PeekKind(); kind != '"' {
		if err := p.dec.SkipValue(); err != nil {
			return err
		}
		return rpcError(code, "%s is not a string", p.dec.StackPointer())
	}
	t, err := p.dec.ReadToken()
	if err == nil {
		*s = t.String()
	}
	return err
}

// check looks at the message as a whole.
func (m *message) check(version, id json.RawMessage) error {
	if err := checkID(id); err != nil {
		return err
	}
	if m.id = id; bytes.IndexByte(id, '\\') > 0 { // ids are compared by their bytes
		m.id = quote(text(id))
	}
	switch {
	case string(version) != `"2.0"`:
		return rpcError(jsonrpc.CodeInvalidRequest, `want "jsonrpc":"2.0", got %.40q`, version)
	case m.method != "" && m.answer != nil:
		return rpcError(jsonrpc.CodeInvalidRequest, "a message has a method, or a result or error, not both")
	case m.method == "" && m.answer == nil:
		return rpcError(jsonrpc.CodeInvalidRequest, "the message has no method")
	case m.method == "" && id == nil:
		return rpcError(jsonrpc.CodeInvalidRequest, "the response has no id")
	case m.isCall() && strings.HasPrefix(m.method, "notifications/"):
		return rpcError(jsonrpc.CodeInvalidRequest, "the notification %.100q has an id", m.method)
	}
	if err := m.checkName(); err != nil {
		return err
	}
	return m.checkTypes()
}

// checkName accepts the one member that names what the request is for. With
// another one beside it, a filter in front might read the other.
func (m *message) checkName() error {
	if !m.named() {
		return nil
	}
	resource := m.method == readResource
	if resource && m.has[0] || !resource && m.has[1] {
		want := "name"
		if resource {
			want = "uri"
		}
		return rpcError(jsonrpc.CodeInvalidParams, "%s takes %s; remove the member that names something else", m.method, want)
	}
	if resource {
		m.name = m.uri
	}
	return nil
}

// checkID accepts ids that come back unchanged through every JSON library.
func checkID(id json.RawMessage) error {
	switch {
	case id == nil:
		return nil
	case id[0] == '"':
		if len(id) > maxIDLength+2 {
			return rpcError(jsonrpc.CodeInvalidRequest, "the id has %d bytes, at most %d", len(id), maxIDLength)
		}
		return nil
	}
	n, err := strconv.ParseInt(string(id), 10, 64)
	if err != nil || strconv.FormatInt(n, 10) != string(id) || n > maxSafe || n < -maxSafe {
		return rpcError(jsonrpc.CodeInvalidRequest, "want an id that is a string or an integer up to 2^53-1, got %.40s", id)
	}
	return nil
}

// tooDeep reports whether data nests too deep to be read safely.
func tooDeep(data []byte) bool {
	if bytes.Count(data, []byte{'{'})+bytes.Count(data, []byte{'['}) <= maxDepth {
		return false
	}
	depth, inString := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case inString:
			if c == '\\' {
				i++
			} else if c == '"' {
				inString = false
			}
		case c == '"':
			inString = true
		case c == '{' || c == '[':
			if depth++; depth > maxDepth {
				return true
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return false
}

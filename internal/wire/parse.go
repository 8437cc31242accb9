package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/toolpost/toolpost/internal/jsontree"
)

// Parse reads the message or batch that a client sent. It is strict, so that
// no two readers of the same bytes can disagree: valid UTF-8, no duplicate
// members, no odd spellings of the envelope's members, ids that every peer can
// echo. With an error it returns a message that has the id of the answer.
func Parse(data []byte) (found []Message, batch bool, fault *Error) {
	s := scanner{Scanner: jsontree.Scanner{Data: data}, most: strictDepth, names: make([][]byte, 0, usualNames)}
	batch = s.Peek() == '['
	var err error
	if batch {
		found, err = s.batch()
	} else {
		found = make([]Message, 1)
		err = s.message(&found[0])
	}
	if err == nil {
		err = s.end()
	}
	fault, isFault := errors.AsType[*Error](err)
	switch {
	case err == nil, isFault:
	case errors.Is(err, errDeep):
		fault = Errorf(CodeParse, "the message nests more than %d levels deep", strictDepth)
	case errors.Is(err, errDuplicate):
		fault = Errorf(CodeInvalidRequest, "%.300v", err)
	default:
		fault = Errorf(CodeParse, "the message is not JSON: %.300v", err)
	}
	if fault != nil && !batch && found[0].ID == nil {
		found[0].ID = requestID(data)
	}
	return found, batch, fault
}

// requestID returns the id of a request that is refused, nil if it has not exactly
// one that can be read.
func requestID(data []byte) (id json.RawMessage) {
	ids, isRequest := 0, false
	for name, value := range Members(data) {
		switch name {
		case "id":
			id = value
			ids++
		case "method":
			isRequest = true
		}
	}
	if ids != 1 || !isRequest || checkID(id) != nil {
		return nil
	}
	return id
}

// Read returns the messages that a server sent: one, a batch, or none if data
// is something else. Servers are forgiven duplicate members, and ids that come
// back as strings; see [Calls]. Bytes that are not UTF-8 are replaced: with them,
// a client that decodes strictly would end its whole session.
func Read(data []byte) []Message {
	data = bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\uFEFF")))
	s := lenient(data)
	switch s.Peek() {
	case '{':
		var m Message
		switch err := s.message(&m); {
		case err != nil || s.end() != nil:
		case s.Broken:
			return Read(unicodeOf(data))
		default:
			return []Message{m}
		}
	case '[':
		var found []Message
		for value := range Elements(data) {
			if IsObject(value) {
				found = append(found, Read(value)...)
			}
			if len(found) == maxRead {
				break
			}
		}
		return found
	}
	return nil
}

// unicodeOf returns JSON with U+FFFD for each byte that is not UTF-8 and each half
// of a surrogate pair.
func unicodeOf(data []byte) []byte {
	data = bytes.Map(func(r rune) rune { return r }, data)
	jsontree.ReplaceHalves(data)
	return data
}

func (s *scanner) batch() (found []Message, err error) {
	ids := map[string]bool{}
	err = s.array(func() error {
		if len(found) == maxBatch {
			return Errorf(CodeInvalidRequest, "the batch has more than %d messages", maxBatch)
		}
		var m Message
		if err := s.message(&m); err != nil {
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

func (s *scanner) message(m *Message) error {
	if c := s.Peek(); c != '{' {
		if err := s.skip(); err != nil && c != 0 {
			return err
		}
		return Errorf(CodeInvalidRequest, "want a JSON-RPC message: a JSON object")
	}
	var version, id json.RawMessage
	err := s.object(func(name []byte) error {
		switch string(name) {
		case `"jsonrpc"`:
			return s.raw(&version)
		case `"id"`:
			return s.raw(&id)
		case `"method"`:
			return s.text(&m.Method, "/method", CodeInvalidRequest)
		case `"params"`:
			return s.params(m)
		case `"result"`:
			return s.result(m)
		case `"error"`:
			return s.raw(&m.Err)
		}
		return s.other(name)
	})
	switch {
	case err != nil:
		return err
	case !s.Lenient:
		return m.check(version, id)
	}
	return m.forgive(version, id)
}

// members reads an object like object does. Any other value is read as it is.
func (s *scanner) members(into *json.RawMessage, f func(name []byte) error) error {
	if s.Peek() != '{' {
		return s.raw(into)
	}
	start := s.Pos
	err := s.object(f)
	*into = s.Data[start:s.Pos:s.Pos]
	return err
}

func (s *scanner) raw(into *json.RawMessage) (err error) {
	*into, err = s.value()
	return err
}

// text reads a string. Where a server sends something else, it stays "".
func (s *scanner) text(into *string, pointer string, code int64) error {
	raw, err := s.value()
	switch {
	case err != nil:
		return err
	case raw[0] == '"':
		*into = Unquote(raw)
	case !s.Lenient:
		return Errorf(code, "%s is not a string", pointer)
	}
	return nil
}

// other reads a member that the envelope does not have, and refuses a known
// one in another spelling: some readers would take it.
func (s *scanner) other(name []byte) error {
	if !s.Lenient {
		text := Unquote(name)
		for _, known := range []string{"jsonrpc", "id", "method", "params", "result", "error"} {
			if Alike(text, known) {
				return Errorf(CodeInvalidRequest, "the member %.40q must be written %q", text, known)
			}
		}
	}
	return s.skip()
}

// Alike reports whether some readers take one name of a member for the other:
// those that ignore case, as encoding/json does, or control characters.
func Alike(name, known string) bool {
	for _, want := range known {
		got, size := utf8.DecodeRuneInString(name)
		for unicode.IsControl(got) {
			name = name[size:]
			got, size = utf8.DecodeRuneInString(name)
		}
		if size == 0 || got != want && !strings.EqualFold(string(got), string(want)) {
			return false
		}
		name = name[size:]
	}
	return !strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsControl(r) })
}

func (s *scanner) params(m *Message) error {
	m.Call = Call{} // of an earlier member of this name
	return s.members(&m.Params, func(name []byte) error {
		switch string(name) {
		case `"name"`:
			m.HasName = true
			return s.text(&m.Name, "/params/name", CodeInvalidParams)
		case `"uri"`:
			m.HasURI = true
			return s.text(&m.URI, "/params/uri", CodeInvalidParams)
		case `"arguments"`:
			return s.optional(&m.Arguments)
		case `"inputResponses"`:
			return s.raw(&m.InputResponses)
		case `"requestState"`:
			return s.raw(&m.RequestState)
		case `"progressToken"`:
			return s.raw(&m.ProgressToken)
		case `"_meta"`:
			return s.meta(m)
		}
		return s.odd(name, "name", "uri", "arguments", "inputResponses", "requestState", "progressToken", "_meta")
	})
}

// odd reads an unknown member. One that hides the name of a known one behind
// escapes is refused: other readers would take it.
func (s *scanner) odd(name []byte, known ...string) error {
	if !s.Lenient && bytes.IndexByte(name, '\\') >= 0 {
		text := Unquote(name)
		for _, k := range known {
			if text == k {
				return Errorf(CodeInvalidParams, "the member %q must be written without escapes", text)
			}
		}
	}
	return s.skip()
}

func (s *scanner) meta(m *Message) error {
	m.MetaCall = MetaCall{} // of an earlier member of this name
	return s.members(&m.Meta, func(name []byte) error {
		switch string(name) {
		case `"progressToken"`:
			return s.raw(&m.ProgressToken)
		case `"` + MetaVersion + `"`:
			return s.text(&m.Version, "/params/_meta/"+MetaVersion, CodeInvalidParams)
		case `"` + MetaLogLevel + `"`:
			return s.text(&m.LogLevel, "/params/_meta/"+MetaLogLevel, CodeInvalidParams)
		case `"` + MetaClientInfo + `"`:
			return s.optional(&m.ClientInfo)
		case `"` + MetaCapabilities + `"`:
			return s.optional(&m.Capabilities)
		}
		return s.odd(name, "progressToken", MetaVersion, MetaLogLevel, MetaClientInfo, MetaCapabilities)
	})
}

// optional reads a value; null counts as none.
func (s *scanner) optional(into *json.RawMessage) error {
	raw, err := s.value()
	*into = unlessNull(raw)
	return err
}

// readIsError reads isError.
func (s *scanner) readIsError(m *Message) error {
	raw, err := s.value()
	m.IsError = string(raw) == "true"
	m.Odd = m.Odd || !m.IsError && string(raw) != "false"
	return err
}

func (s *scanner) result(m *Message) error {
	m.Answer, s.links = Answer{}, false // of an earlier member of this name
	err := s.members(&m.Result, func(name []byte) error {
		switch string(name) {
		case `"isError"`:
			return s.readIsError(m)
		case `"content"`:
			return s.content(m)
		case `"structuredContent"`:
			return s.raw(&m.Structured)
		case `"resultType"`:
			raw, err := s.value()
			m.ResultType, m.Typed = Unquote(raw), true
			m.Asks = m.Asks || m.ResultType == "input_required"
			return err
		case `"inputRequests"`:
			return s.raw(&m.InputRequests)
		case `"requestState"`:
			return s.raw(&m.ResultState)
		case `"_meta"`:
			m.OddMeta = m.ResultMeta != nil
			m.Odd = m.Odd || m.OddMeta || s.Peek() != '{'
			return s.raw(&m.ResultMeta)
		}
		return s.skip()
	})
	m.Links = s.links
	m.Odd = m.Odd || m.Content == nil
	return err
}

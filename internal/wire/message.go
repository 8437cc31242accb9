package wire

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/toolpost/toolpost/internal/jsontree"
)

// Limits of messages. Real ones stay far below.
const (
	maxID    = 1 << 10 // bytes
	maxBatch = 100     // messages
	maxSafe  = 1<<53 - 1

	// maxRead is how many messages of a server's batch are read. A Message takes
	// much more memory than the bytes of a small one.
	maxRead = 10_000
)

// A Message is one JSON-RPC message and what one scan found in it. All raw
// members share the memory of what was received.
type Message struct {
	ID     json.RawMessage // a string or number; nil for a notification
	Method string          // "" for a response
	Params json.RawMessage
	Result json.RawMessage
	Err    json.RawMessage // the error of a response that failed

	Call   // if there are params
	Answer // if there is a result
}

// A Call holds the members of params.
type Call struct {
	Name, URI       string
	HasName, HasURI bool
	Arguments       json.RawMessage
	InputResponses  json.RawMessage
	RequestState    json.RawMessage
	ProgressToken   json.RawMessage // of a progress notification, else of _meta
	Meta            json.RawMessage
	MetaCall
}

// A MetaCall holds the members of the _meta of a request (MCP 2026-07-28).
type MetaCall struct {
	Version      string          // protocolVersion, "" if it is not a string
	LogLevel     string          // "" for none
	ClientInfo   json.RawMessage // nil if it is absent, or null
	Capabilities json.RawMessage // nil if it is absent, or null
}

// An Answer holds the members of a result.
type Answer struct {
	IsError       bool
	Content       json.RawMessage
	Structured    json.RawMessage
	ResultType    string
	Typed         bool // there is a resultType
	Asks          bool // a resultType is input_required
	InputRequests json.RawMessage
	ResultState   json.RawMessage // requestState
	ResultMeta    json.RawMessage
	OddMeta       bool // there may be another _meta than ResultMeta
	Links         bool // a string begins as the types of resources do
}

// IsCall reports whether the message is a request that wants an answer.
func (m *Message) IsCall() bool { return m.Method != "" && m.ID != nil }

// Named reports whether the message is for one tool, prompt or resource.
func (m *Message) Named() bool {
	return m.Method == "tools/call" || m.Method == "prompts/get" || m.Method == "resources/read"
}

// Parse reads the message or batch that a client sent. It is strict, so that
// no two readers of the same bytes can disagree: valid UTF-8, no duplicate
// members, no odd spellings of the envelope's members, ids that every peer can
// echo. With an error it returns what it understood, for the answer's id.
func Parse(data []byte) (found []Message, batch bool, fault *Error) {
	s := scanner{Scanner: jsontree.Scanner{Data: data}, most: strictDepth, names: make([][]byte, 0, manyNames)}
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
	switch {
	case err == nil, errors.As(err, &fault):
	case errors.Is(err, errDeep):
		fault = Errorf(CodeParse, "the message nests more than %d levels deep", strictDepth)
	case errors.Is(err, errDuplicate):
		fault = Errorf(CodeInvalidRequest, "%.300v", err)
	default:
		fault = Errorf(CodeParse, "the message is not JSON: %.300v", err)
	}
	return found, batch, fault
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
			return Read(bytes.Map(func(r rune) rune { return r }, data)) // each such byte is U+FFFD
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

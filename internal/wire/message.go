package wire

import (
	"encoding/json"
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
	Odd           bool // a client may refuse something in a result of tools/call
	Newer         bool // it has content of a type that older versions lack
}

// IsCall reports whether the message is a request that wants an answer.
func (m *Message) IsCall() bool { return m.Method != "" && m.ID != nil }

// Named reports whether the message is for one tool, prompt or resource.
func (m *Message) Named() bool {
	return m.Method == "tools/call" || m.Method == "prompts/get" || m.Method == "resources/read"
}

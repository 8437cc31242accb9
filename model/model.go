// Package model is one interface for the language models of all providers; the models of
// each provider are a package below it.
//
//	Request ── Model.Check ──▶ Model.Stream ──▶ Delta… ──▶ Response
//
// The packages below it contain the models: model/anthropic, model/gemini,
// model/openai and model/claudecli. [Retry] and [Fallback] are models too, over
// others. Programs that have a loop of their own need only an [Offer].
package model

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"time"
	"unicode/utf8"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/wire"
	"github.com/toolpost/toolpost/schema"
	"github.com/toolpost/toolpost/usage"
)

// A Model is a language model of one provider. It is safe for concurrent use.
type Model interface {
	// Origin identifies the model. It is also the Origin of the parts of its
	// responses.
	Origin() Origin

	// Check returns the reason why the provider would refuse the request, for
	// example a tool call without its result. It sends nothing. Stream checks
	// every request before it sends it.
	Check(r *Request) error

	// Stream sends the request and yields the response as it arrives. The last
	// Delta contains the whole Response. If the provider refuses the request or
	// the stream ends early, the last error is an [*Error].
	Stream(ctx context.Context, r *Request) iter.Seq2[*Delta, error]
}

// An Origin identifies where a part of a message comes from. Parts with a Raw
// form are sent back unchanged to models of the same Provider and API.
type Origin struct {
	Provider string `json:"provider"` // "anthropic", "openai", "gemini", "claude-cli", or the name of a compatible server
	API      string `json:"api"`      // "messages", "responses", "chat", "generate", "cli"
	Model    string `json:"model"`
}

// Accepts reports whether a part from o can be sent to a model with the origin
// to in its raw form.
func (o Origin) Accepts(part *Origin) bool {
	return part != nil && part.Provider == o.Provider && part.API == o.API
}

// String returns the provider and the model.
func (o Origin) String() string { return o.Provider + "/" + o.Model }

// A Message is one turn of a conversation. Results of tools are parts of a
// user's message.
type Message struct {
	Role  Role   `json:"role"` // RoleUser or RoleAssistant
	Parts []Part `json:"parts"`
}

// A Role is who wrote a message.
type Role string

// The roles of messages.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
)

// A Part is one piece of a message. Type determines which fields are used.
type Part struct {
	Type     PartType `json:"type"`
	Text     string   `json:"text,omitempty"`      // of text and thinking; of an opaque part, the provider's word for its type
	Data     []byte   `json:"data,omitempty"`      // of an image or document
	MIMEType string   `json:"mime_type,omitempty"` // of an image or document; most providers take image/jpeg, image/png, image/gif, image/webp and application/pdf

	ID        string                `json:"id,omitempty"`        // of a tool call, as the model chose it
	Name      string                `json:"name,omitempty"`      // of a tool call: the tool's own name; of a document: its file name
	Arguments json.RawMessage       `json:"arguments,omitempty"` // of a tool call, for the tool's own schema
	Invalid   string                `json:"invalid,omitempty"`   // of a tool call that cannot run: the reason, written for the model
	Result    *toolpost.ToolMessage `json:"result,omitempty"`    // of a tool result

	Origin *Origin `json:"origin,omitempty"` // the model that wrote the part; nil if a person or a tool did

	// Raw is the provider's own JSON for the part, byte for byte. A model of
	// the same provider and API receives it again unchanged, so that signatures
	// and members that this package does not know survive.
	Raw json.RawMessage `json:"-"`
}

// A PartType says what a Part is.
type PartType string

// The types of parts.
const (
	TypeText     PartType = "text"
	TypeImage    PartType = "image"
	TypeDocument PartType = "document"
	TypeThinking PartType = "thinking"
	TypeCall     PartType = "tool_call"
	TypeResult   PartType = "tool_result"
	TypeOpaque   PartType = "opaque" // a part that only its provider understands
)

// Text returns a part with a text.
func Text(text string) Part { return Part{Type: TypeText, Text: text} }

// UserText returns a user's message with one text.
func UserText(text string) *Message { return &Message{Role: RoleUser, Parts: []Part{Text(text)}} }

// Text returns the texts of the message, without thinking, joined.
func (m *Message) Text() string {
	var text string
	for _, p := range m.Parts {
		if p.Type == TypeText {
			text += p.Text
		}
	}
	return text
}

// Calls returns the tool calls of the message, in order.
func (m *Message) Calls() []*Part {
	var calls []*Part
	for i := range m.Parts {
		if m.Parts[i].Type == TypeCall {
			calls = append(calls, &m.Parts[i])
		}
	}
	return calls
}

// A storedPart is a part as JSON. An encoder changes the spaces of JSON in JSON,
// so Raw is a string, or in base64 if it is not valid UTF-8.
type storedPart struct {
	plainPart
	Raw   string `json:"raw,omitempty"`
	Bytes []byte `json:"raw_base64,omitempty"`
}

type plainPart Part // without the methods

// MarshalJSON writes Raw as a string.
func (p Part) MarshalJSON() ([]byte, error) {
	var w wire.ObjectWriter
	w.AnyText("type", string(p.Type))
	w.Text("text", p.Text)
	w.Bytes("data", p.Data)
	w.Text("mime_type", p.MIMEType)
	w.Text("id", p.ID)
	w.Text("name", p.Name)
	w.JSON("arguments", p.Arguments)
	w.Text("invalid", p.Invalid)
	if p.Result != nil {
		result, err := p.Result.MarshalJSON()
		w.Encoded("result", result, err)
	}
	if p.Origin != nil {
		origin, err := json.Marshal(p.Origin)
		w.Encoded("origin", origin, err)
	}
	if utf8.Valid(p.Raw) {
		w.Text("raw", string(p.Raw))
	} else {
		w.Bytes("raw_base64", p.Raw)
	}
	return w.End()
}

// UnmarshalJSON reads what MarshalJSON writes.
func (p *Part) UnmarshalJSON(data []byte) error {
	var stored storedPart
	if err := json.Unmarshal(data, &stored); err != nil {
		return err
	}
	*p = Part(stored.plainPart)
	if raw := append(stored.Bytes, stored.Raw...); len(raw) > 0 {
		p.Raw = raw
	}
	return nil
}

// A Request is everything that a model needs for its next response.
type Request struct {
	System   string
	Messages []*Message
	Tools    *toolpost.Set  // the model receives them in its provider's dialect; nil for none
	NoCalls  bool           // the model must not call the tools; they are sent to keep the provider's cache
	Output   *schema.Schema // the answer is JSON of this schema; nil for text

	MaxTokens int    // of the response; the model's own maximum if 0
	Effort    string // how much to think: none, low, medium, high; the provider's default if empty
	CacheKey  string // identifies the conversation to the provider's prompt cache; may be empty
}

// A Delta is a piece of a response that is still being written, or, as the last
// one, the whole Response.
type Delta struct {
	Part int      // the index of the message's part that Text belongs to
	Type PartType // the type of that part
	Name string   // of a tool call: the tool's own name
	Text string   // what is added to the text or thinking, or to the arguments of a tool call as the model writes them

	// Restart is the error that made the model send the request again; discard all
	// earlier deltas. It is nil otherwise.
	Restart *Error

	// Tokens are what the provider has counted of this request so far, nil if it is
	// not new. A request that fails or is cancelled is billed too. With Restart, they are
	// those of the new request.
	Tokens *usage.Tokens

	Origin Origin // the model that writes, if it is another one than was asked, as of a [Fallback]

	Response *Response
}

// A Response is what a model answered.
type Response struct {
	ID       string // the provider's id of the response
	Model    string // the model's name as the provider reports it
	Message  *Message
	Stop     StopReason // StopEnd, StopCalls, …
	Refusal  string     // of StopRefusal: what the provider says about it
	TakeBack bool       // of StopRefusal: the provider refuses every conversation that keeps the refused turn
	Origin   Origin     // the model that answered, if it is another one than was asked
	Usage    usage.Tokens
	Losses   []Loss // what the model did not receive as it is in the request
}

// A StopReason is why a response ended.
type StopReason string

// The reasons why a response ended.
const (
	StopEnd     StopReason = "end"     // the answer is complete
	StopCalls   StopReason = "calls"   // the message contains tool calls
	StopLength  StopReason = "length"  // the response reached its maximum of tokens
	StopRefusal StopReason = "refusal" // the model or the provider's filter refuses to answer
	StopPause   StopReason = "pause"   // the provider paused: send the conversation again as it is
)

// A Loss reports a part of the request that the model received in another form
// or not at all.
type Loss struct {
	Message, Part int // indexes in the Request; -1 for the tools
	Text          string
}

// String returns the place and the text.
func (l Loss) String() string {
	return fmt.Sprintf("message %d, part %d: %s", l.Message, l.Part, l.Text)
}

// An Error is a failure of a request that a provider reported, or of the
// connection to it.
type Error struct {
	Origin     Origin
	Kind       ErrorKind     // KindOverloaded, KindRateLimit, …
	Status     int           // of the HTTP response; 0 if there was none
	RetryAfter time.Duration // how long to wait, as the provider requests; 0 if it does not
	Text       string        // what the provider says, without credentials
	Err        error         // the cause; may be nil
}

// An ErrorKind is what kind of failure an Error is.
type ErrorKind string

// The kinds of errors.
const (
	KindOverloaded ErrorKind = "overloaded" // the provider has too many requests of all its users
	KindRateLimit  ErrorKind = "rate_limit" // this user sent too many requests
	KindQuota      ErrorKind = "quota"      // this user has no credit left; waiting does not help
	KindAuth       ErrorKind = "auth"       // the credentials are wrong or missing
	KindTooLong    ErrorKind = "too_long"   // the conversation is longer than the model's context
	KindInvalid    ErrorKind = "invalid"    // the request is malformed or not allowed
	KindServer     ErrorKind = "server"     // the provider failed
	KindConnection ErrorKind = "connection" // no response, or the stream ended before the response did
)

func (e *Error) Error() string {
	text := e.Origin.String() + ": " + string(e.Kind)
	if e.Status != 0 {
		text += fmt.Sprintf(" (HTTP %d)", e.Status)
	}
	if e.Text != "" {
		text += ": " + e.Text
	}
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

func (e *Error) Unwrap() error { return e.Err }

// Temporary reports whether the same request may succeed later.
func (e *Error) Temporary() bool {
	switch e.Kind {
	case KindOverloaded, KindRateLimit, KindServer, KindConnection:
		return true
	}
	return false
}

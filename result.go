package toolpost

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync/atomic"

	"github.com/toolpost/toolpost/internal/codec"
	"github.com/toolpost/toolpost/internal/hidden"
	"github.com/toolpost/toolpost/internal/wire"
)

// A Result is the outcome of a call. It consists of parts and structured JSON,
// or of the exact bytes that a foreign server sent; these are decoded only when
// their content is requested. Results are immutable.
type Result struct {
	encoded hidden.Encoded  // as sent, if the result came from elsewhere
	value   json.RawMessage // a Go value's JSON, if it is one
	decoded atomic.Pointer[body]
	outcome Outcome
	ref     string
	notes   []string
}

// body is the wire form of MCP's CallToolResult.
type body struct {
	Content    []Part          `json:"content"`
	Structured json.RawMessage `json:"structuredContent,omitempty"`
	IsError    bool            `json:"isError,omitempty"`
	Meta       json.RawMessage `json:"_meta,omitempty"`
}

// TextResult returns a result with one text part.
func TextResult(s string) *Result { return NewResult(Part{Type: "text", Text: s}) }

// NewResult returns a result with the given parts.
func NewResult(parts ...Part) *Result { return newResult(body{Content: parts}) }

// JSONResult returns a result with v as JSON: as text for models and as structured
// content for programs.
func JSONResult(v any) (*Result, error) {
	data, err := codec.Encode(v)
	if err != nil {
		return nil, fmt.Errorf("encode result: %w", err)
	}
	return &Result{value: data}, nil
}

// RawResult returns a result that consists of raw, the JSON of an MCP result object.
func RawResult(raw json.RawMessage) *Result { return &Result{encoded: hidden.Encoded{Raw: raw}} }

var _ = hidden.Share(hidden.Functions{
	NewResult: func(e hidden.Encoded) any { return &Result{encoded: e} },
	EncodedOf: func(result any) hidden.Encoded { return result.(*Result).encoded },
	ResultOf:  func(v any) (any, error) { return resultOf(v) },
	ParseDefinition: func(raw []byte, definition any) (badOutput, err error) {
		*definition.(*Definition), badOutput, err = parseDefinition(raw)
		return badOutput, err
	},
	OwnerOf: func(call any) hidden.Owner {
		c := call.(*Call)
		return hidden.Owner{Session: c.Session, Party: c.party, Shared: c.shared}
	},
	SetOwner: func(call any, owner hidden.Owner) {
		c := call.(*Call)
		c.Session, c.party, c.shared = owner.Session, owner.Party, owner.Shared
	},
})

// load returns a result that is too large for memory as a [RawResult].
func (r *Result) load() *Result {
	raw, err := r.encoded.Long.Load()
	if err != nil {
		return Failed.Resultf("The result cannot be read: %v", err)
	}
	c := r.clone()
	c.encoded = hidden.Encoded{Raw: raw}
	return c
}

func newResult(b body) *Result {
	r := new(Result)
	r.decoded.Store(&b)
	return r
}

// body decodes the result on first use.
func (r *Result) body() *body {
	b := r.decoded.Load()
	if b == nil {
		b = r.decode()
		r.decoded.Store(b)
	}
	return b
}

func (r *Result) decode() *body {
	if r.encoded.Long != nil {
		return r.load().body()
	}
	if r.encoded.Raw == nil {
		return &body{Content: []Part{{Type: "text", Text: string(r.value)}}, Structured: r.value}
	}
	if b := r.decodeTexts(); b != nil {
		return b
	}
	b := new(body)
	if err := codec.Decode(r.encoded.Raw, b); err != nil {
		return &body{Content: []Part{{Type: "text", Text: string(r.encoded.Raw)}}}
	}
	return b
}

// decodeTexts decodes a result whose parts are all text, as those of nearly all
// results are, without copies of its JSON. It returns nil for others.
func (r *Result) decodeTexts() *body {
	if s := r.encoded.Scan; s != nil {
		return textBody(&body{Structured: s.Structured, IsError: s.IsError, Meta: s.ResultMeta}, s.Content)
	}
	if !wire.Valid(r.encoded.Raw) {
		return nil
	}
	b, found := new(body), map[string]json.RawMessage{}
	for name, value := range wire.Members(r.encoded.Raw) {
		switch name {
		case "structuredContent":
			b.Structured = value
		case "isError":
			b.IsError = string(value) == "true"
		case "_meta":
			b.Meta = value
		}
		if found[name] != nil || name == "isError" && !b.IsError && string(value) != "false" {
			return nil
		}
		found[name] = value
	}
	return textBody(b, found["content"])
}

// textBody returns b with parts that are texts, nil if content has others.
func textBody(b *body, content json.RawMessage) *body {
	if content == nil {
		return nil
	}
	b.Content = textParts(content)
	if b.Content == nil {
		return nil
	}
	return b
}

// Parts returns the content blocks.
func (r *Result) Parts() []Part { return r.body().Content }

// Structured returns the structured content, or nil if there is none.
func (r *Result) Structured() json.RawMessage {
	if o := r.encoded.Long; r.encoded.Scan != nil && (o == nil || o.Member("structuredContent") == nil) {
		return r.encoded.Scan.Structured
	}
	return r.body().Structured
}

// Meta returns the MCP _meta object, or nil if there is none.
func (r *Result) Meta() json.RawMessage {
	if r.encoded.Scan != nil {
		return r.encoded.Scan.ResultMeta
	}
	return r.body().Meta
}

// IsError reports whether the call failed; the parts explain the failure to the
// model.
func (r *Result) IsError() bool {
	if r.encoded.Scan != nil {
		return r.encoded.Scan.IsError
	}
	if r.value != nil || r.encoded.Raw != nil && !bytes.Contains(r.encoded.Raw, []byte(`"isError"`)) && !bytes.Contains(r.encoded.Raw, []byte(`\u`)) {
		return false
	}
	return r.body().IsError
}

// Outcome returns the outcome of the call.
func (r *Result) Outcome() Outcome {
	if r.outcome == OK && r.IsError() {
		return Failed
	}
	return r.outcome
}

// OutputRef returns the reference to the whole output if the result is only an
// excerpt of it.
func (r *Result) OutputRef() string { return r.ref }

// WithOutputRef returns r with a reference to its whole output.
func (r *Result) WithOutputRef(ref string) *Result {
	c := r.clone()
	c.ref = ref
	return c
}

// WithContent returns r with other parts and structured content, which may be
// nil. All other members that were sent remain.
func (r *Result) WithContent(parts []Part, structured json.RawMessage) (*Result, error) {
	if r.encoded.Long != nil {
		r = r.load()
	}
	b := *r.body()
	b.Content, b.Structured = parts, structured
	c := &Result{outcome: r.outcome, ref: r.ref, notes: r.notes}
	c.decoded.Store(&b)
	if r.encoded.Raw == nil {
		return c, nil
	}
	w := objectWriter{written: map[string]bool{"content": true}}
	w.WriteString(contentFirst)
	if err := writeParts(&w.Buffer, parts); err != nil {
		return nil, fmt.Errorf("encode result: %w", err)
	}
	size := w.Len() - len(contentFirst)
	if !wire.IsObject(r.encoded.Raw) || r.encoded.Scan == nil && !wire.Valid(r.encoded.Raw) { // not an MCP result: the whole of it was one text
		return c, nil
	}
	w.put("structuredContent", structured)
	for name, value := range wire.Members(withoutContent(r)) {
		if name != "content" && name != "structuredContent" {
			w.put(name, value)
		}
	}
	c.encoded.Raw = w.end()
	if r.encoded.Scan != nil {
		found := *r.encoded.Scan
		found.Content = c.encoded.Raw[len(contentFirst) : len(contentFirst)+size]
		found.Structured = structured
		c.encoded.Scan = &found
	}
	return c, nil
}

const contentFirst = `{"content":`

// withoutContent returns the JSON of a result without its content, which is long,
// if the content is easy to find.
func withoutContent(r *Result) json.RawMessage {
	if r.encoded.Scan == nil {
		return r.encoded.Raw
	}
	rest, first := bytes.CutPrefix(r.encoded.Raw, []byte(contentFirst))
	rest, found := bytes.CutPrefix(rest, r.encoded.Scan.Content)
	if !first || !found || len(r.encoded.Scan.Content) == 0 {
		return r.encoded.Raw
	}
	rest = bytes.TrimLeft(rest, " \t\r\n")
	if len(rest) == 0 || rest[0] != ',' && rest[0] != '}' { // another content begins with the same bytes
		return r.encoded.Raw
	}
	return append([]byte("{"), bytes.TrimPrefix(rest, []byte(","))...)
}

// Notes returns what was done to produce this result, such as a repair of the
// arguments. Notes are for records of the call and are not sent.
func (r *Result) Notes() []string { return r.notes }

// WithNotes returns r with more notes.
func (r *Result) WithNotes(notes ...string) *Result {
	if len(notes) == 0 {
		return r
	}
	c := r.clone()
	c.notes = append(c.notes[:len(c.notes):len(c.notes)], notes...)
	return c
}

func (r *Result) clone() *Result {
	c := &Result{encoded: r.encoded, value: r.value, outcome: r.outcome, ref: r.ref, notes: r.notes}
	c.decoded.Store(r.decoded.Load())
	return c
}

// FirstText returns the text of the first text part, and reports whether there
// is one.
func (r *Result) FirstText() (string, bool) {
	for _, p := range r.Parts() {
		if p.Type == "text" {
			return p.Text, true
		}
	}
	return "", false
}

// MarshalJSON returns MCP's CallToolResult: the exact bytes of a [RawResult] result.
func (r *Result) MarshalJSON() ([]byte, error) {
	switch {
	case r.encoded.Long != nil:
		return r.encoded.Long.Load()
	case r.encoded.Raw != nil:
		return r.encoded.Raw, nil
	case r.value != nil:
		return bytes.Join([][]byte{[]byte(`{"content":[{"type":"text","text":`), quote(r.value),
			[]byte(`}],"structuredContent":`), r.value, []byte(`}`)}, nil), nil
	}
	return codec.Encode(r.body())
}

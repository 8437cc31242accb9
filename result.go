package toolpost

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync/atomic"

	"github.com/toolpost/toolpost/internal/codec"
	"github.com/toolpost/toolpost/internal/longjson"
	"github.com/toolpost/toolpost/internal/wire"
)

// A Result is the outcome of a call. It consists of parts and structured JSON,
// or of the exact bytes that a foreign server sent; these are decoded only when
// their content is requested. Results are immutable.
type Result struct {
	raw    json.RawMessage  // as sent, if it came from elsewhere
	long   *longjson.Object // as sent, if it is too long for that
	scan   *wire.Answer     // what a scan found in raw or long; nil if it was not scanned
	value  json.RawMessage  // a Go value's JSON, if it is one
	looked atomic.Pointer[body]
	kind   Kind
	ref    string
	notes  []string
}

// body is the wire form of MCP's CallToolResult.
type body struct {
	Content    []Part          `json:"content"`
	Structured json.RawMessage `json:"structuredContent,omitempty"`
	IsError    bool            `json:"isError,omitempty"`
	Meta       json.RawMessage `json:"_meta,omitempty"`
}

// Text returns a result with one text part.
func Text(s string) *Result { return Parts(Part{Type: "text", Text: s}) }

// Parts returns a result with the given parts.
func Parts(parts ...Part) *Result { return newResult(body{Content: parts}) }

// JSON returns a result with v as JSON: as text for models and as structured
// content for programs.
func JSON(v any) (*Result, error) {
	data, err := codec.Encode(v)
	if err != nil {
		return nil, fmt.Errorf("encode result: %w", err)
	}
	return &Result{value: data}, nil
}

// Errorf returns an error result whose text explains the failure to the model.
func Errorf(format string, args ...any) *Result {
	return newResult(body{Content: []Part{{Type: "text", Text: fmt.Sprintf(format, args...)}}, IsError: true})
}

// Raw returns a result that consists of raw, the JSON of an MCP result object.
func Raw(raw json.RawMessage) *Result { return &Result{raw: raw} }

// RawMessage returns a result that is exactly the one of a message. What the scan
// of the message found is not looked for again.
func RawMessage(m *wire.Message) *Result { return &Result{raw: m.Result, scan: &m.Answer} }

// Long returns a result that is not in one piece, and is loaded when its content
// is requested. Found has what is known of it, but for its content and structured
// content.
func Long(o *longjson.Object, found *wire.Answer) *Result { return &Result{long: o, scan: found} }

// LongObject returns what a [Long] result consists of, nil for others.
func LongObject(r *Result) *longjson.Object { return r.long }

// loaded returns a [Long] result as a [Raw] one.
func (r *Result) loaded() *Result {
	raw, err := r.long.Load()
	if err != nil {
		return Errorf("The result cannot be read: %v", err)
	}
	return &Result{raw: raw, kind: r.kind, ref: r.ref, notes: r.notes}
}

// Scan returns what the scan of the message found in a [RawMessage] or [Long]
// result, or in the one that [WithContent] made of it; nil for others.
func Scan(r *Result) *wire.Answer { return r.scan }

func newResult(b body) *Result {
	r := new(Result)
	r.looked.Store(&b)
	return r
}

// bodyOf makes the body when somebody looks for the first time.
func bodyOf(r *Result) *body {
	b := r.looked.Load()
	if b == nil {
		b = look(r)
		r.looked.Store(b)
	}
	return b
}

func look(r *Result) *body {
	if r.long != nil {
		return bodyOf(r.loaded())
	}
	if r.raw == nil {
		return &body{Content: []Part{{Type: "text", Text: string(r.value)}}, Structured: r.value}
	}
	if b := bodyOfTexts(r); b != nil {
		return b
	}
	b := new(body)
	if err := codec.Decode(r.raw, b); err != nil {
		return &body{Content: []Part{{Type: "text", Text: string(r.raw)}}}
	}
	return b
}

// bodyOfTexts makes the body of a result whose parts are texts, as nearly all
// are, without copies of its JSON. It returns nil for others.
func bodyOfTexts(r *Result) *body {
	if s := r.scan; s != nil {
		return textBody(&body{Structured: s.Structured, IsError: s.IsError, Meta: s.ResultMeta}, s.Content)
	}
	if !wire.Valid(r.raw) {
		return nil
	}
	b, found := new(body), map[string]json.RawMessage{}
	for name, value := range wire.Members(r.raw) {
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
func (r *Result) Parts() []Part { return bodyOf(r).Content }

// Structured returns the structured content, or nil if there is none.
func (r *Result) Structured() json.RawMessage {
	if r.scan != nil && r.long == nil {
		return r.scan.Structured
	}
	return bodyOf(r).Structured
}

// Meta returns the MCP _meta object, or nil if there is none.
func (r *Result) Meta() json.RawMessage {
	if r.scan != nil {
		return r.scan.ResultMeta
	}
	return bodyOf(r).Meta
}

// IsError reports whether the call failed; the parts explain the failure to the
// model.
func (r *Result) IsError() bool {
	if r.scan != nil {
		return r.scan.IsError
	}
	if r.value != nil || r.raw != nil && !bytes.Contains(r.raw, []byte(`"isError"`)) && !bytes.Contains(r.raw, []byte(`\u`)) {
		return false
	}
	return bodyOf(r).IsError
}

// Outcome returns the kind of the result.
func (r *Result) Outcome() Kind {
	if r.kind == KindOK && r.IsError() {
		return KindFailed
	}
	return r.kind
}

// OutputRef returns the reference to the whole output if the result is only an
// excerpt of it.
func (r *Result) OutputRef() string { return r.ref }

// WithOutputRef returns r with a reference to its whole output.
func (r *Result) WithOutputRef(ref string) *Result {
	c := clone(r)
	c.ref = ref
	return c
}

// WithContent returns r with other parts and structured content, which may be
// nil. All other members that were sent remain.
func WithContent(r *Result, parts []Part, structured json.RawMessage) (*Result, error) {
	if r.long != nil {
		r = r.loaded()
	}
	b := *bodyOf(r)
	b.Content, b.Structured = parts, structured
	c := &Result{kind: r.kind, ref: r.ref, notes: r.notes}
	c.looked.Store(&b)
	if r.raw == nil {
		return c, nil
	}
	w := objectWriter{written: map[string]bool{"content": true}}
	w.WriteString(contentFirst)
	if err := writeParts(&w.Buffer, parts); err != nil {
		return nil, fmt.Errorf("encode result: %w", err)
	}
	size := w.Len() - len(contentFirst)
	if !wire.IsObject(r.raw) || r.scan == nil && !wire.Valid(r.raw) { // it is no result: all of it was one text
		return c, nil
	}
	w.put("structuredContent", structured)
	for name, value := range wire.Members(withoutContent(r)) {
		if name != "content" && name != "structuredContent" {
			w.put(name, value)
		}
	}
	c.raw = w.end()
	if r.scan != nil {
		found := *r.scan
		found.Content = c.raw[len(contentFirst) : len(contentFirst)+size]
		found.Structured = structured
		c.scan = &found
	}
	return c, nil
}

const contentFirst = `{"content":`

// withoutContent returns the JSON of a result without its content, which is long,
// if that is easy to find.
func withoutContent(r *Result) json.RawMessage {
	if r.scan == nil {
		return r.raw
	}
	rest, first := bytes.CutPrefix(r.raw, []byte(contentFirst))
	rest, found := bytes.CutPrefix(rest, r.scan.Content)
	if !first || !found || len(r.scan.Content) == 0 {
		return r.raw
	}
	rest, _ = bytes.CutPrefix(bytes.TrimLeft(rest, " \t\r\n"), []byte(","))
	return append([]byte("{"), rest...)
}

// Sent returns the exact bytes of a [Raw] or [RawMessage] result, and nil for
// other results.
func Sent(r *Result) json.RawMessage { return r.raw }

// Notes returns what was done to produce this result, such as a repair of the
// arguments. Notes are for records of the call and are not sent.
func (r *Result) Notes() []string { return r.notes }

// WithNotes returns r with more notes.
func (r *Result) WithNotes(notes ...string) *Result {
	if len(notes) == 0 {
		return r
	}
	c := clone(r)
	c.notes = append(c.notes[:len(c.notes):len(c.notes)], notes...)
	return c
}

func clone(r *Result) *Result {
	c := &Result{raw: r.raw, long: r.long, scan: r.scan, value: r.value, kind: r.kind, ref: r.ref, notes: r.notes}
	c.looked.Store(r.looked.Load())
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

// MarshalJSON returns MCP's CallToolResult: the exact bytes of a [Raw] result.
func (r *Result) MarshalJSON() ([]byte, error) {
	switch {
	case r.long != nil:
		return r.long.Load()
	case r.raw != nil:
		return r.raw, nil
	case r.value != nil:
		return bytes.Join([][]byte{[]byte(`{"content":[{"type":"text","text":`), quote(r.value),
			[]byte(`}],"structuredContent":`), r.value, []byte(`}`)}, nil), nil
	}
	return codec.Encode(bodyOf(r))
}

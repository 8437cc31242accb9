// Package recording records what a gateway lists and answers, and plays it back
// without the servers.
//
//	gateway ── Middleware, SetCatalogue ──▶ Recorder ──▶ FILE ── Read ──▶ Recording ── Player ──▶ mcpserver
//
// A recording is a file of lines. The first describes the file, each of the others is
// the catalogue at that time, or a call with its answer, in the names that clients of
// the gateway know, before tools are adapted to a dialect and long results shortened.
// Secrets are replaced; an answer without secrets is recorded to the byte.
package recording

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/toolpost/toolpost/internal/secret"
	"github.com/toolpost/toolpost/internal/wire"
)

// Version is the version of the format.
const Version = 1

// maxLine is the longest line that is read, and maxResult the longest result that is
// recorded, in bytes.
const (
	maxLine   = 64 << 20
	maxResult = 8 << 20
)

// A Recording is the content of a file.
type Recording struct {
	Time      time.Time  // when it began
	Catalogue *Catalogue // the last one; empty if there is none
	Calls     []*Call    // in the order in which they ended
	Torn      bool       // the last line is not complete, because the recorder was killed
}

// A Catalogue is what a gateway lists. Definitions are those of MCP.
type Catalogue struct {
	Tools        []json.RawMessage `json:"tools"`
	Prompts      []json.RawMessage `json:"prompts,omitempty"`
	Resources    []json.RawMessage `json:"resources,omitempty"`
	Templates    []json.RawMessage `json:"templates,omitempty"`
	Instructions string            `json:"instructions,omitempty"`
	Capabilities json.RawMessage   `json:"capabilities,omitempty"` // other than MCP's own
}

// A Call is a request and its answer: a result or an error.
type Call struct {
	Time     time.Time       `json:"ts"`
	Method   string          `json:"method"`                // of MCP, such as tools/call
	Name     string          `json:"name"`                  // of the tool or prompt, the URI, or the method of an extension
	Server   string          `json:"server,omitempty"`      // that answered
	Args     json.RawMessage `json:"args,omitempty"`        // redacted
	Duration float64         `json:"dur_ms"`                // milliseconds
	Error    *Error          `json:"error,omitempty"`       // of JSON-RPC
	Omitted  int64           `json:"omitted,omitempty"`     // the size of a result that is too long to be recorded, in bytes
	Redacted int             `json:"redacted,omitempty"`    // secrets that are hidden in the result
	Result   json.RawMessage `json:"result,omitempty"`      // the bytes of the result
	Text     string          `json:"result_text,omitempty"` // the same, if they contain line breaks
}

// An Error is a JSON-RPC error.
type Error struct {
	Code    int64           `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

// A header is the first line.
type header struct {
	Kind    string    `json:"kind"`
	Version int       `json:"v"`
	Time    time.Time `json:"ts"`
}

// Kinds of lines.
const (
	kindHeader    = "recording"
	kindCatalogue = "catalogue"
	kindCall      = "call"
)

// Is reports whether data is the beginning of a recording.
func Is(data []byte) bool {
	line, _, _ := bytes.Cut(data, []byte("\n"))
	return len(line) < 1<<16 && wire.Unquote(wire.Get(line, "kind")) == kindHeader
}

// Read reads a recording.
func Read(from io.Reader) (*Recording, error) {
	in := bufio.NewReaderSize(from, 64<<10)
	rec := &Recording{Catalogue: &Catalogue{}}
	for n := 1; ; n++ {
		line, err := readLine(in)
		switch {
		case err == io.EOF && n == 1:
			return nil, errors.New("read recording: the file is empty")
		case err == io.EOF:
			return rec, nil
		case errors.Is(err, io.ErrUnexpectedEOF) && n > 1:
			rec.Torn = true
			return rec, nil
		case err != nil:
			return nil, fmt.Errorf("read recording: line %d: %w", n, err)
		}
		if err := rec.add(line, n == 1); err != nil {
			return nil, fmt.Errorf("read recording: line %d: %w", n, err)
		}
	}
}

// readLine returns the next line without its line break.
func readLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		if len(line)+len(part) > maxLine {
			return nil, fmt.Errorf("it has more than %d bytes", maxLine)
		}
		line = append(line, part...)
		switch {
		case err == nil:
			return bytes.TrimSuffix(line, []byte("\n")), nil
		case err == io.EOF && len(line) > 0:
			return nil, io.ErrUnexpectedEOF
		case err != bufio.ErrBufferFull:
			return nil, err
		}
	}
}

// add adds what a line says.
func (rec *Recording) add(line []byte, first bool) error {
	if !wire.Valid(line) {
		return errors.New("it is not valid JSON")
	}
	kind := wire.Unquote(wire.Get(line, "kind"))
	switch {
	case first:
		return rec.begin(line)
	case kind == kindCatalogue:
		c := &Catalogue{}
		if err := json.Unmarshal(line, c); err != nil {
			return err
		}
		rec.Catalogue = c
	case kind == kindCall:
		c := &Call{}
		if err := json.Unmarshal(line, c); err != nil {
			return err
		}
		rec.Calls = append(rec.Calls, c)
	}
	return nil // of a kind that a later version writes
}

func (rec *Recording) begin(line []byte) error {
	var h header
	if err := json.Unmarshal(line, &h); err != nil || h.Kind != kindHeader {
		return errors.New(`it is not the first line of a recording; "toolpost serve --record FILE" makes one`)
	}
	if h.Version != Version {
		return fmt.Errorf("the recording has version %d, and this program reads version %d", h.Version, Version)
	}
	rec.Time = h.Time
	return nil
}

// Raw returns the bytes of the result, nil if there is none.
func (c *Call) Raw() json.RawMessage {
	if c.Text != "" {
		return json.RawMessage(c.Text)
	}
	return c.Result
}

// setResult records the bytes of a result without secrets.
func (c *Call) setResult(raw []byte, r *redactor) {
	if len(raw) > maxResult {
		c.Omitted = int64(len(raw))
		return
	}
	raw, c.Redacted = r.redact(raw)
	switch {
	case bytes.ContainsAny(raw, "\n\r") || !wire.Valid(raw):
		c.Text = string(raw)
	default:
		c.Result = raw
	}
}

// line returns the line of a call. The JSON encoder would change the bytes of the
// result: white space and characters of HTML.
func (c *Call) line() ([]byte, error) {
	head := *c
	head.Result, head.Args = nil, nil
	line, err := json.Marshal(&head)
	if err != nil {
		return nil, err
	}
	line = bytes.TrimSuffix(line, []byte("}"))
	for _, m := range []struct {
		name  string
		value json.RawMessage
	}{{"args", c.Args}, {"result", c.Result}} {
		if len(m.value) > 0 {
			line = fmt.Appendf(line, `,"%s":`, m.name)
			line = append(line, m.value...)
		}
	}
	return append(append([]byte(`{"kind":"`+kindCall+`",`), line[1:]...), "}\n"...), nil
}

// A redactor hides secrets, and leaves JSON without secrets as it is.
type redactor struct{ hide func(text string) string }

func newRedactor(secrets []string, hide func(string) string) *redactor {
	return &redactor{secret.Hider(secrets, hide)}
}

// text returns a name, address or message without secrets.
func (r *redactor) text(s string) string { return secret.RedactText(r.hide(s)) }

// definitions returns JSON with definitions without the known secrets. Text that only
// looks like a secret stays: it is a name or an example in a schema.
func (r *redactor) definitions(raw []byte) []byte {
	clear, hidden := secret.RedactJSON(raw, &secret.JSONOptions{Text: r.hide, Known: true})
	if hidden == 0 {
		return raw
	}
	return clear
}

// redact returns raw without secrets, and how many it hid.
func (r *redactor) redact(raw []byte) ([]byte, int) {
	if !wire.Valid(raw) {
		clear := r.hide(string(raw))
		if clear == string(raw) {
			return raw, 0
		}
		return []byte(clear), 1
	}
	clear, hidden := secret.RedactJSON(raw, &secret.JSONOptions{Text: r.hide})
	if hidden == 0 {
		return raw, 0
	}
	return clear, hidden
}

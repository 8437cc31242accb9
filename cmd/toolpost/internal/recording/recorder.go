package recording

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/hidden"
	"github.com/toolpost/toolpost/internal/secret"
	"github.com/toolpost/toolpost/internal/wire"
	"github.com/toolpost/toolpost/observe"
)

// Options are the optional parts of [Create].
type Options struct {
	Secrets []string // values that are not recorded

	// Hide returns a text without the secrets that have become known since. Nil
	// returns it as it is.
	Hide    func(text string) string
	MaxSize int64        // bytes after which nothing more is recorded; 256 MiB if 0
	Logger  *slog.Logger // nil for slog.Default
}

// A Recorder writes a recording. It is safe for concurrent use.
type Recorder struct {
	redact *redactor
	max    int64
	log    *slog.Logger

	mu        sync.Mutex
	file      *os.File
	size      int64
	err       error  // why nothing more is recorded
	catalogue []byte // the last line
}

// Create begins a recording in a new file, which only its user can read.
func Create(path string, opts *Options) (*Recorder, error) {
	if opts == nil {
		opts = &Options{}
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	switch {
	case errors.Is(err, os.ErrExist):
		return nil, fmt.Errorf("record: %s exists; remove it, or name another file", path)
	case err != nil:
		return nil, fmt.Errorf("record: %w", err)
	}
	r := &Recorder{redact: newRedactor(opts.Secrets, opts.Hide), max: cmp.Or(opts.MaxSize, 256<<20), log: cmp.Or(opts.Logger, slog.Default()), file: f}
	line, err := json.Marshal(header{kindHeader, Version, time.Now().UTC()})
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	r.write(append(line, '\n'))
	return r, r.err
}

// write writes lines at once, unless the recording has ended.
func (r *Recorder) write(line []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.writeLocked(line)
}

// writeLocked is write for a caller that holds the lock.
func (r *Recorder) writeLocked(line []byte) {
	if r.err != nil {
		return
	}
	if r.size+int64(len(line)) > r.max {
		r.err = fmt.Errorf("record: the recording would have more than %d bytes", r.max)
	} else if _, err := r.file.Write(line); err != nil {
		r.err = fmt.Errorf("record: %w", err)
	}
	if r.err != nil {
		r.log.Error("the recording ends here; calls are served as before", "err", r.err)
	}
	r.size += int64(len(line))
}

// Close ends the recording.
func (r *Recorder) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.err = errors.New("record: the recording is closed")
	}
	if err := errors.Join(r.file.Sync(), r.file.Close()); err != nil {
		return fmt.Errorf("record: %w", err)
	}
	return nil
}

// SetCatalogue records what a gateway lists, if it has changed. Tools for which skip
// returns true are left out: the gateway's own.
func (r *Recorder) SetCatalogue(set *toolpost.Set, skip func(tool string) bool) {
	line, err := catalogueLine(set, skip)
	if err != nil {
		r.log.Error("the lists cannot be recorded", "err", err)
		return
	}
	line = append(r.redact.definitions(bytes.TrimSuffix(line, []byte("\n"))), '\n')
	r.mu.Lock()
	defer r.mu.Unlock()
	if !bytes.Equal(line, r.catalogue) {
		r.catalogue = line
		r.writeLocked(line) // under the same lock: the last line must be the last catalogue
	}
}

func catalogueLine(set *toolpost.Set, skip func(string) bool) ([]byte, error) {
	c, err := NewCatalogue(set, skip)
	if err != nil {
		return nil, err
	}
	return c.line()
}

// NewCatalogue returns what a set lists, but for the tools for which skip returns
// true.
func NewCatalogue(set *toolpost.Set, skip func(tool string) bool) (*Catalogue, error) {
	c := &Catalogue{Tools: []json.RawMessage{}}
	tools, err := set.Tools(context.Background())
	if err != nil {
		return nil, err
	}
	for _, t := range tools {
		if skip(t.Name) {
			continue
		}
		raw, err := t.Definition.MarshalJSON()
		if err != nil {
			return nil, err
		}
		c.Tools = append(c.Tools, raw)
	}
	if f := set.Features(); f != nil {
		c.Instructions, c.Capabilities = f.Instructions, f.Capabilities
		for _, p := range f.Prompts {
			c.Prompts = append(c.Prompts, withName(p.Definition, "name", p.Name))
		}
		for _, res := range f.Resources {
			if res.Template {
				c.Templates = append(c.Templates, withName(res.Definition, "uriTemplate", secret.RedactText(res.URI)))
			} else {
				c.Resources = append(c.Resources, withName(res.Definition, "uri", secret.RedactText(res.URI)))
			}
		}
	}
	return c, nil
}

func withName(definition json.RawMessage, member, name string) json.RawMessage {
	if !wire.IsObject(definition) {
		definition = json.RawMessage("{}")
	}
	return wire.Set(definition, member, wire.Quote(name))
}

// line returns the line of a catalogue. The bytes of definitions stay as they are,
// but for line breaks between their parts.
func (c *Catalogue) line() ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(`{"kind":"` + kindCatalogue + `","tools":[`)
	b.Write(joinLines(c.Tools))
	b.WriteString("]")
	for _, m := range []struct {
		name string
		all  []json.RawMessage
	}{{"prompts", c.Prompts}, {"resources", c.Resources}, {"templates", c.Templates}} {
		if len(m.all) > 0 {
			fmt.Fprintf(&b, `,"%s":[%s]`, m.name, joinLines(m.all))
		}
	}
	if c.Instructions != "" {
		fmt.Fprintf(&b, `,"instructions":%s`, wire.Quote(c.Instructions))
	}
	if len(c.Capabilities) > 0 {
		fmt.Fprintf(&b, `,"capabilities":%s`, oneLine(c.Capabilities))
	}
	b.WriteString("}\n")
	if !wire.Valid(bytes.TrimSuffix(b.Bytes(), []byte("\n"))) {
		return nil, errors.New("a definition is not valid JSON")
	}
	return b.Bytes(), nil
}

func joinLines(all []json.RawMessage) []byte {
	lines := make([][]byte, len(all))
	for i, raw := range all {
		lines[i] = oneLine(raw)
	}
	return bytes.Join(lines, []byte(","))
}

// oneLine replaces line breaks, which JSON has only between tokens.
func oneLine(raw []byte) []byte {
	return bytes.ReplaceAll(bytes.ReplaceAll(raw, []byte("\n"), []byte(" ")), []byte("\r"), []byte(" "))
}

// Middleware records every call that a handler answers. It is an option of package
// gateway. Where no server observes its requests, all calls are recorded as calls of tools.
func (r *Recorder) Middleware(next toolpost.Handler) toolpost.Handler {
	if next == nil {
		return nil
	}
	return func(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
		start := time.Now()
		result, err := next(hidden.WithKeep(ctx, nil), call) // the result is recorded in full
		if ctx.Err() != nil {
			return result, err // the client gets no answer
		}
		c := &Call{Time: time.Now().UTC(), Method: "tools/call", Name: r.redact.text(call.Name), Duration: float64(time.Since(start).Microseconds()) / 1000}
		if q := observe.From(ctx); q != nil {
			c.Method = q.Method
			if to := q.Target(); to != nil {
				c.Server = to.Server
			}
		}
		c.Args, _ = r.redact.redact(arguments(c.Method, call))
		c.Args = oneLine(c.Args)
		r.setAnswer(c, result, err)
		if line, err := c.line(); err != nil {
			r.log.Error("a call cannot be recorded", "err", err)
		} else {
			r.write(line)
		}
		return result, err
	}
}

// arguments returns what an answer depends on besides the name.
func arguments(method string, call *toolpost.Call) json.RawMessage {
	switch method {
	case "tools/call", "prompts/get", "completion/complete":
		return call.Arguments
	case "resources/read":
		return nil
	}
	if !wire.IsObject(call.Params) {
		return nil
	}
	return wire.Delete(call.Params, "_meta")
}

// setAnswer records the answer of a call.
func (r *Recorder) setAnswer(c *Call, result *toolpost.Result, err error) {
	protocol := (*toolpost.ProtocolError)(nil)
	switch {
	case errors.As(err, &protocol):
		c.Error = &Error{Code: protocol.Code, Message: r.redact.text(protocol.Message)}
		if wire.Valid(protocol.Data) {
			c.Error.Data, _ = r.redact.redact(protocol.Data)
		}
	case err != nil && c.Method != "tools/call":
		c.Error = &Error{Code: wire.CodeInternal, Message: r.redact.text(err.Error())}
	case err != nil:
		r.setResult(c, toolpost.Failed.Resultf("%v", err))
	case result == nil:
		r.setResult(c, toolpost.NewResult())
	default:
		r.setResult(c, result)
	}
}

func (r *Recorder) setResult(c *Call, result *toolpost.Result) {
	if long := hidden.EncodedOf(result).Long; long != nil && long.Size() > maxResult {
		c.Omitted = long.Size()
		return
	}
	raw, err := result.MarshalJSON()
	if err != nil {
		c.Error = &Error{Code: wire.CodeInternal, Message: r.redact.text(err.Error())}
		return
	}
	c.setResult(raw, r.redact)
}

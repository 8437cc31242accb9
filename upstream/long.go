package upstream

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/longjson"
	"github.com/toolpost/toolpost/internal/wire"
)

const (
	longString = 64 << 10 // bytes of a string from which on it is read from the file
	mostShort  = 16 << 10 // bytes of a message without these strings
	mostTexts  = 16
)

// A longResult is a result that is in a file. It is an error to who wants it in
// memory.
type longResult struct {
	body
	short []byte // the message, long strings empty; nil if that is too long as well
	survey
}

func (l *longResult) Error() string { return l.limits.tooLong().Error() }

func (l *longResult) Unwrap() error { return errTooLong }

// long returns the message as a result that stays in the file, nil if it is not
// a result.
func (b *body) long() *longResult {
	short := longjson.Shorten(io.NewSectionReader(b.file, 0, b.size), longString)
	kept := &beginning{most: mostShort}
	s := survey{source: short}
	if err := s.read(io.TeeReader(short, kept)); err != nil || s.other || !isNumber(s.id) || s.to == 0 {
		return nil
	}
	return &longResult{body: *b, short: kept.data, survey: s}
}

// A beginning keeps what is written to it, unless that is more than most.
type beginning struct {
	data []byte
	most int
}

func (b *beginning) Write(p []byte) (int, error) {
	if b.most -= len(p); b.most >= 0 {
		b.data = append(b.data, p...)
	} else {
		b.data = nil
	}
	return len(p), nil
}

// messages returns the message in memory, if it is not too long for that. It
// gives the file up.
func (l *longResult) messages() ([]wire.Message, error) {
	defer l.drop()
	data, err := l.load()
	if err != nil {
		return nil, err
	}
	if found := wire.Read(data); len(found) == 1 {
		return found, nil
	}
	return nil, errNotObject
}

// result returns what the caller gets. Long texts are kept; if there is nothing
// else that is long, the rest is as it came.
func (l *longResult) result(ctx context.Context, keep keeper) (*toolpost.Result, error) {
	defer l.drop()
	if keep != nil && l.short != nil && l.texts() {
		return l.shown(ctx, keep)
	}
	if l.size <= int64(l.limits.max) || keep == nil {
		found, err := l.messages()
		if err != nil {
			return nil, err
		}
		return toolpost.RawMessage(&found[0]), nil
	}
	from, to := l.source.Source(l.from), l.source.Source(l.to)
	view, ref, err := keep(ctx, longjson.Lines(l.section(from, to)), 1, l.failed)
	if err != nil {
		return nil, notKept(err)
	}
	r := toolpost.Text(view)
	if l.failed {
		r = toolpost.Errorf("%s", view)
	}
	return r.WithOutputRef(ref), nil
}

// shown returns the result with views of its long texts.
func (l *longResult) shown(ctx context.Context, keep keeper) (*toolpost.Result, error) {
	var raw []byte
	var ref string
	at := l.from
	for _, c := range l.cuts {
		view, r, err := keep(ctx, longjson.Text(l.section(c.From, c.To)), len(l.cuts), l.failed)
		if err != nil {
			return nil, notKept(err)
		}
		ref = cmp.Or(ref, r)
		raw = append(append(raw, l.short[at:c.At]...), wire.Quote(view)...)
		at = c.At + int64(len(`""`))
	}
	return toolpost.Raw(append(raw, l.short[at:l.to]...)).WithOutputRef(ref), nil
}

func notKept(err error) error {
	return fmt.Errorf("%w for memory, and cannot be kept: %w", errTooLong, err)
}

func (l *longResult) section(from, to int64) io.Reader {
	return io.NewSectionReader(l.file, from, to-from)
}

// A survey is what is known of a message that was read once.
type survey struct {
	source   *longjson.Shortener
	id       json.RawMessage
	other    bool           // it is no answer, or not only
	from, to int64          // of the result, in what the source gives; 0 if there is none
	failed   bool           // by isError
	asks     bool           // it is no result yet, but asks for input
	cuts     []longjson.Cut // in the result
	others   bool           // some of them are no texts
	seen     int            // of the source's cuts
}

// texts says that only texts were cut, and few enough to show each of them.
func (s *survey) texts() bool { return !s.others && len(s.cuts) > 0 && len(s.cuts) <= mostTexts }

// text finds the texts of content blocks.
var text = regexp.MustCompile(`^/result/content/[0-9]+/(resource/)?text$`)

func (s *survey) read(r io.Reader) error {
	d := jsontext.NewDecoder(r, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if err := open(d); err != nil {
		return err
	}
	seen := map[string]bool{}
	err := members(d, func(name string) error {
		if seen[name] && (name == "id" || name == "result") {
			return errTwice
		}
		seen[name] = true
		switch kind := d.PeekKind(); {
		case name == "id" && (kind == '"' || kind == '0'):
			value, err := d.ReadValue()
			s.id = json.RawMessage(value.Clone())
			return err
		case name == "method", name == "error":
			s.other = true
		case name == "result":
			return s.result(d)
		}
		return d.SkipValue()
	})
	if err != nil {
		return err
	}
	if _, err := d.ReadToken(); err != io.EOF {
		return errNotObject // something follows it
	}
	return nil
}

var errTwice = errors.New("it has a member twice")

// open reads the beginning of an object.
func open(d *jsontext.Decoder) error {
	if d.PeekKind() != '{' {
		return errNotObject
	}
	_, err := d.ReadToken()
	return err
}

// members calls f for each member of an object, when its value is next.
func members(d *jsontext.Decoder, f func(name string) error) error {
	for d.PeekKind() != '}' {
		name, err := d.ReadToken()
		if err != nil {
			return err
		}
		if err := f(name.String()); err != nil {
			return err
		}
	}
	_, err := d.ReadToken()
	return err
}

func (s *survey) result(d *jsontext.Decoder) error {
	if err := open(d); err != nil {
		return err
	}
	s.from = d.InputOffset() - 1
	err := members(d, func(name string) error {
		s.string(d)
		switch kind := d.PeekKind(); {
		case name == "isError" && (kind == 't' || kind == 'f'):
			s.failed = kind == 't'
		case name == "resultType" && kind == '"':
			t, err := d.ReadToken()
			s.asks = t.String() == "input_required"
			return err
		}
		return s.value(d)
	})
	s.to = d.InputOffset()
	return err
}

// value notes what was cut from a value.
func (s *survey) value(d *jsontext.Decoder) error {
	for depth := d.StackDepth(); ; {
		t, err := d.ReadToken()
		if err != nil {
			return err
		}
		if t.Kind() == '"' {
			s.string(d)
		}
		if d.StackDepth() == depth {
			return nil
		}
	}
}

// string notes the string that was read last, if it was cut.
func (s *survey) string(d *jsontext.Decoder) {
	cuts, at := s.source.Cuts(), d.InputOffset()-int64(len(`""`))
	for s.seen < len(cuts) && cuts[s.seen].At < at {
		s.seen++
	}
	if s.seen == len(cuts) || cuts[s.seen].At > at {
		return
	}
	s.cuts = append(s.cuts, cuts[s.seen])
	if !isText(d) {
		s.others = true
	}
}

// isText says that the string that was read last may be replaced by another.
func isText(d *jsontext.Decoder) bool {
	if kind, n := d.StackIndex(d.StackDepth()); kind == '{' && n%2 == 1 {
		return false // a name
	}
	at := string(d.StackPointer())
	return strings.HasPrefix(at, "/result/structuredContent/") || text.MatchString(at)
}

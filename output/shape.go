package output

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// A shaping says how much of a JSON value its shape keeps.
type shaping struct {
	items, chars int  // elements or members of each, and characters of a string
	marked       bool // arrays and objects say what is left out
}

// shape returns a value of the shape of whole that is within so many
// characters; nil if there is none that fits the tool's output schema.
func (v *viewing) shape(whole json.RawMessage, room int) json.RawMessage {
	formats := v.hasFormats()
	for _, marked := range []bool{true, false} {
		if !marked && v.tool.Output == nil {
			break // the marked one was as small
		}
		if marked && formats {
			continue // a mark has no format
		}
		for _, s := range []shaping{{2000, 40_000, marked}, {500, 10_000, marked}, {100, 4000, marked}, {50, 1000, marked}, {20, 300, marked}, {10, 100, marked}, {5, 50, marked}, {2, 30, marked}, {1, 20, marked}} {
			w := &shaper{shaping: s, in: reader(whole), room: room}
			if err := w.value(); err != nil || w.cut && formats {
				continue
			}
			shape := json.RawMessage(w.out)
			if utf8.RuneCount(shape) <= room && v.fits(shape) {
				return shape
			}
		}
	}
	return nil
}

func reader(raw []byte) *jsontext.Decoder {
	return jsontext.NewDecoder(bytes.NewBuffer(raw), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// A shaper writes the shape of what it reads.
type shaper struct {
	shaping
	in   *jsontext.Decoder
	out  []byte
	room int
	cut  bool // a string was cut
}

var errTooLarge = errors.New("the shape is too large")

func (s *shaper) value() error {
	if len(s.out) > utf8.UTFMax*s.room {
		return errTooLarge
	}
	switch s.in.PeekKind() {
	case '{':
		return s.members(func() error {
			name, err := s.in.ReadValue()
			if err != nil {
				return err
			}
			s.out = append(append(s.out, name...), ':')
			return s.value()
		})
	case '[':
		return s.members(s.value)
	}
	raw, err := s.in.ReadValue()
	if err == nil && raw.Kind() == '"' {
		raw = s.text(raw)
	}
	s.out = append(s.out, raw...)
	return err
}

// members reads an array or object, of which each reads the first ones.
func (s *shaper) members(each func() error) error {
	t, err := s.in.ReadToken()
	if err != nil {
		return err
	}
	object, end := t.Kind() == '{', byte(']')
	if object {
		end = '}'
	}
	s.out = append(s.out, t.String()...)
	n, left := 0, 0
	for s.in.PeekKind() != jsontext.Kind(end) {
		if n == s.items {
			if err := s.skip(object); err != nil {
				return err
			}
			left++
			continue
		}
		if n++; n > 1 {
			s.out = append(s.out, ',')
		}
		if err := each(); err != nil {
			return err
		}
	}
	if left > 0 && s.marked {
		s.out = append(s.out, mark(object, left)...)
	}
	s.out = append(s.out, end)
	_, err = s.in.ReadToken()
	return err
}

func (s *shaper) skip(object bool) error {
	if object {
		if err := s.in.SkipValue(); err != nil {
			return err
		}
	}
	return s.in.SkipValue()
}

// mark is the last element or member of one that is not whole.
func mark(object bool, left int) string {
	if object {
		return fmt.Sprintf(`,"…":"%d more members"`, left)
	}
	return fmt.Sprintf(`,"… %d more elements"`, left)
}

// text cuts a string.
func (s *shaper) text(raw jsontext.Value) jsontext.Value {
	if len(raw) <= s.chars {
		return raw
	}
	text, err := jsontext.AppendUnquote(nil, raw)
	if err != nil && !utf8.Valid(text) {
		text = bytes.ToValidUTF8(text, replacement)
	}
	n := prefix(text, s.chars)
	if n == len(text) {
		return raw
	}
	s.cut = true
	cut := fmt.Appendf(text[:n:n], "… %d more characters", utf8.RuneCount(text[n:]))
	quoted, _ := jsontext.AppendQuote(nil, cut) // it is valid
	return quoted
}

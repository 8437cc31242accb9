package message

import (
	"encoding/json"
	"errors"
	"math"
	"slices"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/toolpost/toolpost/internal/wire"
)

// A decoder turns one line after the other into messages. What it keeps of a
// line are slices of it: a line of some megabytes is not copied.
type decoder struct {
	options  jsonv2.Options
	source   []byte // what is decoded: the line or a part of it
	at       string // where the part is in the line
	warnings []string
	kinds    map[string]blockKind
	met      func(kind, name string, raw []byte) // gets what is not known
}

func newDecoder() *decoder {
	d := &decoder{kinds: blockKinds(), met: func(string, string, []byte) {}}
	d.options = with(jsonv2.JoinUnmarshalers(
		jsonv2.UnmarshalFromFunc(d.raw),
		jsonv2.UnmarshalFromFunc(from(d, math.MinInt64)),
		jsonv2.UnmarshalFromFunc(d.float),
		jsonv2.UnmarshalFromFunc(d.usage),
		jsonv2.UnmarshalFromFunc(d.modelUsage),
		jsonv2.UnmarshalFromFunc(d.blocks),
		jsonv2.UnmarshalFromFunc(d.single),
	))
	return d
}

func with(u *jsonv2.Unmarshalers) jsonv2.Options {
	return jsonv2.JoinOptions(jsonv2.WithUnmarshalers(u), tolerant())
}

// tolerant lets pass what the CLI copies from models and tools.
func tolerant() jsonv2.Options {
	return jsonv2.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// decode decodes a part of the line, found at a field of what is decoded now.
func (d *decoder) decode(part []byte, field string, v any) error {
	return d.decodeWith(d.options, part, field, v)
}

func (d *decoder) decodeWith(o jsonv2.Options, part []byte, field string, v any) error {
	source, at := d.source, d.at
	defer func() { d.source, d.at = source, at }()
	d.source, d.at = part, field
	if err := jsonv2.Unmarshal(part, v, o); err != nil {
		return locate(err, field)
	}
	return nil
}

// next reads a value and returns it as a slice of the source.
func (d *decoder) next(dec *jsontext.Decoder) (json.RawMessage, error) {
	v, err := dec.ReadValue()
	if err != nil {
		return nil, err
	}
	end := int(dec.InputOffset())
	return json.RawMessage(d.source[end-len(v) : end : end]), nil
}

// raw is for members that are kept as they are; null is none.
func (d *decoder) raw(dec *jsontext.Decoder, to *json.RawMessage) error {
	v, err := d.next(dec)
	if err == nil && v[0] == 'n' {
		v = nil
	}
	*to = v
	return err
}

// missing returns the first of the names that object does not have, or has as
// null; empty if it has all.
func missing(object []byte, names []string) string {
	names = slices.Clone(names)
	for name, value := range wire.Members(object) {
		if i := slices.Index(names, name); i >= 0 && value[0] != 'n' {
			names = slices.Delete(names, i, i+1)
		}
		if len(names) == 0 {
			return ""
		}
	}
	return names[0]
}

// text returns a member that is a string; empty if there is none.
func text(object []byte, name string) (string, error) {
	for n, value := range wire.Members(object) {
		switch {
		case n != name || value[0] == 'n':
		case value[0] != '"':
			return "", &fieldError{name, errors.New("is not a string")}
		default:
			return wire.Unquote(value), nil
		}
	}
	return "", nil
}

// part decodes an object that has to have some members.
func (d *decoder) part(raw []byte, field string, v any, required ...string) error {
	if err := d.decode(raw, field, v); err != nil {
		return err
	}
	if len(required) == 0 {
		return nil
	}
	if name := missing(raw, required); name != "" {
		return &fieldError{below(field, jsontext.Pointer("/"+name)), errMissing}
	}
	return nil
}

package dialect

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/schema"
)

// call is the handler of an adapted tool: it runs the original with the
// arguments turned back. The original checks and approves them.
func (t *Tool) call(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
	inner := *call
	inner.Name = t.Original.Name
	var notes []string
	inner.Arguments, notes = t.decode(call.Arguments)
	if t.enforced && t.Original.Policy.Unchecked {
		if err := t.check(inner.Arguments); err != nil {
			return nil, err
		}
	}
	r, err := t.Original.Run(ctx, &inner)
	switch {
	case err != nil:
		return nil, t.seen(err)
	case r == nil && len(notes) > 0:
		r = toolpost.Parts()
	}
	return r.WithNotes(notes...), nil
}

// Decode returns arguments that a model wrote for t in the shape of the
// original's schema, validated. Its error is written for the model.
func (t *Tool) Decode(arguments json.RawMessage) (json.RawMessage, error) {
	decoded, _ := t.decode(arguments)
	if err := t.check(decoded); err != nil {
		return nil, err
	}
	return decoded, nil
}

// decode repairs arguments and turns them into the shape of the original.
func (t *Tool) decode(arguments json.RawMessage) (decoded json.RawMessage, notes []string) {
	arguments, notes = unwrapped(arguments)
	decoded, more := t.codec.Decode(arguments)
	notes = append(notes, more...)
	decoded, more = t.unwrapParts(decoded)
	return decoded, append(notes, more...)
}

// check validates decoded arguments.
func (t *Tool) check(decoded json.RawMessage) error {
	if err := t.Original.Input.Validator().Validate(decoded); err != nil {
		return t.seen(&toolpost.ArgumentsError{Tool: t.Original.Name, Err: err})
	}
	return nil
}

// seen turns an error about the original's arguments into one about those
// that the model wrote.
func (t *Tool) seen(err error) error {
	wrong, ok := err.(*toolpost.ArgumentsError) // not those of other tools that the handler ran
	if !ok || wrong.Tool != t.Original.Name {
		return err
	}
	invalid, ok := wrong.Err.(*schema.ValidationError)
	if !ok || t.codec.Identity() {
		return &toolpost.ArgumentsError{Tool: t.Name, Err: wrong.Err}
	}
	told := &schema.ValidationError{Problems: make([]schema.Problem, len(invalid.Problems)), More: invalid.More}
	for i, p := range invalid.Problems {
		object := p.Pointer[:max(strings.LastIndexByte(p.Pointer, '/'), 0)]
		p.Pointer = t.codec.Seen(p.Pointer)
		valid := make([]string, len(p.Valid))
		for j, name := range p.Valid {
			seen := t.codec.Seen(object + "/" + escapePointer(name))
			valid[j] = unescapePointer(seen[strings.LastIndexByte(seen, '/')+1:])
		}
		p.Valid = valid
		told.Problems[i] = p
	}
	return &toolpost.ArgumentsError{Tool: t.Name, Err: told}
}

// unwrapped returns arguments that are an object. Models write it as a
// string that holds the object, now and then.
func unwrapped(arguments json.RawMessage) (json.RawMessage, []string) {
	raw := bytes.TrimSpace(arguments)
	switch {
	case len(raw) == 0:
		return json.RawMessage("{}"), nil
	case raw[0] != '"':
		return arguments, nil
	}
	if inside := quotedJSON(raw); len(inside) > 0 && inside[0] == '{' {
		return inside, []string{"the arguments were a string that holds JSON; they are read as that JSON"}
	}
	return arguments, nil
}

package dialect

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/internal/wire"
	"github.com/toolpost/toolpost/schema"
)

// call is the handler of an adapted tool: it runs the original with the
// arguments turned back. The original checks and approves them; the arguments
// in Params stay as they were sent.
func (t *Tool) call(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
	decoded, notes := t.decode(call.Arguments)
	checked := !t.Original.Policy.SkipValidation
	if !checked && (t.enforced || t.repairable(decoded)) {
		fitted, more, err := t.fitArguments(decoded)
		switch {
		case err == nil:
			decoded, notes = fitted, append(notes, more...)
		case t.enforced:
			return nil, t.translateError(err, call.Arguments)
		} // else the server judges: it may take more than its schema says
	}
	inner := *call
	inner.Name, inner.Arguments = t.Original.Name, decoded
	r, err := t.Original.Run(ctx, &inner)
	if checked && t.argumentsError(err) != nil {
		if fitted, more, bad := t.fitArguments(decoded); bad == nil && len(more) > 0 {
			again := inner
			again.Arguments, notes = fitted, append(notes, more...)
			r, err = t.Original.Run(ctx, &again)
		}
	}
	if err != nil {
		return nil, t.translateError(err, call.Arguments)
	}
	if len(notes) > 0 {
		r = r.WithNotes(firstNotes(notes)...)
	}
	return r, nil
}

// maxNotes is the number of repairs that are described one by one.
const maxNotes = 10

func firstNotes(notes []string) []string {
	if more := len(notes) - maxNotes; more > 0 {
		return append(slices.Clone(notes[:maxNotes]), fmt.Sprintf("and %d more", more))
	}
	return notes
}

// Decode converts arguments that a model wrote for t to the shape of the
// original's schema, with the names that its Policy.Prepare gives them, and validates
// them. Its error is written for the model.
func (t *Tool) Decode(arguments json.RawMessage) (json.RawMessage, error) {
	decoded, _ := t.decode(arguments)
	if prepare := t.Original.Policy.Prepare; prepare != nil {
		decoded = prepare(decoded)
	}
	fitted, _, err := t.fitArguments(decoded)
	if err != nil {
		return nil, t.translateError(err, arguments)
	}
	return fitted, nil
}

// decode turns arguments into the shape of the original.
func (t *Tool) decode(arguments json.RawMessage) (decoded json.RawMessage, notes []string) {
	arguments, notes = t.unwrapArguments(arguments)
	decoded, more := t.codec.Decode(arguments)
	return decoded, append(notes, more...)
}

// argumentsError returns the error if it is about the arguments of the original, not
// about those of another tool that its handler ran.
func (t *Tool) argumentsError(err error) *toolpost.ArgumentsError {
	if wrong, ok := err.(*toolpost.ArgumentsError); ok && wrong.Tool == t.Original.Name {
		return wrong
	}
	return nil
}

// translateError turns an error about the original's arguments into one about
// those that the model wrote: as the schema that it saw puts it if they break
// that, else with the names that it knows.
func (t *Tool) translateError(err error, arguments json.RawMessage) error {
	wrong := t.argumentsError(err)
	if wrong == nil {
		return err
	}
	invalid, ok := wrong.Err.(*schema.ValidationError)
	if !ok || t.codec.Identity() {
		return &toolpost.ArgumentsError{Tool: t.Name, Err: wrong.Err}
	}
	if t.shown != nil {
		written, _ := t.unwrapArguments(arguments)
		if _, err := t.shown.ValidateInput(written); err != nil {
			return &toolpost.ArgumentsError{Tool: t.Name, Err: err}
		}
	}
	told := &schema.ValidationError{Problems: make([]schema.Problem, len(invalid.Problems)), More: invalid.More}
	for i, p := range invalid.Problems {
		object := p.Pointer[:max(strings.LastIndexByte(p.Pointer, '/'), 0)]
		p.Pointer = t.codec.Seen(p.Pointer)
		valid := make([]string, len(p.Valid))
		for j, name := range p.Valid {
			seen := t.codec.Seen(object + "/" + jsontree.EscapePointer(name))
			valid[j] = jsontree.UnescapePointer(seen[strings.LastIndexByte(seen, '/')+1:])
		}
		p.Valid = valid
		told.Problems[i] = p
	}
	return &toolpost.ArgumentsError{Tool: t.Name, Err: told}
}

// unwrapArguments returns arguments as an object, without the members that the
// reader adds for itself. Models now and then write the object as a string that
// holds it, which no server accepts.
func (t *Tool) unwrapArguments(arguments json.RawMessage) (object json.RawMessage, notes []string) {
	raw := bytes.TrimSpace(arguments)
	switch {
	case len(raw) == 0:
		return json.RawMessage("{}"), nil
	case raw[0] != '"':
		return deleteMembers(arguments, t.reserved), nil
	}
	if inside := quotedJSON(raw); len(inside) > 0 && inside[0] == '{' {
		return deleteMembers(inside, t.reserved), []string{"the arguments were a string that contains JSON; they are read as that JSON"}
	}
	return arguments, nil
}

// deleteMembers returns an object without the members of some names. The values of
// the others keep their bytes and their order.
func deleteMembers(object json.RawMessage, names []string) json.RawMessage {
	for _, name := range names {
		object = wire.Delete(object, name)
	}
	return object
}

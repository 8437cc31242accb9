// Package schema handles JSON Schema for tools: it keeps a schema's exact bytes,
// infers schemas from Go types, and validates raw JSON in one pass.
//
//	Go type ── For ──▶ Schema ── Validate(raw) ──▶ problems
//	bytes ─── Parse ──▶ Schema
//
// The default dialect is 2020-12 (https://json-schema.org/draft/2020-12);
// drafts 4, 6, 7 and 2019-09 are used if a schema declares them.
//
// # Validation
//
// Values are validated on their raw bytes, in one pass. All problems are reported
// at once, as text that a model can act on. Not validated are unevaluatedProperties
// and unevaluatedItems beside keywords that apply other schemas to the same value
// (allOf, $ref and the like), $dynamicRef and $recursiveRef, and references to
// metaschemas. A schema of which a part is not validated may accept too much; it
// never refuses a valid value for that reason.
//
// Schemas of third parties are hostile input. They are repaired where the
// meaning is obvious, and limited: 1 MiB, 10,000 subschemas nested 64 deep,
// 100,000 paths through references, no cycle that does not descend into the
// value, nothing fetched. [Schema.Unvalidated] lists what is not validated.
//
// # Deviations
//
//   - format, contentEncoding and contentMediaType are annotations in every draft.
//   - A value is refused if it has a duplicate name, invalid UTF-8, half of a
//     surrogate pair, more than 1,000 levels or a number of more than 1,000
//     characters.
//   - Patterns run on RE2 if it supports them, so \s and . differ from ECMA 262
//     for rare characters.
package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"

	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/internal/shape"
)

// A Schema is one JSON Schema document. It keeps the bytes that it was made
// from: property order and numbers are never rewritten. It is immutable, except
// that UnmarshalJSON may set it before it is used.
type Schema struct {
	raw          json.RawMessage
	nullIsAbsent bool         // in values
	timed        reflect.Type // the Go type that reads values, nil if it has no time.Duration
	findings     []Finding
	compiled     func() *validator
	defaults     func() *defaults
	strictOutput func() *StrictError
}

func newSchema(raw []byte, nullIsAbsent bool) *Schema {
	s := &Schema{raw: raw, nullIsAbsent: nullIsAbsent}
	s.compiled = sync.OnceValue(func() *validator { return compile(raw, nullIsAbsent) })
	s.defaults = sync.OnceValue(func() *defaults { return readDefaults(raw) })
	s.strictOutput = sync.OnceValue(func() *StrictError { return strictOutput(raw) })
	return s
}

// Parse returns the schema in raw, a JSON object or boolean. It does not check
// whether the schema can be compiled; see [Schema.Unvalidated].
func Parse(raw []byte) (*Schema, error) {
	raw = bytes.TrimSpace(raw)
	switch {
	case len(raw) == 0:
		return nil, fmt.Errorf("parse schema: it is empty, want a JSON object")
	case !json.Valid(raw):
		return nil, syntaxError(raw)
	case raw[0] != '{' && raw[0] != 't' && raw[0] != 'f':
		return nil, fmt.Errorf("parse schema: it is %.20s, want a JSON object", raw)
	}
	return newSchema(bytes.Clone(raw), false), nil
}

func syntaxError(raw []byte) error {
	if _, broken := jsontree.Parse(raw, shape.MaxLevels); broken != nil {
		return fmt.Errorf("parse schema: %s", broken)
	}
	return errors.New("parse schema: it is nested too deeply")
}

// MustParse is [Parse] for schemas fixed at compile time: it panics on bad JSON.
func MustParse(raw string) *Schema {
	s, err := Parse([]byte(raw))
	if err != nil {
		panic(err)
	}
	return s
}

// Raw returns the schema's exact bytes. The caller must not change them.
func (s *Schema) Raw() json.RawMessage { return s.raw }

// With returns the schema in raw, compiled with the same options as s. It is
// for layers that rewrite a schema.
func (s *Schema) With(raw []byte) (*Schema, error) {
	other, err := Parse(raw)
	if err != nil {
		return nil, err
	}
	with := newSchema(other.raw, s.nullIsAbsent)
	with.timed = s.timed
	return with, nil
}

// Findings returns the parts that inference left untyped. Other schemas have
// none.
func (s *Schema) Findings() []Finding { return slices.Clone(s.findings) }

// Validate validates data. The error is a *[ValidationError] with all problems. If the
// schema was inferred for input, null counts as left out. The schema is compiled when it
// is first used, once.
func (s *Schema) Validate(data []byte) error { return s.validator().validate(data) }

// Unvalidated lists the parts of the schema that Validate does not check, and why. If it
// is empty, validation is complete.
func (s *Schema) Unvalidated() []Finding { return slices.Clone(s.validator().findings) }

func (s *Schema) validator() *validator {
	if s.compiled == nil { // a Schema that was never read
		return compile(s.raw, false)
	}
	return s.compiled()
}

// MarshalJSON returns the exact bytes, or null if there are none.
func (s *Schema) MarshalJSON() ([]byte, error) {
	if s.raw == nil {
		return []byte("null"), nil
	}
	return s.raw, nil
}

// UnmarshalJSON reads a schema as [Parse] does. Null leaves s as it is.
func (s *Schema) UnmarshalJSON(raw []byte) error {
	if string(raw) == "null" {
		return nil
	}
	other, err := Parse(raw)
	if err != nil {
		return err
	}
	*s = *other
	return nil
}

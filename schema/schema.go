// Package schema is JSON Schema for tools: it keeps a schema's exact bytes,
// infers schemas from Go types, and validates raw JSON in one pass.
//
//	Go type ── For ──▶ Schema ── Compile ──▶ Validator ── Validate(raw) ──▶ problems
//	bytes ─── Parse ──▶ Schema
//
// The default dialect is 2020-12 (https://json-schema.org/draft/2020-12);
// drafts 4, 6, 7 and 2019-09 are honoured where a schema declares them.
//
// # Validation
//
// The keywords that tools use are checked on the raw bytes, in one pass and
// without allocating; schemas that need more go to a full validator, some ten
// times slower. Both give the same verdicts and report all problems at once,
// as text that a model can act on.
//
// Schemas of third parties are hostile input. They are repaired where the
// meaning is obvious, and bounded: 1 MiB, 10,000 subschemas nested 64 deep,
// 100,000 ways through references, no cycle that stays at one value, nothing
// fetched. What is not validated is told by [Validator.Report].
//
// # Deviations
//
//   - format, contentEncoding and contentMediaType are annotations in every draft.
//   - A value with a repeated name, invalid UTF-8, half of a surrogate pair, more
//     than 1,000 levels or a number of more than 1,000 characters is refused.
//   - Patterns run on RE2 where it takes them, so \s and . differ from ECMA 262
//     in rare characters.
package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// A Schema is one JSON Schema document. It keeps the bytes it was made from:
// property order and numbers are never rewritten. It is immutable, except that
// it can be read from JSON, before it is used.
type Schema struct {
	raw      json.RawMessage
	opts     CompileOptions
	findings []Finding
	compiled func() *Validator
	defaults func() *defaults
}

func newSchema(raw []byte, opts CompileOptions) *Schema {
	s := &Schema{raw: raw, opts: opts}
	s.compiled = sync.OnceValue(func() *Validator { return Compile(&Schema{raw: raw}, &opts) })
	s.defaults = sync.OnceValue(func() *defaults { return readDefaults(raw) })
	return s
}

// Parse returns the schema that raw holds: a JSON object or boolean. It looks
// no further: whether the schema can be compiled is told by [Schema.Validator].
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
	return newSchema(bytes.Clone(raw), CompileOptions{}), nil
}

func syntaxError(raw []byte) error {
	if p := checkSyntax(raw, len(raw)); p != nil {
		return fmt.Errorf("parse schema: %s", p.line())
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

// With returns the schema that raw holds, to be compiled with the same options
// as s: for layers that rewrite a schema.
func (s *Schema) With(raw []byte) (*Schema, error) {
	other, err := Parse(raw)
	if err != nil {
		return nil, err
	}
	return newSchema(other.raw, s.opts), nil
}

// Findings returns what inference left untyped. Schemas from elsewhere have none.
func (s *Schema) Findings() []Finding { return slices.Clone(s.findings) }

// Validator returns the compiled schema: with null read as "left out" if it was
// inferred for input, else with default options. It is compiled at most once.
func (s *Schema) Validator() *Validator {
	if s.compiled == nil { // a Schema that was never read
		return Compile(s, nil)
	}
	return s.compiled()
}

// MarshalJSON returns the exact bytes, null if there are none.
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

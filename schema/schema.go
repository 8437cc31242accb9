// Package schema is JSON Schema for tools: it keeps a schema's exact bytes,
// infers schemas from Go types, and validates raw JSON in one pass.
//
//	Go type ── For ──▶ Schema ── Compile ──▶ Validator ── Validate(raw) ──▶ problems
//	bytes ─── Parse ──▶ Schema
//
// The default dialect is 2020-12 (https://json-schema.org/draft/2020-12);
// drafts 4, 6, 7 and 2019-09 are honoured where a schema declares them.
package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
)

// A Schema is one JSON Schema document. It is immutable, and keeps the bytes
// it was made from: property order and numbers are never rewritten.
type Schema struct {
	raw      json.RawMessage
	compiled func() *Validator
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
	s := &Schema{raw: bytes.Clone(raw)}
	s.compiled = sync.OnceValue(func() *Validator { return Compile(s, nil) })
	return s, nil
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

// Validator returns the schema compiled with default options, compiled at most once.
func (s *Schema) Validator() *Validator { return s.compiled() }

// MarshalJSON returns the exact bytes.
func (s *Schema) MarshalJSON() ([]byte, error) { return s.raw, nil }

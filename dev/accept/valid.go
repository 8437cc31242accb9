package accept

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	failed "github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/toolpost/toolpost/internal/jsontree"
)

// A Failure is one keyword that an instance does not satisfy.
type Failure struct {
	InstancePath    string // JSON Pointer into the instance
	KeywordLocation string // JSON Pointer into the schema, past references, that ends in the keyword
	Detail          string
	Causes          []Failure // of unions and conditions: why each branch does not hold
}

// A Schema is a compiled one.
type Schema struct{ compiled *jsonschema.Schema }

// Compile compiles a schema of the dialect it names, 2020-12 if it names none.
// Formats are not checked, nor are patterns that Go's regexp does not know. A
// schema that would loop or explode is an error.
func Compile(schema json.RawMessage) (*Schema, error) {
	if err := bounded(schema); err != nil {
		return nil, err
	}
	doc, err := parseExact(schema)
	if err != nil {
		return nil, fmt.Errorf("compile schema: %w", err)
	}
	const at = "mem:///schema"
	c := newCompiler()
	if err := c.AddResource(at, doc.plain()); err != nil {
		return nil, fmt.Errorf("compile schema: %w", err)
	}
	compiled, err := c.Compile(at)
	if err != nil {
		return nil, fmt.Errorf("compile schema: %w", err)
	}
	return &Schema{compiled}, nil
}

func parseExact(raw []byte) (*value, error) {
	v, err := parse(raw)
	if err == nil && !v.computable() {
		err = errors.New("a number has a huge exponent")
	}
	return v, err
}

// bounded applies the bounds of M1 that keep a validator alive.
func bounded(schema json.RawMessage) error {
	var found []Violation
	s := newSubject(Tool{Input: schema}, &found)
	if len(found) == 0 {
		bounds(s)
	}
	if len(found) > 0 {
		return fmt.Errorf("compile schema: %s", found[0])
	}
	return nil
}

// Failing returns what the instance does not satisfy, nil if it is valid.
func (s *Schema) Failing(instance json.RawMessage) ([]Failure, error) {
	v, err := parseExact(instance)
	if err != nil {
		return nil, fmt.Errorf("validate: %w", err)
	}
	return s.failing(v.plain())
}

func (s *Schema) failing(instance any) ([]Failure, error) {
	err := s.compiled.Validate(instance)
	var invalid *jsonschema.ValidationError
	switch {
	case err == nil:
		return nil, nil
	case errors.As(err, &invalid):
		return failures(invalid, nil), nil
	}
	return nil, fmt.Errorf("validate: %w", err)
}

// Valid compiles the schema and returns what the instance does not satisfy.
func Valid(schema, instance json.RawMessage) ([]Failure, error) {
	s, err := Compile(schema)
	if err != nil {
		return nil, err
	}
	return s.Failing(instance)
}

// standard returns a schema as it is sent to target in JSON Schema: for
// gemini-schema it is in the dialect of that door, and one left out takes no
// parameters.
func standard(target string, schema json.RawMessage) (json.RawMessage, error) {
	switch {
	case schema == nil:
		return json.RawMessage(`{"type":"object","additionalProperties":false}`), nil
	case target == "gemini-schema":
		return fromGemini(schema)
	}
	return schema, nil
}

// CompileFor compiles a schema as it is sent to target.
func CompileFor(target string, schema json.RawMessage) (*Schema, error) {
	schema, err := standard(target, schema)
	if err != nil {
		return nil, err
	}
	return Compile(schema)
}

// ValidFor is Valid for a schema as it is sent to target.
func ValidFor(target string, schema, instance json.RawMessage) ([]Failure, error) {
	s, err := CompileFor(target, schema)
	if err != nil {
		return nil, err
	}
	return s.Failing(instance)
}

// failures lists what failed for itself; groups and references only hold others.
func failures(e *jsonschema.ValidationError, all []Failure) []Failure {
	switch e.ErrorKind.(type) {
	case *failed.Schema, *failed.Group, *failed.Reference, *failed.AllOf:
		for _, c := range e.Causes {
			all = failures(c, all)
		}
		return all
	}
	f := newFailure(e)
	for _, c := range e.Causes {
		f.Causes = failures(c, f.Causes)
	}
	return append(all, f)
}

func newFailure(e *jsonschema.ValidationError) Failure {
	path := e.ErrorKind.KeywordPath()
	switch e.ErrorKind.(type) {
	case *failed.Not:
		path = []string{"not"}
	case *failed.Contains:
		path = []string{"contains"}
	}
	_, fragment, _ := strings.Cut(e.SchemaURL, "#")
	if plain, err := url.PathUnescape(fragment); err == nil {
		fragment = plain
	}
	return Failure{InstancePath: jsontree.Pointer(e.InstanceLocation), KeywordLocation: fragment + jsontree.Pointer(path), Detail: e.Error()}
}

func newCompiler() *jsonschema.Compiler {
	c := jsonschema.NewCompiler()
	c.UseLoader(closedLoader{})
	c.UseRegexpEngine(compilePattern)
	for _, name := range strings.Fields("json-pointer relative-json-pointer uuid duration period ipv4 ipv6 hostname email date time date-time uri iri uri-reference iri-reference uri-template semver") {
		c.RegisterFormat(&jsonschema.Format{Name: name, Validate: func(any) error { return nil }})
	}
	return c
}

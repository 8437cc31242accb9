package schema

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/internal/shape"
	"github.com/toolpost/toolpost/schema/internal/ecmaregexp"
	"github.com/toolpost/toolpost/schema/internal/subschema"
)

// A StrictError describes the place in a schema that strict readers refuse.
type StrictError struct {
	Pointer string // JSON pointer into the schema (RFC 6901)
	Problem string
}

// Error returns the place and what is wrong with it.
func (e *StrictError) Error() string { return fmt.Sprintf("at %q: %s", e.Pointer, e.Problem) }

// Strict returns why strict readers refuse the schema for a tool's input or
// output, nil if they accept it. The error is a *[StrictError]. A strict reader
// parses every definition in a list, and has no list if one of them fails: the
// official TypeScript client is one.
//
// The root has the type "object", properties that are objects, required as a list
// of names, and definitions that are objects.
func (s *Schema) Strict() error {
	return nilOr(strictRoot(s.raw))
}

// StrictOutput returns why strict readers refuse the schema for a tool's output,
// nil if they accept it. In addition to [Schema.Strict], they compile it: with
// Ajv, as draft-07 and as the draft that it declares, patterns with the flag u.
// It is computed once.
func (s *Schema) StrictOutput() error {
	if s.strictOutput == nil {
		return nilOr(strictOutput(s.raw))
	}
	return nilOr(s.strictOutput())
}

// nilOr returns no error instead of a nil pointer.
func nilOr(err *StrictError) error {
	if err == nil {
		return nil
	}
	return err
}

func strictRoot(raw []byte) *StrictError {
	root, broken := jsontree.ParseLenient(raw, shape.MaxLevels)
	if broken != nil {
		return &StrictError{"", broken.Error()}
	}
	return checkRoot(root)
}

// checkRoot checks what MCP says of the root of a schema.
func checkRoot(root *jsontree.Value) *StrictError {
	if k := root.Get("type"); !k.IsText("object") {
		return &StrictError{"/type", `the type of the root is not "object"`}
	}
	if k := root.Get("properties"); k != nil {
		if k.Kind != jsontree.KindObject {
			return &StrictError{"/properties", fmt.Sprintf("properties is %s", jsontree.Brief(k))}
		}
		for _, p := range k.Kids {
			if k.Get(p.Name).Kind != jsontree.KindObject {
				return &StrictError{"/properties/" + jsontree.EscapePointer(p.Name), fmt.Sprintf("the schema of the property is %s", jsontree.Brief(p))}
			}
		}
	}
	if k := root.Get("required"); k != nil && !isNameList(k) {
		return &StrictError{"/required", "required is not a list of names"}
	}
	for _, k := range root.Members() {
		if kinds := rootKinds[k.Name]; kinds != 0 && root.Get(k.Name).Kind&kinds == 0 {
			return &StrictError{"/" + k.Name, fmt.Sprintf("%s cannot be %s", k.Name, jsontree.Brief(k))}
		}
	}
	return nil
}

// rootKinds are the types of members that the Java SDK, or the second TypeScript
// SDK, parses.
var rootKinds = map[string]jsontree.Kinds{
	"additionalProperties": jsontree.KindBoolean | jsontree.KindObject,
	"$defs":                jsontree.KindObject,
	"definitions":          jsontree.KindObject,
	"$schema":              jsontree.KindString,
}

func isNameList(v *jsontree.Value) bool {
	for _, kid := range v.Items() {
		if kid.Kind != jsontree.KindString {
			return false
		}
	}
	return v.Kind == jsontree.KindArray
}

func strictOutput(raw []byte) *StrictError {
	if len(raw) > shape.MaxBytes {
		return &StrictError{"", fmt.Sprintf("it is larger than %d bytes", shape.MaxBytes)}
	}
	root, broken := jsontree.Parse(raw, shape.MaxLevels)
	if broken != nil {
		return &StrictError{"", broken.Error()}
	}
	if err := checkRoot(root); err != nil {
		return err
	}
	switch graph := subschema.Read(raw); {
	case graph.Root == nil:
		return &StrictError{"", graph.Findings[0].Message}
	case graph.Endless:
		return &StrictError{"", "it refers to itself without descending into the value"}
	}
	c := newStrictChecker(root)
	c.identify(root, &url.URL{}, "")
	c.dialect()
	c.compile(root, "")
	return c.err
}

// A strictChecker does what Ajv does with a schema, and stops at the first error.
type strictChecker struct {
	root     *jsontree.Value
	names    *shape.Index
	tuples   bool // items may be a list in the draft that is declared
	compiled map[*jsontree.Value]bool
	ids      map[string]bool
	err      *StrictError
}

func newStrictChecker(root *jsontree.Value) *strictChecker {
	return &strictChecker{root: root, names: shape.NewIndex(root), compiled: map[*jsontree.Value]bool{}, ids: map[string]bool{}}
}

func (c *strictChecker) fail(pointer, format string, args ...any) {
	if c.err == nil {
		c.err = &StrictError{pointer, fmt.Sprintf(format, args...)}
	}
}

// dialect reads the draft that the schema declares.
func (c *strictChecker) dialect() {
	k := c.root.Get("$schema")
	if k == nil || k.Kind != jsontree.KindString {
		return
	}
	name := strings.TrimSuffix(k.Text, "#")
	_, name, ok := strings.Cut(name, "://json-schema.org/")
	switch name {
	case "draft/2020-12/schema":
	case "draft/2019-09/schema", "draft-07/schema", "draft-06/schema":
		c.tuples = true
	default:
		ok = false
	}
	if !ok || !strings.HasPrefix(k.Text, "http://") && !strings.HasPrefix(k.Text, "https://") {
		c.fail("/$schema", "the draft %s is not supported", jsontree.Brief(k))
	}
}

// compile checks a schema that is applied to values, and those that it applies.
func (c *strictChecker) compile(v *jsontree.Value, pointer string) {
	if c.err != nil || c.compiled[v] || v.Kind != jsontree.KindObject {
		return
	}
	c.compiled[v] = true
	c.types(v, pointer)
	for _, k := range v.Kids {
		if v.Get(k.Name) != k { // a later member has the name
			continue
		}
		at := pointer + "/" + jsontree.EscapePointer(k.Name)
		if err := c.keyword(k); err != nil {
			c.fail(at, "%v", err)
			return
		}
		if shape.Refers(k.Name) {
			c.follow(v, k, at)
		}
		if shape.Identifies(k.Name) {
			continue
		}
		for token, sub := range shape.Held(k) {
			c.compile(sub, at+token)
		}
	}
}

// types checks type and nullable together.
func (c *strictChecker) types(v *jsontree.Value, pointer string) {
	nullable := v.Get("nullable")
	if nullable == nil {
		return
	}
	named := v.Get("type")
	switch {
	case named == nil || named.IsText("") || named.Kind == jsontree.KindArray && len(named.Kids) == 0:
		c.fail(pointer+"/nullable", "nullable has no type beside it")
	case nullable.Is("false") && jsontree.KindsNamed(named)&jsontree.KindNull != 0:
		c.fail(pointer+"/nullable", "nullable is false, and null is one of the types")
	}
}

// unsupported are members that Ajv takes for keywords of its own, or of other
// drafts.
var unsupported = map[string]string{
	"id":                     "id is the $id of draft-04, which is not supported",
	"$async":                 "$async makes a validator that answers later",
	"formatMinimum":          notJSONSchema,
	"formatMaximum":          notJSONSchema,
	"formatExclusiveMinimum": notJSONSchema,
	"formatExclusiveMaximum": notJSONSchema,
}

const notJSONSchema = "the keyword is not of JSON Schema, and validators have a meaning of their own for it"

// alsoChecked are the keywords that say nothing about values, or are of OpenAPI,
// and whose values must have some shape nevertheless.
var alsoChecked = map[string]shape.Shape{
	"nullable": shape.Bool, "format": shape.Text, "$id": shape.Text, "$dynamicAnchor": shape.Text, "$recursiveAnchor": shape.Bool,
}

// keyword returns why a keyword's value cannot be compiled.
func (c *strictChecker) keyword(k *jsontree.Value) error {
	if why := unsupported[k.Name]; why != "" {
		return errors.New(why)
	}
	if s := alsoChecked[k.Name]; s != 0 {
		return c.wants(k, s)
	}
	s := shape.Of(k.Name)
	if s == 0 || shape.Annotates(k.Name) || shape.Identifies(k.Name) {
		return nil
	}
	if err := c.wants(k, s); err != nil {
		return err
	}
	switch {
	case k.Name == "pattern":
		return ecmaregexp.CheckUnicode(k.Text)
	case k.Name == "patternProperties":
		return patternNames(k)
	case k.Name == "enum" && len(k.Kids) == 0:
		return errors.New("enum has no values")
	case k.Name == "items" && k.Kind == jsontree.KindArray && !c.tuples:
		return errors.New("items is a list, which draft 2020-12 calls prefixItems")
	}
	return nil
}

// patternNames returns why a name of patternProperties cannot be compiled.
func patternNames(k *jsontree.Value) error {
	for _, kid := range k.Kids {
		if err := ecmaregexp.CheckUnicode(kid.Name); err != nil {
			return fmt.Errorf("the pattern %.100q: %v", kid.Name, err)
		}
	}
	return nil
}

// isListOfTypes reports whether v names a type, or a list of them, which may be
// empty.
func isListOfTypes(v *jsontree.Value) bool {
	if v.Kind == jsontree.KindString {
		return jsontree.KindNamed(v.Text) != 0
	}
	return isNameList(v) && !slices.ContainsFunc(v.Kids, func(kid *jsontree.Value) bool { return jsontree.KindNamed(kid.Text) == 0 })
}

// wants returns an error if Ajv does not take a value for a keyword of a shape. It
// looks at less than the metaschema does.
func (c *strictChecker) wants(k *jsontree.Value, s shape.Shape) error {
	ok := true
	switch s {
	case shape.Count, shape.Number, shape.Positive:
		ok = k.Kind&jsontree.KindNumber != 0
	case shape.Text, shape.URI:
		ok = k.Kind == jsontree.KindString
	case shape.Names:
		ok = isNameList(k)
	case shape.Schemas:
		ok = k.Kind == jsontree.KindArray && (len(k.Kids) == 0 || shape.Fits(s, k))
	case shape.Type:
		ok = k.IsText("") || isListOfTypes(k)
	default:
		ok = shape.Fits(s, k)
	}
	if !ok {
		return fmt.Errorf("%s cannot be %s", k.Name, jsontree.Brief(k))
	}
	return nil
}

// follow compiles what a reference leads to.
func (c *strictChecker) follow(v, k *jsontree.Value, pointer string) {
	if k.Name != "$ref" {
		if k.Text == "" || k.Text[0] != '#' {
			c.fail(pointer, "%s is not a fragment", k.Name)
		}
		return
	}
	target := c.names.Find(v, k.Text)
	_, fragment, _ := strings.Cut(k.Text, "#")
	if target == nil || target == c.root && fragment != "" && fragment[0] != '/' { // an anchor of the root does not count
		c.fail(pointer, "%.100q is not in the schema", k.Text)
		return
	}
	c.compile(target, pointer)
}

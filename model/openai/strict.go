package openai

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/toolpost/toolpost/internal/jsontree"
)

const (
	maxLevels       = 64 // of JSON in a schema
	maxStrictLevels = 10 // of schemas in each other
)

// checkSchema returns the reason why OpenAI would refuse the schema of a tool's
// arguments or of an answer.
func checkSchema(raw json.RawMessage, strict bool) error {
	root, err := jsontree.Parse(raw, maxLevels)
	if err != nil {
		return fmt.Errorf("the schema is not JSON of at most %d levels: %w", maxLevels, err)
	}
	if t := root.Get("type"); t == nil || !t.IsText("object") {
		return errors.New(`the schema is not of type "object"`)
	}
	if !strict {
		return nil
	}
	if root.Get("anyOf") != nil || root.Get("$ref") != nil {
		return errors.New("the root of a strict schema has anyOf or $ref")
	}
	c := strictChecker{root: root}
	return c.node(root, "", 0)
}

// A strictChecker checks the rules of strict mode.
type strictChecker struct {
	root *jsontree.Value
}

func strictKeywords() []string {
	return strings.Fields("type properties required additionalProperties items anyOf $ref $defs enum const description title " +
		"pattern format minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minItems maxItems $schema definitions")
}

func strictFormats() []string {
	return strings.Fields("date-time time date duration email hostname ipv4 ipv6 uuid")
}

// node checks the schema at a pointer.
func (c *strictChecker) node(v *jsontree.Value, pointer string, level int) error {
	fail := func(format string, args ...any) error {
		return fmt.Errorf("strict schema at %q: %s", pointer, fmt.Sprintf(format, args...))
	}
	if v.Kind != jsontree.KindObject {
		return fail("a schema must be an object")
	}
	if level > maxStrictLevels {
		return fail("there are more than %d levels", maxStrictLevels)
	}
	typed := false
	for _, m := range v.Members() {
		if !slices.Contains(strictKeywords(), m.Name) {
			return fail("%q is not permitted", m.Name)
		}
		typed = typed || slices.Contains([]string{"type", "anyOf", "$ref", "enum", "const"}, m.Name)
	}
	if !typed {
		return fail("the schema has no type")
	}
	if ref := v.Get("$ref"); ref != nil {
		return c.ref(v, ref, pointer)
	}
	if f := v.Get("format"); f != nil && !slices.ContainsFunc(strictFormats(), f.IsText) {
		return fail("the format %s is not supported", f)
	}
	if err := checkObject(v, fail); err != nil {
		return err
	}
	if hasType(v, "array") && (v.Get("items") == nil || v.Get("items").Kind != jsontree.KindObject) {
		return fail("the array has no items")
	}
	return c.children(v, pointer, level)
}

// children checks the schemas in a schema.
func (c *strictChecker) children(v *jsontree.Value, pointer string, level int) error {
	for _, m := range v.Members() {
		inner := pointer + "/" + m.Name
		switch m.Name {
		case "items":
			if err := c.node(m, inner, level+1); err != nil {
				return err
			}
		case "properties", "$defs", "definitions":
			for _, kid := range m.Members() {
				if err := c.node(kid, inner+"/"+jsontree.EscapePointer(kid.Name), level+1); err != nil {
					return err
				}
			}
		case "anyOf":
			for i, kid := range m.Items() {
				if err := c.node(kid, fmt.Sprintf("%s/%d", inner, i), level); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// ref checks a reference, which stands alone and has a target.
func (c *strictChecker) ref(v, ref *jsontree.Value, pointer string) error {
	if len(v.Members()) > 1 {
		return fmt.Errorf("strict schema at %q: $ref has other keywords beside it", pointer)
	}
	target, ok := jsontree.LocalRef(ref.Text)
	if !ok || c.root.At(target) == nil {
		return fmt.Errorf("strict schema at %q: $ref %q has no target in the schema", pointer, ref.Text)
	}
	return nil
}

// checkObject checks that an object is closed, and that it requires all its
// properties.
func checkObject(v *jsontree.Value, fail func(string, ...any) error) error {
	properties := v.Get("properties")
	if !hasType(v, "object") && properties == nil {
		return nil
	}
	if properties == nil || properties.Kind != jsontree.KindObject {
		return fail("the object has no properties")
	}
	if a := v.Get("additionalProperties"); a == nil || !a.Is("false") {
		return fail("additionalProperties must be false")
	}
	required := map[string]bool{}
	if r := v.Get("required"); r != nil {
		for _, name := range r.Items() {
			if name.Kind != jsontree.KindString || properties.Get(name.Text) == nil {
				return fail("required contains %s, which is not a property", name)
			}
			required[name.Text] = true
		}
	}
	for _, p := range properties.Members() {
		if !required[p.Name] {
			return fail("required lacks the property %q", p.Name)
		}
	}
	return nil
}

// hasType reports whether a schema allows a type by name.
func hasType(v *jsontree.Value, name string) bool {
	t := v.Get("type")
	if t == nil {
		return false
	}
	return t.IsText(name) || slices.ContainsFunc(t.Items(), func(one *jsontree.Value) bool { return one.IsText(name) })
}

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
	err := c.keywords(v)
	switch {
	case level > maxStrictLevels:
		err = fmt.Errorf("there are more than %d levels", maxStrictLevels)
	case err != nil:
	case v.Get("$ref") != nil:
		err = c.ref(v)
	default:
		err = errors.Join(checkObject(v), checkArray(v))
	}
	if err != nil {
		return fmt.Errorf("strict schema at %q: %w", pointer, err)
	}
	return c.children(v, pointer, level)
}

// keywords checks which keywords a schema has.
func (c *strictChecker) keywords(v *jsontree.Value) error {
	if v.Kind != jsontree.KindObject {
		return errors.New("a schema must be an object")
	}
	typed := false
	for _, m := range v.Members() {
		if !slices.Contains(strictKeywords(), m.Name) {
			return fmt.Errorf("%q is not permitted", m.Name)
		}
		typed = typed || slices.Contains([]string{"type", "anyOf", "$ref", "enum", "const"}, m.Name)
	}
	if !typed {
		return errors.New("the schema has no type")
	}
	if f := v.Get("format"); f != nil && !slices.ContainsFunc(strictFormats(), f.IsText) {
		return fmt.Errorf("the format %s is not supported", f)
	}
	return nil
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
func (c *strictChecker) ref(v *jsontree.Value) error {
	ref := v.Get("$ref")
	if len(v.Members()) > 1 {
		return errors.New("$ref has other keywords beside it")
	}
	target, ok := jsontree.LocalRef(ref.Text)
	if !ok || c.root.At(target) == nil {
		return fmt.Errorf("$ref %s has no target in the schema", ref)
	}
	return nil
}

// checkObject checks that an object is closed, and that it requires all its
// properties.
func checkObject(v *jsontree.Value) error {
	properties := v.Get("properties")
	if !hasType(v, "object") && properties == nil {
		return nil
	}
	if properties == nil || properties.Kind != jsontree.KindObject {
		return errors.New("the object has no properties")
	}
	if a := v.Get("additionalProperties"); a == nil || !a.Is("false") {
		return errors.New("additionalProperties must be false")
	}
	required := map[string]bool{}
	for _, name := range v.Get("required").Items() {
		if name.Kind != jsontree.KindString || properties.Get(name.Text) == nil {
			return fmt.Errorf("required contains %s, which is not a property", name)
		}
		required[name.Text] = true
	}
	for _, p := range properties.Members() {
		if !required[p.Name] {
			return fmt.Errorf("required lacks the property %q", p.Name)
		}
	}
	return nil
}

// checkArray checks that an array has a schema of its items.
func checkArray(v *jsontree.Value) error {
	if hasType(v, "array") && (v.Get("items") == nil || v.Get("items").Kind != jsontree.KindObject) {
		return errors.New("the array has no items")
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

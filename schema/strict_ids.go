package schema

import (
	"maps"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/internal/shape"
)

// IDs returns the URIs that identify the schema and parts of it, sorted. Anchors
// without a URI are not among them.
func (s *Schema) IDs() []string {
	root, broken := jsontree.ParseLenient(s.raw, shape.MaxLevels)
	if broken != nil {
		return nil
	}
	c := newStrictChecker(root)
	c.identify(root, &url.URL{}, "")
	delete(c.ids, "")
	return slices.DeleteFunc(slices.Sorted(maps.Keys(c.ids)), func(id string) bool { return id[0] == '#' })
}

// notTraversed are the keywords in which Ajv does not look for ids.
var notTraversed = map[string]bool{
	"default": true, "enum": true, "const": true, "required": true, "maximum": true, "minimum": true, "exclusiveMaximum": true,
	"exclusiveMinimum": true, "multipleOf": true, "maxLength": true, "minLength": true, "pattern": true, "format": true,
	"maxItems": true, "minItems": true, "uniqueItems": true, "maxProperties": true, "minProperties": true,
}

// identify enters the ids and anchors of v, and of everything below it that
// Ajv may take for a schema.
func (c *strictChecker) identify(v *jsontree.Value, base *url.URL, pointer string) {
	if c.err != nil || v.Kind != jsontree.KindObject {
		return
	}
	base = c.identifySchema(v, base, pointer)
	for _, k := range v.Kids {
		at := pointer + "/" + jsontree.EscapePointer(k.Name)
		if k.Name == "$defs" && k.Get("$id") != nil {
			c.fail(at, "$defs defines a schema that is called $id")
		}
		switch shape.Of(k.Name) {
		case shape.Table, shape.Dependencies:
			c.identifyAll(k.Members(), base, at)
		case shape.Schemas, shape.Items:
			c.identifyAll(k.Items(), base, at)
			c.identify(k, base, at)
		default:
			if !notTraversed[k.Name] {
				c.identify(k, base, at)
			}
		}
	}
}

func (c *strictChecker) identifyAll(all []*jsontree.Value, base *url.URL, pointer string) {
	for _, v := range all {
		c.identify(v, base, pointer+"/"+jsontree.EscapePointer(v.Name))
	}
}

// isAnchor reports whether Ajv takes a text as an anchor.
func isAnchor(text string) bool {
	return text != "" && !strings.ContainsAny(text[:1], "0123456789.-") &&
		strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-") == ""
}

// identifySchema enters the id and the anchors of one schema, and returns the base
// of what is below it.
func (c *strictChecker) identifySchema(v *jsontree.Value, base *url.URL, pointer string) *url.URL {
	if id := v.Get("$id"); id != nil && id.Kind == jsontree.KindString {
		u, err := url.Parse(strings.TrimSuffix(strings.TrimSuffix(id.Text, "/"), "#"))
		if err != nil || v != c.root && !isPlainURI(u) {
			c.fail(pointer+"/$id", "%s is not a plain URI", jsontree.Brief(id))
			return base
		}
		if base.String() != "" {
			u = base.ResolveReference(u)
		}
		c.enter(u.String(), pointer+"/$id")
		base = u
	}
	for _, keyword := range []string{"$anchor", "$dynamicAnchor"} {
		k := v.Get(keyword)
		if k == nil || k.Kind != jsontree.KindString {
			continue
		}
		if !isAnchor(k.Text) {
			c.fail(pointer+"/"+keyword, "%s is not an anchor", jsontree.Brief(k))
		}
		c.enter(base.String()+"#"+k.Text, pointer+"/"+keyword)
	}
	return base
}

// isPlainURI reports whether every library writes a URI alike.
func isPlainURI(u *url.URL) bool {
	text := u.String()
	return !strings.ContainsAny(text, " %[]?'()*!$&,;=@+") && strings.ToLower(u.Host) == u.Host && path.Clean("/"+u.Path) == "/"+strings.TrimPrefix(u.Path, "/")
}

// enter enters a name that no other schema may have.
func (c *strictChecker) enter(name, pointer string) {
	switch {
	case c.ids[name]:
		c.fail(pointer, "%.100q is the name of two schemas", name)
	case pointer == "/$id" && (name == "" || name[0] == '#'):
		c.fail(pointer, "the $id of the root is empty or a fragment")
	case strings.Contains(name, "json-schema.org/"), objectMembers[name]:
		c.fail(pointer, "%.100q is a name that validators have reserved", name)
	}
	c.ids[name] = true
}

// objectMembers are the names that every object of JavaScript has.
var objectMembers = map[string]bool{
	"constructor": true, "__proto__": true, "hasOwnProperty": true, "isPrototypeOf": true, "propertyIsEnumerable": true,
	"toLocaleString": true, "toString": true, "valueOf": true, "__defineGetter__": true, "__defineSetter__": true,
	"__lookupGetter__": true, "__lookupSetter__": true,
}

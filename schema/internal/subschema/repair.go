package subschema

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/internal/shape"
)

// A repairer brings a schema into a form that a strict reader accepts. What
// it only translates from an older draft keeps its meaning; what it guesses
// or removes is reported.
type repairer struct {
	doc    *Graph
	draft  int
	nodes  int
	seen   map[*jsontree.Value]bool
	refs   []reference // found and not yet resolved
	length int         // of all pointers
	over   string      // the limit that the schema exceeds, "" if none
}

// report records a change of a keyword of the schema at a pointer.
func (r *repairer) report(pointer, keyword string, lost bool, format string, args ...any) {
	message := fmt.Sprintf(format, args...)
	r.doc.report(pointer+"/"+jsontree.EscapePointer(keyword), message)
	r.doc.Log.Change(pointer, keyword, lost, message)
}

// schema repairs v in place, and all schemas below it.
func (r *repairer) schema(v *jsontree.Value, pointer string, depth int) {
	if r.seen[v] || v.Kind != jsontree.KindObject {
		return
	}
	r.seen[v] = true
	r.nodes++
	r.length += len(pointer)
	switch {
	case r.nodes > shape.MaxNodes:
		r.over = fmt.Sprintf("it has more than %d subschemas", shape.MaxNodes)
	case depth > shape.MaxDepth:
		r.over = fmt.Sprintf("its subschemas are nested more than %d levels deep", shape.MaxDepth)
	case r.length > maxPointers:
		r.over = "its names are too long"
	}
	if r.over != "" {
		return
	}
	r.keepLast(v, pointer)
	r.translate(v, pointer)
	r.members(v, pointer)
	for _, k := range slices.Clone(v.Kids) {
		if s := shape.Of(k.Name); s != 0 && r.keyword(v, k, s, pointer) {
			for at, sub := range shape.Held(k) {
				if r.over != "" {
					return
				}
				r.schema(sub, pointer+"/"+r.doc.Log.SourceName(k)+at, depth+1)
			}
		}
	}
	r.patterns(v, pointer)
	r.unevaluated(v, pointer)
	if v.Get("$ref") != nil {
		r.refs = append(r.refs, reference{v, pointer})
	}
}

// keyword removes a keyword that says nothing about validity, or has no
// proper value.
func (r *repairer) keyword(v, k *jsontree.Value, s shape.Shape, pointer string) bool {
	annotates := shape.Annotates(k.Name)
	switch {
	case !annotates && shape.Fits(s, k):
		if s == shape.Count {
			k.Raw = strconv.AppendInt(nil, int64(jsontree.ParseDecimal(k.Raw).Count()), 10)
		}
		return true
	case !annotates:
		r.doc.Partial[v] = true
		r.report(pointer, k.Name, k.Kind != jsontree.KindNull, "%s cannot be %s; it is not checked", k.Name, jsontree.Brief(k))
	case r.doc.Log == nil:
	case shape.Fits(s, k):
		return false
	default:
		r.report(pointer, k.Name, false, "%s cannot be %s; it is left out", k.Name, jsontree.Brief(k))
	}
	v.Drop(k.Name)
	return false
}

// unevaluated reads the keywords about what no other schema has looked at. Alone
// in their schema they say the same as additionalProperties and items; beside
// others they are not checked.
func (r *repairer) unevaluated(v *jsontree.Value, pointer string) {
	inPlace := slices.ContainsFunc(v.Kids, func(k *jsontree.Value) bool { return shape.InPlace(k.Name) || shape.Refers(k.Name) })
	r.unevaluatedAs(v, pointer, "unevaluatedProperties", "additionalProperties", inPlace)
	rest := "items"
	if items := v.Get(rest); items != nil && items.Kind == jsontree.KindArray {
		rest = "additionalItems"
	}
	looks := inPlace || r.draft > 2019 && v.Get("contains") != nil
	r.unevaluatedAs(v, pointer, "unevaluatedItems", rest, looks)
}

// unevaluatedAs reads one of these keywords as another one; looks is true if some
// schema beside it may look at the same parts.
func (r *repairer) unevaluatedAs(v *jsontree.Value, pointer, keyword, as string, looks bool) {
	k := v.Get(keyword)
	switch {
	case k == nil:
	case r.draft < 2019 || v.Get(as) != nil:
		r.doc.Log.Change(pointer, keyword, false, "it has no effect here")
		v.Drop(keyword)
	case r.doc.Log != nil && (looks || keyword == "unevaluatedItems"): // it stays as it is written
	case looks:
		v.Drop(keyword)
		r.doc.Partial[v] = true
		r.report(pointer, keyword, true, "%s is not checked beside keywords that apply other schemas to the same value", keyword)
	default:
		r.doc.Log.rename(v, k, as)
	}
}

// keepLast removes all but the last of members with one name.
func (r *repairer) keepLast(v *jsontree.Value, pointer string) {
	v.KeepLast(func(name string) {
		r.report(pointer, name, false, "the name is repeated; only the last one counts")
	})
}

// since has the first draft of keywords that older drafts ignore.
var since = map[string]int{
	"const": 6, "contains": 6, "propertyNames": 6, "$id": 6, "if": 7,
	"minContains": 2019, "maxContains": 2019, "dependentRequired": 2019, "dependentSchemas": 2019,
	"$recursiveRef": 2019, "$dynamicRef": 2020,
}

// translate rewrites what older drafts and careless authors mean.
func (r *repairer) translate(v *jsontree.Value, pointer string) {
	for _, k := range slices.Clone(v.Kids) {
		if r.draft < since[k.Name] {
			r.doc.Log.Change(pointer, k.Name, false, fmt.Sprintf("draft %d has no such keyword", r.draft))
			v.Drop(k.Name)
		}
	}
	if id := v.Get("$id"); id != nil && len(id.Text) > shape.MaxURI {
		r.report(pointer, "$id", true, "$id has more than %d bytes; references to it are not checked", shape.MaxURI)
	}
	r.exclusive(v, pointer, "exclusiveMinimum", "minimum")
	r.exclusive(v, pointer, "exclusiveMaximum", "maximum")
	r.nullable(v, pointer)
	r.types(v, pointer)
	r.enum(v, pointer)
	r.tuple(v, pointer)
	r.requiredProperties(v, pointer)
}

// enum makes a list of a single choice, and a set of a list: strict readers
// refuse what is written twice.
func (r *repairer) enum(v *jsontree.Value, pointer string) {
	k := v.Get("enum")
	switch {
	case k == nil:
	case k.Kind == jsontree.KindArray:
		seen := make(map[string]bool, len(k.Kids))
		k.Kids = slices.DeleteFunc(k.Kids, func(kid *jsontree.Value) bool {
			again := seen[string(kid.Raw)]
			seen[string(kid.Raw)] = true
			return again
		})
	case k.Kind != jsontree.KindObject:
		r.report(pointer, "enum", false, "enum is %s; read as the only choice", jsontree.Brief(k))
		v.Set("enum", "["+string(k.Raw)+"]")
	}
}

// tuple reads a list of items as drafts before 2020-12 have it.
func (r *repairer) tuple(v *jsontree.Value, pointer string) {
	k := v.Get("items")
	if k == nil || k.Kind != jsontree.KindArray || r.draft < 2020 || v.Get("prefixItems") != nil {
		return
	}
	r.report(pointer, "items", false, "items is a list; read as prefixItems, as in older drafts")
	r.doc.Log.rename(v, k, "prefixItems")
	if rest := v.Get("additionalItems"); rest != nil {
		r.doc.Log.rename(v, rest, "items")
	}
	if len(k.Kids) == 0 {
		v.Drop(k.Name)
	}
}

// exclusive turns the flag of draft 4 into the bound of later drafts.
func (r *repairer) exclusive(v *jsontree.Value, pointer, flag, bound string) {
	k := v.Get(flag)
	if k == nil || k.Kind != jsontree.KindBoolean {
		return
	}
	if r.draft > 4 {
		r.report(pointer, flag, false, "%s is %s; read as in draft-04", flag, k.Raw)
	} else {
		r.doc.Log.Change(pointer, flag, false, "later drafts have a separate keyword for it")
	}
	v.Drop(flag)
	if b := v.Get(bound); b != nil && k.Is("true") {
		v.Rename(b, flag)
	}
}

// nullable drops OpenAPI's keyword if its value is neither true nor false.
func (r *repairer) nullable(v *jsontree.Value, pointer string) {
	if n := v.Get("nullable"); n != nil && n.Kind != jsontree.KindBoolean {
		r.report(pointer, "nullable", false, "nullable is %s; it is left out", jsontree.Brief(n))
		v.Drop("nullable")
	}
}

// types drops the type "any" of draft 3, and reads nullable of OpenAPI.
func (r *repairer) types(v *jsontree.Value, pointer string) {
	k := v.Get("type")
	if k == nil {
		return
	}
	k = r.typeNames(v, k, pointer)
	if n := v.Get("nullable"); n != nil && n.Is("true") && jsontree.KindsNamed(k) != 0 && jsontree.KindsNamed(k)&jsontree.KindNull == 0 {
		r.report(pointer, "nullable", false, "nullable is not JSON Schema; read as in OpenAPI")
		v.Drop("nullable")
		v.Set("type", "["+strings.Trim(string(k.Raw), "[]")+`,"null"]`)
		if e := v.Get("enum"); e != nil && e.Kind == jsontree.KindArray && !slices.ContainsFunc(e.Kids, func(x *jsontree.Value) bool { return x.Kind == jsontree.KindNull }) {
			e.Kids = append(e.Kids, jsontree.Read([]byte("null")))
		}
		return
	}
	if k.Kind == jsontree.KindString && k.Text == "any" {
		r.report(pointer, "type", false, `type "any" is of draft 3; every type is accepted`)
		v.Drop("type")
	}
}

// foreignTypes are the names that other languages have for types.
var foreignTypes = map[string]string{
	"str": "string", "text": "string", "int": "integer", "long": "integer", "float": "number", "double": "number",
	"bool": "boolean", "dict": "object", "map": "object", "list": "array", "none": "null",
}

// typeName returns the type that a name means, "" if it is not known.
func typeName(name string) string {
	lower := strings.ToLower(name)
	if jsontree.KindNamed(lower) != 0 {
		return lower
	}
	return foreignTypes[lower]
}

// typeNames reads the names of types in capitals, as OpenAPI's libraries write them, and
// those of other languages. It returns the keyword that v has then.
func (r *repairer) typeNames(v, k *jsontree.Value, pointer string) *jsontree.Value {
	if shape.Fits(shape.Type, k) {
		return k
	}
	all := []*jsontree.Value{k}
	if k.Kind == jsontree.KindArray {
		all = k.Kids
	}
	var names []string
	for _, t := range all {
		name := typeName(t.Text)
		if t.Kind != jsontree.KindString || name == "" {
			return k
		}
		if name = strconv.Quote(name); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return k
	}
	r.report(pointer, "type", false, "type is %s; read as %s", jsontree.Brief(k), strings.Join(names, ", "))
	text := names[0]
	if k.Kind == jsontree.KindArray {
		text = "[" + strings.Join(names, ",") + "]"
	}
	v.Set("type", text)
	return v.Get("type")
}

// requiredProperties moves required: true of draft 3 from a property to its object.
func (r *repairer) requiredProperties(v *jsontree.Value, pointer string) {
	props := v.Get("properties")
	if props == nil || props.Kind != jsontree.KindObject {
		return
	}
	for _, p := range props.Kids {
		k := p.Get("required")
		if k == nil || k.Kind != jsontree.KindBoolean {
			continue
		}
		r.report(pointer+"/properties/"+jsontree.EscapePointer(p.Name), "required", false, "required is %s; read as in draft-03", k.Raw)
		p.Drop("required")
		if k.Is("true") {
			require(v, p.Name)
		}
	}
}

// require adds a name to the required properties of v.
func require(v *jsontree.Value, name string) {
	list := v.Get("required")
	if list == nil || list.Kind != jsontree.KindArray {
		v.Drop("required")
		v.Set("required", "[]")
		list = v.Get("required")
	}
	quoted, _ := json.Marshal(name)
	if !slices.ContainsFunc(list.Kids, func(kid *jsontree.Value) bool { return kid.Text == name }) {
		list.Kids = append(list.Kids, jsontree.Read(quoted))
	}
}

// patterns drops the patterns that no engine compiles.
func (r *repairer) patterns(v *jsontree.Value, pointer string) {
	if r.doc.Log != nil {
		return
	}
	if k := v.Get("pattern"); k != nil {
		if _, err := r.doc.Patterns.Compile(k.Text); err != nil {
			v.Drop("pattern")
			r.doc.Partial[v] = true
			r.report(pointer, "pattern", true, "the pattern is not checked: %v", err)
		}
	}
	table := v.Get("patternProperties")
	if table == nil {
		return
	}
	for _, k := range slices.Clone(table.Kids) {
		if _, err := r.doc.Patterns.Compile(k.Name); err != nil {
			table.Drop(k.Name)
			v.Drop("additionalProperties") // it is about the names that match no pattern
			v.Drop("unevaluatedProperties")
			r.doc.Partial[v] = true
			r.report(pointer+"/patternProperties", k.Name, true, "properties of this pattern, and additional ones, are not checked: %v", err)
		}
	}
}

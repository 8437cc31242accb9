package schema

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/toolpost/toolpost/internal/shape"
)

// A repairer brings a schema into a form that a strict reader accepts. What
// it only translates from an older draft keeps its meaning; what it guesses
// or removes is reported.
type repairer struct {
	doc    *document
	draft  int
	nodes  int
	seen   map[*value]bool
	refs   []reference // found and not yet resolved
	length int         // of all pointers
	over   string      // the limit that the schema exceeds, "" if none
}

// report tells what happened to a keyword of the schema at a pointer.
func (r *repairer) report(pointer, keyword string, lost bool, format string, args ...any) {
	message := fmt.Sprintf(format, args...)
	r.doc.report(pointer+"/"+escapePointer(keyword), message)
	r.doc.kept.change(pointer, keyword, lost, message)
}

// schema repairs v in place, and all schemas below it.
func (r *repairer) schema(v *value, pointer string, depth int) {
	if r.seen[v] || v.kind != KindObject {
		return
	}
	r.seen[v] = true
	r.nodes++
	r.length += len(pointer)
	switch {
	case r.nodes > maxNodes:
		r.over = fmt.Sprintf("it has more than %d subschemas", maxNodes)
	case depth > maxSchemaDepth:
		r.over = fmt.Sprintf("its subschemas are nested more than %d levels deep", maxSchemaDepth)
	case r.length > maxPointers:
		r.over = "its names are too long"
	}
	if r.over != "" {
		return
	}
	r.keepLast(v, pointer)
	r.translate(v, pointer)
	for _, k := range slices.Clone(v.kids) {
		if s := shape.Of(k.name); s != 0 && r.keyword(v, k, s, pointer) {
			for at, sub := range subschemas(k) {
				if r.over != "" {
					return
				}
				r.schema(sub, pointer+"/"+r.doc.kept.sourceName(k)+at, depth+1)
			}
		}
	}
	r.patterns(v, pointer)
	r.unevaluated(v, pointer)
	if v.get("$ref") != nil {
		r.refs = append(r.refs, reference{v, pointer})
	}
}

// keyword removes a keyword that says nothing about validity, or has no
// proper value.
func (r *repairer) keyword(v, k *value, s shape.Shape, pointer string) bool {
	annotates := shape.Annotates(k.name)
	switch {
	case !annotates && fits(s, k):
		if s == shape.Count {
			k.raw = strconv.AppendInt(nil, int64(countOf(k)), 10)
		}
		return true
	case !annotates:
		r.doc.partial[v] = true
		r.report(pointer, k.name, k.kind != KindNull, "%s cannot be %s; it is not checked", k.name, shorten(k))
	case r.doc.kept != nil:
		return false
	}
	v.drop(k.name)
	return false
}

// unevaluated reads the keywords about what no other schema has looked at. Alone
// in their schema they say the same as additionalProperties and items; beside
// others they are not checked.
func (r *repairer) unevaluated(v *value, pointer string) {
	if r.doc.kept != nil {
		return
	}
	inPlace := slices.ContainsFunc(v.kids, func(k *value) bool { return shape.InPlace(k.name) || shape.Refers(k.name) })
	r.unevaluatedAs(v, pointer, "unevaluatedProperties", "additionalProperties", inPlace)
	rest := "items"
	if items := v.get(rest); items != nil && items.kind == KindArray {
		rest = "additionalItems"
	}
	looks := inPlace || r.draft > 2019 && v.get("contains") != nil
	r.unevaluatedAs(v, pointer, "unevaluatedItems", rest, looks)
}

// unevaluatedAs reads one of these keywords as another one; looks is true if some
// schema beside it may look at the same parts.
func (r *repairer) unevaluatedAs(v *value, pointer, keyword, as string, looks bool) {
	k := v.get(keyword)
	switch {
	case k == nil:
	case r.draft < 2019 || v.get(as) != nil:
		v.drop(keyword)
	case looks:
		v.drop(keyword)
		r.doc.partial[v] = true
		r.report(pointer, keyword, true, "%s is not checked beside keywords that apply other schemas to the same value", keyword)
	default:
		k.name = as
	}
}

// keepLast removes all but the last of members with one name.
func (r *repairer) keepLast(v *value, pointer string) {
	last := make(map[string]*value, len(v.kids))
	for _, kid := range v.kids {
		if last[kid.name] != nil {
			r.report(pointer, kid.name, false, "the name is repeated; only the last one counts")
		}
		last[kid.name] = kid
	}
	if len(last) < len(v.kids) {
		v.kids = slices.DeleteFunc(v.kids, func(kid *value) bool { return last[kid.name] != kid })
	}
}

// translate rewrites what older drafts and careless authors mean.
func (r *repairer) translate(v *value, pointer string) {
	if r.draft == 4 {
		for _, later := range []string{"const", "contains", "propertyNames", "if", "$id"} {
			if v.get(later) != nil {
				r.doc.kept.change(pointer, later, false, "draft 4 has no such keyword")
				v.drop(later)
			}
		}
	}
	r.exclusive(v, pointer, "exclusiveMinimum", "minimum")
	r.exclusive(v, pointer, "exclusiveMaximum", "maximum")
	r.types(v, pointer)
	r.enum(v, pointer)
	r.tuple(v, pointer)
	r.requiredProperties(v, pointer)
}

// enum makes a list of a single choice, and a set of a list: strict readers
// refuse what is written twice.
func (r *repairer) enum(v *value, pointer string) {
	k := v.get("enum")
	switch {
	case k == nil:
	case k.kind == KindArray:
		seen := make(map[string]bool, len(k.kids))
		k.kids = slices.DeleteFunc(k.kids, func(kid *value) bool {
			again := seen[string(kid.raw)]
			seen[string(kid.raw)] = true
			return again
		})
	case k.kind != KindObject:
		r.report(pointer, "enum", false, "enum is %s; read as the only choice", shorten(k))
		v.set("enum", "["+string(k.raw)+"]")
	}
}

// tuple reads a list of items as drafts before 2020-12 have it.
func (r *repairer) tuple(v *value, pointer string) {
	k := v.get("items")
	if k == nil || k.kind != KindArray || r.draft < 2020 || v.get("prefixItems") != nil {
		return
	}
	r.report(pointer, "items", false, "items is a list; read as prefixItems, as in older drafts")
	r.doc.kept.rename(k, "prefixItems")
	if rest := v.get("additionalItems"); rest != nil {
		r.doc.kept.rename(rest, "items")
	}
	if len(k.kids) == 0 {
		v.drop(k.name)
	}
}

// exclusive turns the flag of draft 4 into the bound of later drafts.
func (r *repairer) exclusive(v *value, pointer, flag, bound string) {
	k := v.get(flag)
	if k == nil || k.kind != KindBoolean {
		return
	}
	if r.draft > 4 {
		r.report(pointer, flag, false, "%s is %s; read as in draft-04", flag, k.raw)
	} else {
		r.doc.kept.change(pointer, flag, false, "later drafts have a separate keyword for it")
	}
	v.drop(flag)
	if b := v.get(bound); b != nil && k.is("true") {
		b.name = flag
	}
}

// types drops the type "any" of draft 3, and reads nullable of OpenAPI.
func (r *repairer) types(v *value, pointer string) {
	k := v.get("type")
	if k == nil {
		return
	}
	if n := v.get("nullable"); n != nil && n.is("true") && isType(k) && k.text != "null" {
		r.report(pointer, "nullable", false, "nullable is not JSON Schema; read as in OpenAPI")
		v.drop("nullable")
		v.set("type", "["+string(k.raw)+`,"null"]`)
		if e := v.get("enum"); e != nil && e.kind == KindArray && !slices.ContainsFunc(e.kids, func(x *value) bool { return x.kind == KindNull }) {
			e.kids = append(e.kids, parseValue([]byte("null")))
		}
		return
	}
	if k.kind == KindString && k.text == "any" {
		r.report(pointer, "type", false, `type "any" is of draft 3; every type is accepted`)
		v.drop("type")
	}
}

// requiredProperties moves required: true of draft 3 from a property to its object.
func (r *repairer) requiredProperties(v *value, pointer string) {
	props := v.get("properties")
	if props == nil || props.kind != KindObject {
		return
	}
	for _, p := range props.kids {
		k := p.get("required")
		if k == nil || k.kind != KindBoolean {
			continue
		}
		r.report(pointer+"/properties/"+escapePointer(p.name), "required", false, "required is %s; read as in draft-03", k.raw)
		p.drop("required")
		if k.is("true") {
			require(v, p.name)
		}
	}
}

// require adds a name to the required properties of v.
func require(v *value, name string) {
	list := v.get("required")
	if list == nil || list.kind != KindArray {
		v.drop("required")
		list = &value{name: "required", kind: KindArray, raw: []byte("[]")}
		v.kids = append(v.kids, list)
	}
	quoted, _ := json.Marshal(name)
	if !slices.ContainsFunc(list.kids, func(kid *value) bool { return kid.text == name }) {
		list.kids = append(list.kids, parseValue(quoted))
	}
}

// patterns drops the patterns that no engine compiles.
func (r *repairer) patterns(v *value, pointer string) {
	if r.doc.kept != nil {
		return
	}
	if k := v.get("pattern"); k != nil {
		if _, err := r.doc.patterns.compile(k.text); err != nil {
			v.drop("pattern")
			r.doc.partial[v] = true
			r.report(pointer, "pattern", true, "the pattern is not checked: %v", err)
		}
	}
	table := v.get("patternProperties")
	if table == nil {
		return
	}
	for _, k := range slices.Clone(table.kids) {
		if _, err := r.doc.patterns.compile(k.name); err != nil {
			table.drop(k.name)
			v.drop("additionalProperties") // it is about the names that match no pattern
			v.drop("unevaluatedProperties")
			r.doc.partial[v] = true
			r.report(pointer+"/patternProperties", k.name, true, "properties of this pattern, and additional ones, are not checked: %v", err)
		}
	}
}

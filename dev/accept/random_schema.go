package accept

import (
	"encoding/json"
	"math/rand/v2"
	"strconv"
	"strings"
)

// RandomSchema writes the input schema of a tool, in draft 2020-12, with all
// that tools use: most of it plain, some of it odd.
func RandomSchema(rng *rand.Rand) json.RawMessage {
	a := &author{rng: rng}
	if a.chance(50) {
		for i := range 1 + rng.IntN(3) {
			a.defs = append(a.defs, "D"+strconv.Itoa(i))
		}
	}
	root := a.object(0)
	addConditions(a, root)
	if len(a.defs) > 0 {
		defs := newObject()
		for _, name := range a.defs {
			defs.members = append(defs.members, member{name, definition(a)})
		}
		root.set("$defs", defs)
	}
	return root.raw()
}

type author struct {
	rng  *rand.Rand
	defs []string
}

func (a *author) chance(percent int) bool { return a.rng.IntN(100) < percent }

func pick[T any](rng *rand.Rand, all ...T) T { return all[rng.IntN(len(all))] }

// literal parses what is written in this package.
func literal(raw string) *value {
	v, err := parse([]byte(raw))
	if err != nil {
		panic(err)
	}
	return v
}

// oddNames are property names that look like something else.
const oddNames = "type|properties|$ref|__proto__|required|enum|items|anyOf|null|value|default|description|名前|a/b~c|a b|x-y|filter[id]||1st|$filter|a.b|a:b|nullable|item0|request|kind"

func (a *author) name(i int) string {
	if a.chance(12) {
		return pick(a.rng, strings.Split(oddNames, "|")...)
	}
	return pick(a.rng, "id", "name", "path", "query", "limit", "tags", "mode", "user_id", "createdAt", "filter", "data") + pick(a.rng, "", "", strconv.Itoa(i))
}

// definition is an object mostly, so that what refers to itself can end.
func definition(a *author) *value {
	if a.chance(25) {
		return a.scalar()
	}
	return a.object(2)
}

func (a *author) schema(depth int) *value {
	v := a.bare(depth)
	if v.kind != object {
		return v
	}
	if a.chance(40) && v.get("$ref") == nil || a.chance(10) {
		v.set("description", newText(pick(a.rng, "What it is.", "The id_number (or name)", "Zwei\nZeilen", "e.g. `a_b`")))
	}
	if a.chance(8) {
		v.set("title", newText("Title"))
	}
	return v
}

func (a *author) bare(depth int) *value {
	if depth > 3 {
		return a.scalar()
	}
	switch n := a.rng.IntN(100); {
	case n < 46:
		return a.scalar()
	case n < 58:
		return a.object(depth + 1)
	case n < 68:
		return a.array(depth)
	case n < 80:
		return unionOf(a, depth)
	case n < 85:
		return mapping(a, depth)
	case n < 92 && len(a.defs) > 0:
		return reference(a)
	case n < 94:
		return composed(a, depth)
	case n < 96:
		return pick(a.rng, newObject(), newBool(true), literal(`{"type":"object"}`), literal(`{"type":"array"}`))
	}
	return a.nullable(depth)
}

func (a *author) scalar() *value {
	switch a.rng.IntN(10) {
	case 0, 1, 2:
		return a.text()
	case 3, 4:
		return a.number()
	case 5:
		return literal(pick(a.rng, `{"type":"boolean"}`, `{"type":"boolean","default":false}`))
	case 6, 7:
		return literal(pick(a.rng, `{"type":"string","enum":["open","closed","*"]}`, `{"enum":["a",1,true,null]}`, `{"type":"integer","enum":[1,2,3]}`,
			`{"type":"string","enum":["","x"]}`, `{"enum":["A","a"]}`, `{"type":"number","enum":[0.5,1]}`, `{"enum":["1",1]}`, `{"type":["string","null"],"enum":["F","C",null]}`))
	case 8:
		return literal(pick(a.rng, `{"const":"x"}`, `{"const":7}`, `{"type":"string","const":"y"}`, `{"const":null}`, `{"const":true}`))
	}
	return literal(pick(a.rng, `{"type":["string","number"]}`, `{"type":["integer","string","null"]}`, `{"type":["boolean","string"]}`, `{"type":"null"}`))
}

func (a *author) text() *value {
	v := literal(`{"type":"string"}`)
	switch a.rng.IntN(6) {
	case 0:
		low := a.rng.IntN(4)
		v.set("minLength", newNumber(low))
		v.set("maxLength", newNumber(low+a.rng.IntN(20)))
	case 1:
		v.set("pattern", newText(pick(a.rng, `^[a-z]+$`, `^\d{4}-\d{2}$`, `^(a|b|cd)*x?$`, `[0-9]`, `^[A-Z][a-zA-Z0-9_]{0,7}$`, `^\S+@\S+$`, `^(?!0)\d+$`, `^#[0-9a-fA-F]{6}$`)))
	case 2:
		v.set("format", newText(pick(a.rng, "date-time", "date", "time", "email", "uri", "uuid", "ipv4", "hostname", "duration", "byte", "made-up")))
	case 3:
		v.set("default", newText(pick(a.rng, "", "a", "open")))
	}
	return v
}

func (a *author) number() *value {
	v := newObject(member{"type", newText(pick(a.rng, "integer", "number"))})
	low := a.rng.IntN(20) - 5
	switch a.rng.IntN(7) {
	case 0:
		v.set("minimum", newNumber(low))
		v.set("maximum", newNumber(low+1+a.rng.IntN(100)))
	case 1:
		v.set("exclusiveMinimum", newNumber(low))
	case 2:
		v.set("multipleOf", newNumber(1+a.rng.IntN(5)))
	case 3:
		v.set("maximum", newNumber(int64(9007199254740991)))
		v.set("minimum", newNumber(int64(-9007199254740991)))
	case 4:
		v.set("default", newNumber(low))
	}
	return v
}

func (a *author) object(depth int) *value {
	v := literal(`{"type":"object"}`)
	properties, required := newObject(), newArray()
	for i := range a.rng.IntN(6 - min(depth, 3)) {
		name := a.name(i)
		if properties.get(name) != nil {
			continue
		}
		s := a.schema(depth + 1)
		properties.members = append(properties.members, member{name, s})
		if a.chance(50) && s.get("$ref") == nil {
			required.items = append(required.items, newText(name))
		}
	}
	v.set("properties", properties)
	if len(required.items) > 0 || a.chance(10) {
		v.set("required", required)
	}
	switch n := a.rng.IntN(100); {
	case n < 30:
		v.set("additionalProperties", newBool(false))
	case n < 35:
		v.set("additionalProperties", newBool(true))
	case n < 38:
		v.set("additionalProperties", a.scalar())
	case n < 43:
		v.set("additionalProperties", literal(pick(a.rng, `{}`, `{"description":"Anything."}`)))
	}
	return v
}

func (a *author) array(depth int) *value {
	v := literal(`{"type":"array"}`)
	if a.chance(20) {
		v.set("prefixItems", newArray(a.scalar(), a.schema(depth+1)))
		if a.chance(70) {
			v.set("items", newBool(false))
		}
		if a.chance(70) {
			v.set("minItems", newNumber(2))
		}
		return v
	}
	v.set("items", a.schema(depth+1))
	if a.chance(15) {
		v.set("items", literal(pick(a.rng, `{}`, `{"description":"Anything."}`, `{"title":"Any"}`, `{"default":1}`)))
	}
	if a.chance(25) {
		v.set("minItems", newNumber(a.rng.IntN(3)))
	}
	if a.chance(20) {
		v.set("maxItems", newNumber(3+a.rng.IntN(3)))
	}
	if a.chance(8) {
		v.set("uniqueItems", newBool(true))
	}
	return v
}

func unionOf(a *author, depth int) *value {
	key := pick(a.rng, "anyOf", "anyOf", "oneOf")
	branches := newArray()
	switch a.rng.IntN(5) {
	case 0: // discriminated
		for _, name := range []string{"create", "update", "delete"}[:2+a.rng.IntN(2)] {
			o := a.object(depth + 2)
			o.get("properties").set("kind", newObject(member{"const", newText(name)}))
			o.set("required", newArray(newText("kind")))
			branches.items = append(branches.items, o)
		}
	case 1: // objects
		branches.items = append(branches.items, a.object(depth+1), a.object(depth+1))
	case 2: // one or many
		one := a.scalar()
		branches.items = append(branches.items, one, newObject(member{"type", newText("array")}, member{"items", one}))
	case 3: // scalars
		branches.items = append(branches.items, a.text(), a.number())
	default:
		branches.items = append(branches.items, a.schema(depth+1), a.schema(depth+1), a.scalar())
	}
	return newObject(member{key, branches})
}

func (a *author) nullable(depth int) *value {
	v := newObject(member{"anyOf", newArray(a.schema(depth+1), literal(`{"type":"null"}`))})
	if a.chance(40) {
		v.set("default", &value{})
	}
	return v
}

func mapping(a *author, depth int) *value {
	v := newObject(member{"type", newText("object")}, member{"additionalProperties", a.schema(depth + 1)})
	switch a.rng.IntN(5) {
	case 0:
		v.set("propertyNames", literal(`{"pattern":"^[a-z_]+$"}`))
	case 1:
		v.set("maxProperties", newNumber(3))
	case 2:
		v = newObject(member{"type", newText("object")}, member{"patternProperties", newObject(member{"^x-", a.scalar()})}, member{"additionalProperties", newBool(false)})
	}
	return v
}

// reference is optional where it stands, or in a list, so that values can end.
func reference(a *author) *value {
	ref := newObject(member{"$ref", newText("#/$defs/" + pick(a.rng, a.defs...))})
	if a.chance(30) {
		return newObject(member{"type", newText("array")}, member{"items", ref})
	}
	if a.chance(15) {
		return newObject(member{"anyOf", newArray(ref, literal(`{"type":"null"}`))})
	}
	return ref
}

func composed(a *author, depth int) *value {
	x, y := a.object(depth+1), a.object(depth+2)
	for _, v := range []*value{x, y} {
		v.set("additionalProperties", newBool(true))
	}
	return newObject(member{"allOf", newArray(x, y)})
}

// addConditions adds to a few roots what is not a matter of shape.
func addConditions(a *author, root *value) {
	properties := root.get("properties").members
	if len(properties) < 2 || !a.chance(10) {
		return
	}
	x, y := newText(properties[0].name), newText(properties[1].name)
	switch a.rng.IntN(3) {
	case 0:
		root.set("anyOf", newArray(newObject(member{"required", newArray(x)}), newObject(member{"required", newArray(y)})))
	case 1:
		root.set("dependentRequired", newObject(member{x.text, newArray(y)}))
	case 2:
		root.set("not", newObject(member{"required", newArray(x, y)}))
	}
}

package accept

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
)

// A Sampler draws values that satisfy one schema.
type Sampler struct {
	schema *Schema
	places *subject
	names  []string // of all properties

	// Undeclared makes Sample add members to objects whose schema does not
	// say anything about further ones. The names are mostly those of other properties.
	Undeclared bool
}

// NewSampler prepares a schema: an original one, or one as a target is sent
// it, in the dialect of gemini-schema too. Formats count for what is drawn.
func NewSampler(schema json.RawMessage) (*Sampler, error) {
	schema, err := standard(dialectOf(schema), schema)
	if err != nil {
		return nil, err
	}
	compiled, err := Compile(schema)
	if err != nil {
		return nil, err
	}
	var found []Violation
	s := &Sampler{schema: compiled, places: newSubject(Tool{Input: schema}, &found)}
	for _, p := range s.places.places {
		if p.via == "properties" && !slices.Contains(s.names, p.name) && len(s.names) < 50 {
			s.names = append(s.names, p.name)
		}
	}
	return s, nil
}

// dialectOf recognizes gemini-schema by the case of its types.
func dialectOf(schema json.RawMessage) string {
	if v, err := parse(schema); err == nil && v.get("type") != nil && v.get("type").text == "OBJECT" {
		return "gemini-schema"
	}
	return ""
}

// Sample draws a value, or reports that it found none. It adds properties that
// the schema does not name only where the schema says that it takes them, or
// chosen none at all.
func (s *Sampler) Sample(rng *rand.Rand) (json.RawMessage, bool) {
	for range 12 {
		d := &drawing{Sampler: s, rng: rng, fuel: 400}
		v := d.value([]*value{s.places.root}, 0)
		if v == nil {
			continue
		}
		if failing, err := s.schema.failing(v.plain()); err == nil && failing == nil {
			return v.raw(), true
		}
	}
	return nil, false
}

// RandomInstance draws one value; a Sampler is faster for many.
func RandomInstance(rng *rand.Rand, schema json.RawMessage) (json.RawMessage, bool) {
	s, err := NewSampler(schema)
	if err != nil {
		return nil, false
	}
	return s.Sample(rng)
}

// A drawing is one attempt.
type drawing struct {
	*Sampler
	rng  *rand.Rand
	fuel int // subschemas left before it becomes thrifty
}

func (d *drawing) chance(percent int) bool { return d.rng.IntN(100) < percent }

// thrifty reports whether it is time to come to an end.
func (d *drawing) thrifty(depth int) bool { return depth > 4 || d.fuel <= 0 }

// value draws what satisfies all of the schemas, nil if it finds nothing.
func (d *drawing) value(all []*value, depth int) *value {
	if depth > 40 || d.fuel < -20_000 {
		return nil
	}
	for range 4 {
		flat, ok := d.expand(all, nil, depth)
		if !ok {
			continue
		}
		if v := d.flat(flat, depth); v != nil {
			return v
		}
	}
	return nil
}

// expand replaces references and unions by what they stand for, or the branch
// it chooses. The rest of the schema has only keywords for one value.
func (d *drawing) expand(all, flat []*value, depth int) ([]*value, bool) {
	ok := true
	for _, v := range all {
		d.fuel--
		switch {
		case d.fuel < -20_000, v.kind == boolean && !v.truth:
			return flat, false
		case v.kind == boolean:
			continue
		}
		flat = append(flat, v)
		if p := d.places.at[v]; p != nil && p.target != nil {
			if flat, ok = d.expand([]*value{p.target.v}, flat, depth); !ok {
				return flat, false
			}
		}
		if flat, ok = d.expand(v.get("allOf").list(), flat, depth); !ok {
			return flat, false
		}
		for _, key := range []string{"anyOf", "oneOf"} {
			if flat, ok = d.branch(v.get(key), flat, depth); !ok {
				return flat, false
			}
		}
		if flat, ok = d.expand(conditionsOf(d, v), flat, depth); !ok {
			return flat, false
		}
	}
	return flat, true
}

func (d *drawing) branch(union *value, flat []*value, depth int) ([]*value, bool) {
	if union == nil || union.kind != array {
		return flat, true
	}
	branches := slices.Clone(union.items)
	d.rng.Shuffle(len(branches), func(i, j int) { branches[i], branches[j] = branches[j], branches[i] })
	if d.thrifty(depth) {
		costs := map[*value]int{}
		for _, b := range branches {
			costs[b] = cost(d, b, 4)
		}
		slices.SortStableFunc(branches, func(a, b *value) int { return costs[a] - costs[b] })
	}
	for _, b := range branches {
		if with, ok := d.expand([]*value{b}, flat, depth); ok {
			return with, true
		}
	}
	return flat, false
}

// conditionsOf decides what if and dependent schemas ask for.
func conditionsOf(d *drawing, v *value) []*value {
	var all []*value
	if condition := v.get("if"); condition != nil {
		then, otherwise := v.get("then"), v.get("else")
		switch {
		case then != nil && d.chance(50):
			all = append(all, condition, then)
		case otherwise != nil:
			all = append(all, otherwise)
		}
	}
	for _, key := range []string{"dependentSchemas", "dependencies"} {
		named := v.get(key)
		if !named.isObject() {
			continue
		}
		for _, m := range named.members {
			switch {
			case m.value.kind == array:
			case d.chance(30):
				all = append(all, m.value, newObject(member{"required", newArray(newText(m.name))}))
			default:
				all = append(all, newObject(member{"properties", newObject(member{m.name, newBool(false)})}))
			}
		}
	}
	return all
}

// cost estimates how deep the smallest value is.
func cost(d *drawing, v *value, fuel int) int {
	if fuel == 0 || v == nil || v.kind != object {
		return 8 - 2*fuel
	}
	most := 0
	if p := d.places.at[v]; p != nil && p.target != nil {
		most = 1 + cost(d, p.target.v, fuel-1)
	}
	for _, name := range v.required() {
		if s := v.get("properties").get(name); s != nil {
			most = max(most, 1+cost(d, s, fuel-1))
		}
	}
	if v.get("minItems") != nil {
		most = max(most, 1+cost(d, v.get("items"), fuel-1))
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		least := 100
		for _, b := range v.get(key).list() {
			least = min(least, cost(d, b, fuel-1))
		}
		if least < 100 {
			most = max(most, least)
		}
	}
	return most
}

// flat draws from schemas without references and unions.
func (d *drawing) flat(flat []*value, depth int) *value {
	if listed, ok := choices(flat); ok {
		if len(listed) == 0 {
			return nil
		}
		return listed[d.rng.IntN(len(listed))]
	}
	switch k := d.kind(flat, depth); k {
	case "null":
		return &value{}
	case "boolean":
		return newBool(d.chance(50))
	case "string":
		return d.text(flat)
	case "integer", "number":
		return d.number(flat, k == "integer")
	case "array":
		return d.array(flat, depth)
	case "object":
		return d.object(flat, depth)
	}
	return nil
}

// choices lists the values that enum and const leave, if there is one.
func choices(flat []*value) ([]*value, bool) {
	var listed []*value
	found := false
	for _, v := range flat {
		these := v.get("enum").list()
		if c := v.get("const"); c != nil {
			these = []*value{c}
		} else if v.get("enum") == nil {
			continue
		}
		if !found {
			listed, found = slices.Clone(these), true
			continue
		}
		listed = slices.DeleteFunc(listed, func(a *value) bool {
			return !slices.ContainsFunc(these, func(b *value) bool { return string(a.raw()) == string(b.raw()) })
		})
	}
	if allowed := kinds(flat); found && allowed != nil {
		listed = slices.DeleteFunc(listed, func(v *value) bool { return !slices.ContainsFunc(allowed, v.isA) })
	}
	return listed, found
}

// isA reports whether v is of a type of JSON Schema.
func (v *value) isA(name string) bool {
	switch v.kind {
	case boolean:
		return name == "boolean"
	case text:
		return name == "string"
	case array:
		return name == "array"
	case object:
		return name == "object"
	case number:
		return name == "number" || name == "integer" && !strings.ContainsAny(v.text, ".eE")
	}
	return name == "null"
}

// kinds returns the types that all allow, nil if none is asked for.
func kinds(flat []*value) []string {
	var allowed []string
	asked := false
	for _, v := range flat {
		these := v.types()
		if len(these) == 0 {
			continue
		}
		if slices.Contains(these, "number") {
			these = append(slices.Clone(these), "integer")
		}
		if !asked {
			allowed, asked = slices.Clone(these), true
			continue
		}
		allowed = slices.DeleteFunc(allowed, func(k string) bool { return !slices.Contains(these, k) })
	}
	return allowed
}

// about returns the type that a keyword applies to.
const about = ` properties:object required:object additionalProperties:object patternProperties:object minProperties:object
 propertyNames:object dependentRequired:object items:array prefixItems:array contains:array minItems:array maxItems:array
 uniqueItems:array pattern:string minLength:string maxLength:string format:string contentEncoding:string
 minimum:number maximum:number exclusiveMinimum:number exclusiveMaximum:number multipleOf:number `

func (d *drawing) kind(flat []*value, depth int) string {
	allowed := kinds(flat)
	if allowed == nil {
		allowed = suggested(d, flat)
	}
	if len(allowed) == 0 {
		return ""
	}
	if d.thrifty(depth) {
		for _, k := range strings.Fields("null boolean string integer number array object") {
			if slices.Contains(allowed, k) {
				return k
			}
		}
	}
	return allowed[d.rng.IntN(len(allowed))]
}

// suggested are the types of the keywords, mostly; anything is allowed.
func suggested(d *drawing, flat []*value) []string {
	var found []string
	for _, v := range flat {
		for _, m := range v.members {
			if _, after, ok := strings.Cut(about, " "+m.name+":"); ok {
				found = append(found, strings.Fields(after)[0])
			}
		}
	}
	if len(found) > 0 && d.chance(95) {
		return found
	}
	return strings.Fields("null boolean string integer number array object string integer")
}

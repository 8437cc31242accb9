package accept

import (
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	openaiStrictKeys = `type properties required additionalProperties items anyOf $ref $defs enum const description title
		pattern format minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minItems maxItems $schema definitions`
	openaiFormats = "date-time time date duration email hostname ipv4 ipv6 uuid"
)

// openaiStrict is O1 for strict tools; others are judged as openai's.
func openaiStrict(s *subject) {
	if !s.Strict {
		openai(s)
		return
	}
	named(s, "O1/name", portableName)
	rootObject(s, "O1/root")
	noRoot(s, "O1/root", "anyOf $ref")
	metaschema(s, "O1/metaschema", draft2020)
	onlyKeys(s, "O1/keys", openaiStrictKeys)
	schemasAreObjects(s, "O1/node")
	closed(s, "O1/closed")
	arraysHaveItems(s, "O1/items", false)
	refsAlone(s, "O1/ref-siblings", "")
	formats(s, "O1/format", openaiFormats)
	patterns(s, "O1/pattern", lookaround)
	for _, p := range s.places {
		openaiNode(s, p)
		openaiUnion(s, p)
	}
	openaiLimits(s)
}

func openaiNode(s *subject, p *place) {
	if p.v.isObject() && !slices.ContainsFunc(strings.Fields("type anyOf $ref enum const"), p.has) {
		s.add(p, "O1/type", "the schema says nothing of the type")
	}
	if ref := p.v.get("$ref"); ref != nil && (p.target == nil || !(p.target.parent == nil || p.target.via == "$defs" && p.target.parent.parent == nil)) {
		s.add(p, "O1/ref", "$ref %q is neither # nor one of #/$defs", ref.text)
	}
	if !p.objects() {
		return
	}
	if !p.v.get("properties").isObject() {
		s.add(p, "O1/properties", "the object has no properties")
	}
	var names []string
	for _, m := range p.v.properties() {
		names = append(names, m.name)
	}
	required := slices.Clone(p.v.required())
	slices.Sort(names)
	slices.Sort(required)
	if !slices.Equal(slices.Compact(names), slices.Compact(required)) {
		s.add(p, "O1/required", "required is not all properties")
	}
}

// openaiUnion wants objects in anyOf to differ in their first property: in its
// name, or in the one value it has.
func openaiUnion(s *subject, p *place) {
	type beginning struct{ name, fixed string }
	var seen []beginning
	for _, branch := range p.children {
		if branch.via != "anyOf" {
			continue
		}
		if branch.target != nil {
			branch = branch.target
		}
		if !branch.objects() {
			continue
		}
		var b beginning
		b.name, b.fixed = first(branch)
		if slices.ContainsFunc(seen, func(o beginning) bool {
			return o.name == b.name && (o.fixed == "" || b.fixed == "" || o.fixed == b.fixed)
		}) {
			s.add(p, "O1/anyOf", "two objects begin with the same property %q", b.name)
			return
		}
		seen = append(seen, b)
	}
}

// first returns the name of the first property, and its value if there is but one.
func first(p *place) (name, fixed string) {
	all := p.v.properties()
	if len(all) == 0 {
		return "", ""
	}
	schema := all[0].value
	if c := schema.get("const"); c != nil {
		return all[0].name, string(c.raw())
	}
	if e := schema.get("enum"); e != nil && len(e.items) == 1 {
		return all[0].name, string(e.items[0].raw())
	}
	return all[0].name, ""
}

func openaiLimits(s *subject) {
	properties, enums, chars := 0, 0, 0
	for _, p := range s.places {
		if p.via == "properties" {
			properties++
		}
		if p.via == "properties" || p.definition() {
			chars += utf8.RuneCountInString(p.name)
		}
		if c := p.v.get("const"); c != nil {
			chars += length(c)
		}
		e := p.v.get("enum")
		if e == nil {
			continue
		}
		own := 0
		for _, v := range e.items {
			own += length(v)
		}
		chars += own
		enums += len(e.items)
		if len(e.items) > 250 && own > 15_000 {
			s.add(p, "O1/limits", "an enum of %d values has %d characters, at most 15000 are accepted", len(e.items), own)
		}
	}
	s.limit("O1/limits", "properties", properties, 5_000)
	s.limit("O1/limits", "values of enums", enums, 1_000)
	s.limit("O1/limits", "characters in names and values", chars, 120_000)
	if len(s.places) > 0 {
		s.limit("O1/limits", "levels", levels(s), 10)
	}
}

func (s *subject) limit(rule, what string, n, most int) {
	if n > most {
		s.addAt("", rule, "there are %d %s, at most %d are accepted", n, what, most)
	}
}

// levels counts objects and arrays in each other, through references.
func levels(s *subject) int {
	known := map[*place]int{}
	var visit func(*place) int
	visit = func(p *place) int {
		if n, ok := known[p]; ok {
			return n // 0 where it leads to itself
		}
		known[p] = 0
		deepest := 0
		for _, next := range p.next(func(*place) bool { return true }) {
			deepest = max(deepest, visit(next))
		}
		if p.objects() || p.has("items") {
			deepest++
		}
		known[p] = deepest
		return deepest
	}
	return visit(s.places[0])
}

// length counts the characters of a value as text.
func length(v *value) int {
	if v.kind == text {
		return utf8.RuneCountInString(v.text)
	}
	return utf8.RuneCount(v.raw())
}

package accept

import (
	"regexp"
	"strings"
)

var (
	anthropicName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,128}$`) // api.name
	// costly is what strict's grammars do not take. How large a repetition may
	// be is not documented; 256 is taken for it.
	costly = regexp.MustCompile(lookaround.String() + `|\\[bB]|\{(\d+,)?(\d{4,}|[3-9]\d\d|25[7-9]|2[6-9]\d)\}|\{(\d{4,}|[3-9]\d\d|25[7-9]|2[6-9]\d),\}`)
)

// anthropic is A1.
func anthropic(s *subject) {
	jsonSchema(s, "A1", anthropicName, draft2020) // api.draft
	noRoot(s, "A1/root", "oneOf anyOf allOf")     // api.root
	rootKeys(s, "A1/key", apiKey)                 // cc.key
}

const anthropicStrictKeys = `type properties required additionalProperties items anyOf allOf $ref $defs enum const
	description title default pattern format minItems`

// anthropicStrict is A2 for strict tools; others are judged as anthropic's.
func anthropicStrict(s *subject) {
	anthropic(s)
	if s.Strict {
		constrained(s, "A2", anthropicStrictKeys)
		patterns(s, "A2/pattern", costly)
	}
}

// bedrock is B1: A2 without care for patterns, and with lengths, for strict
// tools; A1 for others.
func bedrock(s *subject) {
	anthropic(s)
	named(s, "B1/name", portableName) // bed.name
	if s.Description == "" {
		s.addAt("", "B1/description", "the description is empty") // bed.name
	}
	if s.Strict {
		constrained(s, "B1", anthropicStrictKeys+" minLength maxLength")
	}
}

// constrained is what A2 and B1 share.
func constrained(s *subject, set, allowed string) {
	onlyKeys(s, set+"/keys", allowed)
	closed(s, set+"/closed")
	formats(s, set+"/format", "date-time time date duration email hostname uri ipv4 ipv6 uuid")
	if p := s.cycle(func(*place) bool { return true }); p != nil {
		s.add(p, set+"/recursion", "refers to itself")
	}
	for _, p := range s.places {
		if p.via == "allOf" && p.has("$ref") {
			s.add(p, set+"/allOf", "allOf holds a $ref")
		}
		if n := p.v.get("minItems"); n != nil && n.text != "0" && n.text != "1" {
			s.add(p, set+"/minItems", "minItems is neither 0 nor 1")
		}
		for _, v := range append(p.v.get("enum").list(), p.v.get("const")) {
			if v != nil && (v.kind == array || v.kind == object) {
				s.add(p, set+"/enum", "enum has a value that is not a scalar")
			}
		}
	}
}

func (v *value) list() []*value {
	if v == nil {
		return nil
	}
	return v.items[:len(v.items):len(v.items)]
}

// anthropicTotals are A2's limits of a request, over its strict tools.
func anthropicTotals(all []*subject, add report) {
	tools, optional, unions := 0, 0, 0
	for _, s := range all {
		if !s.Strict {
			continue
		}
		tools++
		for _, p := range s.places {
			if p.optional() {
				optional++
			}
			if t := p.v.get("type"); p.has("anyOf") || t != nil && t.kind == array {
				unions++
			}
		}
	}
	for _, l := range []struct {
		what    string
		n, most int
	}{{"strict tools", tools, 20}, {"optional parameters in strict tools", optional, 24}, {"unions in strict tools", unions, 16}} {
		if l.n > l.most {
			add("A2/totals", "there are %d %s, at most %d are accepted", l.n, l.what, l.most)
		}
	}
}

// claudeCode is what Claude Code wants beside A1: the rules ts1.poison.* of
// 2.1.197, and cc.* of 2.1.329.
func claudeCode(s *subject) {
	poison(s, "claude-code")
	o := s.output()
	if o.root != nil {
		rootObject(o, "claude-code/output") // ts1.poison.output
	}
	noKeys(o, "claude-code/output", "$schema") // cc.out07
	if n := units(s.Description); n > 4096 {
		s.addAt("", "claude-code/description", "the description has %d characters, 4096 are read", n) // cc.desc
	}
	if strings.ContainsAny(s.Description, "\u200b\u200c\u200d\u2060\ufeff\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069") {
		s.addAt("", "claude-code/description", "the description has characters that are removed") // cc.desc
	}
}

// poison is what makes the clients on the TypeScript SDK 1 lose all tools of a
// server; the metaschema looks after required and properties that are null.
func poison(s *subject, set string) {
	rootObject(s, set+"/root") // ts1.poison.root
	for _, p := range s.places {
		if p.parent != nil && p.parent.parent == nil && p.via == "properties" && !p.v.isObject() {
			s.add(p, set+"/property", "the schema of the property is not an object") // ts1.poison.bool
		}
	}
	for _, key := range []string{"required", "properties"} {
		if v := s.root.get(key); v != nil && v.kind == null {
			s.addAt("", set+"/"+key, "%s is null", key) // ts1.poison.required, ts1.poison.properties
		}
	}
}

var outsideName = regexp.MustCompile(`[^A-Za-z0-9_-]`)

package accept

import (
	"regexp"
	"slices"
	"strings"
)

var (
	// anchored is a pattern from ^ to $ without lookaround and without the
	// classes that older builds do not know.
	anchored = regexp.MustCompile(`^\^.*[^\\]\$$|^\^\$$`)
	classes  = regexp.MustCompile(lookaround.String() + `|\\[dDwWsSbB]`)
	kimiName = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$`)
)

// llama is the rule llama, and the limits of its grammars that change what a
// schema means; keywords it does not know it skips. Ollama and LM Studio use it.
func llama(s *subject) {
	patterns(s, "llama/pattern", classes)
	noKeys(s, "llama/tuple", "prefixItems")
	for _, p := range s.places {
		if t := p.v.get("pattern"); t != nil && !anchored.MatchString(t.text) {
			s.add(p, "llama/pattern", "the pattern %q does not go from ^ to $", t.text)
		}
		if p.has("properties") && (p.has("anyOf") || p.has("oneOf")) {
			s.add(p, "llama/union", "properties stand beside anyOf or oneOf")
		}
		if p.target != nil && refers(p.target) {
			s.add(p, "llama/ref", "what $ref points to refers to another")
		}
	}
}

// refers reports whether there is a $ref in p.
func refers(p *place) bool {
	return p.has("$ref") || slices.ContainsFunc(p.children, refers)
}

// mistral is the rule mistral.
func mistral(s *subject) {
	jsonSchema(s, "mistral", portableName, draft2020)
	noKeys(s, "mistral/keys", "$schema $id")
}

// kimi is the rule kimi: Moonshot's own flavour of JSON Schema.
func kimi(s *subject) {
	jsonSchema(s, "kimi", kimiName, draft2020)
	noRoot(s, "kimi/root", "anyOf oneOf allOf")
	refsAlone(s, "kimi/ref-siblings", "")
	requiredExist(s, "kimi/required")
	for _, p := range s.places {
		if p.via != "additionalProperties" || p.v.kind != boolean {
			kimiNode(s, p)
		}
	}
}

func kimiNode(s *subject, p *place) {
	switch union := p.has("anyOf"); {
	case union && p.has("type"):
		s.add(p, "kimi/type", "type stands beside anyOf")
	case !union && !p.has("type") && !p.has("$ref"):
		s.add(p, "kimi/type", "there is no type")
	}
	if items := p.v.get("items"); items != nil && !items.isObject() {
		s.add(p, "kimi/items", "items is not an object")
	}
	if p.has("anyOf") && p.has("default") {
		s.add(p, "kimi/type", "default stands beside anyOf")
	}
	kimiKey(s, p)
	if e := p.v.get("enum"); e != nil && slices.ContainsFunc(e.items, func(v *value) bool { return !ofType(v, p.v.types()) }) {
		s.add(p, "kimi/enum", "a value does not have the type of the schema")
	}
}

func kimiKey(s *subject, p *place) {
	switch {
	case p.via == "$defs" && strings.Contains(p.name, "/"):
		s.add(p, "kimi/key", "the name of a definition has a /")
	case p.via != "properties":
	case p.name != "" && p.name[0] >= '0' && p.name[0] <= '9':
		s.add(p, "kimi/key", "the name begins with a digit")
	case slices.Contains(strings.Fields("$defs $ref anyOf required additionalProperties"), p.name):
		s.add(p, "kimi/key", "the name is that of a keyword")
	case inDefs(p) && strings.Contains(p.name, "/"):
		s.add(p, "kimi/key", "the name has a / in a definition")
	}
}

// ofType reports whether a value has one of the types.
func ofType(v *value, types []string) bool {
	names := map[kind]string{null: "null", boolean: "boolean", text: "string", array: "array", object: "object"}
	if name := names[v.kind]; name != "" {
		return slices.Contains(types, name)
	}
	return slices.Contains(types, "number") || slices.Contains(types, "integer")
}

// grokPattern is what xAI's expressions lack.
var grokPattern = regexp.MustCompile(lookaround.String() + `|\\[bBpP]|\(\?[a-z-]`)

// xai constrains what the model writes in any case. It refuses a few things,
// and takes objects that do not say more for closed ones.
func xai(s *subject) {
	jsonSchema(s, "xai", portableName, draft2020)
	noKeys(s, "xai/keys", "minContains maxContains")
	patterns(s, "xai/pattern", grokPattern)
	requiredExist(s, "xai/required")
	if p := s.cycle(func(*place) bool { return true }); p != nil {
		s.add(p, "xai/cycle", "$ref leads back to it")
	}
	for _, p := range s.places {
		if p.via == "properties" && p.v.kind == boolean {
			s.add(p, "xai/property", "the schema is true or false")
		}
		if e := p.v.get("enum"); e != nil && len(e.items) == 0 {
			s.add(p, "xai/enum", "there are no values")
		}
		if t := p.v.get("pattern"); t != nil && !anchored.MatchString(t.text) {
			s.add(p, "xai/pattern", "the pattern %q does not go from ^ to $", t.text)
		}
		if p.parent != nil && p.v.bareObject() {
			s.add(p, "xai/open", "the object takes no members")
		}
	}
}

// bareObject reports whether v describes objects, and says nothing of their members.
func (v *value) bareObject() bool {
	return slices.Equal(v.types(), []string{"object"}) && !slices.ContainsFunc(v.members, func(m member) bool {
		return slices.Contains(strings.Fields("properties patternProperties additionalProperties anyOf oneOf allOf enum const not $ref"), m.name)
	})
}

// after07 are the keywords that draft-07 does not know.
const after07 = `$defs $anchor $dynamicRef $dynamicAnchor $recursiveRef $recursiveAnchor $vocabulary prefixItems
	dependentRequired dependentSchemas unevaluatedItems unevaluatedProperties minContains maxContains`

// draft07 is for clients with a validator of that draft, which refuse a
// $schema that names another.
func draft07(s *subject) {
	jsonSchema(s, "draft-07", mcpName, draft7)
	noKeys(s, "draft-07/keys", "$schema "+strings.TrimSpace(after07))
	refsAlone(s, "draft-07/ref-siblings", "title description default examples $comment definitions")
}

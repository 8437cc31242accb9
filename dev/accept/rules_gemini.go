package accept

// The keywords that are documented for JSON Schema, and pattern and others that
// recorded traffic shows. const is not among them: it is written as enum.
const geminiKeys = `$id $defs $ref $anchor type format title description enum items prefixItems minItems maxItems
	minimum maximum anyOf oneOf properties additionalProperties required propertyOrdering
	pattern minLength maxLength uniqueItems default`

// gemini is G2: FunctionDeclaration.parametersJsonSchema.
func gemini(s *subject) {
	if s.Input == nil {
		return
	}
	rootObject(s, "G2/root")
	metaschema(s, "G2/metaschema", draft2020)
	onlyKeys(s, "G2/keys", geminiKeys)
	schemasAreObjects(s, "G2/node")
	geminiRefs(s)
	arraysHaveItems(s, "G2/items", true) // gem.items
	requiredExist(s, "G2/required")
	for _, p := range s.places {
		e := p.v.get("enum")
		if e == nil || e.kind != array {
			continue
		}
		for _, v := range e.items {
			if v.kind != text && v.kind != number {
				s.add(p, "G2/enum", "enum holds what is neither string nor number")
			}
		}
	}
	if p := s.cycle(func(c *place) bool { return !c.optional() }); p != nil {
		s.add(p, "G2/recursion", "refers to itself without passing a property that may be left out")
	}
}

func geminiRefs(s *subject) {
	refsResolve(s, "G2/ref")
	refsAlone(s, "G2/ref-siblings", "description default")
	for _, p := range s.places {
		if p.target != nil && !inDefs(p.target) {
			s.add(p, "G2/ref", "$ref points to nothing in $defs")
		}
	}
}

// inDefs reports whether p is in a $defs.
func inDefs(p *place) bool {
	for ; p != nil; p = p.parent {
		if p.via == "$defs" {
			return true
		}
	}
	return false
}

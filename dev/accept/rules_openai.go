package accept

import "unicode/utf16"

// openai is a function that is not strict: oa.name, oa.desc, oa.root, oa.items,
// and no boolean schemas.
func openai(s *subject) {
	openaiSchema(s, "O0")
	named(s, "O0/name", portableName) // oa.name
	if n := units(s.Description); n > 1024 {
		s.addAt("", "O0/description", "the description has %d characters, at most 1024 are accepted", n) // oa.desc
	}
}

// openaiSchema is what OpenAI's API wants of any schema.
func openaiSchema(s *subject, set string) {
	rootObject(s, set+"/root")
	if !s.root.get("properties").isObject() {
		s.addAt("", set+"/properties", "the root has no properties") // oa.root
	}
	noRoot(s, set+"/root", "anyOf oneOf allOf enum not") // oa.root
	arraysHaveItems(s, set+"/items", false)              // oa.items
	schemasAreObjects(s, set+"/node")
	metaschema(s, set+"/metaschema", draft2020)
	refsResolve(s, set+"/ref")
}

// units counts as JavaScript does, in which most clients are written.
func units(s string) int { return len(utf16.Encode([]rune(s))) }

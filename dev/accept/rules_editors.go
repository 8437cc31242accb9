package accept

// anyModel is what a client keeps out that passes schemas to Claude and OpenAI as
// they are, and lists tools with MCP's TypeScript SDK.
func anyModel(s *subject, set string) {
	openaiSchema(s, set)
	noRoot(s, set+"/root", "oneOf anyOf allOf")
	rootKeys(s, set+"/key", apiKey)
	named(s, set+"/name", portableName)
	typedMaps(s, set+"/map")
	if o := s.output(); o.root != nil {
		rootObject(o, set+"/output")
	}
}

// typedMaps refuses an empty schema for members of any name.
func typedMaps(s *subject, rule string) {
	for _, p := range s.places {
		if m := p.v.get("additionalProperties"); m.isObject() && len(m.members) == 0 {
			s.add(p, rule, "additionalProperties is an empty schema")
		}
	}
}

// kiro is Amazon Bedrock behind Kiro: no references, no single values, no union at
// the root, and no empty description.
func kiro(s *subject) {
	anthropic(s)
	named(s, "kiro/name", portableName)
	noKeys(s, "kiro/keys", "$ref $defs definitions const oneOf allOf $schema")
	arraysHaveItems(s, "kiro/items", true)
	schemasAreObjects(s, "kiro/node")
	if s.Description == "" {
		s.addAt("", "kiro/description", "the description is empty")
	}
	if o := s.output(); o.root != nil {
		rootObject(o, "kiro/output")
	}
}

// zed rewrites schemas to Gemini's older form for some models: without references and
// conditions, with anyOf only, and with enums of strings.
func zed(s *subject) {
	anyModel(s, "zed")
	noKeys(s, "zed/keys", "$ref if then else const oneOf propertyNames exclusiveMinimum exclusiveMaximum")
	for _, p := range s.places {
		for _, v := range p.v.get("enum").list() {
			if v.kind != text {
				s.add(p, "zed/enum", "enum has a value that is not a string")
				break
			}
		}
	}
}

// cline passes schemas on; Gemini refuses a required name that is not a property.
func cline(s *subject) {
	anyModel(s, "cline")
	requiredExist(s, "cline/required")
	noKeys(s, "cline/keys", "$schema")
}

// qwenCode removes what it can, and passes the rest on.
func qwenCode(s *subject) {
	anyModel(s, "qwen-code")
	noKeys(s, "qwen-code/keys", "$schema $id")
}

// claudeAI is the API behind connectors, with the older limit of names, and without
// output schemas.
func claudeAI(s *subject) {
	anthropic(s)
	named(s, "claude-ai/name", portableName)
	noKeys(s, "claude-ai/keys", "$schema")
	if s.Output != nil {
		s.addAt("", "claude-ai/output", "there is an output schema")
	}
}

package accept

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// vscode is V1, with vscode.2020; oa.count is in the table.
func vscode(s *subject) {
	noKeys(s, "V1/$schema", "$schema") // vscode.2020
	for _, p := range s.places {
		if !slices.Contains(p.v.types(), "array") {
			continue
		}
		if items := s.at[p.v.get("items")]; items == nil || !typed(items, 0) {
			s.add(p, "V1/items", "the array has no items with a type")
		}
	}
}

// typed reports whether a type stands in p, or in all it is made of.
func typed(p *place, depth int) bool {
	if p.has("type") || depth > 32 {
		return p.has("type")
	}
	if p.target != nil {
		return typed(p.target, depth+1)
	}
	branches := 0
	for _, c := range p.children {
		if c.via != "anyOf" && c.via != "oneOf" {
			continue
		}
		if branches++; !typed(c, depth+1) {
			return false
		}
	}
	return branches > 0
}

// cursor is cur.name; cur.count is in the table. It validates results by
// draft-07, where prefixItems means nothing.
func cursor(s *subject) {
	if n := utf8.RuneCountInString(s.Server + s.Name); n > 60 {
		s.addAt("", "cursor/name", "server and name have %d characters together, at most 60 are accepted", n)
	}
	noKeys(s.output(), "cursor/output", "prefixItems")
}

// geminiCLI is gcli.* and the poison of its SDK; the schema goes to Gemini as
// it is, so G2 holds too.
func geminiCLI(s *subject) {
	poison(s, "gemini-cli")
	if s.root == nil {
		s.addAt("", "gemini-cli/root", "there is no schema")
	}
	if o := s.output(); o.root != nil {
		rootObject(o, "gemini-cli/output") // ts1.poison.output
	}
	if s.root.get("properties").get("wait_for_previous") != nil {
		s.addAt("/properties/wait_for_previous", "gemini-cli/property", "the client adds a property of this name") // gcli.param
	}
	if strings.Contains(s.Server, "_") {
		s.addAt("", "gemini-cli/server", "the server's name has an underscore") // gcli.server
	}
}

var outsideGemini = regexp.MustCompile(`[^A-Za-z0-9_.:-]`)

// codex is codex.*: what it would refuse, or change so that the model sees
// another shape; the rest it drops only loosens the schema. It talks to OpenAI.
func codex(s *subject) {
	openaiSchema(s, "codex")
	noKeys(s, "codex/tuple", "prefixItems") // codex.schema
}

var outsideCodex = regexp.MustCompile(`[^A-Za-z0-9_]`)

// copilotCLI is cop.*. It flattens roots itself.
func copilotCLI(s *subject) { poison(s, "copilot-cli") } // cop.null

func copilotCLIName(s *subject) string {
	return strings.NewReplacer(".", "-", "/", "-", ":", "-", " ", "-").Replace(s.Server + "-" + s.Name)
}

// opencode is oc.* and the poison of its SDK. To Google it sends $ref as {},
// unions at the root as nothing, true as a boolean, and numbers in enums as
// strings, so none of them may reach it.
func opencode(s *subject) {
	poison(s, "opencode")
	noKeys(s, "opencode/ref", "$ref")                    // oc.google
	noRoot(s, "opencode/root", "anyOf oneOf allOf $ref") // oc.google, oc.ap
	schemasAreObjects(s, "opencode/node")                // oc.google
	for _, p := range s.places {
		for _, v := range p.v.get("enum").list() {
			if v.kind != text {
				s.add(p, "opencode/enum", "enum has a value that is not a string") // oc.google
				break
			}
		}
	}
}

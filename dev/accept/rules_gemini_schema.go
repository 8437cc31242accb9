package accept

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

const geminiSchemaKeys = `type format title description nullable default example enum items minItems maxItems
	properties required propertyOrdering minProperties maxProperties minLength maxLength pattern minimum maximum anyOf`

var (
	geminiToolName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]{0,63}$`) // the portable part of what is documented
	geminiKey      = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,63}$`)  // gem.key
	geminiFormats  = map[string]string{"STRING": "enum date-time", "INTEGER": "enum int32 int64", "NUMBER": "enum float double"}
)

// geminiSchema is G1: FunctionDeclaration.parameters. A tool without
// parameters leaves them out.
func geminiSchema(s *subject) {
	geminiName(s)
	if s.Input == nil || s.root == nil {
		return
	}
	if len(s.places[0].v.properties()) == 0 || !strings.EqualFold(s.places[0].typeName(), "OBJECT") {
		s.addAt("", "G1/root", "the root is not an OBJECT with properties; leave parameters out")
	}
	onlyKeys(s, "G1/keys", geminiSchemaKeys)
	for _, p := range s.places {
		if !p.v.isObject() {
			s.add(p, "G1/node", "the schema is not an object")
			continue
		}
		geminiType(s, p)
		geminiObject(s, p)
		geminiEnums(s, p)
		geminiRest(s, p)
	}
	d := json.NewDecoder(bytes.NewReader(s.Input))
	d.DisallowUnknownFields()
	if err := d.Decode(&genaiSchema{}); err != nil {
		s.addAt("", "G1/decode", "not a genai.Schema: %v", err)
	}
}

func geminiName(s *subject) { named(s, "G1/name", geminiToolName) }

func (p *place) typeName() string {
	if t := p.v.get("type"); t != nil && t.kind == text {
		return t.text
	}
	return ""
}

func geminiType(s *subject, p *place) {
	t, union := p.v.get("type"), p.v.get("anyOf")
	switch {
	case t == nil && union == nil:
		s.add(p, "G1/type", "there is neither type nor anyOf")
	case t != nil && union != nil:
		s.add(p, "G1/type", "type stands beside anyOf")
	case t != nil && geminiTypeName(t) == "":
		s.add(p, "G1/type", "the type is none of "+geminiTypes)
	}
	if union == nil {
		return
	}
	if union.kind != array || len(union.items) == 0 {
		s.add(p, "G1/anyOf", "anyOf has no branches")
	}
	for _, m := range p.v.members {
		if !slices.Contains([]string{"anyOf", "nullable", "description", "title", "default"}, m.name) {
			s.add(p, "G1/anyOf", "%q stands beside anyOf", m.name)
		}
	}
}

func geminiObject(s *subject, p *place) {
	isObject := strings.EqualFold(p.typeName(), "OBJECT")
	properties := p.v.get("properties")
	if !isObject && (properties != nil || p.has("required")) {
		s.add(p, "G1/object", "properties and required are for OBJECT only")
	}
	if isObject && len(p.v.properties()) == 0 { // gem.items
		s.add(p, "G1/object", "the OBJECT has no properties")
	}
	seen := map[string]bool{}
	for _, name := range p.v.required() {
		if properties.get(name) == nil || seen[name] {
			s.add(p, "G1/required", "%q is not a property, or listed twice", name)
		}
		seen[name] = true
	}
	for _, m := range p.v.properties() {
		if !geminiKey.MatchString(m.name) {
			s.add(p, "G1/key", "the name %q does not match %s", m.name, geminiKey)
		}
	}
	if isArray := strings.EqualFold(p.typeName(), "ARRAY"); isArray != p.v.get("items").isObject() {
		s.add(p, "G1/items", "ARRAY has items, and nothing else has")
	}
}

func geminiEnums(s *subject, p *place) {
	e := p.v.get("enum")
	if e == nil {
		return
	}
	t := strings.ToUpper(p.typeName())
	if t != "STRING" && !(p.v.get("format").is("enum") && (t == "INTEGER" || t == "NUMBER")) {
		s.add(p, "G1/enum", "enum is for STRING, or numbers of format enum")
	}
	values, ok := e.texts()
	if !ok || len(values) == 0 {
		s.add(p, "G1/enum", "enum is not a list of strings")
	}
	seen := map[string]bool{"": true}
	for _, v := range values {
		if seen[v] {
			s.add(p, "G1/enum", "%q is empty, or there twice", v)
		}
		seen[v] = true
		if _, err := strconv.ParseFloat(v, 64); t != "STRING" && err != nil {
			s.add(p, "G1/enum", "%q is not a number", v)
		}
	}
}

func geminiRest(s *subject, p *place) {
	if f := p.v.get("format"); f != nil {
		if !slices.Contains(strings.Fields(geminiFormats[strings.ToUpper(p.typeName())]), f.text) {
			s.add(p, "G1/format", "the format %q is not for %q", f.text, p.typeName())
		}
	}
	if p.depth > 32 {
		s.add(p, "G1/depth", "deeper than 32")
	}
	if order := p.v.get("propertyOrdering"); order != nil {
		names, _ := order.texts()
		for _, name := range names {
			if p.v.get("properties").get(name) == nil {
				s.add(p, "G1/propertyOrdering", "%q is not a property", name)
			}
		}
	}
}

// genaiSchema holds the documented fields of genai.Schema.
type genaiSchema struct {
	AnyOf            []*genaiSchema          `json:"anyOf"`
	Default          any                     `json:"default"`
	Description      string                  `json:"description"`
	Enum             []string                `json:"enum"`
	Example          any                     `json:"example"`
	Format           string                  `json:"format"`
	Items            *genaiSchema            `json:"items"`
	MaxItems         json.Number             `json:"maxItems"`
	MaxLength        json.Number             `json:"maxLength"`
	MaxProperties    json.Number             `json:"maxProperties"`
	Maximum          *float64                `json:"maximum"`
	MinItems         json.Number             `json:"minItems"`
	MinLength        json.Number             `json:"minLength"`
	MinProperties    json.Number             `json:"minProperties"`
	Minimum          *float64                `json:"minimum"`
	Nullable         *bool                   `json:"nullable"`
	Pattern          string                  `json:"pattern"`
	Properties       map[string]*genaiSchema `json:"properties"`
	PropertyOrdering []string                `json:"propertyOrdering"`
	Required         []string                `json:"required"`
	Title            string                  `json:"title"`
	Type             string                  `json:"type"`
}

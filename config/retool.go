package config

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/tailscale/hujson"

	"github.com/toolpost/toolpost"
)

// maxChanges is how many tools, and how many arguments of one tool, a block may
// change.
const maxChanges = 2000

// changeKeys says what each key of a tool in FastMCP's tools block sets.
var changeKeys = map[string]func(s *source, c *ToolChange, v hujson.Value, path string){
	"name":        func(s *source, c *ToolChange, v hujson.Value, path string) { c.Name = s.optional(v, path) },
	"title":       func(s *source, c *ToolChange, v hujson.Value, path string) { c.Title = s.textOrNone(v, path) },
	"description": func(s *source, c *ToolChange, v hujson.Value, path string) { c.Description = s.textOrNone(v, path) },
	"tags":        func(s *source, c *ToolChange, v hujson.Value, path string) { c.Tags = s.optionals(v, path) },
	"enabled":     func(s *source, c *ToolChange, v hujson.Value, path string) { c.Disabled = !s.boolean(v, path) },
	"annotations": readAnnotations,
	"meta":        readMeta,
	"_meta":       readMeta,
	"arguments":   readArguments,
}

// argumentKeys says what each key of an argument sets.
var argumentKeys = map[string]func(s *source, a *ArgumentChange, v hujson.Value, path string){
	"name": func(s *source, a *ArgumentChange, v hujson.Value, path string) { a.Name = s.optional(v, path) },
	"description": func(s *source, a *ArgumentChange, v hujson.Value, path string) {
		a.Description = s.textOrNone(v, path)
	},
	"default":  func(_ *source, a *ArgumentChange, v hujson.Value, _ string) { a.Default = plainJSON(v) },
	"hide":     func(s *source, a *ArgumentChange, v hujson.Value, path string) { a.Hide = s.boolean(v, path) },
	"required": readRequired,
	"type":     readType,
	"examples": func(_ *source, a *ArgumentChange, v hujson.Value, _ string) { a.Examples = plainJSON(v) },
}

// noEffect reports a key of a tools block that means nothing here, so that a file
// of FastMCP is taken as it is.
func (s *source) noEffect(m *hujson.ObjectMember, path string, known []string) {
	slices.Sort(known)
	s.unused(m, path, "has no effect here; "+suggestKey(key(m), known))
}

// change reads what a tools block says about one tool.
func (s *source) change(block *ToolChanges, m *hujson.ObjectMember, path string) {
	if len(block.Tools) == maxChanges {
		s.fail(m.Name.StartOffset, "%s is one of more than %d tools; remove some", path, maxChanges)
		return
	}
	c := ToolChange{Tool: key(m)}
	s.members(m.Value, path, func(m *hujson.ObjectMember) {
		if set := changeKeys[key(m)]; set != nil {
			set(s, &c, m.Value, path+"."+key(m))
			return
		}
		s.noEffect(m, path, slices.Collect(maps.Keys(changeKeys)))
	})
	block.Tools = append(block.Tools, c)
}

func readArguments(s *source, c *ToolChange, v hujson.Value, path string) {
	s.members(v, path, func(m *hujson.ObjectMember) {
		p := path + "." + key(m)
		if len(c.Arguments) == maxChanges {
			s.fail(m.Name.StartOffset, "%s is one of more than %d arguments; remove some", p, maxChanges)
			return
		}
		a := ArgumentChange{Argument: key(m)}
		s.members(m.Value, p, func(m *hujson.ObjectMember) {
			if set := argumentKeys[key(m)]; set != nil {
				set(s, &a, m.Value, p+"."+key(m))
				return
			}
			s.noEffect(m, p, slices.Collect(maps.Keys(argumentKeys)))
		})
		if a.Required && (a.Hide || a.Default != nil) {
			s.fail(m.Name.StartOffset, `%s has "required" beside "hide" or "default"; keep one`, p)
		}
		c.Arguments = append(c.Arguments, a)
	})
}

func readAnnotations(s *source, c *ToolChange, v hujson.Value, path string) {
	if v.Value.Kind() == 'n' {
		return
	}
	c.Annotations = &toolpost.Annotations{}
	hints := map[string]**bool{
		"readOnlyHint": &c.Annotations.ReadOnly, "destructiveHint": &c.Annotations.Destructive,
		"idempotentHint": &c.Annotations.Idempotent, "openWorldHint": &c.Annotations.OpenWorld,
	}
	s.members(v, path, func(m *hujson.ObjectMember) {
		p, hint := path+"."+key(m), hints[key(m)]
		switch {
		case m.Value.Value.Kind() == 'n':
		case hint != nil:
			value := s.boolean(m.Value, p)
			*hint = &value
		case key(m) == "title":
			c.Annotations.Title = s.text(m.Value, p)
		default:
			s.noEffect(m, path, append(slices.Collect(maps.Keys(hints)), "title"))
		}
	})
}

func readMeta(s *source, c *ToolChange, v hujson.Value, path string) {
	if k := v.Value.Kind(); k != '{' && k != 'n' {
		s.fail(v.StartOffset, "%s is %s; want an object", path, kind(v))
		return
	}
	c.Meta = plainJSON(v)
}

// readRequired accepts true and null only, as FastMCP does.
func readRequired(s *source, a *ArgumentChange, v hujson.Value, path string) {
	switch v.Value.Kind() {
	case 'n':
	case 'f':
		s.fail(v.StartOffset, `%s is false; give the argument a "default" instead`, path)
	default:
		a.Required = s.boolean(v, path)
	}
}

// readType reads a type of JSON Schema, or several.
func readType(s *source, a *ArgumentChange, v hujson.Value, path string) {
	names := []string{}
	switch v.Value.Kind() {
	case 'n':
		return
	case '[':
		names = s.texts(v, path)
	default:
		names = append(names, s.text(v, path))
	}
	known := []string{"array", "boolean", "integer", "null", "number", "object", "string"}
	for _, name := range names {
		if !slices.Contains(known, name) {
			s.fail(v.StartOffset, "%s has a type that JSON Schema does not have; %s", path, suggestKey(name, known))
			return
		}
	}
	a.Type = plainJSON(v)
}

// optional reads a string; null is as if it were not there.
func (s *source) optional(v hujson.Value, path string) string {
	if v.Value.Kind() == 'n' {
		return ""
	}
	return s.text(v, path)
}

// textOrNone reads a string that replaces another one; null removes that.
func (s *source) textOrNone(v hujson.Value, path string) *string {
	text := s.optional(v, path)
	return &text
}

// optionals reads an array of strings; null is as if it were not there.
func (s *source) optionals(v hujson.Value, path string) []string {
	if v.Value.Kind() == 'n' {
		return nil
	}
	return s.texts(v, path)
}

// plainJSON returns v without comments and trailing commas.
func plainJSON(v hujson.Value) json.RawMessage {
	plain := v.Clone()
	plain.Minimize()
	return json.RawMessage(plain.Pack())
}

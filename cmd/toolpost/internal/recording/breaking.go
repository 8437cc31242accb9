package recording

import (
	"encoding/json"
	"fmt"
	"github.com/toolpost/toolpost/internal/jsontree"
	"slices"
	"strings"

	"github.com/toolpost/toolpost/internal/wire"
)

// maxNesting bounds how deep schemas are compared, and maxReasons the reasons.
const (
	maxNesting = 50
	maxReasons = 50
)

// breaking returns why arguments that were right under one input schema may be wrong
// under another one: an argument is removed, required now, or accepts less. It
// compares what most schemas consist of (type, enum, properties, required, items)
// and follows no references.
func breaking(before, after json.RawMessage) []string {
	c := &schemaComparison{}
	c.compare("", before, after, maxNesting)
	return c.reasons
}

type schemaComparison struct{ reasons []string }

func (c *schemaComparison) add(path, format string, args ...any) {
	if len(c.reasons) == maxReasons {
		return
	}
	where := "the arguments: "
	if path != "" {
		where = fmt.Sprintf("argument %q ", path)
	}
	c.reasons = append(c.reasons, where+fmt.Sprintf(format, args...))
}

func (c *schemaComparison) compare(path string, before, after json.RawMessage, levels int) {
	if !wire.IsObject(before) || !wire.IsObject(after) || levels == 0 {
		return
	}
	c.compareTypes(path, types(before), types(after))
	c.compareValues(path, wire.Get(before, "enum"), wire.Get(after, "enum"))
	old, current := members(wire.Get(before, "properties")), members(wire.Get(after, "properties"))
	for name, schema := range wire.Members(wire.Get(before, "properties")) {
		at := join(path, name)
		if now, there := current[name]; there {
			c.compare(at, schema, now, levels-1)
		} else {
			c.add(at, "is removed")
		}
	}
	required := map[string]bool{}
	for _, name := range texts(wire.Get(before, "required")) {
		required[name] = true
	}
	for _, name := range texts(wire.Get(after, "required")) {
		switch _, known := old[name]; {
		case required[name]:
		case known:
			c.add(join(path, name), "is required now")
		default:
			c.add(join(path, name), "is new and required")
		}
	}
	c.compare(path+"[]", wire.Get(before, "items"), wire.Get(after, "items"), levels-1)
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func (c *schemaComparison) compareTypes(path string, before, after []string) {
	if len(after) == 0 {
		return
	}
	if len(before) == 0 {
		c.add(path, "accepts only %s now", strings.Join(after, ", "))
	}
	for _, t := range before {
		if !slices.Contains(after, t) && (t != "integer" || !slices.Contains(after, "number")) {
			c.add(path, "no longer accepts the type %s", t)
		}
	}
}

func (c *schemaComparison) compareValues(path string, before, after json.RawMessage) {
	switch {
	case len(after) == 0:
		return
	case len(before) == 0:
		c.add(path, "accepts only some values now")
		return
	}
	now := map[string]bool{}
	for v := range wire.Elements(after) {
		now[jsontree.Canonical(v)] = true
	}
	for v := range wire.Elements(before) {
		if !now[jsontree.Canonical(v)] {
			c.add(path, "no longer accepts %s", clip(string(v)))
		}
	}
}

// types returns the types that a schema names, none if it accepts all.
func types(schema json.RawMessage) []string {
	raw := wire.Get(schema, "type")
	if one := wire.Unquote(raw); one != "" {
		return []string{one}
	}
	return texts(raw)
}

// texts returns the strings of an array.
func texts(array json.RawMessage) (all []string) {
	for v := range wire.Elements(array) {
		all = append(all, wire.Unquote(v))
	}
	return all
}

func members(object json.RawMessage) map[string]json.RawMessage {
	all := map[string]json.RawMessage{}
	for name, value := range wire.Members(object) {
		all[name] = value
	}
	return all
}

package lower

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// count counts what readers limit.
func (l *lowering) count(root *node) Counts {
	var c Counts
	root.each(func(n *node) {
		if n.get("anyOf") != nil {
			c.Unions++
		}
		if t := n.get("type"); t != nil && len(t.raw) > 0 && t.raw[0] == '[' {
			c.Unions++
		}
		for _, name := range []string{"properties", "$defs", "definitions"} {
			if m := n.get(name); m != nil {
				for _, e := range m.table {
					c.Runes += utf8.RuneCountInString(e.name)
				}
			}
		}
		c.properties(n)
		if e := n.get("enum"); e != nil {
			list, _ := elements(e.raw)
			c.EnumValues += len(list)
			for _, v := range list {
				c.Runes += utf8.RuneCount(v)
			}
		}
	})
	c.Depth = l.depth(root, nil)
	return c
}

func (c *Counts) properties(n *node) {
	p := n.get("properties")
	if p == nil {
		return
	}
	required := 0
	if r := n.get("required"); r != nil {
		list, _ := elements(r.raw)
		required = len(list)
	}
	c.Properties += len(p.table)
	c.Optional += max(0, len(p.table)-required)
}

// depth counts the levels of objects and arrays, into each definition once.
func (l *lowering) depth(n *node, inside []string) int {
	level, deepest := 0, 0
	if n.get("properties") != nil || n.get("items") != nil || n.get("additionalProperties") != nil {
		level = 1
	}
	if r := n.get("$ref"); r != nil {
		ref, _ := unquote(r.raw)
		name := ref[strings.LastIndexByte(ref, '/')+1:]
		for _, def := range l.defs {
			if def.name == name && def.node != nil && !slices.Contains(inside, name) {
				deepest = l.depth(def.node, append(inside, name))
			}
		}
	}
	for _, m := range n.members {
		if m.name == l.defsKeyword() {
			continue
		}
		if m.node != nil {
			deepest = max(deepest, l.depth(m.node, inside))
		}
		for _, sub := range m.list {
			deepest = max(deepest, l.depth(sub, inside))
		}
		for _, e := range m.table {
			deepest = max(deepest, l.depth(e.node, inside))
		}
	}
	return level + deepest
}

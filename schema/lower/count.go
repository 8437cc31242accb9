package lower

import (
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
	c.Depth = depth(root)
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

// depth counts the levels of objects and arrays.
func depth(n *node) int {
	deepest, level := 0, 0
	if t := n.get("type"); t != nil && (n.get("properties") != nil || n.get("items") != nil || n.get("additionalProperties") != nil) {
		level = 1
	}
	for _, m := range n.members {
		if m.node != nil {
			deepest = max(deepest, depth(m.node))
		}
		for _, sub := range m.list {
			deepest = max(deepest, depth(sub))
		}
		for _, e := range m.table {
			deepest = max(deepest, depth(e.node))
		}
	}
	return level + deepest
}

package lower

import (
	"strings"
	"unicode/utf8"
)

// Counts are the quantities that readers limit over all schemas of a request.
type Counts struct {
	Optional   int // optional properties
	Unions     int // anyOf and lists of types
	Properties int
	EnumValues int
	Depth      int // levels of objects and arrays
	Runes      int // of names of properties and definitions, enum and const values
}

// countNodes counts what readers limit.
func countNodes(root *node, defs []entry) Counts {
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
	c.Depth = newDepthCounter(defs).depth(root)
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

// A depthCounter counts the levels of objects and arrays, into each definition
// once.
type depthCounter struct {
	defs  map[string]*node
	known map[string]int // 0 while it is being counted
}

func newDepthCounter(defs []entry) *depthCounter {
	d := &depthCounter{make(map[string]*node, len(defs)), make(map[string]int, len(defs))}
	for _, e := range defs {
		d.defs[e.name] = e.node
	}
	return d
}

func (d *depthCounter) depth(n *node) int {
	deepest := 0
	if r := n.get("$ref"); r != nil {
		deepest = d.definition(r.raw)
	}
	for _, m := range n.members {
		if m.name == "$defs" || m.name == "definitions" {
			continue
		}
		m.each(func(sub *node) { deepest = max(deepest, d.depth(sub)) })
	}
	if n.get("properties") != nil || n.get("items") != nil || n.get("additionalProperties") != nil {
		deepest++
	}
	return deepest
}

func (d *depthCounter) definition(ref []byte) int {
	name, _ := unquote(ref)
	name = name[strings.LastIndexByte(name, '/')+1:]
	if _, known := d.known[name]; !known && d.defs[name] != nil {
		d.known[name] = 0
		d.known[name] = d.depth(d.defs[name])
	}
	return d.known[name]
}

package dialect

import "github.com/toolpost/toolpost/internal/jsontree"

// choices returns the strings that a schema lists for the value at a path, as
// enum or const, in any of its alternatives.
func (d *document) choices(path []string) []string {
	if d.root == nil {
		return nil
	}
	c := chooser{visited: map[visit]bool{}}
	c.look(d.root, path)
	return c.found
}

// A visit is one look of a chooser: a node, and how much of the path is left.
type visit struct{ node, left int }

type chooser struct {
	found   []string
	visited map[visit]bool
}

func (c *chooser) look(n *node, path []string) {
	at := visit{n.index, len(path)}
	if c.visited[at] {
		return
	}
	c.visited[at] = true
	if n.target != nil {
		c.look(n.target, path)
	}
	if len(path) == 0 {
		c.addListed(n)
	}
	for _, kid := range n.kids {
		switch kid.keyword {
		case "allOf", "anyOf", "oneOf", "then", "else", "dependentSchemas":
			c.look(kid, path)
		case "properties":
			if len(path) > 0 && kid.Name == path[0] {
				c.look(kid, path[1:])
			}
		case "items", "prefixItems", "additionalItems", "patternProperties", "additionalProperties":
			if len(path) > 0 {
				c.look(kid, path[1:])
			}
		}
	}
}

func (c *chooser) addListed(n *node) {
	values := n.Get("enum").Items()
	if k := n.Get("const"); k != nil {
		values = append(values[:len(values):len(values)], k)
	}
	for _, v := range values {
		if v.Kind == jsontree.KindString {
			c.found = append(c.found, v.Text)
		}
	}
}

package lower

import (
	"encoding/json"
	"slices"

	"github.com/toolpost/toolpost/internal/jsontree"
)

// A node is a schema being written: members in the order in which they are set.
type node struct {
	members []member
	told    []string // sentences for the description
}

// A member has one of: raw bytes, a schema, a list of schemas, a table of them.
type member struct {
	name  string
	raw   json.RawMessage
	node  *node
	list  []*node
	table []entry
}

// An entry is a named schema.
type entry struct {
	name string
	node *node
}

func (n *node) get(name string) *member {
	for i := range n.members {
		if n.members[i].name == name {
			return &n.members[i]
		}
	}
	return nil
}

// put sets a member, in place of one of that name.
func (n *node) put(m member) {
	if old := n.get(m.name); old != nil {
		*old = m
		return
	}
	n.members = append(n.members, m)
}

// declares reports whether the schema declares all of these members and requires
// no other. If typed is set, their values must be of the declared types too. It
// does not follow references.
func (n *node) declares(members []field, typed bool) bool {
	if alts := n.get("anyOf"); alts != nil {
		return slices.ContainsFunc(alts.list, func(alt *node) bool { return alt.declares(members, typed) })
	}
	given := make(map[string][]byte, len(members))
	for _, m := range members {
		given[m.name] = m.value
	}
	if slices.ContainsFunc(n.required(), func(name string) bool { return given[name] == nil }) {
		return false
	}
	for _, e := range n.properties() {
		if v := given[e.name]; !typed || isNull(v) || seenKinds(e.node)&jsontree.ExactKind(v) != 0 {
			delete(given, e.name)
		}
	}
	return len(given) == 0
}

// required returns the names of the members that must be there.
func (n *node) required() []string {
	if list := n.get("required"); list != nil {
		return plainTexts(list.elements())
	}
	return nil
}

func (n *node) properties() []entry {
	if table := n.get("properties"); table != nil {
		return table.table
	}
	return nil
}

// property returns the schema of a property, nil if there is none.
func (n *node) property(name string) *node {
	for _, e := range n.properties() {
		if e.name == name {
			return e.node
		}
	}
	return nil
}

func (n *node) set(name string, raw json.RawMessage) { n.put(member{name: name, raw: raw}) }

func (n *node) drop(name string) {
	kept := n.members[:0]
	for _, m := range n.members {
		if m.name != name {
			kept = append(kept, m)
		}
	}
	n.members = kept
}

// addSentence adds a sentence to the description, once.
func (n *node) addSentence(sentence string) {
	if !slices.Contains(n.told, sentence) {
		n.told = append(n.told, sentence)
	}
}

// typeNode returns a schema of one type.
func typeNode(name string) *node { return &node{members: []member{{name: "type", raw: quote(name)}}} }

// typeNode returns a schema of one type as the reader calls it.
func (r *reader) typeNode(name string) *node { return typeNode(r.typeName(name)) }

// typeName returns the type, "" if it is not a single one.
func (n *node) typeName() string {
	if t := n.get("type"); t != nil {
		s, _ := unquote(t.raw)
		return s
	}
	return ""
}

// types returns the types, nil if none is said.
func (n *node) types() []string {
	t := n.get("type")
	if t == nil {
		return nil
	}
	list, ok := elements(t.raw)
	if !ok {
		return []string{n.typeName()}
	}
	return plainTexts(list)
}

// elements returns the values of a list.
func (m *member) elements() [][]byte {
	list, _ := elements(m.raw)
	return list
}

// append writes the schema.
func (n *node) append(dst []byte) []byte {
	dst = append(dst, '{')
	for i, m := range n.members {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendQuoted(dst, m.name)
		dst = append(dst, ':')
		dst = m.append(dst)
	}
	return append(dst, '}')
}

func (m *member) append(dst []byte) []byte {
	switch {
	case m.node != nil:
		return m.node.append(dst)
	case m.list != nil:
		dst = append(dst, '[')
		for i, n := range m.list {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = n.append(dst)
		}
		return append(dst, ']')
	case m.table != nil:
		dst = append(dst, '{')
		for i, e := range m.table {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendQuoted(dst, e.name)
			dst = append(dst, ':')
			dst = e.node.append(dst)
		}
		return append(dst, '}')
	}
	return append(dst, m.raw...)
}

// each calls f for n and every schema inside.
func (n *node) each(f func(*node)) {
	f(n)
	for _, m := range n.members {
		m.each(func(sub *node) { sub.each(f) })
	}
}

// each calls f for the schemas that a member holds itself.
func (m *member) each(f func(*node)) {
	if m.node != nil {
		f(m.node)
	}
	for _, sub := range m.list {
		f(sub)
	}
	for _, e := range m.table {
		f(e.node)
	}
}

// names writes a list of strings.
func names(list []string) json.RawMessage {
	quoted := make([]json.RawMessage, len(list))
	for i, s := range list {
		quoted[i] = quote(s)
	}
	return values(quoted)
}

// values writes a list of values.
func values(list []json.RawMessage) json.RawMessage { return appendList(nil, list) }

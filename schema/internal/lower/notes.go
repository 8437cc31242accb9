package lower

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/toolpost/toolpost/internal/lazyregexp"
	"github.com/toolpost/toolpost/schema/internal/form"
)

// annotate writes the annotations of the schema at a pointer, and the
// sentences of n, on n.
func annotate(l *lowering, at string, notes *form.Notes, n *node, c codec) {
	if notes.Default != nil {
		writeDefault(l, at, notes.Default, n, c)
	}
	if len(notes.Examples) > 0 && c == nil && l.allows("examples") {
		n.set("examples", values(notes.Examples))
	}
	if notes.Title != "" && l.allows("title") {
		n.set("title", quote(notes.Title))
	}
	writeOthers(l, at, notes.Others, n)
	text := notes.Description
	for _, sentence := range n.told {
		text = addSentence(text, sentence)
	}
	n.told = nil
	if text != "" {
		n.set("description", quote(text))
	}
	n.move(l.misplacedAnnotations(n))
}

func writeOthers(l *lowering, at string, others []form.Keyword, n *node) {
	for _, k := range others {
		if l.allows(k.Name) && (k.Name != mcpHeader || headerFits(l, at, n, k.Value)) {
			n.set(k.Name, k.Value)
		}
	}
}

// mcpHeader asks clients to send an argument as an HTTP header too (MCP
// 2026-07-28, tools). They drop a tool that asks for it in a wrong way.
const mcpHeader = "x-mcp-header"

var (
	// headerName is a token of HTTP (RFC 9110, section 5.6.2).
	headerName     = lazyregexp.New("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")
	onlyProperties = lazyregexp.New(`^(/properties/[^/]*)+$`)
)

// HeaderFits reports whether a name is one of an HTTP header, and whether the
// schema at a pointer, of the given type, is an argument that clients can send as
// a header: a scalar that only properties lead to. That is so for every reader.
func (*Rules) HeaderFits(pointer, typeName, name string) (nameFits, placeFits bool) {
	scalar := slices.Contains([]string{"string", "integer", "boolean"}, typeName)
	return headerName.MatchString(name), scalar && onlyProperties.MatchString(pointer)
}

// headerFits reports whether a property may ask for a header of this name.
func headerFits(l *lowering, at string, n *node, value json.RawMessage) bool {
	name, ok := unquote(trim(value))
	key := strings.ToLower(name)
	nameFits, placeFits := l.rules.HeaderFits(at, n.typeName(), name)
	if ok = ok && nameFits && placeFits && !l.headers[key]; !ok {
		l.lose(Noop, at, mcpHeader, "clients cannot send the header %s; the value remains an argument", string(value))
	}
	l.headers[key] = true
	return ok
}

// writeDefault writes or describes a default.
func writeDefault(l *lowering, at string, value json.RawMessage, n *node, c codec) {
	if l.allows("default") && !slices.Contains(l.misplacedAnnotations(n), "default") {
		if coded, ok := encode(c, newTrip(value), nil, trim(value)); ok {
			n.set("default", coded)
			return
		}
	}
	if !isNull(value) && len(value) <= maxDescribed {
		n.addSentence("Default: " + plainValue(value) + ".")
		l.lose(Noop, at, "default", "stated in the description")
		return
	}
	l.lose(Noop, at, "default", "an annotation; it still applies if the value is left out")
}

// move takes annotations away from n. The description goes to the first of
// its alternatives, unless that is a reference.
func (n *node) move(misplaced []string) {
	for _, k := range misplaced {
		m := n.get(k)
		if m == nil {
			continue
		}
		text, _ := unquote(m.raw)
		n.drop(k)
		if any := n.get("anyOf"); any != nil && k == "description" && len(any.list) > 0 && any.list[0].get("$ref") == nil {
			any.list[0].lead(text)
		}
	}
}

// lead puts a text before the description.
func (n *node) lead(text string) {
	if own := n.get("description"); own != nil {
		s, _ := unquote(own.raw)
		text = addSentence(text, s)
	}
	n.set("description", quote(text))
}

package lower

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/toolpost/toolpost/schema"
)

// maxTold is the longest keyword value, in bytes, that is told in words.
const maxTold = 240

// constraint writes a keyword if it is taken, else tells it in words.
func (l *lowering) constraint(n *node, at, keyword string, value json.RawMessage, sentence string) {
	if l.allows(keyword) {
		n.set(keyword, value)
		return
	}
	l.describe(n, at, keyword, sentence)
}

// describe tells what a keyword demands in the description.
func (l *lowering) describe(n *node, at, keyword, sentence string) {
	if l.rules.Silent || sentence == "" {
		l.lose(Dropped, at, keyword, "not told; checked when the tool is called")
		return
	}
	n.tell(sentence)
	l.lose(Described, at, keyword, "told in the description: %s", sentence)
}

// annotate writes the annotations of f, and what n tells, on n.
func (l *lowering) annotate(f *schema.Form, n *node, c codec) {
	if f.Notes.Default != nil {
		l.defaultValue(f, n, c)
	}
	if len(f.Notes.Examples) > 0 && c == nil && l.allows("examples") {
		n.set("examples", values(f.Notes.Examples))
	}
	if f.Notes.Title != "" && l.allows("title") {
		n.set("title", quote(f.Notes.Title))
	}
	for _, other := range f.Notes.Others {
		if l.allows(other.Name) && (other.Name != mcpHeader || l.header(f, n, other.Value)) {
			n.set(other.Name, other.Value)
		}
	}
	text := f.Notes.Description
	for _, sentence := range n.told {
		text = addSentence(text, sentence)
	}
	n.told = nil
	if text != "" {
		n.set("description", quote(text))
	}
	if l.refuses(n) {
		l.move(n)
	}
}

// mcpHeader asks clients to send an argument as an HTTP header too (MCP
// 2026-07-28, tools). They drop a tool that asks for it in a wrong way.
const mcpHeader = "x-mcp-header"

var headerName = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")

var onlyProperties = regexp.MustCompile(`^(/properties/[^/]*)+$`)

// header says that a property may ask for a header of this name.
func (l *lowering) header(f *schema.Form, n *node, value json.RawMessage) bool {
	name, ok := unquote(trim(value))
	key := strings.ToLower(name)
	place := onlyProperties.MatchString(f.At)
	typed := slices.Contains([]string{"string", "integer", "boolean"}, n.typeName())
	if ok = ok && place && typed && headerName.MatchString(name) && !l.headers[key]; !ok {
		l.lose(Noop, f.At, mcpHeader, "%s is no header that clients can send; it stays an argument", string(value))
	}
	l.headers[key] = true
	return ok
}

// defaultValue writes or tells the default of f.
func (l *lowering) defaultValue(f *schema.Form, n *node, c codec) {
	value := f.Notes.Default
	if l.allows("default") && !slices.Contains(l.noSiblings(n), "default") {
		if coded, ok := encode(c, nil, trim(value)); ok {
			n.set("default", coded)
			return
		}
	}
	if !isNull(value) && len(value) <= maxTold && !l.rules.Silent {
		n.tell("Default: " + plainValue(value) + ".")
		l.lose(Noop, f.At, "default", "told in the description")
		return
	}
	l.lose(Noop, f.At, "default", "an annotation; it still holds when the value is left out")
}

// plainValue is a value as a person writes it in a sentence.
func plainValue(value json.RawMessage) string {
	if s, ok := unquote(value); ok && s != "" && !strings.ContainsAny(s, "\n\"") {
		return s
	}
	return string(value)
}

// addSentence adds a sentence to a text.
func addSentence(text, sentence string) string {
	text = strings.TrimRight(text, " \n\t")
	switch {
	case text == "":
		return sentence
	case strings.HasSuffix(text, ".") || strings.HasSuffix(text, "!") || strings.HasSuffix(text, "?") ||
		strings.HasSuffix(text, "。") || strings.HasSuffix(text, ":"):
		return text + " " + sentence
	}
	return text + ". " + sentence
}

// noSiblings lists the annotations that may not stand beside what n has.
func (l *lowering) noSiblings(n *node) []string {
	limit := []string(nil)
	switch {
	case n.get("$ref") != nil:
		limit = l.rules.Ref.Siblings
	case n.get("anyOf") != nil:
		limit = l.rules.Union.Siblings
	}
	if limit == nil {
		return nil
	}
	var none []string
	for _, k := range []string{"description", "title", "default", "nullable", "examples"} {
		if !slices.Contains(limit, k) {
			none = append(none, k)
		}
	}
	return none
}

// refuses says that n has annotations where they may not stand.
func (l *lowering) refuses(n *node) bool {
	return slices.ContainsFunc(l.noSiblings(n), func(k string) bool { return n.get(k) != nil })
}

// move puts the annotations of n where they may stand: on the first of the
// alternatives, or nowhere beside a reference.
func (l *lowering) move(n *node) {
	for _, k := range l.noSiblings(n) {
		m := n.get(k)
		if m == nil {
			continue
		}
		moved := *m
		n.drop(k)
		if any := n.get("anyOf"); any != nil && k == "description" && len(any.list) > 0 {
			first := any.list[0]
			text, _ := unquote(moved.raw)
			if own := first.get(k); own != nil {
				s, _ := unquote(own.raw)
				text = addSentence(text, s)
			}
			if first.get("$ref") == nil {
				first.set(k, quote(text))
			}
		}
	}
}

// rest writes the keywords that the form cannot say.
func (l *lowering) rest(f *schema.Form, n *node, c codec) codec {
	for _, k := range f.Rest {
		if k.Name == "additionalProperties" && hasRest(f, "patternProperties") && !l.allows("patternProperties") {
			l.lose(Widened, k.At, k.Name, "further members are not kept out, since some fit a pattern")
			continue
		}
		if c == nil && n.get(k.Name) == nil && l.takes(k) && !l.atRoot(f, k.Name) {
			n.set(k.Name, k.Value)
			continue
		}
		l.describe(n, k.At, k.Name, restSentence(k))
	}
	return c
}

// takes says that a keyword may be written as it is.
func (l *lowering) takes(k schema.Keyword) bool {
	text := string(k.Value)
	if !l.allows(k.Name) || l.rules.Dialect != "" || strings.Contains(text, `"$ref"`) ||
		l.rules.Object.Declared && strings.Contains(text, `"required"`) {
		return false
	}
	inner := readSource([]byte("{" + string(quote(k.Name)) + ":" + text + "}"))
	for _, keywords := range inner.keywords {
		if slices.ContainsFunc(keywords, func(name string) bool { return !l.allows(name) }) {
			return false
		}
	}
	return true
}

// atRoot says that a keyword is one that the root may not have.
func (l *lowering) atRoot(f *schema.Form, keyword string) bool {
	return f.At == "" && l.rules.Root.NoUnion && slices.Contains([]string{"anyOf", "oneOf", "allOf", "not"}, keyword)
}

// restSentence tells a keyword in words, "" if it is too long for that.
func restSentence(k schema.Keyword) string {
	if s := requiredSentence(k); s != "" {
		return s
	}
	if len(k.Value) > maxTold {
		return ""
	}
	switch k.Name {
	case "patternProperties":
		return "Names of further members follow patterns: " + string(k.Value) + "."
	case "uniqueItems":
		return "No item twice."
	}
	return "Must also hold: " + k.Name + " " + string(k.Value) + "."
}

// requiredSentence tells alternatives of required members.
func requiredSentence(k schema.Keyword) string {
	if k.Name != "anyOf" && k.Name != "oneOf" {
		return ""
	}
	var list []map[string]json.RawMessage
	if json.Unmarshal(k.Value, &list) != nil {
		return ""
	}
	var choices []string
	for _, branch := range list {
		var need []string
		if len(branch) != 1 || json.Unmarshal(branch["required"], &need) != nil || len(need) == 0 {
			return ""
		}
		choices = append(choices, strings.Join(need, " with "))
	}
	if k.Name == "oneOf" {
		return "Give exactly one of these: " + strings.Join(choices, "; ") + "."
	}
	return "Give at least one of these: " + strings.Join(choices, "; ") + "."
}

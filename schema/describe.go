package schema

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/toolpost/toolpost/internal/jsontree"
)

// describe says in words what n asks for.
func (n *node) describe() string { return jsontree.Clip(n.words(2), 240) }

// words describes n; deep bounds how far it looks into the parts.
func (n *node) words(deep int) string {
	if n == nil {
		return "a value"
	}
	var parts []string
	switch {
	case len(n.choices) > 0:
		parts = append(parts, n.choices[0].words())
	case n.kinds == 0:
		return "nothing: no value is allowed here"
	case n.kinds != jsontree.KindAny || n.number != nil || n.text != nil:
		parts = append(parts, n.describeTypes(deep))
	case n.object != nil && n.object.words() != "":
		parts = append(parts, "object"+n.object.words())
	}
	if deep > 0 {
		parts = n.more(parts, deep-1)
	}
	if len(parts) == 0 {
		return "a value"
	}
	return strings.Join(parts, " and ")
}

// more describes what else applies to the same value.
func (n *node) more(parts []string, deep int) []string {
	for _, u := range n.unions {
		parts = append(parts, u.words(deep))
	}
	for _, m := range n.all {
		if !m.plain() {
			parts = append(parts, m.words(deep))
		}
	}
	for _, m := range n.not {
		parts = append(parts, "not "+m.words(deep))
	}
	return parts
}

func (c *choice) words() string {
	var b strings.Builder
	for i, v := range c.values {
		if i > 0 {
			b.WriteString(", ")
		}
		if b.Len() > 200 {
			fmt.Fprintf(&b, "… (%d in all)", len(c.values))
			break
		}
		b.WriteString(jsontree.Clip(string(v.Raw), 60))
	}
	switch len(c.values) {
	case 0:
		return "nothing: the enum is empty"
	case 1:
		return b.String()
	}
	return "one of " + b.String()
}

func (u union) words(deep int) string {
	var parts []string
	length := 0
	for _, b := range u.branches {
		w := b.words(deep)
		if len(parts) == 0 || parts[len(parts)-1] != w {
			parts = append(parts, w)
			length += len(w)
		}
		if length > 400 { // callers cut it shorter
			break
		}
	}
	return strings.Join(parts, " or ")
}

// describeTypes describes the types of n with their rules.
func (n *node) describeTypes(deep int) string {
	w := n.typeWords()
	if n.kinds&jsontree.KindNumber != 0 && n.number != nil {
		w += n.number.words()
	}
	if n.kinds&jsontree.KindString != 0 && n.text != nil {
		w += n.text.words()
	}
	if n.kinds == jsontree.KindArray && n.array != nil {
		w += n.array.words(deep)
	}
	if n.kinds == jsontree.KindObject && n.object != nil {
		w += n.object.words()
	}
	return w
}

func (n *node) typeWords() string {
	switch {
	case n.kinds != jsontree.KindAny:
		return n.kinds.String()
	case n.number == nil:
		return "string"
	case n.text == nil:
		return "number"
	}
	return "value"
}

func (r *arrayRule) words(deep int) string {
	w := ""
	if deep > 0 && r.prefix == nil && r.rest != nil && !r.rest.plain() {
		w = " of " + r.rest.words(deep-1)
	}
	return w + r.count.words("item")
}

// safe is the jsontree.MaxCount integer that JavaScript has exactly; as a bound it says
// nothing to a model.
const safe = "9007199254740991"

func (r *numberRule) words() string {
	var b strings.Builder
	if r.min != nil && r.minText != "-"+safe {
		b.WriteString(either(r.aboveMin, " above ", " from ") + r.minText)
	}
	if r.max != nil && r.maxText != safe {
		b.WriteString(either(r.belowMax, " below ", " up to ") + r.maxText)
	}
	if r.multiple != nil {
		b.WriteString(" that is a multiple of " + r.multipleText)
	}
	return b.String()
}

func either(first bool, a, b string) string {
	if first {
		return a
	}
	return b
}

func (r *textRule) words() string {
	w := r.length.words("character")
	if r.pattern != nil {
		w += " matching " + jsontree.Clip(r.pattern.String(), 120)
	}
	return w
}

func (s span) words(unit string) string {
	switch {
	case s.lo == s.hi:
		return " with " + plural(s.lo, unit)
	case s.lo > 0 && s.hi >= 0:
		return " with " + strconv.Itoa(s.lo) + " to " + plural(s.hi, unit)
	case s.lo > 0:
		return " with at least " + plural(s.lo, unit)
	case s.hi >= 0:
		return " with at most " + plural(s.hi, unit)
	}
	return ""
}

func plural(n int, unit string) string {
	w := strconv.Itoa(n) + " " + unit
	switch {
	case n == 1:
		return w
	case strings.HasSuffix(unit, "y"):
		return strings.TrimSuffix(w, "y") + "ies"
	}
	return w + "s"
}

// words names the properties that an object must have.
func (r *objectRule) words() string {
	var names []string
	for _, p := range r.properties {
		if p.required && len(names) < 6 {
			names = append(names, strconv.Quote(p.name))
		}
	}
	w := ""
	if len(names) > 0 {
		w = " with " + strings.Join(names, ", ")
	}
	return w + r.count.words("property")
}

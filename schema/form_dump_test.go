package schema_test

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/schema/internal/form"
)

// dump writes a form on one line, for people.
func dump(f *form.Form) string {
	if f.Any() {
		return "any" + notes(f)
	}
	if f.Ref != nil && f.Alts == nil && f.Number == nil && f.Text == nil && f.Array == nil && f.Object == nil && f.Enum == nil && f.Rest == nil {
		return "@" + f.Ref.Name + notes(f)
	}
	parts := []string{f.Kinds.String()}
	if f.Kinds == jsontree.KindAny {
		parts[0] = "any"
	}
	if f.Kinds == 0 {
		parts[0] = "never"
	}
	if f.Ref != nil {
		parts = append(parts, "@"+f.Ref.Name)
	}
	if n := f.Number; n != nil {
		parts = append(parts, pairs(">=", n.Minimum, "<=", n.Maximum, ">", n.ExclusiveMinimum, "<", n.ExclusiveMaximum, "multiple ", n.MultipleOf, "", n.Format))
	}
	if t := f.Text; t != nil {
		parts = append(parts, span("length", t.MinLength, t.MaxLength)+pairs("", t.Format)+pairs("/", t.Pattern)+keywords(t.Content))
	}
	if e := f.Enum; e != nil {
		list := make([]string, len(e.Values))
		for i, v := range e.Values {
			list[i] = string(v)
		}
		about := ""
		if e.Kinds != f.Kinds&^jsontree.KindNull {
			about = e.Kinds.String() + ": "
		}
		parts = append(parts, "{"+about+strings.Join(list, ",")+"}")
	}
	if a := f.Array; a != nil {
		parts = append(parts, "["+list(a.Prefix, ", ")+rest(a.Items)+"]"+span("items", a.MinItems, a.MaxItems))
		if a.Unique {
			parts = append(parts, "unique")
		}
	}
	if o := f.Object; o != nil {
		parts = append(parts, object(o))
	}
	if u := f.Alts; u != nil {
		word := "any of"
		if u.One {
			word = "one of"
		}
		parts = append(parts, word+pairs(" by ", u.Tag)+" ("+list(u.Forms, " | ")+")")
	}
	return strings.Join(parts, " ") + keywords(f.Rest) + notes(f)
}

func object(o *form.Object) string {
	var members []string
	for _, p := range o.Properties {
		mark := "?"
		if p.Required {
			mark = ""
		}
		if p.Bare {
			mark += "*"
		}
		members = append(members, p.Name+mark+": "+dump(p.Form))
	}
	if o.Additional != nil {
		members = append(members, "..."+dump(o.Additional))
	}
	return "{" + strings.Join(members, ", ") + "}" + span("members", o.MinProperties, o.MaxProperties)
}

func list(forms []*form.Form, separator string) string {
	texts := make([]string, len(forms))
	for i, f := range forms {
		texts[i] = dump(f)
	}
	return strings.Join(texts, separator)
}

func rest(f *form.Form) string {
	if f == nil {
		return ""
	}
	return "..." + dump(f)
}

func span(what string, low, high int) string {
	switch {
	case low == 0 && high < 0:
		return ""
	case high < 0:
		return fmt.Sprintf(" %s %d+ ", what, low)
	}
	return fmt.Sprintf(" %s %d-%d ", what, low, high)
}

// pairs writes, of each two texts, both if the second is not empty.
func pairs(list ...any) string {
	text := ""
	for i := 0; i < len(list); i += 2 {
		if value := fmt.Sprint(list[i+1]); value != "" {
			text += fmt.Sprint(list[i], value)
		}
	}
	return text
}

func keywords(list []form.Keyword) string {
	text := ""
	for _, k := range list {
		text += " +" + k.Name + "=" + string(k.Value)
	}
	return text
}

func notes(f *form.Form) string {
	var parts []string
	n := f.Notes
	for _, s := range []string{n.Title, n.Description} {
		if s != "" {
			parts = append(parts, fmt.Sprintf("%q", s))
		}
	}
	if n.Default != nil {
		parts = append(parts, "default "+string(n.Default))
	}
	if n.Examples != nil {
		text, _ := json.Marshal(n.Examples)
		parts = append(parts, "examples "+string(text))
	}
	for _, k := range n.Others {
		parts = append(parts, k.Name+" "+string(k.Value))
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, "; ") + ")"
}

package lower

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/internal/shape"
	"github.com/toolpost/toolpost/schema/internal/form"
)

// A reader knows what Rules accept.
type reader struct {
	rules   *Rules
	allowed map[string]bool // keywords; nil is all
	name    *regexp.Regexp  // of property names; nil for any
}

func newReader(rules *Rules) *reader {
	r := &reader{rules: rules}
	if rules.Keywords != nil {
		r.allowed = make(map[string]bool, len(rules.Keywords))
		for _, k := range rules.Keywords {
			r.allowed[k] = true
		}
	}
	if rules.Object.Name != "" {
		r.name, _ = regexp.Compile(rules.Object.Name) // a dialect is checked when it is read
	}
	return r
}

// allows reports whether the reader supports a keyword.
func (r *reader) allows(keyword string) bool {
	return (r.allowed == nil || r.allowed[keyword]) && !slices.Contains(r.rules.Without, keyword)
}

// typeName returns the reader's name of a type.
func (r *reader) typeName(name string) string {
	if r.rules.Dialect == "openapi" {
		return strings.ToUpper(name)
	}
	return name
}

// nameFits reports whether the reader accepts a property name.
func (r *reader) nameFits(name string) bool {
	most := r.rules.Object.NameMax
	return (most == 0 || utf8.RuneCountInString(name) <= most) && (r.name == nil || r.name.MatchString(name)) &&
		!slices.Contains(r.rules.Object.Forbidden, name)
}

// repairName makes a name that fits of one that does not.
func (r *reader) repairName(name string) string {
	most := r.rules.Object.NameMax
	var b strings.Builder
	for _, c := range name {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
			b.WriteRune(c)
		case !strings.HasSuffix(b.String(), "_"):
			b.WriteByte('_')
		}
	}
	fixed := cut(strings.Trim(b.String(), "_"), most)
	switch {
	case fixed == "":
		return "property"
	case !r.nameFits(fixed):
		return cut("p_"+fixed, most)
	}
	return fixed
}

func cut(s string, most int) string {
	if most > 0 && len(s) > most {
		return strings.TrimRight(s[:most], "_")
	}
	return s
}

// formatFits reports whether the reader supports a format for values of a type.
func (r *reader) formatFits(typeName, format string) bool {
	return r.allows("format") && (r.rules.Formats == nil || slices.Contains(r.rules.Formats[typeName], format))
}

// valuesFit reports whether values of these kinds may stand in an enum.
func (r *reader) valuesFit(list []json.RawMessage) bool {
	e := r.rules.Enum
	for _, v := range list {
		fit := true
		switch jsontree.ExactKind(v) {
		case jsontree.KindString:
			fit = !e.NoEmpty || string(v) != `""`
		case jsontree.KindInteger, jsontree.KindFraction:
			fit = !e.Strings
		case jsontree.KindBoolean:
			fit = !e.Strings && !e.Numbers
		default:
			fit = !e.Strings && !e.Numbers && !e.Scalars
		}
		if !fit {
			return false
		}
	}
	return true
}

// mixedFits reports whether values of several types may stand in one enum.
func (r *reader) mixedFits(list []json.RawMessage) bool {
	if !r.allows("enum") || r.rules.Enum.Strings || r.rules.TypeRequired || r.rules.Union.None || r.rules.Union.NoList {
		return false
	}
	items := func(v json.RawMessage) bool { return jsontree.ExactKind(v)&nested != 0 }
	return r.valuesFit(list) && !(r.rules.Array.Typed && slices.ContainsFunc(list, items))
}

// enumFits reports whether an enum is not too long.
func (r *reader) enumFits(list []json.RawMessage) bool {
	limits := r.rules.Limits
	if limits.EnumValues > 0 && len(list) > limits.EnumValues {
		return false
	}
	return limits.LongEnum == 0 || len(list) <= limits.LongEnum || limits.OverLong(values(list)) == 0
}

// wholeFits reports whether a keyword may be written unchanged. Repairs inside it
// are not in its text, so a text that is not a valid schema does not fit.
func (r *reader) wholeFits(k form.Keyword) bool {
	text := slices.Concat([]byte("{"), quote(k.Name), []byte(":"), k.Value, []byte("}"))
	v, broken := jsontree.ParseLenient(text, maxLevels)
	return broken == nil && r.rules.Dialect == "" && !r.restricts(k) && r.schemaFits(v)
}

// restricts reports whether the reader has rules that the schemas in k may break.
func (r *reader) restricts(k form.Keyword) bool {
	switch {
	case isUnion(k.Name) && (r.rules.TypeRequired || r.rules.Object.Closed || r.rules.Union.Siblings != nil):
		return true
	case strings.HasPrefix(k.Name, "unevaluated") && jsontree.KindOf(k.Value) == jsontree.KindBoolean:
		return !r.rules.Booleans
	}
	return false
}

// schemaFits reports whether a schema and all schemas in it are valid, with
// keywords that the reader allows and without references, whose targets might
// not be written.
func (r *reader) schemaFits(v *jsontree.Value) bool {
	for _, k := range v.Kids {
		if !r.allows(k.Name) || !isValid(k) || shape.Refers(k.Name) || !r.ruleFits(k) {
			return false
		}
		for _, kid := range shape.Subschemas(k) {
			if kid.Kind == jsontree.KindObject && !r.schemaFits(kid) || kid.Kind == jsontree.KindBoolean && !r.rules.Booleans && k.Name != "additionalProperties" {
				return false
			}
		}
	}
	return true
}

// ruleFits reports whether a keyword has a value that the reader accepts in any schema.
func (r *reader) ruleFits(k *jsontree.Value) bool {
	switch k.Name {
	case "required":
		return !r.rules.Object.Declared
	case "format":
		return r.rules.Formats == nil
	case "pattern":
		return r.rules.PatternFits(k.Text)
	case "enum":
		return r.valuesFit(raws(k.Kids)) && (len(k.Kids) > 0 || !r.rules.Enum.NoEmpty && !r.rules.Enum.Filled)
	case "const":
		return !r.rules.Enum.NoConst && r.valuesFit(raws([]*jsontree.Value{k}))
	case "type":
		return jsontree.KindsNamed(k)&jsontree.KindArray == 0 || !r.rules.Array.Items // which would have to be looked for
	case mcpHeader:
		return false
	}
	return true
}

func raws(list []*jsontree.Value) []json.RawMessage {
	all := make([]json.RawMessage, len(list))
	for i, v := range list {
		all[i] = v.Raw
	}
	return all
}

// isValid reports whether a keyword has a value as the newest draft has it.
func isValid(k *jsontree.Value) bool {
	s := shape.Of(k.Name)
	return s == 0 || shape.Fits(s, k) && !(k.Name == "items" && k.Kind == jsontree.KindArray)
}

// misplacedAnnotations lists the annotations of n that may not stand beside its
// reference or its alternatives.
func (r *reader) misplacedAnnotations(n *node) []string {
	var siblings []string
	switch {
	case n.get("$ref") != nil:
		siblings = r.rules.Ref.Siblings
	case n.get("anyOf") != nil:
		siblings = r.rules.Union.Siblings
	}
	if siblings == nil {
		return nil
	}
	return slices.DeleteFunc([]string{"description", "title", "default", "nullable", "examples"}, func(k string) bool {
		return slices.Contains(siblings, k)
	})
}

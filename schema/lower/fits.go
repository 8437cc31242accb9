package lower

import (
	"math/big"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/toolpost/toolpost/schema"
)

// fits says that a value is one that f describes, as far as it takes to tell
// alternatives apart: formats and what the form cannot say are not looked at,
// nor is anything once the fuel is used up. Validation has the last word.
func fits(f *schema.Form, v []byte, fuel *int) bool {
	if *fuel -= 1 + len(v); *fuel < 0 {
		return true
	}
	v = trim(v)
	kind := kindOf(v)
	switch {
	case f.Ref != nil && !fits(f.Ref.Form, v, fuel), f.Kinds&kind == 0:
		return false
	case f.Alts != nil && kind != schema.KindNull:
		return slices.ContainsFunc(f.Alts.Forms, func(alt *schema.Form) bool { return fits(alt, v, fuel) })
	case f.Enum != nil && f.Enum.Kinds&kind != 0 && !fitsEnum(f.Enum, v):
		return false
	}
	return fitsKind(f, kind, v, fuel)
}

// fitsKind looks at what f says for the values of one kind.
func fitsKind(f *schema.Form, kind schema.Kinds, v []byte, fuel *int) bool {
	switch kind {
	case schema.KindObject:
		return f.Object == nil || fitsObject(f.Object, v, fuel)
	case schema.KindArray:
		return f.Array == nil || fitsArray(f.Array, v, fuel)
	case schema.KindString:
		return f.Text == nil || fitsText(f.Text, v)
	case schema.KindInteger, schema.KindFraction:
		return f.Number == nil || fitsNumber(f.Number, string(v))
	}
	return true
}

func fitsEnum(e *schema.EnumForm, v []byte) bool {
	for _, w := range e.Values {
		if same(v, w) {
			return true
		}
	}
	return false
}

// fitsCount says that n is within bounds; most is below 0 for none.
func fitsCount(n, least, most int) bool { return n >= least && (most < 0 || n <= most) }

func fitsObject(o *schema.ObjectForm, v []byte, fuel *int) bool {
	all, ok := fields(v)
	if !ok || !fitsCount(len(all), o.MinProperties, o.MaxProperties) {
		return false
	}
	given := make(map[string][]byte, len(all))
	for _, f := range all {
		given[f.name] = f.value
	}
	for _, p := range o.Properties {
		value, found := given[p.Name]
		if !found && p.Required || found && !fits(p.Form, value, fuel) {
			return false
		}
		delete(given, p.Name)
	}
	for _, value := range given {
		if o.Additional != nil && !fits(o.Additional, value, fuel) {
			return false
		}
	}
	return true
}

func fitsArray(a *schema.ArrayForm, v []byte, fuel *int) bool {
	list, ok := elements(v)
	if !ok || !fitsCount(len(list), a.MinItems, a.MaxItems) {
		return false
	}
	for i, item := range list {
		f := a.Items
		if i < len(a.Prefix) {
			f = a.Prefix[i]
		}
		if f != nil && !fits(f, item, fuel) {
			return false
		}
	}
	return true
}

func fitsText(t *schema.TextForm, v []byte) bool {
	s, ok := unquote(v)
	if !ok || !fitsCount(utf8.RuneCountInString(s), t.MinLength, t.MaxLength) {
		return false
	}
	if t.Pattern == "" || len(t.Pattern) > maxTold {
		return true
	}
	pattern, err := regexp.Compile(t.Pattern) // it is rare that one tells alternatives apart
	return err != nil || pattern.MatchString(s)
}

func fitsNumber(r *schema.NumberForm, v string) bool {
	n, ok := rational(v)
	if !ok {
		return true
	}
	for _, b := range []struct {
		bound string
		bad   func(int) bool
	}{
		{string(r.Minimum), func(c int) bool { return c < 0 }},
		{string(r.Maximum), func(c int) bool { return c > 0 }},
		{string(r.ExclusiveMinimum), func(c int) bool { return c <= 0 }},
		{string(r.ExclusiveMaximum), func(c int) bool { return c >= 0 }},
	} {
		if bound, ok := rational(b.bound); ok && b.bad(n.Cmp(bound)) {
			return false
		}
	}
	if m, ok := rational(string(r.MultipleOf)); ok && m.Sign() > 0 {
		return new(big.Rat).Quo(n, m).IsInt()
	}
	return true
}

// rational reads a number of ordinary size.
func rational(s string) (*big.Rat, bool) {
	if s == "" || len(s) > 64 {
		return nil, false
	}
	if i := strings.IndexAny(s, "eE"); i >= 0 && len(s)-i > 4 {
		return nil, false
	}
	return new(big.Rat).SetString(s)
}

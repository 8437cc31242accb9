package lower

import (
	"math/big"
	"unicode/utf8"

	"github.com/toolpost/toolpost/schema"
)

// fits says that a value is one that f describes, as far as it takes to tell
// alternatives apart: patterns, formats and what the form cannot say are not
// looked at. Validation has the last word.
func fits(f *schema.Form, v []byte) bool { return fitsWithin(f, v, 0) }

func fitsWithin(f *schema.Form, v []byte, depth int) bool {
	v = trim(v)
	kind := kindOf(v)
	switch {
	case depth > maxDepth:
		return true
	case f.Ref != nil && !fitsWithin(f.Ref.Form, v, depth+1), f.Kinds&kind == 0:
		return false
	case f.Alts != nil && kind != schema.KindNull:
		return fitsAlts(f.Alts, v, depth)
	case f.Enum != nil && f.Enum.Kinds&kind != 0 && !fitsEnum(f.Enum, v):
		return false
	}
	switch {
	case kind == schema.KindObject && f.Object != nil:
		return fitsObject(f.Object, v, depth)
	case kind == schema.KindArray && f.Array != nil:
		return fitsArray(f.Array, v, depth)
	case kind == schema.KindString && f.Text != nil:
		s, ok := unquote(v)
		n := utf8.RuneCountInString(s)
		return ok && n >= f.Text.MinLength && (f.Text.MaxLength < 0 || n <= f.Text.MaxLength)
	case kind&schema.KindNumber != 0 && f.Number != nil:
		return fitsNumber(f.Number, string(v))
	}
	return true
}

func fitsAlts(u *schema.Union, v []byte, depth int) bool {
	for _, alt := range u.Forms {
		if fitsWithin(alt, v, depth+1) {
			return true
		}
	}
	return false
}

func fitsEnum(e *schema.EnumForm, v []byte) bool {
	for _, w := range e.Values {
		if same(v, w) {
			return true
		}
	}
	return false
}

func fitsObject(o *schema.ObjectForm, v []byte, depth int) bool {
	all, ok := fields(v)
	if !ok || len(all) < o.MinProperties || o.MaxProperties >= 0 && len(all) > o.MaxProperties {
		return false
	}
	given := make(map[string][]byte, len(all))
	for _, f := range all {
		given[f.name] = f.value
	}
	for _, p := range o.Properties {
		value, found := given[p.Name]
		if !found && p.Required || found && !fitsWithin(p.Form, value, depth+1) {
			return false
		}
		delete(given, p.Name)
	}
	for _, value := range given {
		if o.Additional != nil && !fitsWithin(o.Additional, value, depth+1) {
			return false
		}
	}
	return true
}

func fitsArray(a *schema.ArrayForm, v []byte, depth int) bool {
	list, ok := elements(v)
	if !ok || len(list) < a.MinItems || a.MaxItems >= 0 && len(list) > a.MaxItems {
		return false
	}
	for i, item := range list {
		f := a.Items
		if i < len(a.Prefix) {
			f = a.Prefix[i]
		}
		if f != nil && !fitsWithin(f, item, depth+1) {
			return false
		}
	}
	return true
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
	if _, exp, found := cutExponent(s); found && len(exp) > 3 {
		return nil, false
	}
	return new(big.Rat).SetString(s)
}

func cutExponent(s string) (mantissa, exponent string, found bool) {
	for i := range len(s) {
		if s[i] == 'e' || s[i] == 'E' {
			return s[:i], s[i+1:], true
		}
	}
	return s, "", false
}

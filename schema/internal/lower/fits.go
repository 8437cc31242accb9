package lower

import (
	"encoding/json"
	"regexp"
	"slices"
	"unicode/utf8"

	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/schema/internal/form"
)

// A fit is how well a value fits a form.
type fit int

const (
	misfit  fit = iota // it does not fit
	mayFit             // nothing is wrong with it, but the form says more than is checked here
	sureFit            // it fits
)

// fitIf returns sureFit or misfit.
func fitIf(ok bool) fit {
	if ok {
		return sureFit
	}
	return misfit
}

// fits returns how well a value fits f. It distinguishes alternatives:
// formats are not checked, nor is what the form keeps as it was written, nor
// anything once the fuel is used up. Validation has the last word.
func fits(f *form.Form, v []byte, fuel *int) fit {
	if *fuel -= 1 + len(v); *fuel < 0 {
		return mayFit
	}
	v = trim(v)
	kind := jsontree.ExactKind(v)
	most := sureFit
	if len(f.Rest) > 0 {
		most = mayFit
	}
	if f.Ref != nil {
		most = min(most, fits(f.Ref.Form, v, fuel))
	}
	switch {
	case most == misfit, f.Kinds&kind == 0:
		return misfit
	case f.Alts != nil && kind != jsontree.KindNull:
		return min(most, fitsUnion(f.Alts, v, fuel))
	case f.Enum != nil && f.Enum.Kinds&kind != 0 && !fitsEnum(f.Enum, v):
		return misfit
	}
	return min(most, fitsKind(f, kind, v, fuel))
}

// fitsUnion does not check that only one alternative fits where that is asked for.
func fitsUnion(u *form.Union, v []byte, fuel *int) fit {
	best, most := misfit, sureFit
	if u.One {
		most = mayFit
	}
	for _, alt := range u.Forms {
		if best = max(best, min(most, fits(alt, v, fuel))); best == most {
			break
		}
	}
	return best
}

// fitsKind returns how well a value fits what f says for its kind.
func fitsKind(f *form.Form, kind jsontree.Kinds, v []byte, fuel *int) fit {
	switch {
	case kind == jsontree.KindObject && f.Object != nil:
		return fitsObject(f.Object, v, fuel)
	case kind == jsontree.KindArray && f.Array != nil:
		return fitsArray(f.Array, v, fuel)
	case kind == jsontree.KindString && f.Text != nil:
		return fitsText(f.Text, v)
	case kind&jsontree.KindNumber != 0 && f.Number != nil:
		return fitsNumber(f.Number, v)
	}
	return sureFit
}

func fitsEnum(e *form.Enum, v []byte) bool {
	return slices.ContainsFunc(e.Values, func(w json.RawMessage) bool { return equalValues(v, w) })
}

// fitsCount reports whether n is within bounds; most is below 0 for none.
func fitsCount(n, least, most int) bool { return n >= least && (most < 0 || n <= most) }

func fitsObject(o *form.Object, v []byte, fuel *int) fit {
	all, ok := fields(v)
	if !ok || !fitsCount(len(all), o.MinProperties, o.MaxProperties) {
		return misfit
	}
	given := make(map[string][]byte, len(all))
	for _, f := range all {
		given[f.name] = f.value
	}
	worst := sureFit
	for _, p := range o.Properties {
		value, found := given[p.Name]
		delete(given, p.Name)
		if found {
			worst = min(worst, fits(p.Form, value, fuel))
		}
		if worst == misfit || !found && p.Required {
			return misfit
		}
	}
	for _, value := range given {
		if o.Additional != nil && worst != misfit {
			worst = min(worst, fits(o.Additional, value, fuel))
		}
	}
	return worst
}

func fitsArray(a *form.Array, v []byte, fuel *int) fit {
	list, ok := elements(v)
	if !ok || !fitsCount(len(list), a.MinItems, a.MaxItems) {
		return misfit
	}
	worst := sureFit
	if a.Unique && len(list) > 1 {
		worst = mayFit
	}
	for i, item := range list {
		f := a.Items
		if i < len(a.Prefix) {
			f = a.Prefix[i]
		}
		if f != nil && worst != misfit {
			worst = min(worst, fits(f, item, fuel))
		}
	}
	return worst
}

func fitsText(t *form.Text, v []byte) fit {
	s, ok := unquote(v)
	switch {
	case !ok || !fitsCount(utf8.RuneCountInString(s), t.MinLength, t.MaxLength):
		return misfit
	case t.Pattern == "":
		return sureFit
	case len(t.Pattern) > maxDescribed:
		return mayFit
	}
	pattern, err := regexp.Compile(t.Pattern) // a pattern rarely distinguishes alternatives
	if err != nil {
		return mayFit
	}
	return fitIf(pattern.MatchString(s))
}

func fitsNumber(r *form.Number, v []byte) fit {
	n := jsontree.ParseDecimal(v)
	for _, b := range []struct {
		bound json.Number
		bad   func(int) bool
	}{
		{r.Minimum, func(c int) bool { return c < 0 }},
		{r.Maximum, func(c int) bool { return c > 0 }},
		{r.ExclusiveMinimum, func(c int) bool { return c <= 0 }},
		{r.ExclusiveMaximum, func(c int) bool { return c >= 0 }},
	} {
		if b.bound != "" && b.bad(n.Cmp(jsontree.ParseDecimal([]byte(b.bound)))) {
			return misfit
		}
	}
	return fitIf(r.MultipleOf == "" || n.MultipleOf(jsontree.ParseDecimal([]byte(r.MultipleOf))))
}

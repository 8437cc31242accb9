package schema_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/big"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/dlclark/regexp2"

	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/schema"
	"github.com/toolpost/toolpost/schema/internal/form"
)

// decode reads JSON with exact numbers.
func decode(t testing.TB, raw []byte) any {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%v: %.200s", err, raw)
	}
	return v
}

// A judge says whether values fit forms, as the comments on Form define it,
// and by other means than the package. It leaves out Rest.
type judge struct {
	testing.TB
	patterns map[string]func(string) bool
	work     int
}

func rat(n json.Number) *big.Rat {
	r, ok := new(big.Rat).SetString(string(n))
	if !ok {
		panic("not a number: " + n)
	}
	return r
}

func kindOf(v any) jsontree.Kinds {
	switch v := v.(type) {
	case nil:
		return jsontree.KindNull
	case bool:
		return jsontree.KindBoolean
	case json.Number:
		if rat(v).IsInt() {
			return jsontree.KindInteger
		}
		return jsontree.KindFraction
	case string:
		return jsontree.KindString
	case []any:
		return jsontree.KindArray
	}
	return jsontree.KindObject
}

func (j *judge) fits(f *form.Form, v any) bool {
	j.work++
	kind := kindOf(v)
	if f.Kinds&kind == 0 {
		return false
	}
	if e := f.Enum; e != nil && e.Kinds&kind != 0 && !j.among(e.Values, v) {
		return false
	}
	if f.Ref != nil && !j.fits(f.Ref.Form, v) {
		return false
	}
	if f.Alts != nil && kind != jsontree.KindNull && !j.union(f.Alts, v) {
		return false
	}
	switch v := v.(type) {
	case json.Number:
		return f.Number == nil || j.number(f.Number, rat(v))
	case string:
		return f.Text == nil || j.text(f.Text, v)
	case []any:
		return f.Array == nil || j.array(f.Array, v)
	case map[string]any:
		return f.Object == nil || j.object(f.Object, v)
	}
	return true
}

func (j *judge) among(values []json.RawMessage, v any) bool {
	for _, raw := range values {
		if same(decode(j, raw), v) {
			return true
		}
	}
	return false
}

func same(a, b any) bool {
	switch a := a.(type) {
	case json.Number:
		n, ok := b.(json.Number)
		return ok && rat(a).Cmp(rat(n)) == 0
	case []any:
		list, ok := b.([]any)
		if !ok || len(a) != len(list) {
			return false
		}
		for i := range a {
			if !same(a[i], list[i]) {
				return false
			}
		}
		return true
	case map[string]any:
		m, ok := b.(map[string]any)
		if !ok || len(a) != len(m) {
			return false
		}
		for name := range a {
			if other, has := m[name]; !has || !same(a[name], other) {
				return false
			}
		}
		return true
	}
	switch b.(type) {
	case json.Number, []any, map[string]any:
		return false
	}
	return a == b
}

func (j *judge) union(u *form.Union, v any) bool {
	hits := 0
	for _, f := range u.Forms {
		if j.fits(f, v) {
			hits++
		}
	}
	return hits == 1 || hits > 1 && !u.One
}

func (j *judge) number(n *form.Number, v *big.Rat) bool {
	switch {
	case n.Minimum != "" && v.Cmp(rat(n.Minimum)) < 0,
		n.Maximum != "" && v.Cmp(rat(n.Maximum)) > 0,
		n.ExclusiveMinimum != "" && v.Cmp(rat(n.ExclusiveMinimum)) <= 0,
		n.ExclusiveMaximum != "" && v.Cmp(rat(n.ExclusiveMaximum)) >= 0:
		return false
	}
	return n.MultipleOf == "" || new(big.Rat).Quo(v, rat(n.MultipleOf)).IsInt()
}

func within(n, low, high int) bool { return n >= low && (high < 0 || n <= high) }

func (j *judge) text(t *form.Text, v string) bool {
	if !within(utf8.RuneCountInString(v), t.MinLength, t.MaxLength) {
		return false
	}
	return t.Pattern == "" || j.pattern(t.Pattern)(v)
}

// pattern matches as the validator does. What no engine compiles matches all.
func (j *judge) pattern(source string) func(string) bool {
	if m := j.patterns[source]; m != nil {
		return m
	}
	match := func(string) bool { return true }
	if re, err := regexp.Compile(source); err == nil {
		match = re.MatchString
	} else {
		for _, options := range []regexp2.RegexOptions{regexp2.ECMAScript | regexp2.Unicode, regexp2.ECMAScript, regexp2.None} {
			if re, err := regexp2.Compile(source, options); err == nil {
				match = func(s string) bool { ok, err := re.MatchString(s); return ok || err != nil }
				break
			}
		}
	}
	if j.patterns == nil {
		j.patterns = map[string]func(string) bool{}
	}
	j.patterns[source] = match
	return match
}

func (j *judge) array(a *form.Array, v []any) bool {
	if !within(len(v), a.MinItems, a.MaxItems) {
		return false
	}
	for i, item := range v {
		form := a.Items
		if i < len(a.Prefix) {
			form = a.Prefix[i]
		}
		if form != nil && !j.fits(form, item) {
			return false
		}
		for _, other := range v[:i] {
			if a.Unique && same(item, other) {
				return false
			}
		}
	}
	return true
}

func (j *judge) object(o *form.Object, v map[string]any) bool {
	if !within(len(v), o.MinProperties, o.MaxProperties) {
		return false
	}
	named := map[string]bool{}
	for _, p := range o.Properties {
		named[p.Name] = true
		value, has := v[p.Name]
		if has && !j.fits(p.Form, value) || !has && p.Required {
			return false
		}
	}
	for name, value := range v {
		if !named[name] && o.Additional != nil && !j.fits(o.Additional, value) {
			return false
		}
	}
	return true
}

// forms calls visit with all forms of a document.
func forms(d *form.Document, visit func(*form.Form)) {
	seen := map[*form.Form]bool{}
	var walk func(f *form.Form)
	walk = func(f *form.Form) {
		if f == nil || seen[f] {
			return
		}
		seen[f] = true
		visit(f)
		if f.Array != nil {
			walk(f.Array.Items)
			for _, item := range f.Array.Prefix {
				walk(item)
			}
		}
		if f.Object != nil {
			walk(f.Object.Additional)
			for _, p := range f.Object.Properties {
				walk(p.Form)
			}
		}
		if f.Alts != nil {
			for _, g := range f.Alts.Forms {
				walk(g)
			}
		}
	}
	walk(d.Root)
	for _, def := range d.Defs {
		walk(def.Form)
	}
}

// exact says that nothing is lost or left over.
func exact(d *form.Document) bool {
	for _, c := range d.Changes {
		if c.Lost {
			return false
		}
	}
	ok := true
	forms(d, func(f *form.Form) { ok = ok && len(f.Rest) == 0 })
	return ok
}

// agree checks one value against a form and the validator.
func agree(t testing.TB, raw string, d *form.Document, v *schema.Validator, value []byte) (fit bool) {
	t.Helper()
	err := v.Validate(value)
	if err != nil && (strings.Contains(err.Error(), "of this name") || strings.Contains(err.Error(), "less work")) {
		return false
	}
	if len(v.Report()) > 0 { // the form may say more
		fits, ok := fullVerdict(raw, string(value))
		if !ok {
			return false
		}
		if err = errors.New("refused by the oracle"); fits {
			err = nil
		}
	}
	j := judge{TB: t}
	got := j.fits(d.Root, decode(t, value))
	if got != (err == nil) && (exact(d) || err == nil) {
		t.Fatalf("schema %s\nvalue %s\nform fits %v, validator: %v\nform %s\nchanges %v", raw, value, got, err, text(d), d.Changes)
	}
	return err == nil
}

// text writes a document, a line for each definition.
func text(d *form.Document) string {
	s := dump(d.Root)
	for _, def := range d.Defs {
		s += "\n" + def.Name + " = " + dump(def.Form)
	}
	return s
}
